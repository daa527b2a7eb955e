// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/unpack_xz.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compress.h"

int unpack_xz(const struct byte_source *s, __u64 offset, __u64 bytes, char **ret_mem,
	      size_t *ret_bytes)
{
	const struct unpack_caps caps = {UNPACK_OUT_BYTES, UNPACK_MEMORY_BYTES};
	bool partial = false;
	char *in;
	int err;

	if (bytes > UNPACK_IN_BYTES)
		return -E2BIG;
	in = malloc(bytes ? bytes : 1);
	if (!in)
		return -ENOMEM;
	err = bytes_get(s, offset, in, bytes)
		      ? unpack(PACKING_XZ, in, bytes, &caps, ret_mem, ret_bytes, &partial)
		      : -EBADMSG;
	free(in);
	if (!err && partial) {
		free(*ret_mem);
		*ret_mem = NULL;
		err = -EBADMSG;
	}
	return err;
}
