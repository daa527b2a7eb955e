/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the live source of records: loads BPF programs, attaches what the kernel allows, scans. */
#ifndef FS_PROBE_LIVE_H
#define FS_PROBE_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "probe/attach_choice.h"
#include "probe/source.h"
#include "probe/statistics.h"

#define TIER_ALL 0xfu

struct live_options {
	bool watch_all;	    /* watch all processes, not only those of live_watch() */
	unsigned int tiers; /* bit i: overhead level i is enabled */
	/* measure only major faults; latency buckets have limits of 2^n seconds */
	bool majors;
	/* bits of choice_begin(): what attach types may lack or cost */
	unsigned int accepts;
	/* calls that a seccomp filter answers must be seen, also by an attach type at functions */
	bool filtered;
	bool attribute; /* record growth of mappings and fds, and send user stacks */
	/* Growth is recorded for processes with at least this many mappings or fds. */
	unsigned int attribute_maps, attribute_fds;
	/* Returns whether a process has exited. If NULL, growth entries are never released. */
	bool (*has_ended)(void *ctx, const struct process_key *of);
	void *ended_ctx;
	/*
	 * Called when a process executes code that has no unwind table (src/unwind); may be NULL.
	 */
	void (*code_changed)(void *ctx, const struct process_key *of);
	/* Called with a copied stack, whose unwind tables are not ready; may be NULL. */
	void (*stack_copied)(void *ctx, const struct stack_copy_record *r);
	void *code_ctx;
	bool defers; /* live_open() attaches only the core probes; see live_load_deferred() */
	bool examines;	      /* for `doctor`: open even if no probe would count anything */
	const char *btf_path; /* file with BTF for a kernel without BTF; NULL: see btf_find() */
	/* attach type of each probe, "none" or HOOK_UNNEEDED; NULL: the best attach type */
	const char *forced[HOOKS_MAX];
};

/*
 * Loads and attaches the probes. On success, returns 0 and a source, which the caller closes. On
 * error, returns -EPERM, -ENOSYS (the kernel lacks a required feature) or another -errno. `error`
 * then says what failed, why, and what to do.
 */
int live_open(const struct live_options *opt, struct source **ret, char *error, size_t size);

/*
 * Loads and attaches the probes that live_open() deferred, and sends the records of all probes
 * again. Until then, nothing that these probes count is known. Returns 0, or -errno with the reason
 * in `error`.
 */
int live_load_deferred(struct source *src, const struct sink *sink, char *error, size_t size);

/* Counts a copied stack by the reason why its walk ended, in place of STACK_END_MISSING. */
void live_count_walk(struct source *src, enum stack_end end);

/*
 * Watches an existing process, given its pid in faultscope's namespace. With `follow`, also watches
 * children that the process creates later. Returns 0 or -errno; -EOPNOTSUPP in a pid namespace with
 * the hash-table build.
 */
int live_watch(struct source *src, pid_t pid, bool follow);

/* Starts or stops watching new children of faultscope: the command of `faultscope run`. */
void live_run_parent(struct source *src, bool begin);

/* From now on, the exit of each watched process wakes the reader of the ring at once. */
void live_wake_at_exits(struct source *src);

/*
 * Starts or stops sampling page faults. Sampling needs user stacks, fault classes, and the
 * task-storage build; without these, live_sample() has no effect.
 */
void live_sample(struct source *src, bool on);

/*
 * Converts a pid of faultscope's pid namespace to the pid in the initial namespace, which records
 * contain; 0: not known.
 */
pid_t live_pid_of(struct source *src, pid_t pid);

/* Returns whether scans and map commands of bpf(2) need CAP_BPF, as on kernels before 5.19. */
bool live_needs_rights(struct source *src);

/* Adds events that a scan missed to the counter of missed events. */
void live_count_missed(struct source *src, __u64 events);

bool live_scans_proc(const struct source *src);

/* Returns whether scans see only processes of faultscope's pid namespace, as iter/task does. */
bool live_scan_is_confined(const struct source *src);

/* Starts or stops scans that also send unchanged processes. */
void live_scan_whole(struct source *src, bool whole);

/* live_pause() detaches all probes; live_resume() attaches them again, and returns 0 or -errno. */
void live_pause(struct source *src);
int live_resume(struct source *src);

/* Reads the kernel's statistics of at most `room` programs. Returns how many programs were read. */
size_t live_programs(const struct source *src, struct program_statistics *ret, size_t room);

/* Returns whether kernel.bpf_stats_enabled is set. */
bool live_times_programs(const struct source *src);

/* Returns the BPF object; NULL: it cannot walk stacks with unwind tables. */
const struct bpf_object *live_walks(const struct source *src);

/* Returns the version of libbpf. */
const char *live_library(void);

const struct hook_status *live_hooks(const struct source *src);

#endif
