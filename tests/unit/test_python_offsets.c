// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "tap.h"
#include "unwind/python_file.h"
#include "unwind/python_offsets.h"

#define WORDS 111

static void test_versions(void)
{
	struct fs_python p;

	for (unsigned int minor = 8; minor <= 12; minor++) {
		ok(python_offsets_by_version(minor, &p) && p.minor == minor, "3.%u is supported",
		   minor);
		ok(p.frame_bytes <= FS_PYTHON_FRAME_MAX && p.identity_bytes >= 4 &&
			   p.identity_bytes <= FS_PYTHON_IDENTITY_MAX,
		   "3.%u: sizes that the BPF program can read", minor);
		ok(p.frame_instr + 8 <= p.frame_bytes && p.frame_back + 8 <= p.frame_bytes,
		   "3.%u: all fields of a frame are read", minor);
	}
	ok(!python_offsets_by_version(7, &p), "3.7 is not supported");
	ok(!python_offsets_by_version(13, &p), "3.13 has a table of its own");
}

/* Fills in the words of CPython 3.14 without the global interpreter lock. */
static void make_table(__u64 word[WORDS])
{
	memset(word, 0, WORDS * sizeof(*word));
	memcpy(word, "xdebugpy", 8);
	word[1] = 0x030e0af0;
	word[2] = 1;
	word[5] = 808;
	word[8] = 7272;
	word[9] = 7344;
	word[24] = 8;
	word[26] = 72;
	word[27] = 152;
	word[30] = 32;
	word[32] = 8;
	word[34] = 56;
	word[36] = 78;
	word[38] = 72;
	word[40] = 128;
	word[41] = 136;
	word[43] = 152;
	word[44] = 84;
	word[48] = 232;
	word[49] = 224;
	word[75] = 32;
	word[76] = 48;
	word[78] = 48;
	word[79] = 32;
	word[80] = 56;
}

static void test_table(void)
{
	struct python_file file = {.is_interpreter = true}, libc = {.specific = 1296, .value = 8};
	struct fs_python p = {};
	__u64 word[WORDS];

	make_table(word);
	ok(python_offsets_by_table(word, WORDS, &p), "a table of 3.14 is read");
	is_u64(p.minor, 14, "its version");
	is_u64(p.interpreters_at, 808, "the first interpreter");
	is_u64(p.interpreter_state, 7344, "the first thread state");
	is_u64(p.state_frame, 72, "the frame of a thread state");
	is_u64(p.frame_flag, 78, "the owner of a frame");
	is_u64(p.frame_bytes, 80, "the size of a frame");
	is_u64(p.frame_copy, 72, "the copy of the instructions that a frame runs");
	is_u64(p.code_copies, 224, "the copies of the instructions");
	is_u64(p.code_identity, 108, "the version number of a code object");
	is_u64(p.text_other, 72, "the characters of a str");

	file.offsets = p;
	file.offsets.key_at = 0;
	python_file_join(&file, 0x1000, &libc, &p);
	is_u64(p.interpreters_at, 808 + 0x1000, "the bias is added");
	is_u64(p.key_at, 0, "a key that does not exist has no address");
	is_u64(p.specific, 1296, "the C library's offsets are added");
	python_file_join(&file, 0x1000, NULL, &p);
	is_u64(p.specific, 0, "another C library has no such offsets");
}

static void is_refused(size_t at, __u64 value, const char *what)
{
	struct fs_python p;
	__u64 word[WORDS];

	make_table(word);
	word[at] = value;
	ok(!python_offsets_by_table(word, WORDS, &p), "%s", what);
}

static void test_refused(void)
{
	struct fs_python p;
	__u64 word[WORDS];

	is_refused(0, 0, "a table without its mark");
	is_refused(1, 0x030c0000, "a table of 3.12, which has none");
	is_refused(1, 0x03100000, "a table of a later version");
	is_refused(1, 0x040e0000, "a table of another Python");
	is_refused(9, 1 << 16, "an offset that is too large");
	is_refused(36, 200, "a frame that is too large");
	make_table(word);
	ok(!python_offsets_by_table(word, 60, &p), "a table that is cut");
	ok(!python_offsets_by_table(word, 0, &p), "an empty table");
}

/* Tests how many bytes of a frame are read, and what identifies a code object, of each version. */
static void test_derived(void)
{
	static const struct {
		unsigned int minor;
		__u16 frame, identity_at, identity;
	} t[] = {
		{8, 112, 104, 24}, {9, 112, 104, 24}, {10, 104, 104, 24},
		{11, 72, 112, 32}, {12, 72, 92, 4},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct fs_python p;

		python_offsets_by_version(t[i].minor, &p);
		ok(p.frame_bytes == t[i].frame, "3.%u: up to the last word of a frame", t[i].minor);
		ok(p.code_identity == t[i].identity_at && p.identity_bytes == t[i].identity,
		   "3.%u: what differs between code objects", t[i].minor);
		ok(p.state_next == 8 && p.bytes_size == 16 && p.bytes_data == 32 &&
			   p.text_length == 16 && p.text_state == 32,
		   "3.%u: what all versions share", t[i].minor);
	}
}

/* Tests the words that the tables of 3.13 and 3.15 have, or do not have. */
static void test_table_versions(void)
{
	static const struct {
		__u64 version;
		size_t words; /* with all members */
		__u64 key;
		__u16 frame, copy, next;
	} t[] = {
		{0x030d0000, 71, 2160, 33, 0, 21},
		{0x030e0000, 81, 2336, 38, 38, 24},
		{0x030f0000, 93, 0, 46, 46, 24},
	};
	struct fs_python p;
	__u64 word[WORDS];

	/* each offset is the index of its word */
	for (size_t i = 0; i < WORDS; i++)
		word[i] = i;
	memcpy(word, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		word[1] = t[i].version;
		ok(python_offsets_by_table(word, t[i].words, &p), "a table with all members");
		is_u64(p.minor, 13 + i, "its version");
		is_u64(p.key_at, t[i].key, "the key, which is not in the table");
		is_u64(p.frame_copy, t[i].copy, "the copy of instructions, or 0");
		is_u64(p.state_next, t[i].next, "the next thread state");
		is_u64(p.frame_bytes, t[i].frame / 8 * 8 + 8, "up to the last word of a frame");
		is_u64(p.text_other, p.text_ascii + 16, "the characters behind the head");
		is_u64(p.inner_frame, FS_PYTHON_NONE, "a frame is not in another structure");
		is_u64(p.shim, 3, "the owner of a shim");
		ok(!python_offsets_by_table(word, t[i].words - 1, &p), "a member is missing");
	}
}

/* Tests offsets and sizes at the bounds of what the BPF program can read. */
static void test_bounds(void)
{
	static const struct {
		size_t at;
		__u64 value;
		bool good;
		const char *name;
	} t[] = {
		{1, 0x030e0000, true, "the first version of 3.14"},
		{1, 0x030effff, true, "the last version of 3.14"},
		{1, 0x020e0000, false, "Python 2"},
		{5, FS_PYTHON_NONE - 1, true, "the greatest offset"},
		{5, FS_PYTHON_NONE, false, "one that means none"},
		{36, FS_PYTHON_FRAME_MAX / 8 * 8 - 1, true, "the largest frame"},
		{36, FS_PYTHON_FRAME_MAX / 8 * 8, false, "a frame of 8 bytes more"},
	};
	struct fs_python p;
	__u64 word[WORDS];

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		make_table(word);
		word[t[i].at] = t[i].value;
		ok(python_offsets_by_table(word, WORDS, &p) == t[i].good, "%s", t[i].name);
	}
}

int main(void)
{
	test_versions();
	test_table();
	test_refused();
	test_derived();
	test_table_versions();
	test_bounds();
	return tap_done();
}
