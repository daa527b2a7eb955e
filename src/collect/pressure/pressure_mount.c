// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/pressure_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alive.h"
#include "collect/files/mountinfo.h"
#include "probe/host_facts.h"

#define TARGETS_MOST 8 /* maximum number of processes whose own /dev/shm is measured */

static uint64_t device_of(const struct stat *st)
{
	return mountinfo_device(major(st->st_dev), minor(st->st_dev));
}

bool pressure_is_local(struct span type, bool *in_memory)
{
	static const char *const types[] = {"tmpfs", "ramfs", "ext2", "ext3", "ext4",
					    "xfs",   "btrfs", "f2fs", "vfat"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (text_is(type, types[i])) {
			*in_memory = i < 2;
			return true;
		}
	return false;
}

bool pressure_is_mounted(const char *path, const struct mount_line *line)
{
	struct stat st;

	/* on btrfs, st_dev is the subvolume's device number, not the mount's */
	return !stat(path, &st) && (device_of(&st) == line->device || text_is(line->type, "btrfs"));
}

bool pressure_measure_mount(const char *path, struct mount_record *ret)
{
	struct statfs st;

	/* f_blocks is 0 for pseudo file systems, and for a tmpfs without a size limit */
	if (statfs(path, &st) || !st.f_blocks)
		return false;
	ret->magic = st.f_type;
	ret->size_bytes = (uint64_t)st.f_blocks * st.f_bsize;
	ret->free_bytes = (uint64_t)st.f_bavail * st.f_bsize;
	ret->used_bytes = ret->size_bytes - (uint64_t)st.f_bfree * st.f_bsize;
	ret->inodes = st.f_files;
	ret->inodes_free = st.f_ffree;
	return true;
}

static void add_mount(struct pressure_reader *r, const struct listed_mount *one)
{
	if (!r->mount)
		r->mount = calloc(MOUNTS_MAX, sizeof(*r->mount));
	for (size_t i = 0; r->mount && i < r->mounts; i++)
		if (r->mount[i].device == one->device)
			return;
	if (r->mount && r->mounts < MOUNTS_MAX && one->path[0])
		r->mount[r->mounts++] = *one;
	else
		r->over++;
}

/*
 * Returns whether to list a mount. If the path of a mount is too long or contains escaped
 * characters, the stored path is empty. Another mount of the same device may be listed instead.
 */
static bool scan_line(struct span text, struct listed_mount *ret)
{
	struct mount_line line;

	if (!mountinfo_parse(text, &line))
		return false;
	/*
	 * There may be hundreds of overlay mounts. Only those that are the root of a container are
	 * listed.
	 */
	if (!pressure_is_local(line.type, &ret->in_memory) &&
	    !(text_is(line.type, "overlay") && text_is(line.point, "/")))
		return false;
	ret->device = line.device;
	if (line.point.len >= sizeof(ret->path) || memchr(line.point.s, '\\', line.point.len))
		return true;
	text_copy(line.point, ret->path, sizeof(ret->path));
	return pressure_is_mounted(ret->path, &line);
}

/*
 * Lists /dev/shm of watched processes. Each container has its own, and faultscope does not see it
 * among its own mounts.
 */
static void list_targets(struct pressure_reader *r, const struct model *m)
{
	unsigned int asked = 0;

	for (struct subject *s = model_each(m, NULL); s && asked < TARGETS_MOST;
	     s = model_each(m, s), asked++) {
		struct listed_mount one = {.pid = s->id.pid, .in_memory = true};
		struct stat st;

		snprintf(one.path, sizeof(one.path), "/proc/%u/root/dev/shm",
			 alive_thread(s->id.pid));
		if (s->final || stat(one.path, &st))
			continue;
		one.device = device_of(&st);
		add_mount(r, &one);
	}
}

void pressure_list_mounts(struct pressure_reader *r, const struct model *m)
{
	struct files f = {.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	struct text_lines lines = {};
	struct span line;
	char *s = NULL;

	if (f.root < 0)
		return;
	r->mounts = 0;
	if (!file_read(&f, "/proc/self/mountinfo", &s, &lines.rest.len)) {
		lines.rest.s = s;
		while (text_line(&lines, &line)) {
			struct listed_mount one = {};

			if (scan_line(line, &one))
				add_mount(r, &one);
		}
	}
	free(s);
	close(f.root);
	if (r->targets && !host_is_in_pid_namespace())
		list_targets(r, m);
}

int pressure_scan_mounts(struct pressure_reader *r, const struct model *m, const struct sink *sink)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->mounts; i++) {
		const struct listed_mount *l = &r->mount[i];
		struct mount_record u = {.h = {RECORD_MOUNT, sizeof(u), host_monotonic_ns()},
					 .pid = l->pid,
					 .flags = l->in_memory ? MOUNT_IN_MEMORY : 0,
					 .device = l->device};

		if (!pressure_measure_mount(l->path, &u))
			continue;
		memcpy(u.path, l->path, sizeof(u.path));
		if (r->scores || mount_may_matter(&u))
			err = sink->take(sink->ctx, &u.h);
	}
	return err;
}
