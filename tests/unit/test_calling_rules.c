// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests findings about the way a program makes calls, and about limits of several processes. */
#include <errno.h>
#include <signal.h>

#include "growth_fixture.h"
#include "tap.h"

static struct process_record record(uint32_t pid)
{
	struct process_record r = process_record(pid, 1, now + SECOND / 2);

	r.g.fd_soft = 64;
	r.g.fds = r.g.fd_high = 64;
	return r;
}

static void take(const struct process_record *r)
{
	model_take(&m, &r->h);
	judge_window();
}

static void next(void)
{
	model_next_window(&m);
	findings_next_window(&fs);
}

static void test_accept(void)
{
	static const struct {
		uint64_t refused, cpu_ns;
		uint32_t fds;
		bool told;
		const char *what;
	} rows[] = {
		{5000, SECOND, 64, true, "5,000 a second and a CPU: it spins"},
		{5000, SECOND / 100, 64, false, "who waits in between does not"},
		{500, SECOND, 64, false, "nor who has few refused"},
		{5000, SECOND, 10, false, "nor who has descriptors left"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct process_record r;

		begin();
		r = record(10);
		take(&r);
		next();
		r = record(10);
		r.g.fds = rows[i].fds;
		r.u.cpu_ns = rows[i].cpu_ns;
		r.c.fd_call[CALL_ACCEPT - CALL_FD_FIRST].refused = rows[i].refused;
		take(&r);
		ok(!!find("F05") == rows[i].told, "%s", rows[i].what);
		end();
	}
}

static void test_closes(void)
{
	for (int huge = 0; huge < 2; huge++) {
		struct process_record r;

		begin();
		r = record(10);
		r.g.flags = PROC_BORN;
		r.g.fd_soft = huge ? 1 << 20 : 1024;
		r.c.close_failed = 1200000;
		take(&r);
		ok(!!find("F06") == huge, "a million closes in vain, of a %s limit",
		   huge ? "huge" : "usual");
		next();
		judge_window();
		ok(!!find("F06") == huge, "told for a while");
		for (int i = 0; i < 61; i++) {
			next();
			judge_window();
		}
		ok(!find("F06"), "and then no more");
		end();
	}
}

static void test_select(void)
{
	struct signal_record abort_of = RECORD(signal_record, RECORD_SIGNAL, 2 * SECOND);
	struct process_record r;

	begin();
	r = record(10);
	r.g.flags = PROC_BORN;
	r.g.fd_soft = 4096;
	r.g.fd_high = 1500;
	r.c.selects = 3;
	take(&r);
	ok(!find("F07"), "select of few is none");
	next();
	abort_of.subject = r.subject;
	abort_of.signal = SIGABRT;
	abort_of.code = -6;
	model_take(&m, &abort_of.h);
	r.h.t_ns = now + SECOND / 2;
	take(&r);
	ok(find("F07") && find("F07")->severity == SEVERITY_CRITICAL, "an abort beyond it is");
	end();
	begin();
	r = record(10);
	r.g.flags = PROC_BORN;
	r.c.selects = r.c.selects_wide = 1;
	take(&r);
	ok(find("F07") && find("F07")->severity == SEVERITY_WARNING, "and select of more");
	end();
}

static void starve(const char *comm, uint32_t tid)
{
	struct refused_record refused = refused_record(10, CALL_MMAP, ENOMEM);
	struct process_record r;

	begin();
	/* The record of the failed call arrives before the record of its process. */
	refused.tid = tid;
	refused.h.t_ns = now + SECOND / 4;
	model_take(&m, &refused.h);
	r = record(10);
	r.g.threads = 2;
	strcpy(r.g.comm, comm);
	take(&r);
}

static void wait_windows(int n)
{
	for (int i = 0; i < n; i++) {
		next();
		judge_window();
	}
}

static void test_python(void)
{
	struct process_record r;

	starve("python3", 11);
	ok(find("M22") && find("M22")->severity == SEVERITY_INFO, "a thread without memory");
	is_str(evidence_of(find("M22"), "thread that got ENOMEM"), "11", "which one");
	ok(!evidence_of(find("M22"), "no call, fault or change for"), "it may still run");
	wait_windows(6);
	ok(find("M22") && find("M22")->severity == SEVERITY_WARNING, "and nothing since: it hangs");
	ok(evidence_of(find("M22"), "no call, fault or change for"), "since when");
	next();
	r = record(10);
	take(&r);
	ok(!find("M22"), "until it does something");
	end();
	starve("python3", 10);
	ok(!find("M22"), "not of the first thread");
	end();
	starve("ruby", 11);
	ok(!find("M22"), "nor of another language");
	end();
}

static void share(uint32_t pid, uint64_t rss_pages)
{
	struct names_record names = RECORD(names_record, RECORD_NAMES, now);
	struct process_record r = record(pid);

	r.g.fds = 4;
	r.g.rss_anon_pages = rss_pages;
	model_take(&m, &r.h);
	names.subject = r.subject;
	strcpy(names.cgroup, "/a");
	model_take(&m, &names.h);
}

static void fill(uint32_t pid, uint64_t used)
{
	struct levels_record l = RECORD(levels_record, RECORD_LEVELS, now + SECOND / 2);

	l.subject = (struct process_key){.pid = pid, .start_ns = 1};
	l.memory = (struct level_room){.used = used, .limit = 1000 << 20, .known = 1};
	l.pids.limit = UINT64_MAX;
	model_take(&m, &l.h);
}

static void test_cgroup(void)
{
	begin();
	share(10, 100);
	share(11, 200);
	fill(10, 100 << 20);
	fill(11, 100 << 20);
	judge_window();
	ok(!find("M34") && !find_of("M34", 11), "a tenth of it is nothing");
	next();
	fill(10, 960 << 20);
	fill(11, 960 << 20);
	judge_window();
	ok(find_of("M34", 11) && !find("M34"), "one tells of it, who has the most, asleep or not");
	is_str(find_of("M34", 11)->cause, "cgroup_memory", "its cause");
	is_str(evidence_of(find_of("M34", 11), "its own memory"), "800 KiB", "its share");
	next();
	fill(10, 100 << 20);
	fill(11, 100 << 20);
	judge_window();
	ok(!find_of("M34", 11), "it clears");
	end();
}

static void use_pids(uint32_t pid, uint64_t used)
{
	struct levels_record l = RECORD(levels_record, RECORD_LEVELS, now + SECOND / 2);

	l.subject = (struct process_key){.pid = pid, .start_ns = 1};
	l.pids = (struct level_room){.used = used, .limit = 14, .known = 1};
	l.memory.limit = UINT64_MAX;
	model_take(&m, &l.h);
}

/*
 * Tests several processes that exit at once while their cgroup is at its pids.max. Only one finding
 * must open.
 */
static void test_sharers_end(void)
{
	size_t told = 0;

	begin();
	fs.keep_cleared = true;
	for (uint32_t pid = 10; pid < 22; pid++) {
		share(pid, 100);
		use_pids(pid, 12);
	}
	judge_window();
	next();
	for (uint32_t pid = 10; pid < 22; pid++) {
		struct process_record r = record(pid);

		r.g.flags |= PROC_FINAL;
		model_take(&m, &r.h);
	}
	judge_window();
	for (size_t i = 0; i < fs.n; i++)
		told += !strcmp(fs.f[i].rule->id, "M36");
	is_u64(told, 1, "twelve processes under one pids.max end: one finding");
	next();
	share(30, 100);
	use_pids(30, 14);
	judge_window();
	ok(find_of("M36", 30) && find_of("M36", 30)->severity == SEVERITY_CRITICAL,
	   "what is graver than that is told of all the same");
	end();
}

static void test_user(void)
{
	struct process_record r;
	bool bound;

	for (int i = 0; i < 2; i++) {
		bound = i;
		begin();
		r = record(10);
		r.g.fds = 4;
		r.u.user_threads = 90;
		r.u.user_threads_limit = bound ? 100 : UINT64_MAX;
		take(&r);
		ok(!!find("M32") == bound, "threads of a user that is %sbound",
		   bound ? "" : "not ");
		end();
	}
}

int main(void)
{
	test_accept();
	test_closes();
	test_select();
	test_python();
	test_cgroup();
	test_sharers_end();
	test_user();
	return tap_done();
}
