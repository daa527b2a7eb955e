// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds known error messages in a text. For each known message, the code looks for its whole
 * wording in the text, and counts the words that both share. A whole wording gives a higher score
 * than shared words.
 */
#define _GNU_SOURCE /* for memmem() and strcasestr() */
#include "rules/messages.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX      (256 << 10) /* at most this many bytes of a text are compared */
#define WORDS_MAX     64	  /* at most this many different words of a text are compared */
#define WORD_BYTES    32
#define WORDING_MAX   320
#define MATCHES_MAX   512
#define DIAGNOSES_MAX 128
/* lowest score for a diagnosis whose text shares words with the search */
#define LEAST_TEXT 4.5
/* texts of at most this many words are also compared with the explanations (`means`) */
#define TITLE_WORDS 6
#define LEAST_SCORE 6.0	 /* messages with a lower score are not reported */
#define LEAST_SHARE 0.35 /* messages below this share of the best score are not reported */
#define WHOLE_BONUS 5.0
/*
 * score factor for a known message that shares words with the text, but does not match as a whole
 */
#define SIMILAR 0.8
/*
 * score factor for a message that only shares words with the text, if another message matches as a
 * whole
 */
#define BESIDE 0.4
/* score factor for words shared with an explanation (`means`), if the text is short */
#define SEARCH 0.7
/* score factor for the name of an errno if a message of a program matches too */
#define GENERIC	  0.6
#define CUT_SHORT 0.3 /* score factor for a message if a longer message matches beyond its end */
/* score of a number that the message and the text share, as in "exit code 137" */
#define NUMBER 5

#define MESSAGE(...) {__VA_ARGS__},

static const struct message messages[] = {
#include "rules/messages_calls.def"
#include "rules/messages_devices.def"
#include "rules/messages_runtimes.def"
#include "rules/messages_servers.def"
#include "rules/messages_symptoms.def"
#include "rules/messages_system.def"
};

const struct message *message_at(size_t i)
{
	return i < sizeof(messages) / sizeof(messages[0]) ? &messages[i] : NULL;
}

const char *diagnosis_check(const struct diagnosis *d, size_t *ret_len)
{
	const char *at = d->about[ABOUT_CONFIRM];

	while (at && *at) {
		size_t len = strcspn(at, "\n");

		if (len > 2 && at[0] == '$' && at[1] == ' ') {
			*ret_len = len - 2;
			return at + 2;
		}
		at += len + (at[len] == '\n');
	}
	return NULL;
}

struct text {
	/* the text in lower case: each run of blanks is one blank, newlines are kept */
	char s[TEXT_MAX + 1];
	size_t len;
	char word[WORDS_MAX][WORD_BYTES];
	size_t words;
	double weight; /* sum of the weights of the words */
};

/* Returns the length of a terminal escape sequence that begins at `s`; 0: none. */
static size_t escape_bytes(const char *s, size_t len)
{
	size_t n = 2;

	if (s[0] != '\033')
		return 0;
	if (len < 2 || s[1] != '[')
		return 1;
	while (n < len && !isalpha((unsigned char)s[n]) && s[n] != '\n')
		n++;
	return n < len && s[n] != '\n' ? n + 1 : n;
}

static void normalise(struct text *t, const char *s, size_t len)
{
	for (size_t i = 0; i < len && t->len < TEXT_MAX;) {
		unsigned char c = s[i];
		size_t n = escape_bytes(s + i, len - i);

		if (n) {
			i += n;
			continue;
		}
		i++;
		if (c == '\n') {
			t->s[t->len++] = '\n';
		} else if (c <= ' ' || c == 0x7f) {
			if (t->len && t->s[t->len - 1] != ' ' && t->s[t->len - 1] != '\n')
				t->s[t->len++] = ' ';
		} else {
			t->s[t->len++] = (char)tolower(c);
		}
	}
	t->s[t->len] = 0;
}

static int by_word(const void *word, const void *of)
{
	return strcmp(word, *(const char *const *)of);
}

/* Returns true if `words`, which are in the order of strcmp(), contain the word. */
static bool is_one_of(const char *word, const char *const *words, size_t n)
{
	return bsearch(word, words, n, sizeof(words[0]), by_word);
}

/*
 * Returns true for words that are in many messages. Such a word alone says little about the cause
 * of an error.
 */
static bool is_common(const char *word)
{
	static const char *const words[] = {
		"allocate", "available", "bytes",      "cannot",  "could",    "error",
		"exited",   "failed",	 "failure",    "fatal",	  "file",     "files",
		"from",	    "killed",	 "limit",      "many",	  "memory",   "more",
		"number",   "open",	 "process",    "reached", "resource", "signal",
		"size",	    "system",	 "terminated", "unable",  "warning",  "with"};

	return is_one_of(word, words, sizeof(words) / sizeof(words[0]));
}

static bool is_stop_word(const char *word)
{
	static const char *const words[] = {
		"after", "an", "and", "are", "at",   "be",   "by",  "for", "has", "how", "if",
		"in",	 "is", "it",  "me",  "my",   "no",   "not", "of",  "on",  "or",	 "the",
		"this",	 "to", "too", "was", "what", "when", "why", "you", "your"};

	return is_one_of(word, words, sizeof(words) / sizeof(words[0]));
}

static double weight(const char *word)
{
	size_t len = strlen(word);

	if (!word[strspn(word, "0123456789")])
		return NUMBER;
	return is_common(word) ? 2 : len > 12 ? 12 : (double)len;
}

/*
 * Stores the next word of *s in lower case, and moves *s behind it. Skips stop words and long
 * numbers. Returns false at the end.
 */
static bool next_word(const char **s, const char *end, char ret[WORD_BYTES])
{
	while (*s < end) {
		size_t len = 0;

		while (*s < end && !isalnum((unsigned char)**s))
			(*s)++;
		for (; *s < end && isalnum((unsigned char)**s); (*s)++) {
			if (len + 1 < WORD_BYTES)
				ret[len++] = (char)tolower((unsigned char)**s);
		}
		ret[len] = 0;
		if (len > 1 && !(isdigit((unsigned char)*ret) && len > 4) && !is_stop_word(ret))
			return true;
	}
	return false;
}

static bool has_word(const struct text *t, const char *word)
{
	for (size_t i = 0; i < t->words; i++)
		if (!strcmp(t->word[i], word))
			return true;
	return false;
}

static void split(struct text *t)
{
	const char *s = t->s, *end = t->s + t->len;
	char word[WORD_BYTES];

	while (t->words < WORDS_MAX && next_word(&s, end, word))
		if (!has_word(t, word)) {
			t->weight += weight(word);
			strcpy(t->word[t->words++], word);
		}
}

struct shared {
	double both, theirs;
};

/* Adds the weights of the words of `s` up to `end`. A repeated word counts each time. */
static void share(const struct text *t, const char *s, const char *end, struct shared *ret)
{
	char word[WORD_BYTES];

	while (next_word(&s, end, word)) {
		ret->theirs += weight(word);
		if (has_word(t, word))
			ret->both += weight(word);
	}
}

static double similarity(const struct text *t, const struct shared *sh)
{
	double most;

	if (!t->weight || sh->theirs <= 0)
		return 0;
	most = fmax(sh->both / sh->theirs, sh->both / t->weight);
	return SIMILAR * sh->both * most * most;
}

static bool in_number(char c)
{
	return isxdigit((unsigned char)c) || c == 'x' || c == '.' || c == ',';
}

/*
 * Tests whether a part of a wording matches at `s`. A part ends at a '*' or at the end of the
 * wording. If it matches, stores the end of the match in *ret_end and returns true. A '#' takes as
 * many characters of a number as possible, but only one before a '*'.
 */
static bool fits(const char *part, size_t len, const char *s, const char *end, const char **ret_end)
{
	for (size_t i = 0; i < len; i++, s++) {
		if (part[i] == '#') {
			const char *last = s;

			while (last < end && in_number(*last) && (last == s || part[i + 1] != '*'))
				last++;
			for (; last > s; last--)
				if (fits(part + i + 1, len - i - 1, last, end, ret_end))
					return true;
			return false;
		}
		if (s >= end || *s != part[i])
			return false;
	}
	*ret_end = s;
	return true;
}

/*
 * Returns true if the other parts of a wording follow in the same line, in this order. Each part
 * takes the first place where it matches. The most text then remains for the parts after it.
 */
static bool follow(const char *wording, const char *s, const char *line_end, const char **ret_end)
{
	while (*wording == '*') {
		size_t len = strcspn(++wording, "*");

		while (!fits(wording, len, s, line_end, ret_end))
			if (s++ == line_end)
				return false;
		s = *ret_end;
		wording += len;
	}
	*ret_end = s;
	return true;
}

static bool joins(char a, char b)
{
	return isalnum((unsigned char)a) && isalnum((unsigned char)b);
}

/*
 * Finds the first place in the text where a wording matches and begins and ends at word boundaries.
 */
static bool find(const struct text *t, const char *wording, const char **ret, const char **ret_end)
{
	const char *s = t->s, *end = t->s + t->len;
	size_t first, head;
	bool open; /* the wording ends in '*': any text may follow */

	wording += strspn(wording, "*# ");
	first = strcspn(wording, "*");
	head = strcspn(wording, "*#");
	if (!head)
		return false;
	open = wording[strlen(wording) - 1] == '*';
	while ((s = memmem(s, (size_t)(end - s), wording, head))) {
		const char *at = s++, *behind;
		const char *line_end = memchr(at, '\n', (size_t)(end - at)) ?: end;

		if ((at != t->s && joins(at[-1], at[0])) ||
		    !fits(wording, first, at, line_end, &behind))
			continue;
		if (!follow(wording + first, behind, line_end, ret_end)) {
			/*
			 * The first part of the wording may match again later in this line. As less
			 * text then remains for the other parts, the search continues in the next
			 * line.
			 */
			s = line_end;
			continue;
		}
		if (*ret_end == end || open || !joins((*ret_end)[-1], **ret_end)) {
			*ret = at;
			return true;
		}
	}
	return false;
}

/*
 * Copies a wording in the form of struct text: lower case, single blanks. Returns the number of its
 * characters other than '*', '#' and blanks.
 */
static size_t copy_wording(char ret[WORDING_MAX], const char *s, size_t len)
{
	size_t letters = 0, n = 0;

	for (size_t i = 0; i < len && n + 1 < WORDING_MAX; i++) {
		if (s[i] == ' ' && n && ret[n - 1] == ' ')
			continue;
		ret[n++] = (char)tolower((unsigned char)s[i]);
		letters += s[i] != '*' && s[i] != '#' && s[i] != ' ';
	}
	ret[n] = 0;
	return letters;
}

struct match {
	const struct message *message;
	double score;
	const char *wording; /* the wording of `message` that is most similar to the text */
	/* where `wording` matches in the text; NULL: text and message only share words */
	const char *from, *to;
};

static struct match match_one(const struct text *t, const struct message *m)
{
	struct match best = {.message = m};

	for (const char *w = m->pattern; *w;) {
		size_t len = strcspn(w, "|");
		char wording[WORDING_MAX];
		size_t letters = copy_wording(wording, w, len);
		const char *from, *to;
		double score;

		if (find(t, wording, &from, &to)) {
			score = (double)letters + WHOLE_BONUS;
			if (score > best.score || !best.from)
				best = (struct match){m, score, w, from, to};
		} else if (!best.from) {
			struct shared sh = {};

			share(t, wording, wording + strlen(wording), &sh);
			share(t, m->program, m->program + strlen(m->program), &sh);
			score = similarity(t, &sh);
			if (t->words <= TITLE_WORDS) {
				share(t, m->means, m->means + strlen(m->means), &sh);
				score = fmax(score, SEARCH * similarity(t, &sh));
			}
			if (score > best.score)
				best.score = score, best.wording = w;
		}
		w += len + (w[len] == '|');
	}
	return best;
}

/* Returns true if the longer match `of` covers the text of match `m`. */
static bool is_within(const struct match *m, const struct match *of)
{
	return m->from && of->from && m != of && m->from >= of->from && m->to <= of->to &&
	       (m->score < of->score || (m->score == of->score && m > of));
}

struct scores {
	double of[DIAGNOSES_MAX]; /* the score of each diagnosis, by its index */
};

static void add_ids(struct scores *sc, const char *ids, double score)
{
	static const double share_of[] = {1, .6, .45, .35, .25};
	char id[8];

	for (size_t nth = 0; *ids; nth++) {
		size_t len = strcspn(ids, " ");
		const struct diagnosis *d;

		if (len < sizeof(id)) {
			memcpy(id, ids, len);
			id[len] = 0;
			for (size_t i = 0; i < DIAGNOSES_MAX && (d = diagnosis_at(i)); i++)
				if (!strcmp(d->id, id))
					sc->of[i] += score * share_of[nth < 4 ? nth : 4];
		}
		ids += len + (ids[len] == ' ');
	}
}

/* Returns the length of a word without an English ending, such as "s" or "ing". */
static size_t stem_len(const char *word)
{
	static const char *const endings[] = {"ings", "ing", "ies", "ed", "es", "s", "y", "e"};
	size_t len = strlen(word);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t end = strlen(endings[i]);

		if (len >= end + 4 && !strcmp(word + len - end, endings[i]))
			return len - end;
	}
	return len;
}

/*
 * Returns true if `text` contains the word, in upper or lower case. The endings of the words may
 * differ.
 */
static bool stands_in(const char *text, const char *word)
{
	size_t len = stem_len(word);
	char stem[WORD_BYTES];

	memcpy(stem, word, len);
	stem[len] = 0;
	for (const char *s = text; s && (s = strcasestr(s, stem)); s++) {
		size_t more = 0;

		if (s != text && joins(s[-1], s[0]))
			continue;
		while (isalnum((unsigned char)s[len + more]))
			more++;
		if (!more || (len > 3 && more <= 4))
			return true;
	}
	return false;
}

static bool mentions(const struct diagnosis *d, const char *word)
{
	if (stands_in(d->title, word))
		return true;
	for (size_t i = 0; i < NR_ABOUTS; i++)
		if (d->about[i] && stands_in(d->about[i], word))
			return true;
	return false;
}

/*
 * If no message matches: searches the texts of the diagnoses for the words. A word that few
 * diagnoses have gives the highest score. If the search has several words, a diagnosis must have
 * two of them.
 */
static void add_texts(struct scores *sc, const struct text *t)
{
	double score[DIAGNOSES_MAX] = {}, best = 0;
	size_t hits[DIAGNOSES_MAX] = {}, n = 0;

	while (n < DIAGNOSES_MAX && diagnosis_at(n))
		n++;
	for (size_t w = 0; w < t->words; w++) {
		bool in[DIAGNOSES_MAX] = {};
		double have = 0;

		for (size_t i = 0; i < n; i++)
			have += in[i] = mentions(diagnosis_at(i), t->word[w]);
		for (size_t i = 0; have && i < n; i++)
			if (in[i]) {
				hits[i]++;
				score[i] += log((double)n / have) *
					    (stands_in(diagnosis_at(i)->title, t->word[w]) ? 2 : 1);
			}
	}
	for (size_t i = 0; i < n; i++) {
		if (hits[i] < 2 && t->words > 1)
			score[i] = 0;
		best = fmax(best, score[i]);
	}
	for (size_t i = 0; best >= LEAST_TEXT && i < n; i++)
		if (score[i] >= best / 2)
			sc->of[i] += score[i];
}

static void take_best(const struct scores *sc, struct candidates *ret)
{
	bool taken[DIAGNOSES_MAX] = {};

	while (ret->n < CANDIDATES_MAX) {
		size_t best = DIAGNOSES_MAX;

		for (size_t i = 0; i < DIAGNOSES_MAX; i++)
			if (!taken[i] && sc->of[i] > 0 &&
			    (best == DIAGNOSES_MAX || sc->of[i] > sc->of[best]))
				best = i;
		if (best == DIAGNOSES_MAX)
			return;
		taken[best] = true;
		ret->diagnosis[ret->n++] = diagnosis_at(best);
	}
}

/* qsort() order: the best score first, equal scores in the order of the table. */
static int by_score(const void *x, const void *y)
{
	const struct match *a = x, *b = y;

	return a->score > b->score   ? -1
	       : a->score < b->score ? 1
				     : (a->message > b->message) - (a->message < b->message);
}

/* Returns true for rows of messages_calls.def, which match any words between call and error. */
static bool is_call(const struct message *m)
{
	return !strcmp(m->program, "system call");
}

/* Returns true for messages that many programs print. */
static bool is_generic(const struct message *m)
{
	static const char *const programs[] = {"C",	 "errno",   "shell",
					       "signal", "symptom", "sysctl"};

	return is_one_of(m->program, programs, sizeof(programs) / sizeof(programs[0])) ||
	       is_call(m);
}

/*
 * Returns true if match `as` begins within `m`, ends behind it, and changes its meaning. For
 * example, "too many open files in system" means another error than "too many open files".
 */
static bool goes_on(const struct match *m, const struct match *as)
{
	if (!m->from || !as->from || is_call(as->message) || as->from <= m->from ||
	    as->from >= m->to || as->to <= m->to)
		return false;
	/* a suffix such as "(os error 12)" only repeats the errno */
	for (const char *s = m->to; s < as->to && *s != '('; s++)
		if (isalpha((unsigned char)*s))
			return true;
	return false;
}

/*
 * Drops matches that lie within longer matches, and matches with scores far below the best. Returns
 * how many are left.
 */
static size_t sift(struct match *m, size_t n)
{
	bool within[MATCHES_MAX] = {}, cut_short[MATCHES_MAX] = {};
	size_t left = 0;
	double whole = 0; /* highest score of a whole message */
	bool special = false;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			within[i] |= is_within(&m[i], &m[k]);
			cut_short[i] |= goes_on(&m[i], &m[k]);
		}
		if (m[i].from)
			whole = fmax(whole, m[i].score);
		special |= m[i].from && !cut_short[i] && !is_generic(m[i].message);
	}
	for (size_t i = 0; i < n; i++) {
		if (within[i])
			m[i].score = 0;
		else if (cut_short[i])
			m[i].score *= CUT_SHORT;
		else if (whole > 0 && !m[i].from)
			m[i].score = fmin(m[i].score, whole) * BESIDE;
		else if (special && is_generic(m[i].message))
			m[i].score *= GENERIC;
	}
	qsort(m, n, sizeof(*m), by_score);
	while (left < n && m[left].score >= LEAST_SCORE && m[left].score >= m->score * LEAST_SHARE)
		left++;
	return left;
}

/*
 * Returns whether the messages of programs in the text have causes other than a limit. An "Aborted"
 * in the same text is then only a consequence.
 */
static bool has_no_limit(const struct match *m, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!m[i].from || is_generic(m[i].message))
			continue;
		if (*m[i].message->ids)
			return false;
		any = true;
	}
	return any;
}

void messages_match(const char *s, size_t len, struct candidates *ret)
{
	struct match match[MATCHES_MAX];
	struct scores sc = {};
	struct text t;
	const struct message *m;
	bool no_limit;
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	t.len = t.words = 0;
	t.weight = 0;
	normalise(&t, s, len);
	split(&t);
	for (size_t i = 0; (m = message_at(i)) && n < MATCHES_MAX; i++) {
		match[n] = match_one(&t, m);
		n += match[n].score >= LEAST_SCORE;
	}
	n = sift(match, n);
	no_limit = has_no_limit(match, n);
	for (size_t i = 0; i < n; i++)
		if (!no_limit || !is_generic(match[i].message))
			add_ids(&sc, match[i].message->ids,
				match[i].score * match[i].score / match->score);
	/* the best message has no diagnosis because its cause is no limit: search no further */
	if (!n || (!match->from && *match->message->ids))
		add_texts(&sc, &t);
	for (size_t i = 0; i < n && i < MESSAGES_MAX; i++) {
		ret->message[i] = match[i].message;
		ret->wording[i] = match[i].wording;
		ret->nr_messages++;
	}
	ret->similar = !n || !match->from;
	take_best(&sc, ret);
}
