// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * triage: whether the faulting instruction used an argument of its function. A report has only some
 * bytes of code before the instruction, and none tells where an instruction begins. So each byte is
 * tried: a register that any of them may have changed holds no argument. This errs on the safe
 * side.
 */
#include "triage/insn.h"

/* Up to this offset, a function has saved registers, but not computed new pointers. */
#define ENTRY_BYTES 0x28
/* Up to this offset, a register that was not changed just before may still hold an argument. */
#define ARGUMENT_BYTES 0x100
#define NO_SOURCE      (-1)

/* What may have happened to a register. */
enum change { KEPT, COPIED, CHANGED };

static bool is_argument(enum arch arch, int number)
{
	static const int8_t x86[] = {7, 6, 2, 1, 8, 9};

	if (arch == ARCH_ARM64)
		return number >= 0 && number < 8;
	for (size_t i = 0; arch == ARCH_X86_64 && i < sizeof(x86); i++)
		if (x86[i] == number)
			return true;
	return false;
}

static bool is_one_of(const char *opcodes, uint8_t op)
{
	return op && strchr(opcodes, (char)op);
}

/*
 * Returns how an x86 instruction whose opcode is p[0] may change a register. `rex` is the byte
 * before the opcode, or 0; there are `n` bytes. Stores in `source` which register it copies.
 */
static enum change x86_change(const uint8_t *p, size_t n, uint8_t rex, int number, int *source)
{
	/* opcodes that write the register in the field reg of ModRM, and in the field r/m */
	static const char to_reg[] = "\x03\x0b\x13\x1b\x23\x2b\x33\x63\x69\x6b\x87\x8b\x8d";
	static const char to_rm[] = "\x01\x09\x11\x19\x21\x29\x31\x81\x83\x87\x89\xc1\xc7\xd1\xd3"
				    "\xf7\xff";
	static const char two_bytes[] = "\xaf\xb6\xb7\xb8\xbc\xbd\xbe\xbf";
	uint8_t op = p[0], modrm = n > 1 ? p[1] : 0;
	int reg = (modrm >> 3 & 7) | (rex & 4) << 1, rm = (modrm & 7) | (rex & 1) << 3;
	bool is_call = (op == 0xe8 && n >= 5) || (op == 0xff && n > 1 && (modrm >> 3 & 7) == 2);

	if (is_call && is_argument(ARCH_X86_64, number))
		return CHANGED;
	if (((op & 0xf8) == 0x58 || (op & 0xf8) == 0xb8) && ((op & 7) | (rex & 1) << 3) == number)
		return CHANGED;
	/*
	 * A string operation moves rsi and rdi, and with the prefix rep also rcx. Before 0x0f, the
	 * prefix belongs to another instruction, such as endbr64.
	 */
	if ((op == 0xf2 || op == 0xf3) && (n < 2 || p[1] != 0x0f) &&
	    (number == 1 || number == 6 || number == 7))
		return CHANGED;
	if (n > 2 && op == 0x0f && (is_one_of(two_bytes, p[1]) || (p[1] & 0xf0) == 0x40) &&
	    ((p[2] >> 3 & 7) | (rex & 4) << 1) == number)
		return CHANGED;
	if (n < 2)
		return KEPT;
	if (modrm >> 6 == 3 && rm == number && is_one_of(to_rm, op)) {
		*source = op == 0x89 && rex >> 3 == 9 ? reg : NO_SOURCE;
		return *source == NO_SOURCE ? CHANGED : COPIED;
	}
	if (reg == number && is_one_of(to_reg, op)) {
		*source = op == 0x8b && rex >> 3 == 9 && modrm >> 6 == 3 ? rm : NO_SOURCE;
		return *source == NO_SOURCE ? CHANGED : COPIED;
	}
	return KEPT;
}

/* The same for an instruction of arm64, which always has four bytes. */
static enum change arm64_change(const uint8_t *p, int number, int *source)
{
	uint32_t w = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
	struct insn in = {};

	if ((w >> 26 == 0x25 || (w & 0xfffffc1f) == 0xd63f0000) && number < 19)
		return CHANGED; /* bl and blr */
	if (arm64_decode(w, &in) && in.access == ACCESS_WRITE)
		return KEPT;
	if (in.memory && (w >> 27 & 7) == 5 && (int)(w >> 10 & 31) == number)
		return CHANGED;
	if ((int)(w & 31) != number)
		return KEPT;
	*source = (w & 0xffe0ffe0) == 0xaa0003e0 ? (int)(w >> 16 & 31) : NO_SOURCE;
	return *source == NO_SOURCE ? CHANGED : COPIED;
}

/*
 * Returns what may have happened to a register between the bytes `from` and `to`. Stores in
 * `ret_source` the register that was copied last, and in `ret_at` where.
 */
static enum change change_of(const struct incident *e, int number, size_t from, size_t to,
			     int *ret_source, size_t *ret_at)
{
	size_t step = e->arch == ARCH_ARM64 ? 4 : 1;
	enum change last = KEPT;

	for (size_t i = from; i + step <= to; i += step) {
		const uint8_t *p = e->code + i;
		uint8_t rex = i > from && (p[-1] & 0xf0) == 0x40 ? p[-1] : 0;
		enum change now = e->arch == ARCH_ARM64
					  ? arm64_change(p, number, ret_source)
					  : x86_change(p, to - i, rex, number, ret_source);

		if (now == KEPT)
			continue;
		last = now;
		*ret_at = i;
	}
	return last;
}

bool holds_argument(const struct incident *e, int number, uint32_t offset)
{
	bool whole = e->has_code_at && offset <= e->code_at;
	size_t from = whole ? e->code_at - offset : 0, at = 0, unused;
	int source = NO_SOURCE;

	if (!e->has_code_at || !e->code_at || e->arch == ARCH_I386)
		return offset <= ENTRY_BYTES && is_argument(e->arch, number);
	if (e->arch != ARCH_ARM64 && e->arch != ARCH_X86_64)
		return false;
	switch (change_of(e, number, from, e->code_at, &source, &at)) {
	case KEPT:
		return offset <= ARGUMENT_BYTES && is_argument(e->arch, number);
	case COPIED:
		return whole && is_argument(e->arch, source) &&
		       change_of(e, source, from, at, &number, &unused) == KEPT;
	default:
		return false;
	}
}
