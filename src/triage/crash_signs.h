/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: the diagnoses K01 and on, from the flight recorder's records of one boot. */
#ifndef FS_TRIAGE_CRASH_SIGNS_H
#define FS_TRIAGE_CRASH_SIGNS_H

#include "blackbox/scan.h"

#define PORTENTS_MAX	 24
#define CRASH_SIGN_PLACE 80

/* One diagnosis for one module, or for the kernel as a whole. */
struct crash_sign {
	const char *id; /* of rules/diagnoses.h */
	enum bb_severity severity;
	char place[CRASH_SIGN_PLACE]; /* the module; empty: not of one */
	uint64_t count;		      /* of events */
	uint64_t first_ns, last_ns;
	char text[320]; /* the worst, or first, of them */
};

struct crash_signs {
	uint8_t boot_id[BB_BOOT_BYTES];
	struct crash_sign one[PORTENTS_MAX]; /* in order of their ids, then of time */
	size_t n;
	uint64_t lost; /* beyond the cap */
};

/* `f` is settled, `boot` an index of its boots. */
void crash_signs_find(struct crash_signs *ret, const struct bb_found *f, size_t boot);

/* Takes one record more, of those found: for who sees them come. */
void crash_signs_take(struct crash_signs *p, const struct bb_found *f, size_t at);

/* Whether records alone tell of a diagnosis. */
bool crash_signs_flag(const char *id);

#endif
