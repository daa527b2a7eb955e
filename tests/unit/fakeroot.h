/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a root directory whose files in /proc, /etc, ... describe another machine. */
#ifndef FS_TESTS_FAKEROOT_H
#define FS_TESTS_FAKEROOT_H

#define _GNU_SOURCE

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/limits/limit_source.h"

struct fakeroot {
	char path[64];
	int fd;
};

static inline char *fake_path(const struct fakeroot *r, const char *path, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", r->path, path);
	for (char *slash = ret + strlen(r->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(ret, 0755);
		*slash = '/';
	}
	return ret;
}

static inline void fake_file(const struct fakeroot *r, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline void fake_file(const struct fakeroot *r, const char *path, const char *format, ...)
{
	char whole[512];
	va_list ap;
	FILE *f = fopen(fake_path(r, path, whole, sizeof(whole)), "w");

	if (!f) {
		perror(whole);
		exit(1);
	}
	va_start(ap, format);
	vfprintf(f, format, ap);
	va_end(ap);
	fclose(f);
}

static inline void fake_link(const struct fakeroot *r, const char *path, const char *target)
{
	char whole[512];

	fake_path(r, path, whole, sizeof(whole));
	unlink(whole);
	if (symlink(target, whole)) {
		perror(whole);
		exit(1);
	}
}

static inline void fake_remove(const struct fakeroot *r, const char *path)
{
	char whole[512];

	unlink(fake_path(r, path, whole, sizeof(whole)));
}

/* Makes a root directory. Its pid 1 is in the initial pid namespace and has this root. */
static inline struct fakeroot fakeroot_make(void)
{
	struct fakeroot r = {.path = "/tmp/fakeroot.XXXXXX"};

	if (!mkdtemp(r.path)) {
		perror(r.path);
		exit(1);
	}
	r.fd = open(r.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fake_link(&r, "proc/self/ns/pid", "pid:[4026531836]");
	fake_link(&r, "proc/1/root", "../..");
	return r;
}

static inline int fake_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static inline void fakeroot_free(struct fakeroot *r)
{
	close(r->fd);
	nftw(r->path, fake_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Adds the /proc files of a process. */
static inline void fake_process(const struct fakeroot *r, unsigned int pid, unsigned int ppid,
				const char *comm, unsigned int uid, const char *cgroup)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/status", pid);
	fake_file(r, path, "Name:\t%s\nState:\tS (sleeping)\nPPid:\t%u\nUid:\t%u\t%u\t%u\t%u\n",
		  comm, ppid, uid, uid, uid, uid);
	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	fake_file(r, path, "%s", cgroup);
}

static inline void fake_limit(const struct fakeroot *r, unsigned int pid, const char *title,
			      const char *soft, const char *hard)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/limits", pid);
	fake_file(r, path,
		  "Limit                     Soft Limit           Hard Limit           Units     \n"
		  "Max cpu time              unlimited            unlimited            seconds   \n"
		  "%-25s %-20s %-20s units     \n",
		  title, soft, hard);
}

static inline struct origin fake_find(const struct fakeroot *r, unsigned int pid,
				      enum limit_id limit)
{
	struct origin_of of = {.pid = pid};
	struct origin o = {};

	origin_find(r->fd, &of, limit, &o);
	return o;
}

/* Returns the description of a limit's origin. The text stays valid during the next three calls. */
static inline const char *fake_said(const struct origin *o)
{
	static char said[4][1024];
	static int n;
	struct buf b = {};

	n = (n + 1) % 4;
	origin_describe(o, &b);
	snprintf(said[n], sizeof(said[n]), "%s", b.s ? b.s : "");
	buf_free(&b);
	return said[n];
}

#endif
