// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define DRAFT_TRIES 16

/* Returns the file descriptor that a path such as /dev/fd/N names, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const below[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		size_t len = strlen(below[i]);
		long n;

		if (strncmp(path, below[i], len) || path[len] < '0' || path[len] > '9')
			continue;
		n = strtol(path + len, &end, 10);
		return *end || n > INT_MAX ? -1 : (int)n;
	}
	return -1;
}

/* Opens the directory of the path, and stores the last component of the path in f->name. */
static int open_directory(struct output_file *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
	char *directory;

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(f->name, name);
	directory = strndup(slash ? path : ".", len);
	if (!directory)
		return -ENOMEM;
	f->dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return f->dir < 0 ? -errno : 0;
}

/* Creates a file with an unpredictable name, so that nobody can create it first. */
static int make_draft(struct output_file *f)
{
	for (int i = 0; i < DRAFT_TRIES; i++) {
		unsigned long long nonce;

		if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
			return -EIO;
		snprintf(f->draft, sizeof(f->draft), ".faultscope.%012llx.tmp",
			 nonce & 0xffffffffffff);
		f->fd = openat(f->dir, f->draft,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	f->draft[0] = 0;
	return -errno;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return geteuid() ? 0666 & ~mask : 0600;
}

/*
 * Opens devices and FIFOs in place. Tests the type of the opened file again, because the file may
 * have been replaced meanwhile.
 */
static int open_in_place(struct output_file *f)
{
	struct stat st;

	f->fd = openat(f->dir, f->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return -errno;
	return fstat(f->fd, &st) ? -errno : S_ISREG(st.st_mode) ? -EAGAIN : 0;
}

/*
 * Returns whether the mode of the directory permits a rename without capabilities. In a sticky
 * directory, users can rename over their own files only.
 */
static bool may_rename(const struct output_file *f, const struct stat *replaced)
{
	struct stat dir;
	mode_t needed;

	if (fstat(f->dir, &dir))
		return false;
	needed = dir.st_uid == geteuid()   ? S_IWUSR | S_IXUSR
		 : dir.st_gid == getegid() ? S_IWGRP | S_IXGRP
					   : S_IWOTH | S_IXOTH;
	if ((dir.st_mode & needed) != needed)
		return false;
	return !(dir.st_mode & S_ISVTX) || dir.st_uid == geteuid() || replaced->st_uid == geteuid();
}

static int open_named(struct output_file *f, mode_t mode)
{
	struct stat st;
	int err;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			return -errno;
		st.st_mode = 0;
	} else if (S_ISLNK(st.st_mode)) {
		return -ELOOP;
	} else if (S_ISDIR(st.st_mode)) {
		return -EISDIR;
	} else if (!S_ISREG(st.st_mode)) {
		return open_in_place(f);
	}
	/* Keeps the mode of the existing file, because the owner of the file chose that mode. */
	if (!mode && st.st_mode && st.st_uid == geteuid())
		mode = st.st_mode & 0777;
	f->waits = st.st_mode && may_rename(f, &st);
	err = make_draft(f);
	if (!err && fchmod(f->fd, mode ? mode : default_mode()))
		err = -errno;
	return err;
}

static int opened(struct output_file *f, int err)
{
	return err ? output_file_end(f, err) : 0;
}

int output_file_open(struct output_file *f, const char *path, mode_t mode)
{
	int fd = descriptor_of(path), err;

	*f = OUTPUT_NONE;
	if (fd >= 0) {
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return f->fd < 0 ? -errno : 0;
	}
	err = open_directory(f, path);
	return opened(f, err ? err : open_named(f, mode));
}

int output_file_open_in(struct output_file *f, int dir, const char *name, mode_t mode)
{
	*f = OUTPUT_NONE;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(f->name, name);
	f->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return opened(f, f->dir < 0 ? -errno : open_named(f, mode));
}

int output_file_make(struct output_file *f, const char *path, mode_t mode)
{
	int err;

	*f = OUTPUT_NONE;
	err = open_directory(f, path);
	if (err)
		return opened(f, err);
	f->fd = openat(f->dir, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       mode ? mode : default_mode());
	if (f->fd < 0)
		return opened(f, -errno);
	f->made = true;
	return 0;
}

int output_file_publish(struct output_file *f)
{
	if (f->draft[0] && renameat(f->dir, f->draft, f->dir, f->name))
		return -errno;
	f->draft[0] = 0;
	f->made = false;
	return 0;
}

int output_file_publish_new(struct output_file *f)
{
	return f->waits ? 0 : output_file_publish(f);
}

int output_file_end(struct output_file *f, int err)
{
	/* On a remote file system, close() may be the first call that reports a full disk. */
	if (f->fd >= 0 && close(f->fd) && !err)
		err = -errno;
	f->fd = -1;
	if (!err)
		err = output_file_publish(f);
	if (err && f->draft[0])
		unlinkat(f->dir, f->draft, 0);
	else if (err && f->made)
		unlinkat(f->dir, f->name, 0);
	if (f->dir >= 0)
		close(f->dir);
	*f = OUTPUT_NONE;
	return err;
}

int output_file_put(const char *path, mode_t mode, const char *bytes, size_t len)
{
	struct output_file f;
	int err = output_file_open(&f, path, mode);

	return err ? err : output_file_end(&f, io_write(f.fd, bytes, len));
}

const char *output_file_error(int err)
{
	return err == -ELOOP ? "it is a symbolic link, and these are not followed: name the file "
			       "that it points to"
			     : strerror(-err);
}
