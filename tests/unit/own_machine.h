/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives a test program its own view of the machine. In new user and mount namespaces, files of the
 * test cover files of /proc, /sys and /dev. No privileges are needed, and no other process sees the
 * covering files. The kernel removes everything when the process ends.
 */
#ifndef FS_TESTS_OWN_MACHINE_H
#define FS_TESTS_OWN_MACHINE_H

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_FILES "/mnt" /* a tmpfs of the namespace: holds the files that cover others */

static inline bool machine_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Enters the namespaces. Returns false if this system does not permit user namespaces. */
static inline bool machine_enter(void)
{
	char uid[32], gid[32];

	snprintf(uid, sizeof(uid), "0 %d 1", (int)geteuid());
	snprintf(gid, sizeof(gid), "0 %d 1", (int)getegid());
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       machine_write("/proc/self/setgroups", "deny") &&
	       machine_write("/proc/self/uid_map", uid) &&
	       machine_write("/proc/self/gid_map", gid) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", MACHINE_FILES, "tmpfs", 0, NULL);
}

static inline void machine_must(bool good, const char *path)
{
	if (good)
		return;
	perror(path);
	exit(1);
}

/*
 * Writes a file below MACHINE_FILES, and makes its directories. Returns the path in `ret`, an array
 * of 256 bytes.
 */
static inline const char *machine_file(const char *path, const char *text, char *ret)
{
	snprintf(ret, 256, MACHINE_FILES "/%s", path);
	for (char *slash = ret + strlen(MACHINE_FILES "/"); (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(ret, 0755);
		*slash = '/';
	}
	if (text)
		machine_must(machine_write(ret, text), ret);
	else
		mkdir(ret, 0755);
	return ret;
}

/* Covers an existing directory with an empty one, in which the test may make files. */
static inline void machine_empty(const char *path)
{
	static int made;
	char name[16], file[256];

	snprintf(name, sizeof(name), "empty%d", made++);
	machine_file(name, NULL, file);
	machine_must(!mount(file, path, NULL, MS_BIND, NULL), path);
}

/*
 * Covers an existing file with a file that contains `text`. A later call with the same path
 * replaces the text.
 */
static inline void machine_cover(const char *path, const char *text)
{
	static char covered[64][128];
	static int made;
	char name[16], file[256];
	int at = 0;

	while (at < made && strcmp(covered[at], path) != 0)
		at++;
	snprintf(name, sizeof(name), "cover%d", at);
	machine_file(name, text, file);
	if (at < made)
		return;
	machine_must(at < 64 && strlen(path) < sizeof(covered[0]), path);
	strcpy(covered[made++], path);
	machine_must(!mount(file, path, NULL, MS_BIND, NULL), path);
}

#endif
