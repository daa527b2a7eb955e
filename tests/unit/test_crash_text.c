// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how many suspects, precursors and notes the text about a crash shows, and which addresses
 * it tells. The tests read a log, and then change single facts of the verdict.
 */
#include "count_text.h"
#include "crash_of_log.h"
#include "render/crash/crash_view.h"
#include "tap.h"

static const struct buf no_gaps;
static struct view v = {.width = 160};
static struct triage_view tv = {.v = &v, .gaps = &no_gaps};
static struct buf text;

static void begin(void)
{
	read_crash("x", "");
}

static void end(void)
{
	triage_free(&t);
	buf_free(&text);
}

static const char *shown(void)
{
	buf_free(&text);
	triage_text(&text, &tv, &t);
	return text.s;
}

static void test_suspects(void)
{
	begin();
	for (uint32_t n = 1; n <= 4; n++) {
		crash->suspects = n;
		crash->culprit_unknown = false;
		for (uint32_t i = 0; i < n; i++)
			crash->suspect[i] =
				(struct suspect){.module = str_of("modx"), .points = 10 - (int)i};
		shown();
		is_u64(count(text.s, "   = suspect: "), 1, "the first suspect");
		is_u64(count(text.s, "   = or: "), n < 3 ? n - 1 : 2, "and two others at most");
		ok(strstr(text.s, "suspect:  modx (10):"), "its points");
	}
	crash->culprit_unknown = true;
	ok(strstr(shown(), "= suspect: ") && strstr(text.s, "nothing in the log points to one") &&
		   count(text.s, "= perhaps: ") == 1,
	   "if none stands out, this is told");
	crash->suspect[0].cut = true;
	ok(strstr(shown(), "modx... (name cut off in the log) (10)"), "a name that was cut");
	end();
}

static void test_base(void)
{
	static const struct {
		uint64_t base;
		int64_t offset;
		const char *plain;
		bool redacted; /* whether a redacted text tells it */
	} cases[] = {
		{0, 16, ": RAX held 0x0, plus 0x10", true},
		{4095, 1, ": RAX held 0xfff, plus 0x1", true},
		{4096, 0, ": RAX held 0x1000, plus 0x0", false},
		{0xffff888000000000, -8, ": RAX held 0xffff888000000000, minus 0x8", false},
		{8, INT64_MIN, ": RAX held 0x8, minus 0x8000000000000000", true},
	};

	begin();
	crash->has_base = true;
	strcpy(crash->base_register, "RAX");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		crash->base = cases[i].base;
		crash->offset = cases[i].offset;
		ok(strstr(shown(), cases[i].plain), "%s", cases[i].plain);
		tv.redact = true;
		ok(!strstr(shown(), cases[i].plain) == !cases[i].redacted,
		   "redacted, only small numbers are told");
		tv.redact = false;
	}
	crash->has_base = false;
	ok(!strstr(shown(), " held 0x"), "a pointer that is not known");
	crash->has_address = true;
	crash->address = 0x1234;
	crash->region = REGION_NULL;
	tv.redact = true;
	ok(strstr(shown(), " at 0x1234 ("), "an address near 0 tells no secret");
	crash->region = REGION_UNKNOWN;
	ok(strstr(shown(), " at an address\n"), "others are redacted");
	tv.redact = false;
	ok(strstr(shown(), " at 0x1234\n"), "else told");
	crash->size = 1;
	ok(strstr(shown(), " of 1 byte at "), "one byte");
	crash->size = 8;
	ok(strstr(shown(), " of 8 bytes at "), "eight bytes");
	end();
}

/* Of the reports before the crash, the last three are shown. */
static void test_precursors(void)
{
	begin();
	for (uint32_t n = 0; n <= 5; n++) {
		crash->precursors = n;
		for (uint32_t i = 0; i < n; i++)
			crash->precursor[i] =
				(struct precursor){.event = 0, .timed = i > 0, .before = 1.5 + i};
		shown();
		is_u64(count(text.s, "   = before: "), n < 3 ? n : 3, "reports before the crash");
		if (n == 4)
			ok(strstr(text.s, "2.5 s: ") && strstr(text.s, "4.5 s: ") &&
				   !strstr(text.s, "1.5 s: "),
			   "the last ones");
	}
	ok(strstr(text.s, " s: warning, line 2: WARNING: CPU: 1 PID: 816 at "), "and where");
	crash->consequences = 0;
	ok(!strstr(shown(), "= after: "), "nothing came after the crash");
	crash->consequences = 1;
	ok(strstr(shown(), "1 report caused by this crash, from line "), "one report did");
	crash->consequences = 2;
	ok(strstr(shown(), "2 reports caused by this crash, from line "), "two reports did");
	end();
}

/* Of the flight recorder's notes, the last six are shown. */
static void test_notes(void)
{
	begin();
	for (uint32_t n = 0; n <= 8; n++) {
		t.recorded.notes = n;
		for (uint32_t i = 0; i < n; i++) {
			t.recorded.note[i].before = n - i;
			snprintf(t.recorded.note[i].text, sizeof(t.recorded.note[i].text), "note%u",
				 i);
		}
		shown();
		is_u64(count(text.s, "   = recorded: "), n < 6 ? n : 6, "notes");
		ok(n <= 6 || !strstr(text.s, "note0"), "the oldest ones are left out");
	}
	ok(strstr(text.s, "1.000 s before: note7"), "with their time");
	t.recorded.note[7].before = 0;
	ok(strstr(shown(), "0.000 s before: note7"), "at the crash");
	t.recorded.note[7].before = -0.25;
	ok(strstr(shown(), "0.250 s after: note7"), "or after it");
	strcpy(t.recorded.registers, "rax=1");
	ok(!strstr(shown(), "rax=1"), "registers are only shown");
	tv.explain = true;
	ok(strstr(shown(), "rax=1"), "if asked for");
	tv.redact = true;
	ok(!strstr(shown(), "rax=1"), "and not if redacted");
	tv.redact = tv.explain = false;
	end();
}

/* The last line tells how much was read, and what was not. */
static void test_losses(void)
{
	begin();
	ok(strstr(shown(), "\n13 lines read\n"), "all was read");
	t.lines.lost_bytes = 1;
	t.lines.lost_lines = 2;
	ok(strstr(shown(), "13 lines read, 1 byte and 2 lines left out\n"), "what was left out");
	t.lines.lost_bytes = 0;
	t.lines.lost_lines = 1;
	ok(strstr(shown(), "13 lines read, 0 bytes and 1 line left out\n"), "only lines");
	t.lines.lost_lines = 0;
	t.lines.dropped = 1;
	ok(strstr(shown(), "read, the kernel dropped messages 1 time\n"), "by the kernel");
	t.lines.dropped = 2;
	ok(strstr(shown(), "read, the kernel dropped messages 2 times\n"), "twice");
	t.lines.dropped = 0;
	t.seen.lost = 1;
	t.lost_verdicts = 1;
	ok(strstr(shown(), "read, 2 more reports not analysed\n"), "reports without room");
	t.seen.lost = 0;
	ok(strstr(shown(), "read, 1 more report not analysed\n"), "one");
	t.lost_verdicts = 0;
	t.seen.unknown = 1;
	t.seen.unknown_line = 2;
	ok(strstr(shown(), "1 line looks like a crash but matches no rule (first: line 3)\n"),
	   "a line that no rule matches");
	t.seen.unknown = 2;
	ok(strstr(shown(), "2 lines look like a crash but match no rule (first: line 3)\n"),
	   "two lines");
	t.seen.unknown = 0;
	end();
}

static void test_no_crash(void)
{
	struct buf gaps = {};

	begin();
	is_str(triage_no_crash(&tv, &t), "no crash found", "all was read");
	t.recorded.fatal = true;
	is_str(triage_no_crash(&tv, &t),
	       "no crash in the log, but the flight recorder has a fatal fault", "not in the log");
	t.recorded.fatal = false;
	buf_puts(&gaps, "a line is cut");
	tv.gaps = &gaps;
	is_str(triage_no_crash(&tv, &t),
	       "no crash in the part that was read, but the result is incomplete", "only in part");
	tv.gaps = &no_gaps;
	buf_free(&gaps);
	end();
}

int main(void)
{
	test_suspects();
	test_base();
	test_precursors();
	test_notes();
	test_losses();
	test_no_crash();
	return tap_done();
}
