// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/cfi_state.h"

#include <errno.h>
#include <limits.h>

/* Call frame instructions: DWARF 5, section 7.24, and the extensions of GNU and arm64. */
enum cfi_op {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_NEGATE_RA_STATE = 0x2d, /* arm64: toggles whether the return address is signed */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* the low six bits are the operand */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

int cfi_followed_number(enum cfi_machine machine, enum cfi_followed which)
{
	static const signed char number[][NR_CFI_FOLLOWED] = {
		[CFI_X86_64] = {[CFI_SP] = 7, [CFI_FP] = 6, [CFI_RA] = 16, [CFI_SAVED] = 3},
		[CFI_ARM64] = {[CFI_SP] = 31, [CFI_FP] = 29, [CFI_RA] = 30, [CFI_SAVED] = -1},
	};

	return number[machine][which];
}

static struct cfi_register *find_register(const struct cfi_run *run, struct cfi_state *s,
					  __u64 number)
{
	for (int i = 0; i < NR_CFI_FOLLOWED; i++)
		if (number <= SCHAR_MAX && cfi_followed_number(run->machine, i) == (int)number)
			return &s->followed[i];
	return NULL;
}

static void set_register(const struct cfi_run *run, struct cfi_state *s, __u64 number,
			 struct cfi_register to)
{
	struct cfi_register *r = find_register(run, s, number);

	if (r)
		*r = to;
}

static void restore_register(const struct cfi_run *run, struct cfi_state *s,
			     const struct cfi_state *initial, __u64 number)
{
	struct cfi_register *r = find_register(run, s, number);

	if (r)
		*r = initial ? initial->followed[r - s->followed] : (struct cfi_register){};
}

/* Multiplies with wrap-around, because hostile numbers may overflow. */
static __s64 times(__s64 a, __s64 b)
{
	return (__u64)a * (__u64)b;
}

static struct cfi_register at_cfa(const struct cfi_run *run, __s64 factored)
{
	return (struct cfi_register){CFI_AT_CFA, times(factored, run->cie->data_align), {}};
}

static void define_cfa(struct cfi_state *s, __u64 number, __s64 offset)
{
	s->cfa_is_expression = false;
	s->cfa_register = number;
	s->cfa_offset = offset;
}

static int set_remembered(struct cfi_run *run, struct cfi_state *s, bool remember)
{
	if (remember) {
		if (run->depth == CFI_REMEMBERED_MAX)
			return -EOPNOTSUPP;
		run->remembered[run->depth++] = *s;
		return 0;
	}
	if (!run->depth)
		return -EBADMSG;
	*s = run->remembered[--run->depth];
	return 0;
}

/* Runs an instruction that defines the CFA. Returns false for other instructions. */
static bool run_cfa(const struct cfi_run *run, __u8 op, struct cfi_bytes *b, struct cfi_state *s)
{
	__u64 number;

	switch (op) {
	case CFA_DEF_CFA:
		number = cfi_uleb(b);
		define_cfa(s, number, cfi_uleb(b));
		return true;
	case CFA_DEF_CFA_SF:
		number = cfi_uleb(b);
		define_cfa(s, number, times(cfi_sleb(b), run->cie->data_align));
		return true;
	case CFA_DEF_CFA_REGISTER:
		define_cfa(s, cfi_uleb(b), s->cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		define_cfa(s, s->cfa_register, cfi_uleb(b));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		define_cfa(s, s->cfa_register, times(cfi_sleb(b), run->cie->data_align));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		s->cfa_is_expression = true;
		s->cfa_expression = cfi_block(b, cfi_uleb(b));
		return true;
	}
	return false;
}

/*
 * Runs an instruction about one register. Returns 0, or -EOPNOTSUPP if the instruction is not
 * known.
 */
static int run_register(struct cfi_run *run, __u8 op, struct cfi_bytes *b,
			const struct cfi_state *initial, struct cfi_state *s)
{
	__u64 number;

	switch (op) {
	case CFA_NEGATE_RA_STATE:
		return 0;
	case CFA_GNU_ARGS_SIZE:
		cfi_uleb(b);
		return 0;
	}
	number = cfi_uleb(b);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_register(run, s, number, at_cfa(run, cfi_uleb(b)));
		return 0;
	case CFA_OFFSET_EXTENDED_SF:
		set_register(run, s, number, at_cfa(run, cfi_sleb(b)));
		return 0;
	case CFA_GNU_NEGATIVE_OFFSET:
		set_register(run, s, number, at_cfa(run, times(cfi_uleb(b), -1)));
		return 0;
	case CFA_RESTORE_EXTENDED:
		restore_register(run, s, initial, number);
		return 0;
	case CFA_UNDEFINED:
		set_register(run, s, number, (struct cfi_register){.place = CFI_UNDEFINED});
		return 0;
	case CFA_SAME_VALUE:
		set_register(run, s, number, (struct cfi_register){.place = CFI_SAME});
		return 0;
	case CFA_REGISTER:
		set_register(run, s, number, (struct cfi_register){CFI_REGISTER, cfi_uleb(b), {}});
		return 0;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF: {
		__s64 n = op == CFA_VAL_OFFSET ? (__s64)cfi_uleb(b) : cfi_sleb(b);

		set_register(run, s, number,
			     (struct cfi_register){CFI_IS_CFA, times(n, run->cie->data_align), {}});
		return 0;
	}
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		set_register(
			run, s, number,
			(struct cfi_register){op == CFA_EXPRESSION ? CFI_EXPRESSION : CFI_VALUE, 0,
					      cfi_block(b, cfi_uleb(b))});
		return 0;
	}
	return -EOPNOTSUPP;
}

/* Returns how far an instruction advances the address; 0: it does not advance the address. */
static __u64 advance_of(const struct cfi_run *run, __u8 op, struct cfi_bytes *b)
{
	if ((op & 0xc0) == CFA_ADVANCE_LOC)
		return (op & 0x3f) * run->cie->code_align;
	if (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4)
		return cfi_unsigned(b, 1u << (op - CFA_ADVANCE_LOC1)) * run->cie->code_align;
	return 0;
}

static int run_one(struct cfi_run *run, __u8 op, struct cfi_bytes *b,
		   const struct cfi_state *initial, struct cfi_state *s)
{
	if ((op & 0xc0) == CFA_OFFSET) {
		set_register(run, s, op & 0x3f, at_cfa(run, cfi_uleb(b)));
		return 0;
	}
	if ((op & 0xc0) == CFA_RESTORE) {
		restore_register(run, s, initial, op & 0x3f);
		return 0;
	}
	if (op == CFA_NOP || (op & 0xc0) == CFA_ADVANCE_LOC ||
	    (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4))
		return 0;
	if (op == CFA_REMEMBER_STATE || op == CFA_RESTORE_STATE)
		return set_remembered(run, s, op == CFA_REMEMBER_STATE);
	if (op == CFA_SET_LOC)
		return -EOPNOTSUPP;
	return run_cfa(run, op, b, s) ? 0 : run_register(run, op, b, initial, s);
}

void cfi_begin(struct cfi_run *run, const struct cfi_cie *cie, struct cfi_bytes program,
	       const struct cfi_state *initial, __u64 address, __u64 end)
{
	run->cie = cie;
	run->program = program;
	run->initial = initial;
	run->s = initial ? *initial : (struct cfi_state){};
	run->address = address;
	run->end = end;
	run->depth = 0;
}

int cfi_go_on(struct cfi_run *run, __u64 *left, cfi_row_fn *row, void *ctx)
{
	struct cfi_bytes *program = &run->program;
	int err = 0;

	while (!err && program->at < program->end) {
		__u64 advance;
		__u8 op;

		if (!*left)
			return -EAGAIN;
		--*left;
		op = *program->at++;
		advance = advance_of(run, op, program);
		if (advance && row && !program->bad) {
			row(ctx, run->address, &run->s);
			/* instructions for addresses after the end of the function are ignored */
			if (advance >= run->end - run->address)
				return 0;
			run->address += advance;
		}
		err = run->work ? run_one(run, op, program, run->initial, &run->s) : -E2BIG;
		if (!err && program->bad)
			err = -EBADMSG;
		run->work -= !!run->work;
	}
	if (row)
		row(ctx, run->address, err ? NULL : &run->s);
	return err;
}
