// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "incident/incident_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/output_file.h"
#include "probe/host_facts.h"
#include "probe/recording.h"

#define LISTED_MOST 10000 /* maximum number of incidents in a list */
#define NS_PER_S    1000000000ULL

/* An unfinished file of a writer that still lives is younger than this, in seconds. */
#define DRAFT_AGE_S 600

/* Removes unfinished files, which a crash or a power cut has left: see output_file.c. */
static void remove_drafts(int dir, int64_t now_s)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((de = readdir(d)))
		if (!strncmp(de->d_name, ".faultscope.", strlen(".faultscope.")) &&
		    !fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    now_s > st.st_mtim.tv_sec + DRAFT_AGE_S)
			unlinkat(dir, de->d_name, 0);
	closedir(d);
}

int incident_store_open(struct incident_store *s, const char *dir,
			const struct store_bounds *bounds)
{
	int err;

	*s = INCIDENT_STORE_CLOSED;
	if (strlen(dir) + STORED_NAME_BYTES + 1 > sizeof(s->dir))
		return -ENAMETOOLONG;
	err = stored_directory_make(dir);
	if (err)
		return err;
	s->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	s->bounds = *bounds;
	strcpy(s->dir, dir);
	remove_drafts(s->fd, host_wall_ns() / NS_PER_S);
	return 0;
}

void incident_store_close(struct incident_store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = INCIDENT_STORE_CLOSED;
}

static uint64_t size_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_size;
}

void incident_store_keep_bounds(struct incident_store *s, uint64_t wall_ns)
{
	const struct store_bounds *b = &s->bounds;
	char oldest[STORED_NAME_BYTES] = "";
	struct stored_names names = {};
	uint64_t bytes = 0;

	if (b->age_ns && wall_ns > b->age_ns)
		stored_name(wall_ns - b->age_ns, "", oldest);
	if (stored_names_read(s->dir, &names)) {
		stored_names_free(&names);
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		bytes += size_of(s->fd, names.name[i]);
		if (!i || !((b->count && i >= b->count) || (b->bytes && bytes > b->bytes) ||
			    (*oldest && strcmp(names.name[i], oldest) < 0)))
			continue;
		if (unlinkat(s->fd, names.name[i], 0))
			continue;
		s->dropped++;
		if (s->dropped_one)
			s->dropped_one(s->ctx, names.name[i]);
	}
	stored_names_free(&names);
}

static int write_file(struct incident_store *s, struct record_ring *ring,
		      const struct incident_record *head, const char *name)
{
	struct output_file f;
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%.*s/%s", (int)(sizeof(path) - STORED_NAME_BYTES - 1), s->dir,
		 name);
	err = output_file_open(&f, path, 0600);
	if (err)
		return err;
	err = record_ring_write(ring, &head->h, f.fd);
	/* the contents must be on the disk before the name is: a power cut keeps the old file */
	if (!err && fsync(f.fd))
		err = -errno;
	err = output_file_end(&f, err);
	if (!err && fsync(s->fd))
		err = -errno;
	return err;
}

int incident_store_put(struct incident_store *s, struct record_ring *ring,
		       const struct incident_record *head, const char *name)
{
	int err = write_file(s, ring, head, name);

	s->stored += !err;
	s->failed += !!err;
	if (!err)
		incident_store_keep_bounds(s, host_wall_ns());
	return err;
}

/* The first record of a recording. */
struct first_record {
	struct incident_record r;
	bool known;
};

static int take_first(void *ctx, const struct record *h)
{
	struct first_record *first = ctx;

	first->known = h->kind == RECORD_INCIDENT && h->len == sizeof(first->r);
	if (first->known)
		memcpy(&first->r, h, sizeof(first->r));
	return h->kind == RECORD_FIELD ? 0 : -ECANCELED; /* the rest need not be read */
}

static void end_texts(struct incident_record *r)
{
	r->finding[sizeof(r->finding) - 1] = r->comm[sizeof(r->comm) - 1] = 0;
	r->cause[sizeof(r->cause) - 1] = r->workload[sizeof(r->workload) - 1] = 0;
	r->title[sizeof(r->title) - 1] = r->not_raised[sizeof(r->not_raised) - 1] = 0;
}

/* Returns why the result `err` of reading a file gave no incident. */
static const char *reason_of(int err)
{
	if (err == -EINVAL || err == -EBADMSG)
		return "damaged, or no recording";
	return err < 0 && err != -ECANCELED ? strerror(-err) : "no recording of an incident";
}

/* Returns false if the file is gone: the exporter removes old ones at any time. */
static bool read_first(const char *path, struct stored_incident *ret)
{
	struct first_record first = {};
	const struct sink sink = {.take = take_first, .ctx = &first};
	struct source *src = NULL;
	struct stat st;
	char error[512];
	int err = lstat(path, &st) ? -errno : 0;

	if (err == -ENOENT)
		return false;
	ret->bytes = err ? 0 : st.st_size;
	err = err ?: replay_open(path, &src, error, sizeof(error));
	if (!err) {
		err = src->ops->look(src, &sink);
		src->ops->close(src);
	}
	if (!first.known) {
		array_copy(ret->why, sizeof(ret->why), reason_of(err));
		return true;
	}
	ret->r = first.r;
	end_texts(&ret->r);
	return true;
}

int incident_list_read(const char *dir, struct incident_list *ret)
{
	struct stored_names names;
	char path[PATH_MAX];
	int err = stored_names_read(dir, &names);
	size_t n = names.n < LISTED_MOST ? names.n : LISTED_MOST;

	*ret = (struct incident_list){};
	if (!err && n) {
		ret->one = calloc(n, sizeof(*ret->one));
		err = ret->one ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !err; i++) {
		struct stored_incident *one = &ret->one[ret->n];

		strcpy(one->name, names.name[i]);
		snprintf(path, sizeof(path), "%.*s/%s", (int)(sizeof(path) - STORED_NAME_BYTES - 1),
			 dir, one->name);
		ret->n += read_first(path, one);
	}
	stored_names_free(&names);
	return err;
}

void incident_list_free(struct incident_list *list)
{
	free(list->one);
	*list = (struct incident_list){};
}
