// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares values that are read from this machine and its processes with the values of /proc and
 * the C library.
 */
#define TAP_KEEPS_INPUT /* the test limits how many files may be open */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error_text.h"
#include "probe/load_shortage.h"
#include "probe/host_facts.h"
#include "probe/limits.h"
#include "probe/proc_scan.h"
#include "probe/settings.h"
#include "tap.h"
#include "waiting_child.h"

#define PAGE (unsigned long)sysconf(_SC_PAGESIZE)
#define MB   (1UL << 20)

static void read_text(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(ret, 1, size - 1, f) : 0;

	ret[n] = 0;
	if (f)
		fclose(f);
}

static uint64_t number_in(const char *path)
{
	char text[256];

	read_text(path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* Returns the number after a key in a file such as /proc/meminfo or /proc/PID/status. */
static uint64_t keyed(const char *path, const char *key)
{
	char text[16384], *at;

	read_text(path, text, sizeof(text));
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static bool near(uint64_t got, uint64_t want, uint64_t slack)
{
	return got + slack >= want && got <= want + slack;
}

static void test_limits(void)
{
	static const struct {
		const char *path;
		size_t at;
	} rows[] = {
		{"/proc/sys/vm/max_map_count", offsetof(struct host_limits, max_map_count)},
		{"/proc/sys/fs/file-max", offsetof(struct host_limits, file_max)},
		{"/proc/sys/fs/nr_open", offsetof(struct host_limits, nr_open)},
		{"/proc/sys/fs/inotify/max_user_instances",
		 offsetof(struct host_limits, inotify_instances)},
		{"/proc/sys/fs/inotify/max_user_watches",
		 offsetof(struct host_limits, inotify_watches)},
		{"/proc/sys/fs/epoll/max_user_watches",
		 offsetof(struct host_limits, epoll_watches)},
		{"/proc/sys/vm/overcommit_memory", offsetof(struct host_limits, overcommit_memory)},
		{"/proc/sys/vm/mmap_min_addr", offsetof(struct host_limits, mmap_min_addr)},
		{"/proc/sys/kernel/threads-max", offsetof(struct host_limits, threads_max)},
		{"/proc/sys/kernel/pid_max", offsetof(struct host_limits, pid_max)},
		{"/proc/sys/fs/pipe-user-pages-soft",
		 offsetof(struct host_limits, pipe_pages_soft)},
		{"/proc/sys/fs/pipe-user-pages-hard",
		 offsetof(struct host_limits, pipe_pages_hard)},
		{"/proc/sys/fs/pipe-max-size", offsetof(struct host_limits, pipe_max_bytes)},
	};
	static const char *const meminfo = "/proc/meminfo";
	struct host_limits l;
	struct limits files;
	uint64_t total;

	limits_open(&files);
	limits_read(&files, &l);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(*(const uint64_t *)((const char *)&l + rows[i].at), number_in(rows[i].path),
		       rows[i].path);
	is_u64(l.page_bytes, PAGE, "the size of a page");
	is_u64(l.mem_total_bytes, keyed(meminfo, "MemTotal:") * 1024, "memory in all");
	is_u64(l.swap_total_bytes, keyed(meminfo, "SwapTotal:") * 1024, "swap in all");
	is_u64(l.commit_limit_bytes, keyed(meminfo, "CommitLimit:") * 1024, "the commit limit");
	is_u64(l.huge_pages, keyed(meminfo, "HugePages_Total:"), "huge pages in the pool");
	is_u64(l.huge_pages_free, keyed(meminfo, "HugePages_Free:"), "those that are free");
	is_u64(l.huge_page_bytes, keyed(meminfo, "Hugepagesize:") * 1024, "the size of one");
	total = l.mem_total_bytes;
	ok(near(l.mem_free_bytes, keyed(meminfo, "MemFree:") * 1024, total / 4), "free memory");
	ok(near(l.mem_available_bytes, keyed(meminfo, "MemAvailable:") * 1024, total / 4),
	   "available memory");
	ok(near(l.committed_bytes, keyed(meminfo, "Committed_AS:") * 1024, total / 2),
	   "what is committed");
	ok(near(l.file_nr, number_in("/proc/sys/fs/file-nr"), 100000), "open files");
	ok(l.threads > 1 && l.threads < l.threads_max, "threads that are alive");
	ok(limits_bpf_stats(&files) == !!number_in("/proc/sys/kernel/bpf_stats_enabled"),
	   "whether BPF programs are timed");
	ok(near(limits_own_rss_bytes(&files), keyed("/proc/self/status", "VmRSS:") * 1024, MB),
	   "what we have resident ourselves");
	/* Open files of /proc return current values when they are read again. */
	limits_read(&files, &l);
	is_u64(l.mem_total_bytes, total, "read again");
	limits_close(&files);
}

static const struct setting *one(const struct setting *s, size_t n, const char *key)
{
	const struct setting *found = setting_find(s, n, key);

	ok(found && !strcmp(found->key, key), "there is a setting %s", key);
	return found;
}

static void test_settings(void)
{
	struct rlimit was, files, locked = {};
	static struct setting s[SETTINGS_MAX];
	size_t n;

	getrlimit(RLIMIT_NOFILE, &was);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	files = (struct rlimit){300, was.rlim_max};
	setrlimit(RLIMIT_NOFILE, &files);
	n = settings_read(s);
	ok(n > 20 && n <= SETTINGS_MAX, "%zu settings", n);
	is_u64(one(s, n, "rlimit_nofile")->value, 300, "its soft limit of descriptors");
	is_u64(one(s, n, "rlimit_nofile_hard")->value, was.rlim_max, "its hard limit");
	ok(one(s, n, "rlimit_nofile")->known && !one(s, n, "rlimit_nofile")->unlimited,
	   "which is known, and a limit");
	ok(one(s, n, "rlimit_memlock_bytes")->unlimited == (locked.rlim_cur == RLIM_INFINITY),
	   "whether memory that is locked has a limit");
	is_u64(one(s, n, "rlimit_memlock_bytes")->value,
	       locked.rlim_cur == RLIM_INFINITY ? 0 : locked.rlim_cur, "which one");
	is_u64(one(s, n, "max_map_count")->value, number_in("/proc/sys/vm/max_map_count"),
	       "vm.max_map_count");
	is_u64(one(s, n, "perf_event_paranoid")->value,
	       number_in("/proc/sys/kernel/perf_event_paranoid"), "kernel.perf_event_paranoid");
	is_u64(one(s, n, "pid_max")->value, number_in("/proc/sys/kernel/pid_max"),
	       "kernel.pid_max");
	ok(one(s, n, "overcommit_memory")->known, "an overcommit of 0 is known");
	ok(one(s, n, "swap_total_bytes")->known, "so is no swap");
	is_u64(one(s, n, "swap_used_bytes")->value,
	       (keyed("/proc/meminfo", "SwapTotal:") - keyed("/proc/meminfo", "SwapFree:")) * 1024,
	       "swap in use");
	ok(one(s, n, "threads")->known && one(s, n, "threads")->value > 1, "threads");
	ok(!one(s, n, "cgroup")->known, "what is of the cgroup is left to others");
	ok(one(s, n, "lockdown")->known == !!one(s, n, "lockdown")->text[0], "lockdown");
	is_str(setting_use(s, n, "file_max")->key, "file_nr", "the use of a limit");
	ok(!setting_use(s, n, "nr_open"), "a limit whose use is not read has none");
	ok(!setting_find(s, n, "nothing"), "no other setting");
	setrlimit(RLIMIT_NOFILE, &was);
}

static uint64_t clock_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Checks that the result of `call` lies between two readings of the clock. */
#define IS_BETWEEN(call, clock, name)                                                              \
	do {                                                                                       \
		uint64_t before = clock_of(clock), now = (call), after = clock_of(clock);          \
                                                                                                   \
		ok(before <= now && now <= after, "%s", name);                                     \
	} while (0)

static void test_host(void)
{
	static char info[65536];
	struct host_record r;
	struct utsname un;
	int major, minor;
	char text[256], *flags;
	struct stat st;

	IS_BETWEEN(host_monotonic_ns(), CLOCK_MONOTONIC, "the monotonic clock");
	IS_BETWEEN(host_boottime_ns(), CLOCK_BOOTTIME, "the clock since the boot");
	IS_BETWEEN(host_wall_ns(), CLOCK_REALTIME, "the clock on the wall");
	IS_BETWEEN(host_own_cpu_ns(), CLOCK_PROCESS_CPUTIME_ID, "our own CPU time");
	uname(&un);
	is_u64(host_kernel_major(), atoi(un.release), "the first number of the release");
	ok(host_kernel_since(atoi(un.release), 0) && host_kernel_since(2, 99), "since its version");
	if (sscanf(un.release, "%d.%d", &major, &minor) != 2)
		abort();
	ok(host_kernel_since(major, minor) && host_kernel_since(major - 1, minor + 1),
	   "since this very version");
	ok(!host_kernel_since(major, minor + 1), "not since the next one");
	ok(!host_kernel_since(atoi(un.release), 9999) && !host_kernel_since(9999, 0),
	   "not since a later version");
	host_fill(&r);
	is_u64(r.h.kind, RECORD_HOST, "a record of the host");
	is_u64(r.h.len, sizeof(r), "its length");
	is_str(r.kernel, un.release, "the kernel");
	is_str(r.arch, un.machine, "the architecture");
	is_str(r.host, un.nodename, "the name");
	is_u64(r.cpus, sysconf(_SC_NPROCESSORS_ONLN), "CPUs");
	ok(near(r.wall_ns, clock_of(CLOCK_REALTIME), 60000000000ULL), "the time");
	ok(near(r.h.t_ns, clock_of(CLOCK_MONOTONIC), 60000000000ULL), "and that of the record");
	read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	text[strcspn(text, "\n")] = 0;
	is_str(r.boot_id, text, "the boot");
	stat("/proc/self/ns/pid", &st);
	ok(host_is_in_pid_namespace() == (st.st_ino != 0xeffffffcU), "namespaces of pids");
	stat("/proc/self/ns/user", &st);
	ok(host_is_in_user_namespace() == (st.st_ino != 0xeffffffdU), "namespaces of users");
	ok(host_has_own_proc(), "/proc is of our pids");
	ok(host_counts_fds() == (!stat("/proc/self/fd", &st) && st.st_size > 0),
	   "whether /proc counts descriptors");
	ok(host_processes() > 1, "processes");
	read_text("/proc/cpuinfo", info, sizeof(info));
	flags = strstr(info, "\nflags");
	if (flags && strchr(flags + 1, '\n'))
		*strchr(flags + 1, '\n') = 0;
	ok(host_has_smap() == (flags && strstr(flags, " smap")), "SMAP");
}

static void test_exhausted(void)
{
	struct rlimit was, few;
	int next;

	ok(is_exhausted(-EMFILE) && is_exhausted(-ENFILE) && is_exhausted(-ENOMEM),
	   "errors of what is used up");
	ok(!is_exhausted(0) && !is_exhausted(-EPERM) && !is_exhausted(EMFILE), "and of no others");
	getrlimit(RLIMIT_NOFILE, &was);
	few = (struct rlimit){64, was.rlim_max};
	setrlimit(RLIMIT_NOFILE, &few);
	is_u64(exhausted_files(20), 0, "20 files of 64 can be opened");
	is_u64(exhausted_files(64), -EMFILE, "64 of 64 cannot: some are open");
	next = dup(STDOUT_FILENO);
	close(next);
	is_u64(exhausted_files(64 - next), 0, "all numbers behind those of open files");
	is_u64(exhausted_files(64 - next + 1), -EMFILE, "and one more");
	ok(strstr(as_error(-EMFILE).s, "(EMFILE): RLIMIT_NOFILE is 64\n"), "and has the limit");
	few.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &few);
	is_u64(exhausted_files(1), -EMFILE, "none can be opened");
	setrlimit(RLIMIT_NOFILE, &was);
	ok(strstr(as_error(-ENFILE).s, "(ENFILE)\n  see:  sysctl fs.file-nr"), "the host's files");
	getrlimit(RLIMIT_DATA, &was);
	few = (struct rlimit){512 * MB, was.rlim_max};
	setrlimit(RLIMIT_DATA, &few);
	ok(strstr(as_error(-ENOMEM).s, "RLIMIT_DATA is 524288 KiB"), "memory by a limit");
	setrlimit(RLIMIT_DATA, &was);
	if (was.rlim_cur == RLIM_INFINITY)
		ok(strstr(as_error(-ENOMEM).s, "memory.max"), "memory without one");
	is_str(as_error(-EPERM).s, "Operation not permitted", "an error of another kind");
	is_u64(exhausted_by_btf(-EPERM), -EPERM, "another error stays");
	is_u64(exhausted_by_btf(-ESRCH), -ESRCH, "so does one of a BTF that can be read");
}

/* ---- processes, compared with /proc ---- */

struct taken {
	uint32_t pid;
	int records;
	struct process_record last;
	int answer; /* value that take() returns */
};

static int take(void *ctx, const struct record *h)
{
	struct taken *t = ctx;
	const struct process_record *r = (const void *)h;

	if (r->subject.pid != t->pid)
		return 0;
	t->records++;
	t->last = *r;
	return t->answer;
}

static int look(struct proc_scan **pl, const struct proc_states *states, bool everyone,
		struct taken *t)
{
	struct sink sink = {.take = take, .ctx = t};

	t->records = 0;
	return proc_scan(pl, everyone, states, &sink);
}

/* Runs in a child. Sets its limits, allocates memory and opens file descriptors. */
static bool take_resources(long argument)
{
	struct rlimit files = {200, 400}, data = {4096 * MB, 8192 * MB};
	char *p = mmap(NULL, 8 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_NAME, "a (b) c)");
	for (size_t i = 0; i < 8 * MB; i += 4096)
		p[i] = 1;
	for (int i = 0; i < 7; i++)
		if (dup(0) < 0)
			return false;
	return !setrlimit(RLIMIT_DATA, &data) && !setrlimit(RLIMIT_NOFILE, &files);
}

static uint64_t entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;
	uint64_t n = 0;

	while (d && (de = readdir(d)))
		n += de->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void is_pages(int64_t got, const char *path, const char *key)
{
	is_u64(got, keyed(path, key) * 1024 / PAGE, key);
}

static void test_look(void)
{
	struct taken t = {.pid = waiting_child(take_resources, 0)};
	const struct gauges *g = &t.last.g;
	struct proc_scan *pl = NULL;
	uint64_t tick = 1000000000ULL / sysconf(_SC_CLK_TCK);
	char status[64], fds[64];

	snprintf(status, sizeof(status), "/proc/%u/status", t.pid);
	snprintf(fds, sizeof(fds), "/proc/%u/fd", t.pid);
	is_u64(look(&pl, NULL, true, &t), 0, "a look");
	is_u64(t.records, 1, "tells once of a child");
	is_str(g->comm, "a (b) c)", "its name, with brackets");
	is_u64(g->ppid, getpid(), "its parent");
	is_u64(g->uid, getuid(), "its user");
	is_u64(g->threads, 1, "its threads");
	is_u64(g->fds, entries(fds), "its descriptors");
	is_u64(g->fd_high, g->fds, "as many as it had at most");
	is_u64(g->fd_soft, 200, "their soft limit");
	is_u64(g->fd_hard, 400, "their hard limit");
	is_u64(g->data_limit_bytes, 4096 * MB, "the limit of its data");
	ok(g->min_flt >= 8 * MB / 4096 / 512, "its faults");
	ok(g->rss_anon_pages >= (int64_t)(8 * MB / PAGE), "its memory");
	is_pages(g->total_vm_pages, status, "VmSize:");
	is_pages(g->data_vm_pages, status, "VmData:");
	is_pages(g->rss_anon_pages, status, "RssAnon:");
	is_pages(g->rss_file_pages, status, "RssFile:");
	is_pages(g->rss_shmem_pages, status, "RssShmem:");
	is_pages(g->locked_vm_pages, status, "VmLck:");
	ok(g->flags & PROC_NO_COUNT, "mappings are not counted there");
	ok(t.last.subject.start_ns % tick == 0 &&
		   near(t.last.subject.start_ns, clock_of(CLOCK_BOOTTIME), 60000000000ULL),
	   "its birth, to a tick");
	is_u64(proc_scan_birth(t.last.subject.start_ns + tick - 1), t.last.subject.start_ns,
	       "any time within that tick is the same birth");
	is_u64(t.last.u.user_threads, ~0ULL, "threads of its user are not known there");
	is_u64(look(&pl, NULL, true, &t), 0, "another look");
	is_u64(t.records, 0, "tells nothing of one that did not change");
	look(&pl, NULL, false, &t);
	is_u64(t.records, 0, "and without a kernel side of nobody, unless of everyone");
	t.pid = 2;
	proc_scan_free(pl);
	pl = NULL;
	look(&pl, NULL, true, &t);
	is_u64(t.records, 0, "threads of the kernel are no processes");
	proc_scan_free(pl);
	pl = NULL;
	t.pid = getpid();
	t.answer = -ENOSPC;
	is_u64(look(&pl, NULL, true, &t), -ENOSPC, "the sink's error ends a look");
	proc_scan_free(pl);
}

/* ---- state of processes that BPF programs store ---- */

struct states {
	uint32_t pid;
	int answer;
	int later; /* value that read_state() returns from its second call on */
	bool waits;
	struct fs_whole_state state;
};

static int read_state(void *ctx, __u32 pid, struct fs_whole_state *ret)
{
	struct states *s = ctx;
	int answer = s->answer;

	if (pid != s->pid)
		return 0;
	*ret = s->state;
	if (s->later)
		s->answer = s->later;
	return answer;
}

static bool state_waits(void *ctx, __u32 pid, __u64 birth_ns)
{
	struct states *s = ctx;

	return pid == s->pid && s->waits;
}

/* Start times are exact if the fork was seen, or could have been. */
static void test_starts(void)
{
	const uint64_t tick = 1000000000ULL / sysconf(_SC_CLK_TCK), at = 5 * tick + 7;

	is_u64(proc_scan_birth(5 * tick), 5 * tick, "a birth at a tick");
	is_u64(proc_scan_birth(5 * tick - 1), 4 * tick, "and one before it");
	is_u64(proc_scan_start(at, 0, at), at, "a process born when its fork could be seen");
	is_u64(proc_scan_start(at, 0, at + 1), 5 * tick, "one that was born before");
	is_u64(proc_scan_start(at, PROC_BORN, at + 1), at, "whose fork was seen nevertheless");
}

static void test_states(void)
{
	struct states s = {.pid = waiting_child(take_resources, 0), .answer = 1};
	struct proc_states states = {&s, read_state, state_waits};
	struct taken t = {.pid = s.pid};
	const struct counters *c = &t.last.c;
	/* the last fault of the leader: the bounds of buckets are powers of two */
	static const struct {
		uint64_t ns;
		size_t bucket;
	} buckets[] = {
		{1, 0},
		{511, 0},
		{512, 1},
		{1023, 1},
		{1024, 2},
		{(1ULL << 39) - 1, NR_LATENCY - 2},
		{1ULL << 39, NR_LATENCY - 1},
	};
	struct proc_scan *pl = NULL;

	s.state.st.flags = PROC_BORN | PROC_LEFT;
	s.state.st.execs = 2;
	s.state.st.last_map_count = 70;
	s.state.st.map_high = 90;
	s.state.st.fd_high = 1000;
	s.state.st.events.c.selects = 5;
	s.state.stalls.c.latency[1][3] = 6;
	s.state.slot.end = END_MAJOR;
	s.state.slot.ended_ns = 5000; /* 5 us: belongs to latency bucket 4 and band 2 */
	s.state.slot.address = 0x1000;
	s.state.slot.as[END_MAJOR] = CLASS_FILE_MAJOR;
	look(&pl, &states, false, &t);
	is_u64(t.records, 1, "a process whose state is kept is told of");
	is_u64(t.last.g.flags, PROC_BORN, "its flags, less what is of the state alone");
	is_u64(t.last.g.execs, 2, "its execs");
	is_u64(t.last.g.map_count, 70, "its mappings, by the last look where no hook counted");
	is_u64(t.last.g.map_high, 90, "the most it had");
	is_u64(t.last.g.fd_high, 1000, "the most descriptors it had");
	is_u64(c->selects, 5, "its counters");
	is_u64(c->latency[1][3], 6, "those of faults");
	is_u64(c->latency[1][4], 1, "with the last one, in its bucket");
	is_u64(c->stall_ns[1], 5000, "its time");
	is_u64(c->latency_max_ns[1], 5000, "the longest");
	is_u64(c->served[CLASS_FILE_MAJOR].band[2], 1, "by class, in its band");
	is_u64(c->served[CLASS_FILE_MAJOR].stall_ns, 5000, "its time by class");
	is_u64(c->served_max_ns[CLASS_FILE_MAJOR], 5000, "the longest by class");
	s.state.st.map_count = 72;
	s.state.st.fd_limit = 200;
	look(&pl, &states, false, &t);
	is_u64(t.records, 1, "one that has more mappings");
	is_u64(t.last.g.fd_high, 1000, "the most descriptors it had under the same limit");
	s.state.st.map_count = 71;
	s.state.slot.ended_ns = 1ULL << 45;
	/* the fd limit at the time of the peak; the limit has changed since then */
	s.state.st.fd_limit = 5000;
	look(&pl, &states, false, &t);
	is_u64(t.records, 1, "one that changed is told of again");
	is_u64(t.last.g.map_count, 71, "with the count of the hooks");
	is_u64(c->latency[1][NR_LATENCY - 1], 1, "what takes very long is in the last bucket");
	is_u64(c->served[CLASS_FILE_MAJOR].band[NR_BANDS - 1], 1, "and band");
	is_u64(t.last.g.fd_high, t.last.g.fds, "the most under another limit is forgotten");
	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
		s.state.slot.ended_ns = buckets[i].ns;
		s.state.stalls.c.latency[1][3] = 100 + i;
		look(&pl, &states, false, &t);
		ok(t.records == 1 && c->stall_ns[1] == buckets[i].ns &&
			   c->latency[1][buckets[i].bucket] == 1,
		   "a fault of %llu ns is in bucket %zu", (unsigned long long)buckets[i].ns,
		   buckets[i].bucket);
	}
	s.state.slot.address = 0;
	look(&pl, &states, false, &t);
	is_u64(c->served[CLASS_FILE_MAJOR].stall_ns, 0, "a fault of no class is in none");
	s.answer = -EAGAIN;
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "nothing is told of a state that cannot be read now");
	s.answer = 0;
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "nor of one that was kept and is elsewhere");
	proc_scan_free(pl);
	pl = NULL;
	s.waits = true;
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "nor of one that is being handed on");
	s.waits = false;
	s.later = 1;
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "nor of one that was handed on meanwhile");
	s.later = 0;
	s.answer = 0;
	look(&pl, &states, true, &t);
	is_u64(t.records, 1, "one that never had a state is told of");
	s.answer = 1;
	s.state.st.flags = PROC_COMMAND;
	s.state.st.execs = 0;
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "a command is told of from its execve on");
	s.state.st.execs = 1;
	look(&pl, &states, true, &t);
	is_u64(t.records, 1, "then it is");
	kill(s.pid, SIGKILL);
	waitpid(s.pid, NULL, 0);
	look(&pl, &states, true, &t);
	is_u64(t.records, 0, "one that has ended is not");
	proc_scan_free(pl);
}

int main(void)
{
	test_limits();
	test_settings();
	test_host();
	test_exhausted();
	test_look();
	test_starts();
	test_states();
	return tap_done();
}
