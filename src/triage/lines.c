// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "triage/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "blackbox/ring_record.h"
#include "triage/container.h"
#include "triage/prefix.h"
#include "triage/unwrap.h"

#define PARTS_MAX 1024
#define LINE_MOST 8192 /* maximum bytes of a line; one message of printk has up to 1 kB */

/* A part of an input whose lines are in order: a pstore part, or text between such parts. */
struct stretch {
	uint16_t input;
	struct str data;
	uint32_t number; /* line number of the part's first line */
	const struct triage_input *of;
	size_t skipped;	   /* number of skips of `of` before the part */
	struct str reason; /* pstore header "Oops#1"; empty: not a pstore part */
	uint32_t part;
	uint32_t place; /* position in the log of the pstore record to which this part belongs */
};

/* State kept between the lines of an input. */
struct reader {
	struct lines *ls;
	struct container container;
	uint16_t input;
	struct shapes shapes; /* prefixes that were learned */
	struct wrap wrap;
	struct str before; /* the previous raw line */
	bool broken;	   /* a terminal may have broken the previous raw line */
};

/*
 * Decodes an HTML entity ("&lt;", "&amp;") of a copied page; returns the entity's length; 0: none.
 */
static size_t entity_length(struct str s, unsigned char *ret)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = {{"&lt;", '<'},	 {"&gt;", '>'},	   {"&amp;", '&'},
			{"&quot;", '"'}, {"&#x27;", '\''}, {"&#39;", '\''}};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
		if (str_starts(s, entities[i].name)) {
			*ret = entities[i].c;
			return strlen(entities[i].name);
		}
	return 0;
}

/* Appends the printable bytes of `raw` to ls->text. */
static struct str text_add(struct lines *ls, struct str raw)
{
	char *to = ls->text + ls->used;
	size_t n = 0;

	for (size_t i = 0; i < raw.n && ls->used + n < ls->size; i++) {
		unsigned char c = raw.s[i];

		if (c == '\033') {
			i = escape_end(raw, i) - 1;
			continue;
		}
		if (c == '&') {
			size_t entity = entity_length(str_from(raw, i), &c);

			i += entity ? entity - 1 : 0;
		}
		if (c == '\t')
			c = ' ';
		if (c >= ' ' && c != 0x7f)
			to[n++] = c;
	}
	ls->used += n;
	return (struct str){to, n};
}

static void line_store(struct reader *r, struct log_line l)
{
	struct lines *ls = r->ls;
	struct log_line *line;

	if (!l.text.n)
		return;
	if (l.text.n > LINE_MOST) {
		ls->lost_bytes += l.text.n - LINE_MOST;
		l.text.n = LINE_MOST;
	}
	line = array_grow(ls->line, ls->n, &ls->room, TRIAGE_LINES_MAX, sizeof(*line));
	if (!line) {
		ls->lost_lines++;
		return;
	}
	ls->line = line;
	ls->line[ls->n++] = l;
}

/*
 * Appends the text that was stored last to the previous line. Returns false if there is no previous
 * line.
 */
static bool line_continue(struct reader *r, struct str text)
{
	struct lines *ls = r->ls;
	struct log_line *last = ls->n ? &ls->line[ls->n - 1] : NULL;
	char *end;

	if (!last || last->input != r->input || last->text.n + text.n > LINE_MOST)
		return false;
	end = (char *)last->text.s + last->text.n;
	if (end > text.s)
		return false;
	memmove(end, text.s, text.n);
	last->text.n += text.n;
	ls->used = end + text.n - ls->text;
	return true;
}

/* Stores a raw line; as two lines, if two CPUs wrote their records into it. */
static void line_take(struct reader *r, struct str raw, const struct log_line *known)
{
	struct log_line l = *known;
	struct str text = text_add(r->ls, raw);
	long cut;

	if (str_has(text, "printk messages dropped"))
		r->ls->dropped++;
	text = str_from(text, shape_length(&r->shapes, text));
	prefix_strip(&text, &l);
	if (l.continues && line_continue(r, text))
		return;
	while ((cut = prefix_inside(text)) > 0) {
		l.text = str_first(text, cut);
		line_store(r, l);
		text = str_from(text, cut);
		prefix_strip(&text, &l);
	}
	while (text.n && is_blank(text.s[text.n - 1]) && !l.fragment && !r->broken)
		text.n--;
	/* the rest of a line that was broken after a blank follows the text */
	if (text.n)
		r->ls->used = text.s + text.n - r->ls->text;
	l.text = text;
	line_store(r, l);
}

/* If `raw` continues the last line, returns the last line, else NULL. */
static struct log_line *line_broken(const struct reader *r, struct str raw, bool *ret_at_word)
{
	struct lines *ls = r->ls;
	struct log_line *last = ls->n ? &ls->line[ls->n - 1] : NULL;

	if (!last || !raw.n || last->input != r->input ||
	    last->text.s + last->text.n != ls->text + ls->used)
		return NULL;
	*ret_at_word = wrap_broke(&r->wrap, &r->shapes, r->before, raw);
	if (!*ret_at_word && (!r->broken || (r->wrap.prefixed && has_prefix(&r->shapes, raw))))
		return NULL;
	return last;
}

/* Appends the rest of a line, which was broken between two words. */
static void join_words(struct lines *ls, struct log_line *line, struct str rest)
{
	struct str kept = line->text;

	if (is_continued(kept))
		kept.n--;
	while (kept.n && is_blank(kept.s[kept.n - 1]))
		kept.n--;
	ls->used -= line->text.n - kept.n;
	line->text = kept;
	line->text.n += text_add(ls, STR(" ")).n;
	line->text.n += text_add(ls, str_trim(rest)).n;
}

static void raw_take(struct reader *r, struct str raw, uint32_t number)
{
	struct log_line l = {.number = number, .input = r->input, .level = -1, .caller = -1};
	struct lines *ls = r->ls;
	bool broken = r->wrap.terminal && raw.n == r->wrap.terminal && !str_ends(raw, "  ");
	char *scratch = NULL;
	bool at_word = false;
	struct log_line *last = line_broken(r, raw, &at_word);

	r->before = raw;
	r->broken = broken;
	if (last && at_word) {
		join_words(ls, last, unquoted(raw));
		return;
	}
	if (last) {
		last->text.n += text_add(ls, raw).n;
		return;
	}
	if (container_record(&r->container, &raw, &l, &scratch) && raw.n)
		line_take(r, raw, &l);
	free(scratch);
}

/* Returns how many lines were dropped from the input before `at`, since the last call. */
static uint32_t skipped_lines(const struct triage_input *in, const char *at, size_t *skipped)
{
	uint32_t lines = 0;

	while (*skipped < in->skips && (size_t)(at - in->data) >= in->skip[*skipped].at)
		lines += in->skip[(*skipped)++].lines;
	return lines;
}

static void stretch_read(struct reader *r, const struct stretch *st)
{
	struct str data = st->data;
	uint32_t number = st->number;
	size_t skipped = st->skipped;

	r->input = st->input;
	r->broken = false;
	r->before = (struct str){};
	shapes_learn(&r->shapes, data);
	wrap_find(&r->wrap, &r->shapes, data);
	container_begin(&r->container, data);
	while (data.n) {
		size_t binary = container_binary(&r->container, data);
		struct str raw;

		number += skipped_lines(st->of, data.s, &skipped);
		if (binary) { /* a binary field of journal export may contain line feeds */
			raw = str_first(data, binary);
			data = str_from(data, binary);
			container_field(&r->container, raw);
			for (size_t i = 0; i < raw.n; i++)
				number += raw.s[i] == '\n';
			continue;
		}
		raw = next_raw(&data);
		/* A carriage return without a line feed also starts a new line. */
		do {
			const char *cr = raw.n ? memchr(raw.s, '\r', raw.n) : NULL;
			struct str piece = cr ? str_first(raw, cr - raw.s) : raw;

			raw_take(r, piece, number);
			raw = str_from(raw, cr ? piece.n + 1 : piece.n);
		} while (raw.n);
		if (container_at_end(&r->container, data)) {
			struct str last = {};

			raw_take(r, last, number);
		}
		number++;
	}
}

/* Parses a pstore header, "Oops#1 Part3" or "Panic#2 Part1": fs/pstore/platform.c, since 3.x. */
static bool is_part(struct str raw, struct str *ret_reason, uint32_t *ret_part)
{
	static const char *const reasons[] = {"Panic", "Oops",	   "Emergency", "Restart",
					      "Halt",  "Poweroff", "Shutdown",	"Unknown"};
	uint64_t count, part;
	size_t n;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t at = strlen(reasons[i]);

		if (!str_starts(raw, reasons[i]) || str_at(raw, at) != '#')
			continue;
		n = str_decimal(str_from(raw, at + 1), &count);
		at += 1 + n;
		if (!n || !str_starts(str_from(raw, at), " Part"))
			continue;
		n = str_decimal(str_from(raw, at + 5), &part);
		if (!n || at + 5 + n != raw.n || part > UINT32_MAX)
			continue;
		*ret_reason = str_first(raw, at);
		*ret_part = part;
		return true;
	}
	return false;
}

static int in_order(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	/* pstore numbers the parts of a record from the newest to the oldest. */
	if (x->reason.n && y->reason.n && str_same(x->reason, y->reason) && x->part != y->part)
		return x->part < y->part ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Starts a new part. Returns false if there is no room: the last part then gets the lines. */
static bool stretch_begin(struct stretch *st, size_t *n, const struct stretch *next)
{
	if (*n && !st[*n - 1].data.n && !st[*n - 1].reason.n)
		(*n)--;
	if (*n == PARTS_MAX)
		return false;
	st[(*n)++] = *next;
	return true;
}

/*
 * Splits an input into parts at its pstore headers. Returns false if there is no room for all
 * parts.
 */
static bool find_stretches(const struct triage_input *in, const struct triage_input *of,
			   uint16_t input, struct stretch *st, size_t *n)
{
	struct str data = {in->data, in->size}, rest = data;
	struct stretch now = {.input = input, .data = {rest.s, 0}, .number = 1, .of = of};
	uint32_t number = 1;
	size_t skipped = 0;

	if (!stretch_begin(st, n, &now))
		return false;
	while (rest.n) {
		struct str raw;

		number += skipped_lines(of, rest.s, &skipped);
		raw = next_raw(&rest);
		number++;
		if (is_part(raw, &now.reason, &now.part)) {
			now.data = (struct str){rest.s, 0};
			now.number = number;
			now.skipped = skipped;
			stretch_begin(st, n, &now);
		} else {
			struct stretch *last = &st[*n - 1];

			last->data.n = rest.s - last->data.s;
		}
	}
	return true;
}

/* Brings the parts of each pstore record together, at the position of the record's first part. */
static void order_stretches(struct lines *ls, struct stretch *st, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		st[i].place = i;
		for (size_t j = 0; j < i && st[i].reason.n; j++)
			if (str_same(st[i].reason, st[j].reason))
				st[i].place = st[j].place;
		ls->parts += st[i].reason.n > 0;
	}
	qsort(st, n, sizeof(*st), in_order);
}

/*
 * Removes the flight recorder's lines from the log, because src/blackbox reads them as records.
 * Another CPU may write such lines in the middle of an oops. As they quote the oops, they would
 * look like a second oops.
 */
static void drop_records(struct lines *ls)
{
	size_t kept = 0;

	for (size_t i = 0; i < ls->n; i++)
		if (!str_starts(ls->line[i].text, BB_LINE_BEGINS))
			ls->line[kept++] = ls->line[i];
	ls->n = kept;
}

int lines_read(struct lines *ret, const struct triage_input *input, size_t inputs)
{
	struct lines ls = {};
	struct reader r = {.ls = &ls};
	struct stretch *st = NULL;
	size_t n = 0, bytes = 0;
	int err = -ENOMEM;

	if (inputs > TRIAGE_INPUTS_MAX)
		inputs = TRIAGE_INPUTS_MAX;
	st = calloc(PARTS_MAX, sizeof(*st));
	if (!st)
		goto out;
	for (size_t i = 0; i < inputs; i++) {
		struct triage_input in = input[i];

		if (in.size > TRIAGE_BYTES_MAX - bytes) {
			ls.lost_bytes += in.size - (TRIAGE_BYTES_MAX - bytes);
			in.size = TRIAGE_BYTES_MAX - bytes;
		}
		bytes += in.size;
		for (size_t k = 0; k < in.skips; k++)
			ls.passed += in.skip[k].lines;
		if (in.size && !find_stretches(&in, &input[i], i, st, &n))
			ls.lost_bytes += in.size;
	}
	order_stretches(&ls, st, n);
	ls.size = bytes + 1; /* the size fits: bytes <= TRIAGE_BYTES_MAX */
	ls.text = malloc(ls.size);
	if (!ls.text)
		goto out;
	for (size_t i = 0; i < n; i++)
		stretch_read(&r, &st[i]);
	drop_records(&ls);
	*ret = ls;
	err = 0;
out:
	if (err)
		lines_free(&ls);
	free(st);
	return err;
}

void lines_free(struct lines *ls)
{
	free(ls->line);
	free(ls->text);
	memset(ls, 0, sizeof(*ls));
}
