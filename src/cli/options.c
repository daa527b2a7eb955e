// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "model/resources.h"
#include "cli/options_incident.h"
#include "cli/options_table.h"
#include "recorder/record_sinks.h"
#include "render/prom/resident_places.h"

#define RECORD_BYTES_LEAST 16384
#define OOM_KEEP_MAX	   10000
#define INCIDENT_KEEP_MAX  10000

int options_refuse(char *error, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, size, format, args);
	va_end(args);
	return -EINVAL;
}

/* Rejects a word that is not in the list `wanted`, and suggests a similar one. */
static int bad_word(char *error, size_t size, const char *option, const char *arg,
		    const char *wanted)
{
	options_refuse(error, size, "%s %s: expected %s", option, arg, wanted);
	options_near_word(arg, wanted, error, size);
	return -EINVAL;
}

int options_take_pids(struct options *o, const char *arg, char *error, size_t size)
{
	char copy[4096], *save = NULL;
	uint64_t pid;

	if (strlen(arg) >= sizeof(copy))
		return options_refuse(error, size, "-p: the list of process ids is too long");
	strcpy(copy, arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (parse_u64(one, 1, 1 << 22, &pid))
			return options_refuse(
				error, size, "-p %s: expected a process id or a list: -p 4211,4212",
				arg);
		if (o->filter.pids == FILTER_PIDS_MAX)
			return options_refuse(
				error, size,
				"-p %s: more than 256 processes: use --comm or --cgroup", arg);
		o->filter.pid[o->filter.pids++] = pid;
	}
	return o->filter.pids
		       ? 0
		       : options_refuse(error, size,
					"-p '': expected a process id or a list: -p 4211,4212");
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

static int set_container(struct options *o, const char *arg, char *error, size_t size)
{
	return filter_container(&o->filter, arg, error, size);
}

static int set_format(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->command == CMD_REPORT || o->command == CMD_DIFF || o->command == CMD_INCIDENTS) {
		o->report_format = report_format_find(arg);
		if (o->report_format)
			return 0;
		options_refuse(
			error, size,
			"--format %s: unknown format; faultscope man report lists all formats",
			arg);
		options_near_format(arg, error, size);
		return -EINVAL;
	}
	o->format = renderer_find(arg);
	return o->format ? 0 : bad_word(error, size, "--format", arg, "text, json or folded");
}

static int set_json(struct options *o, const char *arg, char *error, size_t size)
{
	o->format = &json_renderer;
	return 0;
}

static int set_sort(struct options *o, const char *arg, char *error, size_t size)
{
	o->sort = field_find(arg);
	if (o->sort)
		return 0;
	options_refuse(error, size,
		       "--sort %s: expected the JSON name of a value: faults.minor, maps.count, "
		       "fds.count, memory.rss_bytes, …",
		       arg);
	options_near_field(arg, error, size);
	return -EINVAL;
}

/* Parses NAME=LIMIT; limits in bytes accept K, M, G, T. */
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
		len = snprintf(
			error, size,
			"--assume %.64s: expected NAME=LIMIT, with one of these names: ", arg);
		for (i = 0; i < NR_RESOURCES && len < size; i++)
			len += snprintf(error + len, size - len, i ? ", %s" : "%s",
					resources[i].limit);
		options_near_resource(name, error, size);
		return -EINVAL;
	}
	err = resources[i].bytes ? parse_bytes(equal + 1, &o->assumed[i])
				 : parse_u64(equal + 1, 1, INT64_MAX, &o->assumed[i]);
	if (err)
		return options_refuse(error, size, "%s %s: expected %s", "--assume", arg,
				      resources[i].bytes ? "a size above 0: 65536, 64K, 512M, 8G"
							 : "a whole number above 0");
	return 0;
}

/*
 * Takes a level, a range of levels, or a set: "events", "2", "0-2", "low". Returns the bits of the
 * levels, or 0 if the word is invalid.
 */
static unsigned int overhead_bits(const char *word)
{
	char first[16] = "";
	const char *dash = strchr(word, '-');
	unsigned int set = overhead_set_find(word);
	int from, to;

	if (set)
		return set;
	snprintf(first, sizeof(first), "%.*s", dash ? (int)(dash - word) : (int)strlen(word), word);
	from = overhead_level_find(first);
	to = dash ? overhead_level_find(dash + 1) : from;
	return from < 0 || to < from ? 0 : (2u << to) - (1u << from);
}

/* Level 0 is always enabled: its scan finds the processes. */
static int set_overhead(struct options *o, const char *arg, char *error, size_t size)
{
	char copy[64], *save = NULL;

	o->tiers = 1;
	o->tiers_given = true;
	snprintf(copy, sizeof(copy), "%s", arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		unsigned int bits = overhead_bits(one);

		if (!bits || strlen(arg) >= sizeof(copy)) {
			options_refuse(
				error, size,
				"--overhead %s: expected a list of levels (scan, events, latency, "
				"syscalls, or 0 to 3; low or all), such as --overhead "
				"events,latency or --overhead 0-2",
				arg);
			options_near_word(one, "scan events latency syscalls low all", error, size);
			return -EINVAL;
		}
		o->tiers |= bits;
	}
	return 0;
}

static int set_hook(struct options *o, const char *arg, char *error, size_t size)
{
	const char *equal = strchr(arg, '=');
	char name[32] = "";
	int h = -1;

	if (equal && equal - arg < (int)sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equal - arg), arg);
		h = hook_find(name);
	}
	if (h < 0) {
		options_refuse(error, size,
			       "--probe %s: expected NAME=TYPE or NAME=none; faultscope doctor "
			       "--json lists the probes and their attach types",
			       arg);
		options_near_hook(name, h, error, size);
		return -EINVAL;
	}
	o->forced[h] = equal + 1;
	if (!strcmp(equal + 1, "none"))
		return 0;
	if (hook_alternate_find(&hooks[h], equal + 1) >= 0)
		return 0;
	options_refuse(error, size,
		       "--probe %s: this probe has no such attach type; faultscope doctor --json "
		       "lists them",
		       arg);
	options_near_hook(equal + 1, h, error, size);
	return -EINVAL;
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
		return bad_word(error, size, "--color", arg, "auto, always or never");
	return 0;
}

static int set_fail_on(struct options *o, const char *arg, char *error, size_t size)
{
	return gates_parse(&o->gates, arg, error, size);
}

static int set_min_severity(struct options *o, const char *arg, char *error, size_t size)
{
	for (int s = 0; s < NR_SEVERITIES; s++)
		if (!strcmp(severity_name(s), arg)) {
			o->min_severity = s;
			o->min_severity_given = true;
			return 0;
		}
	return bad_word(error, size, "--min-severity", arg, "info, warning or critical");
}

static int set_html(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->command == CMD_TRIAGE)
		o->html = true;
	else
		o->report_format = report_format_find("html");
	return 0;
}

static int set_address(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->web.addresses == ENDPOINT_ADDRESSES)
		return options_refuse(error, size, "--web.listen-address %s: too many addresses",
				      arg);
	o->web.address[o->web.addresses++] = arg;
	return 0;
}

static int set_systemd_socket(struct options *o, const char *arg, char *error, size_t size)
{
	return set_address(o, "fd://", error, size);
}

static int set_web_path(struct options *o, const char *arg, char *error, size_t size)
{
	o->web.path = arg;
	return arg[0] == '/' && arg[1] && !strpbrk(arg, "\"<>& ?#")
		       ? 0
		       : options_refuse(error, size,
					"--web.telemetry-path %s: expected a path such as /metrics",
					arg);
}

/*
 * Parses --workload.collapse: "none", "instances" (in addition to COLLAPSE_DEFAULT), or a pattern.
 */
static int set_collapse(struct options *o, const char *arg, char *error, size_t size)
{
	if (!strcmp(arg, "none"))
		o->collapse = 0;
	else if (!strcmp(arg, "instances"))
		o->collapse |= COLLAPSE_INSTANCES;
	else
		o->collapse_pattern = arg;
	return 0;
}

static int set_zeros(struct options *o, const char *arg, char *error, size_t size)
{
	o->zeros = !strcmp(arg, "yes");
	if (!o->zeros && strcmp(arg, "no"))
		return bad_word(error, size, "--export.zeros", arg, "yes or no");
	return 0;
}

static int set_detail(struct options *o, const char *arg, char *error, size_t size)
{
	if (!strcmp(arg, "host"))
		o->limit_workloads = 0;
	else if (!strcmp(arg, "full"))
		o->calls = o->faults = true;
	else if (strcmp(arg, "workload"))
		return bad_word(error, size, "--export.detail", arg, "host, workload or full");
	return 0;
}

static int set_log_format(struct options *o, const char *arg, char *error, size_t size)
{
	static const char *const names[] = {
		[LOG_FORMAT_TEXT] = "text",	  [LOG_FORMAT_JSON] = "json",
		[LOG_FORMAT_RFC5424] = "rfc5424", [LOG_FORMAT_JOURNAL] = "journal",
		[LOG_FORMAT_OFF] = "off",
	};
	static const char syslog[] = "rfc5424:";

	o->log.given = true;
	o->log.socket = NULL;
	for (enum log_format f = LOG_FORMAT_TEXT; f <= LOG_FORMAT_OFF; f++)
		if (!strcmp(names[f], arg)) {
			o->log.format = f;
			return 0;
		}
	if (strncmp(arg, syslog, strlen(syslog)) || arg[strlen(syslog)] != '/')
		return bad_word(error, size, "--log-format", arg,
				"text, json, rfc5424, rfc5424:SOCKET, journal or off");
	o->log.format = LOG_FORMAT_RFC5424;
	o->log.socket = arg + strlen(syslog);
	return 0;
}

static int set_moment(const char *name, struct moment *m, const char *arg, char *error, size_t size)
{
	return moment_parse(arg, m)
		       ? options_refuse(error, size,
					"--%s %s: expected a time since the beginning (90s, 5m), "
					"before the end (-2m), a clock time (14:03), or a date and "
					"a time (2026-11-28T14:03:20Z)",
					name, arg)
		       : 0;
}

static int set_from(struct options *o, const char *arg, char *error, size_t size)
{
	return set_moment("from", &o->from, arg, error, size);
}

static int set_to(struct options *o, const char *arg, char *error, size_t size)
{
	return set_moment("to", &o->to, arg, error, size);
}

static int set_speed(struct options *o, const char *arg, char *error, size_t size)
{
	uint64_t whole;

	o->speed_given = true;
	o->speed = 0;
	if (!strcmp(arg, "0"))
		return 0;
	if (!parse_u64(arg, 1, 1000000, &whole)) {
		o->speed = whole;
		return 0;
	}
	return parse_seconds(arg, &o->speed) || arg[strspn(arg, "0123456789.")]
		       ? options_refuse(
				 error, size,
				 "--speed %s: expected a number such as 10 or 0.5, or 0 (as fast "
				 "as possible)",
				 arg)
		       : 0;
}

static int set_keep(struct options *o, const char *arg, char *error, size_t size)
{
	char copy[64], *save = NULL;

	if (strlen(arg) >= sizeof(copy))
		return options_refuse(error, size, "--keep: the list of places is too long");
	snprintf(copy, sizeof(copy), "%s", arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		int id = sink_find(one);

		if (id < 0) {
			options_refuse(
				error, size,
				"--keep %s: expected a list of file, instance, pmsg, kmsg and map, "
				"such as --keep file,kmsg",
				arg);
			options_near_word(one, "file, instance, pmsg, kmsg, map", error, size);
			return -EINVAL;
		}
		o->blackbox.record_sinks |= 1u << id;
	}
	return 0;
}

static int set_instance(struct options *o, const char *arg, char *error, size_t size)
{
	o->blackbox.instance = arg;
	return *arg && !strchr(arg, '/') && arg[0] != '.'
		       ? 0
		       : options_refuse(error, size,
					"--instance %s: expected the name of a trace instance",
					arg);
}

#define W   (1u << CMD_WATCH)
#define R   (1u << CMD_RUN)
#define G   (1u << CMD_DIAGNOSE)
#define M   (1u << CMD_MEMORY)
#define H   (1u << CMD_HOST)
#define D   (1u << CMD_DOCTOR)
#define E   (1u << CMD_EXPLAIN)
#define T   (1u << CMD_TRIAGE)
#define X   (1u << CMD_EXPORT)
#define B   (1u << CMD_BLACKBOX)
#define C   (1u << CMD_RECORD)
#define I   (1u << CMD_INFO)
#define Y   (1u << CMD_REPLAY)
#define O   (1u << CMD_REPORT)
#define F   (1u << CMD_DIFF)
#define L   (1u << CMD_OOM)
#define N   (1u << CMD_INCIDENTS)
#define S   (1u << CMD_SNAPSHOT)
#define K   (1u << CMD_SETTINGS)
#define ALL (~0u)

/* How an option stores its argument: `sizeof` rejects a member whose type is not member_type. */
#define AT(kind, member_type, member)                                                              \
	.type = (kind), .at = offsetof(struct options, member) +                                   \
			      0 * sizeof((member_type *)0 == &((struct options *)0)->member)
#define FLAG(member) AT(OPTION_FLAG, bool, member)
#define TEXT(member) AT(OPTION_TEXT, const char *, member)
#define COUNT(member, from, to, what)                                                              \
	AT(OPTION_COUNT, uint64_t, member), .least = (from), .most = (to), .wanted = (what)
#define BYTES(member, from, to, what)                                                              \
	AT(OPTION_BYTES, uint64_t, member), .least = (from), .most = (to), .wanted = (what)
#define SECONDS(member, from, what)                                                                \
	AT(OPTION_SECONDS, double, member), .shortest = (from), .wanted = (what)
#define SECONDS_OR_0(member, what) AT(OPTION_SECONDS_OR_0, double, member), .wanted = (what)
#define OTHER(function)		   .take = (function)

const struct option_row option_rows[] = {
	{"pid", 'p', "PID[,PID...]", W | G | M | C, "watch only these processes",
	 OTHER(options_take_pids)},
	{"children", 0, NULL, W | C,
	 "with -p: also watch the children of these processes, both existing and new children",
	 OTHER(set_children)},
	{"resident", 0, NULL, W | H,
	 "also find which code holds the resident memory of the watched processes, or of those "
	 "with most memory; page faults of these processes then cost more (see faultscope memory)",
	 FLAG(resident)},
	{"since", 0, "TIME", M,
	 "compare with the reading before this time, so that growth is that of the last TIME: 10m "
	 "(default: compare with the first reading)",
	 SECONDS(since, 0, "a time: 600, 10m, 1h")},
	{"comm", 0, "REGEX", W | Y | O | F, "only processes whose name matches REGEX",
	 OTHER(set_comm)},
	{"cgroup", 0, "PATH", W | M | Y | O | F, "only processes in this cgroup or below it",
	 OTHER(set_cgroup)},
	{"container", 0, "ID", W | G | M | C,
	 "watch only the processes that this container has now; ID may be cut to 12 characters",
	 OTHER(set_container)},
	{"duration", 'd', "TIME", W | R | G | M | C | H | T | B | L,
	 "stop after this time: 10 (seconds), 500ms, 2m",
	 SECONDS(duration, 0, "a time: 10, 0.5, 500ms, 2m, 1h")},
	{"record", 0, "FILE", W | R | G | M | H,
	 "also write a recording of the measurement to FILE", TEXT(record)},
	{"replay", 0, "FILE", W | G | M | X | H,
	 "read the recording FILE instead of measuring this machine; needs no root", TEXT(replay)},
	{"force", 0, NULL, W | R | G | M | C | O | H, "overwrite an existing recording",
	 FLAG(force)},
	{"format", 0, "FORMAT", W | R | D | E | G | M | T | Y | O | F | H | B | N | K,
	 "output format; the section FORMATS lists all formats", OTHER(set_format)},
	{"json", 0, NULL, W | R | D | E | G | M | T | I | Y | F | H | B | L | N | K,
	 "short for --format json", OTHER(set_json)},
	{"output", 'o', "FILE", W | R | G | M | T | C | I | Y | O | F | H | B | L | N | K,
	 "write to FILE; - is standard output", TEXT(output)},
	{"sort", 0, "FIELD", W | Y,
	 "sort the table by the value whose JSON name is FIELD: maps.count, faults.major, ...",
	 OTHER(set_sort)},
	{"top", 0, "N", W | Y | F | N,
	 "print at most N rows of the table (default: 20; on a terminal: as many as fit)",
	 COUNT(top, 1, 1000000, "a number of rows")},
	{"assume", 0, "NAME=LIMIT", W | R | G | Y | O | H,
	 "compare values with LIMIT instead of the real limit NAME, for example "
	 "vm.max_map_count=262144 (may be repeated)",
	 OTHER(set_assume)},
	{"overhead", 0, "LIST", W | R | D | G | X | C | H,
	 "enable the probes of these overhead levels: scan (0, periodic scan), events (1, rare "
	 "events), "
	 "latency (2, page fault latency), syscalls (3, all system calls); low stands for "
	 "scan,events, all for every level (default: low without -p, else all)",
	 OTHER(set_overhead)},
	{"probe", 0, "NAME=TYPE", W | R | D | G | M | X | C | H,
	 "attach the probe NAME by the attach type TYPE; if TYPE is none, disable the probe "
	 "(faultscope doctor lists the names and types)",
	 OTHER(set_hook)},
	{"btf", 0, "FILE", W | R | D | G | M | X | C | H | B,
	 "read the type information (BTF) of this kernel from FILE, if /sys/kernel/btf/vmlinux "
	 "does not exist",
	 TEXT(btf)},
	{"addresses", 0, NULL, W | R | G | Y | O, "show addresses of page faults (only in JSON)",
	 FLAG(addresses)},
	{"color", 0, "WHEN", W | R | D | E | G | M | T | I | Y | F | H | B | L | N | K,
	 "when to use colours: auto, always or never; auto obeys the variable NO_COLOR",
	 OTHER(set_colour)},
	{"width", 0, "N", W | R | D | E | G | M | T | I | Y | F | H | B | L | N | K,
	 "width of the text in columns: 40 to 1000", COUNT(width, 40, 1000, "40 to 1000 columns")},
	{"no-unicode", 0, NULL, W | R | D | E | G | M | T | I | Y | F | H | B | L | N | K,
	 "draw charts and lines with ASCII characters only", FLAG(no_unicode)},
	{"summary", 0, NULL, W | R,
	 "print a one-page summary at the end: processes with the most page faults, peak values, "
	 "wait times, findings, and the cost of faultscope",
	 FLAG(summary)},
	{"debuginfod", 0, NULL, W | R | G | M | C,
	 "download debug information of native code from the servers that DEBUGINFOD_URLS names; "
	 "without this option, only installed debug information is used",
	 FLAG(debuginfod)},
	{"quiet", 'q', NULL, W | R | C | Y, "do not print the text summary at the end",
	 FLAG(quiet)},
	{"min-severity", 0, "LEVEL", W | R | G | Y | H,
	 "print only findings of this severity or above: info, warning or critical",
	 OTHER(set_min_severity)},
	{"fail-on", 0, "GATE,...", W | R,
	 "exit with status 3 if one of the conditions is true, such as "
	 "maps.peak>60%,failed_calls>0 (see CONDITIONS)",
	 OTHER(set_fail_on)},
	{"junit", 0, "FILE", W | R,
	 "write the results of --fail-on as JUnit XML; with --phases, also a test case for each "
	 "phase",
	 TEXT(junit)},
	{"phases", 0, NULL, R,
	 "also print values of each phase of the command, which says when a phase begins: it "
	 "writes the name as a line to the file descriptor that the variable FAULTSCOPE_PHASES "
	 "names",
	 FLAG(phases)},
	{"github", 0, NULL, W | R,
	 "print annotations for GitHub Actions (default where GITHUB_ACTIONS=true)", FLAG(github)},
	{"no-calibrate", 0, NULL, D, "do not measure the cost of each probe (saves half a second)",
	 FLAG(no_calibrate)},
	{"journal", 0, NULL, T, "read the kernel messages of the systemd journal", FLAG(journal)},
	{"group", 0, "DIR", T,
	 "group all logs below the directory DIR by crash; for each crash, print the number of "
	 "logs, and the first and last time",
	 TEXT(group)},
	{"markdown", 0, NULL, T | L,
	 "print Markdown for a bug report; triage leaves out addresses and host names",
	 FLAG(markdown)},
	{"html", 0, NULL, T | O | F | N, "write an HTML page that needs no network",
	 OTHER(set_html)},
	{"no-redact", 0, NULL, T, "with --markdown: keep addresses and host names",
	 FLAG(no_redact)},
	{"explain", 0, NULL, T, "show each rule that fired, with its evidence", FLAG(explain)},
	{"live", 0, NULL, T, "watch this kernel for errors that precede a crash, until Ctrl-C",
	 FLAG(blackbox.live)},
	{"ring", 0, "FILE", T | B | G,
	 "ring file of the flight recorder (default: /var/lib/faultscope/blackbox.ring)",
	 TEXT(blackbox.file)},
	{"ring-size", 0, "BYTES", B, "size of a new ring file: 8K to 64M (default: 1M)",
	 BYTES(blackbox.file_bytes, RING_BYTES_LEAST, RING_BYTES_MOST, "a size from 8K to 64M")},
	{"keep", 0, "N", L,
	 "with --watch: number of OOM kills whose pages are kept, the newest ones; 0 keeps none "
	 "(default: 100)",
	 COUNT(oom.keep, 0, OOM_KEEP_MAX, "a number, at most 10000")},
	{"keep", 0, "LIST", T | B,
	 "where to keep records: file,instance,pmsg,kmsg,map (default: all places that exist on "
	 "this machine)",
	 OTHER(set_keep)},
	{"list", 0, NULL, L, "print one line for each kill, the newest first", FLAG(oom.list)},
	{"watch", 0, NULL, L,
	 "until Ctrl-C, print and store the page of each OOM kill when it happens",
	 FLAG(oom.watch)},
	{"store", 0, "DIR", L,
	 "directory that keeps the pages of OOM kills (default: /var/lib/faultscope/oom)",
	 TEXT(oom.store)},
	{"oom.store", 0, "DIR", X,
	 "directory that keeps the pages of OOM kills, for faultscope oom (default: "
	 "/var/lib/faultscope/oom)",
	 TEXT(oom.store)},
	{"oom.keep", 0, "N", X,
	 "number of OOM kills whose pages are kept, the newest ones; 0 keeps none (default: 100)",
	 COUNT(oom.keep, 0, OOM_KEEP_MAX, "a number, at most 10000")},
	{"store", 0, "DIR", N | S,
	 "directory of the incidents (default: /var/lib/faultscope/incidents, or that of the "
	 "service)",
	 TEXT(incident.store)},
	{"ring", 0, "SIZE|TIME", C | X,
	 "keep the last SIZE, the last TIME or both (16M,1h) in memory, and write them as an "
	 "incident when something serious happens; off: no ring (default of export: 4M,15m)",
	 OTHER(options_take_ring)},
	{"incident.store", 0, "DIR", X,
	 "directory of the incidents (default: /var/lib/faultscope/incidents)",
	 TEXT(incident.store)},
	{"incident.on", 0, "LIST", C | X,
	 "what triggers an incident: finding (a critical finding), oom (an OOM kill), pressure "
	 "(all tasks wait for memory), or none (default: finding,oom,pressure)",
	 OTHER(options_take_triggers)},
	{"incident.cause", 0, "CAUSE,...", C | X,
	 "a failed call with one of these causes also triggers an incident: max_map_count, "
	 "rlimit_nofile, ...; export needs --export.calls for this",
	 OTHER(options_take_causes)},
	{"incident.signal", 0, "REGEX", C | X,
	 "a fatal signal in a workload whose name matches REGEX also triggers an incident",
	 TEXT(incident.signal)},
	{"incident.after", 0, "TIME", C | X,
	 "time after the trigger that an incident contains (default: 10s)",
	 SECONDS_OR_0(incident.after, "a time: 10, 10s, 1m, or 0")},
	{"incident.rest", 0, "TIME", C | X,
	 "after an incident, ignore the same finding in the same workload for this time (default: "
	 "1h)",
	 SECONDS_OR_0(incident.rest, "a time: 1h, 600, or 0")},
	{"incident.per-hour", 0, "N", C | X,
	 "maximum number of incidents per hour that are not requested by hand (default: 12)",
	 COUNT(incident.per_hour, 1, 3600, "a number from 1 to 3600")},
	{"incident.keep", 0, "N", C | X,
	 "number of incidents that the store keeps, the newest ones (default: 50)",
	 COUNT(incident.keep, 1, INCIDENT_KEEP_MAX, "a number from 1 to 10000")},
	{"incident.max-size", 0, "SIZE", C | X,
	 "size of all incidents together; the oldest ones are removed (default: 256M)",
	 BYTES(incident.bytes, RECORD_BYTES_LEAST, UINT64_MAX, "a size of at least 16K: 64M, 2G")},
	{"incident.max-age", 0, "TIME", C | X,
	 "remove incidents that are older than this (default: 720h)",
	 SECONDS(incident.age, 1, "a time of 1s or more: 24h, 720h")},
	{"log-format", 0, "FORMAT", C | X,
	 "format of log lines about findings and incidents: text (on standard error), json or "
	 "rfc5424 (on standard output), rfc5424:SOCKET (to a syslog socket such as /dev/log), "
	 "journal, or off (only errors); default: journal if standard error is connected to the "
	 "journal, else text; record writes such lines only with this option or with --ring",
	 OTHER(set_log_format)},
	{"instance", 0, "NAME", T | B,
	 "trace instance that survives a warm reboot (default: boot_map)", OTHER(set_instance)},
	{"heartbeat", 0, "TIME", B, "interval of heartbeat records (default: 10s)",
	 SECONDS(blackbox.heartbeat, 0.1, "a time of 100ms or more: 1, 10s, 1m")},
	{"web.listen-address", 0, "ADDRESS", X,
	 "address to serve: HOST:PORT, [IPV6]:PORT, :PORT or fd:// (default: 127.0.0.1:10435; may "
	 "be repeated)",
	 OTHER(set_address)},
	{"web.config.file", 0, "FILE", X,
	 "configuration file in the format of Prometheus exporter-toolkit: TLS, client "
	 "certificates, users, headers",
	 TEXT(web.config_file)},
	{"web.telemetry-path", 0, "PATH", X, "path of the metrics (default: /metrics)",
	 OTHER(set_web_path)},
	{"web.systemd-socket", 0, NULL, X,
	 "short for --web.listen-address fd://, which serves "
	 "the socket that systemd passes",
	 OTHER(set_systemd_socket)},
	{"textfile", 0, "FILE", X,
	 "write metrics to FILE for node_exporter instead of serving them: once, or every "
	 "INTERVAL seconds",
	 TEXT(textfile)},
	{"limit.workloads", 0, "N", X,
	 "maximum number of workloads with their own series; the rest is summed in ~other, but "
	 "one of four places is kept for workloads near a limit or with failed calls (default: "
	 "50, or 150 on a node of Kubernetes)",
	 COUNT(limit_workloads, 0, CENSUS_WORKLOADS_MAX - 1, "a number, at most 4095")},
	{"limit.series", 0, "N", X,
	 "maximum number of series; workloads that would exceed it are counted in ~other "
	 "(default: 5000)",
	 COUNT(limit_series, 1, 1000000, "a number of series")},
	{"limit.resident", 0, "N", X,
	 "with --export.resident: maximum number of places in the code that have their own series "
	 "in each workload; the rest is summed in ~other (default: 10)",
	 COUNT(limit_resident, 0, RESIDENT_PLACES_MAX, "a number, at most 100")},
	{"workload.min-age", 0, "TIME", X,
	 "minimum age of a workload that has its own series (default: 30s)",
	 SECONDS_OR_0(min_age, "a time: 30, 30s, 2m, or 0")},
	{"workload.retention", 0, "TIME", X,
	 "how long the series of a workload remain after its last process ended (default: 5m)",
	 SECONDS_OR_0(retention, "a time: 5m, 300, or 0")},
	{"workload.collapse", 0, "REGEX", X,
	 "in workload names, replace text that matches REGEX by *; if REGEX is instances, also "
	 "replace instance names of systemd templates (template@*); if REGEX is none, replace "
	 "nothing",
	 OTHER(set_collapse)},
	{"path.cgroupfs", 0, "DIR", X,
	 "directory with the host's cgroup file system (version 2); needed in a container, to "
	 "name workloads",
	 TEXT(cgroupfs)},
	{"export.detail", 0, "LEVEL", X,
	 "detail of the metrics: host, workload (the default), or full, which adds --export.calls "
	 "and --export.faults",
	 OTHER(set_detail)},
	{"export.zeros", 0, "WHEN", X,
	 "yes: workloads have counters of failed calls, OOM kills, direct reclaim and reads from "
	 "swap that are 0; no (the default): these series begin with the first event",
	 OTHER(set_zeros)},
	{"export.calls", 0, NULL, X,
	 "also count failed calls where this costs every system call of the machine: before "
	 "Linux 6.14; later kernels count them without this option",
	 FLAG(calls)},
	{"export.faults", 0, NULL, X,
	 "also export page faults by kind of mapping, and the duration of minor faults; this "
	 "attaches a probe to the end of each page fault",
	 FLAG(faults)},
	{"export.resident", 0, "REGEX", X,
	 "also export which code holds the resident memory of workloads whose name matches REGEX; "
	 "page faults of these workloads then cost more, export keeps the right to read the memory "
	 "maps of all processes, and it attaches the probe of --export.calls",
	 TEXT(resident_pattern)},
	{"export.profiles", 0, NULL, X,
	 "also serve profiles of the last minutes below /debug/pprof: faults, mappings, fds and "
	 "stalls, by workload, process and user stack; this attaches the probes of --export.calls "
	 "and --export.faults, and export keeps the right to read the memory maps of all processes",
	 FLAG(profiles)},
	{"native-histograms", 0, NULL, X,
	 "add native histograms to the classic ones (protobuf only)", FLAG(native_histograms)},
	{"interval", 'i', "TIME", C,
	 "time between scans (default: 10s for all processes, 1s for chosen processes)",
	 SECONDS(interval, 0, "a time: 10, 0.5, 500ms")},
	{"max-size", 0, "SIZE", C, "end the recording before it exceeds this size: 64M, 2G",
	 BYTES(max_bytes, RECORD_BYTES_LEAST, UINT64_MAX, "a size of at least 16K: 64M, 2G")},
	{"redact", 0, NULL, C | O | X, "remove the host name, file names, paths and addresses",
	 FLAG(redact)},
	{"from", 0, "TIME", I | Y | O | F,
	 "read the recording from TIME on: 90s or 5m after its beginning, -2m before its end, "
	 "14:03 "
	 "or 2026-11-28T14:03:20Z; counters begin at 0 there",
	 OTHER(set_from)},
	{"to", 0, "TIME", I | Y | O | F, "read the recording up to TIME", OTHER(set_to)},
	{"speed", 0, "FACTOR", Y,
	 "speed of the replay: 10 is ten times the recorded speed, 0 is "
	 "as fast as possible",
	 OTHER(set_speed)},
	{"help", 'h', NULL, ALL, "print the help text", FLAG(help)},
	{"version", 'V', NULL, ALL, "print the version", FLAG(version)},
};
const size_t nr_option_rows = sizeof(option_rows) / sizeof(option_rows[0]);
