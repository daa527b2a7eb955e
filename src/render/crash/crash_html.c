// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the page of a kernel crash: what happened, the suspects, what came before, the call trace
 * with a colour for each module, the registers, and the log lines that are the evidence.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/crash/crash_view.h"
#include "render/html/html.h"
#include "triage/insn.h"
#include "triage/next_steps.h"
#include "triage/particulars.h"

static void put_str(struct buf *b, struct str s)
{
	html_text_len(b, s.s, s.n);
}

static void put_name(struct buf *b, const struct triage_view *tv, struct str function)
{
	struct buf name = {};

	triage_name(&name, tv, function);
	html_text(b, name.s ? name.s : "");
	buf_end_part(b, &name);
}

static void put_place(struct buf *b, const struct triage_view *tv, const struct frame *f)
{
	if (f->function.n)
		put_name(b, tv, f->function);
	else if (f->has_address)
		buf_printf(b, "0x%" PRIx64, f->address);
	else
		buf_puts(b, "no known function");
	if (f->offset || f->size)
		buf_printf(b, "+0x%x", f->offset);
	if (f->module.n) {
		buf_printf(b, " <span class=\"key m%u\"></span> ",
			   html_module_colour(f->module.s, f->module.n));
		put_str(b, f->module);
	}
}

#define FACT(b, key, format, ...)                                                                  \
	html_printf(b, "<tr><th scope=\"row\">" key "</th><td>" format "</td></tr>\n", __VA_ARGS__)

static void put_fact(struct buf *b, const char *key, struct str value)
{
	if (!value.n)
		return;
	html_printf(b, "<tr><th scope=\"row\">%s</th><td>", key);
	put_str(b, value);
	buf_puts(b, "</td></tr>\n");
}

static void put_access(struct buf *b, const struct diagnosis *v)
{
	if (v->has_address)
		FACT(b, "address", "0x%" PRIx64 " (%s)", v->address, region_name(v->region));
	if (v->access != ACCESS_NONE)
		FACT(b, "access", "%s", access_name(v->access));
	if (v->size)
		FACT(b, "size", "%u %s", v->size, as_words(v->size, "byte{|s}").s);
	if (v->has_base)
		FACT(b, "pointer", "%s held 0x%" PRIx64 ", %s%" PRId64, v->base_register, v->base,
		     v->offset < 0 ? "" : "+", v->offset);
}

static void put_facts(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	buf_puts(b,
		 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Facts\"><table "
		 "class=\"facts\"><tbody>\n");
	if (e->has_ip || v->functions) {
		buf_puts(b, "<tr><th scope=\"row\">at</th><td><code>");
		put_place(b, tv, e->has_ip ? &e->ip : &v->frame);
		buf_puts(b, "</code></td></tr>\n");
	}
	put_access(b, v);
	put_fact(b, "process", e->comm);
	if (e->has_pid)
		FACT(b, "pid", "%u", e->pid);
	if (e->has_cpu)
		FACT(b, "CPU", "%u", e->cpu);
	put_fact(b, "kernel", e->kernel);
	put_fact(b, "machine", e->hardware);
	put_fact(b, "taint", e->taint);
	if (!*particular_of(v, "source")) /* else this is a row of the loop below */
		put_fact(b, "source", e->place);
	for (uint32_t i = 0; i < v->particulars; i++)
		put_fact(b, v->particular[i].name, str_of(v->particular[i].value));
	FACT(b, "confidence", "%s", confidence_name(v->confidence));
	FACT(b, "bucket", "%s", v->bucket);
	buf_puts(b, "</tbody></table></div>\n");
}

static void put_suspects(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	if (!v->suspects)
		return;
	buf_puts(b, "<h3>Suspects</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"Suspects\"><table><thead><tr><th scope=\"col\">module</th><th "
		    "scope=\"col\">function</th><th scope=\"col\" class=\"n\">points</th><th "
		    "scope=\"col\">because</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < v->suspects; i++) {
		const struct suspect *s = &v->suspect[i];

		buf_printf(b, "<tr><th scope=\"row\"><span class=\"key m%u\"></span> ",
			   html_module_colour(s->module.s, s->module.n));
		put_str(b, s->module);
		buf_puts(b, "</th><td>");
		put_name(b, tv, s->function);
		buf_printf(b, "</td><td class=\"n\">%d</td><td>", s->points);
		for (uint32_t r = 0; r < s->reasons; r++)
			html_printf(b, "%s%s", r ? "; " : "", s->reason[r].why);
		buf_puts(b, "</td></tr>\n");
	}
	buf_puts(b, "</tbody></table></div>\n");
}

/* Writes a log line, with its number. */
static void put_log_line(struct buf *b, const struct triage *t, uint32_t index)
{
	buf_printf(b, "<li value=\"%u\"><code>", t->lines.line[index].number);
	put_str(b, str_trim(t->lines.line[index].text));
	buf_puts(b, "</code></li>\n");
}

static void put_evidence(struct buf *b, const struct triage *t, const struct diagnosis *v)
{
	if (!v->event->nr_stated)
		return;
	buf_puts(b, "<h3>Evidence: lines of the log</h3>\n<ol class=\"log\">\n");
	for (uint32_t i = 0; i < v->event->nr_stated; i++)
		put_log_line(b, t, v->event->stated[i]);
	buf_puts(b, "</ol>\n");
}

static void put_row(struct buf *b, const char *when, const char *what, struct str text)
{
	html_printf(b, "<tr><td class=\"n\">%s</td><th scope=\"row\">%s</th><td>", when, what);
	put_str(b, text);
	buf_puts(b, "</td></tr>\n");
}

/* Writes earlier reports of the log, notes of the flight recorder, the crash and its consequences.
 */
static void put_order(struct buf *b, const struct triage *t, const struct diagnosis *v)
{
	char when[48];

	buf_puts(b, "<h3>In the order of time</h3>\n<div class=\"scroll\" tabindex=\"0\" "
		    "role=\"region\" aria-label=\"What came before\"><table><thead><tr><th "
		    "scope=\"col\" class=\"n\">before</th><th scope=\"col\">what</th><th "
		    "scope=\"col\">text</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < v->precursors; i++) {
		const struct incident *e = &t->seen.event[v->precursor[i].event];

		snprintf(when, sizeof(when), v->precursor[i].timed ? "%.3f s" : "?",
			 v->precursor[i].before);
		put_row(b, when, kind_name(e->kind), str_trim(t->lines.line[e->first].text));
	}
	for (uint32_t i = 0; i < t->recorded.notes; i++) {
		const struct recorded_note *n = &t->recorded.note[i];

		snprintf(when, sizeof(when), "%.3f s%s", fabs(n->before),
			 n->before < 0 ? " after" : "");
		put_row(b, when, "flight recorder", str_of(n->text));
	}
	put_row(b, "0 s", "this crash", str_trim(t->lines.line[v->event->first].text));
	if (v->consequences) {
		const struct incident *e = &t->seen.event[v->first_consequence];

		snprintf(when, sizeof(when), "%u after", v->consequences);
		put_row(b, when, "reports that it caused", str_trim(t->lines.line[e->first].text));
	}
	buf_puts(b, "</tbody></table></div>\n");
}

static void put_trace(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	if (!e->nr_frames)
		return;
	buf_puts(b,
		 "<h3>Call trace</h3>\n<p class=\"note\">The innermost function is first. Frames "
		 "without a module are code of the kernel; dim frames may be left over from "
		 "earlier calls.</p>\n<ol class=\"trace\">\n");
	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];
		bool begins =
			!i || f->part != e->frame[i - 1].part || f->irq != e->frame[i - 1].irq;

		buf_printf(b, "<li class=\"edge%u%s%s\"><code>",
			   html_module_colour(f->module.s, f->module.n),
			   f->unreliable ? " dim" : "", begins && i ? " part" : "");
		put_place(b, tv, f);
		html_printf(b, "</code>%s%s</li>\n", f->inlined ? " (inlined)" : "",
			    f->irq ? " (interrupt)" : "");
	}
	buf_puts(b, "</ol>\n");
}

static void put_registers(struct buf *b, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	if (!e->regs.known && !e->has_cr2)
		return;
	buf_puts(b, "<h3>Registers</h3>\n<dl class=\"registers\">\n");
	for (int i = 0; i < REGS_MAX; i++) {
		char name[16];

		if (!(e->regs.known & 1u << i))
			continue;
		register_name(e->arch, i, name, sizeof(name));
		html_printf(b, "<div class=\"%s\"><dt>%s</dt><dd>%016" PRIx64 "</dd></div>\n",
			    v->has_base && !strcmp(name, v->base_register) ? "base" : "", name,
			    e->regs.value[i]);
	}
	if (e->has_cr2)
		html_printf(b, "<div><dt>cr2</dt><dd>%016" PRIx64 "</dd></div>\n", e->cr2);
	buf_puts(b, "</dl>\n");
}

static void put_help(struct buf *b, const struct diagnosis *v)
{
	struct buf step = {};

	buf_puts(b, "<h3>What to do</h3>\n<ul class=\"close\">\n");
	for (size_t i = 0; i < STEPS_MAX && remedy_at(v, i, &step); i++) {
		html_printf(b, "<li>%s</li>\n", step.s ? step.s : "");
		buf_next_part(b, &step);
	}
	buf_puts(b, "</ul>\n");
	buf_end_part(b, &step);
}

static void put_crash(struct buf *b, const struct triage_view *tv, const struct triage *t,
		      const struct diagnosis *v, size_t nth, bool crash)
{
	const char *says = mechanism_meaning(v->mechanism);
	char id[32], title[64];

	snprintf(id, sizeof(id), "crash-%zu", nth);
	snprintf(title, sizeof(title), "%s %zu", crash ? "Crash" : "Notice", nth + 1);
	html_section(b, id, title, NULL);
	html_printf(b, "<article class=\"finding %s\"><h3>%s</h3>", crash ? "critical" : "warning",
		    *says ? says : v->text);
	html_printf(b, "<p class=\"note\">%s</p>", v->text);
	if (*v->next)
		html_printf(b, "<p class=\"note\"><span class=\"tag\">next</span> %s</p>", v->next);
	buf_puts(b, "</article>\n");
	put_facts(b, tv, v);
	put_suspects(b, tv, v);
	put_help(b, v);
	put_order(b, t, v);
	put_evidence(b, t, v);
	put_trace(b, tv, v);
	put_registers(b, v);
	html_section_end(b);
}

void triage_html(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	struct buf text = {}, json = {};
	struct view plain = *tv->v;
	struct triage_view own = *tv;
	size_t n = 0;

	plain.colour = false;
	plain.unicode = true;
	own.v = &plain;
	triage_text(&text, &own, t);
	triage_json(&json, tv, t);
	html_begin(b, "Crash", tv->names ? tv->name[0] : "", false);
	buf_puts(b, "<div class=\"page\">\n<main id=\"main\" tabindex=\"-1\">\n");
	for (uint32_t i = 0; i < t->verdicts; i++)
		put_crash(b, tv, t, &t->verdict[i], n++, true);
	for (uint32_t i = 0; i < t->notices; i++)
		put_crash(b, tv, t, &t->notice[i], n++, false);
	html_section(b, "verdict", n ? "As text" : "Verdict", NULL);
	buf_puts(b, "<pre class=\"card\" tabindex=\"0\">");
	html_lines(b, text.s);
	buf_puts(b, "</pre>\n");
	html_section_end(b);
	html_section(b, "data", "Data",
		     "The facts that led to the verdict, as in <code>--json</code>.");
	buf_puts(b, "<p class=\"buttons\"><button type=\"button\" data-save=\"json\" hidden>Save "
		    "JSON</button></p>\n");
	html_section_end(b);
	html_data(b, "report-data", &json);
	buf_puts(b, "</main>\n</div>\n");
	html_end(b);
	b->failed |= text.failed || json.failed;
	buf_free(&text);
	buf_free(&json);
}
