// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how much kernel memory faultscope says that it uses. The maps are those of this test. */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "probe/kernel_memory.h"
#include "tap.h"
#include "wire.h"

#define FDINFO "pos:\t0\nflags:\t02\nmap_type:\t1\n"

static const struct table {
	int fd;		    /* < 0: the map was not made */
	const char *fdinfo; /* NULL: cannot be read */
} tables[] = {
	{-1, FDINFO "memlock:\t1\n"},
	{1001, FDINFO "memlock:\t4096\nmap_id:\t7\n"},
	{1002, FDINFO},
	{1003, NULL},
	{1004, FDINFO "memlock:\t8589934592\n"},
	{1005, ""},
	{1006, FDINFO "memlock:\tunknown\n"},
	{1007, "memlock:\t100\n"},
};
#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

struct bpf_map *bpf_object__next_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	const struct table *next = map ? (const struct table *)map + 1 : tables;

	(void)obj;
	return next < tables + NR_TABLES ? (struct bpf_map *)next : NULL;
}

int bpf_map__fd(const struct bpf_map *map)
{
	return ((const struct table *)map)->fd;
}

int openat(int dir, const char *path, int flags, ...)
{
	int number, fd;

	if (sscanf(path, "/proc/self/fdinfo/%d", &number) != 1)
		return syscall(SYS_openat, dir, path, flags, 0);
	for (size_t i = 0; i < NR_TABLES; i++) {
		const char *text = tables[i].fdinfo;

		if (tables[i].fd != number || !text)
			continue;
		fd = memfd_create("fdinfo", MFD_CLOEXEC);
		if (fd < 0 || pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
			abort();
		return fd;
	}
	errno = ENOENT;
	return -1;
}

static void test_tables(void)
{
	is_u64(kernel_memory_of_tables(NULL), 4096 + 8589934592 + 100,
	       "memory of the tables whose size the kernel tells");
}

/* Task storage takes an object of a power of two bytes, and one header for each task. */
static void test_threads(void)
{
	__u32 stored[FS_STORED_MAX] = {};
	__u64 one, slots;

	stored[FS_STORED_SLOT] = 1;
	one = kernel_memory_of_state(stored);
	stored[FS_STORED_SLOT] = 10;
	slots = kernel_memory_of_state(stored);
	is_u64(slots, 10 * one, "threads");
	stored[FS_STORED_STATE] = 4;
	is_u64(kernel_memory_of_state(stored) - slots, 4 * (kernel_memory_of_idle() - 192),
	       "processes of these threads share the header of their first thread");
	stored[FS_STORED_STATE] = 11;
	is_u64(kernel_memory_of_state(stored) - slots, 11 * (kernel_memory_of_idle() - 192) + 192,
	       "one process more than threads has a header of its own");
	for (int i = 0; i < FS_STORED_MAX; i++) {
		memset(stored, 0, sizeof(stored));
		stored[i] = 1;
		one = kernel_memory_of_state(stored);
		if (i == FS_STORED_STATE || i == FS_STORED_SLOT)
			one -= 192;
		ok(one >= 64 && !(one & (one - 1)), "object %d has %u bytes", i, (unsigned int)one);
	}
}

int main(void)
{
	__u32 stored[FS_STORED_MAX] = {};

	ok(kernel_memory_of_idle() <= 1024, "an idle process takes at most 1 KiB");
	is_u64(kernel_memory_of_state(stored), 0, "no process");
	stored[FS_STORED_STATE] = 1000;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle(), "idle processes");
	stored[FS_STORED_CLASSES] = 10;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle() + 10 * 2048,
	       "ten of them had classified faults");
	stored[FS_STORED_SLOT] = -3u;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle() + 10 * 2048,
	       "ends of threads whose beginning was not counted");
	test_tables();
	test_threads();
	return tap_done();
}
