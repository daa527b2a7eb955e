/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the live source. Loads the kernel side, attaches what the kernel allows, looks. */
#ifndef FS_PROBE_LIVE_H
#define FS_PROBE_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "probe/attach_choice.h"
#include "probe/source.h"
#include "probe/statistics.h"

#define TIER_ALL 0xfu

struct live_options {
	bool watch_all;	    /* else only what live_watch() and live_run_parent() name */
	unsigned int tiers; /* bit i: pay for tier i */
	bool majors;	    /* time major faults alone; buckets are powers of two of a second */
	bool attribute;	    /* keep who grows, and tell user stacks */
	/* from how many mappings and descriptors of a process on */
	unsigned int attribute_maps, attribute_fds;
	/* Whether a process that a record told of has ended; NULL: places of growth are not given
	 * back. */
	bool (*has_ended)(void *ctx, const struct process_key *of);
	void *ended_ctx;
	unsigned int ring_bytes; /* a power of two; 0: as it is built */
	bool examines;		 /* blind is an answer too: opens where nothing would be counted */
	const char *btf_path;	 /* where the running kernel offers none; NULL: see btf.h */
	const char
		*forced[HOOKS_MAX]; /* by hook: a mechanism, or "none"; NULL: the best that works */
};

/*
 * Loads and attaches. Returns 0 and a source to close, or -EPERM, -ENOSYS (the kernel lacks what
 * is needed), -errno; `error` then says what, why and what to do.
 */
int live_open(const struct live_options *opt, struct source **ret, char *error, size_t size);

/*
 * Watches a process that lives already, given its pid in our namespace; with `follow` the children
 * it makes from now on too. -EOPNOTSUPP: not in a pid namespace with this state.
 */
int live_watch(struct source *src, pid_t pid, bool follow);

/* The children that we make from now on are watched as the command of `run`, or no longer. */
void live_run_parent(struct source *src, bool begin);

/*
 * Page faults are sampled, or no longer: where user stacks are kept, classes are told, and the
 * kernel takes the build with task storage; elsewhere it changes nothing.
 */
void live_sample(struct source *src, bool on);

/* A process' pid as records have it, which is the initial namespace's; 0: not known. */
pid_t live_pid_of(struct source *src, pid_t pid);

/* Whether looks and map commands are refused to who has no right to BPF (before 5.19). */
bool live_needs_rights(struct source *src);

/* Adds to the events that were missed: what a look found out. */
void live_count_missed(struct source *src, __u64 events);

bool live_scans_proc(const struct source *src);

/* Whether looks see no process outside of our own pid namespace: the iterator over all tasks. */
bool live_scan_is_confined(const struct source *src);

/* The next looks tell all processes, those too that did not change; or no longer. */
void live_scan_whole(struct source *src, bool whole);

/* Detaches every hook, and attaches those that were on again: loaded they stay. 0, -errno. */
void live_pause(struct source *src);
int live_resume(struct source *src);

/* What the kernel counted of each program, as far as there is room: how many. */
size_t live_programs(const struct source *src, struct program_statistics *ret, size_t room);

/* Whether kernel.bpf_stats_enabled. */
bool live_times_programs(const struct source *src);

/* The version of libbpf that it works by. */
const char *live_library(void);

const struct hook_status *live_hooks(const struct source *src);

#endif
