/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the kernel's type information (BTF), the running kernel's own or a file given. */
#ifndef FS_PROBE_BTF_H
#define FS_PROBE_BTF_H

#include <stdbool.h>

#include <stddef.h>

struct btf_view {
	int old_ns; /* mount namespace to go back to; -1: nothing was changed */
	bool mounted;
};

/*
 * Makes sure that libbpf finds BTF of this kernel during a load. libbpf looks for it in fixed
 * places only, so a file given by the user is shown in one of those, in a mount namespace of our
 * own, until btf_hide(). Returns 0, or -ENOSYS, -ENOENT, -errno with `error` set.
 */
int btf_show(struct btf_view *view, const char *path, char *error, size_t size);
void btf_hide(struct btf_view *view);

#endif
