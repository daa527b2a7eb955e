// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/proc_scan.h"

/*
 * Reads the state of a process. When the main thread of a process exits, BPF programs move the
 * state to another table. During the move, counters of the old copy become 0. The second lookup
 * detects that the copy was made during a move.
 */
static int read_by_task(const struct object *o, int pidfd, struct fs_state *ret)
{
	int procs = bpf_map__fd(object_map(o, "procs"));
	struct process_key of;
	struct fs_state now;

	if (bpf_map_lookup_elem(procs, &pidfd, ret))
		return 0;
	if (bpf_map_lookup_elem(procs, &pidfd, &now))
		return -EAGAIN;
	if (!(now.flags & PROC_LEFT))
		return 1;
	of = (struct process_key){.start_ns = now.start_ns, .pid = now.pid};
	if (bpf_map_lookup_elem(bpf_map__fd(object_map(o, "orphans")), &of, ret) ||
	    ret->flags & PROC_HALF)
		return -EAGAIN;
	return 1;
}

int state_read(const struct object *o, __u32 pid, struct fs_state *ret)
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

int state_begin(const struct object *o, __u32 pid, __u32 flags)
{
	int procs = bpf_map__fd(object_map(o, "procs"));
	int pidfd = syscall(SYS_pidfd_open, pid, 0), err = 0;
	struct fs_state st = {.flags = flags};
	void *key = &pidfd;

	if (pidfd < 0)
		return -errno;
	if (o->build == OBJECT_HASH)
		key = &pid;
	if (bpf_map_update_elem(procs, key, &st, BPF_NOEXIST))
		err = errno == EEXIST ? 0 : -errno;
	close(pidfd);
	return err;
}
