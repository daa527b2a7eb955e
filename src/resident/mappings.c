// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alive.h"
#include "base/array.h"
#include "collect/holdings_reader.h"
#include "resident/page_ranges.h"

#define MAPPINGS_MAX (1u << 22) /* above usual limits of vm.max_map_count */

static bool is_device(const char *name)
{
	return !strncmp(name, "/dev/", 5) && strncmp(name, "/dev/shm/", 9) &&
	       strncmp(name, "/dev/zero", 9);
}

static void name_mapping(struct mapping *m, const char *rights, const char *name)
{
	const char *last = strrchr(name, '/');

	if (!*name || !strncmp(name, "[anon:", 6)) {
		m->kind = HOLDING_ANONYMOUS;
		return;
	}
	m->kind = holding_kind_of_map(rights, name);
	m->filed = m->kind != HOLDING_HEAP && m->kind != HOLDING_STACK;
	m->device = is_device(name);
	if (m->filed)
		array_copy(m->file, sizeof(m->file), last ? last + 1 : name);
}

/* Adds a line of maps, "start-end rwxp offset dev inode name"; the name may contain spaces. */
static int add_line(struct mappings *all, char *line)
{
	struct mapping m = {};
	uint64_t start, end;
	struct mapping *more;
	char rights[8];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s%n", &start, &end, rights, &at) <
		    3 ||
	    !at || end < start)
		return 0;
	line[strcspn(line, "\n")] = 0;
	name_mapping(&m, rights, line + at + strspn(line + at, " "));
	m.from = start >> PAGE_SHIFT;
	m.to = end >> PAGE_SHIFT;
	if (m.from >> (63 - PAGE_SHIFT))
		return 0; /* [vsyscall] is memory of the kernel */
	more = array_grow(all->one, all->n, &all->room, MAPPINGS_MAX, sizeof(*more));
	if (!more)
		return -ENOMEM;
	all->one = more;
	more[all->n++] = m;
	return 0;
}

int mappings_read(struct mappings *m, __u32 pid)
{
	char path[40], line[4608];
	int err = 0;
	FILE *f;

	m->n = 0;
	snprintf(path, sizeof(path), "/proc/%u/maps", alive_thread(pid));
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && fgets(line, sizeof(line), f))
		err = add_line(m, line);
	fclose(f);
	return err ?: m->n ? 0 : -ESRCH;
}

void mappings_free(struct mappings *m)
{
	free(m->one);
	memset(m, 0, sizeof(*m));
}
