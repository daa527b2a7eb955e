// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned long long limit_number(const char *path)
{
	unsigned long long v = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

static void read_meminfo(struct fs_limits *l)
{
	const struct {
		const char *key;
		__u64 *value;
	} rows[] = {
		{"MemTotal:", &l->mem_total_bytes},
		{"MemAvailable:", &l->mem_available_bytes},
		{"SwapTotal:", &l->swap_total_bytes},
		{"SwapFree:", &l->swap_free_bytes},
		{"CommitLimit:", &l->commit_limit_bytes},
		{"Committed_AS:", &l->committed_bytes},
	};
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128], key[32];
	unsigned long long kib;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31s %llu", key, &kib) != 2)
			continue;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (!strcmp(key, rows[i].key))
				*rows[i].value = kib * 1024;
	}
	fclose(f);
}

void limits_read(struct fs_limits *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->max_map_count = limit_number("/proc/sys/vm/max_map_count");
	ret->file_max = limit_number("/proc/sys/fs/file-max");
	ret->file_nr = limit_number("/proc/sys/fs/file-nr");
	ret->nr_open = limit_number("/proc/sys/fs/nr_open");
	ret->inotify_instances = limit_number("/proc/sys/fs/inotify/max_user_instances");
	ret->overcommit_memory = limit_number("/proc/sys/vm/overcommit_memory");
	ret->mmap_min_addr = limit_number("/proc/sys/vm/mmap_min_addr");
	ret->page_bytes = sysconf(_SC_PAGESIZE);
	read_meminfo(ret);
}
