// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/decompress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
/* A build without them says so when it meets such a file. */
#if __has_include(<lzma.h>)
#include <lzma.h>
#define HAVE_LZMA 1
#endif
#if __has_include(<zstd.h>)
#include <zstd.h>
#define HAVE_ZSTD 1
#endif

#define FIRST_ROOM (256u << 10)
#define LZMA_MOST  (256ull << 20) /* memory of the decoder */

struct out {
	char *data;
	size_t size, room, most;
	bool partial; /* there is more, or the rest is damaged */
};

/* Room for more; false where the most is reached or there is no memory. */
static bool out_grow(struct out *o)
{
	size_t room = o->room ? o->room * 2 : FIRST_ROOM;
	char *data;

	if (room > o->most)
		room = o->most;
	if (room == o->room)
		return false;
	data = realloc(o->data, room);
	if (!data)
		return false;
	o->data = data;
	o->room = room;
	return true;
}

static bool is_gzip(const unsigned char *p, size_t n)
{
	return n > 2 && p[0] == 0x1f && p[1] == 0x8b;
}

/* windowBits of inflateInit2(): 47 zlib or gzip, -15 neither header. What was cut off is no error.
 */
static int inflate_all(const char *in, size_t size, int bits, struct out *o)
{
	z_stream z = {.next_in = (Bytef *)in, .avail_in = size};
	int ret = Z_OK;

	if (inflateInit2(&z, bits) != Z_OK)
		return -ENOMEM;
	while (ret == Z_OK || ret == Z_BUF_ERROR) {
		if (o->size == o->room && !out_grow(o))
			break;
		z.next_out = (Bytef *)o->data + o->size;
		z.avail_out = o->room - o->size;
		ret = inflate(&z, Z_NO_FLUSH);
		o->size = o->room - z.avail_out;
		if (ret == Z_BUF_ERROR && z.avail_out)
			break;
		/* gzip files may be put one behind the other; padding behind the last is no part */
		if (ret == Z_STREAM_END && bits > 15 && is_gzip(z.next_in, z.avail_in) &&
		    inflateReset(&z) == Z_OK)
			ret = Z_OK;
	}
	inflateEnd(&z);
	o->partial = ret != Z_STREAM_END;
	return o->size ? 0 : -EINVAL;
}

static int gzip_take(const char *in, size_t size, struct out *o)
{
	return inflate_all(in, size, 47, o);
}

#ifdef HAVE_LZMA
static int xz_take(const char *in, size_t size, struct out *o)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_auto_decoder(&s, LZMA_MOST, LZMA_CONCATENATED);

	if (ret != LZMA_OK)
		return -ENOMEM;
	s.next_in = (const uint8_t *)in;
	s.avail_in = size;
	while (ret == LZMA_OK) {
		if (o->size == o->room && !out_grow(o))
			break;
		s.next_out = (uint8_t *)o->data + o->size;
		s.avail_out = o->room - o->size;
		ret = lzma_code(&s, s.avail_in ? LZMA_RUN : LZMA_FINISH);
		o->size = o->room - s.avail_out;
	}
	lzma_end(&s);
	o->partial = ret != LZMA_STREAM_END;
	return o->size ? 0 : -EINVAL;
}
#else
#define xz_take NULL
#endif

#ifdef HAVE_ZSTD
static int zstd_take(const char *in, size_t size, struct out *o)
{
	ZSTD_DStream *s = ZSTD_createDStream();
	ZSTD_inBuffer from = {in, size, 0};
	size_t left = 0; /* 0: at the end of a frame */

	if (!s)
		return -ENOMEM;
	while (from.pos < from.size || left) {
		ZSTD_outBuffer to;
		size_t ret, at = from.pos;
		bool stuck;

		if (o->size == o->room && !out_grow(o))
			break;
		to = (ZSTD_outBuffer){o->data, o->room, o->size};
		ret = ZSTD_decompressStream(s, &to, &from);
		left = ret;
		stuck = from.pos == at && to.pos == o->size; /* the input ends within a frame */
		o->size = to.pos;
		if (ZSTD_isError(ret) || stuck)
			break;
	}
	ZSTD_freeDStream(s);
	o->partial = left || from.pos < from.size;
	return o->size ? 0 : -EINVAL;
}
#else
#define zstd_take NULL
#endif

/* RFC 1950: deflate with a window of 32 kB or less, and a check of both bytes. */
static bool is_zlib(const unsigned char *p, size_t n)
{
	return n > 6 && (p[0] & 0x0f) == 8 && p[0] <= 0x78 && (p[0] << 8 | p[1]) % 31 == 0 &&
	       (p[2] < ' ' || p[2] > '~' || p[3] < ' ' || p[3] > '~');
}

static bool is_xz(const unsigned char *p, size_t n)
{
	return n > 6 && !memcmp(p,
				"\xfd"
				"7zXZ",
				6);
}

static bool is_zstd(const unsigned char *p, size_t n)
{
	return n > 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4);
}

static const struct {
	bool (*is)(const unsigned char *p, size_t n);
	int (*take)(const char *in, size_t size, struct out *o);
	const char *lacks;
} forms[] = {
	{is_gzip, gzip_take, NULL},
	{is_zlib, gzip_take, NULL},
	{is_xz, xz_take, "xz: this build cannot; try: xz -dc FILE | faultscope triage -"},
	{is_zstd, zstd_take, "zstd: this build cannot; try: zstd -dc FILE | faultscope triage -"},
};

/* ramoops: "====1234567890.123456-C" and a compressed record behind it. */
static size_t ramoops_header(const char *data, size_t size)
{
	const char *nl = size > 8 && !memcmp(data, "====", 4) ? memchr(data, '\n', size) : NULL;

	if (!nl || nl - data > 64 || nl - data < 6 || nl[-1] != 'C' || nl[-2] != '-')
		return 0;
	return nl + 1 - data;
}

static void replace(char **data, size_t *size, struct out *o, bool *ret_partial)
{
	*ret_partial = o->partial;
	free(*data);
	*data = o->data;
	*size = o->size;
}

int unpack(char **data, size_t *size, size_t most, bool *ret_partial, const char **ret_why)
{
	struct out o = {.most = most};
	size_t header = *size ? ramoops_header(*data, *size) : 0;

	if (header && !inflate_all(*data + header, *size - header, 47, &o)) {
		replace(data, size, &o, ret_partial);
		return 0;
	}
	if (header && !inflate_all(*data + header, *size - header, -15, &o)) {
		replace(data, size, &o, ret_partial);
		return 0;
	}
	for (size_t i = 0; *size && i < sizeof(forms) / sizeof(forms[0]); i++) {
		int err;

		if (!forms[i].is((const unsigned char *)*data, *size))
			continue;
		if (!forms[i].take) {
			*ret_why = forms[i].lacks;
			return -EINVAL;
		}
		err = forms[i].take(*data, *size, &o);
		if (!err) {
			replace(data, size, &o, ret_partial);
			return 0;
		}
		free(o.data);
		*ret_why = "it is compressed, and damaged";
		return err;
	}
	free(o.data);
	return 0;
}
