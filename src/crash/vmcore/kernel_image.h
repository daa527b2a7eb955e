/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel in a memory dump. The kernel describes itself in a page of text, VMCOREINFO
 * (Documentation/admin-guide/kdump/vmcoreinfo.rst), so that no debug information is needed.
 */
#ifndef FS_CRASH_VMCORE_KERNEL_IMAGE_H
#define FS_CRASH_VMCORE_KERNEL_IMAGE_H

#include <stdbool.h>

#include "crash/vmcore/memory_image.h"

struct kernel_image {
	const struct memory_image *memory;
	char *info;	     /* text of VMCOREINFO, which the caller owns */
	uint64_t tables;     /* physical address of the top page table */
	uint64_t entry_mask; /* address bits of a page table entry */
	int machine;	     /* EM_X86_64 or EM_AARCH64 of elf.h */
	unsigned int page_shift, address_bits, levels;
};

/* Return whether the text has the line "SYMBOL(name)=hex", and so on, and set *ret. */
bool info_symbol(const struct kernel_image *k, const char *name, uint64_t *ret);
bool info_offset(const struct kernel_image *k, const char *name, uint64_t *ret);
bool info_size(const struct kernel_image *k, const char *name, uint64_t *ret);
bool info_number(const struct kernel_image *k, const char *name, uint64_t *ret);

/* Finds the page tables. Returns 0, or -errno with the reason in *ret_why. */
int kernel_image_open(struct kernel_image *k, const char **ret_why);

/* Reads at a virtual address of the kernel. Returns 0 or -ENODATA. */
int kernel_read(const struct kernel_image *k, uint64_t at, void *to, size_t size);
int kernel_read_u64(const struct kernel_image *k, uint64_t at, uint64_t *ret);
int kernel_read_u32(const struct kernel_image *k, uint64_t at, uint32_t *ret);

#endif
