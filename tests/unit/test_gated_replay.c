// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where `--replay --fail-on` reports its gates: in the text, on standard error, in a JUnit
 * file and as annotations for GitHub, and its exit status.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "cli/options_table.h"
#include "command_output.h"
#include "session/commands.h"
#include "tap.h"
#include "written_recording.h"

static char path[160], error[512];

/* Replays the recording, with up to five words more. */
static void run(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *words[] = {a, b, c, d, e};
	char *argv[16] = {"faultscope", "--replay", path, "--color", "never"};
	struct options o;
	int argc = 5;

	for (int i = 0; i < 5; i++)
		if (words[i])
			argv[argc++] = (char *)words[i];
	if (options_parse(argc, argv, &o, error, sizeof(error))) {
		printf("# %s\n", error);
		exit(1);
	}
	o.revision = "test";
	run_command(command_watch, &o);
}

#define FAIL  "FAIL maps.peak>9%               10.0%         6,553 of 65,530 in proc10[10]\n"
#define ERROR "::error title=faultscope%3A maps.peak>9%25::10.0%25: 6,553 of 65,530 in proc10[10]\n"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

static const char *file_of(const char *name)
{
	static char text[16384];

	io_read(AT_FDCWD, fixture_path(name), text, sizeof(text));
	return text;
}

/* The text contains its gates; other outputs do not, so that they are on standard error. */
static void test_places(void)
{
	run("--fail-on", "maps.peak>9%", NULL, NULL, NULL);
	is_u64(got.status, EXIT_GATE, "a gate that failed");
	ok(ends_with(got.out, FAIL), "is the last line of the text");
	is_str(got.err, "", "and not on standard error");
	run("--fail-on", "maps.peak>9%", "-q", NULL, NULL);
	is_u64(got.status, EXIT_GATE, "with less text");
	ok(!strstr(got.out, "FAIL"), "the text lacks it");
	is_str(got.err, FAIL, "so standard error has it");
	run("--fail-on", "maps.peak>9%", "--output", fixture_path("text"), NULL);
	is_u64(got.status, EXIT_GATE, "with the text in a file");
	is_str(got.out, "", "nothing is printed");
	ok(ends_with(file_of("text"), FAIL), "the file has it");
	is_str(got.err, FAIL, "and standard error, too");
	run("--fail-on", "maps.peak>9%", "--json", NULL, NULL);
	is_u64(got.status, EXIT_GATE, "with JSON");
	ok(strstr(got.out, "{\"condition\":\"maps.peak>9%\",\"state\":\"failed\","),
	   "which has the gate");
	is_str(got.err, FAIL, "standard error has it for people");
}

static void test_passes(void)
{
	run("--fail-on", "maps.peak>10%", NULL, NULL, NULL);
	is_u64(got.status, 0, "a gate that did not fail");
	ok(!strstr(got.out, "FAIL") && !*got.err, "nothing is wrong");
	run("--fail-on", "maps.peak>10%", "--json", NULL, NULL);
	is_u64(got.status, 0, "with JSON");
	ok(strstr(got.out, "{\"condition\":\"maps.peak>10%\",\"state\":\"passed\","), "it passed");
	is_str(got.err, "", "standard error has only what failed");
	run("--fail-on", "maps.peak>10%,maps.peak>9%", "-q", NULL, NULL);
	is_u64(got.status, EXIT_GATE, "one of two");
	is_str(got.err, FAIL, "is the one that is told");
	run(NULL, NULL, NULL, NULL, NULL);
	ok(!got.status && !*got.err && !strstr(got.out, "maps.peak>"), "no gates");
}

/* Annotations are made with --github, and by itself where GitHub runs commands. */
static void test_github(void)
{
	static const struct {
		const char *actions, *option;
		bool annotates;
	} rows[] = {
		{NULL, NULL, false},  {"false", NULL, false},	{"", NULL, false},
		{"true", NULL, true}, {NULL, "--github", true}, {"false", "--github", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].actions)
			setenv("GITHUB_ACTIONS", rows[i].actions, 1);
		else
			unsetenv("GITHUB_ACTIONS");
		run("--fail-on", "maps.peak>9%", rows[i].option, NULL, NULL);
		is_str(got.err, rows[i].annotates ? ERROR : "", "annotations");
		run("--fail-on", "maps.peak>9%", rows[i].option, "-q", NULL);
		is_str(got.err, rows[i].annotates ? FAIL ERROR : FAIL, "behind the gates");
	}
	unsetenv("GITHUB_ACTIONS");
}

static void test_junit(void)
{
	const char *text;
	struct stat st;

	run("--fail-on", "maps.peak>9%,maps.peak>10%", "--junit", fixture_path("junit.xml"), NULL);
	is_u64(got.status, EXIT_GATE, "a JUnit file");
	text = file_of("junit.xml");
	ok(!strncmp(text, "<?xml ", 6) && ends_with(text, "</testsuites>\n"), "is complete");
	ok(strstr(text, " tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" "),
	   "it has both gates");
	ok(strstr(text,
		  "<failure type=\"gate\" message=\"10.0%: 6,553 of 65,530 in proc10[10]\"/>"),
	   "and the one that failed");
	is_str(got.err, "", "nothing is wrong");
	run("--fail-on", "maps.peak>10%", "--junit", fixture_path("none/junit.xml"), NULL);
	is_u64(got.status, EXIT_FAILED, "a file in a directory that is missing");
	ok(!strncmp(got.err, "faultscope: cannot write /", 26) &&
		   ends_with(got.err, "/none/junit.xml: No such file or directory\n"),
	   "which is said");
	is_str(got.out, "", "before anything is printed");
	unlink(fixture_path("junit.xml"));
	run("--fail-on", "maps.peak>9%", "--junit", "/dev/full", NULL);
	is_u64(got.status, EXIT_FAILED, "a full disk");
	ok(ends_with(got.err, "cannot write /dev/full: No space left on device\n"),
	   "which is said");
	ok(stat(fixture_path("junit.xml"), &st), "no other file is made");
}

int main(void)
{
	unsetenv("GITHUB_ACTIONS");
	setenv("TZ", "UTC", 1);
	snprintf(path, sizeof(path), "%s", fixture_path("a.fsr"));
	write_recording(path, 6553); /* 10 % of the limit */
	test_places();
	test_passes();
	test_github();
	test_junit();
	return tap_done();
}
