// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/stack_copies.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/unwind_walk.h"

/* Order of the registers in the record: that of the kernel's struct pt_regs. */
#if defined(__aarch64__)
#define MACHINE	     CFI_ARM64
#define RA_SIGNATURE (~0ULL << 48)
static const unsigned char dwarf_number[] = {0,	 1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10,
					     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					     22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#else
#define MACHINE	     CFI_X86_64
#define RA_SIGNATURE 0
#define NOT_USED     255
static const unsigned char dwarf_number[] = {
	15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, NOT_USED, 16, NOT_USED, NOT_USED, 7};
#endif

/* A copy that is being walked. */
struct walking {
	const struct stack_copy_record *r;
	__u64 sp;
	struct fs_unwind_area *area; /* the mappings; owned */
	size_t areas;
	struct unwind_maps *m;
};

static bool read_word(void *ctx, __u64 at, __u64 *ret)
{
	const struct walking *w = ctx;
	__u64 into = at - w->r->base;

	/* bytes below the stack pointer were not copied */
	if (at < w->sp || into >= w->r->bytes || w->r->bytes - into < sizeof(*ret))
		return false;
	memcpy(ret, w->r->data + into, sizeof(*ret));
	return true;
}

static enum stack_end find_rule(void *ctx, __u64 pc, struct fs_unwind_rule *ret)
{
	struct walking *w = ctx;

	return unwind_maps_find_rule(w->m, w->area, w->areas, pc, ret);
}

void stack_copies_add(struct stack_copies *x, const struct stack_copy_record *r)
{
	size_t bytes = offsetof(struct stack_copy_record, data) + r->bytes;
	struct stack_copy_record *copy;

	if (r->bytes > STACK_COPY_BYTES || r->h.len != bytes || x->n == STACK_COPIES_MAX) {
		x->dropped++;
		return;
	}
	copy = malloc(bytes);
	if (!copy) {
		x->dropped++;
		return;
	}
	memcpy(copy, r, bytes);
	x->copy[x->n++] = copy;
}

static void get_registers(const struct stack_copy_record *r, __u64 ret[UNWIND_REGISTERS])
{
	memset(ret, 0, UNWIND_REGISTERS * sizeof(*ret));
	for (size_t i = 0; i < sizeof(dwarf_number); i++)
		if (dwarf_number[i] < UNWIND_REGISTERS)
			ret[dwarf_number[i]] = r->registers[i];
}

/*
 * Prepares the list of mappings for a copy. A mapping that was made after the copy may have
 * replaced another, so it has no table. Returns false if the mappings are not those of the copy.
 */
static bool prepare(struct walking *w, const struct mapped_code *c)
{
	if (w->r->valid_ns != c->begun.valid_ns || c->read.valid_ns != c->begun.valid_ns ||
	    (__s32)(c->read.mapped - w->r->mapped) < 0 || c->n > MAPPED_CODE_MAX)
		return false;
	w->areas = c->n;
	w->area = calloc(w->areas, sizeof(*w->area)); /* at most MAPPED_CODE_MAX */
	if (!w->area)
		return false;
	memcpy(w->area, c->area, w->areas * sizeof(*w->area));
	if (unwind_epoch_hide(&c->read, w->r->mapped, w->area, w->areas))
		return true;
	free(w->area);
	return false;
}

static void fill_record(struct walk_record *ret, const struct stack_copy_record *r,
			const struct unwind_stack *s)
{
	*ret = (struct walk_record){.h = {RECORD_WALK, sizeof(*ret), r->h.t_ns},
				    .subject = r->subject,
				    .stack = r->stack,
				    .frames = s->n,
				    .end = s->end,
				    .generation = STACK_COPY_GENERATION};
	for (size_t i = 0; i < s->n; i++) {
		ret->ip[i] = s->frame[i].pc;
		ret->sp[i] = s->frame[i].sp;
		ret->by_chain += s->frame[i].by_chain;
		if (s->frame[i].interrupted)
			ret->interrupted[i / 64] |= 1ULL << i % 64;
	}
}

/* Walks a copy. Returns false if a table is still missing. */
static bool walk_copy(struct walking *w, const struct mapped_code *c, struct walk_record *ret)
{
	struct unwind_frame frame[WALK_FRAMES];
	struct unwind_stack stack = {.frame = frame, .room = WALK_FRAMES};
	struct unwind_space space = {.read = read_word, .rule = find_rule, .ctx = w};
	__u64 registers[UNWIND_REGISTERS];
	struct fs_python python;

	get_registers(w->r, registers);
	w->sp = registers[cfi_followed_number(MACHINE, CFI_SP)];
	unwind_walk(&space, MACHINE, registers, RA_SIGNATURE, &stack);
	if (stack.end == STACK_END_MISSING || stack.end == STACK_END_OUTSIDE)
		return false;
	/* the frames of CPython are not in the copy, so the stack is not whole */
	if (mapped_code_python(c, &python))
		stack.end = STACK_END_MISSING;
	fill_record(ret, w->r, &stack);
	return true;
}

static void drop(struct stack_copies *x, size_t at)
{
	free(x->copy[at]);
	x->copy[at] = x->copy[--x->n];
}

void stack_copies_walk(struct stack_copies *x, const struct mapped_code *c, struct unwind_maps *m,
		       stack_walked_fn *walked, void *ctx)
{
	for (size_t i = 0; i < x->n;) {
		struct walking w = {.r = x->copy[i], .m = m};
		struct walk_record record;
		bool done = false;

		if (!memcmp(&w.r->subject, &c->of, sizeof(c->of)) && prepare(&w, c)) {
			done = walk_copy(&w, c, &record);
			free(w.area);
		}
		if (!done) {
			i++;
			continue;
		}
		x->walked++;
		drop(x, i);
		walked(ctx, &record);
	}
	unwind_maps_end_walks(m);
}

void stack_copies_drop(struct stack_copies *x, const struct process_key *of, __u64 now_ns)
{
	for (size_t i = 0; i < x->n;) {
		const struct stack_copy_record *r = x->copy[i];
		bool over = of ? !memcmp(&r->subject, of, sizeof(*of))
			       : now_ns > r->h.t_ns && now_ns - r->h.t_ns > STACK_COPY_WAIT_NS;

		if (over)
			drop(x, i);
		else
			i++;
		x->dropped += over;
	}
}

void stack_copies_free(struct stack_copies *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->copy[i]);
	x->n = 0;
}
