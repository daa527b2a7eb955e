// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "model/census.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define EACH   24

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

static struct identity identity_of(const char *name, uint64_t serial)
{
	struct identity id = {.serial = serial, .kind = KIND_UNIT};

	identity_rename(&id, name);
	return id;
}

static struct process_record process(uint32_t pid, uint64_t start_ns, uint32_t maps, uint32_t fds,
				     uint64_t faults)
{
	struct process_record r = {
		.h = {RECORD_PROCESS, sizeof(r), 0},
		.subject = {start_ns, pid, 0},
		.g = {.map_count = maps,
		      .fds = fds,
		      .fd_soft = 1024,
		      .min_flt = faults,
		      .flags = PROC_BORN},
	};

	return r;
}

static void take(struct census *c, struct process_record r, const char *name, uint64_t now_ns)
{
	struct identity id = identity_of(name, 1);

	/* The serial of an identity is a hash of its name. */
	for (const char *s = name; *s; s++)
		id.serial = id.serial * 31 + *s;
	census_take(c, &r, &id, now_ns);
}

static const struct census_workload *find(const struct census *c, const char *name)
{
	for (uint32_t i = 0; i < c->owned; i++)
		if (!strcmp(c->own[i]->id.name, name))
			return c->own[i];
	return NULL;
}

static uint64_t faults_of(const struct census *c, const char *name)
{
	const struct census_workload *w = find(c, name);

	return w ? w->counter[CENSUS_MINOR_FAULTS] : UINT64_MAX;
}

#define OTHER(c) ((c).other.counter[CENSUS_MINOR_FAULTS])

static void test_ages(void)
{
	struct census c;

	census_init(&c, &limits);
	take(&c, process(10, 1 * SECOND, 100, 5, 7), "old", 100 * SECOND);
	take(&c, process(11, 99 * SECOND, 100, 5, 7), "young", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	ok(c.owned == 1 && find(&c, "old"), "one that lives for long is told at once");
	is_u64(OTHER(c), 14, "what was before is in ~other");
	ok(c.other.gauge[CENSUS_MAPPINGS] == 100 && c.other.gauge[CENSUS_PROCESSES] == 1,
	   "with what is young");
	take(&c, process(10, 1 * SECOND, 120, 6, 10), "old", 110 * SECOND);
	take(&c, process(11, 99 * SECOND, 100, 5, 9), "young", 110 * SECOND);
	census_update(&c, 129 * SECOND, 65530);
	ok(faults_of(&c, "old") == 3 && OTHER(c) == 16, "each in its own series");
	census_update(&c, 130 * SECOND, 65530);
	ok(faults_of(&c, "young") == 0, "30 s are enough");
	ok(!c.other.gauge[CENSUS_PROCESSES] && !c.folded, "nobody is left");
	census_free(&c);
}

/* Tests two pods with the same name. After one has ended, the other pod's labels are shown. */
static void test_labels_outlive_a_pod(void)
{
	struct identity a = identity_of("set", 11), b = identity_of("set", 22);
	struct process_record of_a = process(1, 1, 10, 5, 0), of_b = process(2, 1, 10, 5, 0);
	struct census c;

	census_init(&c, &limits);
	census_take(&c, &of_a, &a, 100 * SECOND);
	census_take(&c, &of_b, &b, 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	ok(!find(&c, "set")->one, "two pods: no labels of one");
	census_gone(&c, &of_a.subject);
	census_update(&c, 101 * SECOND, 65530);
	census_take(&c, &of_b, &b, 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	ok(find(&c, "set")->one && find(&c, "set")->id.serial == 22, "one pod: its labels");
	census_free(&c);
}

static void test_worst(void)
{
	struct process_record r;
	const struct census_workload *w;
	struct census c;

	census_init(&c, &limits);
	take(&c, process(1, 1, 500, 1000, 0), "a", 100 * SECOND);
	r = process(2, 1, 600, 90, 0);
	r.g.fd_soft = 100;
	r.g.swap_pages = 7;
	take(&c, r, "a", 100 * SECOND);
	r = process(3, 1, 900, 1010, 0);
	r.g.flags |= PROC_SHARES_MM;
	take(&c, r, "a", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	w = find(&c, "a");
	ok(w->gauge[CENSUS_MAPPINGS] == 1100 && w->gauge[CENSUS_WORST_MAPPINGS] == 600,
	   "mappings that are shared with a parent count once");
	ok(w->gauge[CENSUS_FDS] == 2100 && w->gauge[CENSUS_WORST_FDS] == 1010 &&
		   w->gauge[CENSUS_WORST_FDS_LIMIT] == 1024,
	   "nearest its limit: 1010 of 1024");
	r = process(3, 1, 900, 850, 0);
	r.g.flags |= PROC_FINAL;
	take(&c, r, "a", 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	ok(w->gauge[CENSUS_WORST_FDS] == 1000 && w->gauge[CENSUS_PROCESSES] == 2,
	   "then 1000 of 1024");
	ok(w->gauge[CENSUS_SWAP_PAGES] == 7, "swap");
	r = process(4, 1, 1, 1, 0);
	r.g.fd_soft = 0;
	take(&c, r, "a", 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	ok(w->gauge[CENSUS_WORST_FDS] == 1 && !w->gauge[CENSUS_WORST_FDS_LIMIT] && w->pressure == 1,
	   "a limit of 0 is the worst");
	census_free(&c);
}

static void test_top(void)
{
	struct census c;

	census_init(&c, &limits);
	take(&c, process(1, 1, 100, 1, 0), "e", 100 * SECOND);
	take(&c, process(2, 1, 200, 1, 0), "d", 100 * SECOND);
	take(&c, process(3, 1, 300, 1, 0), "c", 100 * SECOND);
	take(&c, process(4, 1, 1, 1000, 0), "b", 100 * SECOND);
	take(&c, process(5, 1, 200, 1, 0), "a", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	ok(c.owned == 3 && !strcmp(c.own[0]->id.name, "b") && !strcmp(c.own[1]->id.name, "c") &&
		   !strcmp(c.own[2]->id.name, "a"),
	   "the three under most pressure; equals by name");
	is_u64(c.folded, 2, "two are folded");
	take(&c, process(1, 1, 50000, 1, 0), "e", 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	ok(!find(&c, "e") && find(&c, "c"), "it is sticky");
	is_u64(c.other.gauge[CENSUS_WORST_MAPPINGS], 50000, "~other tells its worst");
	is_u64(c.series_limited, 0, "a full table is not the limit of series");
	census_free(&c);
}

static void test_retention(void)
{
	struct process_record r = process(1, 1, 100, 1, 0);
	struct census c;

	census_init(&c, &limits);
	take(&c, r, "a", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	r = process(1, 1, 100, 1, 5);
	r.g.flags |= PROC_FINAL;
	take(&c, r, "a", 110 * SECOND);
	census_count(&c, &r.subject, NULL, CENSUS_OOM_KILLS_MEMCG, 1, 110 * SECOND);
	census_update(&c, 120 * SECOND, 65530);
	ok(faults_of(&c, "a") == 5 && find(&c, "a")->counter[CENSUS_OOM_KILLS_MEMCG] == 1 &&
		   !find(&c, "a")->active && !find(&c, "a")->gauge[CENSUS_MAPPINGS],
	   "its last counts are there, of one that is gone");
	census_count(&c, &r.subject, NULL, CENSUS_OOM_KILLS_MEMCG, 1, 121 * SECOND);
	is_u64(c.other.counter[CENSUS_OOM_KILLS_MEMCG], 1, "later ones are nobody's");
	census_update(&c, 409 * SECOND, 65530);
	ok(find(&c, "a"), "for five minutes");
	census_update(&c, 410 * SECOND, 65530);
	ok(!find(&c, "a") && !c.workloads && !c.processes.used, "then it is forgotten");
	census_free(&c);
}

/* Tests a systemd unit that crashes two seconds after each start and is restarted each time. */
static void test_crash_loop(void)
{
	struct census c;

	census_init(&c, &limits);
	for (uint64_t t = 100; t < 140; t += 4) {
		struct process_record r = process(t, t * SECOND, 10, 1, 1);
		struct identity id = identity_of("loop", 5);

		census_take(&c, &r, &id, t * SECOND);
		r.g.flags |= PROC_FINAL;
		census_count(&c, &r.subject, &id, CENSUS_SEGV_MAPERR, 1, (t + 2) * SECOND);
		census_take(&c, &r, &id, (t + 2) * SECOND);
		census_update(&c, (t + 3) * SECOND, 65530);
	}
	ok(find(&c, "loop") && find(&c, "loop")->counter[CENSUS_SEGV_MAPERR] > 0,
	   "a crash loop gets its own series");
	is_u64(find(&c, "loop")->counter[CENSUS_SEGV_MAPERR] + c.other.counter[CENSUS_SEGV_MAPERR],
	       10, "and no crash is lost");
	census_free(&c);
}

/*
 * Tests a unit whose process reaches its limit while idle workloads have all series: it takes the
 * place of the idlest one, which goes on in ~other and returns with its old values.
 */
static void test_urgent(void)
{
	struct process_key b = {1, 5, 0};
	struct census c;

	census_init(&c, &limits);
	take(&c, process(1, 1, 100, 5, 10), "idle", 100 * SECOND);
	take(&c, process(2, 1, 100, 5, 10), "busy", 100 * SECOND);
	take(&c, process(3, 1, 100, 900, 10), "near", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	take(&c, process(1, 1, 100, 5, 15), "idle", 101 * SECOND);
	take(&c, process(2, 1, 100, 5, 900), "busy", 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	ok(c.owned == 3 && find(&c, "near")->urgent, "the table is full");
	take(&c, process(4, 100 * SECOND, 100, 1024, 10), "young", 102 * SECOND);
	take(&c, process(1, 1, 100, 5, 17), "idle", 102 * SECOND);
	census_count(&c, &(struct process_key){100 * SECOND, 4, 0}, NULL, CENSUS_FD_FAILURES_EMFILE,
		     500, 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	ok(find(&c, "young") && !find(&c, "idle"), "it takes the place of the idlest at once");
	ok(find(&c, "busy") && find(&c, "near"), "not of a busy one, and not of an urgent one");
	is_u64(find(&c, "young")->counter[CENSUS_FD_FAILURES_EMFILE], 500,
	       "its failures are in its own series");
	is_u64(c.other.counter[CENSUS_FD_FAILURES_EMFILE], 0, "not in ~other");
	is_u64(OTHER(c), 10 + 10 + 10 + 10 + 2, "its other events, and those of the idlest, are");
	take(&c, process(5, 1, 100, 1023, 10), "second", 103 * SECOND);
	census_count(&c, &b, NULL, CENSUS_FD_FAILURES_EMFILE, 1, 103 * SECOND);
	census_update(&c, 103 * SECOND, 65530);
	ok(!find(&c, "second") && find(&c, "busy"), "one place of three is kept for urgent ones");
	census_gone(&c, &(struct process_key){100 * SECOND, 4, 0});
	census_gone(&c, &b);
	take(&c, process(1, 1, 100, 5, 30), "idle", 800 * SECOND);
	census_update(&c, 800 * SECOND, 65530);
	ok(!find(&c, "young") && faults_of(&c, "idle") == 5,
	   "series that return continue with the values that were shown last");
	take(&c, process(1, 1, 100, 5, 33), "idle", 801 * SECOND);
	census_update(&c, 801 * SECOND, 65530);
	is_u64(faults_of(&c, "idle") + faults_of(&c, "busy") + OTHER(c), 33 + 900 + 10 + 10 + 10,
	       "and no event is lost");
	census_free(&c);
}

/* Tests that a cgroup near its memory limit is urgent, with all workloads below it. */
static void test_memory(void)
{
	struct process_record r = process(9, 1, 1, 1, 0);
	struct identity id = identity_of("full", 9);
	struct census c;

	census_init(&c, &limits);
	strcpy(id.cgroup, "/pods/full/app");
	take(&c, process(1, 1, 300, 1, 0), "a", 100 * SECOND);
	take(&c, process(2, 1, 200, 1, 0), "b", 100 * SECOND);
	take(&c, process(3, 1, 100, 1, 0), "c", 100 * SECOND);
	census_take(&c, &r, &id, 100 * SECOND);
	census_memory(&c, "/pods/fu", 0.99);
	census_update(&c, 100 * SECOND, 65530);
	ok(!find(&c, "full"), "the limit of another cgroup");
	census_memory(&c, "/pods/full", 0.79);
	census_update(&c, 101 * SECOND, 65530);
	ok(!find(&c, "full"), "below 0.8 of its limit");
	census_memory(&c, "/pods/full", 0.81);
	census_update(&c, 102 * SECOND, 65530);
	ok(find(&c, "full") && find(&c, "full")->pressure == 0.81 && c.owned == 3, "above it");
	census_update(&c, 103 * SECOND, 65530);
	ok(find(&c, "full")->pressure < 0.1 && find(&c, "full")->urgent,
	   "it stays urgent for a time");
	census_update(&c, (102 + 300) * SECOND, 65530);
	ok(find(&c, "full") && !find(&c, "full")->urgent, "then it is a workload as the others");
	census_free(&c);
}

static struct {
	unsigned int reads;
	uint32_t pid;
	struct census_tasks tasks;
} reader;

static struct census_tasks read_tasks(void *ctx, uint32_t pid, const char *path)
{
	ok(!strcmp(path, "/pods/full/app"), "the cgroup of the workload");
	reader.reads++;
	reader.pid = pid;
	return reader.tasks;
}

static void take_threads(struct census *c, uint32_t pid, uint32_t threads, uint64_t now_ns)
{
	struct process_record r = process(pid, 1, 1, 1, 0);
	struct identity id = identity_of("full", 9);

	r.g.threads = threads;
	strcpy(id.cgroup, "/pods/full/app");
	census_take(c, &r, &id, now_ns);
}

/* Tests that a cgroup near its limit of tasks is urgent, and when its limit is read. */
static void test_tasks(void)
{
	struct census c;

	census_init(&c, &limits);
	c.read_tasks = read_tasks;
	take(&c, process(1, 1, 300, 1, 0), "a", 100 * SECOND);
	take(&c, process(2, 1, 200, 1, 0), "b", 100 * SECOND);
	take(&c, process(3, 1, 100, 1, 0), "c", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	is_u64(reader.reads, 0, "workloads without a cgroup are not read");
	reader.tasks = (struct census_tasks){.share = 0.4, .refused = 7};
	take_threads(&c, 8, 2, 101 * SECOND);
	take_threads(&c, 9, 6, 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	ok(reader.reads == 1 && reader.pid == 9, "the process with most threads");
	ok(!find(&c, "full"), "below 0.8 of its limit, and earlier failures do not count");
	census_update(&c, 101 * SECOND, 65530);
	is_u64(reader.reads, 1, "without more threads, it is not read again");
	reader.tasks.share = 0.6;
	take_threads(&c, 9, 10, 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	census_update(&c, 103 * SECOND, 65530);
	is_u64(reader.reads, 3, "above half of the limit, each update reads it");
	ok(!find(&c, "full"), "not urgent yet");
	reader.tasks.refused = 8;
	census_update(&c, 104 * SECOND, 65530);
	ok(find(&c, "full") && find(&c, "full")->urgent, "a fork failed");
	census_update(&c, (104 + 300) * SECOND, 65530);
	ok(find(&c, "full") && !find(&c, "full")->urgent, "no fork failed since");
	reader.tasks.share = 0.8;
	census_update(&c, 405 * SECOND, 65530);
	ok(find(&c, "full")->urgent && find(&c, "full")->pressure == 0.8, "at 0.8 of its limit");
	census_free(&c);
}

/* Tests a program outside of units: its processes end within a second, until one does not. */
static void test_short_programs(void)
{
	struct identity id = identity_of("sh", 4);
	struct census c;

	id.kind = KIND_COMM;
	census_init(&c, &limits);
	for (uint64_t t = 100; t < 200; t += 10) {
		struct process_record r = process(t, t * SECOND, 10, 1, 1);

		census_take(&c, &r, &id, t * SECOND);
		census_count(&c, &r.subject, &id, CENSUS_SEGV_MAPERR, 1, t * SECOND);
		census_update(&c, t * SECOND + SECOND / 2, 65530);
		r.g.flags |= PROC_FINAL;
		census_take(&c, &r, &id, t * SECOND + SECOND * 9 / 10);
	}
	ok(!c.owned, "no series of its own");
	is_u64(c.other.counter[CENSUS_SEGV_MAPERR], 10, "its events are in ~other");
	census_take(
		&c,
		&(struct process_record){.h = {RECORD_PROCESS, sizeof(struct process_record), 0},
					 .subject = {200 * SECOND, 7, 0}},
		&id, 200 * SECOND);
	census_update(&c, 201 * SECOND, 65530);
	ok(find(&c, "sh"), "one that lives longer has");
	census_free(&c);
}

/* Tests series of counters that are 0, without which the page is shorter. */
static void test_zeros(void)
{
	struct census_limits few = limits;
	struct process_key a = {1, 1, 0};
	struct census c;

	few.zeros = false;
	few.series_each = EACH - 9;
	census_init(&c, &few);
	take(&c, process(1, 1, 300, 1, 0), "a", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	is_u64(c.series, EACH + EACH - 9, "~other has all of them");
	ok(census_is_rare(&c, find(&c, "a"), CENSUS_FD_FAILURES_EMFILE) &&
		   census_is_rare(&c, find(&c, "a"), CENSUS_SWAP_INS) &&
		   !census_is_rare(&c, find(&c, "a"), CENSUS_MINOR_FAULTS) &&
		   !census_is_rare(&c, &c.other, CENSUS_FD_FAILURES_EMFILE) &&
		   census_is_rare(&c, &c.other, CENSUS_ABRT),
	   "failures and reads from swap begin with the first one");
	census_count(&c, &a, NULL, CENSUS_FD_FAILURES_EMFILE, 3, 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	is_u64(c.series, EACH + EACH - 9 + 1, "one series more");
	census_free(&c);
}

static void test_series(void)
{
	struct census_limits few = limits;
	struct process_key b = {1, 2, 0};
	struct census c;

	few.series = 100 + 3 * EACH + 1;
	census_init(&c, &few);
	take(&c, process(1, 1, 300, 1, 0), "a", 100 * SECOND);
	take(&c, process(2, 1, 200, 1, 0), "b", 100 * SECOND);
	take(&c, process(3, 1, 100, 1, 0), "c", 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	ok(c.owned == 2 && c.series == 3 * EACH, "as many as there is room for, ~other among them");
	ok(c.series_limited == EACH && c.folded == 1, "what is not told is counted");
	census_update(&c, 101 * SECOND, 65530);
	is_u64(c.series_limited, EACH, "once");
	census_count(&c, &b, NULL, CENSUS_SEGV_MAPERR, 3, 102 * SECOND);
	census_count(&c, &b, NULL, CENSUS_ABRT, 1, 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	ok(!find(&c, "a") && find(&c, "b") && c.series <= 3 * EACH + 1,
	   "rare counters need room: the least urgent goes, not who was just hit");
	take(&c, process(1, 1, 300, 1, 9), "a", 103 * SECOND);
	census_update(&c, 103 * SECOND, 65530);
	is_u64(OTHER(c), 9, "it goes on in ~other");
	is_u64(c.series_limited, 2 * EACH, "counted too");
	census_free(&c);
}

static void test_pids(void)
{
	struct process_record r = process(7, 5 * SECOND, 10, 1, 100);
	struct identity id = identity_of("a", 9);
	struct census c;

	census_init(&c, &limits);
	r.g.flags = 0;
	r.c.stall_ns[END_MAJOR] = 50;
	census_take(&c, &r, &id, 10 * SECOND);
	census_update(&c, 10 * SECOND, 0);
	ok(!OTHER(c) && c.other.counter[CENSUS_MAJOR_STALL_NS] == 50,
	   "what was before we watched is not counted; what hooks counted is");
	r.g.min_flt = 103;
	r.h.len = offsetof(struct process_record, c);
	census_take(&c, &r, &id, 11 * SECOND);
	census_update(&c, 11 * SECOND, 0);
	ok(OTHER(c) == 3 && c.other.counter[CENSUS_MAJOR_STALL_NS] == 50, "then it is");
	take(&c, process(7, 9 * SECOND, 10, 1, 2), "a", 12 * SECOND);
	census_update(&c, 12 * SECOND, 0);
	is_u64(OTHER(c), 5, "a pid that is used again begins anew");
	census_take(&c, &r, &id, 12 * SECOND);
	census_update(&c, 12 * SECOND, 0);
	is_u64(OTHER(c), 5, "a late word of the first is passed over");
	is_u64(c.other.gauge[CENSUS_PROCESSES], 1, "one process");
	census_gone(&c, &(struct process_key){9 * SECOND, 7, 0});
	census_update(&c, 13 * SECOND, 0);
	is_u64(c.other.gauge[CENSUS_PROCESSES], 0, "gone without a word");
	census_free(&c);
}

static void test_identity(void)
{
	struct identity one = identity_of("shop/cart/app", 1),
			two = identity_of("shop/cart/app", 2);
	struct process_record a = process(1, 1, 10, 1, 0), b = process(2, 1, 10, 1, 0);
	struct census c;

	strcpy(one.pod, "cart-a");
	strcpy(two.pod, "cart-b");
	strcpy(one.container, "app");
	strcpy(two.container, "app");
	census_init(&c, &limits);
	census_take(&c, &a, &one, 100 * SECOND);
	census_update(&c, 100 * SECOND, 65530);
	ok(c.owned == 1 && c.own[0]->one && !strcmp(c.own[0]->id.pod, "cart-a"), "one pod");
	census_take(&c, &b, &two, 101 * SECOND);
	census_update(&c, 101 * SECOND, 65530);
	ok(c.owned == 1 && !c.own[0]->one, "two pods of a set are one workload");
	ok(!c.own[0]->one_pod && c.own[0]->one_container, "their containers have one name");
	a.g.flags |= PROC_FINAL;
	census_take(&c, &a, &one, 102 * SECOND);
	census_update(&c, 102 * SECOND, 65530);
	ok(!c.own[0]->one, "the one that is told of is gone");
	two.serial = 3;
	census_take(&c, &b, &two, 103 * SECOND);
	census_update(&c, 103 * SECOND, 65530);
	ok(c.own[0]->one && !strcmp(c.own[0]->id.pod, "cart-b"), "the other one is");
	ok(c.own[0]->one_pod && c.own[0]->one_container, "with its pod and container");
	b.g.flags |= PROC_FINAL;
	census_take(&c, &b, &two, 104 * SECOND);
	census_update(&c, 104 * SECOND, 65530);
	ok(c.own[0]->one && c.own[0]->one_pod, "after the last process, the labels stay");
	census_free(&c);
}

static void test_caps(void)
{
	struct census c;
	char name[32];
	uint64_t lost = 0;

	census_init(&c, &limits);
	for (uint32_t i = 0; i < CENSUS_WORKLOADS_MAX + 1000; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		take(&c, process(i + 1, 99 * SECOND, 1, 1, 1), name, 100 * SECOND);
	}
	ok(c.workloads == CENSUS_WORKLOADS_MAX && c.workloads_lost == 1000, "workloads have a cap");
	census_update(&c, 100 * SECOND, 65530);
	is_u64(c.other.gauge[CENSUS_PROCESSES], CENSUS_WORKLOADS_MAX + 1000, "none is missing");
	is_u64(OTHER(c), CENSUS_WORKLOADS_MAX + 1000, "nor what they count");
	for (uint32_t i = 0; i < CENSUS_PROCESSES_MAX; i++) {
		struct process_record r = process(i + 10000, 99 * SECOND, 1, 1, 1);
		struct identity id = identity_of("many", 77);

		lost += census_take(&c, &r, &id, 100 * SECOND) != 0;
	}
	ok(lost && lost == c.processes_lost, "processes too: %llu lost", (unsigned long long)lost);
	census_update(&c, 100 * SECOND, 65530);
	is_u64(OTHER(c) + lost, CENSUS_WORKLOADS_MAX + 1000 + CENSUS_PROCESSES_MAX,
	       "and those are counted");
	census_free(&c);
	census_init(&c, &limits);
	for (uint32_t i = 0; i < 1000000; i++) {
		struct process_record r = process(i % 30000 + 1, i + 1, 1, 1, 1);

		snprintf(name, sizeof(name), "w%u", i);
		r.g.flags |= PROC_FINAL;
		take(&c, r, name, 100 * SECOND);
	}
	ok(c.processes.slots <= 65536 && !c.processes_lost,
	   "a million that came and went between two updates: %u slots", c.processes.slots);
	census_update(&c, 100 * SECOND, 65530);
	is_u64(OTHER(c), 1000000, "all counted");
	census_free(&c);
}

/* Tests that the census drops workloads that have exited, and keeps those that still run. */
static void test_names_that_come_and_go(void)
{
	struct census c;
	uint32_t most = 0;
	char name[32];

	census_init(&c, &limits);
	take(&c, process(1, 1 * SECOND, 1, 1, 1), "stays", 100 * SECOND);
	for (uint32_t i = 0; i < 10000; i++) {
		struct process_record r = process(i + 10, 100 * SECOND + i, 1, 1, 1);

		snprintf(name, sizeof(name), "w%u", i);
		r.g.flags |= PROC_FINAL;
		take(&c, r, name, 100 * SECOND);
		if (i % 100 == 99)
			census_update(&c, 100 * SECOND, 65530);
		most = c.workloads > most ? c.workloads : most;
	}
	ok(most < 1000, "10,000 names: %u kept at most", most);
	is_u64(OTHER(c), 10001, "all counted");
	ok(find(&c, "stays"), "and who lives is there");
	census_free(&c);
}

/*
 * Simulates random processes. Checks that no series decreases, and that each count is in exactly
 * one series. Also checks that the number of series does not exceed its maximum.
 */
#define LIVES	  600
#define NAMES	  40
#define STEPS	  4000
#define TICK_NS	  (15 * SECOND)
#define SERIES_AT (100 + 9 * EACH)

struct life {
	uint64_t start_ns, faults, stall_ns;
	uint32_t name;
	bool alive;
};

struct world {
	struct census c;
	struct life life[LIVES];
	uint64_t now_ns, seed, serials[NAMES];
	/* sums of all counts that the census has received */
	uint64_t told[NR_CENSUS_COUNTERS];
	uint64_t seen[NAMES + 1][NR_CENSUS_COUNTERS]; /* value of each series at the last check */
	/* failures in series that ended, by workload: they begin at 0 when they return */
	uint64_t ended[NAMES][NR_CENSUS_COUNTERS];
	bool owned[NAMES]; /* the workload had own series at the last check */
	uint64_t seen_limited, births;
	unsigned int backwards, lost, over, unsound;
};

static uint32_t any(struct world *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (w->seed >> 33) % n;
}

static struct identity name_of(struct world *w, uint32_t name)
{
	char text[16];

	snprintf(text, sizeof(text), "n%u", name);
	return identity_of(text, w->serials[name] * NAMES + name + 1);
}

static void tell(struct world *w, uint32_t i, bool final)
{
	struct life *l = &w->life[i];
	struct process_record r =
		process(i + 1, l->start_ns, any(w, 70000), any(w, 1100), l->faults);
	struct identity id = name_of(w, l->name);

	r.c.stall_ns[END_MAJOR] = l->stall_ns;
	if (final)
		r.g.flags |= PROC_FINAL;
	w->unsound += census_take(&w->c, &r, &id, w->now_ns) != 0;
}

static void live(struct world *w, uint32_t i)
{
	struct life *l = &w->life[i];
	uint32_t faults, stall;

	if (!l->alive) {
		*l = (struct life){
			.start_ns = w->now_ns + ++w->births, .name = any(w, NAMES), .alive = true};
		return;
	}
	faults = any(w, 100);
	stall = any(w, 1000000);
	l->faults += faults;
	l->stall_ns += stall;
	w->told[CENSUS_MINOR_FAULTS] += faults;
	w->told[CENSUS_MAJOR_STALL_NS] += stall;
	if (!any(w, 20))
		/* the process moves to another cgroup or executes another program */
		l->name = any(w, NAMES);
	if (!any(w, 40))
		w->serials[l->name]++; /* another pod with the same name replaces this pod */
	if (!any(w, 8)) {
		struct identity id = name_of(w, l->name);
		enum census_counter counter =
			NR_CENSUS_TAKEN + any(w, NR_CENSUS_COUNTERS - NR_CENSUS_TAKEN);

		census_count(&w->c, &(struct process_key){l->start_ns, i + 1, 0},
			     any(w, 2) ? &id : NULL, counter, 2, w->now_ns);
		w->told[counter] += 2;
	}
	l->alive = any(w, 10);
	tell(w, i, !l->alive);
}

/* Notes the series that ended since the last check. */
static void take_ends(struct world *w)
{
	bool owned[NAMES] = {};

	for (uint32_t i = 0; i < w->c.owned; i++)
		owned[strtoul(w->c.own[i]->id.name + 1, NULL, 10)] = true;
	for (uint32_t n = 0; n < NAMES; n++) {
		for (int k = 0; k < NR_CENSUS_COUNTERS && w->owned[n] && !owned[n]; k++)
			if (exported[k].flags & EXPORT_FAILURE) {
				w->ended[n][k] += w->seen[n][k];
				w->seen[n][k] = 0;
			}
		w->owned[n] = owned[n];
	}
}

static void compare(struct world *w, uint32_t name, const uint64_t *now)
{
	for (int k = 0; k < NR_CENSUS_COUNTERS; k++) {
		w->backwards += now[k] < w->seen[name][k];
		w->seen[name][k] = now[k];
	}
}

/*
 * Checks all series. The sums include the series that were dropped, because a dropped series may
 * return later.
 */
static void check(struct world *w)
{
	const struct census *c = &w->c;
	uint64_t sum[NR_CENSUS_COUNTERS], processes = c->other.gauge[CENSUS_PROCESSES], alive = 0;
	uint32_t series = census_series(c, &c->other) + c->limits.series_else;

	take_ends(w);
	compare(w, NAMES, c->other.counter);
	memcpy(sum, c->other.counter, sizeof(sum));
	for (uint32_t i = 0; i < c->owned; i++) {
		uint32_t name = strtoul(c->own[i]->id.name + 1, NULL, 10);

		compare(w, name, c->own[i]->counter);
		processes += c->own[i]->gauge[CENSUS_PROCESSES];
		series += census_series(c, c->own[i]);
	}
	for (uint32_t n = 0; n < NAMES; n++)
		for (int k = 0; k < NR_CENSUS_COUNTERS; k++)
			sum[k] += w->seen[n][k] + w->ended[n][k];
	for (int k = 0; k < NR_CENSUS_COUNTERS; k++)
		w->lost += sum[k] != w->told[k];
	for (uint32_t i = 0; i < LIVES; i++)
		alive += w->life[i].alive && w->life[i].faults;
	w->over += series > c->limits.series || c->owned > c->limits.workloads ||
		   series != c->series + c->limits.series_else;
	w->unsound += processes < alive;
	w->backwards += c->series_limited < w->seen_limited;
	w->seen_limited = c->series_limited;
}

static void test_random(uint64_t seed)
{
	struct census_limits l = limits;
	struct world *w = calloc(1, sizeof(*w));
	uint32_t most = 0;

	w->seed = seed;
	w->now_ns = 1000 * SECOND;
	l.workloads = 7;
	l.series = SERIES_AT;
	/* no series expires, so the sums over all series stay complete */
	l.retention_ns = UINT64_MAX;
	census_init(&w->c, &l);
	for (int step = 0; step < STEPS; step++) {
		for (int k = any(w, 60); k >= 0; k--)
			live(w, any(w, any(w, 2) ? LIVES : 30));
		w->now_ns += any(w, 3) * SECOND;
		if (any(w, 5))
			continue;
		w->now_ns += TICK_NS;
		census_update(&w->c, w->now_ns, 65530);
		check(w);
		if (w->c.owned > most)
			most = w->c.owned;
	}
	ok(!w->backwards, "seed %llu: no series goes back", (unsigned long long)seed);
	ok(!w->lost, "each count is in one series: %u", w->lost);
	ok(!w->over, "the bounds hold");
	ok(!w->unsound, "every process is in a workload: %u", w->unsound);
	ok(most >= 6 && w->c.series_limited, "and it was a fair try: %u told, %llu limited", most,
	   (unsigned long long)w->c.series_limited);
	census_free(&w->c);
	free(w);
}

int main(void)
{
	test_ages();
	test_labels_outlive_a_pod();
	test_worst();
	test_top();
	test_retention();
	test_crash_loop();
	test_urgent();
	test_memory();
	test_tasks();
	test_short_programs();
	test_zeros();
	test_series();
	test_pids();
	test_identity();
	test_caps();
	test_names_that_come_and_go();
	for (uint64_t seed = 1; seed <= 8; seed++)
		test_random(seed);
	return tap_done();
}
