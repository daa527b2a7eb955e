// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/blame.h"

#include "triage/exports.h"
#include "triage/library.h"

/* A module's call of a function that so many modules import is a use of a common interface. */
#define COMMON_IMPORTERS 8
/* Within a common interface, at most so many functions of the kernel called the reported one. */
#define INNER_MOST 2

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

/* Returns whether a thread, an interrupt or a callback starts in a function. */
static bool is_way_in(const struct frame *f)
{
	return library_of_frame(f) == LIBRARY_ENTRY || library_of_frame(f) == LIBRARY_PLUMBING;
}

/* Returns whether a function printed the report, or found what is reported. */
static bool is_reporting(const struct frame *f)
{
	return library_of_frame(f) == LIBRARY_REPORT || library_of_frame(f) == LIBRARY_CHECK;
}

/*
 * Returns the index of the first frame that is older than the interrupt that reported a hang, from
 * index `i` on.
 */
static uint32_t below_interrupt(const struct incident *e, uint32_t i, bool doubted)
{
	bool entered = false;

	if (library_of_frame(&e->frame[i]) != LIBRARY_REPORT)
		return i;
	for (uint32_t k = i; k < e->nr_frames; k = next_frame(e, k + 1, doubted)) {
		if (is_way_in(&e->frame[k]))
			entered = true;
		else if (entered)
			return k;
	}
	return i;
}

/* Returns the index of the frame that called the function at `place`; nr_frames: none. */
static uint32_t from_place(const struct judged *j, const struct frame *place, bool doubted)
{
	const struct incident *e = j->e;
	uint32_t i = next_frame(e, 0, doubted);

	if (j->v->kind == KIND_HANG && i < e->nr_frames)
		i = below_interrupt(e, i, doubted);
	while (i < e->nr_frames && is_reporting(&e->frame[i]))
		i = next_frame(e, i + 1, doubted);
	if (place && i < e->nr_frames && str_same(e->frame[i].function, place->function))
		i = next_frame(e, i + 1, doubted);
	return i;
}

/*
 * Returns the first frame from index `i` on that is no helper; NULL: none. What a thread, an
 * interrupt or a callback interrupted has not called the helper.
 */
static const struct frame *skip_helpers(const struct incident *e, uint32_t i, bool doubted)
{
	for (i = next_frame(e, i, doubted); i < e->nr_frames; i = next_frame(e, i + 1, doubted)) {
		if (!is_helper(&e->frame[i]))
			return &e->frame[i];
		if (is_way_in(&e->frame[i]))
			return NULL;
	}
	return NULL;
}

/* Returns how many modules import the function of a frame; 0: few, or none. */
static unsigned int importers_of(const struct frame *f)
{
	return export_importers(function_plain(f->function), f->module);
}

/* Returns whether a failed check of arguments or of the context is reported: a caller's mistake. */
static bool is_check(const struct judged *j)
{
	switch (j->v->kind) {
	case KIND_BUG:
	case KIND_WARNING:
	case KIND_INVALID_OPCODE:
		/* FORTIFY_SOURCE checks the function's own copy */
		return !str_has(j->e->note, "detected field-spanning");
	case KIND_LOCKDEP:
	case KIND_ATOMIC_SLEEP:
		return true;
	default:
		return false;
	}
}

/* Returns whether a module is a library, and another module that calls it is its user. */
static bool is_user(struct str module, struct str library)
{
	return provider_importers(library) && !provider_uses(library, module);
}

/* Returns whether the library had called the module of a frame, which then called the library. */
static bool was_called_by(const struct incident *e, const struct frame *user, struct str library)
{
	for (const struct frame *f = user; f < e->frame + e->nr_frames; f++)
		if (f->part == PART_MAIN && !f->unreliable && !str_same(f->module, user->module))
			return str_same(f->module, library);
	return false;
}

/*
 * Returns the first frame from `f` on that is no helper and not in a module, if at most INNER_MOST
 * functions of this module precede it; else a frame of the module. Stores in `ret_entry` the last
 * of these functions, if any.
 */
static const struct frame *leave_module(const struct incident *e, const struct frame *f,
					struct str module, bool doubted,
					const struct frame **ret_entry)
{
	for (uint32_t inner = 0; f && inner < INNER_MOST && str_same(f->module, module); inner++) {
		*ret_entry = f;
		f = skip_helpers(e, f - e->frame + 1, doubted);
	}
	return f;
}

/*
 * Returns the frame of the module that used a library for the call at `f`: of drm_kms_helper, the
 * driver that called it. Returns `f` if its module is no library, or if no user is in the trace.
 */
static const struct frame *user_of(const struct incident *e, const struct frame *f, bool doubted)
{
	const struct frame *entry = f, *user;

	while ((user = leave_module(e, f, f->module, doubted, &entry)) && user->module.n &&
	       !str_same(user->module, f->module) && is_user(user->module, f->module) &&
	       (importers_of(entry) || !was_called_by(e, user, f->module)))
		f = user;
	return f;
}

/*
 * Returns the frame of the module that called the reported function, if this function checks what
 * its caller does; NULL: none. What a module calls in the kernel is an exported function. Modules
 * that belong to one driver also call each other: only a library has an interface. Stores in
 * `ret_known` whether many modules call this function.
 */
static const struct frame *checked_caller(const struct judged *j, const struct blame *b,
					  bool *ret_known)
{
	const struct incident *e = j->e;
	uint32_t i = from_place(j, b->place, b->doubted);
	const struct frame *place = b->place, *caller, *entry;

	if (!is_check(j))
		return NULL;
	/* reports of locks do not name the function */
	for (; !place && i < e->nr_frames; i = next_frame(e, i + 1, b->doubted))
		if (!is_helper(&e->frame[i]))
			place = &e->frame[i];
	caller = skip_helpers(e, i, b->doubted);
	entry = place;
	if (place && place->module.n)
		caller = leave_module(e, caller, place->module, b->doubted, &entry);
	if (!place || !caller || !caller->module.n || str_same(caller->module, place->module))
		return NULL;
	*ret_known = is_helper(entry) || importers_of(entry);
	if (place->module.n && (!is_user(caller->module, place->module) ||
				(!*ret_known && was_called_by(e, caller, place->module))))
		return NULL;
	return place->module.n ? user_of(e, caller, b->doubted) : caller;
}

/*
 * Returns whether a check of the kernel failed while a module was being unloaded. Such checks find
 * what the module leaves behind, often deep in the kernel.
 */
static bool is_left_behind(const struct judged *j)
{
	const struct incident *e = j->e;

	if (j->v->kind != KIND_WARNING && j->v->kind != KIND_BUG)
		return false;
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN && !e->frame[i].unreliable &&
		    str_has(e->frame[i].function, "sys_delete_module"))
			return true;
	return false;
}

/* Returns whether a module was being loaded or unloaded. */
static bool is_moving(const struct incident *e, struct str module)
{
	for (uint32_t i = 0; i < e->nr_modules; i++)
		if (str_same(e->module[i].name, module))
			return e->module[i].loading || e->module[i].unloading;
	return false;
}

/*
 * Returns the frame of a module that called the kernel through a common interface, such as
 * dma_map_page_attrs(), shortly before the fault; NULL: none. What such a call does inside the
 * kernel is well tested, so that the caller is suspect. The caller is also suspect if an exported
 * function reports a failed check, if a check fails during its unloading, if a CPU hangs, because
 * the loop is rarely in the interface, if a fault occurs in the very function that the module
 * called, and if a fault occurs while the caller's module sets up or removes its devices.
 */
static const struct frame *user_of_interface(const struct judged *j, const struct blame *b)
{
	const struct incident *e = j->e;
	bool doubted = b->doubted, left = is_left_behind(j), any = j->v->kind == KIND_HANG || left;
	const struct frame *before = b->place;
	/* of helpers, the first function that is no helper counts as the reported one */
	uint32_t inner = !b->place || is_helper(b->place) ? 0 : 1;

	if (j->v->kind == KIND_UBSAN) /* the function's own arithmetic is wrong */
		return NULL;
	any |= is_check(j) && b->place && importers_of(b->place);
	for (uint32_t i = from_place(j, b->place, doubted); i < e->nr_frames;
	     i = next_frame(e, i + 1, doubted)) {
		const struct frame *f = &e->frame[i];

		if (f->module.n) {
			any |= j->fault && (inner <= 1 || is_moving(e, f->module));
			any |= is_check(j) && inner <= INNER_MOST;
			any |= before && importers_of(before) >= COMMON_IMPORTERS;
			return any ? f : NULL;
		}
		if (is_way_in(f))
			return NULL;
		if (library_of_frame(f) == LIBRARY_NONE && inner++ > INNER_MOST && !left)
			return NULL;
		before = f;
	}
	return NULL;
}

/* Returns whether a function faulted on a pointer that its caller passed. */
static bool used_argument(const struct judged *j, const struct frame *place)
{
	return j->fault && place == &j->e->ip && j->has_base && place->size &&
	       holds_argument(j->e, j->in.base, place->offset);
}

/*
 * Returns the frame of the module that entered a library in a part of the report: the first frame
 * of another module after frames of `library`; NULL: none.
 */
static const struct frame *entrant(const struct incident *e, enum part part, struct str library)
{
	bool inside = false;

	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];

		if (f->part != part || f->unreliable || !f->function.n)
			continue;
		if (str_same(f->module, library))
			inside = true;
		else if (f->module.n)
			return inside ? f : NULL;
		else if (is_way_in(f))
			return NULL;
	}
	return NULL;
}

/*
 * Returns the frame of the module that freed an object through a library, and then used the object
 * through this library; NULL: none. The library's user decides how long its objects live.
 */
static const struct frame *misuser(const struct judged *j, const struct frame *place)
{
	const struct frame *user, *freer;

	if (!place->module.n || j->v->mechanism != MECH_UAF)
		return NULL;
	user = entrant(j->e, PART_MAIN, place->module);
	freer = entrant(j->e, PART_FREE, place->module);
	return user && freer && str_same(user->module, freer->module) ? user : NULL;
}

/*
 * Returns whether a user of the suspect may be at fault: another module called the suspect, which
 * is a library, shortly before; a check of a library failed, perhaps for a user that is not in the
 * trace; or a check failed in a call between two modules of which none is a library.
 */
static bool is_used(const struct judged *j, const struct blame *b)
{
	const struct incident *e = j->e;
	const struct frame *suspect = b->helped || b->argument ? b->caller : b->place;
	uint32_t inner = 0, i = 0;

	if (!suspect || !suspect->module.n)
		return false;
	if (is_check(j) && provider_importers(suspect->module))
		return true;
	while (i < e->nr_frames && &e->frame[i] != suspect)
		i++;
	/* the frame of the instruction is not in the trace */
	i = i < e->nr_frames ? next_frame(e, i + 1, b->doubted)
			     : from_place(j, suspect, b->doubted);
	for (; i < e->nr_frames; i = next_frame(e, i + 1, b->doubted)) {
		const struct frame *f = &e->frame[i];

		if (str_same(f->module, suspect->module)) {
			if (inner++ == INNER_MOST)
				return false;
			continue;
		}
		if (!f->module.n)
			return false;
		if (provider_importers(suspect->module))
			return is_user(f->module, suspect->module);
		return is_check(j) && !provider_importers(f->module);
	}
	return false;
}

static const struct frame *direct_caller(const struct judged *j, const struct frame *place,
					 bool doubted)
{
	uint32_t i = from_place(j, place, doubted);

	return i < j->e->nr_frames ? &j->e->frame[i] : NULL;
}

static struct blame find_blame(const struct judged *j)
{
	const struct incident *e = j->e;
	struct blame b = {.place = place_of(j), .doubted = !has_reliable(e)};
	const struct frame *user;
	bool known = false;

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
	user = checked_caller(j, &b, &known);
	if (user)
		b.caller = user;
	b.shared = user && !known;
	b.helped = !b.place || (!b.place->module.n && is_helper(b.place)) || user;
	if (b.helped) {
		if (!b.caller)
			b.caller = skip_helpers(e, from_place(j, b.place, b.doubted), b.doubted);
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
		const struct frame *caller = direct_caller(j, b.place, b.doubted);

		if (caller && caller->module.n && !str_same(caller->module, b.place->module) &&
		    (!b.place->module.n || importers_of(b.place) ||
		     is_user(caller->module, b.place->module))) {
			b.argument = true;
			b.caller = caller;
		}
	}
	user = b.place && !b.argument ? misuser(j, b.place) : NULL;
	if (user) {
		b.helped = b.remote = true;
		b.caller = user;
	}
	return b;
}

struct blame blame_of(const struct judged *j)
{
	struct blame b = find_blame(j);

	b.used = is_used(j, &b);
	return b;
}
