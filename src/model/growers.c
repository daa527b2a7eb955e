// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/growers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/array.h"
#include "base/units.h"
#include "model/fields.h"
#include "model/growth_archive.h"
#include "records/stack_ends.h"

#define EARLY_MAX 64  /* maximum number of cells whose early stacks are compared with others */
#define SORTS_MAX 256 /* maximum number of names per process; the last one is "others" */

/* File systems of shared mappings, with the numbers of include/uapi/linux/magic.h. */
static const struct {
	uint64_t magic;
	const char *name;
} file_systems[] = {{0x01021994, "tmpfs"},  {0x958458f6, "hugetlbfs"}, {0xef53, "ext4"},
		    {0x58465342, "xfs"},    {0x9123683e, "btrfs"},     {0x794c7630, "overlay"},
		    {0x6969, "nfs"},	    {0x65735546, "fuse"},      {0x9fa0, "proc"},
		    {0x444d4142, "dma-buf"}};

static const char *file_system(uint64_t magic)
{
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++)
		if (file_systems[i].magic == magic)
			return file_systems[i].name;
	return NULL;
}

#define KIND_OF(mode) ((mode)&0170000)
#define KIND_SOCKET   0140000
#define KIND_PIPE     0010000

static void name_of_file(const struct growth *g, char *ret, size_t size)
{
	const char *fs = file_system(g->magic);
	char folded[FILE_NAME_LEN];

	name_fold(g->name, folded, sizeof(folded));
	array_copy(ret, size, *folded ? folded : "file without a name");
	if (g->flags & FILE_DELETED && *folded != '[')
		array_append(ret, size, " (deleted)");
	if (fs) {
		array_append(ret, size, " in ");
		array_append(ret, size, fs);
	}
}

static void name_of_rights(uint32_t prot, uint32_t flags, char *ret, size_t size)
{
	array_copy(ret, size, flags & 1 ? "anonymous shared " : "anonymous ");
	array_append(ret, size, prot & 1 ? "r" : "");
	array_append(ret, size, prot & 2 ? "w" : "");
	array_append(ret, size, prot & 4 ? "x" : "");
}

/* Names an anonymous mapping by protection and flags, which GROWTH_ANON() packs into `mode`. */
static void name_of_anonymous(const struct growth *g, char *ret, size_t size)
{
	uint32_t prot = g->mode >> 24, flags = g->mode & 0x1fffff;

	if (flags & 0x20000) /* MAP_STACK */
		array_copy(ret, size, "thread stack");
	else if (flags & 0x40000) /* MAP_HUGETLB */
		array_copy(ret, size, "huge pages");
	else if (!prot)
		array_copy(ret, size, "anonymous, no rights (reserved, or a guard)");
	else
		name_of_rights(prot, flags, ret, size);
}

static void name_of_split(const char *call, char *ret, size_t size)
{
	array_copy(ret, size, "split by ");
	array_append(ret, size, call);
}

void growth_name(const struct growth *g, char *ret, size_t size)
{
	if (g->flags & FILE_KNOWN && KIND_OF(g->mode) == KIND_SOCKET)
		array_copy(ret, size, "socket");
	else if (g->flags & FILE_KNOWN && KIND_OF(g->mode) == KIND_PIPE)
		array_copy(ret, size, "pipe");
	else if (g->flags & FILE_KNOWN)
		name_of_file(g, ret, size);
	else if (g->call == CALL_MMAP)
		name_of_anonymous(g, ret, size);
	else
		name_of_split(call_name(g->call), ret, size);
}

/* Growth of mappings or fds with one name at one call site. */
struct cell {
	uint16_t sort;
	int32_t stack;
	uint64_t added, removed;
	bool sampled;
};

struct cells {
	char (*sort)[GROWER_NAME]; /* array of SORTS_MAX names */
	size_t sorts;
	struct cell *cell;
	size_t n;
	uint64_t added;
	uint64_t unmapped; /* number of unmapped mappings that have no name */
};

static uint16_t sort_of(struct cells *c, const char *name)
{
	for (size_t i = 0; i < c->sorts; i++)
		if (!strcmp(c->sort[i], name))
			return i;
	if (c->sorts == SORTS_MAX) {
		array_copy(c->sort[SORTS_MAX - 1], GROWER_NAME, "others");
		return SORTS_MAX - 1;
	}
	array_copy(c->sort[c->sorts], GROWER_NAME, name);
	return c->sorts++;
}

/* Returns the same number for all stacks with equal text, whose addresses may differ. */
static int32_t place_of(const struct model *m, const struct growth *g)
{
	const struct frames *f = model_frames(m, &g->subject, g->stack);

	return f ? f->alike : g->stack;
}

static bool is_of(const struct growth *g, const struct process_key *id, enum what what)
{
	return g->what == (uint32_t)what && same_subject(&g->subject, id);
}

static uint64_t left_in(const struct growth *g)
{
	return g->added > g->removed ? g->added - g->removed : 0;
}

static int by_left_in(const void *a, const void *b)
{
	const struct growth *g = *(const struct growth *const *)a,
			    *h = *(const struct growth *const *)b;
	uint64_t x = left_in(g), y = left_in(h);

	if (x == y)
		x = g->added, y = h->added;
	return x < y ? 1 : x > y ? -1 : g < h ? -1 : g > h;
}

/*
 * Returns the rows for mappings or fds that a process created; the caller frees the array. Returns
 * NULL if there is no memory. If there may be more than SORTS_MAX names, rows with the largest
 * growth come first.
 */
static const struct growth **find_rows(struct cells *c, const struct model *m,
				       const struct process_key *id, enum what what, size_t *ret_n)
{
	size_t all = m->growths < MODEL_GROWTH_MAX ? m->growths : MODEL_GROWTH_MAX;
	const struct growth **row = calloc(all ?: 1, sizeof(*row));

	*ret_n = 0;
	for (size_t i = 0; row && i < all; i++) {
		const struct growth *g = &m->growth[i];

		if (!is_of(g, id, what))
			continue;
		if (g->added)
			row[(*ret_n)++] = g;
		else
			c->unmapped += g->removed;
	}
	if (*ret_n >= SORTS_MAX)
		qsort(row, *ret_n, sizeof(*row), by_left_in);
	return row;
}

static int collect(struct cells *c, const struct model *m, const struct process_key *id,
		   enum what what)
{
	const struct growth **row;
	char name[GROWER_NAME];
	size_t n;

	*c = (struct cells){};
	row = find_rows(c, m, id, what, &n);
	c->sort = calloc(SORTS_MAX, sizeof(*c->sort));
	c->cell = n <= MODEL_GROWTH_MAX ? calloc(n ?: 1, sizeof(*c->cell)) : NULL;
	if (!row || !c->sort || !c->cell) {
		free(row);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		growth_name(row[i], name, sizeof(name));
		c->cell[c->n++] = (struct cell){.sort = sort_of(c, name),
						.stack = place_of(m, row[i]),
						.added = row[i]->added,
						.removed = row[i]->removed,
						.sampled = row[i]->flags & GROWTH_SAMPLED};
		c->added += row[i]->added;
	}
	free(row);
	return 0;
}

/* Returns whether a stack is whole and begins with all frames of another stack. */
static bool continues(const struct frames *whole, const struct frames *early)
{
	size_t len = strlen(early->text);

	return whole && !(whole->flags & FRAMES_SHORT) && !strncmp(whole->text, early->text, len) &&
	       whole->text[len] == '\n';
}

/*
 * Finds the whole stack of the same file name that begins with the frames of an early stack; -1:
 * there is none, or there are several.
 */
static int32_t whole_stack(const struct cells *c, const struct model *m,
			   const struct process_key *id, const struct cell *one)
{
	const struct frames *early = model_frames(m, id, one->stack);
	int32_t found = -1;

	for (size_t i = 0; i < c->n; i++) {
		int32_t stack = c->cell[i].stack;

		if (c->cell[i].sort != one->sort || stack == found || stack == one->stack ||
		    !continues(model_frames(m, id, stack), early))
			continue;
		if (found >= 0)
			return -1;
		found = stack;
	}
	return found;
}

/*
 * Merges early stacks into whole ones. The first stacks of a program end early, because its unwind
 * tables are not made yet. The growth of an early stack is added to the whole stack that begins
 * with its frames, if there is exactly one.
 */
static void join_early(struct cells *c, const struct model *m, const struct process_key *id)
{
	for (size_t i = 0, n = 0; i < c->n && n < EARLY_MAX; i++) {
		const struct frames *f = model_frames(m, id, c->cell[i].stack);
		int32_t whole;

		if (!f || f->end != STACK_END_MISSING || !f->text[0])
			continue;
		whole = whole_stack(c, m, id, &c->cell[i]);
		if (whole >= 0)
			c->cell[i].stack = whole;
		n++;
	}
}

static void cells_free(struct cells *c)
{
	free(c->sort);
	free(c->cell);
}

static int by_sort(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->sort != y->sort    ? (int)x->sort - y->sort
	       : x->stack < y->stack ? -1
				     : x->stack > y->stack;
}

static int by_place(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->stack < y->stack ? -1 : x->stack > y->stack ? 1 : (int)x->sort - y->sort;
}

static bool is_one_cell(const struct cell *a, const struct cell *b)
{
	return a->sort == b->sort && a->stack == b->stack;
}

static uint64_t left_of(const struct grower *g)
{
	return g->added > g->removed ? g->added - g->removed : 0;
}

static int by_left(const void *a, const void *b)
{
	const struct grower *g = a, *h = b;
	uint64_t x = left_of(g), y = left_of(h);

	if (x == y)
		x = g->added, y = h->added;
	return x < y ? 1 : x > y ? -1 : strcmp(g->name, h->name);
}

/* Adds up the sorted cells [from, to), in which cells of equal name and stack are adjacent. */
static void add_cells(const struct cells *c, size_t from, size_t to, bool places, struct grower *g)
{
	uint64_t most = 0, run = 0;

	*g = (struct grower){.stack = -1};
	for (size_t i = from; i < to; i++) {
		const struct cell *one = &c->cell[i];

		run = i > from && is_one_cell(one, one - 1) ? run : 0;
		run += one->added > one->removed ? one->added - one->removed : 0;
		g->added += one->added;
		g->removed += one->removed;
		g->sampled |= one->sampled;
		g->known += one->stack >= 0 ? one->added : 0;
		if (run <= most || (one->stack < 0 && !places))
			continue;
		most = run;
		g->stack = one->stack;
		g->by_stack = run;
		array_copy(g->name, GROWER_NAME, c->sort[one->sort]);
	}
	if (!places)
		array_copy(g->name, GROWER_NAME, c->sort[c->cell[from].sort]);
	g->removed += c->unmapped < g->added ? c->unmapped : g->added;
}

static int grouped(const struct model *m, const struct process_key *id, enum what what, bool places,
		   struct grower *ret, size_t room, uint64_t *ret_added)
{
	const struct subject *s = model_find(m, id);
	struct grower *all = NULL;
	struct cells c = {};
	size_t n = 0;
	int err;

	*ret_added = 0;
	/* `grew` is unset for a process without growth records */
	if (!m->growths || (s && !s->grew[what]))
		return 0;
	err = collect(&c, m, id, what);
	if (err || !c.n || c.n > MODEL_GROWTH_MAX)
		goto out;
	all = calloc(c.n, sizeof(*all));
	if (!all) {
		err = -ENOMEM;
		goto out;
	}
	*ret_added = c.added;
	join_early(&c, m, id);
	qsort(c.cell, c.n, sizeof(*c.cell), places ? by_place : by_sort);
	for (size_t from = 0, to; from < c.n; from = to) {
		for (to = from + 1; to < c.n; to++)
			if (places ? c.cell[to].stack != c.cell[from].stack
				   : c.cell[to].sort != c.cell[from].sort)
				break;
		add_cells(&c, from, to, places, &all[n++]);
	}
	qsort(all, n, sizeof(*all), by_left);
	n = n < room ? n : room;
	memcpy(ret, all, n * sizeof(*ret));
out:
	free(all);
	cells_free(&c);
	return err ? err : (int)n;
}

int growers_of(const struct model *m, const struct process_key *id, enum what what,
	       struct grower *ret, size_t room, uint64_t *ret_added)
{
	return grouped(m, id, what, false, ret, room, ret_added);
}

int growers_by_place(const struct model *m, const struct process_key *id, enum what what,
		     struct grower *ret, size_t room, uint64_t *ret_added)
{
	return grouped(m, id, what, true, ret, room, ret_added);
}
