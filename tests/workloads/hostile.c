/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets a command name that output formats must escape. Maps pages until the test ends it. */
#include "common.h"

#define MAPS_OF_EACH_STEP 4
#define STEP_MS 50
#define MOST_STEPS (10 * 1000 / STEP_MS)

static const char *const names[] = {
	"\033[2J\033[31m",
	"a\nb\tc\r\nd",
	"\xff\xfe\xc3",
	"\"\\},{",
	"\xe2\x80\xaetxt.exe",
	") R 1 (",
};

int main(int argc, char **argv)
{
	const long cases = sizeof(names) / sizeof(names[0]);
	char hex[64] = "", name[17] = "";
	long chosen = 0, made = 0;
	const struct opt opts[] = { { "case", OPT_NUMBER, &chosen }, { 0 } };

	parse_args(argc, argv, "--case 0..5", opts, NULL, 0, 0);
	if (chosen >= cases)
		die("no case %ld", chosen);
	if (prctl(PR_SET_NAME, names[chosen]) || prctl(PR_GET_NAME, name))
		die("prctl PR_SET_NAME");
	for (int i = 0; name[i]; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)name[i]);
	catch_stop();
	wait_for_go();

	for (long step = 0; step < MOST_STEPS; step++) {
		for (long i = 0; i < MAPS_OF_EACH_STEP; i++, made++)
			if (map_unmergeable(made) == MAP_FAILED)
				die("mmap of map %ld", made);
		if (told_by_input(STEP_MS))
			break;
	}

	truth_open();
	truth_number("case", chosen);
	truth_text("comm_hex", hex);
	truth_number("maps_made", made);
	truth_close();
	return 0;
}
