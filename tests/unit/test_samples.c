// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/samples.h"
#include "tap.h"

static uint64_t stands_for(const struct samples *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->sample[i].weight;
	return n;
}

static void test_bounded(void)
{
	const uint64_t many = 5 * SAMPLES_MAX;
	struct samples s = {};
	int err = 0;

	for (uint64_t i = 0; i < many && !err; i++) {
		struct sample_record r = sample_record(10, 1, i + 1, 64);

		err = samples_take(&s, &r);
	}
	is_u64(-err, 0, "more than there is room for are taken");
	ok(s.n <= SAMPLES_MAX && s.n >= SAMPLES_MAX / 2, "no more are kept than there is room for");
	is_u64(s.taken, many, "all are counted");
	is_u64(s.thinned, 3, "every second one went three times");
	is_u64(stands_for(&s), 64 * many, "those that stay stand for all");
	is_u64(s.most, 64, "what they came with is kept");
	ok(s.sample[0].h.t_ns < s.sample[s.n - 1].h.t_ns, "they are by time");
	samples_free(&s);
}

static void test_hostile(void)
{
	struct sample_record r = sample_record(10, 1, 1, 0);
	struct samples s = {};

	samples_take(&s, &r);
	r.weight = UINT32_MAX;
	samples_take(&s, &r);
	is_u64(s.taken, 0, "one that stands for nothing, or for too many, is none");
	r.weight = 1;
	r.class = r.kind = r.major = UINT32_MAX;
	r.area_to = r.area_from;
	samples_take(&s, &r);
	ok(s.n == 1 && s.sample[0].class == CLASS_OTHER && s.sample[0].kind == HOLDING_OTHER &&
		   s.sample[0].major == 1 && !s.sample[0].area_from,
	   "what it cannot be it is not");
	samples_free(&s);
}

/* Values at the bounds of what a file may say. */
static void test_bounds(void)
{
	struct sample_record r = sample_record(10, 1, 1, UINT32_MAX >> 16);
	struct samples s = {};

	is_u64(samples_take(&s, &r), 0, "a sample");
	is_u64(s.n, 1, "the largest weight");
	r.weight++;
	is_u64(samples_take(&s, &r), 0, "a hostile one is no error");
	is_u64(s.taken, 1, "one more stands for too many");
	r.weight = 5;
	samples_take(&s, &r);
	ok(s.least == 5 && s.most == UINT32_MAX >> 16, "the least and the most");
	r.weight = 6;
	r.class = NR_CLASSES - 1;
	r.kind = NR_HOLDING_KINDS - 1;
	r.address = r.area_from;
	samples_take(&s, &r);
	ok(s.least == 5 && s.sample[2].class == NR_CLASSES - 1 &&
		   s.sample[2].kind == NR_HOLDING_KINDS - 1 && s.sample[2].area_from,
	   "the last class and kind, and the first address of a mapping");
	r.class = NR_CLASSES;
	r.kind = NR_HOLDING_KINDS;
	r.address = r.area_to - 1;
	samples_take(&s, &r);
	ok(s.sample[3].class == CLASS_OTHER && s.sample[3].kind == HOLDING_OTHER &&
		   s.sample[3].area_to,
	   "no class and kind behind them, and the last address");
	r.address = r.area_to;
	samples_take(&s, &r);
	ok(!s.sample[4].area_from && !s.sample[4].area_to, "an address behind its mapping");
	r.address = r.area_from - 1;
	samples_take(&s, &r);
	ok(!s.sample[5].area_from && !s.sample[5].area_to, "or before it");
	samples_free(&s);
	is_u64(s.taken, 0, "nothing is left");
}

static int by_process(const void *a, const void *b)
{
	return sample_order_process(*(const struct sample_record *const *)a,
				    *(const struct sample_record *const *)b);
}

static void test_order(void)
{
	static const struct process_key keys[] = {
		{.start_ns = 2, .pid = 10}, {.start_ns = 1, .pid = 12}, {.start_ns = 1, .pid = 11}};
	const struct sample_record **sorted;
	struct samples s = {};

	for (size_t i = 0; i < 3; i++) {
		struct sample_record r = sample_record(keys[i].pid, keys[i].start_ns, i + 1, 1);

		samples_take(&s, &r);
	}
	sorted = samples_sort(&s, by_process);
	ok(sorted[0]->subject.pid == 11 && sorted[1]->subject.pid == 12 &&
		   sorted[2]->subject.pid == 10,
	   "the oldest process first, of equally old ones by pid");
	is_u64(sample_order_process(sorted[0], sorted[0]), 0, "a process is before no other");
	free(sorted);
	samples_free(&s);
}

static void test_bytes(void)
{
	struct sample_record r = sample_record(10, 1, 1, 64);
	struct host_limits l = {.page_bytes = 4096, .huge_page_bytes = 1 << 30};

	is_u64(sample_bytes(&r, &l), 4096, "a page");
	r.class = CLASS_HUGE;
	is_u64(sample_bytes(&r, &l), 2 << 20, "a huge one");
	r.class = CLASS_HUGETLB;
	is_u64(sample_bytes(&r, &l), 1 << 30, "one of the pool");
}

int main(void)
{
	test_bounded();
	test_hostile();
	test_bounds();
	test_order();
	test_bytes();
	return tap_done();
}
