/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cli: a moment of a recording, as users write it: --from and --to. */
#ifndef FS_CLI_MOMENT_H
#define FS_CLI_MOMENT_H

#include <stdint.h>

struct moment {
	enum moment_kind {
		MOMENT_NONE,	    /* not given */
		MOMENT_AFTER_BEGIN, /* seconds after the beginning of the recording */
		MOMENT_BEFORE_END,  /* seconds before its end */
		MOMENT_CLOCK,	    /* seconds since midnight in the time zone of the reader */
		MOMENT_DATE,	    /* seconds since 1970 (UTC) */
	} kind;
	double seconds;
};

/*
 * Reads 90s, +1.5, -2m (before the end), 14:03, 14:03:20, or a date and a time such as
 * 2026-11-28T14:03:20 or 2026-11-28T14:03Z. Without a Z at its end, a date is in the time zone of
 * the reader. Returns 0 or -EINVAL.
 */
int moment_parse(const char *text, struct moment *ret);

/* The time of a recording, in ns: from its first record to its last one. */
struct moment_span {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, as in its records */
	uint64_t wall_ns;	   /* ns since 1970 at begin_ns; 0: not known */
};

/*
 * Converts a moment to CLOCK_MONOTONIC of the recording. A clock time is the first such time in the
 * recording, or the nearest one before or after it if there is none. The result may be outside of
 * the recording, but is never below 0. Returns 0, or -ENODATA if the recording has no clock time.
 */
int moment_resolve(const struct moment *m, const struct moment_span *of, uint64_t *ret_ns);

#endif
