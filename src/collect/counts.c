// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/counts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "collect/files/mountinfo.h"

#define UNKNOWN UINT64_MAX

static uint64_t setting(const char *path)
{
	uint64_t n = UNKNOWN;

	io_read_number(AT_FDCWD, path, &n);
	return n;
}

/*
 * Reads the keys of the user from a file whose lines are "uid: usage keys/instantiated
 * counted/maxkeys bytes/maxbytes" (security/keys/proc.c). key_alloc() checks their number first,
 * and then their bytes; the other calls check the bytes only.
 */
static void read_keys(struct counted_objects *c)
{
	uint64_t keys, keys_max, bytes, bytes_max;
	FILE *f = fopen("/proc/key-users", "re");
	unsigned int uid;
	char line[128];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u: %*d %*d/%*d %" SCNu64 "/%" SCNu64 " %" SCNu64 "/%" SCNu64,
			   &uid, &keys, &keys_max, &bytes, &bytes_max) != 5 ||
		    uid != c->owner)
			continue;
		if (keys >= keys_max) {
			c->used = keys;
			c->asked = 1;
			c->limit = keys_max;
		} else {
			c->what = COUNTED_KEY_BYTES;
			c->used = bytes;
			c->limit = bytes_max;
		}
	}
	fclose(f);
}

/* Returns the number after max= in the options of a file system, or UNKNOWN. */
static uint64_t most_of(struct span options)
{
	struct span one, key, value;
	uint64_t most;

	while (options.len) {
		one = options;
		if (!text_split(options, ',', &one, &options))
			options.len = 0;
		if (text_split(one, '=', &key, &value) && text_is(key, "max") &&
		    !text_number(value, &most))
			return most;
	}
	return UNKNOWN;
}

/* Returns the option max= of a devpts that the process sees, or UNKNOWN. */
static uint64_t most_of_devpts(uint32_t pid)
{
	char path[48], line[4096];
	uint64_t most = UNKNOWN;
	struct mount_line mount;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
	f = fopen(path, "re");
	if (!f)
		return UNKNOWN;
	while (fgets(line, sizeof(line), f)) {
		if (!mountinfo_parse((struct span){line, strcspn(line, "\n")}, &mount) ||
		    !text_is(mount.type, "devpts"))
			continue;
		if (most_of(mount.options) != UNKNOWN)
			most = most_of(mount.options);
	}
	fclose(f);
	return most;
}

/*
 * devpts_new_index() in fs/devpts/inode.c fails if the number of terminals, with the new one and
 * kernel.pty.reserve, is not below kernel.pty.max. For a devpts that was mounted in the initial
 * mount namespace, nothing is reserved. Otherwise the mount's own option max= is reached: each of
 * its numbers is in use, but nothing shows which mount it is.
 */
static void read_ptys(struct counted_objects *c, uint32_t pid, bool foreign)
{
	uint64_t reserve = setting("/proc/sys/kernel/pty/reserve"), most;

	c->used = setting("/proc/sys/kernel/pty/nr");
	c->limit = setting("/proc/sys/kernel/pty/max");
	c->asked = 1;
	if (c->used == UNKNOWN || c->limit == UNKNOWN || reserve == UNKNOWN)
		return;
	if (c->used + 1 >= c->limit)
		return;
	if (c->used + 1 + reserve >= c->limit) {
		c->asked += reserve;
		return;
	}
	most = foreign ? UNKNOWN : most_of_devpts(pid);
	c->used = UNKNOWN;
	c->limit = most;
}

void counts_complete(struct counted_objects *c, uint32_t pid, bool foreign)
{
	uint64_t most;

	switch ((enum counted_kind)c->what) {
	case COUNTED_KEYS:
		read_keys(c);
		break;
	case COUNTED_AIO_REQUESTS:
		c->used = setting("/proc/sys/fs/aio-nr");
		c->limit = setting("/proc/sys/fs/aio-max-nr");
		break;
	case COUNTED_PIDS:
		/* before 6.14 only the host has a limit; pids are below it */
		most = setting("/proc/sys/kernel/pid_max");
		if (c->limit == UNKNOWN && !c->inside && most != UNKNOWN)
			c->limit = most - 1;
		break;
	case COUNTED_MOUNTS:
		c->limit = setting("/proc/sys/fs/mount-max");
		break;
	case COUNTED_OPTION_BYTES:
		/* before 6.8, the limit is host-wide */
		if (c->limit == UNKNOWN)
			c->limit = setting("/proc/sys/net/core/optmem_max");
		break;
	case COUNTED_LISTENER_SOURCES:
		c->limit = setting("/proc/sys/net/ipv6/mld_max_msf");
		break;
	case COUNTED_PTYS:
		read_ptys(c, pid, foreign);
		break;
	default:
		break;
	}
}
