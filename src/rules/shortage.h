/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: is this machine short of memory, what kind, and for how long. */
#ifndef FS_RULES_SHORTAGE_H
#define FS_RULES_SHORTAGE_H

#include "rules/rules.h"

struct shortage {
	bool is_short;		    /* a finding of warning or above about memory is open */
	const char *kind;	    /* static, stable: "none", "swap", "page_cache", ... */
	const struct finding *main; /* the gravest; NULL: none */
	double some, full;	    /* share of time that work waits; below 0: not known */
	double since_seconds;	    /* about; below 0: not known, or it does not wait */
	bool since_longer;	    /* at least so long */
};

/*
 * Whether a rule is about memory running short: those of descriptors and map counts are not, nor of
 * faults that wait for something else or went to a file that was cut.
 */
bool shortage_is_about(const struct rule *rule);

void shortage_of(const struct model *m, const struct findings *fs, struct shortage *ret);

#endif
