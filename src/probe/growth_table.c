// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/growth_table.h"

#include <stdlib.h>

#include "probe/host_facts.h"

/* Maximum number of stacks that each scan permits in addition to the first STACKS_MAX. */
#define STACKS_A_LOOK	      256
#define SAMPLED_STACKS_A_LOOK 64

static __u32 used_places(const struct growth_table *t)
{
	__u32 used = __atomic_load_n(&t->shared->growth_used, __ATOMIC_ACQUIRE);

	return used < GROWTH_MAX ? used : GROWTH_MAX;
}

/* Returns the number of rows to read. */
static __u32 used_rows(const struct growth_table *t)
{
	__u32 used = t->row ? used_places(t) : 0;

	return used < t->rows ? used : t->rows;
}

/* Copies a row. Returns false if a BPF program is replacing the row. */
static bool read_row(const struct growth_table *t, __u32 place, struct growth *ret)
{
	const volatile struct growth *row = &t->row[place];
	__u64 first_ns = row->first_ns, last_ns = row->last_ns;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*ret = t->row[place];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/*
	 * last_ns was read before the row was copied: if the row grew meanwhile, it is sent again
	 */
	ret->last_ns = last_ns;
	return last_ns && row->first_ns == first_ns;
}

int growth_table_send(struct growth_table *t, const struct sink *sink)
{
	struct growth_record r = {.h = {RECORD_GROWTH, sizeof(r), host_monotonic_ns()}};
	__u32 used = used_rows(t);

	for (__u32 i = 0; i < used; i++) {
		int err;

		if (t->row[i].last_ns == t->told_ns[i] || !read_row(t, i, &r.g))
			continue;
		r.place = i;
		err = sink->take(sink->ctx, &r.h);
		if (err)
			return err;
		t->told_ns[i] = r.g.last_ns;
	}
	return 0;
}

static __u32 free_places(const struct growth_table *t)
{
	__u32 taken = __atomic_load_n(&t->shared->growth_taken, __ATOMIC_ACQUIRE);

	return GROWTH_MAX - used_places(t) + (t->shared->growth_spared - taken);
}

/* Returns whether user space has released an entry that is not reused yet. */
static bool is_spare(struct growth_table *t, __u32 place)
{
	__u32 taken = __atomic_load_n(&t->shared->growth_taken, __ATOMIC_ACQUIRE);

	if (t->given[place] && (__s32)(taken - t->given_at[place]) > 0)
		t->given[place] = false;
	return t->given[place];
}

static bool is_needed(const struct growth *g, growth_ended_fn *ended, void *ctx)
{
	return g->what == WHAT_FDS && g->added > g->removed && !ended(ctx, &g->subject);
}

static void give_back(struct growth_table *t, const struct fs_spare *one)
{
	__u32 at = t->shared->growth_spared;

	t->spare[at % GROWTH_MAX] = *one;
	t->given[one->place] = true;
	t->given_at[one->place] = at;
	__atomic_store_n(&t->shared->growth_spared, at + 1, __ATOMIC_RELEASE);
}

static int by_age(const void *a, const void *b)
{
	const struct fs_spare *x = a, *y = b;

	return x->last_ns < y->last_ns ? -1 : x->last_ns > y->last_ns;
}

void growth_table_expire(struct growth_table *t, growth_ended_fn *ended, void *ctx, __u64 before_ns)
{
	__u32 used = used_rows(t), n = 0, want;
	struct fs_spare *found;

	if (!used || free_places(t) >= GROWTH_SPARE)
		return;
	found = calloc(used, sizeof(*found));
	if (!found)
		return; /* out of memory: the next scan tries again */
	for (__u32 i = 0; i < used; i++) {
		const struct growth *g = &t->row[i];
		__u64 last_ns = g->last_ns;

		if (is_spare(t, i) || g->first_ns >= before_ns)
			continue;
		/* last_ns is 0 in an unused row: another thread had inserted its key first. */
		if (last_ns && (last_ns != t->told_ns[i] || is_needed(g, ended, ctx)))
			continue;
		found[n++] = (struct fs_spare){.place = i, .last_ns = last_ns};
	}
	qsort(found, n, sizeof(*found), by_age);
	want = GROWTH_SPARE - free_places(t);
	for (__u32 i = 0; i < n && i < want; i++)
		give_back(t, &found[i]);
	free(found);
}

void growth_table_grant_stacks(struct fs_shared *shared)
{
	__u32 used = shared->stacks_used, all = used + STACKS_A_LOOK,
	      sampled = used + SAMPLED_STACKS_A_LOOK;

	shared->stacks_for_all = all > STACKS_MAX ? all : STACKS_MAX;
	shared->stacks_for_samples = sampled > STACKS_MAX / 2 ? sampled : STACKS_MAX / 2;
}
