// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the exit status of `diagnose` and `memory` of recordings: by the severity of findings, by
 * the flight recorder's file, and without a target.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "cli/messages.h"
#include "command_words.h"
#include "session/commands.h"
#include "tap.h"
#include "written_recording.h"

static int dispatch(const struct options *mine)
{
	return mine->command == CMD_MEMORY ? command_memory(mine) : command_diagnose(mine);
}

#define WORDS(command, ...) run_words(dispatch, command, (const char *const[5]){__VA_ARGS__})

static void test_severities(void)
{
	static const struct {
		const char *file, *least;
		int status;
		const char *what;
	} rows[] = {
		{"good.fsr", NULL, 0, "no finding"},
		{"good.fsr", "info", 0, "no finding of any severity"},
		{"warned.fsr", NULL, EXIT_GATE, "a warning"},
		{"warned.fsr", "info", EXIT_GATE, "a warning is more than an information"},
		{"warned.fsr", "warning", EXIT_GATE, "a warning is a warning"},
		{"warned.fsr", "critical", 0, "and not critical"},
		{"bad.fsr", NULL, EXIT_GATE, "a critical finding"},
		{"bad.fsr", "warning", EXIT_GATE, "is more than a warning"},
		{"bad.fsr", "critical", EXIT_GATE, "is critical"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char least[64];

		snprintf(least, sizeof(least), "--min-severity=%s", rows[i].least ?: "");
		WORDS("diagnose", "--replay", fixture_path(rows[i].file),
		      rows[i].least ? least : NULL);
		is_u64(got.status, rows[i].status, rows[i].what);
		ok(!rows[i].status == (strstr(got.out, "no finding") != NULL), "it says so");
		is_str(got.err, "", "nothing is missing");
	}
}

static void test_no_target(void)
{
	WORDS("diagnose", NULL);
	is_u64(got.status, EXIT_USAGE, "a diagnosis of nothing");
	is_str(got.err,
	       "faultscope: diagnose: name a process or a recording\n"
	       "  try: sudo faultscope diagnose -p PID, or diagnose --replay FILE\n",
	       "says what to name");
	WORDS("memory", NULL);
	is_u64(got.status, EXIT_USAGE, "the memory of nothing");
	ok(!strncmp(got.err,
		    "faultscope: memory: name a process, a cgroup, a command or a recording\n", 71),
	   "says what to name");
}

static void test_ring(void)
{
	char want[512];
	int fd;

	WORDS("diagnose", "--replay", fixture_path("good.fsr"), "--ring", fixture_path("absent"));
	is_u64(got.status, EXIT_FAILED, "a file of the flight recorder that is missing");
	snprintf(want, sizeof(want), "faultscope: cannot read %s: No such file or directory\n",
		 fixture_path("absent"));
	is_str(got.err, want, "is told");
	is_str(got.out, "", "and nothing is diagnosed");
	fd = open(fixture_path("empty"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	WORDS("diagnose", "--replay", fixture_path("good.fsr"), "--ring", fixture_path("empty"));
	is_u64(got.status, EXIT_FAILED, "one that is empty");
	snprintf(want, sizeof(want), "faultscope: cannot read %s: Invalid argument\n",
		 fixture_path("empty"));
	is_str(got.err, want, "is told, too");
	ok(strstr(got.out, "no finding") != NULL, "but the recording is diagnosed");
}

static void test_memory(void)
{
	WORDS("memory", "--replay", fixture_path("good.fsr"));
	is_u64(got.status, EXIT_INCOMPLETE, "a recording without readings of memory");
	is_str(got.err,
	       "faultscope: incomplete: not recorded: resident memory (record it with faultscope "
	       "memory --record)\n",
	       "says how to record them");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	write_recording(fixture_path("good.fsr"), 1000);
	write_recording(fixture_path("warned.fsr"), 60000);
	write_recording(fixture_path("bad.fsr"), 65500);
	test_severities();
	test_no_target();
	test_ring();
	test_memory();
	return tap_done();
}
