/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds separate debug files by build-id, or else by the link in .gnu_debuglink. */
#ifndef FS_COLLECT_SYMBOLS_DEBUG_FILE_H
#define FS_COLLECT_SYMBOLS_DEBUG_FILE_H

#include "collect/symbols/elf_symbols.h"

/*
 * Adds the debug file of an ELF file, which the process knows as `path`. Searches below the root of
 * faultscope and below the root of the process. Both are O_PATH descriptors; -1: none. Never asks a
 * debuginfod server. Returns false if there is no debug file.
 */
bool debug_file_find(struct elf_symbols *s, const char *path, int our_root, int its_root);

#endif
