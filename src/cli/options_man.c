// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes manual pages in man(7) format, one per command. */
#include <stdio.h>
#include <string.h>

#include "cli/options_table.h"
#include "render/tui/tui.h"
#include "rules/diagnoses.h"

#define OF(command) (1u << CMD_##command)
#define ALL	    (~0u)

/* The exit statuses, and the commands that may end with each. */
static const struct {
	unsigned int commands;
	const char *status, *what;
} statuses[] = {
	{ALL, "0", "success; if the command searches for problems, it found none"},
	{ALL, "1", "an error occurred while the command ran; standard error has the message"},
	{ALL, "2", "wrong arguments"},
	{OF(WATCH) | OF(RUN), "3", "a condition of --fail-on was true or could not be measured"},
	{OF(DIAGNOSE) | OF(HOST), "3",
	 "there is a finding of severity warning or above (or of --min-severity)"},
	{OF(TRIAGE), "3", "the log contains a kernel crash"},
	{OF(BLACKBOX), "3", "blackbox read found a critical record"},
	{OF(WATCH) | OF(RUN) | OF(DIAGNOSE) | OF(RECORD), "4",
	 "the process was not found, or ended before anything was measured"},
	{OF(WATCH) | OF(RUN) | OF(DIAGNOSE) | OF(HOST) | OF(DOCTOR) | OF(BLACKBOX) | OF(EXPORT) |
		 OF(RECORD),
	 "5", "not permitted; the message names the capability"},
	{OF(WATCH) | OF(RUN) | OF(DIAGNOSE) | OF(DOCTOR) | OF(BLACKBOX) | OF(EXPORT) | OF(RECORD),
	 "6", "the kernel lacks a core feature"},
	{ALL & ~(OF(SCHEMA) | OF(COMPLETION) | OF(MAN)), "7",
	 "the result is incomplete: nothing was read, nothing matched, data was lost, or a value "
	 "could not be measured; standard error says which"},
	{OF(RUN), "125, 126, 127",
	 "125: faultscope failed; 126: CMD is not executable; 127: CMD was not found. Otherwise "
	 "faultscope exits with the status of CMD. Only if CMD exits with 0, faultscope may exit "
	 "with 3 or 7 instead."},
};

static const char privileges[] =
	"faultscope needs root rights, or the capabilities CAP_BPF and CAP_PERFMON. After the "
	"probes are attached and the first scan is done, faultscope drops every capability and "
	"sets no_new_privs. Where the kernel has Landlock, faultscope can then only read files "
	"below /proc and /sys. With -p, and in run and diagnose, faultscope can also read the "
	"files that set limits: sysctl.d, systemd units, limits.d. The command that faultscope "
	"run starts has the privileges of the caller. The command faultscope doctor says which "
	"privileges faultscope keeps, and why. In a pid namespace, the PID of -p is a pid of "
	"that namespace. All output shows pids of the initial namespace.";

static const char conditions_about[] =
	"--fail-on takes a list of conditions, and makes faultscope exit with 3 if one of them "
	"is true at the end. A condition is the name of a value, one of > >= < <=, and a number. "
	"The number may have a suffix: % (percent of the limit), k, M, G, ms or s. The name is "
	"one of those below, or the JSON name of any value of a process, such as faults.failed, "
	"memory.vm_bytes or threads. For a counter, the sum over all processes is compared with "
	"the number. For any other value, the highest value of all processes is compared. A "
	"condition whose value could not be measured counts as true. With run, the exit status "
	"is 3 only if the command exits with 0.";

static const char keys_about[] =
	"On a terminal, faultscope shows a live view with several tabs. One tab shows all "
	"processes, with trends, findings, and bars that compare values with their limits. Other "
	"tabs show one process, and the diagnosis of that process. If TERM is dumb or the output "
	"is no terminal, faultscope prints plain text.";

static const char limits_about[] =
	"doctor lists the limits of the machine, of the shell and of the shell's cgroup. For "
	"each limit, it says where the limit was set: in a line of a sysctl file, of a systemd "
	"unit or of limits.conf, by a parent process, or by the container runtime. For a limit "
	"that is too low, doctor prints a command that raises the limit now (try), a command "
	"that raises it permanently (keep), and the cost of a higher limit. doctor runs none of "
	"these commands. Sysctls such as vm.max_map_count apply to the whole host: a container "
	"cannot have its own value.";

/* Escapes text for man(7), where a leading dot and backslashes are requests. */
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

/* Writes a term and its description. */
static void man_row(struct buf *b, const char *term, const char *text)
{
	buf_puts(b, ".TP\n\\fB");
	put_man(b, term);
	buf_puts(b, "\\fR\n");
	put_man(b, text);
	buf_puts(b, "\n");
}

static void man_text(struct buf *b, const char *heading, const char *text)
{
	buf_printf(b, ".SH %s\n", heading);
	put_man(b, text);
	buf_puts(b, "\n");
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

static void man_conditions(struct buf *b)
{
	struct gate_row gate;

	man_text(b, "CONDITIONS", conditions_about);
	for (size_t i = 0; gate_row(i, &gate); i++)
		man_row(b, gate.name, gate.help);
}

static void man_keys(struct buf *b)
{
	man_text(b, "KEYS", keys_about);
	for (size_t i = 0; i < nr_tui_help; i++)
		man_row(b, tui_help[i].keys, tui_help[i].what);
}

static void man_formats(struct buf *b, enum command command)
{
	char text[512];

	buf_puts(b, ".SH FORMATS\n");
	if (command != CMD_REPORT && command != CMD_DIFF) {
		man_row(b, "text", "plain text (default)");
		man_row(b, "json", "JSON Lines; the command faultscope schema prints their schema");
		man_row(b, "folded", "folded user stacks, for flame graphs");
		return;
	}
	for (size_t i = 0; i < nr_report_formats; i++) {
		const struct report_format *f = &report_formats[i];

		snprintf(text, sizeof(text), "%s; for %s%s%s", f->help, f->readers,
			 f->suffix ? "; default for output files named *" : "",
			 f->suffix ? f->suffix : "");
		man_row(b, f->name, text);
	}
}

static void man_findings(struct buf *b)
{
	const struct diagnosis *d;
	char head[64];

	buf_puts(b, ".SH FINDINGS\n");
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		snprintf(head, sizeof(head), "%s %s", d->id, d->slug);
		man_row(b, head, d->title);
	}
}

static void man_statuses(struct buf *b, enum command command)
{
	buf_puts(b, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].commands >> command & 1)
			man_row(b, statuses[i].status, statuses[i].what);
}

static void man_examples(struct buf *b, enum command command)
{
	buf_puts(b, ".SH EXAMPLES\n");
	for (size_t i = 0; i < nr_example_rows; i++)
		if (example_rows[i].command == command)
			man_row(b, example_rows[i].line, example_rows[i].what);
}

static void man_reference(struct buf *b, enum command command, const char *end)
{
	if (command == CMD_WATCH)
		buf_printf(b, ".BR faultscope (8)%s\n", end);
	else
		buf_printf(b, ".BR faultscope\\-%s (8)%s\n", command_rows[command].name, end);
}

static void man_commands(struct buf *b)
{
	buf_puts(b, ".SH COMMANDS\n");
	for (int i = CMD_RUN; i < NR_COMMANDS; i++) {
		buf_puts(b, ".TP\n");
		man_reference(b, i, "");
		put_man(b, command_rows[i].help);
		buf_puts(b, "\n");
	}
}

static void man_files(struct buf *b)
{
	buf_puts(b, ".SH FILES\n");
	man_row(b, "/usr/lib/faultscope/btf, /usr/local/lib/faultscope/btf",
		"BTF files, named MACHINE/RELEASE.btf, for kernels without "
		"/sys/kernel/btf/vmlinux");
	man_row(b, "/var/lib/faultscope/blackbox.ring", "ring file of the flight recorder");
	man_row(b, "/var/lib/faultscope/oom, /var/lib/faultscope-exporter/oom",
		"pages of OOM kills, for faultscope oom");
	man_row(b, "$XDG_CONFIG_HOME/faultscope/settings, ~/.config/faultscope/settings",
		"settings of the live view, which faultscope settings lists");
	buf_puts(b, ".SH ENVIRONMENT\n");
	man_row(b, "NO_COLOR", "if this variable is set, faultscope prints text without colours");
	man_row(b, "XDG_CONFIG_HOME",
		"directory that contains the directory faultscope with the settings of the live "
		"view (default: ~/.config)");
	man_row(b, "TERM",
		"if this variable is dumb, faultscope prints plain text instead of "
		"the live view");
	man_row(b, "GITHUB_ACTIONS",
		"if this variable is true, run and --fail-on print annotations for GitHub Actions");
}

static void man_head(struct buf *b, enum command command)
{
	const struct command_row *c = &command_rows[command];

	buf_puts(b, ".TH FAULTSCOPE");
	for (const char *at = c->name; *at; at++)
		buf_printf(b, "%s%c", at == c->name ? "\\-" : "", *at - 'a' + 'A');
	buf_printf(b, " 8 \"" VERSION_DATE "\" \"faultscope %s\" \"System Manager's Manual\"\n",
		   VERSION);
	buf_puts(b, ".SH NAME\nfaultscope");
	if (command == CMD_WATCH) {
		buf_puts(b, " \\- page faults, mappings and file descriptors of processes\n");
	} else {
		buf_printf(b, "\\-%s \\- ", c->name);
		put_man(b, c->help);
		buf_puts(b, "\n");
	}
	buf_puts(b, ".SH SYNOPSIS\n.B faultscope");
	buf_printf(b, "%s%s\n", *c->name ? " " : "", c->name);
	put_man(b, c->args);
	buf_puts(b, command == CMD_WATCH ? "\n.br\n.B faultscope\n\\fICOMMAND\\fR ...\n"
		    : *c->args		 ? "\n"
					 : "");
	man_text(b, "DESCRIPTION", c->text);
}

void options_man(struct buf *b, enum command command)
{
	static const enum command near[] = {CMD_WATCH, CMD_DIAGNOSE, CMD_DOCTOR, CMD_EXPLAIN};

	man_head(b, command);
	if (command == CMD_WATCH)
		man_commands(b);
	buf_puts(b, ".SH OPTIONS\n");
	for (size_t i = 0; i < nr_option_rows; i++)
		if (option_rows[i].commands >> command & 1)
			man_option(b, &option_rows[i]);
	if (command_has(command, "fail-on"))
		man_conditions(b);
	if (command_has(command, "format"))
		man_formats(b, command);
	if (command == CMD_WATCH || command == CMD_REPLAY)
		man_keys(b);
	if (command == CMD_EXPLAIN)
		man_findings(b);
	if (command == CMD_DOCTOR)
		man_text(b, "LIMITS", limits_about);
	if (command == CMD_WATCH || command == CMD_DOCTOR)
		man_text(b, "PRIVILEGES", privileges);
	if (command == CMD_WATCH)
		man_files(b);
	man_statuses(b, command);
	man_examples(b, command);
	buf_puts(b, ".SH SEE ALSO\n");
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		if (near[i] != command)
			man_reference(b, near[i], ",");
	buf_puts(b, ".BR proc (5),\n.BR getrlimit (2),\n.BR mmap (2)\n");
}
