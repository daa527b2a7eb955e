// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/crash/kernel_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/json/line_rows.h"
#include "render/style.h"
#include "render/utc.h"
#include "rules/diagnoses.h"

static enum style style_of(enum bb_severity severity)
{
	return severity == BB_CRITICAL	? STYLE_CRITICAL
	       : severity == BB_WARNING ? STYLE_WARNING
					: STYLE_PLAIN;
}

static void id_of(const uint8_t id[BB_BOOT_BYTES], char ret[2 * BB_BOOT_BYTES + 1])
{
	for (int i = 0; i < BB_BOOT_BYTES; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

void blackbox_text_record(struct buf *b, const struct view *v, const struct bb_record *r)
{
	struct line l = {.v = v};

	line_printf(&l, "%12.6f  %-8s  %-10s  %s", r->boot_ns / 1e9, bb_severity_name(r->severity),
		    bb_class_name(r->class), r->text);
	if (r->count > 1)
		line_printf(&l, "  (%" PRIu32 " times)", r->count);
	line_wrap_at(&l, b, style_of(r->severity), 36);
}

static void write_boot(struct buf *b, const struct view *v, const struct bb_boot *boot)
{
	char id[2 * BB_BOOT_BYTES + 1];
	struct line l = {.v = v};

	id_of(boot->id, id);
	line_printf(&l, "boot %.8s: %" PRIu64 " %s since %s; ", id, boot->records,
		    as_words(boot->records, "record{|s}").s, as_utc(boot->first_wall_ns).s);
	line_printf(&l, boot->stopped ? "ended in order at %s" : "last sign of life at %s",
		    as_utc(boot->alive_wall_ns).s);
	line_printf(&l, ", %.6f s after the boot", boot->alive_boot_ns / 1e9);
	if (boot->missing)
		line_printf(&l, ", %" PRIu64 " missing", boot->missing);
	line_wrap(&l, b, STYLE_BOLD);
}

static const char *title_of(const char *id)
{
	const struct diagnosis *d = diagnosis_find(id);

	return d ? d->title : "";
}

void blackbox_line_crash_sign(struct line *l, const struct crash_sign *one)
{
	line_printf(l, "%s[%s %s]: %s", bb_severity_name(one->severity), one->id,
		    diagnosis_slug(one->id), title_of(one->id));
	if (*one->place)
		line_printf(l, ": ");
	line_printf(l, "%s: %s", one->place, one->text);
	if (one->count > 1)
		line_printf(l, " (%" PRIu64 " times)", one->count);
}

void blackbox_text_crash_sign(struct buf *b, const struct view *v, const struct crash_sign *one)
{
	struct line l = {.v = v};

	blackbox_line_crash_sign(&l, one);
	line_wrap_at(&l, b, style_of(one->severity), 4);
}

enum severity blackbox_severity(const struct crash_sign *one)
{
	return one->severity == BB_CRITICAL  ? SEVERITY_CRITICAL
	       : one->severity == BB_WARNING ? SEVERITY_WARNING
					     : SEVERITY_INFO;
}

void blackbox_text_crash_signs(struct buf *b, const struct view *v, const struct crash_signs *p)
{
	for (size_t i = 0; i < p->n; i++)
		blackbox_text_crash_sign(b, v, &p->one[i]);
	if (!p->lost)
		return;
	styled_line(b, v, STYLE_DIM, "%" PRIu64 " more", p->lost);
}

void blackbox_text(struct buf *b, const struct view *v, const struct bb_found *f)
{
	struct line l = {.v = v};
	struct crash_signs *p = buf_needs(b, calloc(1, sizeof(*p)));
	size_t beats = 0;
	int boot = -1;

	for (size_t i = 0; i < f->n; i++) {
		int now = bb_boot_find(f, f->record[i].boot_id);

		if (now != boot)
			write_boot(b, v, &f->boot[now]);
		boot = now;
		if (f->record[i].class != BB_HEARTBEAT)
			blackbox_text_record(b, v, &f->record[i]);
		else
			beats++;
	}
	for (size_t i = 0; p && i < f->boots; i++) {
		crash_signs_find(p, f, i);
		if (p->n)
			write_boot(b, v, &f->boot[i]);
		blackbox_text_crash_signs(b, v, p);
	}
	b->failed |= !p;
	free(p);
	line_printf(&l, "%zu %s of %zu %s, %" PRIu64 " torn", f->n - beats,
		    as_words(f->n - beats, "record{|s}").s, f->boots,
		    as_words(f->boots, "boot{|s}").s, f->torn);
	if (f->lost)
		line_printf(&l, ", %" PRIu64 " beyond the most that is kept", f->lost);
	line_end(&l, b, STYLE_DIM);
}

static void put_id(struct json *j, const char *key, const uint8_t boot_id[BB_BOOT_BYTES])
{
	char id[2 * BB_BOOT_BYTES + 1];

	id_of(boot_id, id);
	json_text(j, key, id);
}

#include "render/json/recorder_lines.def"

void blackbox_json_crash_sign(struct json *j, const struct crash_sign *one)
{
	put_crash_sign(j, one);
}

void blackbox_json_crash_signs(struct buf *b, const struct crash_signs *p)
{
	for (size_t i = 0; i < p->n; i++)
		put_line_blackbox_finding(b, p->boot_id, &p->one[i]);
}

void blackbox_json(struct buf *b, const struct bb_found *f)
{
	struct crash_signs *p = buf_needs(b, calloc(1, sizeof(*p)));

	for (size_t i = 0; i < f->n; i++)
		put_line_blackbox(b, &f->record[i]);
	for (size_t i = 0; p && i < f->boots; i++) {
		crash_signs_find(p, f, i);
		blackbox_json_crash_signs(b, p);
	}
	b->failed |= !p;
	free(p);
	put_line_blackbox_end(b, f);
}
