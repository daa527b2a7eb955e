/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the limits that say no, and what the kernel, shells, systemd and PAM call each: a limit is
 * a row of limits.def, and whoever looks for it, sets it or speaks of it reads the row.
 */
#ifndef FS_MODEL_LIMIT_H
#define FS_MODEL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_NONE     UINT64_MAX	/* unlimited */
#define LIMIT_COMPUTED (UINT64_MAX - 1) /* by the kernel at boot, from memory or CPUs */

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
	bool is_mode;	       /* a choice, not a figure: twice as much makes no sense */
	uint64_t initial;      /* the kernel's own; of a process the soft one */
	uint64_t initial_hard; /* of a process */
	uint64_t most;	       /* that the kernel takes; 0: whatever fits */

	const char *path; /* of the machine: below /proc/sys */

	const char *title;	/* of a process: in /proc/PID/limits */
	const char *word;	/* nofile: for prlimit(1), limits.conf, docker */
	char letter;		/* -n of ulimit */
	unsigned int ulimit_by; /* bytes or so in one of ulimit's and limits.conf's units */

	const char *controller; /* of a cgroup */
	/* files; %s is the size of a huge page, as in 2MB; NULL: version 1 has none */
	const char *max, *now, *max_v1, *now_v1;

	const char *unit_key;	 /* systemd's; NULL: none */
	const char *manager_key; /* systemd's default for units; NULL: none */
};

extern const struct limit limit_table[NR_LIMITS];

/* By the key, or by that of a setting, which has its unit behind it. NULL: it is no limit. */
const struct limit *limit_find(const char *key);

/* By the name of a cause that speaks of one limit: its key, or another name. NULL: it does not. */
const struct limit *limit_of_cause(const char *cause);

/* Room for twice the peak, rounded up to what people set: never above what the kernel takes. */
uint64_t limit_roomy(const struct limit *l, uint64_t peak);

/* The same, and well above what holds now: what is advised to gain time. */
uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now);

#endif
