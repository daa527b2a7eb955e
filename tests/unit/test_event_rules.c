// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about failed calls and bad memory accesses by the kernel: when they open, and how
 * many events they count.
 */
#include <errno.h>
#include <sys/mman.h>

#include "rules_fixture.h"
#include "tap.h"
#include "finding_text.h"

static void is_refused(enum call_id call, int error, const char *id, const char *blind)
{
	struct refused_record r = refused_record(10, call, error);
	const char *name = call == CALL_MUNMAP ? "munmap"
			   : call == CALL_MMAP ? "mmap"
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

static void is_refused_by(struct refused_record *r, const char *id, enum severity severity)
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
			return evidence_value_str(&fs.f[0].evidence[i]);
	return "none";
}

/*
 * Sends records of the 1st, 2nd and 4th failure, and then a counter of 7 failures. Checks the
 * reported number.
 */
static void is_counted(uint32_t call, int error, bool other, uint64_t lost, const char *want,
		       const char *what)
{
	struct refused_record r = refused_record(10, call, error);
	struct process_record p = process_record(10, 1, 3 * SECOND / 2);
	struct tick_record t = tick_record(3 * SECOND);

	begin(NULL);
	p.g.flags = PROC_BORN;
	p.subject = r.subject;
	model_take(&m, &p.h);
	for (r.count = 1; r.count <= 4; r.count *= 2)
		model_take(&m, &r.h);
	r.count = 1;
	r.error = EACCES;
	if (other)
		model_take(&m, &r.h);
	if (call < CALL_FD_FIRST)
		p.c.map_call[call - CALL_MMAP].refused = 7;
	else if (call < CALL_OTHER_FIRST)
		p.c.fd_call[call - CALL_FD_FIRST].refused = 7;
	model_take(&m, &p.h);
	t.losses.ring = lost;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
	is_str(evidence("refused_calls"), want, what);
	end();
}

static void test_refused_calls(void)
{
	is_counted(CALL_MMAP, ENOMEM, false, 0, "7", "the last batch of equal refusals counts");
	is_counted(CALL_OPEN, EMFILE, false, 0, "7", "of descriptors too");
	is_counted(CALL_OPEN, EMFILE, true, 0, "4 or more", "of two kinds: a lower bound");
	is_counted(CALL_OPEN, EMFILE, false, 3, "4 or more", "after losses: a lower bound");
	is_counted(CALL_CLONE, EAGAIN, false, 0, "4 or more", "a call without a counter");
}

static void test_refused(void)
{
	struct refused_record r;

	is_refused(CALL_MMAP, ENOMEM, "M01", NULL);
	is_refused(CALL_MUNMAP, ENOMEM, "M02", NULL);
	is_refused(CALL_OPEN, EMFILE, "F01", NULL);
	is_refused(CALL_MMAP, ENOMEM, "M01", "calls");
	is_refused(CALL_OPEN, EMFILE, "F01", "calls");

	r = refused_record(10, CALL_MMAP, ENOMEM);
	r.args[1] = 4096;
	r.as_limit_bytes = 4096;
	is_refused_by(&r, "M13", SEVERITY_CRITICAL);
	r.as_limit_bytes = UINT64_MAX;
	is_refused_by(&r, "M27", SEVERITY_WARNING);
	r.error = EINVAL;
	is_refused_by(&r, "M27", SEVERITY_INFO);
	r = refused_record(10, CALL_BRK, 0);
	r.args[0] = 4096;
	r.data_limit_bytes = 0;
	is_refused_by(&r, "M14", SEVERITY_CRITICAL);
	r = refused_record(10, CALL_MLOCK, ENOMEM);
	r.args[0] = 4096;
	r.args[1] = 4096;
	r.memlock_limit_bytes = 0;
	is_refused_by(&r, "M20", SEVERITY_WARNING);
	r = refused_record(10, CALL_OPEN, ENFILE);
	is_refused_by(&r, "F02", SEVERITY_CRITICAL);
	r = refused_record(10, CALL_INOTIFY, EMFILE);
	r.fds_free = 1000;
	is_refused_by(&r, "F03", SEVERITY_CRITICAL);
}

static void retry(uint32_t tid, enum call_id call, uint64_t bytes, uint64_t t_ns)
{
	struct retry_record r = RECORD(retry_record, RECORD_RETRY, t_ns);

	r.subject.pid = 10;
	r.subject.start_ns = 1;
	r.tid = tid;
	r.call = call;
	r.bytes = bytes;
	model_take(&m, &r.h);
}

static struct refused_record huge_pages_refused(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);

	r.args[1] = 144 << 20;
	r.args[2] = PROT_READ | PROT_WRITE;
	r.args[3] = MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB;
	return r;
}

static void test_refused_and_retried(void)
{
	struct refused_record r = huge_pages_refused();

	begin(NULL);
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	ok(!fs.n, "huge pages failed: nothing is said before it is known how it went on");
	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
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
	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M19", 10)->severity == SEVERITY_CRITICAL,
	   "what was not got once stays, though the next was");
	end();

	begin(NULL);
	model_take(&m, &r.h);
	retry(11, CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M19", 10)->severity == SEVERITY_CRITICAL,
	   "another thread's request is none of it");
	end();

	begin(NULL);
	r.args[3] = MAP_PRIVATE | MAP_ANONYMOUS;
	r.map_count = 65532;
	model_take(&m, &r.h);
	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + 20000);
	tick();
	ok(find("M01", 10) && find("M01", 10)->severity == SEVERITY_CRITICAL,
	   "at vm.max_map_count a request has no other form");
	end();
}

/* Simulates a process that starts and has a failed call just before a scan interval ends. */
static struct refused_record refused_at_the_end(void)
{
	struct process_record p = process_record(10, 1, SECOND);
	struct refused_record r = huge_pages_refused();

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
	struct refused_record r = refused_at_the_end();
	struct process_record p = process_record(10, 1, 3 * SECOND);

	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 20);
	findings_judge_events(&fs, &m);
	ok(is_m19(SEVERITY_INFO), "asked otherwise in the next interval, and served: INFO");
	is_u64(fs.reached[SEVERITY_WARNING], 0, "and was never more");
	tick();
	ok(is_m19(SEVERITY_INFO), "and stays so");
	end();

	r = refused_at_the_end();
	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 4);
	findings_judge_events(&fs, &m);
	tick();
	ok(is_m19(SEVERITY_INFO), "where its thread waited for a CPU meanwhile, too");
	end();

	r = refused_at_the_end();
	retry(11, CALL_MMAP, 144 << 20, r.h.t_ns + SECOND / 20);
	retry(10, CALL_MMAP, 144 << 20, r.h.t_ns + SECOND * 9 / 10);
	findings_judge_events(&fs, &m);
	ok(!find("M19", 10), "another thread's request and a later one are none of it");
	tick();
	ok(is_m19(SEVERITY_CRITICAL), "an interval later: critical");
	end();

	refused_at_the_end();
	p.g.flags = PROC_FINAL;
	model_take(&m, &p.h);
	findings_judge_events(&fs, &m);
	ok(is_m19(SEVERITY_CRITICAL), "the process ended: critical at once");
	end();

	refused_at_the_end();
	ok(findings_judge_rest(&fs, &m) && is_m19(SEVERITY_WARNING),
	   "nothing more will be seen: a warning");
	ok(strstr(find("M19", 10)->title, "not known what"), "which says so");
	ok(!findings_judge_rest(&fs, &m), "and no more of it");
	end();
}

static void test_refused_lasts(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
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
	struct process_record p = process_record(10, 1, SECOND);

	model_take(&m, &p.h);
	model_find(&m, &p.subject)->hidden = true;
	model_take(&m, &r.h);
	tick();
	ok(!fs.n, "of a process that the view hides nothing is said");
	end();
}

static void test_kernel_fault(void)
{
	struct symbol_record sym = RECORD(symbol_record, RECORD_SYMBOL, SECOND);
	struct kernel_fault_record r = kernel_fault_record(10, 0xffffffff81000010, true);

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

/*
 * Sends records of the 1st, 2nd and 4th bad access, and then a counter of 7 accesses. Checks the
 * reported number.
 */
static void is_counted_in_kernel(bool other, uint64_t lost, uint64_t counted, const char *want,
				 const char *what)
{
	struct kernel_fault_record r = kernel_fault_record(10, 0xffffffff81000010, false);
	struct process_record p = process_record(10, 1, 3 * SECOND / 2);
	struct tick_record t = tick_record(2 * SECOND);

	begin(NULL);
	p.g.flags = PROC_BORN;
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

int main(void)
{
	test_refused_calls();
	test_refused();
	test_refused_and_retried();
	test_refused_at_the_end();
	test_refused_lasts();
	test_kernel_fault();
	test_kernel_fault_times();
	numbers_are(0xedeb2bee);
	return tap_done();
}
