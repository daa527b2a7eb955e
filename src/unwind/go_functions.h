/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: reads the function table that Go's linker writes into each program (.gopclntab). It says
 * how far each instruction of a function has moved the stack pointer. The Go runtime walks stacks
 * with it, so it also exists in stripped programs. The layout is described in Go's own source:
 * src/runtime/symtab.go and src/debug/gosym/pclntab.go. Layouts of Go 1.16 and later are read, for
 * x86-64.
 */
#ifndef FS_UNWIND_GO_FUNCTIONS_H
#define FS_UNWIND_GO_FUNCTIONS_H

#include "collect/symbols/elf_headers.h"
#include "wire_unwind.h"

struct go_functions {
	__u8 *bytes; /* the section; owned; NULL: the file has no table that can be read */
	size_t size;
	size_t next;	   /* index of the function that go_functions_rules() continues with */
	__u64 at;	   /* address in the range that it continues with; 0: begins a range */
	size_t n;	   /* number of functions */
	__u64 text;	   /* address that entries of functions are relative to */
	size_t index;	   /* offset of the array of entries and functions */
	size_t steps;	   /* offset of the stack pointer changes */
	size_t names;	   /* offset of the function names */
	size_t entry_size; /* size of an address in the array and in functions */
	size_t flag;	   /* offset of the flag byte in a function */
};

/* Called with the rule that holds from an address on. Addresses increase. */
typedef void go_rule_fn(void *ctx, __u64 address, struct fs_unwind_rule rule);

/* Reads the table of a file. A file without a valid table gets an empty one. */
void go_functions_read(const struct byte_source *file, const struct elf_headers *h,
		       struct go_functions *ret);

/*
 * Calls `rule` for each function in an address range, and for each change within it, and takes the
 * work off *left (about 10 ns a unit). Returns -EAGAIN if there are more functions; then the same
 * range must be passed again. Ranges must be passed in increasing order.
 */
int go_functions_rules(struct go_functions *g, __u64 start, __u64 end, go_rule_fn *rule, void *ctx,
		       __u64 *left);

void go_functions_free(struct go_functions *g);

#endif
