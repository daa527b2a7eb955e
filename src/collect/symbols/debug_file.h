/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds separate debug files where distributions put them: by build-id, else by link. */
#ifndef FS_COLLECT_SYMBOLS_DEBUG_FILE_H
#define FS_COLLECT_SYMBOLS_DEBUG_FILE_H

#include "collect/symbols/elf_symbols.h"

/*
 * Adds the debug file of an ELF file, which the process knows as `path`. Searches below our root
 * and the process's root (O_PATH descriptors; -1: none), never in a network. False: none found.
 */
bool debug_file_find(struct elf_symbols *s, const char *path, int our_root, int its_root);

#endif
