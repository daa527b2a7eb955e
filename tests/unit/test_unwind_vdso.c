// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the unwind table of arm64's vDSO, which is made from symbols and instructions alone. */
#include <elf.h>
#include <libelf.h>
#include <string.h>

#include "tap.h"
#include "unwind/table_maker.h"

#define SYMBOLS 0x200
#define NAMES	0x300
#define HEADERS 0x400
#define CODE	0x800
#define BYTES	0x1000

static unsigned char file[BYTES];

static void put_code(unsigned int at, const __u32 *code, size_t bytes)
{
	memcpy(file + at, code, bytes);
}

static void make_vdso(const char *last_name)
{
	static const __u32 leaf[] = {0xd2800000, 0xd65f03c0};
	/* stp x29, x30, [sp, #-32]!; mov x29, sp; cbz; ldp; ret; nop; ldp; ret */
	static const __u32 framed[] = {0xa9be7bfd, 0x910003fd, 0xb4000060, 0xa8c27bfd,
				       0xd65f03c0, 0xd503201f, 0xa8c27bfd, 0xd65f03c0};
	static const __u32 sigreturn[] = {0xd2801168, 0xd4000001};
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_AARCH64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(e),
			.e_phoff = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = HEADERS,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf64_Phdr p = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = BYTES};
	Elf64_Sym s[] = {{},
			 {1, STT_FUNC, 0, 1, CODE + 0x100, sizeof(sigreturn)},
			 {0, STT_FUNC, 0, 1, CODE, sizeof(leaf)},
			 {0, STT_FUNC, 0, 1, CODE + 0x40, sizeof(framed)}};
	Elf64_Shdr h[] = {{},
			  {.sh_type = SHT_DYNSYM,
			   .sh_offset = SYMBOLS,
			   .sh_size = sizeof(s),
			   .sh_link = 2,
			   .sh_entsize = sizeof(s[0])},
			  {.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = 32}};

	memset(file, 0, sizeof(file));
	memcpy(file, &e, sizeof(e));
	memcpy(file + sizeof(e), &p, sizeof(p));
	memcpy(file + SYMBOLS, s, sizeof(s));
	memcpy(file + HEADERS, h, sizeof(h));
	strcpy((char *)file + NAMES + 1, last_name);
	put_code(CODE, leaf, sizeof(leaf));
	put_code(CODE + 0x40, framed, sizeof(framed));
	put_code(CODE + 0x100, sigreturn, sizeof(sigreturn));
}

int main(void)
{
	static const struct {
		unsigned int at;
		__u8 cfa, fp;
		__s16 fp_off;
		__s32 cfa_off;
		const char *name;
	} want[] = {
		{CODE - 1, FS_UNWIND_CFA_GAP, 0, 0, 0, "before all functions"},
		{CODE, FS_UNWIND_CFA_SP, 0, 0, 0, "a function without a frame"},
		{CODE + 8, FS_UNWIND_CFA_GAP, 0, 0, 0, "behind it"},
		{CODE + 0x40, FS_UNWIND_CFA_SP, 0, 0, 0, "the first byte of one with a frame"},
		{CODE + 0x44, FS_UNWIND_CFA_SP, 9, -32, 32, "its frame record is there"},
		{CODE + 0x48, FS_UNWIND_CFA_FP, 9, -32, 32, "its frame pointer is set"},
		{CODE + 0x50, FS_UNWIND_CFA_SP, 0, 0, 0, "its return"},
		{CODE + 0x54, FS_UNWIND_CFA_FP, 9, -32, 32, "what it jumps to behind its return"},
		{CODE + 0x5c, FS_UNWIND_CFA_SP, 0, 0, 0, "its second return"},
		{CODE + 0xff, FS_UNWIND_CFA_SIGNAL, 0, 0, 0, "before a signal's return"},
		{CODE + 0x107, FS_UNWIND_CFA_SIGNAL, 0, 0, 0, "the end of a signal's return"},
		{CODE + 0x108, FS_UNWIND_CFA_GAP, 0, 0, 0, "behind it"},
	};
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct unwind_table t;
	struct rule_set rules;

	elf_version(EV_CURRENT);
	if (rule_set_init(&rules))
		return 1;
	make_vdso("__kernel_rt_sigreturn");
	is_u64(unwind_table_read(&s, &rules, &t), 0, "a vDSO is read");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct fs_unwind_rule got = rules.rule[row_table_find(&t.rows, want[i].at)];

		ok(got.cfa == want[i].cfa && got.fp == want[i].fp && got.fp_off == want[i].fp_off &&
			   got.cfa_off == want[i].cfa_off,
		   "%s", want[i].name);
	}
	unwind_table_free(&t);
	make_vdso("__kernel_rt_sigreturning");
	is_u64(unwind_table_read(&s, &rules, &t), 0, "a library that is no vDSO is read");
	is_u64(rules.rule[row_table_find(&t.rows, CODE)].cfa, FS_UNWIND_CFA_GAP, "it has gaps");
	unwind_table_free(&t);
	rule_set_free(&rules);
	return tap_done();
}
