// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which symbols of arm64's vDSO are functions, and the rules of their instructions. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "unwind/vdso_arm64.h"

#define FILE_MOST (64u << 10) /* greatest size of a vDSO */
#define SYMBOLS	  0x100
#define NAMES	  0x1000
#define CODE	  0x2000
#define MOST	  64   /* functions */
#define WORDS	  2048 /* greatest number of instructions that are followed */
#define SIGRETURN "__kernel_rt_sigreturn"
#define NOP	  0xd503201f
#define PUSH(n)	  (0xa9807bfd | ((1024 - (n)) / 8) << 15) /* stp x29, x30, [sp, #-n]! */
#define POP(n)	  (0xa8c07bfd | (n) / 8 << 15)		  /* ldp x29, x30, [sp], #n */
#define SET_FP	  0x910003fd
#define RET	  0xd65f03c0
#define RETAA	  0xd65f0bff

static unsigned char file[FILE_MOST + 1];
static struct elf_headers h;
static size_t symbols;
static struct rule_set rules;
static struct row_table table;

/* Begins a file without symbols, whose code is from the address CODE up to its end. */
static void begin(void)
{
	memset(file, 0, sizeof(file));
	strcpy((char *)file + NAMES + 1, SIGRETURN);
	symbols = 0;
	h = (struct elf_headers){.nr_loads = 1};
	h.load[0].offset = h.load[0].address = CODE;
	h.load[0].bytes = FILE_MOST - CODE;
	h.load[0].executable = true;
	h.dynamic.symbols.offset = SYMBOLS;
	h.dynamic.names = (struct elf_span){NAMES, 64};
}

static Elf64_Sym *put_symbol(uint32_t name, uint64_t start, uint64_t bytes)
{
	Elf64_Sym *s = (Elf64_Sym *)(file + SYMBOLS) + symbols++;

	*s = (Elf64_Sym){name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, start, bytes};
	h.dynamic.symbols.bytes = symbols * sizeof(*s);
	return s;
}

static bool is_vdso(uint64_t bytes)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = bytes};

	return vdso_arm64_is(&s, &h);
}

/* Makes the rows of addresses from `start` on. */
static void make_rows(uint64_t start, uint64_t end)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = FILE_MOST};

	row_table_free(&table);
	row_table_init(&table, start, end);
	is_u64(vdso_arm64_add(&s, &h, &rules, &table), 0, "functions are added");
	row_table_finish(&table);
}

static struct fs_unwind_rule rule_at(uint64_t address)
{
	return rules.rule[row_table_find(&table, address)];
}

static void is_cfa(uint64_t address, __u8 cfa, const char *name)
{
	is_u64(rule_at(address).cfa, cfa, name);
}

static void test_is(void)
{
	Elf64_Sym *s;

	begin();
	ok(!is_vdso(FILE_MOST), "a file without symbols");
	s = put_symbol(1, CODE, 8);
	ok(is_vdso(FILE_MOST), "a file of 64 KiB with the kernel's function");
	ok(!is_vdso(FILE_MOST + 1), "a larger file is no vDSO");
	h.dynamic.symbols.bytes--;
	ok(!is_vdso(FILE_MOST), "a symbol that is cut");
	h.dynamic.symbols.bytes++;
	ok(!is_vdso(SYMBOLS + sizeof(*s) - 1), "a file that is cut");
	h.dynamic.names.bytes = 1;
	ok(!is_vdso(FILE_MOST), "a name behind the names");
	h.dynamic.names.bytes = 2;
	ok(is_vdso(FILE_MOST), "a name that begins in the names");
	s->st_value = 0;
	ok(!is_vdso(FILE_MOST), "a symbol without an address");
	s->st_value = 1;
	s->st_size = 0;
	ok(!is_vdso(FILE_MOST), "a symbol without a size");
	s->st_size = 1;
	ok(is_vdso(FILE_MOST), "the least address and size");
	s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	ok(is_vdso(FILE_MOST), "a symbol without a type");
	s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	ok(!is_vdso(FILE_MOST), "data");
	s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_SECTION);
	ok(!is_vdso(FILE_MOST), "a section");
	s->st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	ok(is_vdso(FILE_MOST), "a local function");
	s->st_name = 2;
	ok(!is_vdso(FILE_MOST), "another name");
	s->st_name = 1;
	file[NAMES + sizeof(SIGRETURN)] = 1;
	ok(!is_vdso(FILE_MOST), "a longer name");
}

static void test_most(void)
{
	begin();
	for (size_t i = 0; i + 1 < MOST; i++)
		put_symbol(0, CODE + i * 16, 8);
	put_symbol(1, CODE + 0x1000, 8);
	ok(is_vdso(FILE_MOST), "the 64th function is the last one");
	symbols--;
	put_symbol(0, CODE + 0x1000, 8);
	put_symbol(1, CODE + 0x1010, 8);
	ok(!is_vdso(FILE_MOST), "the 65th function is not read");
}

/* Tests the rule behind each instruction. */
static void test_instructions(void)
{
	static const struct {
		__u32 code[4];
		struct fs_unwind_rule want; /* behind the last instruction */
		const char *name;
	} t[] = {
#define LEAF {FS_UNWIND_CFA_SP, 0, 0, 0}
#define FRAME(n)                                                                                   \
	{                                                                                          \
		FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3, -(n), n         \
	}
#define BY_FP(n)                                                                                   \
	{                                                                                          \
		FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3, -(n), n         \
	}
		{{NOP, NOP, NOP, NOP}, LEAF, "other instructions"},
		{{NOP, NOP, NOP, PUSH(8)}, FRAME(8), "the smallest frame"},
		{{NOP, NOP, NOP, PUSH(16)}, FRAME(16), "a frame record"},
		{{NOP, NOP, NOP, PUSH(512)}, FRAME(512), "the largest frame"},
		{{NOP, NOP, NOP, PUSH(16) ^ 1}, LEAF, "stp of another register"},
		{{NOP, NOP, PUSH(32), NOP}, FRAME(32), "an instruction in the frame"},
		{{NOP, NOP, PUSH(32), SET_FP}, BY_FP(32), "the frame pointer is set"},
		{{NOP, NOP, NOP, SET_FP}, LEAF, "without a frame it says nothing"},
		{{NOP, PUSH(32), SET_FP, SET_FP}, BY_FP(32), "it is set again"},
		{{NOP, PUSH(32), SET_FP, PUSH(48)}, FRAME(48), "another frame"},
		{{NOP, PUSH(32), SET_FP, POP(32)}, LEAF, "the frame ends"},
		{{NOP, PUSH(32), POP(32), RET}, BY_FP(32), "behind a return the frame exists"},
		{{NOP, PUSH(32), POP(32), RETAA}, BY_FP(32), "and behind a signed one"},
		{{NOP, PUSH(32), POP(32), RET + 0x20}, LEAF, "not behind a jump to a register"},
		{{NOP, NOP, NOP, RET}, LEAF, "nor behind a return without a frame"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct fs_unwind_rule got;

		begin();
		put_symbol(0, CODE, 20);
		memcpy(file + CODE, t[i].code, 16);
		make_rows(0, FILE_MOST);
		got = rule_at(CODE + 16);
		ok(!memcmp(&got, &t[i].want, sizeof(got)), "%s", t[i].name);
		is_cfa(CODE + 20, FS_UNWIND_CFA_GAP, "behind the function is a gap");
	}
}

/* Tests code at the borders of its segment. */
static void test_segment(void)
{
	__u32 push = PUSH(16);

	begin();
	put_symbol(0, CODE, 12);
	memcpy(file + CODE, &push, 4);
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 16, "an instruction at the begin of the segment");
	h.load[0].address++;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 0, "an instruction before it");
	h.load[0].address = h.load[0].offset = CODE - 8;
	h.load[0].bytes = 9;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 16, "an instruction at the end of the segment");
	h.load[0].bytes = 8;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 0, "an instruction behind it");
	h.load[0].bytes = 9;
	h.load[0].executable = false;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 0, "an instruction in data");
	h.nr_loads = 2;
	h.load[1] = h.load[0];
	h.load[1].executable = true;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 16, "an instruction of the second segment");
	h.nr_loads = 1;
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 4).cfa_off, 0, "which counts only if the file has two");
}

/* Tests functions of so many instructions that the last ones are not followed. */
static void test_sizes(void)
{
	static const struct {
		uint64_t bytes, gap; /* size of the function, and bytes before the gap */
	} t[] = {
		{1, 0},
		{4, 4},
		{7, 4},
		{8, 8},
		{4 * WORDS - 4, 4 * WORDS - 4},
		{4 * WORDS, 4 * WORDS},
		{4 * WORDS + 4, 4 * WORDS},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		begin();
		put_symbol(0, CODE, t[i].bytes);
		make_rows(0, FILE_MOST);
		is_cfa(CODE - 1, FS_UNWIND_CFA_GAP, "a gap before the function");
		if (t[i].gap)
			is_cfa(CODE + t[i].gap - 1, FS_UNWIND_CFA_SP, "its last instruction");
		is_cfa(CODE + t[i].gap, FS_UNWIND_CFA_GAP, "a gap behind it");
	}
}

/* Tests functions next to each other, inside of each other, and outside of the rows. */
static void test_places(void)
{
	__u32 push = PUSH(16);

	begin();
	put_symbol(0, CODE, 16);
	put_symbol(0, CODE, 8);
	put_symbol(0, CODE + 16, 8);
	memcpy(file + CODE, &push, 4);
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 12).cfa_off, 16, "an alias changes nothing");
	is_u64(rule_at(CODE + 16).cfa_off, 0, "the function next to it");
	is_cfa(CODE + 24, FS_UNWIND_CFA_GAP, "its end");
	put_symbol(0, CODE + 15, 100);
	make_rows(0, FILE_MOST);
	is_u64(rule_at(CODE + 15).cfa_off, 16, "a function that begins in another is left out");
	is_cfa(CODE + 24, FS_UNWIND_CFA_GAP, "with its end");

	begin();
	put_symbol(0, 0x10000, 8);
	put_symbol(0, 0x10010, 8);
	put_symbol(0, 0x1fff0, 15);
	make_rows(0x10000, 0x20000);
	is_cfa(0x10000, FS_UNWIND_CFA_GAP, "a function at the begin of the first page");
	is_cfa(0x10010, FS_UNWIND_CFA_SP, "the next one");
	is_cfa(0x1fff0, FS_UNWIND_CFA_SP, "a function that ends before the last byte");
	symbols--;
	put_symbol(0, 0x1fff0, 16);
	make_rows(0x10000, 0x20000);
	is_cfa(0x1fff0, FS_UNWIND_CFA_GAP, "a function that ends with the last page");

	begin();
	put_symbol(0, 4, FILE_MOST);
	make_rows(0, 4 * FILE_MOST);
	is_cfa(4, FS_UNWIND_CFA_SP, "a function of 64 KiB");
	symbols--;
	put_symbol(0, 4, FILE_MOST + 1);
	make_rows(0, 4 * FILE_MOST);
	is_cfa(4, FS_UNWIND_CFA_GAP, "a larger one");
}

/* Tests symbols in falling order. */
static void test_order(void)
{
	begin();
	for (uint64_t i = 8; i--;)
		put_symbol(i == 3, CODE + i * 16, 8);
	make_rows(0, FILE_MOST);
	for (uint64_t i = 0; i < 8; i++) {
		is_cfa(CODE + i * 16, i == 3 ? FS_UNWIND_CFA_SIGNAL : FS_UNWIND_CFA_SP,
		       "each function has its rule");
		is_cfa(CODE + i * 16 + 8, FS_UNWIND_CFA_GAP, "and a gap behind it");
	}
}

static void test_sigreturn(void)
{
	begin();
	put_symbol(0, CODE, 8);
	put_symbol(1, CODE + 9, 8);
	make_rows(0, FILE_MOST);
	is_cfa(CODE + 7, FS_UNWIND_CFA_SP, "a function before a signal's return");
	is_cfa(CODE + 8, FS_UNWIND_CFA_SIGNAL, "the byte before it");
	is_cfa(CODE + 16, FS_UNWIND_CFA_SIGNAL, "its last byte");
	is_cfa(CODE + 17, FS_UNWIND_CFA_GAP, "behind it");
	symbols--;
	put_symbol(1, CODE + 8, 8);
	put_symbol(0, CODE + 16, 8);
	put_symbol(0, CODE + 12, 8);
	make_rows(0, FILE_MOST);
	is_cfa(CODE + 7, FS_UNWIND_CFA_SP, "a function next to it has no byte of it");
	is_cfa(CODE + 8, FS_UNWIND_CFA_SIGNAL, "its first byte");
	is_cfa(CODE + 15, FS_UNWIND_CFA_SIGNAL, "a function in it is left out");
	is_cfa(CODE + 16, FS_UNWIND_CFA_SP, "the next function");
}

int main(void)
{
	if (rule_set_init(&rules))
		return 1;
	test_is();
	test_most();
	test_instructions();
	test_segment();
	test_sizes();
	test_places();
	test_order();
	test_sigreturn();
	row_table_free(&table);
	rule_set_free(&rules);
	return tap_done();
}
