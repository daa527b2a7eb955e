// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/read_holdings.h"

#include "collect/holdings_reader.h"
#include "probe/host_facts.h"

/* read this many processes with the most mappings, and this many with the most fds */
#define HOLDERS_MOST 16

static bool is_nearer(const struct subject *a, const struct subject *b, enum what what)
{
	const struct gauges *x = &a->now.g, *y = &b->now.g;

	return what == WHAT_MAPS ? x->map_count > y->map_count : x->fds > y->fds;
}

static bool is_among(const struct subject *one, struct subject *const *tried, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tried[i] == one)
			return true;
	return false;
}

/* Returns the process with the most mappings or fds, except the `n` processes in `tried`. */
static struct subject *next_holder(struct session *s, enum what what, struct subject *const *tried,
				   size_t n)
{
	struct subject *best = NULL;

	for (struct subject *one = model_each(&s->in.m, NULL); one;
	     one = model_each(&s->in.m, one)) {
		if (one->final || one->hidden || is_among(one, tried, n))
			continue;
		if (!best || is_nearer(one, best, what))
			best = one;
	}
	return best;
}

/*
 * Reads what the processes with the most mappings or fds hold. If a process cannot be read, the
 * report says so.
 */
static void read_holders(struct session *s, enum what what)
{
	struct sink sink = {.take = collector_take, .ctx = &s->in.collector};
	struct subject *tried[HOLDERS_MOST];

	for (size_t n = 0; n < HOLDERS_MOST; n++) {
		tried[n] = next_holder(s, what, tried, n);
		if (!tried[n])
			return;
		holdings_read(tried[n]->id.pid, &tried[n]->id, what, &sink);
	}
}

void holders_read(struct session *s)
{
	if (host_is_in_pid_namespace())
		return; /* do not read: /proc shows the pids of another pid namespace */
	read_holders(s, WHAT_MAPS);
	read_holders(s, WHAT_FDS);
}
