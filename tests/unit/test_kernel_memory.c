// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how much kernel memory faultscope says that it uses. */
#include "probe/kernel_memory.h"
#include "tap.h"
#include "wire.h"

int main(void)
{
	__u32 stored[FS_STORED_MAX] = {};

	ok(kernel_memory_of_idle() <= 1024, "an idle process takes at most 1 KiB");
	is_u64(kernel_memory_of_state(stored), 0, "no process");
	stored[FS_STORED_STATE] = 1000;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle(), "idle processes");
	stored[FS_STORED_CLASSES] = 10;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle() + 10 * 2048,
	       "ten of them had classified faults");
	stored[FS_STORED_SLOT] = -3u;
	is_u64(kernel_memory_of_state(stored), 1000 * kernel_memory_of_idle() + 10 * 2048,
	       "ends of threads whose beginning was not counted");
	return tap_done();
}
