// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests names of users from /etc/passwd, and command lines from /proc/PID/cmdline. */
#define _GNU_SOURCE
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
	is_joined("0123456789\0", 11, 8, "0123...");
	is_joined("0123456", 7, 8, "0123456");
	is_joined("012\xe6\xbc\xa2\xe5\xad\x97", 9, 8, "012...");
	is_joined("0\xe6\xbc\xa2\xe5\xad\x97", 7, 8, "0\xe6\xbc\xa2\xe5\xad\x97");
	is_joined("\xe6\xbc\xa2\xe5\xad\x97\xe5", 7, 7, "\xe6\xbc\xa2...");
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
	return tap_done();
}
