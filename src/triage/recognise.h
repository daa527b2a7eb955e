/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: finds reports in log lines. */
#ifndef FS_TRIAGE_RECOGNISE_H
#define FS_TRIAGE_RECOGNISE_H

#include "triage/incident.h"

struct recognised {
	struct incident *event;
	size_t n, room;
	uint64_t lost;	       /* events above the maximum */
	uint64_t unknown;      /* lines that look like a crash but belong to no known report */
	uint32_t unknown_line; /* the first such line */
	struct str release;    /* from "Linux version" */
};

/* Returns 0 or -ENOMEM. */
int recognise(struct recognised *ret, const struct lines *ls);

void recognised_free(struct recognised *r);

#endif
