// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/exec_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Copy of struct procmap_query in uapi/linux/fs.h (Linux 6.11, ed5d583a88a9), for older headers. */
struct map_query {
	__u64 size;
	__u64 query_flags;
	__u64 query_addr;
	__u64 vma_start;
	__u64 vma_end;
	__u64 vma_flags;
	__u64 vma_page_size;
	__u64 vma_offset;
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 vma_name_size;
	__u32 build_id_size;
	__u64 vma_name_addr;
	__u64 build_id_addr;
};
#define MAP_QUERY	  _IOWR('f', 17, struct map_query)
#define QUERY_EXECUTABLE  0x04
#define QUERY_NEXT	  0x10 /* query flag: the mapping at the address, or else the next one */
#define QUERY_FILE_BACKED 0x20

/* Lists mappings by the ioctl PROCMAP_QUERY. Returns -ENOTTY if the kernel is older than 6.11. */
static int each_asked(int fd, enum exec_maps_of of, exec_map_fn *each, void *ctx, bool *ret_cut)
{
	__u64 which = of == EXEC_MAPS_FILES ? QUERY_FILE_BACKED : 0;
	char path[PATH_MAX];
	__u64 from = 0;
	int err;

	for (int i = 0; i < EXEC_MAPS_ASKED; i++) {
		struct map_query q = {
			.size = sizeof(q),
			.query_flags = QUERY_EXECUTABLE | QUERY_NEXT | which,
			.query_addr = from,
			.vma_name_size = sizeof(path),
			.vma_name_addr = (__u64)(unsigned long)path,
		};
		struct exec_map m;

		path[0] = 0;
		if (ioctl(fd, MAP_QUERY, &q))
			return errno == ENOENT ? 0 : -errno;
		path[sizeof(path) - 1] = 0;
		m = (struct exec_map){q.vma_start, q.vma_end,	q.vma_offset, q.inode,
				      q.dev_major, q.dev_minor, path};
		err = each(ctx, &m);
		if (err)
			return err;
		from = q.vma_end;
	}
	*ret_cut = true;
	return 0;
}

static bool parse(char *line, struct exec_map *ret)
{
	unsigned long long start, end, offset, inode;
	unsigned int dev_major, dev_minor;
	char mode[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, mode, &offset,
		   &dev_major, &dev_minor, &inode, &at) != 7 ||
	    !at || start >= end || !memchr(mode, 'x', strlen(mode)))
		return false;
	*ret = (struct exec_map){start, end, offset, inode, dev_major, dev_minor, line + at};
	return true;
}

bool exec_map_parse(char *line, struct exec_map *ret)
{
	return parse(line, ret) && ret->path[0] == '/';
}

/* Calls `each` for whole lines of b[0..n). Moves the rest to b[0], and returns its length. */
static ssize_t take_lines(char *b, size_t n, enum exec_maps_of of, exec_map_fn *each, void *ctx,
			  int *ret_err)
{
	char *line = b, *end;

	while ((end = memchr(line, '\n', b + n - line))) {
		struct exec_map m;

		*end = 0;
		if (parse(line, &m) && (of == EXEC_MAPS_ALL || m.path[0] == '/')) {
			*ret_err = each(ctx, &m);
			if (*ret_err)
				return -1;
		}
		line = end + 1;
	}
	memmove(b, line, b + n - line);
	return b + n - line;
}

/* A line of maps has at most a path and 80 bytes, so that the buffer holds at least one line. */
static int each_of_text(int fd, enum exec_maps_of of, exec_map_fn *each, void *ctx, bool *ret_cut)
{
	char b[4 * PATH_MAX + 4096];
	size_t total = 0, have = 0;
	int err = 0;

	while (total < EXEC_MAPS_TEXT_BYTES) {
		ssize_t n = read(fd, b + have, sizeof(b) - have), left;

		if (n <= 0)
			return n < 0 ? -errno : 0;
		total += n;
		left = take_lines(b, have + n, of, each, ctx, &err);
		if (left < 0)
			return err;
		if (left >= (ssize_t)sizeof(b))
			return -EBADMSG;
		have = left;
	}
	*ret_cut = true;
	return 0;
}

int exec_maps_each(int proc, enum exec_maps_of of, bool text_only, exec_map_fn *each, void *ctx,
		   bool *ret_cut)
{
	int fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC);
	bool cut = false;
	int err;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = text_only ? -ENOTTY : each_asked(fd, of, each, ctx, &cut);
	if (err == -ENOTTY)
		err = each_of_text(fd, of, each, ctx, &cut);
	close(fd);
	if (!err)
		*ret_cut = cut;
	return err;
}
