/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: findings from the flight recorder's records of one boot: ids K01 and up. */
#ifndef FS_TRIAGE_CRASH_SIGNS_H
#define FS_TRIAGE_CRASH_SIGNS_H

#include "blackbox/scan.h"

#define PORTENTS_MAX	 24
#define CRASH_SIGN_PLACE 80

/* One finding for one module, or for the whole kernel. */
struct crash_sign {
	const char *id; /* id in rules/diagnoses.h */
	enum bb_severity severity;
	char place[CRASH_SIGN_PLACE]; /* module; empty: the whole kernel */
	uint64_t count;		      /* number of events */
	uint64_t first_ns, last_ns;   /* CLOCK_BOOTTIME */
	uint64_t last_wall_ns;	      /* CLOCK_REALTIME */
	char text[320];		      /* the worst or first event */
};

struct crash_signs {
	uint8_t boot_id[BB_BOOT_BYTES];
	struct crash_sign one[PORTENTS_MAX]; /* ordered by id, then by time */
	size_t n;
	uint64_t lost; /* above the maximum */
};

/* Finds them in the settled `f`, for the boot with index `boot`. */
void crash_signs_find(struct crash_signs *ret, const struct bb_found *f, size_t boot);

/* Takes one more record, for callers that see records arrive. */
void crash_signs_take(struct crash_signs *p, const struct bb_found *f, size_t at);

/* Returns whether a finding can follow from records alone. */
bool crash_signs_flag(const char *id);

#endif
