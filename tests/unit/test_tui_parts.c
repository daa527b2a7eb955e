// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests parts of the live view at their bounds: colours, timeline, command lines, findings. */
#include <locale.h>
#include <math.h>

#include "base/key_values.h"
#include "render/tui/tui_settings.h"
#include "tui_fixture.h"

static void test_colours(void)
{
	static const struct {
		double share;
		enum style style;
	} cases[] = {
		{0, STYLE_GOOD},	{0.4999, STYLE_GOOD}, {0.5, STYLE_ACCENT},
		{0.7999, STYLE_ACCENT}, {0.8, STYLE_WARNING}, {0.9499, STYLE_WARNING},
		{0.95, STYLE_CRITICAL}, {1, STYLE_CRITICAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_u64(share_style(cases[i].share), cases[i].style, "colour of a share");
}

/* Draws a timeline of 100 seconds in a bar of 20 cells, at `now_s`. */
static const char *bar(struct tui_timeline line, uint64_t now_s)
{
	static char cells[32];
	struct view how = {.m = &m, .width = 45};
	const char *at;

	m.last_ns = now_s * SECOND;
	t.timeline = line;
	buf_clear(&frame);
	tui_draw_timeline(&t, &how, &frame);
	at = frame.s + 1;
	snprintf(cells, sizeof(cells), "%.*s", (int)strcspn(at, " "), at);
	return cells;
}

/* Returns the cell of the present time. */
static size_t place(const char *cells)
{
	return strcspn(cells, "#");
}

static void test_timeline(void)
{
	static const struct tui_mark marks[] = {
		{135 * SECOND, MARK_OPENED},   {155 * SECOND, MARK_TRIGGER},
		{155 * SECOND, MARK_CRITICAL}, {165 * SECOND, MARK_CRITICAL},
		{165 * SECOND, MARK_OPENED},   {300 * SECOND, MARK_OPENED}};
	struct tui_timeline line = {.begin_ns = 100 * SECOND, .end_ns = 200 * SECOND};
	size_t cells;

	begin();
	cells = strlen(bar(line, 100));
	ok(cells >= 16 && cells <= 30, "a bar");
	is_u64(place(bar(line, 100)), 0, "the begin is the first cell");
	is_u64(place(bar(line, 90)), 0, "a time before it as well");
	for (uint64_t second = 0; second <= 100; second += 10) {
		const char *is = bar(line, 100 + second);
		size_t here = place(is), all = strlen(is), want = second * all / 100;

		is_u64(here, want < all ? want : all - 1, "a share of the time");
		is_u64(strspn(is, "="), here, "what has passed");
		is_u64(strspn(is + here + 1, "."), all - here - 1, "what was not read yet");
	}
	is_u64(place(bar(line, 199)), strlen(bar(line, 199)) - 1, "the last second");
	is_u64(place(bar(line, 500)), strlen(bar(line, 500)) - 1, "a time behind the end");
	line.read_ns = 150 * SECOND;
	is_u64(strspn(bar(line, 100) + 1, "-"), cells / 2, "what was read, but has not passed");
	line.read_ns = 200 * SECOND;
	is_u64(strspn(bar(line, 100) + 1, "-"), cells - 1, "all was read");
	line.mark = marks;
	line.nr_marks = 6;
	bar(line, 100);
	ok(bar(line, 100)[35 * cells / 100] == 'o', "a finding");
	ok(bar(line, 100)[55 * cells / 100] == '^', "a trigger hides a critical finding");
	ok(bar(line, 100)[65 * cells / 100] == '!', "which hides another one");
	ok(bar(line, 100)[cells - 1] == 'o', "a mark behind the end is in the last cell");
	cells = strlen(bar(line, 135));
	ok(bar(line, 135)[35 * cells / 100] == '#', "the present time hides a mark");
	line.end_ns = line.begin_ns;
	line.nr_marks = 0;
	is_u64(place(bar(line, 150)), 0, "a recording without a length");
	ok(strstr(frame.s, " of 0.0 s"), "which is told");
	t.timeline = (struct tui_timeline){};
	end();
}

/* Returns what the last column shows of a process with this command line. */
static const char *who(const char *command, bool whole, size_t scrolled)
{
	static struct buf shown;
	struct view how = {.m = &m, .findings = &fs, .width = 80};
	struct line l = {.v = &how};
	struct subject s = {.id = {.pid = 1}};
	struct row row = {.s = &s};

	strcpy(s.now.g.comm, "db");
	s.command = (char *)command;
	t.commands = whole;
	tui_put_who(&t, &l, &row, scrolled);
	buf_clear(&shown);
	buf_puts(&shown, l.b.s ? l.b.s : "");
	buf_free(&l.b);
	return shown.s;
}

/* Each key scrolls by eight columns, until twenty are left. */
static void test_who(void)
{
	begin();
	is_str(who("/bin/db -a 1", false, 0), "db  -a 1", "a name, and the arguments");
	is_str(who("/bin/db", false, 0), "db  ", "without arguments");
	is_str(who("/bin/db -a 1", true, 0), "/bin/db -a 1", "or the command line");
	is_str(who("0123456789012345678901234567", true, 1), "<89012345678901234567",
	       "28 columns scroll by eight");
	is_str(who("012345678901234567890123456", true, 1), "<78901234567890123456",
	       "of 27 columns twenty are left");
	is_str(who("01234567890123456789", true, 1), "01234567890123456789",
	       "twenty are not scrolled");
	is_str(who("012345678901234567890", true, 1), "<12345678901234567890", "one more is");
	is_str(who("012345678901234567890123456789012345", true, 2), "<67890123456789012345",
	       "two keys scroll by sixteen");
	end();
}

/* Of the cleared findings, the least severe and then the oldest one goes if there is no room. */
static void test_cleared(void)
{
	struct finding one = {.rule = &rules[0], .fresh = true};
	struct findings now_open = {.f = &one, .n = 1, .room = 1};

	begin();
	for (uint32_t pid = 1; pid <= TUI_CLEARED; pid++) {
		one.subject.pid = pid;
		one.worst = pid == 1 ? SEVERITY_CRITICAL : SEVERITY_WARNING;
		ok(!tui_keep_cleared(&t, &now_open), "kept");
	}
	is_u64(t.cleared.n, TUI_CLEARED, "all have room");
	one.subject.pid = 3;
	tui_keep_cleared(&t, &now_open);
	is_u64(t.cleared.n, TUI_CLEARED, "one that cleared again takes the place of the earlier");
	is_u64(t.cleared.f[TUI_CLEARED - 1].subject.pid, 3, "and is the latest");
	one.subject.pid = 900;
	tui_keep_cleared(&t, &now_open);
	is_u64(t.cleared.n, TUI_CLEARED, "another one needs room");
	is_u64(t.cleared.f[0].subject.pid, 1, "the most severe one stays");
	is_u64(t.cleared.f[1].subject.pid, 4, "the oldest of the others goes");
	t.cleared.f[5].worst = SEVERITY_INFO;
	one.subject.pid = 901;
	tui_keep_cleared(&t, &now_open);
	is_u64(t.cleared.f[1].subject.pid, 4, "or the least severe of them");
	is_u64(t.cleared.f[5].subject.pid, 9, "wherever it is");
	one.subject.pid = 902;
	one.open = true;
	tui_keep_cleared(&t, &now_open);
	one.open = one.fresh = false;
	tui_keep_cleared(&t, &now_open);
	is_u64(t.cleared.f[TUI_CLEARED - 1].subject.pid, 901,
	       "what is open, or cleared before, is not added");
	end();
}

static struct buf wrong;

static void on_used(void *ctx, const struct tui_setting *s, unsigned int line)
{
}

static void on_wrong(void *ctx, const struct tui_wrong_line *line)
{
	buf_puts(&wrong, line->why);
}

/* A message about a line of the settings shows at most 64 bytes of it. */
static void test_long_setting(void)
{
	static const struct tui_reader reader = {on_used, on_wrong, NULL};

	begin();
	for (size_t len = 63; len <= 66; len++) {
		char line[128];

		memset(line, 'k', len);
		line[len] = 0;
		buf_clear(&wrong);
		tui_settings_read(&t, line, &reader);
		is_u64(strcspn(wrong.s, ":"), len < 64 ? len : 64, "bytes that are shown");
		ok(strstr(wrong.s, "k: expected: key = value"), "and what is wrong");
		strcpy(line + len, " = 1");
		buf_clear(&wrong);
		tui_settings_read(&t, line, &reader);
		is_u64(strcspn(wrong.s, ":"), len < 64 ? len : 64, "bytes of a key");
		ok(strstr(wrong.s, "k: no setting has this name"), "that no setting has");
	}
	buf_free(&wrong);
	end();
}

/* A pair that has no room in the line goes to the next one. */
static void test_pairs(void)
{
	for (int width = 12; width <= 14; width++) {
		struct view how = {.m = &m, .width = width};
		struct line l = {.v = &how};
		struct buf b = {};

		tui_put_pair(&l, &b, "abc", "1", 2); /* "abc 1  " and then "de 234" */
		tui_put_pair(&l, &b, "de", "234", 2);
		line_end(&l, &b, STYLE_PLAIN);
		is_str(b.s, width < 13 ? "abc 1\n  de 234\n" : "abc 1  de 234\n", "two pairs");
		buf_free(&b);
	}
}

static void test_fill(void)
{
	for (size_t height = 0; height <= 4; height++) {
		struct buf b = {};

		buf_puts(&b, "head\none\ntwo\n");
		fill_lines(&b, 5, height);
		is_u64(b.len, strlen("head\none\ntwo\n") + (height > 2 ? height - 2 : 0),
		       "empty lines up to the height");
		buf_free(&b);
	}
}

/* Columns that fit beside the name are shown, from the left on. */
static void test_visible(void)
{
	static const struct {
		int width;
		unsigned int aside;
		const char *shown; /* PID, four columns of 7, PROCESS */
	} cases[] = {
		{34, 0, "x....x"}, {41, 0, "x....x"}, {42, 0, "xx...x"}, {49, 0, "xx...x"},
		{50, 0, "xxx..x"}, {58, 0, "xxxx.x"}, {66, 0, "xxxxxx"}, {65, 0, "xxxx.x"},
		{42, 1, "x.x..x"}, {50, 3, "x...xx"}, {50, 4, "x....x"}, {50, 9, "x....x"},
		{30, 0, "x....x"},
	};
	struct columns c = {.n = 6};

	begin();
	c.c[0] = (struct column){.cell = CELL_PID, .width = 8};
	for (int i = 1; i < 5; i++)
		c.c[i] = (struct column){.cell = CELL_FULL, .f = &fields[i], .width = 7};
	c.c[5] = (struct column){.cell = CELL_NAME};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct view how = {.m = &m, .width = cases[i].width};
		bool shown[COLUMNS_MAX];
		char is[8] = "";

		t.aside = cases[i].aside;
		tui_visible(&t, &how, &c, shown);
		for (size_t k = 0; k < c.n; k++)
			strcat(is, shown[k] ? "x" : ".");
		is_str(is, cases[i].shown, "columns that are shown");
		is_u64(tui_scrolled(&t, &c), cases[i].aside > 4 ? cases[i].aside - 4 : 0,
		       "keys that scroll command lines");
	}
	/* the column by which the rows are sorted comes first, if it has room at all */
	t.aside = 0;
	t.sort[0] = (struct tui_sort){true, CELL_FULL, &fields[4]};
	for (int width = 41; width <= 43; width++) {
		struct view how = {.m = &m, .width = width};
		bool shown[COLUMNS_MAX];

		tui_visible(&t, &how, &c, shown);
		ok(shown[4] == (width > 41) && !shown[1], "in %d columns", width);
	}
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_colours();
	test_timeline();
	test_who();
	test_cleared();
	test_long_setting();
	test_pairs();
	test_fill();
	test_visible();
	return tap_done();
}
