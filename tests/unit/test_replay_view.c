// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the live view of a recording on a pseudo-terminal: to which scan each key goes, what it
 * says on the way, and where it stops. Scans are half a minute apart, so that none passes by
 * itself during the test.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "marked_recording.h"
#include "played_terminal.h"
#include "session/commands.h"

#define STEP_NS (30 * SECOND)

static uint64_t opens_at_ns; /* 0: at the begin */

static const char *replayed; /* path of the recording */

static int replay(const struct options *o)
{
	return opens_at_ns ? replay_at(o, replayed, opens_at_ns) : command_replay(o);
}

static void start(const char *path)
{
	char *argv[] = {"faultscope", "replay", (char *)path, NULL};

	replayed = path;
	start_on_terminal(argv, replay);
}

#define STEPS(list) take_steps(list, sizeof(list) / sizeof(list[0]))

/* Quits, and checks the exit status. */
static void quit(int want)
{
	int status;

	press("q");
	while (shows("\001never"))
		;
	if (!patience_ms)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(master);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == want, "q ends it: %x", status);
	ok(strstr(seen, "\033[?1049l") != NULL, "the screen is given back");
}

/* The time line says where the view is, such as "22:13:50, 30.0 s of 9m 30s". */
static void test_ways(void)
{
	static const struct step steps[] = {
		{".", "22:13:50, ", "the next scan"},
		{".", "22:14:20, ", "the next scan"},
		{",", "22:13:50, ", "the scan before"},
		{">", "22:18:50, ", "ten scans on"},
		{"..", "22:19:50, ", "two keys at once"},
		{",,", "22:18:50, ", "two back"},
		{"<", "22:13:50, ", "ten scans back"},
		{"<", "22:13:20, ", "not before the first one"},
		{"}", "22:14:20, ", "a minute on"},
		{"}}", "22:16:20, ", "two minutes on"},
		{"{", "22:15:20, ", "a minute back"},
		{"{{{", "22:13:20, ", "not before the begin"},
		{".", "22:13:50, ", "the next scan"},
		{"{", "22:13:20, ", "less than a minute back"},
		{"$", "END OF RECORDING", "the end"},
		{",", "22:22:20, ", "the last scan but one"},
		{">", "END OF RECORDING", "beyond the end"},
		{"{", "22:21:50, ", "a minute before the end"},
		{"0", "22:13:20, ", "the begin"},
		{">>>>", "END OF RECORDING", "far beyond the end"},
		{"0.", "22:13:50, ", "the begin, and a scan on"},
		{".0", "22:13:20, ", "a time replaces what was before"},
	};

	start(make_recording("ways.fsr", 20, STEP_NS));
	ok(shows("22:13:20, ") && shows(" of 9m 30s"), "it begins with the first scan");
	STEPS(steps);
	quit(0);
}

static void test_times(void)
{
	static const struct step steps[] = {
		{"J22:16:20\r", "22:16:20, ", "the time of a scan"},
		{"J22:16:19\r", "22:16:20, ", "just before it"},
		{"J22:16:21\r", "22:16:50, ", "just after it"},
		{"J+90s\r", "22:14:50, ", "from the begin"},
		{"J+91s\r", "22:15:20, ", "a second more"},
		{"J-30s\r", "22:22:20, ", "from the end"},
		{"J-31s\r", "22:22:20, ", "a second earlier"},
		{"J-60s\r", "22:21:50, ", "two scans from the end"},
		{"Jnever\r", "never: expected a time, as 14:03", "no time"},
		{"J+0s\r", "22:13:20, ", "the begin"},
		{"J+10m\r", "END OF RECORDING", "after the end"},
	};

	start(make_recording("times.fsr", 20, STEP_NS));
	ok(shows("22:13:20, "), "it begins with the first scan");
	STEPS(steps);
	quit(0);
}

static void test_marks(void)
{
	static const struct step steps[] = {
		{"]", "critical M25 proc10[10]: ", "the first finding"},
		{"]", "critical M25 proc11[11]: ", "the second one"},
		{"]", "no finding opens after this time", "there is no other"},
		{".", "22:17:50, ", "a scan after it"},
		{"[", "22:17:20, ", "the finding before"},
		{"[", "22:15:20, ", "the one before"},
		{"[", "no finding opened before this time", "there is no other"},
		{"0", "22:13:20, ", "the begin"},
		{"]]", "22:17:20, ", "two at once"},
		{"0", "22:13:20, ", "the begin"},
		{"]]]", "22:17:20, ", "no more than there are"},
		{"[[[", "22:15:20, ", "and back"},
		{",", "22:14:50, ", "a scan before it"},
		{"]", "22:15:20, ", "and on"},
	};

	start(make_recording("marks.fsr", 20, STEP_NS));
	ok(shows("22:13:20, "), "it begins with the first scan");
	STEPS(steps);
	quit(0);
}

static void test_speeds(void)
{
	static const struct step steps[] = {
		{" ", "REPLAY x1 PAUSED", "a pause"},
		{"+", "REPLAY x2 PAUSED", "twice as fast"},
		{"+", "REPLAY x4 PAUSED", "four times"},
		{"+++++++", "REPLAY x512 PAUSED", "ten keys make 1024"},
		{"+", "REPLAY x1024 PAUSED", "the highest speed"},
		{"++-", "REPLAY x512 PAUSED", "stays the highest"},
		{"--------", "REPLAY x2 PAUSED", "slower"},
		{"-", "REPLAY x1 PAUSED", "the recorded speed"},
		{"-", "REPLAY x1/2 PAUSED", "half of it"},
		{"---------", "REPLAY x1/1024 PAUSED", "the lowest speed"},
		{"--+", "REPLAY x1/512 PAUSED", "stays the lowest"},
	};

	start(make_recording("speeds.fsr", 20, STEP_NS));
	ok(shows("22:13:20, ") && shows("REPLAY x1"), "the recorded speed");
	STEPS(steps);
	quit(0);
}

/* A recording of a day or more shows dates. */
static void test_dates(void)
{
	static const struct step day[] = {
		{".", "Nov 15 04:13:20, ", "a date"},
		{"$", "Nov 15 22:13:20, ", "the end"},
	};
	static const struct step less[] = {
		{".", " 04:13:19, ", "a time without a date"},
		{"$", " 22:13:19, ", "the end"},
	};

	start(make_recording("day.fsr", 5, 21600 * SECOND));
	ok(shows("Nov 14 22:13:20, "), "it begins with the first scan");
	STEPS(day);
	quit(0);
	start(make_recording("less.fsr", 5, 21600 * SECOND - 1));
	ok(shows(" 22:13:20, "), "a nanosecond less");
	STEPS(less);
	ok(!strstr(seen, "Nov 1"), "no date is shown");
	quit(0);
}

/* An incident opens at its trigger, paused. */
static void test_opening(void)
{
	const char *path = make_recording("opening.fsr", 20, STEP_NS);

	opens_at_ns = 7 * STEP_NS;
	start(path);
	ok(shows("22:16:20, "), "the scan at the given time");
	press(".");
	ok(shows("22:16:50, "), "and on from there");
	quit(0);
	opens_at_ns = 7 * STEP_NS + 1;
	start(path);
	ok(shows("22:16:50, ") && shows("PAUSED"), "or the next one, paused");
	quit(0);
	opens_at_ns = trigger_ns = 11 * STEP_NS;
	start(make_recording("incident.fsr", 20, STEP_NS));
	ok(shows("the trigger: it was killed"), "the title of its trigger");
	ok(shows("22:18:20, "), "at its scan");
	press("\r");
	ok(shows("Process proc11[11]"), "the cursor is on its process");
	quit(0);
	opens_at_ns = 0;
}

/* The trigger of an incident is a mark, at the first scan that shows it. */
static void test_trigger(void)
{
	static const struct {
		uint64_t at_ns;
		const char *shown;
	} rows[] = {
		{11 * STEP_NS - 1, "22:18:20, "}, {11 * STEP_NS, "22:18:20, "},
		{11 * STEP_NS + 1, "22:18:50, "}, {20 * STEP_NS, "22:22:50, "},
		{20 * STEP_NS + 1, "22:22:50, "},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trigger_ns = rows[i].at_ns;
		start(make_recording("trigger.fsr", 20, STEP_NS));
		ok(shows("22:13:20, "), "the first scan");
		press("]]]");
		ok(shows(rows[i].shown), "the trigger is the third mark, at %s", rows[i].shown);
		ok(shows("trigger of the incident: it was killed"), "with its title");
		quit(0);
	}
	trigger_ns = 9 * STEP_NS;
	start(make_recording("trigger.fsr", 20, STEP_NS));
	ok(shows("22:13:20, "), "a trigger at the scan of a finding");
	press("]]");
	ok(shows("22:17:20, "), "is at the same mark");
	ok(shows("trigger of the incident: it was killed"), "and is named, as it tells more");
	press("[");
	ok(shows("critical M25 proc10[10]: "), "the mark before is another finding");
	quit(0);
	trigger_ns = 0;
}

int main(void)
{
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("TZ", "UTC", 1);
	/* settings of the real user are neither read nor written */
	unsetenv("COLUMNS");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	test_ways();
	test_times();
	test_marks();
	test_speeds();
	test_dates();
	test_opening();
	test_trigger();
	free(seen);
	return tap_done();
}
