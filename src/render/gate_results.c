// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/gate_results.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"
#include "rules/diagnoses.h"

#define VALUE_COLUMN  32
#define DETAIL_COLUMN 46

/* GitHub's runner shows at most ten errors and ten warnings per step. */
#define ANNOTATIONS_MOST 10

void gate_value(struct buf *b, const struct gate *g)
{
	if (g->state == GATE_NOT_MEASURED)
		buf_puts(b, "not measured");
	else if (g->percent)
		buf_printf(b, "%.1f%%", g->value);
	else if (gate_unit(g) == UNIT_BYTES)
		put_bytes(b, count_of_real(g->value));
	else if (gate_unit(g) == UNIT_NS)
		put_duration(b, count_of_real(g->value));
	else
		put_count(b, count_of_real(g->value));
}

static void put_amount(struct buf *b, const struct gate *g, uint64_t n)
{
	if (g->field->unit == UNIT_BYTES)
		put_bytes(b, n);
	else if (g->field->unit == UNIT_NS)
		put_duration(b, n);
	else
		put_count(b, n);
}

static void put_whose(struct buf *b, const struct gate *g)
{
	if (g->phase)
		buf_printf(b, "in the phase %s", g->phase->name);
	if (!g->pid)
		return;
	if (g->percent) {
		buf_printf(b, "%s of %s ", as_count(g->most_value).s, as_limit(g->most_limit).s);
	} else if (g->kind == GATE_TOTAL && g->most_value < g->value) {
		put_amount(b, g, g->most_value);
		buf_puts(b, " ");
	}
	buf_printf(b, "%s %s[%u]", g->kind == GATE_SIGNAL ? "last" : "in", g->comm, g->pid);
}

/*
 * Writes which process had the value of a gate (a condition of --fail-on). If the value is not
 * known, writes why. Writes nothing if neither applies.
 */
static void gate_detail(struct buf *b, const struct gate *g)
{
	const char *hook = gate_lacks(g);

	if (g->state == GATE_NOT_MEASURED && hook)
		buf_printf(b, "the probe %s is not on: faultscope doctor tells why", hook);
	else if (g->state == GATE_NOT_MEASURED && g->of_phase)
		buf_puts(b, "the program named no phase: see run --phases");
	else if (g->state == GATE_NOT_MEASURED)
		buf_puts(b, "this kernel does not tell it");
	else
		put_whose(b, g);
	if (g->incomplete && g->state == GATE_PASSED)
		buf_printf(b, "%sat least: something was lost", g->pid || g->phase ? "; " : "");
}

void gate_outcome(struct buf *b, const struct gate *g)
{
	struct buf detail = {};

	gate_value(b, g);
	gate_detail(&detail, g);
	if (detail.len)
		buf_printf(b, ": %s", detail.s);
	buf_end_part(b, &detail);
}

static void write_gate(struct buf *b, const struct view *v, const struct gate *g)
{
	struct buf text = {};
	struct line l = {.v = v};

	line_printf(&l, "%s %s", g->state == GATE_PASSED ? "pass" : "FAIL", g->text);
	line_pad(&l, VALUE_COLUMN);
	gate_value(&text, g);
	line_printf(&l, "%s", text.s ? text.s : "");
	buf_end_part(b, &text);
	gate_detail(&text, g);
	if (text.len) {
		line_pad(&l, DETAIL_COLUMN);
		line_printf(&l, "%s", text.s);
	}
	line_wrap_at(&l, b, g->state == GATE_PASSED ? STYLE_PLAIN : STYLE_CRITICAL, 5);
	buf_end_part(b, &text);
}

void gates_text(struct buf *b, const struct view *v, bool only_failed)
{
	for (size_t i = 0; v->gates && i < v->gates->n; i++)
		if (!only_failed || v->gates->gate[i].state != GATE_PASSED)
			write_gate(b, v, &v->gates->gate[i]);
}

/* Escapes text for GitHub's workflow commands: as a message, or as the value of a property. */
static void put_escaped(struct buf *b, const char *s, bool property)
{
	for (; *s; s++)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			buf_printf(b, "%%%02X", (unsigned char)*s);
		else
			buf_putc(b, *s);
}

static void annotate(struct buf *b, const char *kind, const char *title, const char *message)
{
	struct buf safe = {};

	buf_printf(b, "::%s title=", kind);
	buf_safe(&safe, title, true);
	put_escaped(b, safe.s ? safe.s : "", true);
	buf_end_part(b, &safe);
	buf_safe(&safe, message, true);
	buf_puts(b, "::");
	put_escaped(b, safe.s ? safe.s : "", false);
	buf_putc(b, '\n');
	buf_end_part(b, &safe);
}

static void annotate_gate(struct buf *b, const struct gate *g)
{
	struct buf message = {}, title = {};

	buf_printf(&title, "faultscope: %s", g->text);
	gate_outcome(&message, g);
	annotate(b, "error", title.s ? title.s : "", message.s ? message.s : "");
	buf_end_part(b, &title);
	buf_end_part(b, &message);
}

static void annotate_finding(struct buf *b, const struct finding *f)
{
	struct buf message = {}, title = {};

	buf_printf(&title, "faultscope: %s %s in %s[%u]", f->rule->id, diagnosis_slug(f->rule->id),
		   f->comm, f->subject.pid);
	buf_puts(&message, f->title);
	for (size_t i = 0; i < f->nr_remedies; i++)
		buf_printf(&message, "; %s%s%s", f->remedy[i].text,
			   f->remedy[i].command[0] ? ": " : "", f->remedy[i].command);
	annotate(b, "warning", title.s ? title.s : "", message.s ? message.s : "");
	buf_end_part(b, &title);
	buf_end_part(b, &message);
}

void gates_github(struct buf *b, const struct view *v)
{
	size_t warnings = 0;

	for (size_t i = 0, errors = 0; v->gates && i < v->gates->n; i++)
		if (v->gates->gate[i].state != GATE_PASSED && errors++ < ANNOTATIONS_MOST)
			annotate_gate(b, &v->gates->gate[i]);
	for (size_t i = 0; i < v->findings->n; i++) {
		const struct finding *f = &v->findings->f[i];

		if (f->severity == SEVERITY_CRITICAL && (f->open || v->command) &&
		    warnings++ < ANNOTATIONS_MOST)
			annotate_finding(b, f);
	}
}
