/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of kernel addresses, from /proc/kallsyms. */
#ifndef FS_COLLECT_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_H

#include <stdbool.h>

#include "wire.h"

struct symbols {
	int unreadable; /* kptr_restrict hides the addresses */
};

/* "symbol+0xoffset" and its module, read while the module is still there. False: not known. */
bool symbols_find(struct symbols *s, __u64 ip, struct fs_symbol_record *ret);

#endif
