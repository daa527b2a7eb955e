// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "base/buf.h"
#include "render/html/html.h"
#include "tap.h"

static const char *text_of(const char *s)
{
	static struct buf b;

	buf_free(&b);
	b = (struct buf){};
	html_text(&b, s);
	return b.s ? b.s : "";
}

static void test_text(void)
{
	is_str(text_of("a<b>c"), "a&lt;b&gt;c", "begins and ends no element");
	is_str(text_of("\" onload=\"x"), "&quot; onload=&quot;x", "ends no attribute in \"");
	is_str(text_of("' onload='x"), "&#39; onload=&#39;x", "ends no attribute in '");
	is_str(text_of("&lt;"), "&amp;lt;", "what looks escaped is text as well");
	is_str(text_of("\xc3\xa9 1 2"), "\xc3\xa9 1 2", "the rest is itself");
	is_str(text_of(NULL), "", "no text");
	ok(!strchr(text_of("\033[2J"), '\033'), "no control bytes");
}

static void test_part(void)
{
	struct buf b = {};

	html_text_len(&b, "a<b>", 2);
	is_str(b.s, "a&lt;", "no more than its length");
	buf_free(&b);
}

static void test_data(void)
{
	struct buf b = {}, json = {};

	buf_puts(&json, "{\"a\": \"</script><!-- &amp;\"}");
	html_data(&b, "x", &json);
	ok(strstr(b.s, "\\u003c/script\\u003e\\u003c!-- \\u0026amp;"), "ends no element: %s", b.s);
	buf_free(&b);
	buf_free(&json);
}

int main(void)
{
	test_text();
	test_part();
	test_data();
	return tap_done();
}
