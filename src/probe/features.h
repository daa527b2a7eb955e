/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: tests which features this kernel lacks. Each test loads a program, creates a map or reads
 * BTF, so tests run only after a failed load.
 */
#ifndef FS_PROBE_FEATURES_H
#define FS_PROBE_FEATURES_H

#include <bpf/btf.h>
#include <stdbool.h>

/* Returns true on kernels before 5.11, which also count BPF maps as locked memory. */
bool kernel_lacks_task_storage(void);

/*
 * Returns whether bpf_probe_read_kernel() is missing. Since ff40e51043af (5.13), kernel lockdown
 * removes it.
 */
bool kernel_lacks_reads(void);

#define NO_FUNCTIONS   "this kernel does not let BPF programs trace its functions"
#define FLUSH_FUNCTION "native_flush_tlb_multi" /* traced by the program on_tlb_shootdown */

/*
 * Returns whether the kernel loads a program for the start of a function, given the function's id
 * in the kernel's own BTF; 0: there is no such function. A kernel may refuse this by policy. The
 * test takes less than a load of all programs that fails.
 */
bool kernel_traces_function(__u32 id);

#define NO_RETURNS "this kernel does not let BPF programs trace the returns of its functions"
#define UNCOUNTED_RETURNS                                                                          \
	"before Linux 6.7, the kernel does not tell how many calls it could not trace"
#define FEW_RETURNS                                                                                \
	"before Linux 6.14, calls that wait can use up the kernel's pool for traced calls"

/*
 * Returns whether the kernel attaches programs to the returns of many functions (5.18). The test
 * asks for no function, which bpf_kprobe_multi_link_attach() rejects with EINVAL if it is there.
 */
bool kernel_traces_returns(void);

struct features {
	bool asked;
	bool lacks_btf;
	bool lacks_task_storage;
	bool lacks_loop;      /* the kernel lacks helper bpf_loop() (5.17) */
	bool lacks_iterators; /* the kernel lacks open-coded task iterators (6.7) */
};

/* Fills `f`. The tests run only at the first call of features_ask(). */
void features_ask(struct features *f);

/*
 * Returns the feature that the task-storage build needs and the kernel lacks, or NULL if there is
 * none.
 */
const char *features_lack_task_build(const struct features *f);

#endif
