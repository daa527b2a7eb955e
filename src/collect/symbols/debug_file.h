/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: separate debug files, where distributions put them: by build-id, else by link. */
#ifndef FS_COLLECT_SYMBOLS_DEBUG_FILE_H
#define FS_COLLECT_SYMBOLS_DEBUG_FILE_H

#include "collect/symbols/elf_symbols.h"

/*
 * Looks below our own root and the process's (O_PATH descriptors; -1: not there) for that of a file
 * which the process knows by this path. Nothing is asked of a network. False: none.
 */
bool debug_file_find(struct elf_symbols *s, const char *path, int our_root, int its_root);

#endif
