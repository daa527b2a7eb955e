// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces the reader of compressed dumps in builds without libkdumpfile, such as the static build.
 */
#include <errno.h>

#include "crash/vmcore/memory_image.h"

int memory_open_kdump(struct memory_image *ret, int fd, const char **ret_why)
{
	(void)ret, (void)fd;
	*ret_why = "it is compressed, and this faultscope is built without libkdumpfile; get the "
		   "log by: makedumpfile --dump-dmesg FILE dmesg.txt";
	return -ENOTSUP;
}
