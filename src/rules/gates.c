// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/gates.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "model/resources.h"

/* Gates on signals and findings, which are not fields of a process. */
static const struct gate_row others[] = {
	{"sigsegv", GATE_SIGNAL, SIGSEGV, 1, "SIGSEGV signals caused by page faults"},
	{"sigbus", GATE_SIGNAL, SIGBUS, 1, "SIGBUS signals caused by page faults"},
	{"findings.critical", GATE_FINDINGS, SEVERITY_CRITICAL, 1,
	 "number of findings of "
	 "severity critical"},
	{"findings.warning", GATE_FINDINGS, SEVERITY_WARNING, 1,
	 "number of findings of severity warning or critical"},
};

static enum gate_kind kind_of(const struct field *f)
{
	return f->type == FIELD_COUNTER ? GATE_TOTAL : GATE_HIGHEST;
}

static struct gate_row row_of(const struct field *f)
{
	struct gate_row row = {
		.name = f->gate.name,
		.kind = kind_of(f),
		.unit = f->gate.unit ?: 1,
		.help = f->gate.help,
		.field = f,
		.resource = f->gate.limit ? resource_find(f->gate.limit) : -1,
	};

	for (const struct field *other = f + 1; other < fields + nr_fields; other++)
		if (other->gate.name && !strcmp(other->gate.name, f->gate.name))
			row.plus = other;
	return row;
}

static struct gate_row row_of_phase(const struct phase_value *v)
{
	return (struct gate_row){.name = v->name,
				 .kind = GATE_PHASE,
				 .unit = v->scale,
				 .help = v->help,
				 .resource = -1,
				 .of_phase = v};
}

bool gate_row(size_t nth, struct gate_row *ret)
{
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].gate.help && !nth--) {
			*ret = row_of(&fields[i]);
			return true;
		}
	if (nth < sizeof(others) / sizeof(others[0])) {
		*ret = others[nth];
		ret->resource = -1;
		return true;
	}
	nth -= sizeof(others) / sizeof(others[0]);
	if (nth >= NR_PHASE_VALUES)
		return false;
	*ret = row_of_phase(&phase_values[nth]);
	return true;
}

/* Suffixes that the number of a gate may have, by unit. */
static const struct {
	enum unit unit;
	const char *suffix;
	double scale;
} suffixes[] = {
	{UNIT_COUNT, "k", 1e3},	       {UNIT_COUNT, "M", 1e6},	   {UNIT_BYTES, "B", 1},
	{UNIT_BYTES, "K", 1024},       {UNIT_BYTES, "KiB", 1024},  {UNIT_BYTES, "M", 1 << 20},
	{UNIT_BYTES, "MiB", 1 << 20},  {UNIT_BYTES, "G", 1 << 30}, {UNIT_BYTES, "GiB", 1 << 30},
	{UNIT_BYTES, "T", 1ULL << 40}, {UNIT_NS, "ns", 1},	   {UNIT_NS, "us", 1e3},
	{UNIT_NS, "ms", 1e6},	       {UNIT_NS, "s", 1e9},
};

enum unit gate_unit(const struct gate *g)
{
	if (g->of_phase)
		return g->of_phase->unit;
	return g->field && !g->percent ? g->field->unit : UNIT_COUNT;
}

static int bad(const struct gate *g, char *error, size_t size, const char *what)
{
	snprintf(error, size, "--fail-on '%s': %s", g->text, what);
	return -EINVAL;
}

static int bad_name(const struct gate *g, const char *name, char *error, size_t size)
{
	size_t len = snprintf(error, size, "--fail-on '%s': no such value\n  gates:", g->text);
	struct nearest n = {.typed = name};
	char field[NEAREST_BYTES];
	struct gate_row row;

	for (size_t i = 0; gate_row(i, &row) && len < size; i++)
		len += snprintf(error + len, size - len, " %s", row.name);
	if (len < size)
		snprintf(error + len, size - len,
			 "\n  or any value of the JSON output: faults.failed, maps.created, "
			 "threads, ...");
	for (size_t i = 0; gate_row(i, &row); i++)
		nearest_add(&n, row.name);
	fields_offer(&n, field);
	nearest_print(&n, "", error, size);
	return -EINVAL;
}

static bool take_row(struct gate *g, const char *name)
{
	struct gate_row row;

	for (size_t i = 0; gate_row(i, &row); i++) {
		if (strcmp(row.name, name))
			continue;
		g->kind = row.kind;
		g->number = row.number;
		g->unit = row.unit;
		g->field = row.field;
		g->plus = row.plus;
		g->resource = row.resource;
		g->of_phase = row.of_phase;
		return true;
	}
	return false;
}

static bool take_field(struct gate *g, const char *name)
{
	const struct field *f = field_find(name);

	if (!f || f->unit == UNIT_LIMIT)
		return false;
	g->kind = kind_of(f);
	g->resource = -1;
	g->field = f;
	g->unit = 1;
	return true;
}

/* Parses the number after > or <, such as "60%", "1000", "2G" or "500ms". */
static int take_threshold(struct gate *g, const char *s, char *error, size_t size)
{
	char *end;

	if (!isdigit((unsigned char)*s) || s[strspn(s, "0123456789.")] == 'x')
		return bad(g, error, size, "a number is missing, as in maps.peak>60%");
	g->threshold = strtod(s, &end);
	if (!strcmp(end, "%")) {
		g->percent = true;
		return g->resource >= 0 ? 0
					: bad(g, error, size,
					      "a percentage needs a limit: maps.peak, fds.peak");
	}
	if (!*end) {
		g->threshold *= g->unit;
		return 0;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (suffixes[i].unit == gate_unit(g) && !strcmp(suffixes[i].suffix, end)) {
			g->threshold *= suffixes[i].scale;
			return 0;
		}
	return bad(g, error, size, "this value has no such unit");
}

static int parse_gate(struct gate *g, char *error, size_t size)
{
	char name[sizeof(g->text)];
	size_t len = strcspn(g->text, "<>");
	bool equal;

	if (!len || !g->text[len])
		return bad(g, error, size,
			   "expected a value, > or <, and a number: maps.peak>60%,failed_calls>0");
	snprintf(name, sizeof(name), "%.*s", (int)len, g->text);
	if (!take_row(g, name) && !take_field(g, name))
		return bad_name(g, name, error, size);
	equal = g->text[len + 1] == '=';
	g->op = g->text[len] == '>' ? (equal ? GATE_FROM : GATE_ABOVE)
				    : (equal ? GATE_TO : GATE_BELOW);
	return take_threshold(g, g->text + len + 1 + equal, error, size);
}

int gates_parse(struct gates *g, const char *text, char *error, size_t size)
{
	do {
		size_t len = strcspn(text, ","), at = 0;
		struct gate *one = &g->gate[g->n];

		if (g->n == GATES_MAX) {
			snprintf(error, size, "--fail-on: more than %d gates", GATES_MAX);
			return -EINVAL;
		}
		memset(one, 0, sizeof(*one));
		for (size_t i = 0; i < len && at + 1 < sizeof(one->text); i++)
			if (text[i] != ' ')
				one->text[at++] = text[i];
		if (at + 1 == sizeof(one->text))
			return bad(one, error, size, "too long");
		if (parse_gate(one, error, size))
			return -EINVAL;
		g->n++;
		text += len + (text[len] == ',');
	} while (*text);
	return 0;
}

/*
 * Reads the process's value that the gate compares with its threshold; false: the value is not
 * known.
 */
static bool get_value(const struct gate *g, const struct model *m, const struct subject *s,
		      uint64_t *ret)
{
	uint64_t other = 0;

	if (!field_get(m, s, g->field, ret) || (g->plus && !field_get(m, s, g->plus, &other)))
		return false;
	*ret += other;
	return true;
}

/*
 * Reads a peak, and the limit that was in force at the peak: the limit may have been changed since.
 */
static bool get_share(const struct gate *g, const struct model *m, const struct subject *s,
		      uint64_t *ret_value, uint64_t *ret_limit)
{
	struct use u;

	if (!resource_use(m, s, g->resource, &u))
		return false;
	*ret_value = u.high;
	*ret_limit = u.high_limit;
	return true;
}

static void keep_whose(struct gate *g, uint32_t pid, const char *comm)
{
	g->pid = pid;
	memcpy(g->comm, comm, sizeof(g->comm));
	g->comm[COMM_LEN - 1] = 0;
}

/*
 * Takes the values of a process at a scan. For a gate on a sum, adds the process only if it has
 * ended. total_of() adds the other processes after the last scan.
 */
static void look_at(struct gate *g, const struct model *m, const struct subject *s)
{
	uint64_t value, limit = 0;
	double amount;

	g->asked++;
	if (g->percent ? !get_share(g, m, s, &value, &limit) : !get_value(g, m, s, &value))
		return;
	g->answered++;
	if (s->final)
		g->ended += value;
	amount = value;
	if (g->percent)
		amount = limit && limit != UINT64_MAX ? 100.0 * value / limit : 0;
	if (s->id.pid == g->pid)
		/* the process may have a new name (exec) */
		keep_whose(g, g->pid, s->now.g.comm);
	if (amount <= g->most)
		return;
	g->most = amount;
	g->most_value = value;
	g->most_limit = limit;
	keep_whose(g, s->id.pid, s->now.g.comm);
}

static void count_signals(struct gate *g, const struct model *m)
{
	for (size_t i = 0; i < m->events; i++) {
		const struct signal_record *r = &m->event[i].signal;
		const struct subject *s;

		if (r->h.kind != RECORD_SIGNAL || r->signal != g->number)
			continue;
		s = model_find(m, &r->subject);
		if (s && s->hidden)
			continue;
		g->ended++;
		keep_whose(g, r->subject.pid, r->comm);
	}
}

void gates_check(struct gates *g, const struct model *m)
{
	for (size_t i = 0; i < g->n; i++) {
		struct gate *one = &g->gate[i];

		if (one->kind == GATE_SIGNAL)
			count_signals(one, m);
		if (!one->field)
			continue;
		for (struct subject *s = model_each_changed(m, NULL); s;
		     s = model_each_changed(m, s))
			if (!s->hidden)
				look_at(one, m, s);
	}
}

/*
 * Returns the sum over all processes: those that have ended, which look_at() added up, and those
 * that still live.
 */
static double total_of(const struct gate *g, const struct model *m)
{
	double sum = g->ended;
	uint64_t value;

	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		if (!s->hidden && !s->final && get_value(g, m, s, &value))
			sum += value;
	return sum;
}

static bool is_measured(const struct gate *g, const struct model *m)
{
	switch (g->kind) {
	case GATE_SIGNAL:
		return model_hook_on(m, "signal");
	case GATE_FINDINGS:
		return true;
	case GATE_PHASE:
		return g->phase;
	default:
		return g->answered ||
		       (!g->asked && is_available(m, g->field->hook, g->field->lacks));
	}
}

static bool is_incomplete(const struct gate *g, const struct model *m)
{
	const struct losses *lost = &m->tick.losses;

	if (g->kind == GATE_SIGNAL)
		return lost->ring || m->events_lost;
	return lost->map || m->subjects_lost ||
	       (g->kind == GATE_PHASE && m->phases && m->phases->missed);
}

static bool is_tripped(const struct gate *g, double value)
{
	switch (g->op) {
	case GATE_ABOVE:
		return value > g->threshold;
	case GATE_FROM:
		return value >= g->threshold;
	case GATE_BELOW:
		return value < g->threshold;
	default:
		return value <= g->threshold;
	}
}

enum gate_state gate_of_phase(const struct gate *g, const struct phase *p, double *ret)
{
	uint64_t value = g->of_phase->get(p);

	if (value == FIGURE_UNKNOWN)
		return GATE_NOT_MEASURED;
	*ret = value;
	return is_tripped(g, value) ? GATE_TRIPPED : GATE_PASSED;
}

/* Finds the phase whose value is nearest to the wrong side of the threshold, or beyond it most. */
static void find_phase(struct gate *g, const struct model *m)
{
	bool up = g->op == GATE_ABOVE || g->op == GATE_FROM;
	double value;

	g->phase = NULL;
	for (size_t i = 0; m->phases && i < m->phases->n; i++) {
		const struct phase *p = &m->phases->phase[i];

		if (gate_of_phase(g, p, &value) == GATE_NOT_MEASURED)
			continue;
		if (!g->phase || (up ? value > g->most : value < g->most)) {
			g->phase = p;
			g->most = value;
		}
	}
}

void gates_judge(struct gates *g, const struct model *m, const struct findings *fs)
{
	g->failed = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct gate *one = &g->gate[i];

		if (one->kind == GATE_PHASE)
			find_phase(one, m);
		one->value = one->kind == GATE_TOTAL	  ? total_of(one, m)
			     : one->kind == GATE_FINDINGS ? fs->reached[one->number]
			     : one->kind == GATE_SIGNAL	  ? one->ended
							  : one->most;
		one->incomplete = is_incomplete(one, m);
		one->state = !is_measured(one, m) ? GATE_NOT_MEASURED
			     : is_tripped(one, one->value) ? GATE_TRIPPED
						  : GATE_PASSED;
		g->failed += one->state != GATE_PASSED;
	}
}

const char *gate_lacks(const struct gate *g)
{
	return g->kind == GATE_SIGNAL ? "signal" : g->field ? g->field->hook : NULL;
}
