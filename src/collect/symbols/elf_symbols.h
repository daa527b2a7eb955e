/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds function names for addresses in an ELF file. The symbols come from its .symtab,
 * from the .symtab of its debug file, or from .dynsym and .gnu_debugdata. The table is built at the
 * first lookup. Names are read from the file at each lookup. A file with a million symbols costs 16
 * MiB.
 */
#ifndef FS_COLLECT_SYMBOLS_ELF_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_ELF_SYMBOLS_H

#include "collect/symbols/elf_headers.h"
#include "collect/symbols/symbol_table.h"

#define ELF_MANGLED_BYTES 4096 /* longer names are cut, and are not demangled */

struct elf_symbols {
	struct elf_headers h;	 /* headers of the ELF file; symbol tables are those of `file` */
	struct byte_source file; /* the ELF file, or its debug file if found; owns the fd */
	/*
	 * If `file` is the debug file: fd of the ELF file itself, owned, which keeps its inode in
	 * use. Otherwise -1.
	 */
	int held;
	struct {
		struct byte_source from; /* source of the names; owned if in memory */
		struct elf_span at;
	} names[2]; /* tables of names, selected by the top bit of symbol_entry.name */
	struct symbol_table table;
	bool known;	    /* the symbol table was built */
	bool no_demangling; /* a name was malicious: demangle no further names */
	bool broken;	    /* .gnu_debugdata could not be read */
};

/* Opens an ELF file. On success, `ret` owns the fd. Returns 0, -ENOEXEC or -errno. */
int elf_symbols_open(int fd, struct elf_symbols *ret);

/* Returns whether the file has no .symtab. A debug file would then have more names. */
bool elf_symbols_wants_debug(const struct elf_symbols *s);

/*
 * Uses the symbols of a debug file if it matches: by build-id or, without one, by the CRC in
 * .gnu_debuglink. On success, `s` owns the fd. Returns 0 or -errno (-ESTALE: no match).
 */
int elf_symbols_add_debug(struct elf_symbols *s, int fd);

/* Finds the function at an address, and the offset in the function. Returns false if unknown. */
bool elf_symbols_find(struct elf_symbols *s, __u64 address, char *ret, size_t size,
		      __u64 *ret_offset);

/*
 * Returns the memory of a symbol table in bytes. If a table was dropped, the next use builds it
 * again.
 */
size_t elf_symbols_bytes(const struct elf_symbols *s);
void elf_symbols_drop(struct elf_symbols *s);

void elf_symbols_close(struct elf_symbols *s);

#endif
