// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "export.h"

/* Beside it, and of no name that node_exporter reads: it takes *.prom. */
static int name_draft(const char *path, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s.%d.tmp", path, (int)getpid());

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int export_write_file(struct export *x, const char *path)
{
	char draft[4096];
	struct buf b = {};
	int err = name_draft(path, draft, sizeof(draft)), fd;

	if (err)
		return err;
	export_collect(x, 0);
	export_render(x, &exposition_text, &b);
	fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : 0;
	if (!err)
		err = b.failed ? -ENOMEM : io_write(fd, b.s, b.len);
	/* another user reads it, whatever our umask */
	if (!err && fchmod(fd, 0644))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(draft, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(draft);
	buf_free(&b);
	return err;
}
