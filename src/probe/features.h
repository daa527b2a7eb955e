/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: what this kernel has not, asked of the kernel itself. Each question loads a program, makes
 * a map or reads BTF, so it is asked only after a load was refused.
 */
#ifndef FS_PROBE_FEATURES_H
#define FS_PROBE_FEATURES_H

#include <stdbool.h>

/* Present from 5.11 on, as is memory of maps that does not count as locked. */
bool kernel_lacks_task_storage(void);

/* The helper bpf_probe_read_kernel() is always there, but not in lockdown (ff40e51043af, 5.13). */
bool kernel_lacks_reads(void);

struct features {
	bool asked;
	bool lacks_btf;
	bool lacks_task_storage;
	bool lacks_loop;      /* the helper bpf_loop(), 5.17 */
	bool lacks_iterators; /* of tasks, open-coded: the last of the functions that we call, 6.7
			       */
};

/* Asks once. */
void features_ask(struct features *f);

#endif
