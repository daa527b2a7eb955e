// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/pressure_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/growth_rules.h"

#define PF_WRITE	2 /* bit of the page fault error code: arch/x86/include/asm/trap_pf.h */
#define LITTLE_BYTES	(1u << 20)
#define KEPT_MOST_BYTES (16ULL << 20) /* 4096 clusters of 4 KiB, which ext4 reserves */

static bool is_class(const struct occasion *o, const char *class)
{
	return o->verdict->cause && !strcmp(o->verdict->cause, class);
}

void pressure_say_signal(const struct occasion *o, struct finding *f)
{
	char name[24];

	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	finding_text(f, "signal", "%s", signal_name(o->signal->signal, name, sizeof(name)));
	finding_take_evidence(f, o->verdict);
	if (o->signal->stack)
		stack_evidence(f, o->m, &o->signal->subject, o->signal->stack - 1, "in");
}

static bool is_on(const struct signal_record *r, const struct mount_use *u)
{
	return mount_is(u, r->file_device, r->file.magic);
}

bool tmpfs_was_full(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct signal_record *r = o->signal;
	uint64_t bytes = r->tmpfs_pages * o->m->tick.limits.page_bytes;
	const struct mount_use *u;

	if (!is_class(o, "tmpfs full"))
		return false;
	pressure_say_signal(o, f);
	u = tmpfs_find(o->m, r->file_device, r->file.magic, bytes);
	finding_title(f, "SIGBUS: tmpfs of %s is full", as_bytes(bytes).s);
	if (u)
		finding_text(f, "file system", "%s", u->now.path);
	tmpfs_say_files(f, u);
	pressure_say_who(f, o->m);
	finding_advise(f);
	tmpfs_help(f, o->m, bytes, bytes, u ? u->now.path : "/dev/shm", SCOPE_PROCESS);
	return true;
}

bool file_was_cut(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!is_class(o, "past end of file"))
		return false;
	pressure_say_signal(o, f);
	finding_title(f, "SIGBUS: access beyond the end of a mapped file");
	finding_advise(f);
	return true;
}

/*
 * Returns how many bytes the process can still allocate on the file system. Only root may use the
 * blocks that are reserved for root. Nobody may use those that ext4 reserves for itself: 4096
 * clusters or 2 %, whichever is less (ext4_calculate_resv_clusters(), fs/ext4/super.c).
 */
static uint64_t room_of(const struct occasion *o, const struct mount_record *r)
{
	uint64_t kept = r->size_bytes / 50 < KEPT_MOST_BYTES ? r->size_bytes / 50 : KEPT_MOST_BYTES;
	uint64_t unused = r->size_bytes - r->used_bytes;

	if (!o->s || o->s->now.g.uid)
		return r->free_bytes;
	return unused > kept + r->free_bytes ? unused - kept : r->free_bytes;
}

/*
 * Returns the file system of the file if it was full. Returns NULL if it has free space, or if
 * faultscope does not see it. The blocks of a deleted file became free only when the signal killed
 * the process, so they do not count as free.
 */
static const struct mount_use *full_disk(const struct occasion *o)
{
	const struct pressure *p = o->m->pressure;
	uint64_t given_back =
		o->signal->file.flags & FILE_DELETED ? o->signal->file_blocks * 512 : 0;

	for (size_t i = 0; p && i < p->mounts; i++)
		if (is_on(o->signal, &p->mount[i]) &&
		    room_of(o, &p->mount[i].now) < LITTLE_BYTES + given_back)
			return &p->mount[i];
	return NULL;
}

bool disk_was_full(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct mount_use *u = full_disk(o);
	char path[PATH_WORD];

	if (!is_class(o, "read error") || !u ||
	    (o->signal->error_code && !(o->signal->error_code & PF_WRITE)))
		return false;
	pressure_say_signal(o, f);
	finding_title(f, "SIGBUS: the disk was full when a hole of a mapped file was written");
	finding_text(f, "file system", "%s", u->now.path);
	evidence_bytes(f, u->now.h.t_ns > o->t_ns ? "free just after" : "free", u->now.free_bytes,
		       u->now.size_bytes);
	if (o->signal->file.flags & FILE_DELETED)
		evidence_bytes(f, "held by the deleted file", o->signal->file_blocks * 512,
			       FIGURE_UNKNOWN);
	finding_advise(f);
	remedy_command(finding_host_remedy(f, REMEDY_WORKAROUND,
					   "free disk space: this command shows the largest "
					   "directories"),
		       "du -xh %s | sort -h | tail", path_as_word(u->now.path, path));
	return true;
}

bool page_was_poisoned(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t bytes = host_figure(o->m, HOST_CORRUPTED);

	if (!is_class(o, "hardware poison"))
		return false;
	pressure_say_signal(o, f);
	finding_title(f, "SIGBUS: hardware memory error, the kernel took a poisoned page offline");
	if (bytes != FIGURE_UNKNOWN)
		evidence_bytes(f, "poisoned pages", bytes, FIGURE_UNKNOWN);
	finding_advise(f);
	return true;
}
