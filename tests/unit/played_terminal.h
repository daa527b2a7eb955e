/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a function of faultscope on a pseudo-terminal, presses keys, and reads what is shown. */
#ifndef FS_TESTS_UNIT_PLAYED_TERMINAL_H
#define FS_TESTS_UNIT_PLAYED_TERMINAL_H

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/options_table.h"
#include "fixture.h"
#include "tap.h"

#define PATIENCE_MS 60000 /* after this time, output that is missing does not come */
#define SEEN_MAX    (4 << 20)

static int master;
static pid_t child;
static char *seen; /* what the terminal has shown since the last key */
static size_t seen_len;
static int patience_ms = PATIENCE_MS; /* 0 after output that did not come */

/* Runs in the child: parses the words of a command, and ends with the status of `run`. */
static inline void run_on_terminal(const char *terminal, char **argv,
				   int (*run)(const struct options *o))
{
	struct options o;
	char error[512];
	int argc = 0, fd;

	setsid();
	fd = open(terminal, O_RDWR);
	if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(100);
	while (argv[argc])
		argc++;
	if (options_parse(argc, argv, &o, error, sizeof(error))) {
		dprintf(2, "%s\n", error);
		_exit(101);
	}
	o.revision = "test";
	exit(run(&o));
}

/* Starts a command, whose words end with NULL, in a child on a terminal of 120 x 30 characters. */
static inline void start_on_terminal(char **argv, int (*run)(const struct options *o))
{
	struct winsize size = {.ws_col = 120, .ws_row = 30};

	free(seen);
	seen = calloc(1, SEEN_MAX);
	seen_len = 0;
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (!seen || master < 0 || grantpt(master) || unlockpt(master) ||
	    ioctl(master, TIOCSWINSZ, &size))
		abort();
	fflush(stdout);
	child = fork();
	if (!child)
		run_on_terminal(ptsname(master), argv, run);
}

/* Reads what the terminal shows, until `text` was shown, or until the end. */
static inline bool shows(const char *text)
{
	struct pollfd ready = {.fd = master, .events = POLLIN};
	time_t last = time(NULL) + PATIENCE_MS / 1000;
	ssize_t n = 1;

	while (!strstr(seen, text) && n > 0 && seen_len + 1 < SEEN_MAX && time(NULL) < last &&
	       poll(&ready, 1, patience_ms) > 0) {
		n = read(master, seen + seen_len, SEEN_MAX - 1 - seen_len);
		seen_len += n > 0 ? n : 0;
		seen[seen_len] = 0;
	}
	if (n > 0 && !strstr(seen, text))
		patience_ms = 0; /* the test fails: it shall not take long */
	return strstr(seen, text) != NULL;
}

static inline void press(const char *keys)
{
	seen_len = 0;
	seen[0] = 0;
	if (write(master, keys, strlen(keys)) != (ssize_t)strlen(keys))
		abort();
}

/* Keys, what the terminal must then show, and what that is. */
struct step {
	const char *keys, *text, *what;
};

static inline void take_steps(const struct step *step, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		press(step[i].keys);
		if (!ok(shows(step[i].text), "%s: %s", step[i].what, step[i].text))
			printf("# shown: …%s\n", seen + (seen_len > 400 ? seen_len - 400 : 0));
	}
}

#endif
