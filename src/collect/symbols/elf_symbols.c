// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "collect/symbols/demangle.h"
#include "collect/symbols/unpack_xz.h"

#define SECOND_NAMES	(1u << 31)
#define START_BYTES	64 /* maximum size of _start; it has 34 bytes on x86-64 */
#define SYMBOLS_AT_ONCE 512
#define LINK_CRC_BYTES	(64u << 20) /* largest debug file whose CRC is checked */
#define ALIASES		8	    /* maximum number of names of one address that are compared */

static int source_open(int fd, struct byte_source *ret)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*ret = (struct byte_source){.fd = fd, .bytes = st.st_size};
	return 0;
}

int elf_symbols_open(int fd, struct elf_symbols *ret)
{
	struct elf_symbols s = {.held = -1};
	int err = source_open(fd, &s.file);

	if (!err)
		err = elf_headers_read(&s.file, &s.h);
	if (!err)
		*ret = s;
	return err;
}

bool elf_symbols_wants_debug(const struct elf_symbols *s)
{
	return !s->h.full.symbols.bytes;
}

static bool crc_fits(const struct byte_source *s, __u32 want)
{
	unsigned char b[16384];
	unsigned long crc = crc32(0, NULL, 0);
	__u64 at = 0;
	ssize_t n;

	if (s->bytes > LINK_CRC_BYTES)
		return false;
	while ((n = bytes_read(s, at, b, sizeof(b))) > 0) {
		crc = crc32(crc, b, n);
		at += n;
	}
	return !n && crc == want;
}

int elf_symbols_add_debug(struct elf_symbols *s, int fd)
{
	struct byte_source file;
	struct elf_headers h;
	int err = source_open(fd, &file);

	if (!err)
		err = elf_headers_read(&file, &h);
	if (err)
		return err;
	if (!h.full.symbols.bytes)
		return -ENOENT;
	if (s->h.build_id_bytes ? memcmp(h.build_id, s->h.build_id, BUILD_ID_BYTES)
				: !crc_fits(&file, s->h.debuglink_crc))
		return -ESTALE;
	s->held = s->file.fd;
	s->file = file;
	s->h.full = h.full;
	s->h.has_lines = h.has_lines;
	s->h.dynamic = (struct elf_symtab){};
	s->h.packed = (struct elf_span){};
	memcpy(s->h.code, h.code, sizeof(s->h.code));
	return 0;
}

static bool is_function(const struct elf_headers *h, const Elf64_Sym *sym)
{
	int type = ELF64_ST_TYPE(sym->st_info);
	unsigned int section = sym->st_shndx;

	if (!sym->st_value || !sym->st_name || section == SHN_UNDEF || section == SHN_ABS)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && section < ELF_SECTIONS_MAX &&
	       h->code[section / 8] & 1 << section % 8 &&
	       !(h->marks && ELF64_ST_BIND(sym->st_info) == STB_LOCAL);
}

static Elf64_Sym widened(const Elf32_Sym *sym)
{
	return (Elf64_Sym){
		.st_name = sym->st_name,
		.st_value = sym->st_value,
		.st_size = sym->st_size,
		.st_info = sym->st_info,
		.st_shndx = sym->st_shndx,
	};
}

/* Adds the functions of a symbol table. `mark` selects the table of names: 0 or SECOND_NAMES. */
static void add_symbols(struct symbol_table *t, const struct byte_source *s,
			const struct elf_headers *h, const struct elf_symtab *from, __u32 mark)
{
	size_t each = h->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	__u64 n = from->symbols.bytes / each;
	union {
		Elf32_Sym narrow[SYMBOLS_AT_ONCE];
		Elf64_Sym wide[SYMBOLS_AT_ONCE];
	} b;

	for (__u64 i = 0; i < n; i += SYMBOLS_AT_ONCE) {
		size_t some = n - i < SYMBOLS_AT_ONCE ? n - i : SYMBOLS_AT_ONCE;

		if (!bytes_get(s, from->symbols.offset + i * each, &b, some * each))
			return;
		for (size_t j = 0; j < some; j++) {
			Elf64_Sym sym = h->wide ? b.wide[j] : widened(&b.narrow[j]);

			if (is_function(h, &sym) && sym.st_name < from->names.bytes &&
			    sym.st_name < SECOND_NAMES)
				symbol_table_add(t, sym.st_value,
						 sym.st_size < UINT32_MAX ? sym.st_size
									  : UINT32_MAX,
						 sym.st_name | mark);
		}
		/* the table is full; a hostile file may claim any number of further symbols */
		if (t->cut)
			return;
	}
}

/* Adds the symbols of .gnu_debugdata. Only the names of the unpacked data stay in memory. */
static void add_packed(struct elf_symbols *s)
{
	struct byte_source packed = {.fd = -1};
	struct elf_headers h;
	char *mem = NULL, *names = NULL;
	size_t bytes;

	s->broken = unpack_xz(&s->file, s->h.packed.offset, s->h.packed.bytes, &mem, &bytes) != 0;
	if (s->broken)
		return;
	packed.mem = mem;
	packed.bytes = bytes;
	s->broken = elf_headers_read(&packed, &h) != 0;
	if (s->broken || !h.full.names.bytes)
		goto out;
	names = malloc(h.full.names.bytes);
	if (!names || !bytes_get(&packed, h.full.names.offset, names, h.full.names.bytes))
		goto out;
	add_symbols(&s->table, &packed, &h, &h.full, SECOND_NAMES);
	s->names[1].from = (struct byte_source){-1, names, h.full.names.bytes};
	s->names[1].at = (struct elf_span){0, h.full.names.bytes};
	names = NULL;
out:
	free(names);
	free(mem);
}

static void make_table(struct elf_symbols *s)
{
	const struct elf_symtab *symtab = s->h.full.symbols.bytes ? &s->h.full : &s->h.dynamic;

	s->known = true;
	s->names[0].from = s->file;
	s->names[0].at = symtab->names;
	add_symbols(&s->table, &s->file, &s->h, symtab, 0);
	if (symtab == &s->h.dynamic && s->h.packed.bytes)
		add_packed(s);
	symbol_table_sort(&s->table);
}

static bool read_name(const struct elf_symbols *s, __u32 name, char *ret, size_t size)
{
	int which = name & SECOND_NAMES ? 1 : 0;
	__u64 at = name & ~SECOND_NAMES;
	const struct elf_span *span = &s->names[which].at;

	if (at >= span->bytes)
		return false;
	if (span->bytes - at < size - 1)
		size = span->bytes - at + 1;
	return bytes_text(&s->names[which].from, span->offset + at, 0, ret, size);
}

/* Returns whether name `a` is better: fewer leading underscores, shorter, then alphabetical. */
static bool is_better(const char *a, const char *b)
{
	size_t plain_a = strspn(a, "_"), plain_b = strspn(b, "_");
	size_t len_a = strlen(a), len_b = strlen(b);

	if (plain_a != plain_b)
		return plain_a < plain_b;
	return len_a != len_b ? len_a < len_b : strcmp(a, b) < 0;
}

static bool best_name(const struct elf_symbols *s, const struct symbol_entry *e, size_t n,
		      char *ret, size_t size)
{
	char other[ELF_MANGLED_BYTES];
	bool found = false;

	for (size_t i = 0; i < n && i < ALIASES; i++) {
		if (!read_name(s, e[i].name, other, sizeof(other)) ||
		    (found && !is_better(other, ret)))
			continue;
		memcpy(ret, other, strnlen(other, size - 1) + 1);
		ret[size - 1] = 0;
		found = true;
	}
	return found;
}

static void put_name(struct elf_symbols *s, const char *name, char *ret, size_t size)
{
	int err = s->no_demangling ? -EINVAL : demangle(name, ret, size);
	size_t len = strnlen(name, size - 1);

	if (err == -E2BIG)
		s->no_demangling = true;
	if (!err)
		return;
	memcpy(ret, name, len);
	ret[len] = 0;
}

/* Names an address that no symbol covers: "_start" at the entry point, "[plt]" in the PLT. */
static bool find_untold(const struct elf_symbols *s, __u64 address, char *ret, size_t size,
			__u64 *ret_offset)
{
	const struct elf_headers *h = &s->h;

	if (h->entry && address - h->entry < START_BYTES) {
		snprintf(ret, size, "_start");
		*ret_offset = address - h->entry;
		return true;
	}
	for (unsigned int i = 0; i < h->nr_stubs; i++) {
		if (address < h->stub[i].start || address >= h->stub[i].end)
			continue;
		snprintf(ret, size, "[plt]");
		*ret_offset = address - h->stub[i].start;
		return true;
	}
	return false;
}

bool elf_symbols_find(struct elf_symbols *s, __u64 address, char *ret, size_t size,
		      __u64 *ret_offset)
{
	const struct symbol_entry *e;
	char name[ELF_MANGLED_BYTES];
	size_t n = 0;

	if (!s->known)
		make_table(s);
	e = symbol_table_find(&s->table, address, &n);
	if (!e || !best_name(s, e, n, name, sizeof(name)))
		return find_untold(s, address, ret, size, ret_offset);
	put_name(s, name, ret, size);
	*ret_offset = address - e->start;
	return true;
}

size_t elf_symbols_bytes(const struct elf_symbols *s)
{
	return s->table.room * sizeof(*s->table.e) +
	       (s->names[1].from.mem ? s->names[1].from.bytes : 0);
}

void elf_symbols_drop(struct elf_symbols *s)
{
	free((char *)s->names[1].from.mem);
	memset(s->names, 0, sizeof(s->names));
	symbol_table_free(&s->table);
	s->table.cut = 0;
	s->known = false;
}

void elf_symbols_close(struct elf_symbols *s)
{
	elf_symbols_drop(s);
	close(s->file.fd);
	if (s->held >= 0)
		close(s->held);
}
