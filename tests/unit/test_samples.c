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
	test_bytes();
	return tap_done();
}
