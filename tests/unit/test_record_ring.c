// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the recording in memory: whatever part of a measurement it keeps, this part is a complete
 * recording with the right state of all processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "collect/collector.h"
#include "fixture.h"
#include "probe/recording.h"
#include "tap.h"

#define PROCESSES 40
#define MS	  1000000ULL

static struct model m;
static struct collector c;
static uint64_t now_ns, seed = 1;

static uint64_t dice(uint64_t sides)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % sides;
}

/* Each process lives for some scans, and then another one with the same pid follows. */
static uint64_t birth[PROCESSES];
static uint64_t faults[PROCESSES];

static void take(const struct record *h)
{
	if (collector_take(&c, h))
		abort();
}

static void begin(const struct ring_bounds *bounds)
{
	struct host_record host;
	struct hook_record hook = hook_record("scan", HOOK_ON);

	now_ns = 100 * SECOND;
	host = host_record(now_ns);
	memset(&c, 0, sizeof(c));
	if (model_init(&m))
		abort();
	c.m = &m;
	if (record_ring_make(bounds, collector_tell, &c, &c.ring))
		abort();
	for (size_t i = 0; i < PROCESSES; i++) {
		birth[i] = i + 1;
		faults[i] = i;
	}
	take(&host.h);
	take(&hook.h);
}

static void end(void)
{
	record_ring_free(c.ring);
	c.ring = NULL;
	collector_free(&c);
	model_free(&m);
}

static void name(size_t i)
{
	struct names_record r = RECORD(names_record, RECORD_NAMES, now_ns);

	r.subject.pid = 100 + i;
	r.subject.start_ns = birth[i];
	snprintf(r.exe, sizeof(r.exe), "/usr/bin/program-%zu", i);
	snprintf(r.cgroup, sizeof(r.cgroup), "/system.slice/%zu.service", i);
	take(&r.h);
}

static void process(size_t i, uint32_t flags)
{
	struct process_record r = process_record(100 + i, birth[i], now_ns);

	r.g.min_flt = faults[i];
	r.g.fds = r.g.fd_high = 3 + faults[i] % 100;
	r.g.flags = flags;
	r.c.fault_kind[1] = faults[i] * 3;
	if (dice(4) == 0 && !(flags & PROC_FINAL))
		r.h.len = offsetof(struct process_record, c);
	take(&r.h);
}

static void event(size_t i)
{
	struct refused_record r = refused_record(100 + i, CALL_MMAP, ENOMEM);

	r.h.t_ns = now_ns;
	r.subject.start_ns = birth[i];
	take(&r.h);
}

/* One scan, in which each process changes with a chance of 1 to `calm`. */
static void scan(uint64_t calm, uint64_t events)
{
	struct tick_record tick;

	for (size_t i = 0; i < PROCESSES; i++) {
		now_ns += 1000;
		if (!model_find(&m, &(struct process_key){birth[i], 100 + i, 0})) {
			process(i, 0);
			name(i);
		} else if (!dice(calm)) {
			faults[i] += dice(50);
			process(i, 0);
		}
		if (!dice(calm * 8)) {
			process(i, PROC_FINAL);
			birth[i] = now_ns;
			faults[i] = 0;
		}
	}
	for (uint64_t k = 0; k < events; k++)
		event(dice(PROCESSES));
	now_ns += SECOND;
	tick = tick_record(now_ns);
	tick.wall_ns = 1700000000 * SECOND + now_ns;
	take(&tick.h);
	model_next_window(&m);
}

/* ---- reading what was written ---- */

static struct replay_facts facts;
static uint64_t scans, host_ns, first_tick_ns, last_tick_ns;
static bool ended_before_end, whole;

struct reading {
	struct model m;
	struct collector c;
};

static int read_record(void *ctx, const struct record *h)
{
	struct reading *r = ctx;

	if (h->kind == RECORD_HOST)
		host_ns = h->t_ns;
	if (h->kind == RECORD_TICK) {
		ended_before_end |= h->t_ns <= last_tick_ns;
		last_tick_ns = h->t_ns;
		if (!scans++)
			first_tick_ns = h->t_ns;
	}
	return collector_take(&r->c, h);
}

/* Returns whether a process is in the same state in both models. */
static bool is_alike(const struct subject *a, const struct subject *b)
{
	return b && a->now.g.min_flt == b->now.g.min_flt && a->now.g.fds == b->now.g.fds &&
	       !strcmp(a->exe ? a->exe : "", b->exe ? b->exe : "") &&
	       !strcmp(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "");
}

/* Reads the ring as a recording. Returns how many processes are not as in the model `m`. */
static size_t differing(const struct incident_record *head, struct reading *r)
{
	int fd = memfd_create("ring", MFD_CLOEXEC), err = 0;
	struct sink sink = {.take = read_record, .ctx = r};
	struct source *src = NULL;
	size_t differ = 0, n = 0;
	char path[64], error[512];

	memset(r, 0, sizeof(*r));
	scans = host_ns = first_tick_ns = last_tick_ns = 0;
	ended_before_end = false;
	if (fd < 0 || model_init(&r->m) || record_ring_write(c.ring, head ? &head->h : NULL, fd))
		abort();
	r->c.m = &r->m;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (replay_open(path, &src, error, sizeof(error)))
		abort();
	while (!err) {
		err = src->ops->look(src, &sink);
		if (!err)
			model_next_window(&r->m);
	}
	facts = *replay_facts(src);
	whole = err == 1 && facts.at_end && facts.ended && !facts.damages;
	src->ops->close(src);
	close(fd);
	for (struct subject *s = model_each(&m, NULL); s; s = model_each(&m, s), n++)
		differ += !is_alike(s, model_find(&r->m, &s->id));
	for (struct subject *s = model_each(&r->m, NULL); s; s = model_each(&r->m, s))
		n--;
	return differ + (n ? 1 : 0);
}

static void forget(struct reading *r)
{
	collector_free(&r->c);
	model_free(&r->m);
}

static void test_small(void)
{
	const struct ring_bounds bounds = {.bytes = 1 << 20};
	struct incident_record head = RECORD(incident_record, RECORD_INCIDENT, 5);
	struct reading r;

	begin(&bounds);
	for (int i = 0; i < 10; i++)
		scan(3, 1);
	is_u64(differing(NULL, &r), 0, "before the ring is full, it has everything");
	ok(whole, "it is a complete recording");
	is_u64(scans, 10, "with all scans");
	is_u64(host_ns, 100 * SECOND, "from the first record on");
	ok(!r.m.incident, "it is no incident");
	forget(&r);
	strcpy(head.title, "a title");
	strcpy(head.finding, "M01");
	head.at_ns = 7;
	is_u64(differing(&head, &r), 0, "the ring can be written again");
	ok(r.m.incident && r.m.incident->at_ns == 7 && !strcmp(r.m.incident->title, "a title"),
	   "with a record of what triggered it");
	is_u64(record_ring_use(c.ring).dropped, 0, "nothing was dropped");
	forget(&r);
	end();
}

/* Writes the ring at random moments, with random bounds, so that its suffixes are random ones. */
static void test_suffixes(void)
{
	size_t bad_state = 0, bad_file = 0, bad_order = 0, over = 0, short_of = 0, dropped = 0;

	for (int round = 0; round < 60; round++) {
		const struct ring_bounds bounds = {.bytes = dice(2) ? 32768 + dice(200000) : 0,
						   .ns = dice(2) ? (20 + dice(200)) * SECOND : 0};
		uint64_t calm = 1 + dice(20), events = dice(6) ? dice(3) : 200;
		struct reading r;

		if (!bounds.bytes && !bounds.ns)
			continue;
		begin(&bounds);
		for (int i = 0; i < 100 + (int)dice(400); i++) {
			struct ring_use use;

			scan(calm, events);
			use = record_ring_use(c.ring);
			/* the newest group may exceed the bound by itself, up to its state */
			over += bounds.bytes && use.bytes > bounds.bytes + (256 << 10);
			short_of += bounds.ns && !bounds.bytes && use.dropped &&
				    use.until_ns - use.from_ns < bounds.ns;
			if (dice(60))
				continue;
			bad_state += differing(NULL, &r);
			bad_file += !whole;
			bad_order += ended_before_end || host_ns > first_tick_ns ||
				     last_tick_ns != m.last_ns;
			forget(&r);
		}
		dropped += record_ring_use(c.ring).dropped;
		end();
	}
	ok(dropped > 20, "%zu groups were dropped", dropped);
	is_u64(bad_state, 0, "the state of each process is right in each suffix");
	is_u64(bad_file, 0, "each suffix is a complete recording");
	is_u64(bad_order, 0, "whose scans are in order, without a repeated one");
	is_u64(over, 0, "the ring keeps its bound of bytes");
	is_u64(short_of, 0, "and keeps at least the requested time");
}

static void test_storm(void)
{
	const struct ring_bounds bounds = {.bytes = 65536};
	struct reading r;

	begin(&bounds);
	scan(1, 0);
	scan(1, 100000);
	ok(record_ring_use(c.ring).bytes < 65536 + (512 << 10), "a storm of events is bounded");
	scan(1, 10);
	is_u64(differing(NULL, &r), 0, "and the state after it is right");
	ok(whole, "in a complete recording");
	forget(&r);
	end();
}

/* An hour of 1,000 processes at rest, of which some do something between two scans. */
static void test_hour(void)
{
	const struct ring_bounds bounds = {.ns = 3600 * SECOND};
	struct reading r;

	begin(&bounds);
	for (int t = 0; t < 380; t++) {
		struct tick_record tick;

		for (uint32_t i = 0; i < 1000; i++) {
			struct process_record p;

			if (t && dice(100) >= 5)
				continue;
			p = process_record(1000 + i, 1 + i, now_ns + i);
			p.g.min_flt = p.c.fault_kind[0] = t * dice(40);
			p.g.rss_anon_pages = 1000 + dice(500);
			p.u.cpu_ns = now_ns / (1 + i);
			take(&p.h);
			if (!t) {
				struct names_record n =
					RECORD(names_record, RECORD_NAMES, now_ns);

				n.subject = p.subject;
				snprintf(n.exe, sizeof(n.exe), "/usr/sbin/daemon-%u", i);
				snprintf(n.cgroup, sizeof(n.cgroup), "/system.slice/d%u.service",
					 i / 5);
				take(&n.h);
			}
		}
		now_ns += 10 * SECOND;
		tick = tick_record(now_ns);
		take(&tick.h);
		model_next_window(&m);
	}
	printf("# %llu bytes\n", (unsigned long long)record_ring_use(c.ring).bytes);
	ok(record_ring_use(c.ring).bytes < 16 << 20, "an hour of 1,000 processes fits in 16 MiB");
	is_u64(differing(NULL, &r), 0, "with the state of all");
	ok(m.last_ns - first_tick_ns >= 3600 * SECOND, "and reaches back an hour");
	forget(&r);
	end();
}

/* Counters of a process that lived before the first scan of the part begin in that part. */
static void test_resumed(void)
{
	const struct ring_bounds bounds = {.ns = 20 * SECOND};
	struct process_record born = process_record(7, 7, 101 * SECOND);
	const struct subject *s;
	struct reading r;

	begin(&bounds);
	born.g.flags = PROC_BORN;
	born.g.min_flt = 1000;
	born.g.fd_base = 3;
	born.g.fds = 50;
	take(&born.h);
	for (int i = 0; i < 200; i++)
		scan(1, 0);
	born.h.t_ns = now_ns;
	born.g.min_flt = 1010;
	take(&born.h);
	scan(1, 0);
	differing(NULL, &r);
	s = model_find(&r.m, &born.subject);
	ok(s && !(s->now.g.flags & PROC_BORN),
	   "a process that the part resumes was not born in it");
	ok(s && s->now.g.min_flt - s->base_min == 10, "only its new faults count");
	ok(s && !s->now.fds_opened, "no file descriptor was opened in it");
	forget(&r);
	end();
}

static void test_redacted(void)
{
	const struct ring_bounds bounds = {.ns = 20 * SECOND};
	struct redaction redaction;
	size_t named = 0;
	struct reading r;

	begin(&bounds);
	redaction_begin(&redaction);
	c.redaction = &redaction;
	for (int i = 0; i < 100; i++)
		scan(2, 1);
	differing(NULL, &r);
	for (struct subject *s = model_each(&r.m, NULL); s; s = model_each(&r.m, s))
		named += s->cgroup && strstr(s->cgroup, "system.slice");
	is_u64(named, 0, "states and records are redacted");
	is_str(r.m.host.host, "host", "and so is the host");
	forget(&r);
	end();
}

/* A process ends before a scan, but its last record comes after the record of the scan. */
static void test_older(void)
{
	const struct ring_bounds bounds = {};
	struct process_record old;

	begin(&bounds);
	scan(1, 0);
	old = process_record(7, 7, now_ns - 5 * SECOND);
	old.g.flags = PROC_FINAL;
	take(&old.h);
	is_u64(record_ring_use(c.ring).until_ns, now_ns, "the newest record is the scan");
	end();
}

int main(void)
{
	test_small();
	test_suffixes();
	test_storm();
	test_hour();
	test_resumed();
	test_redacted();
	test_older();
	return tap_done();
}
