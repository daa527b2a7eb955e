// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/need.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* Kernel memory of one thread, inotify watch, epoll watch, fanotify group, in bytes. */
#define THREAD_BYTES (24 << 10)
#define WATCH_BYTES  1080
#define POLLED_BYTES 160
#define GROUP_BYTES  512
#define STEP_BYTES   (1 << 20)
#define SPARE_SHARE  8 /* suggested limits are 1/SPARE_SHARE higher than what is needed */

/*
 * Returns how many objects of `each` bytes fit into `bytes`; LIMIT_NONE if one of the numbers is 0
 * (not known).
 */
static uint64_t pieces(uint64_t bytes, uint64_t each)
{
	return bytes && each ? bytes / each : LIMIT_NONE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most_tasks(const struct host_limits *l)
{
	return least(l->pid_max ?: LIMIT_NONE, l->threads_max ?: LIMIT_NONE);
}

static uint64_t most_of_machine(const struct limit *limit, const struct host_limits *l)
{
	uint64_t free;

	switch ((enum limit_id)(limit - limit_table)) {
	case LIMIT_HUGEPAGES:
		free = pieces(l->mem_available_bytes, l->huge_page_bytes);
		return free == LIMIT_NONE ? free : l->huge_pages + free;
	case LIMIT_MEMLOCK:
	case LIMIT_CGROUP_MEMORY:
	case LIMIT_CGROUP_MEMORY_HIGH:
	case LIMIT_PIPE_SIZE:
	case LIMIT_MSGQUEUE:
	case LIMIT_SHMMAX:
		return pieces(l->mem_total_bytes, 1);
	case LIMIT_PIPE_PAGES_SOFT:
	case LIMIT_PIPE_PAGES_HARD:
	case LIMIT_SHMALL:
		return pieces(l->mem_total_bytes, l->page_bytes);
	case LIMIT_CGROUP_PIDS:
	case LIMIT_NPROC:
		return most_tasks(l);
	case LIMIT_THREADS_MAX:
		return pieces(l->mem_total_bytes, THREAD_BYTES);
	case LIMIT_FANOTIFY_GROUPS:
		return pieces(l->mem_total_bytes, GROUP_BYTES);
	case LIMIT_INOTIFY_WATCHES:
		return pieces(l->mem_total_bytes, WATCH_BYTES);
	case LIMIT_EPOLL_WATCHES:
		return pieces(l->mem_total_bytes, POLLED_BYTES);
	default:
		return LIMIT_NONE;
	}
}

uint64_t need_most(const struct limit *limit, const struct host_limits *l)
{
	return least(most_of_machine(limit, l), limit->most ?: LIMIT_NONE);
}

/*
 * Returns true for limits that count reserved memory. If they must be larger than memory and swap,
 * the suggested value is "unlimited".
 */
static bool counts_reservations(const struct limit *limit)
{
	return limit == &limit_table[LIMIT_AS] || limit == &limit_table[LIMIT_DATA];
}

static uint64_t with_spare(uint64_t bytes)
{
	uint64_t want = bytes < UINT64_MAX / 2 ? bytes + bytes / SPARE_SHARE : bytes;

	return want < UINT64_MAX - STEP_BYTES ? (want + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES
					      : LIMIT_NONE;
}

/*
 * Returns a value for a limit that leaves room for later calls too. need_of() then reduces it to
 * what the machine has.
 */
static uint64_t roomy(const struct limit *limit, const struct verdict *v,
		      const struct host_limits *l)
{
	if (limit == &limit_table[LIMIT_HUGEPAGES])
		return v->need;
	if (counts_reservations(limit) && v->need > l->mem_total_bytes + l->swap_total_bytes)
		return LIMIT_NONE;
	if (limit->kind == LIMIT_OF_PROCESS && limit->bytes)
		return with_spare(v->need);
	return limit_roomy(limit, v->need);
}

/*
 * Returns the value of vm.overcommit_memory with which the call succeeds. If the value is 0, the
 * kernel rejects a request for more than RAM and swap.
 */
static uint64_t mode_for(const struct verdict *v, const struct host_limits *l)
{
	bool strict = l->overcommit_memory == 2;

	return strict && v->asked <= l->mem_total_bytes + l->swap_total_bytes ? 0 : 1;
}

static void put_amount(struct buf *b, const struct limit *limit, uint64_t n)
{
	if (limit->bytes)
		put_bytes(b, n);
	else
		put_count(b, n);
}

static void say_too_much(struct need *ret, const struct verdict *v, uint64_t most)
{
	struct buf b = BUF_IN(ret->never);

	buf_puts(&b, "the call needs ");
	put_amount(&b, ret->limit, v->need);
	if (ret->limit == &limit_table[LIMIT_HUGEPAGES])
		buf_printf(&b, " huge %s", as_words(v->need, "page{|s}").s);
	buf_puts(&b, ", and this machine can provide ");
	put_amount(&b, ret->limit, most);
}

/*
 * If the limit were raised, the call may fail at another check. Returns the name of that check if
 * no limit controls it, else NULL.
 */
static const char *next_wall(const struct verdict *v)
{
	static const char *const walls[] = {"overcommit_heuristic", "overcommit_strict",
					    "address_space"};

	for (size_t i = 0; i < v->nr_next; i++)
		for (size_t k = 0; k < sizeof(walls) / sizeof(walls[0]); k++)
			if (!strcmp(v->next[i], walls[k]))
				return walls[k];
	return NULL;
}

void need_of(const struct verdict *v, const struct host_limits *l, struct need *ret)
{
	const char *wall = next_wall(v);
	uint64_t most;

	*ret = (struct need){.limit = v->limit ?: limit_of_cause(v->cause)};
	if (!ret->limit || ret->limit->is_mode) {
		if (ret->limit == &limit_table[LIMIT_OVERCOMMIT_MEMORY])
			ret->want = mode_for(v, l);
		return;
	}
	most = need_most(ret->limit, l);
	if (wall)
		snprintf(ret->never, sizeof(ret->never),
			 "the call then fails at the next check (%s)", wall);
	else if (v->need == UINT64_MAX && !ret->limit->most && ret->limit->kind == LIMIT_OF_PROCESS)
		ret->want = LIMIT_NONE;
	else if (v->need > most)
		say_too_much(ret, v, most);
	else if (v->need)
		ret->want = least(roomy(ret->limit, v, l), most);
}
