// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes shell scripts that complete commands, options and their arguments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options_table.h"
#include "rules/diagnoses.h"

/* Writes text for within single quotes of a shell, with each ' as '\''. */
static void put_quoted(struct buf *b, const char *s)
{
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *s);
}

/* Writes the names of all commands, separated by `between`. */
static void put_commands(struct buf *b, const char *between)
{
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		buf_printf(b, "%s%s", i == CMD_RUN ? "" : between, command_rows[i].name);
}

/* Writes bash code that assigns COMPREPLY. */
static void bash_reply(struct buf *b, const struct words *w)
{
	switch (w->kind) {
	case WORDS_ANY:
		buf_puts(b, "return");
		break;
	case WORDS_LISTED:
		buf_printf(b, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))%s", w->list.s,
			   w->open ? "; compopt -o nospace 2>/dev/null" : "");
		break;
	case WORDS_FILES:
	case WORDS_DIRECTORIES:
		buf_printf(b,
			   "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
			   "<(compgen -%c -- \"$cur\")",
			   w->kind == WORDS_FILES ? 'f' : 'd');
		break;
	case WORDS_PIDS:
		buf_puts(b, "COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- "
			    "\"$cur\"))");
		break;
	}
}

/* Writes the completion of option arguments. The values of --format depend on the command. */
static void bash_arguments(struct buf *b)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *o = &option_rows[i];

		if (!o->arg)
			continue;
		for (int c = NR_COMMANDS - 1; c >= 0; c--) {
			bool differs = !strcmp(o->name, "format") && c;
			struct words w;

			if (!(o->commands >> c & 1) ||
			    (!differs && c != __builtin_ctz(o->commands)))
				continue;
			words_of_option(o, c, &w);
			buf_printf(b, "\t%s\\ --%s", differs ? command_rows[c].name : "*", o->name);
			if (o->short_name)
				buf_printf(b, "|*\\ -%c", o->short_name);
			buf_puts(b, ") ");
			bash_reply(b, &w);
			buf_puts(b, "; return ;;\n");
			buf_end_part(b, &w.list);
		}
	}
}

static void bash_commands(struct buf *b)
{
	for (int c = NR_COMMANDS - 1; c >= 0; c--) {
		struct words w;

		buf_printf(b, "\t%s) options='", c ? command_rows[c].name : "*");
		for (size_t i = 0; i < nr_option_rows; i++)
			if (option_rows[i].commands >> c & 1)
				buf_printf(b, "--%s ", option_rows[i].name);
		buf_puts(b, "'; [[ $cur == -* ]] || { ");
		words_of_command(c, &w);
		if (c == CMD_WATCH)
			buf_puts(b, "((COMP_CWORD == 1)) || return; ");
		if (c == CMD_BLACKBOX)
			buf_puts(b, "[[ \" ${COMP_WORDS[*]} \" != *' read '* ]] || { compopt -o "
				    "filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
				    "\"$cur\"); return; }; ");
		bash_reply(b, &w);
		buf_puts(b, "; return; } ;;\n");
		buf_end_part(b, &w.list);
	}
}

static void complete_bash(struct buf *b)
{
	buf_puts(b, "# bash completion for faultscope; made by: faultscope completion bash\n"
		    "_faultscope() {\n"
		    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
		    "command= options i\n"
		    "\t[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		    "\t[[ $cur != = ]] || cur=\n\tCOMPREPLY=()\n"
		    "\tcase ${COMP_WORDS[1]} in\n\t");
	put_commands(b, "|");
	buf_puts(b,
		 ")\n\t\t((COMP_CWORD == 1)) || command=${COMP_WORDS[1]} ;;\n\tesac\n"
		 "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		 "\t\t[[ $command == run && ${COMP_WORDS[i]} == -- ]] || continue\n"
		 "\t\tif ((i == COMP_CWORD - 1)); then COMPREPLY=($(compgen -c -- \"$cur\"))\n"
		 "\t\telse compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f "
		 "-- \"$cur\")\n\t\tfi\n\t\treturn\n\tdone\n"
		 "\tcase \"$command $prev\" in\n");
	bash_arguments(b);
	buf_puts(b, "\tesac\n\tcase $command in\n");
	bash_commands(b);
	buf_puts(b, "\tesac\n\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n}\n"
		    "complete -F _faultscope faultscope\n");
}

/* Writes text for _arguments of zsh, which needs \ before brackets and colons. */
static void put_zsh(struct buf *b, const char *s)
{
	char one[2] = "";

	for (; *s; s++) {
		if (*s == '[' || *s == ']' || *s == ':')
			buf_putc(b, '\\');
		one[0] = *s;
		put_quoted(b, one);
	}
}

/* Writes the ":message:action" part of an argument for _arguments of zsh. */
static void zsh_action(struct buf *b, const char *message, const struct words *w)
{
	static const char *const actions[] = {[WORDS_ANY] = " ",
					      [WORDS_FILES] = "_files",
					      [WORDS_DIRECTORIES] = "_files -/",
					      [WORDS_PIDS] = "_faultscope_pids"};

	buf_puts(b, ":");
	put_zsh(b, message);
	buf_puts(b, ":");
	if (w->kind == WORDS_LISTED)
		buf_printf(b, "%s(%s)", w->open ? "compadd -S \"\" - " : "", w->list.s);
	else
		buf_puts(b, actions[w->kind]);
}

static void zsh_option(struct buf *b, const struct option_row *o, enum command command,
		       const char *name, const char *end)
{
	buf_printf(b, " \\\n\t\t'*%s%s[", name, end);
	put_zsh(b, o->help);
	buf_puts(b, "]");
	if (o->arg) {
		struct words w;

		words_of_option(o, command, &w);
		zsh_action(b, o->arg, &w);
		buf_end_part(b, &w.list);
	}
	buf_puts(b, "'");
}

static void zsh_command(struct buf *b, enum command command)
{
	struct words w;

	buf_printf(b, "\t%s) ", command ? command_rows[command].name : "*");
	if (command == CMD_RUN)
		buf_puts(b, "local -i end=${words[(i)--]}\n"
			    "\t\tif (( end < CURRENT )); then\n"
			    "\t\t\twords=(\"${(@)words[end+1,-1]}\")\n"
			    "\t\t\t(( CURRENT -= end ))\n\t\t\t_normal\n\t\t\treturn\n"
			    "\t\tfi\n\t\t");
	buf_puts(b, "_arguments -S");
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *o = &option_rows[i];
		char name[48], brief[3] = {'-', o->short_name};

		if (!(o->commands >> command & 1))
			continue;
		snprintf(name, sizeof(name), "--%s", o->name);
		zsh_option(b, o, command, name, o->arg ? "=" : "");
		if (o->short_name)
			zsh_option(b, o, command, brief, o->arg ? "+" : "");
	}
	words_of_command(command, &w);
	if (command == CMD_RUN) {
		buf_puts(b, " \\\n\t\t'*::command:_normal'");
	} else if (command == CMD_EXPLAIN) {
		buf_puts(b, " \\\n\t\t'*:finding:_faultscope_findings'");
	} else if (command == CMD_BLACKBOX) {
		buf_printf(b, " \\\n\t\t'1:action:(%s)' '*:file:_files'", w.list.s);
	} else if (command != CMD_WATCH && w.kind != WORDS_ANY) {
		buf_puts(b, " \\\n\t\t'*");
		zsh_action(b, "word", &w);
		buf_puts(b, "'");
	}
	buf_puts(b, " ;;\n");
	buf_end_part(b, &w.list);
}

static void complete_zsh(struct buf *b)
{
	buf_puts(b, "#compdef faultscope\n# made by: faultscope completion zsh\n"
		    "_faultscope_pids() {\n\tlocal -a pids=(/proc/<->(N:t))\n\tcompadd -a pids\n}\n"
		    "_faultscope_findings() {\n\tlocal -a findings=(\n");
	for (size_t i = 0; diagnosis_at(i); i++) {
		buf_printf(b, "\t\t'%s:", diagnosis_at(i)->id);
		put_zsh(b, diagnosis_at(i)->title);
		buf_printf(b, "'\n\t\t'%s:", diagnosis_at(i)->slug);
		put_zsh(b, diagnosis_at(i)->title);
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t)\n\t_describe -t findings finding findings\n}\n"
		    "_faultscope() {\n\tlocal command=\n\tlocal -a own=(\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++) {
		buf_printf(b, "\t\t'%s:", command_rows[i].name);
		put_zsh(b, command_rows[i].help);
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t)\n\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
		    "\t\t_describe -t commands command own\n\t\treturn\n\tfi\n"
		    "\tif (( CURRENT > 2 && ${own[(I)$words[2]:*]} )); then\n"
		    "\t\tcommand=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n"
		    "\tcase $command in\n");
	for (int i = NR_COMMANDS - 1; i >= 0; i--)
		zsh_command(b, i);
	buf_puts(b, "\tesac\n}\n_faultscope \"$@\"\n");
}

/*
 * Writes a fish condition that is true if one of `commands` is in use. Bit 0 stands for no command.
 */
static void fish_condition(struct buf *b, unsigned int commands)
{
	buf_puts(b, "complete -c faultscope -n '__faultscope_is");
	for (int i = 0; i < NR_COMMANDS; i++)
		if (commands >> i & 1)
			buf_printf(b, " %s", i ? command_rows[i].name : "none");
	buf_puts(b, "'");
}

static void fish_words(struct buf *b, const struct words *w)
{
	if (w->kind == WORDS_FILES || w->kind == WORDS_DIRECTORIES)
		buf_puts(b, " -r -F");
	else if (w->kind == WORDS_LISTED)
		buf_printf(b, " -x -a '%s'", w->list.s);
	else if (w->kind == WORDS_PIDS)
		buf_puts(b, " -x -a '(__fish_complete_pids)'");
	else
		buf_puts(b, " -x");
}

static void fish_option(struct buf *b, const struct option_row *o, unsigned int commands)
{
	struct words w = {};

	fish_condition(b, commands);
	buf_printf(b, " -l %s", o->name);
	if (o->short_name)
		buf_printf(b, " -s %c", o->short_name);
	if (o->arg) {
		words_of_option(o, __builtin_ctz(commands), &w);
		fish_words(b, &w);
	}
	buf_puts(b, " -d '");
	put_quoted(b, o->help);
	buf_puts(b, "'\n");
	buf_end_part(b, &w.list);
}

static void fish_command(struct buf *b, enum command command)
{
	struct words w;

	words_of_command(command, &w);
	if (command == CMD_RUN) {
		fish_condition(b, 1u << command);
		buf_puts(b, " -F -a '(__fish_complete_command)'\n");
	} else if (command == CMD_BLACKBOX) {
		buf_printf(b,
			   "complete -c faultscope -n '__faultscope_is blackbox; and not "
			   "__fish_seen_subcommand_from %s' -a '%s'\n"
			   "complete -c faultscope -n '__faultscope_is blackbox; and "
			   "__fish_seen_subcommand_from read' -F\n",
			   w.list.s, w.list.s);
	} else if (command == CMD_EXPLAIN) {
		for (size_t i = 0; diagnosis_at(i); i++) {
			fish_condition(b, 1u << command);
			buf_printf(b, " -a %s -d '", diagnosis_at(i)->id);
			put_quoted(b, diagnosis_at(i)->title);
			buf_puts(b, "'\n");
			fish_condition(b, 1u << command);
			buf_printf(b, " -a %s -d '", diagnosis_at(i)->slug);
			put_quoted(b, diagnosis_at(i)->title);
			buf_puts(b, "'\n");
		}
	} else if (w.kind == WORDS_FILES) {
		fish_condition(b, 1u << command);
		buf_puts(b, " -F\n");
	} else if (w.kind != WORDS_ANY) {
		fish_condition(b, 1u << command);
		fish_words(b, &w);
		buf_puts(b, "\n");
	}
	buf_end_part(b, &w.list);
}

static void complete_fish(struct buf *b)
{
	const unsigned int reports = 1u << CMD_REPORT | 1u << CMD_DIFF;

	buf_puts(b, "# made by: faultscope completion fish\n"
		    "function __faultscope_is\n\tset -l words (commandline -opc)\n"
		    "\tset -l command none\n\tif set -q words[2]; and contains -- $words[2] ");
	put_commands(b, " ");
	buf_puts(b, "\n\t\tset command $words[2]\n\tend\n\tcontains -- $command $argv\nend\n"
		    "function __faultscope_begins\n\ttest (count (commandline -opc)) -eq 1\nend\n"
		    "complete -c faultscope -f\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++) {
		buf_printf(b, "complete -c faultscope -n __faultscope_begins -a %s -d '",
			   command_rows[i].name);
		put_quoted(b, command_rows[i].help);
		buf_puts(b, "'\n");
		fish_command(b, i);
	}
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *o = &option_rows[i];

		if (!strcmp(o->name, "format"))
			fish_option(b, o, o->commands & reports);
		fish_option(b, o, strcmp(o->name, "format") ? o->commands : o->commands & ~reports);
	}
}

int options_completion(struct buf *b, const char *shell)
{
	if (!strcmp(shell, "bash"))
		complete_bash(b);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(b);
	else if (!strcmp(shell, "fish"))
		complete_fish(b);
	else
		return -EINVAL;
	return 0;
}
