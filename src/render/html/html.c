// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/html/html.h"
#include "model/frames.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_format.h"

#define INCLUDE(file) ".incbin \"" file "\"\n"
/* Defines an array with the bytes of files, and its end. */
#define ASSET(name, files)                                                                         \
	__asm__(".pushsection .rodata\n.globl " #name ", " #name "_end\n.hidden " #name ", " #name \
		"_end\n" #name ":\n" files #name "_end:\n.popsection\n");                          \
	extern const char name[] __attribute__((visibility("hidden")));                            \
	extern const char name##_end[] __attribute__((visibility("hidden")))

ASSET(report_css, INCLUDE("report.css"));
/* The script's files are parts of one function: html_end() writes its beginning and its end. */
#define SCRIPT                                                                                     \
	INCLUDE("script/page.js")                                                                  \
	INCLUDE("script/tables.js")                                                                \
	INCLUDE("script/points.js")                                                                \
	INCLUDE("script/heat.js")                                                                  \
	INCLUDE("script/timeline.js")                                                              \
	INCLUDE("script/rows.js")                                                                  \
	INCLUDE("script/stacks.js")                                                                \
	INCLUDE("script/flame.js")                                                                 \
	INCLUDE("script/state.js")

ASSET(report_js, SCRIPT);

void html_text_len(struct buf *b, const char *s, size_t len)
{
	char *copy = strndup(s, len);

	if (copy)
		html_text(b, copy);
	else
		b->failed = true;
	free(copy);
}

void html_text(struct buf *b, const char *s)
{
	struct buf safe = {};

	buf_safe(&safe, s ? s : "", true);
	b->failed |= safe.failed;
	for (const char *c = safe.s ? safe.s : ""; *c; c++)
		switch (*c) {
		case '&':
			buf_puts(b, "&amp;");
			break;
		case '<':
			buf_puts(b, "&lt;");
			break;
		case '>':
			buf_puts(b, "&gt;");
			break;
		case '"':
			buf_puts(b, "&quot;");
			break;
		case '\'':
			buf_puts(b, "&#39;");
			break;
		default:
			buf_putc(b, *c);
		}
	buf_end_part(b, &safe);
}

static void put_escaped(struct buf *b, const char *text, const void *ctx)
{
	html_text(b, text);
}

void html_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vformat(b, put_escaped, NULL, format, ap);
	va_end(ap);
}

int html_level(uint64_t n, uint64_t most)
{
	double share = most > 1 ? log2(1 + (double)n) / log2(1 + (double)most) : 1;
	int level = 1 + share * (HTML_LEVELS - 0.01);

	return !n ? 0 : level > HTML_LEVELS ? HTML_LEVELS : level;
}

unsigned int html_module_colour(const char *module, size_t len)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + (unsigned char)module[i];
	return len ? 1 + sum % HTML_MODULES : 0;
}

void html_begin(struct buf *b, const char *title, const char *subtitle, bool clock)
{
	buf_puts(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_text(b, title);
	buf_puts(b, " - faultscope</title>\n<style>\n");
	buf_add(b, report_css, report_css_end - report_css);
	buf_puts(b,
		 "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the report</a>\n"
		 "<header class=\"top\"><div class=\"brand\"><svg aria-hidden=\"true\" "
		 "viewBox=\"0 0 32 32\"><path d=\"M3 22h5l3-13 5 19 4-12 2 6h7\"/></svg>"
		 "<span>faultscope</span></div><div class=\"headline\"><h1 data-is=\"headline\">");
	html_text(b, title);
	buf_puts(b, "</h1><p data-is=\"headline\">");
	html_text(b, subtitle);
	buf_puts(b, "</p></div>");
	if (clock)
		buf_puts(b, "<p class=\"tools\" hidden><button type=\"button\" id=\"clock-utc\" "
			    "aria-pressed=\"false\">UTC</button></p>");
	buf_puts(b, "</header>\n");
}

void html_end(struct buf *b)
{
	buf_puts(b, "<footer><p data-is=\"version\">Made by faultscope " VERSION
		    ". One file: it asks the network for nothing.</p></footer>\n<script>\n"
		    "\"use strict\";\n(() => {\n");
	buf_add(b, report_js, report_js_end - report_js);
	buf_puts(b, "})();\n</script>\n</body>\n</html>\n");
}

void html_data(struct buf *b, const char *id, const struct buf *json)
{
	buf_printf(b, "<script type=\"application/json\" id=\"%s\">", id);
	for (size_t i = 0; i < json->len; i++) {
		char c = json->s[i];

		if (c == '<' || c == '>' || c == '&')
			buf_printf(b, "\\u%04x", c);
		else
			buf_putc(b, c);
	}
	b->failed |= json->failed;
	buf_puts(b, "</script>\n");
}

/* Returns whether a text has all digits of a value, such as "12,480". */
static bool is_whole(const char *text, double value)
{
	double n = 0;

	for (const char *c = text; *c; c++) {
		if (*c != ',' && (*c < '0' || *c > '9'))
			return false;
		n = *c == ',' ? n : 10 * n + (*c - '0');
	}
	return *text && n == value;
}

/* Ends the tag of an element with a value, and writes its text. */
static void put_valued(struct buf *b, double value, const char *text)
{
	if (!is_whole(text, value))
		buf_printf(b, " data-v=\"%.17g\"", value);
	html_printf(b, ">%s", text);
}

void html_value(struct buf *b, const char *is, double value, const char *text)
{
	buf_printf(b, "<span data-is=\"%s\"", is);
	put_valued(b, value, text);
	buf_puts(b, "</span>");
}

void html_note(struct buf *b, const char *is, uint64_t count, const char *rest)
{
	buf_puts(b, "<p class=\"note\">");
	html_value(b, is, count, as_count(count).s);
	buf_printf(b, "%s</p>\n", rest);
}

void html_cell(struct buf *b, const char *is, double value, const char *text)
{
	buf_puts(b, "<td");
	if (is)
		buf_printf(b, " class=\"n\" data-is=\"%s\"", is);
	put_valued(b, value, text);
	buf_puts(b, "</td>");
}

void html_at(struct buf *b, const char *before, double v)
{
	char text[32];
	size_t n = snprintf(text, sizeof(text), "%.1f", v);

	if (n > 2 && !strcmp(text + n - 2, ".0"))
		text[n - 2] = 0;
	buf_printf(b, "%s%s", before, strcmp(text, "-0") ? text : "0");
}

void html_section(struct buf *b, const char *id, const char *title, const char *about)
{
	buf_printf(
		b,
		"<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
		id, id, id, title);
	if (about)
		buf_printf(b, "<p class=\"about\" data-is=\"words\">%s</p>\n", about);
}

void html_section_end(struct buf *b)
{
	buf_puts(b, "</section>\n");
}

static void put_frame(struct buf *b, const char *text, size_t len, const char *place)
{
	buf_puts(b, "<li");
	if (*place)
		html_printf(b, " title=\"%s\"", place);
	buf_puts(b, ">");
	html_text_len(b, text, len);
	buf_puts(b, "</li>");
}

static void put_unknown_stack(struct buf *b)
{
	buf_puts(b, "<span class=\"dim\">stack not known</span>");
}

void html_stack(struct buf *b, const struct frames *f, size_t most)
{
	size_t n = f ? frames_count(f) : 0;

	if (!n) {
		put_unknown_stack(b);
		return;
	}
	buf_puts(b, "<ol class=\"stack\">");
	for (size_t i = 0; i < n && i < most; i++) {
		char text[FRAME_TEXT_BYTES], place[FRAME_TEXT_BYTES];

		frames_show(f, i, text, sizeof(text));
		frames_show_place(f, i, place, sizeof(place));
		put_frame(b, text, strlen(text), place);
	}
	buf_puts(b, "</ol>");
}

void html_stack_text(struct buf *b, const char *text, size_t most)
{
	size_t n = 0;

	if (!text || !*text) {
		put_unknown_stack(b);
		return;
	}
	buf_puts(b, "<ol class=\"stack\">");
	for (const char *at = text; *at && n < most; n++) {
		size_t len = strcspn(at, "\n");

		put_frame(b, at, len, "");
		at += len + (at[len] == '\n');
	}
	buf_puts(b, "</ol>");
}

void html_lines(struct buf *b, const char *text)
{
	for (const char *at = text ? text : ""; *at;) {
		size_t len = strcspn(at, "\n");

		html_text_len(b, at, len);
		buf_puts(b, "\n");
		at += len + (at[len] == '\n');
	}
}
