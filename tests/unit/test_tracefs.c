// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where tracefs is found, that it is mounted for this process alone if it is nowhere, and how
 * the number of a tracepoint is read. The mounts are those of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "open_files.h"
#include "probe/tracefs.h"
#include "tap.h"

#define DIRECT	   "/sys/kernel/tracing"
#define BELOW	   "/sys/kernel/debug/tracing"
#define CONTEXT_AT 40 /* descriptor of the context of a mount */

static struct {
	/* errno of each call; 0: it succeeds */
	int direct, below;		 /* of opening these directories */
	int direct_events, below_events; /* of looking for their events */
	int open_error, create_error, mount_error;
	int opened[2]; /* descriptors of the directories */
	bool created;
	const char *text; /* of the file of a tracepoint; NULL: there is none */
} kernel;

static int fails(int number)
{
	errno = number;
	return -1;
}

static int file_of(const char *text)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

int open(const char *path, int flags, ...)
{
	if (flags != (O_PATH | O_DIRECTORY | O_CLOEXEC))
		return fails(EINVAL);
	if (!strcmp(path, DIRECT))
		return kernel.direct ? fails(kernel.direct) : (kernel.opened[0] = file_of(""));
	kernel.opened[0] = -1; /* it is closed by now */
	if (!strcmp(path, BELOW))
		return kernel.below ? fails(kernel.below) : (kernel.opened[1] = file_of(""));
	return fails(ENOENT);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	int err = dir == kernel.opened[0] ? kernel.direct_events : kernel.below_events;

	if (strcmp(path, "events") != 0 || mode != F_OK || flags)
		return fails(EINVAL);
	return err ? fails(err) : 0;
}

int openat(int dir, const char *path, int flags, ...)
{
	(void)flags;
	if (dir != 77 || strcmp(path, "events/sched/sched_switch/id") != 0 || !kernel.text)
		return fails(ENOENT);
	return file_of(kernel.text);
}

long syscall(long number, ...)
{
	va_list args;
	long a[3];

	va_start(args, number);
	for (int i = 0; i < 3; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_fsopen:
		if (strcmp((const char *)a[0], "tracefs") != 0 || (int)a[1] != FSOPEN_CLOEXEC)
			return fails(EINVAL);
		if (kernel.open_error)
			return fails(kernel.open_error);
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, CONTEXT_AT);
	case SYS_fsconfig:
		if ((int)a[0] != CONTEXT_AT || (int)a[1] != FSCONFIG_CMD_CREATE || a[2])
			return fails(EINVAL);
		kernel.created = !kernel.create_error;
		return kernel.create_error ? fails(kernel.create_error) : 0;
	case SYS_fsmount:
		if ((int)a[0] != CONTEXT_AT || (int)a[1] != FSMOUNT_CLOEXEC || !kernel.created)
			return fails(EINVAL);
		return kernel.mount_error ? fails(kernel.mount_error) : file_of("");
	}
	return fails(ENOSYS);
}

static void begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.opened[0] = kernel.opened[1] = -1;
}

/* Opens tracefs. Checks the result, and that no other file is left. */
static int opens(int want, const char *name)
{
	size_t before = open_fds();
	int root = tracefs_open();

	ok(want ? root == want : root >= 0, "%s: %d", name, root);
	is_u64(open_fds(), before + (root >= 0), "no other file is open");
	if (root >= 0)
		close(root);
	return root;
}

static void test_places(void)
{
	static const struct {
		int direct, direct_events, below, below_events;
		int place; /* which place is used; -1: it is mounted */
		const char *name;
	} rows[] = {
		{0, 0, 0, 0, 0, "the first place"},
		{0, EACCES, 0, 0, 0, "a place whose events are hidden from the user"},
		{ENOENT, 0, 0, 0, 1, "a place below debugfs"},
		{0, ENOENT, 0, 0, 1, "a first place that is empty"},
		{EACCES, 0, 0, EACCES, 1, "one below debugfs, with hidden events"},
		{ENOENT, 0, ENOENT, 0, -1, "no place"},
		{0, ENOENT, 0, ENOENT, -1, "two empty ones"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int root;

		begin();
		kernel.direct = rows[i].direct;
		kernel.direct_events = rows[i].direct_events;
		kernel.below = rows[i].below;
		kernel.below_events = rows[i].below_events;
		root = opens(0, rows[i].name);
		if (rows[i].place >= 0)
			is_u64(root, kernel.opened[rows[i].place], "is used");
		ok(kernel.created == (rows[i].place < 0), "it is mounted: %d", kernel.created);
	}
}

static void test_mounting(void)
{
	begin();
	kernel.direct = kernel.below = ENOENT;
	kernel.open_error = ENODEV;
	opens(-ENODEV, "a kernel without tracefs");
	kernel.open_error = 0;
	kernel.create_error = EPERM;
	opens(-EPERM, "a user who may not make it");
	kernel.create_error = 0;
	kernel.mount_error = EACCES;
	opens(-EACCES, "a user who may not mount it");
	kernel.mount_error = 0;
	opens(0, "a user who may");
}

static void test_numbers(void)
{
	size_t before = open_fds();

	begin();
	is_u64(-tracefs_tracepoint(77, "sched/sched_switch"), ENOENT, "no such tracepoint");
	kernel.text = "314\n";
	is_u64(tracefs_tracepoint(77, "sched/sched_switch"), 314, "its number");
	is_u64(-tracefs_tracepoint(77, "sched/sched_wakeup"), ENOENT, "another one");
	kernel.text = "";
	is_u64(-tracefs_tracepoint(77, "sched/sched_switch"), ENODATA, "an empty file");
	is_u64(open_fds(), before, "no file is left");
}

int main(void)
{
	test_places();
	test_mounting();
	test_numbers();
	return tap_done();
}
