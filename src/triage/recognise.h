/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: finds kernel reports in log lines. */
#ifndef FS_TRIAGE_RECOGNISE_H
#define FS_TRIAGE_RECOGNISE_H

#include "triage/incident.h"

struct recognised {
	struct incident *event;
	size_t n, room;
	/* number of reports that were not stored, because there were more than INCIDENTS_MAX */
	uint64_t lost;
	/* number of lines that look like a crash, but belong to no known kind of report */
	uint64_t unknown;
	uint32_t unknown_line; /* index of the first line counted in `unknown` */
	struct str release;    /* kernel release, from "Linux version" */
};

/* Finds the reports in log lines. Strings in reports point into `ls`. Returns 0 or -ENOMEM. */
int recognise(struct recognised *ret, const struct lines *ls);

void recognised_free(struct recognised *r);

#endif
