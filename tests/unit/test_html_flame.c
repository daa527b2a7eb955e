// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the flame graph of an HTML page: which boxes and functions it has, and how large they are.
 */
#include <stdlib.h>

#include "count_text.h"
#include "fixture.h"
#include "render/html/html.h"
#include "render/profile.h"
#include "tap.h"

#define NAMES 64

static struct model m;
static struct history h;
static struct view v = {.m = &m, .width = 80};
static struct story_view s = {.v = &v, .h = &h};
static struct profile_name name[NAMES];
static char names[NAMES][16];
static struct profile_sample *sample;
static struct profile p;
static struct buf text;

/* Begins a profile without samples, whose frames are named n0, n1 and so on. */
static void begin(void)
{
	free(sample);
	sample = calloc(NAMES, sizeof(*sample));
	for (size_t i = 0; i < NAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		name[i] = (struct profile_name){
			.text = names[i], .function = "", .file = "", .module = ""};
	}
	p = (struct profile){.name = name, .names = NAMES, .sample = sample};
}

/* Adds a sample with `n` frames from number `first` on, below the frames of workload and process.
 */
static struct profile_sample *add(uint64_t faults, uint32_t first, uint32_t n)
{
	struct profile_sample *one = &sample[p.samples++];

	one->value[MEASURE_FAULTS] = faults;
	one->frames = PROFILE_OUTER + n;
	one->frame[0] = 0;
	one->frame[1] = 1;
	for (uint32_t i = 0; i < n; i++)
		one->frame[PROFILE_OUTER + i] = (first + i) % NAMES;
	p.total[MEASURE_FAULTS] += faults;
	return one;
}

static const char *drawn(void)
{
	buf_free(&text);
	html_flame(&text, &s, &p);
	return text.s;
}

static bool has_box(const char *of, unsigned int faults, const char *place)
{
	char box[200];

	snprintf(box, sizeof(box), "<title>%s: %u</title><rect class=\"m0\" %s height=\"17\"/>", of,
		 faults, place);
	return strstr(text.s, box);
}

static void test_boxes(void)
{
	begin();
	add(30, 2, 2); /* n2 n3 */
	add(10, 2, 1); /* n2 */
	add(60, 5, 1); /* n5 */
	drawn();
	is_u64(count(text.s, "data-is=\"frame\""), 6, "a box for all, and one for each caller");
	ok(has_box("all", 100, "x=\"0.0\" y=\"0\" width=\"999.5\""), "all faults");
	ok(has_box("n0", 100, "x=\"0.0\" y=\"18\" width=\"999.5\""), "the workload");
	ok(has_box("n1", 100, "x=\"0.0\" y=\"36\" width=\"999.5\""), "the process");
	ok(has_box("n2", 40, "x=\"0.0\" y=\"54\" width=\"399.5\""), "a function of two stacks");
	ok(has_box("n3", 30, "x=\"0.0\" y=\"72\" width=\"299.5\""), "and what it calls");
	ok(has_box("n5", 60, "x=\"400.0\" y=\"54\" width=\"599.5\""), "another one beside it");
	ok(strstr(text.s, "viewBox=\"0 0 1000 90\""), "the height of five rows");
}

/* Equal callers are one box, in whichever order their samples come. */
static void test_order(void)
{
	begin();
	add(60, 5, 1);
	add(40, 2, 1);
	drawn();
	ok(has_box("n2", 40, "x=\"0.0\" y=\"54\" width=\"399.5\"") &&
		   has_box("n5", 60, "x=\"400.0\" y=\"54\" width=\"599.5\""),
	   "boxes are in the order of their names");
	begin();
	for (int i = 0; i < 5; i++)
		add(20, i % 2 ? 2 : 5, 1);
	drawn();
	is_u64(count(text.s, "data-is=\"frame\""), 5, "two functions have two boxes");
	ok(has_box("n2", 40, "x=\"0.0\" y=\"54\" width=\"399.5\""), "with all their faults");
}

/* A box narrower than 1.5 units is not drawn, but takes its place. */
static void test_narrow(void)
{
	for (uint64_t n = 14; n <= 16; n++) {
		char place[64];

		begin();
		add(n, 2, 1);
		add(10000 - n, 3, 1);
		drawn();
		ok(!strstr(text.s, "<title>n2: ") == (n < 15), "a share of %u in 10000",
		   (unsigned int)n);
		snprintf(place, sizeof(place), "x=\"%.1f\" y=\"54\"", n / 10.0);
		ok(strstr(text.s, place), "its place");
	}
}

/* Names are written where a box has room for them. */
static void test_names(void)
{
	for (uint64_t n = 39; n <= 42; n++) {
		begin();
		strcpy(names[2], "abcdefghi");
		add(n, 2, 1);
		add(1000 - n, 3, 1);
		drawn();
		is_u64(count(text.s, ">abcde</text>"), n > 40, "a name cut to its box");
	}
	begin();
	name[2].file = "/src/dir/x.c";
	name[2].line = 7;
	name[2].function = "f";
	add(10, 2, 1);
	drawn();
	ok(strstr(text.s, "<title>n2 in /src/dir/x.c:7: 10</title>"), "a source line is told");
	ok(strstr(text.s, ">f</th>") && strstr(text.s, ">/src/dir/x.c:7</td>"),
	   "also in the table of functions");
	is_str(html_module(&name[2]), "x.c", "the file colours its box");
	name[2].module = "libx.so";
	is_str(html_module(&name[2]), "libx.so", "or the module");
	is_str(html_module(&name[3]), "", "if they are known");
}

/* The graph has forty rows below that of all. */
static void test_depth(void)
{
	for (uint32_t n = 37; n <= 39; n++) {
		char height[64];
		uint32_t rows = PROFILE_OUTER + n < 40 ? PROFILE_OUTER + n : 40;

		begin();
		add(5, 2, n);
		drawn();
		is_u64(count(text.s, "data-is=\"frame\""), 1 + rows, "boxes");
		snprintf(height, sizeof(height), "viewBox=\"0 0 1000 %u\"", (rows + 1) * 18);
		ok(strstr(text.s, height), "and the height of the graph");
	}
}

/* The table has forty functions: those with most of their own, then with most in all. */
static void test_functions(void)
{
	begin();
	add(10, 2, 2); /* n3 has 10 of its own */
	add(10, 4, 1); /* n4 as well */
	add(30, 4, 2); /* n5 has 30 */
	drawn();
	is_u64(count(text.s, "data-is=\"self\""), 4, "functions");
	ok(strstr(text.s, ">n5</th>") < strstr(text.s, ">n4</th>") &&
		   strstr(text.s, ">n4</th>") < strstr(text.s, ">n3</th>") &&
		   strstr(text.s, ">n3</th>") < strstr(text.s, ">n2</th>"),
	   "in their order");
	ok(strstr(text.s, ">n4</th><td class=\"n\" data-is=\"self\">10</td><td class=\"n\" "
			  "data-is=\"total\">40</td>"),
	   "a function has the faults of those that it calls");
	begin();
	add(7, 2, 2)->frame[PROFILE_OUTER + 1] = 2; /* n2 calls itself */
	drawn();
	ok(strstr(text.s, ">n2</th><td class=\"n\" data-is=\"self\">7</td><td class=\"n\" "
			  "data-is=\"total\">7</td>"),
	   "recursion counts once");
	for (uint32_t n = 39; n <= 41; n++) {
		begin();
		for (uint32_t i = 0; i < n; i++)
			add(5, 2 + i, 1);
		is_u64(count(drawn(), "data-is=\"self\""), n < 40 ? n : 40, "functions");
	}
}

static void test_measures(void)
{
	begin();
	drawn();
	ok(strstr(text.s, "Nothing to show"), "no sample, no graph");
	ok(!strstr(text.s, "<svg"), "and no drawing");
	add(10, 2, 1)->value[MEASURE_STALL] = 2000000;
	p.total[MEASURE_STALL] = 2000000;
	drawn();
	is_u64(count(text.s, "<option "), 2, "each measure that has values");
	ok(strstr(text.s, "<option value=\"0\" selected>page faults<"), "the first is shown");
	p.total[MEASURE_FAULTS] = 0;
	drawn();
	ok(strstr(text.s, "<option value=\"1\" selected>") && strstr(text.s, ": 2.00 ms</title>"),
	   "or the next one, in its unit");
	ok(!profile_has(&p, MEASURE_MEMORY) && !profile_has(&p, MEASURE_MEMORY_GROWTH) &&
		   profile_has(&p, MEASURE_FDS),
	   "few recordings have memory");
	p.total[MEASURE_MEMORY] = 1;
	ok(profile_first_measure(&p) == MEASURE_MEMORY && profile_has(&p, MEASURE_MEMORY_GROWTH),
	   "which comes first");
	p.total[MEASURE_MEMORY] = 0;
	ok(!strstr(text.s, "left:stacks"), "all stacks are there");
	p.left_out = 3;
	ok(strstr(drawn(), "<span data-is=\"left:stacks\">3</span> stacks beyond"), "or not");
}

int main(void)
{
	test_boxes();
	test_order();
	test_narrow();
	test_names();
	test_depth();
	test_functions();
	test_measures();
	buf_free(&text);
	free(sample);
	return tap_done();
}
