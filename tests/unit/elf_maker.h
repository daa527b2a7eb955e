/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a small ELF file in memory, section by section. */
#ifndef FS_TESTS_ELF_MAKER_H
#define FS_TESTS_ELF_MAKER_H

#include <elf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collect/symbols/elf_headers.h"

#define SEGMENTS 300 /* more than are accepted */
#define PHDRS_AT 64
#define SHDRS_AT (PHDRS_AT + SEGMENTS * sizeof(Elf64_Phdr))
#define DATA_AT	 (SHDRS_AT + 5000 * sizeof(Elf64_Shdr))
#define BYTES	 (DATA_AT + 8192)

static struct {
	char bytes[BYTES] __attribute__((aligned(8)));
	size_t used, names; /* next free byte of the data; of the section names, which come last */
} file;

static inline Elf64_Ehdr *head(void)
{
	return (Elf64_Ehdr *)file.bytes;
}

/* Begins a library without segments. Section 1 has the names of the sections. */
static inline void begin(unsigned char class)
{
	Elf64_Shdr *names = (Elf64_Shdr *)(file.bytes + SHDRS_AT) + 1;

	memset(&file, 0, sizeof(file));
	*head() = (Elf64_Ehdr){.e_type = ET_DYN,
			       .e_machine = EM_X86_64,
			       .e_version = EV_CURRENT,
			       .e_entry = 0x1234,
			       .e_phoff = PHDRS_AT,
			       .e_shoff = SHDRS_AT,
			       .e_ehsize = sizeof(Elf64_Ehdr),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_shentsize = sizeof(Elf64_Shdr),
			       .e_shnum = 2,
			       .e_shstrndx = 1};
	memcpy(file.bytes, ELFMAG, SELFMAG);
	file.bytes[EI_CLASS] = class;
	file.bytes[EI_DATA] = ELFDATA2LSB;
	file.bytes[EI_VERSION] = EV_CURRENT;
	file.used = DATA_AT;
	file.names = DATA_AT + 4096;
	*names = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = file.names, .sh_size = 4096};
	file.names++;
}

static inline uint64_t put(const void *data, size_t size)
{
	uint64_t at = file.used;

	memcpy(file.bytes + at, data, size);
	file.used += (size + 7) / 8 * 8;
	return at;
}

static inline Elf64_Shdr *section(const char *name, uint32_t type, uint64_t flags, const void *data,
			   size_t size)
{
	Elf64_Shdr *s = (Elf64_Shdr *)(file.bytes + SHDRS_AT) + head()->e_shnum++;

	*s = (Elf64_Shdr){.sh_name = file.names - DATA_AT - 4096,
			  .sh_type = type,
			  .sh_flags = flags,
			  .sh_addr = 0x10000 * head()->e_shnum,
			  .sh_offset = put(data, size),
			  .sh_size = size,
			  .sh_addralign = 4};
	file.names += sprintf(file.bytes + file.names, "%s", name) + 1;
	return s;
}

static inline Elf64_Phdr *segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t address,
			   uint64_t bytes)
{
	Elf64_Phdr *p = (Elf64_Phdr *)(file.bytes + PHDRS_AT) + head()->e_phnum++;

	*p = (Elf64_Phdr){.p_type = type,
			  .p_flags = flags,
			  .p_offset = offset,
			  .p_vaddr = address,
			  .p_filesz = bytes,
			  .p_align = 4};
	return p;
}

static inline int headers(struct elf_headers *h)
{
	struct byte_source s = {.fd = -1, .mem = file.bytes, .bytes = BYTES};

	return elf_headers_read(&s, h);
}

/* Returns a note; `size` is the size of its contents. */
static inline size_t note(char *ret, const char *owner, uint32_t type, const char *contents,
			  size_t size)
{
	Elf64_Nhdr head = {.n_namesz = strlen(owner) + 1, .n_descsz = size, .n_type = type};
	size_t names = (head.n_namesz + 3) / 4 * 4;

	memset(ret, 0, sizeof(head) + names + size);
	memcpy(ret, &head, sizeof(head));
	strcpy(ret + sizeof(head), owner);
	memcpy(ret + sizeof(head) + names, contents, size);
	return sizeof(head) + names + (size + 3) / 4 * 4;
}

#endif
