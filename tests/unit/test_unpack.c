// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which compressed logs are unpacked, up to which size, and which data is unchanged. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "tap.h"
#include "crash/decompress.h"

#define LOG_BYTES 300000

static char *data;
static size_t size;
static bool partial;
static const char *why;

static char log_text[LOG_BYTES + 1];

static void fill_log(void)
{
	for (size_t i = 0; i < LOG_BYTES; i++)
		log_text[i] = i % 61 ? 'a' + i * i % 23 : '\n';
}

/* Compresses a text. `bits` is windowBits of deflateInit2(): 15 zlib, 31 gzip, -15 raw data. */
static size_t deflated(int bits, const char *text, size_t n, char *ret, size_t room)
{
	z_stream z = {.next_in = (Bytef *)text,
		      .avail_in = n,
		      .next_out = (Bytef *)ret,
		      .avail_out = room};

	if (deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return z.total_out;
}

static int unpacked(const char *bytes, size_t n, size_t most)
{
	free(data);
	data = malloc(n ? n : 1);
	if (!data)
		abort();
	memcpy(data, bytes, n);
	size = n;
	partial = false;
	why = NULL;
	return decompress(&data, &size, most, &partial, &why);
}

static bool is_log(size_t n)
{
	return size == n && !memcmp(data, log_text, n);
}

static void test_gzip(void)
{
	static char packed[2 * LOG_BYTES];
	size_t n = deflated(31, log_text, LOG_BYTES, packed, sizeof(packed)), m;

	ok(!unpacked(packed, n, 1 << 20) && is_log(LOG_BYTES) && !partial, "gzip, whole");
	ok(!unpacked(packed, n, 1000) && is_log(1000) && partial, "no more than the most");
	ok(!unpacked(packed, n, LOG_BYTES) && size == LOG_BYTES, "just enough room");
	ok(!unpacked(packed, n / 2, 1 << 20) && size && size < LOG_BYTES && partial && is_log(size),
	   "cut off: what there is");
	m = deflated(31, log_text, 100, packed + n, sizeof(packed) - n);
	ok(!unpacked(packed, n + m, 1 << 20) && size == LOG_BYTES + 100 && !partial,
	   "one behind the other");
	ok(unpacked(packed, 3, 1 << 20) == -EINVAL && why && size == 3, "its first bytes alone");
}

static void test_zlib(void)
{
	static char packed[2 * LOG_BYTES];
	size_t n = deflated(15, log_text, LOG_BYTES, packed, sizeof(packed));

	ok(!unpacked(packed, n, 1 << 20) && is_log(LOG_BYTES) && !partial, "zlib");
	ok(!unpacked("x\001 a text", 9, 1 << 20) && size == 9 && !partial,
	   "a text may begin like it");
	ok(!unpacked("hello, world", 12, 1 << 20) && size == 12, "text stays");
	ok(!unpacked("", 0, 1 << 20) && !size, "so does nothing");
}

static void test_ramoops(void)
{
	static const char header[] = "====1700000000.123456-C\n";
	static char packed[2 * LOG_BYTES];
	size_t h = strlen(header), n;

	memcpy(packed, header, h);
	n = deflated(15, log_text, LOG_BYTES, packed + h, sizeof(packed) - h);
	ok(!unpacked(packed, h + n, 1 << 20) && is_log(LOG_BYTES), "zlib behind its header");
	n = deflated(-15, log_text, LOG_BYTES, packed + h, sizeof(packed) - h);
	ok(!unpacked(packed, h + n, 1 << 20) && is_log(LOG_BYTES), "deflate behind its header");
	packed[h - 2] = 'D';
	ok(!unpacked(packed, h + n, 1 << 20) && size == h + n, "-D says that it is plain");
}

int main(void)
{
	fill_log();
	test_gzip();
	test_zlib();
	test_ramoops();
	free(data);
	return tap_done();
}
