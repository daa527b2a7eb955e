/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the part of the kernel's BTF that BPF programs use. The kernel's BTF has more than 100,000
 * types, and for each type that programs use, libbpf compares all of them by name. This takes most
 * of the time of a load. kernel_types_take() reads the BTF once, and keeps the types that libbpf
 * may need: structures, unions and enumerations by name, with all members. Pointers lose their
 * target.
 */
#ifndef FS_PROBE_KERNEL_TYPES_H
#define FS_PROBE_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

#include "wire_functions.h"

#define KERNEL_TARGETS_MAX 96

struct kernel_types {
	struct btf *btf; /* the types that were taken; NULL: there is no BTF */
	bool whole;	 /* all types were taken, and have the ids of the kernel's own BTF */
	int fd;		 /* file in memory with the same types, for libbpf; <= 0: none */
	char path[32];	 /* path of this file, or "" */
	int err;	 /* result of kernel_types_read() */
	/* ids in the kernel's own BTF, which has other ids than `btf`; 0: not known */
	__u32 task_type;  /* struct task_struct */
	__u32 area_type;  /* struct vm_area_struct */
	__u32 file_type;  /* struct file */
	__u32 maple_type; /* struct maple_range_64 */
	struct {
		__u32 taken, own; /* ids of a function, or of the type of a tracepoint */
	} target[KERNEL_TARGETS_MAX];
	size_t targets;
	__u32 function[NR_KERNEL_FUNCTIONS]; /* enum kernel_function, from the first on */
};

/* Returns whether a type of this name is needed. */
typedef bool (*kernel_types_filter)(void *ctx, const char *name);

/* Makes an empty file for the types, so that a BPF object can be opened with its path. */
void kernel_types_begin(struct kernel_types *k);

/*
 * Takes the types that `wanted` selects from raw BTF, which may be damaged. Of tracepoints
 * (btf_trace_*) and functions, also takes the list of parameters, without their types. Returns 0 or
 * -errno. If it fails, `k` has no types.
 */
int kernel_types_take(struct kernel_types *k, const void *raw, size_t size,
		      kernel_types_filter wanted, void *ctx);

/*
 * Takes the types that a BPF object names from the running kernel's BTF, and writes them to the
 * file. Returns 0 or -errno.
 */
int kernel_types_read(struct kernel_types *k, const struct bpf_object *obj);

/* Returns the id of the type of a tracepoint in the kernel's own BTF, or 0. */
__u32 kernel_types_tracepoint(const struct kernel_types *k, const char *name);

/* Returns the id, in the kernel's own BTF, of a function that a program is attached to, or 0. */
__u32 kernel_types_traced(const struct kernel_types *k, const char *name);

/* Returns the id of a function in the kernel's own BTF, given its number, or 0. */
__u32 kernel_types_function(const struct kernel_types *k, __s32 number);

void kernel_types_end(struct kernel_types *k);

#endif
