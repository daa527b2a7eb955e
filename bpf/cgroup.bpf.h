/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the path of each new cgroup, because a short-lived cgroup may be gone before user space
 * reads /proc. Process records contain no cgroup v1 ids. For cgroup v1, this code therefore also
 * sends which process moved to which cgroup.
 */
#ifndef FS_CGROUP_BPF_H
#define FS_CGROUP_BPF_H

#include "maps.bpf.h"

static __always_inline void send_cgroup(struct cgroup *cgroup, __u32 hierarchy, const char *path,
					__u32 pid)
{
	struct cgroup_path_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	fill_header(&r->h, RECORD_CGROUP, sizeof(*r));
	r->id = BPF_CORE_READ(cgroup, kn, id);
	r->hierarchy = hierarchy;
	r->pid = pid;
	if (bpf_probe_read_kernel_str(r->path, sizeof(r->path), path) < 0)
		r->path[0] = 0;
	bpf_ringbuf_submit(r, wake_when_filling());
}

SEC("raw_tp/cgroup_mkdir")
int on_cgroup_made(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *cgroup = (struct cgroup *)ctx->args[0];

	if (!BPF_CORE_READ(cgroup, root, hierarchy_id))
		send_cgroup(cgroup, 0, (const char *)ctx->args[1], 0);
	return 0;
}

SEC("raw_tp/cgroup_attach_task")
int on_cgroup_joined(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *cgroup = (struct cgroup *)ctx->args[0];
	struct task_struct *task = (struct task_struct *)ctx->args[2];
	__u32 hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
	__u32 pid = BPF_CORE_READ(task, tgid);

	if (hierarchy && pid == (__u32)BPF_CORE_READ(task, pid))
		send_cgroup(cgroup, hierarchy, (const char *)ctx->args[1], pid);
	return 0;
}

#endif
