/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what is known of each diagnosis, as text: the other half of a rule, by the same id. It may
 * be there before the rule is: then it says how to look by hand.
 */
#ifndef FS_RULES_DIAGNOSES_H
#define FS_RULES_DIAGNOSES_H

#include "rules/rules.h"

enum {
	ABOUT_MEANS,
	ABOUT_MEASURED,
	ABOUT_CONFIRM,
	ABOUT_WORKAROUND,
	ABOUT_FIX,
	ABOUT_ALIKE,
	NR_ABOUTS
};

struct diagnosis {
	const char *id;		/* stable once shipped */
	const char *slug;	/* its name, as stable as the id */
	enum severity severity; /* the worst that it comes to */
	const char *title;
	/* Paragraphs, a line each; a line that begins with "$ " is a command, kept whole. */
	const char *about[NR_ABOUTS];
	const char *sources; /* public threads, owner/name#number, a blank between two; or empty */
};

struct about {
	const char *key, *heading;
};

extern const struct about abouts[NR_ABOUTS];

/* Mappings, memory, descriptors, the kernel; each by id. NULL at the end. */
const struct diagnosis *diagnosis_at(size_t i);

/*
 * Of an id in any case, leading zeros left out or not; of a slug, or the beginning of a single one,
 * at least SLUG_LEAST bytes. NULL where there is none.
 */
#define SLUG_LEAST 4
const struct diagnosis *diagnosis_find(const char *word);

/* The slug of an id; empty where there is none. */
const char *diagnosis_slug(const char *id);

/* Those whose ids are nearest to a word, all as near, at most `most`; returns how many. */
size_t diagnoses_near(const char *word, const struct diagnosis **ret, size_t most);

/* The rule that flags it; NULL: this version has none. */
const struct rule *diagnosis_rule(const struct diagnosis *d);

#endif
