// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/insn.h"

#define NONE	 ACCESS_NONE
#define R	 ACCESS_READ
#define W	 ACCESS_WRITE
#define NO_MODRM (-1)

struct cursor {
	const uint8_t *p;
	size_t n, at;
	bool wide, half, is_64; /* wide: prefix REX.W; half: prefix 66; is_64: 64-bit code */
	uint8_t rex, rep;	/* rep: prefix f2 or f3; 0: none */
};

static int take(struct cursor *c)
{
	return c->at < c->n ? c->p[c->at++] : -1;
}

static int64_t take_signed(struct cursor *c, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++) {
		int b = take(c);

		if (b < 0)
			return 0;
		v |= (uint64_t)b << (8 * i);
	}
	return bytes == 1 ? (int8_t)v : (int32_t)v;
}

/* Decodes ModRM, SIB and displacement. Returns false if the operand is a register, or truncated. */
static bool take_operand(struct cursor *c, int modrm, struct insn *in)
{
	int mod = modrm >> 6, rm = modrm & 7;

	if (mod == 3)
		return false;
	in->base = rm | (c->rex & 1) << 3;
	if (rm == 4) {
		int sib = take(c);

		if (sib < 0)
			return false;
		in->base = (sib & 7) | (c->rex & 1) << 3;
		in->index = (sib >> 3 & 7) | (c->rex & 2) << 2;
		if (in->index == 4)
			in->index = -1;
		in->scale = 1 << (sib >> 6);
		if ((sib & 7) == 5 && mod == 0) {
			in->base = -1;
			in->offset = take_signed(c, 4);
		}
	} else if (rm == 5 && mod == 0) {
		in->base = -1;
		in->ip_relative = c->is_64;
		in->offset = take_signed(c, 4);
	}
	if (mod == 1)
		in->offset = take_signed(c, 1);
	else if (mod == 2)
		in->offset = take_signed(c, 4);
	in->memory = true;
	return true;
}

/* Returns the access of an opcode group: the register field of ModRM selects the operation. */
static enum access group_access(int opcode, int reg)
{
	switch (opcode) {
	case 0x80 ... 0x83:
		return reg == 7 ? R : W;
	case 0xf6:
	case 0xf7:
		return reg == 2 || reg == 3 ? W : R;
	case 0xfe:
	case 0xff:
		return reg < 2 ? W : R;
	case 0xd8 ... 0xdf: /* of the x87 instructions, fst, fstp, fnstcw, fist and others write */
		return (opcode & 1) && reg >= 2 && reg != 4 && reg != 5 ? W : R;
	}
	return R;
}

/* A range of opcodes that access their memory operand in the same way. */
struct opcodes {
	uint8_t first, last;
	int access;
};

/* Returns the access that `rows` state for the opcode `op`; `other` if no row contains it. */
static int access_by(const struct opcodes *rows, size_t n, int op, int other)
{
	for (size_t i = 0; i < n; i++)
		if (op >= rows[i].first && op <= rows[i].last)
			return rows[i].access;
	return other;
}

/* Returns the access of a one-byte opcode; NO_MODRM if the opcode has no ModRM byte. */
static int one_byte_access(int op, int reg)
{
	static const struct opcodes rows[] = {
#define ONE_BYTE(first, last, access) {first, last, access},
#include "triage/x86_opcodes.def"
	};

	if (op < 0x40) {
		if ((op & 7) > 3)
			return NO_MODRM;
		if ((op & 7) > 1 || (op & 0x38) == 0x38)
			return R;
		return W;
	}
	switch (op) {
	case 0x80 ... 0x83:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
	case 0xd8 ... 0xdf:
		return group_access(op, reg);
	}
	return access_by(rows, sizeof(rows) / sizeof(rows[0]), op, NO_MODRM);
}

static int two_byte_access(int op, int reg)
{
	static const struct opcodes rows[] = {
#define TWO_BYTES(first, last, access) {first, last, access},
#include "triage/x86_opcodes.def"
	};

	if (op == 0xba)
		return reg == 4 ? R : W;
	if (op == 0xae)
		return reg == 0 || reg == 3 || reg == 4 || reg == 6 ? W : R;
	return access_by(rows, sizeof(rows) / sizeof(rows[0]), op, R);
}

static uint8_t operand_size(const struct cursor *c, bool byte)
{
	return byte ? 1 : c->wide ? 8 : c->half ? 2 : 4;
}

/* Decodes instructions without ModRM operand: string operations, push, pop, call, ret, leave. */
static bool implied(struct cursor *c, int op, struct insn *in)
{
	in->size = operand_size(c, !(op & 1));
	in->memory = true;
	switch (op) {
	case 0xa4:
	case 0xa5:
		in->copies = true;
		in->base = 6;
		in->access = R;
		return true;
	case 0xa6:
	case 0xa7:
	case 0xac:
	case 0xad:
		in->base = 6;
		in->access = R;
		return true;
	case 0xaa:
	case 0xab:
		in->base = 7;
		in->access = W;
		return true;
	case 0xae:
	case 0xaf:
		in->base = 7;
		in->access = R;
		return true;
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0xe8:
		in->base = 4;
		in->offset = c->is_64 ? -8 : -4;
		in->size = c->is_64 ? 8 : 4;
		in->access = W;
		return true;
	case 0x58 ... 0x5f:
	case 0xc2:
	case 0xc3:
	case 0xc9:
		in->base = op == 0xc9 ? 5 : 4;
		in->size = c->is_64 ? 8 : 4;
		in->access = R;
		return true;
	}
	in->memory = false;
	in->size = 0;
	return false;
}

static bool two_bytes(struct cursor *c, struct insn *in)
{
	int op = take(c), modrm, access;

	if (op < 0)
		return false;
	if (op == 0x0b || op == 0xb9 || op == 0xff) {
		in->traps = true;
		return true;
	}
	if (op == 0x38 || op == 0x3a) {
		int third = take(c);

		modrm = take(c);
		if (modrm < 0)
			return false;
		/* movbe to memory; with the prefix f2, crc32 from memory */
		in->access = op == 0x38 && third == 0xf1 && c->rep != 0xf2 ? W : R;
		in->size = operand_size(c, false);
		return take_operand(c, modrm, in);
	}
	modrm = take(c);
	if (modrm < 0)
		return false;
	access = two_byte_access(op, modrm >> 3 & 7);
	if (access < 0)
		return false;
	in->access = access;
	in->size = operand_size(c, op == 0xb6 || op == 0xbe || op == 0xb0 || op == 0xc0 ||
					   (op >= 0x90 && op <= 0x9f));
	if (op == 0xb7 || op == 0xbf)
		in->size = 2;
	if (op == 0x7e && c->rep == 0xf3) { /* movq from memory */
		in->access = R;
		in->size = 8;
	}
	if ((op >= 0x10 && op <= 0x17) || op == 0x28 || op == 0x29 || op == 0x6f || op == 0x7f ||
	    op == 0xe7)
		in->size = 16;
	if (!take_operand(c, modrm, in)) {
		in->access = NONE;
		in->size = 0;
	}
	return true;
}

static bool one_byte(struct cursor *c, int op, struct insn *in)
{
	int modrm, access, reg;

	if (op == 0xcc) {
		in->traps = true;
		return true;
	}
	if (implied(c, op, in))
		return true;
	modrm = c->at < c->n ? c->p[c->at] : 0;
	reg = modrm >> 3 & 7;
	access = one_byte_access(op, reg);
	if (access < 0)
		return false;
	if (take(c) < 0)
		return false;
	in->access = access;
	in->size = operand_size(c, !(op & 1) && op != 0x8c && op != 0x8e && op != 0x62);
	if (op == 0x63)
		in->size = 4;
	in->calls = op == 0xff && reg >= 2 && reg <= 5;
	if (in->calls && c->is_64)
		in->size = 8;
	if (!take_operand(c, modrm, in)) {
		if (in->calls)
			in->target = (modrm & 7) | (c->rex & 1) << 3;
		in->access = NONE;
		in->size = 0;
	}
	if (op == 0x8d)
		in->memory = false;
	return true;
}

bool x86_decode(const uint8_t *code, size_t n, bool is_64, struct insn *ret)
{
	struct cursor c = {.p = code, .n = n, .is_64 = is_64};
	struct insn in = {.base = -1, .index = -1, .target = -1, .scale = 1};
	int op;
	bool known;

	for (;;) {
		op = take(&c);
		if (op == 0x66)
			c.half = true;
		else if (op != 0xf0 && op != 0xf2 && op != 0xf3 && op != 0x26 && op != 0x2e &&
			 op != 0x36 && op != 0x3e && op != 0x64 && op != 0x65 && op != 0x67)
			break;
		if (op == 0xf2 || op == 0xf3)
			c.rep = op;
		/* The address is not known, because the bases of %gs and %fs are not. */
		in.ip_relative |= op == 0x64 || op == 0x65;
		if (c.at > 14)
			return false;
	}
	if (op < 0)
		return false;
	if (is_64 && (op & 0xf0) == 0x40) {
		c.rex = op;
		c.wide = op & 8;
		op = take(&c);
		if (op < 0)
			return false;
	}
	known = op == 0x0f ? two_bytes(&c, &in) : one_byte(&c, op, &in);
	if (known)
		*ret = in;
	return known;
}

#undef NONE
#undef R
#undef W
