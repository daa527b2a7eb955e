// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording of processes whose mappings, file descriptors and memory grow. The patterns of
 * growth are a line, steps, a sawtooth, a curve that bends, a curve that ends, and noise. A seed
 * shifts the patterns.
 *
 * usage: pattern_recording SEED SCANS FILE
 */
#include "dice.h"
#include "fixture.h"
#include "model/pressure.h"
#include "recording_writer.h"

#define PATTERNS 8
#define COUNT	 24
#define MB	 (1ULL << 20)

static struct recorder *rec;

#define PUT(record) put_record(rec, &(record).h)

/*
 * Returns how many of the `room` mappings, fds or bytes that its limit allows a process has used at
 * scan number `at`.
 */
static uint64_t grown(unsigned int pattern, uint64_t at, uint64_t scans, uint64_t room)
{
	uint64_t period = 10 + pattern, left = scans - at;

	switch (pattern) {
	/* linear growth: would reach the limit after another eighth of the recording's length */
	case 0:
		return room * at / (scans + scans / 8);
	case 1: /* growth in steps */
		return room * (at / period * period) / (2 * scans);
	case 2: /* growth as a sawtooth */
		return room / 2 * (at % period) / period;
	case 3: /* growth as a sawtooth on a slope */
		return room / 4 * (at % period) / period + room * at / (2 * scans);
	case 4: /* growth that becomes slower and slower */
		return room * 9 / 10 - room * 9 / 10 * left * left / (scans * scans);
	case 5: /* growth that becomes faster and faster */
		return room * at * at / (scans * scans) * 9 / 10;
	case 6: /* growth that has stopped */
		return room * (at < scans / 2 ? at : scans / 2) / scans;
	default: /* growth with noise */
		return room / 3 + roll(room / 10);
	}
}

static void tell_growth(const struct process_record *p, uint64_t was_maps, uint64_t was_fds,
			uint64_t nth)
{
	struct growth_record g = RECORD(growth_record, RECORD_GROWTH, p->h.t_ns);
	static uint64_t added[COUNT][2], removed[COUNT][2];
	const uint64_t was[] = {was_maps, was_fds}, now[] = {p->g.map_count, p->g.fds};

	for (unsigned int what = 0; what < 2; what++) {
		if (now[what] > was[what])
			added[nth][what] += now[what] - was[what];
		else
			removed[nth][what] += was[what] - now[what];
		g.place = 2 * nth + what;
		g.g.subject = p->subject;
		g.g.stack = 1;
		g.g.what = what;
		g.g.call = what == WHAT_MAPS ? CALL_MMAP : CALL_OPEN;
		g.g.flags = what == WHAT_MAPS ? 0 : FILE_KNOWN;
		g.g.mode = what == WHAT_MAPS ? GROWTH_ANON(3, 0x22) : 0100644;
		g.g.magic = what == WHAT_MAPS ? 0 : 0xef53;
		g.g.added = added[nth][what];
		g.g.removed = removed[nth][what];
		g.g.first_ns = 2 * SECOND;
		g.g.last_ns = p->h.t_ns;
		snprintf(g.g.name, sizeof(g.g.name), "%s", what == WHAT_MAPS ? "" : "page#.cache");
		PUT(g);
	}
}

static void tell_level(uint64_t used, uint64_t t_ns)
{
	struct cgroup_record r = {.h = {RECORD_LEVEL, sizeof(r), t_ns}, .version = 2};

	snprintf(r.path, sizeof(r.path), "/grows.slice");
	memset(r.n, 0xff, sizeof(r.n));
	r.n[CGROUP_USED] = used;
	r.n[CGROUP_ANON] = used - used / 10;
	r.n[CGROUP_FILE] = used / 10;
	r.n[CGROUP_LIMIT] = 1000 * MB;
	PUT(r);
}

static void tell_mount(uint64_t used, uint64_t t_ns)
{
	struct mount_record r = {.h = {RECORD_MOUNT, sizeof(r), t_ns}, .flags = MOUNT_IN_MEMORY};

	snprintf(r.path, sizeof(r.path), "/dev/shm");
	r.magic = 0x01021994;
	r.size_bytes = 1000 * MB;
	r.used_bytes = used;
	r.free_bytes = r.size_bytes - used;
	r.inodes = 1000000;
	r.inodes_free = 900000;
	r.device = 77;
	PUT(r);
}

static void scan(struct process_record *p, uint64_t at, uint64_t scans)
{
	struct tick_record tick = tick_record((2 + at) * SECOND + roll(SECOND / 20));

	tell_level(200 * MB + 700 * MB * at / scans, tick.h.t_ns - SECOND / 4);
	tell_mount(100 * MB + grown(3, at, scans, 800 * MB), tick.h.t_ns - SECOND / 4);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t maps = p[i].g.map_count, fds = p[i].g.fds;
		unsigned int pattern = i % PATTERNS;

		p[i].h.t_ns = tick.h.t_ns - SECOND / 8 + i;
		p[i].g.map_count = 100 + (i / PATTERNS == 0 ? grown(pattern, at, scans, 65000) : 0);
		p[i].g.fds = 5 + (i / PATTERNS == 1 ? grown(pattern, at, scans, 1015) : 0);
		p[i].g.rss_anon_pages =
			1000 + (i / PATTERNS == 2 ? grown(pattern, at, scans, 200000) : 0);
		p[i].g.total_vm_pages = 100000 + p[i].g.rss_anon_pages;
		if (p[i].g.map_high < p[i].g.map_count)
			p[i].g.map_high = p[i].g.map_count;
		if (p[i].g.fd_high < p[i].g.fds)
			p[i].g.fd_high = p[i].g.fds;
		p[i].g.min_flt += roll(2000);
		p[i].c.latency[0][8] = p[i].g.min_flt;
		p[i].u.cpu_ns += SECOND / 4 + roll(SECOND / 4);
		PUT(p[i]);
		if (maps != p[i].g.map_count || fds != p[i].g.fds)
			tell_growth(&p[i], maps, fds, i);
	}
	tick.limits.mem_available_bytes = (7000 - 5000 * at / scans) * MB;
	tick.limits.committed_bytes = (1000 + 6500 * at / scans) * MB;
	PUT(tick);
}

int main(int argc, char **argv)
{
	static struct process_record p[COUNT];
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);
	struct end_record end = RECORD(end_record, RECORD_END, 0);
	char error[512];
	uint64_t scans;

	if (argc != 4)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	scans = strtoull(argv[2], NULL, 10);
	if (!scans || recorder_open_capped(argv[3], true, 0, &rec, error, sizeof(error)))
		return 1;
	PUT(host);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h = hook_record(fixture_hooks[i], HOOK_ON);

		PUT(h);
	}
	PUT(tick);
	for (uint64_t i = 0; i < COUNT; i++) {
		struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);

		p[i] = process_record(100 + i, i + 1, SECOND);
		p[i].g.flags = PROC_WATCHED | (i % 2 ? PROC_BORN : 0);
		f.subject = p[i].subject;
		f.stack = 1;
		snprintf(f.text, sizeof(f.text), "grow_%u+0x1 (app)\nmain+0x2 (app)",
			 (unsigned int)(i % PATTERNS));
		PUT(f);
	}
	for (uint64_t at = 0; at < scans; at++)
		scan(p, at, scans);
	end.h.t_ns = (3 + scans) * SECOND;
	PUT(end);
	return recorder_close(rec) != 0;
}
