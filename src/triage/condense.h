/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: reads a log of any size in constant memory. Keeps only the lines around those that look
 * like reports; all other lines are counted.
 */
#ifndef FS_TRIAGE_CONDENSE_H
#define FS_TRIAGE_CONDENSE_H

#include "triage/lines.h"
#include "triage/shape.h"
#include "triage/signature.h"

struct condenser {
	struct signature_index index;
	struct shapes shapes;
	char *fresh; /* bytes that are not kept yet: a part of the log before `scanned`, and new
			bytes */
	size_t fresh_bytes, fresh_room, scanned;
	size_t after; /* bytes still to be kept after the last line that looks like a report */
	char *kept;
	size_t kept_bytes, kept_room;
	struct triage_skip *skip;
	size_t skips, skip_room;
	uint32_t passed;     /* lines that were dropped since the last kept line */
	uint64_t lost_bytes; /* bytes that were not kept although they look like a report */
};

/* Starts with an empty log. */
void condenser_make(struct condenser *ret);

/* Appends bytes of the log. Returns 0 or -ENOMEM. */
int condense(struct condenser *c, const char *data, size_t n);

/* Processes the rest. Then, `kept` and `skip` hold the log; the caller frees them. */
int condense_end(struct condenser *c);

void condenser_free(struct condenser *c);

#endif
