// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/limit.h"
#include "tap.h"

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
	return tap_done();
}
