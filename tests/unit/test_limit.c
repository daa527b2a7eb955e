// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/limit.h"
#include "tap.h"

#define MIB (1ULL << 20)

static void test_roomy(void)
{
	static const struct {
		const char *what;
		enum limit_id limit;
		uint64_t peak, roomy;
	} rows[] = {
		{"the least that is advised", LIMIT_FILE_MAX, 1, 65536},
		{"where twice the peak is as much", LIMIT_FILE_MAX, 32768, 65536},
		{"and where it is more", LIMIT_FILE_MAX, 32769, 131072},
		{"counts are powers of two", LIMIT_FILE_MAX, 3000000, 8388608},
		{"a usual value for half of it", LIMIT_INOTIFY_INSTANCES, 4096, 8192},
		{"and not for more", LIMIT_INOTIFY_INSTANCES, 4097, 65536},
		{"a size is 1 MiB at least", LIMIT_CGROUP_MEMORY, 1, MIB},
		{"for half of it, too", LIMIT_CGROUP_MEMORY, MIB / 2, MIB},
		{"a small size is a power of two", LIMIT_CGROUP_MEMORY, MIB / 4 * 3, 2 * MIB},
		{"2 MiB for half of it", LIMIT_CGROUP_MEMORY, MIB, 2 * MIB},
		{"from there on, steps are finer", LIMIT_CGROUP_MEMORY, MIB + 1, 5 * MIB / 2},
		{"a multiple of half a MiB", LIMIT_CGROUP_MEMORY, 3 * MIB / 2, 3 * MIB},
		{"the next one", LIMIT_CGROUP_MEMORY, 3 * MIB / 2 + 1, 7 * MIB / 2},
		{"4 MiB", LIMIT_CGROUP_MEMORY, 2 * MIB, 4 * MIB},
		{"above that, of one MiB", LIMIT_CGROUP_MEMORY, 2 * MIB + 1, 5 * MIB},
		{"twice a peak that is too large", LIMIT_CGROUP_MEMORY, 1ULL << 63, 1ULL << 62},
		{"what is the most", LIMIT_NR_OPEN, 500000000, 1073741816},
		{"and no more", LIMIT_NR_OPEN, 600000000, 1073741816},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(limit_roomy(&limit_table[rows[i].limit], rows[i].peak), rows[i].roomy,
		       rows[i].what);
	is_u64(limit_above(&limit_table[LIMIT_CGROUP_MEMORY], 1, 4 * MIB), 6 * MIB,
	       "half more than the limit now");
	is_u64(limit_above(&limit_table[LIMIT_CGROUP_MEMORY], 4 * MIB, 4 * MIB), 8 * MIB,
	       "or twice the peak");
	is_u64(limit_above(&limit_table[LIMIT_CGROUP_MEMORY], 1, UINT64_MAX / 4), MIB,
	       "a limit as large as this is none");
	ok(limit_above(&limit_table[LIMIT_CGROUP_MEMORY], 1, UINT64_MAX / 4 - 1) > 1ULL << 60,
	   "one byte less is one");
}

static void test_causes(void)
{
	ok(limit_of_cause("overcommit_heuristic") == &limit_table[LIMIT_OVERCOMMIT_MEMORY],
	   "the first cause with another name than its limit");
	ok(limit_of_cause("pipe_pages") == &limit_table[LIMIT_PIPE_PAGES_HARD], "another");
	ok(limit_of_cause("cgroup_pids") == &limit_table[LIMIT_CGROUP_PIDS], "the last one");
	ok(limit_of_cause("max_map_count") == &limit_table[LIMIT_MAX_MAP_COUNT],
	   "a cause with the name of its limit");
	ok(!limit_of_cause("bad_address"), "a cause that is no limit");
}

int main(void)
{
	const struct limit *maps = &limit_table[LIMIT_MAX_MAP_COUNT];
	const struct limit *files = &limit_table[LIMIT_FILE_MAX];
	const struct limit *memory = &limit_table[LIMIT_CGROUP_MEMORY];

	is_u64(limit_roomy(files, 30000), 65536, "room for twice the peak");
	is_u64(limit_above(files, 30000, 65530), 131072, "but what is advised is more than holds");
	is_u64(limit_above(files, 32766, 65530), 131072, "by far");
	is_u64(limit_above(files, 100, 262144), 524288, "whatever the peak");
	is_u64(limit_above(files, 60000, 65530), 131072, "where that is enough, for the peak");
	is_u64(limit_above(files, 500000, 65530), 1048576, "a peak far above it counts");
	is_u64(limit_above(files, 60000, 0), 131072, "a limit that is not known is none");
	is_u64(limit_above(maps, 60000, 65530), 1048576, "the usual value, where that is enough");
	is_u64(limit_above(maps, 524288, 65530), 1048576, "for a peak of half of it, too");
	is_u64(limit_above(maps, 524289, 65530), 2097152, "and more where it is not");
	is_u64(limit_above(maps, 100, 1048576), 2097152, "or where it is set already");
	is_u64(limit_roomy(&limit_table[LIMIT_INOTIFY_INSTANCES], 128), 8192, "which may be small");
	ok(limit_above(maps, UINT64_MAX, UINT64_MAX) <= 2147483647,
	   "never more than the kernel takes");
	ok(limit_find("max_map_count") == maps, "a limit by its key");
	ok(limit_find("cgroup_memory_max") == memory, "another");
	ok(limit_find("cgroup_memory_max_bytes") == memory, "of bytes: by its field's name, too");
	ok(limit_find("rlimit_memlock_bytes") == &limit_table[LIMIT_MEMLOCK], "each of them");
	ok(!limit_find("max_map_count_bytes") && !limit_find("rlimit_nofile_bytes"),
	   "what is counted is none of bytes");
	ok(!limit_find("cgroup_memory_max_byte") && !limit_find("max_map_coun") && !limit_find("x"),
	   "a part of a name is none");
	test_roomy();
	test_causes();
	return tap_done();
}
