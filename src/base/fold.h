/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: folds names: numbers and random parts become "#", so that related names are equal. */
#ifndef FS_BASE_FOLD_H
#define FS_BASE_FOLD_H

#include <stddef.h>

/*
 * Writes the folded name, cut to `size`: "/dev/shm/torch_2653_91_7" becomes "/dev/shm/torch_#",
 * "/tmp/x-3f9ac1d2.db" becomes "/tmp/x-#.db". Version numbers stay: "libc.so.6", "python3.11".
 */
void name_fold(const char *name, char *ret, size_t size);

#endif
