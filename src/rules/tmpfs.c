// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds a full tmpfs among the mounts, and suggests remedies. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/pressure_rules.h"

#define MIB	     20
#define UNNAMED_PART 16 /* deleted files count if they have more than this part of a tmpfs */
#define SHM "/dev/shm" /* where containers have a tmpfs of 64 MiB */

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

void tmpfs_say_files(struct finding *f, const struct mount_use *u)
{
	if (!u)
		return;
	if (u->now.largest[0])
		finding_text(f, "largest file", "%s: %s, of user %u", u->now.largest,
			     as_bytes(u->now.largest_bytes).s, u->now.largest_uid);
	if (u->now.unnamed_bytes > u->now.size_bytes / UNNAMED_PART)
		evidence_bytes(f, "in deleted files that processes still use",
			       u->now.unnamed_bytes, u->now.size_bytes);
}

/* Returns a size with room for later files too, in bytes, at most the memory of the machine. */
static uint64_t larger_size(const struct model *m, uint64_t size_bytes, uint64_t need_bytes)
{
	uint64_t most = m->tick.limits.mem_total_bytes;
	uint64_t want = size_bytes * 2;

	if (need_bytes)
		want = need_bytes > want ? need_bytes * 2 : want * 2;
	if (most && want > most)
		want = most;
	return want >> MIB << MIB;
}

static void use_less(struct finding *f, const struct model *m, uint64_t need_bytes,
		     enum remedy_scope scope)
{
	const struct number_text memory = as_bytes(m->tick.limits.mem_total_bytes);

	remedy_with_scope(need_bytes ? finding_remedy(f, REMEDY_FIX,
						      "use less space: %s are needed, and this "
						      "machine has %s of memory",
						      as_bytes(need_bytes).s, memory.s)
				     : finding_remedy(f, REMEDY_FIX,
						      "use less space: this machine has %s of "
						      "memory, so the tmpfs should not be larger",
						      memory.s),
			  scope);
}

void tmpfs_help(struct finding *f, const struct model *m, uint64_t size_bytes, uint64_t need_bytes,
		const char *path, enum remedy_scope scope)
{
	uint64_t want = larger_size(m, size_bytes, need_bytes);
	const char *at = strcmp(path, SHM) ? "" : " at " SHM;
	char word[PATH_WORD], docker[64];
	struct remedy *r;

	path_as_word(path, word);
	r = finding_remedy(f, REMEDY_CHECK,
			   "show the largest files of the tmpfs and the processes that use it");
	remedy_command(remedy_with_scope(r, scope), "ls -lS %s | head; fuser -vm %s", word, word);
	if (want < need_bytes || want <= size_bytes) {
		use_less(f, m, need_bytes, scope);
		return;
	}
	if (!strcmp(path, SHM))
		snprintf(docker, sizeof(docker), "--shm-size=%" PRIu64 "m (its default is 64m)",
			 want >> MIB);
	else
		snprintf(docker, sizeof(docker), "--tmpfs DIR:size=%" PRIu64 "m", want >> MIB);
	r = finding_remedy(f, REMEDY_WORKAROUND,
			   "enlarge the tmpfs. For a container, use docker run %s, or in "
			   "Kubernetes an emptyDir of medium Memory%s, with sizeLimit: %" PRIu64
			   "Mi",
			   docker, at, want >> MIB);
	remedy_command(remedy_with_scope(r, scope), "mount -o remount,size=%" PRIu64 "M %s",
		       want >> MIB, word);
}
