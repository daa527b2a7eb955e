// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the text of a trace instance is read: faults that BPF programs marked, and pieces of
 * the kernel log.
 */
#include <stdio.h>
#include <stdlib.h>

#include "blackbox/modules.h"
#include "blackbox/trace_text.h"
#include "tap.h"

#define LINE_MOST  1024	       /* longer lines are cut */
#define WHOLE_MOST 4096	       /* longer lines of the kernel log are not joined */
#define AT	   14000000000 /* time of the line below in ns */
#define WHEN	   " <...>-1 [000] d..1. 14.000000: "
#define BOOT_ID	   "df3257f3605f4c8ca93937309a32a963"
#define OWNER	   0xffffffffc04ee000

static void test_head(void)
{
	ok(bb_is_trace("# tracer:", 9), "a trace");
	ok(bb_is_trace("# tracer: nop\n", 14), "also with a text");
	ok(!bb_is_trace("# tracer:", 8), "not a shorter text");
	ok(!bb_is_trace("# tracee:", 9), "nor another one");
}

/* ---- marks ---- */

static struct bb_found found;

/* Reads a trace with a record of a module, and one mark behind it. */
static const struct bb_record *marked(const char *event, uint64_t record_ns, const char *mark)
{
	struct bb_record r = {.sequence = 5, .boot_ns = record_ns, .wall_ns = 100 * AT};
	struct bb_module one = {.name = "lab", .start = {OWNER}, .bytes = {0x2000}};
	char line[BB_LINE_MAX], text[3 * BB_LINE_MAX];

	r.class = BB_MODULE;
	bb_boot_id(BOOT_ID, r.boot_id);
	bb_put(&r, "event", event);
	bb_module_put(&r, &one);
	bb_encode_line(&r, line);
	snprintf(text, sizeof(text), WHEN "tracing_mark_write: %s\n" WHEN "x: faultscope! %s\n",
		 line, mark);
	bb_found_free(&found);
	if (bb_trace_scan(&found, text, strlen(text)))
		abort();
	return found.n == 1 ? &found.record[0] : NULL;
}

/* Returns whether the text of the record is `want`. The text ends with from=mark. */
static void is_text(const struct bb_record *r, const char *want, const char *name)
{
	char whole[BB_TEXT_MAX + 1];

	snprintf(whole, sizeof(whole), "%s from=mark", want);
	is_str(r ? r->text : "none", whole, name);
}

#define NO_AREA "area=0 bytes=0 owner=0 freer=0 freed=0 flags=0"

static void test_marks(void)
{
	const struct bb_record *r;

	r = marked("loaded", AT - 7, "0 1 ip=ffffffff81000000 at=8 error=2 pid=3 " NO_AREA);
	ok(r && r->class == BB_FAULT && r->severity == BB_CRITICAL && r->count == 1, "a fault");
	ok(r && r->boot_ns == AT && r->wall_ns == 100 * AT + 7, "its time");
	ok(r && r->sequence == 5 && r->boot_id[0] == 0xdf, "its place behind the last record");
	is_text(r,
		"verdict=fatal access=write address=0x8 symbol=0xffffffff81000000 pid=3 "
		"error=0x2",
		"its text");
	r = marked("loaded", AT + 7, "0 0 ip=0 at=8 error=10 pid=3 " NO_AREA);
	ok(r && r->severity == BB_WARNING && r->wall_ns == 100 * AT,
	   "a mark that is older than the record");
	is_text(r, "verdict=suspected access=exec address=0x8 pid=3 error=0x10", "its text");
	r = marked("loaded", AT,
		   "3 0 ip=ffffffffc04ee00f at=ffffffffc04ee010 error=0 pid=3 " NO_AREA);
	ok(r && r->wall_ns == 100 * AT, "a mark at the time of the record");
	is_text(r,
		"verdict=suspected access=protection address=0xffffffffc04ee010 symbol=+0xf "
		"module=lab pid=3 error=0x0 data_of=lab",
		"its text");
	r = marked("loaded", AT, "0 0 ip=0 at=8 error=1 pid=3 " NO_AREA);
	is_text(r, "verdict=suspected access=read address=0x8 pid=3 error=0x1", "a read");
	ok(!marked("loaded", AT, "0 0 ip=0 at=8 error=1 pid=3 area=0 bytes=0"),
	   "a mark that is cut");
}

static void test_freed(void)
{
	static const char mark[] = "0 0 ip=0 at=ffffffffc04ee010 error=0 pid=3 " NO_AREA;

	is_text(marked("unloaded", AT - 5000000, mark),
		"verdict=suspected access=read address=0xffffffffc04ee010 pid=3 error=0x0 "
		"freed_module=lab unloaded_ms_ago=5",
		"in a module that was unloaded before");
	is_text(marked("unloaded", AT, mark),
		"verdict=suspected access=read address=0xffffffffc04ee010 pid=3 error=0x0 "
		"freed_module=lab",
		"in one that was unloaded at that time");
}

static void test_areas(void)
{
	is_text(marked("loaded", 1,
		       "0 0 ip=0 at=8 error=0 pid=3 area=1000 bytes=1 owner=ffffffffc04ee001 "
		       "freer=ffffffff81000000 freed=13999000000 flags=0"),
		"verdict=suspected access=read address=0x8 pid=3 error=0x0 area=vmalloc "
		"area_start=0x1000 area_bytes=1 area_owner=+0x1 area_module=lab "
		"area_freer=0xffffffff81000000 area_freed_us_ago=1000",
		"an area that was freed before");
	is_text(marked("loaded", 1,
		       "0 0 ip=0 at=8 error=0 pid=3 area=1000 bytes=1 owner=0 freer=0 "
		       "freed=14000000000 flags=1"),
		"verdict=suspected access=read address=0x8 pid=3 error=0x0 area=ioremap "
		"area_start=0x1000 area_bytes=1",
		"one that was freed at that time");
}

/* ---- kernel log ---- */

static struct buf text, written;

static const char *log_of(void)
{
	buf_free(&written);
	bb_trace_log(&written, text.s, text.len);
	buf_clear(&text);
	return written.s ? written.s : "";
}

static void piece(const char *s)
{
	buf_printf(&text, WHEN "console: %s\n", s);
}

static void letters(size_t n, char c, const char *end)
{
	buf_puts(&text, WHEN "console: ");
	for (size_t i = 0; i < n; i++)
		buf_putc(&text, c);
	buf_printf(&text, "%s\n", end);
}

static void test_pieces(void)
{
	static const struct {
		const char *one, *two, *want, *name;
	} pieces[] = {
		{"a", "b", "[   14.000000] a\n[   14.000000] b\n", "two lines"},
		{"a ", "b", "[   14.000000] a b\n", "a piece after a space"},
		{"a ", "", "[   14.000000] a \n", "a line's end after a space"},
		{"a", " b", "[   14.000000] a\n[   14.000000]  b\n", "a line with a space"},
		{"Code:", " b", "[   14.000000] Code: b\n", "bytes of code"},
		{"Hardware", " b", "[   14.000000] Hardware b\n", "the name of the machine"},
		{"Modules linked in:", " b", "[   14.000000] Modules linked in: b\n", "modules"},
		{"Modules linked in", " b", "[   14.000000] Modules linked in\n[   14.000000]  b\n",
		 "another text"},
		{"msg=a ", "msg=b", "[   14.000000] a b\n", "messages of the previous boot"},
		{"", "b", "[   14.000000] b\n", "an empty piece"},
		{"a ", BB_LINE_BEGINS "1", "[   14.000000] a \n", "a record is left out"},
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		piece(pieces[i].one);
		piece(pieces[i].two);
		is_str(log_of(), pieces[i].want, pieces[i].name);
	}
}

static void test_times(void)
{
	buf_puts(&text, "190.5: console: a\n");
	is_str(log_of(), "[  190.500000] a\n", "a time at the begin of a line");
	buf_puts(&text, "x: 7: 0.25: console: a\n");
	is_str(log_of(), "[    0.250000] a\n", "a number without a point is none");
	buf_puts(&text, "cpu: console: a\n");
	is_str(log_of(), "", "a line without a time is left out");
	buf_puts(&text, "1.5: other: a\n");
	is_str(log_of(), "", "and one of another event");
	buf_puts(&text, "1.0: console: a \n2.0: console: b");
	is_str(log_of(), "[    1.000000] a b\n", "the time of the first piece, and no line's end");
}

static void test_cut_lines(void)
{
	const size_t head = strlen(WHEN "console: ");

	letters(LINE_MOST - 1 - head, 'x', "");
	is_u64(strlen(log_of()), 15 + LINE_MOST - 1 - head + 1, "the longest line");
	letters(LINE_MOST - head, 'x', "");
	is_u64(strlen(log_of()), 15 + LINE_MOST - 1 - head + 1, "a line that is longer is cut");
	letters(3 * LINE_MOST, 'x', "");
	letters(1, 'y', "");
	ok(strstr(log_of(), "] y\n"), "the next line is whole");
}

/* Joins pieces with `len` characters. Returns the number of lines of the log. */
static size_t joined(size_t len)
{
	size_t lines = 0;

	for (; len > 900; len -= 801)
		letters(800, 'x', " ");
	letters(len, 'y', "");
	for (const char *s = log_of(); (s = strchr(s, '\n')); s++)
		lines++;
	return lines;
}

static void test_long_lines(void)
{
	is_u64(joined(WHOLE_MOST - 1), 1, "pieces of the longest line are joined");
	is_u64(joined(WHOLE_MOST), 2, "a longer line begins anew");
}

int main(void)
{
	test_head();
	test_marks();
	test_freed();
	test_areas();
	test_pieces();
	test_times();
	test_cut_lines();
	test_long_lines();
	bb_found_free(&found);
	buf_free(&text);
	buf_free(&written);
	return tap_done();
}
