/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: findings from the flight recorder's records of one boot, with ids from K01 on. */
#ifndef FS_TRIAGE_CRASH_SIGNS_H
#define FS_TRIAGE_CRASH_SIGNS_H

#include "blackbox/scan.h"

#define PORTENTS_MAX	 24
#define CRASH_SIGN_PLACE 80

/* A finding about one module, or about the whole kernel. */
struct crash_sign {
	const char *id; /* id of the finding: rules/diagnoses.h */
	enum bb_severity severity;
	/* module that the finding is about; empty: the whole kernel */
	char place[CRASH_SIGN_PLACE];
	uint64_t count;		    /* number of events that led to the finding */
	uint64_t first_ns, last_ns; /* CLOCK_BOOTTIME of the first and the last of these events */
	uint64_t last_wall_ns;	    /* CLOCK_REALTIME of the last event */
	char text[320];		    /* describes the most severe event */
};

struct crash_signs {
	uint8_t boot_id[BB_BOOT_BYTES];
	struct crash_sign one[PORTENTS_MAX]; /* findings, sorted by id, then by first_ns */
	size_t n;
	uint64_t lost; /* number of findings that were not stored, as there was no room */
};

/* Fills `ret` with findings for the boot with index `boot`. `f`: result of bb_found_settle(). */
void crash_signs_find(struct crash_signs *ret, const struct bb_found *f, size_t boot);

/* Adds findings from the new record f->record[at], for callers that see records arrive. */
void crash_signs_take(struct crash_signs *p, const struct bb_found *f, size_t at);

/* Returns whether flight recorder records alone can lead to the finding `id`. */
bool crash_signs_flag(const char *id);

#endif
