/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: the text of each diagnosis. A diagnosis is detected by the rule with the same id. If there
 * is no such rule, its text says how to detect the problem by hand.
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
	const char *id;		/* the id never changes after release */
	const char *slug;	/* the slug (name) never changes after release */
	enum severity severity; /* the highest severity that a finding with this id can have */
	const char *title;
	/* Paragraphs of text, each on one line. A line that begins with "$ " is a command. */
	const char *about[NR_ABOUTS];
	/* public threads about the problem as owner/name#number, separated by blanks */
	const char *sources;
};

struct about {
	const char *key, *heading;
};

extern const struct about abouts[NR_ABOUTS];

/*
 * Returns diagnosis number i, or NULL if i is too large. The groups are in this order: mappings,
 * memory, descriptors, paging, kernel. Within a group, diagnoses are ordered by id.
 */
const struct diagnosis *diagnosis_at(size_t i);

/*
 * Finds a diagnosis by id (in any case, leading zeros optional) or by slug. The beginning of a slug
 * is enough if it has at least SLUG_LEAST bytes and only one slug begins with it. Returns NULL if
 * no diagnosis matches.
 */
#define SLUG_LEAST 4
const struct diagnosis *diagnosis_find(const char *word);

/* Returns the slug of an id; "" if there is none. */
const char *diagnosis_slug(const char *id);

/*
 * Suggests diagnoses for a word that is no id. Stores up to `most` diagnoses whose ids are most
 * similar to the word. Returns their number; 0 if no id is similar.
 */
size_t diagnoses_near(const char *word, const struct diagnosis **ret, size_t most);

/* Returns the rule that detects a diagnosis; NULL if faultscope cannot detect it. */
const struct rule *diagnosis_rule(const struct diagnosis *d);

#endif
