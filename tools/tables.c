// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the tables of the README from the tables of the code: `make readme` puts them in, and a
 * test compares.
 *
 * usage: tables {hooks|rules|fields|commands|limits}
 */
#include <stdio.h>
#include <string.h>

#include "model/fields.h"
#include "model/resources.h"
#include "options_table.h"
#include "probe/hooks.h"
#include "rules/rules.h"

static void put_hooks(void)
{
	puts("| hook | tier | mechanisms, best first | what it gives | lost without it |");
	puts("| --- | --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_hooks; i++) {
		printf("| `%s` | %d | ", hooks[i].name, hooks[i].tier);
		for (const struct hook_alternate *a = hooks[i].alternate; a->mechanism; a++)
			printf("%s%s", a == hooks[i].alternate ? "" : ", ", a->mechanism);
		printf(" | %s | %s |\n", hooks[i].feeds, hooks[i].lost);
	}
}

static void put_rules(void)
{
	puts("| id | finding | needs |");
	puts("| --- | --- | --- |");
	for (size_t i = 0; i < nr_rules; i++)
		printf("| %s | %s | %s%s%s |\n", rules[i].id, rules[i].title,
		       rules[i].needs ? "`" : "", rules[i].needs ? rules[i].needs : "the look",
		       rules[i].needs ? "`" : "");
}

static void put_fields(void)
{
	puts("| key | column | what | null without |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_fields; i++)
		printf("| `%s%s%s` | %s | %s | %s%s%s |\n", fields[i].group,
		       *fields[i].group ? "." : "", fields[i].key,
		       fields[i].column ? fields[i].column : "", fields[i].help,
		       fields[i].hook ? "`" : "", fields[i].hook ? fields[i].hook : "",
		       fields[i].hook ? "`" : "");
}

/* A bar would end its cell. */
static void put_cell(const char *text)
{
	for (; *text; text++)
		printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static void put_commands(void)
{
	puts("| command | what |");
	puts("| --- | --- |");
	for (int i = 0; i < NR_COMMANDS; i++) {
		const struct command_row *c = &command_rows[i];

		printf("| `faultscope%s%s%s", *c->name ? " " : "", c->name, *c->args ? " " : "");
		put_cell(c->args);
		printf("` | %s |\n", c->help);
	}
}

static void put_limits(void)
{
	puts("| name | of | what is used up | unit | watched from |");
	puts("| --- | --- | --- | --- | ---: |");
	for (int i = 0; i < NR_RESOURCES; i++)
		printf("| `%s` | %s | %s | %s | %u %% |\n", resources[i].limit,
		       resources[i].scope == OF_HOST ? "the host" : "a process", resources[i].what,
		       resources[i].bytes ? "bytes" : "count", resources[i].watch_percent);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} tables[] = {
		{"hooks", put_hooks},	    {"rules", put_rules},   {"fields", put_fields},
		{"commands", put_commands}, {"limits", put_limits},
	};

	for (size_t i = 0; argc == 2 && i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(argv[1], tables[i].name)) {
			tables[i].put();
			return 0;
		}
	fprintf(stderr, "usage: tables {hooks|rules|fields|commands|limits}\n");
	return 2;
}
