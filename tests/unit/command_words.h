/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a command with words as a user gives them. */
#ifndef FS_TESTS_UNIT_COMMAND_WORDS_H
#define FS_TESTS_UNIT_COMMAND_WORDS_H

#include "cli/options_table.h"
#include "command_output.h"

static char error[512];
static struct options o;

/*
 * Runs a command with up to five words, which are copied: fixture_path() is called meanwhile. Fills
 * `got`.
 */
static inline void run_words(int (*run)(const struct options *o), const char *command,
			     const char *const w[5])
{
	static char word[5][256];
	char *argv[8] = {"faultscope", (char *)command};
	int argc = 2;

	for (int i = 0; i < 5 && w[i]; i++) {
		snprintf(word[i], sizeof(word[i]), "%s", w[i]);
		argv[argc++] = word[i];
	}
	if (options_parse(argc, argv, &o, error, sizeof(error))) {
		printf("# %s\n", error);
		exit(1);
	}
	o.revision = "test";
	o.colour = WHEN_NEVER;
	run_command(run, &o);
}

#endif
