/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of the addresses of one ELF file. Its .symtab has them all; else a separate debug
 * file's, else what is exported and what .gnu_debugdata adds. The table is made at the first
 * question; names are read as they are asked for, so a file of a million symbols costs 16 MiB.
 */
#ifndef FS_COLLECT_SYMBOLS_ELF_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_ELF_SYMBOLS_H

#include "collect/symbols/elf_headers.h"
#include "collect/symbols/symbol_table.h"

#define ELF_MANGLED_BYTES 4096 /* a longer name is cut, and stays mangled */

struct elf_symbols {
	struct elf_headers h;	 /* where symbols are: as `file` has them */
	struct byte_source file; /* the debug file once there is one; its fd is owned */
	int held; /* then the file itself, so that its inode stays its own; owned; or -1 */
	struct {
		struct byte_source from; /* of memory: owned */
		struct elf_span at;
	} names[2]; /* by the upper bit of an entry's name */
	struct symbol_table table;
	bool known;	    /* the table was made */
	bool no_demangling; /* a name of it was a bomb */
	bool broken;	    /* its compressed symbols could not be read */
};

/* On success it owns the fd, else the caller does. Returns 0, -ENOEXEC, -ENOMEM, -errno. */
int elf_symbols_open(int fd, struct elf_symbols *ret);

/* Whether a separate debug file would know more. */
bool elf_symbols_wants_debug(const struct elf_symbols *s);

/*
 * Has a debug file instead, if it is of this file: by its build-id or by the link's CRC. On success
 * it owns the fd.
 */
int elf_symbols_add_debug(struct elf_symbols *s, int fd);

/* False: no name is known. *ret_offset: from where the function begins. */
bool elf_symbols_find(struct elf_symbols *s, __u64 address, char *ret, size_t size,
		      __u64 *ret_offset);

/* What its table takes; dropping it costs making it anew. */
size_t elf_symbols_bytes(const struct elf_symbols *s);
void elf_symbols_drop(struct elf_symbols *s);

void elf_symbols_close(struct elf_symbols *s);

#endif
