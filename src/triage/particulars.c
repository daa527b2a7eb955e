// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "triage/particulars.h"

#include <stdarg.h>
#include <stdio.h>

#include "triage/match.h"
#include "triage/report_pages.h"

#define LINES_SHORT 40	 /* maximum number of lines of most reports */
#define LINES_HANG  600	 /* a hung task's report may list all locks */
#define LINES_OOM   4000 /* the report of the OOM killer lists all processes */

static const struct {
	enum kind kind;
	const char *name, *pattern;
} rows[] = {
#define PARTICULAR(kind, name, pattern) {KIND_##kind, name, pattern},
#include "triage/particulars.def"
#undef PARTICULAR
};

const char *particular_of(const struct diagnosis *v, const char *name)
{
	for (uint32_t i = 0; i < v->particulars; i++)
		if (!strcmp(v->particular[i].name, name))
			return v->particular[i].value;
	return "";
}

void particular_add(struct diagnosis *v, const char *name, const char *format, ...)
{
	struct particular *p;
	va_list ap;

	if (v->particulars == PARTICULARS_MAX || *particular_of(v, name))
		return;
	p = &v->particular[v->particulars++];
	p->name = name;
	va_start(ap, format);
	vsnprintf(p->value, sizeof(p->value), format, ap);
	va_end(ap);
}

struct str extent_line(const struct extent *x, uint32_t i)
{
	const struct log_line *l = &x->ls->line[i];
	bool other = x->caller != -1 && l->caller != -1 && l->caller != x->caller;

	return l->user || other ? (struct str){} : str_trim(l->text);
}

static uint32_t most_lines(enum kind k)
{
	return k == KIND_OOM ? LINES_OOM : k == KIND_HANG ? LINES_HANG : LINES_SHORT;
}

/*
 * Finds the lines of a report. They end where a report of another kind begins. A panic for want of
 * memory follows the report of the OOM killer, which has the details.
 */
static struct extent extent_of(const struct judged *j, const struct triage *t)
{
	uint32_t first = j->v->index, end = j->ls->n;
	struct extent x = {.ls = j->ls, .kind = j->v->kind};

	if (j->v->kind == KIND_PANIC && !strcmp(j->v->page, "K26"))
		while (first && t->seen.event[first].kind != KIND_OOM)
			first--;
	/* the line about the killed process is a report of its own */
	while (first && t->seen.event[first].kind == KIND_OOM &&
	       t->seen.event[first - 1].kind == KIND_OOM)
		first--;
	if (t->seen.event[first].kind == KIND_OOM)
		x.kind = KIND_OOM;
	x.caller = t->seen.event[first].caller;
	x.first = t->seen.event[first].first;
	for (uint32_t i = first + 1; i < t->seen.n && end == j->ls->n; i++)
		if (t->seen.event[i].kind != x.kind)
			end = t->seen.event[i].first;
	if (end > x.first + most_lines(x.kind))
		end = x.first + most_lines(x.kind);
	x.end = end > x.first ? end : x.first + 1;
	return x;
}

static void by_rows(struct judged *j, const struct extent *x)
{
	for (uint32_t i = x->first; i < x->end; i++) {
		struct str s = extent_line(x, i);

		for (size_t k = 0; s.n && k < sizeof(rows) / sizeof(rows[0]); k++) {
			const char *p = rows[k].pattern;
			struct captures c = {};

			if (rows[k].kind != x->kind || (*p != '%' && *p != s.s[0]) ||
			    *particular_of(j->v, rows[k].name) || !match(p, s, &c))
				continue;
			c.text = str_trim(c.text);
			if (c.text.n && !str_is(c.text, "<unknown>"))
				particular_add(j->v, rows[k].name, "%.*s", STR_ARG(c.text));
		}
	}
}

/*
 * Names the driver of a device that failed, as its lines begin with it: "amdgpu 0000:03:00.0: …".
 * A file system or a disk that reports damage is not the cause of the damage.
 */
static void by_device(struct judged *j)
{
	struct diagnosis *v = j->v;
	struct str text = str_trim(j->ls->line[j->e->first].text), driver;

	if (!kind_is_of_device(v->kind) || v->kind == KIND_ZFS || v->kind == KIND_PCIE_FATAL)
		return;
	v->suspects = 0;
	v->culprit_unknown = true;
	if (v->kind == KIND_GPU_XID)
		driver = STR("nvidia");
	else if (str_starts(text, "[drm:amdgpu_"))
		driver = STR("amdgpu");
	else if (v->kind == KIND_GPU_TIMEOUT || v->kind == KIND_GPU_HANG ||
		 v->kind == KIND_NIC_HANG || v->kind == KIND_FIRMWARE)
		driver = str_starts(text, "[drm] GPU HANG") ? STR("i915") : str_word(&text);
	else
		return;
	if (str_ends(driver, ":"))
		driver = str_first(driver, driver.n - 1);
	suspect_accuse(v, driver, 50, "it drives the device that failed");
}

/* Returns the source location "file.c:12" in a text; empty: none. */
static struct str source_in(struct str s)
{
	for (struct str word = str_word(&s); word.n; word = str_word(&s)) {
		long colon;

		if (str_starts_any(word, "(|[|{"))
			word = str_from(word, 1);
		colon = str_find(word, ":");
		if (colon < 3 || !is_digit(str_at(word, colon + 1)) ||
		    !(str_ends(str_first(word, colon), ".c") ||
		      str_ends(str_first(word, colon), ".h") ||
		      str_ends(str_first(word, colon), ".rs")))
			continue;
		for (size_t n = colon + 1; n <= word.n; n++)
			if (!is_digit(str_at(word, n)) && str_at(word, n) != ':')
				return str_first(word, n);
	}
	return (struct str){};
}

/*
 * Finds the source line of the function at fault: in a trace that decode_stacktrace.sh decoded, or
 * in the text of a BUG or a warning that this function raised.
 */
static void by_source(struct judged *j)
{
	const struct incident *e = j->e;
	const struct frame *f = j->v->functions ? &j->v->frame : &e->ip;
	struct str raised = e->has_ip ? e->ip.function : e->said, source = {};

	if (f->function.n && f->line < j->ls->n &&
	    memmem(j->ls->line[f->line].text.s, j->ls->line[f->line].text.n, f->function.s,
		   f->function.n))
		source = source_in(j->ls->line[f->line].text);
	if (!source.n && j->v->kind != KIND_ATOMIC_SLEEP &&
	    (!raised.n || !j->v->functions || str_same(raised, f->function)))
		source = source_in(e->place);
	if (source.n)
		particular_add(j->v, "source", "%.*s", STR_ARG(source));
}

/* Shows the text that was written over a pointer. */
static void by_text(struct judged *j)
{
	uint64_t values[] = {j->has_base ? j->b : 0, j->has_address ? j->a : 0,
			     j->e->has_range ? j->e->range_low : 0, j->e->regs.value[7]};
	char text[9] = "";

	if (j->v->poison != POISON_TEXT)
		return;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && !*text; i++) {
		if (poison_of(j->e, values[i]) != POISON_TEXT)
			continue;
		for (int k = 0; k < 8; k++) {
			char c = values[i] >> 8 * k;

			text[k] = c >= ' ' && c < 0x7f ? c : '.';
		}
	}
	if (*text)
		particular_add(j->v, "text", "\"%s\"", text);
}

/* Chooses what the name of a bucket has instead of a function. */
static void name_subject(struct judged *j)
{
	static const char *const names[] = {"Xid", "found by", "ring", "error code", "bank"};
	struct diagnosis *v = j->v;
	const char *value = "";

	if (!kind_is_precursor(v->kind) && v->kind != KIND_MCE)
		return;
	if (v->kind == KIND_OOM)
		v->functions = 0; /* the trace is of the task that asked for memory */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !*value; i++)
		value = particular_of(v, names[i]);
	snprintf(v->subject, sizeof(v->subject), "%.*s", (int)strcspn(value, " +:,"), value);
}

void judge_particulars(struct judged *j, const struct triage *t)
{
	struct extent x;

	report_page_find(j);
	x = extent_of(j, t);
	by_device(j);
	by_rows(j, &x);
	particulars_of_codes(j, &x);
	particulars_of_tasks(j, &x);
	by_source(j);
	by_text(j);
	name_subject(j);
}
