// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which values of the machine `doctor` and reports show: each with the file or the limit that
 * it is read from, and none where a file is missing. The files are those of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "open_files.h"
#include "probe/settings.h"
#include "tap.h"

#define KIB 1024

struct file {
	const char *path, *text;
};

static const struct file all_files[] = {
	{"/proc/sys/vm/max_map_count", "101\n"},
	{"/proc/sys/fs/file-max", "102\n"},
	{"/proc/sys/fs/file-nr", "103\t0\t102\n"},
	{"/proc/sys/fs/nr_open", "104\n"},
	{"/proc/sys/vm/overcommit_memory", "2\n"},
	{"/proc/sys/fs/inotify/max_user_instances", "105\n"},
	{"/proc/sys/fs/inotify/max_user_watches", "106\n"},
	{"/proc/sys/fs/inotify/max_queued_events", "107\n"},
	{"/proc/sys/kernel/pid_max", "108\n"},
	{"/proc/sys/kernel/threads-max", "109\n"},
	{"/proc/sys/kernel/unprivileged_bpf_disabled", "2\n"},
	{"/proc/sys/kernel/perf_event_paranoid", "-1\n"},
	{"/proc/sys/kernel/kptr_restrict", "0\n"},
	{"/proc/loadavg", "0.20 0.18 0.12 1/80 11206\n"},
	{"/proc/meminfo", "MemTotal:       1000 kB\nSwapTotal:       700 kB\n"
			  "SwapFree:        600 kB\nCommitLimit:     400 kB\n"
			  "Committed_AS:    300 kB\n"},
	{"/sys/kernel/security/lockdown", "none [integrity] confidentiality\n"},
};
#define ALL_FILES (sizeof(all_files) / sizeof(all_files[0]))

static const struct file *files;
static size_t nr_files;
static bool unlimited, no_limits;

static int open_file(const char *path)
{
	for (size_t i = 0; i < nr_files; i++) {
		int fd;

		if (strcmp(path, files[i].path) != 0)
			continue;
		fd = memfd_create("file", MFD_CLOEXEC);
		if (write(fd, files[i].text, strlen(files[i].text)) < 0 || lseek(fd, 0, SEEK_SET))
			abort();
		return fd;
	}
	errno = ENOENT;
	return -1;
}

int open(const char *path, int flags, ...)
{
	(void)flags;
	return open_file(path);
}

int openat(int dir, const char *path, int flags, ...)
{
	(void)dir, (void)flags;
	return open_file(path);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *ret)
{
	errno = EINVAL;
	ret->rlim_cur = 1000 + resource;
	ret->rlim_max = unlimited ? RLIM_INFINITY : 2000 + (rlim_t)resource;
	return no_limits ? -1 : 0;
}

static struct setting settings[SETTINGS_MAX];
static size_t n;

static void read_all(const struct file *those, size_t number)
{
	size_t before = open_fds();

	files = those;
	nr_files = number;
	memset(settings, 0xff, sizeof(settings));
	n = settings_read(settings);
	is_u64(open_fds(), before, "all files are closed");
}

static const struct setting *one(const char *key)
{
	const struct setting *s = setting_find(settings, n, key);

	if (!s) {
		ok(false, "there is no setting %s", key);
		abort();
	}
	return s;
}

static void test_values(void)
{
	static const struct {
		const char *key;
		int64_t value;
		enum setting_unit unit;
		const char *of;
	} want[] = {
		{"max_map_count", 101, SETTING_COUNT, NULL},
		{"file_max", 102, SETTING_COUNT, NULL},
		{"file_nr", 103, SETTING_COUNT, "file_max"},
		{"nr_open", 104, SETTING_COUNT, NULL},
		{"rlimit_nofile", 1000 + RLIMIT_NOFILE, SETTING_COUNT, NULL},
		{"rlimit_nofile_hard", 2000 + RLIMIT_NOFILE, SETTING_COUNT, NULL},
		{"rlimit_memlock_bytes", 1000 + RLIMIT_MEMLOCK, SETTING_BYTES, NULL},
		{"rlimit_memlock_hard_bytes", 2000 + RLIMIT_MEMLOCK, SETTING_BYTES, NULL},
		{"overcommit_memory", 2, SETTING_COUNT, NULL},
		{"commit_limit_bytes", 400 * KIB, SETTING_BYTES, NULL},
		{"committed_bytes", 300 * KIB, SETTING_BYTES, "commit_limit_bytes"},
		{"mem_total_bytes", 1000 * KIB, SETTING_BYTES, NULL},
		{"swap_total_bytes", 700 * KIB, SETTING_BYTES, NULL},
		{"swap_used_bytes", 100 * KIB, SETTING_BYTES, "swap_total_bytes"},
		{"inotify_instances", 105, SETTING_COUNT, NULL},
		{"inotify_watches", 106, SETTING_COUNT, NULL},
		{"inotify_queued_events", 107, SETTING_COUNT, NULL},
		{"pid_max", 108, SETTING_COUNT, NULL},
		{"threads_max", 109, SETTING_COUNT, NULL},
		{"threads", 80, SETTING_COUNT, "threads_max"},
		{"unprivileged_bpf_disabled", 2, SETTING_COUNT, NULL},
		{"perf_event_paranoid", -1, SETTING_COUNT, NULL},
		{"kptr_restrict", 0, SETTING_COUNT, NULL},
	};
	static const char *const later[] = {"cgroup", "cgroup_memory_max_bytes",
					    "cgroup_memory_bytes", "cgroup_pids_max",
					    "cgroup_pids"};

	read_all(all_files, ALL_FILES);
	is_u64(n, 29, "number of settings");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct setting *s = one(want[i].key);

		ok(s->known && !s->unlimited && s->value == want[i].value, "%s: %lld", want[i].key,
		   (long long)s->value);
		ok(s->unit == want[i].unit, "its unit");
		is_str(s->of, want[i].of, "the limit whose use it is");
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		ok(!one(later[i])->known, "%s is not read here", later[i]);
	ok(one("lockdown")->known, "the mode of lockdown");
	is_str(one("lockdown")->text, "integrity", "is this one");
}

/* A limit that is read as 0 is not known, except for those that can be 0. */
static void test_missing(void)
{
	static const char *const zero[] = {"overcommit_memory", "swap_total_bytes",
					   "swap_used_bytes"};
	size_t known = 0;

	no_limits = true;
	read_all(NULL, 0);
	for (size_t i = 0; i < n; i++)
		known += settings[i].known;
	is_u64(known, 3, "without files, three values are known");
	for (size_t i = 0; i < 3; i++)
		ok(one(zero[i])->known && !one(zero[i])->value, "%s: 0", zero[i]);
	is_str(one("lockdown")->text, "", "lockdown has no mode");
	no_limits = false;
}

static void test_unlimited(void)
{
	unlimited = true;
	read_all(all_files, ALL_FILES);
	ok(one("rlimit_nofile")->known && !one("rlimit_nofile")->unlimited, "a soft limit");
	ok(one("rlimit_nofile_hard")->known && one("rlimit_nofile_hard")->unlimited &&
		   !one("rlimit_nofile_hard")->value,
	   "without a hard one");
	unlimited = false;
}

static void test_empty_file(void)
{
	static const struct file empty[] = {{"/proc/sys/kernel/pid_max", ""},
					    {"/proc/sys/kernel/kptr_restrict", "0\n"}};

	read_all(empty, 2);
	ok(!one("pid_max")->known, "a file that is empty");
	ok(one("kptr_restrict")->known && !one("kptr_restrict")->value, "a file with a 0");
}

int main(void)
{
	test_values();
	test_missing();
	test_unlimited();
	test_empty_file();
	return tap_done();
}
