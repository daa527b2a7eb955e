/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: walks the stack of a thread in user space, from its registers and its memory, with the
 * unwind tables of its files.
 */
#ifndef FS_UNWIND_UNWIND_WALK_H
#define FS_UNWIND_UNWIND_WALK_H

#include "unwind/unwind_table.h"

/* number of registers by DWARF number, including arm64's stack pointer and pc */
#define UNWIND_REGISTERS 33

/* An executable mapping. */
struct unwind_area {
	__u64 start;
	__u64 end;
	/* difference between the addresses of the mapping and the file's own addresses */
	__u64 bias;
	/* unwind table of the file; borrowed; NULL: there is none yet */
	const struct unwind_table *table;
	/* the mapping has no file and contains JIT-compiled code that keeps frame pointers */
	bool keeps_frame_pointers;
};

struct unwind_space {
	const struct unwind_area *area; /* mappings, sorted by address; borrowed */
	size_t areas;
	const struct rule_set *rules; /* borrowed */
	/* Reads a word of memory. Returns false if it cannot be read. */
	bool (*read)(void *ctx, __u64 at, __u64 *ret);
	/* Finds the rule for an address; NULL: the tables of `area` are used. */
	enum stack_end (*rule)(void *ctx, __u64 pc, struct fs_unwind_rule *ret);
	void *ctx;
};

struct unwind_frame {
	__u64 pc;
	__u64 sp;
	/* the frame made no call: it is the innermost one, or a signal interrupted it */
	bool interrupted;
	/* the frame was found with a frame pointer alone: frames below it may be missing */
	bool by_chain;
};

struct unwind_stack {
	struct unwind_frame *frame; /* array of the caller, with room for `room` frames */
	size_t room;
	size_t n;
	enum stack_end end;
	bool sure; /* true: no frame was found with a frame pointer alone */
};

/* Returns the name of the reason why a walk ended: "entry", "gap", ... */
const char *unwind_end_name(enum stack_end end);

/*
 * Walks a stack from these registers. pc_signature: bits of return addresses that hold a pointer
 * authentication code (arm64).
 */
void unwind_walk(const struct unwind_space *s, enum cfi_machine machine,
		 const __u64 registers[UNWIND_REGISTERS], __u64 pc_signature,
		 struct unwind_stack *ret);

#endif
