// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about fault signals: after failed calls, at stack guard pages, and for each cause.
 */
#include <errno.h>
#include <signal.h>

#include "rules_fixture.h"
#include "tap.h"
#include "finding_text.h"

static struct signal_record signal_record(int signal, uint64_t t_ns)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, t_ns);

	r.subject.pid = r.tid = 10;
	r.subject.start_ns = 1;
	r.signal = signal;
	r.code = 1;
	strcpy(r.comm, "proc10");
	return r;
}

/*
 * Simulates a call that fails at 2 s, and a signal `later` seconds after it. Returns the finding
 * M24 crash-after-enomem.
 */
static const struct finding *crash(enum call_id call, int error, int signal, double later)
{
	struct refused_record r = refused_record(10, call, error);
	struct signal_record s = signal_record(signal, 2 * SECOND + later * SECOND);

	r.map_count = 65532;
	hold_fds(&r, 1024);
	model_take(&m, &r.h);
	model_take(&m, &s.h);
	findings_judge_events(&fs, &m);
	return find("M24", 10);
}

#define GUARD_AT 0x7f0000000000ULL

/* Returns the record of a fault signal that an access to the guard page of a 2 MiB stack caused. */
static struct signal_record guard_fault(uint64_t t_ns)
{
	struct signal_record r = signal_record(SIGSEGV, t_ns);

	r.code = SEGV_ACCERR;
	r.address = GUARD_AT + 4000;
	r.sp = GUARD_AT + 4096;
	r.area = MAPPED_FOUND;
	r.area_start = GUARD_AT;
	r.area_end = GUARD_AT + 4096;
	r.above_end = r.area_end + (2 << 20);
	return r;
}

static struct signal_record abort_record(uint64_t t_ns)
{
	struct signal_record r = signal_record(SIGABRT, t_ns);

	r.code = SI_TKILL;
	r.flags = SIGNAL_FATAL | SIGNAL_ASIDE;
	return r;
}

/*
 * Simulates a thread that hits a guard page and then aborts. Returns the finding P18
 * stack-overflow, or NULL.
 */
static const struct finding *overflow(struct signal_record fault, struct signal_record after)
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

/* Returns whether a finding has evidence of this name and value. */
static bool has_evidence(const struct finding *f, const char *name, const char *value)
{
	for (size_t i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, name))
			return !strcmp(evidence_str(&f->evidence[i]), value);
	return false;
}

static void test_stacks_of_threads(void)
{
	struct signal_record fault = guard_fault(2 * SECOND), after = abort_record(3 * SECOND);
	const struct finding *f;

	begin(NULL);
	f = overflow(fault, after);
	if (ok(f && f->severity == SEVERITY_CRITICAL, "its handler aborts")) {
		ok(strstr(f->title, "(2.00 MiB)"), "how large it was: %s", f->title);
		ok(f->nr_remedies == 2 && strstr(remedy_str(f, 1), "RUST_MIN_STACK=8388608"),
		   "and what would be larger");
	}
	end();

	begin(NULL);
	fault.flags = SIGNAL_FATAL;
	model_take(&m, &fault.h);
	findings_judge_events(&fs, &m);
	f = find("P18", 10);
	if (ok(f && f->severity == SEVERITY_CRITICAL, "nothing handles it")) {
		is_str(f->title, "SIGSEGV: stack overflow of a thread (2.00 MiB)", "its title");
		ok(has_evidence(f, "signal", "SIGSEGV"), "the signal");
		ok(has_evidence(f, "thread", "10"), "the thread");
		ok(has_evidence(f, "guard below its stack", "4.00 KiB"), "its guard");
		ok(has_evidence(f, "distance from the stack pointer", "96 B"), "how far it was");
		is_u64(f->nr_evidence, 4, "no other evidence");
	}
	end();
	fault.flags = 0;

	begin(NULL);
	after.flags = SIGNAL_FATAL;
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
	for (uint32_t flags = 1; flags < 8; flags++) { /* VM_READ, VM_WRITE, VM_EXEC */
		begin(NULL);
		fault = guard_fault(2 * SECOND);
		fault.area_flags = flags;
		fault.code = SEGV_MAPERR;
		fault.area_end = GUARD_AT + (1 << 20);
		f = overflow(fault, abort_record(3 * SECOND));
		ok(f && strstr(f->title, "(1020 KiB)"), "a guard within its mapping (%u): %s",
		   flags, f ? f->title : "");
		end();
	}
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
	f = crash(CALL_MUNMAP, ENOMEM, SIGSEGV, 0.5);
	ok(f && f->open && f->fresh && f->severity == SEVERITY_CRITICAL,
	   "SIGSEGV half a second after a split was refused opens M24");
	ok(is_chain(f, "M02"), "because M02");
	ok(f && strstr(f->title, "SIGSEGV") && strstr(f->title, "500 ms") &&
		   strstr(f->title, "munmap"),
	   "its title says what, when and after what: %s", f ? f->title : "");
	end();

	begin(NULL);
	ok(is_chain(crash(CALL_MMAP, ENOMEM, SIGBUS, 1), "M01"),
	   "SIGBUS a second after a mapping was failed: because M01");
	end();
	begin(NULL);
	ok(!crash(CALL_MMAP, ENOMEM, SIGSEGV, 1.001), "later than that: nothing");
	end();
	begin(NULL);
	ok(!crash(CALL_MMAP, ENOMEM, SIGSEGV, -0.001), "before the refusal: nothing");
	end();
	begin(NULL);
	ok(!crash(CALL_OPEN, EMFILE, SIGSEGV, 0.5), "after another refusal: nothing");
	end();
	begin("calls");
	ok(!crash(CALL_MMAP, ENOMEM, SIGSEGV, 0.5), "where refusals are not seen: nothing");
	end();
	begin(NULL);
	struct signal_record s = signal_record(SIGSEGV, 2 * SECOND);
	struct refused_record r = refused_record(11, CALL_MMAP, ENOMEM);

	r.map_count = 65532;
	model_take(&m, &r.h);
	model_take(&m, &s.h);
	findings_judge_events(&fs, &m);
	ok(!find("M24", 10) && find("M01", 11), "after a refusal in another process: nothing");
	end();
}

static void test_because(void)
{
	struct process_record p = process_record(10, 1, now + SECOND);
	const struct finding *f;

	begin(NULL);
	f = crash(CALL_MUNMAP, ENOMEM, SIGSEGV, 0.5);
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

int main(void)
{
	test_stacks_of_threads();
	test_crash_after_refusal();
	test_because();
	numbers_are(0xa9e0c4e5);
	return tap_done();
}
