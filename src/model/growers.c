// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/growers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/units.h"
#include "model/fields.h"

#define SORTS_MAX 256 /* of one process; what is beyond them goes into the last one */

/* include/uapi/linux/magic.h: where what is shared lives */
static const struct {
	uint64_t magic;
	const char *name;
} file_systems[] = {{0x01021994, "tmpfs"},  {0x958458f6, "hugetlbfs"}, {0xef53, "ext4"},
		    {0x58465342, "xfs"},    {0x9123683e, "btrfs"},     {0x794c7630, "overlay"},
		    {0x6969, "nfs"},	    {0x65735546, "fuse"},      {0x9fa0, "proc"},
		    {0x444d4142, "dma-buf"}};

static const char *file_system(uint64_t magic)
{
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++)
		if (file_systems[i].magic == magic)
			return file_systems[i].name;
	return NULL;
}

#define KIND_OF(mode) ((mode)&0170000)
#define KIND_SOCKET   0140000
#define KIND_PIPE     0010000

static void name_of_file(const struct fs_growth *g, char *ret, size_t size)
{
	const char *fs = file_system(g->magic);
	char folded[FS_FILE_NAME];

	name_fold(g->name, folded, sizeof(folded));
	snprintf(ret, size, "%s%s%s%s", *folded ? folded : "file without a name",
		 g->flags & FS_FILE_DELETED && *folded != '[' ? " (deleted)" : "", fs ? " in " : "",
		 fs ? fs : "");
}

/* FS_ANON(): protection and flags of mmap. */
static void name_of_anonymous(const struct fs_growth *g, char *ret, size_t size)
{
	uint32_t prot = g->mode >> 24, flags = g->mode & 0x1fffff;

	if (flags & 0x20000) /* MAP_STACK */
		snprintf(ret, size, "thread stack");
	else if (flags & 0x40000) /* MAP_HUGETLB */
		snprintf(ret, size, "huge pages");
	else if (!prot)
		snprintf(ret, size, "anonymous, no rights (reserved, or a guard)");
	else
		snprintf(ret, size, "anonymous %s%s%s%s", flags & 1 ? "shared " : "",
			 prot & 1 ? "r" : "", prot & 2 ? "w" : "", prot & 4 ? "x" : "");
}

void growth_name(const struct fs_growth *g, char *ret, size_t size)
{
	if (g->flags & FS_FILE_KNOWN && KIND_OF(g->mode) == KIND_SOCKET)
		snprintf(ret, size, "socket");
	else if (g->flags & FS_FILE_KNOWN && KIND_OF(g->mode) == KIND_PIPE)
		snprintf(ret, size, "pipe");
	else if (g->flags & FS_FILE_KNOWN)
		name_of_file(g, ret, size);
	else if (g->call == FS_CALL_MMAP)
		name_of_anonymous(g, ret, size);
	else
		snprintf(ret, size, "split by %s", call_name(g->call));
}

static struct grower *sort_of(struct grower *sorts, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(sorts[i].name, name))
			return &sorts[i];
	if (*n == SORTS_MAX) {
		snprintf(sorts[SORTS_MAX - 1].name, GROWER_NAME, "others");
		return &sorts[SORTS_MAX - 1];
	}
	sorts[*n] = (struct grower){.stack = -1};
	snprintf(sorts[*n].name, GROWER_NAME, "%s", name);
	return &sorts[(*n)++];
}

static uint64_t left_of(const struct grower *g)
{
	return g->added > g->removed ? g->added - g->removed : 0;
}

static int by_left(const void *a, const void *b)
{
	uint64_t x = left_of(a), y = left_of(b);

	return x < y   ? 1
	       : x > y ? -1
		       : strcmp(((struct grower *)a)->name, ((struct grower *)b)->name);
}

size_t growers_of(const struct model *m, const struct fs_subject *id, enum fs_what what,
		  struct grower *ret, size_t room, uint64_t *ret_added)
{
	struct grower *sorts = calloc(SORTS_MAX, sizeof(*sorts));
	char name[GROWER_NAME];
	size_t n = 0;

	*ret_added = 0;
	for (size_t i = 0; sorts && i < m->growths; i++) {
		const struct fs_growth *g = &m->growth[i];
		struct grower *sort;

		if (g->what != (uint32_t)what || g->subject.pid != id->pid ||
		    g->subject.start_ns != id->start_ns || !g->added)
			continue;
		growth_name(g, name, sizeof(name));
		sort = sort_of(sorts, &n, name);
		sort->added += g->added;
		sort->removed += g->removed;
		*ret_added += g->added;
		if (g->added > sort->by_stack) {
			sort->by_stack = g->added;
			sort->stack = g->stack;
		}
	}
	if (sorts)
		qsort(sorts, n, sizeof(*sorts), by_left);
	n = n < room ? n : room;
	if (n)
		memcpy(ret, sorts, n * sizeof(*ret));
	free(sorts);
	return n;
}
