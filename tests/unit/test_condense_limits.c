// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how much of a very long log triage keeps: 64 KiB before a line that looks like a report,
 * 128 KiB after it, and no more than 32 MiB in all.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/condense.h"

#define LINE_LEN 64
#define REPORT	 "BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
#define KIB	 1024ul

/* Adds lines of 64 bytes. Each ends with its number, counted from 0. */
static void add_lines(struct buf *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		buf_printf(b, "usb 1-1: new high-speed USB device with a long serial %9u\n", i);
	if (b->failed)
		abort();
}

static void feed(struct condenser *c, const struct buf *b, size_t piece)
{
	for (size_t at = 0; at < b->len; at += piece)
		if (condense(c, b->s + at, b->len - at < piece ? b->len - at : piece))
			abort();
}

static uint32_t kept_lines(const struct condenser *c)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < c->kept_bytes; i++)
		lines += c->kept[i] == '\n';
	return lines;
}

/* The line at the begin of the 64 KiB may be cut, so that the first whole line after it is kept. */
static void test_before(void)
{
	static const struct {
		uint32_t lines, kept; /* before the report */
	} rows[] = {{0, 0}, {1, 1}, {1023, 1023}, {1024, 1024}, {1025, 1023}, {5000, 1023}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t lines = rows[i].lines, kept = rows[i].kept;
		struct condenser c;
		struct buf b = {};

		add_lines(&b, lines);
		buf_printf(&b, REPORT);
		condenser_make(&c);
		feed(&c, &b, b.len);
		ok(!condense_end(&c) && kept_lines(&c) == kept + 1 &&
			   !memcmp(c.kept, b.s + (lines - kept) * LINE_LEN, c.kept_bytes),
		   "%u of %u lines before a report are kept", kept, lines);
		ok(lines == kept ? !c.skips
				 : c.skips == 1 && !c.skip[0].at && c.skip[0].lines == lines - kept,
		   "%u lines are counted", lines - kept);
		condenser_free(&c);
		buf_free(&b);
	}
}

static void test_after(void)
{
	for (uint32_t lines = 2047; lines <= 2049; lines++) {
		uint32_t lost = lines > 2048 ? lines - 2048 : 0;
		struct condenser c;
		struct buf b = {};

		buf_printf(&b, REPORT);
		add_lines(&b, lines);
		condenser_make(&c);
		feed(&c, &b, b.len);
		ok(!condense_end(&c) && kept_lines(&c) == 1 + lines - lost &&
			   !memcmp(c.kept, b.s, c.kept_bytes),
		   "%u of %u lines after a report are kept", lines - lost, lines);
		ok(lost ? c.skips == 1 && c.skip[0].at == c.kept_bytes && c.skip[0].lines == lost
			: !c.skips,
		   "%u lines are counted", lost);
		condenser_free(&c);
		buf_free(&b);
	}
}

/* Two reports: the lines between them that are near neither are counted, at their place. */
static void test_between(void)
{
	static const size_t pieces[] = {4096, 1 << 16, 1 << 20, 1 << 30};
	struct buf b = {};

	buf_printf(&b, REPORT);
	add_lines(&b, 2048 + 1023 + 7);
	buf_printf(&b, REPORT "the last line has no line feed");
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct condenser c;

		condenser_make(&c);
		feed(&c, &b, pieces[i]);
		ok(!condense_end(&c) && kept_lines(&c) == 2 + 2048 + 1023 && c.skips == 1 &&
			   c.skip[0].at == LINE_LEN * 2049 && c.skip[0].lines == 7 &&
			   !c.lost_bytes &&
			   !memcmp(c.kept + LINE_LEN * 2049, b.s + LINE_LEN * 2056,
				   c.kept_bytes - LINE_LEN * 2049),
		   "two reports, read in pieces of %zu bytes", pieces[i]);
		condenser_free(&c);
	}
	buf_free(&b);
}

/* Text without a line feed is examined each 1 MiB, so that the memory for it is bounded. */
static void test_endless_line(void)
{
	for (size_t n = KIB * KIB - 1; n <= KIB * KIB + 1; n++) {
		struct condenser c;
		struct buf b = {};

		for (size_t i = 0; i < n; i++)
			buf_putc(&b, 'x');
		buf_printf(&b, REPORT);
		condenser_make(&c);
		feed(&c, &b, KIB * KIB);
		ok(!condense_end(&c) && (c.kept_bytes > 0) == (n >= KIB * KIB),
		   "a report in the middle of a line, after %zu bytes", n);
		condenser_free(&c);
		buf_free(&b);
	}
}

static void test_most(void)
{
	struct buf b = {}, more = {};
	struct condenser c;

	buf_printf(&b, REPORT);
	while (b.len < 64 * KIB - 1)
		buf_putc(&b, 'x');
	buf_putc(&b, '\n');
	buf_printf(&more, REPORT);
	if (b.failed || more.failed)
		abort();
	b.s[LINE_LEN - 1] = ' '; /* one long line */
	condenser_make(&c);
	for (int i = 0; i < 512; i++)
		feed(&c, &b, b.len);
	ok(c.kept_bytes == 32 * KIB * KIB && !c.lost_bytes, "32 MiB of reports are kept");
	feed(&c, &more, more.len);
	ok(!condense_end(&c) && c.kept_bytes == 32 * KIB * KIB && c.lost_bytes == more.len &&
		   c.skips == 1 && c.skip[0].at == c.kept_bytes && c.skip[0].lines == 1,
	   "the next report is counted as lost");
	condenser_free(&c);
	buf_free(&b);
	buf_free(&more);
}

int main(void)
{
	test_before();
	test_after();
	test_between();
	test_endless_line();
	test_most();
	return tap_done();
}
