// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the list of times at which findings opened, changed and closed: which changes are stored,
 * and what is left out when a list is full.
 */
#include <string.h>

#include "fixture.h"
#include "rules/finding_times.h"
#include "rules/rules.h"
#include "tap.h"

static struct finding one = {.subject = {.pid = 10, .start_ns = 1}};
static struct findings fs = {.f = &one, .n = 1};
static struct finding_times times;

static void begin(void)
{
	finding_times_free(&times);
	one.rule = &rules[0];
	one.since_ns = 2 * SECOND;
	one.severity = SEVERITY_INFO;
	one.subject.pid = 10;
	strcpy(one.comm, "worker");
	strcpy(one.place, "/a");
}

/* Adds the finding as it is seen now. Returns its changes. */
static const struct finding_life *add(uint64_t seen_ns, enum severity severity, bool open)
{
	one.seen_ns = seen_ns;
	one.severity = severity;
	one.fresh = true;
	one.open = open;
	if (finding_times_add(&times, &fs))
		return NULL;
	return finding_times_of(&times, &one);
}

static void is_change(const struct finding_change *c, uint64_t t_ns, enum severity severity,
		      bool open, const char *name)
{
	is_u64(c->t_ns, t_ns, name);
	ok(c->severity == severity && c->open == open, "%s: %s, %s", name, severity_name(severity),
	   open ? "open" : "closed");
}

static void test_changes(void)
{
	const struct finding_life *l;

	begin();
	l = add(5 * SECOND, SEVERITY_WARNING, true);
	if (!ok(l && l->n == 1, "a finding opens"))
		return;
	is_change(&l->change[0], 2 * SECOND, SEVERITY_WARNING, true, "since it began");
	ok(l->rule == &rules[0] && l->subject.pid == 10, "its rule and process");
	is_str(l->comm, "worker", "the name of the process");
	is_str(l->place, "/a", "its place");
	is_u64(l->since_ns, 2 * SECOND, "when it began");
	l = add(6 * SECOND, SEVERITY_WARNING, true);
	is_u64(l->n, 1, "the same again is no change");
	l = add(7 * SECOND, SEVERITY_CRITICAL, true);
	is_u64(l->n, 2, "another severity is");
	is_change(&l->change[1], 7 * SECOND, SEVERITY_CRITICAL, true, "when it was seen");
	l = add(8 * SECOND, SEVERITY_CRITICAL, false);
	is_u64(l->n, 3, "its end is");
	is_change(&l->change[2], 8 * SECOND, SEVERITY_CRITICAL, false, "when it ended");
	one.fresh = false;
	one.severity = SEVERITY_INFO;
	ok(!finding_times_add(&times, &fs), "a finding that is no news");
	is_u64(finding_times_of(&times, &one)->n, 3, "has no change");
	is_u64(l->lost + times.lost, 0, "nothing is left out");
}

/* A finding that opens again, and one of another process or rule, are other findings. */
static void test_others(void)
{
	begin();
	add(5 * SECOND, SEVERITY_INFO, true);
	one.since_ns++;
	ok(!finding_times_of(&times, &one), "it opens again: it is not known yet");
	add(6 * SECOND, SEVERITY_INFO, true);
	one.subject.pid = 11;
	ok(!finding_times_of(&times, &one), "another process");
	add(6 * SECOND, SEVERITY_INFO, true);
	one.rule = &rules[1];
	ok(!finding_times_of(&times, &one), "another rule");
	add(6 * SECOND, SEVERITY_INFO, true);
	is_u64(times.n, 4, "four findings");
	for (size_t i = 0; i < times.n; i++)
		is_u64(times.life[i].n, 1, "of one change each");
}

/* When the list of changes is full, the last change is replaced: the end stays known. */
static void test_full_life(void)
{
	const struct finding_life *l = NULL;
	uint64_t t = 5;

	begin();
	for (size_t i = 0; i < FINDING_CHANGES_MAX; i++)
		l = add(t++ * SECOND, i % 2 ? SEVERITY_INFO : SEVERITY_WARNING, true);
	if (!ok(l && l->n == FINDING_CHANGES_MAX && !l->lost, "a full list"))
		return;
	l = add(t * SECOND, SEVERITY_CRITICAL, true);
	is_u64(l->n, FINDING_CHANGES_MAX, "one more");
	is_u64(l->lost, 1, "one is left out");
	is_change(&l->change[l->n - 1], t * SECOND, SEVERITY_CRITICAL, true, "the last one stays");
	l = add(++t * SECOND, SEVERITY_CRITICAL, false);
	is_u64(l->lost, 2, "two are left out");
	is_change(&l->change[l->n - 1], t * SECOND, SEVERITY_CRITICAL, false, "the end stays");
	is_change(&l->change[0], 2 * SECOND, SEVERITY_WARNING, true, "so does the beginning");
	is_u64(times.lost, 0, "no finding is left out");
}

static void test_full_list(void)
{
	begin();
	for (size_t i = 0; i < FINDING_TIMES_MAX; i++) {
		one.since_ns++;
		add(5 * SECOND, SEVERITY_INFO, true);
	}
	is_u64(times.n, FINDING_TIMES_MAX, "a full list");
	is_u64(times.lost, 0, "none is left out");
	ok(add(6 * SECOND, SEVERITY_WARNING, true)->n == 2, "a known finding may change");
	one.since_ns++;
	ok(!add(7 * SECOND, SEVERITY_INFO, true), "a new one has no room");
	is_u64(times.lost, 1, "it is counted");
	is_u64(times.n, FINDING_TIMES_MAX, "the others stay");
	finding_times_free(&times);
	ok(!times.n && !times.lost, "an empty list");
}

int main(void)
{
	test_changes();
	test_others();
	test_full_life();
	test_full_list();
	return tap_done();
}
