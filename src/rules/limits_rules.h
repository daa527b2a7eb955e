/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: values that are near their limit or grow towards it. Each resource in resources[] has a
 * rule for each of the two, and remedies.
 */
#ifndef FS_RULES_LIMITS_RULES_H
#define FS_RULES_LIMITS_RULES_H

#include "rules/rules.h"

/*
 * A growth finding opens if the forecast says that the limit is reached in less than
 * LIMIT_SOON_SECONDS. It is critical if the forecast is sure and says less than
 * LIMIT_PRESS_SECONDS.
 */
#define LIMIT_SOON_SECONDS  3600.0
#define LIMIT_PRESS_SECONDS 300.0
/* for an open finding, LIMIT_SOON_SECONDS and LIMIT_PRESS_SECONDS are longer by this factor */
#define LIMIT_STAY 1.25

/*
 * Returns true if neither rule of the resource can match now, because the resource has no history.
 * A history begins long before the value is near its limit, so this cheap check often saves both
 * tests.
 */
static inline bool limit_is_far(const struct rule *rule, const struct model *m,
				const struct subject *s)
{
	return (rule->test == limit_is_near || rule->test == limit_is_coming) &&
	       !resource_series(m, s, rule->resource);
}

/* Adds evidence: the growth per second (in bytes, or as a count) and the time until the limit. */
void limit_say_forecast(struct finding *f, const struct forecast *c, bool bytes);

/* Removes the forecast and its evidence from a finding that closes. */
void limit_drop_forecast(struct finding *f);

/* Returns the words after the time of a forecast: " if it goes on" unless the forecast is sure. */
static inline const char *limit_condition(const struct forecast *c)
{
	return c->sure ? "" : " if it goes on";
}

/* Stores in a finding of growth the time of its last forecast, and the value at that time. */
void limit_growth_keep(const struct occasion *o, uint64_t value, struct finding *f);

/*
 * Returns true if a finding of growth stays open although there is no forecast now: noisy values do
 * not always allow one. The last forecast (at grew_ns) must be recent, and the value must not have
 * fallen since.
 */
bool limit_growth_held(const struct occasion *o, const struct finding *open, uint64_t value,
		       uint64_t limit);

/*
 * Add remedies that raise a limit, for limits that are near and for failed calls. `s` is NULL if
 * the process is gone.
 */
void limit_help_map_count(struct finding *f, const struct model *m, uint64_t high);
void limit_help_descriptors(struct finding *f, const struct subject *s);
void limit_help_nofile(struct finding *f, const struct subject *s, uint64_t soft);
void limit_help_memlock(struct finding *f, const struct subject *s, uint32_t pid);

#endif
