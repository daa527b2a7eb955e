/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `explain TEXT`: finds what an error message, an errno name or a pasted log may mean. */
#ifndef FS_CLI_EXPLAIN_MESSAGE_H
#define FS_CLI_EXPLAIN_MESSAGE_H

#include "cli/options.h"

/* Returns whether a word has the form of a finding id: a letter and digits, such as M01. */
bool is_diagnosis_id(const char *word);

/*
 * Appends to `b` the findings that the text in o->argv ("-": standard input) may stand for. Returns
 * EXIT_DONE; EXIT_FAILED if no finding is similar or the input cannot be read; EXIT_INCOMPLETE if
 * only the beginning of the input was read. Prints errors.
 */
int explain_message(const struct options *o, const struct view *v, struct buf *b);

#endif
