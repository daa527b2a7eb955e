// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/calibrate_work.h"
#include "probe/host_facts.h"

/*
 * Maximum time for measuring rounds. In all, with scans and loading of probes, doctor takes half a
 * second.
 */
#define ENOUGH_NS     350000000ULL
#define LOOKS_NS      40000000ULL
#define SLOW_NS	      100000000ULL /* do not measure if attaching a set of probes takes longer */
#define ROUNDS_MAX    64
#define LOOKS_MAX     32
#define ROUNDS_WANTED 8 /* minimum number of rounds; fewer are enough after PATIENCE_NS */
#define PATIENCE_NS   2500000000ULL

/*
 * Sets of probes; each set up to ALL_TIERS contains all probes of the preceding set. TIER_1 and
 * FAULT_ENDS are loaded as separate BPF objects, because fewer probes make the programs cheaper.
 * The programs of TIER_1 do not store when a fault begins; those of FAULT_ENDS do not store the
 * class of a fault. ONE_PROCESS has all probes, like `faultscope -p` with this process.
 */
enum set { NOTHING, TIER_1, FAULT_ENDS, TIER_2, ALL_TIERS, ONE_PROCESS, NR_SETS };

static const struct {
	unsigned int tiers;
	/* names of probes that are left off, although their overhead level is in `tiers` */
	const char *without[4];
} part[NR_SETS] = {
	[TIER_1] = {0x3},
	[FAULT_ENDS] = {0x7, {"fault_class", "compaction", "mmap_lock"}},
	[TIER_2] = {0x7},
	[ONE_PROCESS] = {TIER_ALL},
};

static const struct {
	const char *hook, *per, *said;
	enum bench_work work;
	enum set with;
} table[] = {
#define COST(...) {__VA_ARGS__},
#include "session/calibrate.def"
#undef COST
};
#define NR_ROWS (sizeof(table) / sizeof(table[0]))

static const struct {
	const char *name, *title;
	enum bench_work work;
	unsigned int operations;
} events[] = {
#define EVENT(...) {__VA_ARGS__},
#include "session/calibrate_rows.def"
#undef EVENT
};
#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

/* Which process does the work: this process, or a child, which no source watches. */
enum worker { THIS_PROCESS, ANOTHER_PROCESS, NR_WORKERS };

struct rig {
	struct source *src[NR_SETS]; /* source of each set of probes; NULL for the set NOTHING */
	enum set set;		     /* set of probes that is attached now */
	struct bench bench;
	double added[NR_ROWS][ROUNDS_MAX]; /* added ns per operation, by row and round */
	/* ns that ONE_PROCESS adds to an event, by worker and round */
	double event[NR_EVENTS][NR_WORKERS][ROUNDS_MAX];
	unsigned int rounds;
	uint64_t rounds_ns; /* CLOCK_MONOTONIC time at which the rounds began */
};

static int forget(void *ctx, const struct record *h)
{
	return 0;
}

static const struct sink nobody = {.take = forget};

static void add_row(struct calibration *c, const struct source *src, size_t hook, int work,
		    const char *why)
{
	const struct hook *h = &hooks[hook];
	enum hook_use state = live_hooks(src)[hook].state;
	struct cost *cost = &c->row[c->rows].cost;

	if (c->rows == COSTS_MAX)
		return;
	c->row[c->rows].hook = h->name;
	c->row[c->rows].work = work;
	c->rows++;
	cost->per = work >= 0 ? table[work].per : h->unmeasured.per ?: "event";
	cost->said = work >= 0 ? table[work].said : h->unmeasured.said ?: "an event";
	snprintf(cost->why, sizeof(cost->why), "%s",
		 state == HOOK_BLIND ? "not measured: unavailable"
		 : state == HOOK_OFF ? "not measured: off"
		 : work >= 0	     ? why
				     : h->unmeasured.why ?: "no work of doctor makes such events");
}

static void add_overhead(struct calibration *c, size_t event, bool watched, const char *why)
{
	struct cost *cost = &c->overhead[c->overheads].cost;

	c->overhead[c->overheads].event = events[event].name;
	c->overhead[c->overheads].title = events[event].title;
	c->overhead[c->overheads].watched = watched;
	cost->per = events[event].name;
	cost->said = watched ? "in the watched process" : "in another process";
	snprintf(cost->why, sizeof(cost->why), "%s", why);
	c->overheads++;
}

static void begin_rows(struct calibration *c, const struct source *src, const char *why)
{
	memset(c, 0, sizeof(*c));
	for (size_t h = 0; h < nr_hooks; h++) {
		size_t rows = c->rows;

		for (size_t i = 0; i < NR_ROWS; i++)
			if (!strcmp(table[i].hook, hooks[h].name))
				add_row(c, src, h, i, why);
		if (c->rows == rows)
			add_row(c, src, h, -1, why);
	}
	for (size_t i = 0; i < NR_EVENTS; i++)
		for (int worker = 0; worker < NR_WORKERS; worker++)
			add_overhead(c, i, worker == THIS_PROCESS, why);
}

void calibrate_not(struct calibration *ret, const struct source *src, const char *why)
{
	begin_rows(ret, src, why);
}

static bool is_on(const struct source *src, const char *hook)
{
	return live_hooks(src)[hook_find(hook)].state == HOOK_ON;
}

/*
 * Measures the CPU time that a scan takes per process, including the records that the scan sends.
 */
static void time_scans(struct calibration *c, struct source *src, size_t row, size_t processes)
{
	uint64_t end = host_monotonic_ns() + LOOKS_NS;
	double each[LOOKS_MAX];
	size_t n = 0;

	if (!is_on(src, c->row[row].hook) || !processes)
		return;
	while (n < LOOKS_MAX && (n < COST_LEAST || host_monotonic_ns() < end)) {
		uint64_t begin = host_own_cpu_ns();

		if (src->ops->look(src, &nobody))
			return;
		each[n++] = (double)(host_own_cpu_ns() - begin) / processes;
	}
	cost_judge(&c->row[row].cost, each, n);
}

/* Loads a subset of the probes of `src`, with the same attach types. */
static int open_part(struct rig *r, enum set set, const struct live_options *opt,
		     struct source *src)
{
	struct live_options lo = *opt;
	char error[1024];

	lo.tiers &= part[set].tiers;
	lo.watch_all = set != ONE_PROCESS;
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_status *st = &live_hooks(src)[h];

		lo.forced[h] = st->state == HOOK_ON ? st->used->mechanism : "none";
	}
	for (size_t i = 0; part[set].without[i]; i++)
		lo.forced[hook_find(part[set].without[i])] = "none";
	return live_open(&lo, &r->src[set], error, sizeof(error));
}

static int open_parts(struct rig *r, const struct live_options *opt, struct source *src)
{
	int err = 0;

	for (int set = TIER_1; set < NR_SETS && !err; set++) {
		if (set == ALL_TIERS)
			continue;
		err = open_part(r, set, opt, src);
		if (!err && set == ONE_PROCESS)
			err = live_watch(r->src[set], getpid(), false);
		if (!err)
			live_pause(r->src[set]);
	}
	return err;
}

static void close_parts(struct rig *r)
{
	for (int set = TIER_1; set < NR_SETS; set++)
		if (r->src[set] && set != ALL_TIERS)
			r->src[set]->ops->close(r->src[set]);
}

static int attach(struct rig *r, enum set set)
{
	if (set == r->set)
		return 0;
	if (r->src[r->set])
		live_pause(r->src[r->set]);
	r->set = set;
	return r->src[set] ? live_resume(r->src[set]) : 0;
}

/* Discards the records in the ring buffer, because probes take less time when it is full. */
static void empty_ring(struct rig *r)
{
	if (r->src[r->set])
		r->src[r->set]->ops->drain(r->src[r->set], &nobody);
}

static int time_set(struct rig *r, enum set set, double *ret)
{
	int err = attach(r, set);

	for (int work = 0; work < NR_WORKS && !err; work++) {
		empty_ring(r);
		ret[work] = bench_time(&r->bench, work);
	}
	return err;
}

/* Times events in a child process, with the set of probes that is attached. */
static int time_in_child(struct rig *r, double *ret)
{
	size_t bytes = NR_EVENTS * sizeof(*ret);
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	empty_ring(r);
	child = fork();
	if (!child) {
		for (size_t i = 0; i < NR_EVENTS; i++)
			ret[i] = bench_time(&r->bench, events[i].work);
		_exit(write(ends[1], ret, bytes) != (ssize_t)bytes);
	}
	close(ends[1]);
	status = child < 0 || read(ends[0], ret, bytes) != (ssize_t)bytes ? -EIO : 0;
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return status;
}

/*
 * Measures all sets of probes once. The order is ascending and descending by turns, to cancel
 * changes of the machine's speed over time.
 */
static int take_round(struct rig *r, bool keep)
{
	double ns[NR_SETS][NR_WORKS], child_ns[NR_SETS][NR_EVENTS];
	int err = 0;

	for (int i = 0; i < NR_SETS && !err; i++) {
		enum set set = r->rounds & 1 ? i : NR_SETS - 1 - i;

		err = time_set(r, set, ns[set]);
		if (!err && (set == NOTHING || set == ONE_PROCESS))
			err = time_in_child(r, child_ns[set]);
	}
	if (err || !keep)
		return err;
	for (size_t i = 0; i < NR_EVENTS; i++) {
		enum bench_work work = events[i].work;
		unsigned int n = events[i].operations;

		r->event[i][THIS_PROCESS][r->rounds] =
			n * (ns[ONE_PROCESS][work] - ns[NOTHING][work]);
		r->event[i][ANOTHER_PROCESS][r->rounds] =
			n * (child_ns[ONE_PROCESS][i] - child_ns[NOTHING][i]);
	}
	for (size_t i = 0; i < NR_ROWS; i++)
		if (table[i].with != NOTHING)
			r->added[i][r->rounds] = ns[table[i].with][table[i].work] -
						 ns[table[i].with - 1][table[i].work];
	r->rounds++;
	return 0;
}

static bool is_enough(const struct rig *r)
{
	uint64_t now = host_monotonic_ns() - r->rounds_ns;

	return r->rounds == ROUNDS_MAX ||
	       now > (r->rounds < ROUNDS_WANTED ? PATIENCE_NS : ENOUGH_NS);
}

static void judge_rows(struct calibration *c, struct rig *r, struct source *src, const char *failed)
{
	for (size_t row = 0; row < c->rows; row++) {
		struct cost *cost = &c->row[row].cost;
		int i = c->row[row].work;

		if (i < 0 || table[i].with == NOTHING || !is_on(src, c->row[row].hook))
			continue;
		if (failed)
			snprintf(cost->why, sizeof(cost->why), "%s", failed);
		else
			cost_judge(cost, r->added[i], r->rounds);
	}
	for (size_t i = 0; i < c->overheads; i++) {
		struct cost *cost = &c->overhead[i].cost;

		if (failed)
			snprintf(cost->why, sizeof(cost->why), "%s", failed);
		else
			cost_judge(cost, r->event[i / NR_WORKERS][i % NR_WORKERS], r->rounds);
	}
}

/*
 * Repeats rounds of measurements. Returns NULL, or a text that says why the measurements cannot be
 * used.
 */
static const char *take_rounds(struct rig *r)
{
	r->rounds_ns = host_monotonic_ns();
	/*
	 * The first round is not counted: it warms up caches, and shows how long attaching takes.
	 */
	if (take_round(r, false))
		return "not measured: a probe could not be attached again";
	if (host_monotonic_ns() - r->rounds_ns > SLOW_NS * NR_SETS)
		return "not measured: attaching takes too long, or the machine is too busy";
	while (!is_enough(r))
		if (take_round(r, true))
			return "not measured: a probe could not be attached again";
	return NULL;
}

/* Pins this thread to its CPU, because times of different CPUs are not comparable. */
static void pin(cpu_set_t *ret_before)
{
	cpu_set_t here;
	int cpu = sched_getcpu();

	sched_getaffinity(0, sizeof(*ret_before), ret_before);
	CPU_ZERO(&here);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_SET(cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

void calibrate(struct calibration *ret, const struct live_options *opt, struct source *src,
	       size_t processes)
{
	struct rig r = {.src[ALL_TIERS] = src, .set = ALL_TIERS};
	uint64_t begin = host_monotonic_ns();
	const char *failed = "not measured: the probes could not be loaded a second time";
	cpu_set_t before;

	begin_rows(ret, src, "not measured");
	pin(&before);
	for (size_t i = 0; i < ret->rows; i++)
		if (!strcmp(ret->row[i].hook, "scan"))
			time_scans(ret, src, i, processes);
	if (bench_open(&r.bench))
		failed = "not measured: no memory, or no /dev/zero";
	else if (!open_parts(&r, opt, src))
		failed = take_rounds(&r);
	judge_rows(ret, &r, src, failed);
	live_pause(src);
	close_parts(&r);
	bench_close(&r.bench);
	sched_setaffinity(0, sizeof(before), &before);
	ret->done = !failed && r.rounds >= COST_LEAST;
	ret->rounds = r.rounds;
	ret->seconds = (host_monotonic_ns() - begin) / 1e9;
}
