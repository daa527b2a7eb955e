/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `explain TEXT`: what an error message, a name of an errno or a pasted log may mean. */
#ifndef FS_CLI_EXPLAIN_MESSAGE_H
#define FS_CLI_EXPLAIN_MESSAGE_H

#include "cli/options.h"

/* Whether a word has the form of a diagnosis id: a letter and digits, such as M01. */
bool is_diagnosis_id(const char *word);

/*
 * Appends the candidates for the text in o->argv ("-": standard input) to b. Returns EXIT_DONE;
 * EXIT_FAILED where nothing is near or the input cannot be read, EXIT_INCOMPLETE where only its
 * beginning was read, and has said why.
 */
int explain_message(const struct options *o, const struct view *v, struct buf *b);

#endif
