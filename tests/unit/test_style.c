// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests lines of text that are fitted to a width: bars, blanks, cut and wrapped text, styles. */
#include <locale.h>

#include "render/style.h"
#include "tap.h"

static void is_text(struct buf *b, const char *want, const char *name)
{
	is_str(b->s ? b->s : "", want, name);
	buf_free(b);
}

static void test_bars(void)
{
	static const struct {
		double share;
		int cells;
		const char *unicode, *plain;
	} bars[] = {
		{-1, 4, "    ", "    "},      {0, 4, "    ", "    "},
		{0.001, 4, "▏   ", "#   "}, /* a share above 0 is seen */
		{0.0625, 4, "▎   ", "#   "},  {0.2499, 4, "▉   ", "#   "},
		{0.25, 4, "█   ", "#   "},    {0.3, 4, "█▏  ", "#   "},
		{0.374, 4, "█▍  ", "#   "},   {0.375, 4, "█▌  ", "##  "},
		{0.40625, 4, "█▋  ", "##  "}, {0.4375, 4, "█▊  ", "##  "},
		{0.99, 4, "███▉", "####"},    {1, 4, "████", "####"},
		{1.5, 4, "████", "####"},
		{7, 4, "████", "####"},	      {1, 1, "█", "#"},
	};

	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++)
		for (int unicode = 0; unicode < 2; unicode++) {
			struct view v = {.width = 80, .unicode = unicode};
			struct line l = {.v = &v};

			line_bar(&l, bars[i].share, bars[i].cells);
			is_text(&l.b, unicode ? bars[i].unicode : bars[i].plain, "a bar");
		}
}

static void test_pad(void)
{
	static const struct {
		int column;
		const char *want;
	} pads[] = {{0, "ab c"}, {2, "ab c"}, {3, "ab c"}, {4, "ab  c"}, {6, "ab    c"}};
	struct view v = {.width = 80};

	for (size_t i = 0; i < sizeof(pads) / sizeof(pads[0]); i++) {
		struct line l = {.v = &v};

		line_printf(&l, "ab");
		line_pad(&l, pads[i].column);
		line_printf(&l, "c");
		is_text(&l.b, pads[i].want, "what follows is at its column, or after one blank");
	}

	struct line l = {.v = &v};

	is_u64(line_columns(&l), 0, "an empty line");
	line_pad(&l, 3);
	is_text(&l.b, "   ", "is all blanks");
	line_printf(&l, "%s=%d", "a\tb", 7);
	is_u64(line_columns(&l), 8, "columns on the screen");
	is_text(&l.b, "a\\x09b=7", "names are safe");
}

/* Sequences of escape take no column, whatever character ends them. */
static void test_escapes(void)
{
	static const struct {
		const char *text;
		int columns;
		const char *cut;
	} cells[] = {
		{"\033[1mab", 1, "\033[1ma"},	   {"\033[1@ab", 1, "\033[1@a"},
		{"\033[1~ab", 1, "\033[1~a"},	   {"\033[38;5;12mab", 2, "\033[38;5;12mab"},
		{"ab\033[0m", 2, "ab\033[0m"},	   {"ab\033[0mc", 2, "ab\033[0m"},
		{"ab\033[0", 2, "ab\033[0"},	   {"\033[mab", 2, "\033[mab"},
		{"漢字\033[0m", 4, "漢字\033[0m"}, {"\303\251\303\251", 1, "\303\251"},
	};
	struct view v = {.width = 80, .unicode = true};

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct line l = {.v = &v};

		line_cell(&l, cells[i].text, cells[i].columns, false);
		is_text(&l.b, cells[i].cut, "a cell with an escape sequence");
	}
}

static const struct {
	int width;
	const char *cut, *wrapped;
} lines[] = {
	{80, "one two three\n", "one two three\n"},
	{13, "one two three\n", "one two three\n"},
	{12, "one two thre\n", "one two\n    three\n"},
	{11, "one two thr\n", "one two\n    three\n"},
	{9, "one two t\n", "one two\n    three\n"},
	{8, "one two\n", "one two\n    thre\n    e\n"},
	{7, "one two\n", "one two\n   thre\n   e\n"},
	{3, "one\n", "one\n tw\n o\n th\n re\n e\n"},
	{1, "o\n", "o\nn\ne\nt\nw\no\nt\nh\nr\ne\ne\n"},
};

static void test_lines(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct view v = {.width = lines[i].width};
		struct line cut = {.v = &v}, wrapped = {.v = &v};
		struct buf b = {};
		char name[40];

		snprintf(name, sizeof(name), "in %d columns", v.width);
		line_printf(&cut, "one two three");
		line_end(&cut, &b, STYLE_PLAIN);
		is_text(&b, lines[i].cut, name);
		line_printf(&wrapped, "one two three");
		line_wrap(&wrapped, &b, STYLE_PLAIN);
		is_text(&b, lines[i].wrapped, name);
	}
}

static void test_wrapped_functions(void)
{
	struct view v = {.width = 12};
	struct line l = {.v = &v};
	struct buf b = {};

	line_printf(&l, "one two three");
	line_wrap_at(&l, &b, STYLE_PLAIN, 2);
	is_text(&b, "one two\n  three\n", "the given indent");
	styled_wrap(&b, &v, STYLE_PLAIN, 6, "%s two %s", "one", "three");
	is_text(&b, "one two\n      three\n", "indented by half of the width");
	styled_wrap(&b, &v, STYLE_PLAIN, 7, "%s two %s", "one", "three");
	is_text(&b, "one two\n      three\n", "and never by more");
	styled_line(&b, &v, STYLE_PLAIN, "%s", "one two three");
	is_text(&b, "one two thre\n", "a line is cut");
	styled_line(&b, &v, STYLE_PLAIN, "%s", "\x1b[2J");
	is_text(&b, "\\x1b[2J\n", "and safe");
	line_wrap(&l, &b, STYLE_PLAIN);
	is_text(&b, "", "an empty line has nothing to wrap");
	v.width = 0;
	styled_wrap(&b, &v, STYLE_PLAIN, 4, "one two");
	is_text(&b, "one two\n", "where not even one character fits, text stays whole");
}

static void test_text_wrapped(void)
{
	/* the least room for a text is 20 columns, which narrower views exceed */
	static const struct {
		int width;
		const char *text, *want;
	} cases[] = {
		{28, "12345678 0123456789 0", "- : 12345678 0123456789 0\n"},
		{25, "12345678 0123456789 0", "- : 12345678 0123456789 0\n"},
		{24, "12345678 0123456789 0", "- : 12345678 0123456789\n    0\n"},
		{23, "12345678 0123456789 0", "- : 12345678 0123456789\n    0\n"},
		{1, "12345678 0123456789 0", "- : 12345678 0123456789\n    0\n"},
		{24, "12345678 012345678901", "- : 12345678\n    012345678901\n"},
		{24, "12345678 01234567890", "- : 12345678 01234567890\n"},
		{24, "123456789012345678901234 5", "- : 123456789012345678901234\n    5\n"},
		{24, "1 123456789012345678901234", "- : 1\n    123456789012345678901234\n"},
		{24, "", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct view v = {.width = cases[i].width};
		struct buf b = {};

		text_wrapped(&b, &v, "- : ", cases[i].text);
		is_text(&b, cases[i].want, cases[i].text);
	}
}

static void test_styles(void)
{
	static const struct {
		enum style style;
		bool colour, light;
		const char *want;
	} cases[] = {
		{STYLE_PLAIN, true, false, "ab\n"},
		{STYLE_BOLD, true, false, "\033[1mab\033[0m\n"},
		{STYLE_BOLD, false, false, "ab\n"},
		{STYLE_DIM, true, true, "\033[2mab\033[0m\n"},
		{STYLE_WARNING, true, false, "\033[1;33mab\033[0m\n"},
		{STYLE_WARNING, true, true, "\033[1;35mab\033[0m\n"},
		{STYLE_CRITICAL, true, false, "\033[1;31mab\033[0m\n"},
		{STYLE_ACCENT, true, false, "\033[36mab\033[0m\n"},
		{STYLE_ACCENT, true, true, "\033[34mab\033[0m\n"},
		{STYLE_GOOD, true, false, "\033[32mab\033[0m\n"},
		{STYLE_SELECTED, false, false, "\033[7mab  \033[0m\n"},
		{STYLE_SELECTED, true, false, "\033[7mab  \033[0m\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct view v = {.width = 4, .colour = cases[i].colour, .light = cases[i].light};
		struct line l = {.v = &v};
		struct buf b = {};

		line_printf(&l, "ab ");
		line_end(&l, &b, cases[i].style);
		is_text(&b, cases[i].want, "blanks at the end are only drawn if they are seen");
	}
	is_u64(severity_style(SEVERITY_CRITICAL), STYLE_CRITICAL, "critical");
	is_u64(severity_style(SEVERITY_WARNING), STYLE_WARNING, "warning");
	is_u64(severity_style(SEVERITY_INFO), STYLE_BOLD, "info");
}

static void test_line_style(void)
{
	struct view v = {.width = 80, .colour = true};
	struct line l = {.v = &v}, flat = {.v = &v, .flat = true};
	struct buf b = {};

	line_style(&l, STYLE_GOOD);
	line_printf(&l, "ab");
	line_end(&l, &b, STYLE_PLAIN);
	is_text(&b, "\033[0m\033[32mab\033[0m\n", "a style within a line ends with the line");
	line_style(&flat, STYLE_GOOD);
	line_printf(&flat, "ab");
	line_end(&flat, &b, STYLE_PLAIN);
	is_text(&b, "ab\n", "a line with one style has no other");
	v.colour = false;
	line_style(&l, STYLE_GOOD);
	line_printf(&l, "ab");
	line_end(&l, &b, STYLE_PLAIN);
	is_text(&b, "ab\n", "nor has one without colour");
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_bars();
	test_pad();
	test_escapes();
	test_lines();
	test_wrapped_functions();
	test_text_wrapped();
	test_styles();
	test_line_style();
	return tap_done();
}
