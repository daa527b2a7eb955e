/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: limits, and their names in the kernel, shells, systemd and PAM. Each limit is a row of
 * limits.def, which all code that finds, changes or names limits uses.
 */
#ifndef FS_MODEL_LIMIT_H
#define FS_MODEL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_NONE     UINT64_MAX	/* unlimited */
#define LIMIT_COMPUTED (UINT64_MAX - 1) /* computed by the kernel at boot, from memory or CPUs */

enum limit_kind { LIMIT_OF_MACHINE, LIMIT_OF_PROCESS, LIMIT_OF_CGROUP };

enum limit_id {
#define LIMIT_ROW(id, ...) LIMIT_##id,
#include "model/limits.def"
#undef LIMIT_ROW
	NR_LIMITS
};

struct limit {
	const char *key, *name; /* max_map_count, vm.max_map_count */
	enum limit_kind kind;
	bool bytes;
	bool is_mode;	       /* a mode, not a number: doubling it makes no sense */
	uint64_t initial;      /* kernel default; for a process the soft limit */
	uint64_t initial_hard; /* kernel default of the hard limit of a process */
	uint64_t most;	       /* maximum that the kernel accepts; 0: no maximum */
	uint64_t usual;	       /* least value to suggest, as distributions set it; 0: none */

	const char *path; /* of a sysctl: path below /proc/sys */

	const char *title;	/* of a process: title in /proc/PID/limits */
	const char *word;	/* such as nofile: for prlimit(1), limits.conf, docker */
	char letter;		/* such as n: option of ulimit */
	unsigned int ulimit_by; /* bytes per unit of ulimit and limits.conf */

	const char *controller; /* of a cgroup */
	/* files; %s is a huge page size such as 2MB; NULL: not in version 1 */
	const char *max, *now, *max_v1, *now_v1;

	const char *unit_key;	 /* name in systemd units; NULL: none */
	const char *manager_key; /* systemd's default for units; NULL: none */
};

extern const struct limit limit_table[NR_LIMITS];

/*
 * Finds a limit by its key, or by the key of a setting, which has a unit suffix. Returns NULL if
 * there is none.
 */
const struct limit *limit_find(const char *key);

/*
 * Finds the one limit that a cause concerns, by its key or another name. Returns NULL if there is
 * none.
 */
const struct limit *limit_of_cause(const char *cause);

/*
 * The only source of suggested values. Returns twice the peak, rounded up, at least `usual`, and at
 * most what the kernel accepts.
 */
uint64_t limit_roomy(const struct limit *l, uint64_t peak);

/* The same, but also well above the current limit: for a workaround. */
uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now);

#endif
