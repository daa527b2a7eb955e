/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: what to switch on in a runtime so that its stacks are whole and its functions have names.
 */
#ifndef FS_RULES_RUNTIME_HINT_H
#define FS_RULES_RUNTIME_HINT_H

#include "rules/rules.h"

/* The program's name: of its file, else as the kernel has it (comm). Of the subject. */
const char *program_name(const struct subject *s);

/* Adds a remedy where the program is a runtime that is known; NULL: the process is gone. */
void runtime_hint(struct finding *f, const struct subject *s);

#endif
