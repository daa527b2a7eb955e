/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: error messages of programs, and the diagnoses that each of them may be. A message is a
 * symptom: it leads to candidates and is no verdict.
 */
#ifndef FS_RULES_MESSAGES_H
#define FS_RULES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/diagnoses.h"

/*
 * One message. In `pattern`, '#' stands for a number, '*' for any text within a line, and '|'
 * separates wordings. Case and the width of blanks do not matter.
 */
struct message {
	const char *program;
	const char *pattern;
	const char *means; /* one or two sentences */
	const char *ids;   /* of diagnoses, a blank between two, the likeliest first; "" for none */
	const char *source; /* where the program has it, or a document */
};

/* NULL behind the last. */
const struct message *message_at(size_t i);

#define CANDIDATES_MAX 5
#define MESSAGES_MAX   6 /* told of one text */

/* What a text leads to. The pointers are to constants. */
struct candidates {
	size_t n;
	const struct diagnosis *diagnosis[CANDIDATES_MAX]; /* the likeliest first */
	size_t nr_messages;
	const struct message *message[MESSAGES_MAX]; /* that led to them, the best match first */
	const char *wording[MESSAGES_MAX]; /* of its pattern, up to '|' or the end: the nearest */
	bool similar;			   /* no message fits as a whole: words are shared */
};

/*
 * Compares `len` bytes of text, of one line or many, with each message. Leaves ret->n and
 * ret->nr_messages 0 where nothing is near.
 */
void messages_match(const char *text, size_t len, struct candidates *ret);

/* The command of a diagnosis that tells it from others, without "$ "; NULL where it has none. */
const char *diagnosis_check(const struct diagnosis *d, size_t *ret_len);

#endif
