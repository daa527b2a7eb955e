// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Appends "did you mean" to messages about unknown words of the command line. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/options_table.h"

void options_near_command(const char *typed, char *error, size_t size)
{
	struct nearest n = {.typed = typed};

	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		nearest_add(&n, command_rows[i].name);
	nearest_print(&n, "faultscope ", error, size);
}

/*
 * Appends the names of the commands that have the option. CMD_WATCH has no name and is written as
 * "faultscope".
 */
static void write_owners(const struct option_row *row, char *error, size_t size)
{
	size_t len = strlen(error);
	bool any = false;

	for (int i = CMD_WATCH; i < NR_COMMANDS && len < size; i++) {
		if (!(row->commands >> i & 1))
			continue;
		len += snprintf(error + len, size - len, "%s%s%s", any ? ", " : "",
				any ? "" : "\n  it belongs to: ",
				i == CMD_WATCH ? "faultscope" : command_rows[i].name);
		any = true;
	}
}

void options_near_option(const char *typed, enum command command, char *error, size_t size)
{
	char name[NEAREST_BYTES];
	struct nearest n = {.typed = name};

	if (strncmp(typed, "--", 2))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if (row->commands >> command & 1)
			nearest_add(&n, row->name);
		else if (!strcmp(row->name, name))
			write_owners(row, error, size);
	}
	nearest_print(&n, "--", error, size);
}

void options_near_word(const char *typed, const char *words, char *error, size_t size)
{
	char list[256], *save = NULL;
	struct nearest n = {.typed = typed};

	snprintf(list, sizeof(list), "%s", words);
	for (char *one = strtok_r(list, " ,:;", &save); one; one = strtok_r(NULL, " ,:;", &save))
		if (strlen(one) > 2)
			nearest_add(&n, one);
	nearest_print(&n, "", error, size);
}

void options_near_field(const char *typed, char *error, size_t size)
{
	struct nearest n = {.typed = typed};
	char name[NEAREST_BYTES];

	fields_offer(&n, name);
	nearest_print(&n, "", error, size);
}

void options_near_resource(const char *typed, char *error, size_t size)
{
	struct nearest n = {.typed = typed};

	for (int i = 0; i < NR_RESOURCES; i++)
		nearest_add(&n, resources[i].limit);
	nearest_print(&n, "", error, size);
}

void options_near_format(const char *typed, char *error, size_t size)
{
	struct nearest n = {.typed = typed};

	for (size_t i = 0; i < nr_report_formats; i++)
		nearest_add(&n, report_formats[i].name);
	nearest_print(&n, "", error, size);
}

void options_near_hook(const char *typed, int hook, char *error, size_t size)
{
	struct nearest n = {.typed = typed};
	char before[32] = "";

	for (size_t i = 0; hook < 0 && i < nr_hooks; i++)
		nearest_add(&n, hooks[i].name);
	for (size_t i = 0; hook >= 0 && hooks[hook].alternate[i].mechanism; i++)
		nearest_add(&n, hooks[hook].alternate[i].mechanism);
	if (hook >= 0) {
		nearest_add(&n, "none");
		snprintf(before, sizeof(before), "%s=", hooks[hook].name);
	}
	nearest_print(&n, before, error, size);
}
