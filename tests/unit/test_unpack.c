// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which compressed logs are unpacked, up to which size, and which data is unchanged. */
#include <bzlib.h>
#include <errno.h>
#include <lz4.h>
#include <lz4frame.h>
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
	/* a valid header, then a block of the type 3, which does not exist */
	ok(!unpacked("\x78\x9c\xff\xff\xff\xff\xff\xff", 8, 1 << 20) && size == 8 && !partial,
	   "other data may begin like it");
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

static size_t bzipped(const char *text, size_t n, char *ret, size_t room)
{
	unsigned int made = room;

	/* blocks of 100 kB */
	if (BZ2_bzBuffToBuffCompress(ret, &made, (char *)text, n, 1, 0, 0) != BZ_OK)
		abort();
	return made;
}

static size_t lz4ed(const char *text, size_t n, char *ret, size_t room)
{
	LZ4F_preferences_t how = {
		.frameInfo = {.blockSizeID = LZ4F_max64KB,
			      .contentChecksumFlag = LZ4F_contentChecksumEnabled}};
	size_t made = LZ4F_compressFrame(ret, room, text, n, &how);

	if (!made || made > room) /* an error is a number above each size */
		abort();
	return made;
}

/* The older format of LZ4: its number, then the length of each block before the block. */
static size_t lz4ed_as_before(const char *text, size_t n, char *ret, size_t room)
{
	static const unsigned char magic[] = {0x02, 0x21, 0x4c, 0x18};
	size_t at = sizeof(magic), blocks[] = {n - n / 3, n / 3};

	memcpy(ret, magic, sizeof(magic));
	for (int i = 0; i < 2; i++) {
		int made = LZ4_compress_default(text + (i ? blocks[0] : 0), ret + at + 4, blocks[i],
						room - at - 4);

		if (!made)
			abort();
		for (int k = 0; k < 4; k++)
			ret[at + k] = made >> 8 * k;
		at += 4 + made;
	}
	return at;
}

/*
 * Checks a format in which `gaps` is false if a file that ends anywhere is cut off. Other formats
 * also end between two blocks.
 */
static void check_packed(const char *name, bool gaps,
			 size_t (*pack)(const char *text, size_t n, char *ret, size_t room))
{
	static char packed[3 * LOG_BYTES];
	size_t n = pack(log_text, LOG_BYTES, packed, sizeof(packed)), m, wrong = 0, last = 0;

	ok(!unpacked(packed, n, 1 << 20) && is_log(LOG_BYTES) && !partial, "%s, whole", name);
	ok(!unpacked(packed, n, 1000) && is_log(1000) && partial, "%s: no more than the most",
	   name);
	ok(!unpacked(packed, n, LOG_BYTES) && is_log(LOG_BYTES), "%s: just enough room", name);
	ok(!unpacked(packed, n, LOG_BYTES - 1) && is_log(LOG_BYTES - 1) && partial,
	   "%s: a byte too little", name);
	for (size_t cut = 12; cut < n; cut++) {
		int err;

		if (cut > 100 && cut + 100 < n && cut % 97)
			continue;
		err = unpacked(packed, cut, 1 << 20);

		if (err) {
			wrong += err != -EINVAL || last;
			continue;
		}
		/* at each length there is at least as much as before, and it is said to be cut */
		wrong += size < last || !is_log(size) || (!partial && !gaps);
		last = size;
	}
	is_u64(wrong, 0, "cut off anywhere: what there is");
	ok(last > LOG_BYTES / 2, "%s: most of it is there without the end", name);
	m = pack(log_text, 100, packed + n, sizeof(packed) - n);
	ok(!unpacked(packed, n + m, 1 << 20) && size == LOG_BYTES + 100 && !partial &&
		   !memcmp(data + LOG_BYTES, log_text, 100),
	   "%s: one behind the other", name);
	memcpy(packed + n, "no such format", 14);
	ok(!unpacked(packed, n + 14, 1 << 20) && partial && is_log(LOG_BYTES),
	   "%s: something else behind it", name);
	for (size_t at = 12; at < n; at += n / 500 + 1) {
		packed[at] ^= 0x55;
		wrong += unpacked(packed, n, 1 << 20) == 0 && !partial && !is_log(LOG_BYTES) &&
			 !gaps;
		packed[at] ^= 0x55;
	}
	is_u64(wrong, 0, "damage is noticed by a checksum");
}

static void test_mixed_lz4(void)
{
	static const char skipped[] = "\x50\x2a\x4d\x18\x03\0\0\0abc";
	static char packed[3 * LOG_BYTES];
	size_t n = lz4ed_as_before(log_text, 5000, packed, sizeof(packed));

	n += lz4ed(log_text + 5000, 3000, packed + n, sizeof(packed) - n);
	memcpy(packed + n, skipped, sizeof(skipped) - 1);
	n += sizeof(skipped) - 1;
	n += lz4ed_as_before(log_text + 8000, 1000, packed + n, sizeof(packed) - n);
	ok(!unpacked(packed, n, 1 << 20) && is_log(9000) && !partial, "both formats of LZ4 mixed");
}

int main(void)
{
	fill_log();
	check_packed("bzip2", false, bzipped);
	check_packed("LZ4", false, lz4ed);
	check_packed("older LZ4", true, lz4ed_as_before);
	test_mixed_lz4();
	test_gzip();
	test_zlib();
	test_ramoops();
	free(data);
	return tap_done();
}
