/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: tests which features this kernel lacks. Each test loads a program, creates a map or reads
 * BTF, so they run only after a failed load.
 */
#ifndef FS_PROBE_FEATURES_H
#define FS_PROBE_FEATURES_H

#include <stdbool.h>

/* Kernels before 5.11 lack task storage, and count maps as locked memory. */
bool kernel_lacks_task_storage(void);

/* Since ff40e51043af (5.13), the kernel does not offer bpf_probe_read_kernel() in lockdown. */
bool kernel_lacks_reads(void);

struct features {
	bool asked;
	bool lacks_btf;
	bool lacks_task_storage;
	bool lacks_loop;      /* the kernel lacks helper bpf_loop() (5.17) */
	bool lacks_iterators; /* the kernel lacks open-coded task iterators (6.7) */
};

/* Runs the tests at the first call only. */
void features_ask(struct features *f);

#endif
