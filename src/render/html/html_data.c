// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the values of a page as JSON, which the script reads. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/fields.h"
#include "render/html/html.h"
#include "render/json_out.h"
#include "render/utc.h"

#define SAMPLES_IN   4000
#define PROCESSES_IN 200
#define HEAT_IN	     HTML_HEAT_ROWS

/* A table has an array for each column, because the name of a column is then written once. */

static void write_seconds(struct json *j, const struct story_view *s, bool end)
{
	json_array(j, end ? "to" : "from");
	for (size_t i = 0; i < s->h->points; i++) {
		const struct history_point *p = &s->h->point[i];

		json_real(j, NULL, view_seconds(s->v, end ? p->to_ns : p->from_ns));
	}
	json_end_array(j);
}

static void write_latency(struct json *j, const struct history_point *p, int end)
{
	json_array(j, NULL);
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

static const struct {
	const char *key;
	size_t offset;
} point_counts[] = {
#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct history_point, name)                                        \
	}
	COUNT(minor), COUNT(major), COUNT(stall_ns), COUNT(failed), COUNT(events), COUNT(processes),
#undef COUNT
};

static void write_points(struct json *j, const struct story_view *s)
{
	const struct history *h = s->h;

	json_object(j, "points");
	write_seconds(j, s, false);
	write_seconds(j, s, true);
	for (size_t k = 0; k < sizeof(point_counts) / sizeof(point_counts[0]); k++) {
		json_array(j, point_counts[k].key);
		for (size_t i = 0; i < h->points; i++)
			json_count(j, NULL,
				   *(const uint64_t *)((const char *)&h->point[i] +
						       point_counts[k].offset));
		json_end_array(j);
	}
	for (size_t k = 0; k < h->gauges; k++) {
		json_array(j, h->gauge[k]->sum.column);
		for (size_t i = 0; i < h->points; i++)
			json_count(j, NULL, h->point[i].gauge[k]);
		json_end_array(j);
	}
	for (int end = 0; end < NR_ENDS; end++) {
		json_array(j, end ? "latency_major" : "latency_minor");
		for (size_t i = 0; i < h->points; i++)
			write_latency(j, &h->point[i], end);
		json_end_array(j);
	}
	json_end(j);
}

static void write_values(struct json *j, const struct history_row **rows, size_t n)
{
	json_object(j, "values");
	for (size_t k = 0; k < nr_fields; k++) {
		char key[64];

		json_array(j, field_name(&fields[k], key, sizeof(key)));
		for (size_t i = 0; i < n; i++) {
			const struct history_row *r = rows[i];

			json_count_or_null(j, NULL, r->known[k] && r->value[k] != UINT64_MAX,
					   r->value[k]);
		}
		json_end_array(j);
	}
	json_end(j);
}

static void write_faults(struct json *j, const struct story_view *s,
			 const struct history_row **rows, size_t n)
{
	json_array(j, "faults_by_point");
	for (size_t i = 0; i < n && i < HEAT_IN; i++) {
		const struct history_row *r = rows[i];

		json_array(j, NULL);
		for (size_t k = 0; r->faults && k < s->h->points; k++)
			json_count(j, NULL, r->faults[k]);
		json_end_array(j);
	}
	json_end_array(j);
}

/* Columns of the table of processes, besides values and faults by point. */
enum column { PID, START, COMM, WORKLOAD, FIRST, LAST, FINAL, NR_PROCESS_COLUMNS };

static const char *const column_keys[NR_PROCESS_COLUMNS] = {
	"pid", "start_time_ns", "comm", "workload", "first", "last", "final",
};

static void write_cell(struct json *j, const struct story_view *s, const struct history_row *r,
		       enum column c)
{
	char workload[256];

	switch (c) {
	case PID:
		json_count(j, NULL, r->id.pid);
		break;
	case START:
		json_count(j, NULL, r->id.start_ns);
		break;
	case COMM:
		json_text(j, NULL, r->comm);
		break;
	case WORKLOAD:
		story_workload(r, workload, sizeof(workload));
		json_text(j, NULL, workload);
		break;
	case FIRST:
		json_real(j, NULL, view_seconds(s->v, r->first_ns));
		break;
	case LAST:
		json_real(j, NULL, view_seconds(s->v, r->last_ns));
		break;
	default:
		json_flag(j, NULL, r->final);
	}
}

static void write_processes(struct json *j, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(j->b, story_rows(s));
	size_t n = !rows ? 0 : s->h->rows < PROCESSES_IN ? s->h->rows : PROCESSES_IN;

	json_object(j, "processes");
	for (int c = 0; c < NR_PROCESS_COLUMNS; c++) {
		json_array(j, column_keys[c]);
		for (size_t i = 0; i < n; i++)
			write_cell(j, s, rows[i], c);
		json_end_array(j);
	}
	write_values(j, rows, n);
	write_faults(j, s, rows, n);
	json_end(j);
	free(rows);
}

/*
 * Adds when the events of a sample happened: a time span for growth; for faults, the number of
 * faults and the stall in each time column. Without times of its own, a sample has those of its
 * process: `row` is the index of the process in write_times(), plus 1.
 */
static void write_cells(struct json *j, const struct story_view *s, const struct profile *p,
			const struct profile_sample *one, size_t row)
{
	if (one->first_ns) {
		json_array(j, "span");
		json_real(j, NULL, view_seconds(s->v, one->first_ns));
		json_real(j, NULL, view_seconds(s->v, one->last_ns));
		json_end_array(j);
	} else if (row) {
		json_count(j, "row", row - 1);
	} else {
		json_array(j, "t");
		for (size_t i = 0; i < one->cells; i++) {
			const struct profile_cell *c = &p->cell[one->cell + i];

			json_array(j, NULL);
			json_count(j, NULL, c->column);
			json_count(j, NULL, c->faults);
			json_count(j, NULL, c->stall_ns);
			json_end_array(j);
		}
		json_end_array(j);
	}
}

/* Writes the first time column in which a process had faults, then their number by column. */
static void write_row_times(struct json *j, const struct story_view *s, const struct history_row *r)
{
	uint64_t faults[STORY_COLUMNS] = {0};
	size_t columns = story_columns(s), first = 0;

	for (size_t i = 0; i < s->h->points; i++)
		faults[i * columns / s->h->points] += r->faults[i];
	while (columns && !faults[columns - 1])
		columns--;
	while (first < columns && !faults[first])
		first++;
	json_array(j, NULL);
	json_count(j, NULL, first);
	for (size_t c = first; c < columns; c++)
		json_count(j, NULL, faults[c]);
	json_end_array(j);
}

/*
 * Writes the times of faults of the processes whose samples have no times of their own. Returns the
 * index of each row of the history in this list, plus 1; 0: it is not in the list. Free it.
 */
static uint32_t *write_times(struct json *j, const struct story_view *s, const struct profile *p)
{
	uint32_t *index = buf_needs(j->b, calloc(s->h->rows + 1, sizeof(*index))), n = 0;

	json_array(j, "rows");
	for (size_t i = 0; index && i < p->samples && i < SAMPLES_IN; i++) {
		const struct profile_sample *one = &p->sample[i];
		size_t row = one->row ? one->row - s->h->row : 0;

		if (one->first_ns || one->cells || !one->row || !one->row->faults || index[row])
			continue;
		index[row] = ++n;
		write_row_times(j, s, one->row);
	}
	json_end_array(j);
	return index;
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

static void write_profile(struct json *j, const char *key, const struct story_view *s,
			  const struct profile *p)
{
	uint32_t *times;

	json_object(j, key);
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
	json_array(j, "modules");
	for (size_t i = 0; i < p->names; i++)
		json_text(j, NULL, html_module(&p->name[i]));
	json_end_array(j);
	json_count(j, "samples_left_out",
		   p->left_out + (p->samples > SAMPLES_IN ? p->samples - SAMPLES_IN : 0));
	times = write_times(j, s, p);
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
		write_cells(j, s, p, one,
			    times && !one->cells && one->row ? times[one->row - s->h->row] : 0);
		json_end(j);
	}
	json_end_array(j);
	json_end(j);
	free(times);
}

/* Adds when a finding opened, changed and closed. */
static void write_changes(struct json *j, const struct story_view *s, const struct finding *f)
{
	const struct finding_life *l = s->times ? finding_times_of(s->times, f) : NULL;

	json_array(j, "changes");
	for (size_t i = 0; l && i < l->n; i++) {
		json_object(j, NULL);
		json_real(j, "t", view_seconds(s->v, l->change[i].t_ns));
		json_text(j, "severity", severity_name(l->change[i].severity));
		json_text(j, "state", l->change[i].open ? "open" : "cleared");
		json_end(j);
	}
	json_end_array(j);
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
		write_changes(j, s, f);
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
	json_count(&j, "begin_ms", view_wall_ns(s->v, s->v->m->origin_ns) / 1000000);
	json_real(&j, "zone_s", html_zone(s));
	json_flag(&j, "dated", html_dated(s));
	json_real(&j, "seconds", story_seconds(s));
	json_count(&j, "scans", s->h->looks);
	json_count(&j, "processes_seen", history_processes(s->h));
	json_count(&j, "page_bytes", s->v->m->tick.limits.page_bytes);
	json_count(&j, "latency_shift", LATENCY_SHIFT);
	write_findings(&j, s);
	write_points(&j, s);
	write_processes(&j, s);
	write_profile(&j, "profile", s, p);
	write_sampling(&j, s);
	write_addresses(&j, s, m);
	json_finish(&j);
	html_section(b, "data", "Data",
		     "All values of this page as JSON (<code>schema</code> 1: new versions only "
		     "add keys). A table has an array for each column. <code>faultscope report "
		     "--format</code> converts the recording, "
		     "which has more, to pprof, speedscope, perf script, CSV and other formats.");
	buf_puts(b, "<p class=\"tools\" hidden><button type=\"button\" data-save=\"json\">Save "
		    "JSON</button> <button type=\"button\" data-save=\"folded\">Save folded stacks"
		    "</button> <button type=\"button\" data-save=\"speedscope\">Save for speedscope"
		    "</button></p>\n");
	html_section_end(b);
	html_data(b, "report-data", &data);
	buf_end_part(b, &data);
}

/* Keys of a report that have no values in a comparison. */
static const char *const empty[] = {"points", "processes", "addresses"};

void html_diff_data(struct buf *b, const struct story_view *before, const struct profile *then,
		    const struct story_view *after, const struct profile *now)
{
	struct buf data = {};
	struct json j;

	json_begin(&j, &data);
	json_count(&j, "schema", 1);
	json_text(&j, "type", "diff");
	json_text(&j, "file", after->file.name);
	json_text(&j, "before", before->file.name);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		json_array(&j, empty[i]);
		json_end_array(&j);
	}
	write_profile(&j, "profile", after, now);
	write_profile(&j, "baseline", before, then);
	json_finish(&j);
	html_data(b, "report-data", &data);
	buf_end_part(b, &data);
}
