// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests commands that measure, with a played kernel: their exit status, what they print and which
 * files they write. Scans read /proc.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "cli/options_table.h"
#include "command_output.h"
#include "played_kernel.h"
#include "session/commands.h"
#include "tap.h"

static int dispatch(const struct options *o)
{
	struct buf b = {};

	alarm(60); /* ends a command that does not end */
	switch (o->command) {
	case CMD_RUN:
		return command_run(o);
	case CMD_DIAGNOSE:
		return command_diagnose(o);
	case CMD_HOST:
		return command_host(o);
	case CMD_DOCTOR:
		return command_doctor(o);
	case CMD_RECORD:
		return command_record(o);
	case CMD_INFO:
		return command_info(o);
	case CMD_REPLAY:
		return command_replay(o);
	case CMD_EXPLAIN:
		return command_explain(o, &b);
	default:
		return command_watch(o);
	}
}

#define WORDS	   24
#define PROC	   "--probe", "scan=/proc" /* scans that need no programs */
#define ANY_STATUS (-2)			   /* it depends on the state of the machine */

/* Returns how often a text occurs. */
static unsigned int times(const char *in, const char *text)
{
	unsigned int n = 0;

	for (; (in = strstr(in, text)); in += strlen(text))
		n++;
	return n;
}

/* A command, how it ends, and what it prints. A text that begins with "!" must be missing. */
struct row {
	const char *args[WORDS];
	int status;
	const char *out[6], *err[6];
	const char *repeated; /* a text of the output that occurs `count` times */
	unsigned int count;
};

static void has_texts(const char *in, const char *const *text, const char *what)
{
	for (int i = 0; i < 6 && text[i]; i++) {
		bool unwanted = text[i][0] == '!';

		if (!ok(!strstr(in, text[i] + unwanted) == unwanted, "%s: %s", what, text[i]))
			printf("# %s: %.400s\n", what, in);
	}
}

static void run_row(const struct row *row)
{
	char *argv[WORDS + 2] = {"faultscope"}, error[512], line[512] = "";
	struct options o;
	int argc = 1;

	for (; row->args[argc - 1]; argc++) {
		size_t len = strlen(line);

		argv[argc] = (char *)row->args[argc - 1];
		snprintf(line + len, sizeof(line) - len, " %s", argv[argc]);
	}
	played_begin();
	if (!ok(!options_parse(argc, argv, &o, error, sizeof(error)), "options:%s", line))
		return;
	o.revision = "test";
	run_command(dispatch, &o);
	if (!ok(got.status == row->status || row->status == ANY_STATUS, "%s: exit status %d", line,
		got.status))
		printf("# want %d; %.300s\n", row->status, got.err);
	has_texts(got.out, row->out, "output");
	has_texts(got.err, row->err, "messages");
	if (row->repeated)
		is_u64(times(got.out, row->repeated), row->count, row->repeated);
	filter_free(&o.filter);
}

static char recording[256], text_file[256], junit[256];

static const struct row rows[] = {
	{{"0.1", "2", PROC},
	 0,
	 {"all processes, ", "not measured: latency of page faults; failed calls", "COMM"},
	 {"probes run in all processes, at: page faults, new mappings, signals (cost: "},
	 "  MINFLT/s",
	 1},
	{{"--overhead", "all", "0.1", "1", PROC},
	 0,
	 {"!not measured"},
	 {"all system calls", "less: --overhead low)"},
	 "  MINFLT/s",
	 1},
	{{"-q", "0.1", "1", PROC}, 0, {}, {"!probes run"}},
	{{"--json", "0.1", "1", PROC},
	 0,
	 {"{\"type\":\"start\"", "\"type\":\"process\""},
	 {},
	 "{\"type\":\"start\"",
	 1},
	{{"--duration", "0.3", "30", PROC},
	 0,
	 {"faultscope: watched all processes for 0."},
	 {},
	 "  MINFLT/s",
	 1},
	{{"0.1", "1", "--output", text_file, PROC}, 0, {"!COMM"}, {"probes run"}},
	{{"0.1", "1", "--output", "/nonexistent/x", PROC},
	 1,
	 {},
	 {"cannot write /nonexistent/x: No such file or directory"}},
	{{"0.1", "1", "--fail-on", "minor_faults>=0", "--junit", junit, PROC},
	 3,
	 {"FAIL minor_faults>=0"},
	 {}},
	{{"0.1", "1", "--fail-on", "minor_faults<0", PROC}, 0, {"pass minor_faults<0"}, {}},
	{{"-p", "4194303", "0.1", PROC},
	 4,
	 {},
	 {"no process 4194303", "list processes: ps -e, or faultscope 1 1"}},
	{{"--cgroup", "/none/at/all", "0.1", PROC},
	 4,
	 {},
	 {"--cgroup /none/at/all: no such cgroup", "/ has: ", "list cgroups: systemd-cgls"}},
	{{"--cgroup", "/", "0.1", "1", PROC}, 0, {"cgroup /, "}, {}},
	{{"--comm", "^no such name$", "0.1", "1", PROC},
	 7,
	 {"comm ^no such name$, 0 now", "0 processes"},
	 {"incomplete: no process matched"}},
	{{"-p", "1", "0.1", "2", PROC},
	 7,
	 {"[1], 0 now", "0 processes"},
	 {"incomplete: no process matched"}},
	{{"run", PROC, "true"},
	 7,
	 {},
	 {"ran true (exit 0) for ", "incomplete: no process matched", "probes run in other"}},
	{{"run", PROC, "false"}, 1, {}, {"ran false (exit 1) for "}},
	{{"run", "-q", PROC, "sh", "-c", "exit 42"}, 42, {}, {"!ran sh"}},
	{{"run", PROC, "sh", "-c", "kill -9 $$"}, -1, {}, {"(killed by SIGKILL)"}},
	{{"run", PROC, "sh", "-c", "kill -TERM $$"}, -1, {}, {"(killed by SIGTERM)"}},
	{{"run", PROC, "--duration", "0.2", "sleep", "3"}, 7, {}, {"ran sleep 3 (still running)"}},
	{{"run", PROC, "/nonexistent/x"},
	 127,
	 {},
	 {"cannot run /nonexistent/x: No such file or directory", "!ran /nonexistent"}},
	{{"run", PROC, "/dev/null"}, 126, {}, {"cannot run /dev/null: Permission denied"}},
	{{"run", "--json", PROC, "true"},
	 7,
	 {"\"command_end\":\"exit 0\"", "{\"type\":\"end\""},
	 {},
	 "{\"type\":\"start\"",
	 1},
	{{"record", "-o", recording, "--duration", "0.3", PROC},
	 0,
	 {},
	 {"faultscope: recorded 0.", " of 0.3 s, ", " processes, ", " in /tmp/"}},
	{{"info", recording},
	 0,
	 {"watched    all; overhead levels: scan, events, syscalls", "end        as asked",
	  "damage     none", "losses     0 that could not be kept"},
	 {"!faultscope:"}},
	{{"--replay", recording},
	 0,
	 {"all processes, ", "not measured: latency of page faults (", "COMM"},
	 {"!probes run"}},
	{{"diagnose", PROC}, 2, {}, {"diagnose: name a process or a recording"}},
	{{"record", "-o", "/nonexistent/x", PROC}, 1, {}, {"/nonexistent/x"}},
	{{"host", "--duration", "0.3", PROC}, ANY_STATUS, {" memory ", " top ", " pressure "}, {}},
};

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	signal(SIGPIPE, SIG_IGN);
	snprintf(recording, sizeof(recording), "%s", fixture_path("a.fsr"));
	snprintf(text_file, sizeof(text_file), "%s", fixture_path("a.txt"));
	snprintf(junit, sizeof(junit), "%s", fixture_path("a.xml"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run_row(&rows[i]);
	ok(access(text_file, R_OK) == 0 && access(junit, R_OK) == 0, "files are written");
	unlink(recording);
	unlink(text_file);
	unlink(junit);
	return tap_done();
}
