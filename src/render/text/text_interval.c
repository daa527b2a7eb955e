// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes an interval as one line, for text that goes to a pipe or a file. */
#include <stdlib.h>

#include "base/units.h"
#include "render/style.h"
#include "render/text/text.h"

/* Appends a part of the line, after two blanks, if it fits. */
static void put_part(struct line *l, struct buf *part)
{
	int columns = part->s ? text_columns(part->s) : 0;

	if (columns && line_columns(l) + 2 + columns <= l->v->width)
		line_printf(l, "  %s", part->s);
	buf_end_part(&l->b, part);
}

static void put_time(struct line *l)
{
	line_printf(l, "%s", as_clock(view_seconds(l->v, l->v->m->last_ns)).s);
}

/* Appends a rate, "minor 12,480/s". For all processes, `s` is NULL. Skips unknown values. */
static void put_rate_of(struct line *l, const struct subject *s, const char *name,
			const struct field *f)
{
	double seconds = model_window_seconds(l->v->m), sum = 0;
	struct buf part = {};
	uint64_t n;

	if (!is_available(l->v->m, f->hook, f->lacks) || (s && !field_get(l->v->m, s, f, &n)))
		return;
	if (s)
		sum = field_delta(l->v->m, s, f);
	for (const struct subject *one = s ? NULL : model_each_changed(l->v->m, NULL); one;
	     one = model_each_changed(l->v->m, one))
		if (!one->hidden)
			sum += field_delta(l->v->m, one, f);
	buf_printf(&part, "%s %s/s", name, as_field_figure(f, seconds > 0 ? sum / seconds : 0).s);
	put_part(l, &part);
}

/* Appends the use of a limit, "maps 1,204 (1.8%)". */
static void put_use(struct line *l, const struct subject *s, enum resource_id id, const char *name)
{
	struct buf part = {};
	struct use u;

	if (!resource_use(l->v->m, s, id, &u))
		return;
	buf_printf(&part, "%s %s", name,
		   resources[id].bytes ? as_bytes(u.value).s : as_count(u.value).s);
	if (use_is_bounded(&u))
		buf_printf(&part, " (%.1f%%)", 100.0 * u.value / u.limit);
	put_part(l, &part);
}

static void put_rates(struct line *l, const struct subject *s)
{
	put_rate_of(l, s, "minor", FIELD(min_flt));
	put_rate_of(l, s, "major", FIELD(maj_flt));
	put_rate_of(l, s, "stalled", FIELD(stall));
}

static void write_process(struct buf *b, const struct view *v, const struct subject *s)
{
	struct line l = {.v = v};
	struct buf rss = {};
	uint64_t n;

	put_time(&l);
	line_printf(&l, "  %s[%u]", s->now.g.comm, s->id.pid);
	put_rates(&l, s);
	put_use(&l, s, RESOURCE_MAPS, "maps");
	put_use(&l, s, RESOURCE_FDS, "fds");
	if (field_get(v->m, s, field_find("memory.rss_bytes"), &n)) {
		buf_printf(&rss, "RSS %s", as_bytes(n).s);
		put_part(&l, &rss);
	}
	line_end(&l, b, STYLE_PLAIN);
}

/* Appends the number of open findings by severity, "2 critical, 1 warning". */
static void put_findings(struct line *l)
{
	size_t of[NR_SEVERITIES] = {};
	struct buf part = {};

	for (size_t i = 0; i < l->v->findings->n; i++)
		of[l->v->findings->f[i].severity] += l->v->findings->f[i].open;
	for (int i = NR_SEVERITIES - 1; i >= (int)l->v->min_severity; i--)
		if (of[i])
			buf_printf(&part, "%s%zu %s", part.len ? ", " : "", of[i],
				   severity_name(i));
	put_part(l, &part);
}

static void write_all(struct buf *b, const struct view *v)
{
	size_t processes = view_processes(v);
	struct line l = {.v = v};

	put_time(&l);
	line_printf(&l, "  %s %s", as_count(processes).s, as_words(processes, "process{|es}").s);
	put_rates(&l, NULL);
	put_findings(&l);
	put_use(&l, NULL, RESOURCE_MEMORY, "memory");
	put_use(&l, NULL, RESOURCE_FILES, "open files");
	line_end(&l, b, STYLE_PLAIN);
}

void text_interval(struct buf *b, const struct view *v)
{
	const struct subject **s;
	size_t n;

	if (v->layout == LAYOUT_TABLE) {
		write_all(b, v);
		return;
	}
	s = buf_needs(b, text_sorted(v, &n));
	for (size_t i = 0; s && i < n && i < TEXT_BLOCKS_MAX; i++)
		if (s[i]->final) /* its last values */
			text_block(b, v, s[i]);
		else
			write_process(b, v, s[i]);
	free(s);
}
