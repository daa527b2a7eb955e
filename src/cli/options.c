// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/resources.h"
#include "cli/options_table.h"

#define RECORD_BYTES_LEAST 16384
#define DEFAULT_WORKLOADS  50
#define DEFAULT_SERIES	   5000
#define DEFAULT_MIN_AGE	   30.0	 /* seconds */
#define DEFAULT_RETENTION  300.0 /* the last increments are scraped before the series end */

static int bad(char *error, size_t size, const char *option, const char *arg, const char *wanted)
{
	snprintf(error, size, "%s %s: %s", option, arg, wanted);
	return -EINVAL;
}

/* The same for one of a few words, which `wanted` lists. */
static int bad_word(char *error, size_t size, const char *option, const char *arg,
		    const char *wanted)
{
	bad(error, size, option, arg, wanted);
	options_near_word(arg, wanted, error, size);
	return -EINVAL;
}

int options_take_pids(struct options *o, const char *arg, char *error, size_t size)
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
	if (o->command == CMD_REPORT || o->command == CMD_DIFF) {
		o->report_format = report_format_find(arg);
		if (o->report_format)
			return 0;
		bad(error, size, "--format", arg, "no such format; faultscope man lists them");
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
	if (o->sort)
		return 0;
	bad(error, size, "--sort", arg,
	    "a field as in the JSON: faults.minor, maps.count, fds.count, memory.rss_bytes, …");
	options_near_field(arg, error, size);
	return -EINVAL;
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
		options_near_resource(name, error, size);
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
	char name[32] = "";
	int h = -1;

	if (equal && equal - arg < (int)sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equal - arg), arg);
		h = hook_find(name);
	}
	if (h < 0) {
		bad(error, size, "--hook", arg,
		    "NAME=MECHANISM or NAME=none; faultscope doctor lists them");
		options_near_hook(name, h, error, size);
		return -EINVAL;
	}
	o->forced[h] = equal + 1;
	if (!strcmp(equal + 1, "none"))
		return 0;
	if (hook_alternate_find(&hooks[h], equal + 1) >= 0)
		return 0;
	bad(error, size, "--hook", arg,
	    "this hook has no such mechanism; faultscope doctor lists them");
	options_near_hook(equal + 1, h, error, size);
	return -EINVAL;
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
		return bad_word(error, size, "--color", arg, "auto, always or never");
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

static int set_summary(struct options *o, const char *arg, char *error, size_t size)
{
	o->summary = true;
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
	return bad_word(error, size, "--min-severity", arg, "info, warning or critical");
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

static int set_html(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->command == CMD_TRIAGE)
		o->html = true;
	else
		o->report_format = report_format_find("html");
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

static int set_address(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->web.addresses == ENDPOINT_ADDRESSES)
		return bad(error, size, "--web.listen-address", arg, "too many addresses");
	o->web.address[o->web.addresses++] = arg;
	return 0;
}

static int set_systemd_socket(struct options *o, const char *arg, char *error, size_t size)
{
	return set_address(o, "fd://", error, size);
}

static int set_web_config(struct options *o, const char *arg, char *error, size_t size)
{
	o->web.config_file = arg;
	return 0;
}

static int set_web_path(struct options *o, const char *arg, char *error, size_t size)
{
	o->web.path = arg;
	return arg[0] == '/' && arg[1] && !strpbrk(arg, "\"<>& ?#")
		       ? 0
		       : bad(error, size, "--web.telemetry-path", arg, "a path: /metrics");
}

/* What is collapsed by default stays so; "none" switches it off, all else is a pattern. */
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

static int set_cgroupfs(struct options *o, const char *arg, char *error, size_t size)
{
	o->cgroupfs = arg;
	return 0;
}

static int set_min_age(struct options *o, const char *arg, char *error, size_t size)
{
	if (parse_seconds_or_0(arg, &o->min_age))
		return bad(error, size, "--workload.min-age", arg, "a time: 30, 30s, 2m; 0: none");
	return 0;
}

static int set_retention(struct options *o, const char *arg, char *error, size_t size)
{
	if (parse_seconds_or_0(arg, &o->retention))
		return bad(error, size, "--workload.retention", arg, "a time: 5m, 300; 0: none");
	return 0;
}

static int set_limit_workloads(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_u64(arg, 0, CENSUS_WORKLOADS_MAX - 1, &o->limit_workloads)
		       ? bad(error, size, "--limit.workloads", arg, "a number, at most 4095")
		       : 0;
}

static int set_limit_series(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_u64(arg, 1, 1000000, &o->limit_series)
		       ? bad(error, size, "--limit.series", arg, "a number of series")
		       : 0;
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

static int set_calls(struct options *o, const char *arg, char *error, size_t size)
{
	o->calls = true;
	return 0;
}

static int set_faults(struct options *o, const char *arg, char *error, size_t size)
{
	o->faults = true;
	return 0;
}

static int set_native(struct options *o, const char *arg, char *error, size_t size)
{
	o->native_histograms = true;
	return 0;
}

static int set_textfile(struct options *o, const char *arg, char *error, size_t size)
{
	o->textfile = arg;
	return 0;
}

static int set_jitter(struct options *o, const char *arg, char *error, size_t size)
{
	o->jitter = true;
	return 0;
}

static int set_from(struct options *o, const char *arg, char *error, size_t size)
{
	if (o->froms == FROM_MOST)
		return bad(error, size, "--from", arg, "too often: URL,URL,...");
	o->from[o->froms++] = arg;
	return 0;
}

static int set_count(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_u64(arg, 1, UINT64_MAX, &o->count)
		       ? bad(error, size, "--count", arg, "a number of tables")
		       : 0;
}

static int set_user(struct options *o, const char *arg, char *error, size_t size)
{
	o->fetch.user = arg;
	return 0;
}

static int set_password_file(struct options *o, const char *arg, char *error, size_t size)
{
	o->fetch.password_file = arg;
	return 0;
}

static int set_ca_file(struct options *o, const char *arg, char *error, size_t size)
{
	o->fetch.ca_file = arg;
	return 0;
}

static int set_cert_file(struct options *o, const char *arg, char *error, size_t size)
{
	o->fetch.cert_file = arg;
	return 0;
}

static int set_key_file(struct options *o, const char *arg, char *error, size_t size)
{
	o->fetch.key_file = arg;
	return 0;
}

static int set_max_size(struct options *o, const char *arg, char *error, size_t size)
{
	if (parse_bytes(arg, &o->max_bytes) || o->max_bytes < RECORD_BYTES_LEAST)
		return bad(error, size, "--max-size", arg, "a size from 16K on: 64M, 2G");
	return 0;
}

static int set_redact(struct options *o, const char *arg, char *error, size_t size)
{
	o->redact = true;
	return 0;
}

static int set_interval(struct options *o, const char *arg, char *error, size_t size)
{
	return parse_seconds(arg, &o->interval)
		       ? bad(error, size, "--interval", arg, "a time: 10, 0.5, 500ms")
		       : 0;
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
		       ? bad(error, size, "--speed", arg, "a number: 10, 0.5; 0: without waiting")
		       : 0;
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
#define X   (1u << CMD_EXPORT)
#define P   (1u << CMD_TOP)
#define B   (1u << CMD_BLACKBOX)
#define C   (1u << CMD_RECORD)
#define I   (1u << CMD_INFO)
#define Y   (1u << CMD_REPLAY)
#define O   (1u << CMD_REPORT)
#define F   (1u << CMD_DIFF)
#define ALL (~0u)

const struct option_row option_rows[] = {
	{"pid", 'p', "PID[,PID...]", W | G | C, "watch these processes", options_take_pids},
	{"children", 0, NULL, W | C, "with -p: their children too, those alive and those to come",
	 set_children},
	{"comm", 0, "REGEX", W | Y | O | F, "show processes whose name matches", set_comm},
	{"cgroup", 0, "PATH", W | Y | O | F, "show processes of this cgroup and those below it",
	 set_cgroup},
	{"duration", 'd', "TIME", W | R | G | C | H | T | B, "stop after this time: 10, 500ms, 2m",
	 set_duration},
	{"record", 0, "FILE", W | R | G | H, "write what is seen to FILE, to be replayed",
	 set_record},
	{"replay", 0, "FILE", W | G | X | H,
	 "show a recording instead of this machine; needs no root", set_replay},
	{"force", 0, NULL, W | R | G | C | O | H, "let a recording replace a file that exists",
	 set_force},
	{"format", 0, "FORMAT", W | R | D | E | G | T | Y | O | F | H | B,
	 "text, json or folded; of report and diff see FORMATS", set_format},
	{"json", 0, NULL, W | R | D | E | G | T | I | Y | F | H | B, "the same as --format json",
	 set_json},
	{"output", 'o', "FILE", W | R | G | T | P | C | I | Y | O | F | H | B,
	 "write to FILE instead of standard output; - is standard output", set_output},
	{"sort", 0, "FIELD", W | Y, "order the table by a field: maps.count, faults.major, ...",
	 set_sort},
	{"top", 0, "N", W | P | Y | F, "rows of the table (20; on a terminal what fits)", set_top},
	{"assume", 0, "NAME=LIMIT", W | R | G | Y | O | H,
	 "judge by another limit: vm.max_map_count=262144 (again for each)", set_assume},
	{"tiers", 0, "LIST", W | R | D | G | X | C | H,
	 "what to pay for: 0 look, 1 own events, 2 fault latency, 3 calls", set_tiers},
	{"hook", 0, "NAME=HOW", W | R | D | G | X | C | H,
	 "force a hook's mechanism, or none (see faultscope doctor)", set_hook},
	{"btf", 0, "FILE", W | R | D | G | X | C | H | B,
	 "type information of this kernel, where it offers none", set_btf},
	{"addresses", 0, NULL, W | R | G | Y | O, "show addresses of faults (JSON)", set_addresses},
	{"color", 0, "WHEN", W | R | D | E | G | T | P | I | Y | F | H | B,
	 "auto, always or never; NO_COLOR is honoured", set_colour},
	{"width", 0, "N", W | R | D | E | G | T | P | I | Y | F | H | B, "columns of the text",
	 set_width},
	{"no-unicode", 0, NULL, W | R | D | E | G | T | P | I | Y | F | H | B,
	 "draw with ASCII alone", set_no_unicode},
	{"summary", 0, NULL, W | R,
	 "a page at the end: who faulted most, peaks, what was waited for", set_summary},
	{"quiet", 'q', NULL, W | R | C | Y, "no text summary at the end", set_quiet},
	{"min-severity", 0, "LEVEL", W | R | G | Y | H,
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
	{"html", 0, NULL, T | O | F, "a page for a browser, that needs no network", set_html},
	{"no-redact", 0, NULL, T, "with --markdown: leave addresses in", set_no_redact},
	{"explain", 0, NULL, T, "show each rule that fired, with what it saw", set_explain},
	{"live", 0, NULL, T, "watch this kernel for what comes before a crash, until Ctrl-C",
	 set_live},
	{"ring", 0, "FILE", T | B | G, "the recorder's file (/var/lib/faultscope/blackbox.ring)",
	 set_ring},
	{"ring-bytes", 0, "BYTES", B, "its size where it is made anew: 8K to 64M (1M)",
	 set_ring_bytes},
	{"keep", 0, "LIST", T | B,
	 "where records go: file,instance,pmsg,kmsg,map (all that are there)", set_keep},
	{"instance", 0, "NAME", T | B, "the trace instance that survives a warm reboot (boot_map)",
	 set_instance},
	{"heartbeat", 0, "TIME", B, "how often a sign of life is recorded (10s)", set_heartbeat},
	{"web.listen-address", 0, "ADDRESS", X,
	 "HOST:PORT, [IPV6]:PORT, :PORT or fd:// (127.0.0.1:10435; again for more)", set_address},
	{"web.config.file", 0, "FILE", X,
	 "TLS, client certificates, users, headers: in exporter-toolkit's format", set_web_config},
	{"web.telemetry-path", 0, "PATH", X, "where the metrics are (/metrics)", set_web_path},
	{"web.systemd-socket", 0, NULL, X, "the same as --web.listen-address fd://",
	 set_systemd_socket},
	{"textfile", 0, "FILE", X,
	 "write FILE for node_exporter instead of serving: once, or each INTERVAL", set_textfile},
	{"limit.workloads", 0, "N", X, "workloads with series of their own, others are ~other (50)",
	 set_limit_workloads},
	{"limit.series", 0, "N", X, "series in all; beyond it workloads are dropped (5000)",
	 set_limit_series},
	{"workload.min-age", 0, "TIME", X, "age of a workload that gets its own series (30s)",
	 set_min_age},
	{"workload.retention", 0, "TIME", X, "for how long they stay after its last process (5m)",
	 set_retention},
	{"workload.collapse", 0, "REGEX", X,
	 "what fits in a name becomes *; instances: template@*; none: nothing at all",
	 set_collapse},
	{"path.cgroupfs", 0, "DIR", X,
	 "the host's cgroups (version 2), to name workloads by in a container without its pids",
	 set_cgroupfs},
	{"export.detail", 0, "LEVEL", X,
	 "host, workload, or full: with --export.calls and --export.faults (workload)", set_detail},
	{"export.calls", 0, NULL, X, "refused calls too: a hook on each system call of the machine",
	 set_calls},
	{"export.faults", 0, NULL, X,
	 "page faults by what is mapped, and minor ones' time: a hook at the end of each",
	 set_faults},
	{"native-histograms", 0, NULL, X, "in protobuf, native histograms beside classic ones",
	 set_native},
	{"jitter", 0, NULL, X, "with --replay: figures move, as if the machine lived on",
	 set_jitter},
	{"from", 0, "URL[,URL...]", P, "exporters: host:port, or whole addresses (again for more)",
	 set_from},
	{"count", 'n', "N", P, "tables to print before it ends (on a terminal without end, else 1)",
	 set_count},
	{"web.user", 0, "NAME", P, "for basic authentication", set_user},
	{"web.password-file", 0, "FILE", P, "its first line is that user's password",
	 set_password_file},
	{"web.ca-file", 0, "FILE", P, "trust these authorities instead of the system's",
	 set_ca_file},
	{"web.cert-file", 0, "FILE", P, "certificate to show to exporters", set_cert_file},
	{"web.key-file", 0, "FILE", P, "its key", set_key_file},
	{"interval", 'i', "TIME", C,
	 "time between looks (10 s of all processes, 1 s of those named)", set_interval},
	{"max-size", 0, "SIZE", C, "end the recording before it is larger: 64M, 2G", set_max_size},
	{"redact", 0, NULL, C | O, "leave out names of host and files, paths and addresses",
	 set_redact},
	{"speed", 0, "FACTOR", Y, "times as fast as it was; 0: without waiting", set_speed},
	{"help", 'h', NULL, ALL, "this text", set_help},
	{"version", 'V', NULL, ALL, "the version", set_version},
};
const size_t nr_option_rows = sizeof(option_rows) / sizeof(option_rows[0]);

static int is_command(const char *word)
{
	for (int i = CMD_RUN; i < NR_COMMANDS; i++)
		if (!strcmp(command_rows[i].name, word))
			return i;
	return -1;
}

int options_parse(int argc, char **argv, struct options *ret, char *error, size_t size)
{
	struct option longs[64] = {};
	char shorts[128] = "+:";
	const char *first = argc > 1 ? argv[1] : "";
	int rows[64], n = 0, index, c;

	memset(ret, 0, sizeof(*ret));
	ret->collapse = COLLAPSE_DEFAULT;
	ret->limit_workloads = DEFAULT_WORKLOADS;
	ret->limit_series = DEFAULT_SERIES;
	ret->min_age = DEFAULT_MIN_AGE;
	ret->retention = DEFAULT_RETENTION;
	if (argc > 1 && is_command(argv[1]) >= 0) {
		ret->command = is_command(argv[1]);
		argv++, argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "help")) {
		ret->help = true;
		if (argc > 2 && is_command(argv[2]) < 0) {
			snprintf(error, size,
				 "help %.64s: no such command\n  see: faultscope --help", argv[2]);
			options_near_command(argv[2], error, size);
			return -EINVAL;
		}
		if (argc > 2)
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
			if (c == '?')
				options_near_option(argv[optind - 1], ret->command, error, size);
			if (ret->command == CMD_WATCH && *first != '-')
				options_near_command(first, error, size);
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
	if (options_take_words(ret, error, size) || options_take_dash(ret, error, size))
		return -EINVAL;
	return options_check(ret, error, size);
}
