// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "resident/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alive.h"
#include "base/array.h"
#include "collect/files/mountinfo.h"
#include "collect/holdings_reader.h"
#include "resident/page_ranges.h"

#define DEVICES_MAX  4096
#define MAPPINGS_MAX (1u << 22) /* above usual limits of vm.max_map_count */
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

static bool is_device(const char *name)
{
	return !strncmp(name, "/dev/", 5) && strncmp(name, "/dev/shm/", 9) &&
	       strncmp(name, "/dev/zero", 9);
}

static void name_mapping(struct mapping *m, const char *rights, const char *name)
{
	const char *last = strrchr(name, '/');

	if (!*name || !strncmp(name, "[anon:", 6)) {
		m->kind = HOLDING_ANONYMOUS;
		return;
	}
	m->kind = holding_kind_of_map(rights, name);
	m->filed = m->kind != HOLDING_HEAP && m->kind != HOLDING_STACK;
	m->device = is_device(name);
	if (m->filed)
		array_copy(m->file, sizeof(m->file), last ? last + 1 : name);
}

/* Returns the file system of a device, or FILES_OTHER. */
static enum file_system find_device(const struct mappings *all, uint64_t device)
{
	for (size_t i = 0; i < all->devices; i++)
		if (all->device[i].device == device)
			return all->device[i].is;
	return FILES_OTHER;
}

static void add_device(struct mappings *all, uint64_t device, enum file_system is)
{
	struct device_type *more;

	if (find_device(all, device) != FILES_OTHER)
		return;
	more = array_grow(all->device, all->devices, &all->devices_room, DEVICES_MAX,
			  sizeof(*more));
	if (!more)
		return; /* pages of this file system count as those of other files */
	all->device = more;
	more[all->devices++] = (struct device_type){device, is};
}

/* Adds the device of a mapping of this process. */
static void add_device_of(struct mappings *all, const void *at)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int major, minor;
	char line[4608];
	uint64_t start;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%*s %*s %*s %x:%x", &start, &major, &minor) == 3 &&
		    start == (uintptr_t)at)
			add_device(all, mountinfo_device(major, minor), FILES_HUGETLB);
	if (f)
		fclose(f);
}

/*
 * The kernel has a hidden file system for each size of huge pages, for mappings without a name and
 * memfds. A mapping without a reservation shows its device, also if there are no huge pages.
 */
static void learn_hidden(struct mappings *all)
{
	static const unsigned int shifts[] = {16, 21, 25, 29, 30, 34};

	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		size_t bytes = 1UL << shifts[i];
		void *at = mmap(NULL, bytes, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE |
					shifts[i] << MAP_HUGE_SHIFT,
				-1, 0);

		if (at == MAP_FAILED)
			continue;
		add_device_of(all, at);
		munmap(at, bytes);
	}
}

void mappings_begin(struct mappings *all)
{
	learn_hidden(all);
	all->hidden = all->devices;
}

/* Learns the file systems that a process has mounted. */
static void learn_mounts(struct mappings *all, __u32 pid)
{
	char path[40], line[4608];
	struct mount_line mount;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", alive_thread(pid));
	f = fopen(path, "re");
	all->devices = all->hidden;
	while (f && fgets(line, sizeof(line), f)) {
		if (!mountinfo_parse((struct span){line, strlen(line)}, &mount))
			continue;
		if (text_is(mount.type, "tmpfs"))
			add_device(all, mount.device, FILES_TMPFS);
		else if (text_is(mount.type, "hugetlbfs"))
			add_device(all, mount.device, FILES_HUGETLB);
	}
	if (f)
		fclose(f);
}

/* Adds a line of maps, "start-end rwxp offset dev inode name"; the name may contain spaces. */
static int add_line(struct mappings *all, char *line)
{
	struct mapping m = {};
	uint64_t start, end;
	struct mapping *more;
	unsigned int major, minor;
	enum file_system is;
	char rights[8];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %x:%x %*s%n", &start, &end, rights,
		   &major, &minor, &at) < 5 ||
	    !at || end < start)
		return 0;
	is = find_device(all, mountinfo_device(major, minor));
	if (is == FILES_HUGETLB)
		return 0;
	line[strcspn(line, "\n")] = 0;
	name_mapping(&m, rights, line + at + strspn(line + at, " "));
	m.shmem = m.kind == HOLDING_SHARED_MEMORY || is == FILES_TMPFS;
	m.shared = rights[3] == 's';
	m.from = start >> PAGE_SHIFT;
	m.to = end >> PAGE_SHIFT;
	if (m.from >> (63 - PAGE_SHIFT))
		return 0; /* [vsyscall] is memory of the kernel */
	more = array_grow(all->one, all->n, &all->room, MAPPINGS_MAX, sizeof(*more));
	if (!more)
		return -ENOMEM;
	all->one = more;
	more[all->n++] = m;
	return 0;
}

int mappings_read(struct mappings *m, __u32 pid)
{
	struct lock_pause pause = {};
	char path[40], line[4608];
	int err = 0;
	FILE *f;

	m->n = 0;
	learn_mounts(m, pid);
	snprintf(path, sizeof(path), "/proc/%u/maps", alive_thread(pid));
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && fgets(line, sizeof(line), f)) {
		err = add_line(m, line);
		lock_pause_if_due(&pause);
	}
	fclose(f);
	return err ?: m->n ? 0 : -ESRCH;
}

void mappings_free(struct mappings *m)
{
	free(m->one);
	free(m->device);
	memset(m, 0, sizeof(*m));
}
