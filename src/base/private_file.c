// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/output_file.h"

/* What a message is about, and where to write the message. */
struct refusal {
	const char *path;
	int len; /* length of the part of `path` that the message names */
	char *error;
	size_t size;
};

static int refuse(const struct refusal *r, int err, const char *why)
{
	snprintf(r->error, r->size, "%.*s: %s", r->len, r->path, why);
	return err;
}

static int refuse_owner(const struct refusal *r, uid_t owner)
{
	char why[80];

	snprintf(why, sizeof(why), "belongs to another user (uid %u)", owner);
	return refuse(r, -EPERM, why);
}

/* Returns 0 if no other user can replace what is in the directory. */
static int check_directory(const struct refusal *r, const struct stat *st, bool is_last)
{
	bool shared = st->st_mode & (S_IWGRP | S_IWOTH);

	if (st->st_uid != geteuid() && (is_last || st->st_uid))
		return refuse_owner(r, st->st_uid);
	/* in a sticky directory, nobody can replace what belongs to another user */
	if (shared && (is_last || !(st->st_mode & S_ISVTX)))
		return refuse(r, -EPERM, "other users can write to it (chmod go-w)");
	return 0;
}

/* Opens a directory below `from`. Returns a file descriptor or -errno. */
static int open_below(int from, const struct stat *st, const char *name, bool creates, bool is_last)
{
	bool is_roots = !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
	int flags = O_DIRECTORY | O_CLOEXEC | (is_last ? O_RDONLY : O_PATH);
	int fd;

	if (is_last || !is_roots)
		flags |= O_NOFOLLOW;
	if (creates && st->st_uid == geteuid() && mkdirat(from, name, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(from, name, flags);
	return fd < 0 ? -errno : fd;
}

static int refuse_opening(const struct refusal *r, int from, const char *name, int err)
{
	struct stat st;

	if (err == -ELOOP ||
	    (!fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode)))
		return refuse(r, -ELOOP, "is a symbolic link, which is not followed");
	return refuse(r, err, strerror(-err));
}

/* Returns the number of directories in the rest of a path. */
static size_t count_names(const char *path)
{
	size_t n = 0;

	while (*(path += strspn(path, "/"))) {
		path += strcspn(path, "/");
		n++;
	}
	return n;
}

/* Opens the next directory of the path, and extends the part of it that messages name. */
static int open_next(struct refusal *r, int from, const struct stat *st, size_t creates)
{
	const char *at = r->path + r->len + strspn(r->path + r->len, "/");
	size_t len = strcspn(at, "/"), left = count_names(at);
	char name[NAME_MAX + 1];
	int fd;

	r->len = at + len - r->path;
	if (len > NAME_MAX)
		return refuse(r, -ENAMETOOLONG, strerror(ENAMETOOLONG));
	memcpy(name, at, len);
	name[len] = 0;
	fd = open_below(from, st, name, left <= creates, left == 1);
	return fd < 0 ? refuse_opening(r, from, name, fd) : fd;
}

int private_directory(const char *path, size_t creates, char *error, size_t size)
{
	struct refusal r = {path, *path == '/' ? 1 : strnlen(path, PATH_MAX), error, size};
	int fd;

	if (*path != '/')
		return refuse(&r, -EINVAL, "is no absolute path");
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse(&r, -errno, strerror(errno));
	for (;;) {
		bool is_last = !count_names(path + r.len);
		struct stat st;
		int next = fstat(fd, &st) ? refuse(&r, -errno, strerror(errno))
					  : check_directory(&r, &st, is_last);

		if (!next && is_last)
			return fd;
		if (!next)
			next = open_next(&r, fd, &st, creates);
		close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
}

static struct refusal refusal_of(const char *name, char *error, size_t size)
{
	return (struct refusal){name, strnlen(name, NAME_MAX), error, size};
}

/* Reads an open file to its end. */
static int read_all(const struct refusal *r, int fd, size_t most, struct buf *ret)
{
	char part[4096], why[64];
	size_t begin = ret->len;
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0) {
		buf_add(ret, part, n);
		if (ret->len - begin > most) {
			snprintf(why, sizeof(why), "is larger than %zu bytes", most);
			return refuse(r, -EFBIG, why);
		}
	}
	if (n < 0)
		return refuse(r, -errno, strerror(errno));
	return ret->failed ? refuse(r, -ENOMEM, strerror(ENOMEM)) : 0;
}

int private_read(int dir, const char *name, size_t most, struct buf *ret, char *error, size_t size)
{
	struct refusal r = refusal_of(name, error, size);
	/* O_NONBLOCK: a FIFO does not wait for its writer */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : refuse_opening(&r, dir, name, -errno);
	if (fstat(fd, &st))
		err = refuse(&r, -errno, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = refuse(&r, -EINVAL, "is no regular file");
	else if (st.st_uid && st.st_uid != geteuid())
		err = refuse_owner(&r, st.st_uid);
	else
		err = read_all(&r, fd, most, ret);
	close(fd);
	return err;
}

int private_write(int dir, const char *name, const struct buf *text, char *error, size_t size)
{
	struct refusal r = refusal_of(name, error, size);
	struct output_file f;
	struct stat st;
	int err;

	if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode))
		return refuse(&r, -EINVAL, "is no regular file");
	if (text->failed)
		return refuse(&r, -ENOMEM, strerror(ENOMEM));
	err = output_file_open_in(&f, dir, name, 0600);
	if (!err) {
		err = io_write(f.fd, text->s ? text->s : "", text->len);
		if (!err && fsync(f.fd))
			err = -errno;
		err = output_file_end(&f, err);
	}
	if (!err && fsync(dir))
		err = -errno;
	return err ? refuse(&r, err, strerror(-err)) : 0;
}
