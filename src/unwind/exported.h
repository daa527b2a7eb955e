/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: finds exported symbols of an ELF file by name. */
#ifndef FS_UNWIND_EXPORTED_H
#define FS_UNWIND_EXPORTED_H

#include "collect/symbols/elf_headers.h"

struct exported {
	const char *name;
	__u64 address; /* address in the file's own address space; 0: the symbol is not exported */
};

/* Finds all of the symbols in one pass over .dynsym. */
void exported_find(const struct byte_source *file, const struct elf_headers *h,
		   struct exported *symbol, size_t n);

/* Reads initialised data of the file at an address of the file's own address space. */
bool exported_read(const struct byte_source *file, const struct elf_headers *h, __u64 address,
		   void *ret, size_t size);

#endif
