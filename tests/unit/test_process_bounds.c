// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about single processes just below and at each threshold: failed calls per second,
 * shares of a CPU, times without activity. Tests which of several processes tells of a limit that
 * they share.
 */
#include <errno.h>
#include <signal.h>

#include "rules_fixture.h"
#include "rules/refusal_rules.h"
#include "rules/shared_limits.h"
#include "rules/stall_rules.h"
#include "tap.h"
#include "finding_text.h"

typedef bool rule_test(const struct occasion *o, const struct finding *open, struct finding *f);

static struct finding f;

/* Judges an occasion by the rule with this test. Returns whether the rule matches. */
static bool judged(rule_test *test, const struct occasion *o, const struct finding *open)
{
	f = (struct finding){};
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].test == test)
			f.rule = &rules[i];
	return f.rule->test(o, open, &f);
}

/* Judges a process of which two records came, `apart_ns` apart. */
static bool judged_between(rule_test *test, const struct process_record *before,
			   const struct process_record *after, uint64_t apart_ns)
{
	struct process_record r = *before;
	struct occasion o = {.m = &m, .findings = &fs};
	struct counters now_zeros, was_zeros;
	bool matches;

	begin(NULL);
	r.h.t_ns = 2 * SECOND;
	model_take(&m, &r.h);
	model_next_window(&m);
	r = *after;
	r.h.t_ns = 2 * SECOND + apart_ns;
	model_take(&m, &r.h);
	o.s = model_find(&m, &r.subject);
	o.t_ns = r.h.t_ns;
	memset(&now_zeros, 0, sizeof(now_zeros));
	memset(&was_zeros, 0, sizeof(was_zeros));
	o.now = facts_read_counters(&o.s->now, &now_zeros);
	o.was = facts_read_counters(subject_prev(o.s), &was_zeros);
	matches = judged(test, &o, NULL);
	end();
	return matches;
}

/* A program loops if 1000 accept() calls fail per second, and it uses 5 % of a CPU. */
static void test_accept(void)
{
	static const struct {
		uint64_t refused, cpu_ns, apart_ns;
		uint32_t fds;
		bool told;
		const char *name;
	} rows[] = {
		{1000, SECOND / 20, SECOND, 64, true, "1000 calls in a second, and 50 ms"},
		{999, SECOND / 20, SECOND, 64, false, "a call less"},
		{1000, SECOND / 20 - 1, SECOND, 64, false, "a nanosecond less of a CPU"},
		{1000, SECOND / 20, SECOND, 63, false, "one more descriptor is free"},
		{200, SECOND / 50, SECOND / 5, 64, true, "200 calls in 200 ms, and 20 ms"},
		{200, SECOND / 50, SECOND / 5 - 1, 64, false, "a window that is too short"},
	};
	struct process_record a = process_record(10, 1, 0), b = a;

	a.g.fd_soft = b.g.fd_soft = 64;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		b.g.fds = b.g.fd_high = rows[i].fds;
		b.u.cpu_ns = rows[i].cpu_ns;
		b.c.fd_call[CALL_ACCEPT - CALL_FD_FIRST].refused = rows[i].refused;
		ok(judged_between(accept_spins, &a, &b, rows[i].apart_ns) == rows[i].told, "%s",
		   rows[i].name);
		if (rows[i].told)
			is_str(finding_evidence(&f, "failed accept calls"), "1,000/s", "how often");
	}
}

static void test_closes(void)
{
	struct process_record a = process_record(10, 1, 0), b = a;

	b.g.fd_soft = 1 << 20;
	b.c.close_failed = 1000000;
	ok(judged_between(closes_in_vain, &a, &b, SECOND), "a million closes, a limit of 2^20");
	is_str(f.title, "1 million close() calls of file descriptors that are not open", "title");
	b.c.close_failed--;
	ok(!judged_between(closes_in_vain, &a, &b, SECOND), "a close less");
	b.c.close_failed++;
	b.g.fd_soft--;
	ok(!judged_between(closes_in_vain, &a, &b, SECOND), "a lower limit");
}

/* The finding about an event stays open for a minute. */
static void test_hold(void)
{
	struct process_record a = process_record(10, 1, 2 * SECOND);
	struct occasion o = {.m = &m, .findings = &fs};
	struct finding open = {.grew_ns = 3 * SECOND};
	struct counters c = {.close_failed = 1000000};

	begin(NULL);
	a.g.fd_soft = 1 << 20;
	model_take(&m, &a.h);
	o.s = model_find(&m, &a.subject);
	o.now = o.was = &c;
	o.t_ns = 63 * SECOND - 1;
	ok(!judged(closes_in_vain, &o, NULL), "no event, and no finding");
	ok(judged(closes_in_vain, &o, &open), "an event less than a minute ago");
	is_u64(f.grew_ns, 3 * SECOND, "whose time is kept");
	o.t_ns++;
	ok(!judged(closes_in_vain, &o, &open), "a minute ago");
	end();
}

/* A program that uses select() and aborts may have had a descriptor of 1024 or more. */
static void test_select(void)
{
	struct subject s = {.id = {.pid = 10}, .signal = SIGABRT};
	struct counters c = {.selects = 1};
	struct occasion o = {.m = &m, .findings = &fs, .s = &s, .now = &c, .was = &c};

	begin(NULL);
	s.window = m.window + 1;
	s.now.g.fd_high = 1025;
	ok(judged(select_is_too_wide, &o, NULL), "1025 descriptors were open");
	is_u64(f.severity, SEVERITY_CRITICAL, "critical");
	is_str(finding_evidence(&f, "peak of open fds"), "1,025 of 1,024", "the peak");
	ok(finding_advises(&f, "perf trace") && finding_advises(&f, "ulimit -n 1024"),
	   "what to do");
	s.final = true;
	ok(judged(select_is_too_wide, &o, NULL) && !finding_advises(&f, "perf trace"),
	   "a process that ended");
	s.now.g.fd_high = 1024;
	ok(!judged(select_is_too_wide, &o, NULL), "1024 descriptors have lower numbers");
	s.now.g.fd_high = 1025;
	c.selects = 0;
	ok(!judged(select_is_too_wide, &o, NULL), "it does not use select()");
	c.selects = 1;
	s.signal = SIGSEGV;
	ok(!judged(select_is_too_wide, &o, NULL), "it did not abort");
	end();
}

/* A process of Python that gets ENOMEM and is then idle may hang. */
static void test_python(void)
{
	static const struct {
		uint64_t last_ns, now_ns;
		bool told;
		enum severity severity;
		const char *name;
	} rows[] = {
		{13 * SECOND, 14 * SECOND, true, SEVERITY_INFO, "active for 2 s and a scan"},
		{13 * SECOND + 1, 14 * SECOND, false, SEVERITY_INFO,
		 "a nanosecond longer: it lives"},
		{13 * SECOND, 18 * SECOND - 1, true, SEVERITY_INFO, "idle for less than 5 s"},
		{13 * SECOND, 18 * SECOND, true, SEVERITY_WARNING, "idle for 5 s"},
		{13 * SECOND, 12 * SECOND, true, SEVERITY_INFO, "a record that came early"},
	};
	struct subject s = {.id = {.pid = 10}, .starved_ns = 10 * SECOND, .starved_tid = 12};
	struct occasion o = {.m = &m, .findings = &fs, .s = &s};

	begin(NULL);
	m.host.interval_ns = SECOND;
	strcpy(s.now.g.comm, "python3");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s.last_ns = rows[i].last_ns;
		m.last_ns = rows[i].now_ns;
		ok(judged(python_waits_for_thread, &o, NULL) == rows[i].told, "%s", rows[i].name);
		if (!rows[i].told)
			continue;
		ok(f.severity == rows[i].severity && f.level == f.severity + 1u, "%s: severity",
		   rows[i].name);
		is_str(finding_evidence(&f, "thread that got ENOMEM"), "12", "the thread");
		is_str(finding_evidence(&f, "no call, fault or change for"),
		       rows[i].severity == SEVERITY_WARNING ? "5.0 s" : "none", "how long");
	}
	ok(finding_advises(&f, "py-spy dump --pid 10"), "how to look");
	s.final = true;
	ok(!judged(python_waits_for_thread, &o, NULL), "it has ended");
	s.final = false;
	s.starved_ns = 0;
	ok(!judged(python_waits_for_thread, &o, NULL), "no thread got ENOMEM");
	s.starved_ns = 10 * SECOND;
	strcpy(s.now.g.comm, "pytho");
	ok(!judged(python_waits_for_thread, &o, NULL), "another program");
	end();
}

static void take_threads(uint32_t pid, uint32_t threads, uint32_t uid)
{
	struct process_record r = process_record(pid, 1, 2 * SECOND);

	r.g.threads = threads;
	r.g.uid = uid;
	model_take(&m, &r.h);
}

/* Returns whether process 10 tells of the limit of its user's threads. */
static bool tells(uint32_t own, uint32_t other_pid, uint32_t other, uint32_t other_uid, bool open)
{
	const struct process_key id = {.pid = 10, .start_ns = 1};
	struct occasion o = {.m = &m, .findings = &fs};
	struct finding was = {};
	bool told;

	begin(NULL);
	take_threads(10, own, 7);
	take_threads(other_pid, other, other_uid);
	o.s = model_find(&m, &id);
	told = limit_is_told_of(&o, open ? &was : NULL, RESOURCE_THREADS);
	end();
	return told;
}

/* The process with most threads tells; of equal ones, that with the lower pid. */
static void test_shared_limit(void)
{
	ok(tells(100, 11, 99, 7, false), "it has most threads");
	ok(!tells(99, 11, 100, 7, false), "another process has more");
	ok(tells(99, 11, 100, 8, false), "that of another user does not count");
	ok(tells(100, 11, 100, 7, false), "of two equal ones, its pid is lower");
	ok(!tells(100, 9, 100, 7, false), "of two equal ones, its pid is higher");
	ok(tells(100, 9, 124, 7, true), "it told before: another must have a quarter more");
	ok(!tells(100, 9, 125, 7, true), "which has");
	ok(!tells(100, 9, 124, 7, false), "it did not tell before");
}

static void test_shared_by_three(void)
{
	const struct process_key id = {.pid = 12, .start_ns = 1};
	struct occasion o = {.m = &m, .findings = &fs};

	for (uint32_t first = 0; first < 2; first++) {
		begin(NULL);
		take_threads(first ? 13 : 11, 50, 7);
		take_threads(first ? 11 : 13, 50, 7);
		take_threads(12, 50, 7);
		o.s = model_find(&m, &id);
		ok(!limit_is_told_of(&o, NULL, RESOURCE_THREADS), "one of three has a lower pid");
		end();
	}
}

/* What a process that has ended told of a limit is not told again, unless it is graver now. */
static void test_told_before(void)
{
	const struct process_key id = {.pid = 10, .start_ns = 1};
	struct finding other = {.subject = {.pid = 99, .start_ns = 1}};
	struct findings all = {.f = &other, .n = 1};
	struct occasion o = {.m = &m, .findings = &all};

	begin(NULL);
	take_threads(10, 50, 7);
	o.s = model_find(&m, &id);
	f = (struct finding){.rule = &rules[0], .severity = SEVERITY_WARNING};
	other.rule = &rules[0];
	other.worst = SEVERITY_WARNING;
	ok(!limit_was_told_of(&o, &f, RESOURCE_THREADS), "of another user");
	ok(f.shared, "the limit of the user is known now");
	other.shared = f.shared;
	ok(limit_was_told_of(&o, &f, RESOURCE_THREADS), "of this user, as a warning");
	other.worst = SEVERITY_INFO;
	ok(!limit_was_told_of(&o, &f, RESOURCE_THREADS), "it was less grave");
	other.worst = SEVERITY_CRITICAL;
	ok(limit_was_told_of(&o, &f, RESOURCE_THREADS), "it was graver");
	other.rule = &rules[1];
	ok(!limit_was_told_of(&o, &f, RESOURCE_THREADS), "another rule told it");
	other.rule = &rules[0];
	take_threads(99, 50, 7);
	ok(!limit_was_told_of(&o, &f, RESOURCE_THREADS), "the process that told it lives");
	model_find(&m, &other.subject)->final = true;
	ok(limit_was_told_of(&o, &f, RESOURCE_THREADS), "it has ended");
	other.subject = id;
	ok(!limit_was_told_of(&o, &f, RESOURCE_THREADS), "the process itself told it");
	end();
}

static bool refused(rule_test *test, const char *cause, uint64_t fd_soft, uint64_t need)
{
	struct refused_record r = refused_record(10, CALL_RECVMSG, EMFILE);
	struct verdict v = {.cause = cause, .need = need};
	struct occasion o = {.m = &m, .findings = &fs, .refused = &r, .verdict = &v};

	r.fd_soft = fd_soft;
	v.limit = limit_of_cause("rlimit_nofile");
	return judged(test, &o, NULL);
}

/* A request for very many descriptors needs more than four times the limit. */
static void test_many_descriptors(void)
{
	static const struct {
		uint64_t soft, need;
		bool much;
		const char *name;
	} rows[] = {
		{32767, 65536, true, "131072 is more than four times the limit"},
		{32768, 65536, false, "131072 is four times the limit"},
		{1024, 32768, false, "65536 is a usual value"},
		{1024, 32769, true, "131072 is not"},
	};

	begin(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ok(refused(refused_by_nofile, "rlimit_nofile", rows[i].soft, rows[i].need),
		   "EMFILE");
		ok(finding_advises(
			   &f,
			   "raise the limit of the process: prlimit --pid 10 --nofile=131072") ==
			   rows[i].much,
		   "%s", rows[i].name);
		ok(refused(descriptors_dropped, "descriptors_dropped", rows[i].soft, rows[i].need),
		   "descriptors are dropped");
		ok(finding_advises(
			   &f,
			   "raise the limit of the process: prlimit --pid 10 --nofile=131072") ==
			   rows[i].much,
		   "%s", rows[i].name);
	}
	is_str(f.title,
	       "recvmsg returned success and dropped passed file descriptors: RLIMIT_NOFILE "
	       "reached",
	       "its title");
	end();
}

/* Two records that are less than 50 ms apart are no window. */
static void test_window(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct occasion o = {.m = &m, .findings = &fs};
	double seconds = 0;

	for (uint64_t apart = 49999999; apart <= 50000000; apart++) {
		begin(NULL);
		r.h.t_ns = 2 * SECOND;
		model_take(&m, &r.h);
		o.s = model_find(&m, &r.subject);
		ok(!stall_window(&o, &seconds), "the first record");
		model_next_window(&m);
		ok(!stall_window(&o, &seconds), "no record in this window");
		r.h.t_ns += apart;
		model_take(&m, &r.h);
		ok(stall_window(&o, &seconds) == (apart == 50000000), "%d ns apart", (int)apart);
		end();
	}
	ok(seconds == 0.05, "50 ms in seconds");
}

static void test_held_stall(void)
{
	struct finding open = {.grew_ns = 10 * SECOND, .level = 7};
	struct occasion o = {.m = &m, .t_ns = 10 * SECOND};

	f = (struct finding){};
	ok(!stall_held(&o, NULL, &f), "no finding is open");
	ok(stall_held(&o, &open, &f), "the stall has just ended");
	is_u64(f.level, 7, "the finding stays as it was");
	o.t_ns = 20 * SECOND - 1;
	ok(stall_held(&o, &open, &f), "less than 10 s ago");
	o.t_ns++;
	ok(!stall_held(&o, &open, &f), "10 s ago");
}

int main(void)
{
	test_accept();
	test_closes();
	test_hold();
	test_select();
	test_python();
	test_shared_limit();
	test_shared_by_three();
	test_told_before();
	test_many_descriptors();
	test_window();
	test_held_stall();
	return tap_done();
}
