// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what the live source tells its programs for each attach type and option, and what it sends
 * about each scan. The kernel is played; limits of the machine are files of this test.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "live_machine.h"
#include "probe/host_facts.h"
#include "probe/kernel_memory.h"
#include "probe/layout.h"
#include "probe/ring.h"

static bool numa, swap; /* the machine has several nodes; it has swap space */
static bool nested;	/* faultscope is in a pid namespace */

int access(const char *path, int mode)
{
	if (!strcmp(path, "/proc/sys/kernel/numa_balancing") ||
	    !strcmp(path, "/sys/devices/system/node/node1"))
		return numa ? 0 : -1;
	return faccessat(AT_FDCWD, path, mode, 0);
}

int sysinfo(struct sysinfo *info)
{
	memset(info, 0, sizeof(*info));
	info->totalswap = swap;
	return 0;
}

int stat(const char *path, struct stat *st)
{
	if (!strcmp(path, "/proc/self/ns/pid")) {
		st->st_ino = nested ? 1 : 0xeffffffcU;
		return 0;
	}
	return fstatat(AT_FDCWD, path, st, 0);
}

/* ---- configuration of programs ---- */

enum {
	TIMES = 1 << 0,
	MAJORS_ALONE = 1 << 1,
	FILES_BEGIN = 1 << 2,
	CLASSES = 1 << 3,
	SAMPLES = 1 << 4,
	SLOW_ONES = 1 << 5,
	DISK_BY_COUNTERS = 1 << 6,
	HUGE_BY_RSS = 1 << 7,
	BEGINS_BOTH = 1 << 8,
	SUMS_SPARED = 1 << 9,
	CLONES_FREE = 1 << 10,
	IN_SECONDS = 1 << 11,
};

/* What is told with all probes, each with its best attach type. */
#define BEST (TIMES | CLASSES | SAMPLES | SLOW_ONES | DISK_BY_COUNTERS | CLONES_FREE)
#define BEST_OF_MAJORS                                                                             \
	(IN_SECONDS | TIMES | MAJORS_ALONE | FILES_BEGIN | SLOW_ONES | HUGE_BY_RSS | CLONES_FREE)

static unsigned int told(const struct fs_config *c)
{
	return (c->time_faults ? TIMES : 0) | (c->majors_alone ? MAJORS_ALONE : 0) |
	       (c->files_begin ? FILES_BEGIN : 0) | (c->classify ? CLASSES : 0) |
	       (c->samples ? SAMPLES : 0) | (c->slow_ns == 1000000 ? SLOW_ONES : 0) |
	       (c->disk_by_counters ? DISK_BY_COUNTERS : 0) | (c->huge_by_rss ? HUGE_BY_RSS : 0) |
	       (c->begins_both ? BEGINS_BOTH : 0) | (c->sums_spared ? SUMS_SPARED : 0) |
	       (c->clones_free_storage ? CLONES_FREE : 0) | (c->in_seconds ? IN_SECONDS : 0);
}

static const struct fs_config *config(void)
{
	size_t size;

	return bpf_map__initial_value(object_map(&live_of_test()->obj, ".rodata.config"), &size);
}

static const struct {
	bool majors;
	const char *hook, *mechanism, *other, *its; /* what the user requests */
	unsigned int want;
} rows[] = {
	{false, NULL, NULL, NULL, NULL, BEST},
	{false, "fault_end", "perf_event", NULL, NULL, BEST | HUGE_BY_RSS},
	{false, "fault_end", "perf_event_major", NULL, NULL,
	 (BEST & ~(CLASSES | SAMPLES)) | MAJORS_ALONE | HUGE_BY_RSS},
	{false, "fault_end", "file_major", NULL, NULL,
	 (BEST & ~(CLASSES | SAMPLES)) | MAJORS_ALONE | HUGE_BY_RSS | FILES_BEGIN},
	{false, "fault_end", "none", NULL, NULL, BEST & ~(TIMES | CLASSES | SAMPLES)},
	{false, "fault_begin", "kprobe", NULL, NULL, BEST | BEGINS_BOTH},
	{false, "fault_begin", "none", NULL, NULL, BEST & ~(CLASSES | SAMPLES)},
	{false, "fault_class", "none", NULL, NULL, BEST & ~(CLASSES | SAMPLES)},
	{false, "disk_wait", "tp_btf", NULL, NULL, BEST & ~DISK_BY_COUNTERS},
	{false, "lifecycle", "none", NULL, NULL, BEST & ~CLONES_FREE},
	{false, "state", "hash", NULL, NULL, BEST & ~(SAMPLES | SLOW_ONES)},
	{true, NULL, NULL, NULL, NULL, BEST_OF_MAJORS | SUMS_SPARED},
	{true, "fault_kernel", "none", NULL, NULL, BEST_OF_MAJORS},
	{true, "fault_kernel", "kprobe", NULL, NULL, BEST_OF_MAJORS},
	{true, "fault_kernel", "none", "fault_begin", "perf_event",
	 BEST_OF_MAJORS | BEGINS_BOTH | SUMS_SPARED},
	{true, "fault_begin", "none", NULL, NULL, BEST_OF_MAJORS},
};

static void test_config(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[128];

		begin();
		wish.attribute = true;
		wish.majors = rows[i].majors;
		if (wish.majors)
			wish.tiers = 0x3;
		if (rows[i].hook)
			force(rows[i].hook, rows[i].mechanism);
		if (rows[i].other)
			force(rows[i].other, rows[i].its);
		snprintf(name, sizeof(name), "majors %d, %s: %s", rows[i].majors,
			 rows[i].hook ? rows[i].hook : "all",
			 rows[i].hook ? rows[i].mechanism : "");
		if (ok(!load(), "%s %s", name, error))
			is_u64(told(config()),
			       host_may_free_storage() ? rows[i].want : rows[i].want & ~CLONES_FREE,
			       name);
		unload();
	}
}

static void test_machine_config(void)
{
	numa = swap = true;
	machine_cover("/proc/cpuinfo", "flags\t\t: fpu smap x\n");
	begin();
	if (ok(!load(), "a machine with SMAP, nodes and swap space %s", error))
		ok(config()->numa && config()->smap_enforced &&
			   live_of_test()->obj.shared->has_swap == 1,
		   "its programs are told");
	is_u64(config()->ring_bytes, ring_bytes_for(sysconf(_SC_NPROCESSORS_ONLN)),
	       "the size of the ring");
	is_u64(config()->syscalls[SYS_mmap].shape, FS_SHAPE_MMAP, "forms of calls");
	is_u64(live_of_test()->obj.shared->max_map_count, 4711, "vm.max_map_count");
	unload();
	numa = swap = false;
	machine_cover("/proc/cpuinfo", "flags\t\t: fpu x\n");
	begin();
	if (ok(!load(), "a machine without %s", error))
		ok(!config()->numa && !config()->smap_enforced &&
			   !live_of_test()->obj.shared->has_swap,
		   "its programs are told");
	unload();
}

static __u32 entries_of(const char *map)
{
	return bpf_map__max_entries(object_map(&live_of_test()->obj, map));
}

/* The table of processes has room for twice as many as there are threads. */
static void test_table_sizes(void)
{
	static const struct {
		const char *threads;
		bool all;
		__u32 entries; /* 0: as many as without a number of threads */
	} rows[] = {{"", true, 0},
		    {"0.1 0.2 0.3 1/9000 77\n", true, 18000},
		    {"0.1 0.2 0.3 1/9000 77\n", false, 0},
		    {"0.1 0.2 0.3 1/100 77\n", true, 0}};
	__u32 usual = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine_cover("/proc/loadavg", rows[i].threads);
		begin();
		force("state", "hash");
		wish.watch_all = rows[i].all;
		if (!ok(!load(), "hash tables %s", error))
			continue;
		usual = usual ?: entries_of("procs");
		is_u64(entries_of("procs"), rows[i].entries ?: usual, "entries of processes");
		unload();
	}
	machine_cover("/proc/loadavg", "0.1 0.2 0.3 1/100 77\n");
}

/* If too few files can be opened, no program is loaded. */
static void test_few_files(void)
{
	struct rlimit was, few;

	getrlimit(RLIMIT_NOFILE, &was);
	few = (struct rlimit){70, was.rlim_max};
	begin();
	setrlimit(RLIMIT_NOFILE, &few);
	is_u64(-load(), EMFILE, "too few files");
	setrlimit(RLIMIT_NOFILE, &was);
	ok(!strncmp(error, "cannot load BPF programs: ", 26) && strstr(error, "EMFILE"), "%s",
	   error);
	for (unsigned int i = 0; i < played_n; i++)
		if (played[i].kind == PLAYED_PROGRAM && played[i].instructions > 100)
			ok(false, "%s is loaded", played[i].name);
	if (ok(!load(), "with more files %s", error))
		unload();
}

/* Layouts that programs read without relocation. */
static void test_layouts(void)
{
	struct btf *types = btf__load_vmlinux_btf();

	begin();
	if (ok(!load(), "a source %s", error)) {
		is_u64(config()->lock_success, layout_lock_success(types),
		       "the argument with the result of a lock");
		is_u64(config()->areas_foreign, layout_areas_foreign(types),
		       "whether the tree of mappings is known");
		ok(live_of_test()->areas_foreign == layout_areas_foreign(types), "which is kept");
	}
	unload();
	btf__free(types);
}

static bool is_loaded(const char *program)
{
	for (unsigned int i = 0; i < played_n; i++)
		if (played[i].kind == PLAYED_PROGRAM && played_is(played[i].name, program))
			return true;
	return false;
}

static void test_programs(void)
{
	begin();
	if (!ok(!load(), "a source"))
		return;
	ok(is_loaded("on_fault_user"), "a program that is attached");
	ok(!is_loaded("event_fault_user"), "not one of another attach type");
	ok(!is_loaded(OWN_PID), "outside of a pid namespace, the pid is known");
	unload();
	nested = true;
	begin();
	if (ok(!load(), "in a pid namespace"))
		ok(is_loaded(OWN_PID), "a program reads the pid");
	unload();
	nested = false;
}

static int keep_nothing(void *ctx, const struct record *h)
{
	(void)ctx, (void)h;
	return 0;
}

static void test_open(void)
{
	char version[32];

	begin();
	wish.majors = true;
	if (!ok(!load(), "major faults, at all levels"))
		return;
	is_str(used("fault_end"), "memcg", "minor faults are measured too");
	ok(config()->in_seconds, "in seconds");
	is_u64(src->live, 1, "a source of this machine");
	ok(live_of_test()->variables.functions.nr == 3, "the functions of calls are known");
	unload();
	snprintf(version, sizeof(version), "%u.%u", libbpf_major_version(), libbpf_minor_version());
	is_str(live_library(), version, "the version of libbpf");
	begin();
	force("calls", "tracepoint");
	if (ok(!load(), "tracepoints of calls"))
		ok(live_of_test()->links.keeper > 0, "a keeper closes them");
	unload();
}

/* The core probes need no addresses: these are read once, for the rest. */
static void test_deferred_functions(void)
{
	const struct sink none = {.take = keep_nothing};

	begin();
	wish.defers = true;
	if (!ok(!load(), "core probes"))
		return;
	is_u64(live_of_test()->variables.functions.nr, 0, "no functions of calls are read");
	is_u64(live_load_deferred(src, &none, error, sizeof(error)), 0, "the others");
	is_u64(live_of_test()->variables.functions.nr, 3, "need them");
	is_str(used("calls"), live_name("hlist_array") ? CALL_RETURNS : "tracepoint",
	       "calls are traced");
	unload();
}

/* ---- scans ---- */

static struct tick_record tick;
static struct probe_cost_record cost[HOOKS_MAX + 1];
static struct hook_record hook_record[HOOKS_MAX];
static unsigned int ticks, costs, hook_records, fails_after;

static int keep(void *ctx, const struct record *h)
{
	(void)ctx;
	if (fails_after && !--fails_after)
		return -EIO;
	if (h->kind == RECORD_TICK) {
		ticks++;
		memcpy(&tick, h, sizeof(tick));
	} else if (h->kind == RECORD_PROBE_COST) {
		memcpy(&cost[costs++ % (HOOKS_MAX + 1)], h, sizeof(cost[0]));
	} else if (h->kind == RECORD_HOOK) {
		memcpy(&hook_record[hook_records++ % HOOKS_MAX], h, sizeof(hook_record[0]));
	}
	return 0;
}

static const struct sink keeps = {.take = keep};

static int look(void)
{
	ticks = costs = 0;
	memset(cost, 0, sizeof(cost));
	return src->ops->look(src, &keeps);
}

static const struct probe_cost_record *cost_of(const char *name)
{
	for (unsigned int i = 0; i < costs; i++)
		if (!strcmp(cost[i].name, name))
			return &cost[i];
	return NULL;
}

static void test_costs(void)
{
	unsigned int others;

	machine_cover("/proc/sys/kernel/bpf_stats_enabled", "1\n");
	nested = true;
	begin();
	if (!ok(!load(), "a kernel that times programs"))
		return;
	ok(live_times_programs(src), "says so");
	played_statistics.run_ns = 1000;
	played_statistics.runs = 7;
	is_u64(look(), 0, "a scan");
	ok(cost_of("signal") && cost_of("signal")->runs == 7 && cost_of("signal")->run_ns == 1000,
	   "the cost of one program");
	ok(cost_of("reclaim") && cost_of("reclaim")->runs == 28 &&
		   cost_of("reclaim")->run_ns == 4000,
	   "of four programs");
	ok(cost_of("other") && cost_of("other")->runs >= 7, "of a program that has no probe");
	ok(!cost_of("disk_wait") && !cost_of("resident"), "none of a probe without programs");
	is_u64(cost[0].h.t_ns, tick.h.t_ns, "at the time of the scan");
	is_u64(tick.own_bpf_ns, 1000 * live_programs(src, (struct program_statistics[128]){}, 128),
	       "the sum of all");
	others = costs;
	for (unsigned int i = 1; i <= others + 1; i++) {
		fails_after = i;
		if (look() != -EIO || fails_after || ticks)
			ok(false, "an error of the reader at record %u of a scan", i);
	}
	machine_cover("/proc/sys/kernel/bpf_stats_enabled", "0\n");
	ok(!live_times_programs(src), "a kernel that times no programs");
	is_u64(look(), 0, "a scan");
	ok(!costs && !tick.own_bpf_ns && ticks == 1, "sends no costs");
	unload();
	nested = false;
}

static bool ended(void *ctx, const struct process_key *of)
{
	(void)ctx, (void)of;
	return true;
}

static void test_tick(void)
{
	struct fs_shared *shared;
	unsigned long long before;

	begin();
	wish.attribute = true;
	if (!ok(!load(), "a source with growth %s", error))
		return;
	shared = live_of_test()->obj.shared;
	shared->stored[FS_STORED_STATE] = 3;
	shared->walk_ends[STACK_END_ENTRY] = 9;
	shared->losses.ring = 5;
	machine_cover("/proc/sys/vm/max_map_count", "5000\n");
	swap = true;
	before = host_monotonic_ns();
	is_u64(look(), 0, "a scan");
	is_u64(tick.limits.max_map_count, 5000, "a limit that was changed");
	is_u64(shared->max_map_count, 5000, "is told to the programs");
	is_u64(shared->has_swap, 1, "so is swap space");
	is_u64(tick.walk_ends[STACK_END_ENTRY], 9, "stacks that were walked");
	is_u64(tick.losses.ring, 5, "losses");
	is_u64(tick.own_state_bytes, kernel_memory_of_state(shared->stored), "memory of states");
	is_u64(tick.own_tables_bytes, live_of_test()->tables_bytes, "memory of tables");
	ok(tick.h.len == sizeof(tick) && tick.h.t_ns >= before &&
		   tick.look_ns <= tick.h.t_ns - before,
	   "the time of the scan");
	ok(shared->scanned == 1 && shared->epoch == 1, "the first scan is complete");
	ok(shared->stacks_for_all && shared->stacks_for_samples, "new stacks are granted");
	machine_cover("/proc/sys/vm/max_map_count", "");
	swap = false;
	is_u64(look(), 0, "the limit cannot be read");
	is_u64(shared->max_map_count, 5000, "the last one is kept");
	is_u64(shared->has_swap, 0, "swap space is gone");
	played_run_error = EPERM;
	shared->scanned = 0;
	ok(look() == -EPERM && !shared->scanned && !ticks, "a scan that fails is not complete");
	machine_cover("/proc/sys/vm/max_map_count", "4711\n");
	unload();
}

/* Entries of the table of growth are released only if it is known which processes have ended. */
static void test_release(bool knows)
{
	struct fs_shared *shared;

	begin();
	wish.attribute = true;
	wish.has_ended = knows ? ended : NULL;
	if (!ok(!load(), "a source with growth"))
		return;
	shared = live_of_test()->obj.shared;
	shared->growth_used = GROWTH_MAX;
	is_u64(look(), 0, "the table of growth is full");
	ok(live_of_test()->growth.rows > 256 && live_of_test()->growth.row, "all of it is read");
	is_u64(shared->growth_spared, knows ? GROWTH_SPARE : 0, "entries that are released");
	unload();
}

static void test_hook_records(void)
{
	const size_t scan = hook_find("scan"), signal = hook_find("signal");

	for (int i = 0; i < 2; i++) {
		nested = i;
		hook_records = 0;
		begin();
		wish.defers = true;
		force("scan", "iter/task");
		force("signal", "none");
		if (!ok(!load(), "core probes are loaded"))
			continue;
		is_u64(src->ops->start(src, &keeps), 0, "the source starts");
		is_str(hook_record[scan].name, "scan", "a probe");
		is_str(hook_record[scan].mechanism, "iter/task", "its attach type");
		is_u64(hook_record[scan].state, HOOK_ON, "is on");
		is_u64(hook_record[scan].lacks, i ? LACKS_OTHERS : 0,
		       "in a pid namespace, it lacks other processes");
		is_u64(hook_record[signal].state, HOOK_BLIND, "one that is switched off");
		is_str(hook_record[signal].mechanism, "", "has no attach type");
		is_str(hook_record[signal].why, "none: " SWITCHED_OFF, "the reason");
		is_u64(hook_record[hook_find("calls")].tier, 3, "the level of a probe");
		is_str(hook_record[hook_find("calls")].why, "not attached yet", "a pending one");
		fails_after = 3;
		is_u64(src->ops->start(src, &keeps), (uint64_t)-EIO, "an error of the reader");
		ok(!fails_after, "ends it");
		unload();
	}
	nested = false;
}

/* ---- probes that are attached again ---- */

static void test_resume(void)
{
	unsigned int links;

	begin();
	if (!ok(!load(), "a source"))
		return;
	links = played_open(PLAYED_LINK);
	live_pause(src);
	played_fail(PLAYED_LINK, NULL, 2, ENOMEM);
	is_u64(live_resume(src), (uint64_t)-ENOMEM, "memory runs out");
	played_fails.on = false;
	live_pause(src);
	is_u64(live_resume(src), 0, "later, there is memory");
	is_u64(played_open(PLAYED_LINK), links, "all are attached again");
	ok(!live_needs_rights(src), "maps can be read without rights");
	unload();
}

int main(void)
{
#ifdef __x86_64__
	if (live_make_machine()) {
		machine_cover("/proc/sys/vm/max_map_count", "4711\n");
		test_config();
		test_machine_config();
		test_table_sizes();
		test_few_files();
		test_layouts();
		test_programs();
		test_open();
		test_deferred_functions();
		test_costs();
		test_tick();
		test_release(true);
		test_release(false);
		test_hook_records();
		test_resume();
		free(live_types);
		return tap_done();
	}
#endif
	ok(true, "# SKIP no types of the kernel, no tracefs, or no user namespaces");
	return tap_done();
}
