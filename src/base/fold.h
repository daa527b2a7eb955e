/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: names of one sort made equal: what programs number or make at random becomes "#". */
#ifndef FS_BASE_FOLD_H
#define FS_BASE_FOLD_H

#include <stddef.h>

/*
 * "/dev/shm/torch_2653_91_7" is "/dev/shm/torch_#", "/tmp/x-3f9ac1d2.db" is "/tmp/x-#.db". A
 * version behind a letter ("libc.so.6", "python3.11") stays. Cut to `size`, NUL-terminated.
 */
void name_fold(const char *name, char *ret, size_t size);

#endif
