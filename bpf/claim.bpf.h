/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Per-CPU memory that several programs use. A program can be in the middle of it when another one
 * begins on the same CPU: an interrupt's, one whose tracepoint the first one fires, or another
 * task's, since the kernel switches tasks within tracepoint programs from 7.0 on ("tracing: Guard
 * __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast"). So each user claims a part of it,
 * and no other program touches that part until unclaim(). A program never moves to another CPU
 * (migrate_disable()).
 */
#ifndef FS_CLAIM_BPF_H
#define FS_CLAIM_BPF_H

#include "compat.bpf.h"
#include "claim.h"

/*
 * Defines claim_MAP(), which returns the number of a part that nobody used, or -1 where all are in
 * use. MAP is a per-CPU array of TYPE, whose member `users` is for this alone. `any` has no
 * meaning: clang folds a global function without arguments into its callers.
 */
#define define_claim(map, type, parts)                                                             \
	__noinline int claim_##map(__u32 any)                                                      \
	{                                                                                          \
		barrier_var(any);                                                                  \
		for (__u32 i = 0; i < (parts); i++) {                                              \
			__u32 at = i;                                                              \
			type *part = bpf_map_lookup_elem(&(map), &at);                             \
                                                                                                   \
			if (part && claim(&part->users))                                           \
				return at;                                                         \
		}                                                                                  \
		return -1;                                                                         \
	}

#endif
