/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one table of commands and options: the parser, --help, the completions and the man page read
 * it, and nothing else lists an option.
 */
#ifndef FS_CLI_OPTIONS_H
#define FS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "collect/filter.h"
#include "model/census.h"
#include "model/fields.h"
#include "probe/live.h"
#include "render/formats/formats.h"
#include "render/render.h"
#include "rules/gates.h"
#include "serve/endpoint.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GATE = 3, /* one tripped, or could not be measured; something was found */
	EXIT_NO_TARGET = 4,
	EXIT_NOT_PERMITTED = 5,
	EXIT_KERNEL_LACKS = 6,
	EXIT_INCOMPLETE = 7, /* something may have been missed: render/completeness.h */
	EXIT_RUN_FAILED = 125,
	EXIT_RUN_NOT_EXECUTABLE = 126,
	EXIT_RUN_NOT_FOUND = 127,
};

enum command {
	CMD_WATCH,
	CMD_RUN,
	CMD_DIAGNOSE,
	CMD_HOST,
	CMD_DOCTOR,
	CMD_EXPLAIN,
	CMD_TRIAGE,
	CMD_BLACKBOX,
	CMD_EXPORT,
	CMD_RECORD,
	CMD_INFO,
	CMD_REPLAY,
	CMD_REPORT,
	CMD_DIFF,
	CMD_SCHEMA,
	CMD_COMPLETION,
	CMD_MAN,
	NR_COMMANDS
};

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct options {
	enum command command;
	bool help, version;
	const char *revision; /* of the source that this was built of */
	struct filter filter;
	bool children;
	double interval, duration; /* seconds; 0: default, no end */
	uint64_t count;		   /* frames; 0: no end */
	unsigned int tiers;
	bool tiers_given;
	const char *btf;
	const char *forced[HOOKS_MAX];
	const char *record, *replay, *output;
	bool force, redact;
	uint64_t max_bytes; /* of a recording; 0: no bound */
	double speed;
	bool speed_given;
	const struct report_format *report_format; /* NULL: by command */
	const struct renderer *format;		   /* NULL: text */
	const struct field *sort;
	uint64_t top, width;		 /* 0: default */
	uint64_t assumed[RESOURCES_MAX]; /* limits, by row of resources[]; 0: as it is */
	enum when colour;
	bool no_unicode, addresses, quiet, summary, no_calibrate;
	struct gates gates;
	const char *junit;
	bool github;
	enum severity min_severity;
	bool min_severity_given;
	bool journal, markdown, html, explain, no_redact; /* triage */
	const char *group;				  /* triage: NULL: one crash */
	struct {
		const char *file, *instance; /* NULL: where they are by default */
		uint64_t file_bytes;	     /* 0: default */
		unsigned int record_sinks;   /* bits of enum sink_id; 0: what there is */
		double heartbeat;	     /* seconds; 0: default */
		bool live;		     /* triage */
	} blackbox;
	struct {
		const char *address[ENDPOINT_ADDRESSES];
		size_t addresses;
		const char *path, *config_file;
	} web;
	unsigned int collapse; /* COLLAPSE_* */
	const char *collapse_pattern;
	const char *cgroupfs; /* the host's, in a container; NULL: not known */
	uint64_t limit_workloads, limit_series;
	double min_age, retention; /* seconds */
	bool calls, faults, native_histograms;
	const char *textfile;
	char **argv; /* what is left: CMD ARG…, or the shell of `completion`; NULL-terminated */
	int argc;
};

/* Returns 0, or -EINVAL with `error` set. Strings point into argv. */
int options_parse(int argc, char **argv, struct options *ret, char *error, size_t size);

void options_help(struct buf *b, enum command command);
/* The page of a command; of CMD_WATCH the one that has an overview of all. */
void options_man(struct buf *b, enum command command);

/* The command of that name, or -1. */
int options_command(const char *name);

/* For "bash", "zsh" or "fish"; -EINVAL for another shell. */
int options_completion(struct buf *b, const char *shell);

const char *command_name(enum command command);

#endif
