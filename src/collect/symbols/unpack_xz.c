// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/unpack_xz.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define CHUNK_BYTES 16384

struct unpacked {
	char *mem;
	size_t room;
};

static int make_room(struct unpacked *u, lzma_stream *xz)
{
	size_t room = u->room ? u->room * 2 : 256 << 10;
	char *mem;

	if (xz->avail_out)
		return 0;
	if (u->room == UNPACK_OUT_BYTES)
		return -E2BIG;
	if (room > UNPACK_OUT_BYTES)
		room = UNPACK_OUT_BYTES;
	mem = realloc(u->mem, room);
	if (!mem)
		return -ENOMEM;
	xz->next_out = (uint8_t *)mem + u->room;
	xz->avail_out = room - u->room;
	*u = (struct unpacked){mem, room};
	return 0;
}

static int error_of(lzma_ret ret)
{
	return ret == LZMA_MEMLIMIT_ERROR ? -E2BIG : ret == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static int decode(lzma_stream *xz, const struct byte_source *s, __u64 offset, __u64 end,
		  struct unpacked *u)
{
	uint8_t in[CHUNK_BYTES];

	for (;;) {
		lzma_ret ret;
		int err = make_room(u, xz);

		if (err)
			return err;
		if (!xz->avail_in && offset < end) {
			size_t most = end - offset < sizeof(in) ? end - offset : sizeof(in);
			ssize_t n = bytes_read(s, offset, in, most);

			if (n <= 0)
				return -EBADMSG;
			offset += n;
			xz->next_in = in;
			xz->avail_in = n;
		}
		ret = lzma_code(xz, offset < end ? LZMA_RUN : LZMA_FINISH);
		if (ret == LZMA_STREAM_END)
			return 0;
		if (ret != LZMA_OK)
			return error_of(ret);
	}
}

int unpack_xz(const struct byte_source *s, __u64 offset, __u64 bytes, char **ret_mem,
	      size_t *ret_bytes)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	struct unpacked u = {};
	lzma_ret ret;
	int err;

	if (bytes > UNPACK_IN_BYTES)
		return -E2BIG;
	ret = lzma_stream_decoder(&xz, UNPACK_MEMORY_BYTES, 0);
	if (ret != LZMA_OK)
		return error_of(ret);
	err = decode(&xz, s, offset, offset + bytes, &u);
	if (err) {
		free(u.mem);
	} else {
		*ret_mem = u.mem;
		*ret_bytes = xz.total_out;
	}
	lzma_end(&xz);
	return err;
}
