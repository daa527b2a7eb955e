// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/user_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/symbols/mapped_file.h"
#include "collect/files/target_file.h"

/* State while the mappings of one process are read. */
struct learning {
	struct user_symbols *us;
	int proc;
	int root;
	const struct user_maps *before;
	struct user_maps now;
	struct user_map *wanted; /* the only mapping whose file is opened; NULL: all */
};

static struct user_file *open_file(const struct learning *l, const struct exec_map *m)
{
	struct user_file_id id = {m->inode, m->dev_major, m->dev_minor};
	struct user_file *f;
	char path[4096];
	bool unproven;
	int fd;

	mapped_file_path(m, path, sizeof(path));
	f = user_files_find(l->us, &id, path);
	if (f)
		return f;
	fd = mapped_file_open(l->proc, l->root, m, path, &unproven);
	if (fd < 0) {
		l->us->lost.refused++;
		return NULL;
	}
	f = user_files_add(l->us, &id, fd, path, l->root);
	if (f)
		f->unproven = unproven;
	return f;
}

static void note_file(struct user_symbols *us, struct user_map *m, const struct user_file *f)
{
	m->place = f ? f - us->files->f : 0;
	m->serial = f ? f->serial : 0;
	m->has_build_id = f && f->elf.h.build_id_bytes;
	if (m->has_build_id)
		memcpy(m->build_id, f->elf.h.build_id, BUILD_ID_BYTES);
}

/* Returns the earlier entry of an unchanged mapping, whose file may be closed by now. */
static const struct user_map *learned_before(const struct learning *l, const struct exec_map *m)
{
	for (size_t i = 0; l->before && i < l->before->n; i++) {
		const struct user_map *b = &l->before->m[i];

		if (b->serial && b->start == m->start && b->end == m->end &&
		    b->offset == m->offset && b->id.inode == m->inode &&
		    b->id.dev_major == m->dev_major && b->id.dev_minor == m->dev_minor)
			return b;
	}
	return NULL;
}

static struct user_map *new_map(struct user_maps *maps)
{
	struct user_map *m = array_grow(maps->m, maps->n, &maps->room, USER_MAPS_MAX, sizeof(*m));

	if (!m)
		return NULL;
	maps->m = m;
	return &m[maps->n++];
}

static int learn_map(void *ctx, const struct exec_map *m)
{
	struct learning *l = ctx;
	const struct user_map *before = learned_before(l, m);
	struct user_map *new;

	if (l->now.n == USER_MAPS_MAX) {
		l->us->lost.maps++;
		return 0;
	}
	new = new_map(&l->now);
	if (!new)
		return -ENOMEM;
	if (before) {
		*new = *before;
		return 0;
	}
	*new = (struct user_map){
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.id = {m->inode, m->dev_major, m->dev_minor},
	};
	note_file(l->us, new, open_file(l, m));
	return 0;
}

/* Opens the file of the mapping l->wanted, if the mapping is unchanged. */
static int open_wanted(void *ctx, const struct exec_map *m)
{
	struct learning *l = ctx;

	if (m->start != l->wanted->start || m->inode != l->wanted->id.inode)
		return 0;
	note_file(l->us, l->wanted, open_file(l, m));
	return 1;
}

static int look(struct learning *l, const struct process_key *of, exec_map_fn *each)
{
	bool cut = false;
	int err;

	l->proc = target_open(of);
	if (l->proc < 0)
		return l->proc;
	l->root = target_root_open(l->proc);
	err = exec_maps_each(l->proc, EXEC_MAPS_FILES, l->us->text_only, each, l, &cut);
	l->us->lost.maps += cut;
	if (l->root >= 0)
		close(l->root);
	close(l->proc);
	return err;
}

int user_maps_learn(struct user_symbols *us, const struct process_key *of,
		    const struct user_maps *before, struct user_maps *ret)
{
	struct learning l = {.us = us, .before = before};
	int err = look(&l, of, learn_map);

	if (err)
		user_maps_free(&l.now);
	else
		*ret = l.now;
	return err;
}

struct user_file *user_map_file(struct user_symbols *us, const struct process_key *of,
				struct user_map *m)
{
	struct learning l = {.us = us, .wanted = m};
	struct user_file *f = m->serial ? user_files_get(us, m->place, m->serial) : NULL;

	if (f || !m->serial || us->foreign || look(&l, of, open_wanted) != 1)
		return f;
	return m->serial ? user_files_get(us, m->place, m->serial) : NULL;
}

struct user_file *user_maps_file(struct user_symbols *us, const struct process_key *of,
				 struct user_maps *maps, const __u8 *build_id)
{
	for (size_t i = 0; i < maps->n; i++) {
		struct user_map *m = &maps->m[i];
		struct user_file *f;

		if (!m->has_build_id || memcmp(m->build_id, build_id, BUILD_ID_BYTES))
			continue;
		f = user_map_file(us, of, m);
		if (f && !memcmp(f->elf.h.build_id, build_id, BUILD_ID_BYTES))
			return f;
	}
	return NULL;
}

struct user_map *user_maps_at(const struct user_maps *maps, __u64 ip)
{
	for (size_t i = 0; i < maps->n; i++)
		if (ip >= maps->m[i].start && ip < maps->m[i].end)
			return &maps->m[i];
	return NULL;
}

void user_maps_free(struct user_maps *maps)
{
	free(maps->m);
	*maps = (struct user_maps){};
}
