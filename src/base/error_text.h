/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: an error as text. If files or memory ran out, it names the limit and the remedy. */
#ifndef FS_BASE_ERROR_TEXT_H
#define FS_BASE_ERROR_TEXT_H

#include <stdbool.h>

/* Returns whether an error is -EMFILE, -ENFILE or -ENOMEM. */
bool is_exhausted(int err);

/*
 * The message of an error (-errno), valid until the end of the full expression:
 * complain("cannot do it: %s", as_error(err).s). If is_exhausted(err), a second line has the
 * remedy.
 */
struct error_text {
	char s[224];
};
struct error_text as_error(int err);

#endif
