// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses the command line with the table of options. */
#define _GNU_SOURCE
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/options_incident.h"
#include "cli/options_table.h"

#define DEFAULT_SERIES	  5000
#define DEFAULT_RESIDENT  10
#define DEFAULT_OOM_KEEP  100
#define DEFAULT_MIN_AGE	  30.0 /* default of --workload.min-age, in seconds */
/* default of --workload.retention, in seconds: Prometheus has time to read the last values */
#define DEFAULT_RETENTION 300.0

static int take(const struct option_row *row, struct options *o, const char *arg, char *error,
		size_t size)
{
	void *at = (char *)o + row->at;
	bool good = true;

	switch (row->type) {
	case OPTION_OTHER:
		return row->take(o, arg, error, size);
	case OPTION_FLAG:
		*(bool *)at = true;
		break;
	case OPTION_TEXT:
		*(const char **)at = arg;
		break;
	case OPTION_COUNT:
		good = !parse_u64(arg, row->least, row->most, at);
		break;
	case OPTION_BYTES:
		good = !parse_bytes(arg, at) && *(uint64_t *)at >= row->least &&
		       *(uint64_t *)at <= row->most;
		break;
	case OPTION_SECONDS:
		good = !parse_seconds(arg, at) && *(double *)at >= row->shortest;
		break;
	case OPTION_SECONDS_OR_0:
		good = !parse_seconds_or_0(arg, at);
		break;
	}
	return good ? 0
		    : options_refuse(error, size, "--%s %s: expected %s", row->name, arg,
				     row->wanted);
}

int options_command(const char *word)
{
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		if (!strcmp(command_rows[i].name, word))
			return i;
	return -1;
}

/*
 * Returns the index where options end. `explain` may get an error message that begins with a dash
 * ("-bash: ..."), which is no option.
 */
static int options_end(enum command command, int argc, char **argv)
{
	for (int i = 1; command == CMD_EXPLAIN && i < argc; i++)
		if (*argv[i] == '-' && strchr(argv[i], ' '))
			return i;
	return argc;
}

int options_parse(int argc, char **argv, struct options *ret, char *error, size_t size)
{
	struct option longs[64] = {};
	char shorts[128] = "+:";
	const char *first = argc > 1 ? argv[1] : "";
	int rows[64], n = 0, index, end, c;

	memset(ret, 0, sizeof(*ret));
	ret->collapse = COLLAPSE_DEFAULT;
	ret->limit_workloads = OPTION_UNSET;
	ret->limit_series = DEFAULT_SERIES;
	ret->limit_resident = DEFAULT_RESIDENT;
	ret->min_age = DEFAULT_MIN_AGE;
	ret->retention = DEFAULT_RETENTION;
	ret->oom.keep = DEFAULT_OOM_KEEP;
	options_incident_defaults(ret);
	if (argc > 1 && options_command(argv[1]) >= 0) {
		ret->command = options_command(argv[1]);
		argv++, argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "help")) {
		ret->help = true;
		if (argc > 2 && options_command(argv[2]) < 0) {
			snprintf(error, size,
				 "help %.64s: no such command\n  see: faultscope --help", argv[2]);
			options_near_command(argv[2], error, size);
			return -EINVAL;
		}
		if (argc > 2)
			ret->command = options_command(argv[2]);
		return 0;
	}
	/*
	 * with "+", getopt stops at the CMD of `run` and `memory`, whose arguments may look like
	 * faultscope's options
	 */
	if (ret->command != CMD_RUN && ret->command != CMD_MEMORY)
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
	end = options_end(ret->command, argc, argv);
	while ((c = getopt_long(end, argv, shorts, longs, &index)) != -1) {
		const struct option_row *row = NULL;

		if (c == '?' || c == ':') {
			snprintf(error, size, "%s%s\n  see: faultscope %s%s--help",
				 argv[optind - 1],
				 c == ':' ? ": needs an argument" : ": unknown option",
				 command_name(ret->command), ret->command ? " " : "");
			if (c == '?')
				options_near_option(argv[optind - 1], ret->command, error, size);
			if (ret->command == CMD_WATCH && *first != '-')
				options_near_command(first, error, size);
			return -EINVAL;
		}
		for (int i = 0; i < n && !row; i++)
			if (c == 256 + rows[i] || (c < 256 && option_rows[rows[i]].short_name == c))
				row = &option_rows[rows[i]];
		if (row && take(row, ret, optarg, error, size))
			return -EINVAL;
	}
	ret->argv = argv + optind;
	ret->argc = argc - optind;
	if (ret->help || ret->version)
		return 0;
	if (options_take_words(ret, error, size) || options_take_dash(ret, error, size))
		return -EINVAL;
	return options_check(ret, error, size);
}
