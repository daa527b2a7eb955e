/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A line on standard error that says how far something is, once it takes longer than two seconds
 * and where that is a terminal: "faultscope: watching: 40 %, 6 s left". It leaves nothing behind.
 */
#ifndef FS_LIVE_PROGRESS_H
#define FS_LIVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t began_ns, told_ns;
	bool on, shown;
};

void progress_begin(struct progress *p, const char *what);

/* `total` 0: nobody knows. Cheap: may be called often. */
void progress_at(struct progress *p, double done, double total);

/* Before anything else is written, and at the end. */
void progress_end(struct progress *p);

/* The text alone, for `seconds` since the beginning. */
void progress_format(const char *what, double done, double total, double seconds, char *ret,
		     unsigned int size);

#endif
