// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/compress.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/unpack_out.h"
#if __has_include(<zstd.h>)
#include <zstd.h>
#define HAVE_ZSTD 1
#endif

#define FIRST_ROOM (256u << 10)
#define GZIP_HEAD  16 /* zlib.h: window bits plus 16 make deflate write the gzip format */
/* zlib.h: window bits plus 32 make inflate detect whether data have the gzip or the zlib format */
#define ANY_HEAD 32

bool unpack_room(struct unpack_out *o)
{
	size_t room = o->room ? o->room * 2 : FIRST_ROOM;
	char *data;

	if (o->size < o->room)
		return true;
	if (room > o->most)
		room = o->most;
	data = room > o->room ? realloc(o->data, room) : NULL;
	if (!data)
		return false;
	o->data = data;
	o->room = room;
	return true;
}

bool unpack_add(struct unpack_out *o, const char *data, size_t n)
{
	while (n) {
		size_t part;

		if (!unpack_room(o))
			return false;
		part = n < o->room - o->size ? n : o->room - o->size;
		memcpy(o->data + o->size, data, part);
		o->size += part;
		data += part;
		n -= part;
	}
	return true;
}

static bool is_gzip(const unsigned char *p, size_t n)
{
	return n > 2 && p[0] == 0x1f && p[1] == 0x8b;
}

/*
 * Returns whether data begins with a zlib header (RFC 1950). A header is only two bytes long, and
 * could be plain text: data whose third and fourth bytes are printable are no zlib data.
 */
static bool is_zlib(const unsigned char *p, size_t n)
{
	return n > 6 && (p[0] & 0x0f) == 8 && p[0] <= 0x78 && (p[0] << 8 | p[1]) % 31 == 0 &&
	       (p[2] < ' ' || p[2] > '~' || p[3] < ' ' || p[3] > '~');
}

enum packing packing_of(const char *data, size_t n)
{
	const unsigned char *p = (const unsigned char *)data;

	if (is_gzip(p, n) || is_zlib(p, n))
		return PACKING_GZIP;
	if (n > 6 && !memcmp(data, "\xfd\x37zXZ", 6))
		return PACKING_XZ;
	if (n > 10 && !memcmp(data, "BZh", 3) && data[3] >= '1' && data[3] <= '9' &&
	    (!memcmp(data + 4, "1AY&SY", 6) || !memcmp(data + 4, "\x17\x72\x45\x38\x50\x90", 6)))
		return PACKING_BZIP2;
	if (n > 8 && (!memcmp(data, "\x04\x22\x4d\x18", 4) || !memcmp(data, "\x02\x21\x4c\x18", 4)))
		return PACKING_LZ4;
	return n > 4 && !memcmp(data, "\x28\xb5\x2f\xfd", 4) ? PACKING_ZSTD : PACKING_NONE;
}

static int inflate_all(const char *in, size_t n, int bits, struct unpack_out *o)
{
	z_stream z = {.next_in = (Bytef *)in, .avail_in = n};
	int ret = Z_OK;

	if (inflateInit2(&z, bits) != Z_OK)
		return -ENOMEM;
	while ((ret == Z_OK || ret == Z_BUF_ERROR) && unpack_room(o)) {
		z.next_out = (Bytef *)o->data + o->size;
		z.avail_out = o->room - o->size;
		ret = inflate(&z, Z_NO_FLUSH);
		o->size = o->room - z.avail_out;
		if (ret == Z_BUF_ERROR && z.avail_out)
			break;
		/*
		 * gzip members may be concatenated: decode the next one; padding after the last is
		 * ignored
		 */
		if (ret == Z_STREAM_END && bits > 0 && is_gzip(z.next_in, z.avail_in) &&
		    inflateReset(&z) == Z_OK)
			ret = Z_OK;
	}
	inflateEnd(&z);
	o->partial = ret != Z_STREAM_END;
	return 0;
}

static int unxz_all(const char *in, size_t n, uint64_t memory, struct unpack_out *o)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_auto_decoder(&s, memory, LZMA_CONCATENATED);

	if (ret != LZMA_OK)
		return -ENOMEM;
	s.next_in = (const uint8_t *)in;
	s.avail_in = n;
	while (ret == LZMA_OK && unpack_room(o)) {
		s.next_out = (uint8_t *)o->data + o->size;
		s.avail_out = o->room - o->size;
		ret = lzma_code(&s, s.avail_in ? LZMA_RUN : LZMA_FINISH);
		o->size = o->room - s.avail_out;
	}
	lzma_end(&s);
	o->partial = ret != LZMA_STREAM_END;
	return 0;
}

static int unzstd_all(const char *in, size_t n, struct unpack_out *o)
{
#ifdef HAVE_ZSTD
	ZSTD_DStream *s = ZSTD_createDStream();
	ZSTD_inBuffer from = {in, n, 0};
	size_t left = 0; /* bytes that zstd expects next; 0: the zstd frame is complete */
	bool stuck = false;

	if (!s)
		return -ENOMEM;
	while (!stuck && (from.pos < n || left) && unpack_room(o)) {
		ZSTD_outBuffer to = {o->data, o->room, o->size};
		size_t at = from.pos;

		left = ZSTD_decompressStream(s, &to, &from);
		/* true: zstd failed, or the input ends within a zstd frame */
		stuck = ZSTD_isError(left) || (from.pos == at && to.pos == o->size);
		o->size = to.pos;
	}
	ZSTD_freeDStream(s);
	o->partial = left || from.pos < n;
	return 0;
#else
	return -ENOTSUP;
#endif
}

int unpack(enum packing packing, const char *in, size_t n, const struct unpack_caps *caps,
	   char **ret_data, size_t *ret_size, bool *ret_partial)
{
	struct unpack_out o = {.most = caps->bytes};
	int err = packing == PACKING_XZ	       ? unxz_all(in, n, caps->memory, &o)
		  : packing == PACKING_ZSTD    ? unzstd_all(in, n, &o)
		  : packing == PACKING_BZIP2   ? bunzip2_all(in, n, &o)
		  : packing == PACKING_LZ4     ? unlz4_all(in, n, &o)
		  : packing == PACKING_DEFLATE ? inflate_all(in, n, -MAX_WBITS, &o)
					       : inflate_all(in, n, MAX_WBITS + ANY_HEAD, &o);

	if (!err && !o.size)
		err = -EINVAL;
	if (err) {
		free(o.data);
		return err;
	}
	*ret_data = o.data;
	*ret_size = o.size;
	*ret_partial = o.partial;
	return 0;
}

struct gzip {
	z_stream z;
};

int gzip_pack(struct gzip **state, const struct gzip_way *way, const struct buf *from,
	      struct buf *to)
{
	unsigned char chunk[16384];
	z_stream *z;
	int ret;

	if (!*state) {
		*state = calloc(1, sizeof(**state));
		if (!*state)
			return -ENOMEM;
		if (deflateInit2(&(*state)->z, way->level, Z_DEFLATED, way->window_bits + GZIP_HEAD,
				 way->memory, Z_DEFAULT_STRATEGY) != Z_OK) {
			free(*state);
			*state = NULL;
			return -ENOMEM;
		}
	}
	z = &(*state)->z;
	deflateReset(z);
	z->next_in = (unsigned char *)from->s;
	z->avail_in = from->len;
	do {
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		ret = deflate(z, Z_FINISH);
		buf_add(to, (char *)chunk, sizeof(chunk) - z->avail_out);
	} while (ret == Z_OK || ret == Z_BUF_ERROR);
	return ret == Z_STREAM_END && !to->failed ? 0 : -ENOMEM;
}

void gzip_free(struct gzip *state)
{
	if (state)
		deflateEnd(&state->z);
	free(state);
}
