// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/resident.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct resident_of *find(const struct model *m, const struct process_key *id)
{
	for (size_t i = 0; m->resident && i < m->resident->n; i++)
		if (same_subject(&m->resident->of[i].id, id))
			return &m->resident->of[i];
	return NULL;
}

/* Returns false without memory. */
static bool begin(struct model *m)
{
	if (!m->resident)
		m->resident = calloc(1, sizeof(*m->resident));
	return m->resident;
}

/* Returns the lists of a process. Creates missing ones. Returns NULL without room or memory. */
static struct resident_of *make(struct model *m, const struct process_key *id)
{
	struct resident_of *of = find(m, id);

	if (of)
		return of;
	if (!begin(m))
		return NULL;
	if (m->resident->n == RESIDENT_PROCESSES_MAX) {
		m->resident->lost++;
		return NULL;
	}
	of = &m->resident->of[m->resident->n++];
	of->id = *id;
	return of;
}

static int copy_list(struct resident_list *to, const struct resident_list *from)
{
	struct resident_record *row;

	if (from->n > RESIDENT_ROWS_MAX)
		return -ENOMEM;
	row = calloc(from->n + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	if (from->n)
		memcpy(row, from->row, from->n * sizeof(*row));
	free(to->row);
	*to = (struct resident_list){row, from->n, from->n + 1, from->sum};
	return 0;
}

static uint64_t size_of(const struct resident_list *l)
{
	return l->sum.anon_bytes + l->sum.file_bytes + l->sum.shmem_bytes;
}

const struct resident_list *resident_shown(const struct resident_of *of, bool ended)
{
	return !ended ? &of->now : of->peak.sum.h.t_ns ? &of->peak : &of->first;
}

int resident_take(struct model *m, const struct resident_record *r)
{
	struct resident_of *of = make(m, &r->subject);
	struct resident_record *more;

	if (!of)
		return m->resident ? 0 : -ENOMEM;
	if (!r->nth)
		of->next.n = 0;
	if (r->nth != of->next.n || of->next.n == RESIDENT_ROWS_MAX) {
		m->resident->lost++; /* rows are missing before this one */
		return 0;
	}
	more = array_grow(of->next.row, of->next.n, &of->next.room, RESIDENT_ROWS_MAX,
			  sizeof(*more));
	if (!more)
		return -ENOMEM;
	of->next.row = more;
	more[of->next.n] = *r;
	if (r->by >= RESIDENT_NR_BY)
		more[of->next.n].by = RESIDENT_NO_FAULT;
	if (r->kind >= NR_HOLDING_KINDS)
		more[of->next.n].kind = HOLDING_OTHER;
	of->next.n++;
	return 0;
}

/*
 * Keeps copies of the last list, at intervals of an eighth of the time or more. Drops those that
 * are too old.
 */
static int keep_base(uint64_t since_ns, struct resident_of *of)
{
	uint64_t now_ns = of->now.sum.h.t_ns;
	const struct resident_list *last = of->bases ? &of->base[of->bases - 1] : &of->first;
	struct resident_list copy = {};
	int err;

	if (now_ns - last->sum.h.t_ns < since_ns / 8)
		return 0;
	err = copy_list(&copy, &of->now);
	if (err)
		return err;
	if (of->bases == RESIDENT_BASES) {
		free(of->base[0].row);
		memmove(&of->base[0], &of->base[1], --of->bases * sizeof(of->base[0]));
	}
	of->base[of->bases++] = copy;
	return 0;
}

int model_resident_since(struct model *m, uint64_t since_ns)
{
	if (!begin(m))
		return -ENOMEM;
	m->resident->since_ns = since_ns;
	return 0;
}

const struct resident_list *resident_base(const struct model *m, const struct resident_of *of,
					  const struct resident_list *list)
{
	uint64_t since_ns = m->resident->since_ns;

	for (size_t i = of->bases; i-- > 0;)
		if (of->base[i].sum.h.t_ns + since_ns <= list->sum.h.t_ns)
			return &of->base[i];
	return &of->first;
}

int resident_take_sum(struct model *m, const struct resident_sum_record *r)
{
	const struct subject *s = model_find(m, &r->subject);
	struct resident_of *of = make(m, &r->subject);
	struct resident_list old;
	int err;

	if (!of)
		return m->resident ? 0 : -ENOMEM;
	if (s)
		memcpy(of->comm, s->now.g.comm, sizeof(of->comm));
	if (!r->rows)
		of->next.n = 0;
	of->next.sum = *r;
	old = of->now;
	of->now = of->next;
	of->next = old;
	of->next.n = 0;
	if (!of->first.sum.h.t_ns)
		return copy_list(&of->first, &of->now);
	if (m->resident->since_ns && (err = keep_base(m->resident->since_ns, of)))
		return err;
	return size_of(&of->now) > size_of(resident_shown(of, true))
		       ? copy_list(&of->peak, &of->now)
		       : 0;
}

static void free_lists(struct resident_of *of)
{
	for (size_t k = 0; k < of->bases; k++)
		free(of->base[k].row);
	free(of->first.row);
	free(of->now.row);
	free(of->peak.row);
	free(of->next.row);
}

void resident_all_free(struct model *m)
{
	for (size_t i = 0; m->resident && i < m->resident->n; i++)
		free_lists(&m->resident->of[i]);
	free(m->resident);
	m->resident = NULL;
}

void model_resident_forget_ended(struct model *m)
{
	for (size_t i = 0; m->resident && i < m->resident->n;) {
		struct resident_of *of = &m->resident->of[i];
		const struct subject *s = model_find(m, &of->id);

		if (s && !s->final) {
			i++;
			continue;
		}
		free_lists(of);
		*of = m->resident->of[--m->resident->n];
		memset(&m->resident->of[m->resident->n], 0, sizeof(*of));
	}
}

const struct resident_of *model_resident(const struct model *m, const struct process_key *id)
{
	const struct resident_of *of = find(m, id);

	return of && of->now.sum.h.t_ns ? of : NULL;
}

const struct resident_of *model_resident_each(const struct model *m, const struct resident_of *last)
{
	const struct resident_of *of = last ? last + 1 : m->resident ? m->resident->of : NULL;

	for (; of && of < m->resident->of + m->resident->n; of++)
		if (of->now.sum.h.t_ns)
			return of;
	return NULL;
}

const char *resident_runtime(const struct resident_list *l)
{
	static const char *const known[][2] = {
		{"libjvm.so", "Java"},
		{"libcoreclr.so", ".NET"},
		{"node", "Node.js"},
		{"nodejs", "Node.js"},
	};

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (l->row[i].kind == HOLDING_FILE_PRIVATE &&
			    !strncmp(l->row[i].file, known[k][0], sizeof(l->row[i].file)))
				return known[k][1];
	return NULL;
}

const char *resident_by_name(uint32_t by)
{
	static const char *const names[RESIDENT_NR_BY] = {
		[RESIDENT_TOUCHED] = "touched",	    [RESIDENT_COPIED] = "copied",
		[RESIDENT_INHERITED] = "inherited", [RESIDENT_BEFORE] = "before",
		[RESIDENT_NO_FAULT] = "no_fault",   [RESIDENT_NOT_CHOSEN] = "not_chosen",
	};

	return by < RESIDENT_NR_BY ? names[by] : "?";
}

const char *resident_no_stack(uint32_t by)
{
	static const char *const texts[RESIDENT_NR_BY] = {
		[RESIDENT_TOUCHED] = "touched, but the stack was not recorded",
		[RESIDENT_COPIED] = "copied, but the stack was not recorded",
		[RESIDENT_INHERITED] = "inherited from the parent, stack not recorded",
		[RESIDENT_BEFORE] = "resident before the watch began",
		[RESIDENT_NO_FAULT] = "made resident without a fault (MAP_POPULATE, mlock, GPU or "
				      "I/O buffers, mremap)",
		[RESIDENT_NOT_CHOSEN] = "little memory of this kind: none of its pages was chosen",
	};

	return by < RESIDENT_NR_BY ? texts[by] : "?";
}

uint64_t resident_bytes(const struct resident_record *r)
{
	return r->bytes + r->swapped_bytes;
}

static bool is_same(const struct resident_record *a, const struct resident_record *b)
{
	return a->stack == b->stack && a->by == b->by && a->kind == b->kind &&
	       a->before == b->before && a->toucher.pid == b->toucher.pid &&
	       !strncmp(a->file, b->file, sizeof(a->file));
}

int64_t resident_growth(const struct resident_list *base, const struct resident_list *list,
			const struct resident_record *row)
{
	int64_t now = resident_bytes(row);

	for (size_t i = 0; i < base->n; i++) {
		const struct resident_record *was = &base->row[i];

		if (!is_same(was, row))
			continue;
		if (base->sum.each == list->sum.each && was->pages == row->pages &&
		    was->huge_bytes == row->huge_bytes)
			return 0;
		now -= resident_bytes(was);
		/* what was there before the watch can only become less: more is a sampling error */
		return row->by == RESIDENT_BEFORE && now > 0 ? 0 : now;
	}
	return row->by == RESIDENT_BEFORE ? 0 : now;
}
