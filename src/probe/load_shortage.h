/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: a load that fails because files or memory run out. Since all programs would fail to load,
 * and the kernel lacks no feature, the load ends at once with an explanation.
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
 * Returns the real error of a load that failed with `err`: libbpf returns -ESRCH whenever it cannot
 * read the kernel's BTF.
 */
int exhausted_by_btf(int err);

/* Explains which resource is exhausted, which limit applies, and what to do. Returns err. */
int exhausted_explain(int err, char *error, size_t size);

#endif
