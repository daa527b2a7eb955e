// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the recording FROM to its end, and writes another recording to TO. TO begins with the final
 * state of FROM. A recording that is started in the live view also begins with the state at its
 * start.
 *
 * usage: retold_recording FROM TO
 */
#include <stdio.h>

#include "collect/collector.h"
#include "collect/model_records.h"
#include "probe/recording.h"

static struct model m;
static struct collector collector = {.m = &m};

static int replay(struct source *src)
{
	struct sink sink = {.take = collector_take, .ctx = &collector};
	int err = src->ops->start(src, &sink);

	while (!err && !(err = src->ops->look(src, &sink)))
		model_next_window(&m);
	return err;
}

static int take_retold(void *ctx, const struct record *h)
{
	return recorder_take(ctx, h);
}

int main(int argc, char **argv)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), 0}};
	struct sink sink = {.take = take_retold};
	struct recorder *rec = NULL;
	struct source *src;
	char error[512];

	if (argc != 3 || model_init(&m) || replay_open(argv[1], &src, error, sizeof(error)))
		return 2;
	if (replay(src) < 0 || recorder_open_capped(argv[2], true, 0, &rec, error, sizeof(error)))
		return 1;
	end.h.t_ns = m.last_ns;
	sink.ctx = rec;
	if (retell(&m, &sink) || recorder_take(rec, &end.h) || recorder_close(rec))
		return 1;
	src->ops->close(src);
	model_free(&m);
	return 0;
}
