// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/stack_rules.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/pressure_rules.h"

/*
 * ns; the program may abort at most this long after the SIGSEGV: the handler may write a message or
 * a backtrace first
 */
#define ABORTS_WITHIN_NS 10000000000ULL
#define STACK_MOST_BYTES (1ULL << 30) /* a larger mapping cannot be the stack of one thread */
#define STACK_TIMES	 4
/* bytes by which one function call may move the stack pointer */
#define FAR_BYTES (64ULL << 10)
#define VM_RIGHTS 7 /* VM_READ, VM_WRITE, VM_EXEC: include/linux/mm.h */

/*
 * Returns true for an access to a guard region near the stack pointer, which is then the guard of a
 * stack.
 */
static bool is_guard(const struct signal_record *r, const struct verdict *v)
{
	return v->cause && !strcmp(v->cause, "guard page") && r->sp &&
	       r->address + FAR_BYTES >= r->sp && r->address <= r->sp + FAR_BYTES;
}

/*
 * Returns true if the guard is a separate mapping. A guard that MADV_GUARD_INSTALL (662df3e5c376,
 * Linux 6.13) created is part of the stack's mapping.
 */
static bool is_apart(const struct signal_record *r)
{
	return !(r->area_flags & VM_RIGHTS);
}

void stack_fault_take(struct findings *fs, const struct signal_record *r, const struct verdict *v)
{
	if (is_guard(r, v) && !(r->flags & SIGNAL_FATAL))
		fs->guard[fs->nr_guards++ % GUARD_FAULTS_MAX] = *r;
}

/*
 * Returns the access to a guard that led to this abort() or raise(); NULL: none. The thread must
 * still be on its alternate signal stack. If its handler had returned, the thread would be on its
 * normal stack again.
 */
static const struct signal_record *before_abort(const struct findings *fs,
						const struct signal_record *r)
{
	size_t n = fs->nr_guards < GUARD_FAULTS_MAX ? fs->nr_guards : GUARD_FAULTS_MAX;

	if (!(r->flags & SIGNAL_ASIDE))
		return NULL;
	for (size_t i = 1; i <= n; i++) {
		const struct signal_record *g = &fs->guard[(fs->nr_guards - i) % GUARD_FAULTS_MAX];

		if (g->tid == r->tid && same_subject(&g->subject, &r->subject) &&
		    g->h.t_ns <= r->h.t_ns && r->h.t_ns - g->h.t_ns <= ABORTS_WITHIN_NS)
			return g;
	}
	return NULL;
}

/* Returns the size of a thread's stack, which is mapped above its guard; 0: not known. */
static uint64_t stack_bytes(const struct signal_record *r, uint64_t page_bytes)
{
	uint64_t from = is_apart(r) ? r->area_end : (r->address / page_bytes + 1) * page_bytes;
	uint64_t to = is_apart(r) ? r->above_end : r->area_end;

	return to > from && to - from <= STACK_MOST_BYTES ? to - from : 0;
}

/*
 * Fills a finding about a thread's stack. `abort` is the signal that the handler of the SIGSEGV
 * raised; NULL: there is no handler.
 */
static void say_thread(const struct occasion *o, const struct signal_record *r,
		       const struct signal_record *abort, struct finding *f)
{
	uint64_t page_bytes = o->m->tick.limits.page_bytes ? o->m->tick.limits.page_bytes : 4096;
	uint64_t bytes = stack_bytes(r, page_bytes), more = bytes * STACK_TIMES;
	char text[24];

	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	finding_title(f, "SIGSEGV: stack overflow of a thread%s%s%s%s", bytes ? " (" : "",
		      bytes ? as_bytes(bytes).s : "", bytes ? ")" : "",
		      abort ? ", and its signal handler ended the process" : "");
	finding_text(f, "signal", "SIGSEGV");
	finding_text(f, "thread", "%u", r->tid);
	if (is_apart(r))
		finding_number(f, "guard below its stack", IN_BYTES, r->area_end - r->area_start);
	finding_number(f, "distance from the stack pointer", IN_BYTES,
		       r->sp > r->address ? r->sp - r->address : r->address - r->sp);
	if (abort)
		evidence_about(finding_real(f, "raised later by the same thread", IN_SECONDS,
					    (abort->h.t_ns - r->h.t_ns) / 1e9),
			       "%s", signal_name(abort->signal, text, sizeof(text)));
	finding_advise(f);
	if (more)
		remedy_command(
			finding_remedy(
				f, REMEDY_WORKAROUND,
				"enlarge the stacks of threads: in Rust RUST_MIN_STACK=%" PRIu64
				", in C pthread_attr_setstacksize(), in Java -Xss%" PRIu64
				"m, in Python threading.stack_size(%" PRIu64
				"); for threads of the default size start the program with "
				"this limit",
				more, (more + (1 << 20) - 1) >> 20, more),
			"ulimit -s %" PRIu64, more >> 10);
}

/* Fills a finding about RLIMIT_STACK, which limits the main thread's stack. */
static void say_main(const struct occasion *o, struct finding *f)
{

	pressure_say_signal(o, f);
	finding_title(f, "SIGSEGV: stack overflow (RLIMIT_STACK %s)",
		      o->signal->stack_limit_bytes == UINT64_MAX
			      ? "unlimited"
			      : as_bytes(o->signal->stack_limit_bytes).s);
	f->cause = "rlimit_stack";
	finding_advise(f);
	remedy_command(finding_remedy(f, REMEDY_WORKAROUND,
				      "enlarge the main thread's stack: start the program with "
				      "this limit. For the stack of a thread, call "
				      "pthread_attr_setstacksize(), in Python "
				      "threading.stack_size()"),
		       "ulimit -s 65536");
}

bool stack_ran_out(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct signal_record *before = NULL;

	if (o->verdict->cause && !strcmp(o->verdict->cause, "abort"))
		before = before_abort(o->findings, o->signal);
	if (o->verdict->cause && !strcmp(o->verdict->cause, "stack overflow"))
		say_main(o, f);
	else if (is_guard(o->signal, o->verdict) && o->signal->flags & SIGNAL_FATAL)
		say_thread(o, o->signal, NULL, f);
	else if (before)
		say_thread(o, before, o->signal, f);
	else
		return false;
	return true;
}
