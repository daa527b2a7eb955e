// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares checksums over the results of the unwind tables for random input: numbers, expressions,
 * register states, sections, whole files, and stack walks. Random numbers are often at a border:
 * the largest offset of a rule, the last byte of a section, or the end of a function.
 */
#include <errno.h>
#include <stdlib.h>

#include "cfi_maker.h"
#include "sums.h"
#include "unwind/cfi_expression.h"
#include "unwind/cfi_rule.h"
#include "unwind/extents.h"
#include "unwind/table_maker.h"
#include "unwind/unwind_walk.h"

static uint64_t below(uint64_t *dice, uint64_t n)
{
	return roll(dice) % n;
}

static void mix_rule(uint64_t *sum, struct fs_unwind_rule r)
{
	mix(sum, r.cfa);
	mix(sum, r.fp);
	mix(sum, r.fp_off);
	mix(sum, r.cfa_off);
}

static void fill(uint64_t *dice, uint8_t *bytes, size_t n)
{
	static const uint8_t some[] = {0, 0x7f, 0x80, 0xff, 0x40, 0x3f, 1, 8, 0x78};

	for (size_t i = 0; i < n; i++)
		bytes[i] = below(dice, 3) ? some[below(dice, sizeof(some))] : roll(dice);
}

static void mix_bytes(uint64_t *sum, const struct cfi_bytes *b, const uint8_t *from)
{
	mix(sum, b->at - from);
	mix(sum, b->end - from);
	mix(sum, b->bad);
}

static uint64_t sum_of_numbers(void)
{
	uint64_t sum = SUM_BEGINS, dice = 1;
	uint8_t bytes[24];

	for (int i = 0; i < 40000; i++) {
		size_t n = below(&dice, sizeof(bytes) + 1);
		struct cfi_bytes b = {bytes, bytes + n, false}, block;

		fill(&dice, bytes, n);
		for (int k = 0; k < 4; k++) {
			switch (below(&dice, 5)) {
			case 0:
				mix(&sum, cfi_unsigned(&b, 1u << below(&dice, 5)));
				break;
			case 1:
				mix(&sum, cfi_signed(&b, 1u << below(&dice, 5)));
				break;
			case 2:
				mix(&sum, cfi_uleb(&b));
				break;
			case 3:
				mix(&sum, cfi_sleb(&b));
				break;
			case 4:
				block = cfi_block(&b, below(&dice, n + 2));
				mix_bytes(&sum, &block, bytes);
			}
			mix_bytes(&sum, &b, bytes);
		}
	}
	return sum;
}

/* Writes an expression whose operations are mostly known ones. Returns its size. */
static size_t make_expression(uint64_t *dice, uint8_t ret[32])
{
	static const uint8_t known[] = {0x06, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x10, 0x11,
					0x22, 0x23, 0x30, 0x3f, 0x4f, 0x2f, 0x50, 0x07, 0x21};
	static const uint8_t base[] = {0x70, 0x76, 0x77, 0x73, 0x8d, 0x8f, 0x6f, 0x90};
	static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	size_t n = 0;

	if (!below(dice, 8)) {
		memcpy(ret, plt, sizeof(plt));
		if (!below(dice, 2)) {
			n = below(dice, sizeof(plt));
			ret[n] = 0x2e + below(dice, 20);
		}
		return sizeof(plt) - !below(dice, 8);
	}
	ret[n++] = base[below(dice, sizeof(base))];
	ret[n++] = below(dice, 2) ? 8 : below(dice, 0x80);
	for (int i = below(dice, 3); i > 0; i--) {
		uint8_t op = known[below(dice, sizeof(known))];

		ret[n++] = op;
		if (op == 0x06 || op == 0x22)
			continue;
		for (int k = op >= 0x0c && op <= 0x0d	? 4
			     : op >= 0x0a && op <= 0x0b ? 2
							: 1;
		     k > 0 && op < 0x30; k--)
			ret[n++] = op >= 0x10 ? below(dice, 0x80) : roll(dice);
		if (op != 0x23 && below(dice, 8))
			ret[n++] = 0x22;
	}
	return n;
}

static uint64_t sum_of_expressions(void)
{
	uint64_t sum = SUM_BEGINS, dice = 2;
	uint8_t bytes[32];

	for (int i = 0; i < 60000; i++) {
		size_t n = make_expression(&dice, bytes);
		struct cfi_expression e = {};
		bool good = cfi_expression_read((struct cfi_bytes){bytes, bytes + n, false}, &e);

		mix(&sum, good);
		if (!good)
			continue;
		mix(&sum, e.form);
		mix(&sum, e.number);
		mix(&sum, e.offset);
		mix(&sum, e.added);
	}
	return sum;
}

/* Returns an offset at which the form of a rule may change, or one next to it. */
static int64_t border(uint64_t *dice)
{
	static const int64_t some[] = {-8,	  -16,	-24,	   -32,	      8,       16,
				       -240,	  -248, -256,	   -32768,    32767,   INT32_MAX,
				       INT32_MIN, 0,	INT64_MIN, INT64_MAX, -8 * 31, -8 * 29};
	int64_t n = some[below(dice, sizeof(some) / sizeof(some[0]))];

	return (uint64_t)n + (below(dice, 4) ? 0 : (int)below(dice, 3) - 1);
}

static uint64_t sum_of_rules(void)
{
	static const uint8_t numbers[] = {3, 6, 7, 15, 16, 17, 29, 30, 31, 32, 0};
	uint64_t sum = SUM_BEGINS, dice = 3;
	uint8_t bytes[1 + NR_CFI_FOLLOWED][32];

	for (int i = 0; i < 200000; i++) {
		enum cfi_machine machine = below(&dice, 2);
		struct cfi_cie cie = {.signal = !below(&dice, 50)};
		struct cfi_state s = {.cfa_is_expression = !below(&dice, 4)};
		size_t n = make_expression(&dice, bytes[NR_CFI_FOLLOWED]);

		cie.ra_column = cfi_followed_number(machine, CFI_RA) + !below(&dice, 50);
		s.cfa_expression = (struct cfi_bytes){bytes[NR_CFI_FOLLOWED],
						      bytes[NR_CFI_FOLLOWED] + n, false};
		s.cfa_register = numbers[below(&dice, sizeof(numbers))];
		s.cfa_offset = border(&dice);
		for (int k = 0; k < NR_CFI_FOLLOWED; k++) {
			s.followed[k].place = k == CFI_RA && below(&dice, 3) ? CFI_AT_CFA
					      : below(&dice, 3)		     ? CFI_UNSPECIFIED
									     : below(&dice, 8);
			s.followed[k].offset = k == CFI_RA && below(&dice, 2) ? -8 : border(&dice);
			n = make_expression(&dice, bytes[k]);
			s.followed[k].expression =
				(struct cfi_bytes){bytes[k], bytes[k] + n, false};
		}
		if (below(&dice, 4) == 0)
			s.followed[CFI_RA].offset = (uint64_t)s.followed[CFI_FP].offset + 8;
		mix_rule(&sum, cfi_rule(machine, &cie, &s));
	}
	return sum;
}

static uint64_t sum_of_sections(void)
{
	static const char *const letters[] = {"",    "zR",   "zPLR", "zRS", "zRB", "zG",  "eh",
					      "zPR", "zRSB", "z",    "R",   "zRX", "zLRS"};
	uint64_t sum = SUM_BEGINS, dice = 4;
	uint8_t bytes[80];

	for (int i = 0; i < 100000; i++) {
		struct cfi_section s = {bytes, 0, 0x12340, below(&dice, 8) ? 8 : 4};
		const char *l = letters[below(&dice, sizeof(letters) / sizeof(letters[0]))];
		size_t n = 8;
		uint32_t length;
		struct cfi_entry e = {};
		struct cfi_cie cie = {};
		struct cfi_fde fde = {};
		__u64 address = 0;
		int found;

		fill(&dice, bytes, sizeof(bytes));
		/* the entry is an FDE, whose CIE is 4 bytes before it or not in the section */
		memset(bytes + 4, 0, 4);
		bytes[4] = below(&dice, 3) ? 0 : below(&dice, 8);
		bytes[n++] = (const uint8_t[]){1, 1, 1, 3, 4, 2, 5}[below(&dice, 7)];
		memcpy(bytes + n, l, strlen(l) + 1);
		n += strlen(l) + 1;
		if (bytes[8] == 4 && below(&dice, 4)) {
			bytes[n++] = below(&dice, 4) ? 8 : 4;
			bytes[n++] = !below(&dice, 4);
		}
		bytes[n++] = 1 + below(&dice, 4);
		bytes[n++] = 0x78;
		bytes[n++] = below(&dice, 2) ? 16 : 30;
		bytes[n++] = below(&dice, 12);
		for (int k = 0; k < 3; k++)
			bytes[n++] = (const uint8_t[]){
				0,    0x1b, 0x9b, 0xff, 0x0b, 0x3b, 0x01, 0x09,
				0x0c, 0x04, 0x03, 0x0a, 0x02, 0x05, 0x50}[below(&dice, 15)];
		s.size = below(&dice, 4) ? sizeof(bytes) : below(&dice, sizeof(bytes) + 1);
		length = below(&dice, 3) ? s.size - 4 : below(&dice, sizeof(bytes));
		if (!below(&dice, 30))
			length = below(&dice, 2) ? 0 : UINT32_MAX;
		memcpy(bytes, &length, sizeof(length));
		found = cfi_entry_read(&s, 0, &e);
		mix(&sum, found);
		if (found == 1) {
			int err = cfi_cie_read(&s, &e, &cie);

			mix(&sum, e.next);
			mix(&sum, e.cie);
			mix(&sum, e.is_cie);
			mix(&sum, err);
			mix(&sum, cie.code_align);
			mix(&sum, cie.data_align);
			mix(&sum, cie.ra_column);
			mix(&sum, cie.has_data << 1 | cie.signal);
			mix(&sum, cie.encoding);
			if (!err)
				mix_bytes(&sum, &cie.program, bytes);
			cie.encoding = bytes[n - 1 - below(&dice, 3)];
			cie.has_data = below(&dice, 2);
			err = cfi_fde_read(&s, &e, &cie, &fde);
			mix(&sum, err);
			if (!err) {
				mix(&sum, fde.start);
				mix(&sum, fde.bytes);
				mix_bytes(&sum, &fde.program, bytes);
			}
		}
		bytes[0] = below(&dice, 8) ? 1 : 2;
		bytes[1] = bytes[n - 1];
		mix(&sum, cfi_index_read(&s, &address));
		mix(&sum, address);
	}
	return sum;
}

/* Writes call frame instructions, with operands near borders. Returns their size. */
static size_t make_program(uint64_t *dice, enum cfi_machine machine, uint8_t *ret, size_t room)
{
	static const uint8_t op[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
				     0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
				     0x12, 0x13, 0x14, 0x15, 0x16, 0x2d, 0x2e, 0x2f, 0x41,
				     0x48, 0x83, 0x86, 0x90, 0xc3, 0xc6, 0x9d, 0x9e, 0xdd,
				     0x0e, 0x0c, 0x0d, 0x42, 0x44, 0x86, 0x9d, 0x30};
	static const uint8_t number[2][6] = {{7, 6, 16, 3, 10, 0x7f}, {31, 29, 30, 19, 0, 0x7f}};
	size_t n = 0;

	while (n + 40 < room && below(dice, 12)) {
		uint8_t one = op[below(dice, sizeof(op))];

		if (one == 1 && below(dice, 4))
			continue;
		ret[n++] = one;
		if (one == 0x02) {
			ret[n++] = below(dice, 64);
		} else if (one == 0x03) {
			ret[n++] = below(dice, 64);
			ret[n++] = 0;
		} else if (one == 0x04) {
			ret[n++] = below(dice, 64);
			memset(ret + n, 0, 3);
			n += 3;
		} else if (one == 0x0f || one == 0x10 || one == 0x16) {
			uint8_t bytes[32];
			size_t size = make_expression(dice, bytes);

			if (one != 0x0f)
				ret[n++] = number[machine][below(dice, 6)];
			ret[n++] = size;
			memcpy(ret + n, bytes, size);
			n += size;
		} else if ((one >= 0x05 && one <= 0x09) || one == 0x0c || one == 0x0d ||
			   (one >= 0x11 && one <= 0x15) || one == 0x2f) {
			if (one != 0x13)
				ret[n++] = number[machine][below(dice, 6)];
			if (one != 0x06 && one != 0x07 && one != 0x08 && one != 0x0d)
				ret[n++] = below(dice, 2) ? 1 + below(dice, 4) : below(dice, 128);
		} else if (one == 0x0e || one == 0x2e || (one & 0xc0) == 0x80) {
			if (!below(dice, 4))
				ret[n++] = 0x80 + below(dice, 128);
			ret[n++] = below(dice, 3) ? 2 + below(dice, 3) : below(dice, 128);
		}
	}
	return n;
}

/* Fills a gap with code that the search of gaps knows, or with parts of it. */
static void put_code(uint64_t *dice, uint8_t *at, size_t bytes)
{
	static const struct {
		uint8_t byte[24];
		size_t n;
	} codes[] = {
		{{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, 9},
		{{0x48, 0x83, 0xec, 8, 0x48, 0x8b, 5,	 1,    2,    3, 0,   0x48,
		  0x85, 0xc0, 0x74, 2, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3},
		 23},
		{{0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3}, 9},
		{{0x50, 0x58, 0xc3}, 3},
		{{0x55, 0x48, 0x89, 0xe5}, 4},
		{{0x55, 0x48, 0x8b, 0xec}, 4},
		{{0x48, 0x8d, 0x6c, 0x24}, 4},
		{{0x48, 0x8d, 0xac, 0x24}, 4},
		{{0xfd, 0x7b, 0xbe, 0xa9}, 4},
		{{0xfd, 0x7b, 0x02, 0xa9}, 4},
	};

	for (size_t i = 0; i + 24 < bytes; i += 4 + below(dice, bytes / 2)) {
		size_t k = below(dice, sizeof(codes) / sizeof(codes[0]));

		i &= ~(size_t)(k > 7 ? 3 : 0);
		memcpy(at + i, codes[k].byte, codes[k].n);
		if (!below(dice, 6))
			at[i + below(dice, codes[k].n)]++;
	}
}

static void mix_table(uint64_t *sum, const struct unwind_table *t, const struct rule_set *rules)
{
	const struct row_table *rows = &t->rows;

	mix(sum, t->gap_rule);
	mix(sum, t->text_bytes);
	mix(sum, t->covered_bytes);
	mix(sum, t->framed_bytes);
	mix(sum, t->opaque_bytes);
	mix(sum, t->fdes);
	mix(sum, t->dropped);
	mix(sum, t->cut);
	mix(sum, t->codes);
	mix(sum, rows->base);
	mix(sum, rows->pages);
	mix(sum, row_table_bytes(rows));
	for (size_t p = 0; p < rows->pages; p++)
		for (uint32_t i = 0; i < rows->page[p].rows; i++) {
			const struct fs_unwind_row *r = &rows->row[rows->page[p].first + i];
			uint64_t at = rows->base + p * FS_UNWIND_PAGE_BYTES + r->pc;

			mix(sum, r->pc);
			mix_rule(sum, rules->rule[r->rule]);
			for (int k = -1; k < 2; k++)
				mix(sum, row_table_find(rows, at + k));
		}
}

/* Makes a table in pieces of a random size. */
static int make_table(uint64_t *dice, const struct byte_source *s, struct rule_set *rules,
		      struct unwind_table *ret)
{
	struct table_maker *m;
	int err = table_maker_new(s, rules, &m);
	__u64 work = 1 + below(dice, 3000), left;

	if (err)
		return err;
	do {
		left = work;
		err = table_maker_work(m, &left);
	} while (err == -EAGAIN);
	if (!err)
		table_maker_take(m, ret);
	table_maker_free(m);
	return err;
}

static uint64_t sum_of_files(void)
{
	static const char *const letters[] = {"zR", "zR", "zR", "zRS", "zRX"};
	static uint8_t file[MADE_FILE];
	uint64_t sum = SUM_BEGINS, dice = 5;

	for (int i = 0; i < 3000; i++) {
		enum cfi_machine machine = below(&dice, 3) == 0;
		struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
		struct made m = {};
		struct rule_set rules;
		struct unwind_table t;
		uint8_t program[200];
		uint32_t at = TEXT + (below(&dice, 2) ? below(&dice, 0x400) : 0);
		size_t cie = 0, n;
		int err;

		for (int k = 1 + below(&dice, 24); k > 0 && m.n < MADE_BYTES - 1000; k--) {
			uint32_t bytes = below(&dice, 20) ? 1 + below(&dice, 160) : 0x9000;

			if (!m.n || !below(&dice, 8)) {
				n = make_program(&dice, machine, program, 60);
				if (below(&dice, 2)) {
					const uint8_t usual[2][5] = {{0x0c, 7, 8, 0x90, 1},
								     {0x0c, 31, 0}};

					n = machine ? 3 : 5;
					memcpy(program, usual[machine], n);
				}
				cie = put_cie(&m, letters[below(&dice, 5)], machine ? 30 : 16,
					      program, n);
			}
			n = make_program(&dice, machine, program, sizeof(program));
			put_fde(&m, cie, at, bytes, program, n);
			/* the next function overlaps, follows at once, or after padding or code */
			at += bytes;
			switch (below(&dice, 5)) {
			case 0:
				at += 15 + below(&dice, 3);
				break;
			case 1:
				at += below(&dice, 600);
				break;
			case 2:
				at -= below(&dice, bytes < 64 ? bytes : 64);
			}
		}
		make_file(&m, machine ? EM_AARCH64 : EM_X86_64, below(&dice, 2), file);
		put_code(&dice, file + TEXT, TEXT_BYTES / 8);
		put_code(&dice, file + TEXT + TEXT_BYTES - 64, 64);
		if (rule_set_init(&rules))
			abort();
		err = make_table(&dice, &s, &rules, &t);
		mix(&sum, err);
		if (!err) {
			mix_table(&sum, &t, &rules);
			unwind_table_free(&t);
		}
		rule_set_free(&rules);
	}
	return sum;
}

struct memory {
	uint64_t *word;
	size_t words;
};

#define STACK_AT 0x7ffc00000000

static bool read_word(void *ctx, __u64 at, __u64 *ret)
{
	const struct memory *m = ctx;
	uint64_t i = (at - STACK_AT) / 8;

	if (at < STACK_AT || at % 8 || i >= m->words)
		return false;
	*ret = m->word[i];
	return true;
}

static uint64_t sum_of_walks(void)
{
	enum { WORDS = 200, PAGES = 2, AREAS = 3, ROOM = 24 };
	uint64_t sum = SUM_BEGINS, dice = 6;

	for (int i = 0; i < 5000; i++) {
		enum cfi_machine machine = below(&dice, 2);
		uint64_t word[WORDS];
		__u64 registers[UNWIND_REGISTERS];
		struct memory memory = {word, WORDS};
		struct rule_set rules;
		struct unwind_table t = {.machine = machine};
		struct unwind_area area[AREAS];
		struct unwind_frame frame[ROOM];
		struct unwind_stack stack = {.frame = frame, .room = 1 + below(&dice, ROOM)};
		struct unwind_space space = {.area = area,
					     .areas = AREAS,
					     .rules = &rules,
					     .read = read_word,
					     .ctx = &memory};
		uint64_t at = 0x1000;

		if (rule_set_init(&rules) ||
		    row_table_init(&t.rows, 0x1000, 0x1000 + PAGES * FS_UNWIND_PAGE_BYTES))
			abort();
		for (int k = 0; k < 40; k++) {
			struct fs_unwind_rule r = {.cfa = below(&dice, 6) ? FS_UNWIND_CFA_SP +
										    below(&dice, 7)
									  : below(&dice, 6)};

			if (!below(&dice, 12))
				r.cfa = FS_UNWIND_CFA_REGISTER + below(&dice, 33);
			r.fp = below(&dice, 4);
			r.fp |= below(&dice, 5) << 3;
			r.fp_off = -16 + 8 * (int)below(&dice, 3);
			r.cfa_off = below(&dice, 6) * 8;
			row_table_add(&t.rows, at, rule_set_add(&rules, r));
			at += 0x800 + below(&dice, 0x400);
		}
		if (row_table_finish(&t.rows))
			abort();
		for (int k = 0; k < AREAS; k++)
			area[k] = (struct unwind_area){.start = 0x400000 + k * 0x20000ULL,
						       .end = 0x400000 + k * 0x20000ULL + 0x1f000 -
							      0x10000 * (k == 1),
						       .bias = 0x400000 + k * 0x20000ULL - 0x1000,
						       .table = k == 2 ? NULL : &t,
						       .keeps_frame_pointers = k == 2 && i % 2};
		for (int k = 0; k < WORDS; k++)
			word[k] = below(&dice, 3) ? 0x400000 + below(&dice, 0x50000)
						  : STACK_AT + 8 * below(&dice, WORDS);
		for (int k = 0; k < UNWIND_REGISTERS; k++)
			registers[k] = k % 2 ? STACK_AT + 8 * below(&dice, 40)
					     : 0x400000 + below(&dice, 0x50000);
		registers[cfi_followed_number(machine, CFI_SP)] = STACK_AT + 8 * below(&dice, 8);
		registers[cfi_followed_number(machine, CFI_FP)] = STACK_AT + 8 * below(&dice, 30);
		unwind_walk(&space, machine, registers, below(&dice, 2) ? 0xff00000000000000 : 0,
			    &stack);
		mix(&sum, stack.n);
		mix(&sum, stack.end);
		mix_text(&sum, unwind_end_name(stack.end));
		mix(&sum, stack.sure);
		for (size_t k = 0; k < stack.n; k++) {
			mix(&sum, frame[k].pc);
			mix(&sum, frame[k].sp);
			mix(&sum, frame[k].interrupted << 1 | frame[k].by_chain);
		}
		row_table_free(&t.rows);
		rule_set_free(&rules);
	}
	return sum;
}

/* Takes and frees parts of an array, and checks what each element was used for. */
static uint64_t sum_of_extents(void)
{
	enum { ELEMENTS = 200, BORDER = 64, PARTS = 40 };
	struct {
		uint32_t first, n;
	} part[PARTS] = {};
	uint64_t sum = SUM_BEGINS, dice = 7, now = 1, freed[ELEMENTS] = {};
	bool taken[ELEMENTS] = {};
	int overlaps = 0, crossings = 0, early = 0;
	struct extents x;

	if (extents_init(&x, ELEMENTS, BORDER))
		abort();
	for (int i = 0; i < 60000; i++) {
		size_t p = below(&dice, PARTS);
		uint32_t n =
			1 + (below(&dice, 40) ? below(&dice, 12) : BORDER - 1 + below(&dice, 2));

		now += below(&dice, EXTENTS_REST_NS / 8);
		mix(&sum, extents_are_free(&x, below(&dice, ELEMENTS), n, now));
		if (part[p].n) {
			extents_give(&x, part[p].first, part[p].n, now);
			for (uint32_t k = part[p].first; k < part[p].first + part[p].n; k++) {
				taken[k] = false;
				freed[k] = now;
			}
			part[p].n = 0;
		} else if (extents_take(&x, n, now, &part[p].first)) {
			part[p].n = n;
			crossings += part[p].first / BORDER != (part[p].first + n - 1) / BORDER;
			for (uint32_t k = part[p].first; k < part[p].first + n; k++) {
				overlaps += taken[k];
				early += freed[k] && now - freed[k] < EXTENTS_REST_NS;
				taken[k] = true;
			}
			mix(&sum, part[p].first);
		}
		mix(&sum, x.n);
		mix(&sum, x.taken);
	}
	is_u64(overlaps, 0, "no element is taken twice");
	is_u64(crossings, 0, "no part crosses a border");
	is_u64(early, 0, "no element is taken while it must rest");
	is_u64(x.lost, 0, "no element is lost");
	extents_free(&x);
	return sum;
}

/* Adds rows in random order of rules, and compares each address with a list of all rules. */
static void test_rows(void)
{
	enum {
		BYTES = 3 * FS_UNWIND_PAGE_BYTES - 100,
		START = FS_UNWIND_PAGE_BYTES + 40,
		END = 4 * FS_UNWIND_PAGE_BYTES /* end of the last page */
	};
	static uint16_t want[END + FS_UNWIND_PAGE_BYTES];
	uint64_t dice = 8, wrong = 0;

	for (int i = 0; i < 60; i++) {
		struct row_table t;
		uint64_t at = START;
		uint16_t rule = FS_UNWIND_RULE_GAP;

		memset(want, 0, sizeof(want));
		if (row_table_init(&t, START, START + BYTES))
			abort();
		while (at < START + BYTES) {
			uint64_t next = at + below(&dice, i % 2 ? 8 : 9000);

			if (!below(&dice, 30))
				next = (at | (FS_UNWIND_PAGE_BYTES - 1)) + below(&dice, 3);
			rule = below(&dice, 4);
			wrong += row_table_add(&t, at, rule) != 0;
			for (uint64_t k = at; k < next && k < END; k++)
				want[k] = rule;
			if (at >= t.base + FS_UNWIND_PAGE_BYTES && !below(&dice, 50))
				wrong += row_table_add(&t, START - 1, 1) != -EINVAL;
			at = next;
		}
		for (uint64_t k = at; k < END; k++)
			want[k] = rule;
		wrong += row_table_add(&t, END, 1) != -EINVAL;
		wrong += row_table_finish(&t) != 0;
		for (uint64_t k = 0; k < sizeof(want) / sizeof(want[0]); k++)
			wrong += row_table_find(&t, k) != want[k];
		for (size_t k = 1; k < t.rows; k++)
			wrong += t.row[k].pc && (t.row[k].rule == t.row[k - 1].rule ||
						 t.row[k].pc <= t.row[k - 1].pc);
		row_table_free(&t);
	}
	is_u64(wrong, 0, "each address has the last rule that was set at or below it");
}

int main(void)
{
	const struct sum rows[] = {
		{"numbers of call frame information", sum_of_numbers(), 0x11608520e0dfc38a},
		{"DWARF expressions", sum_of_expressions(), 0xae8d27fbfe5e5e30},
		{"rules of register states", sum_of_rules(), 0x9dbaac6eaac1e9b4},
		{"entries of .eh_frame", sum_of_sections(), 0x60ef89629a6ecbe8},
		{"unwind tables of files", sum_of_files(), 0xef0ddde71a322fef},
		{"stack walks", sum_of_walks(), 0xb5aeef9bb7cef67b},
		{"parts of arrays", sum_of_extents(), 0xdd0c9f12d310e10c},
	};

	test_rows();
	are_sums(rows, sizeof(rows) / sizeof(rows[0]));
	return tap_done();
}
