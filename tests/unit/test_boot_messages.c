// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which boot messages triage takes for the end of the boot before. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "triage/triage.h"

#define BOOT "[    0.000000] Booting the kernel.\n"

/* A boot message shows that the kernel died if it had run for more than ten seconds before. */
static void test_boots(void)
{
	static const struct {
		const char *what, *log;
		size_t reports;
	} cases[] = {
		{"it ran for a second", "[    1.000000] a\n" BOOT, 0},
		{"for ten", "[   10.000000] a\n" BOOT, 0},
		{"for longer", "[   10.000001] a\n" BOOT, 1},
		{"and then shut down",
		 "[   99.000000] a\n[   99.500000] reboot: Restarting system\n" BOOT, 0},
	};
	struct triage t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct triage_input in = {
			.name = "log", .data = cases[i].log, .size = strlen(cases[i].log)};

		if (triage_run(&t, &in, 1))
			abort();
		is_u64(t.seen.n, cases[i].reports, cases[i].what);
		triage_free(&t);
	}
}

int main(void)
{
	test_boots();
	return tap_done();
}
