// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls that make descriptors: fs/file.c, file_table.c, pipe.c, notify/inotify, net/core/scm.c. */
#include <errno.h>

#include "rules/request.h"

#define PIPE_PAGES 2 /* the least a new pipe is given beyond the soft limit: fs/pipe.c */

/* Calls that make two need room for two. */
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

/* F_DUPFD takes numbers from its argument on: what is below it does not help. */
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
	/* not all are below the limit, or may be taken: F_DUPFD names the lowest one */
	if (q->r->fds != q->r->fd_soft)
		verdict_figure(v, "numbers free that it may take", IN_COUNT, q->r->fds_free);
	return true;
}

/* A number is asked for from one on that the table cannot have. */
static bool begins_past_nr_open(const struct request *q)
{
	return names_lowest(q) && q->r->args[2] >= q->l->nr_open;
}

/* expand_files(): the table itself may not grow; the numbers are dense then. */
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

/* do_inotify_init(): the instance is made, and counted, before its descriptor. */
static bool past_known_instances(const struct request *q, struct verdict *v, bool *ret_sure)
{
	return q->r->user.inotify_instances != UINT64_MAX && past_instances(q, v, ret_sure);
}

/*
 * fs/notify/fanotify/fanotify_user.c, fanotify_init(): besides its descriptor it counts the group
 * of the user alone, and answers EMFILE for both. The count is known since Linux 5.13.
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
		verdict_text(v, "fanotify groups of the user", "as many as it may have");
	}
	if (is_counted(q))
		verdict_figure(v, "numbers free that it may take", IN_COUNT, q->r->fds_free);
	return true;
}

/*
 * ipc/mqueue.c, mqueue_get_inode(): after a descriptor is taken, EMFILE is of the bytes of all
 * queues of the user alone. They are within the limit, so that it and this queue cover them.
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
	verdict_text(v, "bytes of the user's message queues", "more than RLIMIT_MSGQUEUE, with it");
	if (is_counted(q))
		verdict_figure(v, "numbers free that it may take", IN_COUNT, q->r->fds_free);
	return true;
}

/* too_many_pipe_buffers_hard(), of who has neither capability; 0 is no limit */
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
 * Else files alone make a pipe say so: where these are far from their limit it was the user's
 * pages, by a limit that is another one by now.
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

/* get_empty_filp(): its count is of all CPUs, and may lag behind by some files each */
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

/* dup2 and dup3 name their number in the second argument, fcntl in the third. */
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

/* Only recvmsg drops without an errno, and only where no number was free. */
static bool were_dropped(const struct request *q, struct verdict *v, bool *ret_sure)
{
	*ret_sure = is_counted(q) && q->r->fds_free < 1;
	if (is_counted(q))
		verdict_need(v, q->r->fds, 1);
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->r->fd_soft);
	return true;
}

/*
 * io_uring_setup(): of each entry 64 bytes and a number of 4, of twice as many completions 16, and
 * less than a page of counts for each of both rings. Entries are rounded up to a power of two.
 */
static uint64_t ring_bytes(uint64_t entries)
{
	uint64_t n = 1;

	while (n < (uint32_t)entries)
		n *= 2;
	return n * (64 + 4 + 2 * 16) + 2 * 4096;
}

/* perf, io_uring and, until 5.11, BPF maps: pinned memory of a user. */
static bool past_user_memlock(const struct request *q, struct verdict *v, bool *ret_sure)
{
	uint64_t limit = limit_pages(q, q->r->memlock_limit_bytes);

	if (q->r->call != CALL_IO_URING || has_fact(q, FACT_IPC_LOCK) || limit == UINT64_MAX)
		return false;
	*ret_sure = false; /* how many pages it wanted is not known, but about */
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
	/* of each errno there are checks of its own: none of another is asked */
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].error == q->r->error)
			run_steps(q, &steps[i], 1, v);
	if (v->nr_evidence || !is_counted(q))
		return;
	verdict_count(v, "fds", IN_COUNT, q->r->fds, q->r->fd_soft);
	verdict_count(v, "file_nr", IN_COUNT, q->l->file_nr, q->l->file_max);
}
