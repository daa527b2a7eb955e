// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "incident/pressure_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pressure_trigger_open(void)
{
	int fd = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC), err;
	char text[64];

	if (fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	snprintf(text, sizeof(text), "full %d %d", PRESSURE_STALL_MS * 1000,
		 PRESSURE_WINDOW_MS * 1000);
	/* the kernel reads the text with its NUL: psi_write() of kernel/sched/psi.c */
	if (write(fd, text, strlen(text) + 1) >= 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}
