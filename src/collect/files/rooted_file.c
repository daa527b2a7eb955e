// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/files/rooted_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define ENTRIES_MOST 4096 /* maximum number of entries read per directory */

/* Opens a path below the root. Even absolute links stay below the root: openat2(2), Linux 5.6. */
static int open_below(const struct files *f, const char *path, int flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	long fd;

	if (f->foreign)
		how.resolve |= RESOLVE_NO_XDEV;
	fd = syscall(SYS_openat2, f->root, path, &how, sizeof(how));
	/*
	 * openat2() fails on old kernels and in old containers. faultscope's own root is trusted,
	 * so a plain open() will do.
	 */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !f->foreign)
		fd = openat(f->root, path + strspn(path, "/"), flags | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/*
 * Opens a regular file. Checks the type before it opens the file, because to open a FIFO may block,
 * and to open a device may have an effect.
 */
static int open_regular(const struct files *f, const char *path)
{
	int fd = open_below(f, path, O_PATH), opened;
	char self[32];
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	opened = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (opened < 0)
		opened = -errno;
	close(fd);
	return opened;
}

/* Reads a file to its end, because files in /proc report no size. */
static int read_all(int fd, char *text, size_t *ret_len)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, FILE_MOST_BYTES - len)) > 0)
		len += n;
	if (n < 0)
		return -errno;
	*ret_len = len;
	return len == FILE_MOST_BYTES ? -EFBIG : 0;
}

int file_read(struct files *f, const char *path, char **ret, size_t *ret_len)
{
	char *text = NULL, *cut;
	size_t len = 0;
	int fd, err;

	fd = open_regular(f, path);
	if (fd < 0) {
		err = fd;
		goto out;
	}
	text = malloc(FILE_MOST_BYTES);
	err = text ? read_all(fd, text, &len) : -ENOMEM;
	close(fd);
	if (err)
		goto out;
	cut = realloc(text, len + 1);
	*ret = cut ? cut : text;
	(*ret)[len] = 0;
	*ret_len = len;
	text = NULL;
out:
	free(text);
	if (err && err != -ENOENT && err != -ENOTDIR && err != -ESRCH)
		f->unread++;
	return err;
}

int file_number(struct files *f, const char *path, uint64_t *ret)
{
	struct span text;
	char *s;
	int err = file_read(f, path, &s, &text.len);

	if (err)
		return err;
	text.s = s;
	if (text.len && s[text.len - 1] == '\n')
		text.len--;
	err = text_number(text_trim(text), ret);
	free(s);
	return err;
}

bool file_exists(struct files *f, const char *path)
{
	int fd = open_below(f, path, O_PATH);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int file_root_of(struct files *f, uint32_t pid, struct files *ret)
{
	char path[48];
	int fd;

	/* /proc/PID/root is a magic link: the kernel follows it to a place outside of any root */
	snprintf(path, sizeof(path), "proc/%u/root", pid);
	fd = openat(f->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret = (struct files){.root = fd, .foreign = true};
	return 0;
}

/*
 * Returns whether a directory entry masks entries with the same name in later directories. A link
 * to /dev/null masks them, even if /dev/null does not exist. Any other link whose target is missing
 * does not mask them.
 */
static bool is_file(const struct files *f, int dir, const char *path, const char *name,
		    bool *ret_empty)
{
	char target[16], whole[FILE_PATH_BYTES + FILE_NAME_BYTES];
	struct stat st;
	ssize_t n;
	int fd;

	*ret_empty = false;
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n == 9 && !memcmp(target, "/dev/null", 9))
		return *ret_empty = true;
	snprintf(whole, sizeof(whole), "%s/%s", path, name);
	fd = open_below(f, whole, O_PATH);
	if (fd < 0)
		return false;
	n = fstat(fd, &st);
	close(fd);
	return !n && S_ISREG(st.st_mode);
}

static bool is_listed(const struct file_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->entry[i].name, name))
			return true;
	return false;
}

static bool make_room(struct file_list *l)
{
	if (!l->entry)
		l->entry = calloc(FILES_MOST, sizeof(*l->entry));
	if (!l->dir)
		l->dir = calloc(FILE_DIRS_MOST, sizeof(*l->dir));
	return l->entry && l->dir;
}

static void add_entry(struct files *f, struct file_list *l, int dir, const char *name)
{
	size_t len = strlen(name);
	bool empty;

	if (len < 6 || strcmp(name + len - 5, ".conf") || is_listed(l, name))
		return;
	if (len >= FILE_NAME_BYTES || l->n == FILES_MOST) {
		f->unread++;
		return;
	}
	if (!is_file(f, dir, l->dir[l->dirs - 1], name, &empty))
		return;
	memcpy(l->entry[l->n].name, name, len + 1);
	l->entry[l->n].dir = l->dirs - 1;
	l->entry[l->n++].empty = empty;
}

void file_list_add_dir(struct files *f, struct file_list *l, const char *dir)
{
	int fd = open_below(f, dir, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	int left = ENTRIES_MOST, err;

	if (!d) {
		if (fd >= 0)
			close(fd);
		if (fd != -ENOENT && fd != -ENOTDIR)
			f->unread++;
		return;
	}
	if (!make_room(l) || l->dirs == FILE_DIRS_MOST || strlen(dir) >= FILE_PATH_BYTES) {
		f->unread++;
	} else {
		strcpy(l->dir[l->dirs++], dir);
		while ((de = io_next_entry(d, &err)) && left-- > 0)
			add_entry(f, l, dirfd(d), de->d_name);
		if (de || err)
			f->unread++;
	}
	closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b); /* compares the names, with which entries begin */
}

void file_list_sort(struct file_list *l)
{
	if (l->n)
		qsort(l->entry, l->n, sizeof(*l->entry), by_name);
}

bool file_each(struct files *f, const char *path, file_text_fn *each, void *ctx)
{
	struct span text;
	char *s;

	if (file_read(f, path, &s, &text.len))
		return false;
	text.s = s;
	each(ctx, path, text);
	free(s);
	return true;
}

void file_list_each(struct files *f, const struct file_list *l, file_text_fn *each, void *ctx)
{
	char path[FILE_PATH_BYTES + FILE_NAME_BYTES];

	for (size_t i = 0; i < l->n; i++) {
		if (l->entry[i].empty)
			continue;
		snprintf(path, sizeof(path), "%s/%s", l->dir[l->entry[i].dir], l->entry[i].name);
		file_each(f, path, each, ctx);
	}
}

void file_list_free(struct file_list *l)
{
	free(l->entry);
	free(l->dir);
	memset(l, 0, sizeof(*l));
}
