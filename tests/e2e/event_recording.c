// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording of made-up events, which depend on a seed. The events are failed calls of
 * every kind (some reach a limit), signals, OOM kills, slow faults, samples and growth. Each
 * process has a few events. The host, its cgroups and its file systems are short of memory.
 *
 * usage: event_recording SEED PROCESSES FILE [all]
 *
 * With "all", the recording also has the probes that fixture_hooks lack, and all counters.
 */
#include "dice.h"
#include "fixture.h"
#include "model/pressure.h"
#include "recording_writer.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE  4096ULL
#define SCANS 6
#define MB    (1ULL << 20)

static struct recorder *rec;
static bool has_all;

/* probes that are not in fixture_hooks */
static const char *const further_hooks[] = {"state", "cgroup", "reclaim", "disk_wait",
					    "log",   "tlb",    "resident"};

#define PUT(record) put_record(rec, &(record).h)

static struct tick_record tick_at(uint64_t t_ns, uint64_t nth)
{
	struct tick_record r = tick_record(t_ns);

	r.wall_ns = 1700000000 * SECOND + t_ns;
	r.limits.threads = 300 + roll(50);
	r.limits.threads_max = 4000;
	r.limits.pid_max = 32768;
	r.limits.overcommit_memory = nth < 3 ? 0 : roll(3);
	r.limits.huge_page_bytes = 2 * MB;
	r.limits.huge_pages = roll(4);
	r.limits.huge_pages_free = r.limits.huge_pages / 2;
	r.limits.inotify_watches = 65536;
	r.limits.epoll_watches = 100000;
	r.limits.pipe_pages_soft = 16384;
	r.limits.pipe_max_bytes = MB;
	r.limits.mem_available_bytes = (1 + roll(4000)) * MB;
	r.limits.mem_free_bytes = r.limits.mem_available_bytes / 2;
	r.limits.swap_free_bytes = roll(1024) * MB;
	r.limits.committed_bytes = (1000 + roll(7100)) * MB;
	r.limits.file_nr = ONE_OF(1000, 500000, 899999, 900000, 990000);
	r.losses.coalesced = roll(100);
	r.own_cpu_ns = nth * SECOND / 50;
	r.own_bpf_ns = nth * SECOND / 100;
	r.look_ns = roll(SECOND / 100);
	return r;
}

static void begin(void)
{
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_at(SECOND, 0);
	uint64_t blind = roll(2 * NR_FIXTURE_HOOKS);

	PUT(host);
	for (size_t i = 0; i < NR_FIXTURE_HOOKS; i++) {
		struct hook_record h =
			hook_record(fixture_hooks[i], i == blind ? HOOK_BLIND : HOOK_ON);

		PUT(h);
	}
	for (size_t i = 0; has_all && i < sizeof(further_hooks) / sizeof(further_hooks[0]); i++) {
		struct hook_record h = hook_record(further_hooks[i], HOOK_ON);

		PUT(h);
	}
	PUT(tick);
}

static struct file_facts file_of(void)
{
	struct file_facts f = {
		.magic = ONE_OF(0xef53, 0x01021994, 0x9fa0, 0x6969, 0x958458f6),
		.size_bytes = roll(3) * PAGE + roll(2),
		.flags = FILE_KNOWN | roll(32),
		.mode = ONE_OF(S_IFREG, S_IFDIR, S_IFCHR, S_IFIFO, S_IFSOCK) | 0644,
		.open_mode = roll(8),
		.seals = roll(4) ? 0 : roll(32),
	};

	snprintf(f.name, sizeof(f.name), "file%u.db", (unsigned)roll(9));
	return f;
}

/* Sets the values of the failed call so that the call reaches one limit, or none. */
static void exhaust(struct refused_record *r)
{
	uint64_t over = 1 + roll(5);

	switch (roll(14)) {
	case 0:
		r->map_count = 65530 - roll(2);
		break;
	case 1:
		r->as_limit_bytes = (r->total_vm_pages + over) * PAGE;
		break;
	case 2:
		r->data_limit_bytes = (r->data_vm_pages + over) * PAGE;
		r->heap_bytes = r->data_limit_bytes - roll(2) * PAGE;
		break;
	case 3:
		r->memlock_limit_bytes = (r->locked_vm_pages + over) * PAGE;
		r->facts |= FACT_LOCKS_FUTURE * roll(2);
		break;
	case 4:
		hold_fds(r, 1024);
		break;
	case 5:
		r->facts |= FACT_SAID_FILE_MAX;
		r->variables |= 1u << VARIABLE_FILE_MAX;
		r->variable[VARIABLE_FILE_MAX] = 1000;
		break;
	case 6:
		r->facts |= FACT_SAID_COMMIT;
		break;
	case 7:
		r->facts |= FACT_NO_AREA;
		r->area_bytes = r->args[1];
		break;
	case 8:
		r->memory = (struct level_room){.used = 999, .limit = 1000, .up = 1, .known = 1};
		break;
	case 9:
		r->pids = (struct level_room){.used = 100, .limit = 100, .up = roll(3), .known = 1};
		break;
	case 10:
		r->nproc_limit = 50;
		r->user.processes = 49 + roll(3);
		break;
	case 11:
		r->user.inotify_instances = r->user.inotify_instances_max = 128;
		r->user.inotify_watches = r->user.inotify_watches_max = 8192;
		break;
	case 12:
		r->user.pipe_pages = 16384;
		r->user.locked_pages = 2048;
		break;
	default:
		r->facts |= 1u << roll(15);
	}
}

static void refuse(const struct process_record *p, uint64_t t_ns)
{
	static const int errors[] = {ENOMEM, ENOMEM, EMFILE, ENFILE, EAGAIN, EPERM,
				     ENOSPC, EINVAL, EACCES, EBADF,  ENODEV, EEXIST};
	enum call_id call = 1 + roll(CALL_MAX - 1);
	struct refused_record r =
		refused_record(p->subject.pid, call == CALL_FD_FIRST ? CALL_MMAP : call,
			       errors[roll(sizeof(errors) / sizeof(errors[0]))]);

	r.h.t_ns = t_ns;
	r.subject = p->subject;
	r.count = 1 + roll(20);
	if (r.call == CALL_BRK || r.call == CALL_RECVMSG)
		r.error = r.ret = 0;
	r.args[0] = ONE_OF(0, 3, 4096, 0x7f0000001000, 4097);
	r.args[1] = ONE_OF(0, 1, 4096, 8 * MB, 1ULL << 40, 1ULL << 47);
	r.args[2] = roll(8);
	r.args[3] = ONE_OF(MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_PRIVATE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED);
	r.args[4] = roll(2) ? 3 : (uint64_t)-1;
	r.args[5] = ONE_OF(0, 4096, 1);
	r.total_vm_pages = 1000 + roll(1000);
	r.data_vm_pages = 100 + roll(500);
	r.locked_vm_pages = roll(100);
	r.task_size_bytes = 1ULL << 47;
	r.range.walk = roll(4);
	r.range.vmas = roll(2);
	r.range.start = r.range.vmas * 0x7f0000001000;
	r.range.end = r.range.vmas * 0x7f0000003000;
	r.range.start_flags = roll(16);
	r.range.hole = roll(2) ? 0x7f0000003000 : UINT64_MAX;
	r.range.mapped_bytes = roll(4) * PAGE;
	r.range.locked_bytes = roll(2) * PAGE;
	r.asked.bytes = roll(3) * MB;
	r.asked.longest = roll(200000);
	r.asked.whole = roll(2);
	if (roll(3))
		r.file = file_of();
	r.stack = roll(2) ? 1 : -1;
	exhaust(&r);
	PUT(r);
	if (!roll(6)) {
		struct retry_record again = RECORD(retry_record, RECORD_RETRY, t_ns + 1000);

		again.subject = p->subject;
		again.tid = r.tid;
		again.call = CALL_MMAP;
		again.bytes = r.args[1] * 2;
		PUT(again);
	}
}

static void raise_signal(const struct process_record *p, uint64_t t_ns)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, t_ns);

	r.subject = p->subject;
	r.tid = p->subject.pid + roll(2);
	r.signal = ONE_OF(SIGSEGV, SIGSEGV, SIGBUS);
	r.code = r.signal == SIGBUS ? ONE_OF(BUS_ADRERR, BUS_MCEERR_AR, BUS_ADRALN)
				    : ONE_OF(SEGV_MAPERR, SEGV_ACCERR, 128);
	r.area = roll(3);
	r.address = ONE_OF(0, 8, 0x7ffd00001000, 0x7f0000003008, 0xdeadbeef0000);
	r.sp = ONE_OF(0, 0x7ffd00001100, 0x7ffd00800000);
	r.error_code = roll(32);
	r.ip_bytes = ONE_OF(0, 0x48008b48, 0xc3, 0xf4);
	r.area_flags = roll(16) | (roll(3) ? 0 : 0x100);
	r.area_start = 0x7f0000003000;
	r.area_end = 0x7f0000007000;
	r.above_flags = roll(2) * 0x103;
	r.above_end = roll(2) * 0x7ffd00900000;
	r.file_page = roll(3);
	r.stack_limit_bytes = ONE_OF(8 * MB, UINT64_MAX);
	r.tmpfs_pages = roll(3) * 100;
	r.tmpfs_pages_used = 100;
	r.flags = roll(8);
	if (roll(2))
		r.file = file_of();
	memcpy(r.comm, p->g.comm, sizeof(r.comm));
	PUT(r);
}

static void kill_for_memory(const struct process_record *p, uint64_t t_ns)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, t_ns);

	r.subject = p->subject;
	r.constraint = roll(5);
	r.score_adj = (int)roll(3) * 500 - 500;
	r.total_vm_pages = 100000 + roll(50000);
	r.rss_anon_pages = 1000 + roll(90000);
	r.rss_file_pages = roll(1000);
	r.rss_shmem_pages = roll(1000);
	r.swap_pages = roll(10000);
	r.memory = (struct level_room){.used = 25600, .limit = 25600, .up = roll(2), .known = 1};
	r.by = p->subject.pid + 1;
	r.by_kept_pages = roll(3) * 40000;
	snprintf(r.by_comm, sizeof(r.by_comm), "asker");
	memcpy(r.comm, p->g.comm, sizeof(r.comm));
	PUT(r);
}

static void be_slow(const struct process_record *p, uint64_t t_ns)
{
	struct slow_faults_record r = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, t_ns);

	r.subject = p->subject;
	r.tid = p->subject.pid;
	r.class = roll(CLASS_HOLDER + 1);
	r.stack = roll(2) ? 1 : -1;
	r.count = 1 + roll(50);
	r.max_ns = SECOND / 100 + roll(SECOND / 4);
	r.total_ns = r.count * r.max_ns / 2;
	r.read_bytes = roll(10) * PAGE;
	r.waited_ns[roll(NR_WAITS)] = r.total_ns / 2;
	r.inode = roll(2) * 77;
	r.holder = roll(2) * 55;
	r.holder_writes = roll(2);
	snprintf(r.holder_comm, sizeof(r.holder_comm), "holder");
	snprintf(r.file, sizeof(r.file), "%s", r.inode ? "data.idx" : "");
	memcpy(r.comm, p->g.comm, sizeof(r.comm));
	PUT(r);
}

static void sample(const struct process_record *p, uint64_t t_ns)
{
	struct sample_record r =
		sample_record(p->subject.pid, p->subject.start_ns, t_ns, 1 + roll(64));

	r.class = roll(NR_CLASSES);
	r.stack = roll(2) ? 1 : -1;
	r.address = 0x7f0000000000 + roll(64) * PAGE * 3;
	r.took_ns = roll(SECOND / 1000);
	r.kind = roll(NR_HOLDING_KINDS);
	r.major = roll(2);
	r.read_bytes = r.major * PAGE;
	snprintf(r.file, sizeof(r.file), "%s", roll(2) ? "mapped.so" : "");
	PUT(r);
}

static void fault_in_kernel(const struct process_record *p, uint64_t t_ns)
{
	struct kernel_fault_record r =
		kernel_fault_record(p->subject.pid, 0xffffffff81000000ULL + roll(4), roll(2));

	r.h.t_ns = t_ns;
	r.subject = p->subject;
	r.address = ONE_OF(8, 0xffff888000000000ULL, 0x6b6b6b6b6b6b6b6bULL);
	r.error_code = roll(32);
	r.count = 1 + roll(9);
	PUT(r);
}

static void wait_for_memory(const struct process_record *p, uint64_t t_ns)
{
	struct memory_wait_record r = RECORD(memory_wait_record, RECORD_PRESSURE, t_ns);
	struct levels_record l = RECORD(levels_record, RECORD_LEVELS, t_ns);

	r.subject = l.subject = p->subject;
	r.reclaim_ns = roll(SECOND / 2);
	r.swap_ins = roll(2000);
	l.memory = (struct level_room){.used = (40 + roll(60)) * MB, .limit = 100 * MB, .known = 1};
	l.pids = (struct level_room){.used = 90 + roll(10), .limit = 100, .up = 1, .known = 1};
	PUT(r);
	PUT(l);
}

static void cross(const struct process_record *p, uint64_t t_ns)
{
	struct crossing_record r = RECORD(crossing_record, RECORD_CROSSING, t_ns);

	r.subject = p->subject;
	r.what = roll(2);
	r.percent = ONE_OF(50, 80, 95);
	r.limit = r.what == WHAT_MAPS ? 65530 : 1024;
	r.value = r.limit * r.percent / 100 + 1;
	memcpy(r.comm, p->g.comm, sizeof(r.comm));
	PUT(r);
}

static void grow(const struct process_record *p, uint64_t t_ns)
{
	struct growth_record r = RECORD(growth_record, RECORD_GROWTH, t_ns);
	struct holding_record h = RECORD(holding_record, RECORD_HOLDING, t_ns);

	r.place = roll(100);
	r.g.subject = h.g.subject = p->subject;
	r.g.stack = roll(2) ? 1 : -1;
	r.g.what = h.g.what = roll(2);
	r.g.call = r.g.what == WHAT_MAPS ? CALL_MMAP : CALL_FD_FIRST + roll(12);
	r.g.mode =
		r.g.what == WHAT_MAPS ? GROWTH_ANON(PROT_READ | PROT_WRITE, MAP_PRIVATE) : S_IFREG;
	r.g.magic = 0xef53;
	r.g.added = 100 + roll(900);
	r.g.removed = roll(2) ? 0 : r.g.added / 2;
	r.g.first_ns = 2 * SECOND;
	r.g.last_ns = t_ns;
	snprintf(r.g.name, sizeof(r.g.name), "%s", r.g.what == WHAT_MAPS ? "" : "tmp#.log");
	PUT(r);
	h.nth = 0;
	h.g.kind = h.g.what == WHAT_MAPS ? roll(HOLDING_SPECIAL) : HOLDING_FILE + roll(8);
	h.g.count = 50 + roll(500);
	h.g.bytes = h.g.what == WHAT_MAPS ? h.g.count * PAGE : 0;
	h.g.names = 1 + roll(2);
	h.g.cut = roll(2);
	snprintf(h.g.name, sizeof(h.g.name), "%s", roll(3) ? "held#" : "");
	PUT(h);
}

/*
 * Adds a line of the kernel log that reports a kernel fault. KASAN and other tools write such
 * lines.
 */
static void report(const struct process_record *p, uint64_t t_ns)
{
	static const char *const lines[] = {
		"BUG: KASAN: slab-use-after-free in nic_poll+0x12/0x90 [nic]",
		"Write of size 8 at addr ffff888012345678 by task proc/7",
		"BUG: unable to handle page fault for address: 0000000000000018",
		"INFO: task proc:7 blocked for more than 120 seconds.",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [proc:7]",
		"page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP)",
	};
	struct report_record r = RECORD(report_record, RECORD_REPORT, t_ns);

	r.pid = r.tid = p->subject.pid;
	memcpy(r.comm, p->g.comm, sizeof(r.comm));
	snprintf(r.line, sizeof(r.line), "%s", lines[roll(sizeof(lines) / sizeof(lines[0]))]);
	PUT(r);
}

static void name(const struct process_record *p)
{
	struct names_record names = RECORD(names_record, RECORD_NAMES, 2 * SECOND);
	struct frames_record frames = RECORD(frames_record, RECORD_FRAMES, 2 * SECOND);
	struct symbol_record symbol = RECORD(symbol_record, RECORD_SYMBOL, 2 * SECOND);

	names.subject = frames.subject = p->subject;
	snprintf(names.exe, sizeof(names.exe), "/usr/bin/%s", p->g.comm);
	snprintf(names.cgroup, sizeof(names.cgroup), "/system.slice/svc%u.service",
		 p->subject.pid % 3);
	PUT(names);
	frames.stack = 1;
	frames.flags = roll(2);
	snprintf(frames.text, sizeof(frames.text),
		 "leaf%u+0x12 (libfoo.so)\nmiddle+0x4 (libfoo.so)\nmain+0x1 (exe)",
		 (unsigned)roll(3));
	PUT(frames);
	symbol.ip = 0xffffffff81000000ULL + roll(4);
	snprintf(symbol.symbol, sizeof(symbol.symbol), "do_read_%u", (unsigned)roll(3));
	snprintf(symbol.module, sizeof(symbol.module), "%s", roll(2) ? "ext4" : "");
	PUT(symbol);
}

static struct process_record born(uint32_t nth)
{
	struct process_record p = process_record(1000 + nth, nth + 1, 2 * SECOND);

	p.g.uid = roll(3) * 1000;
	p.g.ppid = nth ? 1000 + roll(nth) : 1;
	p.g.threads = 1 + roll(40);
	p.g.map_count = p.g.map_high = ONE_OF(100, 30000, 52423, 52424, 62253, 65000);
	p.g.fds = p.g.fd_high = ONE_OF(4, 500, 819, 820, 972, 1023);
	p.g.rss_anon_pages = roll(100000);
	p.g.rss_file_pages = roll(5000);
	p.g.swap_pages = roll(3) * 3000;
	p.g.locked_vm_pages = roll(2) * 1900;
	p.g.total_vm_pages = 200000 + roll(1000);
	p.g.data_vm_pages = 150000;
	if (roll(4) == 0)
		p.g.as_limit_bytes = p.g.total_vm_pages * PAGE * 10 / (7 + roll(3));
	p.u.user_threads = 40 + roll(10);
	p.u.user_threads_limit = roll(3) ? UINT64_MAX : 50;
	if (roll(3))
		p.g.flags |= PROC_BORN | PROC_WATCHED;
	return p;
}

/* Adds to every counter of a process. */
static void count_all(struct counters *c)
{
#define COUNTER(id, ...) c->id += roll(3) * roll(50);
#define UNSHOWN(id)	 c->id += roll(3) * roll(50);
#include "records/counters.def"
	for (int i = 0; i < NR_WAITS; i++) {
		uint64_t count = roll(3) * roll(50);

		c->wait[i].count += count;
		c->wait[i].ns += count * roll(3000000);
		c->wait[i].in_faults_ns = c->wait[i].ns / 3;
	}
}

static void live_on(struct process_record *p, uint64_t t_ns)
{
	uint64_t minor = roll(5000), major = roll(3) ? 0 : roll(300);
	unsigned int class = roll(NR_CLASSES);

	p->h.t_ns = t_ns;
	p->g.min_flt += minor;
	p->g.maj_flt += major;
	p->c.latency[0][roll(20)] += minor;
	p->c.latency[1][8 + roll(16)] += major;
	p->c.stall_ns[0] += minor * roll(3000);
	p->c.stall_ns[1] += major * roll(3000000);
	p->c.served[class].band[roll(NR_BANDS)] += minor + major;
	p->c.served[class].stall_ns += minor * 1000 + major * 100000;
	p->c.fault_kind[roll(NR_FAULT_KINDS)] += minor;
	p->c.map_call[roll(NR_MAP_CALLS)].calls += roll(300);
	p->c.map_call[roll(NR_MAP_CALLS)].vmas_added += roll(100);
	p->c.fd_call[roll(NR_FD_CALLS)].calls += roll(300);
	p->c.map_size[roll(NR_MAP_SIZES)] += roll(50);
	p->c.selects += roll(5);
	p->c.fault_read_bytes += major * PAGE;
	p->g.map_count += roll(2) ? roll(100) : 0;
	p->g.map_high = p->g.map_high < p->g.map_count ? p->g.map_count : p->g.map_high;
	p->g.fds += p->g.fds < 1000 ? roll(20) : 0;
	p->g.fd_high = p->g.fd_high < p->g.fds ? p->g.fds : p->g.fd_high;
	p->u.cpu_ns += roll(SECOND);
	if (has_all)
		count_all(&p->c);
	PUT(*p);
}

static struct stall stall_after(struct stall s, uint64_t percent)
{
	s.total_us += percent * 10000;
	s.avg10 = s.avg60 = s.avg300 = percent * 100;
	s.known = 1;
	return s;
}

static void shortage(uint64_t t_ns)
{
	static struct pressure_record r;
	uint64_t some = roll(80);

	r.h = (struct record){RECORD_SHORTAGE, sizeof(r), t_ns};
	for (size_t i = 0; i < NR_HOST_FIGURES; i++)
		r.n[i] += i < HOST_SWAP_IN ? roll(100) * MB : roll(3) * roll(4000);
	r.n[HOST_OVERCOMMIT_RATIO] = 50;
	r.n[HOST_OVERCOMMIT_KBYTES] = 0;
	r.n[HOST_SWAPPINESS] = 60;
	r.n[HOST_CORRUPTED] = roll(2) * PAGE;
	r.n[HOST_LEFT_OUT] = roll(2);
	r.some = stall_after(r.some, some);
	r.full = stall_after(r.full, some / 2);
	PUT(r);
}

static void level(unsigned int nth, uint64_t t_ns)
{
	static struct cgroup_record levels[3];
	struct cgroup_record *r = &levels[nth];
	uint64_t limit = (200 + nth * 100) * MB, used = limit * (60 + roll(40)) / 100;

	r->h = (struct record){RECORD_LEVEL, sizeof(*r), t_ns};
	snprintf(r->path, sizeof(r->path), "/system.slice/svc%u.service", nth);
	r->version = 1 + nth % 2;
	for (size_t i = CGROUP_TIMES_HIGH; i < NR_CGROUP_FIGURES; i++)
		r->n[i] += roll(2) * roll(900);
	r->n[CGROUP_USED] = used;
	r->n[CGROUP_LIMIT] = nth == 2 ? FIGURE_UNKNOWN : limit;
	r->n[CGROUP_HIGH] = nth == 1 ? FIGURE_UNKNOWN : limit * 9 / 10;
	r->n[CGROUP_SWAP_USED] = roll(20) * MB;
	r->n[CGROUP_SWAP_LIMIT] = nth ? 20 * MB : FIGURE_UNKNOWN;
	r->n[CGROUP_FILE] = used / (3 + roll(20));
	r->n[CGROUP_SHMEM] = r->n[CGROUP_FILE] / 2;
	r->n[CGROUP_KERNEL] = 10 * MB;
	r->n[CGROUP_ANON] = used - r->n[CGROUP_FILE] - r->n[CGROUP_KERNEL];
	r->some = stall_after(r->some, roll(60));
	r->full = stall_after(r->full, roll(30));
	PUT(*r);
}

static void mount(unsigned int nth, uint64_t scan, uint64_t t_ns)
{
	static const char *const paths[] = {"/dev/shm", "/tmp", "/var"};
	struct mount_record r = {.h = {RECORD_MOUNT, sizeof(r), t_ns}};

	snprintf(r.path, sizeof(r.path), "%s", paths[nth]);
	r.magic = nth == 2 ? 0xef53 : 0x01021994;
	r.size_bytes = 1000 * MB;
	r.used_bytes = (700 + scan * roll(50)) * MB;
	r.free_bytes = r.size_bytes - r.used_bytes;
	r.inodes = 100000;
	r.inodes_free = roll(3) ? 90000 : roll(2000);
	r.flags = nth == 2 ? 0 : MOUNT_IN_MEMORY;
	r.device = 0x100000 + nth;
	PUT(r);
}

static void score(const struct process_record *p, uint32_t nth, uint64_t t_ns)
{
	struct score_record r = {.h = {RECORD_SCORE, sizeof(r), t_ns}};

	r.subject = p->subject;
	r.score = 900 - nth * 100 + roll(50);
	r.adj = (int)roll(3) * 300 - 300;
	r.nth = nth;
	PUT(r);
}

static void be_short(const struct process_record *p, size_t n, uint64_t scan, uint64_t t_ns)
{
	shortage(t_ns);
	for (unsigned int i = 0; i < 3; i++) {
		level(i, t_ns);
		mount(i, scan, t_ns);
	}
	for (uint32_t i = 0; i < 4 && i < n; i++)
		score(&p[roll(n)], i, t_ns);
}

static void do_something(const struct process_record *p, uint64_t t_ns)
{
	static void (*const events[])(const struct process_record *, uint64_t) = {
		refuse, refuse, refuse, refuse, raise_signal,	 be_slow,	 sample,
		sample, cross,	grow,	report, fault_in_kernel, wait_for_memory};

	if (!roll(40))
		kill_for_memory(p, t_ns);
	events[roll(sizeof(events) / sizeof(events[0]))](p, t_ns);
}

int main(int argc, char **argv)
{
	static struct process_record p[1000];
	struct end_record end = RECORD(end_record, RECORD_END, (SCANS + 3) * SECOND);
	char error[512];
	size_t n;

	if (argc != 4 && argc != 5)
		return 2;
	has_all = argc == 5;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	n = strtoull(argv[2], NULL, 10) % 1000;
	if (recorder_open_capped(argv[3], true, 0, &rec, error, sizeof(error))) {
		fprintf(stderr, "event_recording: %s\n", error);
		return 1;
	}
	begin();
	for (size_t i = 0; i < n; i++) {
		p[i] = born(i);
		PUT(p[i]);
		name(&p[i]);
	}
	for (uint64_t scan = 1; scan <= SCANS; scan++) {
		uint64_t t_ns = (2 + scan) * SECOND;
		struct tick_record tick = tick_at(t_ns, scan);

		be_short(p, n, scan, t_ns - SECOND * 3 / 4);
		for (size_t i = 0; i < n; i++) {
			if (roll(2))
				do_something(&p[i], t_ns - SECOND / 2 + i);
			if (scan == SCANS && !roll(3))
				p[i].g.flags |= PROC_FINAL;
			live_on(&p[i], t_ns - SECOND / 4);
		}
		PUT(tick);
	}
	PUT(end);
	return recorder_close(rec) != 0;
}
