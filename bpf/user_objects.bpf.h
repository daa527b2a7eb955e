/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads how many namespaces and fanotify marks a user has: kernel/ucount.c. A user namespace limits
 * them for each of its users. What a process creates counts for its user in its own user namespace,
 * and for the creator of each namespace above.
 */
#ifndef FS_USER_OBJECTS_BPF_H
#define FS_USER_OBJECTS_BPF_H

#include "evidence.bpf.h"

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

/*
 * Returns the counters of the user in a user namespace, or 0. Before 905ae01c4ae2 (5.14), a process
 * has no pointer to them. Each of its namespaces has one to the counters of its creator, who may be
 * the same user.
 */
#define take_ucounts(found, task, member, ns, uid)                                                 \
	do {                                                                                       \
		struct ucounts *of__ = BPF_CORE_READ(task, nsproxy, member, ucounts);              \
                                                                                                   \
		if (of__ && BPF_CORE_READ(of__, ns) == (ns) &&                                     \
		    BPF_CORE_READ(of__, uid.val) == (uid))                                         \
			(found) = (__u64)of__;                                                     \
	} while (0)

once_verified __u64 ucounts_of_user(__u32 any)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns);
	__u32 uid = BPF_CORE_READ(cred, euid.val);
	__u64 found = 0;

	barrier_var(any);
	if (bpf_core_field_exists(cred->ucounts))
		return (__u64)BPF_CORE_READ(cred, ucounts);
	take_ucounts(found, task, uts_ns, ns, uid);
	take_ucounts(found, task, ipc_ns, ns, uid);
	take_ucounts(found, task, mnt_ns, ns, uid);
	take_ucounts(found, task, pid_ns_for_children, ns, uid);
	take_ucounts(found, task, net_ns, ns, uid);
	take_ucounts(found, task, cgroup_ns, ns, uid);
	return found;
}

/* Stores the level of a walk that refused one more object, or that is closest to its limit. */
static __always_inline void take_level(struct refused_record *r, const struct user_walk *w)
{
	r->counted.used = w->count;
	r->counted.limit = w->max;
	r->counted.owner = w->uid;
	r->counted.namespace = w->namespace;
	r->counted.level = w->level;
	r->counted.inside = !w->namespace ? COUNTED_BY_HOST
			    : w->level	  ? COUNTED_ELSEWHERE
					  : COUNTED_INSIDE;
}

#define is_at_limit(r) (~(r)->counted.limit && (r)->counted.used >= (r)->counted.limit)

/*
 * Reads the counter `with` (enum ucount_type) of the user at the level that refused one more
 * object. If the counter of the user in its own namespace is not known, and no other fact decides,
 * count and limit stay unknown.
 */
record_part(read_user_objects)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct user_walk w = {};
	struct user_namespace *ns;

	r->counted.asked = 1;
	begin_walk(&w, with);
	w.at = (struct ucounts *)ucounts_of_user(0);
	if (w.at) {
		repeat(MOST_LEVELS, next_user_level, &w);
		take_level(r, &w);
		return;
	}
	ns = BPF_CORE_READ(task, cred, user_ns);
	w.at = BPF_CORE_READ(ns, ucounts);
	if (!ucount_max(ns, with)) {
		w.count = w.max = 0;
		w.uid = BPF_CORE_READ(task, cred, euid.val);
		w.namespace = w.at ? BPF_CORE_READ(ns, ns.inum) : 0;
		take_level(r, &w);
		return;
	}
	w.up++;
	repeat(MOST_LEVELS, next_user_level, &w);
	take_level(r, &w);
	if (!is_at_limit(r))
		r->counted.used = r->counted.limit = NOT_KNOWN;
}

/* Reads the marks of the user who created the group of fanotify, which is the fd `with`. */
record_part(read_marks)
{
	__u64 file = file_of_fd(as_task(current_task()), with);
	struct user_walk w = {};
	struct fsnotify_group *group;

	/* UCOUNT_FANOTIFY_MARKS exists since 5b8fea65d197 (5.13). */
	if (!file || !bpf_core_enum_value_exists(enum ucount_type, UCOUNT_FANOTIFY_MARKS))
		return;
	group = BPF_CORE_READ((struct file *)file, private_data);
	w.at = BPF_CORE_READ(group, fanotify_data.ucounts);
	begin_walk(&w, bpf_core_enum_value(enum ucount_type, UCOUNT_FANOTIFY_MARKS));
	repeat(MOST_LEVELS, next_user_level, &w);
	r->counted.what = COUNTED_FANOTIFY_MARKS;
	r->counted.asked = 1;
	take_level(r, &w);
}

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

/*
 * Reads the counter of one type of namespaces, unless an earlier type has reached its limit. Types
 * with unknown counters may have.
 */
#define consider(r, flags, type, kind)                                                             \
	do {                                                                                       \
		if ((flags)&CLONE_NEW##type && !is_at_limit(r)) {                                  \
			read_user_objects(r, bpf_core_enum_value(enum ucount_type,                 \
								 UCOUNT_##kind##_NAMESPACES));     \
			(r)->counted.what = COUNTED_##kind##_NAMESPACES;                           \
			if (!~(r)->counted.used)                                                   \
				(r)->counted.types |= 1U << COUNTED_##kind##_NAMESPACES;           \
		}                                                                                  \
	} while (0)

/* Returns whether a namespace is at a level too many, and stores that as the limit. */
static __always_inline bool is_too_deep(struct refused_record *r, __u32 level)
{
	if (level <= MOST_NESTED)
		return false;
	count_as(r, COUNTED_NESTED_NAMESPACES, level, 0, MOST_NESTED);
	r->counted.inside = COUNTED_BY_HOST;
	return true;
}

record_part(read_namespaces)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 flags = clone_flags(r, with);

	r->counted.used = 0;
	r->counted.limit = NOT_KNOWN;
	if (flags & CLONE_NEWUSER && is_too_deep(r, BPF_CORE_READ(task, cred, user_ns, level)))
		return;
	consider(r, flags, USER, USER);
	consider(r, flags, NS, MNT);
	consider(r, flags, UTS, UTS);
	consider(r, flags, IPC, IPC);
	if (flags & CLONE_NEWPID && !is_at_limit(r) &&
	    is_too_deep(r, BPF_CORE_READ(task, nsproxy, pid_ns_for_children, level) + 1))
		return;
	consider(r, flags, PID, PID);
	consider(r, flags, CGROUP, CGROUP);
	consider(r, flags, NET, NET);
	consider(r, flags, TIME, TIME);
	if (is_at_limit(r) || !r->counted.types)
		return;
	/* one of the types whose counters are not known */
	if (r->counted.types & (r->counted.types - 1))
		r->counted.what = COUNTED_NAMESPACES;
	else
		r->counted.what = log2_of(r->counted.types);
	r->counted.used = r->counted.limit = NOT_KNOWN;
}

#endif
