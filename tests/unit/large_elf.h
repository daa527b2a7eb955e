/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes an x86-64 library with many functions, whose unwind table takes a while to make. */
#ifndef FS_TESTS_LARGE_ELF_H
#define FS_TESTS_LARGE_ELF_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi_maker.h"

#define LARGE_SPACING 64   /* bytes from one function to the next; the last 20 are a gap */
#define LARGE_FDE     32   /* bytes of an FDE */
#define LARGE_HEAD    4096 /* bytes before .eh_frame: headers and .eh_frame_hdr */
#define LARGE_INDEX   0x800
#define LARGE_PAGE    4096

struct large_elf {
	uint8_t *bytes; /* owned */
	size_t size;
	uint32_t frames, text; /* addresses, and offsets in the file */
};

static inline void large_put(uint8_t **at, const void *from, size_t n)
{
	memcpy(*at, from, n);
	*at += n;
}

static inline void large_u32(uint8_t **at, uint32_t n)
{
	large_put(at, &n, sizeof(n));
}

/* Adds the FDE of function `i`. Its instructions depend on `i`, so that there are many rules. */
static inline void large_fde(const struct large_elf *e, uint8_t **at, uint32_t i)
{
	uint8_t program[] = {0, 0x41, 0x0e, 16, 0x86, 2, 0x48, 0x0e, 0, 0x50, 0x0c, 7, 8, 0, 0};
	uint8_t *begin = *at;

	program[8] = 24 + i % 12 * 8; /* DW_CFA_def_cfa_offset */
	large_u32(at, LARGE_FDE - 4);
	large_u32(at, *at - e->bytes - e->frames);
	large_u32(at, e->text + i * LARGE_SPACING - (*at - e->bytes));
	large_u32(at, LARGE_SPACING - 20);
	large_put(at, program, sizeof(program));
	memset(*at, 0, begin + LARGE_FDE - *at);
	*at = begin + LARGE_FDE;
}

static inline void large_frames(const struct large_elf *e, uint32_t functions)
{
	static const uint8_t cie[] = {0,  0, 0,	   0,	 1, 'z', 'R',  0, 1, 0x78,
				      16, 1, 0x1b, 0x0c, 7, 8,	 0x90, 1, 0, 0};
	uint8_t *at = e->bytes + e->frames;

	large_u32(&at, sizeof(cie));
	large_put(&at, cie, sizeof(cie));
	/* the FDEs of each 16 functions are in falling order, so that they must be sorted */
	for (uint32_t i = 0; i < functions; i++)
		large_fde(e, &at, i ^ 15);
	large_u32(&at, 0);
}

/*
 * Makes the file. `functions` is a multiple of 16. `bare` is the number of bytes of code without an
 * FDE behind the functions.
 */
static inline struct large_elf large_elf_make(uint32_t functions, uint32_t bare)
{
	struct large_elf e = {.frames = LARGE_HEAD};
	uint32_t frames_bytes = 24 + functions * LARGE_FDE + 4, text_bytes;
	uint8_t index[12] = {1, 0x1b, 0xff, 0xff};
	Elf64_Phdr p[3] = {};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(h),
			.e_phoff = sizeof(h),
			.e_phentsize = sizeof(*p),
			.e_phnum = 3};
	int32_t to = LARGE_HEAD - (LARGE_INDEX + 4);

	e.text = (e.frames + frames_bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	text_bytes = functions * LARGE_SPACING + bare;
	e.size = e.text + text_bytes;
	e.bytes = calloc(1, e.size);
	if (!e.bytes)
		abort();
	p[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = e.text};
	p[1] = (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = e.text,
			    .p_vaddr = e.text,
			    .p_filesz = text_bytes};
	p[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
			    .p_offset = LARGE_INDEX,
			    .p_vaddr = LARGE_INDEX,
			    .p_filesz = sizeof(index)};
	memcpy(index + 4, &to, sizeof(to));
	memcpy(e.bytes, &h, sizeof(h));
	memcpy(e.bytes + sizeof(h), p, sizeof(p));
	memcpy(e.bytes + LARGE_INDEX, index, sizeof(index));
	memset(e.bytes + e.text, 0x90, text_bytes);
	large_frames(&e, functions);
	return e;
}

#endif
