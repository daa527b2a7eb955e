// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/prom/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, the replacement character */

static void family_close(struct exposition *e)
{
	if (e->metric && e->format->family_end)
		e->format->family_end(e);
	e->metric = NULL;
}

void exposition_family(struct exposition *e, const struct metric *m)
{
	family_close(e);
	e->metric = m;
	e->format->family(e);
}

void exposition_sample(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x)
{
	e->series++;
	/* Prometheus rejects all samples if a gauge has an exemplar */
	e->format->sample(e, label, v, e->metric->type == METRIC_COUNTER ? x : NULL);
}

void exposition_distribution(struct exposition *e, const char *const *label,
			     const struct distribution *d)
{
	e->series += d->buckets + 2; /* a histogram's series: its buckets, _sum and _count */
	e->format->distribution(e, label, d);
}

void exposition_end(struct exposition *e)
{
	family_close(e);
	if (e->format->end)
		e->format->end(e);
	buf_free(&e->message);
}

void label_clean(struct buf *b, const char *s, size_t max_bytes)
{
	size_t used = 0;

	while (*s) {
		uint32_t code;
		int n = utf8_decode(s, &code);
		bool control = n && code != '\n' && utf8_is_unsafe(code);
		size_t width = control ? 1 : n ? (size_t)n : strlen(REPLACEMENT);

		if (used + width > max_bytes)
			return;
		if (control)
			buf_putc(b, '?'); /* terminals interpret control characters */
		else if (n)
			buf_add(b, s, n);
		else
			buf_puts(b, REPLACEMENT);
		used += width;
		s += n ? n : 1;
	}
}

/* Appends an integer without printf(), which is slow; most values of a page are integers. */
static void put_whole(struct buf *b, int64_t v)
{
	char text[1 + DIGITS_MOST], *end = text + sizeof(text), *s;

	s = digits_before(end, v < 0 ? -v : v);
	if (v < 0)
		*--s = '-';
	buf_add(b, s, end - s);
}

void put_number(struct buf *b, double v)
{
	char text[40];

	if (isnan(v) || isinf(v)) {
		buf_puts(b, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
		return;
	}
	if (v == floor(v) && fabs(v) < 1e15) {
		put_whole(b, v);
		return;
	}
	/* use the fewest digits (15 to 17) that give an equal double; %g omits trailing zeros */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(b, text);
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

size_t exemplar_labels(const struct exemplar *x, struct label_pair ret[EXEMPLAR_LABELS])
{
	char pid[16];
	const struct {
		const char *name, *value;
	} all[EXEMPLAR_LABELS] = {
		{"pid", x->pid ? pid : NULL}, {"comm", x->comm}, {"site", x->site}};
	size_t n = 0, used = 0;

	snprintf(pid, sizeof(pid), "%u", x->pid);
	for (size_t i = 0; i < EXEMPLAR_LABELS; i++) {
		struct buf clean = BUF_IN(ret[n].value);
		size_t more;

		if (!all[i].value || !*all[i].value)
			continue;
		label_clean(&clean, all[i].value, VALUE_BYTES);
		more = strlen(all[i].name) + characters(ret[n].value);
		if (used + more <= EXEMPLAR_CHARS) {
			ret[n].name = all[i].name;
			used += more;
			n++;
		}
	}
	return n;
}

double distribution_bound(const struct distribution *d, size_t bucket)
{
	return bucket + 1 >= d->buckets ? HUGE_VAL : ldexp(1, d->first_exponent + (int)bucket);
}

/* A media type in an Accept header, with its parameters. */
struct wanted {
	char type[64];
	double q;
	char version[16], proto[48], encoding[24];
};

static const char *skip_spaces(const char *s)
{
	return s + strspn(s, " \t");
}

/* Copies text up to a character of `until`, without trailing blanks. Returns the text's end. */
static const char *take_word(const char *s, const char *until, char *ret, size_t size)
{
	size_t len = strcspn(s, until), used = len;

	while (used && (s[used - 1] == ' ' || s[used - 1] == '\t'))
		used--;
	snprintf(ret, size, "%.*s", (int)(used < size ? used : size - 1), s);
	return s + len;
}

static void take_parameter(struct wanted *w, const char *name, const char *value)
{
	if (!strcasecmp(name, "q"))
		w->q = strtod(value, NULL);
	else if (!strcasecmp(name, "version"))
		snprintf(w->version, sizeof(w->version), "%.15s", value);
	else if (!strcasecmp(name, "proto"))
		snprintf(w->proto, sizeof(w->proto), "%.47s", value);
	else if (!strcasecmp(name, "encoding"))
		snprintf(w->encoding, sizeof(w->encoding), "%.23s", value);
}

static const char *take_wanted(const char *s, struct wanted *ret)
{
	char name[24], value[64];

	memset(ret, 0, sizeof(*ret));
	ret->q = 1;
	s = take_word(skip_spaces(s), ";,", ret->type, sizeof(ret->type));
	while (*s == ';') {
		s = take_word(skip_spaces(s + 1), "=;,", name, sizeof(name));
		value[0] = 0;
		if (*s == '=')
			s = take_word(skip_spaces(s + 1), ";,", value, sizeof(value));
		take_parameter(ret, name, value);
	}
	return *s == ',' ? s + 1 : s;
}

static const struct exposition_format *format_of(const struct wanted *w)
{
	if (!strcasecmp(w->type, "application/openmetrics-text"))
		return !*w->version || !strncmp(w->version, "1.", 2) ||
				       !strncmp(w->version, "0.0.1", 5)
			       ? &exposition_openmetrics
			       : NULL;
	if (!strcasecmp(w->type, "application/vnd.google.protobuf"))
		return !strcmp(w->proto, "io.prometheus.client.MetricFamily") &&
				       !strcmp(w->encoding, "delimited")
			       ? &exposition_protobuf
			       : NULL;
	if (!strcasecmp(w->type, "text/plain"))
		return !*w->version || !strcmp(w->version, "0.0.4") ? &exposition_text : NULL;
	return !strcmp(w->type, "*/*") || !strcasecmp(w->type, "text/*") ? &exposition_text : NULL;
}

const struct exposition_format *exposition_negotiate(const char *accept)
{
	const struct exposition_format *best = &exposition_text, *one;
	struct wanted w;
	double q = 0;

	while (accept && *accept) {
		accept = take_wanted(accept, &w);
		one = format_of(&w);
		if (one && w.q > q) {
			best = one;
			q = w.q;
		}
	}
	return best;
}
