// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses arguments that are no options, and rejects options that exclude each other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/options_incident.h"
#include "cli/options_table.h"

static int positionals(const struct options *o)
{
	return o->command == CMD_WATCH || o->command == CMD_HOST ? 2
	       : o->command == CMD_EXPORT			 ? 1
								 : 0;
}

/* Returns how many recordings a command takes as arguments. */
static int files_of(enum command command)
{
	return command == CMD_DIFF						       ? 2
	       : command == CMD_INFO || command == CMD_REPLAY || command == CMD_REPORT ? 1
										       : 0;
}

static int take_files(const struct options *o, char *error, size_t size)
{
	if (o->help || o->argc == files_of(o->command))
		return 0;
	return options_refuse(
		error, size, "%s: %s\n  try: faultscope %s %s", command_name(o->command),
		o->command == CMD_DIFF ? "name two recordings" : "name a recording",
		command_name(o->command), o->command == CMD_DIFF ? "A.fsr B.fsr" : "FILE.fsr");
}

/* Parses arguments that are no options: INTERVAL [COUNT], files, pids, a shell or a command. */
int options_take_words(struct options *o, char *error, size_t size)
{
	double seconds;

	if (o->command == CMD_RUN && !o->argc && !o->help)
		return options_refuse(
			error, size,
			"run: no command\n  try: faultscope run -- ./program --with its arguments");
	if (o->command == CMD_COMPLETION && o->argc != 1 && !o->help)
		return options_refuse(error, size, "completion: name a shell: bash, zsh or fish");
	if (o->command == CMD_MAN && o->argc == 1) {
		if (options_command(o->argv[0]) >= 0)
			return 0;
		options_refuse(error, size, "man %.64s: no such command", o->argv[0]);
		options_near_command(o->argv[0], error, size);
		return -EINVAL;
	}
	if (o->command == CMD_TRIAGE && !o->argc && !o->journal && !o->group && !o->blackbox.live &&
	    !o->blackbox.file && !o->help)
		return options_refuse(
			error, size,
			"triage: name a log\n  try: dmesg | faultscope triage -\n  or:  faultscope "
			"triage /sys/fs/pstore");
	if (o->command == CMD_BLACKBOX && o->argc > 1 && !o->help && strcmp(o->argv[0], "read"))
		return options_refuse(
			error, size,
			"blackbox %s: unexpected argument: %s\n  see: faultscope blackbox --help",
			o->argv[0], o->argv[1]);
	if (o->command == CMD_MEMORY && o->argc && (o->filter.pids || o->replay))
		return options_refuse(error, size,
				      "memory: name either processes, a recording or a command\n"
				      "  see: faultscope memory --help");
	if (o->command == CMD_RUN || o->command == CMD_MEMORY || o->command == CMD_COMPLETION ||
	    o->command == CMD_EXPLAIN || o->command == CMD_TRIAGE || o->command == CMD_BLACKBOX ||
	    o->command == CMD_OOM || o->command == CMD_SNAPSHOT || o->command == CMD_SETTINGS)
		return 0;
	if (o->command == CMD_INCIDENTS)
		return options_take_incidents(o, error, size);
	if (files_of(o->command))
		return take_files(o, error, size);
	if (o->command == CMD_RECORD && o->argc == 1 &&
	    !options_take_pids(o, o->argv[0], error, size))
		return 0;
	if (o->command == CMD_WATCH && o->argc > 0 && parse_seconds(o->argv[0], &seconds)) {
		snprintf(error, size,
			 "%.64s: neither a command of faultscope nor an interval in seconds\n"
			 "  to start a program and watch it: faultscope run -- CMD\n"
			 "  see: faultscope --help",
			 o->argv[0]);
		options_near_command(o->argv[0], error, size);
		return -EINVAL;
	}
	if (o->command == CMD_RECORD && o->argc)
		return options_refuse(
			error, size,
			"record %s: not a list of pids (4211,4212)\n  to start a command and "
			"record it: faultscope run --record FILE.fsr -- CMD",
			o->argv[0]);
	if (o->argc > positionals(o))
		return options_refuse(
			error, size, "%s: unexpected argument\n  see: faultscope %s%s--help",
			o->argv[positionals(o)], command_name(o->command), o->command ? " " : "");
	if (o->argc > 0 && parse_seconds(o->argv[0], &o->interval))
		return options_refuse(error, size,
				      "%s: not an interval in seconds\n  see: faultscope %s --help",
				      o->argv[0], command_name(o->command));
	if (o->argc > 1 && parse_u64(o->argv[1], 1, UINT64_MAX, &o->count))
		return options_refuse(error, size, "%s: not a count of intervals", o->argv[1]);
	return 0;
}

static bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

int options_take_dash(struct options *o, char *error, size_t size)
{
	bool whole = o->command == CMD_RECORD ||
		     (o->report_format && (o->report_format->way == WAY_RECORDING ||
					   o->report_format->way == WAY_TEXTFILE));

	if (is_dash(o->junit) || is_dash(o->textfile) || is_dash(o->record) ||
	    (whole && is_dash(o->output)))
		return options_refuse(error, size,
				      "-: standard output takes only text; recordings, --junit and "
				      "--textfile need a file name");
	if (is_dash(o->output))
		o->output = NULL;
	return 0;
}

int options_check(const struct options *o, char *error, size_t size)
{
	if (o->children && !o->filter.pids && !o->replay)
		return options_refuse(error, size, "--children needs -p");
	if (o->group && (o->argc || o->journal || o->markdown))
		return options_refuse(error, size,
				      "--group cannot be combined with other logs or --markdown");
	if (o->blackbox.live && (o->argc || o->journal || o->group))
		return options_refuse(
			error, size,
			"--live cannot be combined with log files: it reads this kernel's log");
	if (o->oom.watch && (o->argc || o->oom.list))
		return options_refuse(
			error, size,
			"--watch cannot be combined with recordings or --list: it reports kills as "
			"they happen");
	if (o->command == CMD_OOM && o->duration && !o->oom.watch)
		return options_refuse(error, size, "--duration needs --watch");
	if (o->markdown && o->format == &json_renderer)
		return options_refuse(error, size, "--markdown and --json cannot be combined");
	if (o->replay && o->record)
		return options_refuse(error, size, "--replay and --record cannot be combined");
	if (o->command == CMD_EXPORT && o->interval && !o->textfile)
		return options_refuse(
			error, size,
			"INTERVAL needs --textfile: for /metrics the scraper sets the interval");
	if (o->textfile && (o->web.addresses || o->web.config_file))
		return options_refuse(
			error, size,
			"--textfile cannot be combined with --web.*: nothing is served");
	if (o->command == CMD_RECORD && !o->output && !options_has_ring(o))
		return options_refuse(error, size,
				      "record: name the output file\n  try: faultscope record -o "
				      "%%h-%%t.fsr");
	if (options_incident_check(o, error, size))
		return -EINVAL;
	if (o->junit && !o->gates.n && !o->phases)
		return options_refuse(
			error, size,
			"--junit needs --fail-on: without conditions there is nothing to report");
	return 0;
}
