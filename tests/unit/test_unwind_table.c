// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests unwind tables that are made from handwritten call frame information, valid and damaged. */
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>

#include "cfi_maker.h"
#include "tap.h"
#include "unwind/table_maker.h"

static uint8_t file[MADE_FILE];
static struct rule_set rules;

/* def_cfa rsp+8; return address at CFA-8 */
#define USUAL 0x0c, 7, 8, 0x90, 1

static int read_made(const struct made *m, uint16_t machine, bool sections, struct unwind_table *t)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};

	make_file(m, machine, sections, file);
	return unwind_table_read(&s, &rules, t);
}

static struct fs_unwind_rule rule_at(const struct unwind_table *t, __u64 address)
{
	return rules.rule[row_table_find(&t->rows, address)];
}

static void is_rule(struct fs_unwind_rule got, struct fs_unwind_rule want, const char *name)
{
	if (!ok(!memcmp(&got, &want, sizeof(got)), "%s", name))
		printf("#   got cfa %d %d, fp %d %d\n", got.cfa, got.cfa_off, got.fp, got.fp_off);
}

#define RULE(...) ((struct fs_unwind_rule){__VA_ARGS__})

static void test_function(bool sections)
{
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	/* push %rbp; mov %rsp, %rbp; push %rbx; ... ; leave */
	put_fde(&m, cie, TEXT + 0x100, 0x40,
		WITH(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x02, 0x30, 0x0c, 7,
		     8));
	m.n += 4; /* the end of the section */
	is_u64(read_made(&m, EM_X86_64, sections, &t), 0, "a library is read");
	is_u64(t.fdes, 1, "it has one function");
	is_rule(rule_at(&t, TEXT + 0xff), RULE(FS_UNWIND_CFA_GAP), "before it is a gap");
	is_rule(rule_at(&t, TEXT + 0x100), RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "its first byte");
	is_rule(rule_at(&t, TEXT + 0x101), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 16),
		"after the push");
	is_rule(rule_at(&t, TEXT + 0x104), RULE(FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA, -16, 16),
		"with a frame pointer");
	is_rule(rule_at(&t, TEXT + 0x105),
		RULE(FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA | 3 << 3, -16, 16), "rbx is saved");
	is_rule(rule_at(&t, TEXT + 0x135),
		RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA | 3 << 3, -16, 8), "after leave");
	is_rule(rule_at(&t, TEXT + 0x140), RULE(FS_UNWIND_CFA_GAP), "behind it is a gap");
	is_rule(rule_at(&t, TEXT + TEXT_BYTES - 1), RULE(FS_UNWIND_CFA_GAP), "up to the last byte");
	is_u64(row_table_find(&t.rows, TEXT + 0x10 * FS_UNWIND_PAGE_BYTES), 0, "and outside of it");
	is_u64(t.rows.rows, 3 + 5 + 1 + 2, "rows: pages, rules, the gap behind, the start");
	is_u64(t.covered_bytes, 0x40, "64 bytes are covered");
	is_u64(t.framed_bytes, 0x31, "of these 49 with a frame pointer");
	unwind_table_free(&t);
}

static void test_pages(void)
{
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	/* FDEs in decreasing order, across two page borders, and overlapping */
	put_fde(&m, cie, TEXT + 0x20000, 0x100, WITH(0x0e, 48));
	put_fde(&m, cie, TEXT + 0xff00, 0x10100, WITH(0x0e, 32));
	put_fde(&m, cie, TEXT + 0x10000, 0x10, WITH(0x0e, 64));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "functions in falling order");
	is_u64(rule_at(&t, TEXT + 0xff00).cfa_off, 32, "a function begins");
	is_u64(rule_at(&t, TEXT + 0x10000).cfa_off, 32, "it goes on in the next page");
	is_u64(rule_at(&t, TEXT + 0x1ffff).cfa_off, 32, "up to its last byte");
	is_u64(rule_at(&t, TEXT + 0x20000).cfa_off, 48, "the next one begins with a page");
	is_u64(rule_at(&t, TEXT + 0x20100).cfa, FS_UNWIND_CFA_GAP, "a gap is behind");
	is_u64(t.rows.pages, 3, "there are three pages");
	for (size_t i = 0; i < t.rows.pages; i++)
		is_u64(t.rows.row[t.rows.page[i].first].pc, 0, "a page begins with a row");
	unwind_table_free(&t);
}

/* Tests one call frame instruction and the rule that it makes. */
static void test_one(const char *name, const uint8_t *program, size_t n, struct fs_unwind_rule want)
{
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, 16, program, n);
	if (read_made(&m, EM_X86_64, true, &t)) {
		ok(false, "%s: it cannot be read", name);
		return;
	}
	is_rule(rule_at(&t, TEXT), want, name);
	unwind_table_free(&t);
}

static void test_expressions(void)
{
	test_one("CFA is *(rbp - 8)", WITH(0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 2, 0x76, 0),
		 RULE(FS_UNWIND_CFA_FP_DEREF, FS_UNWIND_FP_AT_FP, 0, 0xfff8));
	test_one("CFA is *(rsp + 40) + 8", WITH(0x0f, 5, 0x77, 40, 6, 0x23, 8),
		 RULE(FS_UNWIND_CFA_SP_DEREF, 0, 0, 8 << 16 | 40));
	test_one("CFA is rsp + 24 by an expression", WITH(0x0f, 4, 0x77, 16, 0x38, 0x22),
		 RULE(FS_UNWIND_CFA_SP, .cfa_off = 24));
	test_one("the linkage table",
		 WITH(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		 RULE(FS_UNWIND_CFA_PLT, .cfa_off = 11 << 16 | 8));
	test_one("CFA by rbx", WITH(0x0c, 3, 16), RULE(FS_UNWIND_CFA_SAVED, .cfa_off = 16));
	test_one("CFA by r10", WITH(0x0c, 10, 0), RULE(FS_UNWIND_CFA_REGISTER + 10, .cfa_off = 0));
	test_one("CFA by a vector register", WITH(0x0c, 20, 8), RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("an expression of no known form", WITH(0x0f, 2, 0x12, 0x06),
		 RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("an empty expression", WITH(0x0f, 0), RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("an expression past its end", WITH(0x0f, 100, 0x77, 8),
		 RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("the outermost function", WITH(0x07, 16), RULE(FS_UNWIND_CFA_END));
	test_one("the return address in rdi", WITH(0x0e, 0, 0x09, 16, 5),
		 RULE(FS_UNWIND_CFA_RA_REGISTER, FS_UNWIND_FP_SAME, 5, 0));
	test_one("the return address in a vector register", WITH(0x09, 16, 17),
		 RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("the return address elsewhere", WITH(0x90, 2), RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("rbp in another register", WITH(0x09, 6, 3),
		 RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8));
	test_one("rbx far away", WITH(0x83, 100),
		 RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8));
	test_one("a state is remembered and restored", WITH(0x0a, 0x0e, 64, 0x0b),
		 RULE(FS_UNWIND_CFA_SP, .cfa_off = 8));
	test_one("a state is restored that nobody remembered", WITH(0x0b),
		 RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("an instruction that does not exist", WITH(0x3f, 1, 2),
		 RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("a register is as the CIE says again", WITH(0x86, 3, 0xc6),
		 RULE(FS_UNWIND_CFA_SP, .cfa_off = 8));
	test_one("an offset of more than 32 bits", WITH(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		 RULE(FS_UNWIND_CFA_OPAQUE));
}

/* Tests the rules for addresses between functions, and for the entry point. */
static void test_gaps(void)
{
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, 0x11, WITH(0));
	put_fde(&m, cie, TEXT + 0x20, 0x10, WITH(0x41, 0, 0x42, 0x0e, 8));
	put_fde(&m, cie, TEXT + 0x40, 0x10, WITH(0));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "three functions");
	is_u64(t.rows.rows, 3 + 3 + 2, "rules that do not change have no rows");
	is_u64(rule_at(&t, TEXT + 0x1f).cfa, FS_UNWIND_CFA_SP, "15 bytes between two are padding");
	is_u64(rule_at(&t, TEXT + 0x30).cfa, FS_UNWIND_CFA_GAP, "16 bytes are a gap");
	is_u64(rule_at(&t, TEXT + 0x2fff).cfa, FS_UNWIND_CFA_GAP, "a gap before the start");
	is_u64(rule_at(&t, TEXT + 0x3000).cfa, FS_UNWIND_CFA_END, "the start is outermost");
	is_u64(rule_at(&t, TEXT + 0x307f).cfa, FS_UNWIND_CFA_END, "for 128 bytes");
	is_u64(rule_at(&t, TEXT + 0x3080).cfa, FS_UNWIND_CFA_GAP, "a gap behind it");
	unwind_table_free(&t);
}

/* Tests the caps, with sizes that no compiler produces. */
static void test_caps(void)
{
	uint8_t states[17], nops[1100] = {};
	struct made m = {};
	struct unwind_table t;
	size_t cie;

	memset(states, 0x0a, sizeof(states));
	test_one("17 remembered states", states, 17, RULE(FS_UNWIND_CFA_OPAQUE));
	test_one("16 remembered states", states, 16, RULE(FS_UNWIND_CFA_SP, .cfa_off = 8));
	cie = put_cie(&m, "zR", 16, nops, sizeof(nops));
	put_fde(&m, cie, TEXT, 16, WITH(USUAL));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "a common entry of more than 1024 bytes");
	is_u64(t.dropped, 1, "its function is dropped");
	unwind_table_free(&t);
}

/* Tests _init at the start of a segment and _fini at its end, which have no FDEs. */
static void test_init(void)
{
	static const uint8_t init[] = {0x48, 0x83, 0xec, 8,    0x48, 0x8b, 5, 1,
				       2,    3,	   4,	 0x48, 0x85, 0xc0, 0x74, 2,
				       0xff, 0xd0, 0x48, 0x83, 0xc4, 8,	   0xc3};
	static const uint8_t fini[] = {0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3};
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	__u64 at = TEXT + TEXT_BYTES - sizeof(fini);
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT + 0x100, at - 3 - (TEXT + 0x100), WITH(0x0e, 64));
	make_file(&m, EM_X86_64, true, file);
	memcpy(file + TEXT, init, sizeof(init));
	memcpy(file + at, fini, sizeof(fini));
	is_u64(unwind_table_read(&s, &rules, &t), 0, "a file with _init and _fini");
	is_rule(rule_at(&t, TEXT), RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "_init");
	is_rule(rule_at(&t, TEXT + 4), RULE(FS_UNWIND_CFA_SP, .cfa_off = 16), "in its frame");
	is_rule(rule_at(&t, TEXT + 21), RULE(FS_UNWIND_CFA_SP, .cfa_off = 16), "up to its end");
	is_rule(rule_at(&t, TEXT + 22), RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "its return");
	is_rule(rule_at(&t, TEXT + 23), RULE(FS_UNWIND_CFA_GAP), "behind it is a gap");
	is_rule(rule_at(&t, at - 4), RULE(FS_UNWIND_CFA_SP, .cfa_off = 64), "the last function");
	is_rule(rule_at(&t, at), RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "_fini");
	is_rule(rule_at(&t, at + 4), RULE(FS_UNWIND_CFA_SP, .cfa_off = 16), "in its frame");
	is_rule(rule_at(&t, at + 8), RULE(FS_UNWIND_CFA_SP, .cfa_off = 8), "its return");
	unwind_table_free(&t);
	file[TEXT + 3] = 16;
	is_u64(unwind_table_read(&s, &rules, &t), 0, "a file with other code");
	is_rule(rule_at(&t, TEXT), RULE(FS_UNWIND_CFA_GAP), "this is not _init");
	unwind_table_free(&t);
}

static void test_signal(void)
{
	static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zRS", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT + 0xff, 10, WITH(0));
	make_file(&m, EM_X86_64, true, file);
	memcpy(file + TEXT + 0x2000, sigreturn, sizeof(sigreturn));
	is_u64(unwind_table_read(&s, &rules, &t), 0, "a file with two signal frames");
	is_u64(rule_at(&t, TEXT + 0xff).cfa, FS_UNWIND_CFA_SIGNAL, "by its augmentation");
	is_u64(rule_at(&t, TEXT + 0x1ffe).cfa, FS_UNWIND_CFA_GAP, "before the other one");
	is_u64(rule_at(&t, TEXT + 0x1fff).cfa, FS_UNWIND_CFA_SIGNAL, "the byte before its code");
	is_u64(rule_at(&t, TEXT + 0x2008).cfa, FS_UNWIND_CFA_SIGNAL, "by its code");
	is_u64(rule_at(&t, TEXT + 0x2009).cfa, FS_UNWIND_CFA_GAP, "behind it");
	unwind_table_free(&t);
}

static void test_gaps_with_frame_pointers(void)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5};
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, 100, WITH(0x0e, 16, 0x86, 2, 0x0d, 6, 0x02, 80, 0x0c, 7, 8));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "80 of 100 bytes have a frame pointer");
	is_u64(t.gap_rule, FS_UNWIND_RULE_CHAIN, "so gaps go by frame pointers");
	is_u64(rule_at(&t, TEXT + 0x1000).cfa, FS_UNWIND_CFA_CHAIN, "which the rows say");
	unwind_table_free(&t);

	m.n = 0;
	cie = put_cie(&m, "zR", 16, WITH(USUAL));
	put_fde(&m, cie, TEXT, 100, WITH(0x0e, 16, 0x86, 2, 0x0d, 6, 0x02, 79, 0x0c, 7, 8));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "79 of 100 bytes have one");
	is_u64(t.gap_rule, FS_UNWIND_RULE_GAP, "so gaps end the stack");
	unwind_table_free(&t);

	m.n = 0;
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "no information at all");
	is_u64(t.gap_rule, FS_UNWIND_RULE_GAP, "and no prologue: gaps end the stack");
	unwind_table_free(&t);
	for (size_t at = TEXT; at < TEXT + TEXT_BYTES; at += 512)
		memcpy(file + at, prologue, sizeof(prologue));
	is_u64(unwind_table_read(&s, &rules, &t), 0, "no information, a prologue each 512 bytes");
	is_u64(t.gap_rule, FS_UNWIND_RULE_CHAIN, "so it goes by frame pointers");
	unwind_table_free(&t);

	m.n = 0;
	cie = put_cie(&m, "zR", 16, WITH(USUAL));
	put_fde(&m, cie, TEXT, TEXT_BYTES / 2, WITH(0));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "information for half of the code");
	is_u64(t.gap_rule, FS_UNWIND_RULE_GAP, "and no prologue in the other half");
	unwind_table_free(&t);
	for (size_t at = TEXT; at < TEXT + TEXT_BYTES / 2; at += 512)
		memcpy(file + at, prologue, sizeof(prologue));
	is_u64(unwind_table_read(&s, &rules, &t), 0, "prologues in the half with information");
	is_u64(t.gap_rule, FS_UNWIND_RULE_GAP, "say nothing about the other half");
	unwind_table_free(&t);
	for (size_t at = TEXT + TEXT_BYTES / 2; at < TEXT + TEXT_BYTES; at += 512)
		memcpy(file + at, prologue, sizeof(prologue));
	is_u64(unwind_table_read(&s, &rules, &t), 0, "prologues in the other half");
	is_u64(t.gap_rule, FS_UNWIND_RULE_CHAIN, "so this half goes by frame pointers");
	unwind_table_free(&t);
}

static void test_arm64(void)
{
	struct made m = {};
	struct unwind_table t;
	/* def_cfa sp+0 */
	size_t cie = put_cie(&m, "zRB", 30, WITH(0x0c, 31, 0));

	/* paciasp; stp x29, x30, [sp, #-32]! */
	put_fde(&m, cie, TEXT, 32, WITH(0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3));
	put_fde(&m, cie, TEXT + 32, 32, WITH(0x0e, 16, 0x9e, 2));
	put_fde(&m, cie, TEXT + 64, 32, WITH(0x0e, 48, 0x9d, 4, 0x9e, 5));
	put_fde(&m, cie, TEXT + 96, 32, WITH(0x07, 30));
	is_u64(read_made(&m, EM_AARCH64, true, &t), 0, "a library of arm64");
	is_rule(rule_at(&t, TEXT), RULE(FS_UNWIND_CFA_SP), "the return address is in LR");
	is_rule(rule_at(&t, TEXT + 4),
		RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3, -32, 32),
		"a frame record");
	is_rule(rule_at(&t, TEXT + 32),
		RULE(FS_UNWIND_CFA_SP, FS_UNWIND_RA_AT_FP_OFF << 3, -16, 16), "LR alone is saved");
	is_rule(rule_at(&t, TEXT + 64),
		RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA | (FS_UNWIND_RA_AT_CFA + 4) << 3, -32,
		     48),
		"both, in another order");
	is_u64(rule_at(&t, TEXT + 96).cfa, FS_UNWIND_CFA_END, "the outermost function");
	unwind_table_free(&t);
}

static void test_refused(void)
{
	struct made m = {};
	struct unwind_table t;
	size_t cie = put_cie(&m, "zX", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, 16, WITH(0));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "an augmentation that is not known");
	is_u64(t.dropped, 1, "its function is dropped");
	is_u64(rule_at(&t, TEXT).cfa, FS_UNWIND_CFA_GAP, "and is a gap");
	unwind_table_free(&t);
	m.n = 0;
	cie = put_cie(&m, "zR", 17, WITH(USUAL));
	put_fde(&m, cie, TEXT, 16, WITH(0));
	put_fde(&m, cie, TEXT + TEXT_BYTES - 8, 16, WITH(0));
	put_fde(&m, cie, 0x100, 16, WITH(0));
	is_u64(read_made(&m, EM_X86_64, true, &t), 0, "another register has the return address");
	is_u64(rule_at(&t, TEXT).cfa, FS_UNWIND_CFA_OPAQUE, "its function is opaque");
	is_u64(t.dropped, 2, "functions outside of code are dropped");
	unwind_table_free(&t);
	is_u64(-read_made(&m, EM_386, true, &t), ENOEXEC, "another machine");
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Tests that changed bytes in the section or in the headers give a table within the caps, or none.
 */
static void test_broken(void)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	uint64_t random = 0x9e3779b97f4a7c15;
	int read = 0, unsound = 0;
	struct unwind_table t;

	for (int round = 0; round < 4000; round++) {
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		for (int i = 0; i < 20; i++)
			put_fde(&m, cie, TEXT + i * 0x2000, 0x1000,
				WITH(0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0x0d, 6, 0x02, 9, 0x0b));
		for (int i = draw(&random) % 8; i >= 0; i--)
			m.b[draw(&random) % m.n] = draw(&random);
		make_file(&m, EM_X86_64, round & 1, file);
		if (draw(&random) % 4 == 0)
			file[draw(&random) % 0x900] = draw(&random);
		s.bytes = draw(&random) % 8 ? sizeof(file) : draw(&random) % sizeof(file);
		if (unwind_table_read(&s, &rules, &t))
			continue;
		read++;
		for (int i = 0; i < 64; i++)
			unsound += row_table_find(&t.rows, draw(&random) % MADE_FILE) >= rules.n;
		unsound += t.covered_bytes > t.text_bytes;
		unwind_table_free(&t);
	}
	is_u64(unsound, 0, "each address has a rule of the set, or none");
	ok(read > 2000, "%d of 4000 were read", read);
}

int main(void)
{
	elf_version(EV_CURRENT);
	if (rule_set_init(&rules))
		return 1;
	test_function(true);
	test_function(false);
	test_pages();
	test_expressions();
	test_gaps();
	test_caps();
	test_signal();
	test_init();
	test_gaps_with_frame_pointers();
	test_arm64();
	test_refused();
	test_broken();
	rule_set_free(&rules);
	return tap_done();
}
