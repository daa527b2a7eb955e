// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests when a value counts as cyclic, and when its peaks count as growing. */
#include "model/cycles.h"
#include "tap.h"

#define SECOND 1000000000ULL

/* Adds one value per second, from second `from_s` on. */
static void add(struct cycles *c, uint64_t from_s, const uint64_t *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cycles_add(c, (from_s + i) * SECOND, value[i]);
}

#define ADD(c, from_s, ...)                                                                        \
	add(c, from_s, (const uint64_t[]){__VA_ARGS__},                                            \
	    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A rise ends with a fall by 1/16 of the peak, but by 2 at least. */
static void test_fall(void)
{
	static const struct {
		uint64_t peak, ends, goes_on;
	} rows[] = {{160, 150, 151}, {175, 165, 166}, {176, 165, 166}, {20, 18, 19},
		    {31, 29, 30},    {32, 30, 31},    {48, 45, 46},    {2, 0, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cycles c = {};

		ADD(&c, 1, 1, rows[i].peak, rows[i].goes_on);
		ok(!c.n && !c.falling && c.top == rows[i].peak, "from %d to %d: the rise goes on",
		   (int)rows[i].peak, (int)rows[i].goes_on);
		ADD(&c, 4, rows[i].ends);
		ok(c.n == 1 && c.falling, "to %d: it has ended", (int)rows[i].ends);
		ok(c.cycle[0].peak == rows[i].peak && c.cycle[0].peak_ns == 2 * SECOND &&
			   c.cycle[0].low == rows[i].ends && c.cycle[0].low_ns == 4 * SECOND,
		   "with its peak and its low");
		is_u64(c.cycle[0].step, rows[i].peak - 1, "and its largest step");
	}
}

/* A fall ends with a rise by as much. */
static void test_rise(void)
{
	struct cycles c = {};

	ADD(&c, 1, 100, 160, 160, 120);
	is_u64(c.cycle[0].peak_ns, 2 * SECOND, "the first time of a peak");
	ADD(&c, 5, 101, 101, 110);
	ok(c.falling && c.cycle[0].low == 101, "by less: still falling");
	is_u64(c.cycle[0].low_ns, 6 * SECOND, "the last time of a low");
	is_u64(c.step, 9, "a step of the rise that begins");
	ADD(&c, 8, 111);
	ok(!c.falling && c.top == 111 && c.top_ns == 8 * SECOND && c.since_ns == 6 * SECOND,
	   "by 10 of 160: it rises, since the low");
	ADD(&c, 9, 117, 121);
	ok(c.top == 121 && c.top_ns == 10 * SECOND && c.n == 1, "and goes on");
	is_u64(c.step, 9, "the largest step stays");
	ADD(&c, 11, 131, 100);
	ok(c.n == 2 && c.cycle[1].peak == 131 && c.cycle[1].step == 10, "up to the next peak");
	is_u64(c.step, 0, "and steps begin anew");
	is_u64(cycles_deepest(&c), 59, "the deepest fall, of the first cycle");
	ADD(&c, 13, 71);
	is_u64(cycles_deepest(&c), 60, "or of the second one");
}

static void test_kept(void)
{
	struct cycles c = {};

	is_u64(cycles_deepest(&c), 0, "no cycle has no fall");
	for (uint64_t i = 0; i < CYCLES_KEPT; i++)
		ADD(&c, 1 + 2 * i, 1000 + i, 500);
	ok(c.n == CYCLES_KEPT && c.cycle[0].peak == 1000, "as many cycles as there is room for");
	ADD(&c, 50, 2000, 500);
	ok(c.n == CYCLES_KEPT && c.cycle[0].peak == 1001 && c.cycle[CYCLES_KEPT - 1].peak == 2000 &&
		   c.cycle[CYCLES_KEPT - 2].peak == 1000 + CYCLES_KEPT - 1,
	   "one more, without the oldest");
}

/* Sets `n` cycles with peaks every 10 s, the first one at 100 s. */
static struct cycles made(uint32_t n, const uint64_t *peak, const uint64_t *low)
{
	struct cycles c = {.n = n, .begun = true};

	for (uint32_t i = 0; i < n; i++) {
		c.cycle[i].peak_ns = (100 + 10 * i) * SECOND;
		c.cycle[i].peak = peak[i];
		c.cycle[i].low_ns = (105 + 10 * i) * SECOND;
		c.cycle[i].low = low[i];
	}
	return c;
}

static void test_goes_on(void)
{
	const uint64_t peak[] = {500, 900, 700}, low[] = {100, 100, 100};
	struct cycles one = made(1, peak, low), c = made(3, peak, low);
	struct cycles two = made(2, peak, low);

	ok(cycles_period(&one) == 0 && !cycles_go_on(&one, 100 * SECOND) &&
		   cycles_high(&one, 100 * SECOND) == 0,
	   "one peak is no cycle");
	ok(cycles_period(&two) == 10 && cycles_go_on(&two, 111 * SECOND) &&
		   cycles_high(&two, 111 * SECOND) == 900,
	   "two are");
	ok(cycles_period(&c) == 10, "the mean time between peaks");
	ok(cycles_go_on(&c, 150 * SECOND - 1), "within three periods of the last peak");
	ok(!cycles_go_on(&c, 150 * SECOND), "and not after that");
	is_u64(cycles_high(&c, 170 * SECOND - 1), 900, "the highest peak, for a minute at least");
	is_u64(cycles_high(&c, 170 * SECOND), 700, "then the highest of the later ones");
	is_u64(cycles_high(&c, 180 * SECOND - 1), 700, "up to the last one");
	is_u64(cycles_high(&c, 180 * SECOND), 0, "and none after that");
	for (int i = 0; i < 3; i++)
		c.cycle[i].peak_ns = (1000 + 30 * i) * SECOND;
	is_u64(cycles_high(&c, 1120 * SECOND - 1), 900, "for three periods if they are longer");
	is_u64(cycles_high(&c, 1120 * SECOND), 700, "and no longer");
}

static void test_left_behind(void)
{
	const uint64_t peak[] = {500, 600}, low[] = {300, 200};
	struct cycles c = made(2, peak, low), none = {.top = 100};

	c.top = 1001;
	c.since_ns = 200 * SECOND;
	ok(cycles_left_behind(&c, 230 * SECOND + 1), "a rise that is higher and longer");
	ok(!cycles_left_behind(&c, 230 * SECOND), "not longer than three periods");
	c.top = 1000;
	ok(!cycles_left_behind(&c, 300 * SECOND), "not higher than the swing from low to high");
	c.top = 1001;
	c.falling = true;
	ok(!cycles_left_behind(&c, 300 * SECOND), "it fell again");
	ok(!cycles_left_behind(&none, 300 * SECOND), "no cycle is left behind");
	c.falling = false;
	c.top = 550;
	ok(!cycles_left_behind(&c, 300 * SECOND), "a rise below the highest peak");
}

/* Returns the trend of peaks and lows that grow by the same number each. */
static struct peak_trend trend_of(uint32_t n, uint64_t each, uint64_t low_each)
{
	uint64_t peak[CYCLES_KEPT], low[CYCLES_KEPT];
	struct cycles c;

	for (uint32_t i = 0; i < n; i++) {
		peak[i] = 1000 + i * each;
		low[i] = 100 + i * low_each;
	}
	c = made(n, peak, low);
	return cycles_trend(&c, c.cycle[n - 1].peak_ns);
}

/* Peaks are whole numbers: growth by half a unit cannot be told from an error of measurement. */
static void test_clear(void)
{
	static const struct {
		uint32_t n;
		uint64_t each;
		bool known, sure;
	} rows[] = {
		{2, 100, false, false}, {3, 7, false, false}, {3, 8, true, false},
		{3, 100, true, false},	{4, 1, false, false}, {4, 2, true, true},
		{5, 0, false, false},	{5, 1, true, false},  {5, 2, true, true},
		{8, 1, true, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct peak_trend t = trend_of(rows[i].n, rows[i].each, rows[i].each);

		ok(t.known == rows[i].known && t.sure == rows[i].sure,
		   "%d peaks that grow by %d: %s", (int)rows[i].n, (int)rows[i].each,
		   rows[i].sure	   ? "sure"
		   : rows[i].known ? "known"
				   : "not clear");
		is_u64(t.peaks, rows[i].n, "the number of peaks");
	}
}

static void test_values(void)
{
	struct peak_trend t = trend_of(4, 20, 20);

	ok(t.per_second == 2 && t.now == 1060, "two a second, and the value now");
	ok(t.span == 30 && t.middle == 15 && t.period == 10, "the times");
	ok(t.scatter > 0.7071 && t.scatter < 0.7072, "the least scatter of whole numbers");
	ok(t.error > 0.03162 && t.error < 0.03163, "and the error of the slope");
}

static void test_lows(void)
{
	const uint64_t peak[] = {1000, 1030, 1060, 1090};
	struct cycles c, once = made(3, peak, (const uint64_t[]){100, 130, 160});
	struct cycles eight =
		made(8, (const uint64_t[]){1000, 1100, 1200, 1300, 1301, 1500, 1600, 1700},
		     (const uint64_t[]){100, 200, 300, 400, 500, 600, 700, 800});

	ok(trend_of(4, 30, 10).known, "lows that grow by a third of what peaks do");
	ok(!trend_of(4, 30, 9).known, "and by less");
	c = made(4, peak, (const uint64_t[]){100, 120, 140, 140});
	ok(cycles_trend(&c, 130 * SECOND).known, "the last low may be as the one before");
	c = made(4, peak, (const uint64_t[]){100, 120, 120, 160});
	ok(!cycles_trend(&c, 130 * SECOND).known, "an earlier one may not");
	c = made(4, peak, (const uint64_t[]){100, 130, 160, 20});
	ok(!cycles_trend(&c, 130 * SECOND).known, "lows that fall");
	c.falling = true;
	ok(cycles_trend(&c, 130 * SECOND).known, "while the value falls, the last one is open");
	ok(cycles_trend(&eight, 170 * SECOND).known, "eight peaks, of which one grew by little");
	eight.cycle[4].peak--;
	ok(!cycles_trend(&eight, 170 * SECOND).known, "a peak as high as the one before");
	for (int i = 0; i < 3; i++)
		once.cycle[i].peak_ns = 100 * SECOND;
	ok(!cycles_trend(&once, 130 * SECOND).known, "peaks of one moment have no slope");
}

/* A scan may miss a peak by one step of a fast rise: peaks must grow by more than 1.5 steps. */
static void test_steps(void)
{
	const uint64_t peak[] = {1000, 1020, 1040, 1060}, low[] = {100, 120, 140, 160};

	for (uint32_t i = 0; i < 4; i++) {
		struct cycles c = made(4, peak, low);

		c.cycle[i].step = 40;
		ok(!cycles_trend(&c, 130 * SECOND).known, "growth of 1.5 steps, in cycle %u", i);
		c.cycle[i].step = 39;
		ok(cycles_trend(&c, 130 * SECOND).known, "and of more");
	}
}

/* Growth is ending if the later half of the peaks grew by less than 0.6 of the first half. */
static void test_slowing(void)
{
	const uint64_t low[] = {100, 150, 200, 240, 280};
	uint64_t peak[] = {1000, 1050, 1100, 1130, 1160};
	struct cycles c = made(5, peak, low);

	ok(cycles_trend(&c, 140 * SECOND).known, "0.6");
	peak[4] = 1159;
	c = made(5, peak, low);
	ok(!cycles_trend(&c, 140 * SECOND).known, "less");
	c = made(4, (const uint64_t[]){1000, 1059, 1100, 1119}, low);
	ok(cycles_trend(&c, 130 * SECOND).known, "0.6 of four peaks");
	c = made(4, (const uint64_t[]){1000, 1060, 1100, 1119}, low);
	ok(!cycles_trend(&c, 130 * SECOND).known, "and less");
}

int main(void)
{
	test_fall();
	test_rise();
	test_kept();
	test_goes_on();
	test_left_behind();
	test_clear();
	test_values();
	test_lows();
	test_steps();
	test_slowing();
	return tap_done();
}
