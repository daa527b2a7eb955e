// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what faultscope reads about a machine: facts, limits and settings. The machine is described
 * by files that cover those of /proc and /sys.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "open_files.h"
#include "own_machine.h"
#include "probe/host_facts.h"
#include "probe/limits.h"
#include "probe/permission.h"
#include "probe/settings.h"
#include "tap.h"

#define KERNEL_DIR "/proc/sys/kernel"

/* Checks a child in a new pid namespace, to which /proc does not belong. */
static void test_pid_namespace(void)
{
	bool inside = host_is_in_pid_namespace(), own = host_has_own_proc();
	struct stat st;
	int status = 0;
	pid_t child;

	ok(!stat("/proc/self/ns/pid", &st) && inside == (st.st_ino != 0xeffffffcU),
	   "the initial pid namespace has a known inode");
	ok(host_is_in_user_namespace(), "a user namespace");
	ok(own, "/proc shows this process");
	if (unshare(CLONE_NEWPID)) {
		ok(true, "# SKIP no pid namespaces");
		return;
	}
	child = fork();
	if (!child)
		_exit(host_is_in_pid_namespace() | host_has_own_proc() << 1);
	waitpid(child, &status, 0);
	is_u64(WEXITSTATUS(status), 1, "a pid namespace with the /proc of another one");
}

static void test_smap(void)
{
	static const struct {
		const char *text;
		bool has;
	} rows[] = {
		{"processor\t: 0\nflags\t\t: fpu smap sse\nbugs\t: x\n", true},
		{"processor\t: 0\nflags\t\t: fpu smep sse\n", false},
		{"model name\t: an smap CPU\nflags\t\t: fpu\n", false},
		{"flags\t\t: fpu xsmap\n", false},
		{"flagged\t: no smap\nflags\t\t: fpu\n", false},
		{"flags\t\t: fpu\n\nflags\t\t: fpu smap\n", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine_cover("/proc/cpuinfo", rows[i].text);
		is_u64(host_has_smap(), rows[i].has, rows[i].has ? "smap" : "no smap");
	}
}

static void test_hidepid(void)
{
	static const struct {
		const char *text;
		bool hides;
	} rows[] = {
		{"proc /proc proc rw,nosuid 0 0\n", false},
		{"proc /proc proc rw,hidepid=1 0 0\n", true},
		{"proc /proc proc rw,hidepid=2,gid=7 0 0\n", true},
		{"proc /proc proc rw,hidepid=0,gid=7 0 0\n", false},
		{"proc /proc proc rw,hidepid=0 0 0\n", false},
		{"proc /proc proc rw,hidepid=off,gid=7 0 0\n", false},
		{"proc /proc proc rw,hidepid=off 0 0\n", false},
		{"proc /proc proc rw,hidepid=invisible 0 0\n", true},
		{"proc /proc proc rw,hidepid=offset 0 0\n", false},
		{"proc /mnt/proc proc rw,hidepid=2 0 0\n", false},
		/* the last mount covers the first */
		{"proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0\n", false},
		{"proc /proc proc rw 0 0\nproc /proc proc rw,hidepid=2 0 0\nx /x x rw 0 0\n", true},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine_cover("/proc/self/mounts", rows[i].text);
		ok(host_hides_processes() == rows[i].hides, "mounts of row %zu", i);
	}
}

static void test_numa(void)
{
	machine_empty("/sys/devices/system");
	ok(!host_balances_numa(), "NUMA balancing needs nodes");
	mkdir("/sys/devices/system/node", 0755);
	mkdir("/sys/devices/system/node/node0", 0755);
	machine_write(KERNEL_DIR "/numa_balancing", "1\n");
	ok(!host_balances_numa(), "and more than one of them");
	mkdir("/sys/devices/system/node/node1", 0755);
	ok(host_balances_numa(), "two nodes");
	unlink(KERNEL_DIR "/numa_balancing");
	ok(!host_balances_numa(), "a kernel without NUMA balancing");
}

static void test_processes(void)
{
	machine_cover("/proc/loadavg", "0.20 0.18 0.12 1/345 11206\n");
	is_u64(host_processes(), 345, "processes and threads of the machine");
	machine_cover("/proc/loadavg", "0.20 0.18 0.12 1 345\n");
	is_u64(host_processes(), 0, "not known");
	machine_cover("/proc/loadavg", "");
	is_u64(host_processes(), 0, "not known without a text");
}

static void test_boot_id(void)
{
	struct host_record host;

	mkdir(KERNEL_DIR "/random", 0755);
	machine_write(KERNEL_DIR "/random/boot_id", "0123-4567\nrest\n");
	memset(&host, 0xff, sizeof(host));
	host_fill(&host);
	is_str(host.boot_id, "0123-4567", "the boot id ends with its line");
	is_u64(host.interval_ns, 0, "the interval is left to the caller");
	unlink(KERNEL_DIR "/random/boot_id");
	host_fill(&host);
	is_str(host.boot_id, "", "no boot id");
}

static void test_counting_of_fds(void)
{
	struct stat st;

	is_u64(host_counts_fds(), !stat("/proc/self/fd", &st) && st.st_size,
	       "the size of /proc/PID/fd is the number of fds");
	/* a directory of sysfs has the size 0, as /proc/PID/fd has before Linux 6.2 */
	machine_must(!mount("/sys/kernel/mm", "/proc/self/fd", NULL, MS_BIND, NULL), "/proc");
	ok(!host_counts_fds(), "a directory of size 0 counts nothing");
	umount("/proc/self/fd");
}

/* ---- limits ---- */

#define MEMINFO                                                                                    \
	"MemTotal:       8000 kB\nMemFree:         700 kB\nMemAvailable:   5000 kB\n"              \
	"Buffers:          10 kB\nCached:          20 kB\nSwapCached:       5 kB\n"                \
	"SwapTotal:       900 kB\nSwapFree:        300 kB\nCommitLimit:    4900 kB\n"              \
	"Committed_AS:   3100 kB\nHugePages_Total:     11\nHugePages_Free:       7\n"              \
	"HugePages_Rsvd:       3\nHugepagesize:     2048 kB\n"

static const struct {
	const char *path, *text;
	size_t at; /* offset in struct host_limits */
	uint64_t value;
} limit_rows[] = {
#define ROW(path, member, value)                                                                   \
	{                                                                                          \
		path, #value "\n", offsetof(struct host_limits, member), value                     \
	}
	ROW("/proc/sys/vm/max_map_count", max_map_count, 65530),
	ROW("/proc/sys/fs/file-max", file_max, 1001),
	ROW("/proc/sys/fs/file-nr", file_nr, 1002),
	ROW("/proc/sys/fs/nr_open", nr_open, 1003),
	ROW("/proc/sys/fs/inotify/max_user_instances", inotify_instances, 1004),
	ROW("/proc/sys/vm/overcommit_memory", overcommit_memory, 2),
	ROW("/proc/sys/vm/mmap_min_addr", mmap_min_addr, 65536),
	ROW("/proc/sys/kernel/threads-max", threads_max, 1005),
	ROW("/proc/sys/kernel/pid_max", pid_max, 1006),
	ROW("/proc/sys/fs/inotify/max_user_watches", inotify_watches, 1007),
	ROW("/proc/sys/fs/epoll/max_user_watches", epoll_watches, 1008),
	ROW("/proc/sys/fs/pipe-user-pages-soft", pipe_pages_soft, 1009),
	ROW("/proc/sys/fs/pipe-user-pages-hard", pipe_pages_hard, 1010),
	ROW("/proc/sys/fs/pipe-max-size", pipe_max_bytes, 1011),
#undef ROW
};
#define NR_LIMIT_ROWS (sizeof(limit_rows) / sizeof(limit_rows[0]))

static void test_limits(void)
{
	size_t fds = open_fds();
	struct host_limits l;
	struct limits files;
	char file[256];

	machine_cover("/proc/meminfo", MEMINFO);
	machine_cover("/proc/loadavg", "0.20 0.18 0.12 1/345 11206\n");
	machine_cover("/proc/self/statm", "9000 70 30 1 0 5 0\n");
	for (size_t i = 0; i < NR_LIMIT_ROWS; i++) {
		/* below the directory that covers /proc/sys */
		snprintf(file, sizeof(file), "%s", limit_rows[i].path);
		for (char *slash = file + strlen("/proc/sys/"); (slash = strchr(slash, '/'));
		     slash++) {
			*slash = 0;
			mkdir(file, 0755);
			*slash = '/';
		}
		machine_must(machine_write(file, limit_rows[i].text), file);
	}
	machine_write(KERNEL_DIR "/bpf_stats_enabled", "1\n");
	limits_open(&files);
	memset(&l, 0xff, sizeof(l));
	limits_read(&files, &l);
	for (size_t i = 0; i < NR_LIMIT_ROWS; i++)
		is_u64(*(uint64_t *)((char *)&l + limit_rows[i].at), limit_rows[i].value,
		       limit_rows[i].path);
	is_u64(l.threads, 345, "threads of the machine");
	is_u64(l.page_bytes, sysconf(_SC_PAGESIZE), "size of a page");
	is_u64(l.mem_total_bytes, 8000 << 10, "memory");
	is_u64(l.mem_free_bytes, 700 << 10, "free");
	is_u64(l.mem_available_bytes, 5000 << 10, "available");
	is_u64(l.swap_total_bytes, 900 << 10, "swap");
	is_u64(l.swap_free_bytes, 300 << 10, "free swap");
	is_u64(l.commit_limit_bytes, 4900 << 10, "commit limit");
	is_u64(l.committed_bytes, 3100 << 10, "committed");
	is_u64(l.huge_pages, 11, "huge pages");
	is_u64(l.huge_pages_free, 7, "free huge pages");
	is_u64(l.huge_pages_reserved, 3, "reserved huge pages");
	is_u64(l.huge_page_bytes, 2048 << 10, "size of a huge page");
	ok(limits_bpf_stats(&files), "statistics of BPF programs are on");
	is_u64(limits_own_rss_bytes(&files), 70 * sysconf(_SC_PAGESIZE), "own resident memory");
	/* the files stay open, and are read again */
	machine_write(KERNEL_DIR "/bpf_stats_enabled", "0\n");
	machine_write("/proc/sys/fs/nr_open", "77\n");
	machine_cover("/proc/meminfo", "MemTotal: 9 kB\nCommitted_AS: 4 kB\n");
	machine_cover("/proc/loadavg", "0.20 0.18 0.12\n");
	limits_read(&files, &l);
	ok(!limits_bpf_stats(&files), "and off");
	is_u64(l.nr_open, 77, "a limit that changed");
	is_u64(l.mem_total_bytes, 9 << 10, "a row of meminfo");
	is_u64(l.swap_total_bytes, 0, "a row that is missing");
	is_u64(l.committed_bytes, 4 << 10, "the row after it");
	is_u64(l.threads, 0, "threads that are not known");
	limits_close(&files);
	is_u64(open_fds(), fds, "all files are closed");
	machine_cover("/proc/meminfo", MEMINFO);
	machine_cover("/proc/loadavg", "0.20 0.18 0.12 1/345 11206\n");
}

static void test_limits_without_files(void)
{
	struct host_limits l;
	struct limits files;
	size_t fds;

	close(STDIN_FILENO); /* so that a file of the limits has the number 0 */
	fds = open_fds();
	machine_empty("/proc/sys");
	limits_open(&files);
	limits_read(&files, &l);
	is_u64(l.max_map_count | l.file_max | l.nr_open | l.pid_max, 0,
	       "a file that cannot be opened reads as 0");
	ok(!limits_bpf_stats(&files), "no statistics");
	limits_close(&files);
	is_u64(open_fds(), fds, "the other files are closed");
}

/* ---- settings ---- */

static const struct setting *find(const struct setting *s, size_t n, const char *key)
{
	static const struct setting missing = {.name = "missing"};

	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].key, key))
			return &s[i];
	return &missing;
}

static void has(const struct setting *s, size_t n, const char *key, bool known, int64_t value)
{
	const struct setting *one = find(s, n, key);

	ok(one->known == known && (!known || one->value == value) && !one->unlimited, "%s: %s %lld",
	   key, one->known ? "known" : "unknown", (long long)one->value);
}

static void test_settings(void)
{
	static const struct rlimit files = {321, 654};
	static const struct rlimit locked = {4096, 8192};
	struct setting s[SETTINGS_MAX];
	const struct setting *one;
	size_t n;

	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &locked);
	machine_write("/proc/sys/fs/inotify/max_queued_events", "16384\n");
	machine_write(KERNEL_DIR "/unprivileged_bpf_disabled", "2\n");
	machine_write(KERNEL_DIR "/perf_event_paranoid", "-1\n");
	machine_write(KERNEL_DIR "/kptr_restrict", "");
	machine_write(KERNEL_DIR "/pid_max", "7");
	n = settings_read(s);
	has(s, n, "max_map_count", true, 65530);
	has(s, n, "file_max", true, 1001);
	has(s, n, "file_nr", true, 1002);
	has(s, n, "rlimit_nofile", true, 321);
	has(s, n, "rlimit_nofile_hard", true, 654);
	has(s, n, "rlimit_memlock_bytes", true, 4096);
	has(s, n, "rlimit_memlock_hard_bytes", true, 8192);
	has(s, n, "overcommit_memory", true, 2);
	has(s, n, "swap_total_bytes", true, 900 << 10);
	has(s, n, "swap_used_bytes", true, 600 << 10);
	has(s, n, "inotify_watches", true, 1007);
	has(s, n, "inotify_queued_events", true, 16384);
	has(s, n, "pid_max", true, 7);
	has(s, n, "threads", true, 345);
	has(s, n, "cgroup_pids", false, 0);
	has(s, n, "unprivileged_bpf_disabled", true, 2);
	has(s, n, "perf_event_paranoid", true, -1);
	has(s, n, "kptr_restrict", false, 0);
	one = find(s, n, "file_nr");
	is_str(one->name, "in use", "name of a use");
	is_str(one->of, "file_max", "and the limit that it belongs to");
	is_u64(one->unit, SETTING_COUNT, "a number");
	is_u64(find(s, n, "swap_used_bytes")->unit, SETTING_BYTES, "a number of bytes");
	ok(find(s, n, "lockdown")->known == (find(s, n, "lockdown")->text[0] != 0),
	   "lockdown is known if there is a text");
}

static void test_settings_without_files(void)
{
	struct setting s[SETTINGS_MAX];
	size_t n;

	machine_cover("/proc/meminfo", "MemTotal: 9 kB\n");
	machine_cover("/proc/loadavg", "");
	n = settings_read(s);
	has(s, n, "max_map_count", false, 0);
	has(s, n, "file_nr", false, 0);
	has(s, n, "commit_limit_bytes", false, 0);
	has(s, n, "mem_total_bytes", true, 9 << 10);
	/* 0 is a value of these two */
	has(s, n, "swap_total_bytes", true, 0);
	has(s, n, "overcommit_memory", true, 0);
	has(s, n, "pid_max", false, 0);
	has(s, n, "threads", false, 0);
}

static void test_unlimited(void)
{
	struct setting s[SETTINGS_MAX];
	const struct setting *one;
	struct rlimit limit;
	size_t n = settings_read(s);

	getrlimit(RLIMIT_MEMLOCK, &limit);
	one = find(s, n, "rlimit_memlock_bytes");
	is_u64(one->unlimited, limit.rlim_cur == RLIM_INFINITY, "a soft limit");
	ok(one->known && one->value == (int64_t)(one->unlimited ? 0 : limit.rlim_cur),
	   "and its value");
	one = find(s, n, "rlimit_memlock_hard_bytes");
	is_u64(one->unlimited, limit.rlim_max == RLIM_INFINITY, "a hard limit");
	ok(one->known && one->value == (int64_t)(one->unlimited ? 0 : limit.rlim_max),
	   "and its value");
}

static void lockdown_is(const char *text, const char *want, bool refused, bool locked)
{
	char got[32] = "old";

	if (text)
		machine_write("/sys/kernel/security/lockdown", text);
	else
		unlink("/sys/kernel/security/lockdown");
	permission_lockdown(got, sizeof(got));
	is_str(got, want, *want ? want : "no lockdown");
	is_u64(permission_is_locked(refused), locked,
	       "does lockdown forbid to read kernel memory?");
}

static void test_lockdown(void)
{
	struct setting s[SETTINGS_MAX];
	size_t n;

	machine_empty("/sys/kernel");
	mkdir("/sys/kernel/security", 0755);
	lockdown_is("[none] integrity confidentiality\n", "none", false, false);
	lockdown_is("none [integrity] confidentiality\n", "integrity", false, false);
	n = settings_read(s);
	is_str(find(s, n, "lockdown")->text, "integrity", "the mode is a setting");
	ok(find(s, n, "lockdown")->known, "which is known");
	lockdown_is("none integrity [confidentiality]\n", "confidentiality", false, true);
	lockdown_is("[x] y\n", "x", false, false);
	n = settings_read(s);
	ok(find(s, n, "lockdown")->known, "a mode of one letter");
	lockdown_is("none integrity\n", "", false, false);
	lockdown_is("none [integrity\n", "", false, false);
	lockdown_is(NULL, "", false, false);
	n = settings_read(s);
	ok(!find(s, n, "lockdown")->known, "no setting");
}

static void test_no_leak(void)
{
	struct setting s[SETTINGS_MAX];
	size_t fds = open_fds();
	char lockdown[32];

	host_has_smap();
	host_hides_processes();
	host_processes();
	settings_read(s);
	permission_lockdown(lockdown, sizeof(lockdown));
	is_u64(open_fds(), fds, "no file stays open");
}

static void test_without_proc(void)
{
	machine_empty("/proc");
	ok(!host_has_smap() && !host_hides_processes() && !host_has_own_proc() &&
		   !host_is_in_pid_namespace() && !host_is_in_user_namespace() &&
		   !host_counts_fds() && !host_processes(),
	   "without /proc, nothing is known");
}

static void test_swap(void)
{
	struct sysinfo info;

	ok(!sysinfo(&info) && host_has_swap() == (info.totalswap != 0), "swap space");
}

int main(void)
{
	test_swap();
	test_unlimited();
	if (!machine_enter()) {
		ok(true, "# SKIP user namespaces are not permitted");
		return tap_done();
	}
	test_counting_of_fds();
	test_hidepid();
	machine_empty("/proc/sys");
	mkdir(KERNEL_DIR, 0755);
	test_smap();
	test_numa();
	test_processes();
	test_boot_id();
	test_limits();
	test_settings();
	test_limits_without_files();
	test_settings_without_files();
	test_lockdown();
	test_pid_namespace();
	test_no_leak();
	test_without_proc();
	return tap_done();
}
