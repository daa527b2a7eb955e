// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/memory_holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define DEPTH_MOST 64

static uint64_t bytes_of(const struct model *m, const struct subject *s)
{
	uint64_t pages = gauges_rss_pages(&s->now.g) + gauges_swap_pages(&s->now.g);

	return pages * m->tick.limits.page_bytes;
}

double subject_growth(const struct model *m, const struct subject *s, uint64_t *ret_ns)
{
	const struct past *p = subject_past(s);
	double before = p->rss_pages + p->swap_pages;
	double now = gauges_rss_pages(&s->now.g) + gauges_swap_pages(&s->now.g);
	uint64_t end = s->last_ns > m->last_ns ? s->last_ns : m->last_ns;

	*ret_ns = p->t_ns && end > p->t_ns ? end - p->t_ns : 0;
	return *ret_ns ? (now - before) * m->tick.limits.page_bytes / (*ret_ns / 1e9) : 0;
}

static bool runs_the_same(const struct subject *a, const struct subject *b)
{
	if (a->exe && b->exe)
		return !strcmp(a->exe, b->exe);
	return !strcmp(a->now.g.comm, b->now.g.comm);
}

static const struct subject *root_of(const struct process_tree *k, const struct subject *s)
{
	for (int i = 0; i < DEPTH_MOST; i++) {
		const struct subject *parent = process_tree_parent(k, s);

		if (!parent || parent->final || !runs_the_same(parent, s))
			break;
		s = parent;
	}
	return s;
}

bool top_consumer_has(const struct process_tree *k, const struct top_consumer *e,
		      const struct subject *s)
{
	return root_of(k, s) == e->root;
}

struct member {
	const struct subject *root, *s;
};

static int by_age(const struct subject *a, const struct subject *b)
{
	return a->id.start_ns != b->id.start_ns ? (a->id.start_ns < b->id.start_ns ? -1 : 1)
	       : a->id.pid < b->id.pid		? -1
						: a->id.pid > b->id.pid;
}

/*
 * Sorts the processes of one consumer next to each other. The order does not depend on addresses,
 * so that the same records always give the same output.
 */
static int by_root(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->root != y->root ? by_age(x->root, y->root) : by_age(x->s, y->s);
}

static void add_member(const struct model *m, struct top_consumer *e, const struct subject *s)
{
	const struct gauges *g = &s->now.g;
	uint64_t page = m->tick.limits.page_bytes, ns;
	uint64_t shmem = g->rss_shmem_pages > 0 ? g->rss_shmem_pages * page : 0;

	e->processes++;
	e->rss_bytes += gauges_rss_pages(g) * page;
	e->swap_bytes += gauges_swap_pages(g) * page;
	e->commit_bytes += g->data_vm_pages * page;
	e->per_second += subject_growth(m, s, &ns);
	if (shmem > e->shmem_bytes)
		e->shmem_bytes = shmem;
	if (s != e->root)
		e->child_bytes += bytes_of(m, s);
}

static bool consumes_more(const void *a, const void *b)
{
	const struct top_consumer *x = a, *y = b;

	return x->rss_bytes + x->swap_bytes > y->rss_bytes + y->swap_bytes;
}

static size_t add_up(const struct model *m, const struct member *member, size_t n,
		     struct top_consumer *ret, size_t most)
{
	size_t top_consumers = 0;

	for (size_t i = 0; i < n;) {
		struct top_consumer one = {.root = member[i].root};

		for (; i < n && member[i].root == one.root; i++)
			add_member(m, &one, member[i].s);
		if (one.processes > 1)
			one.child_bytes /= one.processes - 1;
		array_insert(ret, &top_consumers, most, sizeof(*ret), consumes_more, &one);
	}
	return top_consumers;
}

int top_consumers_of(const struct model *m, struct top_consumer *ret, size_t most)
{
	size_t room = m->subjects < MODEL_SUBJECTS_MAX ? m->subjects : MODEL_SUBJECTS_MAX;
	struct member *member = calloc(room + 1, sizeof(*member));
	size_t n = 0, top_consumers = 0;
	struct process_tree k;

	if (!member || process_tree_of(m, &k)) {
		free(member);
		return -ENOMEM;
	}
	for (size_t i = 0; i < k.n && n < room; i++) {
		const struct subject *s = k.by_pid[i];

		/* skip a vfork child, which shares the memory of its parent */
		if (s->final || s->hidden || s->now.g.flags & PROC_SHARES_MM)
			continue;
		member[n++] = (struct member){root_of(&k, s), s};
	}
	qsort(member, n, sizeof(*member), by_root);
	top_consumers = add_up(m, member, n, ret, most);
	free(member);
	process_tree_free(&k);
	return top_consumers;
}
