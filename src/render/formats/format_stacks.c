// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes profiles as text: folded stacks, perf script, speedscope. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/formats/format_makers.h"
#include "render/json_out.h"
#include "render/profile.h"

/* Appends a frame's name, safe for a terminal. `;` separates frames and therefore becomes `:`. */
static void put_folded(struct buf *b, const char *s)
{
	char name[512];

	snprintf(name, sizeof(name), "%s", s);
	for (char *c = name; *c; c++)
		if (*c == ';')
			*c = ':';
	buf_safe(b, name, true);
}

static void make_folded(struct buf *b, const struct story_view *s, enum profile_measure measure)
{
	struct profile p;

	if (profile_make(&p, s)) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < p.samples; i++) {
		const struct profile_sample *one = &p.sample[i];

		if (!one->value[measure])
			continue;
		for (uint32_t k = 0; k < one->frames; k++) {
			buf_puts(b, k ? ";" : "");
			put_folded(b, p.name[one->frame[k]].text);
		}
		buf_printf(b, " %" PRIu64 "\n", one->value[measure]);
	}
	profile_free(&p);
}

void format_folded_faults(struct buf *b, const struct story_view *s)
{
	make_folded(b, s, MEASURE_FAULTS);
}

void format_folded_memory(struct buf *b, const struct story_view *s)
{
	make_folded(b, s, MEASURE_MEMORY);
}

void format_folded_stall(struct buf *b, const struct story_view *s)
{
	make_folded(b, s, MEASURE_STALL);
}

/* Appends a name. Bytes in `not` separate words in perf script's output and become `_`. */
static void put_word(struct buf *b, const char *s, size_t n, const char * not )
{
	char name[512];

	snprintf(name, sizeof(name), "%.*s", (int)(n < 511 ? n : 511), s);
	for (char *c = name; *c; c++)
		if (strchr(not, *c))
			*c = '_';
	buf_safe(b, name, true);
}

/*
 * Appends a frame. In parentheses is the source line, or else the module. As in the output of perf,
 * an inlined function has "(inlined)" instead.
 */
static void put_perf_frame(struct buf *b, const struct profile_name *n)
{
	const char *function = *n->function ? n->function : n->text;
	char place[512] = "[faultscope]";
	const char *slash = strrchr(n->file, '/');

	if (n->inlined_into)
		snprintf(place, sizeof(place), "inlined");
	else if (*n->file)
		snprintf(place, sizeof(place), "%.490s:%u", slash ? slash + 1 : n->file, n->line);
	else if (*n->module)
		snprintf(place, sizeof(place), "%.511s", n->module);
	buf_printf(b, "\t%16x ", 1);
	put_word(b, function, strlen(function), "();");
	buf_puts(b, " (");
	put_word(b, place, strlen(place), "()");
	buf_puts(b, ")\n");
}

static void put_perf_sample(struct buf *b, const struct profile *p, const struct story_view *s,
			    const struct profile_sample *one, enum profile_measure measure)
{
	const struct history_row *r = one->row;
	/* number of outermost frames for the header: workload and process, or only "process" */
	uint32_t head = r ? 2 : 1;
	double at = r ? view_seconds(s->v, r->last_ns) : 0;

	put_word(b, r ? r->comm : "process", COMM_LEN, " \t");
	buf_printf(b, " %u [000] %.6f: %" PRIu64 " %s:\n", r ? r->id.pid : 0, at,
		   one->value[measure], measures[measure].key);
	/* write the innermost frame first, without the `head` frames of the header line */
	for (uint32_t k = one->frames; k-- > head;)
		put_perf_frame(b, &p->name[one->frame[k]]);
	buf_puts(b, "\n");
}

void format_perf_script(struct buf *b, const struct story_view *s)
{
	struct profile p;

	if (profile_make(&p, s)) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < p.samples; i++)
		for (int measure = 0; measure < NR_MEASURES; measure++)
			/* omit values of faults and memory that other samples contain already */
			if (p.sample[i].value[measure] && measure != MEASURE_BYTES &&
			    measure != MEASURE_STALL && measure != MEASURE_MEMORY_GROWTH)
				put_perf_sample(b, &p, s, &p.sample[i], measure);
	profile_free(&p);
}

static void put_speedscope_profile(struct json *j, const struct profile *p,
				   enum profile_measure measure)
{
	const char *unit = measures[measure].unit;

	json_object(j, NULL);
	json_text(j, "type", "sampled");
	json_text(j, "name", measures[measure].title);
	json_text(j, "unit", strcmp(unit, "count") ? unit : "none");
	json_count(j, "startValue", 0);
	json_count(j, "endValue", p->total[measure]);
	json_array(j, "samples");
	for (size_t i = 0; i < p->samples; i++) {
		if (!p->sample[i].value[measure])
			continue;
		json_array(j, NULL);
		for (uint32_t k = 0; k < p->sample[i].frames; k++)
			json_count(j, NULL, p->sample[i].frame[k]);
		json_end_array(j);
	}
	json_end_array(j);
	json_array(j, "weights");
	for (size_t i = 0; i < p->samples; i++)
		if (p->sample[i].value[measure])
			json_count(j, NULL, p->sample[i].value[measure]);
	json_end_array(j);
	json_end(j);
}

void format_speedscope(struct buf *b, const struct story_view *s)
{
	uint64_t active = 0;
	struct profile p;
	struct json j;

	if (profile_make(&p, s)) {
		b->failed = true;
		return;
	}
	json_begin(&j, b);
	json_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&j, "exporter", "faultscope");
	json_text(&j, "name", s->file.name);
	json_object(&j, "shared");
	json_array(&j, "frames");
	for (size_t i = 0; i < p.names; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", profile_function(&p.name[i]));
		if (*p.name[i].file)
			json_text(&j, "file", p.name[i].file);
		if (p.name[i].line)
			json_count(&j, "line", p.name[i].line);
		json_end(&j);
	}
	json_end_array(&j);
	json_end(&j);
	for (int measure = 0; measure < (int)profile_first_measure(&p); measure++)
		active += p.total[measure] != 0;
	json_count(&j, "activeProfileIndex", active);
	json_array(&j, "profiles");
	for (int measure = 0; measure < NR_MEASURES; measure++)
		if (p.total[measure])
			put_speedscope_profile(&j, &p, measure);
	json_end_array(&j);
	json_finish(&j);
	profile_free(&p);
}
