// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/vmcore/kernel_image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "triage/str.h"

/* address bits of a page table entry */
#define X86_MASK    0x000ffffffffff000ull
#define ARM_MASK    0x0000fffffffff000ull
#define X86_PRESENT 1
#define X86_LARGE   0x80		  /* bit PS */
#define X86_BASE    0xffffffff80000000ull /* __START_KERNEL_map */
#define ARM_VALID   1
#define ARM_TABLE   2

/* Finds the line "KIND(name)=" of VMCOREINFO. Returns the text after it; NULL: no such line. */
static const char *info_line(const struct kernel_image *k, const char *kind, const char *name)
{
	char key[160];
	int n = snprintf(key, sizeof(key), "%s(%s)=", kind, name);

	for (const char *at = k->info; (at = strstr(at, key)); at += n)
		if (at == k->info || at[-1] == '\n')
			return at + n;
	return NULL;
}

static bool take_decimal(const char *text, uint64_t *ret)
{
	bool negative = text && *text == '-';

	if (!text)
		return false;
	if (!strncmp(text, "0x", 2))
		return str_hex(str_of(text), ret) > 0;
	if (!str_decimal(str_of(text + negative), ret))
		return false;
	if (negative)
		*ret = -*ret;
	return true;
}

bool info_symbol(const struct kernel_image *k, const char *name, uint64_t *ret)
{
	const char *text = info_line(k, "SYMBOL", name);

	return text && str_hex(str_first(str_of(text), strcspn(text, "\n")), ret);
}

bool info_offset(const struct kernel_image *k, const char *name, uint64_t *ret)
{
	return take_decimal(info_line(k, "OFFSET", name), ret);
}

bool info_size(const struct kernel_image *k, const char *name, uint64_t *ret)
{
	return take_decimal(info_line(k, "SIZE", name), ret);
}

bool info_number(const struct kernel_image *k, const char *name, uint64_t *ret)
{
	return take_decimal(info_line(k, "NUMBER", name), ret);
}

static bool open_x86(struct kernel_image *k)
{
	uint64_t symbol, base = 0, five = 0, encrypted = 0;

	if (!info_symbol(k, "init_top_pgt", &symbol) &&
	    !info_symbol(k, "swapper_pg_dir", &symbol) &&
	    !info_symbol(k, "init_level4_pgt", &symbol))
		return false;
	info_number(k, "phys_base", &base);
	info_number(k, "pgtable_l5_enabled", &five);
	info_number(k, "sme_mask", &encrypted); /* AMD: the bit that marks encrypted pages */
	k->tables = symbol - X86_BASE + base;
	k->entry_mask = X86_MASK & ~encrypted;
	k->page_shift = 12;
	k->levels = five ? 5 : 4;
	k->address_bits = five ? 57 : 48;
	return true;
}

static bool open_arm64(struct kernel_image *k)
{
	uint64_t symbol, offset, bits, size, t1sz;
	const char *page = strstr(k->info, "PAGESIZE=");

	if (!info_symbol(k, "swapper_pg_dir", &symbol) ||
	    !info_number(k, "kimage_voffset", &offset) || !info_number(k, "VA_BITS", &bits) ||
	    !page || !str_decimal(str_of(page + 9), &size))
		return false;
	if (info_number(k, "TCR_EL1_T1SZ", &t1sz) && t1sz > 0 && t1sz < 64)
		bits = 64 - t1sz;
	k->tables = symbol - offset;
	k->entry_mask = ARM_MASK;
	k->page_shift = size == 65536 ? 16 : size == 16384 ? 14 : 12;
	k->address_bits = bits;
	k->levels = (bits - k->page_shift + k->page_shift - 4) / (k->page_shift - 3);
	return bits > k->page_shift && bits <= 52;
}

/* Some writers of dumps, such as QEMU, omit the machine. Then a value of VMCOREINFO shows it. */
static int machine_of(const struct kernel_image *k)
{
	uint64_t value;

	if (k->memory->machine != EM_NONE)
		return k->memory->machine;
	if (info_number(k, "kimage_voffset", &value))
		return EM_AARCH64;
	return info_symbol(k, "init_top_pgt", &value) || info_symbol(k, "init_level4_pgt", &value)
		       ? EM_X86_64
		       : EM_NONE;
}

int kernel_image_open(struct kernel_image *k, const char **ret_why)
{
	k->machine = machine_of(k);
	*ret_why = "its description of the kernel (VMCOREINFO) is incomplete";
	if (k->machine == EM_X86_64)
		return open_x86(k) ? 0 : -ENOTSUP;
	if (k->machine == EM_AARCH64)
		return open_arm64(k) ? 0 : -ENOTSUP;
	*ret_why = "it is of an architecture that is not supported (supported: x86-64 and arm64)";
	return -ENOTSUP;
}

/*
 * Translates a virtual address by the kernel's page tables. Returns the number of bytes that follow
 * in the same page, or 0 if no page is mapped.
 */
static uint64_t translate(const struct kernel_image *k, uint64_t at, uint64_t *ret)
{
	bool arm = k->machine == EM_AARCH64;
	unsigned int bits = k->page_shift - 3;
	uint64_t table = k->tables, entry;

	at &= (1ull << k->address_bits) - 1;
	for (unsigned int level = k->levels; level; level--) {
		unsigned int shift = k->page_shift + (level - 1) * bits;
		uint64_t index = at >> shift, span = 1ull << shift;
		bool page;

		if (level < k->levels)
			index &= (1ull << bits) - 1;
		if (memory_read(k->memory, table + index * 8, &entry, sizeof(entry)))
			return 0;
		if (!(entry & (arm ? ARM_VALID : X86_PRESENT)))
			return 0;
		page = level == 1 || (arm ? !(entry & ARM_TABLE) : entry & X86_LARGE);
		table = entry & k->entry_mask & ~((1ull << k->page_shift) - 1);
		if (!page)
			continue;
		table &= ~(span - 1);
		*ret = table + (at & (span - 1));
		return span - (at & (span - 1));
	}
	return 0;
}

int kernel_read(const struct kernel_image *k, uint64_t at, void *to, size_t size)
{
	uint64_t page = 1ull << k->page_shift;

	while (size) {
		uint64_t physical, left = translate(k, at, &physical), part;

		if (!left)
			return -ENODATA;
		/* parts of one page, because the dump may lack the next page */
		part = page - (physical & (page - 1));
		part = part < left ? part : left;
		part = part < size ? part : size;
		if (memory_read(k->memory, physical, to, part))
			return -ENODATA;
		to = (char *)to + part;
		at += part;
		size -= part;
	}
	return 0;
}

int kernel_read_u64(const struct kernel_image *k, uint64_t at, uint64_t *ret)
{
	return kernel_read(k, at, ret, sizeof(*ret));
}

int kernel_read_u32(const struct kernel_image *k, uint64_t at, uint32_t *ret)
{
	return kernel_read(k, at, ret, sizeof(*ret));
}
