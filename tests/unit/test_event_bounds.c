// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the times of events just below, at and just above each bound: how long after a failed call
 * a signal or a retry belongs to it, and how long a finding stays open. Tests also tables and texts
 * that are full.
 */
#include <errno.h>
#include <signal.h>

#include "rules_fixture.h"
#include "rules/event_count.h"
#include "rules/limits_rules.h"
#include "rules/unsettled.h"
#include "tap.h"
#include "finding_text.h"

#define RETRY_WITHIN (SECOND / 2)

static const struct process_key process = {.pid = 10, .start_ns = 1};

static const struct rule *rule_of(const char *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

/* Returns the id of the finding of a failed call that led to a signal at 5 s; "none": none did. */
static const char *led_to_signal(uint64_t map_ns, uint64_t split_ns)
{
	static struct finding list[2];
	struct findings all = {.f = list};
	struct signal_record r = {.subject = process, .signal = SIGSEGV, .code = 1};
	struct occasion o = {.findings = &all, .signal = &r, .t_ns = 5 * SECOND};
	struct finding f = {.rule = rule_of("M24")};
	const char *found = "none";

	for (size_t i = 0; i < 2; i++) {
		uint64_t t_ns = i ? split_ns : map_ns;

		if (t_ns)
			list[all.n++] = (struct finding){.rule = rule_of(i ? "M02" : "M01"),
							 .subject = process,
							 .open = true,
							 .seen_ns = t_ns};
	}
	if (crash_after_refusal(&o, NULL, &f))
		found = strstr(remedy_str(&f, 0), "see finding ") + strlen("see finding ");
	return found;
}

/* A signal is the result of a call that failed at most 1 s before. The later call counts. */
static void test_signal_after_call(void)
{
	is_str(led_to_signal(4 * SECOND, 0), "M01", "1 s after the call");
	is_str(led_to_signal(4 * SECOND - 1, 0), "none", "a nanosecond later");
	is_str(led_to_signal(5 * SECOND, 0), "M01", "at the same time");
	is_str(led_to_signal(5 * SECOND + 1, 0), "none", "before the call");
	is_str(led_to_signal(0, 5 * SECOND), "M02", "after a split");
	is_str(led_to_signal(4 * SECOND, 5 * SECOND), "M02", "the split is later");
	is_str(led_to_signal(5 * SECOND, 4 * SECOND), "M01", "the mapping is later");
	is_str(led_to_signal(5 * SECOND, 5 * SECOND), "M01", "at the same time: the mapping");
	is_str(led_to_signal(0, 0), "none", "no call failed");
}

static struct refused_record huge_pages_refused(uint64_t t_ns)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);

	r.h.t_ns = t_ns;
	r.args[1] = 144 << 20;
	r.args[3] = 0x40021; /* MAP_SHARED, MAP_ANONYMOUS, MAP_HUGETLB */
	return r;
}

/* Begins at 1 s, with a living process, whose call failed at 2 s. */
static void begin_unsettled(void)
{
	struct process_record p = process_record(10, 1, SECOND);

	begin(NULL);
	model_take(&m, &p.h);
	fs.unsettled[0] = huge_pages_refused(2 * SECOND);
	fs.nr_unsettled = 1;
	m.last_ns = 2 * SECOND;
}

static void retry(uint32_t tid, uint64_t t_ns)
{
	struct retry_record r = RECORD(retry_record, RECORD_RETRY, t_ns);

	r.subject = process;
	r.tid = tid;
	r.call = CALL_MMAP;
	model_take(&m, &r.h);
}

/* A later request of the same thread, within 500 ms, is a retry. */
static void test_retry(void)
{
	static const struct {
		uint64_t t_ns;
		bool answers;
		const char *name;
	} rows[] = {
		{2 * SECOND - 1, false, "just before the failure"},
		{2 * SECOND, true, "at the same time"},
		{2 * SECOND + RETRY_WITHIN, true, "500 ms later"},
		{2 * SECOND + RETRY_WITHIN + 1, false, "a nanosecond more"},
	};
	union event e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_unsettled();
		retry(11, 2 * SECOND + 1);
		retry(10, rows[i].t_ns);
		ok(unsettled_next(&fs, &m, false, &e) == rows[i].answers, "%s", rows[i].name);
		is_u64(fs.nr_unsettled, !rows[i].answers, "a call that is judged is not kept");
		if (rows[i].answers)
			ok(e.refused.facts & FACT_RETRIED, "it is known that it was repeated");
		else
			ok(unsettled_next(&fs, &m, true, &e) && !(e.refused.facts & FACT_RETRIED),
			   "at the end, it is judged as it is");
		end();
	}
}

/* A failed call is kept for 1 s, while its process lives. */
static void test_kept(void)
{
	union event e;
	bool full;

	begin_unsettled();
	m.last_ns = 3 * SECOND - 1;
	ok(!unsettled_next(&fs, &m, false, &e), "just before 1 s is over");
	e.refused = huge_pages_refused(2 * SECOND);
	ok(unsettled_keep(&fs, &m, &e), "a call of this age is kept");
	is_u64(fs.nr_unsettled, 2, "two are");
	m.last_ns = 3 * SECOND;
	ok(!unsettled_keep(&fs, &m, &e), "a call that is 1 s old is not");
	fs.unsettled[1].h.t_ns += SECOND;
	ok(unsettled_next(&fs, &m, false, &e), "1 s is over");
	is_u64(e.refused.h.t_ns, 2 * SECOND, "for the older one");
	is_u64(fs.nr_unsettled, 1, "the other one is kept");
	is_u64(fs.unsettled[0].h.t_ns, 3 * SECOND, "in its place");
	e.refused = huge_pages_refused(3 * SECOND);
	for (full = false; fs.nr_unsettled < UNSETTLED_MAX && !full;)
		full = !unsettled_keep(&fs, &m, &e);
	ok(!full, "32 calls are kept");
	ok(!unsettled_keep(&fs, &m, &e), "one more is judged at once");
	e.refused.subject.start_ns = 2;
	fs.nr_unsettled = 0;
	ok(!unsettled_keep(&fs, &m, &e), "a process that is not known does not live");
	e.refused = huge_pages_refused(3 * SECOND);
	e.refused.facts = FACT_RETRIED;
	ok(!unsettled_keep(&fs, &m, &e), "what was repeated already is judged");
	e.h.kind = RECORD_SIGNAL;
	e.refused.facts = 0;
	ok(!unsettled_keep(&fs, &m, &e), "a signal is not repeated");
	end();
}

static void scan_at(uint64_t t_ns)
{
	struct tick_record t = tick_record(t_ns);

	next_window();
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

/* The finding about an event closes after a quiet minute. */
static void test_quiet_minute(void)
{
	struct refused_record r = refused_record(10, CALL_OPEN, EMFILE);
	uint64_t seen_ns;

	begin(NULL);
	hold_fds(&r, 1024);
	model_take(&m, &r.h);
	findings_judge(&fs, &m);
	if (ok(find("F01", 10), "a failed call")) {
		seen_ns = find("F01", 10)->seen_ns;
		scan_at(seen_ns + 60 * SECOND);
		ok(find("F01", 10)->open, "a minute later it is open");
		scan_at(seen_ns + 60 * SECOND + 1);
		ok(!find("F01", 10)->open && find("F01", 10)->fresh, "then it closes");
	}
	end();
}

static struct finding counted(uint64_t times)
{
	struct finding f = {.rule = rule_of("M01"), .subject = process, .call = CALL_MMAP};

	f.times = times;
	finding_number(&f, "other", IN_COUNT, 1);
	finding_number(&f, "refused_calls", IN_COUNT, times);
	event_count_complete(&fs, &m, &f);
	return f;
}

/* The counter of the process is exact while its row is among the last 64. */
static void test_counts(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
	struct process_record p = process_record(10, 1, SECOND);
	struct finding f;

	begin(NULL);
	p.c.map_call[0].refused = 7;
	p.g.flags = PROC_BORN;
	model_take(&m, &p.h);
	event_count_refused(&fs, &r);
	r.count = 4;
	event_count_refused(&fs, &r);
	f = counted(4);
	is_str(evidence_str(&f.evidence[1]), "7", "the counter of the process");
	is_str(evidence_str(&f.evidence[0]), "1", "no other evidence changes");
	f = counted(7);
	is_str(evidence_str(&f.evidence[1]), "7", "as many as the records say");
	f = counted(8);
	is_str(evidence_str(&f.evidence[1]), "8", "a counter that is older than the record");
	for (uint32_t i = 0; i < EVENT_COUNTS_MAX - 1; i++) {
		r.subject.pid++;
		event_count_refused(&fs, &r);
	}
	f = counted(4);
	is_str(evidence_str(&f.evidence[1]), "7", "63 other processes");
	r.subject.pid++;
	event_count_refused(&fs, &r);
	f = counted(4);
	is_str(evidence_str(&f.evidence[1]), "4 or more", "64 others: the row was overwritten");
	f = counted(1);
	is_str(evidence_str(&f.evidence[1]), "1", "a single event is exact");
	m.tick.losses.ring = 1;
	f = counted(1);
	is_str(evidence_str(&f.evidence[1]), "1 or more", "unless records were lost");
	end();
}

/* The same count again, or a smaller one, is of events of another kind. */
static void test_mixed_counts(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
	struct process_record p = process_record(10, 1, SECOND);
	struct finding f;

	begin(NULL);
	p.c.map_call[0].refused = 7;
	p.g.flags = PROC_BORN;
	model_take(&m, &p.h);
	event_count_refused(&fs, &r);
	event_count_refused(&fs, &r);
	f = counted(4);
	is_str(evidence_str(&f.evidence[1]), "4 or more", "two first events are of two kinds");
	f = counted(1);
	is_str(evidence_str(&f.evidence[1]), "1 or more", "so even one may be more");
	fs.nr_counts = 0;
	r.count = 2;
	event_count_refused(&fs, &r);
	f = counted(4);
	is_str(evidence_str(&f.evidence[1]), "4 or more", "the first record counts two events");
	end();
}

static void test_full_finding(void)
{
	static struct finding f;
	struct remedy *last = NULL;

	for (size_t i = 0; i < EVIDENCE_MAX - 1; i++)
		finding_number(&f, "n", IN_COUNT, i);
	is_u64(f.nr_evidence, EVIDENCE_MAX - 1, "room for one more");
	finding_text(&f, "last", "text");
	is_u64(f.nr_evidence, EVIDENCE_MAX, "all evidence");
	finding_real(&f, "lost", IN_PERCENT, 1);
	is_u64(f.nr_evidence, EVIDENCE_MAX, "what has no room is left out");
	is_str(f.evidence[EVIDENCE_MAX - 1].field, "last", "and overwrites nothing");
	for (size_t i = 0; i < REMEDIES_MAX; i++)
		last = finding_remedy(&f, REMEDY_FIX, "%zu", i);
	ok(last != NULL, "all remedies");
	ok(!finding_remedy(&f, REMEDY_FIX, "lost"), "no room for one more");
	is_u64(f.nr_remedies, REMEDIES_MAX, "it is left out");
	remedy_command(NULL, "true");
}

/* A command that does not fit is left out: a part of it would be another command. */
static void test_long_command(void)
{
	struct remedy r = {};
	char text[sizeof(r.command) + 1];

	memset(text, 'x', sizeof(text));
	text[sizeof(r.command) - 1] = 0;
	remedy_command(&r, "%s", text);
	is_str(r.command, text, "the longest command");
	text[sizeof(r.command) - 1] = 'x';
	text[sizeof(r.command)] = 0;
	remedy_command(&r, "%s", text);
	is_str(r.command, "", "one character more");
}

static void test_evidence_text(void)
{
	static const struct {
		enum evidence_unit unit;
		double real;
		const char *want;
	} rows[] = {
		{IN_SECONDS, 0.5, "500 ms"},
		{IN_SECONDS, 1, "1.0 s"},
		{IN_PERCENT, 9.9, "9.9 %"},
		{IN_PERCENT, 10, "10 %"},
		{IN_BYTES_PER_SECOND, 1024, "1.00 KiB/s"},
		{IN_PER_SECOND, 2000, "2,000/s"},
	};
	struct evidence e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		evidence_init(&e, "field");
		evidence_set_real(&e, rows[i].unit, rows[i].real);
		is_str(evidence_str(&e), rows[i].want, "a number with a unit");
	}
	evidence_init(&e, "pages");
	evidence_set(&e, IN_PAGES, 1);
	is_str(evidence_str(&e), "1 page", "one page");
	e.asked = 1;
	is_str(evidence_str(&e), "1 + 1 pages", "one, and one requested");
	evidence_limit(&e, 1);
	is_str(evidence_str(&e), "1 + 1 of 1 page", "a limit of one page");
	e.assumed = e.at_least = true;
	is_str(evidence_str(&e), "1 + 1 or more of 1 (assumed) page", "an assumed limit");
	evidence_init(&e, "limit");
	evidence_set(&e, IN_BYTES, UINT64_MAX);
	is_str(evidence_str(&e), "unlimited", "no limit");
	evidence_set(&e, IN_COUNT, UINT64_MAX - 1);
	evidence_about(&e, "who");
	is_str(evidence_str(&e), "who: 18,446,744,073,709,551,614", "the largest number");
}

/*
 * A finding about growth is held for 10 s and for three scans, unless the value has fallen by more
 * than a twentieth of the limit.
 */
static void test_held_growth(void)
{
	static const struct {
		uint64_t interval_s, after_ns, value;
		bool held;
		const char *name;
	} rows[] = {
		{1, 10 * SECOND - 1, 1000, true, "just before 10 s are over"},
		{1, 10 * SECOND, 1000, false, "10 s are over"},
		{4, 12 * SECOND - 1, 1000, true, "just before three scans of 4 s"},
		{4, 12 * SECOND, 1000, false, "after three scans of 4 s"},
		{1, SECOND, 500, true, "it has fallen by a twentieth of the limit"},
		{1, SECOND, 499, false, "by more"},
		{1, SECOND, 2000, true, "it has grown by more"},
	};
	struct finding open = {.grew_ns = 100 * SECOND, .grew_to = 1000};
	struct occasion o = {.m = &m};

	begin(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.host.interval_ns = rows[i].interval_s * SECOND;
		o.t_ns = open.grew_ns + rows[i].after_ns;
		ok(limit_growth_held(&o, &open, rows[i].value, 10000) == rows[i].held, "%s",
		   rows[i].name);
	}
	o.t_ns = open.grew_ns;
	ok(!limit_growth_held(&o, NULL, 1000, 10000), "no finding is open");
	end();
}

int main(void)
{
	test_signal_after_call();
	test_retry();
	test_kept();
	test_quiet_minute();
	test_counts();
	test_mixed_counts();
	test_full_finding();
	test_long_command();
	test_evidence_text();
	test_held_growth();
	return tap_done();
}
