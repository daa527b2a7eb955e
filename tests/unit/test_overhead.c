// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/overhead.h"
#include "tap.h"

static void test_find(void)
{
	static const char *const wrong[] = {"", "4", "-1", "00", "scans", "Scan", "0 "};

	for (int i = 0; i < NR_OVERHEAD_OPTIONS; i++) {
		char number[] = {'0' + i, '\0'};

		ok(overhead_level_find(number) == i, "the number %d", i);
		ok(overhead_level_find(overhead_level_name(i)) == i, "the name of level %d", i);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(overhead_level_find(wrong[i]) < 0, "'%s' is no level", wrong[i]);
	ok(overhead_level_find(overhead_level_name(NR_OVERHEAD_OPTIONS)) == -1,
	   "the level of `memory` cannot be chosen");
	is_str(overhead_level_name(NR_OVERHEAD_LEVELS), "unknown", "beyond the last level");
}

static void test_text(void)
{
	char text[64], cut[9];

	is_str(overhead_levels_text(0, text, sizeof(text)), "", "no level");
	is_str(overhead_levels_text(2, text, sizeof(text)), "events", "one level");
	is_str(overhead_levels_text(15, text, sizeof(text)), "scan, events, latency, syscalls",
	       "all levels");
	is_str(overhead_levels_text(15, cut, sizeof(cut)), "scan, ev", "cut to the buffer");
}

static void test_others(void)
{
	char text[128], cut[19];

	is_str(overhead_for_others_text(0, text, sizeof(text)), "", "no probe runs in others");
	is_str(overhead_for_others_text(AT_CALLS, text, sizeof(text)), "all system calls",
	       "each call is slower");
	is_str(overhead_for_others_text(AT_FEW_CALLS, text, sizeof(text)),
	       "system calls that change mappings or fds", "only counted calls are slower");
	is_str(overhead_for_others_text(AT_FAULTS | AT_MAPPINGS | AT_SIGNALS | AT_SWITCHES, text,
					sizeof(text)),
	       "page faults, new mappings, signals, switches between processes", "several events");
	is_str(overhead_for_others_text(AT_LOCKS | AT_CALLS, cut, sizeof(cut)),
	       "waits for locks, a", "cut to the buffer");
	ok(overhead_events_of("fault_end", false, false) == AT_FAULTS, "events of a probe");
	ok(!overhead_events_of("scan", false, false),
	   "a probe that runs at no event of other processes");
	ok(overhead_events_of("calls", false, false) == AT_CALLS, "the end of each system call");
	ok(overhead_events_of("calls", true, false) == AT_FEW_CALLS, "or of few");
	ok(overhead_events_of("tlb", false, true) == AT_SWITCHES, "switches are in addition");
}

int main(void)
{
	test_find();
	test_text();
	test_others();
	return tap_done();
}
