// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/match.h"
#include "triage/particulars.h"

#include <inttypes.h>
#include <stdio.h>

#define RSS_COLUMN 3 /* columns of dump_tasks(): uid, tgid, total_vm, rss, … */

/* Sizes of a process in the report of the OOM killer. */
struct process {
	uint64_t pid, pages;
	struct str name;
};

/* Parses a line of dump_tasks(), mm/oom_kill.c: "[%7d] %5d %5d %8lu %8lu … %s". */
static bool process_parse(struct str s, struct process *ret)
{
	uint64_t value[RSS_COLUMN + 1];
	long close = str_find(s, "]");
	struct str word, rest;

	if (str_at(s, 0) != '[' || close < 0 ||
	    !str_decimal(str_trim(str_from(str_first(s, close), 1)), &ret->pid))
		return false;
	rest = str_from(s, close + 1);
	for (int i = 0; i <= RSS_COLUMN; i++) {
		word = str_word(&rest);
		if (!word.n || str_decimal(word, &value[i]) != word.n)
			return false;
	}
	/* the name follows the last number; it may contain blanks */
	for (;;) {
		struct str tail = rest;
		uint64_t number;

		word = str_word(&tail);
		if (!word.n)
			return false;
		if (str_decimal(str_at(word, 0) == '-' ? str_from(word, 1) : word, &number) +
			    (str_at(word, 0) == '-') !=
		    word.n)
			break;
		rest = tail;
	}
	ret->name = str_trim(rest);
	ret->pages = value[RSS_COLUMN];
	return true;
}

static uint64_t kib_after(struct str s, const char *key)
{
	uint64_t kib = 0;
	long at = str_find(s, key);

	if (at >= 0)
		str_decimal(str_from(s, at + strlen(key)), &kib);
	return kib;
}

/* Returns the page size in KiB that a killed process's sizes in pages and in kB suggest. */
static uint64_t page_kib(const struct extent *x)
{
	struct process killed = {};
	uint64_t kib = 0, pid = 0;

	for (uint32_t i = x->first; i < x->end && !pid; i++) {
		struct str s = extent_line(x, i);
		struct captures c = {};

		if (!match("%*Kill%*process %P (", s, &c))
			continue;
		pid = c.pid;
		kib = kib_after(s, "anon-rss:") + kib_after(s, "file-rss:") +
		      kib_after(s, "shmem-rss:");
	}
	for (uint32_t i = x->first; i < x->end && pid; i++)
		if (process_parse(extent_line(x, i), &killed) && killed.pid == pid && killed.pages)
			return kib / killed.pages > 32 ? 64 : kib / killed.pages > 8 ? 16 : 4;
	return 4;
}

static void name_largest(struct judged *j, const struct extent *x)
{
	struct process largest = {}, p;

	for (uint32_t i = x->first; i < x->end; i++)
		if (process_parse(extent_line(x, i), &p) && p.pages > largest.pages)
			largest = p;
	if (largest.pages)
		particular_add(j->v, "largest", "%.*s (pid %" PRIu64 "), %" PRIu64 " MiB in memory",
			       STR_ARG(largest.name), largest.pid,
			       largest.pages * page_kib(x) / 1024);
}

/* Names the limit that was reached: of a cgroup, of a cpuset, of a NUMA policy, or all memory. */
static void name_limit(struct judged *j, const struct extent *x)
{
	for (uint32_t i = x->first; i < x->end; i++) {
		struct str s = extent_line(x, i);

		if (str_starts(s, "oom-kill:constraint=CONSTRAINT_NONE"))
			particular_add(j->v, "limit",
				       "none: the memory of the machine was used up");
		else if (str_starts(s, "oom-kill:constraint=CONSTRAINT_CPUSET"))
			particular_add(j->v, "limit", "the NUMA nodes of the cpuset");
		else if (str_starts(s, "oom-kill:constraint=CONSTRAINT_MEMORY_POLICY"))
			particular_add(j->v, "limit", "the NUMA nodes of the memory policy");
	}
}

/* ---- locks: kernel/locking/lockdep.c, debug_show_all_locks() ---- */

struct holder {
	struct str task;    /* "name/pid" */
	struct str address; /* the lock's address, which may be hashed */
	struct str place;   /* name of the lock, and where it was taken */
};

/* Parses "#0: ffff888101234567 (&x->lock){+.+.}-{3:3}, at: f+0x1/0x2". */
static bool lock_parse(struct str s, struct holder *h)
{
	long colon = str_find(s, ": ");
	struct str rest;

	if (str_at(s, 0) != '#' || colon < 0)
		return false;
	rest = str_from(s, colon + 2);
	h->address = str_word(&rest);
	h->place = str_trim(rest);
	return h->address.n >= 8 && is_hex(h->address.s[0]);
}

/* Returns the task in "2 locks held by name/pid:", or an empty string. */
static struct str holder_parse(struct str s)
{
	struct captures c = {};

	if (!match("%D lock held by %S:%$", s, &c) && !match("%D locks held by %S:%$", s, &c))
		return (struct str){};
	return c.text;
}

/*
 * Finds the last lock of a task. A task that waits for a lock is listed with this lock, because
 * lockdep counts it from the attempt.
 */
static bool last_lock(const struct extent *x, struct str task, struct holder *ret)
{
	struct str current = {};
	bool found = false;

	for (uint32_t i = x->first; i < x->end; i++) {
		struct str s = extent_line(x, i), held = holder_parse(s);

		if (held.n)
			current = held;
		else if (str_same(current, task) && lock_parse(s, ret))
			found = true;
	}
	return found;
}

static void name_owner(struct judged *j, const struct extent *x)
{
	char task[PARTICULAR_BYTES];
	struct holder wanted, held = {};
	const char *waiter = particular_of(j->v, "task");
	const char *colon = strrchr(waiter, ':');

	if (!colon || *particular_of(j->v, "lock owner"))
		return;
	/* hung_task.c prints "name:pid", lockdep "name/pid" */
	snprintf(task, sizeof(task), "%.*s/%s", (int)(colon - waiter), waiter, colon + 1);
	if (!last_lock(x, str_of(task), &wanted))
		return;
	for (uint32_t i = x->first; i < x->end; i++) {
		struct str s = extent_line(x, i), by = holder_parse(s);

		if (by.n)
			held.task = by;
		else if (held.task.n && !str_is(held.task, task) && lock_parse(s, &held) &&
			 str_same(held.address, wanted.address)) {
			particular_add(j->v, "lock owner", "%.*s: %.*s", STR_ARG(held.task),
				       STR_ARG(held.place));
			return;
		}
	}
}

void particulars_of_tasks(struct judged *j, const struct extent *x)
{
	if (x->kind == KIND_OOM) {
		name_limit(j, x);
		name_largest(j, x);
	} else if (x->kind == KIND_HANG) {
		name_owner(j, x);
	}
}
