/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Feeds a model with records about the memory of the host, and judges them once a second. */
#ifndef FS_TESTS_PRESSURE_FIXTURE_H
#define FS_TESTS_PRESSURE_FIXTURE_H

#include "fixture.h"
#include "kept_findings.h"
#include "rules/shortage.h"
#include "tap.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

static struct model m;
static struct findings fs;
static uint64_t now_s;

static inline void begin(void)
{
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	now_s = 1;
}

static inline void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

/* Returns counters one second after `before`. Tasks were stalled for `percent` % of this second. */
static inline struct stall stall_of(const struct stall *before, double percent)
{
	struct stall s = {.known = 1};

	s.total_us = before->total_us + percent * 1e4;
	s.avg10 = s.avg60 = percent * 100;
	return s;
}

struct rates {
	double in, out, refaults, some, full; /* in, out, refaults: pages/s; some, full: percent */
	uint64_t available, swap_free;
};

static inline struct pressure_record host_at(const struct rates *r)
{
	static struct pressure_record p;

	if (now_s == 1)
		memset(&p, 0, sizeof(p));
	p.h = (struct record){RECORD_SHORTAGE, sizeof(p), now_s * SECOND + SECOND / 2};
	p.n[HOST_SWAP_IN] += r->in;
	p.n[HOST_SWAP_OUT] += r->out;
	p.n[HOST_REFAULT_FILE] += r->refaults;
	p.some = stall_of(&p.some, r->some);
	p.full = stall_of(&p.full, r->full);
	return p;
}

static inline void tick(uint64_t available, uint64_t swap_free)
{
	struct tick_record t = tick_record(++now_s * SECOND);

	t.limits.mem_available_bytes = available;
	t.limits.swap_free_bytes = swap_free;
	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

static inline void next(void)
{
	model_next_window(&m);
	findings_next_window(&fs);
}

/* Simulates a machine with these rates for some seconds. The caller checks the findings. */
static inline void live(const struct rates *r, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		struct pressure_record p = host_at(r);

		next();
		model_take(&m, &p.h);
		tick(r->available, r->swap_free);
	}
}

static inline const struct finding *open_of(const char *id)
{
	for (size_t i = 0; i < fs.n; i++)
		if (fs.f[i].open && !strcmp(fs.f[i].rule->id, id))
			return &fs.f[i];
	return NULL;
}

static inline size_t all_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fs.n; i++)
		n += fs.f[i].open;
	return n;
}

#endif
