// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the flame graph that is shown until report.js draws its own, and the page's JSON data. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "render/html/html.h"
#include "render/json_out.h"
#include "render/utc.h"

#define WIDTH	     1000.0
#define ROW	     18
#define NARROWEST    1.5 /* width of the narrowest box that is drawn, in SVG units */
#define DEEPEST	     40
#define SAMPLES_IN   4000
#define PROCESSES_IN 200
#define HEAT_IN	     HTML_HEAT_ROWS

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

/* Returns one of six colours for a name, always the same one. */
static unsigned int colour_of(const char *name)
{
	return *name ? (unsigned int)(name[0] * 7 + name[1]) % 6 : 0;
}

/* Writes " in FILE:LINE"; empty if the source file is not known. */
static const char *place_of(const struct profile_name *n, char *ret, size_t size)
{
	*ret = 0;
	if (*n->file)
		snprintf(ret, size, " in %s:%u", n->file, n->line);
	return ret;
}

static void put_box(const struct drawing *d, const char *name, const char *place, uint64_t n,
		    double x, uint32_t depth)
{
	double width = fmin(n * d->per_unit, WIDTH);
	char shown[80];

	html_printf(d->b,
		    "<g><title>%s%s: %s</title><rect class=\"f%u\" x=\"%.1f\" y=\"%u\" "
		    "width=\"%.1f\" height=\"%d\"/>",
		    name, place, as_count(n).s, colour_of(name), x, depth * ROW, width - 0.5,
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
		put_box(d, name->text, place_of(name, place, sizeof(place)), n, x, depth + 1);
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
		"Click or press Enter to zoom, Escape to go back, arrow keys to move.");
	d.b = &boxes;
	if (order && spare && p->total[d.measure]) {
		for (size_t i = 0; i < p->samples; i++)
			order[i] = i;
		sort_samples(p, order, spare, p->samples);
		d.per_unit = WIDTH / p->total[d.measure];
		put_box(&d, "all", "", p->total[d.measure], 0, 0);
		put_level(&d, 0, p->samples, 0, 0);
		put_tools(b, p);
		buf_printf(
			b,
			"<div class=\"chart wide flame\"><svg id=\"flame-svg\" viewBox=\"0 0 1000 "
			"%u\" role=\"group\" aria-label=\"Flame graph of %s\">\n",
			(d.deepest + 1) * ROW, measures[d.measure].title);
		buf_add(b, boxes.s, boxes.len);
		b->failed |= boxes.failed;
		buf_puts(b, "</svg></div>\n<p class=\"note\" id=\"flame-detail\" "
			    "aria-live=\"polite\"></p>\n");
		if (p->left_out)
			buf_printf(b,
				   "<p class=\"note\">%" PRIu64
				   " stacks beyond the most that is kept.</p>\n",
				   p->left_out);
	} else {
		buf_puts(b, "<p class=\"note\">Nothing to show: no faults, and no stacks.</p>\n");
	}
	html_section_end(b);
	buf_end_part(b, &boxes);
	free(order);
	free(spare);
}

static void write_points(struct json *j, const struct story_view *s)
{
	json_array(j, "points");
	for (size_t i = 0; i < s->h->points; i++) {
		const struct history_point *p = &s->h->point[i];

		json_object(j, NULL);
		json_real(j, "from", view_seconds(s->v, p->from_ns));
		json_real(j, "to", view_seconds(s->v, p->to_ns));
		json_count(j, "minor", p->minor);
		json_count(j, "major", p->major);
		json_count(j, "stall_ns", p->stall_ns);
		json_count(j, "failed", p->failed);
		json_count(j, "events", p->events);
		json_count(j, "processes", p->processes);
		for (size_t k = 0; k < s->h->gauges; k++)
			json_count(j, s->h->gauge[k]->sum.column, p->gauge[k]);
		for (int end = 0; end < NR_ENDS; end++) {
			json_array(j, end ? "latency_major" : "latency_minor");
			for (int k = 0; k < NR_LATENCY; k++) {
				if (!p->latency[end][k])
					continue;
				json_array(j, NULL);
				json_count(j, NULL, k);
				json_count(j, NULL, p->latency[end][k]);
				json_end_array(j);
			}
			json_end_array(j);
		}
		json_end(j);
	}
	json_end_array(j);
}

static void write_values(struct json *j, const struct history_row *r)
{
	json_object(j, "values");
	for (size_t i = 0; i < nr_fields; i++) {
		char key[64];

		field_name(&fields[i], key, sizeof(key));
		if (r->known[i] && r->value[i] != UINT64_MAX)
			json_count(j, key, r->value[i]);
		else
			json_null(j, key);
	}
	json_end(j);
}

static void write_processes(struct json *j, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(j->b, story_rows(s));
	char workload[256];

	json_array(j, "processes");
	for (size_t i = 0; rows && i < s->h->rows && i < PROCESSES_IN; i++) {
		const struct history_row *r = rows[i];

		story_workload(r, workload, sizeof(workload));
		json_object(j, NULL);
		json_count(j, "pid", r->id.pid);
		json_count(j, "start_time_ns", r->id.start_ns);
		json_text(j, "comm", r->comm);
		json_text(j, "workload", workload);
		json_real(j, "first", view_seconds(s->v, r->first_ns));
		json_real(j, "last", view_seconds(s->v, r->last_ns));
		json_flag(j, "final", r->final);
		write_values(j, r);
		if (i < HEAT_IN && r->faults) {
			json_array(j, "faults_by_point");
			for (size_t k = 0; k < s->h->points; k++)
				json_count(j, NULL, r->faults[k]);
			json_end_array(j);
		}
		json_end(j);
	}
	json_end_array(j);
	free(rows);
}

/*
 * Adds when the events of a sample happened: a time span for growth; for faults, the number of
 * faults and the stall in each time column.
 */
static void write_cells(struct json *j, const struct story_view *s, const struct profile *p,
			const struct profile_sample *one)
{
	size_t columns = story_columns(s);

	if (one->first_ns) {
		json_array(j, "span");
		json_real(j, NULL, view_seconds(s->v, one->first_ns));
		json_real(j, NULL, view_seconds(s->v, one->last_ns));
		json_end_array(j);
		return;
	}
	json_array(j, "t");
	for (size_t i = 0; i < one->cells; i++) {
		const struct profile_cell *c = &p->cell[one->cell + i];

		json_array(j, NULL);
		json_count(j, NULL, c->column);
		json_count(j, NULL, c->faults);
		json_count(j, NULL, c->stall_ns);
		json_end_array(j);
	}
	for (size_t c = 0; !one->cells && one->row && one->row->faults && c < columns; c++) {
		uint64_t n = 0;

		for (size_t i = 0; i < s->h->points; i++)
			n += i * columns / s->h->points == c ? one->row->faults[i] : 0;
		if (!n)
			continue;
		json_array(j, NULL);
		json_count(j, NULL, c);
		json_count(j, NULL, n);
		json_end_array(j);
	}
	json_end_array(j);
}

static void write_sampling(struct json *j, const struct story_view *s)
{
	const struct samples *all = s->v->m->samples;
	uint64_t stands = 0;

	if (!all || !all->taken) {
		json_null(j, "sampling");
		return;
	}
	for (size_t i = 0; i < all->n; i++)
		stands += all->sample[i].weight;
	json_object(j, "sampling");
	json_count(j, "drawn", all->taken);
	json_count(j, "kept", all->n);
	json_count(j, "each_stands_for_least", all->least);
	json_count(j, "each_stands_for_most", all->most);
	json_count(j, "together_stand_for", stands);
	json_end(j);
}

/* Adds faults by address: runs of pages, each with pairs [point, estimated number of faults]. */
static void write_addresses(struct json *j, const struct story_view *s, const struct address_map *m)
{
	json_array(j, "addresses");
	for (size_t i = 0; i < m->rows; i++) {
		const struct address_row *r = &m->row[i];
		const struct address_area *a = &m->area[r->area];

		json_object(j, NULL);
		json_count(j, "pid", a->subject.pid);
		json_count(j, "start_time_ns", a->subject.start_ns);
		json_text(j, "mapping", address_name(a));
		json_count(j, "offset", r->from - a->from);
		json_count(j, "bytes", r->to - r->from);
		json_count(j, "faults", r->faults);
		json_count(j, "major", r->major);
		json_count(j, "stall_ns", r->stall_ns);
		json_array(j, "by_point");
		for (size_t k = 0; k < s->h->points; k++) {
			if (!r->by_point[k])
				continue;
			json_array(j, NULL);
			json_count(j, NULL, k);
			json_count(j, NULL, r->by_point[k]);
			json_end_array(j);
		}
		json_end_array(j);
		json_end(j);
	}
	json_end_array(j);
}

/* Writes the source line of a frame; null if it is not known. */
static void write_place(struct json *j, const struct profile_name *n)
{
	if (!*n->file) {
		json_null(j, NULL);
		return;
	}
	json_object(j, NULL);
	json_text(j, "function", n->function);
	json_text(j, "file", n->file);
	json_count_or_null(j, "line", n->line, n->line);
	json_end(j);
}

static void write_profile(struct json *j, const struct story_view *s, const struct profile *p)
{
	json_object(j, "profile");
	json_count(j, "columns", story_columns(s));
	json_array(j, "measures");
	for (int i = 0; i < NR_MEASURES; i++) {
		json_object(j, NULL);
		json_text(j, "key", measures[i].key);
		json_text(j, "title", measures[i].title);
		json_text(j, "unit", measures[i].unit);
		json_count(j, "total", p->total[i]);
		json_end(j);
	}
	json_end_array(j);
	json_array(j, "names");
	for (size_t i = 0; i < p->names; i++)
		json_text(j, NULL, p->name[i].text);
	json_end_array(j);
	json_array(j, "places");
	for (size_t i = 0; i < p->names; i++)
		write_place(j, &p->name[i]);
	json_end_array(j);
	json_count(j, "samples_left_out",
		   p->left_out + (p->samples > SAMPLES_IN ? p->samples - SAMPLES_IN : 0));
	json_array(j, "samples");
	for (size_t i = 0; i < p->samples && i < SAMPLES_IN; i++) {
		const struct profile_sample *one = &p->sample[i];

		json_object(j, NULL);
		json_array(j, "v");
		for (int k = 0; k < NR_MEASURES; k++)
			json_count(j, NULL, one->value[k]);
		json_end_array(j);
		json_array(j, "f");
		for (uint32_t k = 0; k < one->frames; k++)
			json_count(j, NULL, one->frame[k]);
		json_end_array(j);
		write_cells(j, s, p, one);
		json_end(j);
	}
	json_end_array(j);
	json_end(j);
}

static void write_findings(struct json *j, const struct story_view *s)
{
	const struct findings *fs = s->v->findings;

	json_array(j, "findings");
	for (size_t i = 0; i < fs->n; i++) {
		const struct finding *f = &fs->f[i];

		json_object(j, NULL);
		json_text(j, "id", f->rule->id);
		json_text(j, "severity", severity_name(f->worst));
		json_text(j, "state", f->open ? "open" : "cleared");
		json_count(j, "pid", f->subject.pid);
		json_text(j, "title", f->title);
		json_text_or_null(j, "cause", f->cause);
		json_end(j);
	}
	json_end_array(j);
}

void html_story_data(struct buf *b, const struct story_view *s, const struct profile *p,
		     const struct address_map *m)
{
	struct buf data = {};
	struct json j;

	json_begin(&j, &data);
	json_count(&j, "schema", 1);
	json_text(&j, "type", "report");
	json_text(&j, "file", s->file.name);
	json_text(&j, "version", s->v->m->host.version);
	json_text(&j, "kernel", s->v->m->host.kernel);
	json_text(&j, "host", s->v->m->host.host);
	json_text(&j, "time", as_utc(s->v->m->host.wall_ns).s);
	json_real(&j, "seconds", story_seconds(s));
	json_count(&j, "scans", s->h->looks);
	json_count(&j, "processes_seen", history_processes(s->h));
	json_count(&j, "page_bytes", s->v->m->tick.limits.page_bytes);
	json_count(&j, "latency_shift", LATENCY_SHIFT);
	write_findings(&j, s);
	write_points(&j, s);
	write_processes(&j, s);
	write_profile(&j, s, p);
	write_sampling(&j, s);
	write_addresses(&j, s, m);
	json_finish(&j);
	html_section(b, "data", "Data",
		     "All values of this page as JSON (<code>schema</code> 1: new versions only "
		     "add keys). <code>faultscope report --format</code> converts the recording, "
		     "which has more, to pprof, speedscope, perf script, CSV and other formats.");
	buf_puts(b, "<p class=\"tools\" hidden><button type=\"button\" data-save=\"json\">Save "
		    "JSON</button> <button type=\"button\" data-save=\"folded\">Save folded stacks"
		    "</button> <button type=\"button\" data-save=\"speedscope\">Save for speedscope"
		    "</button></p>\n");
	html_section_end(b);
	html_data(b, "report-data", &data);
	buf_end_part(b, &data);
}
