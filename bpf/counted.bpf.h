/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what a limit counts, for failed calls that create a counted object: namespaces, mounts,
 * timers, keys and others. If several limits apply, the first one in the kernel's order that the
 * call exceeds is read. User space reads counts that only /proc contains: collect/counts.c.
 */
#ifndef FS_COUNTED_BPF_H
#define FS_COUNTED_BPF_H

#include "request_size.bpf.h"
#include "socket_option.bpf.h"
#include "user_objects.bpf.h"

#define RLIMIT_FSIZE	  1
#define RLIMIT_SIGPENDING 11
#define PIDNS_ADDING	  (1U << 31) /* include/linux/pid_namespace.h */

#define KEYCTL_UPDATE 2 /* include/uapi/linux/keyctl.h */
#define SHM_LOCK 11 /* include/uapi/linux/shm.h */

#define O_APPEND 02000 /* include/uapi/asm-generic/fcntl.h */

#define QUEUE_HARD_MESSAGES    65536 /* HARD_MSGMAX of include/linux/ipc_namespace.h */
#define QUEUE_HARD_BYTES       (16UL << 20) /* HARD_MSGSIZEMAX */

/* Reads counter `which` (enum rlimit_type) of the user: inc_rlimit_get_ucounts(). */
static __always_inline __u64 user_total(__u32 which)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct ucounts *at = NULL;
	__u64 count = NOT_KNOWN;

	if (!bpf_core_field_exists(at->rlimit))
		return NOT_KNOWN;
	at = BPF_CORE_READ(task, cred, ucounts);
	bpf_probe_read_kernel(&count, sizeof(count),
			      (void *)at + bpf_core_field_offset(struct ucounts, rlimit) +
				      which * sizeof(count));
	return count;
}

/*
 * Queued signals and POSIX timers count for the user that receives them. Another receiver than this
 * process may belong to another user, and has a limit of its own.
 */
static __always_inline void read_signals(struct refused_record *r)
{
	struct task_struct *leader = get(current_task(), group_leader);

	if (r->call == CALL_SIGQUEUE && r->args[0] != pid_inside(leader)) {
		r->counted.what = COUNTED_SIGNALS;
		return;
	}
	count_as(r, COUNTED_SIGNALS,
		 user_total(bpf_core_enum_value(enum rlimit_type, UCOUNT_RLIMIT_SIGPENDING)), 1,
		 soft_limit(get(current_task(), signal), RLIMIT_SIGPENDING));
}

/* Reads how many pids the pid namespace has. Since 7863dcc72d0f (6.14) each has a limit. */
static __always_inline void read_pids(struct refused_record *r)
{
	struct task_struct *task = current_task();
	struct pid_namespace *ns = BPF_CORE_READ(task, nsproxy, pid_ns_for_children);

	count_as(r, COUNTED_PIDS, BPF_CORE_READ(ns, pid_allocated) & ~PIDNS_ADDING, 1, NOT_KNOWN);
	r->counted.inside = !!BPF_CORE_READ(ns, level);
	if (bpf_core_field_exists(ns->pid_max))
		r->counted.limit = BPF_CORE_READ(ns, pid_max) - 1; /* pids are below pid_max */
}

static __always_inline void read_mounts(struct refused_record *r)
{
	struct mnt_namespace *ns = BPF_CORE_READ(current_task(), nsproxy, mnt_ns);

	/* before 5.18 the member had another name */
	if (bpf_core_field_exists(ns->nr_mounts))
		count_as(r, COUNTED_MOUNTS, BPF_CORE_READ(ns, nr_mounts), 1, NOT_KNOWN);
}

/* struct mq_attr of include/uapi/linux/mqueue.h, as far as the kernel checks it */
struct queue_attributes {
	long flags, messages, bytes;
};

static __always_inline __u64 most_queue_messages(struct task_struct *task)
{
	return has_capability(task, CAP_SYS_RESOURCE)
		       ? QUEUE_HARD_MESSAGES
		       : BPF_CORE_READ(task, nsproxy, ipc_ns, mq_msg_max);
}

static __always_inline __u64 most_queue_message_bytes(struct task_struct *task)
{
	return has_capability(task, CAP_SYS_RESOURCE)
		       ? QUEUE_HARD_BYTES
		       : BPF_CORE_READ(task, nsproxy, ipc_ns, mq_msgsize_max);
}

/* Returns whether a new message queue exceeds a limit of its IPC namespace: mq_attr_ok(). */
static __always_inline bool exceeds_queue_limits(struct task_struct *task, __u64 address)
{
	struct queue_attributes attr = {};

	if (!address || bpf_probe_read_user(&attr, sizeof(attr), (void *)address))
		return false;
	/* numbers below 1 are invalid, whatever the limit is */
	return attr.messages > 0 && attr.bytes > 0 &&
	       ((__u64)attr.messages > most_queue_messages(task) ||
		(__u64)attr.bytes > most_queue_message_bytes(task));
}

/*
 * Reads which limit of the IPC namespace a new message queue exceeds: mq_attr_ok() and
 * mqueue_create_attr() in ipc/mqueue.c.
 */
record_part(read_queue_limits)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct ipc_namespace *ns = BPF_CORE_READ(task, nsproxy, ipc_ns);
	struct queue_attributes attr = {};

	r->counted.inside = BPF_CORE_READ(ns, ns.inum) != INITIAL_IPC;
	if (r->error == ENOSPC) {
		count_as(r, COUNTED_QUEUES, BPF_CORE_READ(ns, mq_queues_count), 1,
			 BPF_CORE_READ(ns, mq_queues_max));
		return;
	}
	if (r->facts & FACT_COMPAT || !r->args[3] ||
	    bpf_probe_read_user(&attr, sizeof(attr), (void *)r->args[3]))
		return;
	if ((__u64)attr.messages > most_queue_messages(task))
		count_as(r, COUNTED_QUEUE_MESSAGES, 0, attr.messages, most_queue_messages(task));
	else
		count_as(r, COUNTED_QUEUE_MESSAGE_BYTES, 0, attr.bytes,
			 most_queue_message_bytes(task));
}

static __always_inline void read_protection_keys(struct refused_record *r)
{
	struct mm_struct *mm = get(current_task(), mm);
	__u32 keys;

	if (!mm || !bpf_core_field_exists(mm->context.pkey_allocation_map))
		return;
	keys = 8 * bpf_core_field_size(mm->context.pkey_allocation_map);
	count_as(r, COUNTED_PROTECTION_KEYS,
		 popcount(BPF_CORE_READ(mm, context.pkey_allocation_map) & ((1UL << keys) - 1)), 1,
		 keys);
}

/*
 * Returns the offset at which a write to a file begins, or NOT_KNOWN. A failed write changes no
 * offset.
 */
static __always_inline __u64 write_offset(const struct refused_record *r, struct file *file,
					  __u32 shape)
{
	__u64 at = BPF_CORE_READ(file, f_pos);

	if (shape == FS_SHAPE_SPACE_AT2 && r->args[5])
		return NOT_KNOWN; /* flags such as RWF_APPEND */
	if (BPF_CORE_READ(file, f_flags) & O_APPEND)
		return BPF_CORE_READ(file, f_inode, i_size);
	if (shape == FS_SHAPE_SPACE2 && r->args[3] &&
	    bpf_probe_read_user(&at, sizeof(at), (void *)r->args[3]))
		return NOT_KNOWN;
	/* pwritev2() takes -1 for the offset of the file */
	if (shape != FS_SHAPE_SPACE && shape != FS_SHAPE_SPACE2 && ~r->args[3])
		return r->args[3];
	return at;
}

/*
 * Reads where the call begins or ends in the file, of which RLIMIT_FSIZE limits the size. A write
 * fails only if not even one byte fits: generic_write_check_limits().
 */
record_part(read_file_end)
{
	__u64 limit = soft_limit(get(current_task(), signal), RLIMIT_FSIZE), end;
	__u32 fd = r->args[with == FS_SHAPE_SPACE2 ? 2 : 0];
	struct file *file = (struct file *)file_of_fd(as_task(current_task()), fd);

	if (!file)
		return;
	if (r->call == CALL_WRITE) {
		count_as(r, COUNTED_FILE_BYTES, write_offset(r, file, with), 1, limit);
		return;
	}
	end = r->call == CALL_FTRUNCATE ? r->args[1] : r->args[2] + r->args[3];
	/* fallocate() first compares with the largest file of the file system */
	if (r->call == CALL_FALLOCATE &&
	    end > (__u64)BPF_CORE_READ(file, f_inode, i_sb, s_maxbytes))
		return;
	count_as(r, COUNTED_FILE_BYTES, 0, end, limit);
}

static __always_inline void read_locked_segment(struct refused_record *r)
{
	struct signal_struct *sig = get(current_task(), signal);

	read_segment(r);
	count_as(r, COUNTED_LOCKED_PAGES,
		 user_total(bpf_core_enum_value(enum rlimit_type, UCOUNT_RLIMIT_MEMLOCK)),
		 (r->asked.bytes + PAGE_BYTES - 1) / PAGE_BYTES,
		 soft_limit(sig, RLIMIT_MEMLOCK) / PAGE_BYTES);
}

static __always_inline void read_length(struct refused_record *r)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct ipc_namespace *ns = BPF_CORE_READ(task, nsproxy, ipc_ns);

	r->counted.inside = BPF_CORE_READ(ns, ns.inum) != INITIAL_IPC;
	if (r->call == CALL_POLL)
		count_as(r, COUNTED_POLLED_FDS, 0, (__u32)r->args[1], r->fd_soft);
	else if (r->call == CALL_MSGSND)
		count_as(r, COUNTED_MESSAGE_BYTES, 0, r->args[2], BPF_CORE_READ(ns, msg_ctlmax));
	else
		count_as(r, COUNTED_SEMAPHORE_OPS, 0, (__u32)r->args[2],
			 BPF_CORE_READ(ns, sem_ctls[SEM_PER_CALL]));
}

#define PERF_TYPE_BREAKPOINT 5 /* include/uapi/linux/perf_event.h */

/* Returns whether the struct perf_event_attr at a user address requests a hardware breakpoint. */
static __always_inline bool is_breakpoint(__u64 address)
{
	__u32 type = 0;

	bpf_probe_read_user(&type, sizeof(type), (void *)address);
	return type == PERF_TYPE_BREAKPOINT;
}

/* Reads what the kernel counts for a call that creates an object; `with` is its enum fs_shape. */
record_part(read_counted)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	r->counted.used = r->counted.limit = NOT_KNOWN;
	r->counted.owner = BPF_CORE_READ(task, cred, fsuid.val);
	switch (r->call) {
	case CALL_UNSHARE:
		read_namespaces(r, with);
		break;
	case CALL_CLONE:
		if (r->error == ENOSPC)
			read_namespaces(r, with);
		else if (r->error == EAGAIN)
			read_pids(r);
		break;
	case CALL_FANOTIFY_MARK:
		read_marks(r, r->args[0]);
		break;
	case CALL_MOUNT:
		read_mounts(r);
		break;
	case CALL_TIMER_CREATE:
	case CALL_SIGQUEUE:
		read_signals(r);
		break;
	case CALL_SENDMSG:
		count_as(r, COUNTED_FDS_IN_FLIGHT,
			 BPF_CORE_READ(task, cred, user, unix_inflight), 0, r->fd_soft);
		break;
	case CALL_SETSOCKOPT:
		read_socket_option(r, r->args[0]);
		if (group_request(r) != REQUEST_OTHER)
			read_group_limits(r, r->args[0]);
		break;
	case CALL_PKEY_ALLOC:
		read_protection_keys(r);
		break;
	case CALL_SHMCTL:
		read_locked_segment(r);
		break;
	case CALL_POLL:
	case CALL_MSGSND:
	case CALL_SEMOP:
		read_length(r);
		break;
	case CALL_WRITE:
	case CALL_FALLOCATE:
	case CALL_FTRUNCATE:
		if (r->error == EFBIG)
			read_file_end(r, with);
		break;
	case CALL_ADD_KEY:
		count_as(r, COUNTED_KEYS, NOT_KNOWN, (__u32)r->args[3], NOT_KNOWN);
		break;
	case CALL_KEYCTL:
		count_as(r, COUNTED_KEYS, NOT_KNOWN,
			 r->args[0] == KEYCTL_UPDATE ? (__u32)r->args[3] : 0, NOT_KNOWN);
		break;
	case CALL_IO_SETUP:
		count_as(r, COUNTED_AIO_REQUESTS, NOT_KNOWN, (__u32)r->args[0], NOT_KNOWN);
		break;
	case CALL_PERF_EVENT:
		if (r->error == ENOSPC && is_breakpoint(r->args[0]))
			r->counted.what = COUNTED_BREAKPOINTS;
		break;
	case CALL_OPEN:
		if (with == FS_SHAPE_QUEUE && (r->error == ENOSPC || r->error == EINVAL))
			read_queue_limits(r, 0);
		else if (r->error == ENOSPC)
			r->counted.what = COUNTED_PTYS;
		break;
	}
}

#endif
