// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds a full tmpfs among the mounts, and suggests remedies. */
#include <inttypes.h>

#include "base/units.h"
#include "rules/pressure_rules.h"

#define MIB 20

bool mount_is(const struct mount_use *u, uint64_t device, uint64_t magic)
{
	if (device && u->now.device != FIGURE_UNKNOWN)
		return u->now.device == device;
	return u->now.magic == magic;
}

const struct mount_use *tmpfs_find(const struct model *m, uint64_t device, uint64_t magic,
				   uint64_t size_bytes)
{
	const struct pressure *p = m->pressure;
	const struct mount_use *found = NULL;

	for (size_t i = 0; p && i < p->mounts; i++)
		if (mount_is(&p->mount[i], device, magic) &&
		    p->mount[i].now.size_bytes == size_bytes) {
			if (found && found->now.device != p->mount[i].now.device)
				return NULL;
			found = &p->mount[i];
		}
	return found;
}

/* Returns a size with room for later files too, in bytes, at most the memory of the machine. */
static uint64_t larger_size(const struct model *m, uint64_t size_bytes, uint64_t need_bytes)
{
	uint64_t most = m->tick.limits.mem_total_bytes;
	uint64_t want = need_bytes > size_bytes * 2 ? need_bytes * 2 : size_bytes * 4;

	if (most && want > most)
		want = most;
	return want >> MIB << MIB;
}

struct remedy *tmpfs_check(struct finding *f, const char *path)
{
	char word[PATH_WORD];
	struct remedy *r =
		finding_remedy(f, REMEDY_CHECK,
			       "show the largest files of the tmpfs and the processes that use it");

	path_as_word(path, word);
	remedy_command(r, "ls -lS %s | head; fuser -vm %s", word, word);
	return r;
}

void tmpfs_help(struct finding *f, const struct model *m, uint64_t size_bytes, uint64_t need_bytes,
		const char *path)
{
	uint64_t want = larger_size(m, size_bytes, need_bytes);
	char word[PATH_WORD];
	struct remedy *r;

	tmpfs_check(f, path);
	if (want < need_bytes || want <= size_bytes) {
		finding_remedy(f, REMEDY_FIX,
			       "use less space: %s are needed, and this machine has %s of memory",
			       as_bytes(need_bytes).s, as_bytes(m->tick.limits.mem_total_bytes).s);
		return;
	}
	r = finding_remedy(f, REMEDY_WORKAROUND,
			   "enlarge the tmpfs. For a container, use docker run --shm-size=%" PRIu64
			   "m (its default is 64m), or in Kubernetes an emptyDir of medium Memory "
			   "at /dev/shm, with sizeLimit: %" PRIu64 "Mi",
			   want >> MIB, want >> MIB);
	remedy_command(r, "mount -o remount,size=%" PRIu64 "M %s", want >> MIB,
		       path_as_word(path, word));
}
