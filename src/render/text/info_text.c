// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the output of `info`: the properties of a recording, but not the recorded values. */
#include <inttypes.h>
#include <stdio.h>

#include "base/overhead.h"
#include "base/units.h"
#include "render/completeness.h"
#include "render/json_out.h"
#include "render/losses.h"
#include "render/recording_story.h"
#include "render/style.h"
#include "render/utc.h"

static void say(struct buf *b, const struct view *v, const char *key, struct buf *value)
{
	styled_wrap(b, v, STYLE_PLAIN, 11, "%-11s%s", key, value->s ? value->s : "");
	buf_next_part(b, value);
}

static void write_file(struct buf *b, const struct story_view *s, struct buf *t)
{
	const struct story_file *f = &s->file;
	double seconds = story_seconds(s);

	buf_puts(t, f->name);
	say(b, s->v, "file", t);
	buf_printf(t, "%u", f->format);
	say(b, s->v, "format", t);
	put_bytes(t, f->bytes);
	if (f->bytes && f->record_bytes > f->bytes)
		buf_printf(t, ", packed to %.1f%% of its records",
			   100.0 * f->bytes / f->record_bytes);
	if (seconds > 0)
		buf_printf(t, "; at this rate %s a day",
			   as_bytes(count_of_real(f->bytes / seconds * 86400)).s);
	say(b, s->v, "size", t);
}

static void write_host(struct buf *b, const struct story_view *s, struct buf *t)
{
	const struct model *m = s->v->m;
	char levels[64];

	buf_printf(t, "%s, Linux %s %s, %u CPUs", m->host.host, m->host.kernel, m->host.arch,
		   m->host.cpus);
	say(b, s->v, "host", t);
	buf_printf(t, "%s, by faultscope %s", as_utc(m->host.wall_ns).s, m->host.version);
	say(b, s->v, "begun", t);
	buf_printf(t, "%s%s%s; overhead levels: %s", m->host.mode, m->host.target[0] ? " " : "",
		   m->host.target, overhead_levels_text(m->host.tiers, levels, sizeof(levels)));
	say(b, s->v, "watched", t);
}

static const struct {
	const char *key, *text;
} ends[] = {
	[STORY_CUT_OFF] = {"cut off", "cut off: by a crash or a full disk, or it goes on"},
	[STORY_AS_ASKED] = {"as asked", "as asked"},
	[STORY_FULL] = {"full", "full: it would have become larger than --max-size"},
};

static void write_contents(struct buf *b, const struct story_view *s, struct buf *t)
{
	const struct history *h = s->h;

	buf_printf(t, "%s, %" PRIu64 " %s, one each %s", as_span(story_seconds(s)).s, h->looks,
		   as_words(h->looks, "scan{|s}").s, as_span(s->v->m->host.interval_ns / 1e9).s);
	say(b, s->v, "duration", t);
	buf_printf(t, "%" PRIu64 ", of these %" PRIu64 " ended", history_processes(h),
		   history_ended(h));
	if (h->rows_lost)
		buf_printf(t,
			   "; reports have one row, " HISTORY_OTHERS ", for %" PRIu64
			   " that ended and faulted little",
			   h->rows_lost - h->beyond);
	if (h->beyond)
		buf_printf(t, "; %" PRIu64 " are left out", h->beyond);
	say(b, s->v, "processes", t);
	buf_printf(t, "%" PRIu64, s->file.records);
	say(b, s->v, "records", t);
	buf_printf(t, "%zu %s", h->events,
		   as_words(h->events,
			    "refusal{, crossing, signal or kill|s, crossings, signals and "
			    "kills}")
			   .s);
	if (h->events_lost)
		buf_printf(t, ", and %" PRIu64 " more", h->events_lost);
	say(b, s->v, "events", t);
	buf_printf(t, "%" PRIu64 " critical, %" PRIu64 " warning, %" PRIu64 " info",
		   s->v->findings->opened[SEVERITY_CRITICAL],
		   s->v->findings->opened[SEVERITY_WARNING], s->v->findings->opened[SEVERITY_INFO]);
	say(b, s->v, "findings", t);
}

void info_text(struct buf *b, const struct story_view *s)
{
	struct buf t = {}, gaps = {};

	write_file(b, s, &t);
	write_host(b, s, &t);
	write_contents(b, s, &t);
	buf_printf(&t, "%" PRIu64 " that could not be kept", losses_all(s->v));
	say(b, s->v, "losses", &t);
	buf_puts(&t, ends[s->file.end].text);
	say(b, s->v, "end", &t);
	if (s->file.damages)
		buf_printf(&t, "%" PRIu64 " %s cannot be read, the first at offset %" PRIu64,
			   s->file.lost_bytes, as_words(s->file.lost_bytes, "byte{|s}").s,
			   s->file.damage_offset);
	else
		buf_puts(&t, *s->file.error ? s->file.error : "none");
	say(b, s->v, "damage", &t);
	gaps_of(&gaps, s->v);
	gaps_text(b, s->v, &gaps);
	buf_free(&gaps);
	buf_end_part(b, &t);
}

void info_json(struct buf *b, const struct story_view *s)
{
	const struct model *m = s->v->m;
	struct buf gaps = {};
	struct json j;

	json_begin(&j, b);
	json_text(&j, "type", "recording");
	json_text(&j, "file", s->file.name);
	json_count(&j, "format", s->file.format);
	json_count(&j, "bytes", s->file.bytes);
	json_count(&j, "records", s->file.records);
	json_count(&j, "record_bytes", s->file.record_bytes);
	json_text(&j, "host", m->host.host);
	json_text(&j, "kernel", m->host.kernel);
	json_time(&j, "time", m->host.wall_ns);
	json_text(&j, "version", m->host.version);
	json_text(&j, "mode", m->host.mode);
	json_text(&j, "target", m->host.target);
	json_real(&j, "interval_seconds", m->host.interval_ns / 1e9);
	json_real(&j, "seconds", story_seconds(s));
	json_count(&j, "scans", s->h->looks);
	json_count(&j, "processes", history_processes(s->h));
	json_count(&j, "processes_left_out", s->h->rows_lost);
	json_count(&j, "ended", history_ended(s->h));
	json_count(&j, "events", s->h->events + s->h->events_lost);
	json_count(&j, "lost", losses_all(s->v));
	json_count(&j, "damages", s->file.damages);
	json_count(&j, "lost_bytes", s->file.lost_bytes);
	json_text_or_null(&j, "damage", *s->file.error ? s->file.error : NULL);
	json_text(&j, "end", ends[s->file.end].key);
	gaps_of(&gaps, s->v);
	gaps_json(&j, "incomplete", &gaps);
	buf_free(&gaps);
	json_finish(&j);
}
