/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: finds the kernel's type information (BTF): the running kernel's own, or a file. */
#ifndef FS_PROBE_BTF_H
#define FS_PROBE_BTF_H

#include <stddef.h>

#define BTF_PATH_MAX 512

/*
 * Finds the BTF for relocations: the running kernel's own; otherwise the file `given` (may be
 * NULL); otherwise a file of an installed archive (`make btf-archive`). `ret_path`, of BTF_PATH_MAX
 * bytes, is empty for the kernel's own BTF. Returns 0, or -ENOSYS, -ENOENT, -EINVAL with `error`
 * set.
 */
int btf_find(const char *given, char *ret_path, char *error, size_t size);

#endif
