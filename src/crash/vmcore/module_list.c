// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The list of modules begins at the symbol `modules`, which VMCOREINFO does not name. Since 6.0, it
 * names the tables of kallsyms instead (scripts/kallsyms.c), which have all symbols. The first
 * members of struct module have not changed since Linux 2.6: state, list, name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crash/vmcore/kernel_log.h"

#define SYMBOLS_MAX (2u << 20)
#define NAMES_MAX   (64u << 20)
#define TOKENS	    256
#define TOKEN_BYTES 4096
#define NAME_BYTES  512
#define MODULES_MAX 4096
#define MODULE_NAME 56 /* MODULE_NAME_LEN: 64 bytes minus a long */
#define LIST_BYTES  16 /* struct list_head; the name follows it */

struct symbols {
	uint32_t count;
	uint64_t names, tokens, index, offsets, base;
};

static bool symbols_describe(const struct kernel_image *k, struct symbols *s)
{
	uint64_t count, base;

	return info_symbol(k, "kallsyms_num_syms", &count) &&
	       info_symbol(k, "kallsyms_names", &s->names) &&
	       info_symbol(k, "kallsyms_token_table", &s->tokens) &&
	       info_symbol(k, "kallsyms_token_index", &s->index) &&
	       info_symbol(k, "kallsyms_offsets", &s->offsets) &&
	       info_symbol(k, "kallsyms_relative_base", &base) &&
	       !kernel_read_u32(k, count, &s->count) && s->count && s->count < SYMBOLS_MAX &&
	       !kernel_read_u64(k, base, &s->base);
}

/* Reads the bytes of a table whose end is not known: up to `most`, or up to what the dump has. */
static char *read_table(const struct kernel_image *k, uint64_t at, size_t most, size_t *ret_size)
{
	const size_t page = 4096;
	char *data = malloc(most);
	size_t n = 0;

	while (data && n < most) {
		size_t part = page - ((at + n) & (page - 1));

		part = part < most - n ? part : most - n;
		if (kernel_read(k, at + n, data + n, part))
			break;
		n += part;
	}
	*ret_size = n;
	return data;
}

/*
 * Decodes the name at *at, whose first character is the symbol's type, and advances *at. Returns
 * false if the table is damaged.
 */
static bool name_decode(const char *names, size_t size, size_t *at, const char *tokens,
			const uint16_t *index, char *ret)
{
	size_t length, used = 0;

	if (*at >= size)
		return false;
	length = (unsigned char)names[(*at)++];
	if (length & 0x80) { /* since 6.1, long names have a length of two bytes */
		if (*at >= size)
			return false;
		length = (length & 0x7f) | (size_t)(unsigned char)names[(*at)++] << 7;
	}
	if (length > size - *at)
		return false;
	for (size_t i = 0; i < length; i++) {
		size_t from = index[(unsigned char)names[*at + i]];

		while (from < TOKEN_BYTES && tokens[from] && used + 1 < NAME_BYTES)
			ret[used++] = tokens[from++];
	}
	ret[used] = 0;
	*at += length;
	return true;
}

/* Returns the address of symbol i: kallsyms_sym_address() of kernel/kallsyms.c. */
static uint64_t symbol_address(const struct kernel_image *k, const struct symbols *s, uint32_t i)
{
	uint32_t offset;

	if (kernel_read_u32(k, s->offsets + 4ull * i, &offset))
		return 0;
	/* CONFIG_KALLSYMS_ABSOLUTE_PERCPU (x86 up to 6.14): negative offsets are relative */
	return (int32_t)offset < 0 ? s->base - 1 - (int32_t)offset : s->base + offset;
}

/* Returns whether a doubly linked list begins at an address. */
static bool is_list(const struct kernel_image *k, uint64_t head)
{
	uint64_t next, back;

	return head && !kernel_read_u64(k, head, &next) && !kernel_read_u64(k, next + 8, &back) &&
	       back == head;
}

static uint64_t modules_address(const struct kernel_image *k)
{
	struct symbols s = {};
	uint16_t index[TOKENS];
	char tokens[TOKEN_BYTES], name[NAME_BYTES];
	size_t size = 0, at = 0, tokens_size;
	uint64_t head = 0;
	char *names, *table;

	if (!symbols_describe(k, &s) || kernel_read(k, s.index, index, sizeof(index)))
		return 0;
	table = read_table(k, s.tokens, sizeof(tokens), &tokens_size);
	if (!table)
		return 0;
	memset(tokens, 0, sizeof(tokens));
	memcpy(tokens, table, tokens_size);
	free(table);
	names = read_table(k, s.names, NAMES_MAX < s.count * 64ull ? NAMES_MAX : s.count * 64,
			   &size);
	for (uint32_t i = 0; names && i < s.count && !head; i++) {
		if (!name_decode(names, size, &at, tokens, index, name))
			break;
		if (strcmp(name + 1, "modules"))
			continue;
		head = symbol_address(k, &s, i);
		if (!is_list(k, head))
			head = 0;
	}
	free(names);
	return head;
}

static bool is_name(const char *name)
{
	size_t n = 0;

	while (n < MODULE_NAME && name[n] > ' ' && name[n] < 0x7f)
		n++;
	return n && n < MODULE_NAME && !name[n];
}

int module_list_read(struct buf *b, const struct kernel_image *k)
{
	uint64_t head = modules_address(k), at = head;

	if (!head)
		return -ENOTSUP;
	for (int i = 0; i < MODULES_MAX; i++) {
		char name[MODULE_NAME];

		if (kernel_read_u64(k, at, &at))
			return -ENODATA;
		if (at == head)
			return 0;
		if (kernel_read(k, at + LIST_BYTES, name, sizeof(name)) || !is_name(name))
			return -ENODATA;
		buf_printf(b, "%s%s", i ? " " : "", name);
	}
	return 0;
}
