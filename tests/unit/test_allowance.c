// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how many events an allowance permits, and settings that are found by their keys. */
#include "base/allowance.h"
#include "base/setting.h"
#include "tap.h"

#define MINUTE (60 * 1000000000ULL)

/* Takes as many as there are, and returns their number. */
static int take_all(struct allowance *a, uint64_t now_ns)
{
	int n = 0;

	while (n < 100 && allowance_take(a, now_ns))
		n++;
	return n;
}

static void test_allowance(void)
{
	/* one in five minutes, three at once */
	struct allowance a = allowance_of(12, 3), slow = allowance_of(12, 3), none;
	uint64_t now = 1000 * MINUTE;

	is_u64(take_all(&a, now), 3, "all at first");
	ok(!allowance_take(&a, now), "and no more");
	is_u64(take_all(&a, now + 4 * MINUTE), 0, "less than one has grown");
	is_u64(take_all(&a, now + 5 * MINUTE + 1000), 1, "one has");
	is_u64(take_all(&a, now + 15 * MINUTE + 2000), 2, "two have");
	is_u64(take_all(&a, now + 600 * MINUTE), 3, "never more than the most");
	is_u64(take_all(&a, now), 0, "a time before the last one adds nothing");
	is_u64(take_all(&a, now + 5 * MINUTE + 1000), 1, "and time goes on from there");
	for (int i = 0; i < 20; i++)
		ok(allowance_take(&slow, now + i * 5 * MINUTE), "one each five minutes");
	none = allowance_of(0, 1);
	is_u64(take_all(&none, now), 1, "one that does not grow");
	is_u64(take_all(&none, now + 1000000 * MINUTE), 0, "ends");
	none = allowance_of(1000, 0.5);
	is_u64(take_all(&none, now), 0, "less than one permits none");
}

static void test_settings(void)
{
	static const struct setting all[] = {
		{.key = "max", .known = true},
		{.key = "unknown_use", .of = "max"},
		{.key = "use", .of = "max", .known = true},
		{.key = "second_use", .of = "max", .known = true},
		{.key = "last", .known = true},
	};

	ok(setting_find(all, 5, "max") == &all[0], "the first key");
	ok(setting_find(all, 5, "last") == &all[4], "the last key");
	ok(!setting_find(all, 4, "last"), "a key behind the end");
	ok(!setting_find(all, 5, "ma") && !setting_find(all, 5, "maxi"), "a part of a key");
	ok(setting_use(all, 5, "max") == &all[2], "the first use that is known");
	ok(!setting_use(all, 2, "max"), "no use is known");
	ok(!setting_use(all, 5, "last"), "a limit without a use");
}

int main(void)
{
	test_allowance();
	test_settings();
	return tap_done();
}
