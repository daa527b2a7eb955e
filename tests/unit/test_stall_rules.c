// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/pressure.h"
#include "model/slow.h"
#include "rules/rules.h"
#include "kept_findings.h"
#include "tap.h"
#include "finding_text.h"

#define PID    77
#define MILLIS 1000000ULL

static struct model m;
static struct findings fs;
static struct process_record now;
static uint64_t now_s;

static void begin(void)
{
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	now = process_record(PID, 1, 0);
	now_s = 1;
}

static void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

static void look(void)
{
	struct tick_record t = tick_record(++now_s * SECOND);

	now.h.t_ns = now_s * SECOND - 1000;
	now.g.min_flt++;
	model_take(&m, &now.h);
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	model_next_window(&m);
	findings_next_window(&fs);
}

/* Lets a second pass in which nothing is read of the process. */
static void pass(void)
{
	struct tick_record t = tick_record(++now_s * SECOND);

	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	model_next_window(&m);
	findings_next_window(&fs);
}

/* Adds `n` handled faults of a class to this second. Each fault takes `ns` nanoseconds. */
static void serve(enum fault_class class, uint64_t n, uint64_t ns)
{
	now.c.served[class].band[3] += n;
	now.c.served[class].stall_ns += n * ns;
	if (ns > now.c.served_max_ns[class])
		now.c.served_max_ns[class] = ns;
}

static const struct finding *open_of(const char *id)
{
	const struct finding *f = finding_open(&fs, id, &now.subject);

	return f && f->open ? f : NULL;
}

static size_t all_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fs.n; i++)
		n += fs.f[i].open;
	return n;
}

static void madvise_calls(uint64_t n)
{
	now.c.map_call[CALL_MADVISE - CALL_MMAP].calls += n;
}

static void wait_compacting(uint64_t n, uint64_t ns)
{
	now.c.wait[WAIT_COMPACTION].count += n;
	now.c.wait[WAIT_COMPACTION].ns += n * ns;
	now.c.wait[WAIT_COMPACTION].in_faults_ns += n * ns;
}

/* Each of the next functions simulates one second of a problem that a finding must report. */
static void compact(void)
{
	wait_compacting(20, 5 * MILLIS);
	serve(CLASS_COMPACTED, 20, 6 * MILLIS);
}

static void purge(void)
{
	madvise_calls(500);
	serve(CLASS_ANONYMOUS, 50000, 1000);
}

static void read_at_random(void)
{
	serve(CLASS_FILE_MAJOR, 1000, MILLIS / 2);
	now.c.fault_read_bytes += 1000 * 32 * 4096;
}

/*
 * Simulates swapping. The kernel counts pages that it reads from swap also as pages that it reads
 * from disk.
 */
static void swap_in_and_scan(void)
{
	serve(CLASS_SWAP, 1000, MILLIS / 2);
	serve(CLASS_FILE_MAJOR, 200, MILLIS / 2);
	now.c.fault_read_bytes += (1000 * 8 + 200 * 2) * 4096;
}

static void be_in(const char *cgroup)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, now_s * SECOND + 1);

	n.subject = now.subject;
	snprintf(n.cgroup, sizeof(n.cgroup), "%s", cgroup);
	model_take(&m, &n.h);
}

/* Sets which percentage of a cgroup's limit is not reclaimable. */
static void keep_percent(const char *cgroup, uint64_t percent)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, now_s * SECOND + 1);

	memset(c.n, 0xff, sizeof(c.n));
	c.n[CGROUP_LIMIT] = 100 << 20;
	c.n[CGROUP_ANON] = percent << 20;
	snprintf(c.path, sizeof(c.path), "%s", cgroup);
	model_take(&m, &c.h);
}

/* Simulates thrashing: pages of program code are reclaimed and read again one by one. */
static void code_is_driven_out(void)
{
	be_in("/a/b");
	keep_percent("/a", 99);
	read_at_random();
}

static void another_cgroup_is_full(void)
{
	be_in("/a/b");
	keep_percent("/a", 50);
	keep_percent("/b", 50);
	read_at_random();
}

static void swaps_all_the_time(void)
{
	static struct pressure_record p;

	p.h = (struct record){RECORD_SHORTAGE, sizeof(p), now_s * SECOND + 1};
	p.n[HOST_SWAP_IN] += 1000;
	p.n[HOST_SWAP_OUT] += 1000;
	model_take(&m, &p.h);
	read_at_random();
}

static void handle(void)
{
	serve(CLASS_UFFD, 100, MILLIS);
}

static void hang(void)
{
	serve(CLASS_FILE_MAJOR, 1, 3000 * MILLIS);
}

static void wait_for_lock(uint64_t n, uint64_t ns)
{
	now.c.wait[WAIT_LOCK].count += n;
	now.c.wait[WAIT_LOCK].ns += n * ns;
}

/*
 * Sends a record of slow faults. Its counts are totals since the start, as in the records of BPF
 * programs.
 */
static void send_slow(uint32_t class, uint32_t holder, uint64_t n, uint64_t ns)
{
	static struct slow_faults_record r;
	bool same = r.subject.pid && r.class == class && r.holder == holder;
	uint64_t count = same ? r.count : 0, total = same ? r.total_ns : 0;

	r = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, now_s * SECOND + 1);
	r.subject = now.subject;
	r.class = class;
	r.holder = holder;
	r.stack = -1;
	r.count = count + n;
	r.total_ns = total + n * ns;
	r.waited_ns[WAIT_LOCK] = class == CLASS_HOLDER ? 0 : r.total_ns;
	snprintf(r.holder_comm, sizeof(r.holder_comm), holder ? "agent" : "");
	snprintf(r.comm, sizeof(r.comm), "worker");
	model_take(&m, &r.h);
}

/* Simulates many short waits for mmap_lock. Only the holder of the lock has a record. */
static void convoy(void)
{
	if (now.g.threads < 2)
		now.g.threads = 2;
	wait_for_lock(5000, MILLIS / 10);
	send_slow(CLASS_HOLDER, 0, 3000, MILLIS / 20);
}

static void be_read(void)
{
	wait_for_lock(20, 20 * MILLIS);
	send_slow(CLASS_CALL, 4711, 15, 20 * MILLIS);
}

/* Simulates many short waits for mmap_lock and one long wait. Only the long one has a record. */
static void be_read_in_short_waits(void)
{
	if (now.g.threads < 2)
		now.g.threads = 2;
	wait_for_lock(900, MILLIS * 9 / 10);
	now.c.lock_others_ns += 900 * MILLIS * 9 / 10;
	send_slow(CLASS_CALL, 4711, 1, 2 * MILLIS);
}

static void be_read_in_passing(void)
{
	wait_for_lock(4, 20 * MILLIS);
	send_slow(CLASS_CALL, 4711, 4, 20 * MILLIS);
}

static void be_read_at_length(void)
{
	wait_for_lock(1, 700 * MILLIS);
	send_slow(CLASS_CALL, 4711, 1, 700 * MILLIS);
}

static void wait_a_little(void)
{
	wait_for_lock(100, MILLIS / 10);
	send_slow(CLASS_CALL, 4711, 2, 2 * MILLIS);
}

/*
 * Simulates a process with 64 threads. The waits of all threads together take half of one thread's
 * time.
 */
static void wait_among_many(void)
{
	now.g.threads = 64;
	convoy();
}

/* Each of the next functions simulates one second that must not cause a finding. */
static void grow(void)
{
	purge();
	now.g.rss_anon_pages += 50000;
}

static void scan(void)
{
	serve(CLASS_FILE_MAJOR, 1000, MILLIS / 2);
	serve(CLASS_FILE_MINOR, 1000, 1000);
	now.c.fault_read_bytes += 1000 * 32 * 4096;
}

static void touch(void)
{
	serve(CLASS_ANONYMOUS, 200000, 700);
	serve(CLASS_HUGE, 1000, MILLIS / 10);
	serve(CLASS_COW, 5000, 1000);
	serve(CLASS_UFFD, 2, MILLIS);
	wait_compacting(1, MILLIS);
}

static void test_kinds(void)
{
	static const struct {
		const char *what, *id;
		void (*second)(void);
	} cases[] = {
		{"compaction inside of faults", "P08", compact},
		{"given back and touched again", "P11", purge},
		{"given back, but growing", NULL, grow},
		{"a file at random", "P14", read_at_random},
		{"a file from begin to end", NULL, scan},
		{"memory that comes back from swap", NULL, swap_in_and_scan},
		{"a file at random, with room for it", "P14", another_cgroup_is_full},
		{"a handler in user space", "P15", handle},
		{"a fault of three seconds", "P16", hang},
		{"work that touches memory", NULL, touch},
		{"threads that map at once", "P12", convoy},
		{"an agent that reads its map", "P13", be_read},
		{"a lock that is waited for now and then", NULL, wait_a_little},
		{"the same among 64 threads", NULL, wait_among_many},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		look();
		is_u64(all_open(), 0, "a process as it was found");
		for (int s = 0; s < 3; s++) {
			cases[i].second();
			look();
		}
		if (cases[i].id)
			ok(open_of(cases[i].id) && all_open() == 1, "%s: %s alone", cases[i].what,
			   cases[i].id);
		else
			is_u64(all_open(), 0, cases[i].what);
		pass();
		ok(!cases[i].id || open_of(cases[i].id), "held while nothing is read");
		for (int s = 0; s < 4; s++)
			look();
		ok(!cases[i].id || open_of(cases[i].id), "held for a while");
		for (int s = 0; s < 10; s++)
			look();
		is_u64(all_open(), 0, "and then no more");
		end();
	}
}

/*
 * Tests that a single burst, as at the start of a program, has severity info, and that a burst that
 * lasts has severity warning.
 */
static void test_lasts(void)
{
	static const struct {
		const char *id;
		void (*second)(void);
		int seconds; /* second from which on the severity is warning */
	} cases[] = {{"P11", purge, 3}, {"P12", convoy, 3}, {"P14", read_at_random, 10}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		look();
		for (int s = 1; s <= cases[i].seconds; s++) {
			cases[i].second();
			look();
			ok(open_of(cases[i].id)->severity ==
				   (s < cases[i].seconds ? SEVERITY_INFO : SEVERITY_WARNING),
			   "%s for %d s: %s", cases[i].id, s,
			   s < cases[i].seconds ? "info" : "a warning");
		}
		end();
		begin();
		look();
		for (int burst = 0; burst < 2 * cases[i].seconds; burst++) {
			cases[i].second();
			look();
			for (int s = 0; s < 5; s++)
				look();
		}
		ok(open_of(cases[i].id)->severity == SEVERITY_INFO, "%s in bursts: info",
		   cases[i].id);
		end();
	}
}

static void test_driven_out(void)
{
	static const struct {
		const char *what;
		void (*second)(void);
	} cases[] = {{"code that a full cgroup drove out", code_is_driven_out},
		     {"what is swapped out and in again", swaps_all_the_time}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pressure_record first = RECORD(pressure_record, RECORD_SHORTAGE, SECOND);

		begin();
		model_take(&m, &first.h);
		look();
		for (int s = 0; s < 3; s++) {
			cases[i].second();
			look();
			ok(!open_of("P14"), "%s: no file at random", cases[i].what);
		}
		end();
	}
}

static void test_fork(void)
{
	struct process_record child = process_record(PID + 1, 9 * SECOND, 0);
	const struct finding *f;

	begin();
	look();
	serve(CLASS_COW, 20000, 2000);
	look();
	is_u64(all_open(), 0, "copies without a child are writes to what was read-only");
	child.h.t_ns = now_s * SECOND + 1;
	child.g.ppid = PID;
	child.g.flags = PROC_BORN;
	model_take(&m, &child.h);
	serve(CLASS_COW, 20000, 2000);
	look();
	f = open_of("P09");
	ok(f && all_open() == 1, "beside a child that shares them: P09");
	ok(f && f->nr_evidence == 3 && strstr(evidence_value_str(&f->evidence[2]), "proc78[78]"),
	   "which one");
	pass();
	ok(open_of("P09"), "held while nothing is read");
	for (int s = 0; s < 12; s++)
		look();
	is_u64(all_open(), 0, "and then no more");
	end();
}

static bool has_evidence(const struct finding *f, const char *field, const char *value)
{
	for (size_t i = 0; f && i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field) &&
		    strstr(evidence_value_str(&f->evidence[i]), value))
			return true;
	return false;
}

static const struct finding *convoy_seen_by(uint32_t lacks)
{
	for (size_t i = 0; i < m.hooks; i++)
		if (!strcmp(m.hook[i].name, "mmap_lock"))
			m.hook[i].lacks = lacks;
	look();
	convoy();
	look();
	return open_of("P12");
}

static void test_waits_that_are_not_seen(void)
{
	begin();
	ok(has_evidence(convoy_seen_by(LACKS_SPINNING), "not included", "spin for mmap_lock"),
	   "the finding says that spinning is not included");
	end();
	begin();
	ok(convoy_seen_by(0) && !has_evidence(open_of("P12"), "not included", ""),
	   "all waits are seen: nothing is said");
	end();
}

static void test_who_has_the_lock(void)
{
	begin();
	look();
	be_read();
	look();
	be_read();
	look();
	ok(has_evidence(open_of("P13"), "held by", "agent[4711]"), "another one, by name");
	is_u64(all_open(), 1, "and it does not wait for itself");
	end();
	begin();
	look();
	convoy();
	look();
	ok(has_evidence(open_of("P12"), "held mmap_lock while others waited", "3,000"),
	   "itself");
	end();
	begin();
	look();
	for (int i = 0; i < 5; i++) {
		be_read_in_short_waits();
		look();
	}
	ok(!open_of("P12"), "waits for another process, too short for a row, are not for itself");
	ok(has_evidence(open_of("P13"), "held by", "agent[4711]"), "one slow wait names who");
	end();
}

/* Tests that one read of /proc/PID/maps causes a warning only if the read takes long. */
static void test_read_once(void)
{
	const struct finding *f;

	begin();
	look();
	be_read_in_passing();
	look();
	f = open_of("P13");
	ok(f && f->severity == SEVERITY_INFO, "read once in passing: information");
	be_read_in_passing();
	look();
	f = open_of("P13");
	ok(f && f->severity == SEVERITY_WARNING, "read again: a warning");
	end();
	begin();
	look();
	be_read_at_length();
	look();
	f = open_of("P13");
	ok(f && f->severity == SEVERITY_WARNING, "read once for 0.7 s: a warning");
	end();
}

/* Tests more kinds of slow faults than the table holds. The oldest kinds are dropped. */
static void test_many_slow(void)
{
	begin();
	look();
	for (uint32_t i = 1; i <= SLOW_ROWS_MAX + 10; i++)
		send_slow(CLASS_CALL, i, 1, MILLIS);
	is_u64(m.slow->n, SLOW_ROWS_MAX, "as many as there is room for");
	is_u64(m.slow->lost, 10, "the others are counted");
	end();
}

static void test_worst(void)
{
	const struct slow_row *row[3];
	size_t n;

	begin();
	look();
	n = slow_worst(&m, &now.subject, row, 3);
	is_u64(n, 0, "nothing was slow");
	for (uint32_t i = 1; i <= 5; i++)
		send_slow(CLASS_CALL, i, i == 2 ? 9 : i, MILLIS);
	send_slow(CLASS_HOLDER, 0, 100, MILLIS);
	n = slow_worst(&m, &now.subject, row, 3);
	is_u64(n, 3, "as many as asked for");
	ok(n == 3 && row[0]->now.holder == 2 && row[1]->now.holder == 5 && row[2]->now.holder == 4,
	   "the worst first");
	end();
}

int main(void)
{
	test_who_has_the_lock();
	test_waits_that_are_not_seen();
	test_read_once();
	test_many_slow();
	test_worst();
	test_kinds();
	test_lasts();
	test_driven_out();
	test_fork();
	numbers_are(0x8d8d6957);
	return tap_done();
}
