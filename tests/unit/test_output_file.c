// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests output files. A regular file is written completely or not at all, and never through a link.
 * A device is written directly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/output_file.h"
#include "tap.h"

static char dir[] = "/tmp/fs_output.XXXXXX";

static const char *at(const char *name)
{
	static char path[4][128];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static const char *text_of(const char *name)
{
	static char text[64];
	ssize_t n = io_read(AT_FDCWD, at(name), text, sizeof(text));

	return n < 0 ? NULL : text;
}

static void make_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || fchmod(fd, mode) || io_write(fd, text, strlen(text)) || close(fd))
		abort();
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) ? 0 : st.st_mode & 07777;
}

static size_t files_in(const char *path)
{
	char command[160];
	size_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", path);
	f = popen(command, "r");
	if (!f || fscanf(f, "%zu", &n) != 1)
		abort();
	pclose(f);
	return n;
}

static void test_whole(void)
{
	struct output_file f;

	make_file("whole", "before", 0644);
	is_u64(-output_file_open(&f, at("whole"), 0), 0, "a file is opened");
	is_u64(-io_write(f.fd, "after", 5), 0, "and written");
	is_str(text_of("whole"), "before", "meanwhile the name has what it had");
	is_u64(-output_file_end(&f, 0), 0, "it ends well");
	is_str(text_of("whole"), "after", "then the name has what is new");
	is_u64(mode_of("whole"), 0644, "by the mode of the one of ours that it replaces");
	is_u64(-output_file_end(&f, 0), 0, "to end it again does nothing");
	is_u64(-output_file_open(&f, at("whole"), 0), 0, "a file is opened");
	io_write(f.fd, "half", 4);
	is_u64(-output_file_end(&f, -ENOSPC), ENOSPC, "it ends in failure");
	is_str(text_of("whole"), "after", "then the name has what it had");
	is_u64(-output_file_open(&f, at("whole"), 0), 0, "a file is opened");
	is_u64(-output_file_publish(&f), 0, "and published");
	io_write(f.fd, "half", 4);
	is_u64(-output_file_end(&f, -EIO), EIO, "what fails after that");
	is_str(text_of("whole"), "half", "is there as far as it was written");
	unlink(at("whole"));
	is_u64(files_in(dir), 0, "no draft is left");
}

/* Tests a write that fails in the middle of a file. RLIMIT_FSIZE makes it fail. */
static void test_no_room(void)
{
	static char much[20000];
	struct rlimit was, little;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	little = (struct rlimit){10000, was.rlim_max};
	memset(much, 'x', sizeof(much));
	make_file("precious", "precious", 0600);
	setrlimit(RLIMIT_FSIZE, &little);
	is_u64(-output_file_put(at("precious"), 0, much, sizeof(much)), EFBIG,
	       "a write without room fails");
	is_u64(-output_file_put(at("new"), 0, much, sizeof(much)), EFBIG, "of a new file too");
	setrlimit(RLIMIT_FSIZE, &was);
	is_str(text_of("precious"), "precious", "what had the name is as it was");
	unlink(at("precious"));
	is_u64(files_in(dir), 0, "and nothing else is left");
}

static void test_mode(void)
{
	mode_t mask = umask(022);

	is_u64(-output_file_put(at("mode"), 0, "x", 1), 0, "a new file");
	is_u64(mode_of("mode"), geteuid() ? 0644 : 0600, "is root's alone, or as the umask says");
	is_u64(-output_file_put(at("mode"), 0644, "x", 1), 0, "by a mode that is asked for");
	is_u64(mode_of("mode"), 0644, "it has that, whatever the umask");
	umask(mask);
	unlink(at("mode"));
}

static void test_links(void)
{
	struct output_file f;

	make_file("target", "precious", 0600);
	if (symlink(at("target"), at("link")) || symlink("nowhere", at("dangling")))
		abort();
	is_u64(-output_file_put(at("link"), 0, "x", 1), ELOOP, "a symbolic link is not followed");
	ok(strstr(output_file_error(-ELOOP), "symbolic link"), "which is said");
	is_u64(-output_file_put(at("dangling"), 0, "x", 1), ELOOP, "nor one to nothing");
	is_u64(-output_file_make(&f, at("dangling"), 0), EEXIST, "nor by what must be new");
	is_str(text_of("target"), "precious", "what it points to is as it was");
	unlink(at("link"));
	unlink(at("dangling"));
	unlink(at("target"));
}

static void test_new(void)
{
	struct output_file f;

	is_u64(-output_file_make(&f, at("new"), 0600), 0, "a file that must be new");
	is_str(text_of("new"), "", "is there at once");
	is_u64(-output_file_end(&f, -EIO), EIO, "and if it fails");
	is_str(text_of("new"), NULL, "it is there no more");
	is_u64(-output_file_make(&f, at("new"), 0600), 0, "another");
	is_u64(-output_file_publish(&f), 0, "that is published");
	is_u64(-output_file_end(&f, -EIO), EIO, "before it fails");
	is_str(text_of("new"), "", "stays");
	is_u64(-output_file_make(&f, at("new"), 0600), EEXIST, "one that exists is not touched");
	unlink(at("new"));
}

static void test_no_file(void)
{
	char got[16] = "";
	int fds[2], status, out;
	pid_t child;

	is_u64(-output_file_put("/dev/null", 0, "x", 1), 0, "a device is written in place");
	is_u64(-output_file_put("/dev/full", 0, "x", 1), ENOSPC, "and says that it is full");
	is_u64(-output_file_put(dir, 0, "x", 1), EISDIR, "a directory is no file");
	is_u64(-output_file_put(at(""), 0, "x", 1), EISDIR, "nor is what ends with a slash");
	is_u64(-output_file_put("", 0, "x", 1), ENOENT, "nor is nothing");
	is_u64(-output_file_put(at("no/such"), 0, "x", 1), ENOENT, "a directory must be there");
	if (mkfifo(at("fifo"), 0600))
		abort();
	child = fork();
	if (!child)
		_exit(-output_file_put(at("fifo"), 0, "text", 4));
	out = open(at("fifo"), O_RDONLY | O_CLOEXEC);
	ok(read(out, got, sizeof(got)) == 4 && !memcmp(got, "text", 4), "a FIFO is written to");
	close(out);
	ok(waitpid(child, &status, 0) == child && !status, "well");
	unlink(at("fifo"));
	if (pipe(fds))
		abort();
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	status = output_file_put("/dev/stdout", 0, "one", 3);
	dup2(out, STDOUT_FILENO);
	close(out);
	is_u64(-status, 0, "/dev/stdout is a descriptor, though it is a link");
	ok(read(fds[0], got, sizeof(got)) == 3 && !memcmp(got, "one", 3), "that is written to");
	snprintf(got, sizeof(got), "/dev/fd/%d", fds[1]);
	is_u64(-output_file_put(got, 0, "two", 3), 0, "so is one by its number");
	ok(read(fds[0], got, sizeof(got)) == 3 && !memcmp(got, "two", 3), "that is written to");
	is_u64(-output_file_put("/dev/fd/999", 0, "x", 1), EBADF, "if it is open");
	close(fds[0]);
	close(fds[1]);
}

/* The last part of a path has 255 bytes at most. */
static void test_long_names(void)
{
	char name[NAME_MAX + 2], path[NAME_MAX + 64];
	struct output_file f;
	int fd;

	for (size_t n = NAME_MAX; n <= NAME_MAX + 1; n++) {
		int want = n > NAME_MAX ? ENAMETOOLONG : 0;

		memset(name, 'n', n);
		name[n] = 0;
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		is_u64(-output_file_put(path, 0, "x", 1), want, "a long name");
		unlink(path);
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		is_u64(-output_file_open_in(&f, fd, name, 0), want, "in an open directory");
		if (!want)
			is_u64(-output_file_end(&f, 0), 0, "it ends well");
		close(fd);
		unlink(path);
	}
	is_u64(files_in(dir), 0, "nothing is left");
}

/* A program may run without standard input: then a file has the descriptor 0. */
static void test_descriptor_0(void)
{
	int fds[2], to, from, in;
	char got[8] = "", path[32];
	struct output_file f;

	if (pipe(fds))
		abort();
	from = fcntl(fds[0], F_DUPFD_CLOEXEC, 20);
	to = fcntl(fds[1], F_DUPFD_CLOEXEC, 20);
	in = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	close(fds[0]);
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", to);
	errno = EIO;
	is_u64(-output_file_open(&f, path, 0), 0, "a descriptor by its number");
	is_u64(f.fd, 0, "is opened as 0");
	is_u64(-io_write(f.fd, "zero", 4), 0, "written to");
	is_u64(-output_file_end(&f, 0), 0, "and ended");
	ok(fcntl(0, F_GETFD) < 0 && errno == EBADF, "it is closed");
	ok(read(from, got, sizeof(got)) == 4 && !memcmp(got, "zero", 4), "what was written");
	errno = EIO;
	is_u64(-output_file_open_in(&f, in, "name", 0), 0, "a file in a directory");
	is_u64(f.dir, 0, "that is opened as 0");
	is_u64(-output_file_end(&f, 0), 0, "it ends well");
	ok(fcntl(0, F_GETFD) < 0, "the directory is closed");
	is_str(text_of("name"), "", "the file is there");
	unlink(at("name"));
	close(in);
	close(from);
	close(to);
	is_u64(-output_file_put("/dev/fd/2147483647", 0, "x", 1), EBADF, "the largest number");
	is_u64(-output_file_put("/dev/fd/2147483648", 0, "x", 1), ENOENT, "is none: a file");
}

int main(void)
{
	if (!mkdtemp(dir))
		abort();
	test_whole();
	test_no_room();
	test_mode();
	test_links();
	test_new();
	test_no_file();
	test_long_names();
	test_descriptor_0();
	rmdir(dir);
	return tap_done();
}
