// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests walks over handwritten stacks: each kind of rule, and each reason why a walk ends. */
#include <string.h>

#include "tap.h"
#include "unwind/unwind_walk.h"

#define CODE	    0x400000
#define STACK	    0x7000
#define STACK_WORDS 256

struct world {
	struct rule_set rules;
	struct unwind_table table;
	struct unwind_area area[2];
	struct unwind_space space;
	__u64 word[STACK_WORDS]; /* memory of the stack, which begins at the address STACK */
	__u64 registers[UNWIND_REGISTERS];
	struct unwind_frame frame[8];
	struct unwind_stack stack;
};

static bool read_stack(void *ctx, __u64 at, __u64 *ret)
{
	const struct world *w = ctx;

	if (at < STACK || at > STACK + (STACK_WORDS - 1) * 8)
		return false;
	memcpy(ret, (const char *)w->word + (at - STACK), sizeof(*ret));
	return true;
}

/* Makes a file with these rules. Each rule covers 256 bytes of code. */
static void begin(struct world *w, const struct fs_unwind_rule *rule, int n)
{
	memset(w, 0, sizeof(*w));
	rule_set_init(&w->rules);
	row_table_init(&w->table.rows, 0, 0x10000);
	for (int i = 0; i < n; i++)
		row_table_add(&w->table.rows, i * 256, rule_set_add(&w->rules, rule[i]));
	row_table_finish(&w->table.rows);
	w->area[0] = (struct unwind_area){CODE, CODE + 0x10000, CODE, &w->table, false};
	w->area[1] = (struct unwind_area){2 * CODE, 2 * CODE + 0x1000, 0, NULL, false};
	w->space = (struct unwind_space){
		.area = w->area, .areas = 2, .rules = &w->rules, .read = read_stack, .ctx = w};
	w->stack = (struct unwind_stack){.frame = w->frame, .room = 8};
	w->registers[7] = STACK;
}

static void end(struct world *w)
{
	rule_set_free(&w->rules);
	row_table_free(&w->table.rows);
}

/* Returns a return address into the code of the n-th rule. */
static __u64 in_rule(int n)
{
	return CODE + n * 256 + 16;
}

static void walk(struct world *w)
{
	unwind_walk(&w->space, CFI_X86_64, w->registers, 0, &w->stack);
}

static void is_end(struct world *w, size_t frames, const char *reason, const char *name)
{
	is_u64(w->stack.n, frames, name);
	is_str(unwind_end_name(w->stack.end), reason, name);
}

static void test_usual(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_SP, FS_UNWIND_FP_SAME, 0, 24},
		{FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA, -16, 16},
		{FS_UNWIND_CFA_END, 0, 0, 0},
		{FS_UNWIND_CFA_GAP, 0, 0, 0},
	};
	struct world w;

	begin(&w, rule, 4);
	/*
	 * the first byte of a function: the innermost address is not looked up by the byte before
	 * it
	 */
	w.registers[16] = CODE;
	w.registers[6] = STACK + 80;
	w.word[2] = in_rule(1);
	w.word[10] = 0x1234;
	w.word[11] = CODE + 3 * 256; /* after the last byte of the outermost function */
	walk(&w);
	is_end(&w, 3, "entry", "a stack of three frames");
	is_u64(w.frame[1].pc, in_rule(1), "by the stack pointer");
	is_u64(w.frame[1].sp, STACK + 24, "its stack pointer");
	is_u64(w.frame[2].pc, CODE + 3 * 256, "by the frame pointer");
	is_u64(w.frame[2].sp, STACK + 96, "its stack pointer");
	ok(w.stack.sure, "all by tables");
	w.word[11] = 0;
	walk(&w);
	is_end(&w, 2, "entry", "a return address of 0");
	w.word[11] = 0x666;
	walk(&w);
	is_end(&w, 2, "outside", "a return address that is in no mapping");
	w.word[11] = 2 * CODE + 8;
	walk(&w);
	is_end(&w, 3, "missing-table", "a mapping that has no table yet");
	w.word[11] = in_rule(9);
	w.registers[6] = STACK + 8 * STACK_WORDS + 8;
	walk(&w);
	is_end(&w, 2, "read-failed", "a frame pointer out of the stack");
	w.registers[6] = STACK;
	walk(&w);
	is_end(&w, 2, "no-progress", "a frame pointer below the stack pointer");
	w.registers[6] = STACK + 8;
	walk(&w);
	is_end(&w, 2, "no-progress", "a frame of no bytes");
	w.stack.room = 1;
	walk(&w);
	is_end(&w, 1, "too-deep", "no room for the second frame");
	end(&w);
}

static void test_registers(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_REGISTER + 10, FS_UNWIND_FP_LOST, 0, 0},
		{FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA, -16, 16},
		{FS_UNWIND_CFA_SP, 2 << 3, 0, 32},
		{FS_UNWIND_CFA_SAVED, 0, 0, 16},
		{FS_UNWIND_CFA_END, 0, 0, 0},
		{FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 32},
		{FS_UNWIND_CFA_RA_REGISTER, 0, 5, 8},
	};
	struct world w;

	begin(&w, rule, 7);
	w.registers[16] = in_rule(6);
	w.registers[5] = in_rule(4);
	walk(&w);
	is_end(&w, 2, "entry", "a return address in rdi");
	is_u64(w.frame[1].sp, STACK + 8, "with the stack pointer of its caller");
	w.registers[5] = in_rule(6);
	walk(&w);
	is_end(&w, 2, "not-expressible", "a return address in rdi, not of the innermost frame");
	w.registers[16] = in_rule(0);
	w.registers[10] = STACK + 64;
	w.word[7] = in_rule(1);
	walk(&w);
	is_end(&w, 2, "register-lost", "a frame pointer that was not saved");
	w.registers[16] = in_rule(2);
	w.word[3] = in_rule(0);
	walk(&w);
	is_end(&w, 2, "not-expressible", "another register, not of the innermost frame");
	w.word[3] = in_rule(3);
	w.word[2] = STACK + 160;
	w.word[21] = in_rule(4);
	walk(&w);
	is_end(&w, 3, "entry", "rbx, which the callee saved");
	w.registers[16] = in_rule(5);
	walk(&w);
	is_end(&w, 2, "register-lost", "rbx, which nobody saved");
	end(&w);
}

static void test_memory_rules(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_FP_DEREF, FS_UNWIND_FP_AT_FP, 0, 0xfff8},
		{FS_UNWIND_CFA_SP_DEREF, 0, 0, 8 << 16 | 16},
		{FS_UNWIND_CFA_PLT, 0, 0, 11 << 16 | 8},
		{FS_UNWIND_CFA_END, 0, 0, 0},
		{FS_UNWIND_CFA_REGISTER + 10, FS_UNWIND_FP_AT_FP, 0, 0},
		{FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA, -16, 16},
	};
	struct world w;

	begin(&w, rule, 6);
	w.registers[16] = in_rule(0);
	w.registers[6] = STACK + 16;
	w.word[1] = STACK + 48; /* the CFA */
	w.word[2] = STACK + 99; /* the caller's frame pointer */
	w.word[5] = in_rule(1);
	w.word[8] = STACK + 88;
	w.word[11] = in_rule(3);
	walk(&w);
	is_end(&w, 3, "entry", "a realigned frame, and a stack pointer in memory");
	is_u64(w.frame[2].sp, STACK + 96, "its stack pointer");
	w.registers[16] = in_rule(4);
	w.registers[10] = STACK + 32;
	w.registers[6] = STACK + 64; /* the frame pointer already has the caller's value */
	w.word[3] = in_rule(5);
	w.word[8] = STACK + 800;
	w.word[9] = in_rule(3);
	walk(&w);
	is_end(&w, 3, "entry", "a frame pointer that is out of its frame is the caller's");
	is_u64(w.frame[2].sp, STACK + 80, "so the caller's frame is found by it");
	w.registers[16] = CODE + 2 * 256 + 10;
	w.word[0] = in_rule(3);
	walk(&w);
	is_u64(w.frame[1].sp, STACK + 8, "the linkage table before its push");
	w.registers[16] = CODE + 2 * 256 + 11;
	w.word[1] = in_rule(3);
	walk(&w);
	is_u64(w.frame[1].sp, STACK + 16, "the linkage table after its push");
	end(&w);
}

static void test_signal(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_SP, 0, 0, 8},
		{FS_UNWIND_CFA_SIGNAL, 0, 0, 0},
		{FS_UNWIND_CFA_REGISTER + 12, 0, 0, 8},
		{FS_UNWIND_CFA_END, 0, 0, 0},
	};
	struct world w;
	__u64 *context;

	begin(&w, rule, 4);
	w.registers[16] = in_rule(0);
	w.word[0] = in_rule(1);
	context = &w.word[1 + 5];
	context[4] = STACK + 1024;    /* r12 */
	context[15] = STACK + 800;    /* rsp */
	context[16] = CODE + 2 * 256; /* a signal interrupted a function at its first byte */
	w.word[128] = in_rule(3);
	walk(&w);
	is_end(&w, 4, "entry", "a stack with a signal's frame");
	is_u64(w.frame[2].pc, CODE + 2 * 256, "what was interrupted");
	is_u64(w.frame[2].sp, STACK + 800, "its stack pointer");
	ok(w.frame[2].interrupted, "it is not behind a call");
	end(&w);
}

static void test_frame_pointers(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_CHAIN, 0, 0, 0},
		{FS_UNWIND_CFA_END, 0, 0, 0},
		{FS_UNWIND_CFA_GAP, 0, 0, 0},
		{FS_UNWIND_CFA_CHAIN, 0, 0, FS_UNWIND_OTHER_STACK},
	};
	struct world w;

	begin(&w, rule, 4);
	w.registers[16] = in_rule(0);
	w.registers[6] = STACK + 16;
	w.word[2] = STACK + 40;
	w.word[3] = in_rule(0);
	w.word[5] = 0;
	w.word[6] = in_rule(1);
	walk(&w);
	is_end(&w, 3, "entry", "by frame pointers");
	ok(!w.stack.sure && w.frame[1].by_chain && !w.frame[0].by_chain, "so it is not sure");
	w.word[6] = in_rule(0);
	walk(&w);
	is_end(&w, 3, "chain-end", "a frame pointer of 0");
	w.word[6] = 0x666;
	walk(&w);
	is_end(&w, 2, "gap", "a frame pointer that leads to no code");
	w.word[2] = STACK + 44;
	walk(&w);
	is_end(&w, 2, "gap", "a frame pointer that is not aligned");
	w.word[2] = STACK + (1 << 20) + 32;
	walk(&w);
	is_end(&w, 2, "gap", "a frame pointer that is too far away");
	w.word[3] = in_rule(2);
	walk(&w);
	is_end(&w, 2, "gap", "a file without frame pointers");
	w.registers[7] = STACK + 64;
	w.registers[6] = STACK + 8;
	w.word[2] = in_rule(1);
	walk(&w);
	is_end(&w, 1, "gap", "a frame pointer below the stack pointer");
	w.registers[16] = in_rule(3);
	walk(&w);
	is_end(&w, 2, "entry", "a function that changes to another stack");
	ok(!w.stack.sure, "which is not sure");
	w.word[1] = STACK + 8;
	w.word[2] = in_rule(3);
	walk(&w);
	is_end(&w, 8, "too-deep", "a frame pointer that points to itself");
	end(&w);
}

static void test_arm64(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_SP, FS_UNWIND_RA_IN_LR << 3, 0, 0},
		{FS_UNWIND_CFA_FP, FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3, -16, 16},
		{FS_UNWIND_CFA_SP, FS_UNWIND_RA_AT_FP_OFF << 3, -16, 32},
		{FS_UNWIND_CFA_SP, (FS_UNWIND_RA_AT_CFA + 1) << 3 | FS_UNWIND_FP_LOST, 0, 32},
		{FS_UNWIND_CFA_SIGNAL, 0, 0, 0},
		{FS_UNWIND_CFA_END, 0, 0, 0},
	};
	const __u64 signature = 0x7fULL << 48;
	struct world w;
	__u64 *context;

	begin(&w, rule, 6);
	w.registers[31] = STACK;
	w.registers[32] = in_rule(0);
	w.registers[30] = in_rule(1) | signature;
	w.registers[29] = STACK + 16;
	w.word[2] = STACK + 0x99;
	w.word[3] = in_rule(2) | signature;
	w.word[6] = in_rule(3);
	w.word[10] = in_rule(5);
	unwind_walk(&w.space, CFI_ARM64, w.registers, signature, &w.stack);
	is_end(&w, 5, "entry", "signed return addresses in all places");
	is_u64(w.frame[1].pc, in_rule(1), "from LR");
	is_u64(w.frame[2].pc, in_rule(2), "from a frame record");
	is_u64(w.frame[3].pc, in_rule(3), "from below the CFA");
	is_u64(w.frame[4].sp, STACK + 96, "the last stack pointer");
	w.word[3] = in_rule(0);
	unwind_walk(&w.space, CFI_ARM64, w.registers, signature, &w.stack);
	is_end(&w, 3, "no-progress", "LR of a frame that called");
	w.word[3] = in_rule(4);
	context = &w.word[4 + 39];
	context[30] = in_rule(5);
	context[31] = STACK + 1600;
	context[32] = in_rule(0);
	unwind_walk(&w.space, CFI_ARM64, w.registers, signature, &w.stack);
	is_end(&w, 5, "entry", "LR of a frame that a signal interrupted");
	end(&w);
}

/* Tests addresses at the borders of mappings, which are next to each other. */
static void test_areas(void)
{
	static const struct fs_unwind_rule rule[] = {{FS_UNWIND_CFA_END, 0, 0, 0}};
	static const struct {
		__u64 pc;
		const char *end, *name;
	} t[] = {
		{CODE - 1, "outside", "before all mappings"},
		{CODE, "entry", "the first address of a mapping"},
		{CODE + 0xfff, "entry", "its last address"},
		{CODE + 0x1000, "missing-table", "the first address of the next one"},
		{CODE + 0x1fff, "missing-table", "its last address"},
		{CODE + 0x2000, "outside", "between two mappings"},
		{CODE + 0x2fff, "outside", "before the third one"},
		{CODE + 0x3000, "chain-end", "code that keeps frame pointers"},
		{CODE + 0x3fff, "chain-end", "its last address"},
		{CODE + 0x4000, "outside", "behind all mappings"},
		{~0ULL, "outside", "the last address"},
	};
	struct unwind_area area[3];
	struct world w;

	begin(&w, rule, 1);
	area[0] = (struct unwind_area){CODE, CODE + 0x1000, CODE, &w.table, false};
	area[1] = (struct unwind_area){CODE + 0x1000, CODE + 0x2000, 0, NULL, false};
	area[2] = (struct unwind_area){CODE + 0x3000, CODE + 0x4000, 0, NULL, true};
	w.space.area = area;
	w.space.areas = 3;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		w.registers[16] = t[i].pc;
		walk(&w);
		is_end(&w, 1, t[i].end, t[i].name);
		is_u64(w.frame[0].pc, t[i].pc, "the innermost frame is shown in any case");
	}
	end(&w);
}

static void test_names(void)
{
	is_str(unwind_end_name(STACK_END_GOES_ON), "goes-on", "the walk goes on");
	is_str(unwind_end_name(NR_STACK_ENDS), "goes-on", "a number that has no name");
	is_str(unwind_end_name((enum stack_end) - 1), "goes-on", "nor has -1");
	for (int i = 1; i < NR_STACK_ENDS; i++)
		ok(strcmp(unwind_end_name(i), "goes-on"), "the end \"%s\"", unwind_end_name(i));
}

/* Tests where the registers of the innermost frame are. */
static void test_first_registers(void)
{
	static const struct fs_unwind_rule rule[] = {
		{FS_UNWIND_CFA_SAVED, 0, 0, 16},	{FS_UNWIND_CFA_END, 0, 0, 0},
		{FS_UNWIND_CFA_REGISTER + 15, 0, 0, 0}, {FS_UNWIND_CFA_REGISTER, 0, 0, 0},
		{FS_UNWIND_CFA_REGISTER + 16, 0, 0, 0},
	};
	struct world w;

	begin(&w, rule, 5);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		w.registers[i] = 0x666;
	w.registers[7] = STACK;
	w.registers[3] = STACK + 16;
	w.registers[16] = in_rule(0);
	w.word[3] = in_rule(1);
	walk(&w);
	is_end(&w, 2, "entry", "rbx of the innermost frame");
	is_u64(w.frame[1].sp, STACK + 32, "its frame");
	w.registers[16] = in_rule(2);
	w.registers[15] = STACK + 32;
	walk(&w);
	is_end(&w, 2, "entry", "r15 of the innermost frame");
	w.registers[16] = in_rule(3);
	w.registers[0] = STACK + 32;
	walk(&w);
	is_end(&w, 2, "entry", "rax of the innermost frame");
	w.registers[16] = in_rule(4);
	walk(&w);
	is_end(&w, 1, "not-expressible", "a register with no such number");
	w.registers[31] = STACK;
	w.registers[32] = in_rule(4);
	w.registers[16] = STACK + 64;
	w.registers[30] = in_rule(1);
	unwind_walk(&w.space, CFI_ARM64, w.registers, 0, &w.stack);
	is_end(&w, 2, "entry", "which arm64 has");
	is_u64(w.frame[1].sp, STACK + 64, "its frame");
	end(&w);
}

int main(void)
{
	test_usual();
	test_registers();
	test_memory_rules();
	test_signal();
	test_frame_pointers();
	test_arm64();
	test_areas();
	test_names();
	test_first_registers();
	return tap_done();
}
