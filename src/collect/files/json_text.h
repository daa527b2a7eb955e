/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds strings in JSON texts, such as the state files of container runtimes. */
#ifndef FS_COLLECT_FILES_JSON_TEXT_H
#define FS_COLLECT_FILES_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/files/file_text.h"

/*
 * Finds the string of a member. `path` has the names of the objects that contain the member, from
 * the outermost one, then the member's own name, then NULL. Returns false, with an empty `ret`, if
 * the text has no such member, if its value is no string, contains an escape such as \n or does not
 * fit into `size` bytes. Texts that are no JSON give any result within these rules.
 */
bool json_string_find(struct span text, const char *const *path, char *ret, size_t size);

#endif
