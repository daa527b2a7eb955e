// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the file with the settings of the live view: where it is, how long its path may be, when
 * its directory is made, and which changes of the user it gets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "render/tui/tui_parts.h"
#include "session/view_settings.h"
#include "tap.h"

#define HEAD                                                                                       \
	"# Settings of faultscope's live view, which writes changes here.\n"                       \
	"# faultscope settings lists all of them.\n"

static struct view_settings s;
static struct tui t;

static void set_homes(const char *config, const char *home)
{
	if (config)
		setenv("XDG_CONFIG_HOME", config, 1);
	else
		unsetenv("XDG_CONFIG_HOME");
	if (home)
		setenv("HOME", home, 1);
	else
		unsetenv("HOME");
}

/* Opens the settings without creating a directory. Returns the path of the file, or "". */
static const char *path_with(const char *config, const char *home)
{
	static struct buf b;

	set_homes(config, home);
	view_settings_open(&s, false);
	buf_clear(&b);
	view_settings_path(&s, &b);
	view_settings_close(&s);
	return b.s ? b.s : "";
}

static void test_places(void)
{
	is_str(path_with("/a", "/b"), "/a/faultscope/settings", "XDG_CONFIG_HOME comes first");
	is_str(path_with(NULL, "/b"), "/b/.config/faultscope/settings", "then HOME");
	is_str(path_with("", "/b"), "/b/.config/faultscope/settings", "an empty one is none");
	is_str(path_with("a", "/b"), "/b/.config/faultscope/settings", "nor is a relative one");
	is_str(path_with(NULL, "b"), "", "a relative HOME is none");
	is_str(path_with(NULL, ""), "", "nor is an empty one");
	is_str(path_with(NULL, NULL), "", "there is no place");
	set_homes(NULL, NULL);
	memset(&s, 0x5a, sizeof(s));
	view_settings_open(&s, true);
	ok(s.dir == -1 && s.missing && !s.directory[0], "nothing is open");
	is_str(s.error, "neither XDG_CONFIG_HOME nor HOME is set", "which is said");
	view_settings_load(&s, &t);
	view_settings_keep(&s, &t, NULL);
	is_u64(view_settings_save(&s, &t), 0, "nothing was changed");
	t.ended = true;
	is_u64(-view_settings_save(&s, &t), ENOENT, "a change cannot be kept");
	t.ended = false;
	view_settings_close(&s);
}

/* The path of the directory has room for PATH_MAX bytes with its zero. */
static void test_lengths(void)
{
	static const size_t rest = sizeof("/faultscope") - 1;
	char config[PATH_MAX + 1];

	for (size_t len = PATH_MAX - rest - 2; len <= PATH_MAX - rest; len++) {
		memset(config, 'x', sizeof(config));
		config[0] = '/';
		config[len] = 0;
		set_homes(config, NULL);
		view_settings_open(&s, false);
		if (len + rest < PATH_MAX) {
			is_u64(strlen(s.directory), len + rest, "a long path");
			ok(s.dir == -1 &&
				   strcmp(s.error, "neither XDG_CONFIG_HOME nor HOME is set"),
			   "that no file system has: %s", strerror(ENAMETOOLONG));
		} else {
			ok(!s.directory[0] && s.missing, "a path without room for its end");
		}
		view_settings_close(&s);
	}
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void test_directory(void)
{
	int fd;

	set_homes(fixture_path("home/config"), NULL);
	view_settings_open(&s, false);
	ok(s.dir == -1 && s.missing, "a directory that is missing");
	ok(!mode_of(fixture_path("home")), "is not made to look at settings");
	view_settings_close(&s);
	view_settings_open(&s, true);
	ok(s.dir == -1 && s.missing, "three directories are missing");
	ok(!mode_of(fixture_path("home")), "then none is made");
	view_settings_close(&s);
	if (mkdir(fixture_path("home"), 0700))
		abort();
	view_settings_open(&s, true);
	ok(s.dir >= 0 && !s.missing, "two are missing");
	is_u64(mode_of(fixture_path("home/config")), 0700, "the first is made");
	is_u64(mode_of(fixture_path("home/config/faultscope")), 0700, "and the second");
	view_settings_load(&s, &t);
	ok(s.missing && !s.wrong.len, "the file is missing, and nothing is wrong");
	fd = s.dir;
	view_settings_close(&s);
	ok(fcntl(fd, F_GETFD) == -1 && errno == EBADF && s.dir == -1, "it is closed");
	view_settings_open(&s, false);
	ok(s.dir >= 0 && !s.missing, "now it is there");
	view_settings_close(&s);
}

static const char *file(void)
{
	static char text[8192];
	int fd = open(fixture_path("home/config/faultscope/settings"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static void put_file(const char *text, size_t len)
{
	int fd = open(fixture_path("home/config/faultscope/settings"),
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void begin(void)
{
	memset(&t, 0, sizeof(t));
	view_settings_open(&s, true);
	view_settings_load(&s, &t);
	view_settings_keep(&s, &t, NULL);
}

static unsigned int line_of(const char *key)
{
	struct tui_setting one;

	for (size_t i = 0; tui_setting_at(i, &one); i++)
		if (!strcmp(one.key, key))
			return s.line[i];
	return 0;
}

static void test_changes(void)
{
	begin();
	is_u64(view_settings_save(&s, &t), 0, "without a change");
	is_str(file(), "", "there is no file");
	t.ended = true;
	is_u64(view_settings_save(&s, &t), 0, "a change");
	is_str(file(), HEAD "ended = yes\n", "makes it");
	is_u64(mode_of(fixture_path("home/config/faultscope/settings")), 0600, "for its owner");
	view_settings_close(&s);
	begin();
	ok(t.ended, "it is there at the next start");
	is_u64(line_of("ended"), 3, "from this line of the file");
	is_u64(line_of("theme"), 0, "another setting is in no line");
	ok(!s.missing && !s.error[0] && !s.wrong.len, "nothing is wrong");
	t.commands = true;
	t.ended = false;
	view_settings_keep(&s, &t, "ended");
	is_u64(view_settings_save(&s, &t), 0, "a change that is not to be kept, and another");
	is_str(file(), HEAD "ended = yes\ncommand_lines = yes\n", "only the other is written");
	view_settings_close(&s);
	begin();
	put_file("# mine\ntree = parents\n", 22);
	t.commands = false;
	is_u64(view_settings_save(&s, &t), 0, "somebody has changed the file meanwhile");
	is_str(file(), "# mine\ntree = parents\ncommand_lines = no\n", "what it says stays");
	view_settings_close(&s);
}

static void test_wrong(void)
{
	static char text[TUI_SETTINGS_BYTES + 2];
	char want[PATH_MAX + 64];

	put_file("ended = perhaps\nended = yes\ncolour = red\n", 42 - 1);
	begin();
	ok(t.ended, "a good line is used");
	snprintf(want, sizeof(want), "%s/settings:1: ", s.directory);
	ok(s.wrong.s && !strncmp(s.wrong.s, want, strlen(want)), "a bad one is told: %s", want);
	snprintf(want, sizeof(want), "\n%s/settings:3: ", s.directory);
	ok(s.wrong.s && strstr(s.wrong.s, want), "and another");
	view_settings_close(&s);
	put_file("ended = yes\n\0x = y\n", 19);
	begin();
	snprintf(want, sizeof(want), "%s/settings: is no text of lines \"key = value\"",
		 s.directory);
	ok(!t.ended && !s.missing, "a file that is no text");
	is_str(s.error, want, "is not used");
	t.commands = true;
	is_u64(-view_settings_save(&s, &t), EBADMSG, "nor changed");
	view_settings_close(&s);
	memset(text, '#', sizeof(text));
	put_file(text, TUI_SETTINGS_BYTES);
	begin();
	ok(!s.error[0], "a file of the greatest size: %s", s.error);
	view_settings_close(&s);
	put_file(text, TUI_SETTINGS_BYTES + 1);
	begin();
	ok(s.error[0], "a larger one: %s", s.error);
	view_settings_close(&s);
}

/* The descriptor 0 is one like others. Which one the directory gets depends on its depth. */
static void test_first_descriptor(void)
{
	static const char *const configs[] = {"zero", "zero/a"};
	bool found = false;

	for (int i = 0; i < 2 && !found; i++) {
		if (mkdir(fixture_path(configs[i]), 0700))
			abort();
		set_homes(fixture_path(configs[i]), NULL);
		begin();
		found = s.dir == 0;
		if (found) {
			t.ended = true;
			is_u64(view_settings_save(&s, &t), 0, "a change is saved");
			memset(&t, 0, sizeof(t));
			view_settings_load(&s, &t);
			ok(t.ended && !s.missing, "and loaded");
		}
		view_settings_close(&s);
		ok(fcntl(0, F_GETFD) == -1, "the directory is closed");
	}
	ok(found, "a directory with the descriptor 0");
}

int main(void)
{
	umask(022);
	test_places();
	test_lengths();
	test_directory();
	test_changes();
	test_wrong();
	test_first_descriptor();
	return tap_done();
}
