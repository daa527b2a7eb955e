// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests all rules with random processes whose values are near the thresholds of the rules: counts
 * of mappings, fds and threads, names of files and of functions, failed calls, signals, stalls and
 * memory pressure. Most rules open often and stay closed often. The test compares a checksum over
 * the findings of each rule: their severities, times, levels, causes, and the numbers in their
 * texts.
 *
 * If the environment variable FS_SHOW_EXPECTED=FILE is set, the findings are appended to FILE. They
 * can then be compared with those of another build.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "finding_text.h"
#include "fixture.h"
#include "model/pressure.h"
#include "records/pressure_records.h"
#include "rules/messages.h"
#include "rules/rules.h"
#include "sums.h"

#define SEEDS	  600
#define SCANS	  7
#define NEVER	  5 /* maximum number of rules that may never open */
#define PROCESSES 3
#define STACKS	  8
#define MB	  (1ULL << 20)
#define ONE_OF(dice, ...)                                                                          \
	((const uint64_t[]){__VA_ARGS__}[below(dice, sizeof((const uint64_t[]){__VA_ARGS__}) /     \
							     sizeof(uint64_t))])
#define NAME_OF(dice, names) ((names)[below(dice, sizeof(names) / sizeof((names)[0]))])

static uint64_t below(uint64_t *dice, uint64_t n)
{
	return roll(dice) % n;
}

/* Returns a number at a threshold, next to it, or far from it. */
static uint64_t near(uint64_t *dice, uint64_t threshold)
{
	switch (below(dice, 6)) {
	case 0:
		return threshold;
	case 1:
		return threshold + 1;
	case 2:
		return threshold ? threshold - 1 : 0;
	case 3:
		return threshold * (1 + below(dice, 20));
	case 4:
		return below(dice, threshold + 1);
	default:
		return threshold + below(dice, threshold + 1);
	}
}

/* Returns a count at or near so many percent of a limit. */
static uint64_t share(uint64_t *dice, uint64_t limit)
{
	uint64_t percent = ONE_OF(dice, 0, 1, 10, 30, 49, 50, 51, 60, 69, 70, 71, 79, 80, 81, 85,
				  89, 90, 91, 94, 95, 96, 99, 100);
	uint64_t n = limit / 100 * percent + limit % 100 * percent / 100;

	n += below(dice, 3);
	return n ? n - 1 : 0;
}

static const char *const comms[] = {"python3", "java",	    "game.exe", "wineserver64", "redis",
				    "nginx",   "pt_worker", "dotnet",	"go-app",	"a"};
static const char *const map_names[] = {"torch_# in tmpfs", "/dev/shm/torch_2_3",
					"libtorch_cpu.so",  "java_heap",
					"doublemapper",	    "data#.idx",
					"[anon]",	    "---p",
					"thread stack",	    "lib.so",
					"[stack]",	    "file#"};
static const char *const fd_names[] = {
	"[eventfd]", "tcp CLOSE_WAIT", "tcp ESTABLISHED", "socket", "unix",    "torch_#", "memfd:x",
	"dmabuf",    "pipe",	       "[timerfd]",	  "udp",    "file#.db"};
static const char *const stacks[STACKS] = {
	"mprotect+0x1 (libc.so.6)\nje_pages_decommit+0x2 (libjemalloc.so.2)\nmain+0x1 (app)",
	"madvise+0x1 (libc.so.6)\nruntime.sysUnused+0x2 (go-app)\nmain.main+0x1 (go-app)",
	"mmap+0x1 (libc.so.6)\npthread_create+0x2 (libc.so.6)\nmain+0x1 (app)",
	"mmap+0x1 (libc.so.6)\nat::MapAllocator+0x2 (libtorch.so)\nTHPStorage+0x1 (python3)",
	"openat+0x1 (libc.so.6)\nload+0x2 (app)\nmain+0x1 (app)",
	"brk+0x1 (libc.so.6)\nsysmalloc+0x2 (libc.so.6)\nmain+0x1 (app)",
	"[unknown] (app)\n[unknown] (app)",
	"accept4+0x1 (libc.so.6)\nserve+0x2 (nginx)\nmain+0x1 (nginx)"};

struct story {
	struct model m;
	struct findings findings;
	uint64_t dice, t_ns, step_ns;
	struct process_record p[PROCESSES];
	struct pressure_record pressure;
	struct cgroup_record cgroup;
	uint64_t growth_place;
	/* percent of its limit that each use of the host has in scan 0; 0: the uses are random */
	uint64_t trend;
	unsigned int nth; /* number of the scan */
	/* what each scan adds to the values of a process */
	int64_t step[PROCESSES][4];
};

/* Returns how much of a limit is in use: more in each scan, or a random share. */
static uint64_t use_of(struct story *s, uint64_t limit)
{
	return s->trend ? limit / 100 * (s->trend + 4 * s->nth) : share(&s->dice, limit);
}

static void take(struct story *s, struct record *h)
{
	if (model_take(&s->m, h))
		abort();
}

static void begin(struct story *s, uint64_t seed)
{
	struct host_record host = host_record(SECOND / 2);
	uint64_t blind;

	*s = (struct story){.dice = seed * 104729 + 7, .t_ns = SECOND};
	blind = below(&s->dice, 3 * NR_FIXTURE_HOOKS);
	s->step_ns = ONE_OF(&s->dice, SECOND, SECOND, SECOND, 5 * SECOND, 30 * SECOND, 40000000);
	s->trend = below(&s->dice, 3) ? 0 : 50 + below(&s->dice, 30);
	if (model_init(&s->m))
		abort();
	host.interval_ns = s->step_ns;
	take(s, &host.h);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h =
			hook_record(fixture_hooks[i], i == blind ? HOOK_BLIND : HOOK_ON);

		take(s, &h.h);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		for (int k = 0; k < STACKS; k++) {
			struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

			r.subject = (struct process_key){.pid = 10 + i, .start_ns = 1};
			r.stack = k;
			r.flags = below(&s->dice, 4) ? 0 : FRAMES_SHORT;
			r.by_chain = below(&s->dice, 3);
			if (!below(&s->dice, 3))
				strcpy(r.user_line, "train.py:57 load");
			strcpy(r.text, stacks[k]);
			take(s, &r.h);
		}
}

static void hold(struct story *s, uint32_t pid)
{
	for (uint32_t what = WHAT_MAPS; what <= WHAT_FDS; what++)
		for (uint32_t i = 0, n = 1 + below(&s->dice, 3); i < n; i++) {
			struct holding_record r = RECORD(holding_record, RECORD_HOLDING, s->t_ns);
			const char *name = what == WHAT_MAPS ? NAME_OF(&s->dice, map_names)
							     : NAME_OF(&s->dice, fd_names);

			r.nth = i;
			r.g.subject = (struct process_key){.pid = pid, .start_ns = 1};
			r.g.what = what;
			r.g.count = near(&s->dice, what == WHAT_MAPS ? 1000 : 100);
			r.g.names = 1 + below(&s->dice, 2);
			strcpy(r.g.name, name);
			take(s, &r.h);
		}
}

static void grow(struct story *s, uint32_t pid)
{
	struct growth_record r = RECORD(growth_record, RECORD_GROWTH, s->t_ns);

	r.place = s->growth_place++ % 40;
	r.g.subject = (struct process_key){.pid = pid, .start_ns = 1};
	r.g.what = below(&s->dice, 2);
	r.g.stack = below(&s->dice, 5) ? (int)below(&s->dice, STACKS) : -1;
	r.g.call = r.g.what == WHAT_MAPS ? ONE_OF(&s->dice, CALL_MMAP, CALL_MMAP, CALL_MPROTECT,
						  CALL_MADVISE, CALL_MUNMAP)
					 : CALL_OPEN;
	r.g.added = near(&s->dice, r.g.what == WHAT_MAPS ? 1000 : 100);
	r.g.removed =
		below(&s->dice, 3) ? 0 : r.g.added / ONE_OF(&s->dice, 1, 2, 4, 5, 10, 19, 20, 21);
	r.g.first_ns = SECOND + s->growth_place;
	r.g.last_ns = s->t_ns;
	if (below(&s->dice, 3)) {
		r.g.flags = FILE_KNOWN;
		r.g.mode = ONE_OF(&s->dice, S_IFREG, S_IFREG, S_IFSOCK, S_IFIFO, 0);
		r.g.magic = ONE_OF(&s->dice, 0x01021994, 0xef53, 0x9fa0);
		strcpy(r.g.name, r.g.what == WHAT_MAPS ? NAME_OF(&s->dice, map_names)
						       : NAME_OF(&s->dice, fd_names));
	}
	take(s, &r.h);
}

/* Lets a call fail at one of the limits, or for another reason. */
static void refuse(struct story *s, struct process_record *p)
{
	static const int errors[] = {ENOMEM, ENOMEM, EMFILE, ENFILE, EAGAIN, EPERM, ENOSPC, EINVAL};
	enum call_id call = 1 + below(&s->dice, CALL_MAX - 1);
	int error = errors[below(&s->dice, sizeof(errors) / sizeof(errors[0]))];
	bool maps = call == CALL_FD_FIRST || !below(&s->dice, 2);
	struct refused_record r = refused_record(p->subject.pid, maps ? CALL_MMAP : call, error);
	uint64_t over = below(&s->dice, 5), limit = below(&s->dice, 13), page = 4096;

	r.h.t_ns = s->t_ns + below(&s->dice, s->step_ns);
	r.subject = p->subject;
	r.tid = ONE_OF(&s->dice, p->subject.pid, 77);
	r.count = near(&s->dice, 100);
	r.args[1] = ONE_OF(&s->dice, 0, 4096, 8 * MB, 1ULL << 40);
	r.args[2] = below(&s->dice, 8);
	r.args[3] = ONE_OF(&s->dice, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK);
	r.args[4] = -1;
	r.counted.what = below(&s->dice, COUNTED_MAX);
	r.counted.used = near(&s->dice, 100);
	r.counted.limit = below(&s->dice, 4) ? 100 : UINT64_MAX;
	r.counted.asked = 1;
	r.task_size_bytes = 1ULL << 47;
	r.stack = below(&s->dice, 4) ? (int)below(&s->dice, STACKS) : -1;
	strcpy(r.comm, p->g.comm);
	switch (limit) {
	case 0:
		r.map_count = 65531 - below(&s->dice, 3);
		break;
	case 1:
		r.as_limit_bytes = (r.total_vm_pages + over) * page;
		break;
	case 2:
		r.data_limit_bytes = (r.data_vm_pages + over) * page;
		break;
	case 3:
		r.memlock_limit_bytes = (r.locked_vm_pages + over) * page;
		r.facts |= below(&s->dice, 2) ? FACT_LOCKS_FUTURE : 0;
		break;
	case 4:
		hold_fds(&r, 1023 + below(&s->dice, 2));
		r.error = EMFILE;
		r.call = ONE_OF(&s->dice, CALL_OPEN, CALL_ACCEPT, CALL_SOCKET, CALL_RECVMSG);
		break;
	case 5:
		r.facts |= FACT_SAID_FILE_MAX;
		r.error = ENFILE;
		r.call = CALL_OPEN;
		break;
	case 6:
		r.facts |= FACT_SAID_COMMIT;
		break;
	case 7:
		r.facts |= FACT_NO_AREA;
		r.area_bytes = r.args[1];
		break;
	case 8:
		r.memory = (struct level_room){.used = 999, .limit = 1000, .up = 1, .known = 1};
		break;
	case 9:
		r.pids = (struct level_room){.used = 100, .limit = 100, .up = 1, .known = 1};
		r.call = CALL_CLONE;
		r.error = EAGAIN;
		break;
	case 10:
		r.nproc_limit = 50;
		r.user.processes = 49 + below(&s->dice, 3);
		r.call = CALL_CLONE;
		r.error = EAGAIN;
		break;
	case 11:
		r.call = CALL_RECVMSG;
		r.error = 0;
		r.fd_soft = 1024;
		hold_fds(&r, 1022 + below(&s->dice, 3));
		break;
	default:
		r.facts |= 1u << below(&s->dice, 15);
	}
	if ((limit == 1 || limit == 2 || (limit >= 6 && limit <= 8)) && below(&s->dice, 4)) {
		r.error = ENOMEM;
		r.call = ONE_OF(&s->dice, CALL_MMAP, CALL_MMAP, CALL_CLONE, CALL_BRK);
	}
	r.ret = -r.error;
	take(s, &r.h);
}

/* Sends a signal for an access to a mapping, to no mapping, or near the stack. */
static void raise_signal(struct story *s, const struct process_record *p)
{
	static const char *const names[] = {"torch_1", "x.db", "a b"};
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, s->t_ns + 1000);
	uint64_t *dice = &s->dice;

	r.subject = p->subject;
	r.tid = ONE_OF(dice, p->subject.pid, 77);
	r.signal = ONE_OF(dice, SIGSEGV, SIGBUS, SIGBUS, SIGBUS, SIGABRT, SIGKILL, SIGILL);
	r.code = r.signal == SIGBUS
			 ? ONE_OF(dice, BUS_ADRERR, BUS_ADRERR, BUS_ADRERR, BUS_ADRALN,
				  BUS_MCEERR_AR, BUS_MCEERR_AO)
			 : ONE_OF(dice, SEGV_MAPERR, SEGV_MAPERR, SEGV_ACCERR, 3, 4, SI_KERNEL);
	r.area = ONE_OF(dice, 0, 1, 1, 2);
	r.area_start = ONE_OF(dice, 0x7f0000003000, 0x7ffd00001000);
	r.area_end = r.area_start + 0x4000;
	r.address = below(dice, 4) ? r.area_start + near(dice, 0x1000)
				   : ONE_OF(dice, 0, 8, 0xfff, 0x1000, 0xdeadbeef0000);
	r.sp = below(dice, 4) ? 0 : r.address + near(dice, 0x1000);
	r.above_end = below(dice, 2) ? 0 : r.area_end + 0x1000;
	r.above_flags = ONE_OF(dice, 0, 0x100, 0x103);
	r.stack_limit_bytes = ONE_OF(dice, 0x1000, 0x4000, 0x5000, 8 * MB);
	r.area_flags = ONE_OF(dice, 0, 1, 3, 5, 0x400003, 8);
	r.error_code = ONE_OF(dice, 0, 2, 4, 6, 7, 0x14, 0x15);
	r.ip_bytes = ONE_OF(dice, 0, 0x48008b48, 0xc3, 0xf4, 0x300f);
	r.file_page = below(dice, 3);
	r.file.magic = ONE_OF(dice, 0x01021994, 0x01021994, 0xef53, 0xef53, 0x958458f6, 0);
	r.file.size_bytes = near(dice, 0x2000);
	r.file.flags = FILE_KNOWN | (below(dice, 2) ? 0 : FILE_DELETED);
	r.file.mode = below(dice, 5) ? S_IFREG | 0644 : S_IFCHR;
	r.tmpfs_pages = ONE_OF(dice, 0, 25600, 25600);
	r.tmpfs_pages_used = ONE_OF(dice, 25600, 25599, 25568, 25567, 25000, 25601, 2048);
	r.file_device = ONE_OF(dice, 0, 0x100001, 0x100002);
	r.stack = below(dice, STACKS + 1);
	snprintf(r.file.name, sizeof(r.file.name), "%s", NAME_OF(dice, names));
	strcpy(r.comm, p->g.comm);
	take(s, &r.h);
}

static void mount(struct story *s)
{
	struct mount_record r = RECORD(mount_record, RECORD_MOUNT, s->t_ns);
	uint64_t *dice = &s->dice, kept;

	r.magic = s->trend & 1 ? 0x01021994 : ONE_OF(dice, 0x01021994, 0xef53);
	r.flags = r.magic == 0xef53 ? 0 : MOUNT_IN_MEMORY;
	r.device = s->trend ? 0x100001 : ONE_OF(dice, 0x100001, 0x100002, UINT64_MAX);
	r.size_bytes = s->trend ? 1000 * MB : ONE_OF(dice, 100 * MB, 100 * MB, 1000 * MB);
	r.used_bytes = use_of(s, r.size_bytes);
	kept = below(dice, 3) * MB;
	r.free_bytes = r.size_bytes - r.used_bytes > kept ? r.size_bytes - r.used_bytes - kept : 0;
	r.inodes = 1000;
	r.inodes_free = below(dice, 3) ? 500 : 1000 - share(dice, 1000);
	r.pid = ONE_OF(dice, 0, 0, 10);
	snprintf(r.path, sizeof(r.path), "/mnt/%" PRIu64, s->trend ? 1 : below(dice, 3));
	take(s, &r.h);
}

static void put_stall(uint64_t *dice, struct stall *stall, uint64_t step_ns)
{
	stall->total_us += step_ns / 1000 / 100 * ONE_OF(dice, 0, 0, 1, 5, 9, 10, 11, 20, 50);
	stall->avg10 = near(dice, 1000);
	stall->avg60 = near(dice, 1000);
	stall->avg300 = below(dice, 1000);
	stall->known = 1;
}

/* Tells the pressure on the machine's memory, on a cgroup and on a file system. */
static void press(struct story *s)
{
	uint64_t *dice = &s->dice;
	struct pressure_record *r = &s->pressure;
	struct cgroup_record *c = &s->cgroup;

	r->h = (struct record){.kind = RECORD_SHORTAGE, .len = sizeof(*r), .t_ns = s->t_ns};
	c->h = (struct record){.kind = RECORD_LEVEL, .len = sizeof(*c), .t_ns = s->t_ns};
	for (int i = 0; i < NR_HOST_FIGURES; i++)
		if (i >= HOST_SWAP_IN && i <= HOST_OOM_KILLS)
			r->n[i] += below(dice, 3) ? 0 : near(dice, ONE_OF(dice, 1, 100, 10000));
		else if (!below(dice, 3))
			r->n[i] = share(dice, 8192 * MB);
	r->n[HOST_OVERCOMMIT_RATIO] = 50;
	put_stall(dice, &r->some, s->step_ns);
	put_stall(dice, &r->full, s->step_ns);
	take(s, &r->h);
	strcpy(c->path, "/train");
	c->version = 2;
	c->n[CGROUP_LIMIT] = ONE_OF(dice, 200 * MB, 200 * MB, UINT64_MAX);
	c->n[CGROUP_HIGH] = ONE_OF(dice, UINT64_MAX, UINT64_MAX, 180 * MB);
	c->n[CGROUP_USED] = use_of(s, 200 * MB);
	c->n[CGROUP_ANON] = share(dice, 200 * MB);
	c->n[CGROUP_FILE] = share(dice, 100 * MB);
	c->n[CGROUP_SWAP_LIMIT] = ONE_OF(dice, 0, UINT64_MAX, 100 * MB);
	c->n[CGROUP_SWAP_USED] = share(dice, 100 * MB);
	for (int i = CGROUP_TIMES_HIGH; i < NR_CGROUP_FIGURES; i++)
		c->n[i] += below(dice, 3) ? 0 : near(dice, ONE_OF(dice, 1, 100, 10000));
	put_stall(dice, &c->some, s->step_ns);
	put_stall(dice, &c->full, s->step_ns);
	take(s, &c->h);
	mount(s);
}

static void put_levels(struct story *s, const struct process_record *p)
{
	struct levels_record r = RECORD(levels_record, RECORD_LEVELS, s->t_ns);

	r.subject = p->subject;
	r.memory = (struct level_room){.limit = 200 * MB, .known = 1};
	r.memory.used = use_of(s, 200 * MB);
	r.memory.up = below(&s->dice, 3);
	r.pids = (struct level_room){.limit = 100, .known = 1};
	r.pids.used = use_of(s, 100);
	take(s, &r.h);
}

/* Lets the events of a class happen: `count` faults that take `ns` each. */
static void serve(struct counters *c, enum fault_class class, uint64_t count, uint64_t ns)
{
	c->served[class].stall_ns += count * ns;
	for (int i = 0; i < NR_BANDS; i++)
		if (i + 1 == NR_BANDS || ns < 1ULL << (2 * i + 10)) {
			c->served[class].band[i] += count;
			break;
		}
	if (c->served_max_ns[class] < ns)
		c->served_max_ns[class] = ns;
}

static void stall(struct story *s, struct process_record *p)
{
	uint64_t seconds_1000 = s->step_ns / 1000000;
	struct counters *c = &p->c;

	for (int i = 0; i < 3; i++) {
		enum fault_class class = below(&s->dice, NR_CLASSES);
		uint64_t rate = near(&s->dice, ONE_OF(&s->dice, 10, 50, 200, 2000));
		uint64_t ns =
			ONE_OF(&s->dice, 900, 10000, 25000, 100000, 1000000, 20000000, SECOND);

		serve(c, class, rate * seconds_1000 / 1000, ns);
	}
	if (below(&s->dice, 3)) {
		uint32_t kind = below(&s->dice, 2) ? WAIT_LOCK : below(&s->dice, NR_WAITS);
		uint64_t percent = ONE_OF(&s->dice, 1, 2, 3, 4, 5, 6, 9, 15, 29, 30, 31, 60, 100);
		uint64_t ns = s->step_ns / 100 * percent;

		c->wait[kind].count += 1 + below(&s->dice, 1000);
		c->wait[kind].ns += ns;
		c->wait[kind].in_faults_ns += ns / ONE_OF(&s->dice, 1, 2, 3, 4);
		c->lock_others_ns += below(&s->dice, 2) ? 0 : ns / ONE_OF(&s->dice, 1, 2, 3, 20);
		c->stall_ns[0] += ns / ONE_OF(&s->dice, 1, 2, 8);
	}
	c->map_call[CALL_MADVISE - CALL_MMAP].calls +=
		below(&s->dice, 2) ? 0 : near(&s->dice, 200) * seconds_1000 / 1000;
	c->fault_read_bytes += below(&s->dice, 2) ? 0 : near(&s->dice, 50) * MB;
	if (!below(&s->dice, 3)) {
		struct slow_faults_record r =
			RECORD(slow_faults_record, RECORD_SLOW_FAULTS, s->t_ns - 1000);

		r.subject = p->subject;
		r.tid = p->subject.pid + below(&s->dice, 2);
		r.class =
			ONE_OF(&s->dice, CLASS_CALL, CLASS_HOLDER, CLASS_HOLDER, CLASS_FILE_MAJOR);
		r.stack = below(&s->dice, STACKS);
		r.count = 1 + below(&s->dice, 50);
		r.total_ns = s->step_ns / ONE_OF(&s->dice, 1, 2, 4, 10, 20, 21);
		r.max_ns = r.total_ns / r.count;
		r.waited_ns[WAIT_LOCK] = r.total_ns;
		r.holder = r.class == CLASS_CALL ? ONE_OF(&s->dice, 0, 10, 99) : 0;
		r.holder_writes = below(&s->dice, 2);
		strcpy(r.holder_comm, "agent");
		strcpy(r.comm, p->g.comm);
		take(s, &r.h);
	}
}

static void fault_in_kernel(struct story *s, const struct process_record *p)
{
	struct kernel_fault_record r = kernel_fault_record(p->subject.pid, 0, below(&s->dice, 2));

	r.h.t_ns = s->t_ns - 1;
	r.ip = ONE_OF(&s->dice, 0xffffffff81000000, 0xffffffffc0000000);
	r.address = ONE_OF(&s->dice, 0, 8, 0xffff888000000000, 0xdead000000000100);
	r.count = near(&s->dice, 10);
	take(s, &r.h);
}

static void kill_one(struct story *s, const struct process_record *p)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, s->t_ns - 1);
	uint64_t *dice = &s->dice;

	r.subject = p->subject;
	r.constraint = below(dice, 5);
	r.score_adj = ONE_OF(dice, 0, 500, 1000);
	r.total_vm_pages = near(dice, 100000);
	r.rss_anon_pages = near(dice, 25600);
	r.rss_shmem_pages = near(dice, 2560);
	r.swap_pages = below(dice, 2) ? 0 : near(dice, 2560);
	r.memory = (struct level_room){.limit = 51200, .known = 1};
	r.memory.used = share(dice, 51200);
	r.by = ONE_OF(dice, p->subject.pid, 12, 99);
	r.by_kept_pages = near(dice, 25600);
	strcpy(r.by_comm, "asks");
	strcpy(r.comm, p->g.comm);
	take(s, &r.h);
}

static void change_process(struct story *s, uint32_t i, unsigned int nth)
{
	struct process_record *p = &s->p[i];
	uint64_t *dice = &s->dice;

	if (!nth) {
		*p = process_record(10 + i, 1, s->t_ns);
		strcpy(p->g.comm, NAME_OF(dice, comms));
		p->g.ppid = i ? 10 : 1;
		p->g.fd_soft = ONE_OF(dice, 1000, 1024, 20000, 1048576, UINT64_MAX);
		p->g.flags = below(dice, 2) ? PROC_BORN : 0;
		p->g.map_count = share(dice, 65530);
		p->g.fds = share(dice, p->g.fd_soft == UINT64_MAX ? 4000 : p->g.fd_soft);
		p->g.threads = below(dice, 2) ? 1 + below(dice, 8) : near(dice, 250);
		p->u.user_threads_limit = ONE_OF(dice, 300, 4000, UINT64_MAX);
		p->u.user_threads = share(dice, 300);
		p->g.locked_vm_pages = share(dice, 2048);
		for (int k = 0; k < 4; k++)
			s->step[i][k] = below(dice, 3) ? 0 : (int64_t)below(dice, 2000) - 200;
	}
	p->h.t_ns = s->t_ns;
	p->g.map_count = p->g.map_count + s->step[i][0] > 0 ? p->g.map_count + s->step[i][0] : 1;
	p->g.fds = p->g.fds + s->step[i][1] / 50 > 0 ? p->g.fds + s->step[i][1] / 50 : 1;
	p->g.locked_vm_pages += s->step[i][2] > 0 ? s->step[i][2] / 20 : 0;
	p->u.user_threads += s->step[i][3] > 0 ? s->step[i][3] / 100 : 0;
	if (!below(dice, 5))
		p->g.map_count = share(dice, 65530);
	if (!below(dice, 5))
		p->g.fds = share(dice, 1000);
	p->g.map_high = p->g.map_high > p->g.map_count ? p->g.map_high : p->g.map_count;
	p->g.fd_high = p->g.fd_high > p->g.fds ? p->g.fd_high : p->g.fds;
	p->g.rss_anon_pages = near(dice, 100000);
	p->g.min_flt += near(dice, 2000);
	p->g.maj_flt += below(dice, 3) ? 0 : near(dice, 50);
	p->c.close_failed += below(dice, 4) ? 0 : near(dice, 1000000);
	p->c.selects += below(dice, 3);
	p->c.selects_wide += !below(dice, 8);
	p->c.fd_call[CALL_ACCEPT - CALL_FD_FIRST].refused +=
		below(dice, 4) ? 0 : near(dice, 100) * (s->step_ns / 1000000) / 1000;
	p->u.cpu_ns += s->step_ns / 100 * ONE_OF(dice, 0, 1, 4, 5, 6, 50);
	stall(s, p);
	if (!below(dice, 4))
		put_levels(s, p);
	if (!below(dice, 3))
		grow(s, p->subject.pid);
	if (!below(dice, 4))
		hold(s, p->subject.pid);
	if (below(dice, 3))
		refuse(s, p);
	if (!below(dice, 3))
		raise_signal(s, p);
	if (!below(dice, 20))
		fault_in_kernel(s, p);
	if (!below(dice, 12))
		kill_one(s, p);
	if (nth == SCANS - 1 && !below(dice, 3))
		p->g.flags |= PROC_FINAL;
	take(s, &p->h);
}

static void scan(struct story *s, unsigned int nth)
{
	struct tick_record tick;

	s->t_ns += s->step_ns;
	s->nth = nth;
	for (uint32_t i = 0; i < PROCESSES; i++)
		change_process(s, i, nth);
	if (s->dice & 1 << 20 || nth > 2)
		press(s);
	tick = tick_record(s->t_ns);
	tick.wall_ns = 1700000000 * SECOND + s->t_ns;
	tick.limits.overcommit_memory = below(&s->dice, 3);
	tick.limits.committed_bytes = use_of(s, tick.limits.commit_limit_bytes);
	tick.limits.file_nr = use_of(s, tick.limits.file_max);
	tick.limits.threads = use_of(s, 4000);
	tick.limits.threads_max = 4000;
	tick.limits.pid_max = 32768;
	tick.limits.mem_available_bytes = share(&s->dice, 8 << 10) * MB;
	tick.limits.swap_free_bytes = share(&s->dice, 1024) * MB;
	take(s, &tick.h);
	findings_judge(&s->findings, &s->m);
}

struct rule_sum {
	uint64_t sum, opened, scans;
};

static void mix_numbers(uint64_t *sum, const char *text)
{
	for (; *text; text++)
		if (strchr("0123456789.%", *text))
			mix(sum, *text);
}

static void mix_finding(struct rule_sum *r, const struct finding *f)
{
	uint64_t *sum = &r->sum;

	r->scans++;
	r->opened += f->open && f->fresh;
	mix(sum, f->severity << 4 | f->worst << 2 | f->open << 1 | f->fresh);
	mix(sum, f->subject.pid);
	mix(sum, f->level);
	mix(sum, f->since_ns);
	mix(sum, f->times);
	mix(sum, f->want);
	mix(sum, f->forecast.known);
	if (f->cause)
		mix_text(sum, f->cause);
	mix_numbers(sum, f->title);
	mix_text(sum, f->by);
	for (size_t i = 0; i < f->nr_evidence; i++)
		mix_numbers(sum, evidence_value_str(&f->evidence[i]));
	for (size_t i = 0; i < f->nr_remedies; i++)
		mix_numbers(sum, remedy_str(f, i));
	for (size_t i = 0; i < f->nr_because; i++)
		mix_text(sum, f->because[i]->id);
}

static void show(const struct finding *f, uint64_t seed, unsigned int nth, FILE *to)
{
	fprintf(to, "%" PRIu64 ".%u %s %d%d%d %u: %s", seed, nth, f->rule->id, f->severity, f->open,
		f->fresh, f->subject.pid, f->title);
	for (size_t i = 0; i < f->nr_evidence; i++)
		fprintf(to, "; %s", evidence_value_str(&f->evidence[i]));
	fputc('\n', to);
}

static void play(uint64_t seed, struct rule_sum *sums, FILE *shown)
{
	static struct story s;

	begin(&s, seed);
	for (unsigned int nth = 0; nth < SCANS; nth++) {
		scan(&s, nth);
		for (size_t i = 0; i < s.findings.n; i++) {
			const struct finding *f = &s.findings.f[i];

			mix_finding(&sums[f->rule - rules], f);
			if (shown)
				show(f, seed, nth, shown);
		}
		model_next_window(&s.m);
		findings_next_window(&s.findings);
	}
	findings_free(&s.findings);
	model_free(&s.m);
}

int main(void)
{
	static struct rule_sum sums[128];
	struct sum group[] = {
		{"M: mappings and memory", SUM_BEGINS, 0x1159069c08dbb3cc},
		{"F: file descriptors", SUM_BEGINS, 0x9e8119870d352229},
		{"P: page faults and pressure", SUM_BEGINS, 0x6fc67fe96ed028dd},
		{"K: kernel", SUM_BEGINS, 0xeacbb007ba667256},
	};
	const char *path = getenv("FS_SHOW_EXPECTED");
	FILE *shown = path ? fopen(path, "a") : NULL;
	size_t never = 0;

	setlocale(LC_ALL, "C.UTF-8");
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(seed, sums, shown);
	if (shown)
		fclose(shown);
	for (size_t i = 0; i < nr_rules; i++) {
		struct sum *one = &group[0];

		while (one->what[0] != rules[i].id[0])
			one++;
		mix(&one->got, sums[i].sum);
		printf("# %s opened %" PRIu64 " times\n", rules[i].id, sums[i].opened);
		never += !sums[i].opened;
	}
	ok(never <= NEVER, "%zu of %zu rules never open", never, nr_rules);
	are_rounded_sums(group, 4);
	return tap_done();
}
