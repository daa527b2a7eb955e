// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the size of the output: that of the terminal, of the option, of COLUMNS, or a default. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "session/session.h"
#include "tap.h"

static const struct row {
	int columns, lines;  /* of the terminal; columns < 0: there is no terminal */
	const char *setting; /* the variable COLUMNS; NULL: not set */
	unsigned int option; /* --width; 0: not given */
	bool redraws;
	int width, height;
	const char *what;
} rows[] = {
	{-1, 0, NULL, 0, false, 100, 0, "a file"},
	{-1, 0, "39", 0, false, 100, 0, "too few columns are none"},
	{-1, 0, "40", 0, false, 40, 0, "the fewest columns"},
	{-1, 0, "200", 0, false, 200, 0, "COLUMNS"},
	{-1, 0, "x", 0, false, 100, 0, "COLUMNS that is no number"},
	{-1, 0, "-80", 0, false, 100, 0, "a negative number"},
	{-1, 0, "200", 70, false, 70, 0, "the option comes first"},
	{120, 30, NULL, 0, false, 120, 0, "text on a terminal"},
	{120, 30, "200", 0, false, 120, 0, "a terminal comes before COLUMNS"},
	{120, 30, NULL, 70, false, 70, 0, "and the option before it"},
	{39, 30, NULL, 0, false, 100, 0, "a narrow terminal"},
	{40, 30, NULL, 0, false, 40, 0, "a less narrow one"},
	{0, 30, "200", 0, false, 200, 0, "a terminal that has no size"},
	{120, 30, NULL, 0, true, 120, 30, "the live view"},
	{39, 30, NULL, 0, true, 39, 30, "on a narrow terminal"},
	{120, 30, NULL, 70, true, 70, 30, "with the option"},
	{120, 0, NULL, 0, true, 80, 24, "on one without lines"},
	{0, 30, NULL, 0, true, 80, 24, "on one without columns"},
	{1, 1, NULL, 0, true, 1, 1, "on the smallest one"},
};

/* Returns a descriptor of a terminal of this size, or of a file. */
static int open_output(const struct row *r, int *ret_master)
{
	struct winsize size = {.ws_col = r->columns, .ws_row = r->lines};
	int fd;

	*ret_master = -1;
	if (r->columns < 0)
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	*ret_master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_master < 0 || grantpt(*ret_master) || unlockpt(*ret_master))
		abort();
	fd = open(ptsname(*ret_master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || ioctl(*ret_master, TIOCSWINSZ, &size))
		abort();
	return fd;
}

static void test_sizes(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o = {.width = rows[i].option};
		struct session s = {.o = &o};
		int master;

		s.out.fd = open_output(&rows[i], &master);
		s.out.redraws = rows[i].redraws;
		if (rows[i].setting)
			setenv("COLUMNS", rows[i].setting, 1);
		else
			unsetenv("COLUMNS");
		session_measure_view(&s);
		ok((int)s.out.view.width == rows[i].width &&
			   (int)s.out.view.height == rows[i].height,
		   "%s: %d columns, %d lines", rows[i].what, (int)s.out.view.width,
		   (int)s.out.view.height);
		close(s.out.fd);
		if (master >= 0)
			close(master);
	}
	unsetenv("COLUMNS");
}

/* Text has 20 rows of a table, and the live view all; --top decides about both. */
static void test_rows(void)
{
	struct options o = {};
	struct session s = {.o = &o};

	s.out.fd = -1;
	session_measure_view(&s);
	is_u64(s.out.view.top, 20, "rows of text");
	s.out.redraws = true;
	session_measure_view(&s);
	is_u64(s.out.view.top, 1000, "rows of the live view");
	o.top = 1;
	session_measure_view(&s);
	is_u64(s.out.view.top, 1, "--top of the live view");
	s.out.redraws = false;
	session_measure_view(&s);
	is_u64(s.out.view.top, 1, "--top of text");
}

/* Sets the view of a session whose output is a file or a terminal. */
static void set_view(struct session *s, const struct options *o, bool terminal)
{
	static const struct row to[] = {{.columns = -1}, {.columns = 120, .lines = 30}};
	int master;

	s->o = o;
	s->out.fd = open_output(&to[terminal], &master);
	session_set_view(s);
	close(s->out.fd);
	if (master >= 0)
		close(master);
}

/* A session with text output that may be a live view. */
static struct session text_session(void)
{
	return (struct session){.out.renderer = &text_renderer, .plan.may_redraw = true};
}

static void test_live_views(void)
{
	static const struct {
		const struct renderer *renderer;
		bool may, terminal, file, want;
		const char *name;
	} cases[] = {
		{&text_renderer, true, true, false, true, "text on a terminal is a live view"},
		{&text_renderer, true, false, false, false, "not in a file"},
		{&text_renderer, true, true, true, false, "nor with --output"},
		{&text_renderer, false, true, false, false, "nor if the command does not redraw"},
		{&json_renderer, true, true, false, false, "JSON is never redrawn"},
	};

	setenv("TERM", "xterm", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options o = {.colour = WHEN_NEVER};
		struct session s = text_session();

		s.out.renderer = cases[i].renderer;
		s.plan.may_redraw = cases[i].may;
		s.plan.output = cases[i].file ? "x" : NULL;
		set_view(&s, &o, cases[i].terminal);
		ok(s.out.redraws == cases[i].want, "%s", cases[i].name);
		is_u64(s.out.view.height, cases[i].want ? 30 : 0, "lines of a screen");
		ok(s.out.view.summary == cases[i].want, "a live view has findings below the table");
	}
}

/* Options and the plan decide what is shown. */
static void test_contents(void)
{
	struct options o = {.colour = WHEN_NEVER, .min_severity = SEVERITY_CRITICAL};
	struct session s = text_session();
	static const struct field *const sorted = &fields[0];

	set_view(&s, &o, false);
	ok(s.out.view.m == &s.in.m && s.out.view.findings == &s.in.findings &&
		   s.out.view.gaps == &s.out.gaps,
	   "the values, findings and gaps of the session");
	is_u64(s.out.view.min_severity, SEVERITY_CRITICAL, "the least severity");
	ok(!s.out.view.tables && !s.out.view.addresses && !s.out.view.page, "no option");
	ok(!s.out.view.summary && !s.in.findings.keep_cleared, "no summary at the end");
	o.addresses = o.summary = true;
	o.top = 3;
	set_view(&s, &o, false);
	ok(s.out.view.addresses && s.out.view.page, "--addresses and --summary");
	ok(s.out.view.tables && s.out.view.top == 3, "--top asks for a table");
	o.top = 0;
	o.sort = sorted;
	set_view(&s, &o, false);
	ok(s.out.view.tables && s.out.view.sort == sorted, "so does --sort");
	s.plan.view.command = true;
	set_view(&s, &o, false);
	ok(s.out.view.command && s.out.view.summary, "a command has a summary");
	ok(s.in.findings.keep_cleared, "with findings that were cleared meanwhile");
}

int main(void)
{
	test_sizes();
	test_live_views();
	test_contents();
	test_rows();
	return tap_done();
}
