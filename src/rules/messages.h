/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: known error messages of programs, and the diagnoses that may explain each message. Such
 * diagnoses are candidates, because a message is only a symptom.
 */
#ifndef FS_RULES_MESSAGES_H
#define FS_RULES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/diagnoses.h"

/*
 * A known error message. In `pattern`, '#' stands for a number, '*' for any text within a line, and
 * '|' separates wordings. Case and the number of blanks do not matter.
 */
struct message {
	const char *program;
	const char *pattern;
	const char *means;  /* explanation of the message, one to three sentences */
	const char *ids;    /* ids of diagnoses, separated by blanks, likeliest first; "": none */
	const char *source; /* source file of the program that prints it, or a document */
};

/* Returns message number i; NULL behind the last one. */
const struct message *message_at(size_t i);

#define CANDIDATES_MAX 5
#define MESSAGES_MAX   6 /* at most this many messages are reported for a text */

/* What faultscope explain finds for a text. All pointers are to constants. */
struct candidates {
	size_t n;
	/* candidate diagnoses, likeliest first */
	const struct diagnosis *diagnosis[CANDIDATES_MAX];
	size_t nr_messages;
	/* messages that led to `diagnosis`, best match first */
	const struct message *message[MESSAGES_MAX];
	/*
	 * for each message, the wording of its pattern that is most similar to the text; ends at
	 * '|' or NUL
	 */
	const char *wording[MESSAGES_MAX];
	/* true: no message matches as a whole, some share words with the text */
	bool similar;
};

/*
 * Compares `len` bytes of text, one line or many, with all messages. If no message is similar,
 * ret->n and ret->nr_messages are 0.
 */
void messages_match(const char *text, size_t len, struct candidates *ret);

/* Returns the command that confirms a diagnosis, without "$ "; NULL if it has none. */
const char *diagnosis_check(const struct diagnosis *d, size_t *ret_len);

#endif
