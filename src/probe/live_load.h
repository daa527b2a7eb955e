/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: chooses, loads and attaches the BPF programs of the live source. Only live.c and
 * live_load.c use this header.
 */
#ifndef FS_PROBE_LIVE_LOAD_H
#define FS_PROBE_LIVE_LOAD_H

#include "probe/attach.h"
#include "probe/attach_choice.h"
#include "probe/btf.h"
#include "probe/features.h"
#include "probe/growth_table.h"
#include "probe/limits.h"
#include "probe/live.h"
#include "probe/object.h"
#include "probe/variables.h"
#include "probe/wire_records.h"

#define OWN_PID "own_pid" /* BPF program that reads faultscope's pid in the initial namespace */

struct live {
	struct source src;
	union wire_record record; /* copy of the latest record from the ring */
	bool limits_sent;	  /* a limits_record was sent since the drain began */
	__u64 missed;
	__u32 sampled; /* value of fs_shared.sampled at the last scan */
	/* faultscope is in a pid namespace, but records have pids of the initial one */
	bool nested;
	bool locked; /* kernel lockdown forbids BPF: no program is loaded */
	struct live_options opt;
	struct object obj;
	/* the object whose maps the next one takes over; while that is loaded, it still counts */
	struct object before;
	bool begun; /* the core probes count: the maps must stay */
	struct choice choice;
	struct features features; /* features that the kernel lacks; set after a failed load */
	struct links links;
	char btf_path[BTF_PATH_MAX]; /* BTF file; empty: the kernel's own BTF */
	struct limits limits;
	struct fs_resident_config resident;
	struct growth_table growth;
	struct variables variables;
	bool areas_foreign; /* the kernel's maple tree has another layout: see layout.h */
	struct ring *ring;
	__u64 tables_bytes;	 /* kernel memory of the BPF maps */
	struct proc_scan *proc;	 /* state of /proc scans; NULL: scans use BPF */
	__u64 exact_ns;		 /* CLOCK_BOOTTIME at which the fork probe was attached */
	const struct sink *sink; /* where records are sent while the ring is drained */
};

/* Returns whether a probe is attached. */
bool live_is_on(const struct live *live, const char *hook);

/* Returns whether scans use this attach type. */
bool live_scans_with(const struct live *live, const char *mechanism);

/*
 * Loads and attaches the chosen probes; with `opt.defers`, only the core probes. Returns 0, or
 * -errno with the reason in `error`.
 */
int live_load(struct live *live, char *error, size_t size);

/*
 * Loads and attaches the probes that live_load() deferred. If an attach type fails, loads all
 * programs again with the next attach type; the state of processes and the ring stay. Returns 0, or
 * -errno with the reason in `error`.
 */
int live_load_rest(struct live *live, char *error, size_t size);

/* Attaches the programs of an attach type. Returns 0 or -errno. */
int live_attach(struct live *live, const struct hook_alternate *alt);

#endif
