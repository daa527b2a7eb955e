// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that a command can use the probe `calls` only where it costs other system calls nothing. */
#include "probe/attach_choice.h"
#include "tap.h"

#define FREE_LEVELS 0x3u
#define ALL_LEVELS  0xfu

static const char *const nothing_forced[HOOKS_MAX];

static const char *chosen(const struct choice *c)
{
	const struct hook_alternate *alt = choice_of(c, hook_find("calls"));

	return alt ? alt->mechanism : "none";
}

static void test_free_only(void)
{
	const size_t calls = hook_find("calls");
	struct choice c;

	choice_begin(&c, FREE_LEVELS, true, ACCEPTS_FREE_CALLS, nothing_forced);
	is_str(chosen(&c), CALL_RETURNS, "the attach type that costs other calls nothing");
	ok(!choice_of(&c, hook_find("tlb")), "no other probe of its level");
	choice_forbid(&c, "calls", CALL_RETURNS, "this kernel cannot");
	is_str(chosen(&c), "none", "no attach type that costs each call");
	is_u64(c.status[calls].state, HOOK_OFF, "the probe is off, not unavailable");
	ok(strstr(c.status[calls].why, "this kernel cannot") &&
		   strstr(c.status[calls].why, "--export.calls"),
	   "the reason and the option: %s", c.status[calls].why);
}

static void test_older_build(void)
{
	struct choice c;

	choice_begin(&c, FREE_LEVELS, true, ACCEPTS_FREE_CALLS, nothing_forced);
	choice_fall_back(&c, "an old kernel");
	is_str(chosen(&c), "none", "the build for old kernels has no such attach type");
	is_u64(c.status[hook_find("calls")].state, HOOK_OFF, "off");
}

static void test_asked_for(void)
{
	const char *forced[HOOKS_MAX] = {};
	struct choice c;

	choice_begin(&c, ALL_LEVELS, true, ACCEPTS_FREE_CALLS, nothing_forced);
	choice_forbid(&c, "calls", CALL_RETURNS, "this kernel cannot");
	is_str(chosen(&c), "tp_btf", "the level is enabled: the next attach type");
	forced[hook_find("calls")] = "tp_btf";
	choice_begin(&c, FREE_LEVELS | 8, true, ACCEPTS_FREE_CALLS, forced);
	is_str(chosen(&c), "tp_btf", "the attach type that the user requests");
	choice_begin(&c, FREE_LEVELS, true, 0, nothing_forced);
	is_str(chosen(&c), "none", "other commands do not use the probe at this level");
}

int main(void)
{
	test_free_only();
	test_older_build();
	test_asked_for();
	return tap_done();
}
