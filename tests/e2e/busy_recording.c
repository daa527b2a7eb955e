// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording of a busy machine: of its processes, 40 % do something between two scans, a
 * few leak file descriptors, and in each interval some short-lived processes start and end. Every
 * 50th of them is killed by SIGSEGV.
 *
 * usage: busy_recording SEED PROCESSES SHORT_LIVED SCANS SECONDS FILE
 *
 * SHORT_LIVED is the number of short-lived processes for each scan, and SECONDS the time between
 * two scans. The first scan is at 2026-11-28 23:55:00 UTC, so that a recording of ten minutes
 * contains midnight.
 */
#include "dice.h"
#include "fixture.h"
#include "recording_writer.h"

#define PROCESSES_MAX 20000
#define ACTIVE_OF_10  4
#define LEAKS	      4
#define CRASH_EVERY   50
#define WALL_S	      1795910100ULL

static struct recorder *rec;
static uint64_t ended;

#define PUT(record) put_record(rec, &(record).h)

/* Returns how many descriptors a leaking process has: the nth one reaches its limit later. */
static uint32_t leaked(uint64_t nth, uint64_t at, uint64_t scans)
{
	uint64_t fds = 4 + 1020 * at * (nth + 2) / (scans * 2);

	return fds < 1024 ? fds : 1024;
}

static void change(struct process_record *p, uint64_t nth, uint64_t at, uint64_t scans)
{
	p->g.min_flt += 1 + roll(2000);
	p->g.rss_anon_pages = 1000 + roll(500);
	p->g.total_vm_pages = 100000 + p->g.rss_anon_pages;
	p->u.cpu_ns += SECOND / 100 + roll(SECOND / 100);
	p->c.latency[0][8] = p->g.min_flt;
	if (nth >= LEAKS)
		return;
	p->g.fds = leaked(nth, at, scans);
	if (p->g.fd_high < p->g.fds)
		p->g.fd_high = p->g.fds;
}

static void short_lived(uint64_t t_ns)
{
	uint32_t pid = 100000 + ended % 1000000;
	struct process_record p = process_record(pid, t_ns - SECOND / 16, t_ns);
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, t_ns - 1000);

	snprintf(p.g.comm, sizeof(p.g.comm), "brief%u", (unsigned int)(ended % 7));
	p.g.flags = PROC_BORN | PROC_FINAL;
	p.g.min_flt = 50 + roll(400);
	p.u.cpu_ns = roll(SECOND / 16);
	if (++ended % CRASH_EVERY == 0) {
		s.subject = p.subject;
		s.tid = pid;
		s.signal = 11;
		s.code = 1;
		s.address = 8;
		memcpy(s.comm, p.g.comm, sizeof(s.comm));
		PUT(s);
	}
	PUT(p);
}

static void scan(struct process_record *p, uint64_t processes, uint64_t brief, uint64_t at,
		 uint64_t scans, uint64_t step_ns)
{
	struct tick_record tick = tick_record(SECOND + (at + 1) * step_ns);

	tick.wall_ns = WALL_S * SECOND + at * step_ns;
	tick.own_cpu_ns = at * step_ns / 500;
	tick.look_ns = SECOND / 200;
	for (uint64_t i = 0; i < brief; i++)
		short_lived(tick.h.t_ns - step_ns / 2 + i * 1000);
	for (uint64_t i = 0; i < processes; i++) {
		if (at && i >= LEAKS && roll(10) >= ACTIVE_OF_10)
			continue;
		p[i].h.t_ns = tick.h.t_ns - SECOND / 8 + i;
		change(&p[i], i, at, scans);
		PUT(p[i]);
	}
	PUT(tick);
}

int main(int argc, char **argv)
{
	static struct process_record p[PROCESSES_MAX];
	struct host_record host = host_record(SECOND);
	struct end_record end = RECORD(end_record, RECORD_END, 0);
	uint64_t processes, brief, scans, step_ns;
	char error[512];

	if (argc != 7)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	processes = strtoull(argv[2], NULL, 10);
	brief = strtoull(argv[3], NULL, 10);
	scans = strtoull(argv[4], NULL, 10);
	step_ns = strtod(argv[5], NULL) * SECOND;
	if (!scans || !step_ns || processes < LEAKS || processes > PROCESSES_MAX ||
	    recorder_open(argv[6], true, &rec, error, sizeof(error)))
		return 1;
	host.wall_ns = WALL_S * SECOND - step_ns;
	host.interval_ns = step_ns;
	PUT(host);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h = hook_record(fixture_hooks[i], HOOK_ON);

		PUT(h);
	}
	for (uint64_t i = 0; i < processes; i++) {
		struct names_record names = RECORD(names_record, RECORD_NAMES, SECOND);

		p[i] = process_record(1000 + i, i + 1, SECOND);
		p[i].g.flags = PROC_WATCHED;
		snprintf(p[i].g.comm, sizeof(p[i].g.comm), i < LEAKS ? "leak%u" : "work%u",
			 (unsigned int)i % 100);
		PUT(p[i]);
		names.subject = p[i].subject;
		snprintf(names.cgroup, sizeof(names.cgroup), "/system.slice/unit%u.service",
			 (unsigned int)i % 20);
		PUT(names);
	}
	for (uint64_t at = 0; at < scans; at++)
		scan(p, processes, brief, at, scans, step_ns);
	end.h.t_ns = SECOND + scans * step_ns + 1;
	PUT(end);
	return recorder_close(rec) != 0;
}
