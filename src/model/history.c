// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/fields.h"
#include "model/holdings.h"

#define HISTORY_BUCKETS	   8192
#define HISTORY_ROWS_LIMIT (HISTORY_ROWS_MAX + MODEL_SUBJECTS_MAX)
#define HISTORY_TEXT_MAX   512 /* maximum length of a path, in bytes */

int history_init(struct history *h)
{
	memset(h, 0, sizeof(*h));
	h->scans_per_point = 1;
	for (size_t i = 0; i < nr_fields && h->gauges < HISTORY_GAUGES_MAX; i++)
		if (fields[i].sum.column)
			h->gauge[h->gauges++] = &fields[i];
	h->point = calloc(HISTORY_POINTS_MAX, sizeof(*h->point));
	h->event = calloc(HISTORY_EVENTS_MAX, sizeof(*h->event));
	h->bucket = calloc(HISTORY_BUCKETS, sizeof(*h->bucket));
	if (h->point && h->event && h->bucket)
		return 0;
	history_free(h);
	return -ENOMEM;
}

static void row_free(struct history_row *r)
{
	free(r->exe);
	free(r->cgroup);
	free(r->value);
	free(r->known);
	free(r->faults);
	for (int i = 0; i < NR_PROCESS_RESOURCES; i++)
		free(r->series[i]);
	for (int what = 0; what < 2; what++)
		free(r->held[what].sort);
	memset(r, 0, sizeof(*r));
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->rows; i++)
		row_free(&h->row[i]);
	history_levels_free(&h->levels);
	free(h->point);
	free(h->row);
	free(h->event);
	free(h->bucket);
	memset(h, 0, sizeof(*h));
}

static uint32_t *chain_of(const struct history *h, const struct process_key *id)
{
	uint64_t x = (id->start_ns ^ (uint64_t)id->pid << 40) * 0x9e3779b97f4a7c15ULL;

	return &h->bucket[x >> 32 & (HISTORY_BUCKETS - 1)];
}

static struct history_row *row_of(const struct history *h, const struct process_key *id)
{
	for (uint32_t i = *chain_of(h, id); i; i = h->row[i - 1].next) {
		struct history_row *r = &h->row[i - 1];

		if (same_subject(&r->id, id))
			return r;
	}
	return NULL;
}

const struct history_row *history_find(const struct history *h, const struct process_key *id)
{
	return row_of(h, id);
}

uint64_t history_field(const struct history_row *r, const struct field *f)
{
	return r->known[f - fields] ? r->value[f - fields] : 0;
}

double history_rate(const struct history_point *p, uint64_t n)
{
	return p->to_ns > p->from_ns ? n * 1e9 / (p->to_ns - p->from_ns) : 0;
}

uint64_t history_faults(const struct history_row *r)
{
	return history_field(r, FIELD(min_flt)) + history_field(r, FIELD(maj_flt));
}

static void unchain(struct history *h, const struct history_row *r)
{
	uint32_t *at = chain_of(h, &r->id), place = r - h->row + 1;

	while (*at && *at != place)
		at = &h->row[*at - 1].next;
	if (*at)
		*at = r->next;
}

uint64_t history_total(const struct history *h, const struct field *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->rows; i++)
		n += history_field(&h->row[i], f);
	return n;
}

uint64_t history_processes(const struct history *h)
{
	uint64_t n = h->beyond;

	for (size_t i = 0; i < h->rows; i++)
		n += h->row[i].processes;
	return n;
}

uint64_t history_ended(const struct history *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->rows; i++)
		n += h->row[i].final ? h->row[i].processes : 0;
	return n;
}

/*
 * Returns the row to drop: an exited process with few faults. Prefers one that does not matter.
 * Returns NULL if all processes are alive. Visits all rows, once for each process above
 * HISTORY_ROWS_MAX.
 */
static struct history_row *least(struct history *h)
{
	struct history_row *best = NULL;

	for (size_t i = 0; i < h->rows && h->ended; i++) {
		struct history_row *r = &h->row[i];

		if (!r->final || i + 1 == h->others)
			continue;
		if (!best || r->matters < best->matters ||
		    (r->matters == best->matters && r->faults_before < best->faults_before))
			best = r;
	}
	return best;
}

/* Returns an empty row. Returns NULL if there are too many rows or no memory. */
static struct history_row *row_add(struct history *h)
{
	struct history_row *r =
		array_grow(h->row, h->rows, &h->rows_room, HISTORY_ROWS_LIMIT, sizeof(*r));

	if (!r)
		return NULL;
	h->row = r;
	r += h->rows;
	memset(r, 0, sizeof(*r));
	/* the size is constant: one value per field */
	r->value = calloc(nr_fields, sizeof(*r->value));
	r->known = calloc(nr_fields, sizeof(*r->known));
	if (!r->value || !r->known) {
		row_free(r);
		return NULL;
	}
	h->rows++;
	return r;
}

static uint32_t add_capped(uint32_t a, uint64_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + b;
}

/* Adds the counters of an exited process's row to another row. Gauges are not summed. */
static int add_row(struct history_row *to, const struct history_row *from)
{
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].type == FIELD_COUNTER && from->known[i]) {
			to->known[i] = true;
			to->value[i] += from->value[i];
		}
	for (int end = 0; end < NR_ENDS; end++)
		to->stall_ns[end] += from->stall_ns[end];
	to->faults_before += from->faults_before;
	to->processes += from->processes;
	if (!to->first_ns || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	if (!from->faults)
		return 0;
	if (!to->faults)
		to->faults = calloc(HISTORY_POINTS_MAX, sizeof(*to->faults));
	if (!to->faults)
		return -ENOMEM;
	for (size_t i = 0; i < HISTORY_POINTS_MAX; i++)
		to->faults[i] = add_capped(to->faults[i], from->faults[i]);
	return 0;
}

/* Adds an ended process's row to `~other`, and empties it. Returns NULL if no process has ended. */
static struct history_row *row_reuse(struct history *h)
{
	struct history_row *r = least(h), *others;
	struct history_row empty = {};
	size_t place = r ? r - h->row : 0;

	if (!r)
		return NULL;
	if (!h->others) {
		others = row_add(h);
		if (!others)
			return NULL;
		h->others = h->rows;
		others->final = true;
		array_copy(others->comm, sizeof(others->comm), HISTORY_OTHERS);
		r = &h->row[place];
	}
	others = &h->row[h->others - 1];
	if (h->drop)
		h->drop(h->drop_ctx, r);
	if (add_row(others, r))
		return NULL;
	h->ended--;
	h->rows_lost++;
	unchain(h, r);
	empty.value = r->value;
	empty.known = r->known;
	r->value = NULL;
	r->known = NULL;
	row_free(r);
	memset(empty.value, 0, nr_fields * sizeof(*empty.value));
	memset(empty.known, 0, nr_fields * sizeof(*empty.known));
	*r = empty;
	return r;
}

static struct history_row *row_make(struct history *h, const struct subject *s)
{
	struct history_row *r = h->rows < HISTORY_ROWS_MAX ? NULL : row_reuse(h);
	uint32_t *chain;

	if (!r)
		r = row_add(h);
	if (!r)
		return NULL;
	r->processes = 1;
	r->id = s->id;
	r->first_ns = s->first_ns;
	chain = chain_of(h, &s->id);
	r->next = *chain;
	*chain = r - h->row + 1;
	return r;
}

/* Replaces *to by a copy of `s`, at most HISTORY_TEXT_MAX bytes. Returns 0 or -ENOMEM. */
static int keep_text(char **to, const char *s)
{
	size_t n = s ? strnlen(s, HISTORY_TEXT_MAX) : 0;
	char *copy;

	if (!s || (*to && !strncmp(*to, s, n + 1)))
		return 0;
	copy = calloc(1, n < HISTORY_TEXT_MAX ? n + 1 : HISTORY_TEXT_MAX + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, n);
	free(*to);
	*to = copy;
	return 0;
}

static int keep_series(struct history_row *r, const struct model *m, const struct subject *s,
		       enum resource_id i)
{
	const struct series *from = resource_series(m, s, i);
	struct use use;

	if (!from)
		return 0;
	if (!r->series[i])
		r->series[i] = calloc(1, sizeof(struct series)); /* one series per resource */
	if (!r->series[i])
		return -ENOMEM;
	*r->series[i] = *from;
	if (resource_use(m, s, i, &use))
		r->limit[i] = use.limit;
	return 0;
}

static int keep_held(struct history_row *r, const struct subject *s, enum what what)
{
	const struct holdings *from = &s->held[what];
	size_t n = from->n < HOLDINGS_MAX ? from->n : HOLDINGS_MAX;
	struct holding *more;

	if (!n)
		return 0;
	more = realloc(r->held[what].sort, n * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memcpy(more, from->sort, n * sizeof(*more));
	r->held[what] = (struct holdings){more, n};
	return 0;
}

static int keep(struct history_row *r, const struct model *m, const struct subject *s)
{
	int err = 0;

	r->ppid = s->now.g.ppid;
	r->uid = s->now.g.uid;
	r->last_ns = s->last_ns;
	r->final = s->final;
	r->signal = s->signal;
	array_copy(r->comm, sizeof(r->comm), s->now.g.comm);
	memcpy(r->stall_ns, facts_counters(&s->now)->stall_ns, sizeof(r->stall_ns));
	for (size_t i = 0; i < nr_fields; i++)
		r->known[i] = field_get(m, s, &fields[i], &r->value[i]);
	r->matters = r->signal || history_field(r, FIELD(map_refused));
	err = keep_text(&r->exe, s->exe);
	if (!err)
		err = keep_text(&r->cgroup, s->cgroup);
	for (int i = 0; i < NR_PROCESS_RESOURCES && !err; i++)
		err = keep_series(r, m, s, i);
	for (int what = WHAT_MAPS; what <= WHAT_FDS && !err; what++)
		err = keep_held(r, s, what);
	return err;
}

static void join_points(struct history_point *to, const struct history_point *from)
{
	to->to_ns = from->to_ns;
	to->minor += from->minor;
	to->major += from->major;
	to->stall_ns += from->stall_ns;
	to->failed += from->failed;
	to->events += from->events;
	to->processes = to->processes > from->processes ? to->processes : from->processes;
	for (int i = 0; i < HISTORY_GAUGES_MAX; i++)
		if (from->gauge[i] > to->gauge[i])
			to->gauge[i] = from->gauge[i];
	for (int end = 0; end < NR_ENDS; end++)
		for (int i = 0; i < NR_LATENCY; i++)
			to->latency[end][i] += from->latency[end][i];
}

/* Merges each pair of points into one, to make room for new points. */
static void halve(struct history *h)
{
	for (size_t i = 0; i < HISTORY_POINTS_MAX / 2; i++) {
		struct history_point one = h->point[2 * i];

		join_points(&one, &h->point[2 * i + 1]);
		h->point[i] = one;
		for (size_t k = 0; k < h->rows; k++)
			if (h->row[k].faults)
				h->row[k].faults[i] =
					h->row[k].faults[2 * i] + h->row[k].faults[2 * i + 1];
	}
	for (size_t k = 0; k < h->rows; k++)
		if (h->row[k].faults)
			memset(h->row[k].faults + HISTORY_POINTS_MAX / 2, 0,
			       HISTORY_POINTS_MAX / 2 * sizeof(*h->row[k].faults));
	history_levels_halve(&h->levels);
	h->points = HISTORY_POINTS_MAX / 2;
	h->scans_per_point *= 2;
}

/* Returns the point for a scan at t_ns. Starts a new point if the last one is complete. */
static struct history_point *point_at(struct history *h, uint64_t t_ns)
{
	if (!h->points || h->scans_in_last == h->scans_per_point) {
		if (h->points == HISTORY_POINTS_MAX)
			halve(h);
		h->point[h->points] = (struct history_point){.from_ns = h->last_ns};
		if (!h->last_ns)
			h->point[h->points].from_ns = t_ns;
		h->points++;
		h->scans_in_last = 0;
	}
	h->scans_in_last++;
	h->point[h->points - 1].to_ns = t_ns;
	return &h->point[h->points - 1];
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void add_latency(struct history *h, struct history_point *p, const struct subject *s)
{
	const struct counters *now = facts_counters(&s->now),
			      *was = facts_counters(subject_prev(s));

	for (int end = 0; end < NR_ENDS; end++) {
		for (int i = 0; i < NR_LATENCY; i++) {
			uint64_t n = grown(now->latency[end][i], was->latency[end][i]);

			p->latency[end][i] += n;
			h->latency[end][i] += n;
		}
		if (now->latency_max_ns[end] > h->latency_max_ns[end])
			h->latency_max_ns[end] = now->latency_max_ns[end];
	}
	for (int i = 0; i < NR_FAULT_KINDS; i++)
		h->faults_kind[i] += grown(now->fault_kind[i], was->fault_kind[i]);
}

static int add_faults(struct history *h, struct history_row *r)
{
	uint64_t all = history_faults(r), n = grown(all, r->faults_before);
	uint32_t *at;

	r->faults_before = all;
	if (!n)
		return 0;
	if (!r->faults)
		r->faults = calloc(HISTORY_POINTS_MAX, sizeof(*r->faults));
	if (!r->faults)
		return -ENOMEM;
	at = &r->faults[h->points - 1];
	*at = add_capped(*at, n);
	return 0;
}

/* What one process adds to sums over all processes: counters, and gauges while it is alive. */
struct share {
	uint64_t minor, major, stall_ns, failed, gauge[HISTORY_GAUGES_MAX];
};

static struct share share_of(const struct history *h, const struct history_row *r)
{
	struct share s = {.minor = history_field(r, FIELD(min_flt)),
			  .major = history_field(r, FIELD(maj_flt)),
			  .stall_ns = history_field(r, FIELD(stall)),
			  .failed = history_field(r, FIELD(fault_failed))};

	for (size_t i = 0; i < h->gauges && !r->final; i++)
		s.gauge[i] = history_field(r, h->gauge[i]);
	return s;
}

static int take_subject(struct history *h, struct history_point *p, const struct model *m,
			const struct subject *s)
{
	struct history_row *r = row_of(h, &s->id);
	struct share was = {}, now;
	bool alive_before = r && !r->final, was_final = r && r->final, is_new = !r;
	int err;

	if (r)
		was = share_of(h, r);
	else
		r = row_make(h, s);
	if (!r && h->rows < HISTORY_ROWS_LIMIT)
		return -ENOMEM;
	if (!r) {
		h->rows_lost++;
		h->beyond++;
		return 0;
	}
	err = keep(r, m, s);
	if (!err)
		err = history_levels_add(&h->levels, m, s, h->points - 1);
	if (err)
		return err;
	if (is_new) {
		r->first_count[WHAT_MAPS] = history_field(r, FIELD(map_count));
		r->first_count[WHAT_FDS] = history_field(r, FIELD(fds));
	}
	now = share_of(h, r);
	p->minor += grown(now.minor, was.minor);
	p->major += grown(now.major, was.major);
	p->stall_ns += grown(now.stall_ns, was.stall_ns);
	p->failed += grown(now.failed, was.failed);
	for (size_t i = 0; i < h->gauges; i++)
		h->gauge_now[i] += now.gauge[i] - was.gauge[i];
	h->alive += !s->final - alive_before;
	h->ended += s->final && !was_final;
	add_latency(h, p, s);
	return add_faults(h, r);
}

/*
 * Adds events to the history. Skips records of slow faults, because they hold totals, and the model
 * keeps the last of these.
 */
static void take_events(struct history *h, struct history_point *p, const struct model *m)
{
	for (size_t i = 0; i < m->events; i++) {
		if (m->event[i].h.kind == RECORD_SLOW_FAULTS)
			continue;
		p->events++;
		if (h->events < HISTORY_EVENTS_MAX)
			h->event[h->events++] = m->event[i];
		else
			h->events_lost++;
	}
}

int history_add_scan(struct history *h, const struct model *m)
{
	struct history_point *p = point_at(h, m->last_ns);
	int err = 0;

	h->looks++;
	for (struct subject *s = model_each_changed(m, NULL); s && !err;
	     s = model_each_changed(m, s))
		if (!s->hidden)
			err = take_subject(h, p, m, s);
	if (!err)
		err = history_levels_scan(&h->levels, m, h->points - 1);
	take_events(h, p, m);
	for (size_t i = 0; i < h->gauges; i++)
		if (h->gauge_now[i] > p->gauge[i])
			p->gauge[i] = h->gauge_now[i];
	if (h->alive > p->processes)
		p->processes = h->alive;
	h->last_ns = m->last_ns;
	h->wall_last_ns = m->tick.wall_ns;
	return err;
}

int history_end(struct history *h, const struct model *m)
{
	int err = 0;

	for (struct subject *s = model_each(m, NULL); s && !err; s = model_each(m, s)) {
		struct history_row *r = row_of(h, &s->id);

		for (int what = WHAT_MAPS; r && what <= WHAT_FDS && !err; what++)
			err = keep_held(r, s, what);
	}
	return err;
}
