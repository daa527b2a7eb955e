/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: finds out whether a load fails because open files or memory run out. Then no other build
 * or attach type is tried, because each would fail for the same reason.
 */
#ifndef FS_PROBE_LOAD_SHORTAGE_H
#define FS_PROBE_LOAD_SHORTAGE_H

#include <stddef.h>

/* Returns -EMFILE or -ENFILE if fewer than `needed` files can be opened, else 0. */
int exhausted_files(size_t needed);

/*
 * Returns the real error of a load that failed with `err`. If `err` is -ESRCH, libbpf could not
 * read the kernel's BTF, and the cause may be a lack of files or memory.
 */
int exhausted_by_btf(int err);

#endif
