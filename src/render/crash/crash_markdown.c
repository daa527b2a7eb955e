// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <inttypes.h>

#include "render/completeness.h"
#include "render/crash/crash_view.h"
#include "triage/next_steps.h"

/* Appends text of a log, with the characters escaped that have a meaning in Markdown. */
static void put(struct buf *b, const struct triage_view *tv, struct str s)
{
	struct buf plain = {}, safe = {};

	if (tv->redact)
		triage_redact(&plain, s);
	else
		buf_add(&plain, s.s, s.n);
	buf_safe(&safe, plain.s ? plain.s : "", tv->v->unicode);
	for (const char *c = safe.s ? safe.s : ""; *c; c++) {
		if (strchr("`*_<>[]|\\#", *c))
			buf_putc(b, '\\');
		buf_putc(b, *c);
	}
	buf_end_part(b, &plain);
	buf_end_part(b, &safe);
}

static void row(struct buf *b, const char *name)
{
	buf_printf(b, "| %s | ", name);
}

static void row_str(struct buf *b, const struct triage_view *tv, const char *name, struct str s)
{
	if (!s.n)
		return;
	row(b, name);
	put(b, tv, s);
	buf_puts(b, " |\n");
}

static void row_name(struct buf *b, const struct triage_view *tv, const char *name,
		     struct str function)
{
	struct buf plain = {};

	triage_name(&plain, tv, function);
	row_str(b, tv, name, (struct str){plain.s, plain.len});
	buf_end_part(b, &plain);
}

static void write_facts(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	buf_puts(b, "| | |\n|---|---|\n");
	row_str(b, tv, "bucket", str_of(v->bucket));
	row_str(b, tv, "what the kernel reported", str_of(kind_name(v->kind)));
	row_str(b, tv, "what it means",
		str_of(*mechanism_meaning(v->mechanism) && tv->redact
			       ? mechanism_meaning(v->mechanism)
			       : v->text));
	if (v->access)
		row_str(b, tv, "access", str_of(access_name(v->access)));
	if (v->has_address) {
		row(b, "address");
		if (tv->redact && v->region != REGION_NULL)
			buf_printf(b, "in: %s |\n", region_name(v->region));
		else
			buf_printf(b, "0x%" PRIx64 " (%s) |\n", v->address, region_name(v->region));
	}
	if (v->functions)
		row_name(b, tv, "function", v->function[0]);
	row_str(b, tv, "module", v->module);
	row_str(b, tv, "kernel", e->kernel);
	row_str(b, tv, "architecture", str_of(arch_name(e->arch)));
	row_str(b, tv, "taint", e->taint);
	row_str(b, tv, "hardware", e->hardware);
	for (uint32_t i = 0; i < v->particulars; i++)
		row_str(b, tv, v->particular[i].name, str_of(v->particular[i].value));
	row_str(b, tv, "confidence", str_of(confidence_name(v->confidence)));
}

static void write_suspects(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	buf_puts(b, "\n### Suspects\n\n");
	if (v->culprit_unknown)
		buf_puts(b, "Nothing in the log points to one module.\n");
	for (uint32_t i = 0; i < v->suspects; i++) {
		buf_puts(b, "- **");
		put(b, tv, v->suspect[i].module);
		buf_printf(b, "** (%d): ", v->suspect[i].points);
		for (uint32_t r = 0; r < v->suspect[i].reasons; r++)
			buf_printf(b, "%s%s", r ? "; " : "", v->suspect[i].reason[r].why);
		buf_puts(b, "\n");
	}
}

/* Writes log lines as an indented code block, because their text could end a fenced one. */
static void write_lines(struct buf *b, const struct triage_view *tv, const struct triage *t,
			const struct diagnosis *v)
{
	buf_puts(b, "\n### Evidence\n\n");
	for (uint32_t i = 0; i < v->event->nr_stated; i++) {
		const struct log_line *l = &t->lines.line[v->event->stated[i]];
		struct buf plain = {};

		if (tv->redact)
			triage_redact(&plain, l->text);
		else
			buf_add(&plain, l->text.s, l->text.n);
		buf_printf(b, "    %u: ", l->number);
		buf_safe(b, plain.s ? plain.s : "", tv->v->unicode);
		buf_puts(b, "\n");
		buf_end_part(b, &plain);
	}
}

static void write_trace(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	if (!e->nr_frames)
		return;
	buf_puts(b, "\n### Trace\n\n");
	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];
		struct buf name = {};

		if (f->part != PART_MAIN || !f->function.n)
			continue;
		triage_name(&name, tv, f->function);
		buf_printf(b, "    %s", f->unreliable ? "? " : "");
		buf_safe(b, name.s ? name.s : "", tv->v->unicode);
		if (f->size)
			buf_printf(b, "+0x%x/0x%x", f->offset, f->size);
		if (f->module.n)
			buf_printf(b, " [%.*s]", STR_ARG(f->module));
		buf_puts(b, "\n");
		buf_end_part(b, &name);
	}
}

static void write_steps(struct buf *b, const struct diagnosis *v)
{
	buf_puts(b, "\n### Next\n\n");
	for (size_t i = 0; i < STEPS_MAX; i++) {
		struct buf step = {};
		bool any = remedy_at(v, i, &step);

		if (any)
			buf_printf(b, "    %s\n", step.s);
		buf_end_part(b, &step);
		if (!any)
			return;
	}
}

static void write_rules(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	if (!tv->explain)
		return;
	buf_puts(b, "\n### Rules\n\n");
	for (uint32_t i = 0; i < v->nr_fired; i++) {
		buf_printf(b, "- %s: ", v->fired[i].id);
		put(b, tv, str_of(v->fired[i].text));
		buf_puts(b, "\n");
	}
}

void triage_markdown(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	const struct diagnosis *v;

	if (t->primary < 0) {
		const char *title = triage_no_crash(tv, t);
		struct buf joined = {};

		buf_printf(b, "## %c%s\n", toupper(title[0]), title + 1);
		if (has_gaps(tv->gaps)) {
			buf_puts(b, "\nIncomplete: ");
			gaps_join(&joined, tv->gaps);
			put(b, tv, str_of(joined.s ? joined.s : "out of memory"));
			buf_end_part(b, &joined);
			buf_puts(b, "\n");
		}
		for (uint32_t i = 0; i < t->notices; i++) {
			buf_puts(b, "\n### ");
			put(b, tv, str_of(t->notice[i].bucket));
			buf_puts(b, "\n\n");
			write_facts(b, tv, &t->notice[i]);
		}
		return;
	}
	v = &t->verdict[t->primary];
	buf_puts(b, "## ");
	put(b, tv, str_of(v->bucket));
	buf_puts(b, "\n\n");
	write_facts(b, tv, v);
	write_suspects(b, tv, v);
	write_lines(b, tv, t, v);
	write_trace(b, tv, v);
	write_rules(b, tv, v);
	write_steps(b, v);
	if (tv->redact)
		buf_puts(b, "\nAddresses of memory and of hosts are left out.\n");
}
