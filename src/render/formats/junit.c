// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the results of gates (conditions of --fail-on) and of phases as JUnit XML, which Jenkins,
 * GitLab and others read.
 */
#include <string.h>

#include "render/gate_results.h"
#include "render/utc.h"

/* Appends text with control characters, U+FFFE and U+FFFF as \xNN: XML 1.0 cannot contain them. */
static void put_xml(struct buf *b, const char *s)
{
	struct buf safe = {};
	uint32_t code;
	int len;

	buf_safe(&safe, s, true);
	for (const char *at = safe.s ? safe.s : ""; *at; at += len) {
		len = utf8_decode(at, &code);
		if (!len || (code & 0xfffe) == 0xfffe) {
			len = len ? len : 1;
			for (int i = 0; i < len; i++)
				buf_printf(b, "\\x%02x", (unsigned char)at[i]);
		} else if (strchr("<>&\"'", *at)) {
			buf_printf(b, "&#%d;", *at);
		} else {
			buf_add(b, at, len);
		}
	}
	buf_end_part(b, &safe);
}

static void put_attribute(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, " %s=\"", name);
	put_xml(b, value);
	buf_puts(b, "\"");
}

static void put_message(struct buf *b, const struct gate *g)
{
	struct buf text = {};

	gate_outcome(&text, g);
	put_attribute(b, "message", text.s ? text.s : "");
	buf_end_part(b, &text);
}

/* JUnit has two kinds: what failed is a failure, what was not measured is an error. */
static const char *element_of(enum gate_state state)
{
	return state == GATE_TRIPPED ? "failure" : "error";
}

static void put_case(struct buf *b, const struct gate *g)
{
	buf_puts(b, "    <testcase classname=\"faultscope\"");
	put_attribute(b, "name", g->text);
	buf_puts(b, " time=\"0\"");
	if (g->state == GATE_PASSED) {
		buf_puts(b, "/>\n");
		return;
	}
	buf_printf(b, ">\n      <%s type=\"gate\"", element_of(g->state));
	put_message(b, g);
	buf_puts(b, "/>\n    </testcase>\n");
}

/* Returns whether the gate is judged for each phase, in the test case of the phase. */
static bool is_in_phases(const struct view *v, const struct gate *g)
{
	return g->kind == GATE_PHASE && v->m->phases && v->m->phases->n;
}

/* Writes why a phase fails or has no value. Returns the worst result of its gates. */
static enum gate_state judge_phase(struct buf *b, const struct view *v, const struct phase *p)
{
	enum gate_state worst = GATE_PASSED;

	for (size_t i = 0; i < v->gates->n; i++) {
		struct gate one = v->gates->gate[i];

		if (one.kind != GATE_PHASE)
			continue;
		one.phase = NULL;
		one.state = gate_of_phase(&one, p, &one.value);
		if (one.state == GATE_PASSED)
			continue;
		buf_printf(b, "%s%s: ", b->len ? "; " : "", one.text);
		gate_value(b, &one);
		if (worst != GATE_TRIPPED)
			worst = one.state;
	}
	return worst;
}

static void put_phase(struct buf *b, const struct view *v, const struct phase *p)
{
	struct buf why = {};
	enum gate_state state = judge_phase(&why, v, p);

	buf_puts(b, "    <testcase classname=\"faultscope.phases\"");
	put_attribute(b, "name", p->name);
	buf_printf(b, " time=\"%.3f\"", phase_duration_ns(p) / 1e9);
	if (state == GATE_PASSED) {
		buf_puts(b, "/>\n");
	} else {
		buf_printf(b, ">\n      <%s type=\"gate\"", element_of(state));
		put_attribute(b, "message", why.s ? why.s : "");
		buf_puts(b, "/>\n    </testcase>\n");
	}
	buf_end_part(b, &why);
}

static void put_phases(struct buf *b, const struct view *v)
{
	for (size_t i = 0; v->m->phases && i < v->m->phases->n; i++)
		put_phase(b, v, &v->m->phases->phase[i]);
}

/* Adds up the test cases of gates and phases, by their result. */
static void count_cases(const struct view *v, size_t ret[GATE_NOT_MEASURED + 1])
{
	for (size_t i = 0; i < v->gates->n; i++)
		if (!is_in_phases(v, &v->gates->gate[i]))
			ret[v->gates->gate[i].state]++;
	for (size_t i = 0; v->m->phases && i < v->m->phases->n; i++) {
		struct buf why = {};

		ret[judge_phase(&why, v, &v->m->phases->phase[i])]++;
		buf_free(&why);
	}
}

static void put_time(struct buf *b, const struct view *v)
{
	struct number_text begun = as_utc(v->m->host.wall_ns);

	/* the schema of JUnit allows no time zone */
	begun.s[strcspn(begun.s, "Z")] = '\0';
	put_attribute(b, "timestamp", begun.s);
	buf_printf(b, " time=\"%.3f\"", view_seconds(v, v->m->last_ns));
}

/* Writes the summary and the findings as text into the element system-out. */
static void put_output(struct buf *b, const struct view *v)
{
	struct view plain = *v;
	struct buf text = {}, line = {};
	const char *at, *end;

	plain.colour = false;
	text_renderer.close(&text, &plain);
	buf_puts(b, "    <system-out>");
	for (at = text.s ? text.s : ""; (end = strchr(at, '\n')); at = end + 1) {
		buf_end_part(b, &line);
		buf_add(&line, at, end - at);
		put_xml(b, line.s ? line.s : "");
		buf_putc(b, '\n');
	}
	buf_puts(b, "</system-out>\n");
	buf_end_part(b, &line);
	buf_end_part(b, &text);
}

void gates_junit(struct buf *b, const struct view *v)
{
	size_t cases[GATE_NOT_MEASURED + 1] = {};

	count_cases(v, cases);
	buf_printf(
		b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		"name=\"faultscope\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\"",
		cases[GATE_PASSED] + cases[GATE_TRIPPED] + cases[GATE_NOT_MEASURED],
		cases[GATE_TRIPPED], cases[GATE_NOT_MEASURED]);
	put_time(b, v);
	put_attribute(b, "hostname", v->m->host.host);
	buf_puts(b, ">\n    <properties>\n      <property name=\"target\"");
	put_attribute(b, "value", v->m->host.target);
	buf_puts(b, "/>\n      <property name=\"kernel\"");
	put_attribute(b, "value", v->m->host.kernel);
	buf_puts(b, "/>\n    </properties>\n");
	for (size_t i = 0; i < v->gates->n; i++)
		if (!is_in_phases(v, &v->gates->gate[i]))
			put_case(b, &v->gates->gate[i]);
	put_phases(b, v);
	put_output(b, v);
	buf_puts(b, "  </testsuite>\n</testsuites>\n");
}
