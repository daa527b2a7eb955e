// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests command lines: values at the bounds of what options accept, and what excludes what. */
#include <errno.h>
#include <string.h>

#include "cli/options.h"
#include "tap.h"

static struct options o;
static char error[4096];

/* Parses a line in which blanks separate the words. The words stay valid until the next call. */
static int parse(const char *line)
{
	static char words[8192], *argv[64];
	char *save = NULL;
	int argc = 1;

	argv[0] = "faultscope";

	snprintf(words, sizeof(words), "%s", line);
	for (char *one = strtok_r(words, " ", &save); one && argc < 63;
	     one = strtok_r(NULL, " ", &save))
		argv[argc++] = one;
	argv[argc] = NULL;
	error[0] = 0;
	return options_parse(argc, argv, &o, error, sizeof(error));
}

static void accepts(const char *line)
{
	if (!ok(!parse(line), "accepted: %.200s", line))
		printf("#   %.300s\n", error);
}

static void refuses(const char *line, const char *why)
{
	if (!ok(parse(line) == -EINVAL && strstr(error, why), "refused: %.200s", line))
		printf("#   no \"%s\" in: %.300s\n", why, error);
}

/* Each option with a range: the line up to the value, then values. */
static const struct {
	const char *line, *least, *most, *below, *above, *wanted;
} ranges[] = {
	{"--top", "1", "1000000", "0", "1000001", "expected a number of rows"},
	{"--width", "40", "1000", "39", "1001", "expected 40 to 1000 columns"},
	{"--duration", "10ms", "100000000", "9ms", "100000001", "expected a time"},
	{"record -o x --interval", "0.01", "100000000", "0.009", "100000001", "expected a time"},
	{"blackbox --ring-size", "8K", "64M", "8191", "67108865", "expected a size from 8K to 64M"},
	{"blackbox --heartbeat", "100ms", "100000000", "99ms", "100000001",
	 "expected a time of 100ms or more"},
	{"oom --watch --keep", "0", "10000", "-1", "10001", "expected a number, at most 10000"},
	{"export --oom.keep", "0", "10000", "-1", "10001", "expected a number, at most 10000"},
	{"export --incident.per-hour", "1", "3600", "0", "3601", "a number from 1 to 3600"},
	{"export --incident.keep", "1", "10000", "0", "10001", "a number from 1 to 10000"},
	{"export --incident.max-size", "16K", "8388607T", "16383", "8388608T", "at least 16K"},
	{"export --incident.max-age", "1", "100000000", "0.99", "100000001", "1s or more"},
	{"export --incident.after", "0", "100000000", "9ms", "100000001", "expected a time"},
	{"record -o x --max-size", "16384", "8388607T", "15K", "8388608T", "at least 16K"},
	{"export --limit.workloads", "0", "4095", "-1", "4096", "a number, at most 4095"},
	{"export --limit.series", "1", "1000000", "0", "1000001", "expected a number of series"},
	{"export --limit.resident", "0", "100", "-1", "101", "a number, at most 100"},
	{"export --workload.min-age", "0", "100000000", "-1", "100000001", "expected a time"},
	{"export --workload.retention", "0.01", "1h", "0.001", "27778h", "expected a time"},
	{"-p", "1", "4194304", "0", "4194305", "expected a process id"},
};

static void test_ranges(void)
{
	char line[128];

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		snprintf(line, sizeof(line), "%s %s", ranges[i].line, ranges[i].least);
		accepts(line);
		snprintf(line, sizeof(line), "%s %s", ranges[i].line, ranges[i].most);
		accepts(line);
		snprintf(line, sizeof(line), "%s %s", ranges[i].line, ranges[i].below);
		refuses(line, ranges[i].wanted);
		snprintf(line, sizeof(line), "%s %s", ranges[i].line, ranges[i].above);
		refuses(line, ranges[i].wanted);
		snprintf(line, sizeof(line), "%s 7x", ranges[i].line);
		refuses(line, ranges[i].wanted);
	}
}

static void test_values(void)
{
	accepts("record -o x.fsr --interval 500ms --duration 2m --max-size 1M");
	ok(o.command == CMD_RECORD && o.interval == 0.5 && o.duration == 120 &&
		   o.max_bytes == 1 << 20,
	   "times and sizes");
	is_str(o.output, "x.fsr", "a file");
	accepts("--top 7 --width 99 --no-unicode 2 3");
	ok(o.command == CMD_WATCH && o.top == 7 && o.width == 99 && o.no_unicode &&
		   o.interval == 2 && o.count == 3,
	   "an interval and a count");
	accepts("-q -d 3");
	ok(o.quiet && o.duration == 3, "letters");
	accepts("export");
	ok(o.limit_workloads == OPTION_UNSET && o.limit_series == 5000 && o.limit_resident == 10 &&
		   o.min_age == 30 && o.retention == 300 && o.oom.keep == 100 &&
		   o.collapse == COLLAPSE_DEFAULT && !o.zeros,
	   "what export does by default");
	accepts("export --export.detail host --export.zeros yes --workload.collapse instances");
	ok(o.limit_workloads == 0 && o.zeros &&
		   o.collapse == (COLLAPSE_DEFAULT | COLLAPSE_INSTANCES),
	   "other words");
	accepts("export --export.detail full --export.zeros no --workload.collapse none");
	ok(o.calls && o.faults && !o.zeros && !o.collapse && o.limit_workloads == OPTION_UNSET,
	   "and others");
	accepts("export --export.detail workload --workload.collapse x.*");
	ok(!o.calls && !o.faults && !strcmp(o.collapse_pattern, "x.*"), "a pattern");
	refuses("export --export.detail all", "expected host, workload or full");
	refuses("export --export.zeros maybe", "expected yes or no");
	accepts("--color always");
	ok(o.colour == WHEN_ALWAYS, "colours");
	accepts("--color never");
	ok(o.colour == WHEN_NEVER, "none");
	accepts("--color never --color auto");
	ok(o.colour == WHEN_AUTO, "the last one counts");
	accepts("--min-severity info");
	ok(o.min_severity == 0 && o.min_severity_given, "the first severity");
	accepts("--min-severity critical");
	is_u64(o.min_severity, NR_SEVERITIES - 1, "the last one");
	accepts("replay x.fsr --speed 0");
	ok(o.speed_given && o.speed == 0, "as fast as possible");
	accepts("replay x.fsr --speed 1000000");
	ok(o.speed == 1000000, "a factor");
	accepts("replay x.fsr --speed 0.5");
	ok(o.speed == 0.5, "a part");
	refuses("replay x.fsr --speed 5s", "expected a number such as 10 or 0.5");
	refuses("replay x.fsr --speed -1", "expected a number such as 10 or 0.5");
}

static void test_pids(void)
{
	char line[4200] = "-p ";
	size_t len = strlen(line);

	for (int i = 0; i < 256; i++)
		len += snprintf(line + len, sizeof(line) - len, "%s%d", i ? "," : "", i + 1);
	accepts(line);
	ok(o.filter.pids == 256 && o.filter.pid[0] == 1 && o.filter.pid[255] == 256,
	   "256 processes");
	strcpy(line + len, ",257");
	refuses(line, "more than 256 processes");
	memset(line + 3, '0', 4095);
	strcpy(line + 3 + 4094, "7");
	accepts(line);
	ok(o.filter.pids == 1 && o.filter.pid[0] == 7, "a list of 4095 bytes");
	strcpy(line + 3 + 4095, "7");
	refuses(line, "too long");
	refuses("-p ,", "expected a process id");
	accepts("-p 7 --children");
	ok(o.children && o.filter.children, "and their children");
	refuses("--children", "--children needs -p");
	accepts("record -o x 12,13");
	is_u64(o.filter.pids, 2, "record takes a list");
}

static void test_overhead(void)
{
	static const struct {
		const char *line;
		unsigned int tiers;
	} levels[] = {
		{"--overhead scan", 1},
		{"--overhead 0", 1},
		{"--overhead events", 3},
		{"--overhead 1", 3},
		{"--overhead 2", 5},
		{"--overhead 3", 9},
		{"--overhead syscalls", 9},
		{"--overhead low", 3},
		{"--overhead all", 15},
		{"--overhead 0-3", 15},
		{"--overhead 1-2", 7},
		{"--overhead 2-2", 5},
		{"--overhead events,3", 11},
		{"--overhead 2-3", 13},
		{"--overhead low,low,low,low,low,low,low,low,low,low,low,low,low,low,low,low", 3},
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		accepts(levels[i].line);
		ok(o.tiers == levels[i].tiers && o.tiers_given, "levels %#x", levels[i].tiers);
	}
	refuses("--overhead 4", "expected a list of levels");
	refuses("--overhead 2-1", "expected a list of levels");
	refuses("--overhead 1-4", "expected a list of levels");
	refuses("--overhead x-1", "expected a list of levels");
	refuses("--overhead low,low,low,low,low,low,low,low,low,low,low,low,low,low,low,low,",
		"expected a list of levels");
	accepts("");
	ok(!o.tiers_given, "none is given");
}

static void test_limits(void)
{
	accepts("--assume vm.max_map_count=1");
	is_u64(o.assumed[resource_find("vm.max_map_count")], 1, "a limit");
	accepts("--assume vm.max_map_count=9223372036854775807");
	refuses("--assume vm.max_map_count=9223372036854775808", "a whole number above 0");
	refuses("--assume vm.max_map_count=0", "a whole number above 0");
	refuses("--assume vm.max_map_count", "expected NAME=LIMIT");
	refuses("--assume =3", "expected NAME=LIMIT");
	for (int i = 0; i < NR_RESOURCES; i++) {
		char line[128];

		snprintf(line, sizeof(line), "--assume %s=64K", resources[i].limit);
		if (resources[i].bytes) {
			accepts(line);
			is_u64(o.assumed[i], 65536, "a size");
		} else {
			refuses(line, "a whole number above 0");
		}
	}
}

static void test_probes(void)
{
	char line[128], near[128];

	for (size_t i = 0; i < nr_hooks; i++) {
		snprintf(line, sizeof(line), "--probe %s=none", hooks[i].name);
		accepts(line);
		is_str(o.forced[i], "none", "no probe");
		snprintf(line, sizeof(line), "--probe %s=%s", hooks[i].name,
			 hooks[i].alternate[0].mechanism);
		accepts(line);
		is_str(o.forced[i], hooks[i].alternate[0].mechanism, "its first attach type");
		snprintf(line, sizeof(line), "--probe %s=nothing", hooks[i].name);
		refuses(line, "no such attach type");
		snprintf(line, sizeof(line), "--probe %s=%.*s", hooks[i].name,
			 (int)strlen(hooks[i].alternate[0].mechanism) - 1,
			 hooks[i].alternate[0].mechanism);
		snprintf(near, sizeof(near), "did you mean: %s=%s", hooks[i].name,
			 hooks[i].alternate[0].mechanism);
		refuses(line, near);
		snprintf(line, sizeof(line), "--probe %s=non", hooks[i].name);
		snprintf(near, sizeof(near), "did you mean: %s=none", hooks[i].name);
		refuses(line, near);
	}
	refuses("--probe nothing=none", "expected NAME=TYPE");
	refuses("--probe scan", "expected NAME=TYPE");
}

static void test_words(void)
{
	char *explained[] = {"faultscope", "explain", "-bash: cannot fork", NULL};

	refuses("1 0", "0: not a count of intervals");
	accepts("1 1");
	refuses("1 1 1", "unexpected argument");
	refuses("host 1 1 1", "unexpected argument");
	refuses("host x", "not an interval");
	refuses("export --textfile f 1 1", "unexpected argument");
	accepts("export --textfile f 1");
	refuses("export 1", "INTERVAL needs --textfile");
	refuses("export --textfile f --web.listen-address :1", "cannot be combined with --web");
	refuses("export --textfile f --web.config.file g", "cannot be combined with --web");
	refuses("export --textfile -", "standard output takes only text");
	refuses("diff a.fsr", "name two recordings");
	accepts("diff a.fsr b.fsr");
	refuses("diff a.fsr b.fsr c.fsr", "name two recordings");
	refuses("info", "name a recording");
	accepts("info a.fsr");
	refuses("run", "run: no command");
	accepts("run ls --json");
	ok(o.argc == 2 && !o.format && !strcmp(o.argv[1], "--json"),
	   "options behind a command are those of the command");
	refuses("completion", "name a shell");
	refuses("completion bash zsh", "name a shell");
	accepts("man run");
	refuses("man runs", "no such command");
	accepts("help");
	ok(o.help && o.command == CMD_WATCH, "help");
	accepts("help run");
	ok(o.help && o.command == CMD_RUN, "help for the first command");
	accepts("help man");
	ok(o.help && o.command == CMD_MAN, "and for the last one");
	refuses("help runs", "no such command");
	accepts("run --help");
	ok(o.help && o.command == CMD_RUN, "as an option");
	refuses("triage", "name a log");
	accepts("triage --journal");
	refuses("triage --live x", "cannot be combined with log files");
	refuses("triage --group d x", "cannot be combined");
	refuses("triage --markdown --json x", "cannot be combined");
	refuses("blackbox run now", "unexpected argument: now");
	accepts("blackbox run");
	accepts("blackbox read a b");
	refuses("memory -p 7 ls", "name either processes");
	refuses("oom --watch x.fsr", "cannot be combined");
	refuses("oom --watch --list", "cannot be combined");
	refuses("oom --duration 3", "--duration needs --watch");
	refuses("--replay a --record b", "cannot be combined");
	refuses("record", "name the output file");
	refuses("record -o -", "standard output takes only text");
	refuses("--junit f", "--junit needs --fail-on");
	accepts("--junit f --fail-on failed_calls>0");
	accepts("-o -");
	ok(!o.output, "- is standard output");
	refuses("--top", "needs an argument");
	refuses("--topp 3", "unknown option");
	refuses("reprot --top", "did you mean: faultscope report");
	refuses("report --tpo", "unknown option");
	ok(!strstr(error, "did you mean: faultscope"), "a command that is known needs no other");
	refuses("--tpo report", "did you mean: --top");
	ok(!strstr(error, "did you mean: faultscope"), "nor does an option that comes first");
	ok(!options_parse(3, explained, &o, error, sizeof(error)) && o.argc == 1 &&
		   o.command == CMD_EXPLAIN && o.argv[0] == explained[2],
	   "a message may begin with a dash");
	refuses("explain -bash", "unknown option");
}

/* Formats of reports belong to other commands than those of measurements. */
static void test_formats(void)
{
	accepts("report a.fsr --format pprof");
	ok(o.report_format && !o.format, "a format of a report");
	accepts("diff a.fsr b.fsr --format html");
	ok(o.report_format && !o.format, "of a comparison");
	accepts("incidents list --format html");
	ok(o.report_format && !o.format, "of incidents");
	refuses("report a.fsr --format xml", "unknown format");
	accepts("--format folded");
	ok(o.format && !o.report_format, "a format of a measurement");
	accepts("host --format json");
	ok(o.format == &json_renderer && !o.report_format, "of the host");
	refuses("--format pprof", "expected text, json or folded");
	accepts("host --json");
	ok(o.format == &json_renderer, "a short word for it");
	accepts("report a.fsr --html");
	ok(o.report_format && !o.html, "a page of a report");
	accepts("triage x --html");
	ok(!o.report_format && o.html, "or of a log");
}

static void test_addresses(void)
{
	char line[2048] = "export";

	for (int i = 0; i < ENDPOINT_ADDRESSES; i++)
		strcat(line, " --web.listen-address :1");
	accepts(line);
	is_u64(o.web.addresses, ENDPOINT_ADDRESSES, "as many addresses as there is room for");
	strcat(line, " --web.systemd-socket");
	refuses(line, "too many addresses");
	accepts("export --web.systemd-socket");
	is_str(o.web.address[0], "fd://", "the socket of systemd");
	accepts("export --web.telemetry-path /m");
	is_str(o.web.path, "/m", "a path");
	refuses("export --web.telemetry-path /", "expected a path");
	refuses("export --web.telemetry-path m", "expected a path");
	refuses("export --web.telemetry-path /m?x", "expected a path");
}

static void test_logs(void)
{
	static const struct {
		const char *line;
		enum log_format format;
	} formats[] = {
		{"export --log-format text", LOG_FORMAT_TEXT},
		{"export --log-format json", LOG_FORMAT_JSON},
		{"export --log-format rfc5424", LOG_FORMAT_RFC5424},
		{"export --log-format journal", LOG_FORMAT_JOURNAL},
		{"export --log-format off", LOG_FORMAT_OFF},
		{"export --log-format rfc5424:/dev/log", LOG_FORMAT_RFC5424},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		accepts(formats[i].line);
		ok(o.log.given && o.log.format == formats[i].format, "its format");
	}
	is_str(o.log.socket, "/dev/log", "a socket");
	refuses("export --log-format rfc5424:log", "expected text, json");
	refuses("export --log-format auto", "expected text, json");
	accepts("blackbox --keep file,map");
	is_u64(__builtin_popcount(o.blackbox.record_sinks), 2, "two places");
	refuses("blackbox --keep file,disk", "expected a list of file");
	accepts("blackbox --instance boot");
	refuses("blackbox --instance a/b", "expected the name of a trace instance");
	refuses("blackbox --instance .a", "expected the name of a trace instance");
}

int main(void)
{
	test_ranges();
	test_values();
	test_pids();
	test_overhead();
	test_limits();
	test_probes();
	test_words();
	test_formats();
	test_addresses();
	test_logs();
	return tap_done();
}
