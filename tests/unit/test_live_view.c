// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the live view of a session on a pseudo-terminal, with a played kernel: what each key does
 * to the session, which is more than what it does to the view (test_tui_keys.c). Scans read /proc.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#include "cli/options_table.h"
#include "played_kernel.h"
#include "played_terminal.h"
#include "session/commands.h"
#include "tap.h"

static char config[64];
static char folder[] = "/tmp/faultscope-live-view-XXXXXX";

static int watch(const struct options *o)
{
	return chdir(folder) ? 100 : command_watch(o);
}

static void start(char **argv)
{
	start_on_terminal(argv, watch);
}

/* Waits for the end. Returns the exit status. */
static int ends(void)
{
	time_t last = time(NULL) + PATIENCE_MS / 1000;
	int status;

	while (shows("\001never"))
		;
	while (!waitpid(child, &status, WNOHANG)) {
		if (time(NULL) > last)
			kill(child, SIGKILL);
		usleep(10000);
	}
	close(master);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static size_t recordings(void)
{
	char pattern[128];
	size_t n;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/faultscope-*.fsr", folder);
	n = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;
	if (n)
		ok(access(g.gl_pathv[0], R_OK) == 0, "a recording: %s", g.gl_pathv[0]);
	for (size_t i = 0; i < n; i++)
		unlink(g.gl_pathv[i]);
	if (n)
		globfree(&g);
	return n;
}

#define STEPS(list) take_steps(list, sizeof(list) / sizeof(list[0]))

static void test_keys(void)
{
	static const struct step steps[] = {
		{"+", "a scan every 0.1 s", "+"},
		{"++-", "a scan every 0.2 s", "the shortest interval stays"},
		{"-", "a scan every 0.5 s", "-"},
		{"-", "a scan every 1 s", "-"},
		{"-", "a scan every 2 s", "-"},
		{"-", "a scan every 5 s", "-"},
		{"-", "a scan every 10 s", "-"},
		{"-", "a scan every 30 s", "-"},
		{"-", "a scan every 60 s", "-"},
		{"---+", "a scan every 30 s", "the longest interval stays"},
		{"++++++", "a scan every 0.2 s", "several keys at once"},
		{"?", "move the cursor", "help"},
		{"\033", "PID", "Esc is a key if no byte follows"},
		{"\033[5~2", "OF LIMIT", "a key with several bytes, and another"},
		{"1", "MINFLT/s", "back"},
		{" ", "PAUSED", "a pause"},
		{" ", "PID", "it goes on"},
		{"/", "words; Enter: keep the filter", "a filter"},
		{"test_live_view\r", "filter: test_live_view", "a filter"},
		{"\r", "What it holds", "a process and what it holds"},
		{"d", "Diagnosis of ", "its diagnosis"},
		{"\033", "Process ", "back to it"},
		{"w", "recording to faultscope-", "a recording"},
		{"c", "REC", "it is shown"},
		{"w", "recorded: faultscope --replay faultscope-", "its end"},
	};
	static char *argv[] = {"faultscope", "--probe", "scan=/proc", "0.2", NULL};
	int status;

	start(argv);
	if (!ok(shows("\033[?1049h") && shows("MINFLT/s"), "the first screen"))
		printf("# shown: …%s\n", seen + (seen_len > 400 ? seen_len - 400 : 0));
	STEPS(steps);
	press("1");
	ok(shows("MINFLT/s") && !strstr(seen, "REC"), "no recording is shown");
	press("q");
	status = ends();
	/* a user who cannot read all processes is told that the result is incomplete */
	ok(!status || status == EXIT_INCOMPLETE, "q ends it: %d", status);
	ok(strstr(seen, "\033[?1049l") != NULL, "the screen is given back");
	is_u64(recordings(), 1, "one recording");
}

/* If the terminal is gone, the session ends. */
static void test_end_of_input(void)
{
	static char *argv[] = {"faultscope", "--probe", "scan=/proc", "0.2", NULL};
	int status;

	start(argv);
	ok(shows("MINFLT/s"), "the first screen");
	close(master);
	waitpid(child, &status, 0);
	ok(!WIFSIGNALED(status) || WTERMSIG(status) == SIGHUP, "the end: %x", status);
}

static void remove_settings(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/faultscope/settings", config);
	unlink(path);
	snprintf(path, sizeof(path), "%s/faultscope", config);
	rmdir(path);
	rmdir(config);
}

/* What the user changes is there again at the next start. */
static void test_settings(void)
{
	static const struct step change[] = {
		{"t", "by cgroup", "a tree"},
		{"o", "Columns of the tab Faults", "the list of columns"},
		{"jj ", "[ ] ", "a column is hidden"},
		{"\033", "by cgroup", "back"},
	};
	static char *argv[] = {"faultscope", "--probe", "scan=/proc", "0.2", NULL};

	start(argv);
	ok(shows("TREND"), "the first screen has a trend");
	STEPS(change);
	press("q");
	ends();
	start(argv);
	ok(shows("by cgroup"), "the tree is there at the next start");
	ok(shows("MAJFLT/s") && !strstr(seen, "TREND"), "and the column is hidden");
	press("q");
	ends();
}

int main(void)
{
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	unsetenv("COLUMNS");
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	if (!mkdtemp(folder))
		abort();
	/* settings of the real user are neither read nor written */
	snprintf(config, sizeof(config), "%s/config", folder);
	setenv("XDG_CONFIG_HOME", config, 1);
	test_keys();
	test_end_of_input();
	test_settings();
	remove_settings();
	rmdir(folder);
	return tap_done();
}
