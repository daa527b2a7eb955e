/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: stack overflows. The main thread's stack ends at RLIMIT_STACK. The stack of another thread
 * has a guard below it, an area without access rights. A runtime may handle the SIGSEGV there and
 * go on (a JVM throws an exception), or print a message and abort (Rust, for example).
 */
#ifndef FS_RULES_STACK_RULES_H
#define FS_RULES_STACK_RULES_H

#include "rules/rules.h"

/* Remembers an access to a stack guard, for the abort that its signal handler may raise. */
void stack_fault_take(struct findings *fs, const struct signal_record *r, const struct verdict *v);

#endif
