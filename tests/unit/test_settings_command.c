// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what `settings` prints, which settings it changes, and what it refuses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "command_output.h"
#include "render/render.h"
#include "session/commands.h"
#include "tap.h"

#define HEAD                                                                                       \
	"# Settings of faultscope's live view, which writes changes here.\n"                       \
	"# faultscope settings lists all of them.\n"

static struct options o;

/* Runs `settings` with at most two words. */
static void run(const char *a, const char *b)
{
	char *argv[] = {(char *)a, (char *)b, NULL};

	o.argv = argv;
	o.argc = !!a + !!b;
	run_command(command_settings, &o);
}

static const char *file(void)
{
	static char text[4096];

	io_read(AT_FDCWD, fixture_path("config/faultscope/settings"), text, sizeof(text));
	return text;
}

static void put_file(const char *text)
{
	int fd = open(fixture_path("config/faultscope/settings"),
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* Returns whether the list has a line that begins like this. */
static bool lists(const char *line)
{
	char want[256];

	snprintf(want, sizeof(want), "\n%s", line);
	return strstr(got.out, want) != NULL;
}

static void test_defaults(void)
{
	char want[256];

	run(NULL, NULL);
	is_u64(got.status, 0, "without a file");
	snprintf(want, sizeof(want), "file: %s/faultscope/settings\n\n", getenv("XDG_CONFIG_HOME"));
	ok(!strncmp(got.out, want, strlen(want)), "where the file would be");
	ok(lists("theme            = dark  (default)\n") &&
		   lists("ended            = no  (default)\n"),
	   "defaults");
	ok(lists("columns.memory   = default  (default)\n"), "the last setting");
	ok(lists("names of columns: pid user "), "the names of columns");
	is_str(got.err, "", "nothing is wrong");
	ok(access(fixture_path("config"), F_OK), "no directory is made to look");
}

static void test_changes(void)
{
	run("theme=light", "ended=yes");
	is_u64(got.status, 0, "two changes");
	ok(!*got.out && !*got.err, "say nothing");
	is_str(file(), HEAD "theme = light\nended = yes\n", "they are in the file");
	run(NULL, NULL);
	ok(lists("theme            = light  (file, line 3)\n") &&
		   lists("ended            = yes  (file, line 4)\n"),
	   "and in the list, with their lines");
	ok(lists("tree             = no  (default)\n"), "others have their defaults");
	run("theme=light", NULL);
	is_str(file(), HEAD "theme = light\nended = yes\n", "the same value changes nothing");
	run("ended=no", NULL);
	is_str(file(), HEAD "theme = light\nended = no\n", "a value is replaced");
	o.format = &json_renderer;
	run(NULL, NULL);
	o.format = NULL;
	ok(strstr(got.out,
		  "{\"name\":\"theme\",\"value\":\"light\",\"source\":\"file\",\"by\":null,"
		  "\"line\":3,"),
	   "as JSON");
	ok(strstr(got.out, "{\"name\":\"tree\",\"value\":\"no\",\"source\":\"default\",\"by\":null,"
			   "\"allowed\""),
	   "a default has no line");
}

static void refused(const char *a, const char *b, const char *want)
{
	char before[4096];

	strcpy(before, file());
	run(a, b);
	is_u64(got.status, EXIT_USAGE, a);
	is_str(got.err, want, "is refused");
	is_str(file(), before, "and the file is as it was");
}

static void test_refusals(void)
{
	static const char unknown[] = "expected KEY=VALUE, with a key that faultscope settings "
				      "lists\n";
	char want[256];

	snprintf(want, sizeof(want), "faultscope: settings theme: %s", unknown);
	refused("theme", NULL, want);
	snprintf(want, sizeof(want), "faultscope: settings them=dark: %s", unknown);
	refused("them=dark", NULL, want);
	snprintf(want, sizeof(want), "faultscope: settings themes=dark: %s", unknown);
	refused("themes=dark", NULL, want);
	snprintf(want, sizeof(want), "faultscope: settings =dark: %s", unknown);
	refused("=dark", NULL, want);
	refused("theme=blue", NULL,
		"faultscope: settings theme=blue: allowed: dark, light or none\n");
	refused("theme=", NULL, "faultscope: settings theme=: allowed: dark, light or none\n");
	refused("columns.maps=zork", NULL,
		"faultscope: settings columns.maps=zork: allowed: default, none, or names of "
		"columns (faultscope settings lists them)\n");
	refused("theme=none", "ended=perhaps",
		"faultscope: settings ended=perhaps: allowed: no or yes\n");
	refused("ended=perhaps", "theme=none",
		"faultscope: settings ended=perhaps: allowed: no or yes\n");
}

/* Options and the environment decide about colours before the file does. */
static void test_colours(void)
{
	static const struct {
		const char *theme, *no_colour;
		enum when colour;
		const char *want;
	} rows[] = {
		{"light", NULL, WHEN_AUTO, "light  (file, line 1)"},
		{"light", "", WHEN_AUTO, "light  (file, line 1)"},
		{"light", "1", WHEN_AUTO, "none  (environment NO_COLOR)"},
		{"none", NULL, WHEN_AUTO, "none  (file, line 1)"},
		{"none", "1", WHEN_AUTO, "none  (environment NO_COLOR)"},
		{"light", NULL, WHEN_NEVER, "none  (option --color)"},
		{"light", "1", WHEN_NEVER, "none  (option --color)"},
	};
	char text[64], want[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "theme = %s\n", rows[i].theme);
		put_file(text);
		if (rows[i].no_colour)
			setenv("NO_COLOR", rows[i].no_colour, 1);
		else
			unsetenv("NO_COLOR");
		o.colour = rows[i].colour;
		run(NULL, NULL);
		snprintf(want, sizeof(want), "theme            = %s\n", rows[i].want);
		ok(lists(want), "row %zu: %s", i, rows[i].want);
	}
	unsetenv("NO_COLOR");
	o.colour = WHEN_ALWAYS;
	o.format = &json_renderer;
	put_file("theme = light\n");
	run(NULL, NULL);
	ok(strstr(got.out, "\"theme\",\"value\":\"light\",\"source\":\"file\",\"by\":null,"),
	   "colours of the file");
	put_file("theme = none\n");
	run(NULL, NULL);
	ok(strstr(got.out,
		  "\"theme\",\"value\":\"dark\",\"source\":\"option\",\"by\":\"--color\","),
	   "no colours in the file, but in the option");
	o.colour = WHEN_AUTO;
	o.format = NULL;
}

static void test_wrong_files(void)
{
	put_file("theme = light\ncolour = red\n");
	run(NULL, NULL);
	is_u64(got.status, EXIT_FAILED, "a line that is not used");
	ok(lists("theme            = light  (file, line 1)\n"), "the others are");
	ok(strstr(got.out, "faultscope/settings:2: "), "which is said, with its number");
	run("theme=none", NULL);
	is_u64(got.status, 0, "a change");
	is_str(file(), "theme = none\ncolour = red\n", "leaves it as it is");
	put_file("\x01\n");
	run(NULL, NULL);
	is_u64(got.status, EXIT_FAILED, "a file that is no text");
	ok(strstr(got.out, "is no text of lines"), "which is said");
	run("theme=light", NULL);
	is_u64(got.status, EXIT_FAILED, "cannot be changed");
	ok(!strncmp(got.err, "faultscope: the settings are not changed: ", 42), "which is said");
	is_str(file(), "\x01\n", "and is as it was");
	unsetenv("XDG_CONFIG_HOME");
	run("theme=light", NULL);
	is_u64(got.status, EXIT_FAILED, "no place for settings");
	is_str(got.err,
	       "faultscope: the settings are not changed: neither XDG_CONFIG_HOME nor HOME is "
	       "set\n",
	       "which is said");
	run(NULL, NULL);
	is_u64(got.status, 0, "defaults can be shown");
}

int main(void)
{
	umask(022);
	unsetenv("HOME");
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	setenv("XDG_CONFIG_HOME", fixture_path("config"), 1);
	o.width = 100;
	test_defaults();
	test_changes();
	test_refusals();
	test_colours();
	test_wrong_files();
	return tap_done();
}
