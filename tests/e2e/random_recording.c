// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording with faultscope's own writer. The processes in it are made up from a seed.
 * Some processes exist before the recording, and some start and exit between two scans. Pids are
 * reused. The time between scans varies.
 *
 * usage: random_recording SEED PROCESSES FILE
 */
#include "dice.h"
#include "fixture.h"
#include "recording_writer.h"

#define LOOKS_MOST   60
#define LIVING_MOST  4200
#define SCANS_OF_ONE 3 /* in each scan, every third process that is seen exits on average */

static void begin(struct recorder *rec)
{
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);

	put_record(rec, &host.h);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h = hook_record(fixture_hooks[i], HOOK_ON);

		put_record(rec, &h.h);
	}
	put_record(rec, &tick.h);
}

static void grow(struct process_record *p)
{
	uint64_t minor = roll(4) ? roll(1000) : 0, major = roll(5) ? 0 : roll(20);

	p->g.min_flt += minor;
	p->g.maj_flt += major;
	p->c.latency[0][roll(NR_LATENCY)] += minor;
	p->c.latency[1][roll(NR_LATENCY)] += major;
	p->c.stall_ns[0] += minor * roll(3000);
	p->c.stall_ns[1] += major * roll(3000000);
	p->g.map_count = 10 + roll(500);
	if (p->g.map_high < p->g.map_count)
		p->g.map_high = p->g.map_count;
	p->g.fds = roll(100);
	if (p->g.fd_high < p->g.fds)
		p->g.fd_high = p->g.fds;
	p->g.rss_anon_pages = roll(10000);
	p->g.swap_pages = roll(3) ? 0 : roll(500);
	p->g.threads = 1 + roll(30);
}

/* Adds random mapping and file descriptor calls, some of which fail. */
static void call(struct process_record *p)
{
	for (int i = 0; i < NR_MAP_CALLS; i++) {
		p->c.map_call[i].calls += roll(3) ? 0 : roll(300);
		p->c.map_call[i].refused += roll(9) ? 0 : roll(30);
	}
	for (int i = 0; i < NR_FD_CALLS; i++) {
		p->c.fd_call[i].calls += roll(3) ? 0 : roll(300);
		p->c.fd_call[i].refused += roll(9) ? 0 : roll(30);
	}
}

static void be_born(struct process_record *p, uint64_t nth, uint64_t t_ns)
{
	/* Pids are taken from a small range, so that later processes reuse many of them. */
	*p = process_record(100 + nth % 32000, nth + 1, t_ns);
	p->g.min_flt = roll(5000);
	p->g.maj_flt = roll(50);
	if (roll(3))
		p->g.flags |= PROC_BORN;
	/*
	 * Some names have characters that reverse the following text (U+202E) or are invisible
	 * (U+200B).
	 */
	snprintf(p->g.comm, sizeof(p->g.comm), "w%u%s", (unsigned)roll(6),
		 roll(3)   ? ""
		 : roll(2) ? "\xe2\x80\xae"
			     "x"
			   : "\xe2\x80\x8b");
}

/*
 * Writes one scan: living processes grow, and some of them exit. After that, new processes start,
 * some of which exit before the next scan. Returns the number of living processes.
 */
static size_t look(struct recorder *rec, struct process_record *p, size_t living, uint64_t *born,
		   uint64_t new, uint64_t t_ns)
{
	struct tick_record tick = tick_record(t_ns);

	for (uint64_t i = 0; i < new &&living < LIVING_MOST; i++) {
		be_born(&p[living], (*born)++, t_ns);
		living++;
	}
	for (size_t i = 0; i < living;) {
		bool ends = !roll(SCANS_OF_ONE);

		p[i].h.t_ns = t_ns;
		grow(&p[i]);
		call(&p[i]);
		if (ends)
			p[i].g.flags |= PROC_FINAL;
		put_record(rec, &p[i].h);
		if (ends)
			p[i] = p[--living];
		else
			i++;
	}
	put_record(rec, &tick.h);
	return living;
}

int main(int argc, char **argv)
{
	static struct process_record p[LIVING_MOST];
	uint64_t wanted, born = 0, t_ns = SECOND, looks;
	struct end_record end = RECORD(end_record, RECORD_END, 0);
	struct recorder *rec = NULL;
	char error[512];
	size_t living = 0;

	if (argc != 4)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	wanted = strtoull(argv[2], NULL, 10);
	if (recorder_open_capped(argv[3], true, 0, &rec, error, sizeof(error))) {
		fprintf(stderr, "random_recording: %s\n", error);
		return 1;
	}
	begin(rec);
	looks = 2 + roll(LOOKS_MOST);
	for (uint64_t i = 0; i < looks; i++) {
		uint64_t new = born < wanted ? (wanted - born) / (looks - i) + 1 : 0;

		t_ns += SECOND / 10 + roll(20 * SECOND);
		living = look(rec, p, living, &born, new, t_ns);
	}
	end.h.t_ns = t_ns;
	put_record(rec, &end.h);
	return recorder_close(rec) != 0;
}
