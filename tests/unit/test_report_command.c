// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests `info`, `report` and `diff` of small recordings: which format is written where, what is
 * refused, and the exit status if a recording is damaged or missing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "command_words.h"
#include "session/commands.h"
#include "tap.h"
#include "written_recording.h"

/* Prints what it was asked for, as the exporter would write it. */
static int write_metrics(const struct options *mine)
{
	printf("command %d, replay %s, textfile %s, output %s\n", mine->command == CMD_EXPORT,
	       mine->replay, mine->textfile, mine->output ? mine->output : "none");
	return 7;
}

static int dispatch(const struct options *mine)
{
	return mine->command == CMD_INFO   ? command_info(mine)
	       : mine->command == CMD_DIFF ? command_diff(mine)
					   : command_report(mine, write_metrics);
}

#define WORDS(command, ...) run_words(dispatch, command, (const char *const[5]){__VA_ARGS__})

static const char *a, *b; /* paths of recordings */

static const char *file_of(const char *name)
{
	static char text[65536];

	io_read(AT_FDCWD, fixture_path(name), text, sizeof(text));
	return text;
}

static bool exists(const char *name)
{
	return !access(fixture_path(name), F_OK);
}

/* Returns whether the output has a line that begins like this. */
static bool says(const char *line)
{
	const char *at = strstr(got.out, line);

	return at && (at == got.out || at[-1] == '\n');
}

static void test_info(void)
{
	WORDS("info", a);
	is_u64(got.status, 0, "what a recording is");
	ok(says("file       a.fsr\n"), "its name, without the directory");
	ok(says("duration   2.0 s, 3 scans, one each 1.0 s\n"), "its length");
	ok(says("records    20\n"), "what it has");
	ok(says("end        as asked\n") && says("damage     none\n"), "it is complete");
	is_str(got.err, "", "nothing is wrong");
	WORDS("info", a, "--json");
	is_u64(got.status, 0, "as JSON");
	ok(says("{\"type\":\"recording\",\"file\":\"a.fsr\",") &&
		   strstr(got.out, ",\"records\":20,"),
	   "the same");
	WORDS("info", fixture_path("absent.fsr"));
	is_u64(got.status, EXIT_FAILED, "a file that is missing");
	ok(!*got.out && strstr(got.err, "absent.fsr: No such file or directory\n"), "is told");
}

/* The format is that of the option, or of the name of the file, or text. */
static void test_formats(void)
{
	static const char csv[] = "pid,start_time_ns,comm,";

	WORDS("report", a);
	is_u64(got.status, 0, "without a format");
	ok(says("proc10[10]  maps 1,000  fds 4  threads 1\n") &&
		   says("no finding: all is well as far as it was checked\n"),
	   "it is text");
	WORDS("report", a, "--format", "csv");
	ok(!got.status && !strncmp(got.out, csv, strlen(csv)) && says("10,1,\"proc10\",,"), "CSV");
	WORDS("report", a, "-o", fixture_path("r.csv"));
	ok(!got.status && !*got.out, "a file");
	ok(!strncmp(file_of("r.csv"), csv, strlen(csv)), "whose name says the format");
	WORDS("report", a, "--format", "jsonl", "-o", fixture_path("r.csv"));
	ok(!got.status && !strncmp(file_of("r.csv"), "{\"type\":\"start\",", 16),
	   "the option comes before the name");
	ok(strstr(file_of("r.csv"), "\"host\":\"host\",\"boot_id\":\"0-1-2\",\"kernel\":\"6.1.0\""),
	   "each line names the machine, as lines of several machines may be mixed");
	WORDS("report", a, "-o", fixture_path("r.html"));
	ok(!got.status && !strncmp(file_of("r.html"), "<!doctype html>", 15), "a page");
	ok(strstr(file_of("r.html"), "proc10"), "with the process");
	WORDS("report", a, "-o", fixture_path("r.pb.gz"));
	ok(!got.status && !memcmp(file_of("r.pb.gz"), "\x1f\x8b", 2), "a compressed profile");
	WORDS("report", a, "--format", "csv", "-o", fixture_path("none/r.csv"));
	is_u64(got.status, EXIT_FAILED, "a directory that is missing");
	ok(strstr(got.err, "none/r.csv") && strstr(got.err, "No such file or directory"),
	   "is told");
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* A part of a recording has the scans between two times. */
static void test_parts(void)
{
	static const struct {
		const char *from, *to;
		unsigned int scans;
	} rows[] = {
		{"0", "2", 3}, {"1", "2", 2}, {"0.5", "2", 3}, {"1", "1.5", 1}, {"0", "-1", 2},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char from[32], to[32];

		snprintf(from, sizeof(from), "--from=%s", rows[i].from);
		snprintf(to, sizeof(to), "--to=%s", rows[i].to);
		WORDS("report", a, "--format", "csv-time", from, to);
		is_u64(got.status, 0, "a part");
		is_u64(count_lines(got.out), 1 + rows[i].scans, "a heading, and a line for a scan");
	}
	WORDS("report", a, "--from=2", "--format", "csv-time");
	is_u64(got.status, EXIT_FAILED, "a part without a scan");
	ok(!*got.out && strstr(got.err, ": nothing is between --from and --to: it lasts 2.0 s"),
	   "is told");
}

static void test_copies(void)
{
	char want[512];

	WORDS("report", a, "--format", "recording");
	is_u64(got.status, EXIT_USAGE, "a recording needs a name");
	snprintf(want, sizeof(want),
		 "faultscope: report: name the output file\n  try: faultscope report %s -o "
		 "OTHER.fsr\n",
		 a);
	is_str(got.err, want, "which is said");
	WORDS("report", a, "-o", fixture_path("copy.fsr"));
	ok(!got.status && !*got.out && !*got.err, "a copy");
	WORDS("info", fixture_path("copy.fsr"));
	ok(!got.status && says("duration   2.0 s, 3 scans, one each 1.0 s\n") &&
		   says("end        as asked\n"),
	   "is a complete recording");
	WORDS("report", b, "-o", fixture_path("copy.fsr"));
	is_u64(got.status, EXIT_FAILED, "a file that exists");
	ok(strstr(got.err, "copy.fsr exists already\n  give another name, or --force\n"),
	   "is not replaced");
	WORDS("report", fixture_path("copy.fsr"));
	ok(says("proc10[10]  maps 1,000 "), "and stays");
	WORDS("report", b, "-o", fixture_path("copy.fsr"), "--force");
	is_u64(got.status, 0, "with --force");
	WORDS("report", fixture_path("copy.fsr"));
	ok(says("proc10[10]  maps 2,000 "), "it is replaced");
	WORDS("report", fixture_path("absent.fsr"), "-o", fixture_path("other.fsr"));
	is_u64(got.status, EXIT_FAILED, "a copy of nothing");
	ok(!exists("other.fsr"), "is not made");
}

static void test_redaction(void)
{
	char want[512];

	WORDS("report", a, "--redact");
	is_u64(got.status, EXIT_USAGE, "a text is not redacted");
	snprintf(want, sizeof(want),
		 "faultscope: report: --redact writes a new recording, so name it\n"
		 "  try: faultscope report --redact %s -o REDACTED.fsr\n",
		 a);
	is_str(got.err, want, "which is said");
	WORDS("report", a, "--redact", "-o", fixture_path("r2.csv"));
	is_u64(got.status, EXIT_USAGE, "nor is another file");
	ok(!exists("r2.csv"), "which is not made");
	WORDS("report", a, "--redact", "-o", fixture_path("redacted.fsr"));
	ok(!got.status && !*got.err, "a recording is");
	WORDS("report", fixture_path("redacted.fsr"));
	ok(!got.status && says("proc10[10]  maps 1,000 "), "it has the numbers");
	WORDS("info", fixture_path("redacted.fsr"));
	ok(says("host       ") && !says("host       host,"), "but not the name of the host");
}

static void test_metrics(void)
{
	char want[512];

	WORDS("report", a, "--format", "textfile");
	is_u64(got.status, EXIT_USAGE, "metrics need a name");
	snprintf(want, sizeof(want),
		 "faultscope: report: name the output file\n  try: faultscope report --format "
		 "textfile %s -o faultscope.prom\n",
		 a);
	is_str(got.err, want, "which is said");
	WORDS("report", a, "--format", "textfile", "-o", "x.prom");
	is_u64(got.status, 7, "the exporter writes them");
	snprintf(want, sizeof(want), "command 1, replay %s, textfile x.prom, output none\n", a);
	is_str(got.out, want, "with these options");
}

static void test_differences(void)
{
	WORDS("diff", a, b);
	is_u64(got.status, 0, "two recordings");
	ok(says("from  a.fsr  2023-11-14T22:13:20Z  host  2.0 s, 1 process\n") &&
		   says("to    b.fsr  2023-11-14T22:13:20Z  host  2.0 s, 1 process\n"),
	   "their names, in the order of the words");
	ok(strstr(got.out, " proc10  (1,000 to 2,000)\n"), "what grew");
	WORDS("diff", b, a);
	ok(!got.status && !strstr(got.out, "+1,000 "), "the other way, nothing grew");
	WORDS("diff", a, b, "--json");
	ok(!got.status && says("{\"type\":\"difference\",\"by\":\"workload\",\"name\":\"proc10\","),
	   "as JSON");
	WORDS("diff", a, b, "-o", fixture_path("d.html"));
	ok(!got.status && !strncmp(file_of("d.html"), "<!doctype html>", 15), "as a page");
	WORDS("diff", a, fixture_path("absent.fsr"));
	ok(got.status == EXIT_FAILED && strstr(got.err, "absent.fsr: No such file") && !*got.out,
	   "the second is missing");
	WORDS("diff", fixture_path("absent.fsr"), a);
	ok(got.status == EXIT_FAILED && strstr(got.err, "absent.fsr: No such file") && !*got.out,
	   "the first is missing");
}

/* A copy that cannot be written completely, up to its last byte, is an error. */
static void test_full_disk(void)
{
	struct rlimit files, few;
	char want[512];
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &files);
	WORDS("report", a, "-o", fixture_path("whole.fsr"));
	if (stat(fixture_path("whole.fsr"), &st))
		abort();
	for (off_t lacks = 0; lacks <= st.st_size - 256; lacks = 2 * lacks + !lacks) {
		few = (struct rlimit){st.st_size - lacks, files.rlim_max};
		setrlimit(RLIMIT_FSIZE, &few);
		WORDS("report", a, "-o", fixture_path("cut.fsr"));
		setrlimit(RLIMIT_FSIZE, &files);
		is_u64(got.status, lacks ? EXIT_FAILED : 0, "status");
		snprintf(want, sizeof(want), "faultscope: cannot write %s: File too large\n",
			 fixture_path("cut.fsr"));
		is_str(got.err, lacks ? want : "", "message");
		is_u64(unlink(fixture_path("cut.fsr")) != 0, lacks != 0, "no file if it is cut");
	}
}

static void test_damage(void)
{
	struct stat st;

	if (stat(b, &st) || truncate(b, st.st_size - 1))
		abort();
	WORDS("info", b);
	is_u64(got.status, EXIT_INCOMPLETE, "a recording that was cut");
	ok(says("records    19\n"), "what can be read of it");
	ok(!says("damage     none\n") && !says("end        as asked\n"), "its end is missing");
	ok(strstr(got.err, "b.fsr: truncated or damaged at offset "), "which is said");
	WORDS("report", b);
	is_u64(got.status, EXIT_INCOMPLETE, "a report of it");
	ok(says("proc10[10]  maps 2,000 "), "has what can be read");
	WORDS("report", b, "-o", fixture_path("damaged.fsr"));
	ok(got.status == EXIT_INCOMPLETE &&
		   strstr(got.err, "incomplete: recording truncated or damaged at offset "),
	   "a copy of it is incomplete, too");
}

int main(void)
{
	a = strdup(fixture_path("a.fsr"));
	b = strdup(fixture_path("b.fsr"));
	if (!a || !b)
		return 1;
	setenv("TZ", "UTC", 1);
	write_recording(fixture_path("a.fsr"), 1000);
	write_recording(fixture_path("b.fsr"), 2000);
	test_info();
	test_formats();
	test_parts();
	test_copies();
	test_redaction();
	test_metrics();
	test_differences();
	test_full_disk();
	test_damage();
	free((char *)a);
	free((char *)b);
	return tap_done();
}
