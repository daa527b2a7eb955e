// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests parts of HTML pages at their bounds: numbers, stacks, colours, times, and address rows. */
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "model/samples.h"
#include "render/html/address_map.h"
#include "render/html/html.h"
#include "tap.h"

static struct model m;
static struct history h;
static struct view v = {.m = &m, .width = 80};
static struct story_view s = {.v = &v, .h = &h};
static struct samples samples;
static struct buf text;

static void is_html(const char *want, const char *name)
{
	is_str(text.s ? text.s : "", want, name);
	buf_free(&text);
}

static void test_numbers(void)
{
	static const struct {
		double at;
		const char *text;
	} places[] = {
		{0, "M0"},    {1, "M1"},	{1.04, "M1"},	   {1.06, "M1.1"},
		{0.04, "M0"}, {-0.04, "M0"},	{-0.06, "M-0.1"},  {-1, "M-1"},
		{10, "M10"},  {100.05, "M100"}, {132.5, "M132.5"}, {1e6, "M1000000"},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		html_at(&text, "M", places[i].at);
		is_html(places[i].text, "a coordinate");
	}
	html_value(&text, "x", 12480, "12,480");
	is_html("<span data-is=\"x\">12,480</span>", "a text with all digits is the value");
	html_value(&text, "x", 12481, "12,480");
	is_html("<span data-is=\"x\" data-v=\"12481\">12,480</span>", "a rounded one is not");
	html_value(&text, "x", 9, "9");
	is_html("<span data-is=\"x\">9</span>", "one digit");
	html_value(&text, "x", 0, "");
	is_html("<span data-is=\"x\" data-v=\"0\"></span>", "no text has no digits");
	html_value(&text, "x", 5, "5/");
	is_html("<span data-is=\"x\" data-v=\"5\">5/</span>", "other characters");
	html_value(&text, "x", 5, "5:");
	is_html("<span data-is=\"x\" data-v=\"5\">5:</span>", "are no digits");
	html_cell(&text, NULL, 7, "7");
	is_html("<td>7</td>", "a cell whose source its column names");
	html_cell(&text, "y", 7.5, "7.5");
	is_html("<td class=\"n\" data-is=\"y\" data-v=\"7.5\">7.5</td>", "or itself");
	html_note(&text, "z", 3, " more");
	is_html("<p class=\"note\"><span data-is=\"z\">3</span> more</p>\n", "a note");
	html_bar(&text, 1, 4);
	ok(strstr(text.s, "<rect width=\"25.0\""), "a bar");
	buf_free(&text);
	html_bar(&text, 0, 0);
	ok(strstr(text.s, "<rect width=\"0.0\""), "of nothing");
	buf_free(&text);
}

/* Colours from 1 to 7 tell small numbers from large ones; 0 has none. */
static void test_levels(void)
{
	static const struct {
		uint64_t n, most;
		int level;
	} levels[] = {
		{0, 0, 0},     {0, 127, 0},   {1, 1, 7},	  {1, 0, 7},	{2, 2, 7},
		{1, 127, 1},   {2, 127, 2},   {3, 127, 2},	  {4, 127, 3},	{7, 127, 3},
		{8, 127, 4},   {31, 127, 5},  {32, 127, 6},	  {63, 127, 6}, {64, 127, 7},
		{127, 127, 7}, {200, 127, 7}, {1, 1000000000, 1},
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		int level = html_level(levels[i].n, levels[i].most);

		if (!ok(level == levels[i].level, "%u of %u", (unsigned int)levels[i].n,
			(unsigned int)levels[i].most))
			printf("#   got %d\n", level);
	}
	is_u64(html_module_colour("", 0), 0, "no module");
	is_u64(html_module_colour("a", 1), 1 + 'a' % HTML_MODULES, "a module");
	is_u64(html_module_colour("ab", 2), 1 + ('a' * 31 + 'b') % HTML_MODULES, "of two letters");
	is_u64(html_module_colour("ab", 1), html_module_colour("a", 1), "within its length");
	is_u64(html_module_colour("\377", 1), 1 + 0xff % HTML_MODULES, "bytes above 127");
}

static void test_stacks(void)
{
	html_stack_text(&text, NULL, 9);
	is_html("<span class=\"dim\">stack not known</span>", "no stack");
	html_stack_text(&text, "", 9);
	is_html("<span class=\"dim\">stack not known</span>", "an empty one");
	html_stack_text(&text, "a\nb<\nc", 3);
	is_html("<ol class=\"stack\"><li>a</li><li>b&lt;</li><li>c</li></ol>", "each frame");
	html_stack_text(&text, "a\nb\nc\n", 2);
	is_html("<ol class=\"stack\"><li>a</li><li>b</li></ol>", "at most so many");
	html_lines(&text, "a\n\nb<");
	is_html("a\n\nb&lt;\n", "lines of a text");
	html_lines(&text, NULL);
	is_html("", "no text");
}

static void test_frames(void)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);
	const struct frames *f;

	if (model_init(&m))
		abort();
	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.stack = 1;
	strcpy(r.text, "f1\nf2\nf3");
	model_take(&m, &r.h);
	f = model_frames(&m, &r.subject, 1);
	for (size_t most = 1; most <= 4; most++) {
		html_stack(&text, f, most);
		is_u64(count(text.s, "<li"), most < 3 ? most : 3, "frames");
		buf_free(&text);
	}
	html_stack(&text, NULL, 3);
	is_html("<span class=\"dim\">stack not known</span>", "no stack");
	model_free(&m);
}

/* Times are on the axis from the first scan to the last. */
static void test_axis(void)
{
	struct history_point point[1] = {{.from_ns = 10 * SECOND, .to_ns = 20 * SECOND}};

	memset(&m, 0, sizeof(m));
	m.first_ns = m.origin_ns = 10 * SECOND;
	m.last_ns = 20 * SECOND;
	h = (struct history){.point = point, .points = 1, .last_ns = 20 * SECOND};
	ok(html_x(&s, 10 * SECOND) == HTML_LEFT, "the begin");
	ok(html_x(&s, 9 * SECOND) == HTML_LEFT, "a time before it");
	ok(html_x(&s, 20 * SECOND) == HTML_RIGHT, "the end");
	ok(html_x(&s, 21 * SECOND) == HTML_RIGHT, "a time behind it");
	ok(html_x(&s, 15 * SECOND) == (HTML_LEFT + HTML_RIGHT) / 2, "the middle");
}

static void test_clock(void)
{
	is_str(html_clock(&s, 12 * SECOND, 1000).s, "2.000 s", "without a clock: since the begin");
	html_axis_between(&text, &s, 5, 10 * SECOND, 10 * SECOND);
	is_u64(count(text.s, "<text"), 1, "no span has one tick");
	buf_free(&text);
	html_axis_between(&text, &s, 5, 10 * SECOND, 20 * SECOND);
	ok(strstr(text.s, ">0 s</text>") && strstr(text.s, ">10 s</text>"),
	   "an axis has ticks at both ends");
	ok(strstr(text.s, "text-anchor=\"start\">0 s<") && strstr(text.s, "\"end\">10 s<") &&
		   strstr(text.s, "\"middle\">4 s<"),
	   "whose texts are within the page");
	buf_free(&text);
}

static void test_latency(void)
{
	h = (struct history){};
	html_latency(&text, &s);
	ok(strstr(text.s, "Not measured: latency"), "no values");
	buf_free(&text);
	h.latency[0][3] = 5;
	html_latency(&text, &s);
	is_u64(count(text.s, "class=\"label\""), 1, "one bucket with values is one row");
	is_u64(count(text.s, "data-is=\"decade\""), 1, "and 5 faults have one power of ten");
	ok(strstr(text.s, "data-is=\"bucket:minor:3\""), "that of the bucket");
	buf_free(&text);
	h.latency[1][6] = 10;
	html_latency(&text, &s);
	is_u64(count(text.s, "class=\"label\""), 4, "rows from the first to the last");
	is_u64(count(text.s, "data-is=\"decade\""), 2, "10 faults have two powers of ten");
	ok(strstr(text.s, "data-is=\"bucket:major:6\""), "major ones too");
	buf_free(&text);
	h.latency[1][0] = 1;
	h.latency[0][NR_LATENCY - 1] = 999999;
	html_latency(&text, &s);
	is_u64(count(text.s, "class=\"label\""), NR_LATENCY, "all buckets");
	is_u64(count(text.s, "data-is=\"decade\""), 6, "six powers of ten");
	ok(strstr(text.s, ">&lt; ") && count(text.s, ">from ") == 1, "the last one has no end");
	buf_free(&text);
	h.latency[0][NR_LATENCY - 1] = 1000000;
	html_latency(&text, &s);
	is_u64(count(text.s, "data-is=\"decade\""), 4, "from a million on: 1, 100, 10,000, …");
	buf_free(&text);
	h = (struct history){};
}

static void fault(uint64_t t_s, uint64_t area, uint64_t pages, uint64_t page, const char *file)
{
	struct sample_record r = sample_record(10, 1, t_s * SECOND, 1);

	r.area_from = area;
	r.area_to = area + pages * 4096;
	r.address = area + page * 4096; /* the first byte of a page */
	snprintf(r.file, sizeof(r.file), "%s", file);
	model_take(&m, &r.h);
}

static void begin_map(void)
{
	struct tick_record t = tick_record(SECOND);

	if (model_init(&m) || history_init(&h))
		abort();
	m.samples = &samples;
	model_take(&m, &t.h);
	history_add_scan(&h, &m);
}

static void end_map(struct address_map *map)
{
	addresses_free(map);
	samples_free(&samples);
	history_free(&h);
	model_free(&m);
}

/* An area has at most twelve rows, each with a power of two of pages. */
static void test_address_rows(void)
{
	static const struct {
		uint64_t last; /* number of the last page that was touched */
		size_t rows;
		uint64_t pages; /* of a row */
	} cases[] = {{0, 1, 1},	 {1, 2, 1},   {10, 11, 1}, {11, 12, 1},
		     {12, 7, 2}, {23, 12, 2}, {24, 7, 4}};
	static struct address_map map;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_map();
		fault(1, 0x10000, 100, 0, "data");
		fault(1, 0x10000, 100, cases[i].last, "data");
		ok(!addresses_make(&map, &s), "a map");
		is_u64(map.areas, 1, "of one area");
		is_u64(map.rows, cases[i].rows, "rows");
		is_u64(map.row[0].to - map.row[0].from, cases[i].pages * 4096, "bytes of a row");
		is_u64(map.area[0].from, 0x10000, "from the first page that was touched");
		is_u64(map.area[0].to, 0x10000 + cases[i].rows * cases[i].pages * 4096,
		       "to the end of the last row");
		is_u64(map.row[0].faults + map.row[map.rows - 1].faults, cases[i].rows > 1 ? 2 : 4,
		       "both faults are in a row");
		ok(map.faults == 2 && !map.elsewhere, "and counted");
		end_map(&map);
	}
}

/* Mappings of one name that touch or overlap are one area. */
static void test_address_areas(void)
{
	static struct address_map map;

	for (int gap = 0; gap < 2; gap++) {
		begin_map();
		fault(1, 0x10000, 2, 0, "data");
		fault(1, 0x10000 + (2 + gap) * 4096, 2, 1, "data");
		ok(!addresses_make(&map, &s), "a map");
		is_u64(map.areas, gap ? 2 : 1, "areas");
		is_u64(map.area[0].from, 0x10000, "equal ones in the order of addresses");
		end_map(&map);
	}
	for (uint64_t n = ADDRESS_AREAS_MAX - 1; n <= ADDRESS_AREAS_MAX + 1; n++) {
		begin_map();
		for (uint64_t i = 0; i < n; i++)
			for (uint64_t k = 0; k <= i; k++)
				fault(1, 0x10000 * (1 + i), 2, k % 2, i % 2 ? "odd" : "even");
		ok(!addresses_make(&map, &s), "a map");
		is_u64(map.areas, n < ADDRESS_AREAS_MAX ? n : ADDRESS_AREAS_MAX, "areas");
		is_u64(map.area[0].faults, n, "the one with most faults first");
		is_u64(map.elsewhere, n > ADDRESS_AREAS_MAX, "the one with fewest is left out");
		is_u64(map.faults, n * (n + 1) / 2, "but all faults are counted");
		end_map(&map);
	}
	begin_map();
	ok(!addresses_make(&map, &s) && !map.areas, "no sample, no area");
	end_map(&map);
}

int main(void)
{
	test_numbers();
	test_levels();
	test_stacks();
	test_frames();
	test_axis();
	test_clock();
	test_latency();
	test_address_rows();
	test_address_areas();
	return tap_done();
}
