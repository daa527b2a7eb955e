/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: what the kernel's type information (BTF) says of the structures that the kernel side reads
 * without relocation.
 */
#ifndef FS_PROBE_LAYOUT_H
#define FS_PROBE_LAYOUT_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "wire.h"

/*
 * Whether the nodes of a maple tree are laid out in another way than bpf/wire_maple.h has it. False
 * where the BTF has no such types: before 6.1 there are none.
 */
bool layout_areas_foreign(const struct btf *kernel);

/* Which argument of mmap_lock_acquire_returned says whether it was got: FS_LOCK_SUCCESS_*. */
__u32 layout_lock_success(const struct btf *kernel);

#endif
