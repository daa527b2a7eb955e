// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/style.h"
#include "render/text/text.h"
#include "rules/diagnoses.h"

#define LISTED_OF_A_RULE 3 /* maximum number of findings per rule and severity */

/* Writes text that may contain names chosen by other users: unsafe bytes are escaped. */
static void write_safe(struct buf *b, const struct view *v, const char *lead, const char *text)
{
	struct buf safe = {};

	buf_safe(&safe, text, v->unicode);
	if (safe.s)
		text_wrapped(b, v, lead, safe.s);
	buf_end_part(b, &safe);
}

/* Writes "because M03 pytorch-shared-tensors (PyTorch shares tensors: …), because M25 …". */
static void write_because(struct buf *b, const struct view *v, const struct finding *f)
{
	struct buf note = {};

	for (size_t i = 0; i < f->nr_because; i++) {
		const char *id = f->because[i]->id;
		const struct diagnosis *d = diagnosis_find(id);

		buf_printf(&note, "%sbecause %s %s (%s)", i ? ", " : "", id, d ? d->slug : "",
			   d ? d->title : "");
	}
	if (note.s)
		text_wrapped(b, v, "   = note: ", note.s);
	buf_end_part(b, &note);
}

/* Which findings are written, and how. */
enum extent {
	EXTENT_ALL,    /* all: those that are open, and those that just cleared */
	EXTENT_NEW,    /* those that opened, changed or cleared in this window */
	EXTENT_TITLES, /* the titles of those that are open */
};

static bool is_shown(const struct view *v, const struct finding *f, enum extent extent)
{
	bool wanted = extent == EXTENT_NEW	? f->fresh
		      : extent == EXTENT_TITLES ? f->open
						: f->fresh || f->open || v->command;

	return wanted && view_shows(v, &f->subject);
}

/* Writes "workaround (host-wide): raise vm.max_map_count"; the command is on its own line. */
static void write_remedy(struct buf *b, const struct view *v, const struct remedy *r)
{
	struct buf lead = {};

	buf_printf(&lead, "   = %s%s: ", remedy_kind_name(r->kind),
		   r->kind == REMEDY_WORKAROUND && r->scope == SCOPE_HOST ? " (host-wide)" : "");
	write_safe(b, v, lead.s ? lead.s : "", r->text);
	if (r->command[0])
		styled_line(b, v, STYLE_PLAIN, "     $ %s", r->command);
	if (r->risk[0])
		write_safe(b, v, "     risk: ", r->risk);
	buf_end_part(b, &lead);
}

static void write_title(struct buf *b, const struct view *v, const struct finding *f, bool open)
{
	struct line l = {.v = v};
	struct buf title = {};
	char who[WHO_BYTES];

	line_printf(&l, "%s[%s %s]: ", open ? severity_name(f->severity) : "cleared", f->rule->id,
		    diagnosis_slug(f->rule->id));
	finding_who(f, who, sizeof(who));
	line_printf(&l, "%s: ", who);
	buf_safe(&title, f->title, v->unicode);
	line_printf(&l, "%s", title.s ? title.s : "");
	line_wrap(&l, b, severity_style(f->severity));
	buf_end_part(b, &title);
}

static void write_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	/*
	 * `run` and `diagnose` print findings only at the end: show a cleared one like an open one
	 */
	bool open = f->open || v->command;
	struct buf e = {};

	write_title(b, v, f, open);
	for (size_t i = 0; i < f->nr_evidence && open; i++) {
		const struct evidence *ev = &f->evidence[i];

		buf_end_part(b, &e);
		buf_printf(&e, "%s: ", ev->field);
		evidence_put(&e, ev);
		if (e.s)
			write_safe(b, v, "   | ", e.s);
	}
	if (open && f->set_by[0])
		write_safe(b, v, "   = note: the limit is set by ", f->set_by);
	if (open)
		write_because(b, v, f);
	for (size_t i = 0; i < f->nr_remedies && open; i++)
		write_remedy(b, v, &f->remedy[i]);
	buf_end_part(b, &e);
}

void text_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	write_finding(b, v, f);
}

/*
 * Counts the findings from index `from` to `to` - 1 that the view shows, and that have the rule and
 * severity of `f`.
 */
static size_t count_alike(const struct view *v, const struct finding *f, size_t from, size_t to,
			  enum extent extent)
{
	const struct finding *one = v->findings->f;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += one[i].rule == f->rule && one[i].severity == f->severity &&
		     is_shown(v, &one[i], extent);
	return n;
}

/*
 * Writes a finding if it is among the first three of its rule and severity. Instead of the fourth,
 * writes how many more there are.
 */
static void write_one_of(struct buf *b, const struct view *v, size_t i, enum extent extent)
{
	const struct finding *f = &v->findings->f[i];
	size_t before = count_alike(v, f, 0, i, extent);

	if (before < LISTED_OF_A_RULE && extent == EXTENT_TITLES)
		write_title(b, v, f, true);
	else if (before < LISTED_OF_A_RULE)
		write_finding(b, v, f);
	if (before != LISTED_OF_A_RULE)
		return;
	styled_line(b, v, severity_style(f->severity), "%s[%s %s]: and %zu more; --json has all",
		    severity_name(f->severity), f->rule->id, diagnosis_slug(f->rule->id),
		    count_alike(v, f, i, v->findings->n, extent));
}

static void write_of_rule(struct buf *b, const struct view *v, const struct rule *rule,
			  int severity, enum extent extent)
{
	for (size_t i = 0; i < v->findings->n; i++) {
		const struct finding *f = &v->findings->f[i];

		if (f->rule == rule && (int)f->severity == severity && is_shown(v, f, extent))
			write_one_of(b, v, i, extent);
	}
}

/* Writes the findings of a severity about events (OOM kills, failed calls), or about states. */
static void write_of_kind(struct buf *b, const struct view *v, int severity, bool states,
			  enum extent extent)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (rule_is_state(&rules[i]) == states)
			write_of_rule(b, v, &rules[i], severity, extent);
}

/* What happened comes before limits that were nearly reached. */
static void write_findings(struct buf *b, const struct view *v, enum extent extent)
{
	for (int severity = NR_SEVERITIES - 1; severity >= (int)v->min_severity; severity--) {
		write_of_kind(b, v, severity, false, extent);
		write_of_kind(b, v, severity, true, extent);
	}
}

void text_findings(struct buf *b, const struct view *v)
{
	write_findings(b, v, EXTENT_ALL);
}

void text_new_findings(struct buf *b, const struct view *v)
{
	write_findings(b, v, EXTENT_NEW);
}

void text_titles(struct buf *b, const struct view *v)
{
	write_findings(b, v, EXTENT_TITLES);
}
