// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/judge.h"
#include "triage/library.h"

#define CANDIDATES_MAX 256

struct candidates {
	const struct frame *frame[CANDIDATES_MAX];
	size_t n;
};

static void candidate_add(struct candidates *c, const struct frame *f)
{
	if (f->function.n && c->n < CANDIDATES_MAX)
		c->frame[c->n++] = f;
}

static void candidates_of_part(struct candidates *c, const struct event *e, enum part part,
			       bool unreliable)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == part && (unreliable || !e->frame[i].unreliable))
			candidate_add(c, &e->frame[i]);
}

/* Where the instruction pointer is no code, who called is all that can be known. */
static bool lost_its_way(const struct judged *j)
{
	const struct event *e = j->e;

	if (!e->has_ip)
		return false;
	if (!e->ip.function.n)
		return true;
	return e->ip.size && e->ip.offset >= e->ip.size;
}

static bool is_ours(const struct frame *f)
{
	switch (library_of(f->function)) {
	case LIBRARY_NONE:
	case LIBRARY_PLUMBING:
	case LIBRARY_IO:
		return true;
	default:
		return false;
	}
}

static void function_keep(struct verdict *v, const struct frame *f)
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

static void keep_ours(struct verdict *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_ours(c->frame[i]))
			function_keep(v, c->frame[i]);
}

/* The rest, but for what only reports or enters. */
static void keep_rest(struct verdict *v, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++) {
		enum library l = library_of(c->frame[i]->function);

		if (l != LIBRARY_REPORT && l != LIBRARY_ENTRY && l != LIBRARY_CHECK)
			function_keep(v, c->frame[i]);
	}
	for (size_t i = 0; i < c->n; i++)
		if (library_of(c->frame[i]->function) == LIBRARY_CHECK)
			function_keep(v, c->frame[i]);
}

/* The wait for one task: the trace of it. A CPU that does not come back: see stalled(). */
static bool is_stall(const struct judged *j)
{
	return j->v->kind == KIND_HANG && !str_starts(str_trim(j->ls->line[j->e->first].text),
						      "INFO: task ");
}

static bool is_syscall(struct str f)
{
	static const char *const starts[] = {"__x64_sys_", "__ia32_sys_", "__arm64_sys_",
					     "__se_sys_",  "__do_sys_",   "SyS_",
					     "SYSC_",	   "sys_",	  "__sys_",
					     "ksys_",	   "__riscv_sys_", "___sys_",
					     "____sys_",   "compat_sys_", "compat_SyS_",
					     "__se_compat_sys_", "__ia32_compat_sys_"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (str_starts(f, starts[i]))
			return true;
	return false;
}

/* System calls that say nothing of what is behind them: the function they lead to does. */
static bool says_little(struct str f)
{
	static const char *const words[] = {"ioctl",   "read",	  "write",   "connect", "sendmsg",
					    "setsockopt", "getsockopt", "sendto", "close",	"open",
					    "recvfrom", "accept", "bind",    "mmap",	"poll",
					    "sendfile", "splice", "exit_group", "exit"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_has(f, words[i]))
			return true;
	return false;
}

/* Deep enough that a loop's own functions, which vary with the moment, are above it. */
static bool is_anchor(struct str f)
{
	enum library l = library_of(f);

	return l == LIBRARY_ENTRY || l == LIBRARY_PLUMBING || is_syscall(f) ||
	       str_starts(f, "netif_receive_skb") || str_starts(f, "__netif_receive_skb") ||
	       str_is(f, "process_backlog") || str_is(f, "net_rx_action");
}

/*
 * A CPU loops: the stack is that of one moment of many. What names the loop is the outermost
 * function above the way in: of a system call itself, where its name tells enough.
 */
static void stalled(struct judged *j, const struct candidates *c)
{
	const struct frame *before = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct frame *f = c->frame[i];

		if (is_syscall(f->function)) {
			function_keep(j->v, says_little(f->function) && before ? before : f);
			return;
		}
		if (before && is_anchor(f->function)) {
			function_keep(j->v, before);
			return;
		}
		if (is_ours(f) && library_of(f->function) != LIBRARY_PLUMBING)
			before = f;
	}
}

static void gather(const struct judged *j, struct candidates *c, bool unreliable)
{
	const struct event *e = j->e;

	if (j->v->kind == KIND_LOCKDEP)
		for (uint32_t i = 0, n = 0; i < e->nr_frames && !n; i++)
			if (e->frame[i].part == PART_LOCK) {
				candidate_add(c, &e->frame[i]);
				n++;
			}
	if (e->has_said_frame)
		candidate_add(c, &e->said_frame);
	if (e->has_ip && !lost_its_way(j) && j->v->kind != KIND_HANG)
		candidate_add(c, &e->ip);
	if (e->has_link && lost_its_way(j))
		candidate_add(c, &e->link);
	if (e->has_ip && j->v->kind == KIND_HANG)
		candidate_add(c, &e->ip);
	candidates_of_part(c, e, PART_MAIN, unreliable);
}

/* A function that stands in one trace again and again. */
static void find_repeats(struct judged *j)
{
	const struct event *e = j->e;

	for (uint32_t i = 0; i < e->nr_frames && i < 64; i++) {
		uint32_t times = 0;

		if (e->frame[i].part != PART_MAIN || e->frame[i].unreliable ||
		    !e->frame[i].function.n)
			continue;
		for (uint32_t k = 0; k < e->nr_frames; k++)
			times += e->frame[k].part == PART_MAIN && !e->frame[k].unreliable &&
				 str_same(e->frame[k].function, e->frame[i].function);
		if (times > j->v->repeats && library_of(e->frame[i].function) == LIBRARY_NONE) {
			j->v->repeats = times;
			j->v->repeated = e->frame[i].function;
		}
	}
}

static void take_module(struct judged *j)
{
	const struct event *e = j->e;
	struct verdict *v = j->v;

	v->in_kernel_code = !lost_its_way(j);
	if (e->has_ip && v->in_kernel_code)
		v->module = frame_module(&e->ip);
	else if (e->has_ip)
		v->module = (struct str){};
	else if (e->has_said_frame && e->said_frame.function.n)
		v->module = frame_module(&e->said_frame);
	else if (v->functions)
		v->module = frame_module(&v->frame);
}

void judge_functions(struct judged *j)
{
	struct candidates c = {};
	struct verdict *v = j->v;

	gather(j, &c, false);
	if (is_stall(j))
		stalled(j, &c);
	keep_ours(v, &c);
	if (!v->functions) {
		struct candidates all = {};

		gather(j, &all, true);
		keep_ours(v, &all);
	}
	keep_rest(v, &c);
	take_module(j);
	find_repeats(j);
}
