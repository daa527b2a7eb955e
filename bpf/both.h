/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For headers of the kernel side that unit tests compile too: pure logic, whose races and
 * borderline cases no test can provoke in a kernel at will.
 */
#ifndef FS_BOTH_H
#define FS_BOTH_H

#ifdef __bpf__
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#else
#include <linux/types.h>
#include <stdbool.h>
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#endif

#endif
