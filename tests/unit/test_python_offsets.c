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

int main(void)
{
	test_versions();
	test_table();
	test_refused();
	return tap_done();
}
