// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/census_process.h"

#define CHAINS	   1024
#define SWEEP_EACH 512 /* number of new workloads after which idle ones are removed */

/*
 * Offset of each counter in a process record. `since_birth` is true if the kernel itself counts
 * from the start of the process, and false for counters of probes.
 */
static const struct taken {
	size_t at;
	bool since_birth;
} taken[NR_CENSUS_TAKEN] = {
/* clang-format off */
#define NOTHING(...)
#define TAKEN_NOT_EXPORTED	     NOTHING
#define TAKEN_EXPORTED(id, ...)	     [CENSUS_##id] = TAKEN
#define TAKEN_OWN_FAMILY(id, ...)    [CENSUS_##id] = TAKEN
#define TAKEN(member, since_birth)   {offsetof(struct process_record, member), since_birth},

#define COUNTER(id, group, key, unit, probe, export, ...)     TAKEN_##export(c.id, false)
#define KERNEL_TOTAL(id, base, group, key, unit, probe, export, ...) TAKEN_##export(g.id, true)
#define PART(member, unit, probe, export)			     TAKEN_##export(c.member, false)
#include "records/counters.def"
	/* clang-format on */
};

/* Returns a counter of a record; 0 if a record of an unchanged process has no counters. */
static uint64_t get_taken(const struct process_record *r, enum census_counter counter)
{
	size_t at = taken[counter].at;
	uint64_t n = NOT_COUNTED;

	if (r->h.len >= at + sizeof(n))
		n = *(const uint64_t *)((const char *)r + at);
	return n == NOT_COUNTED ? 0 : n;
}

int census_init(struct census *c, const struct census_limits *limits)
{
	memset(c, 0, sizeof(*c));
	c->limits = *limits;
	if (c->limits.workloads > CENSUS_WORKLOADS_MAX)
		c->limits.workloads = CENSUS_WORKLOADS_MAX;
	c->processes = census_processes();
	if (table_make(&c->workload, CHAINS))
		return -ENOMEM;
	array_copy(c->other.id.name, sizeof(c->other.id.name), CENSUS_OTHER);
	c->other.id.kind = KIND_COMM;
	c->other.own = true;
	return 0;
}

static void drop_workload(struct table_link *w)
{
	free(w);
}

void census_free(struct census *c)
{
	table_free(&c->workload, drop_workload);
	pids_free(&c->processes);
	memset(c, 0, sizeof(*c));
}

/* Iterates over all workloads except ~other. Start with NULL. Returns NULL at the end. */
static struct census_workload *each_workload(const struct census *c,
					     const struct census_workload *after)
{
	return (struct census_workload *)table_each(&c->workload, after ? &after->link : NULL);
}

/*
 * Moves events that no page has shown yet to ~other. If `failures` is false, failures stay, because
 * the workload gets own series.
 */
static void fold(struct census *c, struct census_workload *w, bool failures)
{
	for (int k = 0; k < NR_CENSUS_COUNTERS; k++) {
		if (!failures && exported[k].flags & EXPORT_FAILURE)
			continue;
		c->other.counter[k] += w->counter[k] - w->shown[k];
		w->counter[k] = w->shown[k];
	}
}

/* Removes the workloads for which is_over() returns true. */
static void drop_workloads(struct census *c,
			   bool (*is_over)(const struct census *c, const struct census_workload *w,
					   uint64_t now_ns),
			   uint64_t now_ns)
{
	struct census_workload *w = each_workload(c, NULL), *next;

	for (; w; w = next) {
		next = each_workload(c, w);
		if (!is_over(c, w, now_ns))
			continue;
		fold(c, w, true);
		table_remove(&c->workload, &w->link);
		free(w);
		c->workloads--;
	}
}

static bool is_idle(const struct census *c, const struct census_workload *w, uint64_t now_ns)
{
	return !w->own && !w->refs;
}

/*
 * Returns whether a workload has no series of its own, and had no process for min_age_ns. An urgent
 * one stays: its only process may have been killed before any scan.
 */
static bool is_forgotten(const struct census *c, const struct census_workload *w, uint64_t now_ns)
{
	return is_idle(c, w, now_ns) && !w->urgent && now_ns - w->last_ns >= c->limits.min_age_ns;
}

static struct census_workload *find_workload(struct census *c, const struct identity *id)
{
	uint32_t hash = hash_text(HASH_BEGIN, id->name);
	struct census_workload *w = table_find(&c->workload, hash);

	while (w && strcmp(w->id.name, id->name))
		w = table_next(&w->link, hash);
	return w;
}

static uint32_t hash_pod(const struct identity *id)
{
	return hash_text(hash_text(HASH_BEGIN, id->pod), id->pod_uid);
}

static uint32_t hash_container(const struct identity *id)
{
	return hash_text(HASH_BEGIN, id->container);
}

static void set_identity(struct census_workload *w, const struct identity *id)
{
	w->id = *id;
	w->pod = hash_pod(id);
	w->container = hash_container(id);
	w->represented = true;
}

static struct census_workload *make_workload(struct census *c, const struct identity *id,
					     uint64_t now_ns)
{
	struct census_workload *w = NULL;

	if (++c->made == SWEEP_EACH || (c->workloads == CENSUS_WORKLOADS_MAX && !c->swept)) {
		drop_workloads(c, is_idle, now_ns);
		c->swept = true;
		c->made = 0;
	}
	if (c->workloads < CENSUS_WORKLOADS_MAX)
		w = calloc(1, sizeof(*w));
	if (!w) {
		c->workloads_lost++;
		return &c->other;
	}
	set_identity(w, id);
	w->first_ns = w->last_ns = now_ns;
	table_add(&c->workload, &w->link, hash_text(HASH_BEGIN, id->name));
	c->workloads++;
	return w;
}

/*
 * A workload has the labels of one of its processes. If that process has exited, replaces the
 * labels by the labels of a live process.
 */
static void represent(struct census_workload *w, const struct identity *id)
{
	if (!w->represented)
		set_identity(w, id);
}

static struct census_workload *take_workload(struct census *c, const struct identity *id,
					     uint64_t now_ns)
{
	struct census_workload *w = find_workload(c, id);

	if (!w)
		return make_workload(c, id, now_ns);
	represent(w, id);
	return w;
}

static uint32_t cut(uint64_t n)
{
	return n < UINT32_MAX ? n : UINT32_MAX;
}

static void take_gauges(struct census_process *p, const struct process_record *r)
{
	bool has_maps = !(r->g.flags & (PROC_SHARES_MM | PROC_NO_MM));

	p->maps = has_maps ? r->g.map_count : 0;
	p->swap_pages = has_maps && r->g.swap_pages > 0 ? cut(r->g.swap_pages) : 0;
	p->fds = r->g.fds;
	p->fd_soft = cut(r->g.fd_soft);
	p->threads = r->g.threads;
}

static void take_counters(struct census_process *p, const struct process_record *r)
{
	for (int i = 0; i < NR_CENSUS_TAKEN; i++) {
		uint64_t now = get_taken(r, i);

		if (now <= p->last[i])
			continue;
		p->w->counter[i] += now - p->last[i];
		if (i == CENSUS_MAJOR_STALL_NS)
			p->w->stall_ns += now - p->last[i];
		p->last[i] = now;
	}
}

/* Stores the first values of counters, to exclude events from before the process was watched. */
static void begin(struct census_process *p, const struct process_record *r)
{
	p->start_ns = r->subject.start_ns;
	for (int i = 0; i < NR_CENSUS_TAKEN && !(r->g.flags & PROC_BORN); i++)
		if (taken[i].since_birth)
			p->last[i] = get_taken(r, i);
}

static void set_workload(struct census *c, struct census_process *p, const struct identity *id,
			 uint64_t now_ns)
{
	struct census_workload *w = take_workload(c, id, now_ns);

	w->refs++;
	if (p->w)
		p->w->refs--;
	p->w = w;
	/* with serial 0, the next record searches for the workload again */
	p->serial = w == &c->other ? 0 : id->serial;
	p->pod = hash_pod(id);
	p->container = hash_container(id);
}

static void mark_ended(struct census *c, struct census_process *p)
{
	c->ended += !p->ended;
	p->ended = true;
}

/* Resets the entry of a reused pid. The entry keeps its workload until set_workload(). */
static void restart(struct census *c, struct census_process *p)
{
	c->ended -= p->ended;
	*p = (struct census_process){.w = p->w, .pid = p->pid};
}

int census_take(struct census *c, const struct process_record *r, const struct identity *id,
		uint64_t now_ns)
{
	struct census_process *p = pids_find(&c->processes, r->subject.pid);

	if (p && r->subject.start_ns < p->start_ns)
		return 0; /* ignore a late record of the previous process that had this pid */
	if (!p)
		p = census_process_add(c, r->subject.pid);
	else if (p->start_ns != r->subject.start_ns)
		restart(c, p);
	if (!p) {
		c->processes_lost++;
		return -ENOMEM;
	}
	if (!p->start_ns)
		begin(p, r);
	if (p->serial != id->serial)
		set_workload(c, p, id, now_ns);
	else
		represent(p->w, id);
	p->told_ns = r->h.t_ns;
	take_gauges(p, r);
	take_counters(p, r);
	if (p->w->first_ns > p->start_ns)
		p->w->first_ns = p->start_ns;
	if (p->w->last_ns < now_ns)
		p->w->last_ns = now_ns;
	if (r->g.flags & PROC_FINAL)
		mark_ended(c, p);
	return 0;
}

static struct census_process *find_subject(const struct census *c, const struct process_key *of)
{
	struct census_process *p = pids_find(&c->processes, of->pid);

	return p && p->start_ns == of->start_ns ? p : NULL;
}

const struct census_workload *census_workload_of(const struct census *c,
						 const struct process_key *of)
{
	const struct census_process *p =
		of->start_ns ? find_subject(c, of) : pids_find(&c->processes, of->pid);

	return p && !p->ended ? p->w : NULL;
}

void census_gone(struct census *c, const struct process_key *of)
{
	struct census_process *p = find_subject(c, of);

	if (p)
		mark_ended(c, p);
}

bool census_each(const struct census *c, uint32_t *at, struct process_key *ret,
		 uint64_t *ret_told_ns)
{
	while (*at < c->processes.slots) {
		const struct census_process *p = pids_at(&c->processes, (*at)++);

		if (!p || p->ended)
			continue;
		*ret = (struct process_key){.start_ns = p->start_ns, .pid = p->pid};
		*ret_told_ns = p->told_ns;
		return true;
	}
	return false;
}

void census_count(struct census *c, const struct process_key *of, const struct identity *id,
		  enum census_counter counter, uint64_t n, uint64_t now_ns)
{
	struct census_process *p = find_subject(c, of);
	struct census_workload *w = p ? p->w : id ? take_workload(c, id, now_ns) : &c->other;

	w->counter[counter] += n;
	if (exported[counter].flags & EXPORT_FAILURE)
		w->failures += n;
	if (w->last_ns < now_ns)
		w->last_ns = now_ns;
}

bool census_is_rare(const struct census *c, const struct census_workload *w,
		    enum census_counter counter)
{
	bool sparse = w != &c->other && !c->limits.zeros;

	return exported[counter].flags & (EXPORT_RARE | (sparse ? EXPORT_SPARSE : 0));
}

uint32_t census_series(const struct census *c, const struct census_workload *w)
{
	uint32_t n = w == &c->other ? c->limits.series_of_other : c->limits.series_each;

	for (int i = 0; i < NR_CENSUS_COUNTERS; i++)
		n += w->counter[i] && census_is_rare(c, w, i);
	return n;
}

static void clear(struct census_workload *w)
{
	memset(w->gauge, 0, sizeof(w->gauge));
	w->threads = w->pid_threads = w->pid = 0;
	w->active = w->represented = w->mixed = w->mixed_pod = w->mixed_container = false;
}

/* Returns whether fds / limit > than_fds / than_limit, without division. */
static bool is_nearer(uint64_t fds, uint64_t limit, uint64_t than_fds, uint64_t than_limit)
{
	return fds * than_limit > than_fds * limit; /* no overflow: all factors are below 2^32 */
}

static void add_process_gauges(struct census_workload *w, const struct census_process *p)
{
	uint64_t *g = w->gauge;

	if (!g[CENSUS_PROCESSES] ||
	    is_nearer(p->fds, p->fd_soft, g[CENSUS_WORST_FDS], g[CENSUS_WORST_FDS_LIMIT])) {
		g[CENSUS_WORST_FDS] = p->fds;
		g[CENSUS_WORST_FDS_LIMIT] = p->fd_soft;
	}
	if (p->maps > g[CENSUS_WORST_MAPPINGS])
		g[CENSUS_WORST_MAPPINGS] = p->maps;
	w->threads += p->threads;
	if (p->threads > w->pid_threads) {
		w->pid_threads = p->threads;
		w->pid = p->pid;
	}
	g[CENSUS_PROCESSES]++;
	g[CENSUS_MAPPINGS] += p->maps;
	g[CENSUS_FDS] += p->fds;
	g[CENSUS_SWAP_PAGES] += p->swap_pages;
}

static void sum_processes(struct census *c, uint64_t now_ns)
{
	for (struct census_workload *w = NULL; (w = each_workload(c, w));)
		clear(w);
	clear(&c->other);
	for (uint32_t i = 0; i < c->processes.slots; i++) {
		struct census_process *p = pids_at(&c->processes, i);

		if (!p || p->ended)
			continue;
		add_process_gauges(p->w, p);
		if (now_ns - p->start_ns >= LASTING_NS)
			p->w->lasting = true;
		if (p->serial == p->w->id.serial)
			p->w->represented = true;
		else
			p->w->mixed = true;
		p->w->mixed_pod |= p->pod != p->w->pod;
		p->w->mixed_container |= p->container != p->w->container;
		p->w->active = true;
		p->w->last_ns = now_ns;
	}
}

void census_memory(struct census *c, const char *path, double share)
{
	size_t len = strcmp(path, "/") ? strlen(path) : 0;

	for (struct census_workload *w = NULL; (w = each_workload(c, w));) {
		const char *below = w->id.cgroup + len;

		if (!strncmp(w->id.cgroup, path, len) && (!*below || *below == '/') &&
		    w->memory < share)
			w->memory = share;
	}
}

/*
 * Reads the limits of tasks of workloads whose number of threads changed, or that are half full. A
 * workload cannot come near a limit without more threads, so the files of most need no reading. Of
 * a workload with several cgroups, the cgroup of the process with most threads is read.
 */
static void read_tasks(struct census *c)
{
	unsigned int read = 0;

	if (!c->read_tasks)
		return;
	for (struct census_workload *w = NULL; (w = each_workload(c, w));) {
		struct census_tasks now;

		w->tasks_refused = false;
		if (!w->active || !w->id.cgroup[0] ||
		    (w->threads == w->threads_read &&
		     w->tasks.share < TASKS_WATCHED_SHARE) ||
		    read++ >= TASKS_READ_MAX)
			continue;
		now = c->read_tasks(c->tasks_ctx, w->pid, w->id.cgroup);
		w->tasks_refused = w->tasks_known && now.refused > w->tasks.refused;
		w->tasks = now;
		w->tasks_known = true;
		w->threads_read = w->threads;
	}
}

/*
 * Sets the pressure of a workload to the higher one of two values: the highest share of a limit
 * that one of its processes or its cgroup uses, and the share of time that its processes waited for
 * major faults. If a call failed since the last update, adds 1 to the pressure. The activity of a
 * workload is its number of page faults, of which each update keeps one half.
 */
static void judge(struct census_workload *w, uint64_t now_ns, double seconds,
		  uint64_t max_map_count)
{
	const uint64_t *g = w->gauge;
	double maps = max_map_count ? (double)g[CENSUS_WORST_MAPPINGS] / max_map_count : 0;
	double fds = g[CENSUS_WORST_FDS_LIMIT]
			     ? (double)g[CENSUS_WORST_FDS] / g[CENSUS_WORST_FDS_LIMIT]
			     : g[CENSUS_WORST_FDS] > 0;
	double stall = seconds > 0 ? (w->stall_ns - w->stall_before_ns) / 1e9 / seconds : 0;

	w->pressure = maps > fds ? maps : fds;
	if (w->pressure < w->memory)
		w->pressure = w->memory;
	w->memory = 0;
	if (w->active && w->pressure < w->tasks.share)
		w->pressure = w->tasks.share;
	if (w->pressure >= URGENT_SHARE || w->tasks_refused || w->failures != w->failures_before)
		w->urgent_ns = now_ns;
	w->urgent = w->urgent_ns && now_ns - w->urgent_ns < URGENT_NS;
	w->displaced_another &= w->urgent;
	w->activity = w->activity / 2 + w->counter[CENSUS_MINOR_FAULTS] -
		      w->shown[CENSUS_MINOR_FAULTS] + w->counter[CENSUS_MAJOR_FAULTS] -
		      w->shown[CENSUS_MAJOR_FAULTS];
	if (w->pressure < stall)
		w->pressure = stall;
	if (w->pressure > 1)
		w->pressure = 1;
	if (w->failures != w->failures_before)
		w->pressure += 1;
	w->stall_before_ns = w->stall_ns;
	w->failures_before = w->failures;
	/* after its last process has ended, a workload keeps its labels */
	w->one = !w->mixed;
	w->one_pod = !w->mixed_pod;
	w->one_container = !w->mixed_container;
}

/*
 * Ends a workload's own series. Adds events that were not exported yet to ~other. Failures begin at
 * 0 if the series return: an alert takes a value above 0 for failures of this moment.
 */
static void remove_own(struct census *c, uint32_t i)
{
	struct census_workload *w = c->own[i];

	fold(c, w, true);
	for (int k = 0; k < NR_CENSUS_COUNTERS; k++)
		if (exported[k].flags & EXPORT_FAILURE)
			w->counter[k] = w->shown[k] = 0;
	w->own = w->displaced_another = false;
	memmove(&c->own[i], &c->own[i + 1], (c->owned - i - 1) * sizeof(c->own[0]));
	c->owned--;
}

static void retire(struct census *c, uint64_t now_ns)
{
	for (uint32_t i = c->owned; i-- > 0;) {
		struct census_workload *w = c->own[i];

		if (w->refs || now_ns - w->last_ns < c->limits.retention_ns)
			continue;
		/* if the workload becomes active again, its age starts at 0 */
		w->first_ns = w->last_ns;
		w->urgent_ns = 0;
		w->urgent = false;
		remove_own(c, i);
	}
	drop_workloads(c, is_forgotten, now_ns);
}

static void count_series(struct census *c)
{
	c->series = census_series(c, &c->other);
	for (uint32_t i = 0; i < c->owned; i++)
		c->series += census_series(c, c->own[i]);
}

/* Compares workloads: urgent ones first, then highest pressure, most mappings, and by name. */
static int by_pressure(const void *a, const void *b)
{
	const struct census_workload *x = *(struct census_workload *const *)a;
	const struct census_workload *y = *(struct census_workload *const *)b;

	if (x->urgent != y->urgent)
		return x->urgent ? -1 : 1;
	if (x->pressure != y->pressure)
		return x->pressure > y->pressure ? -1 : 1;
	if (x->gauge[CENSUS_MAPPINGS] != y->gauge[CENSUS_MAPPINGS])
		return x->gauge[CENSUS_MAPPINGS] > y->gauge[CENSUS_MAPPINGS] ? -1 : 1;
	return strcmp(x->id.name, y->id.name);
}

static bool has_room(const struct census *c, uint32_t more)
{
	return c->limits.series_else + c->series + more <= c->limits.series;
}

static void count_limited(struct census *c, struct census_workload *w)
{
	c->series_limited += w->limited ? 0 : census_series(c, w);
	w->limited = true;
}

/*
 * Removes workloads' own series, lowest pressure first, if rare counters raised the number of
 * series above its limit.
 */
static void drop_series(struct census *c)
{
	while (c->owned && !has_room(c, 0)) {
		uint32_t least = 0;

		for (uint32_t i = 1; i < c->owned; i++)
			if (by_pressure(&c->own[i], &c->own[least]) > 0)
				least = i;
		count_limited(c, c->own[least]);
		remove_own(c, least);
		count_series(c);
	}
}

/*
 * Returns whether a workload is old enough for series of its own. Its age counts from its first
 * process, even if processes were restarted.
 */
static bool is_old(const struct census *c, const struct census_workload *w)
{
	return w->last_ns - w->first_ns >= c->limits.min_age_ns;
}

static bool may_have_own(const struct census *c, const struct census_workload *w)
{
	bool short_program = w->id.kind == KIND_COMM && !w->lasting && c->limits.min_age_ns;

	return !short_program && (w->urgent || is_old(c, w));
}

/* Returns whether a workload is idler than another one: ended, or with fewer page faults. */
static bool is_idler(const struct census_workload *w, const struct census_workload *than)
{
	if (w->active != than->active)
		return than->active;
	if (w->activity != than->activity)
		return w->activity < than->activity;
	return by_pressure(&w, &than) > 0;
}

/*
 * Takes own series from the idlest workload that is not urgent, if this makes room for `series`.
 * Returns false if it does not, or if urgent workloads have taken as many places as are kept for
 * them.
 */
static bool displace(struct census *c, uint32_t series)
{
	uint32_t taken = 0, idlest = UINT32_MAX;

	for (uint32_t i = 0; i < c->owned; i++) {
		const struct census_workload *w = c->own[i];

		taken += w->displaced_another;
		if (!w->urgent && (idlest == UINT32_MAX || is_idler(w, c->own[idlest])))
			idlest = i;
	}
	if (idlest == UINT32_MAX || taken > c->limits.workloads / URGENT_EACH ||
	    c->limits.series_else + c->series - census_series(c, c->own[idlest]) + series >
		    c->limits.series)
		return false;
	remove_own(c, idlest);
	count_series(c);
	return true;
}

/* Gives series of its own to a workload. Returns false if there is no room. */
static bool give_own(struct census *c, struct census_workload *w)
{
	uint32_t series = census_series(c, w);

	if (c->owned >= c->limits.workloads || !has_room(c, series))
		return false;
	fold(c, w, false);
	c->own[c->owned++] = w;
	c->series += census_series(c, w);
	w->own = true;
	w->limited = false;
	return true;
}

static void promote(struct census *c)
{
	struct census_workload *old[CENSUS_WORKLOADS_MAX];
	uint32_t n = 0;

	c->folded = 0;
	for (struct census_workload *w = NULL; (w = each_workload(c, w));)
		if (!w->own && may_have_own(c, w))
			old[n++] = w;
	qsort(old, n, sizeof(old[0]), by_pressure);
	for (uint32_t i = 0; i < n; i++) {
		struct census_workload *w = old[i];

		if (give_own(c, w))
			continue;
		if (w->urgent && displace(c, census_series(c, w)) && give_own(c, w)) {
			w->displaced_another = true;
			continue;
		}
		if (c->owned < c->limits.workloads)
			count_limited(c, w);
		c->folded += w->active;
	}
}

/* Sums the gauges of all workloads without own series into ~other. */
static void sum_other(struct census *c)
{
	uint64_t *to = c->other.gauge;

	for (struct census_workload *w = NULL; (w = each_workload(c, w));) {
		const uint64_t *g = w->gauge;

		if (w->own || !w->active)
			continue;
		if (!to[CENSUS_PROCESSES] ||
		    is_nearer(g[CENSUS_WORST_FDS], g[CENSUS_WORST_FDS_LIMIT], to[CENSUS_WORST_FDS],
			      to[CENSUS_WORST_FDS_LIMIT])) {
			to[CENSUS_WORST_FDS] = g[CENSUS_WORST_FDS];
			to[CENSUS_WORST_FDS_LIMIT] = g[CENSUS_WORST_FDS_LIMIT];
		}
		if (g[CENSUS_WORST_MAPPINGS] > to[CENSUS_WORST_MAPPINGS])
			to[CENSUS_WORST_MAPPINGS] = g[CENSUS_WORST_MAPPINGS];
		to[CENSUS_PROCESSES] += g[CENSUS_PROCESSES];
		to[CENSUS_MAPPINGS] += g[CENSUS_MAPPINGS];
		to[CENSUS_FDS] += g[CENSUS_FDS];
		to[CENSUS_SWAP_PAGES] += g[CENSUS_SWAP_PAGES];
	}
}

void census_update(struct census *c, uint64_t now_ns, uint64_t max_map_count)
{
	double seconds = c->updated_ns ? (now_ns - c->updated_ns) / 1e9 : 0;

	census_process_sweep(c);
	sum_processes(c, now_ns);
	read_tasks(c);
	for (struct census_workload *w = NULL; (w = each_workload(c, w));)
		judge(w, now_ns, seconds, max_map_count);
	retire(c, now_ns);
	count_series(c);
	drop_series(c);
	promote(c);
	for (struct census_workload *w = NULL; (w = each_workload(c, w));)
		if (!w->own)
			fold(c, w, true);
	/* the new events may have added rare counters to ~other */
	count_series(c);
	drop_series(c);
	sum_other(c);
	for (uint32_t i = 0; i < c->owned; i++)
		memcpy(c->own[i]->shown, c->own[i]->counter, sizeof(c->own[i]->shown));
	c->updated_ns = now_ns;
	c->swept = false;
}
