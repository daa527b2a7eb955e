// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/proc_scan.h"

/*
 * Finds the entry of a process in `orphans`. birth_ns: see proc_scan_birth(); 0: any. Returns
 * whether there is one.
 */
static bool find_orphan(const struct object *o, __u32 pid, __u64 birth_ns, struct process_key *ret)
{
	int orphans = bpf_map__fd(object_map(o, "orphans"));
	struct process_key last;
	void *from = NULL;

	while (!bpf_map_get_next_key(orphans, from, ret)) {
		if (ret->pid == pid && (!birth_ns || proc_scan_birth(ret->start_ns) == birth_ns))
			return true;
		last = *ret;
		from = &last;
	}
	return false;
}

/*
 * Returns whether the state of a process moved to a new main thread between two lookups. PROC_MOVED
 * changes at each such move. After two moves, PROC_MOVED is as before, but `execs` differs.
 */
static bool is_moved(const struct fs_state *before, const struct fs_state *now)
{
	return (before->flags ^ now->flags) & PROC_MOVED || before->execs != now->execs;
}

/*
 * Reads state that BPF programs moved to `orphans`. Returns as state_read(). If the entry is
 * deleted during the first lookup, the copy may contain another process: the kernel reuses the
 * memory at once. The second lookup then does not find the entry.
 */
static int read_orphan(const struct object *o, const struct process_key *of,
		       struct fs_whole_state *ret)
{
	int orphans = bpf_map__fd(object_map(o, "orphans"));
	struct fs_whole_state now;

	if (bpf_map_lookup_elem(orphans, of, ret) || ret->st.flags & PROC_HALF ||
	    bpf_map_lookup_elem(orphans, of, &now) || is_moved(&ret->st, &now.st))
		return -EAGAIN;
	return 1;
}

/*
 * Reads the state of a process. When the main thread of a process exits, or a clone() fails in it,
 * BPF programs move the state to another table. During the move, counters of the old copy become 0.
 * The second lookup detects that the copy was made during a move. The kernel may have freed the old
 * copy. If another thread calls execve(), the pidfd refers to that thread from then on.
 */
static int read_by_task(const struct object *o, __u32 pid, int pidfd, struct fs_whole_state *ret)
{
	int procs = bpf_map__fd(object_map(o, "procs"));
	struct process_key of;
	struct fs_state now;

	memset(ret, 0, sizeof(*ret));
	if (bpf_map_lookup_elem(procs, &pidfd, &ret->st))
		return o->shared->orphans && find_orphan(o, pid, 0, &of) ? read_orphan(o, &of, ret)
									 : 0;
	bpf_map_lookup_elem(bpf_map__fd(object_map(o, "slots")), &pidfd, &ret->slot);
#define X(part, PART, group)                                                                       \
	bpf_map_lookup_elem(bpf_map__fd(object_map(o, "part_" #part)), &pidfd, &ret->part);
	FS_PARTS(X)
#undef X
	if (bpf_map_lookup_elem(procs, &pidfd, &now))
		return -EAGAIN;
	if (!(now.flags & PROC_LEFT))
		return is_moved(&ret->st, &now) ? -EAGAIN : 1;
	of = (struct process_key){.start_ns = now.start_ns, .pid = now.pid};
	return read_orphan(o, &of, ret);
}

int state_read(const struct object *o, __u32 pid, struct fs_whole_state *ret)
{
	int pidfd, found;

	if (o->build == OBJECT_HASH)
		return !bpf_map_lookup_elem(bpf_map__fd(object_map(o, "procs")), &pid, ret);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return 0;
	found = read_by_task(o, pid, pidfd, ret);
	close(pidfd);
	return found;
}

bool state_waits(const struct object *o, __u32 pid, __u64 birth_ns)
{
	struct process_key of;

	return o->build != OBJECT_HASH && find_orphan(o, pid, birth_ns, &of);
}

/* Counts an entry that is about to be inserted, or (-1) one that was not, for proc_find(). */
static void count_entry(const struct object *o, __u32 pid, __u32 n)
{
	if (o->build == OBJECT_HASH)
		__atomic_fetch_add(&o->shared->entries_near[pid & (FS_ENTRIES_NEAR - 1)], n,
				   __ATOMIC_SEQ_CST);
}

int state_begin(const struct object *o, __u32 pid, __u32 flags)
{
	int procs = bpf_map__fd(object_map(o, "procs"));
	int pidfd = syscall(SYS_pidfd_open, pid, 0), err = 0;
	struct fs_whole_state whole = {.st.flags = flags, .st.stored = 1U << FS_STORED_STATE};
	void *key = &pidfd;

	if (pidfd < 0)
		return -errno;
	if (o->build == OBJECT_HASH)
		key = &pid;
	count_entry(o, pid, 1);
	if (bpf_map_update_elem(procs, key, &whole, BPF_NOEXIST)) {
		err = errno == EEXIST ? 0 : -errno;
		count_entry(o, pid, -1);
	} else {
		__atomic_fetch_add(&o->shared->stored[FS_STORED_STATE], 1, __ATOMIC_RELAXED);
	}
	close(pidfd);
	return err;
}
