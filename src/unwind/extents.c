// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool add(struct extents *x, size_t at, struct extent one)
{
	struct extent *e = array_grow(x->e, x->n, &x->room, EXTENTS_MAX, sizeof(*e));

	if (!e)
		return false;
	x->e = e;
	memmove(e + at + 1, e + at, (x->n - at) * sizeof(*e));
	e[at] = one;
	x->n++;
	return true;
}

static void drop(struct extents *x, size_t at)
{
	x->n--;
	memmove(x->e + at, x->e + at + 1, (x->n - at) * sizeof(*x->e));
}

int extents_init(struct extents *x, __u32 limit, __u32 border)
{
	*x = (struct extents){.border = border ? border : limit};
	for (__u32 at = 0; at < limit; at += x->border) {
		__u32 n = limit - at < x->border ? limit - at : x->border;

		if (!add(x, x->n, (struct extent){at, n, 0}))
			return -ENOMEM;
	}
	return 0;
}

void extents_free(struct extents *x)
{
	free(x->e);
	*x = (struct extents){};
}

static bool has_rested(const struct extent *e, __u64 now_ns)
{
	return !e->given_ns || now_ns - e->given_ns >= EXTENTS_REST_NS;
}

static bool joins(const struct extents *x, const struct extent *a, const struct extent *b,
		  __u64 now_ns)
{
	return a->first + a->n == b->first && b->first % x->border &&
	       has_rested(a, now_ns) == has_rested(b, now_ns);
}

/* Joins a free part with the free parts behind it. */
static void join(struct extents *x, size_t at, __u64 now_ns)
{
	struct extent *e = &x->e[at];

	while (at + 1 < x->n && joins(x, e, e + 1, now_ns)) {
		e->n += e[1].n;
		if (e[1].given_ns > e->given_ns)
			e->given_ns = e[1].given_ns;
		drop(x, at + 1);
	}
}

bool extents_take(struct extents *x, __u32 n, __u64 now_ns, __u32 *ret_first)
{
	for (size_t i = 0; n && i < x->n; i++) {
		struct extent *e = &x->e[i];

		join(x, i, now_ns);
		if (e->n < n || !has_rested(e, now_ns))
			continue;
		*ret_first = e->first;
		e->first += n;
		e->n -= n;
		if (!e->n)
			drop(x, i);
		x->taken += n;
		return true;
	}
	return false;
}

/* Returns the index of the first free part behind an element. */
static size_t find_behind(const struct extents *x, __u32 first)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (x->e[mid].first < first)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void extents_give(struct extents *x, __u32 first, __u32 n, __u64 now_ns)
{
	struct extent one = {first, n, now_ns};
	size_t at = find_behind(x, first);

	if (!n)
		return;
	x->taken -= n;
	if (!add(x, at, one)) {
		x->lost += n;
		return;
	}
	join(x, at, now_ns);
	if (at)
		join(x, at - 1, now_ns);
}

bool extents_are_free(struct extents *x, __u32 first, __u32 n, __u64 now_ns)
{
	size_t at = find_behind(x, first);

	if (at < x->n)
		join(x, at, now_ns);
	return at < x->n && x->e[at].first == first && x->e[at].n >= n &&
	       has_rested(&x->e[at], now_ns);
}
