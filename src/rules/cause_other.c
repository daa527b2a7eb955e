// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds why a call failed that neither maps memory nor creates descriptors. Kernel sources:
 * kernel/fork.c, fs/exec.c, cgroup/pids.c, eventpoll.c, pipe.c.
 */
#include <errno.h>

#include "rules/request.h"

/*
 * copy_process() fails if the user would have more processes than RLIMIT_NPROC, counting the new
 * process. The limit does not apply to the initial root user, nor with CAP_SYS_RESOURCE or
 * CAP_SYS_ADMIN.
 */
static bool past_nproc(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t have = q->r->user.processes;

	if (q->r->nproc_limit == UINT64_MAX || have == UINT64_MAX || have < q->r->nproc_limit ||
	    has_fact(q, FACT_ROOT | FACT_RESOURCE | FACT_ADMIN))
		return false;
	verdict_need(v, have, 1);
	verdict_count(v, "processes and threads of the user", IN_COUNT, have, q->r->nproc_limit);
	return true;
}

static bool past_threads(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!q->l->threads_max || q->l->threads < q->l->threads_max)
		return false;
	/* the number of threads was read from /proc a little after the failure */
	*ret_sure = q->r->variables & 1U << VARIABLE_THREADS;
	verdict_need(v, q->l->threads, 1);
	verdict_count(v, "threads", IN_COUNT, q->l->threads, q->l->threads_max);
	return true;
}

static bool past_pids(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct level_room *p = &q->r->pids;

	if (!p->known || p->limit == UINT64_MAX || p->used < p->limit)
		return false;
	verdict_need(v, p->used, 1);
	verdict_count(v, "pids.current", IN_COUNT, p->used, p->limit);
	if (p->up)
		verdict_figure(v, "levels_above_own_cgroup", IN_COUNT, p->up);
	return true;
}

/* fork() commits the private writable memory of the parent once more: dup_mmap(). */
static bool past_commit_of_fork(const struct request *q, struct verdict *v, bool *ret_sure)
{
	struct request fork = *q;

	fork.accounted = true;
	fork.pages = q->r->data_vm_pages;
	return past_commit(&fork, v, ret_sure);
}

static bool said_commit(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!has_fact(q, FACT_SAID_COMMIT) || q->l->overcommit_memory != 0)
		return false;
	verdict_text(v, "kernel log", "not enough memory for the allocation");
	return true;
}

/*
 * Bounds that bprm_stack_limits() (fs/exec.c) sets for the size of all arguments: 3/4 of _STK_LIM,
 * and ARG_MAX.
 */
#define MOST_ARGS_BYTES	 (6ULL << 20)
#define LEAST_ARGS_BYTES (128ULL << 10)
#define MOST_ARG_BYTES	 (128ULL << 10) /* MAX_ARG_STRLEN: largest size of one argument */

/* Arguments and environment, with the pointers to them, may take a quarter of RLIMIT_STACK. */
static bool past_stack_quarter(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t quarter = q->r->stack_limit_bytes / 4;
	uint64_t limit = quarter > LEAST_ARGS_BYTES ? quarter : LEAST_ARGS_BYTES;
	const struct asked *asked = &q->r->asked;

	if (quarter >= MOST_ARGS_BYTES || (asked->whole && asked->bytes <= limit))
		return false;
	*ret_sure = asked->whole && asked->longest <= MOST_ARG_BYTES;
	verdict_need(v, 0, asked->bytes <= MOST_ARGS_BYTES ? asked->bytes * 4 : UINT64_MAX);
	verdict_count(v, "bytes of arguments", IN_BYTES, asked->bytes, limit);
	verdict_figure(v, "RLIMIT_STACK", IN_BYTES, q->r->stack_limit_bytes);
	return true;
}

static bool arguments_too_long(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct asked *asked = &q->r->asked;

	*ret_sure = asked->whole;
	if (asked->whole && asked->longest <= MOST_ARG_BYTES && asked->bytes <= MOST_ARGS_BYTES)
		return false;
	if (asked->longest > MOST_ARG_BYTES)
		verdict_count(v, "bytes of one argument", IN_BYTES, asked->longest, MOST_ARG_BYTES);
	else
		verdict_count(v, "bytes of arguments", IN_BYTES, asked->bytes, MOST_ARGS_BYTES);
	return true;
}

/*
 * Any RLIMIT_AS is a possible cause: execve() applies it while it maps the new program, whose size
 * is not known here.
 */
static bool has_as(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	if (q->r->as_limit_bytes == UINT64_MAX)
		return false;
	verdict_figure(v, "RLIMIT_AS", IN_BYTES, q->r->as_limit_bytes);
	return true;
}

/*
 * execve() copies the arguments to the stack of the new address space, and fails with E2BIG if
 * RLIMIT_AS does not let this stack grow. The record lacks how many of the bytes are pointers.
 */
static bool past_as_of_arguments(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = q->r->as_limit_bytes, bytes = q->r->asked.bytes;

	if (limit == UINT64_MAX || bytes + 4 * q->l->page_bytes <= limit)
		return false;
	*ret_sure = bytes / 2 > limit;
	verdict_count(v, "bytes of arguments", IN_BYTES, bytes, limit);
	verdict_figure(v, "RLIMIT_AS", IN_BYTES, limit);
	return true;
}

/* io_uring_register() accepts at most RLIMIT_NOFILE files, even if the process has no file open. */
#define IORING_REGISTER_FILES 2
static bool past_files_of_ring(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint32_t files = q->r->args[3];

	if (q->r->args[1] != IORING_REGISTER_FILES || files <= q->r->fd_soft)
		return false;
	verdict_need(v, 0, files);
	verdict_count(v, "files to register", IN_COUNT, files, q->r->fd_soft);
	return true;
}

static bool past_watches(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct user_counts *u = &q->r->user;
	bool known = u->inotify_watches != UINT64_MAX;

	/*
	 * the user is below the limit: a seccomp filter failed the call, or watches were removed
	 * after the failure
	 */
	*ret_sure = !known || u->inotify_watches >= u->inotify_watches_max;
	if (!*ret_sure && has_fact(q, FACT_FILTERED))
		return false;
	verdict_need(v, known ? u->inotify_watches : q->l->inotify_watches, 1);
	if (known)
		verdict_count(v, "inotify watches of the user", IN_COUNT, u->inotify_watches,
			      u->inotify_watches_max);
	else
		verdict_count(v, "fs.inotify.max_user_watches", IN_COUNT, q->l->inotify_watches,
			      q->l->inotify_watches);
	return true;
}

/* epoll_ctl() fails with ENOSPC only at fs.epoll.max_user_watches. */
static bool past_epoll(const struct request *q, struct verdict *v, bool *ret_sure)
{
	verdict_need(v, q->l->epoll_watches, 1);
	verdict_count(v, "fs.epoll.max_user_watches", IN_COUNT, q->l->epoll_watches,
		      q->l->epoll_watches);
	return true;
}

/*
 * The user's pinned pages are above RLIMIT_MEMLOCK. io_uring counts the rings of a user together.
 * The limit does not apply with CAP_IPC_LOCK.
 */
static bool past_memlock_of_ring(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);
	uint64_t pages = q->r->asked.bytes / q->l->page_bytes, have = q->r->user.locked_pages;

	if (has_fact(q, FACT_IPC_LOCK) || limit == UINT64_MAX)
		return false;
	*ret_sure = have != UINT64_MAX && have + pages > limit;
	if (!*ret_sure && q->r->asked.whole && have != UINT64_MAX)
		return false;
	verdict_need(v, have == UINT64_MAX ? 0 : have * q->l->page_bytes, q->r->asked.bytes);
	verdict_sum(v, "locked pages of the user", IN_PAGES, have == UINT64_MAX ? 0 : have, pages,
		    limit);
	return true;
}

static bool past_pipe_size(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t size = (uint32_t)q->r->args[2];

	/*
	 * pipe_set_size(): neither limit applies with CAP_SYS_RESOURCE, and the limit on pages does
	 * not apply with CAP_SYS_ADMIN
	 */
	if (has_fact(q, FACT_RESOURCE))
		return false;
	if (size > q->l->pipe_max_bytes && q->l->pipe_max_bytes) {
		v->limit = &limit_table[LIMIT_PIPE_SIZE];
		verdict_need(v, 0, size);
		verdict_count(v, "fs.pipe-max-size", IN_BYTES, size, q->l->pipe_max_bytes);
		return true;
	}
	if (has_fact(q, FACT_ADMIN))
		return false;
	if (!q->l->pipe_pages_hard)
		v->limit = &limit_table[LIMIT_PIPE_PAGES_SOFT];
	verdict_need(v, q->r->user.pipe_pages, size / q->l->page_bytes);
	verdict_sum(v, "pipe pages of the user", IN_PAGES, q->r->user.pipe_pages,
		    size / q->l->page_bytes,
		    q->l->pipe_pages_hard ? q->l->pipe_pages_hard : q->l->pipe_pages_soft);
	return true;
}

/*
 * A process with CAP_SYS_RESOURCE can set any RLIMIT_NOFILE up to fs.nr_open. (faultscope records
 * no other failures of setrlimit().)
 */
static bool past_nr_open(const struct request *q, struct verdict *v, bool *ret_sure)
{
	verdict_count(v, "fs.nr_open", IN_COUNT, q->l->nr_open, q->l->nr_open);
	return true;
}

static bool has_hole(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = was_looked_at(q) && q->r->range.hole != UINT64_MAX;
	if (*ret_sure)
		verdict_address(v, "nothing is mapped at", q->r->range.hole);
	return *ret_sure || !was_looked_at(q);
}

static const struct {
	enum call_id call;
	struct step step;
} rows[] = {
#define CHECK(call, ...) {CALL_##call, {__VA_ARGS__}},
#include "rules/other_checks.def"
};

/* The cause if no limit explains the errno: only the driver of a device knows why it refused. */
static const struct step of_driver = {"device", refused_by_driver, ANY_ERROR};

void cause_of_other(struct request *q, struct verdict *v)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].call == q->r->call)
			run_steps(q, &rows[i].step, 1, v);
	if (!v->cause)
		cause_of_counted(q, v);
	if (!v->cause)
		run_steps(q, &of_driver, 1, v);
	if (v->cause)
		return;
	if (q->r->error == ENOMEM && has_fact(q, FACT_PIDS_OVER))
		verdict_text(v, "pid namespace", "takes no process: its init process has exited");
	verdict_count(v, "processes and threads of the user", IN_COUNT, q->r->user.processes,
		      q->r->nproc_limit);
	verdict_count(v, "pids.current", IN_COUNT, q->r->pids.used, q->r->pids.limit);
	verdict_count(v, "threads", IN_COUNT, q->l->threads, q->l->threads_max);
}
