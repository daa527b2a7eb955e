/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: explains a load that fails because open files or memory run out. No other build or attach
 * type is tried, because each would fail for the same reason.
 */
#ifndef FS_PROBE_LOAD_SHORTAGE_H
#define FS_PROBE_LOAD_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether an error is -EMFILE, -ENFILE or -ENOMEM. */
bool is_exhausted(int err);

/* Returns -EMFILE or -ENFILE if fewer than `needed` files can be opened, else 0. */
int exhausted_files(size_t needed);

/*
 * Returns the real error of a load that failed with `err`. If `err` is -ESRCH, libbpf could not
 * read the kernel's BTF, and the cause may be a lack of files or memory.
 */
int exhausted_by_btf(int err);

/* Explains which resource is exhausted, which limit applies, and what to do. Returns err. */
int exhausted_explain(int err, char *error, size_t size);

#endif
