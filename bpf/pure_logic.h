/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lets unit tests compile BPF headers whose logic needs no kernel access. Unit tests cover races
 * that cannot be provoked in a kernel.
 */
#ifndef FS_PURE_LOGIC_H
#define FS_PURE_LOGIC_H

#ifdef __bpf__
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/*
 * Adds atomically, without a return value. clang 21 compiles __sync_fetch_and_add() to an
 * instruction that returns the old value even if unused, which kernels before 5.12 reject. A
 * relaxed addition uses the older instruction; the barriers keep the compiler from reordering the
 * addition.
 */
#define atomic_add(at, n)                                                                          \
	do {                                                                                       \
		barrier();                                                                         \
		__atomic_fetch_add(at, n, __ATOMIC_RELAXED);                                       \
		barrier();                                                                         \
	} while (0)
#else
#include <linux/types.h>
#include <stdbool.h>
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define atomic_add(at, n) ((void)__sync_fetch_and_add(at, n))
#endif

#endif
