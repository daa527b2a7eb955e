/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles system calls for which only failures are recorded, for example clone and mlock. Also
 * reads log lines that the kernel writes during failed calls, because these may state the cause.
 */
#include "oom.bpf.h"
#include "refusal.bpf.h"
#include "report.bpf.h"

#define F_SETPIPE_SZ 1031

/* Returns whether the call sets RLIMIT_NOFILE by prlimit(), or by setrlimit() (only on x86). */
static __always_inline bool bounds_descriptors(const struct call *c)
{
	return call_arg(c, c->shape == FS_SHAPE_PRLIMIT ? 1 : 0) == RLIMIT_NOFILE;
}

/* Returns whether clone(CLONE_PIDFD) failed because a limit of fds was reached. */
static __always_inline bool makes_no_pidfd(long ret)
{
	return ret == -EMFILE || ret == -ENFILE;
}

/*
 * Returns whether a call found no space in a file of tmpfs or hugetlbfs. A full disk is not a
 * shortage of memory.
 */
static __always_inline bool needs_space(const struct call *c)
{
	__u32 fd = call_arg(c, c->shape == FS_SHAPE_SPACE2 ? 2 : 0);

	return (c->ret == -ENOSPC || c->ret == -ENOMEM) && is_file_in_memory(fd);
}

/*
 * Returns whether a call found that a quota is used up, or that RLIMIT_FSIZE limits a file of tmpfs
 * or hugetlbfs. (The kernel returns EFBIG for other reasons too.)
 */
static __always_inline bool is_file_limited(const struct call *c)
{
	__u32 fd = call_arg(c, c->shape == FS_SHAPE_SPACE2 ? 2 : 0);

	if (c->ret == -EDQUOT)
		return true;
	return c->ret == -EFBIG && ~soft_limit(get(c->task, signal), RLIMIT_FSIZE) &&
	       is_file_in_memory(fd);
}

/* Returns whether the argument that is a length is above its limit. */
static __always_inline bool is_too_long(const struct call *c)
{
	struct task_struct *task = c->task;
	struct ipc_namespace *ns;

	if (c->call == CALL_POLL)
		return c->ret == -EINVAL &&
		       (__u32)call_arg(c, 1) > soft_limit(get(task, signal), RLIMIT_NOFILE);
	ns = BPF_CORE_READ(task, nsproxy, ipc_ns);
	if (c->call == CALL_MSGSND)
		return c->ret == -EINVAL && call_arg(c, 2) > BPF_CORE_READ(ns, msg_ctlmax);
	return c->ret == -E2BIG &&
	       (__u32)call_arg(c, 2) > (__u32)BPF_CORE_READ(ns, sem_ctls[SEM_PER_CALL]);
}

/*
 * Returns whether a segment could not be locked. EPERM: the limit is 0, or the segment belongs to
 * another user, which no limit causes.
 */
static __always_inline bool is_lock_refused(const struct call *c)
{
	if ((call_arg(c, 1) & 0xff) != SHM_LOCK)
		return false;
	return c->ret == -ENOMEM ||
	       (c->ret == -EPERM && !soft_limit(get(c->task, signal), RLIMIT_MEMLOCK));
}

/* Returns whether a driver refused a request with an errno that a limit causes. */
static __always_inline bool is_refused_by_driver(const struct call *c)
{
	switch (-c->ret) {
	case EPERM:
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENOSPC:
		return is_limited_device(call_arg(c, 0), -c->ret);
	}
	return false;
}

/*
 * Returns whether a System V IPC object was not created because of a limit. For EINVAL, the cause
 * may be another argument, so the argument for the size must be above the limit.
 */
static __always_inline bool lacks_ipc(const struct call *c)
{
	struct task_struct *task = c->task;
	struct ipc_namespace *ns;

	if (c->ret == -ENOSPC || c->ret == -ENOMEM)
		return true;
	if (c->ret != -EINVAL)
		return false;
	ns = BPF_CORE_READ(task, nsproxy, ipc_ns);
	if (c->call == CALL_SHMGET)
		return call_arg(c, 1) > BPF_CORE_READ(ns, shm_ctlmax);
	return c->call == CALL_SEMGET &&
	       (__s32)call_arg(c, 1) > BPF_CORE_READ(ns, sem_ctls[SEM_PER_SET]);
}

/* Returns whether the call failed with an errno that a limit causes. */
static __always_inline bool is_other_refusal(const struct call *c)
{
	switch (c->shape) {
	case FS_SHAPE_TASK:
	case FS_SHAPE_TASK3:
		return c->ret == -EAGAIN || c->ret == -ENOMEM || c->ret == -ENOSPC ||
		       makes_no_pidfd(c->ret);
	case FS_SHAPE_EXEC:
	case FS_SHAPE_EXECAT:
		return c->ret == -EAGAIN || c->ret == -ENOMEM || c->ret == -E2BIG ||
		       c->ret == -ENFILE;
	case FS_SHAPE_WATCH:
		return c->ret == -ENOSPC || c->ret == -ENOMEM;
	case FS_SHAPE_RING:
		return c->ret == -ENOMEM || c->ret == -EMFILE;
	case FS_SHAPE_RANGE:
		return c->ret == -ENOMEM;
	case FS_SHAPE_PRLIMIT:
	case FS_SHAPE_SETRLIMIT:
		/* Without CAP_SYS_RESOURCE, no process may raise a hard limit. */
		return c->ret == -EPERM && bounds_descriptors(c) &&
		       has_capability(c->task, CAP_SYS_RESOURCE);
	case FS_SHAPE_FCNTL:
		return c->ret == -EPERM;
	case FS_SHAPE_SPACE:
	case FS_SHAPE_SPACE_AT:
	case FS_SHAPE_SPACE_AT2:
		return needs_space(c) || is_file_limited(c) || is_refused_by_driver(c);
	case FS_SHAPE_SPACE2:
		return needs_space(c) || is_file_limited(c);
	case FS_SHAPE_DEVICE:
		return is_refused_by_driver(c);
	case FS_SHAPE_IPC:
		return lacks_ipc(c);
	case FS_SHAPE_OBJECT:
		return c->ret == -ENOSPC || c->ret == -EDQUOT || c->ret == -ENOMEM ||
		       c->ret == -ENOBUFS;
	case FS_SHAPE_AGAIN:
		return c->ret == -EAGAIN || c->ret == -ENOMEM;
	case FS_SHAPE_SEND:
		return c->ret == -ETOOMANYREFS;
	case FS_SHAPE_LENGTH:
		return is_too_long(c);
	case FS_SHAPE_SHMCTL:
		return is_lock_refused(c);
	}
	return false;
}

#define FD_SETSIZE 1024

/*
 * Counts calls of select() with more than FD_SETSIZE fds. The argument states how many bits of the
 * caller's fd sets core_sys_select() accesses. The size of the fd table is the maximum.
 */
static __always_inline void saw_select(struct fs_state *st, const struct call *c)
{
	struct task_struct *task = c->task;

	/* bump() does not mark the process as changed, unlike tally() */
	bump(st->events.c.selects);
	if ((__s32)call_arg(c, 0) > FD_SETSIZE &&
	    BPF_CORE_READ(task, files, fdt, max_fds) > FD_SETSIZE)
		tally(st, selects_wide, 1);
}

static __always_inline bool makes_task(__u8 shape)
{
	return shape == FS_SHAPE_TASK || shape == FS_SHAPE_TASK3;
}

/* Returns the errno of a failed call, or NOT_REFUSED. */
static __noinline int on_other_call(struct fs_state *st, const struct call *c)
{
	if (c->shape == FS_SHAPE_SELECT)
		saw_select(st, c);
	return is_other_refusal(c) ? -c->ret : NOT_REFUSED;
}

#define SAID_PREFIX 8

static __always_inline bool begins(const char *text, const char *with)
{
	for (int i = 0; i < SAID_PREFIX; i++)
		if (text[i] != with[i])
			return false;
	return true;
}

/*
 * Called for each log line. A failed system call may log its cause: __vm_enough_memory() logs since
 * 44b414c8715c (6.2), get_empty_filp() in all versions. The kernel rate-limits both log lines.
 */
static __always_inline int line_written(const char *text, unsigned long len)
{
	char start[SAID_PREFIX] = {};
	struct task_struct *task = current_task();
	struct fs_state *st;
	__u32 facts = 0;

	if (len < SAID_PREFIX)
		return 0;
	bpf_probe_read_kernel(start, sizeof(start), text);
	if (begins(start, "oom-kill"))
		oom_line(text, len);
	report_line(task, text, len);
	if (get(task, flags) & PF_KTHREAD)
		return 0;
	if (begins(start, "__vm_eno"))
		facts = FACT_SAID_COMMIT;
	else if (begins(start, "VFS: fil"))
		facts = FACT_SAID_FILE_MAX;
	else
		return 0;
	st = proc_of(get(task, group_leader));
	if (st)
		note_down(st, 0, facts);
	return 0;
}

SEC("tp_btf/console")
int BPF_PROG(on_console, const char *text, unsigned long len)
{
	return line_written(text, len);
}

#ifdef FS_HASH
SEC("raw_tp/console")
int raw_console(struct bpf_raw_tracepoint_args *ctx)
{
	return line_written((const char *)ctx->args[0], ctx->args[1]);
}
#endif
