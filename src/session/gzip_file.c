// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/gzip_file.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib.h: 16 more is gzip's head and end */

int pack_gzip(const struct buf *from, struct buf *to)
{
	z_stream z = {.next_in = (Bytef *)from->s, .avail_in = from->len};
	unsigned char block[16384];
	int err;

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	do {
		z.next_out = block;
		z.avail_out = sizeof(block);
		err = deflate(&z, Z_FINISH);
		buf_add(to, (char *)block, sizeof(block) - z.avail_out);
	} while (err == Z_OK || err == Z_BUF_ERROR);
	deflateEnd(&z);
	return err == Z_STREAM_END && !to->failed ? 0 : -ENOMEM;
}
