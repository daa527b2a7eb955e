// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/python_merge.h"

#include <string.h>

/* A run of Python frames that one native frame runs. */
struct run {
	size_t first, end; /* first Python frame of the run, and the one behind its last */
	size_t host;	   /* index of the native frame that runs these Python frames */
};

static bool is_set(const __u64 *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}

/* Returns the native frame whose stack memory contains the address; `n` if none does. */
static size_t find_by_address(const struct walk_record *r, size_t n, __u64 at)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (at >= r->sp[i] && at < r->sp[i + 1])
			return i;
	return n;
}

/*
 * Finds the native frame that runs a run of Python frames. From CPython 3.12 on, a run ends with a
 * shim frame in the stack memory of this native frame. Before 3.12, runs and native frames of the
 * interpreter's loop are in the same order.
 */
static size_t find_host(const struct walk_record *r, size_t n, const struct python_frame *last,
			const __u64 *runs_python, size_t from)
{
	size_t host = n;

	if (!last->code)
		host = find_by_address(r, n, last->at & ~FRAME_ENDS_RUN);
	for (size_t i = from; host == n && i < n; i++)
		if (is_set(runs_python, i))
			host = i;
	return host >= from ? host : n;
}

static void put(struct python_merge *m, bool is_python, size_t at)
{
	if (m->n < MERGED_MAX)
		m->frame[m->n++] = (struct merged_frame){is_python, at};
}

static void put_run(struct python_merge *m, const struct walk_record *r, const struct run *run)
{
	for (size_t i = run->first; i < run->end; i++)
		if (r->python[i].code)
			put(m, true, i);
}

static struct run next_run(const struct walk_record *r, size_t n, size_t pythons, size_t first,
			   const __u64 *runs_python, size_t from)
{
	struct run run = {first, first, n};

	while (run.end < pythons && !(r->python[run.end].at & FRAME_ENDS_RUN))
		run.end++;
	if (run.end < pythons)
		run.end++;
	if (run.end > first)
		run.host = find_host(r, n, &r->python[run.end - 1], runs_python, from);
	return run;
}

void python_merge(const struct walk_record *r, const __u64 runs_python[WALK_FRAMES / 64],
		  struct python_merge *ret)
{
	size_t n = r->frames < WALK_FRAMES ? r->frames : WALK_FRAMES;
	size_t pythons = r->pythons < WALK_PYTHON ? r->pythons : WALK_PYTHON;
	size_t native = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t first = 0; first < pythons;) {
		struct run run = next_run(r, n, pythons, first, runs_python, native);

		if (run.host == n) {
			ret->unsure = true;
			break;
		}
		while (native < run.host)
			put(ret, false, native++);
		if (!ret->has_python)
			ret->first_host = run.host;
		ret->has_python = true;
		ret->last_host = run.host;
		put_run(ret, r, &run);
		native = run.host + 1;
		first = run.end;
	}
	while (native < n)
		put(ret, false, native++);
}
