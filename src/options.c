// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/resources.h"
#include "options_table.h"

static int bad(char *error, size_t size, const char *option, const char *arg, const char *wanted)
{
	snprintf(error, size, "%s %s: %s", option, arg, wanted);
	return -EINVAL;
}

static int set_pids(struct options *o, const char *arg, char *error, size_t size)
{
	char copy[4096], *save = NULL;
	uint64_t pid;

	if (strlen(arg) >= sizeof(copy))
		return bad(error, size, "-p", "…", "too long a list");
	strcpy(copy, arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (parse_u64(one, 1, 1 << 22, &pid))
			return bad(error, size, "-p", arg,
				   "a process id, or several: -p 4211,4212");
		if (o->filter.pids == FILTER_PIDS_MAX)
			return bad(error, size, "-p", arg,
				   "more than 256 processes: use --comm or --cgroup");
		o->filter.pid[o->filter.pids++] = pid;
	}
	return o->filter.pids
		       ? 0
		       : bad(error, size, "-p", "''", "a process id, or several: -p 4211,4212");
}

static int set_children(struct options *o, const char *arg, char *error, size_t size)
{
	o->children = o->filter.children = true;
	return 0;
}

static int set_comm(struct options *o, const char *arg, char *error, size_t size)
{
	return filter_comm(&o->filter, arg, error, size);
}

static int set_cgroup(struct options *o, const char *arg, char *error, size_t size)
{
	return filter_cgroup(&o->filter, arg, error, size);
}

static int set_duration(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_seconds(arg, &o->duration)
		       ? bad(error, size, "--duration", arg, "a time: 10, 0.5, 500ms, 2m, 1h")
		       : 0;
}

static int set_record(struct options *o, const char *arg, char *error, size_t size)
{
	o->record = arg;
	return 0;
}

static int set_replay(struct options *o, const char *arg, char *error, size_t size)
{
	o->replay = arg;
	return 0;
}

static int set_force(struct options *o, const char *arg, char *error, size_t size)
{
	o->force = true;
	return 0;
}

static int set_format(struct options *o, const char *arg, char *error, size_t size)
{
	o->format = renderer_find(arg);
	return o->format ? 0 : bad(error, size, "--format", arg, "text, json or folded");
}

static int set_json(struct options *o, const char *arg, char *error, size_t size)
{
	o->format = &json_renderer;
	return 0;
}

static int set_output(struct options *o, const char *arg, char *error, size_t size)
{
	o->output = arg;
	return 0;
}

static int set_top(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_u64(arg, 1, 1000000, &o->top)
		       ? bad(error, size, "--top", arg, "a number of rows")
		       : 0;
}

static int set_sort(struct options *o, const char *arg, char *error, size_t size)
{
	o->sort = field_find(arg);
	return o->sort ? 0
		       : bad(error, size, "--sort", arg,
			     "a field as in the JSON: faults.minor, maps.count, fds.count, "
			     "memory.rss_bytes, …");
}

/* NAME=LIMIT; what is measured in bytes takes K, M, G, T. */
static int set_assume(struct options *o, const char *arg, char *error, size_t size)
{
	const char *equal = strchr(arg, '=');
	char name[32] = "";
	size_t len;
	int i, err;

	if (equal && equal - arg < (int)sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)(equal - arg), arg);
	i = resource_find(name);
	if (i < 0) {
		len = snprintf(error, size, "--assume %.64s: NAME=LIMIT; names are ", arg);
		for (i = 0; i < NR_RESOURCES && len < size; i++)
			len += snprintf(error + len, size - len, i ? ", %s" : "%s",
					resources[i].limit);
		return -EINVAL;
	}
	err = resources[i].bytes ? parse_bytes(equal + 1, &o->assumed[i])
				 : parse_u64(equal + 1, 1, INT64_MAX, &o->assumed[i]);
	if (err)
		return bad(error, size, "--assume", arg,
			   resources[i].bytes ? "a limit in bytes, above 0: 65536, 64K, 512M, 8G"
					      : "a limit, a whole number above 0");
	return 0;
}

static int set_tiers(struct options *o, const char *arg, char *error, size_t size)
{
	o->tiers = 1;
	o->tiers_given = true;
	for (const char *at = arg; *at; at++) {
		if (*at < '0' || *at > '3' || (at[1] && at[1] != ',' && at[1] != '-'))
			return bad(error, size, "--tiers", arg, "tiers of cost: 0, 0-2, 0,1,3");
		if (at[1] == '-') {
			if (at[2] < *at || at[2] > '3' || (at[3] && at[3] != ','))
				return bad(error, size, "--tiers", arg,
					   "tiers of cost: 0, 0-2, 0,1,3");
			for (char t = *at; t <= at[2]; t++)
				o->tiers |= 1u << (t - '0');
			at += 2;
		}
		o->tiers |= 1u << (*at - '0');
		if (at[1])
			at++;
	}
	return 0;
}

static int set_hook(struct options *o, const char *arg, char *error, size_t size)
{
	const char *equal = strchr(arg, '=');
	char name[32];
	int h = -1;

	if (equal && equal - arg < (int)sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equal - arg), arg);
		h = hook_find(name);
	}
	if (h < 0)
		return bad(error, size, "--hook", arg,
			   "NAME=MECHANISM or NAME=none; faultscope doctor lists them");
	o->forced[h] = equal + 1;
	if (!strcmp(equal + 1, "none"))
		return 0;
	if (hook_alternate_find(&hooks[h], equal + 1) >= 0)
		return 0;
	return bad(error, size, "--hook", arg,
		   "this hook has no such mechanism; faultscope doctor lists them");
}

static int set_btf(struct options *o, const char *arg, char *error, size_t size)
{
	o->btf = arg;
	return 0;
}

static int set_colour(struct options *o, const char *arg, char *error, size_t size)
{
	if (!strcmp(arg, "auto"))
		o->colour = WHEN_AUTO;
	else if (!strcmp(arg, "always"))
		o->colour = WHEN_ALWAYS;
	else if (!strcmp(arg, "never"))
		o->colour = WHEN_NEVER;
	else
		return bad(error, size, "--color", arg, "auto, always or never");
	return 0;
}

static int set_width(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_u64(arg, 40, 1000, &o->width)
		       ? bad(error, size, "--width", arg, "40 to 1000 columns")
		       : 0;
}

static int set_no_unicode(struct options *o, const char *arg, char *error, size_t size)
{
	o->no_unicode = true;
	return 0;
}

static int set_addresses(struct options *o, const char *arg, char *error, size_t size)
{
	o->addresses = true;
	return 0;
}

static int set_quiet(struct options *o, const char *arg, char *error, size_t size)
{
	o->quiet = true;
	return 0;
}

static int set_no_calibrate(struct options *o, const char *arg, char *error, size_t size)
{
	o->no_calibrate = true;
	return 0;
}

static int set_fail_on(struct options *o, const char *arg, char *error, size_t size)
{
	return gates_parse(&o->gates, arg, error, size);
}

static int set_junit(struct options *o, const char *arg, char *error, size_t size)
{
	o->junit = arg;
	return 0;
}

static int set_github(struct options *o, const char *arg, char *error, size_t size)
{
	o->github = true;
	return 0;
}

static int set_min_severity(struct options *o, const char *arg, char *error, size_t size)
{
	for (int s = 0; s < NR_SEVERITIES; s++)
		if (!strcmp(severity_name(s), arg)) {
			o->min_severity = s;
			o->min_severity_given = true;
			return 0;
		}
	return bad(error, size, "--min-severity", arg, "info, warning or critical");
}

static int set_journal(struct options *o, const char *arg, char *error, size_t size)
{
	o->journal = true;
	return 0;
}

static int set_markdown(struct options *o, const char *arg, char *error, size_t size)
{
	o->markdown = true;
	return 0;
}

static int set_explain(struct options *o, const char *arg, char *error, size_t size)
{
	o->explain = true;
	return 0;
}

static int set_no_redact(struct options *o, const char *arg, char *error, size_t size)
{
	o->no_redact = true;
	return 0;
}

static int set_group(struct options *o, const char *arg, char *error, size_t size)
{
	o->group = arg;
	return 0;
}

static int set_help(struct options *o, const char *arg, char *error, size_t size)
{
	o->help = true;
	return 0;
}

static int set_version(struct options *o, const char *arg, char *error, size_t size)
{
	o->version = true;
	return 0;
}

#define W   (1u << CMD_WATCH)
#define R   (1u << CMD_RUN)
#define G   (1u << CMD_DIAGNOSE)
#define H   (1u << CMD_HOST)
#define D   (1u << CMD_DOCTOR)
#define E   (1u << CMD_EXPLAIN)
#define T   (1u << CMD_TRIAGE)
#define ALL (~0u)

const struct option_row option_rows[] = {
	{"pid", 'p', "PID[,PID...]", W | G, "watch these processes", set_pids},
	{"children", 0, NULL, W, "with -p: their children too, those alive and those to come",
	 set_children},
	{"comm", 0, "REGEX", W, "show processes whose name matches", set_comm},
	{"cgroup", 0, "PATH", W, "show processes of this cgroup and those below it", set_cgroup},
	{"duration", 'd', "TIME", W | R | G | H, "stop after this time: 10, 500ms, 2m",
	 set_duration},
	{"record", 0, "FILE", W | R | G | H, "write what is seen to FILE, to be replayed",
	 set_record},
	{"replay", 0, "FILE", W | G | H, "show a recording instead of this machine; needs no root",
	 set_replay},
	{"force", 0, NULL, W | R | G | H, "let --record replace a file that exists", set_force},
	{"format", 0, "FORMAT", W | R | D | E | G | H | T, "text, json or folded", set_format},
	{"json", 0, NULL, W | R | D | E | G | H | T, "the same as --format json", set_json},
	{"output", 'o', "FILE", W | R | G | H | T, "write to FILE instead of standard output",
	 set_output},
	{"sort", 0, "FIELD", W, "order the table by a field: maps.count, faults.major, ...",
	 set_sort},
	{"top", 0, "N", W, "rows of the table (20; on a terminal what fits)", set_top},
	{"assume", 0, "NAME=LIMIT", W | R | G | H,
	 "judge by another limit: vm.max_map_count=262144 (again for each)", set_assume},
	{"tiers", 0, "LIST", W | R | D | G | H,
	 "what to pay for: 0 look, 1 own events, 2 fault latency, 3 calls", set_tiers},
	{"hook", 0, "NAME=HOW", W | R | D | G | H,
	 "force a hook's mechanism, or none (see faultscope doctor)", set_hook},
	{"btf", 0, "FILE", W | R | D | G | H,
	 "type information of this kernel, where it offers none", set_btf},
	{"addresses", 0, NULL, W | R | G, "show addresses of faults (JSON)", set_addresses},
	{"color", 0, "WHEN", W | R | D | E | G | H | T,
	 "auto, always or never; NO_COLOR is honoured", set_colour},
	{"width", 0, "N", W | R | D | E | G | H | T, "columns of the text", set_width},
	{"no-unicode", 0, NULL, W | R | D | E | G | H | T, "draw with ASCII alone", set_no_unicode},
	{"quiet", 'q', NULL, W | R, "no text summary at the end", set_quiet},
	{"min-severity", 0, "LEVEL", W | R | G | H,
	 "leave lesser findings out of the text: info, warning or critical", set_min_severity},
	{"fail-on", 0, "GATE,...", W | R,
	 "exit with 3 if one is true: maps.max>60%,refused>0 (see GATES)", set_fail_on},
	{"junit", 0, "FILE", W | R, "write what became of the gates as JUnit's XML", set_junit},
	{"github", 0, NULL, W | R,
	 "annotate for GitHub's runner; by itself where GITHUB_ACTIONS=true", set_github},
	{"no-calibrate", 0, NULL, D, "do not measure what each hook costs (half a second)",
	 set_no_calibrate},
	{"journal", 0, NULL, T, "read the kernel's messages from the journal", set_journal},
	{"group", 0, "DIR", T, "sort all logs below DIR into buckets: how many, since when",
	 set_group},
	{"markdown", 0, NULL, T, "a text for a bug report; without addresses and hosts",
	 set_markdown},
	{"no-redact", 0, NULL, T, "with --markdown: leave addresses in", set_no_redact},
	{"explain", 0, NULL, T, "show each rule that fired, with what it saw", set_explain},
	{"help", 'h', NULL, ALL, "this text", set_help},
	{"version", 'V', NULL, ALL, "the version", set_version},
};
const size_t nr_option_rows = sizeof(option_rows) / sizeof(option_rows[0]);

const struct command_row command_rows[NR_COMMANDS] = {
	[CMD_WATCH] = {"", "[OPTIONS] [INTERVAL [COUNT]]",
		       "watch all processes, or some (-p, --comm, --cgroup)",
		       "Shows page faults, mappings and descriptors of every process, or of those "
		       "named, each INTERVAL seconds (1), COUNT times or until Ctrl-C. Map counts "
		       "and descriptors are compared with their limits in the kernel, at the "
		       "moment a threshold (50, 80, 95 %) is crossed."},
	[CMD_RUN] = {"run", "[OPTIONS] -- CMD [ARG...]", "run a command and watch it to its end",
		     "Starts CMD with the hooks in place before its first instruction, follows its "
		     "children to the end, prints a summary to standard error and exits with the "
		     "command's own status."},
	[CMD_DIAGNOSE] =
		{"diagnose", "[OPTIONS] -p PID",
		 "say which limit is near or said no, who grew, and what to do",
		 "Watches processes and their children for 3 seconds (-d), reads once what they "
		 "hold (/proc/PID/maps and fd, bounded; never smaps), and gives a verdict: each "
		 "finding with its evidence, the calls and user stacks that made the growth, when "
		 "a limit is reached, where it comes from and what to do. With --replay, on a "
		 "recording. Exits 3 when there is a finding of warning or above (or of what "
		 "--min-severity says), 0 when all is well."},
	[CMD_HOST] =
		{"host", "[OPTIONS] [INTERVAL [COUNT]]",
		 "say whether this machine is short of memory, what kind, who has it",
		 "Watches the machine for 3 seconds (-d) and says on one screen whether it is "
		 "short of memory: whether work waits for it and since when; memory, swap, "
		 "commit, cgroups and tmpfs against their limits; which programs have it and "
		 "grow; who the OOM killer would take next; and the findings. With INTERVAL "
		 "again and again, COUNT times or until Ctrl-C. Without the right to BPF it "
		 "reads /proc alone. Exits 3 when there is a finding of warning or above (or of "
		 "what --min-severity says), 0 when all is well."},
	[CMD_DOCTOR] =
		{"doctor", "[OPTIONS]",
		 "say what works on this kernel with these rights, and why not",
		 "Loads and attaches every hook, says which mechanism is in use, what was tried "
		 "before it and what the kernel answered, what is lost without it, and what it "
		 "costs here: measured for half a second with hooks attached and detached in turn. "
		 "Then the limits of this machine, and what to change for more. Exits 0 when all "
		 "that is needed works, 6 when the core (state, look or life) is blind."},
	[CMD_EXPLAIN] = {"explain", "[ID...]",
			 "say what a finding means, how it is told, what to do",
			 "Prints the long text of each diagnosis named, as M01: what it means, how "
			 "it is told, "
			 "how to see it by hand, what gains time and what fixes the cause, what "
			 "looks alike, "
			 "where it happened. Without ID: a list of all. Needs no root."},
	[CMD_TRIAGE] =
		{"triage", "[OPTIONS] FILE...|-",
		 "say what a kernel crash log means, and who is suspect",
		 "Reads any log that may hold a kernel crash, of any machine, without root and "
		 "without the kernel's symbols: dmesg, console, syslog, journal, /dev/kmsg, pstore "
		 "(a directory is read whole and its parts put in order), compressed or not; - is "
		 "standard input. Says what happened and by what mechanism, quotes the lines that "
		 "decide, ranks the suspects with reasons, and says what to do next. Several files "
		 "are one crash. Exits 0 when there is no crash, 3 when there is, 1 when a file "
		 "cannot be read."},
	[CMD_SCHEMA] =
		{"schema", "", "print the JSON Schema of the JSON output",
		 "Prints the schema (JSON Schema 2020-12) that every line of --json follows."},
	[CMD_COMPLETION] =
		{"completion", "bash|zsh|fish", "print a completion script for a shell",
		 "Prints a script to source, or to install where the shell looks for it."},
	[CMD_MAN] = {"man", "", "print the manual page",
		     "Prints the manual page in man(7) format."},
};

const char *command_name(enum command command)
{
	return command_rows[command].name;
}

static int is_command(const char *word)
{
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		if (!strcmp(command_rows[i].name, word))
			return i;
	return -1;
}

/* INTERVAL [COUNT], the SHELL of completion, IDs of explain, or nothing. */
static int take_positional(struct options *o, char *error, size_t size)
{
	int most = o->command == CMD_WATCH || o->command == CMD_HOST ? 2 : 0;

	if (o->command == CMD_RUN && !o->argc && !o->help) {
		snprintf(
			error, size,
			"run: no command\n  try: faultscope run -- ./program --with its arguments");
		return -EINVAL;
	}
	if (o->command == CMD_COMPLETION && o->argc != 1 && !o->help) {
		snprintf(error, size, "completion: for which shell? bash, zsh or fish");
		return -EINVAL;
	}
	if (o->command == CMD_TRIAGE && !o->argc && !o->journal && !o->group && !o->help) {
		snprintf(
			error, size,
			"triage: which log?\n  try: dmesg | faultscope triage -\n  or:  faultscope "
			"triage /sys/fs/pstore");
		return -EINVAL;
	}
	if (o->command == CMD_RUN || o->command == CMD_COMPLETION || o->command == CMD_EXPLAIN ||
	    o->command == CMD_TRIAGE)
		return 0;
	if (o->argc > most) {
		snprintf(error, size, "%s: not understood\n  see: faultscope %s%s--help",
			 o->argv[most], command_name(o->command), o->command ? " " : "");
		return -EINVAL;
	}
	if (o->argc > 0 && parse_seconds(o->argv[0], &o->interval)) {
		snprintf(error, size,
			 "%s: neither a command nor an interval in seconds\n  see: faultscope "
			 "--help",
			 o->argv[0]);
		return -EINVAL;
	}
	if (o->argc > 1 && parse_u64(o->argv[1], 1, UINT64_MAX, &o->count)) {
		snprintf(error, size, "%s: not a count of intervals", o->argv[1]);
		return -EINVAL;
	}
	return 0;
}

static int check_combination(const struct options *o, char *error, size_t size)
{
	if (o->children && !o->filter.pids && !o->replay) {
		snprintf(error, size, "--children goes with -p: whose children?");
		return -EINVAL;
	}
	if (o->group && (o->argc || o->journal || o->markdown)) {
		snprintf(error, size,
			 "--group DIR goes with no other log, and not with --markdown");
		return -EINVAL;
	}
	if (o->replay && o->record) {
		snprintf(error, size, "--replay and --record exclude each other");
		return -EINVAL;
	}
	if (o->junit && !o->gates.n) {
		snprintf(error, size, "--junit goes with --fail-on: there is nothing to report");
		return -EINVAL;
	}
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret, char *error, size_t size)
{
	struct option longs[64] = {};
	char shorts[128] = "+:";
	int rows[64], n = 0, index, c;

	memset(ret, 0, sizeof(*ret));
	if (argc > 1 && is_command(argv[1]) >= 0) {
		ret->command = is_command(argv[1]);
		argv++, argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "help")) {
		ret->help = true;
		if (argc > 2 && is_command(argv[2]) >= 0)
			ret->command = is_command(argv[2]);
		return 0;
	}
	/* a command's own words may look like options of ours: stop at the first that is none */
	if (ret->command != CMD_RUN)
		strcpy(shorts, ":");
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->commands >> ret->command & 1))
			continue;
		longs[n] = (struct option){row->name, row->arg ? required_argument : no_argument,
					   NULL, 256 + (int)i};
		rows[n++] = i;
		if (row->short_name) {
			char s[3] = {row->short_name, row->arg ? ':' : 0, 0};

			strcat(shorts, s);
		}
	}
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
		const struct option_row *row = NULL;

		if (c == '?' || c == ':') {
			snprintf(error, size, "%s%s\n  see: faultscope %s%s--help",
				 argv[optind - 1],
				 c == ':' ? ": needs an argument" : ": no such option here",
				 command_name(ret->command), ret->command ? " " : "");
			return -EINVAL;
		}
		for (int i = 0; i < n && !row; i++)
			if (c == 256 + rows[i] || (c < 256 && option_rows[rows[i]].short_name == c))
				row = &option_rows[rows[i]];
		if (row && row->set(ret, optarg, error, size))
			return -EINVAL;
	}
	ret->argv = argv + optind;
	ret->argc = argc - optind;
	if (ret->help || ret->version)
		return 0;
	if (take_positional(ret, error, size))
		return -EINVAL;
	return check_combination(ret, error, size);
}
