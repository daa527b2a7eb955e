// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <sys/mman.h>
#include <signal.h>

#include "fixture.h"
#include "rules/diagnoses.h"
#include "rules/limits_rules.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static uint64_t now;

static void begin(const char *blind)
{
	begin_model(&m, blind);
	memset(&fs, 0, sizeof(fs));
	now = SECOND;
}

static void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

static const struct finding *find(const char *id, uint32_t pid)
{
	for (size_t i = 0; i < fs.n; i++)
		if (!strcmp(fs.f[i].rule->id, id) && (!pid || fs.f[i].subject.pid == pid))
			return &fs.f[i];
	return NULL;
}

static void tick(void)
{
	struct fs_tick_record t = tick_record(now += SECOND);

	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

static void next_window(void)
{
	model_next_window(&m);
	findings_next_window(&fs);
}

/* A window in which process 10 has a share of its limits, in percent. */
static const struct finding *look(const char *id, double maps, double fds, uint32_t flags)
{
	struct fs_process_record r = process_record(10, 1, now + SECOND / 2);

	next_window();
	r.g.map_count = r.g.map_high = 65530 * maps / 100 + 0.5;
	r.g.fd_soft = 1000;
	r.g.fds = r.g.fd_high = fds * 10 + 0.5;
	r.g.flags = flags;
	model_take(&m, &r.h);
	tick();
	return find(id, 10);
}

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

/* A process that sleeps is judged again when somebody sets vm.max_map_count. */
static void test_limit_set_meanwhile(void)
{
	struct fs_tick_record t;

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
	f = look("M25", 96, 1, FS_PROC_FINAL);
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
	struct fs_process_record r = process_record(10, 1, 2 * SECOND);

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

/* The first look tells of processes before it tells the machine's limits. */
static void test_first_look(void)
{
	struct fs_process_record r = process_record(10, 1, SECOND / 2);
	struct fs_tick_record t = tick_record(SECOND);

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

static void is_refused(enum fs_call call, int error, const char *id, const char *blind)
{
	struct fs_refused_record r = refused_record(10, call, error);
	const char *name = call == FS_CALL_MUNMAP ? "munmap"
			   : call == FS_CALL_MMAP ? "mmap"
						  : "descriptor";

	begin(blind);
	r.map_count = 65532;
	hold_fds(&r, 1024);
	r.subject.start_ns = 1;
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	if (blind) {
		ok(!fs.n, "%s refused, %s blind: silent", name, blind);
	} else {
		ok(fs.n == 1 && find(id, 10), "%s refused opens %s alone, at once", name, id);
		ok(fs.n && fs.f[0].open && fs.f[0].fresh && fs.f[0].severity == SEVERITY_CRITICAL,
		   "%s is critical news", id);
		ok(fs.n && fs.f[0].nr_evidence && fs.f[0].nr_remedies && fs.f[0].cause,
		   "%s has evidence, cause and a remedy", id);
	}
	findings_judge(&fs, &m);
	ok(fs.n <= 1 && fs.opened[SEVERITY_CRITICAL] <= 1, "an event is judged once");
	end();
}

static void is_refused_by(struct fs_refused_record *r, const char *id, enum severity severity)
{
	begin(NULL);
	model_take(&m, &r->h);
	findings_judge(&fs, &m);
	ok(fs.n == 1 && find(id, 10) && fs.f[0].severity == severity, "%s opens alone, %s", id,
	   severity_name(severity));
	end();
}

static const char *evidence(const char *field)
{
	for (size_t i = 0; fs.n && i < fs.f[0].nr_evidence; i++)
		if (!strcmp(fs.f[0].evidence[i].field, field))
			return fs.f[0].evidence[i].value;
	return "none";
}

/* Records of 1, 2 and 4 refusals, and a counter that had seven at the scan. */
static void is_counted(uint32_t call, int error, bool other, uint64_t lost, const char *want,
		       const char *what)
{
	struct fs_refused_record r = refused_record(10, call, error);
	struct fs_process_record p = process_record(10, 1, 3 * SECOND / 2);
	struct fs_tick_record t = tick_record(3 * SECOND);

	begin(NULL);
	p.g.flags = FS_PROC_BORN;
	p.subject = r.subject;
	model_take(&m, &p.h);
	for (r.count = 1; r.count <= 4; r.count *= 2)
		model_take(&m, &r.h);
	r.count = 1;
	r.error = EACCES;
	if (other)
		model_take(&m, &r.h);
	if (call < FS_CALL_FD_FIRST)
		p.c.map_call[call - FS_CALL_MMAP].refused = 7;
	else if (call < FS_CALL_OTHER_FIRST)
		p.c.fd_call[call - FS_CALL_FD_FIRST].refused = 7;
	model_take(&m, &p.h);
	t.losses.ring = lost;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	is_str(evidence("refused_calls"), want, what);
	end();
}

static void test_refused_calls(void)
{
	is_counted(FS_CALL_MMAP, ENOMEM, false, 0, "7", "the last batch of equal refusals counts");
	is_counted(FS_CALL_OPEN, EMFILE, false, 0, "7", "of descriptors too");
	is_counted(FS_CALL_OPEN, EMFILE, true, 0, "4 or more", "of two kinds: a lower bound");
	is_counted(FS_CALL_OPEN, EMFILE, false, 3, "4 or more", "after losses: a lower bound");
	is_counted(FS_CALL_CLONE, EAGAIN, false, 0, "4 or more", "a call without a counter");
}

static void test_refused(void)
{
	struct fs_refused_record r;

	is_refused(FS_CALL_MMAP, ENOMEM, "M01", NULL);
	is_refused(FS_CALL_MUNMAP, ENOMEM, "M02", NULL);
	is_refused(FS_CALL_OPEN, EMFILE, "F01", NULL);
	is_refused(FS_CALL_MMAP, ENOMEM, "M01", "calls");
	is_refused(FS_CALL_OPEN, EMFILE, "F01", "calls");

	r = refused_record(10, FS_CALL_MMAP, ENOMEM);
	r.args[1] = 4096;
	r.as_limit_bytes = 4096;
	is_refused_by(&r, "M13", SEVERITY_CRITICAL);
	r.as_limit_bytes = UINT64_MAX;
	is_refused_by(&r, "M27", SEVERITY_WARNING);
	r.error = EINVAL;
	is_refused_by(&r, "M27", SEVERITY_INFO);
	r = refused_record(10, FS_CALL_BRK, 0);
	r.args[0] = 4096;
	r.data_limit_bytes = 0;
	is_refused_by(&r, "M14", SEVERITY_CRITICAL);
	r = refused_record(10, FS_CALL_MLOCK, ENOMEM);
	r.args[0] = 4096;
	r.args[1] = 4096;
	r.memlock_limit_bytes = 0;
	is_refused_by(&r, "M20", SEVERITY_WARNING);
	r = refused_record(10, FS_CALL_OPEN, ENFILE);
	is_refused_by(&r, "F02", SEVERITY_CRITICAL);
	r = refused_record(10, FS_CALL_INOTIFY, EMFILE);
	r.fds_free = 1000;
	is_refused_by(&r, "F03", SEVERITY_CRITICAL);
}

static void retry(uint32_t tid, enum fs_call call, uint64_t bytes, uint64_t t_ns)
{
	struct fs_retry_record r = RECORD(fs_retry_record, FS_REC_RETRY, t_ns);

	r.subject.pid = 10;
	r.subject.start_ns = 1;
	r.tid = tid;
	r.call = call;
	r.bytes = bytes;
	model_take(&m, &r.h);
}

static struct fs_refused_record huge_pages_refused(void)
{
	struct fs_refused_record r = refused_record(10, FS_CALL_MMAP, ENOMEM);

	r.args[1] = 144 << 20;
	r.args[2] = PROT_READ | PROT_WRITE;
	r.args[3] = MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB;
	return r;
}

static void test_refused_and_retried(void)
{
	struct fs_refused_record r = huge_pages_refused();

	begin(NULL);
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	ok(!fs.n, "huge pages refused: nothing is said before it is known how it went on");
	retry(10, FS_CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M19", 10) && fs.f[0].severity == SEVERITY_INFO, "it did without them: INFO");
	is_u64(fs.reached[SEVERITY_WARNING], 0, "and was never more");
	ok(strstr(fs.f[0].title, "succeeded"), "its title says so: %s", fs.f[0].title);
	next_window();
	r.h.t_ns += 2 * SECOND;
	model_take(&m, &r.h);
	tick();
	ok(find("M19", 10)->severity == SEVERITY_CRITICAL,
	   "refused, and not asked again: critical");
	next_window();
	r.h.t_ns += 2 * SECOND;
	model_take(&m, &r.h);
	retry(10, FS_CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M19", 10)->severity == SEVERITY_CRITICAL,
	   "what was not got once stays, though the next was");
	end();

	begin(NULL);
	model_take(&m, &r.h);
	retry(11, FS_CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M19", 10)->severity == SEVERITY_CRITICAL,
	   "another thread's request is none of it");
	end();

	begin(NULL);
	r.args[3] = MAP_PRIVATE | MAP_ANONYMOUS;
	r.map_count = 65532;
	model_take(&m, &r.h);
	retry(10, FS_CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M01", 10) && find("M01", 10)->severity == SEVERITY_CRITICAL,
	   "at vm.max_map_count a request has no other form");
	end();
}

/* A process that lives, and a refusal just before the end of an interval. */
static struct fs_refused_record refused_at_the_end(void)
{
	struct fs_process_record p = process_record(10, 1, SECOND);
	struct fs_refused_record r = huge_pages_refused();

	begin(NULL);
	model_take(&m, &p.h);
	r.h.t_ns = 2 * SECOND - SECOND / 50;
	model_take(&m, &r.h);
	tick();
	ok(!find("M19", 10), "refused just before the end of an interval: nothing is said yet");
	next_window();
	return r;
}

static bool is_m19(enum severity severity)
{
	const struct finding *f = find("M19", 10);

	return f && f->severity == severity;
}

static void test_refused_at_the_end(void)
{
	struct fs_refused_record r = refused_at_the_end();
	struct fs_process_record p = process_record(10, 1, 3 * SECOND);

	retry(10, FS_CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 20);
	findings_judge_events(&fs, &m);
	ok(is_m19(SEVERITY_INFO), "asked otherwise in the next interval, and served: INFO");
	is_u64(fs.reached[SEVERITY_WARNING], 0, "and was never more");
	tick();
	ok(is_m19(SEVERITY_INFO), "and stays so");
	end();

	r = refused_at_the_end();
	retry(11, FS_CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 20);
	retry(10, FS_CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 5);
	findings_judge_events(&fs, &m);
	ok(!find("M19", 10), "another thread's request and a later one are none of it");
	tick();
	ok(is_m19(SEVERITY_CRITICAL), "an interval later: critical");
	end();

	refused_at_the_end();
	p.g.flags = FS_PROC_FINAL;
	model_take(&m, &p.h);
	findings_judge_events(&fs, &m);
	ok(is_m19(SEVERITY_CRITICAL), "the process ended: critical at once");
	end();

	refused_at_the_end();
	ok(findings_judge_rest(&fs, &m) && is_m19(SEVERITY_WARNING),
	   "nothing more will be seen: a warning");
	ok(strstr(find("M19", 10)->title, "not seen"), "which says so");
	ok(!findings_judge_rest(&fs, &m), "and no more of it");
	end();
}

static void test_refused_lasts(void)
{
	struct fs_refused_record r = refused_record(10, FS_CALL_MMAP, ENOMEM);
	const struct finding *f;

	begin(NULL);
	r.map_count = 65532;
	model_take(&m, &r.h);
	tick();
	next_window();
	r.count = 500;
	model_take(&m, &r.h);
	tick();
	f = find("M01", 10);
	ok(f && !f->fresh, "more of the same is no news");
	is_u64(fs.opened[SEVERITY_CRITICAL], 1, "and opens nothing");
	next_window();
	now += 30 * SECOND;
	tick();
	ok(find("M01", 10) && find("M01", 10)->open, "open half a minute later");
	next_window();
	now += 40 * SECOND;
	tick();
	ok(find("M01", 10) && !find("M01", 10)->open, "cleared after a quiet minute");
	end();

	begin(NULL);
	struct fs_process_record p = process_record(10, 1, SECOND);

	model_take(&m, &p.h);
	model_find(&m, &p.subject)->hidden = true;
	model_take(&m, &r.h);
	tick();
	ok(!fs.n, "of a process that the view hides nothing is said");
	end();
}

static struct fs_signal_record signal_record(int signal, uint64_t t_ns)
{
	struct fs_signal_record r = RECORD(fs_signal_record, FS_REC_SIGNAL, t_ns);

	r.subject.pid = r.tid = 10;
	r.subject.start_ns = 1;
	r.signal = signal;
	r.code = 1;
	strcpy(r.comm, "proc10");
	return r;
}

/* A call refused at two seconds, then a signal so much later: M24, if it opens. */
static const struct finding *crash(enum fs_call call, int error, int signal, double later)
{
	struct fs_refused_record r = refused_record(10, call, error);
	struct fs_signal_record s = signal_record(signal, 2 * SECOND + later * SECOND);

	r.map_count = 65532;
	hold_fds(&r, 1024);
	model_take(&m, &r.h);
	model_take(&m, &s.h);
	findings_judge_events(&fs, &m);
	return find("M24", 10);
}

#define GUARD_AT 0x7f0000000000ULL

/* By way of the stack, whose guard is the page below 2 MiB. */
static struct fs_signal_record guard_fault(uint64_t t_ns)
{
	struct fs_signal_record r = signal_record(SIGSEGV, t_ns);

	r.code = SEGV_ACCERR;
	r.address = GUARD_AT + 4000;
	r.sp = GUARD_AT + 4096;
	r.area = FS_AREA_FOUND;
	r.area_start = GUARD_AT;
	r.area_end = GUARD_AT + 4096;
	r.above_end = r.area_end + (2 << 20);
	return r;
}

static struct fs_signal_record abort_record(uint64_t t_ns)
{
	struct fs_signal_record r = signal_record(SIGABRT, t_ns);

	r.code = SI_TKILL;
	r.flags = FS_SIGNAL_FATAL | FS_SIGNAL_ASIDE;
	return r;
}

/* A guard is met, then that thread aborts: P18, if it opens. */
static const struct finding *overflow(struct fs_signal_record fault, struct fs_signal_record after)
{
	model_take(&m, &fault.h);
	findings_judge_events(&fs, &m);
	ok(!find("P18", 10), "an access that a handler may yet survive");
	tick();
	next_window();
	model_take(&m, &after.h);
	findings_judge_events(&fs, &m);
	return find("P18", 10);
}

static void test_stacks_of_threads(void)
{
	struct fs_signal_record fault = guard_fault(2 * SECOND), after = abort_record(3 * SECOND);
	const struct finding *f;

	begin(NULL);
	f = overflow(fault, after);
	if (ok(f && f->severity == SEVERITY_CRITICAL, "its handler aborts")) {
		ok(strstr(f->title, "(2.00 MiB)"), "how large it was: %s", f->title);
		ok(f->nr_remedies == 2 && strstr(f->remedy[1], "RUST_MIN_STACK=8388608"),
		   "and what would be larger");
	}
	end();

	begin(NULL);
	fault.flags = FS_SIGNAL_FATAL;
	model_take(&m, &fault.h);
	findings_judge_events(&fs, &m);
	ok(find("P18", 10), "nothing handles it");
	end();
	fault.flags = 0;

	begin(NULL);
	after.flags = FS_SIGNAL_FATAL;
	ok(!overflow(fault, after), "an abort outside of a handler is another matter");
	end();
	begin(NULL);
	after = abort_record(3 * SECOND);
	after.tid = 11;
	ok(!overflow(fault, after), "and of another thread");
	end();
	begin(NULL);
	ok(!overflow(fault, abort_record(30 * SECOND)), "and long after");
	end();
	begin(NULL);
	fault.sp = GUARD_AT + (1 << 20);
	ok(!overflow(fault, abort_record(3 * SECOND)), "far from the stack pointer: a wild one");
	end();
	begin(NULL);
	fault = guard_fault(2 * SECOND);
	fault.area_flags = 3;
	fault.code = SEGV_MAPERR;
	fault.area_end = GUARD_AT + (1 << 20);
	f = overflow(fault, abort_record(3 * SECOND));
	ok(f && strstr(f->title, "(1020 KiB)"), "a guard within its mapping: %s",
	   f ? f->title : "");
	end();
}

static bool is_chain(const struct finding *f, const char *ids)
{
	char chain[64] = "";

	for (size_t i = 0; f && i < f->nr_because; i++)
		sprintf(chain + strlen(chain), "%s%s", i ? " " : "", f->because[i]->id);
	return f && !strcmp(chain, ids);
}

static void test_crash_after_refusal(void)
{
	const struct finding *f;

	begin(NULL);
	f = crash(FS_CALL_MUNMAP, ENOMEM, SIGSEGV, 0.5);
	ok(f && f->open && f->fresh && f->severity == SEVERITY_CRITICAL,
	   "SIGSEGV half a second after a split was refused opens M24");
	ok(is_chain(f, "M02"), "because M02");
	ok(f && strstr(f->title, "SIGSEGV") && strstr(f->title, "500 ms") &&
		   strstr(f->title, "munmap"),
	   "its title says what, when and after what: %s", f ? f->title : "");
	end();

	begin(NULL);
	ok(is_chain(crash(FS_CALL_MMAP, ENOMEM, SIGBUS, 1), "M01"),
	   "SIGBUS a second after a mapping was refused: because M01");
	end();
	begin(NULL);
	ok(!crash(FS_CALL_MMAP, ENOMEM, SIGSEGV, 1.001), "later than that: nothing");
	end();
	begin(NULL);
	ok(!crash(FS_CALL_MMAP, ENOMEM, SIGSEGV, -0.001), "before the refusal: nothing");
	end();
	begin(NULL);
	ok(!crash(FS_CALL_OPEN, EMFILE, SIGSEGV, 0.5), "after another refusal: nothing");
	end();
	begin("calls");
	ok(!crash(FS_CALL_MMAP, ENOMEM, SIGSEGV, 0.5), "where refusals are not seen: nothing");
	end();
	begin(NULL);
	struct fs_signal_record s = signal_record(SIGSEGV, 2 * SECOND);
	struct fs_refused_record r = refused_record(11, FS_CALL_MMAP, ENOMEM);

	r.map_count = 65532;
	model_take(&m, &r.h);
	model_take(&m, &s.h);
	findings_judge_events(&fs, &m);
	ok(!find("M24", 10) && find("M01", 11), "after a refusal in another process: nothing");
	end();
}

static void test_because(void)
{
	struct fs_process_record p = process_record(10, 1, now + SECOND);
	const struct finding *f;

	begin(NULL);
	f = crash(FS_CALL_MUNMAP, ENOMEM, SIGSEGV, 0.5);
	for (size_t i = 0; i < fs.n; i++)
		fs.f[i].told = true;
	p.g.map_count = p.g.map_high = 65530;
	model_take(&m, &p.h);
	tick();
	f = find("M24", 10);
	ok(is_chain(f, "M02 M25"), "the look completes the chain: M24 after M02 after M25");
	ok(f && f->fresh && !f->told, "which is news, to be told again");
	ok(is_chain(find("M02", 10), "M25"), "M02 after M25");
	ok(is_chain(find("M25", 10), ""), "M25 after nothing that is seen");
	for (size_t i = 0; i < fs.n; i++)
		fs.f[i].told = true;
	findings_judge(&fs, &m);
	ok(find("M24", 10)->told, "the same chain again is no news");
	end();
}

/* Told by a renderer as the session tells: once, and again when there is news. */
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

static void test_kernel_fault(void)
{
	struct fs_symbol_record sym = RECORD(fs_symbol_record, FS_REC_SYMBOL, SECOND);
	struct fs_kernel_fault_record r = kernel_fault_record(10, 0xffffffff81000010, true);

	begin(NULL);
	model_take(&m, &r.h);
	tick();
	ok(!fs.n, "a probing read of the kernel is silent");
	r.nofault = 0;
	sym.ip = r.ip;
	strcpy(sym.symbol, "bad_driver_ioctl+0x1c");
	strcpy(sym.module, "bad_driver");
	model_take(&m, &sym.h);
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	ok(fs.n == 1 && find("K01", 10), "any other opens K01");
	ok(fs.n && strstr(fs.f[0].title, "bad_driver_ioctl+0x1c") &&
		   strstr(fs.f[0].title, "[bad_driver]"),
	   "with the name of the symbol and its module");
	end();
	begin("fault_kernel");
	model_take(&m, &r.h);
	tick();
	ok(!fs.n, "blind: silent");
	end();
	begin(NULL);
	model_take(&m, &r.h);
	tick();
	ok(fs.n == 1 && !strstr(fs.f[0].title, "(null)"), "without a symbol: a title all the same");
	end();
}

/* Records of 1, 2 and 4 bad accesses, and a counter that had seven at the scan. */
static void is_counted_in_kernel(bool other, uint64_t lost, uint64_t counted, const char *want,
				 const char *what)
{
	struct fs_kernel_fault_record r = kernel_fault_record(10, 0xffffffff81000010, false);
	struct fs_process_record p = process_record(10, 1, 3 * SECOND / 2);
	struct fs_tick_record t = tick_record(2 * SECOND);

	begin(NULL);
	p.g.flags = FS_PROC_BORN;
	p.subject = r.subject;
	model_take(&m, &p.h);
	for (r.count = 1; r.count <= 4; r.count *= 2)
		model_take(&m, &r.h);
	r.count = 1;
	r.ip += 64;
	if (other)
		model_take(&m, &r.h);
	p.c.kernel_bad = counted;
	p.c.kernel_probe = 1000;
	if (counted)
		model_take(&m, &p.h);
	t.losses.ring = lost;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	is_str(evidence("times"), want, what);
	end();
}

static void test_kernel_fault_times(void)
{
	is_counted_in_kernel(false, 0, 7, "7", "the last batch of equal bad accesses counts");
	is_counted_in_kernel(true, 0, 7, "4 or more", "of two places: a lower bound");
	is_counted_in_kernel(false, 3, 7, "4 or more", "after losses: a lower bound");
	is_counted_in_kernel(false, 0, 0, "4 or more", "of a kernel thread, without a counter");
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
	ok(f && f->open && !f->forecast.known && strstr(f->title, "cannot be told"),
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

/* From 10 to 97 % in `looks` looks, and down at once, so many times: how often it opens. */
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
			ok(strstr(f->title, "again and again") && strstr(f->title, "; now "),
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

/* What grew and ended reaches nothing. */
static void test_growth_of_dead(void)
{
	const struct finding *f = NULL;

	begin(NULL);
	for (int i = 0; i < 40; i++)
		f = look("F13", 1, 20 + 2 * i, i == 39 ? FS_PROC_FINAL : 0);
	ok(f && !f->forecast.known && strstr(f->title, "until it ended"),
	   "of a process that ended there is no time to its limit: %s", f ? f->title : "");
	for (size_t i = 0; f && i < f->nr_evidence; i++)
		ok(!strstr(f->evidence[i].value, "full in"), "evidence: %s", f->evidence[i].value);
	end();
}

static const struct finding *look_at_host(const char *id, double files, double commit)
{
	struct fs_tick_record t = tick_record(now += SECOND);

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
	ok(f && !strcmp(f->evidence[0].limit, "131,072 (assumed)"), "in the evidence too");
	end();
}

/* Looks at descriptors of a limit of 1000. */
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
	ok(f && f->severity == SEVERITY_INFO && strstr(f->title, "one more burst like its largest"),
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
	ok(f && f->nr_evidence == 3 && !strcmp(f->evidence[2].value, "50") &&
		   !strcmp(f->evidence[2].limit, "420 left"),
	   "but evidence");
	f = look_at_fds("F12", 999);
	f = look_at_fds("F12", 1000);
	ok(f && f->open && !strstr(f->title, "burst"),
	   "at the limit there is no room to burst into");
	end();
}

static struct fs_origin_record origin_record(const char *set_by, const char *at_once,
					     const char *for_good, const char *cost)
{
	struct fs_origin_record r = RECORD(fs_origin_record, FS_REC_ORIGIN, SECOND);

	snprintf(r.set_by, sizeof(r.set_by), "%s", set_by);
	snprintf(r.at_once, sizeof(r.at_once), "%s", at_once);
	snprintf(r.for_good, sizeof(r.for_good), "%s", for_good);
	snprintf(r.cost, sizeof(r.cost), "%s", cost);
	return r;
}

/* Commands of this machine take the place of general ones; what ends the cause stays. */
static void test_origin(void)
{
	struct fs_origin_record r = origin_record("systemd, for x.service", "prlimit --nofile=1:1",
						  "systemctl edit x", "a restart");
	struct finding f = {.rule = rules};

	finding_remedy(&f, "to gain time: general");
	finding_remedy(&f, "fix: the cause");
	finding_remedy(&f, "to gain time (host-wide): general too");
	finding_take_origin(&f, &r);
	is_str(f.set_by, "systemd, for x.service", "who set it");
	is_u64(f.nr_remedies, 3, "three remedies");
	is_str(f.remedy[0], "fix: the cause", "what ends the cause stays");
	is_str(f.remedy[1], "to gain time: prlimit --nofile=1:1  (a restart)",
	       "the command of this machine, and what it costs");
	is_str(f.remedy[2], "to gain time, for good: systemctl edit x", "and what lasts");

	f = (struct finding){.rule = rules};
	r = origin_record("the kernel: its default", "sysctl -w x=2", "", "");
	r.host_wide = 1;
	finding_remedy(&f, "to gain time: general");
	finding_take_origin(&f, &r);
	is_u64(f.nr_remedies, 1, "one that does not last");
	is_str(f.remedy[0], "to gain time (host-wide): sysctl -w x=2", "host-wide, and said to be");

	f = (struct finding){.rule = rules};
	r = origin_record("", "", "", "");
	finding_remedy(&f, "to gain time: general");
	finding_take_origin(&f, &r);
	ok(f.nr_remedies == 1 && !f.set_by[0], "where nothing was found all stays");
}

/* Every row of the things that run out is judged by what it is of. */
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
		struct fs_process_record r = process_record(pid, 1, 2 * SECOND);

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

/* What a summary keeps makes room for what is open. */
static void test_kept(void)
{
	struct fs_process_record r = process_record(10, 1, 2 * SECOND);

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
	for (int i = 0; i < 70; i++) /* what goes up and down is kept for some of its cycles */
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
	test_stacks_of_threads();
	test_levels("M25");
	test_levels("F12");
	test_limit_set_meanwhile();
	test_subject_ends();
	test_first_look();
	test_refused_calls();
	test_refused();
	test_refused_and_retried();
	test_refused_at_the_end();
	test_refused_lasts();
	test_crash_after_refusal();
	test_because();
	test_told();
	test_reached();
	test_kernel_fault();
	test_kernel_fault_times();
	test_growth();
	test_saw_tooth();
	test_growth_of_dead();
	test_host();
	test_assumed();
	test_burst();
	test_origin();
	test_resources();
	test_cap();
	test_kept();
	test_table();
	return tap_done();
}
