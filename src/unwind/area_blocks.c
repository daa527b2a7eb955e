// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/area_blocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

/*
 * A fork may copy a process's entry while user space replaces it. A list is therefore freed only
 * when two sweeps in a row found it unused.
 */
#define SWEEPS_UNUSED 2

static struct area_block *add(struct area_blocks *x)
{
	struct area_block *b = array_grow(x->b, x->n, &x->room, AREA_BLOCKS_MAX, sizeof(*b));

	if (!b)
		return NULL;
	x->b = b;
	return &x->b[x->n];
}

static void release_files(struct area_block *b, __u64 now_ns)
{
	for (__u32 i = 0; i < b->n; i++)
		if (b->file[i])
			code_file_release(b->file[i], now_ns);
	free(b->file);
	free(b->span);
}

static bool make_lists(struct area_block *b, size_t n)
{
	if (n > MAPPED_CODE_MAX)
		return false;
	b->file = calloc(n, sizeof(struct code_file *)); /* n is at most MAPPED_CODE_MAX */
	b->span = calloc(n, sizeof(*b->span));
	b->n = n;
	return b->file && b->span;
}

static void free_lists(struct area_block *b)
{
	free(b->file);
	free(b->span);
}

int area_blocks_publish(struct area_blocks *x, struct unwind_maps *m, const struct mapped_code *c,
			__u64 now_ns)
{
	struct area_block *b = add(x);
	struct fs_python python;
	bool has_python = mapped_code_python(c, &python);
	int err;

	if (!b)
		return -ENOMEM;
	*b = (struct area_block){};
	if (!make_lists(b, c->n)) {
		free_lists(b);
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n; i++)
		b->span[i] = (struct code_span){c->m[i].start, c->m[i].end, c->m[i].offset};
	for (size_t i = c->at; i < c->n; i++)
		c->area[i] = (struct fs_unwind_area){
			.start = c->m[i].start, .end = c->m[i].end, .pages = FS_UNWIND_NO_TABLE};
	err = unwind_maps_publish(m, c->of.pid, &c->begun, c->area, c->n,
				  has_python ? &python : NULL, now_ns, &b->given);
	if (err) {
		free_lists(b);
		return err;
	}
	for (size_t i = 0; i < c->at; i++) {
		b->file[i] = c->file[i];
		if (b->file[i])
			b->file[i]->users++;
	}
	x->n++;
	return 0;
}

static const struct area_block *find_block(const struct area_blocks *x, __u32 generation)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->b[i].given.generation == generation)
			return &x->b[i];
	return NULL;
}

bool area_blocks_find(const struct area_blocks *x, __u32 generation, __u64 ip,
		      __u8 ret_build_id[BUILD_ID_BYTES], __u64 *ret_offset)
{
	const struct area_block *b = find_block(x, generation);

	for (size_t i = 0; b && i < b->n; i++) {
		const struct code_span *s = &b->span[i];

		if (ip < s->start || ip >= s->end)
			continue;
		if (!b->file[i] || !b->file[i]->has_build_id)
			return false;
		memcpy(ret_build_id, b->file[i]->build_id, BUILD_ID_BYTES);
		*ret_offset = ip - s->start + s->offset;
		return true;
	}
	return false;
}

struct sweep {
	struct area_blocks *x;
	struct unwind_maps *m;
};

static bool is_gone(pid_t tgid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", tgid);
	return access(path, F_OK) && errno == ENOENT;
}

static void see_process(void *ctx, pid_t tgid, const struct fs_unwind_proc *p)
{
	struct sweep *s = ctx;

	if (is_gone(tgid)) {
		unwind_maps_end(s->m, tgid);
		s->x->ended++;
		return;
	}
	for (size_t i = 0; i < s->x->n; i++)
		if (s->x->b[i].given.first == p->first && p->areas)
			s->x->b[i].seen = true;
}

void area_blocks_sweep(struct area_blocks *x, struct unwind_maps *m, __u64 now_ns)
{
	struct sweep s = {x, m};

	for (size_t i = 0; i < x->n; i++)
		x->b[i].seen = false;
	unwind_maps_each(m, see_process, &s);
	for (size_t i = 0; i < x->n;) {
		struct area_block *b = &x->b[i];

		b->unused = b->seen ? 0 : b->unused + 1;
		if (b->unused < SWEEPS_UNUSED) {
			i++;
			continue;
		}
		release_files(b, now_ns);
		unwind_maps_drop_areas(m, &b->given, now_ns);
		*b = x->b[--x->n];
	}
}

void area_blocks_free(struct area_blocks *x)
{
	for (size_t i = 0; i < x->n; i++)
		free_lists(&x->b[i]);
	free(x->b);
	*x = (struct area_blocks){};
}
