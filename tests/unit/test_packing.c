// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which first bytes count as compressed data, and how many of them are needed. */
#include <errno.h>
#include <lz4.h>
#include <stdlib.h>

#include "base/compress.h"
#include "tap.h"

#define BYTES(...) __VA_ARGS__, sizeof(__VA_ARGS__) - 1

static void test_begins(void)
{
	static const struct {
		const char *what, *bytes;
		size_t n;
		enum packing packing;
	} rows[] = {
		{"gzip", BYTES("\x1f\x8b\x08"), PACKING_GZIP},
		{"two bytes of it", BYTES("\x1f\x8b"), PACKING_NONE},
		{"another first byte", BYTES("\x1e\x8b\x08"), PACKING_NONE},
		{"another second byte", BYTES("\x1f\x8c\x08"), PACKING_NONE},
		/* a block of deflate without compression: its length, and the length inverted */
		{"zlib", BYTES("\x78\x9c\x00\x20\x00\xdf\xff"), PACKING_GZIP},
		{"six bytes of it", BYTES("\x78\x9c\x00\x20\x00\xdf"), PACKING_NONE},
		{"a header that is not valid", BYTES("\x78\x9d\x00\x20\x00\xdf\xff"), PACKING_NONE},
		{"another method", BYTES("\x79\x9a\x00\x20\x00\xdf\xff"), PACKING_NONE},
		{"two blanks behind the header", BYTES("\x78\x9c\x20\x20\x00\xdf\xff"),
		 PACKING_NONE},
		{"a blank and a tilde", BYTES("\x78\x9c\x20\x7e\x00\x81\xff"), PACKING_NONE},
		{"a blank and a control", BYTES("\x78\x9c\x20\x1f\x00\xe0\xff"), PACKING_GZIP},
		{"a blank and DEL", BYTES("\x78\x9c\x20\x7f\x00\x80\xff"), PACKING_GZIP},
		{"a control and a blank", BYTES("\x78\x9c\x18\x20\x00\xdf\xff"), PACKING_GZIP},
		{"a high byte and a blank", BYTES("\x78\x9c\x80\x20\x00\xdf\xff"), PACKING_GZIP},
		{"lengths that differ", BYTES("\x78\x9c\x00\x20\x00\xde\xff"), PACKING_NONE},
		{"xz", BYTES("\xfd\x37zXZ\0\0"), PACKING_XZ},
		{"six bytes of it", BYTES("\xfd\x37zXZ\0"), PACKING_NONE},
		{"bzip2", BYTES("BZh91AY&SY\0"), PACKING_BZIP2},
		{"ten bytes of it", BYTES("BZh91AY&SY"), PACKING_NONE},
		{"the smallest blocks", BYTES("BZh11AY&SY\0"), PACKING_BZIP2},
		{"blocks without a size", BYTES("BZh01AY&SY\0"), PACKING_NONE},
		{"blocks that are too large", BYTES("BZh:1AY&SY\0"), PACKING_NONE},
		{"bzip2 of nothing", BYTES("BZh9\x17\x72\x45\x38\x50\x90\0"), PACKING_BZIP2},
		{"a text that begins like it", BYTES("BZh9 is a text"), PACKING_NONE},
		{"LZ4", BYTES("\x04\x22\x4d\x18\0\0\0\0\0"), PACKING_LZ4},
		{"eight bytes of it", BYTES("\x04\x22\x4d\x18\0\0\0\0"), PACKING_NONE},
		{"the older LZ4", BYTES("\x02\x21\x4c\x18\0\0\0\0\0"), PACKING_LZ4},
		{"zstd", BYTES("\x28\xb5\x2f\xfd\0"), PACKING_ZSTD},
		{"four bytes of it", BYTES("\x28\xb5\x2f\xfd"), PACKING_NONE},
		{"text", BYTES("a text of any kind"), PACKING_NONE},
		{"nothing", BYTES(""), PACKING_NONE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(packing_of(rows[i].bytes, rows[i].n), rows[i].packing, rows[i].what);
}

/* Checks what an LZ4 file contains: `want` bytes, or -1 if it is damaged from its begin on. */
static void contains(const char *what, const char *in, size_t n, int want, bool cut)
{
	const struct unpack_caps caps = {.bytes = 1 << 20, .memory = 1 << 26};
	char *data = NULL;
	size_t size = 0;
	bool partial = false;
	int err = unpack(PACKING_LZ4, in, n, &caps, &data, &size, &partial);

	if (want < 0)
		is_u64(-err, EINVAL, what);
	else
		ok(!err && size == (size_t)want && partial == cut, "%s", what);
	free(data);
}

/* The older format of LZ4: a number, and blocks with their lengths before them. */
static void test_old_lz4(void)
{
	static const char old[] = {0x02, 0x21, 0x4c, 0x18};
	/* a block of five bytes: no bytes are repeated */
	static const char block[] = {6, 0, 0, 0, 0x50, 'a', 'b', 'c', 'd', 'e'};
	static const char empty[] = {1, 0, 0, 0, 0};
	char file[64];
	size_t n = 0;

	memcpy(file + n, old, sizeof(old));
	n += sizeof(old);
	contains("the number alone", file, n, -1, false);
	memcpy(file + n, block, sizeof(block));
	n += sizeof(block);
	contains("a block", file, n, 5, false);
	contains("a block without its last byte", file, n - 1, -1, false);
	memcpy(file + n, empty, sizeof(empty));
	n += sizeof(empty);
	contains("a block that holds nothing", file, n, 5, false);
	memcpy(file + n, block, sizeof(block));
	n += sizeof(block);
	contains("and one behind it", file, n, 10, false);
	memcpy(file + n, old, sizeof(old));
	n += sizeof(old);
	contains("the number of a further file", file, n, 10, false);
	contains("the first three bytes of it", file, n - 1, 10, true);
	memcpy(file + n, block, sizeof(block));
	n += sizeof(block);
	contains("with a block", file, n, 15, false);
	contains("of which the length is there", file, n - 6, 10, true);
}

/* Raw deflate, in a block without compression. The output has a cap. */
static void test_caps(void)
{
	static const char raw[] = "\x01\x05\x00\xfa\xff"
				  "abcde";
	struct unpack_caps caps = {.bytes = 5};
	char *data;
	size_t size;
	bool partial;

	is_u64(-unpack(PACKING_DEFLATE, raw, sizeof(raw) - 1, &caps, &data, &size, &partial), 0,
	       "deflate");
	ok(size == 5 && !partial && !memcmp(data, "abcde", 5), "as many bytes as the cap");
	free(data);
	caps.bytes = 4;
	is_u64(-unpack(PACKING_DEFLATE, raw, sizeof(raw) - 1, &caps, &data, &size, &partial), 0,
	       "with a smaller cap");
	ok(size == 4 && partial && !memcmp(data, "abcd", 4), "it is cut");
	free(data);
	caps.bytes = 0;
	is_u64(-unpack(PACKING_DEFLATE, raw, sizeof(raw) - 1, &caps, &data, &size, &partial),
	       EINVAL, "no output may be made");
	caps.bytes = 9;
	is_u64(-unpack(PACKING_DEFLATE, raw, 5, &caps, &data, &size, &partial), EINVAL,
	       "no byte of the text is there");
	is_u64(-unpack(PACKING_DEFLATE, raw, 6, &caps, &data, &size, &partial), 0, "one is");
	ok(size == 1 && partial && *data == 'a', "it is cut off");
	free(data);
}

int main(void)
{
	test_begins();
	test_old_lz4();
	test_caps();
	return tap_done();
}
