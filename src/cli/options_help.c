// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "cli/options_table.h"

#define HELP_COLUMN 27
#define HELP_WIDTH  100

static void put_option(char *ret, size_t size, const struct option_row *o)
{
	char lead[8] = "    ";

	if (o->short_name)
		snprintf(lead, sizeof(lead), "-%c, ", o->short_name);
	snprintf(ret, size, "%s--%s%s%s", lead, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

/* Writes a word and its description beside it, wrapped at HELP_WIDTH columns. */
static void put_wrapped(struct buf *b, const char *word, const char *help)
{
	const size_t room = HELP_WIDTH - HELP_COLUMN - 1;

	buf_printf(b, "  %-*s", HELP_COLUMN - 2, word);
	if (strlen(word) + strlen(help) + 3 > HELP_WIDTH && strlen(word) > HELP_COLUMN - 2)
		buf_printf(b, "\n%*s", HELP_COLUMN, "");
	buf_putc(b, ' ');
	while (strlen(help) > room) {
		size_t n = room;

		while (n && help[n] != ' ')
			n--;
		if (!n)
			break;
		buf_add(b, help, n);
		buf_printf(b, "\n%*s", HELP_COLUMN + 1, "");
		help += n + 1;
	}
	buf_printf(b, "%s\n", help);
}

static void help_commands(struct buf *b)
{
	buf_puts(b, "Commands:\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		put_wrapped(b, command_rows[i].name, command_rows[i].help);
	buf_puts(b, "\n");
}

static void help_options(struct buf *b, enum command command)
{
	char text[64];

	buf_puts(b, "Options:\n");
	for (size_t i = 0; i < nr_option_rows; i++) {
		if (!(option_rows[i].commands >> command & 1))
			continue;
		put_option(text, sizeof(text), &option_rows[i]);
		put_wrapped(b, text, option_rows[i].help);
	}
}

static void help_conditions(struct buf *b)
{
	struct gate_row gate;

	buf_puts(b,
		 "\nConditions of --fail-on: a value, one of > >= < <=, and a number. Values:\n");
	for (size_t i = 0; gate_row(i, &gate); i++)
		put_wrapped(b, gate.name, gate.help);
	put_wrapped(b, "any value of a process", "by its JSON name: faults.failed, threads");
}

static void help_formats(struct buf *b, enum command command)
{
	char text[64];

	buf_puts(b, "\nFormats:\n");
	if (command != CMD_REPORT && command != CMD_DIFF) {
		put_wrapped(b, "text", "plain text (default)");
		put_wrapped(b, "json",
			    "JSON Lines; the command faultscope schema prints their schema");
		put_wrapped(b, "folded", "folded user stacks, for flame graphs");
		return;
	}
	for (size_t i = 0; i < nr_report_formats; i++) {
		const struct report_format *f = &report_formats[i];

		snprintf(text, sizeof(text), "%s%s%s", f->name, f->suffix ? "  " : "",
			 f->suffix ? f->suffix : "");
		put_wrapped(b, text, f->help);
	}
}

static void help_examples(struct buf *b, enum command command)
{
	buf_puts(b, "\nExamples:\n");
	for (size_t i = 0; i < nr_example_rows; i++)
		if (example_rows[i].command == command)
			buf_printf(b, "  %s\n      %s\n", example_rows[i].line,
				   example_rows[i].what);
}

void options_help(struct buf *b, enum command command)
{
	const struct command_row *c = &command_rows[command];

	buf_printf(b, "Usage: faultscope %s%s%s\n", c->name, *c->name && *c->args ? " " : "",
		   c->args);
	for (int i = CMD_RUN; command == CMD_WATCH && i < NR_COMMANDS; i++)
		buf_printf(b, "       faultscope %s%s%s\n", command_rows[i].name,
			   *command_rows[i].args ? " " : "", command_rows[i].args);
	if (command == CMD_WATCH)
		buf_puts(b, "\nShows page faults, memory mappings and file descriptors of "
			    "processes, and how close they are\nto their limits.\n\n");
	else
		buf_printf(b, "\nfaultscope %s: %s.\n\n", c->name, c->help);
	if (command == CMD_WATCH)
		help_commands(b);
	help_options(b, command);
	if (command_has(command, "fail-on"))
		help_conditions(b);
	if (command_has(command, "format"))
		help_formats(b, command);
	help_examples(b, command);
	if (command == CMD_WATCH)
		buf_puts(b, "\nOn a terminal, faultscope shows a live view; the key ? lists its "
			    "keys. faultscope COMMAND --help\nprints the options of a command. "
			    "faultscope needs root, or "
			    "CAP_BPF and CAP_PERFMON.\n");
}
