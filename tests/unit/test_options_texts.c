// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests help texts, manual pages and completions: each has all that a command has, and no more. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cli/options_table.h"
#include "render/tui/tui.h"
#include "rules/diagnoses.h"
#include "tap.h"

static const char *const shells[] = {"bash", "zsh", "fish"};

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* Writes a text with one blank for each run of blanks and ends of lines. */
static char *squeezed(const char *text)
{
	char *ret = malloc(strlen(text) + 1), *to = ret;

	if (!ret)
		abort();
	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
		else if (to > ret && to[-1] != ' ')
			*to++ = ' ';
	*to = 0;
	return ret;
}

static bool has(const struct option_row *row, enum command command)
{
	return row->commands >> command & 1;
}

/* Returns the number of lines that are longer than 100 columns, except those of examples. */
static size_t long_lines(const char *text)
{
	size_t n = 0;
	const char *end = strstr(text, "\nExamples:");

	for (size_t len; *text && text < end; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		n += len > 100;
	}
	return n;
}

static void test_help(enum command command)
{
	struct buf b = {};
	size_t options = 0, missing = 0, examples = 0, found = 0;
	const char *name = *command_name(command) ? command_name(command) : "faultscope";
	char *text, word[1024];

	options_help(&b, command);
	text = squeezed(b.s);
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if (!has(row, command))
			continue;
		options++;
		snprintf(word, sizeof(word), " %s%.1s%s--%s%s%s %s ", row->short_name ? "-" : "",
			 &row->short_name, row->short_name ? ", " : "", row->name,
			 row->arg ? " " : "", row->arg ? row->arg : "", row->help);
		missing += !strstr(text, word);
	}
	is_u64(missing, 0, name);
	is_u64(count(b.s, "\n      --") + count(b.s, "\n  -"), options, "no other option");
	snprintf(word, sizeof(word), "Usage: faultscope %s%s%s\n", command_name(command),
		 command && *command_rows[command].args ? " " : "", command_rows[command].args);
	ok(!strncmp(b.s, word, strlen(word)), "how it is used: %.60s", command_name(command));
	is_u64(count(b.s, "Usage:") + count(b.s, "\n       faultscope "),
	       command == CMD_WATCH ? NR_COMMANDS : 1, "lines of use");
	is_u64(count(b.s, "Commands:\n"), command == CMD_WATCH, "the commands");
	is_u64(count(b.s, "\nConditions of --fail-on"), command_has(command, "fail-on"),
	       "the conditions");
	is_u64(count(b.s, "\nFormats:\n"), command_has(command, "format"), "the formats");
	is_u64(count(b.s, "On a terminal, faultscope shows a live view"), command == CMD_WATCH,
	       "the live view");
	for (size_t i = 0; i < nr_example_rows; i++) {
		snprintf(word, sizeof(word), "  %s\n      %s\n", example_rows[i].line,
			 example_rows[i].what);
		examples += example_rows[i].command == command;
		found += example_rows[i].command == command && strstr(b.s, word);
	}
	is_u64(found, examples, "its examples");
	is_u64(count(strstr(b.s, "\nExamples:"), "\n      "), examples, "and no others");
	is_u64(long_lines(b.s), 0, "lines of 100 columns at most");
	free(text);
	buf_free(&b);
}

/* Descriptions begin in one column; a long word has a line of its own. */
static void test_columns(void)
{
	struct buf b = {};
	const char *at;

	options_help(&b, CMD_EXPORT);
	ok(strstr(b.s, "\n  -h, --help                print the help text\n"), "a short word");
	at = strstr(b.s, "--web.systemd-socket");
	at = at ? strchr(at, '\n') : NULL;
	ok(at && strspn(at + 1, " ") == 28, "the lines behind the first one");
	at = strstr(b.s, "      --web.listen-address ADDRESS\n");
	at = at ? strchr(at, '\n') : NULL;
	ok(at && strspn(at + 1, " ") == 28, "a line of its own, and the description below it");
	buf_free(&b);
	options_help(&b, CMD_REPORT);
	for (size_t i = 0; i < nr_report_formats; i++)
		ok(strstr(b.s, report_formats[i].name), "a format: %s", report_formats[i].name);
	ok(!strstr(b.s, "\n  folded user"), "formats of reports alone");
	buf_free(&b);
}

/* Returns the number of lines that man(7) takes for a request that is none. */
static size_t odd_requests(const char *text)
{
	static const char *const known[] = {".TH ", ".SH ", ".TP\n", ".BR ", ".B ", ".br\n"};
	size_t n = 0;

	for (const char *at = text; at && *at;
	     at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		bool good = *at != '.' && *at != '\'';

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			good |= !strncmp(at, known[i], strlen(known[i]));
		n += !good;
	}
	return n;
}

/* Writes a text as man(7) needs it. */
static const char *for_man(const char *text)
{
	static char ret[4][2048];
	static unsigned int turn;
	char *to = ret[turn++ & 3], *begin = to;

	if (*text == '.' || *text == '\'')
		to += sprintf(to, "\\&"); /* not a request */
	for (; *text && to < begin + sizeof(ret[0]) - 3; text++)
		to += sprintf(to, "%s%c", *text == '-' || *text == '\\' ? "\\" : "",
			      *text == '\\' ? 'e' : *text);
	*to = 0;
	return begin;
}

static void test_man(enum command command)
{
	struct buf b = {};
	size_t options = 0, missing = 0, examples = 0, found = 0;
	char word[4200];

	options_man(&b, command);
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];
		char brief[24] = "";

		if (!has(row, command))
			continue;
		options++;
		if (row->short_name)
			snprintf(brief, sizeof(brief), "\\-%c\\fR, \\fB", row->short_name);
		snprintf(word, sizeof(word), ".TP\n\\fB%s\\-\\-%s\\fR%s%s%s\n%s\n", brief,
			 for_man(row->name), row->arg ? " \\fI" : "",
			 row->arg ? for_man(row->arg) : "", row->arg ? "\\fR" : "",
			 for_man(row->help));
		missing += !strstr(b.s, word);
	}
	is_u64(missing, 0, *command_name(command) ? command_name(command) : "faultscope");
	is_u64(count(b.s, ".TP\n\\fB\\-"), options, "no other option");
	is_u64(odd_requests(b.s), 0, "no line that man takes for a request");
	ok(!strncmp(b.s, ".TH FAULTSCOPE", 14) && strstr(b.s, " 8 \""), "its title");
	is_u64(count(b.s, "\n.SH COMMANDS\n"), command == CMD_WATCH, "the commands");
	is_u64(count(b.s, "\n.SH CONDITIONS\n"), command_has(command, "fail-on"), "the conditions");
	is_u64(count(b.s, "\n.SH FORMATS\n"), command_has(command, "format"), "the formats");
	is_u64(count(b.s, "\n.SH KEYS\n"), command == CMD_WATCH || command == CMD_REPLAY,
	       "the keys");
	is_u64(count(b.s, "\n.SH FINDINGS\n"), command == CMD_EXPLAIN, "the findings");
	is_u64(count(b.s, "\n.SH LIMITS\n"), command == CMD_DOCTOR, "the limits");
	is_u64(count(b.s, "\n.SH PRIVILEGES\n"), command == CMD_WATCH || command == CMD_DOCTOR,
	       "the privileges");
	is_u64(count(b.s, "\n.SH FILES\n"), command == CMD_WATCH, "the files");
	for (size_t i = 0; i < nr_example_rows; i++) {
		snprintf(word, sizeof(word), ".TP\n\\fB%s\\fR\n%s\n", for_man(example_rows[i].line),
			 for_man(example_rows[i].what));
		examples += example_rows[i].command == command;
		found += example_rows[i].command == command && strstr(b.s, word);
	}
	is_u64(found, examples, "its examples");
	is_u64(count(strstr(b.s, ".SH EXAMPLES"), ".TP\n"), examples, "and no others");
	is_u64(count(strstr(b.s, ".SH SEE ALSO"), "\n.BR "),
	       command == CMD_WATCH || command == CMD_DIAGNOSE || command == CMD_DOCTOR ||
			       command == CMD_EXPLAIN
		       ? 6
		       : 7,
	       "other pages, but not itself");
	buf_free(&b);
}

/* Returns whether a page has a term and its description, which begins with `text`. */
static bool has_row(const char *page, const char *term, const char *text)
{
	char row[4200];

	snprintf(row, sizeof(row), "\n.TP\n\\fB%s\\fR\n%s", for_man(term), for_man(text));
	return strstr(page, row) != NULL;
}

/* The parts of a page before its options. */
static void test_man_head(enum command command)
{
	const struct command_row *row = &command_rows[command];
	char title[64] = "", head[2200], *to = title;
	struct buf b = {};

	for (const char *at = row->name; *at; at++)
		*to++ = toupper((unsigned char)*at);
	options_man(&b, command);
	snprintf(head, sizeof(head), ".TH FAULTSCOPE%s%s 8 \"", *title ? "\\-" : "", title);
	ok(!strncmp(b.s, head, strlen(head)), "the title of a page: %s", title);
	snprintf(head, sizeof(head), "\n.SH NAME\nfaultscope%s%s \\- %s\n", *title ? "\\-" : "",
		 row->name,
		 *title ? for_man(row->help)
			: "page faults, mappings and file descriptors of processes");
	ok(strstr(b.s, head), "its name");
	snprintf(head, sizeof(head), "\n.SH SYNOPSIS\n.B faultscope%s%s\n%s%s.SH DESCRIPTION\n",
		 *title ? " " : "", row->name, for_man(row->args),
		 !*title      ? "\n.br\n.B faultscope\n\\fICOMMAND\\fR ...\n"
		 : *row->args ? "\n"
			      : "");
	ok(strstr(b.s, head), "how it is used");
	snprintf(head, sizeof(head), ".SH DESCRIPTION\n%.150s", for_man(row->text));
	ok(strstr(b.s, head), "what it does");
	is_u64(count(b.s, "\n.SH OPTIONS\n"), 1, "its options");
	is_u64(count(b.s, "\n.SH EXIT STATUS\n"), 1, "its exit statuses");
	buf_free(&b);
}

static void test_man_rows(void)
{
	static const char *const files[] = {
		"/usr/lib/faultscope/btf, /usr/local/lib/faultscope/btf",
		"/var/lib/faultscope/blackbox.ring",
		"/var/lib/faultscope/oom, /var/lib/faultscope-exporter/oom",
		"$XDG_CONFIG_HOME/faultscope/settings, ~/.config/faultscope/settings",
	};
	static const char *const variables[] = {"NO_COLOR", "XDG_CONFIG_HOME", "TERM",
						"GITHUB_ACTIONS"};
	struct buf watch = {}, report = {}, explain = {};
	const struct diagnosis *d;
	struct gate_row gate;
	const char *part;
	char word[600];

	options_man(&watch, CMD_WATCH);
	options_man(&report, CMD_REPORT);
	options_man(&explain, CMD_EXPLAIN);
	for (size_t i = 0; gate_row(i, &gate); i++)
		ok(has_row(watch.s, gate.name, gate.help), "a condition: %s", gate.name);
	for (size_t i = 0; i < nr_tui_help; i++)
		ok(has_row(watch.s, tui_help[i].keys, tui_help[i].what), "a key: %s",
		   tui_help[i].keys);
	for (size_t i = 0; i < nr_report_formats; i++) {
		const struct report_format *f = &report_formats[i];

		snprintf(word, sizeof(word), "%.400s; for %.100s", f->help, f->readers);
		ok(has_row(report.s, f->name, word) && !has_row(watch.s, f->name, word),
		   "a format of reports: %s", f->name);
	}
	ok(has_row(watch.s, "text", "plain text (default)") && has_row(watch.s, "json", "JSON") &&
		   has_row(watch.s, "folded", "folded user stacks"),
	   "formats of measurements");
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		snprintf(word, sizeof(word), "%s %s", d->id, d->slug);
		ok(has_row(explain.s, word, d->title), "a finding: %s", word);
	}
	for (int c = CMD_RUN; c < NR_COMMANDS; c++) {
		snprintf(word, sizeof(word), "\n.TP\n.BR faultscope\\-%s (8)\n%.100s",
			 command_name(c), for_man(command_rows[c].help));
		ok(strstr(watch.s, word), "a command: %s", command_name(c));
	}
	for (size_t i = 0; i < 4; i++)
		ok(has_row(watch.s, files[i], "") && has_row(watch.s, variables[i], ""),
		   "a file and a variable: %s", variables[i]);
	part = strstr(watch.s, "\n.SH FILES\n");
	ok(part && strstr(part, "\n.SH ENVIRONMENT\n"), "variables follow files");
	buf_free(&watch);
	buf_free(&report);
	buf_free(&explain);
}

static void test_exit_statuses(void)
{
	static const struct {
		enum command command;
		const char *statuses; /* the first digit of each */
	} rows[] = {
		{CMD_WATCH, "01234567"},
		{CMD_RUN, "01234567"
			  "1"},
		{CMD_HOST, "012357"},
		{CMD_TRIAGE, "01237"},
		{CMD_EXPORT, "012567"},
		{CMD_MAN, "012"},
		{CMD_SCHEMA, "012"},
		{CMD_COMPLETION, "012"},
		{CMD_INFO, "0127"},
		{CMD_DOCTOR, "012567"},
		{CMD_BLACKBOX, "0123567"},
		{CMD_RECORD, "0124567"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};
		char digits[16] = "";
		const char *at, *end;
		size_t n = 0;

		options_man(&b, rows[i].command);
		at = strstr(b.s, ".SH EXIT STATUS");
		end = strstr(at, ".SH EXAMPLES");
		while ((at = strstr(at, ".TP\n\\fB")) && at < end && n < sizeof(digits) - 1) {
			at += strlen(".TP\n\\fB");
			digits[n++] = *at;
		}
		is_str(digits, rows[i].statuses, "exit statuses");
		buf_free(&b);
	}
}

/* The bash script lists the options of each command. */
static void test_bash(void)
{
	struct buf b = {}, line = {};

	options_completion(&b, "bash");
	for (int c = CMD_WATCH; c < NR_COMMANDS; c++) {
		buf_clear(&line);
		buf_printf(&line, "\n\t%s) options='", c ? command_name(c) : "*");
		for (size_t i = 0; i < nr_option_rows; i++)
			if (has(&option_rows[i], c))
				buf_printf(&line, "--%s ", option_rows[i].name);
		buf_puts(&line, "'; ");
		is_u64(count(b.s, line.s), 1, c ? command_name(c) : "faultscope");
	}
	ok(strstr(b.s, "\t*\\ --color) COMPREPLY=($(compgen -W 'auto always never' "),
	   "the words of an option");
	ok(strstr(b.s, "\t*\\ --output|*\\ -o) compopt -o filenames 2>/dev/null; mapfile -t "
		       "COMPREPLY < <(compgen -f "),
	   "files");
	ok(strstr(b.s, "\t*\\ --group) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
		       "<(compgen -d "),
	   "directories");
	ok(strstr(b.s, "\t*\\ --pid|*\\ -p) COMPREPLY=($(compgen -W \"$(cd /proc "), "processes");
	ok(strstr(b.s, "\t*\\ --comm) return; return ;;\n"), "an option with any word");
	ok(!strstr(b.s, "\\ --quiet)"), "an option without a word");
	ok(strstr(b.s, "\treport\\ --format) ") && strstr(b.s, "\trun\\ --format) ") &&
		   strstr(b.s, "\t*\\ --format) ") && !strstr(b.s, "\tinfo\\ --format) "),
	   "formats by command");
	ok(strstr(b.s, "compopt -o nospace") && count(b.s, "compopt -o nospace") == 3,
	   "words that go on: --probe, --assume and --fail-on");
	buf_free(&b);
	buf_free(&line);
}

static void test_zsh(void)
{
	struct buf b = {};
	size_t wanted = 0;

	options_completion(&b, "zsh");
	for (size_t i = 0; i < nr_option_rows; i++)
		for (int c = CMD_WATCH; c < NR_COMMANDS; c++)
			wanted += has(&option_rows[i], c) * (option_rows[i].short_name ? 2 : 1);
	is_u64(count(b.s, " \\\n\t\t'*-"), wanted, "each option of each command");
	ok(strstr(b.s, " \\\n\t\t'*-q["), "a letter without a word");
	ok(strstr(b.s, " \\\n\t\t'*-d+["), "a letter with a word");
	ok(strstr(b.s, " \\\n\t\t'*--duration=["), "an option with a word");
	ok(strstr(b.s, "]:WHEN:(auto always never)'"), "its words");
	ok(strstr(b.s, "]:FILE:_files'") && strstr(b.s, "]:DIR:_files -/'"), "files");
	ok(strstr(b.s, "]:PID\\[,PID...\\]:_faultscope_pids'"), "brackets are escaped");
	ok(strstr(b.s, "compadd -S \"\" - "), "words that go on");
	for (int c = CMD_RUN; c < NR_COMMANDS; c++) {
		char line[64];

		snprintf(line, sizeof(line), "\n\t%s) ", command_name(c));
		is_u64(count(b.s, line), 1, command_name(c));
	}
	ok(strstr(b.s, "'*::command:_normal' ;;\n") &&
		   strstr(b.s, "'*:finding:_faultscope_findings'") &&
		   strstr(b.s, "'1:action:(run arm status read)' '*:file:_files' ;;\n") &&
		   strstr(b.s, "'*:word:_files' ;;\n"),
	   "what follows a command");
	buf_free(&b);
}

static void test_fish(void)
{
	struct buf b = {};
	char line[256];

	options_completion(&b, "fish");
	/* --format has a line for reports and one for others */
	is_u64(count(b.s, " -l "), nr_option_rows + 1 + 2, "each option, and the script's own");
	for (int c = CMD_RUN; c < NR_COMMANDS; c++) {
		snprintf(line, sizeof(line), " -n __faultscope_begins -a %s -d '", command_name(c));
		is_u64(count(b.s, line), 1, command_name(c));
	}
	ok(strstr(b.s, "complete -c faultscope -n '__faultscope_is none record' -l children -d '"),
	   "the commands of an option");
	ok(strstr(b.s, "'__faultscope_is report diff' -l format -x -a '"), "formats of reports");
	ok(strstr(b.s, "-l pid -s p -x -a '(__fish_complete_pids)' -d '"), "processes");
	ok(strstr(b.s, "-l record -r -F -d '") && strstr(b.s, "-l group -r -F -d '"), "files");
	ok(strstr(b.s, "-l comm -x -d '"), "any word");
	ok(strstr(b.s, "'__faultscope_is run' -F -a '(__fish_complete_command)'\n"), "a command");
	ok(strstr(b.s, "'__faultscope_is triage' -F\n"), "files of a command");
	ok(strstr(b.s, "'__faultscope_is completion' -x -a 'bash zsh fish'\n"), "words of one");
	ok(!strstr(b.s, "'__faultscope_is host' -"), "a command without words");
	buf_free(&b);
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && !strcmp(text + n - len, end);
}

/* Writes all commands with `between` between two of them. */
static const char *commands(const char *between)
{
	static char ret[1024];
	size_t len = 0;

	for (int c = CMD_RUN; c < NR_COMMANDS; c++)
		len += snprintf(ret + len, sizeof(ret) - len, "%s%s", c == CMD_RUN ? "" : between,
				command_name(c));
	return ret;
}

/* Writes a text for within single quotes, with a backslash before each byte of `also`. */
static const char *quoted(const char *text, const char *also)
{
	static char ret[2048];
	char *to = ret;

	for (; *text && to < ret + sizeof(ret) - 8; text++)
		to += *text == '\'' ? sprintf(to, "'\\''")
				    : sprintf(to, "%s%c", strchr(also, *text) ? "\\" : "", *text);
	*to = 0;
	return ret;
}

/* What scripts of zsh and fish say about options and findings. */
static void test_descriptions(void)
{
	struct buf zsh = {}, fish = {};
	size_t missing = 0;
	char text[2100];

	options_completion(&zsh, "zsh");
	options_completion(&fish, "fish");
	for (size_t i = 0; i < nr_option_rows; i++) {
		snprintf(text, sizeof(text), "[%s]", quoted(option_rows[i].help, "[]:"));
		missing += !strstr(zsh.s, text);
		snprintf(text, sizeof(text), " -d '%s'\n", quoted(option_rows[i].help, ""));
		missing += !strstr(fish.s, text);
	}
	is_u64(missing, 0, "the texts of all options");
	for (size_t i = 0; diagnosis_at(i); i++) {
		snprintf(text, sizeof(text), ":%s'\n", quoted(diagnosis_at(i)->title, "[]:"));
		missing += count(zsh.s, text) < 2;
		snprintf(text, sizeof(text), " -d '%s'\n", quoted(diagnosis_at(i)->title, ""));
		missing += count(fish.s, text) < 2;
	}
	is_u64(missing, 0, "the titles of all findings, by id and by name");
	for (int c = CMD_RUN; c < NR_COMMANDS; c++) {
		snprintf(text, sizeof(text), "'%s:%s'\n", command_name(c),
			 quoted(command_rows[c].help, "[]:"));
		missing += !strstr(zsh.s, text);
		snprintf(text, sizeof(text), " -a %s -d '%s'\n", command_name(c),
			 quoted(command_rows[c].help, ""));
		missing += !strstr(fish.s, text);
	}
	is_u64(missing, 0, "and what commands do");
	buf_free(&zsh);
	buf_free(&fish);
}

/* The parts of a bash script that do not depend on options. */
static void test_bash_parts(void)
{
	struct buf b = {};
	char part[1200];

	options_completion(&b, "bash");
	ok(begins_with(b.s, "# bash completion for faultscope; made by: faultscope completion "
			    "bash\n_faultscope() {\n"),
	   "bash: it begins with its function");
	ok(ends_with(b.s, "\tesac\n\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n}\n"
			  "complete -F _faultscope faultscope\n"),
	   "and ends with its use");
	snprintf(part, sizeof(part), "\tcase ${COMP_WORDS[1]} in\n\t%s)\n", commands("|"));
	ok(strstr(b.s, part), "the commands");
	is_u64(count(b.s, "\tesac\n"), count(b.s, "\tcase "), "each case has its end");
	ok(strstr(b.s, "((COMP_CWORD == 1)) || return; COMPREPLY=($(compgen -W 'run "),
	   "a command is the first word");
	ok(strstr(b.s, "!= *' read '* ]] || { compopt"), "files of blackbox read");
	is_u64(count(b.s, "; return ;;\n"), count(b.s, "\\ --") - count(b.s, "|*\\ --"),
	       "each argument has an end");
	is_u64(count(b.s, "; return; } ;;\n"), NR_COMMANDS, "and each command");
	buf_free(&b);
}

static void test_zsh_parts(void)
{
	struct buf b = {};
	size_t findings = 0;

	options_completion(&b, "zsh");
	while (diagnosis_at(findings))
		findings++;
	ok(begins_with(b.s, "#compdef faultscope\n# made by: faultscope completion zsh\n"),
	   "zsh: its head");
	ok(ends_with(b.s, " ;;\n\tesac\n}\n_faultscope \"$@\"\n"), "and its end");
	ok(strstr(b.s, "_faultscope_pids() {\n\tlocal -a pids=(") &&
		   strstr(b.s, "_faultscope_findings() {\n\tlocal -a findings=(\n"),
	   "functions for processes and findings");
	is_u64(count(b.s, "\n\t\t'"), 2 * findings + NR_COMMANDS - 1 + count(b.s, "\\\n\t\t'"),
	       "a row for each id and name of a finding, and for each command");
	for (size_t i = 0; i < findings; i++) {
		char id[64], slug[128];

		snprintf(id, sizeof(id), "\n\t\t'%s:", diagnosis_at(i)->id);
		snprintf(slug, sizeof(slug), "'\n\t\t'%s:", diagnosis_at(i)->slug);
		ok(count(b.s, id) == 1 && count(b.s, slug) == 1, "a finding: %s",
		   diagnosis_at(i)->slug);
	}
	is_u64(count(b.s, "\n\t)\n\t_describe -t findings finding findings\n}\n"), 1,
	       "the list of findings");
	is_u64(count(b.s, "\n\t)\n\tif (( CURRENT == 2 ))"), 1, "the list of commands");
	is_u64(count(b.s, "_arguments -S \\\n"), NR_COMMANDS, "arguments of each command");
	is_u64(count(b.s, " ;;\n"), NR_COMMANDS, "each command has an end");
	ok(strstr(b.s, "local -i end=${words[(i)--]}\n"), "words behind -- are a command");
	buf_free(&b);
}

static void test_fish_parts(void)
{
	struct buf b = {};
	char part[1200];

	options_completion(&b, "fish");
	ok(begins_with(b.s, "# made by: faultscope completion fish\nfunction __faultscope_is\n"),
	   "fish: its head");
	snprintf(part, sizeof(part), "; and contains -- $words[2] %s\n\t\tset command $words[2]\n",
		 commands(" "));
	ok(strstr(b.s, part), "the commands");
	ok(strstr(b.s, "\ncomplete -c faultscope -f\n"), "no files where none is asked for");
	for (size_t i = 0; diagnosis_at(i); i++) {
		char id[128], slug[192];

		snprintf(id, sizeof(id), "'__faultscope_is explain' -a %s -d '",
			 diagnosis_at(i)->id);
		snprintf(slug, sizeof(slug),
			 "'\ncomplete -c faultscope -n '__faultscope_is "
			 "explain' -a %s -d '",
			 diagnosis_at(i)->slug);
		ok(count(b.s, id) == 1 && count(b.s, slug) == 1, "a finding: %s",
		   diagnosis_at(i)->slug);
	}
	ok(strstr(b.s, "not __fish_seen_subcommand_from run arm status read' -a 'run arm status "
		       "read'\n") &&
		   strstr(b.s, "; and __fish_seen_subcommand_from read' -F\n"),
	   "words of blackbox");
	for (const char *at = b.s, *end; (end = strchr(at, '\n')); at = end + 1)
		if (begins_with(at, "complete ") && !begins_with(at, "complete -c faultscope -"))
			ok(false, "a line of another program: %.40s", at);
	buf_free(&b);
}

int main(void)
{
	struct buf b = {};

	for (int c = CMD_WATCH; c < NR_COMMANDS; c++) {
		test_help(c);
		test_man(c);
		test_man_head(c);
	}
	test_columns();
	test_man_rows();
	test_exit_statuses();
	for (size_t i = 0; i < 3; i++) {
		is_u64(-options_completion(&b, shells[i]), 0, shells[i]);
		for (int c = CMD_RUN; c < NR_COMMANDS; c++)
			if (!strstr(b.s, command_name(c)))
				ok(false, "%s lacks %s", shells[i], command_name(c));
		buf_clear(&b);
	}
	is_u64(-options_completion(&b, "csh"), EINVAL, "a shell without completions");
	is_u64(b.len, 0, "nothing is written");
	buf_free(&b);
	test_bash();
	test_zsh();
	test_fish();
	test_descriptions();
	test_bash_parts();
	test_zsh_parts();
	test_fish_parts();
	return tap_done();
}
