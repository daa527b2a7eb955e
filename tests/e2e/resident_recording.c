// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording of the resident memory of made-up processes, which depends on a seed. Each
 * process is read several times. Rows of each cause and kind have stacks of native code, stacks of
 * Python code, or none. Some processes end, and one list is not complete.
 *
 * usage: resident_recording SEED PROCESSES FILE
 */
#include "dice.h"
#include "fixture.h"
#include "recording_writer.h"

#define PAGE	  4096ULL
#define MB	  (1ULL << 20)
#define READINGS  8
#define STACKS	  6
#define ROWS_MOST 40

static struct recorder *rec;

#define PUT(record) put_record(rec, &(record).h)

static void begin(void)
{
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);

	PUT(host);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h = hook_record(fixture_hooks[i], HOOK_ON);

		PUT(h);
	}
	tick.wall_ns = 1700000000 * SECOND;
	PUT(tick);
}

static void name_stacks(const struct process_record *p)
{
	for (int stack = 0; stack < STACKS; stack++) {
		struct frames_record r = RECORD(frames_record, RECORD_FRAMES, 2 * SECOND);

		r.subject = p->subject;
		r.stack = stack;
		if (stack == 4)
			snprintf(r.user_line, sizeof(r.user_line), "train.py:%u load",
				 (unsigned)(50 + roll(2)));
		if (stack != 5)
			snprintf(r.text, sizeof(r.text),
				 "malloc+0x12 (libc.so.6)\nmake_%d+0x%x (%s)\nmain+0x1 (exe)",
				 stack / 2, (unsigned)(1 + roll(2)), stack ? "exe" : "libfoo.so");
		PUT(r);
	}
}

static struct process_record born(uint32_t nth)
{
	struct process_record p = process_record(1000 + nth, nth + 1, 2 * SECOND);
	struct names_record names = RECORD(names_record, RECORD_NAMES, 2 * SECOND);

	p.g.ppid = nth ? 1000 + roll(nth) : 1;
	p.g.flags |= PROC_WATCHED;
	PUT(p);
	names.subject = p.subject;
	snprintf(names.exe, sizeof(names.exe), "/usr/bin/%s", nth % 3 ? p.g.comm : "java");
	snprintf(names.cgroup, sizeof(names.cgroup), "/system.slice/svc%u.service", nth % 2);
	PUT(names);
	name_stacks(&p);
	return p;
}

static void put_row(const struct process_record *p, uint32_t nth, unsigned int reading,
		    uint64_t t_ns, struct resident_sum_record *sum)
{
	static const char *const files[] = {"libfoo.so", "data.idx", "libjvm.so"};
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, t_ns);
	uint64_t off;

	r.subject = r.toucher = p->subject;
	r.nth = nth;
	r.by = roll(RESIDENT_NR_BY);
	r.stack = r.by <= RESIDENT_INHERITED ? (int)roll(STACKS + 1) - (roll(4) ? 0 : 1) : -1;
	r.before = r.by == RESIDENT_COPIED ? (int)roll(STACKS) - 1 : -1;
	if (r.by == RESIDENT_INHERITED && p->g.ppid != 1)
		r.toucher = (struct process_key){.pid = p->g.ppid, .start_ns = p->g.ppid - 999};
	r.kind = roll(NR_HOLDING_KINDS);
	r.pages = roll(3) ? 1 + roll(200) : 0;
	r.bytes = (r.pages * 64 + roll(64)) * PAGE * (1 + reading / 3);
	off = r.bytes / (2 + r.pages);
	r.low = r.bytes - off;
	r.high = r.bytes + off;
	r.swapped_bytes = roll(4) ? 0 : roll(500) * PAGE;
	r.huge_bytes = roll(4) ? 0 : r.bytes / 2;
	snprintf(r.file, sizeof(r.file), "%s", roll(2) ? "" : files[roll(3)]);
	PUT(r);
	if (r.file[0])
		sum->file_bytes += r.bytes;
	else
		sum->anon_bytes += r.bytes;
	sum->swap_bytes += r.swapped_bytes;
}

static void read_process(const struct process_record *p, unsigned int reading, uint64_t t_ns)
{
	struct resident_sum_record sum = RECORD(resident_sum_record, RECORD_RESIDENT_SUM, t_ns);

	sum.subject = p->subject;
	sum.rows = reading == 1 && p->subject.pid % 4 == 3 ? 0 : 1 + roll(ROWS_MOST);
	sum.each = ONE_OF(1, 64, 256);
	for (uint32_t i = 0; i < sum.rows; i++)
		put_row(p, i, reading, t_ns, &sum);
	sum.shmem_bytes = roll(2) * MB;
	sum.hugetlb_bytes = roll(3) ? 0 : 4 * MB;
	sum.watched_ns = reading * SECOND;
	sum.took_ns = roll(SECOND / 100);
	sum.lost = roll(4) ? 0 : roll(100);
	PUT(sum);
}

int main(int argc, char **argv)
{
	static struct process_record p[100];
	struct end_record end = RECORD(end_record, RECORD_END, (READINGS + 3) * SECOND);
	char error[512];
	size_t n;

	if (argc != 4)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	n = strtoull(argv[2], NULL, 10) % 100;
	if (recorder_open_capped(argv[3], true, 0, &rec, error, sizeof(error))) {
		fprintf(stderr, "resident_recording: %s\n", error);
		return 1;
	}
	begin();
	for (size_t i = 0; i < n; i++)
		p[i] = born(i);
	for (unsigned int reading = 1; reading <= READINGS; reading++) {
		uint64_t t_ns = (2 + reading) * SECOND;
		struct tick_record tick = tick_record(t_ns);

		for (size_t i = 0; i < n; i++) {
			if (p[i].g.flags & PROC_FINAL)
				continue;
			read_process(&p[i], reading, t_ns - SECOND / 4);
			if (reading > READINGS / 2 && !roll(5))
				p[i].g.flags |= PROC_FINAL;
			p[i].h.t_ns = t_ns - SECOND / 8;
			p[i].g.rss_anon_pages = 1000 + roll(100000);
			PUT(p[i]);
		}
		tick.wall_ns = 1700000000 * SECOND + t_ns;
		PUT(tick);
	}
	PUT(end);
	return recorder_close(rec) != 0;
}
