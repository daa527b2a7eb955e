// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes Prometheus' text format 0.0.4 and OpenMetrics 1.0, which differ little. */
#include <math.h>
#include <string.h>

#include "render/prom/exposition.h"

static bool is_open(const struct exposition *e)
{
	return e->format == &exposition_openmetrics;
}

/* Returns the suffix that sample names have, but the family name in OpenMetrics has not. */
static const char *suffix_of(const struct metric *m)
{
	return m->type == METRIC_COUNTER ? "_total" : m->type == METRIC_INFO ? "_info" : "";
}

static const char *type_name(const struct exposition *e)
{
	switch (e->metric->type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_HISTOGRAM:
		return "histogram";
	case METRIC_INFO:
		return is_open(e) ? "info" : "gauge";
	default:
		return "gauge";
	}
}

static void put_family_name(struct exposition *e)
{
	buf_puts(e->b, e->metric->name);
	if (!is_open(e))
		buf_puts(e->b, suffix_of(e->metric));
}

/*
 * Appends a value with line feeds and backslashes escaped. If `quotes` is set, quotes are escaped
 * too.
 */
static void put_escaped(struct buf *b, const char *s, bool quotes)
{
	for (; *s; s++) {
		size_t plain = strcspn(s, "\\\n\"");

		buf_add(b, s, plain);
		s += plain;
		if (!*s)
			return;
		if (*s == '\n')
			buf_puts(b, "\\n");
		else if (*s == '\\')
			buf_puts(b, "\\\\");
		else
			buf_puts(b, quotes ? "\\\"" : "\"");
	}
}

static void put_label(struct buf *b, const char *name, const char *value, bool first)
{
	struct buf clean = {};

	label_clean(&clean, value, VALUE_BYTES);
	buf_printf(b, "%s%s=\"", first ? "" : ",", name);
	put_escaped(b, clean.s ? clean.s : "", true);
	buf_putc(b, '"');
	buf_end_part(b, &clean);
}

/*
 * Appends label pairs. If `le` is not NULL, appends the label `le` with the bound of a histogram
 * bucket.
 */
static void put_labels(struct exposition *e, const char *const *label, const char *le)
{
	size_t n = 0;

	for (; n < METRIC_LABELS && e->metric->label[n]; n++) {
		if (!n)
			buf_putc(e->b, '{');
		put_label(e->b, e->metric->label[n], label[n], !n);
	}
	if (le)
		buf_printf(e->b, "%sle=\"%s\"", n++ ? "," : "{", le);
	if (n)
		buf_putc(e->b, '}');
	buf_putc(e->b, ' ');
}

static void put_exemplar(struct exposition *e, const struct exemplar *x)
{
	struct label_pair pair[EXEMPLAR_LABELS];
	size_t n;

	if (!x || !is_open(e))
		return;
	n = exemplar_labels(x, pair);
	buf_puts(e->b, " # {");
	for (size_t i = 0; i < n; i++)
		put_label(e->b, pair[i].name, pair[i].value, !i);
	buf_puts(e->b, "} ");
	put_number(e->b, x->value);
	if (x->at_s > 0)
		buf_printf(e->b, " %.3f", x->at_s);
}

static void text_family(struct exposition *e)
{
	buf_puts(e->b, "# HELP ");
	put_family_name(e);
	buf_putc(e->b, ' ');
	put_escaped(e->b, e->metric->help, is_open(e));
	buf_puts(e->b, "\n# TYPE ");
	put_family_name(e);
	buf_printf(e->b, " %s\n", type_name(e));
	/* OpenMetrics requires names that end in the unit: test_exposition.c checks them */
	if (is_open(e) && e->metric->unit)
		buf_printf(e->b, "# UNIT %s %s\n", e->metric->name, e->metric->unit);
}

static void text_sample(struct exposition *e, const char *const *label, double v,
			const struct exemplar *x)
{
	buf_puts(e->b, e->metric->name);
	buf_puts(e->b, suffix_of(e->metric));
	put_labels(e, label, NULL);
	put_number(e->b, v);
	put_exemplar(e, x);
	buf_putc(e->b, '\n');
}

static void put_bound(struct exposition *e, struct buf *le, double bound)
{
	buf_next_part(e->b, le);
	put_number(le, bound);
	/* a number in OpenMetrics' canonical form has a decimal point */
	if (is_open(e) && le->s && !strpbrk(le->s, ".eI"))
		buf_puts(le, ".0");
}

static void text_distribution(struct exposition *e, const char *const *label,
			      const struct distribution *d)
{
	const struct exemplar *x = d->slowest;
	struct buf le = {};
	uint64_t sum = 0;

	for (size_t i = 0; i < d->buckets; i++) {
		double bound = distribution_bound(d, i);

		sum += d->count[i];
		put_bound(e, &le, bound);
		buf_printf(e->b, "%s_bucket", e->metric->name);
		put_labels(e, label, le.s ? le.s : "");
		put_number(e->b, sum);
		if (x && x->value <= bound) {
			put_exemplar(e, x);
			x = NULL;
		}
		buf_putc(e->b, '\n');
	}
	buf_end_part(e->b, &le);
	buf_printf(e->b, "%s_sum", e->metric->name);
	put_labels(e, label, NULL);
	put_number(e->b, d->sum);
	buf_printf(e->b, "\n%s_count", e->metric->name);
	put_labels(e, label, NULL);
	put_number(e->b, sum);
	buf_putc(e->b, '\n');
}

static void open_end(struct exposition *e)
{
	buf_puts(e->b, "# EOF\n");
}

const struct exposition_format exposition_text = {
	.name = "text",
	.content_type = "text/plain; version=0.0.4; charset=utf-8",
	.family = text_family,
	.sample = text_sample,
	.distribution = text_distribution,
};

const struct exposition_format exposition_openmetrics = {
	.name = "openmetrics",
	.content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	.family = text_family,
	.sample = text_sample,
	.distribution = text_distribution,
	.end = open_end,
};
