// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests whether a register still holds an argument of its function when an instruction faults.
 * Encodings are from objdump.
 */
#include <string.h>

#include "sums.h"
#include "tap.h"
#include "triage/insn.h"

#define RDI   7
#define RCX   1
#define RBX   3
#define R12   12
#define CALL  0xe8, 0, 0, 0, 0
#define ENDBR 0xf3, 0x0f, 0x1e, 0xfa

static const struct {
	const char *what;
	enum arch arch;
	int number; /* of the register */
	bool holds;
	size_t bytes; /* of code between the start of the function and the fault */
	uint8_t code[24];
} cases[] = {
	{"the first instruction", ARCH_X86_64, RDI, true, 0, {}},
	{"a register for no argument", ARCH_X86_64, RBX, false, 0, {}},
	{"push %rbp", ARCH_X86_64, RDI, true, 1, {0x55}},
	{"xor %edi,%edi", ARCH_X86_64, RDI, false, 2, {0x31, 0xff}},
	{"xor %esi,%esi", ARCH_X86_64, RDI, true, 2, {0x31, 0xf6}},
	{"mov (%rsi),%rdi", ARCH_X86_64, RDI, false, 3, {0x48, 0x8b, 0x3e}},
	{"mov %rdi,(%rsi)", ARCH_X86_64, RDI, true, 3, {0x48, 0x89, 0x3e}},
	{"pop %rdi", ARCH_X86_64, RDI, false, 1, {0x5f}},
	{"mov $1,%edi", ARCH_X86_64, RDI, false, 5, {0xbf, 1, 0, 0, 0}},
	{"movzbl %al,%edi", ARCH_X86_64, RDI, false, 3, {0x0f, 0xb6, 0xf8}},
	{"a call", ARCH_X86_64, RDI, false, 5, {CALL}},
	{"call *%rax", ARCH_X86_64, RDI, false, 2, {0xff, 0xd0}},
	{"rep stos", ARCH_X86_64, RCX, false, 3, {0xf3, 0x48, 0xab}},
	{"mov %rdi,%rbx", ARCH_X86_64, RBX, true, 3, {0x48, 0x89, 0xfb}},
	{"mov %rdi,%r12", ARCH_X86_64, R12, true, 3, {0x49, 0x89, 0xfc}},
	{"mov %rdi,%rbx by the other opcode", ARCH_X86_64, RBX, true, 3, {0x48, 0x8b, 0xdf}},
	{"mov %edi,%ebx", ARCH_X86_64, RBX, false, 2, {0x89, 0xfb}},
	{"mov %r14,%rbx", ARCH_X86_64, RBX, false, 3, {0x4c, 0x89, 0xf3}},
	{"a copy before a call", ARCH_X86_64, RBX, true, 8, {0x48, 0x89, 0xfb, CALL}},
	{"a copy after a call", ARCH_X86_64, RBX, false, 8, {CALL, 0x48, 0x89, 0xfb}},
	{"a copy that was changed afterwards",
	 ARCH_X86_64,
	 RBX,
	 false,
	 5,
	 {0x48, 0x89, 0xfb, 0x31, 0xdb}},
	{"bti c", ARCH_ARM64, 0, true, 4, {0x5f, 0x24, 0x03, 0xd5}},
	{"mov x19, x0", ARCH_ARM64, 19, true, 4, {0xf3, 0x03, 0x00, 0xaa}},
	{"mov x19, x20", ARCH_ARM64, 19, false, 4, {0xf3, 0x03, 0x14, 0xaa}},
	{"mov x0, x19", ARCH_ARM64, 0, false, 4, {0xe0, 0x03, 0x13, 0xaa}},
	{"bl", ARCH_ARM64, 0, false, 4, {0x00, 0x00, 0x00, 0x94}},
	{"blr x1", ARCH_ARM64, 0, false, 4, {0x20, 0x00, 0x3f, 0xd6}},
	{"mov x19, x0 and bl",
	 ARCH_ARM64,
	 19,
	 true,
	 8,
	 {0xf3, 0x03, 0x00, 0xaa, 0x00, 0x00, 0x00, 0x94}},
	{"ldr x0, [x1]", ARCH_ARM64, 0, false, 4, {0x20, 0x00, 0x40, 0xf9}},
	{"str x0, [x1]", ARCH_ARM64, 0, true, 4, {0x20, 0x00, 0x00, 0xf9}},
	{"ldp x2, x0, [x1]", ARCH_ARM64, 0, false, 4, {0x22, 0x00, 0x40, 0xa9}},
	{"riscv, which is not decoded", ARCH_RISCV, 10, false, 4, {0x13, 0x05, 0x00, 0x00}},
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct incident e = {.arch = cases[i].arch, .has_code_at = true};

		e.code_at = cases[i].bytes;
		memcpy(e.code, cases[i].code, cases[i].bytes);
		if (!e.code_at) { /* an instruction before the function */
			e.code_at = 1;
			e.code[0] = 0xc3;
		}
		ok(holds_argument(&e, cases[i].number, cases[i].bytes) == cases[i].holds, "%s",
		   cases[i].what);
	}
}

/* The report has not all bytes of the function before the fault. */
static void test_bounds(void)
{
	struct incident e = {.arch = ARCH_X86_64};

	ok(holds_argument(&e, RDI, 0x28), "near the start, without bytes");
	ok(!holds_argument(&e, RDI, 0x29), "further away");
	e.has_code_at = true;
	e.code_at = 4;
	memcpy(e.code, (uint8_t[]){ENDBR}, 4);
	ok(holds_argument(&e, RDI, 0x100), "no change in the bytes before");
	ok(!holds_argument(&e, RDI, 0x101), "too far away for that");
	memcpy(e.code, (uint8_t[]){0x90, 0x48, 0x89, 0xfb}, 4);
	ok(holds_argument(&e, RBX, 4), "a copy in a whole function");
	ok(!holds_argument(&e, RBX, 5), "a copy of what an earlier byte may have changed");
	e.arch = ARCH_I386;
	ok(!holds_argument(&e, RDI, 4), "arguments of i386 are in memory");
}

/* Returns a checksum over random code, of instructions that move registers. */
static uint64_t sum_of_code(void)
{
	static const uint8_t bytes[] = {0x48, 0x49, 0x4c, 0x89, 0x8b, 0xfb, 0xfc, 0xdf, 0x31, 0x0f,
					0xb6, 0xe8, 0xff, 0xd0, 0x5f, 0xbf, 0xf3, 0xa4, 0x8d, 0x01};
	uint64_t sum = SUM_BEGINS, dice = 3;

	for (int i = 0; i < 20000; i++) {
		struct incident e = {.arch = i % 4 ? ARCH_X86_64 : ARCH_ARM64, .has_code_at = true};

		e.code_at = 1 + roll(&dice) % 12;
		for (size_t k = 0; k < e.code_at; k++)
			e.code[k] = i % 4 ? bytes[roll(&dice) % sizeof(bytes)] : roll(&dice);
		for (int number = 0; number < 32; number++)
			mix(&sum, holds_argument(&e, number, roll(&dice) % 16));
	}
	return sum;
}

int main(void)
{
	test_cases();
	test_bounds();
	is_u64(sum_of_code(), 0xd3310f4296f1cc65, "random code");
	return tap_done();
}
