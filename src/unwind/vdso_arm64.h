/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: makes rows for arm64's vDSO, whose call frame information is missing or wrong. The
 * symbols of the vDSO give its functions; the instructions show which functions make a frame
 * record.
 */
#ifndef FS_UNWIND_VDSO_ARM64_H
#define FS_UNWIND_VDSO_ARM64_H

#include "collect/symbols/elf_headers.h"
#include "unwind/row_table.h"
#include "unwind/rule_set.h"

/*
 * Returns whether a file is the arm64 vDSO: it exports the code with which signal handlers return.
 */
bool vdso_arm64_is(const struct byte_source *file, const struct elf_headers *h);

/* Adds the rows of the vDSO. Returns 0 or the error of row_table_add(). */
int vdso_arm64_add(const struct byte_source *file, const struct elf_headers *h,
		   struct rule_set *rules, struct row_table *t);

#endif
