// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/oom_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "probe/recording.h"

int oom_store_open(struct oom_store *s, const char *dir, uint64_t keep)
{
	int err;

	memset(s, 0, sizeof(*s));
	if (!keep)
		return 0;
	if (!dir)
		dir = OOM_STORE_PLACE;
	if (strlen(dir) + STORED_NAME_BYTES + 1 > sizeof(s->dir))
		return -ENAMETOOLONG;
	err = stored_directory_make(dir);
	if (err)
		return err;
	s->keep = keep;
	strcpy(s->dir, dir);
	return 0;
}

static int put_stack(struct recorder *rec, const struct model *m, const struct oom_kill *k)
{
	const struct frames *f = oom_kills_stack(m, &k->first);
	struct frames_record *r;
	int err;

	if (!f)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->h = (struct record){RECORD_FRAMES, sizeof(*r), k->first.h.t_ns};
	/* the process of the stack may be unknown to the reader: the victim stands for it */
	r->subject = k->first.subject;
	r->stack = f->stack;
	r->flags = f->flags;
	r->end = f->end;
	r->by_chain = f->by_chain;
	array_copy(r->text, sizeof(r->text), f->text);
	err = recorder_take(rec, &r->h);
	free(r);
	return err;
}

/* Writes the records of a kill: the host, the limits of the machine, the kill, and the end. */
static int put_records(struct recorder *rec, const struct model *m, const struct oom_kill *k)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), k->first.h.t_ns}};
	int err = m->host.h.kind ? recorder_take(rec, &m->host.h) : 0;

	if (!err && m->tick.h.kind)
		err = recorder_take(rec, &m->tick.h);
	if (!err)
		err = put_stack(rec, m, k);
	if (!err)
		err = recorder_take(rec, &k->first.h);
	for (uint32_t i = 1; !err && i < k->victims && i < OOM_VICTIMS_MAX; i++) {
		struct oom_record more = k->first;

		more.subject = k->victim[i].id;
		more.score_adj = k->victim[i].score_adj;
		more.rss_anon_pages = k->victim[i].kept_pages;
		more.rss_shmem_pages = more.swap_pages = 0;
		memcpy(more.comm, k->victim[i].comm, sizeof(more.comm));
		err = recorder_take(rec, &more.h);
	}
	if (!err && k->has_scene)
		err = recorder_take(rec, &k->scene.h);
	for (uint32_t i = 0; !err && i < k->holders; i++)
		err = recorder_take(rec, &k->holder[i].h);
	return err ?: recorder_take(rec, &end.h);
}

static int write_kill(const struct oom_store *s, const struct model *m, const struct oom_kill *k)
{
	char path[PATH_MAX], name[STORED_NAME_BYTES], pid[16], error[512];
	struct recorder *rec;
	int err;

	snprintf(pid, sizeof(pid), "%u", k->first.subject.pid);
	stored_name(k->scene.wall_ns, pid, name);
	snprintf(path, sizeof(path), "%.*s/%s", (int)(sizeof(path) - sizeof(name) - 2), s->dir,
		 name);
	err = recorder_open(path, true, &rec, error, sizeof(error));
	if (err)
		return err;
	err = put_records(rec, m, k);
	if (err) {
		recorder_discard(rec);
		return err;
	}
	return recorder_close(rec);
}

static void prune(const struct oom_store *s)
{
	struct stored_names names = {};
	int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0 && !stored_names_read(s->dir, &names))
		for (size_t i = s->keep; i < names.n; i++)
			unlinkat(dir, names.name[i], 0);
	if (dir >= 0)
		close(dir);
	stored_names_free(&names);
}

int oom_store_write(struct oom_store *s, const struct model *m)
{
	int first_error = 0;

	for (size_t i = 0; *s->dir && m->ooms && i < m->ooms->n; i++) {
		const struct oom_kill *k = &m->ooms->kill[i];
		bool more = k->serial == s->serial && k->victims > s->victims;
		int err;

		if (k->serial <= s->serial && !more)
			continue;
		err = write_kill(s, m, k);
		if (!first_error)
			first_error = err;
		s->stored += !err && !more;
		s->failed += !!err;
		s->serial = k->serial;
		s->victims = k->victims;
		prune(s);
	}
	return first_error;
}
