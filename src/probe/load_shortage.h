/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: a load that fails for want of files or of memory. Every program would get the same answer
 * one after the other, and the kernel lacks nothing: it ends at once, by the name of the error.
 */
#ifndef FS_PROBE_LOAD_SHORTAGE_H
#define FS_PROBE_LOAD_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* EMFILE, ENFILE or ENOMEM. */
bool is_exhausted(int err);

/* Returns -EMFILE or -ENFILE where fewer files than `needed` can be opened, else 0. */
int exhausted_files(size_t needed);

/*
 * The error of a load, of which libbpf says ESRCH where it cannot read the kernel's BTF, whatever
 * the reason.
 */
int exhausted_by_btf(int err);

/* What lacks, which limit it is, and what to do. Returns err. */
int exhausted_explain(int err, char *error, size_t size);

#endif
