/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts system calls that create or close fds, and their failures; tests fd thresholds. */
#include "growth.bpf.h"

#define F_DUPFD		0
#define F_DUPFD_CLOEXEC 1030
#define SOL_SOCKET	1
#define SCM_RIGHTS	1
#define SCM_CREDENTIALS 2
#define CREDENTIALS_LEN 28 /* bytes of a complete credentials message */
#define MSG_CTRUNC	8
/* Commands of bpf(2) that return an fd: include/uapi/linux/bpf.h, enum bpf_cmd. */
#define BPF_FD_COMMANDS                                                                            \
	(1UL << 0 | 1UL << 5 | 1UL << 7 | 1UL << 13 | 1UL << 14 | 1UL << 15 | 1UL << 17 |          \
	 1UL << 18 | 1UL << 19 | 1UL << 28 | 1UL << 30 | 1UL << 33 | 1UL << 37)

/*
 * Returns 1 if a control message without fds was truncated, else 0. Such a message explains
 * MSG_CTRUNC although no fd was dropped. There are two cases: an SCM_CREDENTIALS message that is
 * too short, and a message that fills the buffer to its end without padding.
 */
static __always_inline __u64 used_up(const struct cmsghdr *cm, __u64 rest)
{
	__u64 length = cm->cmsg_len;
	__u64 other =
		(__u32)(cm->cmsg_level ^ SOL_SOCKET) | (__u32)(cm->cmsg_type ^ SCM_CREDENTIALS);

	return (is_zero(other) & (length - CREDENTIALS_LEN) >> 63) |
	       (is_zero(length ^ rest) & is_not_zero(rest & 7));
}

/* What control messages passed to a process. */
struct passed {
	/* nonzero: fds were dropped, because the buffer or the fd limit was too small */
	__u32 cut;
	__u32 first; /* one of the received fds, if any */
};

/*
 * Counts the fds in control messages that recvmsg wrote to user memory. At most four control
 * messages are read.
 */
once_verified __u32 passed_fds(__u64 user_msg, struct passed *ret)
{
	struct user_msghdr msg;
	struct cmsghdr cm;
	__u64 at, end, cut;
	__u32 n = 0;

	if (!ret)
		return 0;
	if (bpf_probe_read_user(&msg, sizeof(msg), (void *)user_msg) || !msg.msg_control)
		return 0;
	cut = is_not_zero(msg.msg_flags & MSG_CTRUNC);
	at = (__u64)msg.msg_control;
	end = at + msg.msg_controllen;
	for (int i = 0; i < 4; i++) {
		if (at + sizeof(cm) > end || bpf_probe_read_user(&cm, sizeof(cm), (void *)at) ||
		    cm.cmsg_len < sizeof(cm))
			break;
		if (cm.cmsg_level == SOL_SOCKET && cm.cmsg_type == SCM_RIGHTS) {
			bpf_probe_read_user(&ret->first, 4, (void *)at + sizeof(cm));
			n += (cm.cmsg_len - sizeof(cm)) / 4;
		} else {
			cut &= is_zero(used_up(&cm, end - at));
		}
		at += (cm.cmsg_len + 7) & ~7UL;
	}
	ret->cut |= cut;
	return n;
}

#define MOST_MESSAGES 4
#define MMSG_BYTES    64 /* bytes of a struct mmsghdr: a message and its length */

/* Calls passed_fds() for each message that recvmmsg received, at most MOST_MESSAGES. */
static __always_inline __u32 passed_by_many(const struct call *c, struct passed *ret)
{
	__u64 messages = call_arg(c, 1);
	__u32 n = 0;

	/* Unrolled, because before 6.2 a loop may contain no call ("back-edge"). */
#pragma clang loop unroll(full)
	for (int i = 0; i < MOST_MESSAGES; i++)
		if (i < c->ret)
			n += passed_fds(messages + i * MMSG_BYTES, ret);
	return n;
}

/*
 * Updates fd counts after a call created fds. The kernel assigns the lowest free number, unless
 * dup2 or F_DUPFD chose the number. After a call that returns n, at least n + 1 fds are therefore
 * open. To save time, the set bits of the fd bitmap are counted only if n + 1 or st->fds has
 * reached a threshold. st->fds is the count of the last scan, updated by each call since then.
 */
static __always_inline void saw_new_fds(struct fs_state *st, const struct call *c, __u32 made,
					__u32 at_least)
{
	__u32 now = add_fetch(&st->fds, made);
	__u32 mark = st->marks[WHAT_FDS], fds;
	__u64 limit;

	if (at_least > st->fd_high)
		st->fd_high = at_least;
	if (now < at_least)
		now = at_least;
	if (mark >= FS_NR_MARKS)
		return;
	limit = soft_limit(get(c->task, signal), RLIMIT_NOFILE);
	if (now * 100UL >= limit * config.mark_percent[mark] && count_fds(c->task, &fds))
		saw_fds(st, leader_of(c), fds, limit);
}

static __always_inline void saw_close(struct fs_state *st)
{
	if (st->fds)
		atomic_add(&st->fds, -1);
}

/* Returns whether recvmsg dropped fds because of RLIMIT_NOFILE. recvmsg succeeds anyway. */
static __always_inline bool was_cut(struct fs_state *st, const struct call *c)
{
	struct fs_descriptors *d;
	__u32 fds;

	if (!count_fds(c->task, &fds) || fds < soft_limit(get(c->task, signal), RLIMIT_NOFILE))
		return false;
	d = make_descriptors(st, c->leader);
	tally_part(st, d, fd_call[CALL_RECVMSG - CALL_FD_FIRST].refused, 1);
	return true;
}

/* Returns whether the command of fcntl or bpf creates an fd. Other calls: true. */
static __always_inline bool makes_descriptors(const struct call *c)
{
	__u64 command;

	if (c->shape == FS_SHAPE_FCNTL) {
		command = call_arg(c, 1);
		return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
	}
	if (c->shape == FS_SHAPE_BPF) {
		command = call_arg(c, 0);
		return command < 64 && BPF_FD_COMMANDS >> command & 1;
	}
	return true;
}

/* "/dev/ptmx", "/dev/pts" and "/ptmx" as words of 8 bytes, and their rest */
#define DEV_PTM 0x6d74702f7665642fUL
#define DEV_PTS 0x7374702f7665642fUL
#define PTMX	0x786d74702fUL

/* Returns whether the string at a user address is the path of the file that makes a pty. */
static __always_inline bool is_pty_path(__u64 address)
{
	__u64 path[2] = {};

	bpf_probe_read_user_str(path, sizeof(path), (void *)address);
	return (path[0] == DEV_PTM && path[1] == 'x') || (path[0] == DEV_PTS && path[1] == PTMX);
}

/*
 * Returns whether a limit other than that of fds made the call fail: of message queues, of
 * breakpoints, of pseudo-terminals, or a quota. Any other file without space is on a full disk. The
 * path is argument 0 of open() and argument 1 of openat().
 */
static __noinline bool is_object_refused(const struct call *c)
{
	if (c->call == CALL_OPEN && c->ret == -EDQUOT)
		return 1;
	if (c->call == CALL_PERF_EVENT)
		return c->ret == -ENOSPC;
	if (c->shape == FS_SHAPE_QUEUE)
		return c->ret == -ENOSPC ||
		       (c->ret == -EINVAL && exceeds_queue_limits(c->task, call_arg(c, 3)));
	return c->call == CALL_OPEN && c->ret == -ENOSPC &&
	       (is_pty_path(call_arg(c, 0)) || is_pty_path(call_arg(c, 1)));
}

static __always_inline bool is_refusal(const struct call *c)
{
	if (c->call == CALL_CLOSE)
		return false;
	if (c->ret == -EMFILE || c->ret == -ENFILE || c->ret == -ENOMEM)
		return true;
	if (c->ret == -ENOSPC || c->ret == -EDQUOT || c->shape == FS_SHAPE_QUEUE)
		return is_object_refused(c);
	/* fcntl returns EINVAL if the lowest number that the caller permits is above the limit. */
	if (c->shape == FS_SHAPE_FCNTL)
		return c->ret == -EINVAL;
	return c->shape == FS_SHAPE_DUP2 && c->ret == -EBADF &&
	       call_arg(c, 1) >= soft_limit(get(c->task, signal), RLIMIT_NOFILE);
}

/* Returns the errno of a failed call, or NOT_REFUSED. Returns 0 for recvmsg that dropped fds. */
static __noinline int on_fd_call(struct fs_state *st, struct call *c)
{
	__u32 i = (c->call - CALL_FD_FIRST) & 31;
	__u32 made = 1, at_least = 0;
	struct passed passed = {};
	int refused = NOT_REFUSED;
	struct fs_descriptors *d;
	__u32 pair[2] = {};
	__u64 where;

	if (i >= NR_FD_CALLS || !makes_descriptors(c))
		return NOT_REFUSED;
	if (c->ret < 0) {
		if (c->ret == -EBADF && c->shape == FS_SHAPE_CLOSE)
			tally(st, close_failed, 1);
		if (!is_refusal(c))
			/*
			 * No limit causes this errno, for example because the file does not exist.
			 */
			return NOT_REFUSED;
		d = make_descriptors(st, c->leader);
		tally_part(st, d, fd_call[i].refused, 1);
		return -c->ret;
	}
	switch (c->shape) {
	case FS_SHAPE_CLOSE:
		d = make_descriptors(st, c->leader);
		attribute_close(st, d, c, call_arg(c, 0));
		saw_close(st);
		tally_part(st, d, fd_call[i].calls, 1);
		return NOT_REFUSED;
	case FS_SHAPE_CLOSE_RANGE:
		return NOT_REFUSED; /* the next scan counts how many fds were closed */
	case FS_SHAPE_RECVMSG:
	case FS_SHAPE_RECVMMSG:
		/* 32-bit message headers differ: the next scan counts the fds in them. */
		made = c->compat		       ? 0
		       : c->shape == FS_SHAPE_RECVMMSG ? passed_by_many(c, &passed)
						       : passed_fds(call_arg(c, 1), &passed);
		pair[0] = passed.first;
		if (passed.cut && was_cut(st, c))
			refused = 0;
		if (!made)
			return refused;
		break;
	case FS_SHAPE_FD2:
		made = 2;
		/* The calls pipe(fd[2]) and socketpair(…, fd[2]) write their fds to memory. */
		where = c->call == CALL_PIPE ? call_arg(c, 0) : call_arg(c, 3);
		if (!bpf_probe_read_user(pair, sizeof(pair), (void *)where))
			at_least = (pair[0] > pair[1] ? pair[0] : pair[1]) + 1;
		break;
	case FS_SHAPE_DUP2:
		if (call_arg(c, 0) == call_arg(c, 1))
			return NOT_REFUSED;
		break;
	case FS_SHAPE_FCNTL:
		break;
	default:
		at_least = c->ret + 1;
	}
	d = make_descriptors(st, c->leader);
	tally_part(st, d, fd_call[i].calls, made);
	saw_new_fds(st, c, made, at_least);
	if (c->call == CALL_RECVMSG) {
		note_fd(st, d, c, pair[0], made);
	} else if (c->shape == FS_SHAPE_FD2) {
		note_fds(st, d, c, pair);
	} else {
		note_fd(st, d, c, c->ret, 1);
	}
	return refused;
}
