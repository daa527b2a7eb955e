/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: the diagnoses K01 and on, from the flight recorder's records of one boot. */
#ifndef FS_TRIAGE_PORTENTS_H
#define FS_TRIAGE_PORTENTS_H

#include "blackbox/scan.h"

#define PORTENTS_MAX  24
#define PORTENT_PLACE 80

/* One diagnosis for one module, or for the kernel as a whole. */
struct portent {
	const char *id; /* of rules/diagnoses.h */
	enum bb_severity severity;
	char place[PORTENT_PLACE]; /* the module; empty: not of one */
	uint64_t count;		   /* of events */
	uint64_t first_ns, last_ns;
	char text[320]; /* the worst, or first, of them */
};

struct portents {
	uint8_t boot_id[BB_BOOT_BYTES];
	struct portent one[PORTENTS_MAX]; /* in order of their ids, then of time */
	size_t n;
	uint64_t lost; /* beyond the cap */
};

/* `f` is settled, `boot` an index of its boots. */
void portents_find(struct portents *ret, const struct bb_found *f, size_t boot);

/* Takes one record more, of those found: for who sees them come. */
void portents_take(struct portents *p, const struct bb_found *f, size_t at);

/* Whether records alone tell of a diagnosis. */
bool portents_flag(const char *id);

#endif
