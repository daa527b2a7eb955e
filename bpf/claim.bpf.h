/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Per-CPU memory that several programs share. A BPF program can be interrupted by another BPF
 * program on its CPU, which an interrupt or a tracepoint starts. From 7.0 on, another task can also
 * run in between, because the kernel switches tasks within tracepoint programs ("tracing: Guard
 * __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast"). Each program therefore claims an
 * element, which no other program uses until unclaim(). A program never moves to another CPU
 * (migrate_disable()).
 */
#ifndef FS_CLAIM_BPF_H
#define FS_CLAIM_BPF_H

#include "compat.bpf.h"
#include "claim.h"

/*
 * Defines claim_MAP(), which returns the index of an unused element, or -1 if all are in use. MAP
 * is a per-CPU array of TYPE, whose member `users` counts the claims. The argument `any` is not
 * used. Without an argument, clang would merge a global function into its callers.
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
