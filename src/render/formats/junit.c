// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the results of gates (conditions of --fail-on) as JUnit XML, which Jenkins, GitLab and
 * others read.
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

static void put_case(struct buf *b, const struct gate *g)
{
	/*
	 * JUnit has two kinds: a gate that failed is a failure, a value that was not measured is an
	 * error
	 */
	const char *element = g->state == GATE_TRIPPED ? "failure" : "error";

	buf_puts(b, "    <testcase classname=\"faultscope\"");
	put_attribute(b, "name", g->text);
	buf_puts(b, " time=\"0\"");
	if (g->state == GATE_PASSED) {
		buf_puts(b, "/>\n");
		return;
	}
	buf_printf(b, ">\n      <%s type=\"gate\"", element);
	put_message(b, g);
	buf_puts(b, "/>\n    </testcase>\n");
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
	size_t failures = 0, errors = 0;

	for (size_t i = 0; i < v->gates->n; i++) {
		failures += v->gates->gate[i].state == GATE_TRIPPED;
		errors += v->gates->gate[i].state == GATE_NOT_MEASURED;
	}
	buf_printf(
		b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		"name=\"faultscope\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\"",
		v->gates->n, failures, errors);
	put_time(b, v);
	put_attribute(b, "hostname", v->m->host.host);
	buf_puts(b, ">\n    <properties>\n      <property name=\"target\"");
	put_attribute(b, "value", v->m->host.target);
	buf_puts(b, "/>\n      <property name=\"kernel\"");
	put_attribute(b, "value", v->m->host.kernel);
	buf_puts(b, "/>\n    </properties>\n");
	for (size_t i = 0; i < v->gates->n; i++)
		put_case(b, &v->gates->gate[i]);
	put_output(b, v);
	buf_puts(b, "  </testsuite>\n</testsuites>\n");
}
