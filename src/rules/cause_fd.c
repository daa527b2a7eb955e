// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds why a call that creates file descriptors failed. Kernel sources: fs/file.c, file_table.c,
 * pipe.c, notify/inotify, net/core/scm.c.
 */
#include <errno.h>

#include "rules/request.h"

/*
 * smallest size of a new pipe in pages, if its user is above the soft limit on pipe pages
 * (fs/pipe.c)
 */
#define PIPE_PAGES 2

/* Returns how many descriptors the call creates. */
static uint32_t wanted(const struct request *q)
{
	return q->r->call == CALL_PIPE || q->r->call == CALL_SOCKETPAIR ? 2 : 1;
}

static bool is_counted(const struct request *q)
{
	return q->r->fds != UINT32_MAX;
}

#define F_DUPFD		0
#define F_DUPFD_CLOEXEC 1030

/*
 * Returns true for fcntl(F_DUPFD), which takes the lowest free number that is at least its
 * argument.
 */
static bool names_lowest(const struct request *q)
{
	return q->r->call == CALL_DUP &&
	       (q->r->args[1] == F_DUPFD || q->r->args[1] == F_DUPFD_CLOEXEC);
}

static void need_numbers(const struct request *q, struct verdict *v)
{
	bool lowest = names_lowest(q) && q->r->args[2] > q->r->fds;

	verdict_need(v, lowest ? q->r->args[2] : q->r->fds, wanted(q));
}

bool past_nofile(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_counted(q) || q->r->fds_free >= wanted(q))
		return false;
	need_numbers(q, v);
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->r->fd_soft);
	/*
	 * Open fds may have numbers above the limit, and F_DUPFD skips numbers. The count of open
	 * fds alone therefore does not show that no number is free. The evidence also includes the
	 * count of free numbers.
	 */
	if (q->r->fds != q->r->fd_soft)
		verdict_figure(v, "free numbers that the call may use", IN_COUNT, q->r->fds_free);
	return true;
}

/* Returns true if F_DUPFD requests a number of fs.nr_open or more, which is never possible. */
static bool begins_past_nr_open(const struct request *q)
{
	return names_lowest(q) && q->r->args[2] >= q->l->nr_open;
}

/*
 * expand_files() does not grow the descriptor table beyond fs.nr_open. When it fails, all lower
 * numbers are in use, so the number of open fds shows whether the table is full.
 */
static bool past_nr_open(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!is_counted(q) || !q->l->nr_open)
		return false;
	need_numbers(q, v);
	if (begins_past_nr_open(q)) {
		verdict_count(v, "number", IN_COUNT, q->r->args[2], q->l->nr_open);
		return true;
	}
	if (q->r->fds + wanted(q) <= q->l->nr_open)
		return false;
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->l->nr_open);
	return true;
}

static bool past_instances(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct user_counts *u = &q->r->user;
	bool known = u->inotify_instances != UINT64_MAX;

	if (q->r->call != CALL_INOTIFY || (known && u->inotify_instances_max == UINT64_MAX))
		return false;
	if (known && u->inotify_instances < u->inotify_instances_max)
		return false;
	*ret_sure = known || is_counted(q);
	verdict_need(v, known ? u->inotify_instances : q->l->inotify_instances, 1);
	if (known)
		verdict_count(v, "inotify instances of the user", IN_COUNT, u->inotify_instances,
			      u->inotify_instances_max);
	else
		verdict_count(v, "fs.inotify.max_user_instances", IN_COUNT, q->l->inotify_instances,
			      q->l->inotify_instances);
	return true;
}

/*
 * The user's inotify instances are the cause if they are at the limit: do_inotify_init() checks
 * them before it needs a descriptor number.
 */
static bool past_known_instances(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->user.inotify_instances != UINT64_MAX && past_instances(q, v, ret_sure);
}

/*
 * fanotify_init() (fs/notify/fanotify/fanotify_user.c) fails with EMFILE for two reasons: no free
 * descriptor, or too many groups of the user. The number of groups is in the record since Linux
 * 5.13.
 */
static bool past_groups(const struct request *q, struct verdict *v, bool *ret_sure)
{
	const struct user_counts *u = &q->r->user;
	bool known = u->inotify_instances != UINT64_MAX && u->inotify_instances_max;

	if (q->r->call != CALL_FANOTIFY || (is_counted(q) && q->r->fds_free < wanted(q)))
		return false;
	*ret_sure = is_counted(q);
	if (known && u->inotify_instances >= u->inotify_instances_max) {
		verdict_need(v, u->inotify_instances, 1);
		verdict_count(v, "fanotify groups of the user", IN_COUNT, u->inotify_instances,
			      u->inotify_instances_max);
	} else {
		verdict_text(v, "fanotify groups of the user", "at the limit");
	}
	if (is_counted(q))
		verdict_figure(v, "free numbers that the call may use", IN_COUNT, q->r->fds_free);
	return true;
}

/*
 * mqueue_get_inode() (ipc/mqueue.c) fails with EMFILE if the queues of the user take too many
 * bytes. The existing queues are within the limit, so the limit plus the bytes of this queue is
 * enough.
 */
static bool past_queue_bytes(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!has_fact(q, FACT_QUEUE) || (is_counted(q) && q->r->fds_free < wanted(q)))
		return false;
	*ret_sure = is_counted(q);
	if (q->r->asked.whole) {
		verdict_need(v, q->r->asked.longest, q->r->asked.bytes);
		verdict_count(v, "bytes of this queue", IN_BYTES, q->r->asked.bytes,
			      q->r->asked.longest);
	}
	verdict_text(v, "bytes of the user's message queues",
		     "with this queue more than RLIMIT_MSGQUEUE");
	if (is_counted(q))
		verdict_figure(v, "free numbers that the call may use", IN_COUNT, q->r->fds_free);
	return true;
}

/*
 * The user's pipes have more pages than the limit allows: too_many_pipe_buffers_hard(). The check
 * does not apply with CAP_SYS_RESOURCE or CAP_SYS_ADMIN, and a limit of 0 is no limit.
 */
static bool past_pipe_pages(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t hard = q->l->pipe_pages_hard;

	if (q->r->call != CALL_PIPE || has_fact(q, FACT_RESOURCE | FACT_ADMIN) || !hard ||
	    q->r->user.pipe_pages + PIPE_PAGES <= hard)
		return false;
	verdict_need(v, q->r->user.pipe_pages, PIPE_PAGES);
	verdict_count(v, "pipe pages of the user", IN_PAGES, q->r->user.pipe_pages, hard);
	return true;
}

/*
 * pipe() fails with ENFILE only at the user's limit on pipe pages or at fs.file-max. If the number
 * of open files is far below fs.file-max, the limit on pipe pages is the cause. The user may be
 * below that limit again by now.
 */
static bool had_pipe_pages(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = false;
	if (q->r->call != CALL_PIPE || has_fact(q, FACT_RESOURCE | FACT_ADMIN) ||
	    has_fact(q, FACT_SAID_FILE_MAX) || q->l->file_nr > q->l->file_max / 2)
		return false;
	verdict_figure(v, "pipe pages of the user", IN_PAGES, q->r->user.pipe_pages);
	verdict_count(v, "file_nr", IN_COUNT, q->l->file_nr, q->l->file_max);
	return true;
}

/*
 * The host has fs.file-max open files: get_empty_filp(). It compares a per-CPU counter, which may
 * lag behind by some files on each CPU.
 */
bool past_file_max(const struct request *q, struct verdict *v, bool *ret_sure)
{
	bool said = has_fact(q, FACT_SAID_FILE_MAX);

	if (has_fact(q, FACT_ADMIN) && !said)
		return false;
	*ret_sure = said || q->l->file_nr >= q->l->file_max;
	verdict_need(v, q->l->file_nr > q->l->file_max ? q->l->file_nr : q->l->file_max, wanted(q));
	verdict_count(v, "file_nr", IN_COUNT, q->l->file_nr, q->l->file_max);
	if (said)
		verdict_text(v, "kernel log", "VFS: file-max limit reached");
	return true;
}

/*
 * Returns the descriptor number that the call requests: the second argument of dup2() and dup3(),
 * the third of fcntl().
 */
static uint64_t number_of(const struct request *q)
{
	return q->r->error == EINVAL ? q->r->args[2] : q->r->args[1];
}

static bool number_past_limit(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (number_of(q) < q->r->fd_soft)
		return false;
	verdict_need(v, number_of(q), 1);
	verdict_count(v, "number", IN_COUNT, number_of(q), q->r->fd_soft);
	return true;
}

static bool number_past_nr_open(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (q->r->error != EBADF || !q->l->nr_open || number_of(q) < q->l->nr_open)
		return false;
	verdict_need(v, number_of(q), 1);
	verdict_count(v, "number", IN_COUNT, number_of(q), q->l->nr_open);
	return true;
}

static bool source_is_closed(const struct request *q, struct verdict *v, bool *ret_sure)
{
	if (!(q->r->file.flags & FILE_CLOSED))
		return false;
	verdict_figure(v, "descriptor", IN_COUNT, (uint32_t)q->r->args[0]);
	return true;
}

static bool number_is_wrong(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->call == CALL_DUP;
}

/*
 * The kernel dropped file descriptors that another process sent, because no descriptor number was
 * free. This happens in recvmsg() only, which then returns no errno.
 */
static bool were_dropped(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = is_counted(q) && q->r->fds_free < 1;
	if (is_counted(q))
		verdict_need(v, q->r->fds, 1);
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->r->fd_soft);
	return true;
}

/*
 * Returns how many bytes io_uring_setup() pins. Each entry needs 64 bytes, an index of 4 bytes, and
 * two completions of 16 bytes. Each of the two rings needs less than a page for counters. The
 * kernel rounds the number of entries up to a power of two.
 */
static uint64_t ring_bytes(uint64_t entries)
{
	uint64_t n = 1;

	while (n < (uint32_t)entries)
		n *= 2;
	return n * (64 + 4 + 2 * 16) + 2 * 4096;
}

/*
 * The user's pinned pages are above RLIMIT_MEMLOCK. perf, io_uring and, until Linux 5.11, BPF maps
 * count pinned memory for each user, not for each process.
 */
static bool past_user_memlock(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);

	if (q->r->call != CALL_IO_URING || has_fact(q, FACT_IPC_LOCK) || limit == UINT64_MAX)
		return false;
	*ret_sure = false; /* the number of pages is an estimate: ring_bytes() */
	verdict_need(v,
		     q->r->user.locked_pages == UINT64_MAX
			     ? 0
			     : q->r->user.locked_pages * q->l->page_bytes,
		     ring_bytes(q->r->args[0]));
	verdict_count(v, "locked pages of the user", IN_PAGES,
		      q->r->user.locked_pages == UINT64_MAX ? 0 : q->r->user.locked_pages, limit);
	return true;
}

static const struct step steps[] = {
#define CHECK(...) {__VA_ARGS__},
#include "rules/descriptor_checks.def"
};

void cause_of_descriptor(struct request *q, struct verdict *v)
{
	/* runs only the checks for the errno with which the call failed */
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].error == q->r->error)
			run_steps(q, &steps[i], 1, v);
	if (!v->cause)
		cause_of_counted(q, v);
	if (v->cause || v->nr_evidence || !is_counted(q))
		return;
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->r->fd_soft);
	verdict_count(v, "file_nr", IN_COUNT, q->l->file_nr, q->l->file_max);
}
