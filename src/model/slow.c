// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/slow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/fields.h"

static bool is_of(const struct slow_row *row, const struct process_key *id)
{
	return same_subject(&row->now.subject, id);
}

bool slow_is_same(const struct slow_faults_record *a, const struct slow_faults_record *b)
{
	return same_subject(&a->subject, &b->subject) && a->class == b->class &&
	       a->inode == b->inode && a->holder == b->holder && a->stack == b->stack;
}

static struct slow_row *row_for(struct slow_rows *s, const struct slow_faults_record *r)
{
	struct slow_row *oldest = &s->row[0];

	for (size_t i = 0; i < s->n; i++) {
		if (slow_is_same(&s->row[i].now, r))
			return &s->row[i];
		if (s->row[i].now.h.t_ns < oldest->now.h.t_ns)
			oldest = &s->row[i];
	}
	if (s->n < SLOW_ROWS_MAX)
		oldest = &s->row[s->n++];
	else
		s->lost++;
	memset(oldest, 0, sizeof(*oldest));
	oldest->window = UINT64_MAX;
	return oldest;
}

int slow_take(struct model *m, const struct slow_faults_record *r)
{
	struct slow_row *row;

	if (!m->slow)
		m->slow = calloc(1, sizeof(*m->slow));
	if (!m->slow)
		return -ENOMEM;
	row = row_for(m->slow, r);
	if (row->window != m->window)
		row->before = row->now;
	row->window = m->window;
	row->now = *r;
	return 0;
}

static bool is_worse(const struct slow_row *a, const struct slow_row *b)
{
	return a->now.total_ns > b->now.total_ns;
}

static bool comes_before(const void *a, const void *b)
{
	return is_worse(*(const struct slow_row *const *)a, *(const struct slow_row *const *)b);
}

size_t slow_worst(const struct model *m, const struct process_key *id, const struct slow_row **ret,
		  size_t room)
{
	size_t n = 0;

	for (size_t i = 0; m->slow && i < m->slow->n; i++) {
		const struct slow_row *row = &m->slow->row[i];

		if (is_of(row, id) && row->now.class != CLASS_HOLDER)
			array_insert(ret, &n, room, sizeof(*ret), comes_before, &row);
	}
	return n;
}

static uint64_t waited_now(const struct model *m, const struct slow_row *row)
{
	uint64_t now = row->now.waited_ns[WAIT_LOCK], was = row->before.waited_ns[WAIT_LOCK];

	return row->window == m->window && now > was ? now - was : 0;
}

const struct slow_row *slow_for_others(const struct model *m, const struct process_key *id,
				       uint64_t *ret_ns)
{
	const struct slow_row *worst = NULL;

	*ret_ns = 0;
	for (size_t i = 0; m->slow && i < m->slow->n; i++) {
		const struct slow_row *row = &m->slow->row[i];
		uint64_t ns = waited_now(m, row);

		if (!ns || !is_of(row, id) || !row->now.holder || row->now.holder == id->pid)
			continue;
		*ret_ns += ns;
		if (!worst || ns > waited_now(m, worst))
			worst = row;
	}
	return worst;
}

const struct slow_row *slow_own_hold(const struct model *m, const struct process_key *id)
{
	const struct slow_row *worst = NULL;

	for (size_t i = 0; m->slow && i < m->slow->n; i++) {
		const struct slow_row *row = &m->slow->row[i];

		if (is_of(row, id) && row->now.class == CLASS_HOLDER &&
		    (!worst || is_worse(row, worst)))
			worst = row;
	}
	return worst;
}

const char *slow_sort(const struct slow_faults_record *r)
{
	return r->class < NR_CLASSES	  ? class_name(r->class)
	       : r->class == CLASS_CALL	  ? "call"
	       : r->class == CLASS_HOLDER ? "holder"
					  : class_name(CLASS_OTHER);
}
