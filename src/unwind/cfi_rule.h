/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: converts a state of call frame information into a rule of the unwind table. */
#ifndef FS_UNWIND_CFI_RULE_H
#define FS_UNWIND_CFI_RULE_H

#include "unwind/cfi_state.h"
#include "wire_unwind.h"

/* Returns the rule for a state; FS_UNWIND_CFA_OPAQUE if no rule can express it. */
struct fs_unwind_rule cfi_rule(enum cfi_machine machine, const struct cfi_cie *cie,
			       const struct cfi_state *s);

#endif
