// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/cfi_expression.h"

#include <string.h>

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

/*
 * Reads an operand of an addition: a constant and DW_OP_plus, or DW_OP_plus_uconst. Returns false
 * for other operations and for constants that are too large.
 */
static bool read_summand(struct cfi_bytes *b, __s64 *ret)
{
	__u8 op = cfi_unsigned(b, 1);

	switch (op) {
	case OP_PLUS_UCONST:
		*ret = cfi_uleb(b);
		return !b->bad;
	case OP_CONST1U:
	case OP_CONST2U:
	case OP_CONST4U:
		*ret = cfi_unsigned(b, 1u << (op - OP_CONST1U) / 2);
		break;
	case OP_CONST1S:
	case OP_CONST2S:
	case OP_CONST4S:
		*ret = cfi_signed(b, 1u << (op - OP_CONST1S) / 2);
		break;
	case OP_CONSTU:
		*ret = cfi_uleb(b);
		break;
	case OP_CONSTS:
		*ret = cfi_sleb(b);
		break;
	default:
		if (op < OP_LIT0 || op > OP_LIT31)
			return false;
		*ret = op - OP_LIT0;
	}
	return cfi_unsigned(b, 1) == OP_PLUS && !b->bad;
}

/*
 * Recognises the expression of PLT entries, which push a second word in the middle of the entry.
 * All linkers describe them as ((rip & 15) >= N) << 3 + rsp + 8.
 */
static bool read_plt(struct cfi_bytes b, struct cfi_expression *ret)
{
	static const __u8 tail[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
	static const __u8 head[] = {OP_BREG0 + 16, 0, OP_LIT0 + 15, OP_AND};

	if (b.end - b.at != sizeof(head) + 1 + sizeof(tail) || memcmp(b.at, head, sizeof(head)) ||
	    memcmp(b.at + sizeof(head) + 1, tail, sizeof(tail)) || b.at[sizeof(head)] < OP_LIT0 ||
	    b.at[sizeof(head)] > OP_LIT0 + 15)
		return false;
	ret->form = CFI_FORM_PLT;
	ret->added = b.at[sizeof(head)] - OP_LIT0;
	return true;
}

bool cfi_expression_read(struct cfi_bytes b, struct cfi_expression *ret)
{
	__u8 op = cfi_unsigned(&b, 1);
	__s64 n;

	memset(ret, 0, sizeof(*ret));
	if (op < OP_BREG0 || op > OP_BREG31)
		return false;
	ret->number = op - OP_BREG0;
	ret->offset = cfi_sleb(&b);
	if (read_plt(b, ret))
		return true;
	while (!b.bad && b.at < b.end) {
		__s64 *sum = ret->form == CFI_FORM_DEREF ? &ret->added : &ret->offset;

		if (*b.at == OP_DEREF && ret->form == CFI_FORM_REGISTER) {
			b.at++;
			ret->form = CFI_FORM_DEREF;
		} else if (!read_summand(&b, &n) || __builtin_add_overflow(n, *sum, sum)) {
			return false;
		}
	}
	return !b.bad;
}
