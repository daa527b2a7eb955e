/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: converts logs of any format to lines of kernel text, in order of time. */
#ifndef FS_TRIAGE_LINES_H
#define FS_TRIAGE_LINES_H

#include "triage/str.h"

#define TRIAGE_INPUTS_MAX 256
#define TRIAGE_BYTES_MAX  (64u << 20)
#define TRIAGE_LINES_MAX  (2u << 20)

/* A place in the data of an input before which lines were dropped (condense.h). */
struct triage_skip {
	size_t at;
	uint32_t lines;
};

struct triage_input {
	const char *name;
	const char *data;
	size_t size;
	const struct triage_skip *skip; /* sorted by `at` */
	size_t skips;
};

struct log_line {
	struct str text; /* message without prefixes and control bytes */
	uint32_t number; /* line number in the input, from 1 */
	uint16_t input;	 /* index of the input in which the line is */
	int8_t level;	 /* printk level; -1: not known */
	bool user;	 /* a program wrote the line, not the kernel */
	bool timed;
	bool fragment;	/* the message was too long for one record: the next line may continue it */
	bool continues; /* the line continues the previous one */
	int32_t caller; /* caller: task ID, or -2 - CPU; -1: unknown (CONFIG_PRINTK_CALLER, 5.1) */
	double seconds; /* timestamp in seconds, if `timed` */
};

struct lines {
	struct log_line *line;
	size_t n, room;
	char *text; /* buffer that holds the text of all lines */
	size_t used, size;
	uint64_t passed; /* number of lines that were read, but not kept: nothing is near them */
	uint64_t lost_lines, lost_bytes; /* lines and bytes dropped above size limits */
	/* number of notices such as "** 93 printk messages dropped **" */
	uint64_t dropped;
	uint32_t parts; /* number of pstore parts whose order was corrected */
};

/* Reads the inputs, which the caller may then free. Returns 0 or -ENOMEM. */
int lines_read(struct lines *ret, const struct triage_input *input, size_t inputs);

void lines_free(struct lines *ls);

#endif
