// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/signature.h"

#define HEADER_MOST 1024 /* number of bytes of a line that are searched */

/* Short names for flags, which signatures.def uses. */
enum {
	ANY = SIG_ANYWHERE,
	JOIN = SIG_JOIN,
	WRAP = SIG_WRAPPER,
	DIES = SIG_FATAL,
	NOTE = SIG_NOTE,
	BENIGN = SIG_BENIGN,
	ASIDE = SIG_ASIDE,
	CUT = SIG_CUT,
	REBOOT = SIG_REBOOT,
	LAST = SIG_LAST,
};

#define SIGNATURE(pattern, kind, flags, access, kernels)                                           \
	{pattern, KIND_##kind, flags, ACCESS_##access, kernels},

const struct signature signatures[] = {
#include "triage/signatures_devices.def"
#include "triage/signatures.def"
};
const size_t nr_signatures = sizeof(signatures) / sizeof(signatures[0]);

/* Returns the first bytes with which matching lines can begin; "%!" stands for several words. */
static const char *beginnings(const char *pattern, char one[2])
{
	one[0] = *pattern;
	one[1] = 0;
	return *pattern == '%' ? "WBI[" : one;
}

static void pair_mark(struct signature_index *ix, const char *two)
{
	unsigned int pair = (unsigned char)two[0] << 8 | (unsigned char)two[1];

	ix->pair[pair / 64] |= 1ull << (pair % 64);
}

/* Marks the first two bytes with which matching lines can begin; "%!" stands for several words. */
static void pairs_mark(struct signature_index *ix, const char *pattern)
{
	if (*pattern != '%') {
		pair_mark(ix, pattern);
		return;
	}
	pair_mark(ix, "WA");
	pair_mark(ix, "BU");
	pair_mark(ix, "IN");
	pair_mark(ix, "[ ");
}

static bool pair_is(const struct signature_index *ix, const char *two)
{
	unsigned int pair = (unsigned char)two[0] << 8 | (unsigned char)two[1];

	return ix->pair[pair / 64] >> (pair % 64) & 1;
}

void signature_index_make(struct signature_index *ret)
{
	uint16_t at[256];
	char one[2];

	memset(ret->from, 0, sizeof(ret->from));
	for (size_t i = 0; i < nr_signatures; i++)
		for (const char *c = beginnings(signatures[i].pattern, one); *c; c++)
			ret->from[(unsigned char)*c + 1]++;
	for (int c = 0; c < 256; c++) {
		at[c] = ret->from[c];
		ret->from[c + 1] += ret->from[c];
	}
	for (size_t i = 0; i < nr_signatures; i++)
		for (const char *c = beginnings(signatures[i].pattern, one); *c; c++)
			if (at[(unsigned char)*c] < sizeof(ret->row) / sizeof(ret->row[0]))
				ret->row[at[(unsigned char)*c]++] = i;
	memset(ret->pair, 0, sizeof(ret->pair));
	for (size_t i = 0; i < nr_signatures; i++)
		if (signatures[i].flags & SIG_ANYWHERE)
			pairs_mark(ret, signatures[i].pattern);
}

static const struct signature *rows_try(const struct signature_index *ix, struct str text,
					bool begins, bool last, struct captures *ret)
{
	unsigned char c = str_at(text, 0);

	for (int i = ix->from[c]; i < ix->from[c + 1]; i++) {
		const struct signature *sig = &signatures[ix->row[i]];
		struct captures got;

		if (!begins && !(sig->flags & SIG_ANYWHERE))
			continue;
		if (!!(sig->flags & SIG_LAST) != last)
			continue;
		if (sig->pattern[0] != '%' && sig->pattern[1] != '%' &&
		    sig->pattern[1] != str_at(text, 1))
			continue;
		memset(&got, 0, sizeof(got));
		if (!match(sig->pattern, text, &got))
			continue;
		*ret = got;
		return sig;
	}
	return NULL;
}

/* Returns whether a quotation mark precedes the text, as in source code or a text about crashes. */
static bool is_quoted(struct str text, size_t at)
{
	return text.s[at - 1] == '"' || text.s[at - 1] == '\'' || text.s[at - 1] == '`';
}

/* Returns whether `s` is a conversion of printf ("%s", "%016lx", "%px"), not a name with '%'. */
static bool is_conversion(struct str s)
{
	size_t at = 1;

	while (is_digit(str_at(s, at)) || str_at(s, at) == 'l' || str_at(s, at) == '#')
		at++;
	if (!str_at(s, at) || !strchr("sduxcp", s.s[at]))
		return false;
	if (s.s[at] == 'p' && str_at(s, at + 1) && strchr("xKSsB", s.s[at + 1]))
		at++;
	return !is_letter(str_at(s, at + 1)) && !is_digit(str_at(s, at + 1));
}

/* Returns whether the line is a format string, from a source file or a patch. */
static bool is_format(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.s[i] == '%' && is_conversion(str_from(text, i)))
			return true;
	return false;
}

const struct signature *signature_find(const struct signature_index *ix, struct str text,
				       struct captures *ret)
{
	const struct signature *sig;

	text = str_first(str_trim(text), HEADER_MOST);
	if (!text.n)
		return NULL;
	sig = rows_try(ix, text, true, false, ret);
	for (size_t at = 1; !sig && at + 4 < text.n; at++)
		if (pair_is(ix, text.s + at) && !is_quoted(text, at))
			sig = rows_try(ix, str_from(text, at), false, false, ret);
	if (!sig)
		sig = rows_try(ix, text, true, true, ret);
	return sig && !is_format(text) ? sig : NULL;
}
