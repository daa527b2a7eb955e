/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: limits and their names in the kernel, shells, systemd and PAM. Each is a row of
 * limits.def, which all code that finds, changes or names limits uses.
 */
#ifndef FS_MODEL_LIMIT_H
#define FS_MODEL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_NONE     UINT64_MAX	/* value of a limit that is unlimited */
#define LIMIT_COMPUTED (UINT64_MAX - 1) /* default that the kernel computes from memory or CPUs */

enum limit_kind { LIMIT_OF_MACHINE, LIMIT_OF_PROCESS, LIMIT_OF_CGROUP };

enum limit_id {
#define LIMIT_ROW(id, ...) LIMIT_##id,
#include "model/limits.def"
#undef LIMIT_ROW
	NR_LIMITS
};

struct limit {
	const char *key, *name; /* such as "max_map_count" and "vm.max_map_count" */
	enum limit_kind kind;
	bool bytes;
	bool is_mode;	       /* the setting is a mode, not a number */
	uint64_t initial;      /* kernel default of the limit; for rlimits the soft limit */
	uint64_t initial_hard; /* kernel default of the hard limit of an rlimit */
	uint64_t most;	       /* maximum value that the kernel accepts; 0: no maximum */
	uint64_t usual;	       /* minimum value to suggest, as distributions set it; 0: none */

	const char *path; /* path of a sysctl below /proc/sys */

	const char *title;	/* title of an rlimit in /proc/PID/limits */
	const char *word;	/* name of an rlimit such as nofile, for prlimit(1) and docker */
	char letter;		/* option of ulimit for an rlimit, such as n */
	unsigned int ulimit_by; /* number of bytes per unit of ulimit and limits.conf */

	const char *controller; /* name of the cgroup controller */
	/* Files with the cgroup's limit and use; %s: huge page size, as 2MB; NULL: none in v1. */
	const char *max, *now, *max_v1, *now_v1;

	const char *unit_key;	 /* name of the setting in systemd units; NULL: none */
	const char *manager_key; /* systemd's default for the setting of units; NULL: none */
};

extern const struct limit limit_table[NR_LIMITS];

/*
 * Finds a limit by its key, or by the key of a setting, which has a unit suffix. Returns NULL if
 * there is none.
 */
const struct limit *limit_find(const char *key);

/* Finds the limit that a failed call's cause names, by its key or another name. NULL: none. */
const struct limit *limit_of_cause(const char *cause);

/*
 * Suggests a value, the only source of suggestions: twice the peak, rounded up, at least `usual`,
 * and at most the maximum of the kernel.
 */
uint64_t limit_roomy(const struct limit *l, uint64_t peak);

/* Suggests a value as limit_roomy() does, but well above the current limit `now`: a workaround. */
uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now);

#endif
