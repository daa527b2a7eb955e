// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which root directory is used to find out who set a limit: faultscope's own, or in a
 * container that shares the host's pids the host's. open() is replaced: "/" and /proc/1/root are
 * directories of the test.
 */
#define _GNU_SOURCE
#include "fakeroot.h"

#include <errno.h>
#include <sys/syscall.h>

#include "collect/limits/limit_source.h"
#include "open_files.h"
#include "tap.h"

#define INITIAL "pid:[4026531836]"

static struct fakeroot own, host;
static int own_error, host_error; /* errno; 0: the directory can be opened */
static unsigned int host_opens;

int open(const char *path, int flags, ...)
{
	bool is_own = !strcmp(path, "/"), is_host = !strcmp(path, "/proc/1/root");
	int error = is_own ? own_error : is_host ? host_error : 0;

	host_opens += is_host;
	if (error) {
		errno = error;
		return -1;
	}
	return syscall(SYS_openat,
		       is_own	 ? own.fd
		       : is_host ? host.fd
				 : AT_FDCWD,
		       is_own || is_host ? "." : path, flags, 0600);
}

static bool is_same(int fd, const struct fakeroot *r)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstat(r->fd, &b) && a.st_ino == b.st_ino;
}

static void test_roots(void)
{
	static const struct {
		const char *pids, *first; /* links proc/self/ns/pid and proc/1/root; NULL: none */
		bool marked;		  /* a file of a container runtime is there */
		int own_error, host_error;
		const char *want; /* root that is used; NULL: an error */
		unsigned int opens;
		const char *name;
	} rows[] = {
		{INITIAL, "../..", false, 0, 0, "own", 0, "the host"},
		{INITIAL, "../..", true, 0, 0, "own", 0, "the host with a file of a runtime"},
		{INITIAL, "..", false, 0, 0, "host", 1, "a container with the pids of the host"},
		{INITIAL, "..", false, 0, EACCES, "own", 1, "the root of the host is not readable"},
		{"pid:[4026532000]", "..", false, 0, 0, "own", 0, "a container with own pids"},
		{"pid:[40265318367]", "..", false, 0, 0, "own", 0, "a number that begins alike"},
		{INITIAL, NULL, false, 0, 0, "own", 0, "pid 1 is hidden"},
		{INITIAL, NULL, true, 0, 0, "host", 1, "pid 1 is hidden, with a file of a runtime"},
		{NULL, "..", true, 0, 0, "own", 0, "an unknown pid namespace"},
		{INITIAL, "../..", false, EMFILE, 0, NULL, 0, "no descriptor is free"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t before = open_fds();
		int fd;

		fake_remove(&own, "proc/self/ns/pid");
		fake_remove(&own, "proc/1/root");
		fake_remove(&own, ".dockerenv");
		if (rows[i].pids)
			fake_link(&own, "proc/self/ns/pid", rows[i].pids);
		if (rows[i].first)
			fake_link(&own, "proc/1/root", rows[i].first);
		if (rows[i].marked)
			fake_file(&own, ".dockerenv", "%s", "");
		own_error = rows[i].own_error;
		host_error = rows[i].host_error;
		host_opens = 0;
		fd = origin_root();
		if (rows[i].want)
			ok(fd >= 0 && is_same(fd, rows[i].want[0] == 'o' ? &own : &host), "%s",
			   rows[i].name);
		else
			ok(fd == -EMFILE, "%s: %d", rows[i].name, fd);
		is_u64(host_opens, rows[i].opens, "attempts to open the root of the host");
		is_u64(open_fds(), before + (fd >= 0), "no other file is open");
		if (fd >= 0)
			close(fd);
	}
}

int main(void)
{
	own = fakeroot_make();
	host = fakeroot_make();
	test_roots();
	own_error = host_error = 0;
	fakeroot_free(&own);
	fakeroot_free(&host);
	return tap_done();
}
