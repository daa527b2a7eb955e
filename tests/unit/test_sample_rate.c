// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what user space grants to BPF programs at each scan: the rate at which faults are sampled,
 * and the number of call stacks.
 */
#include "probe/growth_table.h"
#include "probe/sample_rate.h"
#include "tap.h"

#define RATE_MOST (1u << 15)

/* One of `each` faults was sampled, and `drawn` samples came since the last scan. */
static const struct {
	uint32_t each, drawn, want;
	const char *name;
} rates[] = {
	{1024, 127, 512, "few samples: twice as often"},
	{1024, 128, 1024, "half of the target is enough"},
	{1024, 256, 1024, "the target"},
	{1024, 512, 1024, "twice the target is still good"},
	{1024, 513, 2048, "more: half as often"},
	{1024, 1025, 2048, "up to four times the target"},
	{1024, 1026, 4096, "more than that: a quarter"},
	{1024, 8 * 513, 16384, "many more: a sixteenth"},
	{2 * SAMPLE_EACH, 0, SAMPLE_EACH, "the highest rate is reached"},
	{SAMPLE_EACH, 0, SAMPLE_EACH, "and is not exceeded"},
	{SAMPLE_EACH, 513, 2 * SAMPLE_EACH, "and is left again"},
	{RATE_MOST / 2, UINT32_MAX, RATE_MOST, "the lowest rate is reached"},
	{RATE_MOST, UINT32_MAX, RATE_MOST, "and is not exceeded"},
	{RATE_MOST, 127, RATE_MOST / 2, "and is left again"},
	{0, 0, 0, "sampling is off"},
	{0, UINT32_MAX, 0, "and stays off"},
};

static void test_rates(void)
{
	static struct fs_shared shared;
	uint32_t sampled;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		/* the counter of samples may pass its highest value between two scans */
		sampled = UINT32_MAX - 99;
		shared.sampled = sampled + rates[i].drawn;
		shared.sample_each = rates[i].each;
		sample_rate_adapt(&shared, &sampled);
		is_u64(shared.sample_each, rates[i].want, rates[i].name);
		ok(sampled == shared.sampled, "the next scan counts from here");
	}
}

static void test_stacks(void)
{
	static const struct {
		uint32_t used, all, sampled;
		const char *name;
	} stacks[] = {
		{0, STACKS_MAX, STACKS_MAX / 2, "no stack yet: all, and half of them for samples"},
		{STACKS_MAX / 2 - 64, STACKS_MAX, STACKS_MAX / 2, "near half of them"},
		{STACKS_MAX / 2 - 63, STACKS_MAX, STACKS_MAX / 2 + 1, "samples get 64 more a scan"},
		{STACKS_MAX - 256, STACKS_MAX, STACKS_MAX - 192, "near all of them"},
		{STACKS_MAX - 255, STACKS_MAX + 1, STACKS_MAX - 191, "others get 256 more a scan"},
	};
	static struct fs_shared shared;

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		shared.stacks_used = stacks[i].used;
		growth_table_grant_stacks(&shared);
		is_u64(shared.stacks_for_all, stacks[i].all, stacks[i].name);
		is_u64(shared.stacks_for_samples, stacks[i].sampled, "and for samples");
	}
}

int main(void)
{
	test_rates();
	test_stacks();
	return tap_done();
}
