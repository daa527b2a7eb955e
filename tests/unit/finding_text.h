/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Returns evidence and remedies of findings as text, so that tests can compare them. */
#ifndef FS_TESTS_UNIT_FINDING_TEXT_H
#define FS_TESTS_UNIT_FINDING_TEXT_H

#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

/* Returns evidence as renderers print it. The text stays valid during the next three calls. */
static inline const char *evidence_str(const struct evidence *e)
{
	static char text[4][256];
	static int at;
	struct buf b = {};

	at = (at + 1) % 4;
	evidence_put(&b, e);
	snprintf(text[at], sizeof(text[at]), "%s", b.s ? b.s : "");
	buf_free(&b);
	return text[at];
}

/* Returns evidence without its limit, such as "5" for "5 of 10". */
static inline const char *evidence_value_str(const struct evidence *e)
{
	struct evidence value = *e;

	value.has_limit = value.assumed = false;
	return evidence_str(&value);
}

/* Returns remedy i, such as "workaround: raise the limit: ulimit -n 1024"; "" if none. */
static inline const char *remedy_str(const struct finding *f, size_t i)
{
	static char text[4][1400];
	static int at;
	const struct remedy *r;

	if (!f || i >= f->nr_remedies)
		return "";
	r = &f->remedy[i];
	at = (at + 1) % 4;
	snprintf(text[at], sizeof(text[at]), "%s: %s%s%s", remedy_kind_name(r->kind), r->text,
		 r->command[0] ? ": " : "", r->command);
	return text[at];
}

/* Returns the evidence of a field of a finding; "none" if it has no such evidence. */
static inline const char *finding_evidence(const struct finding *f, const char *field)
{
	for (size_t i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field))
			return evidence_str(&f->evidence[i]);
	return "none";
}

/* Returns whether a remedy of a finding contains these words. */
static inline bool finding_advises(const struct finding *f, const char *words)
{
	for (size_t i = 0; i < f->nr_remedies; i++)
		if (strstr(remedy_str(f, i), words))
			return true;
	return false;
}

#endif
