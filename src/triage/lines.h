/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: converts logs of any format to lines of kernel text in order of time. */
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
	struct str text; /* without prefixes and control bytes */
	uint32_t number; /* in its input, from 1 */
	uint16_t input;	 /* index of the input */
	int8_t level;	 /* level of printk; -1: not known */
	bool user;	 /* logged by a program, not by the kernel */
	bool timed;
	bool fragment;	/* too long for one record: the next line may continue it */
	bool continues; /* continues the line before */
	int32_t caller; /* task id, or -2 - cpu; -1: not known (CONFIG_PRINTK_CALLER, 5.1) */
	double seconds; /* where timed */
};

struct lines {
	struct log_line *line;
	size_t n, room;
	char *text; /* memory of the texts */
	size_t used, size;
	uint64_t lost_lines, lost_bytes; /* above the maximum */
	uint64_t dropped;		 /* messages that the log reports as lost */
	uint32_t parts;			 /* pstore parts that were put in order */
};

/* Returns 0 or -ENOMEM. The inputs may be freed afterwards. */
int lines_read(struct lines *ret, const struct triage_input *input, size_t inputs);

void lines_free(struct lines *ls);

#endif
