// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/cfi_rule.h"

#include "unwind/cfi_expression.h"

#define WORD	      8
#define X86_REGISTERS 16

static bool fits_16(__s64 n)
{
	return n == (__s16)n;
}

static bool set_cfa(struct fs_unwind_rule *r, __u8 cfa, __s64 offset)
{
	r->cfa = cfa;
	r->cfa_off = offset;
	return offset == (__s32)offset;
}

static bool set_cfa_pair(struct fs_unwind_rule *r, __u8 cfa, __s64 low, __s64 high)
{
	r->cfa = cfa;
	r->cfa_off = (__u32)high << 16 | (__u16)low;
	return fits_16(low) && fits_16(high);
}

static bool set_cfa_register(enum cfi_machine machine, __u64 number, __s64 offset,
			     struct fs_unwind_rule *r)
{
	if (number == (__u64)cfi_followed_number(machine, CFI_SP))
		return set_cfa(r, FS_UNWIND_CFA_SP, offset);
	if (number == (__u64)cfi_followed_number(machine, CFI_FP))
		return set_cfa(r, FS_UNWIND_CFA_FP, offset);
	if (number == (__u64)cfi_followed_number(machine, CFI_SAVED))
		return set_cfa(r, FS_UNWIND_CFA_SAVED, offset);
	return number < (machine == CFI_X86_64 ? X86_REGISTERS : 31) &&
	       set_cfa(r, FS_UNWIND_CFA_REGISTER + number, offset);
}

static bool set_cfa_expression(enum cfi_machine machine, struct cfi_bytes expression,
			       struct fs_unwind_rule *r)
{
	struct cfi_expression e;
	bool sp, fp;

	if (!cfi_expression_read(expression, &e))
		return false;
	sp = (int)e.number == cfi_followed_number(machine, CFI_SP);
	fp = (int)e.number == cfi_followed_number(machine, CFI_FP);
	if (e.form == CFI_FORM_REGISTER)
		return set_cfa_register(machine, e.number, e.offset, r);
	if (e.form == CFI_FORM_PLT)
		return sp && machine == CFI_X86_64 &&
		       set_cfa_pair(r, FS_UNWIND_CFA_PLT, e.offset, e.added);
	return (sp || fp) && set_cfa_pair(r, sp ? FS_UNWIND_CFA_SP_DEREF : FS_UNWIND_CFA_FP_DEREF,
					  e.offset, e.added);
}

static bool is_same(const struct cfi_register *r)
{
	return r->place == CFI_UNSPECIFIED || r->place == CFI_SAME;
}

static void set_fp(enum cfi_machine machine, const struct cfi_register *fp,
		   struct fs_unwind_rule *r)
{
	struct cfi_expression e;

	r->fp = FS_UNWIND_FP_LOST;
	r->fp_off = 0;
	if (is_same(fp)) {
		r->fp = FS_UNWIND_FP_SAME;
	} else if (fp->place == CFI_AT_CFA && fits_16(fp->offset)) {
		r->fp = FS_UNWIND_FP_AT_CFA;
		r->fp_off = fp->offset;
	} else if (fp->place == CFI_EXPRESSION && cfi_expression_read(fp->expression, &e) &&
		   e.form == CFI_FORM_REGISTER &&
		   (int)e.number == cfi_followed_number(machine, CFI_FP) && fits_16(e.offset)) {
		r->fp = FS_UNWIND_FP_AT_FP;
		r->fp_off = e.offset;
	}
}

/*
 * Fills in an x86-64 rule for a function that keeps its return address in a register. Returns false
 * if the rule cannot express the frame.
 */
static bool set_ra_register(const struct cfi_state *s, struct fs_unwind_rule *r)
{
	__s64 number = s->followed[CFI_RA].offset;

	if (r->cfa != FS_UNWIND_CFA_SP || r->cfa_off < 0 || number < 0 || number >= X86_REGISTERS ||
	    !is_same(&s->followed[CFI_FP]) || !is_same(&s->followed[CFI_SAVED]))
		return false;
	r->cfa = FS_UNWIND_CFA_RA_REGISTER;
	r->fp_off = number;
	return true;
}

/*
 * Fills in an x86-64 rule. The return address is always in the word below the CFA; rbx may be saved
 * further below.
 */
static bool set_x86(const struct cfi_state *s, struct fs_unwind_rule *r)
{
	const struct cfi_register *ra = &s->followed[CFI_RA], *saved = &s->followed[CFI_SAVED];
	__u8 place = FS_UNWIND_SAVED_LOST;

	if (ra->place == CFI_REGISTER)
		return set_ra_register(s, r);
	if (ra->place != CFI_AT_CFA || ra->offset != -WORD)
		return false;
	if (is_same(saved))
		place = 0;
	else if (saved->place == CFI_AT_CFA && !(saved->offset % WORD) && saved->offset < 0 &&
		 saved->offset >= -WORD * FS_UNWIND_SAVED_MAX)
		place = -saved->offset / WORD;
	r->fp |= place << 3;
	return true;
}

static bool set_arm64(const struct cfi_state *s, struct fs_unwind_rule *r)
{
	const struct cfi_register *ra = &s->followed[CFI_RA];
	__u8 fp = r->fp & FS_UNWIND_FP_MASK, place;

	if (is_same(ra)) {
		place = FS_UNWIND_RA_IN_LR;
	} else if (ra->place != CFI_AT_CFA) {
		return false;
	} else if (fp == FS_UNWIND_FP_AT_CFA && ra->offset == (__s64)r->fp_off + WORD) {
		place = FS_UNWIND_RA_WITH_FP;
	} else if (fp == FS_UNWIND_FP_SAME && fits_16(ra->offset)) {
		place = FS_UNWIND_RA_AT_FP_OFF;
		r->fp_off = ra->offset;
	} else {
		__s64 words = -(ra->offset / WORD);

		if (ra->offset % WORD || words < 1 ||
		    words > FS_UNWIND_RA_AT_CFA_LAST - FS_UNWIND_RA_AT_CFA + 1)
			return false;
		place = FS_UNWIND_RA_AT_CFA + words - 1;
	}
	r->fp |= place << 3;
	return true;
}

static bool sp_is_cfa(const struct cfi_register *sp)
{
	return is_same(sp) || (sp->place == CFI_IS_CFA && !sp->offset);
}

struct fs_unwind_rule cfi_rule(enum cfi_machine machine, const struct cfi_cie *cie,
			       const struct cfi_state *s)
{
	const struct fs_unwind_rule opaque = {.cfa = FS_UNWIND_CFA_OPAQUE};
	struct fs_unwind_rule r = {};
	bool good;

	if (cie->signal)
		return (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_SIGNAL};
	if (cie->ra_column != (__u64)cfi_followed_number(machine, CFI_RA))
		return opaque;
	if (s->followed[CFI_RA].place == CFI_UNDEFINED)
		return (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_END};
	good = s->cfa_is_expression ? set_cfa_expression(machine, s->cfa_expression, &r)
				    : set_cfa_register(machine, s->cfa_register, s->cfa_offset, &r);
	if (!good || !sp_is_cfa(&s->followed[CFI_SP]))
		return opaque;
	set_fp(machine, &s->followed[CFI_FP], &r);
	return (machine == CFI_X86_64 ? set_x86 : set_arm64)(s, &r) ? r : opaque;
}
