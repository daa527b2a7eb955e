// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/files/byte_source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

ssize_t bytes_read(const struct byte_source *s, __u64 offset, void *ret, size_t size)
{
	ssize_t n;

	if (offset >= s->bytes)
		return 0;
	if (size > s->bytes - offset)
		size = s->bytes - offset;
	if (s->fd < 0) {
		memcpy(ret, s->mem + offset, size);
		return size;
	}
	n = pread(s->fd, ret, size, offset);
	return n < 0 ? -errno : n;
}

bool bytes_get(const struct byte_source *s, __u64 offset, void *ret, size_t size)
{
	return bytes_read(s, offset, ret, size) == (ssize_t)size;
}

size_t bytes_text(const struct byte_source *s, __u64 offset, char end, char *ret, size_t size)
{
	ssize_t n = bytes_read(s, offset, ret, size - 1);
	char *stop;

	ret[n > 0 ? n : 0] = 0;
	stop = strchr(ret, end);
	if (stop)
		*stop = 0;
	return strlen(ret);
}
