// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests findings about values that are near a limit, or grow towards it. */
#include "rules/limits_rules.h"
#include "rules_fixture.h"
#include "tap.h"
#include "finding_text.h"

static void is_level(const char *id, double percent, int want, bool fresh, const char *name)
{
	const struct finding *f = look(id, percent, percent, 0);

	if (want < 0)
		ok(!f || !f->open, "%s %s", id, name);
	else if (ok(f && f->open && (int)f->severity == want, "%s %s", id, name))
		ok(f->fresh == fresh, "%s %s: %s", id, name, fresh ? "is news" : "is no news");
}

static void test_levels(const char *id)
{
	begin(NULL);
	is_level(id, 49.9, -1, false, "below 50 %: none");
	is_level(id, 50, SEVERITY_INFO, true, "at 50 %: info");
	is_level(id, 60, SEVERITY_INFO, false, "at 60 %: info still");
	is_level(id, 79.9, SEVERITY_INFO, false, "at 79.9 %: info still");
	is_level(id, 80, SEVERITY_WARNING, true, "at 80 %: warning");
	is_level(id, 95, SEVERITY_CRITICAL, true, "at 95 %: critical");
	is_level(id, 91, SEVERITY_CRITICAL, false, "back to 91 %: critical still");
	is_level(id, 89.8, SEVERITY_WARNING, true, "below 90 %: warning");
	is_level(id, 75.1, SEVERITY_WARNING, false, "at 75.1 %: warning still");
	is_level(id, 74.8, SEVERITY_INFO, true, "below 75 %: info");
	is_level(id, 45.1, SEVERITY_INFO, false, "at 45.1 %: info still");
	is_level(id, 44.8, -1, false, "below 45 %: cleared");
	ok(find(id, 10) && find(id, 10)->fresh, "%s cleared is news", id);
	next_window();
	ok(!find(id, 10), "%s cleared is forgotten once told", id);
	is_level(id, 49, -1, false, "at 49 % again: none");
	is_level(id, 99, SEVERITY_CRITICAL, true, "at 99 %: critical at once");
	ok(find(id, 10)->nr_evidence >= 2 && find(id, 10)->nr_remedies,
	   "%s has evidence and a remedy", id);
	ok(strstr(find(id, 10)->title, "99%"), "%s says how much", id);
	is_u64(fs.opened[SEVERITY_INFO], 2, "M25 and F12 opened once each as info");
	end();
}

/*
 * Tests a process that sleeps while vm.max_map_count is changed. The process must be compared with
 * the new value.
 */
static void test_limit_set_meanwhile(void)
{
	struct tick_record t;

	begin(NULL);
	look("M25", 44, 4, 0);
	ok(!find("M25", 10), "44%% of the limit: none");
	next_window();
	tick();
	next_window();
	t = tick_record(now += SECOND);
	t.limits.max_map_count = 30000;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	ok(find("M25", 10) && find("M25", 10)->severity == SEVERITY_CRITICAL,
	   "96%% of one that was lowered");
	next_window();
	tick();
	ok(find("M25", 10) && !find("M25", 10)->open, "and of one that is raised again");
	end();
}

static void test_subject_ends(void)
{
	const struct finding *f;

	begin(NULL);
	look("M25", 96, 1, 0);
	f = look("M25", 96, 1, PROC_FINAL);
	ok(f && f->open, "open in the window in which its process ended");
	next_window();
	tick();
	f = find("M25", 10);
	ok(f && !f->open && f->fresh, "cleared in the next, and told");
	next_window();
	ok(!find("M25", 10), "then forgotten");
	end();

	begin(NULL);
	look("M25", 96, 1, 0);
	next_window();
	tick();
	f = find("M25", 10);
	ok(f && f->open && !f->fresh, "a process that does not change keeps its finding");
	end();

	begin(NULL);
	model_free(&m);
	begin_model(&m, NULL);
	m.tick.limits.max_map_count = 0;
	struct process_record r = process_record(10, 1, 2 * SECOND);

	r.g.fd_soft = UINT64_MAX;
	r.g.fds = 100000;
	model_take(&m, &r.h);
	r.subject.pid = 11;
	r.g.fd_soft = 1ULL << 63;
	r.g.fds = 10;
	model_take(&m, &r.h);
	findings_judge(&fs, &m);
	ok(!find("F12", 10) && !find("M25", 10), "no limit, no finding");
	ok(!find("F12", 11), "a limit of 2^63 is far away");
	end();
}

/* Tests a program that opens fds up to its limit to learn the limit. No finding may open. */
static void test_peak_of_one_that_ended(void)
{
	struct process_record r;
	const struct finding *f;

	begin(NULL);
	for (int times = 0; times < 2; times++) {
		look("F12", 1, 1, 0);
		next_window();
		r = process_record(10, 1, now + SECOND / 2);
		r.g.fd_soft = 1000;
		r.g.fds = 10;
		r.g.fd_high = 980;
		r.g.flags = times ? PROC_FINAL : 0;
		model_take(&m, &r.h);
		tick();
		f = find("F12", 10);
		if (!times)
			ok(!f, "a peak that is over is not near the limit");
	}
	ok(f && f->open && f->severity == SEVERITY_INFO,
	   "nor is it a warning when its process ends");
	is_str(f ? f->title : "",
	       "peak 980 of 1,000 file descriptors, 98% of RLIMIT_NOFILE; 10 when it ended",
	       "it says so");
	end();

	begin(NULL);
	look("F12", 1, 1, 0);
	f = look("F12", 1, 98, PROC_FINAL);
	ok(f && f->open && f->severity == SEVERITY_CRITICAL, "who ends with as many is near still");
	end();

	begin(NULL);
	look("F12", 1, 98, 0);
	f = look("F12", 1, 85, PROC_FINAL);
	ok(f && f->open && f->severity == SEVERITY_WARNING, "who came down a little is less near");
	end();
}

/* Tests the first scan. Processes are then reported before the limits of the machine. */
static void test_first_look(void)
{
	struct process_record r = process_record(10, 1, SECOND / 2);
	struct tick_record t = tick_record(SECOND);

	if (model_init(&m))
		abort();
	memset(&fs, 0, sizeof(fs));
	r.g.map_count = r.g.map_high = 64000;
	model_take(&m, &r.h);
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	ok(find("M25", 10) && find("M25", 10)->severity == SEVERITY_CRITICAL,
	   "one that is near its limit, and stands still, is told of at once");
	end();
}

static void test_growth(void)
{
	const struct finding *f = NULL;

	begin(NULL);
	for (int i = 0; i < 12; i++)
		f = look("M26", 12 + i, 12 + i, 0);
	ok(f && f->open && f->forecast.known, "growth towards the map limit opens M26");
	ok(f && f->severity == SEVERITY_WARNING,
	   "at 23 %% of the way it is no more than a warning");
	ok(f && strstr(f->title,
		       "mappings will reach vm.max_map_count in about 77 s if it goes on"),
	   "it says when, and on what condition");
	ok(find("F13", 10) && find("F13", 10)->open, "towards the descriptor limit F13");
	for (int i = 0; i < 5; i++)
		f = look("M26", 23, 23, 0);
	ok(f && f->open && !f->forecast.known && strstr(f->title, "no estimate is possible now"),
	   "a pause keeps it, but no number");
	for (int i = 0; i < 40; i++)
		f = look("M26", 23, 23, 0);
	ok(!f || !f->open, "a standstill clears it");
	end();

	begin(NULL);
	for (int i = 0; i < 12; i++)
		look("M26", 12 + i, 1, 0);
	ok(find("M26", 10), "growth once more");
	for (int i = 0; i < 60; i++) {
		next_window();
		tick();
	}
	f = find("M26", 10);
	ok(!f || !f->open, "a process that is not told of any more does not grow");
	end();
}

/*
 * Simulates a value that rises from 10 to 97 % of its limit in `looks` scans and then drops.
 * Repeats this `cycles` times. Returns how often the finding opens.
 */
static uint64_t opens(const char *id, int looks, int cycles)
{
	uint64_t times = 0;
	bool was = false;

	begin(NULL);
	for (int i = 0; i < looks * cycles; i++) {
		double share = (i % looks) / (looks - 1.0);
		const struct finding *f = look(id, 10 + 87 * share, 10 + 87 * share, 0);

		times += f && f->open && !was;
		was = f && f->open;
		if (f && was && i % looks == 0 && i > 2 * looks)
			ok(strstr(f->title, "repeatedly ") && strstr(f->title, "; now "),
			   "at the foot of a saw-tooth: %s", f->title);
	}
	ok(was, "%s of a saw-tooth is open", id);
	end();
	return times;
}

static void test_saw_tooth(void)
{
	ok(opens("F12", 12, 8) <= 2, "F12 of a high saw-tooth does not open at each cycle");
	ok(opens("M25", 40, 6) <= 2, "nor does M25 of a slow one");
	begin(NULL);
	for (int i = 0; i < 200; i++) {
		const struct finding *f = look("F13", 10, 10 + 87 * (i % 20) / 19.0, 0);

		if (f && f->open && f->severity == SEVERITY_CRITICAL)
			ok(false, "critical at look %d of a saw-tooth: %s", i, f->title);
	}
	ok(!find("F13", 10) || !find("F13", 10)->open,
	   "of cycles that do not grow it says nothing");
	end();
}

/* Tests that no forecast is made for a process that has grown and then exited. */
static void test_growth_of_dead(void)
{
	const struct finding *f = NULL;

	begin(NULL);
	for (int i = 0; i < 40; i++)
		f = look("F13", 1, 20 + 2 * i, i == 39 ? PROC_FINAL : 0);
	ok(f && !f->forecast.known && strstr(f->title, "until it ended"),
	   "of a process that ended there is no time to its limit: %s", f ? f->title : "");
	for (size_t i = 0; f && i < f->nr_evidence; i++)
		ok(!strstr(evidence_value_str(&f->evidence[i]), "full in"), "evidence: %s",
		   evidence_value_str(&f->evidence[i]));
	end();
}

static const struct finding *look_at_host(const char *id, double files, double commit)
{
	struct tick_record t = tick_record(now += SECOND);

	next_window();
	t.limits.file_nr = 10000 * files;
	t.limits.overcommit_memory = 2;
	t.limits.committed_bytes = t.limits.commit_limit_bytes * commit / 100;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	return find(id, 0);
}

static void test_host(void)
{
	const struct finding *f;

	begin(NULL);
	f = look_at_host("F14", 49, 1);
	ok(!fs.n, "a host far from its limits: none");
	f = look_at_host("F14", 81, 1);
	ok(f && f->open && f->severity == SEVERITY_WARNING && !f->subject.pid,
	   "near fs.file-max: F14, of no process");
	ok(f && strstr(f->title, "810,000 of 1,000,000 open files, 81% of fs.file-max"), "and how");
	f = look_at_host("F14", 70, 96);
	ok(f && f->open && f->severity == SEVERITY_INFO, "less near: info");
	f = find("M30", 0);
	ok(f && f->severity == SEVERITY_CRITICAL && strstr(f->title, "7.68 GiB of 8.00 GiB"),
	   "near the commit limit: M30, in bytes");
	f = look_at_host("F14", 10, 20);
	ok(f && !f->open && f->fresh, "far again: cleared, and told");
	end();

	begin(NULL);
	for (int i = 0; i < 100; i++)
		f = look_at_host("M31", 10, 40 + i / 10.0);
	ok(f && f->open && f->forecast.known, "growth towards the commit limit opens M31");
	end();
}

static void test_assumed(void)
{
	const struct finding *f;

	begin(NULL);
	m.assumed[RESOURCE_MAPS] = 131072;
	f = look("M25", 90, 1, 0);
	ok(!f || !f->open, "90 %% of the limit, 45 %% of an assumed one: none");
	f = look("M25", 170, 1, 0);
	ok(f && f->severity == SEVERITY_WARNING &&
		   strstr(f->title, "111,401 of 131,072 mappings, 84% of an assumed "
				    "vm.max_map_count"),
	   "near an assumed one, said to be");
	ok(f && f->evidence[0].limit == 131072 && f->evidence[0].assumed, "in the evidence too");
	end();
}

/* Simulates a scan of a process with `n` open fds and a limit of 1000. */
static const struct finding *look_at_fds(const char *id, int n)
{
	return look(id, 1, n / 10.0, 0);
}

static void test_burst(void)
{
	const struct finding *f;

	begin(NULL);
	look_at_fds("F12", 100);
	f = look_at_fds("F12", 550);
	ok(f && f->severity == SEVERITY_INFO && strstr(f->title, "one more burst like the largest"),
	   "a burst as large as what is left is told of");
	look_at_fds("F12", 100);
	f = look_at_fds("F12", 560);
	ok(f && f->severity == SEVERITY_WARNING, "seen twice, it is a warning");
	end();

	begin(NULL);
	look_at_fds("F12", 500);
	look_at_fds("F12", 550);
	f = look_at_fds("F12", 580);
	ok(f && !strstr(f->title, "burst"), "smaller ones are no headline");
	ok(f && f->nr_evidence == 4 && f->evidence[2].value == 50 && f->evidence[3].value == 420,
	   "but evidence");
	f = look_at_fds("F12", 999);
	f = look_at_fds("F12", 1000);
	ok(f && f->open && !strstr(f->title, "burst"),
	   "at the limit there is no room to burst into");
	end();
}

int main(void)
{
	test_levels("M25");
	test_levels("F12");
	test_limit_set_meanwhile();
	test_subject_ends();
	test_peak_of_one_that_ended();
	test_first_look();
	test_growth();
	test_saw_tooth();
	test_growth_of_dead();
	test_host();
	test_assumed();
	test_burst();
	numbers_are(0xfabe8c65);
	return tap_done();
}
