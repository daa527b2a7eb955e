// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/pressure_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "probe/host_facts.h"

#define LIST_EVERY	16   /* number of scans between two listings of cgroups and mounts */
#define SCORES_ALL_MOST 4096 /* maximum number of processes whose OOM score is read */

static const char *const paths[NR_PRESSURE_FILES] = {
	[PRESSURE_PSI] = "/proc/pressure/memory",
	[PRESSURE_MEMINFO] = "/proc/meminfo",
	[PRESSURE_VMSTAT] = "/proc/vmstat",
	[PRESSURE_RATIO] = "/proc/sys/vm/overcommit_ratio",
	[PRESSURE_KBYTES] = "/proc/sys/vm/overcommit_kbytes",
	[PRESSURE_SWAPPINESS] = "/proc/sys/vm/swappiness",
};

static const struct {
	const char *name;
	enum figure_source source;
} figures[NR_HOST_FIGURES] = {
#define X(id, key, source, name) {name, source},
	HOST_FIGURES(X)
#undef X
};

static bool is_named(const char *line, const char *name, size_t *ret_len)
{
	size_t len = strlen(name);
	bool sum = name[len - 1] == '*';

	*ret_len = strcspn(line, " :\n");
	if (sum)
		return !strncmp(line, name, len - 1);
	return *ret_len == len && !strncmp(line, name, len);
}

/* Adds up values of /proc/meminfo or /proc/vmstat by metric. */
static void take_lines(const char *text, enum figure_source source, uint64_t unit,
		       struct pressure_record *r)
{
	size_t len;

	for (const char *at = text; *at; at = strchrnul(at, '\n'), at += *at == '\n')
		for (size_t i = 0; i < NR_HOST_FIGURES; i++) {
			if (figures[i].source != source || !is_named(at, figures[i].name, &len))
				continue;
			if (r->n[i] == FIGURE_UNKNOWN)
				r->n[i] = 0;
			r->n[i] += strtoull(at + len + (at[len] == ':'), NULL, 10) * unit;
			break;
		}
}

static void take_setting(const struct pressure_reader *r, enum pressure_file file,
			 enum host_figure figure, struct pressure_record *ret)
{
	char text[64];

	if (io_read_again(r->fd[file], text, sizeof(text)) > 0)
		ret->n[figure] = strtoull(text, NULL, 10);
}

static int read_host(const struct pressure_reader *r, const struct sink *sink)
{
	struct pressure_record p = {.h = {RECORD_SHORTAGE, sizeof(p), host_monotonic_ns()}};
	char text[16384];

	for (size_t i = 0; i < NR_HOST_FIGURES; i++)
		p.n[i] = FIGURE_UNKNOWN;
	io_read_again(r->fd[PRESSURE_MEMINFO], text, sizeof(text));
	take_lines(text, FROM_MEMINFO, 1024, &p);
	io_read_again(r->fd[PRESSURE_VMSTAT], text, sizeof(text));
	take_lines(text, FROM_VMSTAT, 1, &p);
	take_setting(r, PRESSURE_RATIO, HOST_OVERCOMMIT_RATIO, &p);
	take_setting(r, PRESSURE_KBYTES, HOST_OVERCOMMIT_KBYTES, &p);
	take_setting(r, PRESSURE_SWAPPINESS, HOST_SWAPPINESS, &p);
	p.n[HOST_LEFT_OUT] = r->left_out;
	io_read_again(r->fd[PRESSURE_PSI], text, sizeof(text));
	pressure_stalls(text, &p.some, &p.full);
	return sink->take(sink->ctx, &p.h);
}

struct scored {
	const struct subject *s;
	uint32_t score;
};

static bool scores_more(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return x->score > y->score;
}

static bool read_number(uint32_t pid, const char *file, long *ret)
{
	char name[48], text[32];

	snprintf(name, sizeof(name), "/proc/%u/%s", pid, file);
	if (io_read(AT_FDCWD, name, text, sizeof(text)) <= 0)
		return false;
	*ret = strtol(text, NULL, 10);
	return true;
}

/* Finds the highest OOM scores. The kernel takes 4 us per score (oom_badness(), mm/oom_kill.c). */
static size_t first_scores(const struct model *m, struct scored *ret)
{
	size_t n = 0, asked = 0;

	for (struct subject *s = model_each(m, NULL); s && asked < SCORES_ALL_MOST;
	     s = model_each(m, s)) {
		struct scored one = {s};
		long score;

		if (s->final || s->now.g.flags & PROC_NO_MM)
			continue;
		asked++;
		if (!read_number(s->id.pid, "oom_score", &score) || score <= 0)
			continue;
		one.score = score;
		array_insert(ret, &n, SCORES_MAX, sizeof(*ret), scores_more, &one);
	}
	return n;
}

static int read_scores(const struct model *m, const struct sink *sink)
{
	struct scored first[SCORES_MAX];
	size_t n = first_scores(m, first);

	for (size_t i = 0; i < n; i++) {
		struct score_record r = {.h = {RECORD_SCORE, sizeof(r), host_monotonic_ns()},
					 .subject = first[i].s->id,
					 .score = first[i].score,
					 .nth = i};
		long adj = 0;
		int err;

		read_number(r.subject.pid, "oom_score_adj", &adj);
		r.adj = adj;
		err = sink->take(sink->ctx, &r.h);
		if (err)
			return err;
	}
	return 0;
}

/* Returns whether a scan lists cgroups and mounts before it reads them. Counts the scans. */
static bool lists_now(struct pressure_reader *r)
{
	/* the model knows the watched processes only from the second scan on */
	bool now = r->looks < 2 || !(r->looks % LIST_EVERY);

	r->looks++;
	return now;
}

static void list_places(struct pressure_reader *r, const struct model *m)
{
	r->over = 0;
	pressure_list_cgroups(r, m);
	pressure_list_mounts(r, m);
	if (r->over > r->left_out)
		r->left_out = r->over;
}

int pressure_scan(struct pressure_reader *r, const struct model *m, const struct sink *sink)
{
	int err;

	if (lists_now(r))
		list_places(r, m);
	err = read_host(r, sink);
	if (!err)
		err = pressure_scan_cgroups(r, m, sink);
	if (!err)
		err = pressure_scan_mounts(r, m, sink);
	/* before the first scan, the model has no processes */
	if (!err && r->scores && m->subjects && !host_is_in_pid_namespace())
		err = read_scores(m, sink);
	return err;
}

int pressure_scan_only_cgroups(struct pressure_reader *r, const struct model *m,
			       const struct sink *sink)
{
	if (lists_now(r)) {
		r->over = 0;
		pressure_list_cgroups(r, m);
	}
	return pressure_scan_cgroups(r, m, sink);
}

void pressure_open(struct pressure_reader *r)
{
	struct files f = {.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	struct span text;
	char *s = NULL;

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r->fd[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
	r->root = -1;
	if (f.root >= 0 && !file_read(&f, "/proc/self/mountinfo", &s, &text.len)) {
		text.s = s;
		if (cgroup_mount_find(text, "memory", &r->hierarchy))
			r->root = open(r->hierarchy.point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	free(s);
	if (f.root >= 0)
		close(f.root);
}

void pressure_close(struct pressure_reader *r)
{
	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	if (r->root >= 0)
		close(r->root);
	free(r->level);
	free(r->mount);
}
