// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/resources.h"

#include <string.h>

#define USE(name, known, value_is, high_is)                                                        \
	static bool use_##name(const struct model *m, const struct subject *s, struct use *ret)    \
	{                                                                                          \
		const struct gauges *g = s ? &s->now.g : NULL;                                     \
		const struct host_limits *l = &m->tick.limits;                                     \
		(void)g, (void)l;                                                                  \
		*ret = (struct use){.value = (value_is), .high = (high_is)};                       \
		return (known);                                                                    \
	}

#define LIMIT(name, expression)                                                                    \
	static uint64_t limit_of_##name(const struct model *m, const struct subject *s)            \
	{                                                                                          \
		const struct gauges *g = s ? &s->now.g : NULL;                                     \
		const struct host_limits *l = &m->tick.limits;                                     \
		(void)g, (void)l;                                                                  \
		return (expression);                                                               \
	}

USE(maps, !(g->flags & PROC_NO_COUNT), g->map_count, g->map_high)
LIMIT(maps, l->max_map_count)

USE(fds, true, g->fds, s->fds_high)
LIMIT(fds, g->fd_soft)

/*
 * Locked memory above RLIMIT_MEMLOCK shows that the process has CAP_IPC_LOCK: the limit does not
 * apply.
 */
USE(memlock, l->page_bytes, g->locked_vm_pages * l->page_bytes, 0)
LIMIT(memlock, g->locked_vm_pages * l->page_bytes > g->memlock_limit_bytes ? UINT64_MAX
									   : g->memlock_limit_bytes)

/*
 * Reads the number of threads. RLIMIT_NPROC limits the threads of all processes of a user. If their
 * number is not known, `value` is the number of threads of the process, and only --assume can set a
 * limit.
 */
static bool use_threads(const struct model *m, const struct subject *s, struct use *ret)
{
	const struct usage *u = &s->now.u;

	*ret = (struct use){.value = u->user_threads == UINT64_MAX ? s->now.g.threads
								   : u->user_threads};
	return true;
}

static uint64_t limit_of_threads(const struct model *m, const struct subject *s)
{
	return s->now.u.user_threads == UINT64_MAX ? 0 : s->now.u.user_threads_limit;
}

#define USE_LEVEL(level)                                                                           \
	static bool use_##level(const struct model *m, const struct subject *s, struct use *ret)   \
	{                                                                                          \
		*ret = (struct use){.value = s->level.used};                                       \
		return s->level.known;                                                             \
	}                                                                                          \
	static uint64_t limit_of_##level(const struct model *m, const struct subject *s)           \
	{                                                                                          \
		return s->level.limit;                                                             \
	}

USE_LEVEL(memory)
USE_LEVEL(pids)

USE(files, l->file_max, l->file_nr, 0)
LIMIT(files, l->file_max)

/* CommitLimit applies only in overcommit mode 2 (__vm_enough_memory() in mm/util.c) */
USE(commit, l->commit_limit_bytes, l->committed_bytes, 0)
LIMIT(commit, l->overcommit_memory == 2 ? l->commit_limit_bytes : UINT64_MAX)

USE(ram, l->mem_available_bytes && l->mem_available_bytes <= l->mem_total_bytes,
    l->mem_total_bytes - l->mem_available_bytes, 0)
LIMIT(ram, l->mem_total_bytes)

USE(swap, l->swap_total_bytes && l->swap_free_bytes <= l->swap_total_bytes,
    l->swap_total_bytes - l->swap_free_bytes, 0)
LIMIT(swap, l->swap_total_bytes)

const struct resource resources[NR_RESOURCES] = {
	[RESOURCE_MAPS] = {"vm.max_map_count", "mappings", OF_PROCESS, false, 10, use_maps,
			   limit_of_maps},
	[RESOURCE_FDS] = {"RLIMIT_NOFILE", "file descriptors", OF_PROCESS, false, 10, use_fds,
			  limit_of_fds},
	[RESOURCE_MEMLOCK] = {"RLIMIT_MEMLOCK", "locked memory", OF_PROCESS, true, 10, use_memlock,
			      limit_of_memlock},
	[RESOURCE_THREADS] = {"RLIMIT_NPROC", "threads of its user", OF_PROCESS, false, 10,
			      use_threads, limit_of_threads},
	[RESOURCE_CGROUP_MEMORY] = {"memory.max", "memory of its cgroup", OF_CGROUP, true, 30,
				    use_memory, limit_of_memory},
	[RESOURCE_CGROUP_PIDS] = {"pids.max", "threads of its cgroup", OF_CGROUP, false, 10,
				  use_pids, limit_of_pids},
	[RESOURCE_FILES] = {"fs.file-max", "open files", OF_HOST, false, 10, use_files,
			    limit_of_files},
	[RESOURCE_COMMIT] = {"CommitLimit", "committed memory", OF_HOST, true, 30, use_commit,
			     limit_of_commit},
	[RESOURCE_MEMORY] = {"MemTotal", "memory in use", OF_HOST, true, 60, use_ram, limit_of_ram},
	[RESOURCE_SWAP] = {"SwapTotal", "swap in use", OF_HOST, true, 30, use_swap, limit_of_swap},
};

int resource_find(const char *limit)
{
	for (int i = 0; i < NR_RESOURCES; i++)
		if (!strcmp(resources[i].limit, limit))
			return i;
	return -1;
}

uint64_t resource_limit(const struct model *m, const struct subject *s, size_t i)
{
	return m->assumed[i] ? m->assumed[i] : resources[i].get_limit(m, s);
}

const struct series *resource_series(const struct model *m, const struct subject *s, size_t i)
{
	struct series *const *set = s ? s->series : m->series;

	return set ? set[i] : NULL;
}

/*
 * Returns the highest share of a limit that a process reached. Returns NULL if the share is not
 * known, or if --assume replaces the limit.
 */
static const struct portion *top_of(const struct model *m, const struct subject *s, size_t i)
{
	const struct portion *top;

	if (!s || m->assumed[i] || (i != RESOURCE_MAPS && i != RESOURCE_FDS))
		return NULL;
	top = &s->top[i == RESOURCE_MAPS ? WHAT_MAPS : WHAT_FDS];
	return top->limit ? top : NULL;
}

bool resource_use(const struct model *m, const struct subject *s, size_t i, struct use *ret)
{
	const struct series *series = resource_series(m, s, i);
	const struct portion *top = top_of(m, s, i);
	struct use u;

	if (!resources[i].use(m, s, &u))
		return false;
	u.limit = u.high_limit = resource_limit(m, s, i);
	u.assumed = m->assumed[i] != 0;
	if (!top && series && series->n && u.high < series->point[series->n - 1].high)
		u.high = series->point[series->n - 1].high;
	if (top)
		u.high = u.value;
	if (top && (!u.limit || (double)top->value / top->limit > (double)u.value / u.limit)) {
		u.high = top->value;
		u.high_limit = top->limit;
	}
	if (u.high < u.value) {
		u.high = u.value;
		u.high_limit = u.limit;
	}
	u.at_end = u.value;
	if (s && s->final) {
		/* a process's last record is made after its memory is freed: only fds are valid */
		u.at_end = i == RESOURCE_FDS ? u.value : u.high;
		u.value = u.high;
		u.limit = u.high_limit;
	}
	*ret = u;
	return true;
}

struct forecast resource_forecast(const struct model *m, const struct subject *s, size_t i)
{
	const struct series *series = resource_series(m, s, i);
	uint64_t limit = resource_limit(m, s, i);

	/* an exited process cannot reach a limit */
	if (!series || limit == UINT64_MAX || (s && s->final))
		return (struct forecast){};
	return series_forecast(series, m->last_ns, limit);
}
