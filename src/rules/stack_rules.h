/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: stack overflows. The main thread's stack ends at RLIMIT_STACK. Below the stack of any
 * other thread there is a guard, an area without access rights. A runtime may handle the SIGSEGV of
 * an access to the guard: a JVM throws an exception, and Rust prints a message and aborts.
 */
#ifndef FS_RULES_STACK_RULES_H
#define FS_RULES_STACK_RULES_H

#include "rules/rules.h"

/* Stores an access to a stack guard, because the signal handler may call abort() later. */
void stack_fault_take(struct findings *fs, const struct signal_record *r, const struct verdict *v);

#endif
