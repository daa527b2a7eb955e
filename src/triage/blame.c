// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/blame.h"

#include "triage/exports.h"
#include "triage/library.h"

/* Up to this offset, a function has saved registers, but not computed new pointers. */
#define ENTRY_BYTES 0x28
/* A module's call of a function that so many modules import is a use of a common interface. */
#define COMMON_IMPORTERS 100
/* Within a common interface, at most so many functions of the kernel precede the fault. */
#define INNER_MOST 3

/* Returns the header's function as a frame. Linux 2.6 prints its module only in the trace. */
static const struct frame *printed_place(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames && !e->printed_frame.module.n; i++)
		if (e->frame[i].part == PART_MAIN &&
		    str_same(e->frame[i].function, e->printed_frame.function))
			return &e->frame[i];
	return &e->printed_frame;
}

static const struct frame *place_of(const struct judged *j)
{
	const struct incident *e = j->e;

	/* the line with the instruction may be cut before its module */
	if (e->has_ip && j->v->in_kernel_code && e->ip.function.n && !e->ip.module.n &&
	    e->printed_frame.module.n && str_same(e->ip.function, e->printed_frame.function))
		return &e->printed_frame;
	if (e->has_ip && j->v->in_kernel_code && e->ip.function.n)
		return &e->ip;
	if (e->has_printed_frame && e->printed_frame.function.n)
		return printed_place(e);
	return NULL;
}

/* Returns the index of the next frame of the main trace that the walk uses; nr_frames: none. */
static uint32_t next_frame(const struct incident *e, uint32_t i, bool doubted)
{
	for (; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN && e->frame[i].function.n &&
		    (doubted || !e->frame[i].unreliable))
			return i;
	return e->nr_frames;
}

static bool has_reliable(const struct incident *e)
{
	return next_frame(e, 0, false) < e->nr_frames;
}

/* Returns the first frame from index `i` on that is no helper; NULL: none. */
static const struct frame *skip_helpers(const struct incident *e, uint32_t i, bool doubted)
{
	for (i = next_frame(e, i, doubted); i < e->nr_frames; i = next_frame(e, i + 1, doubted))
		if (!is_helper(&e->frame[i]))
			return &e->frame[i];
	return NULL;
}

/* Returns how many modules import the function of a frame; 0: few, or none. */
static unsigned int importers_of(const struct frame *f)
{
	return export_importers(function_plain(f->function), f->module);
}

/*
 * Returns whether a failed check of an exported function is reported, such as a BUG_ON() of its
 * arguments. Such a check is there to find mistakes of callers.
 */
static bool checks_caller(const struct judged *j, const struct frame *place)
{
	return (j->v->kind == KIND_BUG || j->v->kind == KIND_WARNING ||
		j->v->kind == KIND_INVALID_OPCODE) &&
	       !place->module.n && importers_of(place);
}

/*
 * Returns the frame of a module that called the kernel through a common interface, such as
 * dma_map_page_attrs(), shortly before the fault; NULL: none. What such a call does inside the
 * kernel is well tested, so that the caller is suspect.
 */
static const struct frame *user_of_interface(const struct judged *j, const struct blame *b)
{
	const struct incident *e = j->e;
	bool doubted = b->doubted, any = b->place && checks_caller(j, b->place);
	const struct frame *before = NULL;
	uint32_t inner = 0;

	for (uint32_t i = next_frame(e, 0, doubted); i < e->nr_frames;
	     i = next_frame(e, i + 1, doubted)) {
		const struct frame *f = &e->frame[i];

		if (f->module.n)
			return before && (any || importers_of(before) >= COMMON_IMPORTERS) ? f
											   : NULL;
		if (library_of_frame(f) == LIBRARY_ENTRY || library_of_frame(f) == LIBRARY_PLUMBING)
			return NULL;
		if (library_of_frame(f) == LIBRARY_NONE && inner++ == INNER_MOST)
			return NULL;
		before = f;
	}
	return NULL;
}

/* Returns whether a register holds one of the first arguments when a function begins. */
static bool is_argument(enum arch arch, int number)
{
	static const int8_t x86[] = {7, 6, 2, 1, 8, 9};

	if (arch == ARCH_ARM64)
		return number >= 0 && number < 8;
	for (size_t i = 0; arch == ARCH_X86_64 && i < sizeof(x86); i++)
		if (x86[i] == number)
			return true;
	return false;
}

/*
 * Returns whether a function faulted on a pointer that its caller passed: the fault is in the
 * function's first instructions, and the pointer is still in the register of an argument.
 */
static bool used_argument(const struct judged *j, const struct frame *place)
{
	return j->fault && place == &j->e->ip && j->has_base && place->size &&
	       place->offset <= ENTRY_BYTES && is_argument(j->e->arch, j->in.base);
}

/* Returns the index of the frame that called the function at `place`; nr_frames: none. */
static uint32_t from_place(const struct incident *e, const struct frame *place, bool doubted)
{
	uint32_t i = next_frame(e, 0, doubted);

	if (place && i < e->nr_frames && str_same(e->frame[i].function, place->function))
		i = next_frame(e, i + 1, doubted);
	return i;
}

static const struct frame *direct_caller(const struct incident *e, const struct frame *place,
					 bool doubted)
{
	uint32_t i = from_place(e, place, doubted);

	return i < e->nr_frames ? &e->frame[i] : NULL;
}

struct blame blame_of(const struct judged *j)
{
	const struct incident *e = j->e;
	struct blame b = {.place = place_of(j), .doubted = !has_reliable(e)};
	const struct frame *user;

	if (!b.place && !j->v->in_kernel_code && e->has_link && e->link.function.n &&
	    !is_helper(&e->link)) {
		b.helped = true;
		b.caller = &e->link;
		return b;
	}
	/* A helper without a stack frame is not in the trace of arm64, nor is its caller. */
	if (b.place && !b.place->module.n && is_helper(b.place) && e->has_link &&
	    e->link.function.n && !is_helper(&e->link) &&
	    !str_same(e->link.function, b.place->function))
		b.caller = &e->link;
	b.helped =
		!b.place || (!b.place->module.n && is_helper(b.place)) || checks_caller(j, b.place);
	if (b.helped) {
		if (!b.caller)
			b.caller = skip_helpers(e, from_place(e, b.place, b.doubted), b.doubted);
		if (b.caller && b.caller->module.n)
			return b;
	}
	if (!b.place || !b.place->module.n) {
		user = user_of_interface(j, &b);
		if (user) {
			b.helped = b.remote = true;
			b.caller = user;
			return b;
		}
	}
	if (b.place && used_argument(j, b.place)) {
		const struct frame *caller = direct_caller(e, b.place, b.doubted);

		if (caller && caller->module.n && !str_same(caller->module, b.place->module) &&
		    (!b.place->module.n || importers_of(b.place) ||
		     provider_importers(b.place->module))) {
			b.argument = true;
			b.caller = caller;
		}
	}
	return b;
}
