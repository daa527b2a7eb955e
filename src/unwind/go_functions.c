// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/go_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_bytes.h"

#define SECTION_BYTES_MAX (128u << 20)
#define FUNCTIONS_MAX	  (1u << 22)
/* maximum number of stack pointer changes in one function */
#define FUNCTION_WORK 50 /* work of reading a function */
#define STEPS_MAX 65536
#define FRAME_BYTES_MAX (1u << 30)
#define WORD		8

/* The first word of the section says which layout it has. */
#define MAGIC_1_16 0xfffffffa
#define MAGIC_1_18 0xfffffff0
#define MAGIC_1_20 0xfffffff1

/* bits of a function's flag byte, since Go 1.17; the byte is 0 in Go 1.16 */
#define FLAG_OUTERMOST 1 /* the outermost function of a stack */
#define FLAG_SETS_SP   2 /* the function changes to another stack */

/* offsets in the section's head */
#define AT_WORD_BYTES 7
#define AT_NUMBERS    8 /* 8-byte numbers; their order depends on the layout */

/* Functions that are known by their names: */
#define SIGRETURN "runtime.sigreturn" /* the kernel returns to it after a signal handler */
#define START	  "_rt0_"	      /* the kernel starts the program here */
#define CLONE	  "runtime.clone"     /* a thread begins here, if Go itself created it */
/* It leaves a goroutine, which another thread may run before the called function ends. */
#define MCALL "runtime.mcall"
/*
 * Go's runtime says that this function is the outermost one, but clone() or C code has called it.
 */
#define MSTART "runtime.mstart"

static __u64 number_at(const struct go_functions *g, size_t at, size_t bytes)
{
	__u64 ret = 0;

	if (at <= g->size && bytes <= g->size - at)
		memcpy(&ret, g->bytes + at, bytes);
	return ret;
}

/* Fills in the places of a layout. Returns false if the layout is unknown or does not fit. */
static bool read_head(struct go_functions *g)
{
	__u32 magic = number_at(g, 0, 4);
	bool relative = magic != MAGIC_1_16;
	size_t names = AT_NUMBERS + (relative ? 3 : 2) * WORD;

	if ((magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20) ||
	    number_at(g, AT_WORD_BYTES, 1) != WORD)
		return false;
	g->n = number_at(g, AT_NUMBERS, WORD);
	g->text = relative ? number_at(g, AT_NUMBERS + 2 * WORD, WORD) : 0;
	g->names = number_at(g, names, WORD);
	g->steps = number_at(g, names + 3 * WORD, WORD);
	g->index = number_at(g, names + 4 * WORD, WORD);
	g->entry_size = relative ? 4 : WORD;
	/* entry, then 8 numbers of 4 bytes, or 9 since the function's first line was added */
	g->flag = g->entry_size + (magic == MAGIC_1_20 ? 9 : 8) * 4 + 1;
	return g->n && g->n < FUNCTIONS_MAX && g->names < g->size && g->steps < g->size &&
	       g->index < g->size && (g->n + 1) * 2 * g->entry_size <= g->size - g->index &&
	       (!relative || g->text);
}

void go_functions_read(const struct byte_source *file, const struct elf_headers *h,
		       struct go_functions *ret)
{
	struct go_functions g = {.size = h->go_functions.bytes};

	*ret = (struct go_functions){};
	if (h->machine != EM_X86_64 || !g.size || g.size > SECTION_BYTES_MAX)
		return;
	g.bytes = malloc(g.size);
	if (g.bytes && bytes_get(file, h->go_functions.offset, g.bytes, g.size) && read_head(&g))
		*ret = g;
	else
		free(g.bytes);
}

static __u64 entry_of(const struct go_functions *g, size_t i)
{
	return g->text + number_at(g, g->index + i * 2 * g->entry_size, g->entry_size);
}

/*
 * Returns the rule where a function has moved the stack pointer down by `moved` bytes. The function
 * saves the frame pointer in the first word that it gets.
 */
static struct fs_unwind_rule rule_of(__u64 moved)
{
	struct fs_unwind_rule r = {.cfa = FS_UNWIND_CFA_SP, .cfa_off = moved + WORD};

	if (moved > FRAME_BYTES_MAX)
		return (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE};
	if (moved) {
		r.fp = FS_UNWIND_FP_AT_CFA;
		r.fp_off = -2 * WORD;
	}
	return r;
}

/*
 * Calls `rule` for each change of the stack pointer in a function. The changes are pairs of
 * LEB128 numbers: by how much, with the sign in bit 0, and the number of bytes for which it holds.
 */
static void read_steps(const struct go_functions *g, size_t at, __u64 start, __u64 end,
		       go_rule_fn *rule, void *ctx)
{
	struct cfi_bytes b = {g->bytes + at, g->bytes + g->size, false};
	__u64 moved = -1;

	for (int i = 0; i < STEPS_MAX && start < end; i++) {
		__u64 by = cfi_uleb(&b);

		if (b.bad || (!by && i))
			break;
		moved += by & 1 ? ~(by >> 1) : by >> 1;
		rule(ctx, start, rule_of(moved));
		by = cfi_uleb(&b);
		start = by < end - start ? start + by : end;
	}
	if (b.bad && start < end)
		rule(ctx, start, (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE});
}

static bool is_named(const struct go_functions *g, size_t at, const char *name)
{
	size_t length = strlen(name);

	return at < g->size && length <= g->size - at && !memcmp(g->bytes + at, name, length);
}

static bool is_outermost(const struct go_functions *g, size_t name, __u8 flag)
{
	return is_named(g, name, START) || is_named(g, name, CLONE) || is_named(g, name, MCALL) ||
	       (flag & FLAG_OUTERMOST && !is_named(g, name, MSTART));
}

/*
 * The frame pointer of a function that changes to another stack belongs to the old stack, which
 * may be anywhere.
 */
static const struct fs_unwind_rule other_stack = {.cfa = FS_UNWIND_CFA_CHAIN,
						  .cfa_off = FS_UNWIND_OTHER_STACK};

/*
 * Reads one function. `before`: the byte before the function may get a row, too.
 */
static void read_function(const struct go_functions *g, size_t i, __u64 start, __u64 end,
			  bool before, go_rule_fn *rule, void *ctx)
{
	size_t at = g->index + number_at(g, g->index + (i * 2 + 1) * g->entry_size, g->entry_size);
	__u8 flag = number_at(g, at + g->flag, 1);
	__u32 name = number_at(g, at + g->entry_size, 4);
	__u32 steps = number_at(g, at + g->entry_size + 3 * 4, 4);

	if (is_named(g, g->names + name, SIGRETURN))
		/* a return address is looked up by the byte before it */
		rule(ctx, start - before, (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_SIGNAL});
	else if (is_outermost(g, g->names + name, flag))
		rule(ctx, start, (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_END});
	else if (flag & FLAG_SETS_SP)
		rule(ctx, start, other_stack);
	else if (!steps || steps >= g->size - g->steps)
		rule(ctx, start, (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_CHAIN});
	else
		read_steps(g, g->steps + steps, start, end, rule, ctx);
}

int go_functions_rules(struct go_functions *g, __u64 start, __u64 end, go_rule_fn *rule, void *ctx,
		       __u64 *left)
{
	if (!g->at)
		g->at = start;
	for (; g->next < g->n; g->next++) {
		__u64 first = entry_of(g, g->next), last = entry_of(g, g->next + 1);

		if (first >= end)
			break;
		if (!*left)
			return -EAGAIN;
		*left -= *left < FUNCTION_WORK ? *left : FUNCTION_WORK;
		if (first < g->at || last <= first || last > end)
			continue;
		read_function(g, g->next, first, last, first > start, rule, ctx);
		g->at = last;
	}
	if (g->at > start && g->at < end)
		rule(ctx, g->at, (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_GAP});
	g->at = 0;
	return 0;
}

void go_functions_free(struct go_functions *g)
{
	free(g->bytes);
}
