// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes values over time: traces for Perfetto and Chrome, and CSV tables for spreadsheets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "render/formats/format_makers.h"
#include "render/json_out.h"

/* maximum number of processes with a track of their own: those with the most faults */
#define TRACE_PROCESSES_MAX 256

static double micros(const struct story_view *s, uint64_t t_ns)
{
	return view_seconds(s->v, t_ns) * 1e6;
}

static void begin_event(struct json *j, const char *phase, const char *name, uint32_t pid,
			double us)
{
	json_object(j, NULL);
	json_text(j, "ph", phase);
	json_text(j, "name", name);
	json_count(j, "pid", pid);
	json_real(j, "ts", us);
}

static void put_name(struct json *j, uint32_t pid, const char *name)
{
	begin_event(j, "M", "process_name", pid, 0);
	json_object(j, "args");
	json_text(j, "name", name);
	json_end(j);
	json_end(j);
}

/*
 * Writes each rate at the start of its time span: a trace viewer shows a value until the next one.
 */
static void put_counters(struct json *j, const struct story_view *s, const struct history_point *p)
{
	double from = micros(s, p->from_ns), to = micros(s, p->to_ns);

	begin_event(j, "C", "page faults a second", 0, from);
	json_object(j, "args");
	json_real(j, "minor", history_rate(p, p->minor));
	json_real(j, "major", history_rate(p, p->major));
	json_end(j);
	json_end(j);
	begin_event(j, "C", "stall, ms a second", 0, from);
	json_object(j, "args");
	json_real(j, "stall", history_rate(p, p->stall_ns) / 1e6);
	json_end(j);
	json_end(j);
	for (size_t i = 0; i < s->h->gauges; i++) {
		const struct field_sum *sum = &s->h->gauge[i]->sum;

		begin_event(j, "C", sum->title, 0, to);
		json_object(j, "args");
		json_count(j, sum->column, p->gauge[i]);
		json_end(j);
		json_end(j);
	}
}

static void put_row_counters(struct json *j, const struct story_view *s,
			     const struct history_row *r)
{
	char name[64];

	/* pid 0 is the sum of dropped processes, whose faults are in the track of all processes */
	if (!r->faults || !r->id.pid)
		return;
	snprintf(name, sizeof(name), "%s [%u]", r->comm, r->id.pid);
	put_name(j, r->id.pid, name);
	for (size_t i = 0; i < s->h->points; i++) {
		const struct history_point *p = &s->h->point[i];

		begin_event(j, "C", "page faults a second", r->id.pid, micros(s, p->from_ns));
		json_object(j, "args");
		json_real(j, "faults", history_rate(p, r->faults[i]));
		json_end(j);
		json_end(j);
	}
}

static void put_instant(struct json *j, const char *name, uint32_t pid, double us, const char *key,
			const char *value)
{
	begin_event(j, "i", name, pid, us);
	json_text(j, "s", pid ? "p" : "g");
	json_object(j, "args");
	if (key)
		json_text(j, key, value);
	json_end(j);
	json_end(j);
}

static void put_event(struct json *j, const struct story_view *s, const union event *e)
{
	double us = micros(s, e->h.t_ns);
	char name[24];

	switch (e->h.kind) {
	case RECORD_CROSSING:
		put_instant(j,
			    e->crossing.what == WHAT_MAPS ? "mappings near their limit"
							  : "descriptors near their limit",
			    e->crossing.subject.pid, us, "comm", event_comm(e));
		break;
	case RECORD_REFUSED:
		put_instant(j, "call refused", e->refused.subject.pid, us, "call",
			    call_name(e->refused.call));
		break;
	case RECORD_SIGNAL:
		put_instant(j, signal_name(e->signal.signal, name, sizeof(name)),
			    e->signal.subject.pid, us, "comm", event_comm(e));
		break;
	case RECORD_OOM:
		put_instant(j, "killed: out of memory", e->oom.subject.pid, us, "comm",
			    event_comm(e));
		break;
	case RECORD_KERNEL_FAULT:
		put_instant(j, "bad access in the kernel", e->kernel_fault.subject.pid, us, "comm",
			    event_comm(e));
		break;
	}
}

void format_trace(struct buf *b, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(b, story_rows(s));
	const struct findings *f = s->v->findings;
	struct json j;

	json_begin(&j, b);
	/* write no key besides traceEvents, because some trace viewers reject others */
	json_array(&j, "traceEvents");
	put_name(&j, 0, "all processes");
	put_instant(&j, "recorded on", 0, 0, "host", s->v->m->host.host);
	for (size_t i = 0; i < s->h->points; i++)
		put_counters(&j, s, &s->h->point[i]);
	for (size_t i = 0; rows && i < s->h->rows && i < TRACE_PROCESSES_MAX; i++)
		put_row_counters(&j, s, rows[i]);
	if (s->h->rows > TRACE_PROCESSES_MAX) {
		char n[32];

		snprintf(n, sizeof(n), "%zu", s->h->rows - TRACE_PROCESSES_MAX);
		put_instant(&j, "processes without a track of their own, which faulted least", 0, 0,
			    "count", n);
	}
	if (s->h->events_lost) {
		char n[32];

		snprintf(n, sizeof(n), "%" PRIu64, s->h->events_lost);
		put_instant(&j, "events left out", 0, 0, "count", n);
	}
	if (f->lost) {
		char n[32];

		snprintf(n, sizeof(n), "%" PRIu64, f->lost);
		put_instant(&j, "findings left out", 0, 0, "count", n);
	}
	for (size_t i = 0; i < s->h->events; i++)
		put_event(&j, s, &s->h->event[i]);
	for (size_t i = 0; i < f->n; i++)
		put_instant(&j, f->f[i].rule->id, f->f[i].subject.pid, micros(s, f->f[i].since_ns),
			    "title", f->f[i].title);
	json_end_array(&j);
	json_finish(&j);
	free(rows);
}

/* Appends a CSV cell (RFC 4180). Puts an apostrophe before text that spreadsheets would execute. */
static void put_cell(struct buf *b, const char *s)
{
	struct buf safe = {};

	if (!s)
		return;
	buf_safe(&safe, s, true);
	buf_putc(b, '"');
	if (strchr("=+-@", *s) && *s)
		buf_putc(b, '\'');
	for (const char *c = safe.s ? safe.s : ""; *c; c++) {
		if (*c == '"')
			buf_putc(b, '"');
		buf_putc(b, *c);
	}
	buf_putc(b, '"');
	buf_end_part(b, &safe);
}

static void put_field_names(struct buf *b)
{
	char name[64];

	for (size_t i = 0; i < nr_fields; i++)
		buf_printf(b, ",%s", field_name(&fields[i], name, sizeof(name)));
	buf_puts(b, "\r\n");
}

void format_csv_row(struct buf *b, const struct view *v, const struct history_row *r)
{
	char workload[256];

	story_workload(r, workload, sizeof(workload));
	buf_printf(b, "%u,%" PRIu64 ",", r->id.pid, (uint64_t)r->id.start_ns);
	put_cell(b, r->comm);
	buf_putc(b, ',');
	put_cell(b, r->exe);
	buf_putc(b, ',');
	put_cell(b, workload);
	buf_printf(b, ",%.3f,%.3f,%s", view_seconds(v, r->first_ns), view_seconds(v, r->last_ns),
		   r->final ? "true" : "false");
	for (size_t k = 0; k < nr_fields; k++)
		if (r->known[k] && r->value[k] != UINT64_MAX)
			buf_printf(b, ",%" PRIu64, r->value[k]);
		else
			buf_putc(b, ',');
	buf_puts(b, "\r\n");
}

/* With the lines of the processes that have no row, the row of their sums would count them twice.
 */
void format_csv(struct buf *b, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(b, story_rows(s));

	buf_puts(b, "pid,start_time_ns,comm,exe,workload,first_seconds,last_seconds,final");
	put_field_names(b);
	for (size_t i = 0; rows && i < s->h->rows; i++)
		if (!s->dropped || rows[i] != history_others(s->h))
			format_csv_row(b, s->v, rows[i]);
	if (s->dropped && s->dropped->s)
		buf_add(b, s->dropped->s, s->dropped->len);
	free(rows);
}

void format_csv_time(struct buf *b, const struct story_view *s)
{
	buf_puts(b, "from_seconds,to_seconds,minor_faults,major_faults,failed_faults,stall_ns,"
		    "processes");
	for (size_t i = 0; i < s->h->gauges; i++)
		buf_printf(b, ",%s", s->h->gauge[i]->sum.column);
	buf_puts(b, ",events\r\n");
	for (size_t i = 0; i < s->h->points; i++) {
		const struct history_point *p = &s->h->point[i];

		buf_printf(b, "%.3f,%.3f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			   view_seconds(s->v, p->from_ns), view_seconds(s->v, p->to_ns), p->minor,
			   p->major, p->failed, p->stall_ns, p->processes);
		for (size_t g = 0; g < s->h->gauges; g++)
			buf_printf(b, ",%" PRIu64, p->gauge[g]);
		buf_printf(b, ",%" PRIu64 "\r\n", p->events);
	}
}
