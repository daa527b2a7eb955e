// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the flame graph that is shown until the script draws its own, and the table of functions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html/html.h"

#define WIDTH	  1000.0
#define ROW	  18
#define NARROWEST 1.5 /* width of the narrowest box that is drawn, in SVG units */
#define DEEPEST	  40

#define FUNCTIONS_SHOWN 40

static int compare(const struct profile *p, const struct profile_sample *x,
		   const struct profile_sample *y)
{
	uint32_t n = x->frames < y->frames ? x->frames : y->frames;

	for (uint32_t i = 0; i < n; i++)
		if (x->frame[i] != y->frame[i])
			return strcmp(p->name[x->frame[i]].text, p->name[y->frame[i]].text)
				       ?: (x->frame[i] < y->frame[i] ? -1 : 1);
	return (int)x->frames - (int)y->frames;
}

/*
 * Sorts samples by stack, so that equal callers are adjacent. Uses a merge sort, because the
 * comparison needs `p`, which qsort() cannot pass.
 */
static void sort_samples(const struct profile *p, uint32_t *order, uint32_t *spare, size_t n)
{
	size_t half = n / 2, i = 0, k = half, at = 0;

	if (n < 2)
		return;
	sort_samples(p, order, spare, half);
	sort_samples(p, order + half, spare, n - half);
	while (i < half && k < n)
		spare[at++] = compare(p, &p->sample[order[i]], &p->sample[order[k]]) <= 0
				      ? order[i++]
				      : order[k++];
	while (i < half)
		spare[at++] = order[i++];
	memcpy(order, spare, at * sizeof(*order));
}

struct drawing {
	struct buf *b;
	const struct profile *p;
	const uint32_t *order;
	enum profile_measure measure;
	double per_unit;
	uint32_t deepest;
};

static uint64_t sum_of(const struct drawing *d, size_t from, size_t to)
{
	uint64_t n = 0;

	for (size_t i = from; i < to; i++)
		n += d->p->sample[d->order[i]].value[d->measure];
	return n;
}

/* Returns the module of a frame, or else its source file without folders; empty: not known. */
const char *html_module(const struct profile_name *n)
{
	const char *slash = strrchr(n->file, '/');

	return *n->module ? n->module : slash ? slash + 1 : n->file;
}

/* Writes " in FILE:LINE"; empty if the source file is not known. */
static const char *place_of(const struct profile_name *n, char *ret, size_t size)
{
	*ret = 0;
	if (*n->file)
		snprintf(ret, size, " in %s:%u", n->file, n->line);
	return ret;
}

static struct number_text amount_of(enum profile_measure measure, uint64_t n)
{
	return measure == MEASURE_STALL ? as_duration(n)
	       : measure == MEASURE_BYTES || measure == MEASURE_MEMORY ||
			       measure == MEASURE_MEMORY_GROWTH
		       ? as_bytes(n)
		       : as_count(n);
}

static void put_box(const struct drawing *d, const char *name, const char *module,
		    const char *place, uint64_t n, double x, uint32_t depth)
{
	double width = fmin(n * d->per_unit, WIDTH);
	char shown[80];

	html_printf(d->b,
		    "<g data-is=\"frame\" data-v=\"%.17g\"><title>%s%s: %s</title><rect "
		    "class=\"m%u\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>",
		    (double)n, name, place, amount_of(d->measure, n).s,
		    html_module_colour(module, strlen(module)), x, depth * ROW, width - 0.5,
		    ROW - 1);
	if (width > 40) {
		snprintf(shown, sizeof(shown), "%.*s", (int)(width / 7.2), name);
		html_printf(d->b, "<text x=\"%.1f\" y=\"%u\">%s</text>", x + 3, depth * ROW + 13,
			    shown);
	}
	buf_puts(d->b, "</g>\n");
}

static void put_level(struct drawing *d, size_t from, size_t to, uint32_t depth, double x)
{
	if (depth == DEEPEST)
		return;
	for (size_t i = from, end; i < to; i = end) {
		const struct profile_sample *s = &d->p->sample[d->order[i]];
		const struct profile_name *name;
		char place[600];
		uint64_t n;

		end = i + 1;
		if (depth >= s->frames)
			continue;
		while (end < to && d->p->sample[d->order[end]].frames > depth &&
		       d->p->sample[d->order[end]].frame[depth] == s->frame[depth])
			end++;
		n = sum_of(d, i, end);
		if (n * d->per_unit < NARROWEST) {
			x += n * d->per_unit;
			continue;
		}
		name = &d->p->name[s->frame[depth]];
		put_box(d, name->text, html_module(name), place_of(name, place, sizeof(place)), n,
			x, depth + 1);
		if (depth + 1 > d->deepest)
			d->deepest = depth + 1;
		put_level(d, i, end, depth + 1, x);
		x += n * d->per_unit;
	}
}

static void put_tools(struct buf *b, const struct profile *p)
{
	buf_puts(b, "<p class=\"tools\" hidden><label>Measure <select id=\"flame-measure\">");
	for (int i = 0; i < NR_MEASURES; i++)
		if (p->total[i])
			buf_printf(b, "<option value=\"%d\"%s>%s</option>", i,
				   i == (int)profile_first_measure(p) ? " selected" : "",
				   measures[i].title);
	buf_puts(b, "</select></label> <label>Search <input type=\"search\" id=\"flame-search\">"
		    "</label> <span id=\"flame-matched\" role=\"status\"></span> <label><input "
		    "type=\"checkbox\" id=\"flame-inverted\"> inverted</label> <button "
		    "type=\"button\" id=\"flame-reset\">Reset zoom</button></p>\n");
}

/* What the stacks of a function have in common. */
struct function {
	const struct profile_name *name;
	uint64_t self, total;
	size_t sample; /* number, plus 1, of the last sample that was added to `total` */
};

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

/* Adds a sample to the functions in its stack; the innermost one has the sample itself. */
static void add_sample(struct function *f, const struct profile *p, size_t nth,
		       enum profile_measure measure)
{
	const struct profile_sample *s = &p->sample[nth];
	uint64_t n = s->value[measure];
	struct function *inner = NULL;

	for (uint32_t i = PROFILE_OUTER; i < s->frames; i++) {
		if (profile_is_kind(&p->name[s->frame[i]]))
			continue;
		inner = &f[s->frame[i]];
		if (inner->sample != nth + 1)
			inner->total += n;
		inner->sample = nth + 1;
	}
	if (inner)
		inner->self += n;
}

static void put_function(struct buf *b, const struct function *f, enum profile_measure measure)
{
	const char *text = f->name->text, *module = strstr(text, " (");
	char place[600];

	/* the last column has the source line, or else the module */
	buf_puts(b, "<tr><th scope=\"row\" data-is=\"function\">");
	if (*f->name->file && *f->name->function)
		html_text(b, f->name->function);
	else
		html_text_len(b, text,
			      module && *f->name->module ? (size_t)(module - text) : strlen(text));
	buf_puts(b, "</th>");
	html_cell(b, "self", f->self, amount_of(measure, f->self).s);
	html_cell(b, "total", f->total, amount_of(measure, f->total).s);
	place_of(f->name, place, sizeof(place));
	html_printf(b, "<td data-is=\"function\">%s</td></tr>\n",
		    *place ? place + strlen(" in ") : html_module(f->name));
}

/* Writes the functions with the most of a measure, beside the flame graph. */
static void put_functions(struct buf *b, const struct profile *p, enum profile_measure measure)
{
	struct function *f = buf_needs(b, calloc(p->names + 1, sizeof(*f)));

	if (!f)
		return;
	for (size_t i = 0; i < p->names; i++)
		f[i].name = &p->name[i];
	for (size_t i = 0; i < p->samples; i++)
		add_sample(f, p, i, measure);
	qsort(f, p->names, sizeof(*f), by_self);
	buf_printf(
		b,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Functions\"%s>"
		"<table id=\"flame-table\"><thead><tr><th scope=\"col\">function</th><th "
		"scope=\"col\" class=\"n\"><button type=\"button\" data-by=\"self\" "
		"aria-pressed=\"true\">self</button></th><th scope=\"col\" class=\"n\"><button "
		"type=\"button\" data-by=\"total\" aria-pressed=\"false\">total</button></th>"
		"<th scope=\"col\">source</th></tr></thead><tbody>\n",
		p->names && f[0].total ? "" : " hidden");
	for (size_t i = 0; i < p->names && i < FUNCTIONS_SHOWN && f[i].total; i++)
		put_function(b, &f[i], measure);
	buf_puts(b, "</tbody></table></div>\n");
	free(f);
}

void html_flame(struct buf *b, const struct story_view *s, const struct profile *p)
{
	uint32_t *order = buf_needs(b, calloc(p->samples + 1, sizeof(*order)));
	uint32_t *spare = buf_needs(b, calloc(p->samples + 1, sizeof(*spare)));
	struct drawing d = {.p = p, .order = order, .measure = profile_first_measure(p)};
	struct buf boxes = {};

	html_section(
		b, "flame", "Flame graph",
		"Page faults by workload, process, user stack and kind; mappings and file "
		"descriptors by the code that created them, if they still existed at the end. The "
		"totals of a process are exact; stacks share them in proportion to the sampled "
		"faults. If a stack ended early, only its innermost functions are known. "
		"A colour is a module; compared with another range or recording, red grew and blue "
		"shrank. "
		"Click or press Enter to zoom, Escape to go back, arrow keys to move.");
	d.b = &boxes;
	if (order && spare && p->total[d.measure]) {
		for (size_t i = 0; i < p->samples; i++)
			order[i] = i;
		sort_samples(p, order, spare, p->samples);
		d.per_unit = WIDTH / p->total[d.measure];
		put_box(&d, "all", "", "", p->total[d.measure], 0, 0);
		put_level(&d, 0, p->samples, 0, 0);
		put_tools(b, p);
		buf_printf(b,
			   "<p class=\"legend\" id=\"flame-legend\"></p><div "
			   "class=\"chart wide flame\"><svg id=\"flame-svg\" viewBox=\"0 0 1000 "
			   "%u\" role=\"group\" aria-label=\"Flame graph of %s\">\n",
			   (d.deepest + 1) * ROW, measures[d.measure].title);
		buf_add(b, boxes.s, boxes.len);
		b->failed |= boxes.failed;
		buf_puts(b, "</svg></div>\n<p class=\"note\" id=\"flame-detail\" "
			    "aria-live=\"polite\"></p>\n");
		put_functions(b, p, d.measure);
		if (p->left_out)
			html_note(b, "left:stacks", p->left_out,
				  " stacks beyond the most that is kept.");
	} else {
		buf_puts(b, "<p class=\"note\">Nothing to show: no faults, and no stacks.</p>\n");
	}
	html_section_end(b);
	buf_end_part(b, &boxes);
	free(order);
	free(spare);
}
