/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: searches the instructions of a file where its call frame information has no entry. */
#ifndef FS_UNWIND_CODE_SCAN_H
#define FS_UNWIND_CODE_SCAN_H

#include "collect/symbols/elf_headers.h"
#include "unwind/cfi_state.h"

#define CODE_SIGRETURN_BYTES 9		 /* mov $__NR_rt_sigreturn, %rax; syscall */
#define CODE_SCAN_BYTES	     (64u << 20) /* maximum bytes of a file that are searched */

/* A search, which is done in pieces. */
struct code_scan {
	const struct byte_source *file; /* borrowed */
	const struct elf_headers *h;	/* borrowed */
	enum cfi_machine machine;
	__u64 start, end;
	unsigned int load; /* segment that is being searched */
	__u64 at, last;	   /* addresses of it that are left */
	bool in_load;	   /* false: the segment is not begun */
	__u64 bytes, found;
	size_t init; /* which code of _init or _fini was found */
};

/* Begins a search between two addresses. `file` and `h` are borrowed until the end. */
void code_scan_begin(struct code_scan *s, const struct byte_source *file,
		     const struct elf_headers *h, enum cfi_machine machine, __u64 start, __u64 end);

/*
 * Searches for the x86-64 code with which a signal handler returns, and takes the work off *left
 * (about 10 ns a unit). Returns -EAGAIN if there is more to search. Returns 0 at the end; s->found
 * is then the address of the code, or 0.
 */
int code_find_sigreturn(struct code_scan *s, __u64 *left);

/* The code of _init or _fini. From `from` up to `until`, the stack pointer is 8 bytes lower. */
struct code_init {
	__u64 from, until, end;
};

/* Finds the x86-64 code of _init or _fini, which C libraries ship without FDEs, in a gap. */
bool code_find_init(const struct byte_source *file, const struct elf_headers *h, __u64 start,
		    __u64 end, struct code_init *ret);

/* How many functions begin with a frame record. */
struct code_prologues {
	enum cfi_machine machine;
	__u64 bytes; /* bytes of code that were searched */
	__u64 found;
};

/*
 * Adds the code between two addresses to the count, up to a maximum of bytes, which takes 5 ms at
 * most. Takes the work off *left.
 */
void code_count_prologues(const struct byte_source *file, const struct elf_headers *h, __u64 start,
			  __u64 end, struct code_prologues *p, __u64 *left);

/*
 * Returns whether so many functions begin with a frame record that the code was compiled with frame
 * pointers.
 */
bool code_has_frame_pointers(const struct code_prologues *p);

#endif
