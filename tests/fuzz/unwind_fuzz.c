// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes the making of unwind tables, and walks with these tables. The first byte of the input
 * selects what follows: a whole ELF file, or an .eh_frame or a .gopclntab section, around which the
 * fuzzer makes a file. Any input may give a table or none, and each walk must end with a reason.
 */
#include <libelf.h>
#include <stdlib.h>

#include "cfi_maker.h"
#include "unwind/table_maker.h"
#include "unwind/unwind_walk.h"

#define FRAMES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The memory of the simulated stack repeats the input. */
struct stack {
	const uint8_t *data;
	size_t size;
};

static bool read_stack(void *ctx, __u64 at, __u64 *ret)
{
	const struct stack *s = ctx;

	if (s->size < 8 || at % 7 == 3)
		return false;
	memcpy(ret, s->data + at % (s->size - 7), sizeof(*ret));
	return true;
}

static void walk(const struct unwind_table *t, const struct rule_set *rules, const uint8_t *data,
		 size_t size)
{
	struct stack stack = {data, size};
	struct unwind_area area = {TEXT, TEXT + TEXT_BYTES, 0, t, false};
	struct unwind_space space = {&area, 1, rules, read_stack, &stack};
	struct unwind_frame frame[FRAMES_MAX];
	struct unwind_stack s = {.frame = frame, .room = FRAMES_MAX};
	__u64 registers[UNWIND_REGISTERS];

	for (unsigned int i = 0; i < UNWIND_REGISTERS; i++)
		registers[i] = i * 0x1111;
	for (__u64 pc = TEXT; pc < TEXT + TEXT_BYTES; pc += 997) {
		registers[16] = registers[32] = pc;
		unwind_walk(&space, t->machine, registers, 0x7fULL << 48, &s);
		if (!s.n || s.n > FRAMES_MAX || !s.end || s.end >= NR_STACK_ENDS)
			abort();
	}
}

static void check(const struct unwind_table *t, const struct rule_set *rules)
{
	__u32 first = 0;

	if (t->covered_bytes > t->text_bytes + TEXT_BYTES || t->rows.pages > UNWIND_PAGES_MAX)
		abort();
	for (size_t i = 0; i < t->rows.pages; i++) {
		const struct fs_unwind_page *p = &t->rows.page[i];

		if (p->first != first || !p->rows || t->rows.row[first].pc)
			abort();
		first += p->rows;
	}
	if (first != t->rows.rows)
		abort();
	for (size_t i = 0; i < t->rows.rows; i++)
		if (t->rows.row[i].rule >= rules->n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[MADE_FILE];
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = sizeof(file)};
	struct made made = {};
	struct unwind_table t;
	struct rule_set rules;
	uint8_t kind;

	if (!size || rule_set_init(&rules))
		return 0;
	elf_version(EV_CURRENT);
	kind = *data++;
	size--;
	if (kind & 1) {
		s.mem = (const char *)data;
		s.bytes = size;
	} else {
		made.n = size < sizeof(made.b) ? size : sizeof(made.b);
		memcpy(made.b, data, made.n);
		if (kind & 8)
			make_go_file(&made, EM_X86_64, file);
		else
			make_file(&made, kind & 2 ? EM_AARCH64 : EM_X86_64, kind & 4, file);
	}
	if (!unwind_table_read(&s, &rules, &t)) {
		check(&t, &rules);
		walk(&t, &rules, data, size);
		unwind_table_free(&t);
	}
	rule_set_free(&rules);
	return 0;
}
