// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests names of users from /etc/passwd, and command lines from /proc/PID/cmdline. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/names/command_line.h"
#include "collect/names/user_names.h"
#include "fakeroot.h"
#include "records/records.h"
#include "tap.h"

static void test_users(void)
{
	struct fakeroot root = fakeroot_make();
	struct user_names u = {};
	int fd;

	fake_file(&root, "etc/passwd",
		  "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/:/bin/sh\n\n:x:5:\nbad\n"
		  "minus:x:-1:0::/:\nlong:x:99999999999:0\nsame:x:0:0\n"
		  "a-name-that-is-longer-than-the-room-for-it:x:7:7::/:\nlast:x:4294967294:1");
	fd = root.fd;
	is_str(user_name_find(&u, fd, 1000), "anna", "a user");
	ok(user_name_find(&u, fd, 0) != NULL, "root, who has two names");
	is_str(user_name_find(&u, fd, 5), NULL, "no name");
	is_str(user_name_find(&u, fd, 7), NULL, "a name that is too long");
	is_str(user_name_find(&u, fd, UINT32_MAX), NULL, "a negative uid");
	is_str(user_name_find(&u, fd, 4294967294), "last", "a last line without its end");
	is_str(user_name_find(&u, fd, 1001), NULL, "not there yet");
	fake_file(&root, "etc/passwd", "bert:x:1001:1::/:\n");
	is_str(user_name_find(&u, fd, 1001), "bert", "the file is read again after a change");
	user_names_free(&u);
	is_str(user_name_find(&u, -1, 1001), NULL, "without the file, no name");
	fakeroot_free(&root);
}

static void is_joined(const char *bytes, size_t len, size_t size, const char *want)
{
	char text[64] = "";

	memcpy(text, bytes, len < size ? len : size);
	command_line_join(text, len < size ? len : size, size);
	is_str(text, want, want);
}

static void test_join(void)
{
	is_joined("ls\0-l\0", 6, 32, "ls -l");
	is_joined("", 0, 32, "");
	is_joined("title\0\0\0\0\0\0", 11, 32, "title");
	is_joined("a\0\0b\0", 5, 32, "a  b");
	is_joined("\0b\0", 3, 32, " b");
	is_joined("0123456789\0", 11, 8, "0123...");
	is_joined("0123456", 7, 8, "0123456");
	is_joined("012\xe6\xbc\xa2\xe5\xad\x97", 9, 8, "012...");
	is_joined("0\xe6\xbc\xa2\xe5\xad\x97", 7, 8, "0\xe6\xbc\xa2\xe5\xad\x97");
	is_joined("\xe6\xbc\xa2\xe5\xad\x97\xe5", 7, 7, "\xe6\xbc\xa2...");
}

#define NAME31 "abcdefghijklmnopqrstuvwxyz-abcd"

/* Tests lines just inside and just outside of what is accepted. */
static void test_lines(void)
{
	static const struct {
		const char *line;
		uint32_t uid;
		const char *want;
	} rows[] = {
		{NAME31 ":x:7:", 7, NAME31},
		{NAME31 "e:x:7:", 7, NULL},
		{"a:x:4294967295:", UINT32_MAX, "a"},
		{"a:x:4294967296:", 0, NULL},
		{"a:x:4294967303:", 7, NULL},
		{"a:x:7", 7, NULL},
		{"a:x:7x:", 7, NULL},
		{"a:x: 7:", 7, NULL},
		{"a:x:+7:", 7, NULL},
		{"a:x:9:", 9, "a"},
		{"a:x:0:", 0, "a"},
		{"a:x::", 0, NULL},
		{"a:7:", 7, NULL},
		{"a", 0, NULL},
		{":x:7:", 7, NULL},
		{"a::7:", 7, "a"},
		{"a\nb:x:7:", 7, "b"},
		{"a:x\nb:7:8:9:", 8, "b"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct user_names u = {};

		fake_file(&root, "etc/passwd", "%s", rows[i].line);
		is_str(user_name_find(&u, root.fd, rows[i].uid), rows[i].want,
		       rows[i].want ? rows[i].want : "a line that is not valid");
		is_u64(u.n, rows[i].want != NULL, "number of users");
		user_names_free(&u);
		fakeroot_free(&root);
	}
}

#define USERS_MOST 16384

static void test_many_users(void)
{
	struct fakeroot root = fakeroot_make();
	struct user_names u = {};
	char path[256];
	FILE *f = fopen(fake_path(&root, "etc/passwd", path, sizeof(path)), "w");

	for (int i = USERS_MOST; f && i >= 0; i--)
		fprintf(f, "user%d:x:%d:\n", i, i);
	ok(f && !fclose(f), "a file of more users than are kept");
	is_str(user_name_find(&u, root.fd, USERS_MOST), "user16384", "the first line");
	is_str(user_name_find(&u, root.fd, 1), "user1", "the last line that is kept");
	is_str(user_name_find(&u, root.fd, 0), NULL, "a line behind it");
	is_u64(u.n, USERS_MOST, "users");
	user_names_free(&u);
	fakeroot_free(&root);
}

#define FILE_MOST (1 << 20)

/* The first 1,048,575 bytes of the file are read. A line that is cut there is not a user. */
static void test_large_file(void)
{
	for (int more = -1; more <= 1; more++) {
		struct fakeroot root = fakeroot_make();
		struct user_names u = {};
		char path[256];
		FILE *f = fopen(fake_path(&root, "etc/passwd", path, sizeof(path)), "w");

		for (int i = 0; f && i < FILE_MOST - 1 - 8 + more; i++)
			putc(i ? '#' : '\n', f);
		ok(f && fprintf(f, "\na:x:123:") > 0 && !fclose(f), "a large file");
		is_str(user_name_find(&u, root.fd, 123), more < 0 ? "a" : NULL,
		       more < 0 ? "a line that ends with what is read" : "a line that is cut");
		user_names_free(&u);
		fakeroot_free(&root);
	}
}

/* A file without users replaces the names of the file before it. */
static void test_empty_file(void)
{
	struct fakeroot root = fakeroot_make();
	struct user_names u = {};

	fake_file(&root, "etc/passwd", "anna:x:1000:\n");
	is_str(user_name_find(&u, root.fd, 1000), "anna", "a user");
	fake_file(&root, "etc/passwd", "%s", "");
	is_str(user_name_find(&u, root.fd, 1), NULL, "a user of no file");
	is_str(user_name_find(&u, root.fd, 1000), NULL, "the names are dropped");
	user_names_free(&u);
	fakeroot_free(&root);
}

/* Writes the file in place or anew, and sets its time. */
static void put_users(const struct fakeroot *root, const char *text, time_t time, bool anew)
{
	const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
	char path[256];

	if (anew) {
		/* the old file stays, so that the new one has another inode */
		fake_path(root, "etc/passwd", path, sizeof(path));
		linkat(AT_FDCWD, path, root->fd, "etc/old", 0);
		fake_remove(root, "etc/passwd");
	}
	fake_file(root, "etc/passwd", "%s", text);
	if (utimensat(root->fd, "etc/passwd", times, 0))
		exit(1);
}

/* The file is read again only if its size, its time or the file itself has changed. */
static void test_changes(void)
{
	static const struct {
		const char *text, *name;
		time_t time;
		bool anew, read;
	} rows[] = {
		{"bert:x:1001:\n", "nothing has changed", 1000, false, false},
		{"bert:x:1001:\n\n", "another size", 1000, false, true},
		{"bert:x:1001:\n", "another time", 1001, false, true},
		{"bert:x:1001:\n", "an earlier time", 999, false, true},
		{"bert:x:1001:\n", "another file", 1000, true, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fakeroot root = fakeroot_make();
		struct user_names u = {};

		put_users(&root, "anna:x:1000:\n", 1000, false);
		is_str(user_name_find(&u, root.fd, 1000), "anna", "a user");
		put_users(&root, rows[i].text, rows[i].time, rows[i].anew);
		is_str(user_name_find(&u, root.fd, 1001), rows[i].read ? "bert" : NULL,
		       rows[i].name);
		is_str(user_name_find(&u, root.fd, 1000), rows[i].read ? NULL : "anna",
		       "the user before");
		user_names_free(&u);
		fakeroot_free(&root);
	}
}

/* A command line that is empty or cannot be read is not tried again. */
static void test_no_command(void)
{
	struct fakeroot root = fakeroot_make();
	char text[64] = "old", path[256];
	int proc;

	fake_file(&root, "proc/8/cmdline", "%s", "");
	proc = openat(root.fd, "proc/8", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	errno = EINTR;
	command_line_read(proc, text, sizeof(text));
	is_str(text, "", "an empty file");
	fake_file(&root, "proc/8/cmdline", "x");
	command_line_read(proc, text, sizeof(text));
	is_str(text, "x", "a file of one byte");
	close(proc);
	fake_path(&root, "proc/7/cmdline/", path, sizeof(path));
	proc = openat(root.fd, "proc/7", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strcpy(text, "old");
	command_line_read(proc, text, sizeof(text));
	is_str(text, "", "a directory");
	close(proc);
	fakeroot_free(&root);
}

/* Moves a descriptor to a higher number, so that the next file that is opened has 0. */
static int moved(int fd)
{
	int higher = fcntl(fd, F_DUPFD_CLOEXEC, 20);

	close(fd);
	while (!fcntl(STDIN_FILENO, F_GETFD))
		close(STDIN_FILENO);
	return higher;
}

static void test_descriptor_0(void)
{
	struct fakeroot root = fakeroot_make();
	struct user_names u = {};
	char text[64];

	fake_file(&root, "etc/passwd", "anna:x:1000:\n");
	fake_file(&root, "proc/9/cmdline", "%s", "top");
	root.fd = moved(root.fd);
	is_str(user_name_find(&u, root.fd, 1000), "anna", "the file has the descriptor 0");
	ok(fcntl(STDIN_FILENO, F_GETFD) == -1, "which is closed again");
	user_names_free(&u);
	root.fd = moved(root.fd);
	root.fd = moved(openat(root.fd, "proc/9", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	command_line_read(root.fd, text, sizeof(text));
	is_str(text, "top", "a command line");
	ok(fcntl(STDIN_FILENO, F_GETFD) == -1, "whose file is closed");
	fakeroot_free(&root);
}

/* Tests a cut within characters of two to four bytes: only whole ones stay. */
static void test_cut_characters(void)
{
	is_joined("ab\xf0\x9f\x98\x80xxx", 9, 10, "ab\xf0\x9f\x98\x80xxx");
	is_joined("ab\xf0\x9f\x98\x80xxxx", 10, 10, "ab\xf0\x9f\x98\x80...");
	is_joined("abc\xf0\x9f\x98\x80xxx", 10, 10, "abc...");
	is_joined("abcd\xf0\x9f\x98\x80xx", 10, 10, "abcd...");
	is_joined("abcde\xf0\x9f\x98\x80x", 10, 10, "abcde...");
	is_joined("abcd\xc3\xa4xxxx", 10, 10, "abcd\xc3\xa4...");
	is_joined("abcde\xc3\xa4xxx", 10, 10, "abcde...");
	is_joined("a\x80\x80\x80\x80xxxx", 9, 9, "a...");
	is_joined("a b       ", 10, 10, "a b...");
	is_joined("12345", 5, 5, "1...");
	is_joined("1234", 4, 4, "...");
	is_joined("123", 3, 4, "123");
}

/* A real process whose arguments take more bytes than are kept. */
static void test_real(void)
{
	char command[COMMAND_LINE_MAX], path[32], more[2 * COMMAND_LINE_MAX];
	int gate[2], proc;
	pid_t pid;

	memset(more, 'y', sizeof(more));
	more[sizeof(more) - 1] = 0;
	ok(!pipe(gate), "a pipe");
	pid = fork();
	if (!pid) {
		dup2(gate[0], 0);
		close(gate[1]);
		execl("/bin/sh", "sh", "-c", "exec cat >/dev/null", "x", more, (char *)NULL);
		_exit(127);
	}
	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	do
		command_line_read(proc, command, sizeof(command));
	while (strncmp(command, "sh -c", 5) && strncmp(command, "cat", 3));
	ok(!strncmp(command, "sh -c exec cat >/dev/null x yyy", 31) || !strcmp(command, "cat"),
	   "the arguments of a process: %.40s", command);
	close(gate[1]);
	close(gate[0]);
	waitpid(pid, NULL, 0);
	command_line_read(proc, command, sizeof(command));
	is_str(command, "", "a process that is gone has none");
	close(proc);
}

int main(void)
{
	test_users();
	test_join();
	test_real();
	test_lines();
	test_many_users();
	test_large_file();
	test_empty_file();
	test_changes();
	test_no_command();
	test_cut_characters();
	test_descriptor_0();
	return tap_done();
}
