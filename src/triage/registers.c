// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "triage/facts.h"

static const char *const x86_64_names[] = {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
					   "R08", "R09", "R10", "R11", "R12", "R13", "R14", "R15"};
static const char *const i386_names[] = {"EAX", "ECX", "EDX", "EBX", "ESP", "EBP", "ESI", "EDI",
					 "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};

/* Returns the number of a register by the name that the kernel prints; -1: none. */
static int register_number(struct str name, enum arch *arch)
{
	uint64_t n;

	for (int i = 0; i < 16; i++)
		if (str_is(name, x86_64_names[i])) {
			*arch = ARCH_X86_64;
			return i;
		}
	for (int i = 0; i < 16; i++)
		if (str_is(name, i386_names[i])) {
			*arch = ARCH_I386;
			return i & 7;
		}
	if (name.n >= 2 && name.n <= 3 && str_decimal(str_from(name, 1), &n) == name.n - 1) {
		if (name.s[0] == 'x' && n < 31) {
			*arch = ARCH_ARM64;
			return n;
		}
		if (name.s[0] == 'r' && n < 16) {
			*arch = ARCH_ARM;
			return n;
		}
	}
	return -1;
}

static void register_set(struct incident *e, struct str name, uint64_t value, size_t digits)
{
	enum arch arch = ARCH_UNKNOWN;
	int number = register_number(name, &arch);

	if (str_is(name, "RSP") || str_is(name, "sp") || str_is(name, "ESP")) {
		e->sp = e->has_sp ? e->sp : value;
		e->has_sp = true;
	} else if (str_is(name, "EFLAGS")) {
		e->flags = e->has_flags ? e->flags : value;
		e->has_flags = true;
	} else if (str_is(name, "ip") && e->arch == ARCH_ARM) {
		number = 12;
	} else if (str_is(name, "fp") && e->arch == ARCH_ARM) {
		number = 11;
	}
	if (number < 0 || (digits != 16 && digits != 8))
		return;
	if (arch != ARCH_UNKNOWN && e->arch == ARCH_UNKNOWN)
		e->arch = arch;
	if (e->regs.known >> number & 1)
		return;
	e->regs.known |= 1u << number;
	e->regs.value[number] = value;
}

/*
 * Parses a line of registers: "RAX: … RBX: …", "x29: … x28: …", "r10: … r9 : …", "RSP: 0018:…
 * EFLAGS: …". Returns whether the line has registers.
 */
bool registers_take(struct reading *r, struct str text)
{
	struct incident *e = r->e;
	int pairs = 0;

	for (size_t at = 0; at < text.n;) {
		size_t start, end, digits;
		uint64_t value;

		while (at < text.n && !is_letter(text.s[at]))
			at++;
		start = at;
		while (is_letter(str_at(text, at)) || is_digit(str_at(text, at)))
			at++;
		end = at;
		if (end == start)
			break;
		while (is_blank(str_at(text, at)))
			at++;
		if (str_at(text, at) != ':') {
			if (pairs == 0 && end - start > 6)
				return false;
			continue;
		}
		at++;
		while (is_blank(str_at(text, at)))
			at++;
		digits = str_hex(str_from(text, at), &value);
		if (!digits)
			continue;
		/* a segment selector precedes the value */
		if (digits == 4 && str_at(text, at + 4) == ':') {
			at += 5;
			digits = str_hex(str_from(text, at), &value);
		}
		if (digits >= 4 && end - start <= 8) {
			pairs++;
			if (!r->regs_shut)
				register_set(e, str_first(str_from(text, start), end - start),
					     value, digits);
		}
		at += digits;
	}
	return pairs >= 2;
}

static void code_byte(struct incident *e, uint64_t value, int bytes)
{
	/*
	 * arm and ppc print code in words; bytes of a word are stored in memory order, low byte
	 * first.
	 */
	for (int i = 0; i < bytes && e->code_bytes < CODE_MAX; i++)
		e->code[e->code_bytes++] = value >> (8 * i);
}

/* Parses the bytes around the instruction pointer: "Code: 48 89 <8b> 87 …", "Code: … (b9004001)" */
bool code_take(struct incident *e, struct str text)
{
	struct str s = str_trim(text);

	if (!str_starts(s, "Code:"))
		return false;
	if (e->code_seen)
		return true;
	e->code_seen = true;
	s = str_from(s, 5);
	while (s.n) {
		struct str word = str_word(&s);
		bool marked = str_at(word, 0) == '<' || str_at(word, 0) == '(';
		uint64_t value;
		size_t n;

		if (!word.n)
			break;
		if (marked)
			word = str_from(word, 1);
		n = str_hex(word, &value);
		if (n != 2 && n != 8 && n != 4)
			break;
		if (marked) {
			e->code_at = e->code_bytes;
			e->has_code_at = true;
		}
		code_byte(e, value, n / 2);
	}
	return true;
}
