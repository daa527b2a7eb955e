/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: chooses the attach type to try next for each probe, and keeps earlier errors. */
#ifndef FS_PROBE_ATTACH_CHOICE_H
#define FS_PROBE_ATTACH_CHOICE_H

#include <stdbool.h>

#include "probe/hooks.h"
#include "probe/permission.h"
#include "records/records.h"

#define HOOKS_MAX 24

/* In place of the name of an attach type: the command does not need the probe. */
#define HOOK_UNNEEDED "unneeded"

/* System calls that must be seen, unless the watched processes do not need it. */
#define OPTIONAL_CALLS (LACKS_COMPAT | LACKS_WRITES)
/* In choice.accepts, beside these bits: attach types that are used on request only. */
#define ACCEPTS_ON_REQUEST (1u << 31)
/*
 * The probe `calls` at any overhead level, but only with an attach type that costs other system
 * calls nothing (SPARES_CALLS)
 */
#define ACCEPTS_FREE_CALLS (1u << 30)

struct hook_status {
	enum hook_use state;
	/* attach type in use; valid if `state` is HOOK_ON, or if `pending` is set */
	const struct hook_alternate *used;
	bool pending; /* the chosen attach type is not attached yet; `state` is HOOK_OFF */
	/* attach types that failed, with their errors; empty: the best attach type is in use */
	char why[512];
	const char *remedy; /* fix that may make a better attach type work; NULL: none is known */
};

struct choice {
	unsigned int tiers;	   /* bit i: overhead level i is enabled */
	bool majors;		   /* measure only major page faults, and only their end */
	unsigned int accepts;	   /* see choice_begin() */
	bool no_kfuncs;		   /* this kernel lacks kfuncs that the default build calls */
	/* requested attach type of each probe, "none" or HOOK_UNNEEDED; NULL: none is requested */
	const char *const *forced;
	int at[HOOKS_MAX];	   /* index of the attach type in use or to be tried; -1: none */
	struct hook_status status[HOOKS_MAX];
};

/*
 * Chooses the best attach type of each probe. If `majors` is set, only the end of major faults is
 * measured, and `tiers` does not matter. `accepts` are bits of OPTIONAL_CALLS: the calls that an
 * attach type may lack, ACCEPTS_ON_REQUEST and ACCEPTS_FREE_CALLS.
 */
void choice_begin(struct choice *c, unsigned int tiers, bool majors, unsigned int accepts,
		  const char *const *forced);

/* Returns the chosen attach type of a probe, or NULL if the probe is off or unavailable. */
const struct hook_alternate *choice_of(const struct choice *c, size_t hook);

/* Returns whether this attach type is chosen for a probe. */
bool choice_is(const struct choice *c, const char *hook, const char *mechanism);

/* Called if the kernel lacks what an attach type needs. `why` is the reason. */
void choice_forbid(struct choice *c, const char *hook, const char *mechanism, const char *why);

/*
 * Called if the kernel loads no BPF programs. Each probe gets an attach type that needs no program,
 * or none.
 */
void choice_refuse_programs(struct choice *c, const struct answer *answer);

/*
 * Called if a probe's attach type failed. Chooses the next attach type of the probe that this build
 * has, or none.
 */
void choice_refused(struct choice *c, size_t hook, const struct answer *answer);

/* Returns a text if --probe disabled a probe without which fault_class is unavailable; else "". */
const char *choice_why_no_classes(const struct choice *c);

/*
 * Called when probes are attached. Disables fault_class if it cannot work: it needs fault_begin,
 * the end of all faults, and a known tree of mappings.
 */
void choice_settle_classes(struct choice *c, bool areas_foreign);

/* Returns whether to load the build that keeps state in hash tables. */
bool choice_is_hash(const struct choice *c);

/*
 * Starts again with the hash-table build, because the kernel cannot use the task-storage build. If
 * --probe requested task storage, no state is kept. Returns false if the hash-table build was
 * chosen before.
 */
bool choice_fall_back(struct choice *c, const char *answer);

/*
 * Continues with the build without kfuncs, because the kernel lacks kfuncs. Returns false if the
 * build without kfuncs was chosen before.
 */
bool choice_leave_kfuncs(struct choice *c);

/* Returns whether at least one probe is not attached yet. */
bool choice_has_pending(const struct hook_status *status);

/* Returns the overhead levels of the probes that are on or pending; bit i: level i. */
unsigned int choice_levels_on(const struct hook_status *status);

/* Returns the AT_* bits (base/overhead.h) of the probes that are on or pending. */
unsigned int choice_events_of_others(const struct hook_status *status);

/*
 * Returns the index of the probe whose chosen attach type uses a program, or -1 if there is none.
 */
int choice_hook_of(const struct choice *c, const char *program);

#endif
