// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum {
	MAX_MAP_COUNT,
	FILE_MAX,
	FILE_NR,
	NR_OPEN,
	INOTIFY,
	OVERCOMMIT,
	MIN_ADDR,
	MEMINFO,
	BPF_STATS,
	STATM,
	LOADAVG,
	THREADS_MAX,
	PID_MAX,
	WATCHES,
	EPOLL_WATCHES,
	PIPE_SOFT,
	PIPE_HARD,
	PIPE_MAX,
};

static const char *const paths[LIMIT_FILES] = {
	[MAX_MAP_COUNT] = "/proc/sys/vm/max_map_count",
	[FILE_MAX] = "/proc/sys/fs/file-max",
	[FILE_NR] = "/proc/sys/fs/file-nr",
	[NR_OPEN] = "/proc/sys/fs/nr_open",
	[INOTIFY] = "/proc/sys/fs/inotify/max_user_instances",
	[OVERCOMMIT] = "/proc/sys/vm/overcommit_memory",
	[MIN_ADDR] = "/proc/sys/vm/mmap_min_addr",
	[MEMINFO] = "/proc/meminfo",
	[BPF_STATS] = "/proc/sys/kernel/bpf_stats_enabled",
	[STATM] = "/proc/self/statm",
	[LOADAVG] = "/proc/loadavg",
	[THREADS_MAX] = "/proc/sys/kernel/threads-max",
	[PID_MAX] = "/proc/sys/kernel/pid_max",
	[WATCHES] = "/proc/sys/fs/inotify/max_user_watches",
	[EPOLL_WATCHES] = "/proc/sys/fs/epoll/max_user_watches",
	[PIPE_SOFT] = "/proc/sys/fs/pipe-user-pages-soft",
	[PIPE_HARD] = "/proc/sys/fs/pipe-user-pages-hard",
	[PIPE_MAX] = "/proc/sys/fs/pipe-max-size",
};

void limits_open(struct limits *l)
{
	for (int i = 0; i < LIMIT_FILES; i++)
		l->fd[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
}

void limits_close(struct limits *l)
{
	for (int i = 0; i < LIMIT_FILES; i++)
		if (l->fd[i] >= 0)
			close(l->fd[i]);
}

static const char *slurp(const struct limits *l, int file, char *text, size_t size)
{
	io_read_again(l->fd[file], text, size);
	return text;
}

static __u64 number(const struct limits *l, int file)
{
	char text[128];

	return strtoull(slurp(l, file, text, sizeof(text)), NULL, 10);
}

static void read_meminfo(const struct limits *l, struct host_limits *ret)
{
	const struct {
		const char *key;
		__u64 *value;
		__u64 unit;
	} rows[] = {
		/* in the order of the file */
		{"MemTotal:", &ret->mem_total_bytes, 1024},
		{"MemFree:", &ret->mem_free_bytes, 1024},
		{"MemAvailable:", &ret->mem_available_bytes, 1024},
		{"SwapTotal:", &ret->swap_total_bytes, 1024},
		{"SwapFree:", &ret->swap_free_bytes, 1024},
		{"CommitLimit:", &ret->commit_limit_bytes, 1024},
		{"Committed_AS:", &ret->committed_bytes, 1024},
		{"HugePages_Total:", &ret->huge_pages, 1},
		{"HugePages_Free:", &ret->huge_pages_free, 1},
		{"HugePages_Rsvd:", &ret->huge_pages_reserved, 1},
		{"Hugepagesize:", &ret->huge_page_bytes, 1024},
	};
	char text[4096];
	const char *at = slurp(l, MEMINFO, text, sizeof(text));

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = strstr(at, rows[i].key);

		if (!found)
			continue;
		at = found + strlen(rows[i].key);
		*rows[i].value = strtoull(at, NULL, 10) * rows[i].unit;
	}
}

/* "0.20 0.18 0.12 1/80 11206": running and all threads of the machine behind the third. */
static __u64 threads_of(const struct limits *l)
{
	char text[128];
	const char *slash = strchr(slurp(l, LOADAVG, text, sizeof(text)), '/');

	return slash ? strtoull(slash + 1, NULL, 10) : 0;
}

void limits_read(const struct limits *l, struct host_limits *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->max_map_count = number(l, MAX_MAP_COUNT);
	ret->file_max = number(l, FILE_MAX);
	ret->file_nr = number(l, FILE_NR);
	ret->nr_open = number(l, NR_OPEN);
	ret->inotify_instances = number(l, INOTIFY);
	ret->overcommit_memory = number(l, OVERCOMMIT);
	ret->mmap_min_addr = number(l, MIN_ADDR);
	ret->threads = threads_of(l);
	ret->threads_max = number(l, THREADS_MAX);
	ret->pid_max = number(l, PID_MAX);
	ret->inotify_watches = number(l, WATCHES);
	ret->epoll_watches = number(l, EPOLL_WATCHES);
	ret->pipe_pages_soft = number(l, PIPE_SOFT);
	ret->pipe_pages_hard = number(l, PIPE_HARD);
	ret->pipe_max_bytes = number(l, PIPE_MAX);
	ret->page_bytes = sysconf(_SC_PAGESIZE);
	read_meminfo(l, ret);
}

bool limits_bpf_stats(const struct limits *l)
{
	return number(l, BPF_STATS) != 0;
}

__u64 limits_own_rss_bytes(const struct limits *l)
{
	char text[128], *resident;

	slurp(l, STATM, text, sizeof(text));
	strtoull(text, &resident, 10);
	return strtoull(resident, NULL, 10) * sysconf(_SC_PAGESIZE);
}
