// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests walks of copied stacks: which copies are walked, wait, or are dropped. The rows are in a
 * memfd, in place of a BPF map.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/stack_copies.h"

#define CODE	    0x400000
#define LIBRARY	    0x800000
#define STACK	    0x7000
#define INTO	    0x100 /* offset of the stack pointer in its page */
#define CHUNK_BYTES (FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row))
#define NOW	    1000000000ULL

enum { FRAME_RULE = FS_UNWIND_FIXED_RULES, OUTER_RULE, RULES };

struct world {
	struct unwind_maps maps;
	struct fs_unwind_page page[1];
	struct fs_unwind_rule rule[RULES];
	struct mapped_code code;
	struct fs_unwind_area area[2];
	struct stack_copies copies;
	struct stack_copy_record record;
	struct walk_record walked;
	int walks;
};

static void on_walked(void *ctx, const struct walk_record *r)
{
	struct world *w = ctx;

	w->walked = *r;
	w->walks++;
}

static void put_word(struct world *w, __u32 at, __u64 value)
{
	memcpy(w->record.data + INTO + at, &value, sizeof(value));
}

/* Writes the rows: a frame of 32 bytes from 0 on, and the outermost function from 0x1000 on. */
static int make_chunk(void)
{
	const struct fs_unwind_row rows[] = {{0, FRAME_RULE}, {0x1000, OUTER_RULE}};
	int fd = memfd_create("rows", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, CHUNK_BYTES) || pwrite(fd, rows, sizeof(rows), 0) < 0)
		abort();
	return fd;
}

/* A stack of two frames in a program, and of one in a library: library, program, main. */
static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	memset(w->maps.chunk, -1, sizeof(w->maps.chunk));
	w->maps.chunk[0] = make_chunk();
	w->maps.area = w->area; /* the memory of the maps counts as mapped */
	w->maps.page = w->page;
	w->maps.rule = w->rule;
	w->page[0] = (struct fs_unwind_page){0, 2};
	w->rule[FS_UNWIND_RULE_GAP].cfa = FS_UNWIND_CFA_GAP;
	w->rule[FRAME_RULE] = (struct fs_unwind_rule){FS_UNWIND_CFA_SP, 0, 0, 32};
	w->rule[OUTER_RULE].cfa = FS_UNWIND_CFA_END;
	w->area[0] = (struct fs_unwind_area){CODE, CODE + 0x10000, CODE, 0, 1};
	w->area[1] = (struct fs_unwind_area){LIBRARY, LIBRARY + 0x10000, LIBRARY, 0, 1};
	w->code = (struct mapped_code){.of = {.pid = 7, .start_ns = 5}, .area = w->area, .n = 2};
	w->code.begun = w->code.read = (struct fs_unwind_epoch){.valid_ns = 3, .mapped = 20};
	w->record.h = (struct record){RECORD_STACK_COPY,
				      offsetof(struct stack_copy_record, data) + 4096, NOW};
	w->record.subject = w->code.of;
	w->record.stack = 9;
	w->record.bytes = 4096;
	w->record.valid_ns = 3;
	w->record.mapped = 20;
	w->record.base = STACK;
#if defined(__aarch64__)
	w->record.registers[31] = STACK + INTO;
	w->record.registers[32] = LIBRARY + 16;
	w->record.registers[30] = CODE + 16;
#else
	w->record.registers[19] = STACK + INTO;
	w->record.registers[16] = LIBRARY + 16;
#endif
	/* return addresses are in the last word of each frame, below the caller's stack pointer */
	put_word(w, 24, CODE + 16);
	put_word(w, 56, CODE + 0x1010);
}

static void end(struct world *w)
{
	stack_copies_free(&w->copies);
	close(w->maps.chunk[0]);
}

static void walk(struct world *w)
{
	stack_copies_walk(&w->copies, &w->code, &w->maps, on_walked, w);
}

#if !defined(__aarch64__) /* rules of arm64 have the return address elsewhere */
static void test_walk(void)
{
	struct world w;

	begin(&w);
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walks, 1, "a copy is walked");
	is_u64(w.walked.stack, 9, "it has its number");
	is_u64(w.walked.end, STACK_END_ENTRY, "up to the entry");
	is_u64(w.walked.frames, 3, "three frames");
	is_u64(w.walked.ip[0], LIBRARY + 16, "the library");
	is_u64(w.walked.ip[1], CODE + 16, "the program");
	is_u64(w.walked.ip[2], CODE + 0x1010, "the outermost function");
	is_u64(w.walked.sp[1], STACK + INTO + 32, "a stack pointer");
	is_u64(w.walked.interrupted[0], 1, "the innermost frame made no call");
	walk(&w);
	is_u64(w.walks, 1, "it is walked once");
	end(&w);
}

static void test_missing(void)
{
	struct world w;

	begin(&w);
	w.area[0].pages = FS_UNWIND_NO_TABLE;
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walks, 0, "a copy without a table is not walked");
	is_u64(w.copies.n, 1, "it waits");
	w.area[0].pages = 1;
	walk(&w);
	is_u64(w.walks, 1, "it is walked when the table is made");
	end(&w);
}

/* Tests that a copy is not walked with mappings that may have changed since. */
static void test_changed(void)
{
	struct world w;

	begin(&w);
	stack_copies_add(&w.copies, &w.record);
	w.code.of.start_ns = 6;
	walk(&w);
	is_u64(w.walks, 0, "not with the mappings of another process");
	w.code.of.start_ns = 5;
	w.code.begun.valid_ns = w.code.read.valid_ns = 4;
	walk(&w);
	is_u64(w.walks, 0, "not with those of another program");
	w.code.begun.valid_ns = 3;
	walk(&w);
	is_u64(w.walks, 0, "not if the program changed during the read");
	w.code.read.valid_ns = 3;
	w.code.read.mapped = 19;
	walk(&w);
	is_u64(w.walks, 0, "not with mappings from before the copy");
	w.code.read.mapped = 21;
	w.code.read.mapped_at[20 % FS_UNWIND_MAPPED] = LIBRARY + 0x2000;
	walk(&w);
	is_u64(w.walks, 0, "not through a mapping that was made after the copy");
	w.code.read.mapped_at[20 % FS_UNWIND_MAPPED] = 2 * LIBRARY;
	walk(&w);
	is_u64(w.walks, 1, "a later mapping elsewhere does no harm");
	w.walks = 0;
	stack_copies_add(&w.copies, &w.record);
	w.code.read.mapped = 20 + FS_UNWIND_MAPPED + 1;
	walk(&w);
	is_u64(w.walks, 0, "not after more mappings than are known");
	end(&w);
}

static void test_short(void)
{
	struct world w;

	begin(&w);
	w.record.bytes = INTO + 32;
	w.record.h.len = offsetof(struct stack_copy_record, data) + INTO + 32;
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walked.end, STACK_END_READ_FAILED, "a short copy ends with this reason");
	is_u64(w.walked.frames, 2, "after its last frame");
	end(&w);
}
#endif

static void test_limits(void)
{
	struct world w;

	begin(&w);
	w.record.h.len--;
	stack_copies_add(&w.copies, &w.record);
	w.record.bytes = STACK_COPY_BYTES + 1;
	w.record.h.len = offsetof(struct stack_copy_record, data) + STACK_COPY_BYTES + 1;
	stack_copies_add(&w.copies, &w.record);
	is_u64(w.copies.n, 0, "records with a wrong length are dropped");
	is_u64(w.copies.dropped, 2, "and counted");
	w.record.bytes = 64;
	w.record.h.len = offsetof(struct stack_copy_record, data) + 64;
	for (int i = 0; i < STACK_COPIES_MAX + 3; i++)
		stack_copies_add(&w.copies, &w.record);
	is_u64(w.copies.n, STACK_COPIES_MAX, "the number of copies is limited");
	stack_copies_drop(&w.copies, NULL, NOW + STACK_COPY_WAIT_NS);
	is_u64(w.copies.n, STACK_COPIES_MAX, "copies wait");
	stack_copies_drop(&w.copies, &(struct process_key){.pid = 8, .start_ns = 5}, NOW);
	is_u64(w.copies.n, STACK_COPIES_MAX, "another process ended");
	stack_copies_drop(&w.copies, NULL, NOW + STACK_COPY_WAIT_NS + 1);
	is_u64(w.copies.n, 0, "but not for ever");
	is_u64(w.copies.dropped, 5 + STACK_COPIES_MAX, "all are counted");
	end(&w);
}

int main(void)
{
#if !defined(__aarch64__)
	test_walk();
	test_missing();
	test_changed();
	test_short();
#endif
	test_limits();
	return tap_done();
}
