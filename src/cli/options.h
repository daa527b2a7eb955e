/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The only table of commands and options: the parser, --help, completions and manual pages are
 * generated from it.
 */
#ifndef FS_CLI_OPTIONS_H
#define FS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/moment.h"
#include "collect/filter.h"
#include "incident/incidents.h"
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
	/*
	 * Exit status in two cases: the command found what it searches for (a finding, a crash or a
	 * record), or a --fail-on condition was true or was not measured.
	 */
	EXIT_GATE = 3,
	EXIT_NO_TARGET = 4,
	EXIT_NOT_PERMITTED = 5,
	EXIT_KERNEL_LACKS = 6,
	EXIT_INCOMPLETE = 7, /* exit status if data may be missing: render/completeness.h */
	EXIT_RUN_FAILED = 125,
	EXIT_RUN_NOT_EXECUTABLE = 126,
	EXIT_RUN_NOT_FOUND = 127,
};

enum command {
	CMD_WATCH,
	CMD_RUN,
	CMD_DIAGNOSE,
	CMD_MEMORY,
	CMD_HOST,
	CMD_DOCTOR,
	CMD_EXPLAIN,
	CMD_TRIAGE,
	CMD_BLACKBOX,
	CMD_OOM,
	CMD_EXPORT,
	CMD_RECORD,
	CMD_INFO,
	CMD_REPLAY,
	CMD_REPORT,
	CMD_DIFF,
	CMD_INCIDENTS,
	CMD_SNAPSHOT,
	CMD_SETTINGS,
	CMD_MCP,
	CMD_SCHEMA,
	CMD_COMPLETION,
	CMD_MAN,
	NR_COMMANDS
};

/* Argument of --log-format. */
enum log_format {
	LOG_FORMAT_AUTO, /* JOURNAL if standard error is connected to it, else TEXT */
	LOG_FORMAT_TEXT,
	LOG_FORMAT_JSON,
	LOG_FORMAT_RFC5424,
	LOG_FORMAT_JOURNAL,
	LOG_FORMAT_OFF,
};

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

#define OPTION_UNSET UINT64_MAX

struct options {
	enum command command;
	bool help, version;
	const char *revision; /* revision of the source code of this build */
	struct filter filter;
	bool children;
	bool resident; /* --resident: also find which code holds resident memory */
	double since;  /* --since, in seconds; 0: not given */
	/* --interval and --duration, in seconds. Interval 0: the default. Duration 0: no end. */
	double interval, duration;
	uint64_t count; /* number of intervals to run; 0: no end */
	unsigned int tiers;
	bool tiers_given;
	const char *btf;
	const char *forced[HOOKS_MAX];
	const char *record, *replay, *output;
	bool force, redact;
	uint64_t max_bytes; /* maximum size of a recording; 0: no maximum */
	double speed;
	bool speed_given;
	struct moment from, to; /* the part of a recording to read */
	/* format of a report; NULL: depends on the command */
	const struct report_format *report_format;
	const struct renderer *format; /* renderer of the output format; NULL: text */
	const struct field *sort;
	uint64_t top, width;		 /* rows of the table, columns of text; 0: default */
	uint64_t assumed[RESOURCES_MAX]; /* --assume, by index in resources[]; 0: real limit */
	enum when colour;
	bool no_unicode, addresses, debuginfod, quiet, summary, no_calibrate;
	struct gates gates;
	const char *junit;
	bool github;
	bool phases; /* run --phases */
	enum severity min_severity;
	bool min_severity_given;
	bool journal, markdown, html, explain, no_redact; /* flags of triage */
	const char *group;				  /* triage --group; NULL: not given */
	struct {
		const char *file, *instance; /* arguments of --ring and --instance; NULL: default */
		uint64_t file_bytes;	     /* size of a new ring file; 0: default */
		/*
		 * sinks (places that keep records) of --keep, as bits of enum sink_id; 0: all that
		 * exist
		 */
		unsigned int record_sinks;
		double heartbeat; /* seconds between heartbeats; 0: default */
		bool live;	  /* the flag --live of triage */
	} blackbox;
	struct {
		bool watch, list;  /* the flags --watch and --list of oom */
		const char *store; /* directory of the stored kills; NULL: default */
		uint64_t keep;	   /* number of kills to keep; 0: store none */
	} oom;
	struct {
		const char *address[ENDPOINT_ADDRESSES];
		size_t addresses;
		const char *path, *config_file;
	} web;
	struct {
		struct ring_bounds ring;
		bool ring_given, ring_off; /* --ring was given; its argument was "off" */
		unsigned int on;	   /* INCIDENT_ON_* bits */
		const char *cause[INCIDENT_CAUSES + 1];
		const char *signal, *store;  /* NULL: none; NULL: default */
		double after, rest, age;     /* in seconds */
		uint64_t keep, bytes, per_hour;
	} incident;
	struct {
		bool given;
		enum log_format format;
		const char *socket; /* of LOG_FORMAT_RFC5424; NULL: standard output */
	} log;
	unsigned int collapse; /* --workload.collapse: COLLAPSE_* bits */
	const char *collapse_pattern;
	const char *resident_pattern; /* --export.resident: workloads; NULL: not in use */
	const char *cgroupfs; /* --path.cgroupfs: the host's cgroup mount point; NULL: not given */
	uint64_t limit_workloads; /* OPTION_UNSET: 50, or 150 on a node of Kubernetes */
	uint64_t limit_series, limit_resident;
	double min_age, retention; /* values of --workload.min-age and --workload.retention, in s */
	bool calls, faults, profiles, native_histograms;
	bool zeros; /* --export.zeros: sparse counters begin at 0 */
	const char *textfile;
	char **argv; /* arguments that are no options, such as CMD ARG…, with a NULL at the end */
	int argc;
};

/*
 * Parses the command line. Returns 0, or -EINVAL with `error` set. The strings in *ret point into
 * argv.
 */
int options_parse(int argc, char **argv, struct options *ret, char *error, size_t size);

void options_help(struct buf *b, enum command command);
/* Writes the manual page of a command; for CMD_WATCH the main page with all commands. */
void options_man(struct buf *b, enum command command);

/* Returns the command with that name, or -1. */
int options_command(const char *name);

/*
 * Writes the completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for an unknown
 * shell.
 */
int options_completion(struct buf *b, const char *shell);

const char *command_name(enum command command);

#endif
