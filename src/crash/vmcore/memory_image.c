// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/vmcore/memory_image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int memory_image_open(struct memory_image *ret, int fd, const char **ret_why)
{
	char head[SELFMAG] = "";

	*ret = (struct memory_image){};
	if (pread(fd, head, sizeof(head), 0) != sizeof(head)) {
		*ret_why = "it is empty";
		return -EINVAL;
	}
	return memcmp(head, ELFMAG, SELFMAG) ? memory_open_kdump(ret, fd, ret_why)
					     : memory_open_elf(ret, fd, ret_why);
}

int memory_read(const struct memory_image *m, uint64_t at, void *to, size_t size)
{
	return m->format->read(m->of, at, to, size);
}

uint64_t memory_run(const struct memory_image *m, uint64_t at, uint64_t *ret_size)
{
	return m->format->run(m->of, at, ret_size);
}

void memory_image_close(struct memory_image *m)
{
	if (m->format)
		m->format->close(m->of);
	*m = (struct memory_image){};
}
