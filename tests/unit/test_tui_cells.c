// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests cells and trends of the live view. */
#include <locale.h>

#include "tui_fixture.h"

static void is_spark(double *values, int n, double low, double high, bool unicode, const char *want)
{
	struct view how = {.unicode = unicode};
	struct line l = {.v = &how};

	line_spark(&l, values, n, low, high);
	is_str(l.b.s ? l.b.s : "", want, want);
	buf_free(&l.b);
}

static void test_sparks(void)
{
	double ramp[] = {0, 1, 2, 3, 4, 5, 6, 7}, none[] = {0, 0, 0}, flat[] = {100, 100, 100},
	       slight[] = {500, 1001, 500}, spike[] = {0, 1e6, 1}, out[] = {-5, 99};

	is_spark(ramp, 8, 0, 7, true, "▁▂▃▄▅▆▇█");
	is_spark(ramp, 8, 0, 7, false, "_.:-=+*#");
	is_spark(ramp, 8, 0, 70, true, "▁▂▂▂▂▂▂▂");
	is_spark(none, 3, 0, 0, true, "   ");
	is_spark(flat, 3, 100, 100, true, "───");
	is_spark(flat, 3, 0, 100, false, "---");
	is_spark(slight, 3, 0, 1001, true, "▄█▄");
	is_spark(spike, 3, 0, 1e6, true, "▁█▂");
	is_spark(out, 2, 1, 7, true, "▁█");
}

/* All trends of a column have one scale, and the page of a process has a range and a time axis. */
static void test_trends(void)
{
	begin();
	for (int i = 1; i <= 20; i++) {
		process((struct given){.pid = 10, .comm = "large", .minor = 8000 * i, .fds = 7});
		process((struct given){
			.pid = 11, .comm = "small", .minor = 800 * i + 100 * (i % 2)});
		look();
	}
	ok(strstr(draw(), "TREND≤8,000 "), "the title has the top of the scale");
	ok(strstr(frame.s, "───── ") != NULL, "a constant rate is a flat line");
	char *small = strstr(frame.s, "small"), *line = small;
	while (line[-1] != '\n')
		line--;
	*small = 0;
	ok(strstr(line, "▂") && !strstr(line, "▆"), "a small rate is low on the scale of all");
	press("\r");
	ok(strstr(draw(), "constant  ") && strstr(frame.s, "fds      count "), "a constant value");
	ok(strstr(frame.s, "19 s ago ──") && strstr(frame.s, "── now\n"), "the time axis");
	end();
}

static void is_cell(const char *s, int columns, bool right, const char *want)
{
	struct view how = {.width = 80, .unicode = true};
	struct line l = {.v = &how};

	line_cell(&l, s, columns, right);
	is_str(l.b.s ? l.b.s : "", want, want);
	buf_free(&l.b);
}

static void test_cells(void)
{
	is_cell("ab", 4, true, "  ab");
	is_cell("ab", 4, false, "ab  ");
	is_cell("abcdef", 4, false, "abcd");
	is_cell("漢字", 4, false, "漢字");
	is_cell("漢字", 3, false, "漢 ");
	is_cell("漢字", 3, true, " 漢");
	is_cell("e\xcc\x81te", 3, false, "e\xcc\x81te");
	is_cell("\033[1mabc\033[0m", 2, false, "\033[1mab");
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_sparks();
	test_trends();
	test_cells();
	return tap_done();
}
