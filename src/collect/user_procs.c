// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/user_procs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/exec_maps.h"
#include "collect/target_file.h"

#define PERF_MAP_TABLE_BYTES (16u << 20)

struct user_proc *user_procs_find(struct user_symbols *us, const struct fs_subject *of)
{
	for (size_t i = 0; of->pid && i < USER_PROCS_MAX; i++) {
		struct user_proc *p = &us->procs->p[i];

		if (p->of.pid != of->pid || p->of.start_ns != of->start_ns)
			continue;
		p->used = ++us->clock;
		return p;
	}
	return NULL;
}

void user_proc_renew(struct user_proc *p)
{
	perf_map_close(&p->perf);
	p->perf_asked = false;
	p->astray = 0;
	p->nr_unknown = 0;
}

void user_proc_forget(struct user_proc *p)
{
	free(p->map);
	if (p->of.pid)
		perf_map_close(&p->perf);
	memset(p, 0, sizeof(*p));
	p->perf.fd = -1;
}

static struct user_proc *make_place(struct user_symbols *us, const struct fs_subject *of)
{
	struct user_proc *oldest = &us->procs->p[0], *p = NULL;

	for (size_t i = 0; !p && i < USER_PROCS_MAX; i++) {
		if (!us->procs->p[i].of.pid)
			p = &us->procs->p[i];
		else if (us->procs->p[i].used < oldest->used)
			oldest = &us->procs->p[i];
	}
	us->lost.processes += !p;
	p = p ? p : oldest;
	user_proc_forget(p);
	p->of = *of;
	p->used = ++us->clock;
	return p;
}

/* What learning a process needs at hand. */
struct learning {
	struct user_symbols *us;
	int proc;
	int root;
	struct user_map *map;
	size_t n, room;
};

/* Whether it is the file that is mapped; what a path leads to may be another by now. */
static int checked(int fd, const struct stat *st, const struct exec_map *m)
{
	if (fd < 0 || st->st_ino == m->inode)
		return fd;
	close(fd);
	return -ESTALE;
}

/*
 * The mapping's own link finds deleted files too, but asks for CAP_CHECKPOINT_RESTORE (5.9) or
 * CAP_SYS_ADMIN; the path only for the right to look at the process; its program has a link of its
 * own, whatever became of the path.
 */
static int open_mapped(const struct learning *l, const struct exec_map *m)
{
	char link[64];
	struct stat st;
	int fd;

	snprintf(link, sizeof(link), "map_files/%llx-%llx", m->start, m->end);
	fd = target_link_open(l->proc, link, &st);
	if (fd >= 0)
		return fd;
	fd = checked(target_path_open(l->root, m->path, &st), &st, m);
	return fd >= 0 ? fd : checked(target_link_open(l->proc, "exe", &st), &st, m);
}

static void path_without_mark(const char *path, char *ret, size_t size)
{
	static const char mark[] = " (deleted)";
	size_t len = strnlen(path, size - 1);

	if (len > sizeof(mark) && !strcmp(path + len - sizeof(mark) + 1, mark))
		len -= sizeof(mark) - 1;
	memcpy(ret, path, len);
	ret[len] = 0;
}

static struct user_file *file_of(const struct learning *l, const struct exec_map *m)
{
	struct user_file_id id = {m->inode, m->dev_major, m->dev_minor};
	struct user_file *f = user_files_find(l->us, &id);
	char path[4096];
	int fd;

	if (f)
		return f;
	fd = open_mapped(l, m);
	if (fd < 0) {
		l->us->lost.refused++;
		return NULL;
	}
	path_without_mark(m->path, path, sizeof(path));
	return user_files_add(l->us, &id, fd, path, l->root);
}

static int take_map(void *ctx, const struct exec_map *m)
{
	struct learning *l = ctx;
	struct user_file *f;

	if (l->n == USER_MAPS_MAX) {
		l->us->lost.maps++;
		return 0;
	}
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct user_map *map = realloc(l->map, room * sizeof(*map));

		if (!map)
			return -ENOMEM;
		l->map = map;
		l->room = room;
	}
	f = file_of(l, m);
	l->map[l->n++] = (struct user_map){
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.place = f ? f - l->us->files->f : 0,
		.serial = f ? f->serial : 0,
	};
	return 0;
}

int user_proc_learn(struct user_symbols *us, const struct fs_subject *of,
		    struct user_proc **ret_proc)
{
	struct learning l = {.us = us, .root = -1};
	bool cut = false;
	int err;

	l.proc = target_open(of);
	if (l.proc < 0)
		return l.proc;
	l.root = target_root_open(l.proc);
	err = exec_maps_each(l.proc, us->text_only, take_map, &l, &cut);
	us->lost.maps += cut;
	if (!err) {
		struct user_proc *p = user_procs_find(us, of);

		p = p ? p : make_place(us, of);
		free(p->map);
		p->map = l.map;
		p->nr_maps = l.n;
		p->perf_asked = p->perf.fd >= 0;
		l.map = NULL;
		*ret_proc = p;
	}
	free(l.map);
	if (l.root >= 0)
		close(l.root);
	close(l.proc);
	return err;
}

struct user_file *user_proc_file(struct user_symbols *us, const struct user_proc *p,
				 const __u8 *build_id)
{
	for (size_t i = 0; i < p->nr_maps; i++) {
		const struct user_map *m = &p->map[i];
		struct user_file *f = user_files_get(us, m);

		if (f && f->elf.h.build_id_bytes &&
		    !memcmp(f->elf.h.build_id, build_id, BUILD_ID_BYTES))
			return f;
	}
	return NULL;
}

bool user_proc_maps(const struct user_proc *p, __u64 ip, const struct user_map **ret)
{
	for (size_t i = 0; i < p->nr_maps; i++) {
		if (ip < p->map[i].start || ip >= p->map[i].end)
			continue;
		*ret = &p->map[i];
		return true;
	}
	return false;
}

/* Closes perf maps that were not used for longest, until the rest and that of `p` are within. */
static void keep_perf_maps_within(struct user_symbols *us, const struct user_proc *p)
{
	for (;;) {
		struct user_proc *oldest = NULL;
		size_t bytes = 0, n = 0;

		for (size_t i = 0; i < USER_PROCS_MAX; i++) {
			struct user_proc *other = &us->procs->p[i];

			if (!other->of.pid || other->perf.fd < 0)
				continue;
			bytes += other->perf.table.room * sizeof(*other->perf.table.e);
			n++;
			if (other != p && (!oldest || other->used < oldest->used))
				oldest = other;
		}
		if ((n <= USER_PERF_MAPS_MAX && bytes <= PERF_MAP_TABLE_BYTES) || !oldest)
			return;
		perf_map_close(&oldest->perf);
		us->lost.perf_maps++;
	}
}

static void open_perf_map(struct user_symbols *us, struct user_proc *p)
{
	int proc = target_open(&p->of);

	p->perf_asked = true;
	if (proc < 0)
		return;
	us->lost.perf_maps += perf_map_open(proc, &p->perf) == -EPERM;
	close(proc);
}

bool user_proc_jit(struct user_symbols *us, struct user_proc *p, __u64 ip, struct user_symbol *ret)
{
	__u64 cut = p->perf.table.cut;
	bool found;

	if (!p->perf_asked)
		open_perf_map(us, p);
	if (p->perf.fd < 0)
		return false;
	found = perf_map_find(&p->perf, ip, ret->name, sizeof(ret->name), &ret->offset);
	us->lost.perf_maps += !cut && p->perf.table.cut;
	keep_perf_maps_within(us, p);
	if (!found)
		return false;
	snprintf(ret->module, sizeof(ret->module), "[jit]");
	return true;
}
