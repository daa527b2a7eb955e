/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: stacks that overflowed. The main thread's cannot grow any further. Another thread's has a
 * guard below it, an area without any right. A runtime may handle the signal of an access there and
 * go on (a JVM throws an exception), or say so and abort (Rust, and others that end as it does).
 */
#ifndef FS_RULES_STACK_RULES_H
#define FS_RULES_STACK_RULES_H

#include "rules/rules.h"


/* Remembers an access to a guard that something handles, for the abort that may follow. */
void stack_fault_take(struct findings *fs, const struct signal_record *r, const struct verdict *v);

#endif
