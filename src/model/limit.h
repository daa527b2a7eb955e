/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: limits and their names in the kernel, shells, systemd and PAM. Each limit is a row of
 * limits.def. All code that finds, changes or names limits uses this table.
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
	const char *key, *name; /* name of the limit: "max_map_count", "vm.max_map_count" */
	enum limit_kind kind;
	bool bytes;
	bool is_mode;	       /* the setting is a mode, not a number */
	uint64_t initial;      /* kernel default of a limit; for rlimits of the soft limit */
	uint64_t initial_hard; /* kernel default of the hard limit of an rlimit */
	uint64_t most;	       /* maximum that the kernel accepts; 0: no maximum */
	uint64_t usual;	       /* value that distributions set, the minimum to suggest; 0: none */

	const char *path; /* path of a sysctl below /proc/sys */

	const char *title;	/* title of an rlimit in /proc/PID/limits */
	const char *word;	/* name of an rlimit for prlimit(1) and docker, such as nofile */
	char letter;		/* option of ulimit that sets an rlimit, such as n */
	unsigned int ulimit_by; /* number of bytes per unit of ulimit and limits.conf */

	const char *controller; /* name of the cgroup controller */
	/*
	 * File names of the cgroup's limit and usage, in v2 and in v1; %s: huge page size (2MB);
	 * NULL: v1 has no such file.
	 */
	const char *max, *now, *max_v1, *now_v1;

	const char *unit_key;	 /* name of the setting in a systemd unit; NULL: none */
	const char *manager_key; /* systemd's default for `unit_key`; NULL: none */
};

extern const struct limit limit_table[NR_LIMITS];

/*
 * Finds a limit by its key, or by its key with a unit suffix ("_bytes"). Returns NULL if no limit
 * has the key.
 */
const struct limit *limit_find(const char *key);

/*
 * Finds the limit that a failed call has reached, by the name of the cause. Returns NULL if it is
 * not known.
 */
const struct limit *limit_of_cause(const char *cause);

/*
 * Suggests a value for a limit: twice the peak, rounded up, at least `usual`, and at most the
 * kernel's maximum. All suggestions come from this function.
 */
uint64_t limit_roomy(const struct limit *l, uint64_t peak);

/*
 * Suggests a value like limit_roomy(), for a workaround: the value is well above the current limit
 * `now`.
 */
uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now);

#endif
