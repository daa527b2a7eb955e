// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "render/crash/kernel_records.h"
#include "render/style.h"
#include "render/completeness.h"
#include "render/crash/crash_view.h"
#include "render/utc.h"
#include "triage/library.h"
#include "triage/next_steps.h"

#define EVIDENCE_ROWS 5
#define SUSPECT_ROWS  3
#define BEFORE_ROWS   3
#define RECORDED_ROWS 6
#define EDGE	      "   | "
#define EDGE_COLUMN   5
#define NOTE_COLUMN   14

static void line_str(struct line *l, const struct triage_view *tv, struct str s)
{
	struct buf plain = {};

	if (tv->redact)
		triage_redact(&plain, s);
	else
		buf_add(&plain, s.s, s.n);
	line_printf(l, "%s", plain.s ? plain.s : "");
	buf_end_part(&l->b, &plain);
}

static void line_name(struct line *l, const struct triage_view *tv, struct str function)
{
	struct buf b = {};

	triage_name(&b, tv, function);
	line_str(l, tv, (struct str){b.s, b.len});
	buf_end_part(&l->b, &b);
}

static void line_place(struct line *l, const struct triage_view *tv, const struct frame *f)
{
	if (f->function.n)
		line_name(l, tv, f->function);
	else if (f->has_address && !tv->redact)
		line_printf(l, "0x%" PRIx64, f->address);
	else
		line_printf(l, "no known function");
	if (f->offset || f->size)
		line_printf(l, "+0x%x", f->offset);
	if (f->module.n) {
		line_printf(l, " [");
		line_str(l, tv, f->module);
		line_printf(l, "]");
	}
}

static void write_title(struct buf *b, const struct triage_view *tv, const struct diagnosis *v,
			bool crash)
{
	struct line l = {.v = tv->v};
	const char *says = mechanism_meaning(v->mechanism);

	line_printf(&l, "%s[%s]: ", crash ? "crash" : "notice", v->bucket);
	if (*says)
		line_printf(&l, "%s", says);
	else
		line_str(&l, tv, str_of(v->text));
	line_wrap(&l, b, crash ? STYLE_CRITICAL : STYLE_WARNING);
}

static void write_place(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	const struct incident *e = v->event;
	struct line l = {.v = tv->v};

	line_printf(&l, "  --> ");
	if (e->has_ip)
		line_place(&l, tv, &e->ip);
	else if (v->functions)
		line_place(&l, tv, &v->frame);
	else if (v->particulars)
		line_str(&l, tv, str_of(v->particular[0].value));
	else
		line_printf(&l, "unknown location");
	if (e->has_ip && v->functions && !str_same(e->ip.function, v->frame.function)) {
		line_printf(&l, ", attributed to ");
		line_place(&l, tv, &v->frame);
	}
	if (e->has_cpu)
		line_printf(&l, ", cpu %u", e->cpu);
	if (e->has_pid)
		line_printf(&l, ", pid %u", e->pid);
	if (e->comm.n) {
		line_printf(&l, " `");
		line_str(&l, tv, e->comm);
		line_printf(&l, "`");
	}
	if (e->kernel.n) {
		line_printf(&l, ", kernel ");
		line_str(&l, tv, e->kernel);
	}
	if (*arch_name(e->arch))
		line_printf(&l, " %s", arch_name(e->arch));
	line_wrap_at(&l, b, STYLE_PLAIN, EDGE_COLUMN + 1);
}

static void edge_begin(struct line *l, const struct triage_view *tv)
{
	*l = (struct line){.v = tv->v};
	line_printf(l, EDGE);
}

static void write_access(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	struct line l;

	if (!v->has_address && v->access == ACCESS_NONE)
		return;
	edge_begin(&l, tv);
	line_printf(&l, "%s",
		    v->kind == KIND_LEAK       ? "object"
		    : v->access == ACCESS_EXEC ? "instruction fetch"
		    : v->access		       ? access_name(v->access)
					       : "access");
	if (v->size)
		line_printf(&l, " of %u %s", v->size, as_words(v->size, "byte{|s}").s);
	if (v->has_address) {
		if (tv->redact && v->region != REGION_NULL)
			line_printf(&l, " at an address");
		else
			line_printf(&l, " at 0x%" PRIx64, v->address);
		if (v->region != REGION_UNKNOWN)
			line_printf(&l, " (%s)", region_name(v->region));
	}
	if (v->has_base && (!tv->redact || v->base < 4096))
		line_printf(&l, ": %s held 0x%" PRIx64 ", %s 0x%" PRIx64, v->base_register, v->base,
			    v->offset < 0 ? "minus" : "plus",
			    v->offset < 0 ? -(uint64_t)v->offset : (uint64_t)v->offset);
	line_wrap_at(&l, b, STYLE_PLAIN, EDGE_COLUMN);
}

static void write_line(struct buf *b, const struct triage_view *tv, const struct triage *t,
		       uint32_t index)
{
	struct line l;

	edge_begin(&l, tv);
	if (tv->names > 1 && t->lines.line[index].input < tv->names) {
		line_printf(&l, "%s:", tv->name[t->lines.line[index].input]);
	} else {
		line_printf(&l, "line ");
	}
	line_printf(&l, "%u  ", t->lines.line[index].number);
	line_str(&l, tv, str_trim(t->lines.line[index].text));
	line_end(&l, b, STYLE_DIM);
}

static void write_evidence(struct buf *b, const struct triage_view *tv, const struct triage *t,
			   const struct diagnosis *v)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < v->event->nr_stated && shown < EVIDENCE_ROWS; i++, shown++)
		write_line(b, tv, t, v->event->stated[i]);
}

static void note_begin(struct line *l, const struct triage_view *tv, const char *what)
{
	*l = (struct line){.v = tv->v};
	line_printf(l, "   = %s: ", what);
	line_pad(l, NOTE_COLUMN);
}

/* Writes details of the report, such as the device or the limit that was reached. */
static void write_particulars(struct buf *b, const struct triage_view *tv,
			      const struct diagnosis *v)
{
	for (uint32_t i = 0; i < v->particulars; i++) {
		struct line l;

		note_begin(&l, tv, v->particular[i].name);
		line_str(&l, tv, str_of(v->particular[i].value));
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
	}
}

static void write_suspects(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	bool unloaded = v->mechanism == MECH_FREED_TEXT || v->mechanism == MECH_FREED_MODULE;
	struct line l;

	if (v->culprit_unknown) {
		note_begin(&l, tv, "suspect");
		line_printf(&l, unloaded ? "unknown: the log does not name the unloaded module"
					 : "unknown: nothing in the log points to one module");
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
	}
	for (uint32_t i = 0; i < v->suspects && i < SUSPECT_ROWS; i++) {
		const struct suspect *s = &v->suspect[i];

		note_begin(&l, tv, i ? "or" : v->culprit_unknown ? "perhaps" : "suspect");
		line_str(&l, tv, s->module);
		line_printf(&l, "%s (%d)", s->cut ? "... (name cut off in the log)" : "",
			    s->points);
		if (s->function.n) {
			line_printf(&l, ", ");
			line_name(&l, tv, s->function);
		}
		line_printf(&l, ": ");
		for (uint32_t r = 0; r < s->reasons; r++)
			line_printf(&l, "%s%s", r ? "; " : "", s->reason[r].why);
		line_wrap_at(&l, b, i ? STYLE_PLAIN : STYLE_WARNING, NOTE_COLUMN);
	}
}

/*
 * Writes which function allocated or freed the object: the innermost one in the stack that is no
 * allocator helper.
 */
static void write_owner(struct buf *b, const struct triage_view *tv, const struct diagnosis *v,
			enum part part, const char *what)
{
	const struct incident *e = v->event;

	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];
		struct line l;

		if (f->part != part || !f->function.n || library_of_frame(f) != LIBRARY_NONE)
			continue;
		note_begin(&l, tv, what);
		line_place(&l, tv, f);
		line_end(&l, b, STYLE_PLAIN);
		return;
	}
}

static void write_order(struct buf *b, const struct triage_view *tv, const struct triage *t,
			const struct diagnosis *v)
{
	uint32_t from = v->precursors > BEFORE_ROWS ? v->precursors - BEFORE_ROWS : 0;
	struct line l;

	for (uint32_t i = from; i < v->precursors; i++) {
		const struct incident *e = &t->seen.event[v->precursor[i].event];

		note_begin(&l, tv, "before");
		if (v->precursor[i].timed)
			line_printf(&l, "%.1f s: ", v->precursor[i].before);
		line_printf(&l, "%s, line %u: ", kind_name(e->kind),
			    t->lines.line[e->first].number);
		line_str(&l, tv, str_trim(t->lines.line[e->first].text));
		line_end(&l, b, STYLE_PLAIN);
	}
	if (!v->consequences)
		return;
	note_begin(&l, tv, "after");
	line_printf(&l, "%u %s caused by this crash, from line %u", v->consequences,
		    as_words(v->consequences, "report{|s}").s,
		    t->lines.line[t->seen.event[v->first_consequence].first].number);
	line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
}

/* Writes the flight recorder's notes and findings; with `explain`, also the saved registers. */
static void write_recorded(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	const struct recorded *c = &t->recorded;
	uint32_t from = c->notes > RECORDED_ROWS ? c->notes - RECORDED_ROWS : 0;
	struct line l;

	for (uint32_t i = from; i < c->notes; i++) {
		note_begin(&l, tv, "recorded");
		line_printf(&l, "%.3f s %s: ",
			    c->note[i].before < 0 ? -c->note[i].before : c->note[i].before,
			    c->note[i].before < 0 ? "after" : "before");
		line_str(&l, tv, str_of(c->note[i].text));
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
	}
	for (size_t i = 0; i < c->crash_signs.n && !tv->redact; i++) {
		note_begin(&l, tv, "finding");
		blackbox_line_crash_sign(&l, &c->crash_signs.one[i]);
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
	}
	if (*c->registers && tv->explain && !tv->redact) {
		note_begin(&l, tv, "regs");
		line_str(&l, tv, str_of(c->registers));
		line_wrap_at(&l, b, STYLE_DIM, NOTE_COLUMN);
	}
}

static void write_help(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	for (size_t i = 0; i < STEPS_MAX; i++) {
		struct buf step = {};
		struct line l;

		if (!remedy_at(v, i, &step)) {
			buf_end_part(b, &step);
			return;
		}
		note_begin(&l, tv, "help");
		line_printf(&l, "%s", step.s);
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
		buf_end_part(b, &step);
	}
}

static void write_rules(struct buf *b, const struct triage_view *tv, const struct diagnosis *v)
{
	for (uint32_t i = 0; tv->explain && i < v->nr_fired; i++) {
		struct line l;
		struct buf text = {};

		note_begin(&l, tv, "rule");
		line_printf(&l, "%s ", v->fired[i].id);
		if (tv->redact)
			triage_redact(&text, str_of(v->fired[i].text));
		else
			buf_puts(&text, v->fired[i].text);
		line_printf(&l, "%s", text.s ? text.s : "");
		line_wrap_at(&l, b, STYLE_PLAIN, NOTE_COLUMN);
		buf_end_part(b, &text);
	}
}

static void write_verdict(struct buf *b, const struct triage_view *tv, const struct triage *t,
			  const struct diagnosis *v, bool crash)
{
	struct line l;

	write_title(b, tv, v, crash);
	write_place(b, tv, v);
	edge_begin(&l, tv);
	line_end(&l, b, STYLE_PLAIN);
	write_access(b, tv, v);
	write_evidence(b, tv, t, v);
	edge_begin(&l, tv);
	line_end(&l, b, STYLE_PLAIN);
	write_particulars(b, tv, v);
	if (crash)
		write_suspects(b, tv, v);
	write_owner(b, tv, v, PART_ALLOC, "allocated");
	write_owner(b, tv, v, PART_FREE, "freed");
	if (v->event->interleaved) {
		note_begin(&l, tv, "note");
		line_printf(
			&l,
			"two CPUs printed at the same time, and the log does not show which CPU "
			"printed which line: values of both reports may be mixed");
		line_wrap_at(&l, b, STYLE_WARNING, NOTE_COLUMN);
	}
	write_order(b, tv, t, v);
	write_recorded(b, tv, t);
	write_rules(b, tv, v);
	write_help(b, tv, v);
	note_begin(&l, tv, "bucket");
	line_printf(&l, "exact hash %.12s, stack hash %.12s, confidence %s", v->exact, v->stack,
		    confidence_name(v->confidence));
	line_end(&l, b, STYLE_DIM);
}

static void write_other(struct buf *b, const struct triage_view *tv, const struct triage *t,
			const struct diagnosis *v)
{
	styled_line(b, tv->v, STYLE_PLAIN, "also, line %u: %s",
		    t->lines.line[v->event->first].number, v->bucket);
}

static void write_losses(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	uint64_t read = t->lines.n + t->lines.passed, lost = t->seen.lost + t->lost_verdicts;
	struct line l = {.v = tv->v};

	line_printf(&l, "%" PRIu64 " %s read", read, as_words(read, "line{|s}").s);
	if (t->lines.lost_bytes || t->lines.lost_lines)
		line_printf(&l, ", %" PRIu64 " %s and %" PRIu64 " %s left out", t->lines.lost_bytes,
			    as_words(t->lines.lost_bytes, "byte{|s}").s, t->lines.lost_lines,
			    as_words(t->lines.lost_lines, "line{|s}").s);
	if (t->lines.dropped)
		line_printf(&l, ", the kernel dropped messages %" PRIu64 " %s", t->lines.dropped,
			    as_words(t->lines.dropped, "time{|s}").s);
	if (t->primary >= 0 && t->verdict[t->primary].event->strange)
		line_printf(&l, ", %u %s within the report not understood",
			    t->verdict[t->primary].event->strange,
			    as_words(t->verdict[t->primary].event->strange, "line{|s}").s);
	if (lost)
		line_printf(&l, ", %" PRIu64 " more %s not analysed", lost,
			    as_words(lost, "report{|s}").s);
	if (t->seen.unknown)
		line_printf(
			&l, ", %" PRIu64 " %s no rule (first: line %u)", t->seen.unknown,
			as_words(t->seen.unknown,
				 "{line looks like|lines look like} a crash but {matches|match}")
				.s,
			t->lines.line[t->seen.unknown_line].number);
	line_wrap(&l, b, STYLE_DIM);
}

const char *triage_no_crash(const struct triage_view *tv, const struct triage *t)
{
	if (t->recorded.fatal)
		return "no crash in the log, but the flight recorder has a fatal fault";
	return has_gaps(tv->gaps)
		       ? "no crash in the part that was read, but the result is incomplete"
		       : "no crash found";
}

void triage_text(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	if (t->primary < 0) {
		styled_line(b, tv->v, STYLE_BOLD, "%s", triage_no_crash(tv, t));
		gaps_text(b, tv->v, tv->gaps);
		for (uint32_t i = 0; i < t->notices; i++)
			write_verdict(b, tv, t, &t->notice[i], false);
		write_recorded(b, tv, t);
	} else {
		write_verdict(b, tv, t, &t->verdict[t->primary], true);
	}
	for (uint32_t i = 0; i < t->verdicts; i++)
		if ((int32_t)i != t->primary && !t->verdict[i].announced)
			write_other(b, tv, t, &t->verdict[i]);
	write_losses(b, tv, t);
}

static void line_date(struct line *l, int64_t seconds)
{
	line_printf(l, "%.10s", seconds ? as_utc_of_seconds(seconds).s : "-");
}

void triage_buckets_text(struct buf *b, const struct view *v, const struct triage_buckets *bs)
{
	struct line l = {.v = v};

	styled_line(b, v, STYLE_BOLD, "%7s  %-10s  %-10s  %s", "LOGS", "FIRST", "LAST", "BUCKET");
	for (size_t i = 0; i < bs->n; i++) {
		const struct triage_bucket *k = &bs->bucket[i];

		l = (struct line){.v = v};
		line_printf(&l, "%7" PRIu64 "  ", k->count);
		line_date(&l, k->first);
		line_pad(&l, 21);
		line_date(&l, k->last);
		line_pad(&l, 33);
		line_printf(&l, "%s", k->name);
		if (k->fresh)
			line_printf(&l, "  new");
		line_end(&l, b, k->fresh ? STYLE_WARNING : STYLE_PLAIN);
		line_pad(&l, 33);
		line_printf(&l, "%s", k->example);
		for (size_t n = 0; n < k->kernels; n++)
			line_printf(&l, "%s%s", n ? ", " : "; kernel ", k->kernel[n]);
		if (k->more_kernels)
			line_printf(&l, " and %" PRIu64 " more", k->more_kernels);
		line_wrap_at(&l, b, STYLE_DIM, 33);
	}
	l = (struct line){.v = v};
	line_printf(&l, "%" PRIu64 " %s, %zu %s, %" PRIu64 " without a crash", bs->logs,
		    as_words(bs->logs, "log{|s}").s, bs->n, as_words(bs->n, "bucket{|s}").s,
		    bs->quiet);
	if (bs->unreadable)
		line_printf(&l, ", %" PRIu64 " unreadable", bs->unreadable);
	if (bs->partial)
		line_printf(&l, ", %" PRIu64 " incomplete", bs->partial);
	if (bs->lost)
		line_printf(&l, ", %" PRIu64 " above the maximum", bs->lost);
	line_end(&l, b, STYLE_DIM);
}
