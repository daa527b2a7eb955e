/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the symbol tables in the headers of an ELF file. The file may be broken or
 * hostile: each size is checked against a maximum and against the file's size before it is used.
 */
#ifndef FS_COLLECT_SYMBOLS_ELF_HEADERS_H
#define FS_COLLECT_SYMBOLS_ELF_HEADERS_H

#include "collect/files/byte_source.h"

#define ELF_LOADS_MAX	 16
#define ELF_SECTIONS_MAX 4096
#define ELF_STUBS_MAX	 4
#define BUILD_ID_BYTES	 20

struct elf_span {
	__u64 offset;
	__u64 bytes; /* size in bytes; 0: no such section */
};

struct elf_symtab {
	struct elf_span symbols;
	struct elf_span names;
};

struct elf_headers {
	bool wide; /* the ELF file is 64-bit */
	/*
	 * true on ARM and AArch64: local symbols without a type are no functions there, they only
	 * mark where code and data begin
	 */
	bool marks;
	__u8 build_id[BUILD_ID_BYTES]; /* build-id, padded with zeros, as in the kernel */
	__u32 build_id_bytes;	       /* length of the build-id; 0: none */
	__u64 entry;		       /* entry point of a program; 0: a library */
	struct {
		__u64 offset, address, bytes;
		bool executable;
	} load[ELF_LOADS_MAX];
	unsigned int nr_loads;
	struct {
		__u64 start, end;
	} stub[ELF_STUBS_MAX]; /* .plt sections, with jumps to other files */
	unsigned int nr_stubs;
	struct elf_symtab full;	   /* symbol table .symtab */
	struct elf_symtab dynamic; /* symbol table .dynsym */
	struct elf_span packed;	   /* .gnu_debugdata: a compressed ELF file */
	bool has_lines;		   /* the file has source lines: .debug_line */
	struct {
		struct elf_span at;
		__u64 address;
		/* .eh_frame, found by its section header; .eh_frame_hdr, found by its segment */
	} frames, frame_index;
	struct elf_span go_functions; /* .gopclntab */
	__u16 machine;
	__u64 start;	     /* address of the entry point; ld.so, a library, has one, too */
	char debuglink[128]; /* name of the debug file; empty: none */
	__u32 debuglink_crc;
	__u8 code[ELF_SECTIONS_MAX / 8]; /* bitmap of sections that contain code */
};

/* Returns 0, or -ENOEXEC if the file is no program or library of this machine's byte order. */
int elf_headers_read(const struct byte_source *s, struct elf_headers *ret);

/* Converts a file offset to an address before relocation. Returns false if it is in no segment. */
bool elf_headers_address(const struct elf_headers *h, __u64 offset, __u64 *ret);

/* Returns whether the byte at `offset` of the file is in an executable segment. */
bool elf_headers_is_code(const struct elf_headers *h, __u64 offset);

#endif
