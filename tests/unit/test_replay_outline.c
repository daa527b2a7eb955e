// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the outline of a recording: when findings opened or became critical. */
#include <unistd.h>

#include "fixture.h"
#include "probe/recording.h"
#include "session/replay_outline.h"
#include "tap.h"

#define NEAR 65500 /* mappings, near vm.max_map_count */
#define FAR  1000
#define MANY 16 /* processes of a recording with many findings */

/* Mappings of two processes at each scan. */
static const uint64_t mappings[][2] = {
	{FAR, FAR}, {NEAR, FAR}, {NEAR, NEAR}, {NEAR, NEAR}, {FAR, NEAR}, {NEAR, NEAR}, {NEAR, FAR},
};
#define SCANS (sizeof(mappings) / sizeof(mappings[0]))

/* When a process comes near its limit. */
static const struct {
	uint64_t scan; /* from 1 on */
	uint32_t pid;
} want[] = {{2, 10}, {3, 11}, {6, 10}};

#define WANTED (sizeof(want) / sizeof(want[0]))

static char error[512];

static void take(struct recorder *rec, const struct record *h)
{
	if (recorder_take(rec, h))
		abort();
}

static void make_recording(const char *path)
{
	struct host_record host = host_record(1);
	struct hook_record hook = hook_record("lifecycle", HOOK_ON);
	struct recorder *rec = NULL;

	if (recorder_open(path, true, &rec, error, sizeof(error)))
		abort();
	take(rec, &host.h);
	take(rec, &hook.h);
	for (size_t i = 0; i < SCANS; i++) {
		struct tick_record t = tick_record((i + 1) * SECOND);

		for (uint32_t k = 0; k < 2; k++) {
			struct process_record p =
				process_record(10 + k, 1, (i + 1) * SECOND - 1000);

			p.g.map_count = mappings[i][k];
			take(rec, &p.h);
		}
		take(rec, &t.h);
	}
	if (recorder_close(rec))
		abort();
}

static void outline_of(struct outline *o, const char *path, enum severity least)
{
	const struct filter all = {};
	struct source *src;

	memset(o, 0, sizeof(*o));
	if (replay_open(path, &src, error, sizeof(error)) || outline_begin(o, src, &all, least))
		abort();
	for (size_t i = 0; i < 100 && !o->complete; i++)
		outline_step(o);
}

static void test_marks(const char *path)
{
	static struct outline o;

	outline_of(&o, path, SEVERITY_CRITICAL);
	ok(o.complete && o.read_ns == UINT64_MAX, "the whole recording is read");
	ok(o.span.begin_ns == SECOND && o.span.end_ns == SCANS * SECOND, "its length");
	is_u64(o.n, WANTED, "marks");
	for (size_t i = 0; i < o.n && i < WANTED; i++) {
		is_u64(o.mark[i].t_ns, want[i].scan * SECOND, "when");
		is_u64(o.mark[i].kind, MARK_CRITICAL, "the kind");
		is_u64(o.what[i].subject.pid, want[i].pid, "the process");
		ok(strstr(o.what[i].text, want[i].pid == 10 ? "[10]" : "[11]"), "its name: %s",
		   o.what[i].text);
	}
	is_u64(o.lost, 0, "none is left out");
	outline_end(&o);
}

static void test_search(const char *path)
{
	static struct outline o;

	outline_of(&o, path, SEVERITY_CRITICAL);
	is_u64(outline_after(&o, 0), 0, "the first mark");
	is_u64(outline_after(&o, 2 * SECOND), 1, "the one after a mark");
	is_u64(outline_after(&o, 2 * SECOND + 1), 1, "the one after a time");
	ok(outline_after(&o, 6 * SECOND) == -1, "none after the last");
	ok(outline_before(&o, 2 * SECOND) == -1, "none before the first");
	is_u64(outline_before(&o, 3 * SECOND), 0, "the one before a mark");
	is_u64(outline_before(&o, UINT64_MAX), 2, "the last mark");
	outline_end(&o);
}

/* Records scans. At each one, new processes are near their limit, which end with the next one. */
static void make_many(const char *path, uint64_t scans)
{
	struct host_record host = host_record(1);
	struct hook_record hook = hook_record("lifecycle", HOOK_ON);
	struct recorder *rec = NULL;

	if (recorder_open(path, true, &rec, error, sizeof(error)))
		abort();
	take(rec, &host.h);
	take(rec, &hook.h);
	for (uint64_t t = 1; t <= scans; t++) {
		struct tick_record tick = tick_record(t * SECOND);

		for (uint32_t k = t > 1 ? 0 : MANY; k < 2 * MANY; k++) {
			struct process_record p =
				process_record(10 + (t - 1) * MANY + k, 1, t * SECOND - 1000);

			p.g.map_count = NEAR;
			if (k < MANY)
				p.g.flags |= PROC_FINAL;
			take(rec, &p.h);
		}
		take(rec, &tick.h);
	}
	if (recorder_close(rec))
		abort();
}

/* An outline has 4096 marks at most. Others are counted. */
static void test_many(const char *path)
{
	static const uint64_t most = OUTLINE_MARKS_MAX / MANY;
	static struct outline o;

	for (uint64_t scans = most; scans <= most + 1; scans++) {
		make_many(path, scans);
		outline_of(&o, path, SEVERITY_CRITICAL);
		while (!o.complete)
			outline_step(&o);
		is_u64(o.n, OUTLINE_MARKS_MAX, "as many marks as there may be");
		is_u64(o.lost, (scans - most) * MANY, "the others are counted");
		is_u64(o.mark[0].t_ns, SECOND, "the first ones stay");
		is_u64(o.mark[o.n - 1].t_ns, most * SECOND, "up to the last one with room");
		is_u64(o.span.end_ns, scans * SECOND, "the recording is read to its end");
		outline_end(&o);
	}
}

static void test_damage(const char *path)
{
	static struct outline o;

	if (truncate(path, 600))
		abort();
	outline_of(&o, path, SEVERITY_INFO);
	ok(o.complete && o.n < WANTED, "the outline of a damaged recording ends");
	outline_end(&o);
}

int main(void)
{
	const char *path = fixture_path("outline.fsr");

	make_recording(path);
	test_marks(path);
	test_search(path);
	test_damage(path);
	test_many(path);
	unlink(path);
	return tap_done();
}
