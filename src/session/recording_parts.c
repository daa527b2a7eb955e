// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/recording_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "collect/collector.h"
#include "probe/recording.h"

/* A recording that is being cut. */
struct cutting {
	struct model m;
	struct collector c;
	struct recorder *part[2];
	uint64_t at_ns;
	bool is_cut;
};

static int copy(void *ctx, const struct record *h)
{
	return recorder_take(ctx, h);
}

/* Ends the first part, and begins the second one with the present state. */
static int cut(struct cutting *t)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), t->m.last_ns}};
	const struct sink sink = {.take = copy, .ctx = t->part[1]};
	int err = recorder_take(t->part[0], &end.h);

	t->is_cut = true;
	t->c.rec = t->part[1];
	return err ?: collector_tell(&t->c, &sink);
}

static int take(void *ctx, const struct record *h)
{
	struct cutting *t = ctx;
	int err = 0;

	if (h->kind == RECORD_INCIDENT)
		return 0; /* the parts are no incidents */
	/* the state is whole only after a scan */
	if (!t->is_cut && h->t_ns > t->at_ns && t->m.last_ns && h->kind != RECORD_TICK)
		err = cut(t);
	return err ?: collector_take(&t->c, h);
}

static int read_all(struct cutting *t, struct source *src)
{
	const struct sink sink = {.take = take, .ctx = t};
	int err = 0;

	while (!err) {
		err = src->ops->look(src, &sink);
		if (!err)
			model_next_window(&t->m);
	}
	if ((err == 1 || err == -EBADMSG) && !t->is_cut)
		err = cut(t) ?: 1;
	return err == 1 || err == -EBADMSG ? 0 : err;
}

static int open_part(struct cutting *t, int i, int fd, char *error, size_t size)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return recorder_open(path, true, &t->part[i], error, size);
}

int recording_cut(const char *path, uint64_t at_ns, int before, int after)
{
	struct cutting t = {.at_ns = at_ns};
	struct source *src = NULL;
	char error[512] = "";
	int err = model_init(&t.m), closed;

	t.c.m = &t.m;
	err = err ?: replay_open(path, &src, error, sizeof(error));
	err = err ?: open_part(&t, 0, before, error, sizeof(error));
	err = err ?: open_part(&t, 1, after, error, sizeof(error));
	t.c.rec = t.part[0];
	err = err ?: read_all(&t, src);
	for (int i = 0; i < 2; i++) {
		closed = t.part[i] ? recorder_close(t.part[i]) : 0;
		err = err ?: closed;
	}
	if (src)
		src->ops->close(src);
	collector_free(&t.c);
	model_free(&t.m);
	if (err)
		complain("%s", *error ? error : strerror(-err));
	return err ? EXIT_FAILED : 0;
}
