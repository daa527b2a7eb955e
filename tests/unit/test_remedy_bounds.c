// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the values that remedies suggest at the bounds: the usual value of a limit, the greatest
 * that the kernel or the machine accepts, names of files in sysctl.d, and amounts of swap.
 */
#include "rules/need.h"
#include "rules/remedy.h"

#include "tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct remedy r[REMEDY_MAX];

/* Returns the command of the first workaround; "none" if there is no workaround. */
static const char *gain(const struct origin *o, uint64_t want, uint64_t most, bool persistent)
{
	const struct remedy_for f = {.want = want, .most = most, .pid = 7};
	const struct remedy *one;

	one = remedy_find(r, remedies_for(o, &f, r), REMEDY_WORKAROUND, persistent);
	return one ? one->command : "none";
}

static struct origin of(enum limit_id limit, uint64_t value, uint64_t hard)
{
	return (struct origin){
		.limit = &limit_table[limit], .known = true, .value = value, .hard = hard};
}

static void test_values(void)
{
	static const struct {
		uint64_t want, most;
		const char *command, *name;
	} rows[] = {
		{1048575, 0, "sysctl -w vm.max_map_count=1048576", "at least the usual value"},
		{1048576, 0, "sysctl -w vm.max_map_count=1048576", "the usual value"},
		{1048577, 0, "sysctl -w vm.max_map_count=1048577", "one more is taken as it is"},
		{2147483647, 0, "sysctl -w vm.max_map_count=2147483647", "the greatest value"},
		{2147483648, 0, "sysctl -w vm.max_map_count=2147483647", "one more is reduced"},
		{2000000, 2000000, "sysctl -w vm.max_map_count=2000000", "all that there is"},
		{2000001, 2000000, "sysctl -w vm.max_map_count=2000000", "more than there is"},
		{2000000, 2000001, "sysctl -w vm.max_map_count=2000000", "less than there is"},
	};
	struct origin o = of(LIMIT_MAX_MAP_COUNT, 65530, 0);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(gain(&o, rows[i].want, rows[i].most, false), rows[i].command, rows[i].name);
}

/* sysctl reads the files in the order of their names: the new file must be the last one. */
static void test_file_names(void)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{"/usr/lib/sysctl.d/10-map-count.conf", "99-max_map_count.conf"},
		{"/usr/lib/sysctl.d/99-max_map_counf.conf", "99-max_map_count.conf"},
		{"/usr/lib/sysctl.d/99-max_map_count.conf", "zz-max_map_count.conf"},
		{"/usr/lib/sysctl.d/99-max_map_counu.conf", "zz-max_map_count.conf"},
		{"99-max_map_count.conf", "zz-max_map_count.conf"},
		{"", "99-max_map_count.conf"},
	};
	struct origin o = of(LIMIT_MAX_MAP_COUNT, 65530, 0);
	char want[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		o.line = (struct origin_line){.line = 3};
		snprintf(o.line.file, sizeof(o.line.file), "%s", rows[i].file);
		snprintf(want, sizeof(want),
			 "echo 'vm.max_map_count = 1048576' > /etc/sysctl.d/%s && sysctl -p "
			 "/etc/sysctl.d/%s",
			 rows[i].name, rows[i].name);
		is_str(gain(&o, 0, 0, true), want, rows[i].file);
	}
}

/* docker limits memory and swap together. The sum must not exceed the greatest number. */
static void test_swap(void)
{
	struct origin o = of(LIMIT_CGROUP_MEMORY, 1 << 30, 0);

	strcpy(o.dir, "/sys/fs/cgroup/docker/x");
	strcpy(o.file, "memory.max");
	o.from = ORIGIN_RUNTIME;
	workload_of("/docker/" ID, &o.at_holder);
	o.swap_known = true;
	o.swap = 10;
	is_str(gain(&o, UINT64_MAX - 11, 0, false),
	       "docker update --memory 18446744073709551604 --memory-swap 18446744073709551614 " ID,
	       "the largest sum");
	is_str(gain(&o, UINT64_MAX - 10, 0, false),
	       "docker update --memory 18446744073709551605 --memory-swap 18446744073709551605 " ID,
	       "a byte more: the sum would mean that there is no limit");
	o.swap = 0;
	is_str(gain(&o, 4096, 0, false), "docker update --memory 4096 --memory-swap 4096 " ID,
	       "no swap at all");
	is_u64(r[1].scope, SCOPE_CGROUP, "for the cgroup");
}

/* The most that the machine can provide, from its memory and its tables. */
static void test_most(void)
{
	static const struct {
		enum limit_id limit;
		uint64_t most;
		const char *name;
	} rows[] = {
		{LIMIT_MEMLOCK, 8ULL << 30, "locked memory: all memory"},
		{LIMIT_MSGQUEUE, 8ULL << 30, "messages: all memory"},
		{LIMIT_PIPE_PAGES_SOFT, 2 << 20, "pages of pipes: all pages"},
		{LIMIT_PIPE_PAGES_HARD, 2 << 20, "also of the hard limit"},
		{LIMIT_SHMALL, 2 << 20, "pages of shared memory: all pages"},
		{LIMIT_NPROC, 30000, "processes: the lower one of pid_max and threads-max"},
		{LIMIT_CGROUP_PIDS, 30000, "also of a cgroup"},
		{LIMIT_THREADS_MAX, 349525, "threads: 24 KiB each"},
		{LIMIT_FANOTIFY_GROUPS, 16777216, "fanotify groups: 512 bytes each"},
		{LIMIT_INOTIFY_WATCHES, 7953643, "inotify watches: 1080 bytes each"},
		{LIMIT_EPOLL_WATCHES, 53687091, "epoll watches: 160 bytes each"},
		{LIMIT_HUGEPAGES, 100 + 1024, "huge pages: those that are there, and free memory"},
	};
	struct host_limits l = {.mem_total_bytes = 8ULL << 30,
				.mem_available_bytes = 2ULL << 30,
				.huge_page_bytes = 2 << 20,
				.huge_pages = 100,
				.page_bytes = 4096,
				.pid_max = 32768,
				.threads_max = 30000};
	const struct host_limits unknown = {};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct limit *limit = &limit_table[rows[i].limit];
		uint64_t most = limit->most ? limit->most : LIMIT_NONE;

		is_u64(need_most(limit, &l), rows[i].most < most ? rows[i].most : most,
		       rows[i].name);
		is_u64(need_most(limit, &unknown), most, "a machine that is not known");
	}
	l.pid_max = 29999;
	is_u64(need_most(&limit_table[LIMIT_NPROC], &l), 29999, "pid_max is lower");
	l.huge_page_bytes = 0;
	is_u64(need_most(&limit_table[LIMIT_HUGEPAGES], &l), LIMIT_NONE, "no size of huge pages");
}

int main(void)
{
	test_values();
	test_file_names();
	test_swap();
	test_most();
	return tap_done();
}
