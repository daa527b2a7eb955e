/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of the kernel (kfuncs) that BPF programs call. A program calls such a function like a
 * helper, with a number from this table. The loader replaces the number by the function's id in the
 * kernel's BTF (probe/parallel_load.c). For functions that are declared with __ksym, libbpf would
 * read and search the whole BTF of the kernel a second time, which takes 20 ms.
 */
#ifndef FS_WIRE_FUNCTIONS_H
#define FS_WIRE_FUNCTIONS_H

#define KERNEL_FUNCTIONS(X)                                                                        \
	X(bpf_rdonly_cast)                                                                         \
	X(bpf_rcu_read_lock)                                                                       \
	X(bpf_rcu_read_unlock)                                                                     \
	X(bpf_iter_task_new)                                                                       \
	X(bpf_iter_task_next)                                                                      \
	X(bpf_iter_task_destroy)

/* The first number; numbers of helpers (enum bpf_func_id) are far below. */
#define KERNEL_FUNCTION_FIRST 0x10000

enum kernel_function {
	KERNEL_FUNCTION_BEFORE = KERNEL_FUNCTION_FIRST - 1,
#define X(name) NUMBER_OF_##name,
	KERNEL_FUNCTIONS(X)
#undef X
		KERNEL_FUNCTION_END,
};

#define NR_KERNEL_FUNCTIONS (KERNEL_FUNCTION_END - KERNEL_FUNCTION_FIRST)

#endif
