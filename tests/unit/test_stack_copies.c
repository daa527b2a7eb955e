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
/* Tests a copy at its end, to the byte. */
static void test_cut_word(void)
{
	for (int cut = 0; cut < 2; cut++) {
		struct world w;

		begin(&w);
		w.record.bytes = INTO + 64 - cut;
		w.record.h.len = offsetof(struct stack_copy_record, data) + w.record.bytes;
		stack_copies_add(&w.copies, &w.record);
		walk(&w);
		is_u64(w.walked.frames, 3 - cut, "a word is read if all of its bytes were copied");
		is_u64(w.walked.end, cut ? STACK_END_READ_FAILED : STACK_END_ENTRY, "the end");
		end(&w);
	}
}

/* Tests words at the stack pointer, and below it, where nothing was copied. */
static void test_below(void)
{
	for (int below = 0; below < 2; below++) {
		const __u64 cfa = STACK + INTO;
		struct world w;

		begin(&w);
		w.rule[FRAME_RULE] = (struct fs_unwind_rule){FS_UNWIND_CFA_SP_DEREF, 0, 0,
							     32 << 16 | (below ? 0xffff : 0)};
		memset(w.record.data, 0, INTO + 64);
		memcpy(w.record.data + INTO - below, &cfa, sizeof(cfa));
		put_word(&w, 24, CODE + 0x1010);
		stack_copies_add(&w.copies, &w.record);
		walk(&w);
		is_u64(w.walked.frames, 2 - below, "a word at the stack pointer, or a byte below");
		is_u64(w.walked.end, below ? STACK_END_READ_FAILED : STACK_END_ENTRY, "the end");
		end(&w);
	}
}

/* Tests what the record of a walked copy says. */
static void test_record(void)
{
	struct world w;

	begin(&w);
	w.rule[FRAME_RULE] = (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_CHAIN};
	w.record.registers[4] = STACK + INTO + 16; /* rbp */
	put_word(&w, 16, 0);
	put_word(&w, 24, CODE + 0x1010);
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walked.frames, 2, "a stack by frame pointers");
	is_u64(w.walked.by_chain, 1, "one frame was found by them alone");
	is_u64(w.walked.interrupted[0], 1, "the other one made no call");
	is_u64(w.walked.sp[0], STACK + INTO, "its stack pointer");
	is_u64(w.walked.h.kind, RECORD_WALK, "the kind of the record");
	is_u64(w.walked.h.len, sizeof(w.walked), "its length");
	is_u64(w.walked.h.t_ns, NOW, "the time of the copy");
	is_u64(w.walked.generation, STACK_COPY_GENERATION, "the mappings that are being read");
	ok(w.walked.subject.pid == 7 && w.walked.subject.start_ns == 5, "the process");
	is_u64(w.copies.walked, 1, "it is counted");
	is_u64(w.copies.dropped, 0, "and not dropped");
	end(&w);
}

/* Tests copies of two processes. */
static void test_processes(void)
{
	struct world w;

	begin(&w);
	w.record.subject.pid = 8;
	stack_copies_add(&w.copies, &w.record);
	w.record.subject.pid = 7;
	stack_copies_add(&w.copies, &w.record);
	w.record.subject.pid = 8;
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walks, 1, "the copies of the process whose mappings were read");
	is_u64(w.copies.n, 2, "the others wait");
	w.code.of.pid = 8;
	walk(&w);
	is_u64(w.walks, 3, "until their turn");
	is_u64(w.copies.n, 0, "no copy is left");
	end(&w);
}

/* Tests a process with CPython, whose frames are not in the copy. */
static void test_python(void)
{
	struct code_file interpreter = {
		.state = CODE_TABLE, .table.codes = 1, .python.is_interpreter = true};
	struct code_file *file[] = {&interpreter};
	struct code_mapping mapping[] = {{.start = CODE, .end = CODE + 0x10000}};
	struct world w;

	begin(&w);
	interpreter.table.code[0].bytes = 0x10000;
	w.code.m = mapping;
	w.code.file = file;
	w.code.at = 1;
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walks, 1, "a stack with CPython is walked");
	is_u64(w.walked.frames, 3, "all native frames");
	is_u64(w.walked.end, STACK_END_MISSING, "but it is not whole");
	end(&w);
}

/* Tests the greatest number of mappings. */
static void test_mappings(void)
{
	static struct fs_unwind_area area[MAPPED_CODE_MAX + 1];
	struct world w;

	begin(&w);
	memcpy(area, w.area, sizeof(w.area));
	for (size_t i = 2; i <= MAPPED_CODE_MAX; i++)
		area[i].start = area[i].end = 2 * LIBRARY + i;
	w.code.area = area;
	w.code.n = MAPPED_CODE_MAX + 1;
	stack_copies_add(&w.copies, &w.record);
	walk(&w);
	is_u64(w.walks, 0, "a process with too many mappings");
	w.code.n = MAPPED_CODE_MAX;
	walk(&w);
	is_u64(w.walks, 1, "a process with as many as are read");
	is_u64(w.walked.end, STACK_END_ENTRY, "its stack is whole");
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

static void test_largest(void)
{
	struct world w;

	begin(&w);
	w.record.bytes = STACK_COPY_BYTES;
	w.record.h.len = offsetof(struct stack_copy_record, data) + STACK_COPY_BYTES;
	stack_copies_add(&w.copies, &w.record);
	is_u64(w.copies.n, 1, "the largest copy");
	w.record.bytes = 0;
	w.record.h.len = offsetof(struct stack_copy_record, data);
	stack_copies_add(&w.copies, &w.record);
	is_u64(w.copies.n, 2, "a copy without bytes");
	w.record.h.len++;
	stack_copies_add(&w.copies, &w.record);
	is_u64(w.copies.n, 2, "a record that is a byte longer than its copy");
	end(&w);
}

/* Tests which copies are dropped: those of a process, and those that are too old. */
static void test_drop(void)
{
	struct process_key of = {.pid = 8, .start_ns = 5};
	struct world w;

	begin(&w);
	w.record.bytes = 0;
	w.record.h.len = offsetof(struct stack_copy_record, data);
	for (int i = 0; i < 3; i++) {
		w.record.subject.pid = 7 + i % 2;
		stack_copies_add(&w.copies, &w.record);
	}
	stack_copies_drop(&w.copies, NULL, NOW - 1);
	is_u64(w.copies.n, 3, "copies from a later time wait");
	stack_copies_drop(&w.copies, &of, NOW);
	is_u64(w.copies.n, 2, "the copy of a process");
	is_u64(w.copies.dropped, 1, "is counted");
	ok(w.copies.copy[0]->subject.pid == 7 && w.copies.copy[1]->subject.pid == 7,
	   "those of the other process stay");
	stack_copies_free(&w.copies);
	is_u64(w.copies.n, 0, "no copy is left");
	end(&w);
}

int main(void)
{
#if !defined(__aarch64__)
	test_walk();
	test_missing();
	test_changed();
	test_short();
	test_cut_word();
	test_below();
	test_record();
	test_processes();
	test_python();
	test_mappings();
#endif
	test_limits();
	test_largest();
	test_drop();
	return tap_done();
}
