// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which processes a session reads to find who holds their memory. The processes are children
 * of this test, and the BPF maps are tables of it.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "count_text.h"
#include "fixture.h"
#include "made_maps.h"
#include "model/resident.h"
#include "resident/resident.h"
#include "session/memory_readings.h"
#include "session/session.h"
#include "tap.h"
#include "wire.h"

#define CHILDREN 5

static struct fs_config config = {.resident = {.on = 1,
					       .zero_frame = ~0ULL,
					       .secret = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9}}};
static struct made_map *owner_map, *wanted_map;
static pid_t child[CHILDREN];
static struct options o;
static struct session s;
static uint64_t stopped_ns; /* CLOCK_MONOTONIC while it stands still; 0: it does not */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!stopped_ns || clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){stopped_ns / SECOND, stopped_ns % SECOND};
	return 0;
}

/* There is no program that reads page tables: pages are read from /proc. */
struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj, (void)name;
	return NULL;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	(void)prog;
	return -EINVAL;
}

static void take(const struct record *h)
{
	if (collector_take(&s.in.collector, h))
		abort();
}

/* Begins a session with all children. Child i has 100 * (i + 1) pages of memory, as a scan says. */
static void begin(enum watched whom, size_t most)
{
	struct tick_record tick = tick_record(SECOND);

	made_clear(owner_map);
	made_clear(wanted_map);
	memset(&s, 0, sizeof(s));
	s.o = &o;
	s.plan = (struct run_plan){.o = &o, .whom = whom};
	memory_readings_plan(&s.plan);
	s.plan.resident_most = most;
	if (model_init(&s.in.m))
		abort();
	s.in.collector.m = &s.in.m;
	s.in.collector.filter = &s.in.filter;
	s.in.resident = resident_new((struct bpf_object *)&config);
	if (!s.in.resident)
		abort();
	resident_begin(s.in.resident, 1);
	for (int i = 0; i < CHILDREN; i++) {
		struct process_record p = process_record(child[i], i + 1, SECOND);

		p.g.flags |= PROC_WATCHED;
		p.g.rss_anon_pages = 60 * (i + 1);
		p.g.rss_file_pages = p.g.rss_shmem_pages = 10 * (i + 1);
		p.g.swap_pages = 20 * (i + 1);
		take(&p.h);
	}
	take(&tick.h);
}

static void end(void)
{
	resident_free(s.in.resident);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
	buf_free(&s.out.gaps);
}

static struct subject *nth(int i)
{
	return model_find(&s.in.m, &(struct process_key){.pid = child[i], .start_ns = i + 1});
}

/* Returns a digit for each child: 1 if `is` returns true for it. */
static unsigned int which(bool (*is)(int i))
{
	unsigned int bits = 0;

	for (int i = 0; i < CHILDREN; i++)
		bits = bits * 10 + is(i);
	return bits;
}

static bool is_wanted(int i)
{
	__u8 since;

	return !bpf_map_lookup_elem(wanted_map->fd, &child[i], &since);
}

static bool is_known(int i)
{
	return resident_knows(s.in.resident, &nth(i)->id);
}

static bool is_read(int i)
{
	const struct resident_of *of = model_resident(&s.in.m, &nth(i)->id);

	return of && of->now.n;
}

static void test_largest(void)
{
	begin(WATCH_ALL, 3);
	memory_readings_take(&s);
	is_u64(which(is_wanted), 111, "the largest processes are wanted");
	is_u64(which(is_read), 111, "they are read");
	nth(4)->hidden = true;
	nth(3)->now.g.flags |= PROC_SHARES_MM;
	nth(2)->final = true;
	made_clear(wanted_map);
	memory_readings_take(&s);
	is_u64(which(is_wanted), 11000,
	       "but none that is hidden, has the memory of another one, or has ended");
	memory_readings_forget(&s, &nth(0)->id);
	is_u64(which(is_wanted), 1000, "a process that is not wanted any more");
	memory_readings_expect(&s, &nth(4)->id);
	is_u64(which(is_wanted), 1001, "a process that will be read");
	end();
	begin(WATCH_ALL, 3);
	memory_readings_take_until(&s, 1);
	is_u64(which(is_read), 0, "no time is left");
	memory_readings_open(&s);
	is_u64(which(is_known), 111, "files of the largest are opened");
	is_u64(which(is_wanted), 111, "and they are wanted");
	ok(!s.out.gaps.len, "nothing is missing");
	end();
}

/* No reading begins at the time limit or later. */
static void test_time(void)
{
	static const enum watched whom[] = {WATCH_ALL, WATCH_TARGETS};

	for (int i = 0; i < 2; i++) {
		begin(whom[i], CHILDREN);
		stopped_ns = 1000 * SECOND;
		memory_readings_take_until(&s, stopped_ns - 1);
		memory_readings_take_until(&s, stopped_ns);
		is_u64(which(is_read), 0, "the time is over");
		memory_readings_take_until(&s, stopped_ns + 1);
		stopped_ns = 0;
		is_u64(which(is_read), 11111, "a nanosecond is left");
		end();
	}
}

static void test_targets(void)
{
	begin(WATCH_TARGETS, 3);
	nth(1)->now.g.flags &= ~PROC_WATCHED;
	nth(3)->final = true;
	memory_readings_open(&s);
	is_u64(which(is_known), 10101, "files of watched processes are opened");
	memory_readings_expect(&s, &nth(0)->id);
	is_u64(wanted_map->n, 0, "targets need not be wanted");
	memory_readings_take_until(&s, 1);
	is_u64(which(is_read), 0, "no time is left");
	memory_readings_take(&s);
	is_u64(which(is_read), 10101, "watched processes are read");
	end();
}

/* Pages of a child that is watched since its fork may be inherited from its parent. */
static void test_inherited(void)
{
	static const struct {
		const char *name;
		__u32 flags, execs, ppid;
		enum resident_by by;
	} rows[] = {{"born, of a known parent", PROC_BORN, 0, 0, RESIDENT_INHERITED},
		    {"born, of another parent", PROC_BORN, 0, 1, RESIDENT_NO_FAULT},
		    {"born, with another program", PROC_BORN, 1, 0, RESIDENT_NO_FAULT},
		    {"not born", 0, 0, 0, RESIDENT_BEFORE}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct resident_of *of;
		unsigned int found[RESIDENT_NR_BY] = {};

		begin(WATCH_TARGETS, 3);
		nth(0)->now.g.flags = 0; /* the parent was there before, with all of its pages */
		nth(0)->now.g.flags |= PROC_WATCHED;
		for (int k = 1; k < CHILDREN; k++)
			nth(k)->final = true;
		memory_readings_take(&s);
		nth(0)->final = true;
		nth(1)->final = false;
		nth(1)->now.g.flags = PROC_WATCHED | rows[i].flags;
		nth(1)->now.g.execs = rows[i].execs;
		nth(1)->now.g.ppid = rows[i].ppid ? rows[i].ppid : (__u32)child[0];
		memory_readings_take(&s);
		of = model_resident(&s.in.m, &nth(1)->id);
		for (size_t k = 0; of && k < of->now.n; k++)
			found[of->now.row[k].by]++;
		ok(found[rows[i].by] > 0 && found[RESIDENT_TOUCHED] == 0, "%s: %u rows",
		   rows[i].name, found[rows[i].by]);
		for (int by = 0; by < RESIDENT_NR_BY; by++)
			ok(by == (int)rows[i].by || by == RESIDENT_NOT_CHOSEN ||
				   by == RESIDENT_NO_FAULT || !found[by],
			   "no rows of kind %d", by);
		end();
	}
}

/* A process that cannot be read is a gap, unless it has ended. */
static void test_gaps(void)
{
	struct process_record p;
	struct rlimit files, none;
	pid_t gone = fork();
	char want[512];

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	begin(WATCH_TARGETS, 3);
	for (int i = 1; i < CHILDREN; i++)
		nth(i)->final = true;
	memory_readings_take(&s);
	ok(!s.out.gaps.len, "a process that can be read");
	end();
	begin(WATCH_TARGETS, 3);
	for (int i = 2; i < CHILDREN; i++)
		nth(i)->final = true;
	getrlimit(RLIMIT_NOFILE, &files);
	none = (struct rlimit){0, files.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	memory_readings_take(&s);
	memory_readings_take(&s);
	setrlimit(RLIMIT_NOFILE, &files);
	is_u64(count(s.out.gaps.s, "\n"), 2, "each process that cannot be read, once");
	for (int i = 0; i < 2; i++) {
		snprintf(want, sizeof(want),
			 "not read: the resident memory of process %d: Too many open files\n",
			 child[i]);
		is_u64(count(s.out.gaps.s, want), 1, "with its error");
	}
	end();
	begin(WATCH_TARGETS, 3);
	for (int i = 0; i < CHILDREN; i++)
		nth(i)->final = i != 1;
	p = process_record(gone, 1, SECOND);
	p.g.flags |= PROC_WATCHED;
	take(&p.h);
	memory_readings_take(&s);
	ok(!s.out.gaps.len, "a process that has ended");
	end();
}

static void test_plan(void)
{
	struct options with = {.replay = "a.fsr"};
	struct run_plan p;

	plan_init(&p, &o);
	memory_readings_plan(&p);
	ok(p.attributes && p.resident_each == MEMORY_EACH && p.resident_most == 16 &&
		   (p.tiers & MEMORY_TIERS) == MEMORY_TIERS,
	   "what is planned");
	ok(p.before_drop == memory_readings_open && p.after_first_scan == memory_readings_take &&
		   p.before_output == memory_readings_take,
	   "when processes are read");
	plan_init(&p, &with);
	memory_readings_plan(&p);
	ok(!p.before_drop && !p.after_first_scan && !p.before_output, "a recording is only read");
	begin(WATCH_ALL, 3);
	resident_free(s.in.resident);
	s.in.resident = NULL;
	memory_readings_take(&s);
	memory_readings_open(&s);
	ok(s.out.gaps.s && strstr(s.out.gaps.s, "the probe resident is off"),
	   "without the probe, memory is missing");
	end();
}

int main(void)
{
	made_map(".rodata.config", sizeof(config), 0, 0, 0);
	made_maps[0].initial = &config;
	made_maps[0].initial_bytes = sizeof(config);
	made_map(".data.shared", sizeof(struct fs_shared), 0, 0, 0);
	owner_map = made_map("resident", 0, sizeof(struct fs_resident_key),
			     sizeof(struct fs_resident), 1024);
	wanted_map =
		made_map("resident_wanted", 0, sizeof(__u32), sizeof(__u8), FS_RESIDENT_WANTED);
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (!child[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	test_plan();
	test_largest();
	test_time();
	test_targets();
	test_inherited();
	test_gaps();
	for (int i = 0; i < CHILDREN; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	return tap_done();
}
