// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/exported.h"

#include <elf.h>
#include <string.h>

#define SYMBOLS_MAX	(1u << 20)
#define SYMBOLS_AT_ONCE 256
#define NAME_BYTES	64

static void compare(const struct byte_source *file, const struct elf_headers *h,
		    const Elf64_Sym *sym, struct exported *symbol, size_t n)
{
	char name[NAME_BYTES];

	if (!sym->st_value || sym->st_name >= h->dynamic.names.bytes)
		return;
	bytes_text(file, h->dynamic.names.offset + sym->st_name, 0, name, sizeof(name));
	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbol[i].name, name))
			symbol[i].address = sym->st_value;
}

void exported_find(const struct byte_source *file, const struct elf_headers *h,
		   struct exported *symbol, size_t n)
{
	__u64 at = h->dynamic.symbols.offset, left = h->dynamic.symbols.bytes / sizeof(Elf64_Sym);
	Elf64_Sym sym[SYMBOLS_AT_ONCE];

	if (left > SYMBOLS_MAX)
		left = SYMBOLS_MAX;
	while (left) {
		size_t some = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		if (!bytes_get(file, at, sym, some * sizeof(*sym)))
			return;
		for (size_t i = 0; i < some; i++)
			if (ELF64_ST_TYPE(sym[i].st_info) == STT_OBJECT)
				compare(file, h, &sym[i], symbol, n);
		at += some * sizeof(*sym);
		left -= some;
	}
}

bool exported_read(const struct byte_source *file, const struct elf_headers *h, __u64 address,
		   void *ret, size_t size)
{
	for (unsigned int i = 0; i < h->nr_loads; i++) {
		__u64 into = address - h->load[i].address;

		if (address >= h->load[i].address && into < h->load[i].bytes)
			return bytes_get(file, h->load[i].offset + into, ret, size);
	}
	return false;
}
