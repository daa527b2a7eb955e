/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that make an .eh_frame section, and an ELF file around it. */
#ifndef FS_TESTS_CFI_MAKER_H
#define FS_TESTS_CFI_MAKER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MADE_BYTES 8192
#define TEXT	   0x10000 /* address of the code, and its offset in the file */
#define TEXT_BYTES 0x30000
#define FRAMES	   0x1000 /* address of .eh_frame, and its offset in the file */
#define MADE_FILE  (TEXT + TEXT_BYTES)
#define WITH(...)  (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

struct made {
	uint8_t b[MADE_BYTES];
	size_t n;
};

static inline void put(struct made *m, const void *bytes, size_t n)
{
	memcpy(m->b + m->n, bytes, n);
	m->n += n;
}

static inline void put_u32(struct made *m, uint32_t n)
{
	put(m, &n, sizeof(n));
}

/* Ends the entry that began at `at`: pads it, and writes its length. */
static inline void end_entry(struct made *m, size_t at)
{
	uint32_t length;

	while ((m->n - at) % 4)
		m->b[m->n++] = 0;
	length = m->n - at - 4;
	memcpy(m->b + at, &length, sizeof(length));
}

/*
 * Adds an x86-64 CIE whose FDEs have 4-byte pointers relative to their own address. Returns its
 * offset.
 */
static inline size_t put_cie(struct made *m, const char *letters, uint8_t ra,
			     const uint8_t *program, size_t n)
{
	/* code alignment factor 1, data alignment factor -8 */
	static const uint8_t start[] = {1, 0x78};
	uint8_t data[] = {1, 0x1b};
	size_t at = m->n;

	put_u32(m, 0);
	put_u32(m, 0);
	m->b[m->n++] = 1;
	put(m, letters, strlen(letters) + 1);
	put(m, start, sizeof(start));
	m->b[m->n++] = ra;
	put(m, data, sizeof(data));
	put(m, program, n);
	end_entry(m, at);
	return at;
}

static inline void put_fde(struct made *m, size_t cie, uint32_t start, uint32_t bytes,
			   const uint8_t *program, size_t n)
{
	size_t at = m->n;

	put_u32(m, 0);
	put_u32(m, m->n - cie);
	put_u32(m, start - (FRAMES + m->n));
	put_u32(m, bytes);
	m->b[m->n++] = 0;
	put(m, program, n);
	end_entry(m, at);
}

/*
 * Makes a shared library with this .eh_frame section and code of NOPs. `sections`: false if the
 * file has .eh_frame_hdr in place of section headers.
 */
static inline void make_file(const struct made *m, uint16_t machine, bool sections,
			     uint8_t file[MADE_FILE])
{
	static const char names[] = "\0.eh_frame\0.shstrtab\0.gopclntab";
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = machine,
			.e_version = EV_CURRENT,
			.e_entry = TEXT + 0x3000, /* the entry point has no FDE, as in ld.so */
			.e_ehsize = sizeof(e),
			.e_phoff = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
			.e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr p[3] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = TEXT},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = TEXT,
		 .p_vaddr = TEXT,
		 .p_filesz = TEXT_BYTES},
		{.p_type = PT_GNU_EH_FRAME, .p_offset = 0x800, .p_vaddr = 0x800, .p_filesz = 12}};
	Elf64_Shdr s[3] = {{},
			   {.sh_name = 1,
			    .sh_type = SHT_PROGBITS,
			    .sh_flags = SHF_ALLOC,
			    .sh_addr = FRAMES,
			    .sh_offset = FRAMES,
			    .sh_size = m->n},
			   {.sh_name = 11,
			    .sh_type = SHT_STRTAB,
			    .sh_offset = 0x600,
			    .sh_size = sizeof(names)}};
	uint8_t index[12] = {1, 0x1b, 0xff, 0xff};
	int32_t to = FRAMES - 0x804;

	if (sections) {
		e.e_shoff = 0x400;
		e.e_shnum = 3;
		e.e_shstrndx = 2;
	}
	memcpy(index + 4, &to, sizeof(to));
	memset(file, 0, TEXT);
	memset(file + TEXT, 0x90, TEXT_BYTES);
	memcpy(file, &e, sizeof(e));
	memcpy(file + sizeof(e), p, sizeof(p));
	memcpy(file + 0x400, s, sizeof(s));
	memcpy(file + 0x600, names, sizeof(names));
	memcpy(file + 0x800, index, sizeof(index));
	memcpy(file + FRAMES, m->b, m->n);
}

/* Makes a Go program without .eh_frame. `m` is its section .gopclntab. */
static inline void make_go_file(const struct made *m, uint16_t machine, uint8_t file[MADE_FILE])
{
	uint32_t name = 21; /* offset of ".gopclntab" in the names of make_file() */

	make_file(m, machine, true, file);
	memcpy(file + 0x400 + sizeof(Elf64_Shdr), &name, sizeof(name));
}

#endif
