// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/python_merge.h"

#include <string.h>

#include "records/python_slots.h"

/* A run of Python frames that one native frame runs. */
struct run {
	/* first Python frame of the run, and the one behind its last, among the kept frames */
	size_t first, end;
	size_t host; /* index of the native frame that runs these Python frames */
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

static const struct python_frame *python_at(const struct walk_record *r, size_t i)
{
	return &r->python[python_kept_slot(r->pythons, i)];
}

static void put(struct python_merge *m, enum merged_kind kind, size_t at)
{
	if (m->n < MERGED_MAX)
		m->frame[m->n++] = (struct merged_frame){kind, at};
}

static void put_run(struct python_merge *m, const struct walk_record *r, const struct run *run)
{
	size_t kept = python_kept(r->pythons);

	for (size_t i = run->first; i < run->end; i++) {
		if (python_at(r, i)->code)
			put(m, MERGED_PYTHON, python_kept_slot(r->pythons, i));
		if ((i == PYTHON_RUN_END && r->pythons > WALK_PYTHON) ||
		    (i == kept - 1 && r->python_cut))
			put(m, MERGED_GAP, 0);
	}
}

static struct run next_run(const struct walk_record *r, size_t n, size_t first,
			   const __u64 *runs_python, size_t from)
{
	size_t kept = python_kept(r->pythons);
	struct run run = {first, first, n};

	while (run.end < kept && !(python_at(r, run.end)->at & FRAME_ENDS_RUN))
		run.end++;
	if (run.end < kept)
		run.end++;
	if (run.end > first)
		run.host = find_host(r, n, python_at(r, run.end - 1), runs_python, from);
	return run;
}

void python_merge(const struct walk_record *r, const __u64 runs_python[WALK_FRAMES / 64],
		  struct python_merge *ret)
{
	size_t n = r->frames < WALK_FRAMES ? r->frames : WALK_FRAMES;
	size_t kept = python_kept(r->pythons), native = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t first = 0; first < kept;) {
		struct run run = next_run(r, n, first, runs_python, native);

		/* if the native stack is cut, this run may belong to a frame that is missing */
		if (run.host == n && r->end == STACK_END_ENTRY) {
			ret->unsure = true;
			break;
		}
		while (native < run.host)
			put(ret, MERGED_NATIVE, native++);
		if (!ret->has_python)
			ret->first_host = run.host;
		ret->has_python = true;
		ret->last_host = run.host;
		put_run(ret, r, &run);
		if (native < n)
			native++;
		first = run.end;
	}
	while (native < n)
		put(ret, MERGED_NATIVE, native++);
}
