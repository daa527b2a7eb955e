// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/diagnoses.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rules/diagnoses_phrases.h"

#define ID_LEN 3

const struct about abouts[NR_ABOUTS] = {
	[ABOUT_MEANS] = {"means", "what it means"},
	[ABOUT_MEASURED] = {"measured", "how faultscope detects it"},
	[ABOUT_CONFIRM] = {"confirm", "how to confirm it"},
	[ABOUT_WORKAROUND] = {"workaround", "workaround"},
	[ABOUT_FIX] = {"fix", "fix"},
	[ABOUT_ALIKE] = {"alike", "not to be confused with"},
};

#define DIAGNOSIS(id, slug, worst, title, sources, ...)                                            \
	{id, slug, SEVERITY_##worst, title, {__VA_ARGS__}, sources},

static const struct diagnosis diagnoses[] = {
#include "rules/diagnoses_maps.def"
#include "rules/diagnoses_memory.def"
#include "rules/diagnoses_fds.def"
#include "rules/diagnoses_paging.def"
#include "rules/diagnoses_kernel.def"
#include "rules/diagnoses_reports.def"
};

const struct diagnosis *diagnosis_at(size_t i)
{
	return i < sizeof(diagnoses) / sizeof(diagnoses[0]) ? &diagnoses[i] : NULL;
}

/* Compares ids in any case and without leading zeros: "m1" is "M01". */
static bool is_id(const char *id, const char *word)
{
	const char *digits = word + 1;

	if (toupper((unsigned char)word[0]) != id[0] || !isdigit((unsigned char)*digits))
		return false;
	while (digits[0] == '0' && digits[1])
		digits++;
	return !strcmp(digits, id[1] == '0' ? id + 2 : id + 1);
}

/*
 * Finds a diagnosis by its full slug, or by the beginning of its slug if no other slug begins in
 * the same way. A single word such as "crash" must be a full slug, because it may be a word of an
 * error message.
 */
static const struct diagnosis *find_slug(const char *word)
{
	const struct diagnosis *d, *found = NULL;
	size_t len = strlen(word);

	if (len < SLUG_LEAST)
		return NULL;
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		if (strncasecmp(d->slug, word, len))
			continue;
		if (!d->slug[len])
			return d;
		if (found || !strchr(word, '-'))
			return NULL;
		found = d;
	}
	return found;
}

const struct diagnosis *diagnosis_find(const char *word)
{
	const struct diagnosis *d;

	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		if (is_id(d->id, word))
			return d;
	return find_slug(word);
}

const char *diagnosis_slug(const char *id)
{
	const struct diagnosis *d = diagnosis_find(id);

	return d ? d->slug : "";
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the Levenshtein distance of an id and a word, in any case. */
static size_t distance(const char *id, const char *word)
{
	size_t row[ID_LEN + 1], len = strlen(word);

	for (size_t i = 0; i <= ID_LEN; i++)
		row[i] = i;
	for (size_t k = 1; k <= len; k++) {
		size_t diagonal = row[0];

		row[0] = k;
		for (size_t i = 1; i <= ID_LEN; i++) {
			size_t kept = diagonal + (toupper((unsigned char)word[k - 1]) != id[i - 1]);

			diagonal = row[i];
			row[i] = least(kept, least(row[i], row[i - 1]) + 1);
		}
	}
	return row[ID_LEN];
}

size_t diagnoses_near(const char *word, const struct diagnosis **ret, size_t most)
{
	const struct diagnosis *d;
	size_t n = 0;

	for (size_t far = 1; far < ID_LEN && !n; far++)
		for (size_t i = 0; (d = diagnosis_at(i)) && n < most; i++)
			if (distance(d->id, word) == far)
				ret[n++] = d;
	return n;
}
