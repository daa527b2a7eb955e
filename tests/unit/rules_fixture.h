/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A model that receives simulated processes and scans from a test, and the findings about them. */
#ifndef FS_TESTS_RULES_FIXTURE_H
#define FS_TESTS_RULES_FIXTURE_H

#include "fixture.h"
#include "rules/rules.h"
#include "kept_findings.h"

static struct model m;
static struct findings fs;
static uint64_t now;

static inline void begin(const char *blind)
{
	begin_model(&m, blind);
	memset(&fs, 0, sizeof(fs));
	now = SECOND;
}

static inline void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

static inline const struct finding *find(const char *id, uint32_t pid)
{
	for (size_t i = 0; i < fs.n; i++)
		if (!strcmp(fs.f[i].rule->id, id) && (!pid || fs.f[i].subject.pid == pid))
			return &fs.f[i];
	return NULL;
}

static inline void tick(void)
{
	struct tick_record t = tick_record(now += SECOND);

	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

static inline void next_window(void)
{
	model_next_window(&m);
	findings_next_window(&fs);
}

/* Ends a scan interval in which process 10 uses `maps` and `fds` percent of its limits. */
static inline const struct finding *look(const char *id, double maps, double fds, uint32_t flags)
{
	struct process_record r = process_record(10, 1, now + SECOND / 2);

	next_window();
	r.g.map_count = r.g.map_high = 65530 * maps / 100 + 0.5;
	r.g.fd_soft = 1000;
	r.g.fds = r.g.fd_high = fds * 10 + 0.5;
	r.g.flags = flags;
	model_take(&m, &r.h);
	tick();
	return find(id, 10);
}

#endif
