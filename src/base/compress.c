// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/compress.h"

#include <bzlib.h>
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/pack_libraries.h"

#if __has_include(<zstd.h>)
#include <zstd.h>
#define HAVE_ZSTD 1
#endif

#define FIRST_ROOM (256u << 10)
#define GZIP_HEAD  16 /* zlib.h: window bits plus 16 make deflate write the gzip format */
/* zlib.h: window bits plus 32 make inflate detect whether data have the gzip or the zlib format */
#define ANY_HEAD 32

/* The older format of LZ4, which liblz4 has no function for: a number, then blocks. */
#define LZ4_OLD	      0x184c2102u
#define LZ4_OLD_BLOCK (8u << 20) /* most bytes of a decoded block */

struct unpack_out {
	char *data;
	size_t size, room, most;
	bool partial; /* the output is cut off, or the rest of the input is damaged */
};

/*
 * Makes room for more output. Returns false if the output has its maximum size, or memory is
 * exhausted.
 */
static bool unpack_room(struct unpack_out *o)
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

/* Appends bytes. Returns false if not all of them fit. */
static bool unpack_add(struct unpack_out *o, const char *data, size_t n)
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

/* Returns whether the first bytes of zlib data can be decoded, or n is too small to tell. */
static bool zlib_begins(const unsigned char *p, size_t n)
{
	unsigned char first[64];
	z_stream z = {.next_in = (Bytef *)p,
		      .avail_in = n < 4096 ? n : 4096,
		      .next_out = first,
		      .avail_out = sizeof(first)};
	int ret;

	if (inflateInit(&z) != Z_OK)
		return true;
	ret = inflate(&z, Z_NO_FLUSH);
	inflateEnd(&z);
	return ret != Z_DATA_ERROR;
}

/*
 * Returns whether data begins with a zlib header (RFC 1950). A header is only two bytes long, and
 * could be plain text or other data: data whose third and fourth bytes are printable are no zlib
 * data, nor are data whose first bytes cannot be decoded.
 */
static bool is_zlib(const unsigned char *p, size_t n)
{
	return n > 6 && (p[0] & 0x0f) == 8 && p[0] <= 0x78 && (p[0] << 8 | p[1]) % 31 == 0 &&
	       (p[2] < ' ' || p[2] > '~' || p[3] < ' ' || p[3] > '~') && zlib_begins(p, n);
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

/* Decodes zstd. A build without libzstd has no such library to load, so it does not get here. */
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

static unsigned int at_most_uint(size_t n)
{
	return n < UINT_MAX ? n : UINT_MAX;
}

/* Decodes one bzip2 stream, and advances z->next_in behind it. Returns a BZ_ error code. */
static int bunzip2_one(bz_stream *z, struct unpack_out *o)
{
	int ret = BZ2_bzDecompressInit(z, 0, 0);

	if (ret != BZ_OK)
		return ret;
	while (ret == BZ_OK && unpack_room(o)) {
		unsigned int room = at_most_uint(o->room - o->size);

		z->next_out = o->data + o->size;
		z->avail_out = room;
		ret = BZ2_bzDecompress(z);
		o->size += room - z->avail_out;
		if (ret == BZ_OK && !z->avail_in && z->avail_out)
			ret = BZ_UNEXPECTED_EOF;
	}
	BZ2_bzDecompressEnd(z);
	return ret;
}

static int bunzip2_all(const char *in, size_t n, struct unpack_out *o)
{
	bz_stream z = {.next_in = (char *)in, .avail_in = at_most_uint(n)};
	int ret;

	do
		ret = bunzip2_one(&z, o);
	while (ret == BZ_STREAM_END && z.avail_in);
	o->partial = ret != BZ_STREAM_END;
	return ret == BZ_MEM_ERROR ? -ENOMEM : 0;
}

struct lz4_input {
	const char *at, *end;
};

static bool lz4_number(struct lz4_input *in, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)in->at;

	if (in->end - in->at < 4)
		return false;
	*ret = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
	in->at += 4;
	return true;
}

/*
 * Decodes blocks of the older format, up to the end of the input or the beginning of another frame.
 * Returns whether the last block is whole. `block` has room for LZ4_OLD_BLOCK bytes.
 */
static bool lz4_old_blocks(struct lz4_input *in, char *block, struct unpack_out *o)
{
	uint32_t size;

	while (in->at < in->end) {
		int made;

		if (!lz4_number(in, &size))
			return false;
		if (size > LZ4_COMPRESSBOUND(LZ4_OLD_BLOCK)) { /* no size, but another frame */
			in->at -= 4;
			return true;
		}
		if ((size_t)(in->end - in->at) < size)
			return false;
		made = LZ4_decompress_safe(in->at, block, (int)size, LZ4_OLD_BLOCK);
		if (made < 0 || !unpack_add(o, block, made))
			return false;
		in->at += size;
	}
	return true;
}

static bool lz4_is_old(const struct lz4_input *in)
{
	struct lz4_input copy = *in;
	uint32_t magic;

	return lz4_number(&copy, &magic) && magic == LZ4_OLD;
}

/* Decodes one frame and advances in->at behind it. Returns whether it is whole. */
static bool lz4_frame(LZ4F_dctx *d, struct lz4_input *in, struct unpack_out *o)
{
	size_t left = 1; /* bytes that liblz4 expects next; 0: the frame is complete */
	size_t made = 1, used = 0;

	/* liblz4 may still have output when it has all of the input */
	while (left && (made || used) && unpack_room(o)) {
		made = o->room - o->size;
		used = in->end - in->at;
		left = LZ4F_decompress(d, o->data + o->size, &made, in->at, &used, NULL);
		if (LZ4F_isError(left))
			return false;
		o->size += made;
		in->at += used;
	}
	return !left;
}

static int unlz4_all(const char *data, size_t n, struct unpack_out *o)
{
	struct lz4_input in = {data, data + n};
	bool whole = true;
	LZ4F_dctx *d;
	char *block = malloc(LZ4_OLD_BLOCK);

	if (!block || LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION))) {
		free(block);
		return -ENOMEM;
	}
	while (whole && in.at < in.end)
		if (lz4_is_old(&in)) {
			in.at += 4;
			whole = lz4_old_blocks(&in, block, o);
		} else {
			whole = lz4_frame(d, &in, o);
		}
	LZ4F_freeDecompressionContext(d);
	free(block);
	o->partial = !whole;
	return 0;
}

int unpack(enum packing packing, const char *in, size_t n, const struct unpack_caps *caps,
	   char **ret_data, size_t *ret_size, bool *ret_partial)
{
	struct unpack_out o = {.most = caps->bytes};
	int err = !pack_library_load(packing)  ? -ENOTSUP
		  : packing == PACKING_XZ      ? unxz_all(in, n, caps->memory, &o)
		  : packing == PACKING_ZSTD    ? unzstd_all(in, n, &o)
		  : packing == PACKING_BZIP2   ? bunzip2_all(in, n, &o)
		  : packing == PACKING_LZ4     ? unlz4_all(in, n, &o)
		  : packing == PACKING_DEFLATE ? inflate_all(in, n, -MAX_WBITS, &o)
					       : inflate_all(in, n, MAX_WBITS + ANY_HEAD, &o);

	/* a whole file that holds nothing is no damaged file */
	if (!err && !o.size && (o.partial || !o.data))
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
