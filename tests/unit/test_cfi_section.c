// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests numbers and entries of call frame information at the bounds of their bytes. */
#include <errno.h>

#include "tap.h"
#include "unwind/cfi_section.h"

#define BYTES(...) (const __u8[]){__VA_ARGS__}, sizeof((const __u8[]){__VA_ARGS__})
#define ADDRESS	   0x1000 /* of the section */

static struct cfi_bytes all_of(const __u8 *bytes, size_t n)
{
	return (struct cfi_bytes){bytes, bytes + n, false};
}

static void test_fixed_size(void)
{
	static const __u8 bytes[9] = {0xfe, 0xff, 0xff, 0x7f, 1, 0, 0, 0x80, 9};
	static const struct {
		size_t left, bytes;
		bool good;
		__u64 number;
		__s64 with_sign;
	} t[] = {
		{1, 1, true, 0xfe, -2},
		{0, 1, false, 0, 0},
		{2, 2, true, 0xfffe, -2},
		{1, 2, false, 0, 0},
		{4, 4, true, 0x7ffffffe, 0x7ffffffe},
		{3, 4, false, 0, 0},
		{8, 8, true, 0x800000017ffffffe, (__s64)0x800000017ffffffe},
		{7, 8, false, 0, 0},
		{9, 9, false, 0, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_bytes b = all_of(bytes, t[i].left), same = b;
		__u64 n = cfi_unsigned(&b, t[i].bytes);

		ok(n == t[i].number && b.bad == !t[i].good, "a number of %zu bytes, of %zu",
		   t[i].bytes, t[i].left);
		ok(b.at == bytes + t[i].left, "the read ends there");
		ok(cfi_signed(&same, t[i].bytes) == t[i].with_sign, "the number with its sign");
	}
}

static void test_leb(void)
{
	static const struct {
		__u8 bytes[12];
		size_t n;
		__u64 number;
		__s64 with_sign;
		const char *name;
	} t[] = {
		{{0x3f}, 1, 0x3f, 0x3f, "one byte"},
		{{0x40}, 1, 0x40, -0x40, "the sign is the uppermost of seven bits"},
		{{0x7f}, 1, 0x7f, -1, "all seven bits"},
		{{0x80, 1}, 2, 0x80, 0x80, "two bytes"},
		{{0xff, 0x7e}, 2, 0x3f7f, -0x81, "two bytes with a sign"},
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40},
		 9,
		 1ULL << 62,
		 -(1LL << 62),
		 "nine bytes"},
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
		 10,
		 1ULL << 63,
		 INT64_MIN,
		 "the 64th bit"},
		{{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2},
		 10,
		 1,
		 1,
		 "the 65th bit is dropped"},
		{{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f},
		 11,
		 1,
		 1,
		 "the eleventh byte is dropped"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_bytes b = all_of(t[i].bytes, t[i].n), same = b, cut = b, cut_same;

		cut.end--;
		cut_same = cut;
		is_u64(cfi_uleb(&b), t[i].number, t[i].name);
		ok(!b.bad && b.at == b.end, "all bytes are read");
		ok(cfi_sleb(&same) == t[i].with_sign && !same.bad, "the number with its sign");
		ok(!cfi_uleb(&cut) && cut.bad, "cut by a byte, it is not read");
		ok(!cfi_sleb(&cut_same) && cut_same.bad, "nor with its sign");
	}
}

static void test_block(void)
{
	static const __u8 bytes[4];

	for (size_t n = 0; n <= 5; n++) {
		struct cfi_bytes b = all_of(bytes, 4), block = cfi_block(&b, n);

		is_u64(b.bad, n > 4, "a block has the bytes that are left at most");
		is_u64(block.end - block.at, n > 4 ? 0 : n, "its size");
		ok(block.at == bytes && b.at == bytes + (n > 4 ? 4 : n), "the read goes on behind");
	}
}

static int read_entry(const __u8 *bytes, size_t n, size_t offset, struct cfi_entry *ret)
{
	struct cfi_section s = {bytes, n, ADDRESS, 8};

	memset(ret, 0, sizeof(*ret));
	return cfi_entry_read(&s, offset, ret);
}

static void test_entries(void)
{
	struct cfi_entry e;

	is_u64(read_entry(BYTES(9, 0, 0), 0, &e), 0, "three bytes are no entry");
	is_u64(read_entry(BYTES(0, 0, 0, 0), 0, &e), 0, "a length of 0 is the end");
	is_u64(-read_entry(BYTES(4, 0, 0, 0), 0, &e), EBADMSG, "only a length");
	is_u64(-read_entry(BYTES(3, 0, 0, 0, 0, 0, 0, 0), 0, &e), EBADMSG, "no room for a CIE ID");
	is_u64(read_entry(BYTES(4, 0, 0, 0, 0, 0, 0, 0), 0, &e), 1, "a CIE without a body");
	ok(e.is_cie && e.cie == 0 && e.next == 8 && e.body.at == e.body.end, "its fields");
	is_u64(read_entry(BYTES(8, 8, 5, 0, 0, 0, 0, 0, 0, 0, 7), 2, &e), 1, "an entry to the end");
	ok(e.is_cie && e.cie == 2 && e.next == 11, "a CIE is its own CIE");
	ok(e.body.end - e.body.at == 1 && *e.body.at == 7, "its body is behind the CIE ID");
	is_u64(read_entry(BYTES(5, 0, 0, 0, 0, 0, 0, 0, 7, 9, 9, 9, 9, 9), 0, &e), 1,
	       "the first entry");
	ok(e.next == 9 && e.body.end - e.body.at == 1, "ends where the next one begins");
	is_u64(-read_entry(BYTES(6, 0, 0, 0, 0, 0, 0, 0, 7), 0, &e), EBADMSG,
	       "one byte is missing");
	is_u64(read_entry(BYTES(0, 4, 0, 0, 0, 5, 0, 0, 0), 1, &e), 1, "its CIE is at 0");
	ok(!e.is_cie && e.cie == 0, "the CIE ID counts back from itself");
	is_u64(-read_entry(BYTES(0, 4, 0, 0, 0, 6, 0, 0, 0), 1, &e), EBADMSG,
	       "a CIE before the section");
}

/* Tests entries whose length has 64 bits. */
static void test_long_entries(void)
{
	struct cfi_entry e;

	is_u64(read_entry(BYTES(0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7), 0,
			  &e),
	       1, "a length of 64 bits");
	ok(e.is_cie && e.next == 17 && e.body.end - e.body.at == 1, "its fields");
	is_u64(-read_entry(BYTES(0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7), 0,
			   &e),
	       EBADMSG, "all 64 bits count");
	is_u64(-read_entry(BYTES(0xff, 0xff, 0xff, 0xff, 4, 0, 0), 0, &e), EBADMSG, "it is cut");
	is_u64(-read_entry(BYTES(0xfe, 0xff, 0xff, 0xff, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0,
			   &e),
	       EBADMSG, "the greatest length of 32 bits");
}

/* Reads a CIE with this body. */
static int read_cie(const __u8 *bytes, size_t n, struct cfi_cie *ret)
{
	struct cfi_section s = {bytes, n, ADDRESS, 8};
	struct cfi_entry e = {.is_cie = true, .body = all_of(bytes, n)};

	return cfi_cie_read(&s, &e, ret);
}

static void test_cie_versions(void)
{
	struct cfi_section s = {.pointer_bytes = 8};
	struct cfi_entry fde = {};
	struct cfi_cie c;

	is_u64(read_cie(BYTES(1, 0, 1, 0x78, 0x90, 0xaa), &c), 0, "version 1");
	ok(c.code_align == 1 && c.data_align == -8, "its factors");
	is_u64(c.ra_column, 0x90, "its return address is one byte");
	ok(c.program.end - c.program.at == 1 && *c.program.at == 0xaa, "instructions are behind");
	ok(!c.has_data && !c.signal && !c.encoding, "it has no augmentation");
	is_u64(read_cie(BYTES(3, 0, 0x84, 1, 0x78, 0x90, 1), &c), 0, "version 3");
	ok(c.code_align == 132 && c.ra_column == 144, "its return address may have more bytes");
	is_u64(read_cie(BYTES(4, 0, 8, 0, 1, 0x78, 16), &c), 0, "version 4");
	is_u64(c.ra_column, 16, "its return address");
	is_u64(-read_cie(BYTES(4, 0, 4, 0, 1, 0x78, 16), &c), EOPNOTSUPP, "addresses of 4 bytes");
	is_u64(-read_cie(BYTES(4, 0, 8, 1, 1, 0x78, 16), &c), EOPNOTSUPP, "segment selectors");
	is_u64(-read_cie(BYTES(0, 0, 1, 0x78, 16), &c), EOPNOTSUPP, "version 0");
	is_u64(-read_cie(BYTES(2, 0, 1, 0x78, 16), &c), EOPNOTSUPP, "version 2");
	is_u64(-read_cie(BYTES(5, 0, 1, 0x78, 16), &c), EOPNOTSUPP, "version 5");
	is_u64(-read_cie(BYTES(1, 0, 1, 0x78), &c), EBADMSG, "a CIE that is cut");
	is_u64(-read_cie(BYTES(1, 'z', 'R'), &c), EBADMSG, "an augmentation without an end");
	fde.body = all_of(BYTES(1, 0, 1, 0x78, 16));
	is_u64(-cfi_cie_read(&s, &fde, &c), EBADMSG, "an FDE in place of a CIE");
}

static void test_cie_size(void)
{
	static __u8 bytes[1025] = {1, 0, 1, 0x78, 16};
	struct cfi_cie c;

	is_u64(read_cie(bytes, 1024, &c), 0, "a CIE of 1024 bytes");
	is_u64(-read_cie(bytes, 1025, &c), EOPNOTSUPP, "1025 bytes are too many");
}

static void test_augmentations(void)
{
	static const struct {
		__u8 bytes[24];
		size_t n;
		int err;
		__u8 encoding;
		bool signal;
		const char *name;
	} t[] = {
		{{1, 'z', 0, 1, 1, 16, 0}, 7, 0, 0, false, "no data"},
		{{1, 'z', 'R', 0, 1, 1, 16, 1, 0x1b}, 9, 0, 0x1b, false, "an encoding"},
		{{1, 'z', 'R', 0, 1, 1, 16, 3, 0x1b, 9, 9}, 11, 0, 0x1b, false, "unknown data"},
		{{1, 'z', 'R', 0, 1, 1, 16, 2, 0x1b}, 9, EBADMSG, 0, false, "its data is cut"},
		{{1, 'z', 'R', 0, 1, 1, 16, 0}, 8, EBADMSG, 0, false, "no room for an encoding"},
		{{1, 'z', 'R', 'S', 0, 1, 1, 16, 1, 0x1b}, 10, 0, 0x1b, true, "a signal frame"},
		{{1, 'z', 'B', 'G', 'R', 0, 1, 1, 16, 1, 3}, 11, 0, 3, false, "marks of arm64"},
		{{1, 'z', 'L', 'R', 0, 1, 1, 16, 2, 0x1b, 3}, 11, 0, 3, false, "exception tables"},
		{{1, 'z', 'P', 'R', 0, 1, 1, 16, 6, 0x9b, 1, 2, 3, 4, 0x0b},
		 15,
		 0,
		 0x0b,
		 false,
		 "a personality routine"},
		{{1, 'z', 'P', 'R', 0, 1, 1, 16, 2, 0xff, 0x0b},
		 11,
		 0,
		 0x0b,
		 false,
		 "no such routine"},
		{{1, 'z', 'P', 'R', 0, 1, 1, 16, 3, 0x05, 1, 2},
		 12,
		 EOPNOTSUPP,
		 0,
		 false,
		 "its format"},
		{{1, 'z', 'P', 0, 1, 1, 16, 4, 0x03, 1, 2, 3},
		 12,
		 EOPNOTSUPP,
		 0,
		 false,
		 "it is cut"},
		{{1, 'z', 'Q', 0, 1, 1, 16, 0}, 8, EOPNOTSUPP, 0, false, "an unknown letter"},
		{{1, 'e', 'h', 0, 1, 1, 16, 0},
		 8,
		 EOPNOTSUPP,
		 0,
		 false,
		 "an augmentation without z"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_cie c;

		is_u64(-read_cie(t[i].bytes, t[i].n, &c), t[i].err, t[i].name);
		if (t[i].err)
			continue;
		ok(c.has_data && c.encoding == t[i].encoding && c.signal == t[i].signal,
		   "its fields");
		ok(c.program.at == c.program.end, "no instructions are behind its data");
	}
}

/* Tests the encodings of an FDE's start and size. The FDE is at the begin of the section. */
static void test_pointers(void)
{
	static const struct {
		__u8 encoding;
		__u8 bytes[17];
		size_t n;
		int err;
		__u64 start, bytes_of_code;
	} t[] = {
		{0x00,
		 {1, 2, 0, 0, 0, 0, 0, 0x80, 5, 0, 0, 0, 0, 0, 0, 0},
		 16,
		 0,
		 0x8000000000000201,
		 5},
		{0x00, {1, 2, 0, 0, 0, 0, 0, 0x80, 5, 0, 0, 0, 0, 0, 0}, 15, EBADMSG, 0, 0},
		{0x00, {1, 2, 0, 0, 0, 0, 0}, 7, EBADMSG, 0, 0},
		{0x01, {0x80, 2, 5}, 3, 0, 0x100, 5},
		{0x02, {0xfe, 0xff, 5, 0}, 4, 0, 0xfffe, 5},
		{0x03, {0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0}, 8, 0, 0xfffffffe, 5},
		{0x04, {1, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0}, 16, 0, 1ULL << 56 | 1, 5},
		{0x05, {1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 0, 0, 0, 0, 0}, 16, EOPNOTSUPP, 0, 0},
		{0x08, {1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 0, 0, 0, 0, 0}, 16, EOPNOTSUPP, 0, 0},
		{0x09, {0x7e, 5}, 2, 0, -2ULL, 5},
		{0x0a, {0xfe, 0xff, 5, 0}, 4, 0, -2ULL, 5},
		{0x0b, {0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0}, 8, 0, -2ULL, 5},
		{0x0c,
		 {1, 0, 0, 0, 0, 0, 0, 0x80, 5, 0, 0, 0, 0, 0, 0, 0},
		 16,
		 0,
		 1ULL << 63 | 1,
		 5},
		{0x0d, {1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 0, 0, 0, 0, 0}, 16, EOPNOTSUPP, 0, 0},
		{0x1b, {0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0}, 8, 0, ADDRESS - 2, 5},
		{0x20, {1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 0, 0, 0, 0, 0}, 16, EOPNOTSUPP, 0, 0},
		{0x3b, {0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0}, 8, 0, -2ULL, 5},
		{0x9b, {0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0}, 8, EOPNOTSUPP, 0, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_section s = {t[i].bytes, t[i].n, ADDRESS, 8};
		struct cfi_entry e = {.body = all_of(t[i].bytes, t[i].n)};
		struct cfi_cie cie = {.encoding = t[i].encoding};
		struct cfi_fde f;
		int err = cfi_fde_read(&s, &e, &cie, &f);

		if (!ok(-err == t[i].err, "encoding %#x of %zu bytes: error %d", t[i].encoding,
			t[i].n, t[i].err) ||
		    err)
			continue;
		is_u64(f.start, t[i].start, "its start");
		is_u64(f.bytes, t[i].bytes_of_code, "its size");
		ok(f.program.at == f.program.end, "no instructions are behind it");
	}
}

static void test_fde_data(void)
{
	static const __u8 bytes[] = {1, 0, 2, 0, 2, 9, 9, 0xaa};
	struct cfi_section s = {bytes, sizeof(bytes), ADDRESS, 8};
	struct cfi_entry e = {.body = all_of(bytes, sizeof(bytes))};
	struct cfi_cie cie = {.encoding = 2};
	struct cfi_fde f;

	is_u64(cfi_fde_read(&s, &e, &cie, &f), 0, "an FDE without data");
	ok(f.program.end - f.program.at == 4, "all behind its size are instructions");
	cie.has_data = true;
	is_u64(cfi_fde_read(&s, &e, &cie, &f), 0, "an FDE with data");
	ok(f.program.end - f.program.at == 1 && *f.program.at == 0xaa, "its data is skipped");
	e.body.end -= 2;
	is_u64(-cfi_fde_read(&s, &e, &cie, &f), EBADMSG, "data that is cut");
}

static void test_index(void)
{
	static const struct {
		__u8 bytes[8];
		size_t n;
		int err;
		__u64 address;
		const char *name;
	} t[] = {
		{{1, 0x1b, 0x03, 0x3b, 0xfc, 0xff, 0xff, 0xff},
		 8,
		 0,
		 ADDRESS,
		 "by its own address"},
		{{1, 0x3b, 0x03, 0x3b, 0xfc, 0xff, 0xff, 0xff}, 8, 0, ADDRESS - 4, "by the index"},
		{{1, 0x03, 0x03, 0x3b, 1, 2, 0, 0}, 8, 0, 0x201, "an address"},
		{{1, 0x03, 0x03, 0x3b, 1, 2, 0}, 7, EBADMSG, 0, "an address that is cut"},
		{{1, 0x03, 0x03}, 3, EBADMSG, 0, "a head that is cut"},
		{{2, 0x03, 0x03, 0x3b, 1, 2, 0, 0}, 8, EBADMSG, 0, "version 2"},
		{{0, 0x03, 0x03, 0x3b, 1, 2, 0, 0}, 8, EBADMSG, 0, "version 0"},
		{{1, 0xff, 0x03, 0x3b, 1, 2, 0, 0}, 8, EBADMSG, 0, "no address"},
		{{1, 0x0d, 0x03, 0x3b, 1, 2, 0, 0}, 8, EBADMSG, 0, "an unknown encoding"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_section s = {t[i].bytes, t[i].n, ADDRESS, 8};
		__u64 address = 0;
		int err = cfi_index_read(&s, &address);

		if (ok(-err == t[i].err, "%s: error %d", t[i].name, t[i].err) && !err)
			is_u64(address, t[i].address, "the address of the section");
	}
}

int main(void)
{
	test_fixed_size();
	test_leb();
	test_block();
	test_entries();
	test_long_entries();
	test_cie_versions();
	test_cie_size();
	test_augmentations();
	test_pointers();
	test_fde_data();
	test_index();
	return tap_done();
}
