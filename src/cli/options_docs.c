// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options_table.h"
#include "render/tui/tui.h"
#include "rules/diagnoses.h"

#define HELP_COLUMN 27
#define HELP_WIDTH  100

static const struct {
	const char *command, *what;
} examples[] = {
	{"sudo faultscope", "every process, each second"},
	{"sudo faultscope -p 4211", "one process in full"},
	{"sudo faultscope -p 4211 --children --json -d 60",
	 "a process tree, one minute, for programs"},
	{"sudo faultscope --cgroup /system.slice/db.service 5", "a unit, every five seconds"},
	{"sudo faultscope run -- python3 train.py", "a command from its first instruction"},
	{"sudo faultscope -p 4211 --record crash.fsr -d 60", "record, to look at elsewhere"},
	{"faultscope --replay crash.fsr", "look at it, without root"},
	{"faultscope triage crash.log", "what a kernel crash log means, without root"},
	{"sudo faultscope doctor", "what works here, and why not"},
	{"sudo faultscope run --fail-on 'maps.max>60%,refused>0' --junit out.xml -- ./test",
	 "a test that fails where it comes near a limit"},
	{"faultscope explain M01", "what a finding means, and what to do"},
	{"faultscope explain \"Too many open files\"", "what an error message may mean"},
};

static const struct {
	const char *status, *what;
} statuses[] = {
	{"0", "done"},
	{"1", "failed while running"},
	{"2", "usage"},
	{"3", "a gate of --fail-on tripped or could not be measured; diagnose or triage found "
	      "something"},
	{"4", "target not found, or gone before anything was measured"},
	{"5", "not permitted (the message names the capability)"},
	{"6", "the kernel lacks what is needed"},
	{"7", "incomplete: nothing was read, nothing matched, something was lost, or something was "
	      "not measured; standard error says what. With run it replaces only a 0 of CMD, and "
	      "a probe that --hook NAME=none switches off does not count there"},
	{"125, 126, 127",
	 "run: faultscope failed, CMD not executable, CMD not found; else CMD's own"},
};

static const char privileges[] =
	"Needs root, or CAP_BPF and CAP_PERFMON. Once all is attached and the first look is taken, "
	"every capability is given up, no_new_privs is set, and where the kernel has landlock only "
	"/proc and /sys can still be opened, to read (and with -p, run and diagnose the files that "
	"say who set a limit: sysctl.d, systemd's units, limits.d). The command of run keeps its "
	"caller's "
	"rights. What has to be kept, doctor says with the reason. In a pid namespace -p PID is a "
	"pid of that namespace; pids are printed as the initial namespace has them.";

static const char gates_about[] = "--fail-on takes conditions, of which none may be true at the "
				  "end: a figure, one of > >= < <=, "
				  "and a number; % is of the limit, and k, M, G, ms, s are "
				  "understood where they fit. Figures are "
				  "those below, or any of the JSON: faults.failed, "
				  "memory.vm_bytes, threads; what counts is added "
				  "up over all processes, what does not is the highest of any. "
				  "What could not be measured fails "
				  "too. With run, status 3 replaces only a 0 of the command.";

static const char keys_about[] =
	"On a terminal faultscope is a live view: tabs of all processes, with trends, bars against "
	"limits and findings; one process; its diagnosis. Where TERM is dumb or output is no "
	"terminal, it is plain text.";

static const char limits_help[] =
	"doctor says of each limit of the machine, of the shell it is started from and of its "
	"control group who set it: the line of the sysctl file, of the systemd unit or of "
	"limits.conf, the ancestor it is inherited from, the container's runtime; and where a "
	"limit is tight, a command that raises it at once (try), one that does for good (keep), "
	"and what that costs. It runs none of them. Sysctls are host-wide: a container cannot "
	"have one of its own.";

static void put_option(char *ret, size_t size, const struct option_row *o)
{
	char lead[8] = "    ";

	if (o->short_name)
		snprintf(lead, sizeof(lead), "-%c, ", o->short_name);
	snprintf(ret, size, "%s--%s%s%s", lead, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

/* A word and its text beside it, in lines of HELP_WIDTH columns at most. */
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

void options_help(struct buf *b, enum command command)
{
	const struct command_row *c = &command_rows[command];
	char text[64];

	buf_printf(b, "Usage: faultscope %s%s%s\n", c->name, *c->name ? " " : "", c->args);
	for (int i = CMD_RUN; command == CMD_WATCH && i < NR_COMMANDS; i++)
		buf_printf(b, "       faultscope %s %s\n", command_rows[i].name,
			   command_rows[i].args);
	buf_puts(b, "\n");
	if (command == CMD_WATCH)
		buf_puts(b, "Page faults, mapping pressure and file descriptors, per process: what "
			    "grows, which limit\nis near, which limit said no.\n\n");
	else
		buf_printf(b, "%s.\n\n", c->help);
	if (command == CMD_WATCH) {
		buf_puts(b, "Commands:\n");
		for (int i = CMD_RUN; i < NR_COMMANDS; i++)
			buf_printf(b, "  %-*s %s\n", HELP_COLUMN - 2, command_rows[i].name,
				   command_rows[i].help);
		buf_puts(b, "\n");
	}
	buf_puts(b, "Options:\n");
	for (size_t i = 0; i < nr_option_rows; i++) {
		if (!(option_rows[i].commands >> command & 1))
			continue;
		put_option(text, sizeof(text), &option_rows[i]);
		put_wrapped(b, text, option_rows[i].help);
	}
	if (command == CMD_WATCH) {
		buf_puts(b, "\nExamples:\n");
		for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
			buf_printf(b, "  %s\n      %s\n", examples[i].command, examples[i].what);
		buf_puts(b, "\nOn a terminal it is a live view: ? shows its keys.\nA command's own "
			    "options: faultscope COMMAND --help. Needs root, or "
			    "CAP_BPF and CAP_PERFMON.\n");
	}
}

/* Text for man(7): a leading dot and backslashes would be requests. */
static void put_man(struct buf *b, const char *s)
{
	if (*s == '.' || *s == '\'')
		buf_puts(b, "\\&");
	for (; *s; s++) {
		if (*s == '\\')
			buf_puts(b, "\\e");
		else if (*s == '-')
			buf_puts(b, "\\-");
		else
			buf_putc(b, *s);
	}
}

static void man_option(struct buf *b, const struct option_row *o)
{
	buf_puts(b, ".TP\n\\fB");
	if (o->short_name)
		buf_printf(b, "\\-%c\\fR, \\fB", o->short_name);
	buf_puts(b, "\\-\\-");
	put_man(b, o->name);
	buf_puts(b, "\\fR");
	if (o->arg) {
		buf_puts(b, " \\fI");
		put_man(b, o->arg);
		buf_puts(b, "\\fR");
	}
	buf_puts(b, "\n");
	put_man(b, o->help);
	buf_puts(b, "\n");
}

static void man_gates(struct buf *b)
{
	buf_puts(b, ".SH GATES\n");
	put_man(b, gates_about);
	buf_puts(b, "\n");
	for (size_t i = 0; i < nr_gate_rows; i++) {
		buf_printf(b, ".TP\n\\fB%s\\fR\n", gate_rows[i].name);
		put_man(b, gate_rows[i].help);
		buf_puts(b, "\n");
	}
}

static void man_keys(struct buf *b)
{
	buf_puts(b, ".SH KEYS\n");
	put_man(b, keys_about);
	buf_puts(b, "\n");
	for (size_t i = 0; i < nr_tui_help; i++) {
		buf_puts(b, ".TP\n\\fB");
		put_man(b, tui_help[i].keys);
		buf_puts(b, "\\fR\n");
		put_man(b, tui_help[i].what);
		buf_puts(b, "\n");
	}
}

static void man_formats(struct buf *b)
{
	buf_puts(b, ".SH FORMATS\nWhat \\fBfaultscope report\\fR can make of a recording.\n");
	for (size_t i = 0; i < nr_report_formats; i++) {
		const struct report_format *f = &report_formats[i];

		buf_printf(b, ".TP\n\\fB%s\\fR\n", f->name);
		put_man(b, f->help);
		buf_puts(b, "; read by ");
		put_man(b, f->readers);
		buf_puts(b, "\n");
	}
}

static void man_diagnoses(struct buf *b)
{
	const struct diagnosis *d;

	buf_puts(b, ".SH DIAGNOSES\nFindings have ids; \\fBfaultscope explain\\fR ID says more.\n");
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		buf_printf(b, ".TP\n\\fB%s\\fR\n", d->id);
		put_man(b, d->title);
		buf_puts(b, "\n");
	}
}

void options_man(struct buf *b)
{
	buf_printf(b,
		   ".TH FAULTSCOPE 8 \"" VERSION_DATE
		   "\" \"faultscope %s\" \"System Manager's Manual\"\n",
		   VERSION);
	buf_puts(b, ".SH NAME\nfaultscope \\- page faults, mapping pressure and file descriptors, "
		    "per process\n.SH SYNOPSIS\n");
	for (int i = 0; i < NR_COMMANDS; i++) {
		buf_puts(b, i ? ".br\n.B faultscope" : ".B faultscope");
		if (*command_rows[i].name)
			buf_printf(b, " %s", command_rows[i].name);
		buf_puts(b, "\n");
		if (*command_rows[i].args) {
			put_man(b, command_rows[i].args);
			buf_puts(b, "\n");
		}
	}
	buf_puts(b, ".SH DESCRIPTION\n");
	put_man(b, command_rows[CMD_WATCH].text);
	buf_puts(b, "\n.SH COMMANDS\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++) {
		buf_printf(b, ".TP\n\\fB%s\\fR ", command_rows[i].name);
		put_man(b, command_rows[i].args);
		buf_puts(b, "\n");
		put_man(b, command_rows[i].text);
		buf_puts(b, "\n");
	}
	buf_puts(b, ".SH OPTIONS\n");
	for (size_t i = 0; i < nr_option_rows; i++)
		man_option(b, &option_rows[i]);
	buf_puts(b, ".SH LIMITS\n");
	put_man(b, limits_help);
	buf_puts(b, "\n.SH PRIVILEGES\n");
	put_man(b, privileges);
	buf_puts(b, "\n");
	man_keys(b);
	man_gates(b);
	man_formats(b);
	man_diagnoses(b);
	buf_puts(b, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		buf_printf(b, ".TP\n%s\n%s\n", statuses[i].status, statuses[i].what);
	buf_puts(b, ".SH EXAMPLES\n");
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		buf_puts(b, ".TP\n.B \"");
		put_man(b, examples[i].command);
		buf_puts(b, "\"\n");
		put_man(b, examples[i].what);
		buf_puts(b, "\n");
	}
	buf_puts(b,
		 ".SH SEE ALSO\n.BR proc (5),\n.BR getrlimit (2),\n.BR mmap (2),\n.BR perf (1)\n");
}

static void complete_bash(struct buf *b)
{
	buf_puts(b,
		 "# bash completion for faultscope; made by: faultscope completion bash\n"
		 "_faultscope() {\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
		 "\tcase $prev in\n"
		 "\t-p|--pid) COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- "
		 "\"$cur\")); return ;;\n"
		 "\t--format) COMPREPLY=($(compgen -W 'text json' -- \"$cur\")); return ;;\n"
		 "\t--min-severity) COMPREPLY=($(compgen -W 'info warning critical' -- "
		 "\"$cur\")); return ;;\n"
		 "\t--color) COMPREPLY=($(compgen -W 'auto always never' -- \"$cur\")); return ;;\n"
		 "\t--record|--replay|--output|-o|--btf|--cgroup|--junit) COMPREPLY=($(compgen -f "
		 "-- "
		 "\"$cur\")); return ;;\n"
		 "\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (int c = NR_COMMANDS - 1; c >= 0; c--) {
		buf_printf(b, "\t%s) words='", c ? command_rows[c].name : "*");
		for (int i = CMD_RUN; !c && i < NR_COMMANDS; i++)
			buf_printf(b, "%s ", command_rows[i].name);
		if (c == CMD_COMPLETION)
			buf_puts(b, "bash zsh fish ");
		for (size_t i = 0; c == CMD_EXPLAIN && diagnosis_at(i); i++)
			buf_printf(b, "%s ", diagnosis_at(i)->id);
		for (size_t i = 0; i < nr_option_rows; i++)
			if (option_rows[i].commands >> c & 1)
				buf_printf(b, "--%s ", option_rows[i].name);
		buf_puts(b, "' ;;\n");
	}
	buf_puts(b, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
		    "complete -F _faultscope faultscope\n");
}

/* Within single quotes of a shell, which a quote of the text leaves and enters again. */
static void put_quoted(struct buf *b, const char *s)
{
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *s);
}

/* Brackets and colons mean something to _arguments. */
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

static void complete_zsh(struct buf *b)
{
	buf_puts(b, "#compdef faultscope\n# made by: faultscope completion zsh\nlocal state\n"
		    "local -a line\n_arguments \\\n");
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *o = &option_rows[i];

		buf_printf(b, "\t'--%s[", o->name);
		put_zsh(b, o->help);
		buf_puts(b, "]");
		if (o->arg) {
			buf_puts(b, ":");
			put_zsh(b, o->arg);
			buf_puts(b, !strcmp(o->arg, "FILE") || !strcmp(o->arg, "PATH") ? ":_files"
										       : ":");
		}
		buf_puts(b, "' \\\n");
	}
	buf_puts(b, "\t'1:command:((");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		buf_printf(b, "%s\\:\"%s\" ", command_rows[i].name, command_rows[i].help);
	buf_puts(b, "))' \\\n\t'*:word:->word'\n"
		    "if [[ $state == word && $line[1] == explain ]]; then\n\tlocal -a ids=(\n");
	for (size_t i = 0; diagnosis_at(i); i++) {
		buf_printf(b, "\t\t'%s:", diagnosis_at(i)->id);
		put_zsh(b, diagnosis_at(i)->title);
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t)\n\t_describe -t ids diagnosis ids\nfi\n");
}

static void complete_fish(struct buf *b)
{
	buf_puts(b, "# made by: faultscope completion fish\ncomplete -c faultscope -f\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++) {
		buf_printf(b, "complete -c faultscope -n __fish_use_subcommand -a %s -d '",
			   command_rows[i].name);
		put_quoted(b, command_rows[i].help);
		buf_puts(b, "'\n");
	}
	for (size_t i = 0; diagnosis_at(i); i++) {
		buf_printf(b,
			   "complete -c faultscope -n '__fish_seen_subcommand_from explain' -a %s "
			   "-d '",
			   diagnosis_at(i)->id);
		put_quoted(b, diagnosis_at(i)->title);
		buf_puts(b, "'\n");
	}
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *o = &option_rows[i];

		buf_printf(b, "complete -c faultscope -l %s", o->name);
		if (o->short_name)
			buf_printf(b, " -s %c", o->short_name);
		if (o->arg)
			buf_puts(b, !strcmp(o->arg, "FILE") || !strcmp(o->arg, "PATH") ? " -r -F"
										       : " -x");
		buf_puts(b, " -d '");
		put_quoted(b, o->help);
		buf_puts(b, "'\n");
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
