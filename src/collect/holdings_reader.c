// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/holdings_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/fold.h"
#include "base/hash.h"
#include "base/io.h"
#include "collect/names/sockets.h"
#include "probe/host_facts.h"

#define SORTS_MAX    2048
#define SLOTS	     4096    /* hash slots: a power of two above SORTS_MAX */
#define LINES_MAX    4000000 /* maximum lines of /proc/PID/maps, above usual limits */
#define HOLDING_NAME sizeof(((struct holding *)0)->name)

struct sorts {
	struct holding *sort;	     /* array of SORTS_MAX groups */
	char (*first)[HOLDING_NAME]; /* full name of each group's first member */
	uint16_t slot[SLOTS];	     /* hash table of 1 + group index; 0: free slot */
	size_t n;
	bool cut;
};

static uint32_t hash_of(uint32_t kind, const char *name)
{
	uint32_t h = hash_text(HASH_BEGIN ^ kind, name);

	return h ^ h >> 15;
}

static int sorts_open(struct sorts *s)
{
	memset(s, 0, sizeof(*s));
	s->sort = calloc(SORTS_MAX, sizeof(*s->sort));
	s->first = calloc(SORTS_MAX, sizeof(*s->first));
	return s->sort && s->first ? 0 : -ENOMEM;
}

static void sorts_close(struct sorts *s)
{
	free(s->sort);
	free(s->first);
}

/*
 * Counts a mapping or fd in its group. While all members of the group have the same name, the group
 * is displayed as `shown`.
 */
static void sorts_add(struct sorts *s, uint32_t kind, const char *key, const char *shown,
		      uint64_t bytes)
{
	struct holding *g;
	uint32_t at;

	for (at = hash_of(kind, key) % SLOTS; s->slot[at]; at = (at + 1) % SLOTS) {
		g = &s->sort[s->slot[at] - 1];
		if (g->kind == kind && !strncmp(g->name, key, HOLDING_NAME - 1))
			goto found;
	}
	if (s->n == SORTS_MAX) {
		s->cut = true;
		return;
	}
	s->slot[at] = s->n + 1;
	g = &s->sort[s->n];
	g->kind = kind;
	g->names = 1;
	snprintf(g->name, sizeof(g->name), "%s", key);
	snprintf(s->first[s->n], HOLDING_NAME, "%s", shown);
	s->n++;
found:
	if (g->names == 1 && strncmp(s->first[g - s->sort], shown, HOLDING_NAME - 1))
		g->names = 2;
	g->count++;
	g->bytes += bytes;
}

static void sorts_add_named(struct sorts *s, uint32_t kind, const char *name, uint64_t bytes)
{
	char folded[HOLDING_NAME];

	name_fold(name, folded, sizeof(folded));
	sorts_add(s, kind, folded, name, bytes);
}

static int by_count(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->name, y->name);
}

static int holdings_emit(struct sorts *s, const struct process_key *of, enum what what,
			 const struct sink *sink)
{
	struct holding_record r = {.h = {RECORD_HOLDING, sizeof(r), host_monotonic_ns()}};
	int err = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->sort[i].names == 1)
			memcpy(s->sort[i].name, s->first[i], HOLDING_NAME);
	qsort(s->sort, s->n, sizeof(s->sort[0]), by_count);
	for (size_t i = 0; i < s->n && i < HOLDINGS_TOLD && !err; i++) {
		r.nth = i;
		r.g = s->sort[i];
		r.g.subject = *of;
		r.g.what = what;
		r.g.cut = s->cut || s->n > HOLDINGS_TOLD;
		err = sink->take(sink->ctx, &r.h);
	}
	return err;
}

enum holding_kind holding_kind_of_map(const char *rights, const char *name)
{
	static const struct {
		const char *start;
		enum holding_kind kind;
	} rows[] = {
		{"[heap]", HOLDING_HEAP},
		{"[stack", HOLDING_STACK},
		{"[anon_shmem:", HOLDING_SHARED_MEMORY},
		{"[", HOLDING_SPECIAL},
		{"/dev/shm/", HOLDING_SHARED_MEMORY},
		{"/memfd:", HOLDING_SHARED_MEMORY},
		{"/SYSV", HOLDING_SHARED_MEMORY},
		{"/dev/zero (deleted)", HOLDING_SHARED_MEMORY},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(name, rows[i].start, strlen(rows[i].start)))
			return rows[i].kind;
	return rights[3] == 's' ? HOLDING_FILE_SHARED : HOLDING_FILE_PRIVATE;
}

/* Adds a line of maps, "start-end rwxp offset dev inode name"; the name may contain spaces. */
static void add_map(struct sorts *s, char *line)
{
	char rights[8], shown[32];
	uint64_t start, end;
	char *name;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s%n", &start, &end, rights, &at) <
		    3 ||
	    !at || end < start)
		return;
	name = line + at;
	name += strspn(name, " ");
	name[strcspn(name, "\n")] = 0;
	if (*name && strncmp(name, "[anon:", 6)) {
		sorts_add_named(s, holding_kind_of_map(rights, name), name, end - start);
		return;
	}
	/* mappings without a name are grouped by permissions; the full name also has the size */
	snprintf(shown, sizeof(shown), "%s %" PRIu64 " KiB", rights, (end - start) >> 10);
	sorts_add(s, strncmp(rights, "---", 3) ? HOLDING_ANONYMOUS : HOLDING_GUARD, rights, shown,
		  end - start);
}

static int read_maps(struct sorts *s, uint32_t pid)
{
	char path[40], line[4608];
	size_t lines = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", alive_thread(pid));
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	setvbuf(f, NULL, _IOFBF, 1 << 16);
	errno = 0;
	while (fgets(line, sizeof(line), f)) {
		if (++lines > LINES_MAX) {
			s->cut = true;
			break;
		}
		add_map(s, line);
	}
	fclose(f);
	return lines ? 0 : errno ? -errno : -ESRCH;
}

static uint32_t kind_of_fd(const char *target)
{
	static const struct {
		const char *start;
		enum holding_kind kind;
	} rows[] = {
		{"pipe:", HOLDING_PIPE},
		{"anon_inode:", HOLDING_ANON_INODE},
		{"/dmabuf:", HOLDING_ANON_INODE},
		{"/memfd:", HOLDING_MEMFD},
		{"/dev/shm/", HOLDING_SHARED_MEMORY},
		{"/dev/", HOLDING_DEVICE},
		{"/", HOLDING_FILE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(target, rows[i].start, strlen(rows[i].start)))
			return rows[i].kind;
	return HOLDING_OTHER;
}

/*
 * The sockets of a process. They are read when its first socket is found. This is slow, because the
 * kernel walks the socket tables of the whole machine.
 */
struct lazy_sockets {
	uint32_t pid;
	bool read;
	struct sockets sockets;
};

static const struct sockets *sockets_of(struct lazy_sockets *lazy)
{
	if (!lazy->read)
		sockets_read(&lazy->sockets, lazy->pid);
	lazy->read = true;
	return &lazy->sockets;
}

static void add_fd(struct sorts *s, struct lazy_sockets *lazy, const char *target)
{
	const char *label;
	uint64_t inode;

	if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1) {
		label = sockets_find(sockets_of(lazy), inode);
		label = label ? label : "socket";
		sorts_add(s, HOLDING_SOCKET, label, label, 0);
	} else if (!strncmp(target, "pipe:[", 6)) {
		/* the number of a pipe tells a user nothing */
		sorts_add(s, HOLDING_PIPE, "pipe", "pipe", 0);
	} else {
		sorts_add_named(s, kind_of_fd(target), target, 0);
	}
}

static int read_fds(struct sorts *s, uint32_t pid)
{
	struct lazy_sockets lazy = {.pid = alive_thread(pid)};
	char path[40], target[4096];
	struct dirent *de;
	ssize_t n;
	int err;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/fd", lazy.pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((de = io_next_entry(d, &err))) {
		if (de->d_name[0] == '.')
			continue;
		n = readlinkat(dirfd(d), de->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue; /* the fd was closed by now */
		target[n] = 0;
		add_fd(s, &lazy, target);
	}
	if (lazy.read)
		sockets_free(&lazy.sockets);
	closedir(d);
	return err;
}

int holdings_read(uint32_t pid, const struct process_key *of, enum what what,
		  const struct sink *sink)
{
	struct sorts s;
	int err = sorts_open(&s);

	if (!err)
		err = what == WHAT_MAPS ? read_maps(&s, pid) : read_fds(&s, pid);
	if (!err)
		err = holdings_emit(&s, of, what, sink);
	sorts_close(&s);
	return err;
}
