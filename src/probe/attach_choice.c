// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/attach_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/overhead.h"

const struct hook_alternate *choice_of(const struct choice *c, size_t hook)
{
	return c->at[hook] < 0 ? NULL : &hooks[hook].alternate[c->at[hook]];
}

bool choice_is(const struct choice *c, const char *hook, const char *mechanism)
{
	const struct hook_alternate *alt = choice_of(c, hook_find(hook));

	return alt && !strcmp(alt->mechanism, mechanism);
}

bool choice_is_hash(const struct choice *c)
{
	const struct hook_alternate *state = choice_of(c, hook_find("state"));

	/*
	 * If no process state is kept, any build will do: choose the hash-table build, which loads
	 * on any kernel.
	 */
	return !state || state->state == STATE_HASH;
}

#define COSTS_CALLS "it costs each system call of the host; --export.calls enables it"

static void note(struct choice *c, size_t hook, const char *mechanism, const char *answer)
{
	char *why = c->status[hook].why;
	size_t len = strlen(why);

	snprintf(why + len, sizeof(c->status[hook].why) - len, "%s%s: %s", len ? "; " : "",
		 mechanism, answer);
}

/* Returns whether a probe is `calls`, and is not worth a cost at each system call of the host. */
static bool is_only_if_free(const struct choice *c, size_t hook)
{
	return c->accepts & ACCEPTS_FREE_CALLS && (int)hook == hook_find("calls") &&
	       !c->forced[hook] && !(c->tiers >> hooks[hook].tier & 1);
}

/*
 * An attach type that LACKS_MINOR faults is used only for major faults, and one that lacks some
 * calls only if they may be missing, or if --probe requests it.
 */
static bool is_wanted(const struct choice *c, size_t hook, const struct hook_alternate *alt)
{
	if (is_only_if_free(c, hook))
		return alt->lacks & SPARES_CALLS;
	if (alt->lacks & OPTIONAL_CALLS & ~c->accepts)
		return false;
	if (alt->on_request && !(c->accepts & ACCEPTS_ON_REQUEST))
		return false;
	return (int)hook != hook_find("fault_end") || !(alt->lacks & LACKS_MINOR) != c->majors;
}

static bool fits(const struct choice *c, const struct hook_alternate *alt)
{
	if (alt->state == STATE_KFUNCS && c->no_kfuncs)
		return false;
	return alt->state == STATE_ANY || (alt->state == STATE_HASH) == choice_is_hash(c);
}

/*
 * Returns the first attach type, from index `from` on, that this build has, or -1 if there is none.
 */
static int next_fitting(const struct choice *c, size_t hook, int from)
{
	const struct hook_alternate *alt = hooks[hook].alternate;

	for (; alt[from].mechanism; from++)
		if (fits(c, &alt[from]) && is_wanted(c, hook, &alt[from]))
			return from;
	return -1;
}

/*
 * Called if no attach type of a probe is left to try. The probe is off if there is one that is used
 * on request only, else unavailable.
 */
static void give_up(struct choice *c, size_t hook)
{
	const struct hook_alternate *alt = hooks[hook].alternate;

	if (is_only_if_free(c, hook)) {
		note(c, hook, "off", COSTS_CALLS);
		return;
	}
	c->status[hook].state = HOOK_BLIND;
	for (; alt->mechanism; alt++)
		if (alt->on_request && fits(c, alt) && !(c->accepts & ACCEPTS_ON_REQUEST) &&
		    !c->forced[hook]) {
			c->status[hook] = (struct hook_status){.state = HOOK_OFF};
			note(c, hook, "off", alt->differs);
		}
}

/* Returns whether the option --probe NAME=none was given. */
static bool is_unwanted(const struct choice *c, const char *hook)
{
	const char *forced = c->forced[hook_find(hook)];

	return forced && !strcmp(forced, "none");
}

const char *choice_why_no_classes(const struct choice *c)
{
	bool unwanted = is_unwanted(c, "fault_begin") || is_unwanted(c, "fault_end");

	return unwanted ? "; one is " SWITCHED_OFF : "";
}

static void choose(struct choice *c, size_t hook)
{
	const char *forced = c->forced[hook];

	c->status[hook].state = HOOK_OFF;
	c->at[hook] = -1;
	if (!(c->tiers >> hooks[hook].tier & 1) &&
	    !(c->majors && (int)hook == hook_find("fault_end")) && !is_only_if_free(c, hook)) {
		note(c, hook, "off",
		     OVERHEAD_ALL >> hooks[hook].tier & 1
			     ? "its overhead level is disabled in this mode; --overhead all "
			       "enables it"
			     : "only readings of resident memory use it");
	} else if (!choice_of(c, hook_find("state"))) {
		c->status[hook].state = HOOK_BLIND;
		note(c, hook, "none",
		     is_unwanted(c, "state")
			     ? "without state there is nothing to count in; it is " SWITCHED_OFF
			     : "without state there is nothing to count in");
	} else if (!forced) {
		c->at[hook] = next_fitting(c, hook, 0);
		if (c->at[hook] < 0 && is_only_if_free(c, hook))
			give_up(c, hook);
	} else if (!strcmp(forced, "none")) {
		c->status[hook].state = HOOK_BLIND;
		note(c, hook, "none", SWITCHED_OFF);
	} else if (!strcmp(forced, HOOK_UNNEEDED)) {
		note(c, hook, "off", "faultscope memory does not need it");
	} else {
		c->at[hook] = hook_alternate_find(&hooks[hook], forced);
		if (fits(c, choice_of(c, hook)))
			return;
		note(c, hook, forced,
		     choice_is_hash(c) ? "not with state=hash" : "needs state=hash");
		c->status[hook].state = HOOK_BLIND;
		c->at[hook] = -1;
	}
}

/*
 * Returns a probe for which --probe requests an attach type of the hash-table build, or NULL if
 * there is none.
 */
static const char *wants_hash(const struct choice *c)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		int i = c->forced[h] ? hook_alternate_find(&hooks[h], c->forced[h]) : -1;

		if (i >= 0 && hooks[h].alternate[i].state == STATE_HASH)
			return hooks[h].name;
	}
	return NULL;
}

static void choose_state(struct choice *c)
{
	size_t state = hook_find("state");
	const char *forced = c->forced[state], *for_hook = wants_hash(c);
	char text[64];

	c->at[state] = 0;
	if (forced && !strcmp(forced, "none")) {
		c->at[state] = -1;
		c->status[state].state = HOOK_BLIND;
		note(c, state, "none", SWITCHED_OFF);
	} else if (forced) {
		c->at[state] = hook_alternate_find(&hooks[state], forced);
	} else if (for_hook) {
		c->at[state] = hook_alternate_find(&hooks[state], "hash");
		snprintf(text, sizeof(text), "the --probe option for %s needs the other", for_hook);
		note(c, state, "task-storage", text);
	}
}

static void choose_all(struct choice *c)
{
	for (size_t h = 0; h < nr_hooks; h++)
		if (h != (size_t)hook_find("state"))
			choose(c, h);
}

void choice_begin(struct choice *c, unsigned int tiers, bool majors, unsigned int accepts,
		  const char *const *forced)
{
	memset(c, 0, sizeof(*c));
	c->accepts = accepts;
	c->tiers = tiers;
	c->majors = majors;
	c->forced = forced;
	choose_state(c);
	choose_all(c);
}

void choice_refused(struct choice *c, size_t hook, const struct answer *answer)
{
	note(c, hook, choice_of(c, hook)->mechanism, answer->text);
	c->status[hook].pending = false;
	if (!c->status[hook].remedy)
		c->status[hook].remedy = answer->remedy;
	c->at[hook] = c->forced[hook] ? -1 : next_fitting(c, hook, c->at[hook] + 1);
	if (c->at[hook] < 0)
		give_up(c, hook);
}

void choice_forbid(struct choice *c, const char *hook, const char *mechanism, const char *why)
{
	struct answer answer = {};

	snprintf(answer.text, sizeof(answer.text), "%s", why);
	if (choice_is(c, hook, mechanism))
		choice_refused(c, hook_find(hook), &answer);
}

void choice_refuse_programs(struct choice *c, const struct answer *answer)
{
	choice_fall_back(c, answer->text);
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = choice_of(c, h);

		if (!alt || !alt->program[0])
			continue;
		note(c, h, "each", answer->text);
		c->status[h].remedy = answer->remedy;
		do
			c->at[h] = c->forced[h] ? -1 : next_fitting(c, h, c->at[h] + 1);
		while (choice_of(c, h) && choice_of(c, h)->program[0]);
		if (c->at[h] < 0)
			c->status[h].state = HOOK_BLIND;
	}
}

bool choice_fall_back(struct choice *c, const char *answer)
{
	size_t state = hook_find("state");

	if (choice_is_hash(c))
		return false;
	for (size_t h = 0; h < nr_hooks; h++) {
		c->status[h].why[0] = 0;
		c->status[h].remedy = NULL;
	}
	note(c, state, "task-storage", answer);
	c->at[state] = c->forced[state] ? -1 : hook_alternate_find(&hooks[state], "hash");
	if (c->at[state] < 0)
		c->status[state].state = HOOK_BLIND;
	choose_all(c);
	return true;
}

bool choice_leave_kfuncs(struct choice *c)
{
	const struct answer answer = {.text = "this kernel has no open-coded iterators (6.7)"};

	if (c->no_kfuncs)
		return false;
	c->no_kfuncs = true;
	for (size_t h = 0; h < nr_hooks; h++)
		if (choice_of(c, h) && choice_of(c, h)->state == STATE_KFUNCS)
			choice_refused(c, h, &answer);
	return true;
}

int choice_hook_of(const struct choice *c, const char *program)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = choice_of(c, h);

		for (int i = 0; alt && i < HOOK_PROGRAMS && alt->program[i]; i++)
			if (!strcmp(alt->program[i], program))
				return h;
	}
	return -1;
}

void choice_settle_classes(struct choice *c, bool areas_foreign)
{
	const struct hook_alternate *end = choice_of(c, hook_find("fault_end"));
	struct hook_status *st = &c->status[hook_find("fault_class")];

	if (st->state != HOOK_ON)
		return;
	if (areas_foreign)
		snprintf(st->why, sizeof(st->why),
			 "this kernel's tree of mappings (maple tree) has an unknown layout");
	else if (c->status[hook_find("fault_begin")].state == HOOK_ON && end &&
		 !(end->lacks & LACKS_MINOR))
		return;
	else
		snprintf(st->why, sizeof(st->why),
			 "needs fault_begin, and fault_end of minor faults too%s",
			 choice_why_no_classes(c));
	st->state = HOOK_BLIND;
	st->used = NULL;
}

bool choice_has_pending(const struct hook_status *status)
{
	for (size_t h = 0; h < nr_hooks; h++)
		if (status[h].pending)
			return true;
	return false;
}

unsigned int choice_levels_on(const struct hook_status *status)
{
	unsigned int levels = 0;

	for (size_t h = 0; h < nr_hooks; h++)
		if (status[h].state == HOOK_ON || status[h].pending)
			levels |= 1u << hooks[h].tier;
	return levels;
}

unsigned int choice_events_of_others(const struct hook_status *status)
{
	unsigned int at = 0;

	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *used = status[h].used;

		if (status[h].state == HOOK_ON || status[h].pending)
			at |= overhead_events_of(hooks[h].name, used->lacks & SPARES_CALLS,
						 used->lacks & TAXES_SWITCHES);
	}
	return at;
}
