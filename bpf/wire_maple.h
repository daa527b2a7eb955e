/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layout of a maple tree on 64 bits, in bytes (d4af56c5c7c6, 6.1; include/linux/maple_tree.h). BPF
 * programs walk maple trees by this layout; user space compares the layout with the kernel's BTF.
 */
#ifndef FS_WIRE_MAPLE_H
#define FS_WIRE_MAPLE_H

/* Values of enum maple_type. */
#define FS_MAPLE_LEAF	1
#define FS_MAPLE_RANGE	2
#define FS_MAPLE_ARANGE 3

#define FS_MAPLE_PIVOTS	      8	 /* offset of the pivots in both kinds of nodes */
#define FS_MAPLE_RANGE_LAST   14 /* index of the last of 15 pivots of a node */
#define FS_MAPLE_RANGE_SLOTS  128
#define FS_MAPLE_RANGE_META   248
#define FS_MAPLE_ARANGE_SLOTS 80
#define FS_MAPLE_ARANGE_META  240

#endif
