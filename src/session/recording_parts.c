// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/recording_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/units.h"
#include "cli/messages.h"
#include "collect/collector.h"
#include "render/completeness.h"
#include "render/utc.h"

/* A recording whose part is being copied. */
struct cutting {
	struct model m;
	struct collector c;
	struct recorder *part;
	struct buf *gaps;
	uint64_t from_ns, to_ns;
	bool begun, done;
};

static int copy(void *ctx, const struct record *h)
{
	return recorder_take(ctx, h);
}

/* Begins the part, with the present state unless it is the beginning of the recording. */
static int begin(struct cutting *t)
{
	const struct sink sink = {.take = copy, .ctx = t->part};

	t->begun = true;
	t->c.rec = t->part;
	return t->m.last_ns ? collector_tell(&t->c, &sink) : 0;
}

static int end(struct cutting *t, uint64_t t_ns)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), t_ns}};

	t->done = true;
	t->c.rec = NULL;
	return recorder_take(t->part, &end.h);
}

static int take(void *ctx, const struct record *h)
{
	struct cutting *t = ctx;
	int err = 0;

	if (t->done || h->kind == RECORD_INCIDENT)
		return 0; /* a part is no incident */
	/* the state is whole only after a scan */
	if (!t->begun && h->t_ns > t->from_ns && t->m.last_ns && h->kind != RECORD_TICK)
		err = begin(t);
	if (t->begun && h->t_ns > t->to_ns)
		return err ?: end(t, t->m.last_ns);
	return err ?: collector_take(&t->c, h);
}

void recording_gaps(const struct replay_facts *f, struct buf *gaps)
{
	if (f->damages)
		gap_add(gaps, "recording truncated or damaged at offset %llu: %llu %s not read",
			f->damage_offset, f->lost_bytes, as_words(f->lost_bytes, "byte{|s}").s);
	else if (f->at_end && !f->ended)
		gap_add(gaps, "recording cut off: it has no end record (faultscope was killed, its "
			      "disk was full, or it still runs)");
}

/* Reads a recording, up to the end of the part. Damage of the recording is a gap, and no error. */
static int read_all(struct cutting *t, const char *path, char *error, size_t size)
{
	const struct sink sink = {.take = take, .ctx = t};
	struct source *src = NULL;
	int err = replay_open(path, &src, error, size);

	while (!err && !t->done) {
		err = src->ops->look(src, &sink);
		if (!err)
			model_next_window(&t->m);
	}
	if (src) {
		recording_gaps(replay_facts(src), t->gaps);
		src->ops->close(src);
	}
	return err == 1 || err == -EBADMSG ? 0 : err;
}

static int cut(struct cutting *t, const char *path, char *error, size_t size)
{
	int err = model_init(&t->m), closed;

	t->c.m = &t->m;
	if (!err && !t->from_ns)
		err = begin(t);
	err = err ?: read_all(t, path, error, size);
	if (!err && !t->done)
		err = end(t, t->m.last_ns);
	closed = recorder_close(t->part);
	collector_free(&t->c);
	model_free(&t->m);
	return err ?: closed;
}

static int fail(const char *error, int err)
{
	complain("%s", *error ? error : as_error(err).s);
	return EXIT_FAILED;
}

int recording_part(const char *path, uint64_t from_ns, uint64_t to_ns, int fd, struct buf *gaps)
{
	struct cutting t = {.from_ns = from_ns, .to_ns = to_ns, .gaps = gaps};
	char error[512] = "", part[32];
	int err;

	snprintf(part, sizeof(part), "/proc/self/fd/%d", fd);
	err = recorder_open(part, true, &t.part, error, sizeof(error));
	err = err ?: cut(&t, path, error, sizeof(error));
	return err ? fail(error, err) : 0;
}

static int note_time(void *ctx, const struct record *h)
{
	struct moment_span *span = ctx;

	if (h->kind != RECORD_TICK)
		return 0;
	if (!span->begin_ns) {
		span->begin_ns = h->t_ns;
		span->wall_ns = ((const struct tick_record *)h)->wall_ns;
	}
	span->end_ns = h->t_ns;
	return 0;
}

/* Finds the times of the first and the last scan. Damage of the recording is no error here. */
static int read_span(const char *path, struct moment_span *ret, char *error, size_t size)
{
	const struct sink sink = {.take = note_time, .ctx = ret};
	struct source *src = NULL;
	int err = replay_open(path, &src, error, size);

	while (!err)
		err = src->ops->look(src, &sink);
	if (src)
		src->ops->close(src);
	return err == 1 || err == -EBADMSG ? 0 : err;
}

/* Finds where two moments are in a recording. Returns 0 or an exit status. */
static int find_range(const char *path, const struct moment *from, const struct moment *to,
		      uint64_t *ret_from, uint64_t *ret_to)
{
	struct moment_span span = {};
	char error[512] = "";
	int err = read_span(path, &span, error, sizeof(error));

	*ret_from = 0;
	*ret_to = UINT64_MAX;
	if (err)
		return fail(error, err);
	if (from->kind != MOMENT_NONE)
		err = moment_resolve(from, &span, ret_from);
	if (!err && to->kind != MOMENT_NONE)
		err = moment_resolve(to, &span, ret_to);
	if (err) {
		complain("%s: it has no clock time: give --from and --to as seconds since its "
			 "beginning",
			 path);
	} else if (*ret_from >= *ret_to || *ret_from >= span.end_ns || *ret_to <= span.begin_ns) {
		complain("%s: nothing is between --from and --to: it lasts %s%s%s\n"
			 "  see: faultscope info %s",
			 path, as_span((span.end_ns - span.begin_ns) / 1e9).s,
			 span.wall_ns ? ", from " : "",
			 span.wall_ns ? as_utc_ms(span.wall_ns).s : "", path);
		err = -ENODATA;
	}
	return err ? EXIT_FAILED : 0;
}

int recording_part_open(const char *path, const struct moment *from, const struct moment *to,
			struct buf *gaps)
{
	uint64_t from_ns, to_ns;
	int status = find_range(path, from, to, &from_ns, &to_ns), fd;

	if (status)
		return -status;
	fd = memfd_create("part", MFD_CLOEXEC);
	status = fd < 0 ? fail("", -errno) : recording_part(path, from_ns, to_ns, fd, gaps);
	if (!status)
		return fd;
	if (fd >= 0)
		close(fd);
	return -status;
}
