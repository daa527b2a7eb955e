// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the rule engine: when it reports findings, and how long it keeps them. Also tests its table
 * of rules.
 */
#include <errno.h>

#include "rules/diagnoses.h"
#include "rules/limits_rules.h"
#include "rules_fixture.h"
#include "tap.h"
#include "finding_text.h"

/* Tests that each finding is printed once, and again when it changes. */
static void test_told(void)
{
	struct finding *f;

	begin(NULL);
	look("M25", 85, 1, 0);
	f = (struct finding *)find("M25", 10);
	ok(f->fresh && !f->told, "what opens is to be told");
	f->told = true;
	look("M25", 85, 1, 0);
	f = (struct finding *)find("M25", 10);
	ok(!f->fresh || f->told, "once");
	f->told = true;
	look("M25", 10, 1, 0);
	f = (struct finding *)find("M25", 10);
	ok(!f->open && f->fresh && !f->told, "and again when it is cleared");
	end();
}

static void test_reached(void)
{
	begin(NULL);
	look("M25", 60, 1, 0);
	is_u64(fs.reached[SEVERITY_INFO], 1, "one finding of info or worse");
	is_u64(fs.reached[SEVERITY_WARNING], 0, "none of warning");
	look("M25", 99, 1, 0);
	is_u64(fs.reached[SEVERITY_WARNING], 1, "it grows worse: one of warning or worse");
	is_u64(fs.reached[SEVERITY_CRITICAL], 1, "one of critical");
	look("M25", 60, 1, 0);
	look("M25", 99, 1, 0);
	is_u64(fs.reached[SEVERITY_CRITICAL], 1, "worse for a second time: still one");
	is_u64(fs.reached[SEVERITY_INFO], 1, "as of info");
	is_u64(fs.opened[SEVERITY_INFO], 1, "opened once, as info");
	end();
}

static struct origin_record origin_record(const char *set_by, const char *at_once,
					  const char *for_good, const char *cost)
{
	struct origin_record r = RECORD(origin_record, RECORD_ORIGIN, SECOND);

	snprintf(r.set_by, sizeof(r.set_by), "%s", set_by);
	snprintf(r.at_once, sizeof(r.at_once), "%s", at_once);
	snprintf(r.for_good, sizeof(r.for_good), "%s", for_good);
	snprintf(r.cost, sizeof(r.cost), "%s", cost);
	return r;
}

/* Tests that a command for this machine replaces the general workaround, but not the fix. */
static void test_origin(void)
{
	struct origin_record r = origin_record("systemd, for x.service", "prlimit --nofile=1:1",
					       "systemctl edit x", "a restart");
	struct finding f = {.rule = rules};

	remedy_command(finding_remedy(&f, REMEDY_WORKAROUND, "general"), "a");
	finding_remedy(&f, REMEDY_FIX, "the cause");
	remedy_command(finding_host_remedy(&f, REMEDY_WORKAROUND, "general too"), "b");
	finding_remedy(&f, REMEDY_WORKAROUND, "without the limit");
	finding_take_origin(&f, &r);
	is_str(f.set_by, "systemd, for x.service", "who set it");
	is_u64(f.nr_remedies, 4, "four remedies");
	is_str(remedy_str(&f, 0), "fix: the cause", "what ends the cause stays");
	is_str(remedy_str(&f, 1), "workaround: without the limit", "and so does another way");
	is_str(remedy_str(&f, 2), "workaround: raise vm.max_map_count now: prlimit --nofile=1:1",
	       "the command of this machine");
	is_str(f.remedy[2].risk, "a restart", "and what it costs");
	ok(!f.remedy[2].persistent, "until the next start");
	is_str(remedy_str(&f, 3),
	       "workaround: raise vm.max_map_count permanently: systemctl edit x",
	       "and what lasts");
	ok(f.remedy[3].persistent, "over the next start");

	f = (struct finding){.rule = rules};
	r = origin_record("the kernel: its default", "sysctl -w x=2", "", "");
	r.host_wide = 1;
	remedy_command(finding_remedy(&f, REMEDY_WORKAROUND, "general"), "a");
	finding_take_origin(&f, &r);
	is_u64(f.nr_remedies, 1, "one that does not last");
	is_str(remedy_str(&f, 0), "workaround: raise vm.max_map_count now: sysctl -w x=2",
	       "host-wide");
	ok(f.remedy[0].scope == SCOPE_HOST, "and said to be");

	f = (struct finding){.rule = rules};
	r = origin_record("", "", "", "");
	remedy_command(finding_remedy(&f, REMEDY_WORKAROUND, "general"), "a");
	finding_take_origin(&f, &r);
	ok(f.nr_remedies == 1 && !f.set_by[0], "where nothing was found all stays");
}

/* Tests that each resource of the host has a rule with the right scope. */
static void test_resources(void)
{
	for (enum resource_id i = 0; i < NR_RESOURCES; i++) {
		enum trigger want = resources[i].scope == OF_HOST ? ON_HOST : ON_SUBJECT;
		bool judged = false, fits = true;

		for (size_t k = 0; k < nr_rules; k++)
			if ((rules[k].test == limit_is_near || rules[k].test == limit_is_coming) &&
			    rules[k].resource == i) {
				judged |= rules[k].test == limit_is_coming;
				fits &= rules[k].trigger == want;
			}
		ok(judged && fits, "%s has a rule for its growth", resources[i].limit);
	}
}

static void test_cap(void)
{
	begin(NULL);
	for (uint32_t pid = 1; pid <= FINDINGS_MAX + 88; pid++) {
		struct process_record r = process_record(pid, 1, 2 * SECOND);

		r.g.map_count = r.g.map_high = 65000;
		model_take(&m, &r.h);
	}
	tick();
	is_u64(fs.n, FINDINGS_MAX, "findings have a cap");
	is_u64(fs.lost, 88, "what is beyond it is counted");
	is_u64(fs.opened[SEVERITY_CRITICAL], FINDINGS_MAX, "and not as opened");
	end();
}

static bool are_diagnoses(const char *ids)
{
	char id[8];

	for (; ids && *ids; ids += strcspn(ids, " "), ids += *ids == ' ') {
		snprintf(id, sizeof(id), "%.*s", (int)strcspn(ids, " "), ids);
		if (!diagnosis_find(id))
			return false;
	}
	return true;
}

/*
 * Tests that closed findings are kept for the summary, until their space is needed for open
 * findings.
 */
static void test_kept(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);

	begin(NULL);
	fs.keep_cleared = true;
	look("M25", 85, 1, 0);
	look("M25", 1, 1, 0);
	next_window();
	ok(find("M25", 10) && !find("M25", 10)->open && !find("M25", 10)->fresh,
	   "cleared, and kept for the summary");
	look("M25", 85, 1, 0);
	ok(fs.n == 1 && fs.f[0].open, "open again: the same one");
	is_u64(fs.opened[SEVERITY_WARNING], 2, "opened twice");
	is_u64(fs.reached[SEVERITY_WARNING], 1, "one finding");
	/* After some scans with a low value, the finding closes, but is kept. */
	for (int i = 0; i < 70; i++)
		look("M25", 1, 1, 0);
	next_window();
	for (r.subject.pid = 11; r.subject.pid <= 10 + FINDINGS_MAX; r.subject.pid++) {
		r.g.map_count = r.g.map_high = 65000;
		model_take(&m, &r.h);
	}
	tick();
	is_u64(fs.n, FINDINGS_MAX, "as many as there is room for");
	is_u64(fs.lost, 0, "none lost");
	ok(!find("M25", 10), "but the one that was only kept");
	end();
}

static void test_table(void)
{
	bool unique = true, formed = true, sorted = true, known = true, texts = true, after = true;

	for (size_t i = 0; i < nr_rules; i++) {
		const char *id = rules[i].id;
		bool hook = !rules[i].needs;

		formed &= strlen(id) == 3 && id[0] >= 'A' && id[0] <= 'Z' && id[1] >= '0' &&
			  id[1] <= '9' && id[2] >= '0' && id[2] <= '9' && rules[i].test;
		texts &= diagnosis_find(id) && diagnosis_rule(diagnosis_find(id)) == &rules[i];
		after &= are_diagnoses(rules[i].after);
		for (size_t k = 0; k < i; k++)
			unique &= strcmp(rules[k].id, id) != 0;
		if (i && rules[i - 1].id[0] == id[0])
			sorted &= strcmp(rules[i - 1].id, id) < 0;
		for (size_t k = 0; k < NR_FIXTURE_HOOKS; k++)
			hook |= rules[i].needs && !strcmp(rules[i].needs, fixture_hooks[k]);
		known &= hook && (rules[i].trigger <= ON_MOUNT || rules[i].needs);
	}
	ok(unique, "ids are unique");
	ok(formed, "a letter and two digits, and a test");
	ok(texts, "each has its texts");
	ok(after, "what a rule comes after has its texts, too");
	ok(sorted, "a letter's rules stand in order");
	ok(known, "hooks that rules need are hooks; events need one");
	is_str(severity_name(SEVERITY_INFO), "info", "severity names");
	is_str(severity_name(SEVERITY_CRITICAL), "critical", "severity names");
}

int main(void)
{
	test_told();
	test_reached();
	test_origin();
	test_resources();
	test_cap();
	test_kept();
	test_table();
	numbers_are(0xeed9bbc1);
	return tap_done();
}
