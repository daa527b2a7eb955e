// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/process_tree.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MOST 64 /* maximum depth, as hostile recordings may have a cycle of parents */

static int by_pid(const void *a, const void *b)
{
	const struct process_key *x = &(*(const struct subject *const *)a)->id;
	const struct process_key *y = &(*(const struct subject *const *)b)->id;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int process_tree_of(const struct model *m, struct process_tree *ret)
{
	size_t room = m->subjects < MODEL_SUBJECTS_MAX ? m->subjects : MODEL_SUBJECTS_MAX;

	*ret = (struct process_tree){.by_pid = calloc(room + 1, sizeof(*ret->by_pid))};
	if (!ret->by_pid)
		return -ENOMEM;
	for (struct subject *s = model_each(m, NULL); s && ret->n < room; s = model_each(m, s))
		ret->by_pid[ret->n++] = s;
	qsort(ret->by_pid, ret->n, sizeof(*ret->by_pid), by_pid);
	return 0;
}

void process_tree_free(struct process_tree *k)
{
	free(k->by_pid);
	*k = (struct process_tree){};
}

/* Returns the last process with pid ppid that started before the child, as pids are reused. */
const struct subject *process_tree_parent(const struct process_tree *k, const struct subject *s)
{
	const struct subject *best = NULL;
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->by_pid[middle]->id.pid < s->now.g.ppid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < k->n && k->by_pid[low]->id.pid == s->now.g.ppid; low++)
		if (k->by_pid[low] != s && k->by_pid[low]->id.start_ns <= s->id.start_ns)
			best = k->by_pid[low];
	return best;
}

const struct subject *process_tree_root(const struct process_tree *k, const struct subject *s)
{
	const struct subject *parent;

	for (int i = 0; i < DEPTH_MOST && (parent = process_tree_parent(k, s)); i++)
		s = parent;
	return s;
}
