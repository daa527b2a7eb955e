// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/judge.h"
#include "triage/library.h"

#define CANDIDATES_MAX 1024
/* functions in which kernel threads start, and the kernel itself */
#define THREADS "process_one_work kthread ret_from_fork* kernel_init*"

struct candidates {
	const struct frame *frame[CANDIDATES_MAX];
	size_t n;
};

static void candidate_add(struct candidates *c, const struct frame *f)
{
	if (f->function.n && c->n < CANDIDATES_MAX)
		c->frame[c->n++] = f;
}

static void candidates_of_part(struct candidates *c, const struct incident *e, enum part part,
			       bool unreliable)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == part && (unreliable || !e->frame[i].unreliable))
			candidate_add(c, &e->frame[i]);
}

/* Returns whether the instruction pointer is not in code, so that only the caller is known. */
static bool lost_its_way(const struct judged *j)
{
	const struct incident *e = j->e;

	if (!e->has_ip)
		return false;
	if (!e->ip.function.n || (j->fault && j->v->access == ACCESS_EXEC))
		return true;
	return e->ip.size && e->ip.offset >= e->ip.size;
}

static bool is_ours(const struct frame *f)
{
	switch (library_of_frame(f)) {
	case LIBRARY_NONE:
	case LIBRARY_PLUMBING:
	case LIBRARY_DISPATCH:
	case LIBRARY_IO:
		return true;
	default:
		return false;
	}
}

static void function_keep(struct diagnosis *v, const struct frame *f)
{
	struct str plain = function_plain(f->function);

	for (uint32_t i = 0; i < v->functions; i++)
		if (str_same(v->function[i], plain))
			return;
	if (v->functions == FUNCTIONS_MAX)
		return;
	if (!v->functions)
		v->frame = *f;
	v->function[v->functions++] = plain;
}

/* Returns whether an inlined function belongs to a common function, into which it was inlined. */
static bool is_inside_common(const struct candidates *c, size_t i)
{
	if (!c->frame[i]->inlined)
		return false;
	while (i < c->n && c->frame[i]->inlined)
		i++;
	return i < c->n && !is_ours(c->frame[i]);
}

static void keep_ours(struct diagnosis *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_ours(c->frame[i]) && !is_inside_common(c, i))
			function_keep(v, c->frame[i]);
}

/*
 * Keeps the functions that took a lock. Skips functions that only run work items or timers, because
 * the trace also shows which work item or timer function they called.
 */
static void keep_unplumbed(struct judged *j, const struct candidates *c)
{
	struct candidates chain = {};

	for (size_t i = 0; i < c->n; i++)
		if (library_of_frame(c->frame[i]) == LIBRARY_NONE)
			function_keep(j->v, c->frame[i]);
	if (j->v->functions)
		return;
	candidates_of_part(&chain, j->e, PART_OTHER, false);
	for (size_t i = 0; i < chain.n; i++)
		if (library_of_frame(chain.frame[i]) == LIBRARY_NONE)
			function_keep(j->v, chain.frame[i]);
}

/* For a memory leak, keeps the functions that needed the memory, not helpers named "…alloc…". */
static void keep_users(struct diagnosis *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_ours(c->frame[i]) && !str_has(c->frame[i]->function, "alloc"))
			function_keep(v, c->frame[i]);
}

/*
 * Keeps functions that neither print reports nor enter the kernel. Functions of sanitizers are the
 * least useful, so they are added at the end.
 */
static void keep_rest(struct diagnosis *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++) {
		enum library l = library_of_frame(c->frame[i]);

		if (l != LIBRARY_REPORT && l != LIBRARY_ENTRY && l != LIBRARY_CHECK)
			function_keep(v, c->frame[i]);
	}
	for (size_t i = 0; i < c->n; i++)
		if (library_of_frame(c->frame[i]) == LIBRARY_CHECK)
			function_keep(v, c->frame[i]);
}

/* Last resort: keeps entry functions, which at least show whether it was a system call. */
static void keep_entry(struct diagnosis *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (library_of_frame(c->frame[i]) == LIBRARY_ENTRY)
			function_keep(v, c->frame[i]);
}

/* Returns whether a CPU hangs (soft lockup, RCU stall), not one task ("INFO: task … blocked"). */
static bool is_stall(const struct judged *j)
{
	return j->v->kind == KIND_HANG &&
	       !str_starts(str_trim(j->ls->line[j->e->first].text), "INFO: task ");
}

static struct str without(struct str s, const char *start)
{
	return str_starts(s, start) ? str_from(s, strlen(start)) : s;
}

static bool is_syscall(struct str f)
{
	return str_starts_any(f, "__x64_sys_|__ia32_sys_|__arm64_sys_|__se_sys_|__do_sys_|SyS_|"
				 "SYSC_|sys_|__sys_|ksys_|__riscv_sys_|___sys_|____sys_|"
				 "compat_sys_|compat_SyS_|__se_compat_sys_|__ia32_compat_sys_");
}

/* Returns whether a system call's name says little: the function that it calls is more specific. */
static bool is_uninformative(struct str f)
{
	return str_has_any(f, "ioctl|read|write|connect|sendmsg|setsockopt|getsockopt|sendto|close|"
			      "open|recvfrom|accept|bind|mmap|poll|sendfile|splice|exit");
}

/* Returns whether a thread, interrupt or callback starts in a function (not: a notifier). */
static bool is_way_in(struct str function, enum library l)
{
	return l == LIBRARY_ENTRY || (l == LIBRARY_PLUMBING && !str_has(function, "notifier"));
}

static bool has_panic(const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (str_is(c->frame[i]->function, "panic"))
			return true;
	return false;
}

/* Returns the index of the first frame that is older than the interrupt that printed the trace. */
static size_t below_report(const struct candidates *c)
{
	size_t at = 0, report = 0;

	while (at < c->n && library_of_frame(c->frame[at]) != LIBRARY_REPORT)
		at++;
	if (at == c->n)
		return 0;
	for (; at < c->n; at++) {
		enum library l = library_of_frame(c->frame[at]);

		if (l == LIBRARY_REPORT)
			report = at + 1;
		else if (l == LIBRARY_ENTRY)
			break;
	}
	if (at == c->n)
		return report;
	while (at < c->n && is_way_in(c->frame[at]->function, library_of_frame(c->frame[at])))
		at++;
	return at;
}

/* Returns the first frame from index `i` on that is no common function; NULL: none. */
static const struct frame *innermost(const struct candidates *c, size_t i)
{
	for (; i < c->n; i++)
		if (library_of_frame(c->frame[i]) == LIBRARY_NONE)
			return c->frame[i];
	return NULL;
}

/*
 * Names the hang or the stack overflow of a system call after an outer function of the trace,
 * because inner functions change from moment to moment. Chooses the outermost function that the
 * entry point, or a dispatch function such as vfs_read(), called. In a kernel thread, this function
 * only starts the work: the hang is named after the inner function.
 */
static void stalled(struct judged *j, const struct candidates *c)
{
	const struct frame *before = NULL, *named = NULL, *call = NULL;
	struct frame plain;
	bool thread = false;
	size_t from = j->v->kind == KIND_HANG || has_panic(c) ? below_report(c) : 0;

	for (size_t i = from; i < c->n; i++) {
		const struct frame *f = c->frame[i];
		enum library l = library_of_frame(f);

		if (is_syscall(f->function)) {
			call = f; /* of nested system calls, the outermost counts */
			continue;
		}
		if (call && l != LIBRARY_NONE)
			break;
		if (before && is_way_in(f->function, l)) {
			thread = name_fits(THREADS, f->function);
			break;
		}
		if (before && !named && l == LIBRARY_DISPATCH)
			named = before;
		if (l == LIBRARY_NONE || l == LIBRARY_IO)
			before = call ? before : f;
	}
	if (thread && j->v->kind == KIND_HANG)
		named = NULL, before = innermost(c, from);
	if (call && !is_uninformative(call->function)) {
		plain = *call;
		plain.function = without(call->function, "compat_");
		function_keep(j->v, &plain);
	} else if (named || before)
		function_keep(j->v, named ? named : before);
	else if (call)
		function_keep(j->v, call);
}

/* Returns whether a module is in the trace: its name says more than the system call's. */
static bool has_module(const struct incident *e)
{
	if (e->has_ip && e->ip.module.n)
		return true;
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN && !e->frame[i].unreliable &&
		    e->frame[i].module.n)
			return true;
	return false;
}

/*
 * Names the hang of a blocked task. The name is synchronize_rcu() if the task waits there, else the
 * first function that does more than wait. If a CPU hangs, begins at the interrupted instruction.
 */
static void waits(struct judged *j, const struct candidates *c)
{
	if (is_stall(j) && j->e->has_ip && is_ours(&j->e->ip) && j->e->ip.function.n)
		function_keep(j->v, &j->e->ip);
	for (size_t i = is_stall(j) ? below_report(c) : 0; i < c->n; i++) {
		struct str f = c->frame[i]->function;

		if (str_has_any(f, "synchronize_rcu|synchronize_srcu|synchronize_sched")) {
			j->v->function[j->v->functions++] = STR("synchronize_rcu");
			j->v->frame = *c->frame[i];
			return;
		}
		if (!is_ours(c->frame[i]) ||
		    (!c->frame[i]->module.n &&
		     (str_has(f, "_wait_") || str_ends(f, "_wait") || str_starts(f, "wait_"))))
			continue;
		function_keep(j->v, c->frame[i]);
		return;
	}
}

/* Returns whether the trace contains the kernel functions that printed it. */
static bool has_report(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN &&
		    library_of_frame(&e->frame[i]) == LIBRARY_REPORT)
			return true;
	return false;
}

static void gather(const struct judged *j, struct candidates *c, bool unreliable)
{
	const struct incident *e = j->e;

	if (j->v->kind == KIND_LOCKDEP)
		for (uint32_t i = 0; i < e->nr_frames; i++)
			if (e->frame[i].part == PART_LOCK) {
				candidate_add(c, &e->frame[i]);
				break;
			}
	if (e->has_printed_frame)
		candidate_add(c, &e->printed_frame);
	if (e->has_ip && !lost_its_way(j) && j->v->kind != KIND_HANG)
		candidate_add(c, &e->ip);
	/* A library function without a stack frame is not in the trace, nor is its caller. */
	if (e->has_link && (lost_its_way(j) ||
			    (e->arch == ARCH_ARM64 && library_of_frame(&e->ip) != LIBRARY_NONE)))
		candidate_add(c, &e->link);
	/* If a trace has no report functions, it starts at the interrupted instruction. */
	if (e->has_ip && is_stall(j) && !has_report(e))
		candidate_add(c, &e->ip);
	candidates_of_part(c, e, PART_MAIN, unreliable);
}

/* Finds the function that is most often in the trace, perhaps because it is recursive. */
static void find_repeats(struct judged *j)
{
	const struct incident *e = j->e;

	for (uint32_t i = 0; i < e->nr_frames && i < 64; i++) {
		uint32_t times = 0;

		if (e->frame[i].part != PART_MAIN || e->frame[i].unreliable ||
		    !e->frame[i].function.n)
			continue;
		for (uint32_t k = 0; k < e->nr_frames; k++)
			times += e->frame[k].part == PART_MAIN && !e->frame[k].unreliable &&
				 str_same(e->frame[k].function, e->frame[i].function);
		if (times > j->v->repeats && library_of_frame(&e->frame[i]) == LIBRARY_NONE) {
			j->v->repeats = times;
			j->v->repeated = e->frame[i].function;
		}
	}
}

/* Returns the header's function as a frame. Linux 2.6 prints its module only in the trace. */
static const struct frame *is_in_trace(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames && !e->printed_frame.module.n; i++)
		if (e->frame[i].part == PART_MAIN &&
		    str_same(e->frame[i].function, e->printed_frame.function))
			return &e->frame[i];
	return &e->printed_frame;
}

static void take_module(struct judged *j)
{
	const struct incident *e = j->e;
	struct diagnosis *v = j->v;

	v->in_kernel_code = !lost_its_way(j);
	if (e->has_ip && v->in_kernel_code)
		v->module = frame_module(&e->ip);
	else if (e->has_ip)
		v->module = (struct str){};
	else if (e->has_printed_frame && e->printed_frame.function.n)
		v->module = frame_module(is_in_trace(e));
	else if (v->functions)
		v->module = frame_module(&v->frame);
}

void judge_functions(struct judged *j)
{
	struct candidates c = {};
	struct diagnosis *v = j->v;

	gather(j, &c, false);
	/* The kernel names the work item that stalls a worker pool. */
	if (v->kind == KIND_HANG && j->e->has_printed_frame)
		function_keep(v, &j->e->printed_frame);
	if ((is_stall(j) || v->kind == KIND_STACK_OVERFLOW) && !has_module(j->e))
		stalled(j, &c);
	else if (v->kind == KIND_HANG)
		waits(j, &c);
	if (v->kind == KIND_LOCKDEP)
		keep_unplumbed(j, &c);
	if (v->kind == KIND_LEAK)
		keep_users(v, &c);
	keep_ours(v, &c);
	if (!v->functions) {
		struct candidates all = {};

		gather(j, &all, true);
		keep_ours(v, &all);
		keep_rest(v, &c);
		if (!v->functions)
			keep_entry(v, &all);
	}
	keep_rest(v, &c);
	take_module(j);
	find_repeats(j);
}
