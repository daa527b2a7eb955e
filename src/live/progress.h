/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A progress line on standard error, such as "faultscope: watching: 40 %, 6 s left". The line
 * appears after two seconds, only on a terminal, and is erased at the end.
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

/* Updates the progress line; may be called often. `total` is 0 if it is not known. */
void progress_at(struct progress *p, double done, double total);

/* Erases the progress line. Call this before any other output, and at the end. */
void progress_end(struct progress *p);

/* Formats the progress text. `seconds` is the time since the beginning. */
void progress_format(const char *what, double done, double total, double seconds, char *ret,
		     unsigned int size);

#endif
