/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: logs of any container become lines of kernel text, in the order of time. */
#ifndef FS_TRIAGE_LINES_H
#define FS_TRIAGE_LINES_H

#include "triage/str.h"

#define TRIAGE_INPUTS_MAX 256
#define TRIAGE_BYTES_MAX  (64u << 20)
#define TRIAGE_LINES_MAX  (2u << 20)

struct triage_input {
	const char *name;
	const char *data;
	size_t size;
};

struct log_line {
	struct str text; /* without its prefixes; no control bytes */
	uint32_t number; /* in its input, from 1 */
	uint16_t input;	 /* index of it */
	int8_t level;	 /* as printk's; -1: not told */
	bool user;	 /* what a program other than the kernel logged */
	bool timed;
	bool fragment;	/* a line that was too long for one record: the next may continue it */
	bool continues; /* that next one */
	int32_t caller; /* task id, or -2 - cpu; -1: not told (CONFIG_PRINTK_CALLER, 5.1+) */
	double seconds; /* where timed */
};

struct lines {
	struct log_line *line;
	size_t n, room;
	char *text; /* what they point into */
	size_t used, size;
	uint64_t lost_lines, lost_bytes; /* beyond the caps */
	uint64_t dropped;		 /* messages the log itself says it lost */
	uint32_t parts;			 /* pstore parts put in order */
};

/* Returns 0 or -ENOMEM. The inputs may go after it. */
int lines_read(struct lines *ret, const struct triage_input *input, size_t inputs);

void lines_free(struct lines *ls);

#endif
