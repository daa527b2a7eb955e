/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes recordings for tests of commands that read them. */
#ifndef FS_TESTS_UNIT_WRITTEN_RECORDING_H
#define FS_TESTS_UNIT_WRITTEN_RECORDING_H

#include <stdlib.h>

#include "fixture.h"
#include "probe/recording.h"

static inline void put(struct recorder *rec, const struct record *h)
{
	if (recorder_take(rec, h))
		abort();
}

/* Writes a complete recording: three scans of process 10 with this number of mappings. */
static inline void write_recording(const char *path, uint32_t maps)
{
	struct host_record host = host_record(SECOND);
	struct end_record end = RECORD(end_record, RECORD_END, 3 * SECOND);
	struct recorder *rec = NULL;
	char error[512];

	if (recorder_open(path, true, &rec, error, sizeof(error)))
		abort();
	put(rec, &host.h);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record hook = hook_record(fixture_hooks[i], HOOK_ON);

		put(rec, &hook.h);
	}
	for (uint64_t t = 1; t <= 3; t++) {
		struct process_record p = process_record(10, 1, t * SECOND - 1000);
		struct tick_record tick = tick_record(t * SECOND);

		p.g.map_count = p.g.map_high = maps;
		put(rec, &p.h);
		put(rec, &tick.h);
	}
	put(rec, &end.h);
	if (recorder_close(rec))
		abort();
}

#endif
