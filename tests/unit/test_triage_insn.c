// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how memory accesses are decoded from machine code. Examples are from objdump. */
#include "sums.h"
#include "tap.h"
#include "triage/insn.h"

#define R ACCESS_READ
#define W ACCESS_WRITE
#define N ACCESS_NONE

static const struct {
	const char *text;
	uint8_t code[12];
	enum access access;
	int size, base, index, scale;
	int64_t offset;
} x86[] = {
	{"movl $7,0x40(%rdi)", {0xc7, 0x47, 0x40, 7, 0, 0, 0}, W, 4, 7, -1, 1, 0x40},
	{"mov 0x3044(%rdi),%eax", {0x8b, 0x87, 0x44, 0x30, 0, 0}, R, 4, 7, -1, 1, 0x3044},
	{"mov (%rdi),%rax", {0x48, 0x8b, 0x07}, R, 8, 7, -1, 1, 0},
	{"mov %rsi,0x8(%rcx)", {0x48, 0x89, 0x71, 0x08}, W, 8, 1, -1, 1, 8},
	{"mov %al,(%rdx)", {0x88, 0x02}, W, 1, 2, -1, 1, 0},
	{"mov %r9w,-2(%r12)", {0x66, 0x45, 0x89, 0x4c, 0x24, 0xfe}, W, 2, 12, -1, 1, -2},
	{"mov 0x18(%r13,%rax,8),%rbx", {0x49, 0x8b, 0x5c, 0xc5, 0x18}, R, 8, 13, 0, 8, 0x18},
	{"movzbl (%rsi,%rcx),%eax", {0x0f, 0xb6, 0x04, 0x0e}, R, 1, 6, 1, 1, 0},
	{"movzwl 4(%rbx),%eax", {0x0f, 0xb7, 0x43, 0x04}, R, 2, 3, -1, 1, 4},
	{"cmpq $0,0x30(%rax)", {0x48, 0x83, 0x78, 0x30, 0x00}, R, 8, 0, -1, 1, 0x30},
	{"addl $1,(%rax)", {0x83, 0x00, 0x01}, W, 4, 0, -1, 1, 0},
	{"lock cmpxchg %edx,(%rbx)", {0xf0, 0x0f, 0xb1, 0x13}, W, 4, 3, -1, 1, 0},
	{"lock xadd %eax,0x38(%rdi)", {0xf0, 0x0f, 0xc1, 0x47, 0x38}, W, 4, 7, -1, 1, 0x38},
	{"lock decl (%rdi)", {0xf0, 0xff, 0x0f}, W, 4, 7, -1, 1, 0},
	{"rep stos %al", {0xf3, 0xaa}, W, 1, 7, -1, 1, 0},
	{"rep movsq", {0xf3, 0x48, 0xa5}, R, 8, 6, -1, 1, 0},
	{"movups (%rsi),%xmm0", {0x0f, 0x10, 0x06}, R, 16, 6, -1, 1, 0},
	{"movaps %xmm0,(%rdi)", {0x0f, 0x29, 0x07}, W, 16, 7, -1, 1, 0},
	{"push %rbp", {0x55}, W, 8, 4, -1, 1, -8},
	{"ret", {0xc3}, R, 8, 4, -1, 1, 0},
	{"lea 0x10(%rdi),%rax", {0x48, 0x8d, 0x47, 0x10}, N, 8, 7, -1, 1, 0x10},
	{"btsl $3,(%rdi)", {0x0f, 0xba, 0x2f, 0x03}, W, 4, 7, -1, 1, 0},
	{"crc32q (%rsi),%rax", {0xf2, 0x48, 0x0f, 0x38, 0xf1, 0x06}, R, 8, 6, -1, 1, 0},
	{"movbe %eax,(%rsi)", {0x0f, 0x38, 0xf1, 0x06}, W, 4, 6, -1, 1, 0},
	{"movq 0x10(%r12),%xmm1", {0xf3, 0x41, 0x0f, 0x7e, 0x4c, 0x24, 0x10}, R, 8, 12, -1, 1, 16},
	{"testb $1,0x9(%rax)", {0xf6, 0x40, 0x09, 0x01}, R, 1, 0, -1, 1, 9},
};

static void test_x86(void)
{
	for (size_t i = 0; i < sizeof(x86) / sizeof(x86[0]); i++) {
		struct insn in = {};
		bool good = x86_decode(x86[i].code, sizeof(x86[i].code), true, &in);

		ok(good && in.access == x86[i].access && in.size == x86[i].size &&
			   in.base == x86[i].base && in.index == x86[i].index &&
			   in.scale == x86[i].scale && in.offset == x86[i].offset,
		   "%s: access %d size %d base %d index %d scale %d offset %" PRId64, x86[i].text,
		   in.access, in.size, in.base, in.index, in.scale, in.offset);
	}
}

/* Tests how each opcode accesses the memory operand (%rdi), as Intel's manual, volume 2, says. */
static void test_x86_opcodes(void)
{
	static const struct {
		uint8_t op;
		/* register field that selects an operation of an opcode group; 0: any value */
		int reg;
		enum access access;
	} one[] =
		{
			{0x00, 0, W}, {0x01, 0, W}, {0x02, 0, R}, {0x03, 0, R}, {0x08, 0, W},
			{0x0b, 0, R}, {0x11, 0, W}, {0x19, 0, W}, {0x21, 0, W}, {0x29, 0, W},
			{0x31, 0, W}, {0x38, 0, R}, {0x39, 0, R}, {0x3a, 0, R}, {0x3b, 0, R},
			{0x63, 0, R}, {0x69, 0, R}, {0x6b, 0, R}, {0x80, 0, W}, {0x80, 7, R},
			{0x81, 5, W}, {0x81, 7, R}, {0x83, 6, W}, {0x83, 7, R}, {0x84, 0, R},
			{0x85, 0, R}, {0x86, 0, W}, {0x87, 0, W}, {0x88, 0, W}, {0x89, 0, W},
			{0x8a, 0, R}, {0x8b, 0, R}, {0xc6, 0, W}, {0xc7, 0, W}, {0xd1, 4, W},
			{0xd3, 5, W}, {0xf6, 0, R}, {0xf6, 2, W}, {0xf7, 3, W}, {0xf7, 4, R},
			{0xf7, 6, R}, {0xfe, 0, W}, {0xff, 0, W}, {0xff, 1, W},
		},
	  two[] = {
		  {0x10, 0, R}, {0x11, 0, W}, {0x12, 0, R}, {0x13, 0, W}, {0x16, 0, R},
		  {0x17, 0, W}, {0x28, 0, R}, {0x29, 0, W}, {0x2a, 0, R}, {0x2b, 0, W},
		  {0x2e, 0, R}, {0x40, 0, R}, {0x4f, 0, R}, {0x6f, 0, R}, {0x7e, 0, W},
		  {0x7f, 0, W}, {0x90, 0, W}, {0x9f, 0, W}, {0xa3, 0, R}, {0xa4, 0, W},
		  {0xa5, 0, W}, {0xab, 0, W}, {0xac, 0, W}, {0xad, 0, W}, {0xaf, 0, R},
		  {0xb0, 0, W}, {0xb1, 0, W}, {0xb3, 0, W}, {0xb6, 0, R}, {0xb7, 0, R},
		  {0xba, 4, R}, {0xba, 5, W}, {0xba, 6, W}, {0xba, 7, W}, {0xbb, 0, W},
		  {0xbe, 0, R}, {0xbf, 0, R}, {0xc0, 0, W}, {0xc1, 0, W}, {0xc3, 0, W},
		  {0xc7, 1, W}, {0xe7, 0, W},
	  };

	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		const uint8_t code[12] = {one[i].op, one[i].reg << 3 | 7};
		struct insn in = {};

		ok(x86_decode(code, sizeof(code), true, &in) && in.access == one[i].access,
		   "%02x /%d", one[i].op, one[i].reg);
	}
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		const uint8_t code[12] = {0x0f, two[i].op, two[i].reg << 3 | 7};
		struct insn in = {};

		ok(x86_decode(code, sizeof(code), true, &in) && in.access == two[i].access,
		   "0f %02x /%d", two[i].op, two[i].reg);
	}
}

static void test_x86_calls(void)
{
	static const uint8_t reg[] = {0xff, 0xd0}, mem[] = {0xff, 0x53, 0x18}, ud2[] = {0x0f, 0x0b};
	static const uint8_t cut[] = {0x48, 0x8b};
	struct insn in;

	ok(x86_decode(reg, 2, true, &in) && in.calls && in.target == 0, "call *%%rax");
	ok(x86_decode(mem, 3, true, &in) && in.calls && in.base == 3 && in.offset == 0x18,
	   "call *0x18(%%rbx)");
	ok(x86_decode(ud2, 2, true, &in) && in.traps, "ud2");
	ok(!x86_decode(cut, 2, true, &in), "an instruction whose end is missing");
	ok(!x86_decode(cut, 0, true, &in), "no bytes");
}

static const struct {
	const char *text;
	uint32_t word;
	enum access access;
	int size, base, index;
	int64_t offset;
} arm64[] = {
	{"str w1, [x0, #0x40]", 0xb9004001, W, 4, 0, -1, 0x40},
	{"ldr w0, [x0, #0x3044]", 0xb9704400, R, 4, 0, -1, 0x3044},
	{"str x8, [x3, #8]", 0xf9000468, W, 8, 3, -1, 8},
	{"ldr x0, [x0]", 0xf9400000, R, 8, 0, -1, 0},
	{"ldrb w1, [x2]", 0x39400041, R, 1, 2, -1, 0},
	{"ldur x1, [x0, #-8]", 0xf85f8001, R, 8, 0, -1, -8},
	{"ldr x7, [x2, x7, lsl #3]", 0xf8677847, R, 8, 2, 7, 0},
	{"str x3, [x0], #8", 0xf8008403, W, 8, 0, -1, 0},
	{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, W, 8, 31, -1, -16},
	{"ldp x29, x30, [sp], #16", 0xa8c17bfd, R, 8, 31, -1, 0},
	{"ldxr w0, [x1]", 0x885f7c20, R, 4, 1, -1, 0},
	{"stxr w2, w0, [x1]", 0x88027c20, W, 4, 1, -1, 0},
	{"ldaxp x5, x7, [x17]", 0xc87f9e25, R, 8, 17, -1, 0},
	{"caspal x2, x3, x4, x5, [x6]", 0x4862fcc4, W, 2, 6, -1, 0},
	{"casal w1, w2, [x3]", 0x88e1fc62, W, 4, 3, -1, 0},
	{"ldar x0, [x1]", 0xc8dffc20, R, 8, 1, -1, 0},
	{"ldadd w0, w1, [x2]", 0xb8200041, W, 4, 2, -1, 0},
	{"ldseta x0, x0, [x19]", 0xf8a03260, W, 8, 19, -1, 0},
	{"swpal x0, x1, [x3]", 0xf8e08061, W, 8, 3, -1, 0},
};

static const struct {
	const char *text;
	uint32_t word;
} no_access[] = {
	{"nop", 0xd503201f},
	{"mov x19, x0", 0xaa0003f3},
	{"sub x0, x1, x2", 0xcb020020},
	{"cmp x0, x1", 0xeb01001f},
	{"ands x0, x1, x2", 0xea020020},
	{"csel x0, x1, x2, eq", 0x9a820020},
	{"ccmp x0, x1, #0, ne", 0xfa411000},
	{"add x0, x1, #1", 0x91000420},
	{"bl", 0x94000000},
	{"cbz x0", 0xb4000000},
	{"prfm pldl1keep, [x0]", 0xf9800000},
};

static void test_arm64(void)
{
	struct insn in;

	for (size_t i = 0; i < sizeof(arm64) / sizeof(arm64[0]); i++) {
		bool good = arm64_decode(arm64[i].word, &in);

		ok(good && in.access == arm64[i].access && in.size == arm64[i].size &&
			   in.base == arm64[i].base && in.index == arm64[i].index &&
			   in.offset == arm64[i].offset,
		   "%s: access %d size %d base %d index %d offset %" PRId64, arm64[i].text,
		   in.access, in.size, in.base, in.index, in.offset);
	}
	ok(arm64_decode(0xd63f0100, &in) && in.calls && in.target == 8, "blr x8");
	for (size_t i = 0; i < sizeof(no_access) / sizeof(no_access[0]); i++)
		ok(!arm64_decode(no_access[i].word, &in), "%s", no_access[i].text);
}

static void mix_insn(uint64_t *sum, bool good, const struct insn *in)
{
	mix(sum, good);
	if (!good)
		return;
	mix(sum, in->access | in->size << 8 | in->memory << 16 | in->calls << 17 |
			 in->copies << 18 | in->traps << 19 | in->ip_relative << 20);
	mix(sum, (uint8_t)in->base | (uint8_t)in->index << 8 | in->scale << 16 |
			 (uint32_t)(uint8_t)in->target << 24);
	mix(sum, in->offset);
}

/* Returns a checksum over all one- and two-byte opcodes, with prefixes, operands, truncation. */
static uint64_t sum_of_x86(bool is_64)
{
	static const uint8_t prefix[] = {0, 0x66, 0xf2, 0xf3, 0xf0, 0x48, 0x4f, 0x41, 0x65, 0x67};
	uint64_t sum = SUM_BEGINS;

	for (int op = 0; op < 512; op++)
		for (size_t p = 0; p < sizeof(prefix); p++)
			for (int operand = 0; operand < 256; operand += op < 256 ? 1 : 3) {
				uint8_t code[16] = {}, n = 0;
				struct insn in = {};
				bool good;

				if (prefix[p])
					code[n++] = prefix[p];
				if (op >= 256)
					code[n++] = 0x0f;
				code[n++] = op;
				code[n++] = operand;
				for (int i = 0; i < 8; i++)
					code[n++] = operand * 7 + 0x25 + i * 0x31;
				n -= operand % 9;
				good = x86_decode(code, n, is_64, &in);
				mix_insn(&sum, good, &in);
			}
	return sum;
}

static uint64_t sum_of_arm64(void)
{
	uint64_t sum = SUM_BEGINS, dice = 1;

	for (int i = 0; i < 300000; i++) {
		uint32_t word = roll(&dice);
		struct insn in = {};
		bool good = arm64_decode(i & 1 ? word : (word & ~0x0a000000u) | 0x08000000u, &in);

		mix_insn(&sum, good, &in);
	}
	return sum;
}

/* Returns a checksum over random reports, with truncated code and unknown registers. */
static uint64_t sum_of_events(void)
{
	static const enum arch arch[] = {ARCH_X86_64, ARCH_I386, ARCH_ARM64, ARCH_RISCV};
	uint64_t sum = SUM_BEGINS, dice = 2, address;

	for (int i = 0; i < 40000; i++) {
		struct incident e = {.arch = arch[i % 4]};
		struct insn in = {.base = -1, .index = -1};

		/*
		 * Two statements, because C does not define which of two calls in one expression
		 * runs first.
		 */
		e.has_code_at = roll(&dice) % 8;
		e.code_bytes = roll(&dice) % 24;
		e.has_sp = roll(&dice) % 2;
		e.sp = roll(&dice);
		e.code_at = roll(&dice) % 24;
		e.regs.known = roll(&dice);
		for (int k = 0; k < REGS_MAX; k++)
			e.regs.value[k] = roll(&dice);
		for (int k = 0; k < 24; k++)
			e.code[k] = roll(&dice);
		mix_insn(&sum, insn_of(&e, &in), &in);
		in = (struct insn){.memory = i % 16, .ip_relative = !(i % 32)};
		in.base = roll(&dice) % 34 - 1;
		in.index = roll(&dice) % 34 - 1;
		in.scale = 1 << roll(&dice) % 4;
		in.offset = roll(&dice) % 256;
		address = 0;
		mix(&sum, insn_address(&e, &in, &address));
		mix(&sum, address);
	}
	return sum;
}

static uint64_t sum_of_names(void)
{
	static const enum arch arch[] = {ARCH_X86_64, ARCH_I386, ARCH_ARM64};
	uint64_t sum = SUM_BEGINS;
	char name[8];

	for (int i = 0; i < 3; i++)
		for (int number = -1; number < 32; number++) {
			register_name(arch[i], number, name, sizeof(name));
			mix_text(&sum, name);
		}
	return sum;
}

static void test_sums(void)
{
	const struct sum rows[] = {
		{"x86-64", sum_of_x86(true), 0xc133171de6ddd594},
		{"i386", sum_of_x86(false), 0x5fde568795b61337},
		{"arm64", sum_of_arm64(), 0x28b7748731661c0b},
		{"events", sum_of_events(), 0xbe3d312c73641941},
		{"register names", sum_of_names(), 0x26f4da498e3631da},
	};

	are_sums(rows, sizeof(rows) / sizeof(rows[0]));
}

int main(void)
{
	test_x86();
	test_x86_opcodes();
	test_x86_calls();
	test_arm64();
	test_sums();
	return tap_done();
}
