// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/unwind_walk.h"

#include "base/array.h"
#include "unwind/memory_step.h"

#define X86_PC	 16
#define ARM64_PC 32

const char *unwind_end_name(enum stack_end end)
{
	static const char *const names[NR_STACK_ENDS] = {
#define STACK_END(constant, name, meaning) [STACK_END_##constant] = name,
#include "records/stack_ends.def"
#undef STACK_END
	};

	return (unsigned int)end < NR_STACK_ENDS && names[end] ? names[end] : "goes-on";
}

static const struct unwind_area *find_area(const struct unwind_space *s, __u64 pc)
{
	size_t at = array_count_up_to(s->area, s->areas, sizeof(*s->area),
				      offsetof(struct unwind_area, end), pc);

	return at < s->areas && pc >= s->area[at].start ? &s->area[at] : NULL;
}

/* Finds the rule of a frame. Returns enum stack_end. */
static enum stack_end find_rule(const struct unwind_space *s, const struct fs_unwind_cursor *c,
				struct fs_unwind_rule *ret)
{
	__u64 pc = fs_unwind_lookup_pc(c);
	const struct unwind_area *a;
	__u16 rule;

	if (s->rule)
		return s->rule(s->ctx, pc, ret);
	a = find_area(s, pc);
	if (!a)
		return STACK_END_OUTSIDE;
	if (!a->table && !a->keeps_frame_pointers)
		return STACK_END_MISSING;
	rule = a->table ? row_table_find(&a->table->rows, pc - a->bias) : FS_UNWIND_RULE_CHAIN;
	*ret = s->rules->rule[rule];
	return STACK_END_GOES_ON;
}

static struct fs_unwind_cursor begin(enum cfi_machine machine,
				     const __u64 registers[UNWIND_REGISTERS], __u64 pc_signature)
{
	struct fs_unwind_cursor c = {.whole = 1, .ra_bits = ~pc_signature};

	c.sp = registers[cfi_followed_number(machine, CFI_SP)];
	c.fp = registers[cfi_followed_number(machine, CFI_FP)];
	if (machine == CFI_X86_64) {
		c.pc = registers[X86_PC];
		c.saved = registers[cfi_followed_number(machine, CFI_SAVED)];
	} else {
		c.pc = registers[ARM64_PC];
		c.saved = registers[cfi_followed_number(machine, CFI_RA)];
	}
	return c;
}

void unwind_walk(const struct unwind_space *s, enum cfi_machine machine,
		 const __u64 registers[UNWIND_REGISTERS], __u64 pc_signature,
		 struct unwind_stack *ret)
{
	struct fs_unwind_memory m = {s->read, s->ctx, registers, machine == CFI_X86_64 ? 16 : 31};
	struct fs_unwind_cursor c = begin(machine, registers, pc_signature);
	struct fs_unwind_rule rule = {};
	int end;

	ret->n = 0;
	ret->sure = true;
	do {
		if (ret->n == ret->room) {
			ret->end = STACK_END_TOO_DEEP;
			return;
		}
		end = find_rule(s, &c, &rule);
		ret->end = fs_unwind_no_frame(&c, end);
		if (ret->end)
			return;
		ret->frame[ret->n++] = (struct unwind_frame){c.pc, c.sp, c.whole, c.by_chain};
		ret->sure = ret->sure && !c.by_chain;
		if (!end)
			end = machine == CFI_X86_64 ? fs_unwind_step_x86(&c, &rule, &m)
						    : fs_unwind_step_arm64(&c, &rule, &m);
	} while (end == STACK_END_GOES_ON);
	ret->end = end;
}
