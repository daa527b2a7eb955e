// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdarg.h>

#include "base/text_format.h"
#include "base/units.h"
#include "tap.h"

/* Replaces each byte that is not a letter with a question mark. */
static void letters_alone(struct buf *b, const char *text, const void *ctx)
{
	for (; *text; text++)
		buf_putc(b, (*text | 32) >= 'a' && (*text | 32) <= 'z' ? *text : '?');
}

static void __attribute__((format(printf, 2, 3)))
is_written(const char *want, const char *format, ...)
{
	struct buf b = {};
	va_list ap;

	va_start(ap, format);
	buf_vformat(&b, letters_alone, NULL, format, ap);
	va_end(ap);
	is_str(b.s, want, want);
	buf_free(&b);
}

static void test_texts(void)
{
	const char *volatile none = NULL;

	is_written("<b>a?c</b>", "<b>%s</b>", "a<c");
	is_written("[  a?c]", "[%5s]", "a<c");
	is_written("[a?c  ]", "[%-5s]", "a<c");
	is_written("[a?]", "[%.2s]", "a<c");
	is_written("[a?]", "[%.*s]", 2, "a<c");
	is_written("[   a]", "[%*.*s]", 4, 1, "a<c");
	is_written("[]", "[%s]", none);
	is_written("[]", "[%.0s]", "abc");
	is_written("[  ]", "[%2.0s]", "abc");
	is_written("[a?]", "[%.3s]", "a<");
	is_written("[   ]", "[%3s]", "");
}

static void test_numbers(void)
{
	is_written("-1 4294967295 ff", "%d %u %x", -1, UINT32_MAX, 255);
	is_written("18446744073709551615 -9223372036854775808", "%" PRIu64 " %" PRId64, UINT64_MAX,
		   INT64_MIN);
	is_written("7 8 100%", "%zu %llu 100%%", (size_t)7, 8ull);
	is_written("   3 0003 +3 3   ", "%4d %04d %+d %-4d", 3, 3, 3, 3);
	is_written("1.5 2 0.25", "%.1f %.0f %g", 1.5, 2.0, 0.25);
	is_written("00001.50 a", "%08.2f %c", 1.5, 'a');
}

/* Tests that results of as_count() and similar functions stay valid during several calls. */
static void test_numbers_as_text(void)
{
	struct buf b = {};

	buf_printf(&b, "%s of %s, %s, %s, %s", as_count(12480).s, as_limit(UINT64_MAX).s,
		   as_bytes(1536).s, as_duration(31000000).s, as_span(4860).s);
	is_str(b.s, "12,480 of unlimited, 1.50 KiB, 31.0 ms, 81m 00s", "several in one call");
	buf_free(&b);
}

int main(void)
{
	test_texts();
	test_numbers();
	test_numbers_as_text();
	return tap_done();
}
