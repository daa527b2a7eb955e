/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the few DWARF expressions that compilers and linkers write into call frame information.
 * faultscope recognises these expressions and does not evaluate them.
 */
#ifndef FS_UNWIND_CFI_EXPRESSION_H
#define FS_UNWIND_CFI_EXPRESSION_H

#include "unwind/cfi_bytes.h"

enum cfi_form {
	CFI_FORM_REGISTER, /* register + offset */
	CFI_FORM_DEREF,	   /* *(register + offset) + added */
	CFI_FORM_PLT,	   /* register + offset, and 8 more from byte `added` of each 16 bytes on */
};

struct cfi_expression {
	enum cfi_form form;
	unsigned int number; /* DWARF number of the register */
	__s64 offset;
	__s64 added;
};

/* Recognises an expression. Returns false if it has none of these forms. */
bool cfi_expression_read(struct cfi_bytes b, struct cfi_expression *ret);

#endif
