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
 * Reads the state of a process. When the main thread of a process exits, BPF programs move the
 * state to another table. During the move, counters of the old copy become 0. The second lookup
 * detects that the copy was made during a move.
 */
static int read_by_task(const struct object *o, int pidfd, struct fs_whole_state *ret)
{
	int procs = bpf_map__fd(object_map(o, "procs"));
	struct process_key of;
	struct fs_state now;

	memset(ret, 0, sizeof(*ret));
	if (bpf_map_lookup_elem(procs, &pidfd, &ret->st))
		return 0;
	bpf_map_lookup_elem(bpf_map__fd(object_map(o, "slots")), &pidfd, &ret->slot);
#define X(part, PART, group)                                                                       \
	bpf_map_lookup_elem(bpf_map__fd(object_map(o, "part_" #part)), &pidfd, &ret->part);
	FS_PARTS(X)
#undef X
	if (bpf_map_lookup_elem(procs, &pidfd, &now))
		return -EAGAIN;
	if (!(now.flags & PROC_LEFT))
		return 1;
	of = (struct process_key){.start_ns = now.start_ns, .pid = now.pid};
	if (bpf_map_lookup_elem(bpf_map__fd(object_map(o, "orphans")), &of, ret) ||
	    ret->st.flags & PROC_HALF)
		return -EAGAIN;
	return 1;
}

int state_read(const struct object *o, __u32 pid, struct fs_whole_state *ret)
{
	int pidfd, found;

	if (o->build == OBJECT_HASH)
		return !bpf_map_lookup_elem(bpf_map__fd(object_map(o, "procs")), &pid, ret);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return 0;
	found = read_by_task(o, pidfd, ret);
	close(pidfd);
	return found;
}

bool state_waits(const struct object *o, __u32 pid, __u64 birth_ns)
{
	int orphans = bpf_map__fd(object_map(o, "orphans"));
	struct process_key of, next;
	void *last = NULL;

	while (o->build != OBJECT_HASH && !bpf_map_get_next_key(orphans, last, &next)) {
		if (next.pid == pid && proc_scan_birth(next.start_ns) == birth_ns)
			return true;
		of = next;
		last = &of;
	}
	return false;
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
