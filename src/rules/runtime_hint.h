/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: options of language runtimes, with which stacks contain all frames and the names of
 * functions.
 */
#ifndef FS_RULES_RUNTIME_HINT_H
#define FS_RULES_RUNTIME_HINT_H

#include "rules/rules.h"

/* Returns the name of the program's file, else its comm. The string belongs to `s`. */
const char *program_name(const struct subject *s);

/* Returns true if the program is the Python interpreter. */
bool runs_python(const struct subject *s);

/* Adds a remedy if the program is a known runtime. `s` is NULL if the process is gone. */
void runtime_hint(struct finding *f, const struct subject *s);

#endif
