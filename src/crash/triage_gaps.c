// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/triage_gaps.h"

#include <inttypes.h>
#include <string.h>

#include "render/completeness.h"

/* The input is no text if at least this percentage of its bytes is odd (see odd_bytes()). */
#define NO_TEXT_PERCENT 10

/*
 * Counts bytes that a text log does not contain: control characters (except blanks and escapes) and
 * invalid UTF-8.
 */
static size_t odd_bytes(const char *s, size_t size)
{
	size_t odd = 0;

	for (size_t i = 0; i < size;) {
		unsigned char c = s[i];
		uint32_t code;
		int len;

		if (c < 0x80) {
			odd += c == 0x7f || (c < ' ' && (!c || !strchr("\t\n\v\f\r\b\x1b", c)));
			i++;
			continue;
		}
		len = size - i < 4 ? 1 : utf8_decode(s + i, &code);
		odd += !len;
		i += len ? len : 1;
	}
	return odd;
}

bool triage_is_text(const char *data, size_t size)
{
	size_t odd = odd_bytes(data, size);

	return size && (!odd || odd < size / (100 / NO_TEXT_PERCENT));
}

bool triage_has_text(const struct triage_files *f, const struct triage *t, size_t records)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->input[i].skips || triage_is_text(f->input[i].data, f->input[i].size))
			return t->lines.n || t->lines.passed || records;
	return records > 0;
}

static void add_text(struct buf *gaps, const struct triage_files *f)
{
	struct buf name = {};

	for (size_t i = 0; i < f->n; i++) {
		const struct triage_input *in = &f->input[i];

		if (!in->size || triage_is_text(in->data, in->size))
			continue;
		buf_next_part(gaps, &name);
		buf_safe(&name, f->name[i], false);
		gap_add(gaps, "not read: %s is no text (%zu of %zu bytes)", name.s ? name.s : "",
			odd_bytes(in->data, in->size), in->size);
	}
	buf_end_part(gaps, &name);
}

/* Adds the parts of reports that were dropped for want of room or memory. */
static void add_lost_parts(struct buf *gaps, const struct recognised *r)
{
	uint64_t frames = 0, modules = 0;

	for (size_t i = 0; i < r->n; i++) {
		frames += r->event[i].lost_frames;
		modules += r->event[i].lost_modules;
	}
	gap_lost(gaps, frames, "frame{|s} of call traces beyond the most that are kept");
	gap_lost(gaps, modules, "module{|s} beyond the most that are kept");
}

void triage_gaps_of(struct buf *gaps, const struct triage_files *f, const struct triage *t,
		    size_t records)
{
	gaps_add(gaps, &f->gaps);
	if (!t->lines.n && !t->lines.passed && !records)
		gap_add(gaps, "nothing was read: %s",
			f->n ? "the log has no line" : "there is no log");
	add_text(gaps, f);
	gap_lost(gaps, f->left_out, "file{|s} beyond the most that are read at once");
	gap_lost(gaps, t->lines.lost_bytes, "byte{|s} beyond the most that is read");
	gap_lost(gaps, t->lines.lost_lines, "line{|s} beyond the most that are read");
	gap_lost(gaps, t->seen.lost + t->lost_verdicts,
		 "report{|s} beyond the most that are judged");
	add_lost_parts(gaps, &t->seen);
	gap_lost(gaps, t->seen.unknown,
		 "{line that looks like|lines that look like} a crash and {fits|fit} no rule");
	gap_lost(gaps, t->lines.dropped, "time{|s} the kernel dropped messages");
	gap_lost(gaps, t->recorded.torn, "record{|s} of the flight recorder that {is|are} torn");
}
