// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/text/explain_text.h"

#include <string.h>

#include "render/style.h"
#include "triage/crash_signs.h"
#include "triage/report_pages.h"

#define INDENT 4

/* Writes fixed text, which needs no escaping, but may be too long for line_printf(). */
static void put_paragraph(struct buf *b, const struct view *v, const char *text, size_t len)
{
	struct line l = {.v = v};

	buf_repeat(&l.b, " ", INDENT);
	buf_add(&l.b, text, len);
	if (len > 1 && text[0] == '$' && text[1] == ' ') {
		buf_add(b, l.b.s, l.b.len);
		buf_putc(b, '\n');
		buf_end_part(b, &l.b);
	} else {
		line_wrap_at(&l, b, STYLE_PLAIN, INDENT);
	}
}

static void put_heading(struct buf *b, const struct view *v, const char *heading)
{
	styled_line(b, v, STYLE_BOLD, "  %s", heading);
}

static void put_section(struct buf *b, const struct view *v, const char *heading, const char *text)
{
	put_heading(b, v, heading);
	while (*text) {
		size_t len = strcspn(text, "\n");

		put_paragraph(b, v, text, len);
		text += len + (text[len] == '\n');
	}
}

bool diagnosis_is_flagged(const struct diagnosis *d)
{
	return diagnosis_rule(d) || crash_signs_flag(d->id) || report_page_exists(d->id);
}

static void put_flagged(struct buf *b, const struct view *v, const struct diagnosis *d)
{
	const struct rule *rule = diagnosis_rule(d);
	struct line l = {.v = v};

	if (!rule && crash_signs_flag(d->id))
		line_printf(&l, "  The flight recorder reports this finding (faultscope blackbox "
				"status); diagnose and triage do too.");
	else if (!rule && report_page_exists(d->id))
		line_printf(&l, "  The command faultscope triage reports this finding, if the "
				"log has it.");
	else if (!rule)
		line_printf(&l, "  This version does not report this finding; confirm it by hand.");
	else if (rule->needs)
		line_printf(&l, "  Reported if the probe %s is available (see faultscope doctor).",
			    rule->needs);
	else
		line_printf(&l, "  Checked at every scan.");
	line_wrap_at(&l, b, STYLE_PLAIN, 2);
	if (!rule || !crash_signs_flag(d->id))
		return;
	styled_wrap(b, v, STYLE_PLAIN, 2,
		    "  The flight recorder reports it too (faultscope blackbox status).");
}

void explain_text(struct buf *b, const struct view *v, const struct diagnosis *d)
{
	styled_wrap(b, v, severity_style(d->severity), 4, "%s[%s %s]: %s",
		    severity_name(d->severity), d->id, d->slug, d->title);
	put_flagged(b, v, d);
	for (size_t i = 0; i < NR_ABOUTS; i++) {
		buf_putc(b, '\n');
		put_section(b, v, abouts[i].heading, d->about[i]);
	}
	if (*d->sources) {
		buf_putc(b, '\n');
		put_section(b, v, "public reports", d->sources);
	}
}

void explain_list(struct buf *b, const struct view *v)
{
	const struct diagnosis *d;

	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		styled_wrap(b, v, severity_style(d->severity), 24, "%s  %-28s  %-8s  %-7s  %s",
			    d->id, d->slug, severity_name(d->severity),
			    diagnosis_is_flagged(d) ? "flagged" : "by hand", d->title);
	}
}
