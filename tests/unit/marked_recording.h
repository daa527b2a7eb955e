/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes recordings with findings and incidents at known scans, for tests of the replay. */
#ifndef FS_TESTS_UNIT_MARKED_RECORDING_H
#define FS_TESTS_UNIT_MARKED_RECORDING_H

#include "written_recording.h"

#define WALL_NS (1700000000 * SECOND) /* 2023-11-14 22:13:20 UTC, at the first scan */
#define FAR	1000
#define NEAR	65500 /* mappings, near vm.max_map_count */

static uint64_t trigger_ns; /* time of the trigger in recordings of incidents; 0: no incident */

/* Makes a recording. Process 10 is near its limit from scan 5 on, process 11 from scan 9 on. */
static inline const char *make_recording(const char *name, unsigned int scans, uint64_t step_ns)
{
	const char *path = fixture_path(name);
	struct host_record host = host_record(SECOND);
	struct hook_record hook = hook_record("lifecycle", HOOK_ON);
	struct incident_record incident = RECORD(incident_record, RECORD_INCIDENT, SECOND);
	struct end_record end = RECORD(end_record, RECORD_END, scans * step_ns);
	struct recorder *rec = NULL;
	char error[512];

	if (recorder_open(path, true, &rec, error, sizeof(error)))
		abort();
	host.interval_ns = step_ns;
	host.wall_ns = WALL_NS;
	if (trigger_ns) {
		incident.at_ns = trigger_ns;
		incident.subject = (struct process_key){.pid = 11, .start_ns = 1};
		strcpy(incident.title, "it was killed");
		put(rec, &incident.h);
	}
	put(rec, &host.h);
	put(rec, &hook.h);
	for (unsigned int i = 0; i < scans; i++) {
		struct tick_record tick = tick_record((i + 1) * step_ns);

		for (uint32_t k = 0; k < 2; k++) {
			struct process_record p = process_record(10 + k, 1, tick.h.t_ns - 1000);

			p.g.map_count = i + 1 < (k ? 9 : 5) ? FAR : NEAR;
			put(rec, &p.h);
		}
		tick.wall_ns = WALL_NS + i * step_ns;
		put(rec, &tick.h);
	}
	put(rec, &end.h);
	if (recorder_close(rec))
		abort();
	return path;
}

#endif
