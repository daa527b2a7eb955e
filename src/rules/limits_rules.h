/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what is near its limit, and what grows towards it: two tests for every row of the table of
 * things that run out, and what helps against each.
 */
#ifndef FS_RULES_LIMITS_RULES_H
#define FS_RULES_LIMITS_RULES_H

#include "rules/rules.h"

/*
 * Growth is told of when the limit is this near, and is pressing when it is this near and the
 * forecast is sure.
 */
#define LIMIT_SOON_SECONDS  3600.0
#define LIMIT_PRESS_SECONDS 300.0
#define LIMIT_STAY	    1.25 /* times as far, until what was near is no more */

/* Whether neither can hold: growth is kept long before anything is near. Costs next to nothing. */
static inline bool limit_is_far(const struct rule *rule, const struct model *m,
				const struct subject *s)
{
	return (rule->test == limit_is_near || rule->test == limit_is_coming) &&
	       !resource_series(m, s, rule->resource);
}

/* Evidence: what it grows by, in bytes or by count, and when it is full. */
void limit_say_forecast(struct finding *f, const struct forecast *c, bool bytes);

/* What a forecast is told with: behind a time that depends on it. */
static inline const char *limit_condition(const struct forecast *c)
{
	return c->sure ? "" : " if it goes on";
}

/* Keeps in a finding of growth when it had a forecast, and the value then. */
void limit_growth_keep(const struct occasion *o, uint64_t value, struct finding *f);

/*
 * Whether a finding of growth stays though there is no forecast now: there was one a moment ago, at
 * its grew_ns, and a noisy one comes and goes. What fell since does not grow.
 */
bool limit_growth_held(const struct occasion *o, const struct finding *open, uint64_t value,
		       uint64_t limit);

/* Remedies, for a call that was refused too. The subject may be gone (NULL). */
void limit_help_map_count(struct finding *f, const struct model *m, uint64_t high);
void limit_help_descriptors(struct finding *f, const struct subject *s);
void limit_help_nofile(struct finding *f, const struct subject *s, uint64_t soft);
void limit_help_memlock(struct finding *f, const struct subject *s, uint32_t pid);

#endif
