// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum {
#define LIMIT_FILE(path, member) FILE_##member,
#define OTHER_FILE(id, path)	 FILE_##id,
#include "probe/limits.def"
	NR_FILES,
};

_Static_assert(NR_FILES == LIMIT_FILES, "room for every file");

static const char *const paths[NR_FILES] = {
#define LIMIT_FILE(path, member) path,
#define OTHER_FILE(id, path)	 path,
#include "probe/limits.def"
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
#define MEMINFO(key, member, unit) {key, &ret->member, unit},
#include "probe/limits.def"
	};
	char text[4096];
	const char *at = slurp(l, FILE_MEMINFO, text, sizeof(text));

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = strstr(at, rows[i].key);

		if (!found)
			continue;
		at = found + strlen(rows[i].key);
		*rows[i].value = strtoull(at, NULL, 10) * rows[i].unit;
	}
}

/* Reads the number of threads after the '/' in /proc/loadavg, "0.20 0.18 0.12 1/80 11206". */
static __u64 threads_of(const struct limits *l)
{
	char text[128];
	const char *slash = strchr(slurp(l, FILE_LOADAVG, text, sizeof(text)), '/');

	return slash ? strtoull(slash + 1, NULL, 10) : 0;
}

void limits_read(const struct limits *l, struct host_limits *ret)
{
	memset(ret, 0, sizeof(*ret));
#define LIMIT_FILE(path, member) ret->member = number(l, FILE_##member);
#include "probe/limits.def"
	ret->threads = threads_of(l);
	ret->page_bytes = sysconf(_SC_PAGESIZE);
	read_meminfo(l, ret);
}

bool limits_bpf_stats(const struct limits *l)
{
	return number(l, FILE_BPF_STATS) != 0;
}

__u64 limits_own_rss_bytes(const struct limits *l)
{
	char text[128], *resident;

	slurp(l, FILE_STATM, text, sizeof(text));
	strtoull(text, &resident, 10);
	return strtoull(resident, NULL, 10) * sysconf(_SC_PAGESIZE);
}
