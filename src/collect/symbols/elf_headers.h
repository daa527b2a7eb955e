/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: what the headers of an ELF file say about where its names are. The file may be broken or
 * hostile: each size is checked against a cap and the file's own before anything is read by it.
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
	__u64 bytes; /* 0: it has none */
};

struct elf_symtab {
	struct elf_span symbols;
	struct elf_span names;
};

struct elf_headers {
	bool wide;  /* of 64 bits */
	bool marks; /* its local labels are marks of code and data, not functions */
	__u8 build_id[BUILD_ID_BYTES]; /* a shorter one has zeros behind it, as the kernel does */
	__u32 build_id_bytes;	       /* 0: it has none */
	__u64 entry;		       /* of a program; 0: a library */
	struct {
		__u64 offset, address, bytes;
		bool executable;
	} load[ELF_LOADS_MAX];
	unsigned int nr_loads;
	struct {
		__u64 start, end;
	} stub[ELF_STUBS_MAX]; /* jumps to functions of other files: .plt and its like */
	unsigned int nr_stubs;
	struct elf_symtab full;	   /* .symtab */
	struct elf_symtab dynamic; /* .dynsym */
	struct elf_span packed;	   /* .gnu_debugdata: another ELF file, compressed */
	char debuglink[128];	   /* a file's name; empty: it has none */
	__u32 debuglink_crc;
	__u8 code[ELF_SECTIONS_MAX / 8]; /* a bit for each section that has code */
};

/* Returns 0, -ENOEXEC where it is no ELF file that a process could run here, -ENOMEM. */
int elf_headers_read(const struct byte_source *s, struct elf_headers *ret);

/* The address that the byte at this offset of the file has, before relocation. */
bool elf_headers_address(const struct elf_headers *h, __u64 offset, __u64 *ret);

/* Whether that byte is mapped to execute. */
bool elf_headers_is_code(const struct elf_headers *h, __u64 offset);

#endif
