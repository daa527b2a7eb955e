// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/kernel_memory.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "wire.h"

/* Bytes of struct bpf_local_storage, which each task with an element has (kernel/bpf). */
#define STORAGE_OF_TASK 192

static const size_t size_of[FS_STORED_MAX] = {
	[FS_STORED_STATE] = sizeof(struct fs_state),
#define X(part, PART, group) [FS_STORED_##PART] = sizeof(struct fs_##part),
	FS_PARTS(X)
#undef X
		[FS_STORED_SLOT] = sizeof(struct fs_fault_slot),
};

__u64 kernel_memory_of_tables(const struct bpf_object *obj)
{
	struct bpf_map *map;
	__u64 sum = 0;

	bpf_object__for_each_map(map, obj)
	{
		unsigned long long bytes;
		char path[64], text[1024];
		const char *at;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
		if (bpf_map__fd(map) < 0 || io_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
			continue;
		at = strstr(text, "memlock:");
		if (at && sscanf(at, "memlock: %llu", &bytes) == 1)
			sum += bytes;
	}
	return sum;
}

/* Returns the size of the kernel's memory object for an element. */
static __u64 object_bytes(size_t element)
{
	__u64 bytes = 64;

	while (bytes < element + FS_STORAGE_HEADER)
		bytes *= 2;
	return bytes;
}

/* A number below 0 stands for none: events that the kernel skipped are missing in it. */
static __u64 number(__u32 stored)
{
	return (__s32)stored < 0 ? 0 : stored;
}

__u64 kernel_memory_of_state(const __u32 *stored)
{
	__u64 processes = number(stored[FS_STORED_STATE]), threads = number(stored[FS_STORED_SLOT]);
	__u64 sum = (processes > threads ? processes : threads) * STORAGE_OF_TASK;

	for (int i = 0; i < FS_STORED_MAX; i++)
		sum += number(stored[i]) * object_bytes(size_of[i]);
	return sum;
}

__u64 kernel_memory_of_idle(void)
{
	return STORAGE_OF_TASK + object_bytes(sizeof(struct fs_state));
}
