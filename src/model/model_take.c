// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ended.h"
#include "model/frame_list.h"
#include "model/growth.h"
#include "model/holdings.h"
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/oom_kills.h"
#include "model/phases.h"
#include "model/pressure.h"
#include "model/resident.h"
#include "model/resources.h"
#include "model/samples.h"
#include "model/slow.h"
#include "model/totals.h"

#define PAST_NS	  30000000000ULL
#define RECENT_NS 5000000000ULL

int model_init(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->levels_window = m->limits_window = UINT64_MAX;
	return table_make(&m->subject, MODEL_CHAINS);
}

static void free_series(struct series **set)
{
	for (size_t i = 0; set && i < NR_RESOURCES; i++)
		free(set[i]);
	free(set);
}

static void free_subject(struct table_link *entry)
{
	struct subject *s = (struct subject *)entry;

	free(s->now.c);
	if (s->earlier)
		free(s->earlier->prev.c);
	free(s->earlier);
	free(s->base);
	free(s->exe);
	free(s->cgroup);
	free(s->command);
	free(s->user);
	free(s->held[WHAT_MAPS].sort);
	free(s->held[WHAT_FDS].sort);
	free_series(s->series);
	free(s);
}

static void free_ended(struct ended *e)
{
	struct subject *s;

	while (e && (s = ended_pop(e)))
		free_subject(&s->link);
	free(e);
}

void model_free(struct model *m)
{
	table_free(&m->subject, free_subject);
	free_ended(m->ended);
	free_series(m->series);
	free(m->event);
	free(m->symbol);
	free(m->phases);
	free(m->incident);
	free(m->ooms);
	free(m->pressure);
	free(m->slow);
	resident_all_free(m);
	growth_free(m);
	memset(m, 0, sizeof(*m));
}

/* Returns whether the counters of a process began in this recording, with its fork. */
static bool is_born(const struct subject *s, const struct process_record *r)
{
	return r->g.flags & PROC_BORN && !s->resumed;
}

static struct subject *make_subject(struct model *m, const struct process_record *r)
{
	struct subject *s;

	s = m->subjects < MODEL_SUBJECTS_MAX ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		m->subjects_lost++;
		return NULL;
	}
	s->id = r->subject;
	s->first_ns = r->h.t_ns;
	s->window = s->levels_window = UINT64_MAX;
	s->memory.limit = s->pids.limit = UINT64_MAX;
	s->base_fds = r->g.fds;
	s->resumed = r->g.flags & PROC_RESUMED;
	if (!is_born(s, r)) {
		s->base_min = r->g.min_flt;
		s->base_maj = r->g.maj_flt;
		s->base_cpu_ns = r->u.cpu_ns;
	}
	table_add(&m->subject, &s->link, subject_hash(&s->id));
	m->subjects++;
	return s;
}

/*
 * Adds a value to the series of resource i. The first value above watch_percent creates the series.
 */
static int keep_series(struct series ***set, size_t i, uint64_t t_ns, uint64_t value,
		       uint64_t limit)
{
	bool kept = *set && (*set)[i];

	if (!limit || limit == UINT64_MAX)
		return 0;
	if (!kept && value < (double)limit * resources[i].watch_percent / 100)
		return 0;
	if (!*set)
		*set = calloc(RESOURCES_MAX, sizeof(**set));
	if (*set && !kept)
		(*set)[i] = calloc(1, sizeof(*(*set)[i]));
	if (!*set || !(*set)[i])
		return -ENOMEM;
	series_add((*set)[i], t_ns, value);
	return 0;
}

/* Adds the use of each resource of `scope` to its series. `s` is NULL for the host's resources. */
static int watch_resources(struct model *m, enum resource_scope scope, struct subject *s,
			   uint64_t t_ns)
{
	struct use u;

	for (size_t i = 0; i < NR_RESOURCES; i++)
		if (resources[i].scope == scope && resource_use(m, s, i, &u) &&
		    keep_series(s ? &s->series : &m->series, i, t_ns, u.value, u.limit))
			return -ENOMEM;
	return 0;
}

/*
 * Adds the values of the first scan to the series. In the first scan, the records of processes
 * arrive before the record with the limits of the machine.
 */
static int watch_first(struct model *m, uint64_t t_ns)
{
	m->first_ns = t_ns;
	for (struct subject *s = m->changed; s; s = s->next_changed)
		if (watch_resources(m, OF_PROCESS, s, t_ns))
			return -ENOMEM;
	return 0;
}

static uint64_t above(uint64_t v, uint64_t base)
{
	return v > base ? v - base : 0;
}

/*
 * Subtracts a process's counters at the first scan from its counters, if the process is older than
 * faultscope. Probes may have counted events from before that scan, which the model's totals
 * exclude.
 */
static void rebase(const struct subject *s, struct counters *c)
{
	uint64_t *now = (uint64_t *)c;

	for (size_t i = 0; i < sizeof(*c) / sizeof(*now); i++) {
		if (!sparse_has_group(s->base, i))
			i |= SPARSE_GROUP - 1; /* skip the group: there is nothing to subtract */
		else if (!counter_is_highest(i) && now[i] != NOT_COUNTED)
			now[i] = above(now[i], sparse_counter(s->base, i * sizeof(*now)));
	}
}

static uint64_t later(uint64_t now, uint64_t before)
{
	return now > before ? now : before;
}

static void raise_top(struct portion *top, uint64_t value, uint64_t limit)
{
	if (!limit || (top->limit && (double)value / limit <= (double)top->value / top->limit))
		return;
	top->value = value;
	top->limit = limit;
}

/*
 * Updates the highest shares of limits. gauges.fd_high is the peak since the soft limit in the same
 * record applies. gauges.map_high is the peak of the process's lifetime, in which another limit may
 * have applied.
 */
static void raise_tops(const struct model *m, struct subject *s, const struct gauges *before)
{
	const struct gauges *g = &s->now.g;
	/* at the first record, no earlier limit is known: the peak counts as a new one */
	bool grew = g->map_high > before->map_high || !s->top[WHAT_MAPS].limit;

	/* drop the peaks from before the first exec, when the process ran its parent's program */
	if (g->flags & PROC_BORN && !before->execs && g->execs) {
		memset(s->top, 0, sizeof(s->top));
		s->fds_high = 0;
		grew = true;
	}
	raise_top(&s->top[WHAT_FDS], later(g->fd_high, g->fds), g->fd_soft);
	if (!(g->flags & PROC_NO_COUNT))
		raise_top(&s->top[WHAT_MAPS], grew ? g->map_high : g->map_count,
			  m->tick.limits.max_map_count);
	s->fds_high = later(later(g->fd_high, g->fds), s->fds_high);
}

/*
 * Called when a process first changes in a window. Stores its previous values, from which increases
 * in the window are measured.
 */
static int begin_window(struct model *m, struct subject *s, bool first)
{
	struct earlier *e = s->earlier;
	struct sparse_counters *c = e ? e->prev.c : NULL;

	if (e && first) {
		e->prev = (struct facts){
			.g = {.min_flt = s->base_min, .maj_flt = s->base_maj, .fds = s->base_fds},
			.u = {.cpu_ns = s->base_cpu_ns}};
	} else if (e) {
		e->prev = s->now;
		e->prev.c = c;
		if (s->now.c && sparse_copy(&e->prev.c, s->now.c))
			return -ENOMEM;
	}
	s->window = m->window;
	s->next_changed = m->changed;
	m->changed = s;
	return 0;
}

static int take_counters(struct subject *s, const struct process_record *r, bool first)
{
	struct counters rest;

	if (first && !is_born(s, r) && sparse_store(&s->base, &r->c))
		return -ENOMEM;
	if (!s->base)
		return sparse_store(&s->now.c, &r->c);
	rest = r->c;
	rebase(s, &rest);
	return sparse_store(&s->now.c, &rest);
}

static void take_gauges(struct subject *s, const struct gauges *g)
{
	/* a sum over threads may lack a thread that is exiting; totals must not decrease */
	uint64_t min = later(g->min_flt, s->now.g.min_flt);
	uint64_t maj = later(g->maj_flt, s->now.g.maj_flt);

	s->now.g = *g;
	if (s->resumed)
		s->now.g.flags &= ~(PROC_BORN | PROC_RESUMED);
	g = &s->now.g;
	/*
	 * Sets the base of the fd totals again if the number of inherited fds turns out to be
	 * different. There are two cases. A scan may see a process just before its fork event. It
	 * may also see the command of `faultscope run` before exec closes the fds inherited from
	 * faultscope. Only for that command, the totals of fds start again.
	 */
	if (g->flags & PROC_BORN && g->fd_base != s->base_fds) {
		s->base_fds = g->fd_base;
		if (g->flags & PROC_COMMAND)
			s->now.fds_opened = s->now.fds_closed = 0;
	}
	s->now.g.min_flt = min;
	s->now.g.maj_flt = maj;
	s->rss_high_pages = later(gauges_rss_pages(g), s->rss_high_pages);
}

/*
 * Makes opened - closed equal to the change of the number of open fds, which the kernel provides.
 * Probes count calls that open or close fds. Calls that they miss (close_range, exec, dup2 over an
 * open fd, io_uring) are added to the smaller total, so that no total decreases.
 */
static void balance_fds(struct subject *s)
{
	const struct counters *c = facts_counters(&s->now);
	int64_t change = (int64_t)s->now.g.fds - s->base_fds;
	uint64_t made = 0, closed = c->fd_call[CALL_CLOSE - CALL_FD_FIRST].calls;

	for (int i = CALL_FD_FIRST; i < CALL_CLOSE; i++)
		made += c->fd_call[i - CALL_FD_FIRST].calls;
	made = later(made, s->now.fds_opened);
	closed = later(closed, s->now.fds_closed);
	s->now.fds_opened =
		later(made, change < 0 ? later(closed, -change) + change : closed + change);
	s->now.fds_closed = s->now.fds_opened - change;
}

/*
 * Keeps two earlier states of memory use. past[0] is at least `age_ns` old, unless the process is
 * younger.
 */
static void roll_past(struct past past[2], const struct past *now, uint64_t age_ns)
{
	if (!past[1].t_ns)
		past[0] = past[1] = *now;
	if (now->t_ns >= past[1].t_ns + age_ns) {
		past[0] = past[1];
		past[1] = *now;
	}
}

/*
 * If a process was unchanged for long, its previous values replace both earlier states. A scan
 * reports only processes that changed, so the previous values were valid until this record.
 */
static void hold_past(struct subject *s, uint64_t t_ns)
{
	struct past held = facts_past(&s->now, s->now.t_ns);
	struct earlier *e = s->earlier;

	if (e && held.t_ns && t_ns >= held.t_ns + RECENT_NS)
		e->recent[0] = e->recent[1] = held;
	if (e && held.t_ns && t_ns >= held.t_ns + PAST_NS)
		e->past[0] = e->past[1] = held;
}

/* Stores the current memory use, except from a last record, when the memory is already freed. */
static void keep_past(struct subject *s, uint64_t t_ns)
{
	struct past now = facts_past(&s->now, t_ns);
	struct earlier *e = s->earlier;

	if (!e || (s->now.g.flags & PROC_FINAL && e->past[1].t_ns))
		return;
	roll_past(e->past, &now, PAST_NS);
	roll_past(e->recent, &now, RECENT_NS);
}

static int take_process(struct model *m, const struct process_record *r)
{
	struct subject *s = model_find(m, &r->subject);
	struct gauges before = s ? s->now.g : (struct gauges){};
	bool first = !s;

	if (!s)
		s = make_subject(m, r);
	if (!s || s->final)
		return 0; /* two threads that exit at the same time may both send a last record */
	if (first && !(r->g.flags & PROC_FINAL)) {
		s->earlier = calloc(1, sizeof(*s->earlier));
		if (!s->earlier)
			return -ENOMEM;
	}
	if (s->window != m->window && begin_window(m, s, first))
		return -ENOMEM;
	if (r->h.len == sizeof(*r) && take_counters(s, r, first))
		return -ENOMEM;
	hold_past(s, r->h.t_ns);
	/* memory use starts again at exec(2), which replaces the address space */
	if (r->g.execs > s->now.g.execs)
		s->exec_ns = r->h.t_ns;
	take_gauges(s, &r->g);
	raise_tops(m, s, &before);
	s->now.u = r->u;
	s->now.t_ns = r->h.t_ns;
	balance_fds(s);
	keep_past(s, r->h.t_ns);
	s->last_ns = r->h.t_ns;
	if (r->g.flags & PROC_FINAL)
		s->final = true;
	return watch_resources(m, OF_PROCESS, s, r->h.t_ns);
}

/* Stores the levels of a process's cgroups, which may rise while the process is unchanged. */
static int take_levels(struct model *m, const struct levels_record *r)
{
	struct subject *s = model_find(m, &r->subject);

	if (!s || s->final)
		return 0;
	s->memory = r->memory;
	s->pids = r->pids;
	s->levels_window = m->levels_window = m->window;
	return watch_resources(m, OF_CGROUP, s, r->h.t_ns);
}

/* Adds a threshold crossing to a resource's series, because scans may miss the peak. */
static int take_crossing(struct model *m, const struct crossing_record *r)
{
	struct subject *s = model_find(m, &r->subject);

	if (!s)
		return 0;
	raise_top(&s->top[r->what == WHAT_MAPS ? WHAT_MAPS : WHAT_FDS], r->value, r->limit);
	return keep_series(&s->series, r->what == WHAT_MAPS ? RESOURCE_MAPS : RESOURCE_FDS,
			   r->h.t_ns, r->value, r->limit);
}

static int take_event(struct model *m, const struct record *h)
{
	union event *e;

	if (h->kind == RECORD_CROSSING && take_crossing(m, (const struct crossing_record *)h))
		return -ENOMEM;
	if (h->kind == RECORD_SLOW_FAULTS && slow_take(m, (const struct slow_faults_record *)h))
		return -ENOMEM;
	if (m->events == MODEL_EVENTS_MAX) {
		m->events_lost++;
		return 0;
	}
	e = array_grow(m->event, m->events, &m->events_room, MODEL_EVENTS_MAX, sizeof(*e));
	if (!e)
		return -ENOMEM;
	m->event = e;
	memcpy(&m->event[m->events++], h, h->len);
	return 0;
}

static bool asks_for_memory(const struct refused_record *r)
{
	return r->call == CALL_MMAP || r->call == CALL_MREMAP || r->call == CALL_BRK;
}

/*
 * Marks the failed calls of a thread in this window, because a retry with other size or flags
 * succeeded. Code that keeps failed calls of earlier windows searches model.retry itself.
 */
static void take_retry(struct model *m, const struct retry_record *r)
{
	struct subject *s = model_find(m, &r->subject);

	m->retry[m->retries < MODEL_RETRIES_MAX ? m->retries++ : MODEL_RETRIES_MAX - 1] = *r;
	if (s && s->starved_tid == r->tid && r->h.t_ns >= s->starved_ns &&
	    r->h.t_ns <= s->starved_ns + RETRY_NS)
		s->starved_ns = 0;
	for (size_t i = m->events; i--;) {
		struct refused_record *e = &m->event[i].refused;

		if (e->h.kind != RECORD_REFUSED || e->tid != r->tid ||
		    !same_subject(&e->subject, &r->subject) || !asks_for_memory(e))
			continue;
		if (r->h.t_ns > e->h.t_ns + RETRY_NS)
			break;
		e->facts |= FACT_RETRIED;
	}
}

/* Replaces a name by a text of at most `size` bytes; an empty text means that it is unknown. */
static int set_name(char **name, const char *text, size_t size)
{
	size = size < COMMAND_LINE_MAX ? size : COMMAND_LINE_MAX;
	free(*name);
	*name = *text ? strndup(text, size) : NULL;
	return *text && !*name ? -ENOMEM : 0;
}

static int take_names(struct model *m, const struct names_record *r)
{
	struct subject *s = model_find(m, &r->subject);
	int err;

	if (!s)
		return 0;
	s->named_execs = s->now.g.execs;
	err = set_name(&s->exe, r->exe, sizeof(r->exe));
	err = set_name(&s->cgroup, r->cgroup, sizeof(r->cgroup)) ?: err;
	err = set_name(&s->command, r->command, sizeof(r->command)) ?: err;
	return set_name(&s->user, r->user, sizeof(r->user)) ?: err;
}

static int take_symbol(struct model *m, const struct symbol_record *r)
{
	if (!m->symbol)
		m->symbol = calloc(MODEL_SYMBOLS_MAX, sizeof(*m->symbol));
	if (!m->symbol)
		return -ENOMEM;
	if (m->symbols == MODEL_SYMBOLS_MAX || model_symbol(m, r->ip))
		return 0;
	m->symbol[m->symbols].ip = r->ip;
	memcpy(m->symbol[m->symbols].symbol, r->symbol, sizeof(r->symbol));
	memcpy(m->symbol[m->symbols].module, r->module, sizeof(r->module));
	m->symbols++;
	return 0;
}

/* Converts the names of two probes in early recordings to their present names. */
static void rename_probe(char *name, size_t size)
{
	static const struct {
		const char *recorded, *now;
	} names[] = {{"look", "scan"}, {"life", "lifecycle"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(names[i].recorded, name, size))
			strcpy(name, names[i].now);
}

/* Takes the state of a probe. A later record of the same probe replaces an earlier one. */
static void take_hook(struct model *m, const struct hook_record *r)
{
	char name[sizeof(m->hook[0].name)];
	struct hook_view *v;
	size_t i = 0;

	memcpy(name, r->name, sizeof(name));
	rename_probe(name, sizeof(name));
	while (i < m->hooks && strncmp(m->hook[i].name, name, sizeof(name)))
		i++;
	if (i == MODEL_HOOKS_MAX)
		return;
	if (i == m->hooks)
		m->hooks++;
	v = &m->hook[i];
	m->hooks_ns = r->h.t_ns;
	memcpy(v->name, name, sizeof(v->name));
	memcpy(v->mechanism, r->mechanism, sizeof(v->mechanism));
	memcpy(v->why, r->why, sizeof(v->why));
	v->tier = r->tier;
	v->state = r->state;
	v->lacks = r->lacks;
	v->unwanted = hook_is_unwanted(v->why);
}

/*
 * Stores the facts of an event that later windows need: the last signal, the last failed memory
 * request. Called at the tick record, because the record of the event's process arrives before it.
 */
static void note_event(struct model *m, const union event *e)
{
	struct subject *s = model_find(m, &e->crossing.subject);

	if (!s)
		return;
	if (e->h.kind == RECORD_SIGNAL)
		s->signal = e->signal.signal;
	if (e->h.kind != RECORD_REFUSED || e->refused.tid == s->id.pid ||
	    e->refused.call >= CALL_FD_FIRST ||
	    (e->refused.error != ENOMEM && e->refused.call != CALL_BRK) ||
	    e->refused.facts & FACT_RETRIED)
		return;
	s->starved_ns = e->h.t_ns;
	s->starved_tid = e->refused.tid;
}

static int take_tick(struct model *m, const struct tick_record *r)
{
	for (; m->noted < m->events; m->noted++)
		note_event(m, &m->event[m->noted]);
	m->prev_own_cpu_ns = m->tick.own_cpu_ns;
	m->prev_own_bpf_ns = m->tick.own_bpf_ns;
	if (m->first_ns && m->tick.limits.max_map_count != r->limits.max_map_count)
		m->limits_window = m->window;
	m->tick = *r;
	m->prev_ns = m->last_ns;
	m->last_ns = r->h.t_ns;
	if (r->limits.mem_total_bytes > r->limits.mem_available_bytes)
		curve_add(&m->memory_used, r->h.t_ns,
			  r->limits.mem_total_bytes - r->limits.mem_available_bytes);
	if (!m->first_ns && watch_first(m, r->h.t_ns))
		return -ENOMEM;
	phases_scan(m);
	return watch_resources(m, OF_HOST, NULL, r->h.t_ns);
}

/* Stores why the recording is an incident. Its record comes first, before all scans. */
static int take_incident(struct model *m, const struct incident_record *r)
{
	if (!m->incident)
		m->incident = malloc(sizeof(*m->incident));
	if (!m->incident)
		return -ENOMEM;
	*m->incident = *r;
	return 0;
}

int model_take(struct model *m, const struct record *h)
{
	switch (h->kind) {
	case RECORD_PROCESS:
		return take_process(m, (const struct process_record *)h);
	case RECORD_CROSSING:
	case RECORD_REFUSED:
	case RECORD_SIGNAL:
	case RECORD_KERNEL_FAULT:
	case RECORD_SLOW_FAULTS:
		return take_event(m, h);
	case RECORD_OOM:
		return take_event(m, h) ?: oom_kills_take(m, h);
	case RECORD_OOM_SCENE:
	case RECORD_OOM_HOLDER:
		return oom_kills_take(m, h);
	case RECORD_RETRY:
		take_retry(m, (const struct retry_record *)h);
		return 0;
	case RECORD_SAMPLE:
		return m->samples ? samples_take(m->samples, (const struct sample_record *)h) : 0;
	case RECORD_HOST:
		memcpy(&m->host, h, sizeof(m->host));
		m->origin_ns = h->t_ns;
		return 0;
	case RECORD_HOOK:
		take_hook(m, (const struct hook_record *)h);
		return 0;
	case RECORD_PROBE_COST:
		probe_costs_take(&m->probe_costs, (const struct probe_cost_record *)h);
		return 0;
	case RECORD_NAMES:
		return take_names(m, (const struct names_record *)h);
	case RECORD_SYMBOL:
		return take_symbol(m, (const struct symbol_record *)h);
	case RECORD_GROWTH:
		return growth_take(m, (const struct growth_record *)h);
	case RECORD_FRAMES:
		return growth_take_frames(m, (const struct frames_record *)h);
	case RECORD_FRAME_LIST:
		return frame_list_take(m, (const struct frame_list_record *)h);
	case RECORD_ORIGIN:
		return growth_take_origin(m, (const struct origin_record *)h);
	case RECORD_SHORTAGE:
	case RECORD_LEVEL:
	case RECORD_MOUNT:
	case RECORD_SCORE:
		return pressure_take(m, h);
	case RECORD_RESIDENT:
		return resident_take(m, (const struct resident_record *)h);
	case RECORD_RESIDENT_SUM:
		return resident_take_sum(m, (const struct resident_sum_record *)h);
	case RECORD_HOLDING:
		return holdings_take(m, (const struct holding_record *)h);
	case RECORD_INCIDENT:
		return take_incident(m, (const struct incident_record *)h);
	case RECORD_PHASE:
		return phases_take(m, (const struct phase_record *)h);
	case RECORD_LEVELS:
		return take_levels(m, (const struct levels_record *)h);
	case RECORD_LIMITS:
		m->tick.limits = ((const struct limits_record *)h)->limits;
		return 0;
	case RECORD_TICK:
		return take_tick(m, (const struct tick_record *)h);
	}
	return 0;
}

/*
 * Removes an exited process from the table, adds its counters to the totals, and keeps it in the
 * list of ended processes, if there is one.
 */
static void end_subject(struct model *m, struct subject *s)
{
	struct subject *unwanted;

	table_remove(&m->subject, &s->link);
	if (!s->hidden) {
		totals_add(&m->totals, m, s);
		m->totals.ended++;
	}
	m->subjects--;
	unwanted = m->ended && !s->hidden ? ended_add(m->ended, s) : s;
	if (unwanted)
		free_subject(&unwanted->link);
}

void model_next_window(struct model *m)
{
	struct subject *s = m->changed, *next;

	for (; s; s = next) {
		next = s->next_changed;
		if (s->final)
			end_subject(m, s);
	}
	m->changed = NULL;
	m->events = m->noted = 0;
	m->retries = 0;
	m->window++;
}
