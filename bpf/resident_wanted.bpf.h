/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes whose pages are chosen if faultscope watches all processes: stacks of all of them
 * would cost too much. User space adds processes; children of these are added when they are forked,
 * before they can touch a page.
 */
#ifndef FS_RESIDENT_WANTED_BPF_H
#define FS_RESIDENT_WANTED_BPF_H

#include "state.bpf.h"

#ifndef FS_HASH

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_RESIDENT_WANTED);
	__type(key, __u32);  /* key: process ID (tgid) */
	__type(value, __u8); /* enum fs_resident_since */
} resident_wanted SEC(".maps");

static __always_inline bool is_wanted(__u32 tgid)
{
	return bpf_map_lookup_elem(&resident_wanted, &tgid);
}

/* Called at a fork. If the map is full, user space may add the child later. */
static __always_inline void want_child(__u32 parent, __u32 child)
{
	const __u8 since = FS_WANTED_SINCE_FORK;

	if (config.resident.on && config.watch_all && is_wanted(parent))
		bpf_map_update_elem(&resident_wanted, &child, &since, BPF_ANY);
}

/* Called when a process ends. */
static __always_inline void unwant(__u32 tgid)
{
	if (config.resident.on && config.watch_all && is_wanted(tgid))
		bpf_map_delete_elem(&resident_wanted, &tgid);
}

#else
#define want_child(parent, child) ((void)0)
#define unwant(tgid)		  ((void)0)
#endif

#endif
