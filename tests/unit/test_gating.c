// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a session does with the conditions of --fail-on: its exit status, the lines on
 * standard error, the annotations for GitHub, and the JUnit file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "error_output.h"
#include "fixture.h"
#include "session/session.h"

static struct options o;
static struct session s;

#define FAILED "FAIL maps.peak>60%              91.6%         60,000 of 65,530 in proc10[10]\n"
#define ANNOTATION                                                                                 \
	"::error title=faultscope%3A maps.peak>60%25::91.6%25: 60,000 of 65,530 in proc10[10]\n"

/* Begins a session with two conditions. A process has this number of mappings. */
static int begin(uint32_t maps, const char *junit)
{
	struct process_record p = process_record(10, 1, 2 * SECOND);
	struct tick_record tick = tick_record(2 * SECOND);
	char error[256];

	memset(&s, 0, sizeof(s));
	s.o = &o;
	s.out.file = s.out.junit = OUTPUT_NONE;
	s.out.renderer = &text_renderer;
	s.out.view = (struct view){.m = &s.in.m, .findings = &s.in.findings, .width = 100};
	memset(&o.gates, 0, sizeof(o.gates));
	o.junit = junit;
	if (gates_parse(&o.gates, "maps.peak>60%,fds.peak>60%", error, sizeof(error)))
		abort();
	begin_model(&s.in.m, NULL);
	p.g.map_count = p.g.map_high = maps;
	model_take(&s.in.m, &p.h);
	model_take(&s.in.m, &tick.h);
	return gating_begin(&s);
}

static void end(void)
{
	model_free(&s.in.m);
}

/* Ends a session, and returns what it has said on standard error. */
static const char *said(void)
{
	errors_begin();
	gating_report(&s);
	return errors_end();
}

static void test_status(void)
{
	static const struct {
		uint32_t maps;
		int before, want;
		const char *name;
	} rows[] = {
		{60000, 0, EXIT_GATE, "a condition is met: the command fails"},
		{100, 0, 0, "no condition is met"},
		{60000, EXIT_FAILED, EXIT_FAILED, "another failure is kept"},
		{100, EXIT_INCOMPLETE, EXIT_INCOMPLETE, "a status of another reason"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(begin(rows[i].maps, NULL), 0, "a session with conditions");
		ok(s.out.view.gates == &s.out.gates && s.out.gates.n == 2, "output shows them");
		s.status = rows[i].before;
		gating_judge(&s);
		is_u64(s.status, rows[i].want, rows[i].name);
		end();
	}
}

/* Standard error has the results, unless the text on standard output has them. */
static void test_places(void)
{
	static const struct {
		const struct renderer *renderer;
		bool quiet, file, in_text;
		const char *name;
	} rows[] = {
		{&text_renderer, false, false, true, "the text has the results"},
		{&text_renderer, true, false, false, "--quiet leaves the text out"},
		{&text_renderer, false, true, false, "the text goes to a file"},
		{&json_renderer, false, false, false, "JSON is not for people"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(60000, NULL);
		s.out.renderer = rows[i].renderer;
		o.quiet = rows[i].quiet;
		s.out.file.fd = rows[i].file ? 0 : -1;
		gating_judge(&s);
		is_str(said(), rows[i].in_text ? "" : FAILED, rows[i].name);
		end();
	}
	o.quiet = false;
}

static void test_github(void)
{
	static const struct {
		bool option;
		const char *variable; /* GITHUB_ACTIONS; NULL: not set */
		bool want;
		const char *name;
	} rows[] = {
		{false, NULL, false, "elsewhere"},
		{true, NULL, true, "the option"},
		{false, "true", true, "GitHub's runner"},
		{false, "false", false, "a variable that says no"},
		{false, "", false, "an empty variable"},
		{true, "false", true, "the option comes first"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsetenv("GITHUB_ACTIONS");
		if (rows[i].variable)
			setenv("GITHUB_ACTIONS", rows[i].variable, 1);
		o.github = rows[i].option;
		begin(60000, NULL);
		gating_judge(&s);
		is_str(said(), rows[i].want ? ANNOTATION : "", rows[i].name);
		end();
	}
	unsetenv("GITHUB_ACTIONS");
	o.github = false;
}

static void test_junit(void)
{
	char text[4096] = "", want[256];
	const char *path = fixture_path("junit.xml");
	int fd;

	is_u64(begin(60000, path), 0, "a session with a JUnit file");
	ok(access(path, F_OK), "the file has its name only when it is complete");
	gating_judge(&s);
	is_str(said(), "", "no error");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ok(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "the file is written");
	close(fd);
	ok(strstr(text, "name=\"maps.peak&#62;60%\"") &&
		   strstr(text, "message=\"91.6%: 60,000 of 65,530 in proc10[10]\""),
	   "with the failure");
	is_u64(s.status, EXIT_GATE, "the status is that of the condition");
	end();
	errors_begin();
	is_u64(begin(60000, fixture_path("none/junit.xml")), EXIT_FAILED, "no such directory");
	snprintf(want, sizeof(want), "faultscope: cannot write %s: No such file or directory\n",
		 fixture_path("none/junit.xml"));
	errors_are(want, "the file is named");
	end();
}

/* If the JUnit file cannot be written, the command fails, whatever the conditions say. */
static void test_full(void)
{
	begin(100, "/dev/full");
	gating_judge(&s);
	is_str(said(), "faultscope: cannot write /dev/full: No space left on device\n",
	       "a disk that is full");
	is_u64(s.status, EXIT_FAILED, "the status");
	end();
}

static void test_none(void)
{
	memset(&o, 0, sizeof(o));
	memset(&s, 0, sizeof(s));
	s.o = &o;
	is_u64(gating_begin(&s), 0, "a session without conditions");
	ok(!s.out.view.gates, "has no results");
	o.junit = fixture_path("phases.xml");
	s.out.junit = OUTPUT_NONE;
	is_u64(gating_begin(&s), 0, "a JUnit file without conditions");
	ok(s.out.view.gates == &s.out.gates, "has results of phases");
	output_file_end(&s.out.junit, -ECANCELED);
}

int main(void)
{
	unsetenv("GITHUB_ACTIONS");
	test_status();
	test_places();
	test_github();
	test_junit();
	test_full();
	test_none();
	return tap_done();
}
