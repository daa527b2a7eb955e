/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what a limit counts, for failed calls that create a counted object: namespaces, mounts,
 * timers, keys and others. If several limits apply, the first one in the kernel's order that the
 * call exceeds is read. User space reads counts that only /proc contains: collect/counts.c.
 */
#ifndef FS_COUNTED_BPF_H
#define FS_COUNTED_BPF_H

#include "request_size.bpf.h"

/* Values of include/uapi/linux/sched.h. read_namespaces() has the order of the kernel. */
#define CLONE_NEWTIME	0x00000080
#define CLONE_NEWNS	0x00020000
#define CLONE_NEWCGROUP 0x02000000
#define CLONE_NEWUTS	0x04000000
#define CLONE_NEWIPC	0x08000000
#define CLONE_NEWUSER	0x10000000
#define CLONE_NEWPID	0x20000000
#define CLONE_NEWNET	0x40000000
#define CLONE_SIGNAL	0xff /* clone(): exit signal; unshare() and clone3(): CLONE_NEWTIME */
#define MOST_NESTED	32   /* create_user_ns() and create_pid_namespace() */

#define RLIMIT_FSIZE	  1
#define RLIMIT_SIGPENDING 11
#define PIDNS_ADDING	  (1U << 31) /* include/linux/pid_namespace.h */

#define KEYCTL_UPDATE 2 /* include/uapi/linux/keyctl.h */
#define SHM_LOCK 11 /* include/uapi/linux/shm.h */

/* Values of include/uapi/linux/in.h and include/uapi/asm-generic/socket.h */
#define SOL_IP		       0
#define IP_ADD_MEMBERSHIP      35
#define IP_ADD_SOURCE_MEMBERSHIP 39
#define MCAST_JOIN_GROUP       42
#define MCAST_JOIN_SOURCE_GROUP 46
#define SOL_SOCKET	       1
#define SO_ATTACH_FILTER       26
#define SO_ATTACH_REUSEPORT_CBPF 51
#define FILTER_INSN_BYTES      8 /* struct sock_filter */
#define MEMBERSHIP_BYTES       48 /* struct ip_mc_socklist */

#define QUEUE_HARD_MESSAGES    65536 /* HARD_MSGMAX of include/linux/ipc_namespace.h */
#define QUEUE_HARD_BYTES       (16UL << 20) /* HARD_MSGSIZEMAX */

static __always_inline void count_as(struct refused_record *r, __u32 what, __u64 used, __u64 asked,
				     __u64 limit)
{
	r->counted.what = what;
	r->counted.used = used;
	r->counted.asked = asked;
	r->counted.limit = limit;
}

/* Reads the counter `with` (enum ucount_type) of the user, where it is closest to its limit. */
record_part(read_user_objects)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);

	r->counted.used = r->counted.limit = NOT_KNOWN;
	if (bpf_core_field_exists(cred->ucounts))
		read_ucount(BPF_CORE_READ(cred, ucounts), with, &r->counted.used,
			    &r->counted.limit);
	r->counted.asked = 1;
}

#define is_at_limit(r) ((r)->counted.used >= (r)->counted.limit)

/* Reads the counter of one type of namespaces, unless an earlier type has reached its limit. */
#define consider(r, flags, type, kind)                                                             \
	do {                                                                                       \
		if ((flags)&CLONE_NEW##type && !is_at_limit(r)) {                                  \
			read_user_objects(r, bpf_core_enum_value(enum ucount_type,                 \
								 UCOUNT_##kind##_NAMESPACES));     \
			r->counted.what = COUNTED_##kind##_NAMESPACES;                             \
		}                                                                                  \
	} while (0)

static __always_inline __u64 clone_flags(const struct refused_record *r, __u32 shape)
{
	__u64 flags = r->args[0];

	if (shape == FS_SHAPE_TASK)
		return flags & ~CLONE_SIGNAL;
	/* the first member of struct clone_args are the flags */
	if (shape == FS_SHAPE_TASK3)
		bpf_probe_read_user(&flags, sizeof(flags), (void *)r->args[0]);
	return flags;
}

record_part(read_namespaces)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 flags = clone_flags(r, with);
	__u32 level;

	r->counted.used = 0;
	r->counted.limit = NOT_KNOWN;
	if (flags & CLONE_NEWUSER) {
		level = BPF_CORE_READ(task, cred, user_ns, level);
		if (level > MOST_NESTED) {
			count_as(r, COUNTED_NESTED_NAMESPACES, level, 0, MOST_NESTED);
			return;
		}
	}
	consider(r, flags, USER, USER);
	consider(r, flags, NS, MNT);
	consider(r, flags, UTS, UTS);
	consider(r, flags, IPC, IPC);
	level = BPF_CORE_READ(task, nsproxy, pid_ns_for_children, level) + 1;
	if (flags & CLONE_NEWPID && !is_at_limit(r) && level > MOST_NESTED) {
		count_as(r, COUNTED_NESTED_NAMESPACES, level, 0, MOST_NESTED);
		return;
	}
	consider(r, flags, PID, PID);
	consider(r, flags, CGROUP, CGROUP);
	consider(r, flags, NET, NET);
	consider(r, flags, TIME, TIME);
}

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

/*
 * Reads the memory for options of a socket. `bytes` are what the call needs of it. The kernel
 * compares the sum with net.core.optmem_max, which each network namespace has since 6.8.
 */
static __always_inline void read_option_memory(struct refused_record *r, struct sock *sk,
					       __u64 bytes)
{
	struct net *net = BPF_CORE_READ(current_task(), nsproxy, net_ns);

	if (bpf_core_field_exists(net->core.sysctl_optmem_max))
		count_as(r, COUNTED_OPTION_BYTES, BPF_CORE_READ(sk, sk_omem_alloc.counter), bytes,
			 BPF_CORE_READ(net, core.sysctl_optmem_max));
	r->counted.inside = 1;
}

static __always_inline bool joins_group(const struct refused_record *r)
{
	return r->args[1] == SOL_IP &&
	       (r->args[2] == IP_ADD_MEMBERSHIP || r->args[2] == IP_ADD_SOURCE_MEMBERSHIP ||
		r->args[2] == MCAST_JOIN_GROUP || r->args[2] == MCAST_JOIN_SOURCE_GROUP);
}

/*
 * __ip_mc_join_group() returns ENOBUFS if the socket is a member of
 * net.ipv4.igmp_max_memberships groups, or else if it has no room for options.
 */
record_part(read_socket_option)
{
	struct net *net = BPF_CORE_READ(current_task(), nsproxy, net_ns);
	__u64 file = file_of_fd(as_task(current_task()), with);
	struct socket *socket;
	__u16 insns = 0;
	struct sock *sk;
	__u64 most;

	if (!file)
		return;
	socket = BPF_CORE_READ((struct file *)file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	if (joins_group(r)) {
		read_option_memory(r, sk, MEMBERSHIP_BYTES);
		if (r->counted.used + MEMBERSHIP_BYTES > r->counted.limit)
			return;
		most = BPF_CORE_READ(net, ipv4.sysctl_igmp_max_memberships);
		count_as(r, COUNTED_MULTICAST_GROUPS, most, 1, most);
	} else if (r->args[1] == SOL_SOCKET && (r->args[2] == SO_ATTACH_FILTER ||
						r->args[2] == SO_ATTACH_REUSEPORT_CBPF)) {
		bpf_probe_read_user(&insns, sizeof(insns), (void *)r->args[3]);
		read_option_memory(r, sk, insns * FILTER_INSN_BYTES);
	} else {
		read_option_memory(r, sk, 0);
	}
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
	return (__u64)attr.messages > most_queue_messages(task) ||
	       (__u64)attr.bytes > most_queue_message_bytes(task);
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

/* Reads where the call would have ended in the file, of which RLIMIT_FSIZE limits the size. */
static __always_inline void read_file_end(struct refused_record *r)
{
	__u64 limit = soft_limit(get(current_task(), signal), RLIMIT_FSIZE);
	__u64 end = limit;

	/* a write fails only if nothing fits, so it begins at the limit or above */
	if (r->call == CALL_FTRUNCATE)
		end = r->args[1];
	else if (r->call == CALL_FALLOCATE)
		end = r->args[2] + r->args[3];
	count_as(r, COUNTED_FILE_BYTES, 0, end > limit ? end : limit + 1, limit);
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
		if (!bpf_core_enum_value_exists(enum ucount_type, UCOUNT_FANOTIFY_MARKS))
			break;
		read_user_objects(r, bpf_core_enum_value(enum ucount_type, UCOUNT_FANOTIFY_MARKS));
		r->counted.what = COUNTED_FANOTIFY_MARKS;
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
			read_file_end(r);
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
