/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: which mechanism each hook is tried with next, and what was answered before. */
#ifndef FS_PROBE_ATTACH_CHOICE_H
#define FS_PROBE_ATTACH_CHOICE_H

#include <stdbool.h>

#include "probe/hooks.h"
#include "probe/permission.h"
#include "records/records.h"

#define HOOKS_MAX 24

struct hook_status {
	enum hook_use state;
	const struct hook_alternate *used; /* where ON */
	char why[512];	    /* what was tried and the kernel's answer; empty where the best is on */
	const char *remedy; /* what may help to a better one; NULL: nothing that is known */
};

struct choice {
	unsigned int tiers;	   /* bit i: tier i is paid for */
	bool majors;		   /* of faults only the end of major ones is wanted */
	bool no_kfuncs;		   /* this kernel lacks those that the full build calls */
	const char *const *forced; /* by hook: a mechanism, or "none"; NULL: the best that works */
	int at[HOOKS_MAX];	   /* the alternate to try, or in use; -1: none */
	struct hook_status status[HOOKS_MAX];
};

/* `majors`: fault_end is wanted of major faults alone, whatever tiers say. */
void choice_begin(struct choice *c, unsigned int tiers, bool majors, const char *const *forced);

/* NULL: the hook is off or blind. */
const struct hook_alternate *choice_of(const struct choice *c, size_t hook);

/* Where the kernel takes no program at all: what works without one, or blind. */
void choice_refuse_programs(struct choice *c, const struct answer *answer);

/* After a refusal: the next alternate that this build of the kernel side has, or blind. */
void choice_refused(struct choice *c, size_t hook, const struct answer *answer);

/* What to add to the reason why fault_class is blind: that --probe switched off what it needs. */
const char *choice_why_no_classes(const struct choice *c);

/* Whether the build with hash tables is wanted. */
bool choice_is_hash(const struct choice *c);

/*
 * After the kernel could not do with the other build: begins again with this one, or, where that
 * was asked for, without state. False where that was tried.
 */
bool choice_fall_back(struct choice *c, const char *answer);

/*
 * After a load that found functions of the kernel missing: goes on with the build that calls none.
 * False where that was tried.
 */
bool choice_leave_kfuncs(struct choice *c);

/* Whether a program belongs to what is chosen; its hook, or -1. */
int choice_hook_of(const struct choice *c, const char *program);

#endif
