// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arranges the rows of a table as a tree of processes: below each process, its children. */
#include <errno.h>
#include <stdlib.h>

#include "render/tui/tui_parts.h"

#define DEPTH_MAX 32 /* deeper processes are indented as those of this depth */

/* A process in the tree. Indexes are those of the sorted rows; -1: none. */
struct branch {
	uint32_t pid;
	int row;
	int parent, child, next; /* parent, first child, next sibling */
	int best; /* first row, in the order of the table, of it and its descendants */
};

static int by_pid(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_best(const void *a, const void *b)
{
	const struct branch *x = *(const struct branch *const *)a;
	const struct branch *y = *(const struct branch *const *)b;

	if (x->best != y->best)
		return x->best < y->best ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/*
 * Finds the parent of a row. A process that began later has only reused the pid of the parent. This
 * also excludes cycles.
 */
static int parent_of(const struct branch *by, size_t n, const struct row *rows, int row)
{
	const struct subject *s = rows[row].s;
	struct branch key = {.pid = s->now.g.ppid};
	const struct branch *found = bsearch(&key, by, n, sizeof(*by), by_pid);
	const struct subject *p = found ? rows[found->row].s : NULL;

	if (!p || p == s || p->id.start_ns > s->id.start_ns ||
	    (p->id.start_ns == s->id.start_ns && p->id.pid >= s->id.pid))
		return -1;
	return found->row;
}

/* Passes the place of each row on to its ancestors, so that a tree comes where its best row is. */
static void find_best(struct branch *node, size_t n)
{
	for (size_t i = 0; i < n; i++)
		node[i].best = n;
	for (size_t i = 0; i < n; i++)
		for (int at = i; at >= 0 && node[at].best > (int)i; at = node[at].parent)
			node[at].best = i;
}

static void put_row(struct rows *r, struct row *to, size_t *n, int row, int depth)
{
	to[*n] = r->all[row];
	to[(*n)++].depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
}

/* Writes rows to `to`, each one before its children. */
static void walk(struct rows *r, const struct branch *node, int first, struct row *to)
{
	size_t n = 0;
	int depth = 0;

	for (int at = first; at >= 0;) {
		put_row(r, to, &n, at, depth);
		if (node[at].child >= 0) {
			at = node[at].child;
			depth++;
			continue;
		}
		while (at >= 0 && node[at].next < 0) {
			at = node[at].parent;
			depth--;
		}
		if (at >= 0)
			at = node[at].next;
	}
}

/* Links children to their parents, and returns the first process without a parent. */
static int link_nodes(struct branch *node, struct branch **order, size_t n)
{
	int first = -1;

	for (size_t i = 0; i < n; i++)
		order[i] = &node[i];
	qsort(order, n, sizeof(*order), by_best);
	for (size_t i = n; i-- > 0;) {
		struct branch *one = order[i];
		int *list = one->parent >= 0 ? &node[one->parent].child : &first;

		one->next = *list;
		*list = one->row;
	}
	return first;
}

int tui_parents(struct rows *r)
{
	size_t n = r->nr_all;
	/* overflow is impossible: a table has at most 2 * MODEL_SUBJECTS_MAX rows */
	struct branch *node = calloc(n, sizeof(*node)), *by = calloc(n, sizeof(*by));
	struct branch **order = calloc(n, sizeof(struct branch *));
	struct row *to = calloc(n, sizeof(*to));
	bool whole = node && by && order && to;

	for (size_t i = 0; whole && i < n; i++)
		by[i] = (struct branch){.pid = r->all[i].s->id.pid, .row = i};
	if (whole) {
		qsort(by, n, sizeof(*by), by_pid);
		for (size_t i = 0; i < n; i++)
			node[i] = (struct branch){.row = i,
						  .parent = parent_of(by, n, r->all, i),
						  .child = -1,
						  .next = -1};
		find_best(node, n);
		walk(r, node, link_nodes(node, order, n), to);
		free(r->all);
		r->all = to;
	} else {
		free(to);
	}
	free(node);
	free(by);
	free(order);
	return whole ? 0 : -ENOMEM;
}
