// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * triage: how sure a verdict is. The mechanism and the culprit each have a confidence; that of the
 * verdict is the lower one. tests/triage/real.py measures how often each value is right.
 */
#include "triage/judge.h"

#define NO_TRACE_LINES                                                                             \
	12	  /* lines that no rule understands, besides as many as the trace has frames */
#define MARGIN 15 /* points by which the culprit must lead for high confidence */

static enum confidence at_most(enum confidence a, enum confidence b)
{
	return a < b ? a : b;
}

/*
 * Returns whether a mechanism is an inference from where an address lies, or only says that the
 * pointer is wrong. Another bug may leave the same traces.
 */
static bool is_inferred(const struct judged *j)
{
	switch (j->v->mechanism) {
	case MECH_BIT_FLIP:
	case MECH_FREELIST:
	case MECH_TRUNCATED_POINTER:
	case MECH_WILD_CALL:
	case MECH_VMALLOC_UAF:
	case MECH_VMALLOC_GUARD:
	case MECH_MMIO_UAF:
	case MECH_UNINIT:
	case MECH_REDZONE:
	case MECH_WILD_POINTER:
	case MECH_NON_CANONICAL:
		return true;
	case MECH_NEAR_NULL:
		return !j->has_base || j->b;
	case MECH_SMAP:
		return !j->has_present || !j->present;
	case MECH_CONTAINER_OF_NULL:
		return !j->has_base || (j->a && j->b);
	case MECH_ERR_PTR:
		return !j->has_base;
	default:
		return false;
	}
}

/* Returns the confidence in the mechanism. */
static enum confidence of_mechanism(const struct judged *j)
{
	const struct diagnosis *v = j->v;

	if (v->mechanism == MECH_AS_REPORTED)
		return v->kind == KIND_UNKNOWN	    ? CONFIDENCE_LOW
		       : j->fault || j->e->headless ? CONFIDENCE_MEDIUM
						    : CONFIDENCE_HIGH;
	if (is_inferred(j))
		return j->has_present || j->has_base ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	if (!j->fault || j->has_base)
		return CONFIDENCE_HIGH;
	/* An address in the first page is clear without the instruction. */
	if (v->mechanism == MECH_NULL_DEREF || v->mechanism == MECH_NULL_CALL)
		return j->has_present ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	return j->has_present ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

/*
 * Returns whether the report shows damage that other code did before: the code that met the damage
 * is often innocent. Mechanisms that is_inferred() lists need not be here.
 */
static bool is_old_damage(const struct judged *j)
{
	switch (j->v->mechanism) {
	case MECH_LIST_POISON:
	case MECH_LIST_CORRUPTION:
	case MECH_SLAB_POISON:
	case MECH_SLAB_CORRUPTION:
	case MECH_PAGE_POISON:
	case MECH_STRING_POINTER:
	case MECH_USERCOPY:
	case MECH_STACK_CORRUPTION:
	case MECH_REFCOUNT:
		return true;
	default:
		return j->v->kind == KIND_BAD_PAGE;
	}
}

/*
 * Returns whether a report shows a symptom only: a task that waits, two locks that wait for each
 * other, a panic that someone asked for. Who is at fault may not be in the report at all.
 */
static bool is_symptom(const struct judged *j)
{
	return j->v->kind == KIND_LOCKDEP || j->v->kind == KIND_PANIC ||
	       (j->v->kind == KIND_HANG &&
		str_starts(str_trim(j->ls->line[j->e->first].text), "INFO: task "));
}

/* Returns the module of the first frame of a part of the report; empty: none. */
static struct str module_of_part(const struct incident *e, enum part part)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == part && e->frame[i].module.n)
			return e->frame[i].module;
	return (struct str){};
}

/* Returns whether another module than the culprit allocated or freed the object. */
static bool is_shared(const struct judged *j)
{
	struct str first = j->v->suspect[0].module;
	struct str freed = module_of_part(j->e, PART_FREE);
	struct str allocated = module_of_part(j->e, PART_ALLOC);

	return (freed.n && !str_same(freed, first)) || (allocated.n && !str_same(allocated, first));
}

/* Returns the confidence in the culprit. */
static enum confidence of_culprit(const struct judged *j)
{
	const struct suspect *s = j->v->suspect;
	bool core = j->v->suspects && str_is(s[0].module, "vmlinux");

	if (j->v->culprit_unknown)
		return CONFIDENCE_MEDIUM;
	if (j->v->suspects > 1 && s[0].points < s[1].points + MARGIN)
		return CONFIDENCE_MEDIUM;
	if (s[0].cut)
		return CONFIDENCE_LOW;
	if ((core && is_old_damage(j)) || is_symptom(j) || is_shared(j))
		return CONFIDENCE_MEDIUM;
	return j->v->culprit_direct ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

/* Returns the most that the circumstances allow: damage before the report, or a damaged log. */
static enum confidence of_circumstances(const struct judged *j)
{
	const struct incident *e = j->e;

	if (e->interleaved)
		return CONFIDENCE_LOW;
	/* after an oops (D) or a machine check (M), memory may be corrupt */
	if (str_has_any(e->taint, "D|M") || e->headless)
		return CONFIDENCE_MEDIUM;
	if (e->strange > e->nr_frames + NO_TRACE_LINES)
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_HIGH;
}

void judge_confidence(struct judged *j)
{
	j->v->confidence = at_most(at_most(of_mechanism(j), of_culprit(j)), of_circumstances(j));
}
