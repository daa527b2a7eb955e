// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the census at its bounds: ties between workloads, shares of limits, times and numbers. */
#include <stdlib.h>

#include "model/census.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define EACH   24
#define NOW    (100 * SECOND)

static const struct census_limits limits = {
	.workloads = 3,
	.series = 1000,
	.series_else = 100,
	.series_each = EACH,
	.series_of_other = EACH,
	.zeros = true,
	.min_age_ns = 30 * SECOND,
	.retention_ns = 300 * SECOND,
};

static struct census c;

static void begin(uint32_t workloads)
{
	struct census_limits l = limits;

	l.workloads = workloads;
	if (census_init(&c, &l))
		abort();
}

static struct identity identity_of(const char *name)
{
	struct identity id = {.kind = KIND_UNIT};

	identity_rename(&id, name);
	for (const char *s = name; *s; s++)
		id.serial = id.serial * 31 + *s;
	return id;
}

static struct process_record process(uint32_t pid, uint32_t maps)
{
	return (struct process_record){
		.h = {RECORD_PROCESS, sizeof(struct process_record), 0},
		.subject = {.start_ns = 1, .pid = pid},
		.g = {.map_count = maps, .fd_soft = 1024, .flags = PROC_BORN}};
}

static void take(struct process_record r, const char *name, uint64_t now_ns)
{
	struct identity id = identity_of(name);

	census_take(&c, &r, &id, now_ns);
}

static const struct census_workload *find(const char *name)
{
	for (uint32_t i = 0; i < c.owned; i++)
		if (!strcmp(c.own[i]->id.name, name))
			return c.own[i];
	return NULL;
}

/* Which of three workloads get the two places that there are. */
static void test_ties(void)
{
	static const struct {
		const char *what;
		uint32_t maps[3]; /* of a, b and c */
		uint64_t max_map_count;
		bool own[3];
	} cases[] = {
		{"most mappings", {5, 6, 7}, 0, {false, true, true}},
		{"one mapping more", {6, 5, 5}, 0, {true, true, false}},
		{"equal: by name", {5, 5, 5}, 0, {true, true, false}},
		{"by name behind more mappings", {5, 5, 6}, 0, {true, false, true}},
		{"the share of the limit", {5, 7, 6}, 1000, {false, true, true}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(2);
		take(process(1, cases[i].maps[0]), "a", NOW);
		take(process(2, cases[i].maps[1]), "b", NOW);
		take(process(3, cases[i].maps[2]), "c", NOW);
		census_update(&c, NOW, cases[i].max_map_count);
		ok(!find("a") == !cases[i].own[0] && !find("b") == !cases[i].own[1] &&
			   !find("c") == !cases[i].own[2],
		   "%s", cases[i].what);
		is_u64(c.folded, 1, "the other one is in ~other");
		census_free(&c);
	}
}

/* A workload that becomes urgent takes the place of the idlest one. */
static void test_idlest(void)
{
	static const struct {
		const char *what;
		uint64_t faults[2]; /* of a and b */
		uint32_t maps[2];
		const char *stays;
	} cases[] = {
		{"fewer faults", {9, 10}, {9, 9}, "b"},
		{"fewer faults of the other", {10, 9}, {9, 9}, "a"},
		{"equal faults, fewer mappings", {9, 9}, {8, 9}, "b"},
		{"equal faults, fewer mappings of the other", {9, 9}, {9, 8}, "a"},
		{"equal in both: by name", {9, 9}, {9, 9}, "a"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_record a = process(1, cases[i].maps[0]);
		struct process_record b = process(2, cases[i].maps[1]);

		begin(2);
		take(a, "a", NOW);
		take(b, "b", NOW);
		census_update(&c, NOW, 0);
		a.g.min_flt = cases[i].faults[0];
		b.g.min_flt = cases[i].faults[1];
		take(a, "a", NOW + SECOND);
		take(b, "b", NOW + SECOND);
		take(process(3, 1), "c", NOW + SECOND);
		census_count(&c, &(struct process_key){.start_ns = 1, .pid = 3}, NULL,
			     CENSUS_FD_FAILURES_EMFILE, 1, NOW + SECOND);
		census_update(&c, NOW + SECOND, 0);
		ok(c.owned == 2 && find("c") && find(cases[i].stays), "%s: %s stays", cases[i].what,
		   cases[i].stays);
		census_free(&c);
	}
}

/* A workload is urgent from 0.8 of a limit on, and for 300 s after that. */
static void test_urgent(void)
{
	static const struct {
		uint32_t maps, fds;
		bool urgent;
	} cases[] = {{800, 1, true}, {799, 1, false}, {1, 819, false}, {1, 820, true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_record r = process(1, cases[i].maps);

		begin(3);
		r.g.fds = cases[i].fds;
		take(r, "a", NOW);
		census_update(&c, NOW, 1000);
		ok(find("a")->urgent == cases[i].urgent, "%u mappings of 1000, %u fds of 1024",
		   cases[i].maps, cases[i].fds);
		r.g.map_count = r.g.fds = 1;
		take(r, "a", NOW + SECOND);
		census_update(&c, NOW + 300 * SECOND - 1, 1000);
		ok(find("a")->urgent == cases[i].urgent, "for less than 300 s");
		census_update(&c, NOW + 300 * SECOND, 1000);
		ok(!find("a")->urgent, "and no longer");
		census_free(&c);
	}
}

/* Series stay for 300 s after the last process. */
static void test_retention(void)
{
	struct process_key key = {.start_ns = 1, .pid = 1};

	begin(3);
	take(process(1, 5), "a", NOW);
	census_update(&c, NOW, 0);
	census_gone(&c, &key);
	ok(!census_workload_of(&c, &key), "it has ended");
	census_update(&c, NOW + 300 * SECOND - 1, 0);
	ok(find("a") && !find("a")->active, "for less than 300 s");
	census_update(&c, NOW + 300 * SECOND, 0);
	ok(!find("a"), "and no longer");
	is_u64(c.workloads, 0, "it is forgotten");
	census_free(&c);
}

static unsigned int reads;
static double share;

static struct census_tasks count_read(void *ctx, uint32_t pid, const char *path)
{
	reads++;
	return (struct census_tasks){.share = share};
}

static void take_threads(uint32_t pid, const char *name, uint32_t threads, uint64_t now_ns)
{
	struct process_record r = process(pid, 1);
	struct identity id = identity_of(name);

	r.g.threads = threads;
	snprintf(id.cgroup, sizeof(id.cgroup), "/%s", name);
	census_take(&c, &r, &id, now_ns);
}

/* From half of a limit on, tasks are read at each update. An update reads 256 workloads at most. */
static void test_tasks(void)
{
	static const struct {
		double share;
		unsigned int reads;
	} cases[] = {{0.5, 2}, {0.4999, 1}, {0.6, 2}, {0, 1}};
	char name[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(3);
		c.read_tasks = count_read;
		reads = 0;
		share = cases[i].share;
		take_threads(1, "a", 5, NOW);
		census_update(&c, NOW, 0);
		census_update(&c, NOW + SECOND, 0);
		is_u64(reads, cases[i].reads, "without more threads");
		take_threads(1, "a", 6, NOW + 2 * SECOND);
		census_update(&c, NOW + 2 * SECOND, 0);
		is_u64(reads, cases[i].reads + 1, "with one more");
		census_free(&c);
	}
	begin(3);
	c.read_tasks = count_read;
	reads = 0;
	share = 0;
	for (uint32_t i = 0; i < 258; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		take_threads(10 + i, name, 1, NOW);
	}
	census_update(&c, NOW, 0);
	is_u64(reads, 256, "as many as an update reads");
	census_update(&c, NOW + SECOND, 0);
	is_u64(reads, 258, "the next one reads the others");
	census_free(&c);
}

/* A cgroup's use of its memory limit counts for workloads in it and below it. */
static void test_memory(void)
{
	static const struct {
		const char *path;
		bool counts;
	} cases[] = {{"/a", true},     {"/", true},    {"/a/b", true}, {"/a/b/c", false},
		     {"/a/bc", false}, {"/a/", false}, {"/b", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity id = identity_of("w");
		struct process_record r = process(1, 1);

		begin(3);
		strcpy(id.cgroup, "/a/b");
		census_take(&c, &r, &id, NOW);
		census_memory(&c, cases[i].path, 0.7);
		census_memory(&c, cases[i].path, 0.6);
		census_update(&c, NOW, 0);
		ok(find("w")->pressure == (cases[i].counts ? 0.7 : 0), "%s: %s", cases[i].path,
		   cases[i].counts ? "counts" : "is elsewhere");
		census_update(&c, NOW + SECOND, 0);
		ok(find("w")->pressure == 0, "until the next update");
		census_free(&c);
	}
}

/* The process that is nearest to its limit of fds. */
static void test_worst_fds(void)
{
	static const struct {
		uint32_t fds[2], limit[2], worst, worst_limit;
	} cases[] = {
		{{10, 20}, {100, 100}, 20, 100},
		{{10, 20}, {100, 199}, 20, 199},
		{{10, 20}, {100, 201}, 10, 100},
		{{0, 1}, {100, 50}, 1, 50},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t *g;

		begin(3);
		for (uint32_t k = 0; k < 2; k++) {
			struct process_record r = process(1 + k, 7 + k);

			r.g.fds = cases[i].fds[k];
			r.g.fd_soft = cases[i].limit[k];
			r.g.swap_pages = k ? -5 : 3;
			take(r, "w", NOW);
		}
		census_update(&c, NOW, 0);
		g = find("w")->gauge;
		ok(g[CENSUS_WORST_FDS] == cases[i].worst &&
			   g[CENSUS_WORST_FDS_LIMIT] == cases[i].worst_limit,
		   "%u of %u and %u of %u", cases[i].fds[0], cases[i].limit[0], cases[i].fds[1],
		   cases[i].limit[1]);
		ok(g[CENSUS_PROCESSES] == 2 && g[CENSUS_MAPPINGS] == 15 &&
			   g[CENSUS_WORST_MAPPINGS] == 8 && g[CENSUS_SWAP_PAGES] == 3 &&
			   g[CENSUS_FDS] == cases[i].fds[0] + cases[i].fds[1],
		   "and the sums");
		census_free(&c);
	}
}

/* A pid that is used again: the older process's late record is ignored. */
static void test_pids(void)
{
	struct process_key key = {.pid = 1};
	struct process_record r = process(1, 5);
	uint64_t told_ns;
	uint32_t at = 0;

	begin(3);
	r.subject.start_ns = 20;
	r.g.min_flt = 4;
	r.h.t_ns = 77;
	take(r, "w", NOW);
	r.subject.start_ns = 19;
	r.g.min_flt = 50;
	take(r, "w", NOW);
	is_u64(census_workload_of(&c, &key)->counter[CENSUS_MINOR_FAULTS], 4, "an older one");
	r.subject.start_ns = 21;
	r.g.min_flt = 3;
	take(r, "w", NOW);
	is_u64(census_workload_of(&c, &key)->counter[CENSUS_MINOR_FAULTS], 7, "a later one");
	ok(census_each(&c, &at, &key, &told_ns) && key.start_ns == 21 && told_ns == 77 &&
		   !census_each(&c, &at, &key, &told_ns),
	   "one process is alive");
	ok(census_workload_of(&c, &key), "by its start");
	key.start_ns = 20;
	ok(!census_workload_of(&c, &key), "not by another");
	r.g.flags |= PROC_FINAL;
	take(r, "w", NOW);
	at = 0;
	ok(!census_each(&c, &at, &key, &told_ns) && c.ended == 1, "until its last record");
	census_free(&c);
}

/* Events from before the watch do not count, unless the process was born in it. */
static void test_begin(void)
{
	struct process_record r = process(1, 5);

	begin(3);
	r.g.flags = 0;
	r.g.min_flt = 1000;
	r.c.kernel_bad = 0;
	take(r, "old", NOW);
	r.g.min_flt = 1002;
	take(r, "old", NOW);
	r = process(2, 5);
	r.g.min_flt = 1000;
	take(r, "new", NOW);
	r.g.min_flt = 999;
	take(r, "new", NOW);
	census_update(&c, NOW, 0);
	is_u64(c.other.counter[CENSUS_MINOR_FAULTS], 1002, "both are in ~other at first");
	r.g.min_flt = 1001;
	take(r, "new", NOW + SECOND);
	census_update(&c, NOW + SECOND, 0);
	is_u64(find("new")->counter[CENSUS_MINOR_FAULTS], 1, "a total that fell counts on");
	census_free(&c);
}

/* What a census is at first, whatever was in its place, and at its end. */
static void test_init(void)
{
	struct census_limits l = limits;

	for (uint32_t n = CENSUS_WORKLOADS_MAX - 1; n <= CENSUS_WORKLOADS_MAX + 1; n++) {
		memset(&c, 0xa5, sizeof(c));
		l.workloads = n;
		is_u64(census_init(&c, &l), 0, "a census");
		is_u64(c.limits.workloads, n < CENSUS_WORKLOADS_MAX ? n : CENSUS_WORKLOADS_MAX,
		       "no more workloads than there is room for");
		ok(!c.owned && !c.folded && !c.workloads && !c.series_limited && !c.updated_ns &&
			   !c.read_tasks && !c.other.counter[CENSUS_MINOR_FAULTS],
		   "which is empty");
		is_str(c.other.id.name, CENSUS_OTHER, "the rest has a name");
		ok(c.other.own && c.other.id.kind == KIND_COMM, "and series of its own");
		ok(!census_workload_of(&c, &(struct process_key){.pid = 1}), "no process");
		take(process(1, 1), "a", NOW);
		ok(c.workloads == 1 && census_workload_of(&c, &(struct process_key){.pid = 1}),
		   "one process");
		census_free(&c);
		ok(!c.workloads && !c.limits.workloads && !c.other.own, "nothing is left");
	}
}

int main(void)
{
	test_init();
	test_ties();
	test_idlest();
	test_urgent();
	test_retention();
	test_tasks();
	test_memory();
	test_worst_fds();
	test_pids();
	test_begin();
	return tap_done();
}
