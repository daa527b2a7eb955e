// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests Python stacks: line tables of each format, names of code objects, and the merge of Python
 * frames into native stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/python/python_codes.h"
#include "collect/python/python_lines.h"
#include "collect/python/python_merge.h"
#include "records/python_slots.h"
#include "tap.h"

#define BYTES(...) (const __u8[]){__VA_ARGS__}, sizeof((const __u8[]){__VA_ARGS__})

/*
 * Line tables written by hand, as Objects/lnotab_notes.txt and Objects/locations.md of CPython
 * describe them.
 */
static const struct {
	struct python_lines lines;
	__u64 offset;
	__u32 want;
	const char *what;
} lines[] = {
	/* 3.8: 6 bytes of line 10, 50 of 11, then a step back to 9 */
	{{8, BYTES(6, 1, 50, 0xfe), 10}, 0, 10, "3.8: the first line"},
	{{8, BYTES(6, 1, 50, 0xfe), 10}, 5, 10, "3.8: the last byte before a step"},
	{{8, BYTES(6, 1, 50, 0xfe), 10}, 6, 11, "3.8: a step"},
	{{8, BYTES(6, 1, 50, 0xfe), 10}, 56, 9, "3.8: a step back"},
	{{9, BYTES(255, 0, 45, 1), 1}, 299, 1, "3.9: a long step of addresses is several"},
	{{9, BYTES(255, 0, 45, 1), 1}, 300, 2, "3.9: and its last one has the line"},
	{{8, BYTES(6), 10}, 6, 10, "3.8: half a step is none"},
	/* 3.10: ranges, one of them without a line */
	{{10, BYTES(4, 1, 2, 0x80, 6, 2), 10}, 0, 11, "3.10: the first range"},
	{{10, BYTES(4, 1, 2, 0x80, 6, 2), 10}, 4, 0, "3.10: a range without a line"},
	{{10, BYTES(4, 1, 2, 0x80, 6, 2), 10}, 6, 13, "3.10: the range behind it"},
	{{10, BYTES(4, 1, 2, 0x80, 6, 2), 10}, 12, 0, "3.10: behind the last"},
	/* 3.11: kind 10 (same line), 13 (a signed step), 14 (long), 0 (short), 15 (none) */
	{{11, BYTES(0xd1, 1, 2), 7}, 3, 7, "3.11: columns on the same line"},
	{{11, BYTES(0xd1, 1, 2, 0xd8, 3, 4), 7}, 4, 8, "3.11: one line further"},
	{{11, BYTES(0xe0, 3, 4), 7}, 0, 9, "3.11: two lines further"},
	{{11, BYTES(0xe8, 7), 7}, 1, 4, "3.11: three lines back"},
	{{11, BYTES(0xe8, 0x40 | 0, 2), 7}, 0, 71, "3.11: a step of two bytes"},
	{{11, BYTES(0xf0, 4, 1, 1, 1), 7}, 0, 9, "3.11: a long entry"},
	{{11, BYTES(0x80, 0x11, 0xf9, 0xd8, 1, 2), 7}, 2, 0, "3.11: an entry without a line"},
	{{11, BYTES(0x80, 0x11, 0xf9, 0xd8, 1, 2), 7}, 6, 8, "3.11: the one behind it"},
	{{14, BYTES(0xd0, 1, 2), 7}, 2, 0, "3.14: behind the last"},
	/* damaged tables: decoding must end */
	{{11, BYTES(0xe8, 0x40, 0x40, 0x40), 7}, 900, 0, "a number without an end"},
	{{11, BYTES(1, 2, 3), 7}, 900, 0, "bytes that begin no entry"},
};

static void test_lines(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		is_u64(python_line(&lines[i].lines, lines[i].offset), lines[i].want, lines[i].what);
	is_u64(python_line(&(struct python_lines){11, NULL, 0, 3}, 0), 0, "an empty table");
}

/* Tests that decoding of any table ends, and reads only bytes of the table. */
static void test_hostile_lines(void)
{
	__u64 seed = 88172645463325252ULL;
	__u8 *table = malloc(64);
	__u32 lines_found = 0;

	for (int i = 0; i < 20000; i++) {
		struct python_lines l = {8 + i % 7, table, i % 64, 1};

		for (int k = 0; k < 64; k += 8) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			memcpy(table + k, &seed, 8);
		}
		lines_found += python_line(&l, seed % 300) != 0;
	}
	ok(lines_found > 1000, "tables of random bytes are read, and end");
	free(table);
}

static const struct process_key one = {.start_ns = 5, .pid = 10};

static void take(struct python_codes *c, __u64 code, const char *file, const char *name)
{
	struct python_code_record r = {.subject = one, .code = code, .start = code + 184};

	r.minor = 11;
	r.first_line = 5;
	r.file_kind = r.name_kind = 1;
	r.file_bytes = strlen(file);
	memcpy(r.file, file, r.file_bytes);
	r.name_bytes = strlen(name);
	memcpy(r.name, name, r.name_bytes);
	r.table[0] = 0xd8; /* the entry advances the line by one */
	r.table_bytes = 3;
	python_codes_take(c, &r);
}

static void test_codes(void)
{
	struct python_codes c = {};
	struct python_line_name p = {};
	struct python_frame frame = {.code = 0x1000, .instr = 0x1000 + 184};
	struct process_key other = {.start_ns = 6, .pid = 10};
	struct python_code_record r = {.subject = one, .code = 0x2000, .minor = 8};

	ok(!python_codes_find(&c, &one, &frame, &p), "none is known at first");
	take(&c, 0x1000, "/home/me/train.py", "Set.load");
	ok(python_codes_find(&c, &one, &frame, &p), "it is known");
	ok(!strcmp(p.name, "Set.load") && !strcmp(p.file, "/home/me/train.py"), "its names");
	is_u64(p.line, 6, "its line");
	ok(!python_codes_find(&c, &other, &frame, &p), "another process of this pid has none");
	take(&c, 0x1000, "b.py", "later");
	python_codes_find(&c, &one, &frame, &p);
	ok(!strcmp(p.name, "later"), "a later one at the same address replaces it");
	is_u64(c.n, 1, "there is one");

	/* "ä€" in two bytes a character, and a smiley in four */
	memcpy(r.name, "\xe4\0\xac\x20", 4);
	r.name_bytes = 4;
	r.name_kind = 2;
	memcpy(r.file, "\x00\xf6\x01\0", 4);
	r.file_bytes = 4;
	r.file_kind = 4;
	python_codes_take(&c, &r);
	frame.code = 0x2000;
	ok(python_codes_find(&c, &one, &frame, &p) && !strcmp(p.name, "\xc3\xa4\xe2\x82\xac") &&
		   !strcmp(p.file, "\xf0\x9f\x98\x80"),
	   "names become UTF-8");
	memcpy(r.name, "\x00\xd8\xff\xdf", 4);
	memcpy(r.file, "\x00\x00\x11\0", 4);
	python_codes_take(&c, &r);
	ok(python_codes_find(&c, &one, &frame, &p) && !strcmp(p.name, "\xef\xbf\xbd\xef\xbf\xbd") &&
		   !strcmp(p.file, "\xef\xbf\xbd"),
	   "surrogates and numbers that are no characters are replaced");
	memset(r.file, 0xe9, sizeof(r.file));
	r.file_bytes = ~0u;
	r.file_kind = 1;
	memset(r.name, 1, sizeof(r.name));
	r.name_bytes = 7;
	r.name_kind = 4;
	python_codes_take(&c, &r);
	ok(python_codes_find(&c, &one, &frame, &p), "names that are as long as they can be");
	is_u64(strlen(p.file), PYTHON_TEXT_BYTES - 4, "a long name is cut");
	is_str(p.file + PYTHON_TEXT_BYTES - 8, "\xc3\xa9\xc3\xa9", "after a whole character");
	is_str(p.name, "\xef\xbf\xbd", "half a character at the end is left out");
	for (__u64 i = 0; i < PYTHON_CODES_MAX + 10; i++)
		take(&c, 0x10000 + i * 16, "x.py", "many");
	ok(c.n <= PYTHON_CODES_MAX && c.dropped >= 10, "there is a cap");
	frame.code = 0x10000 + (PYTHON_CODES_MAX + 9) * 16;
	ok(python_codes_find(&c, &one, &frame, &p), "the last one is there");
	python_codes_free(&c);
}

static const struct {
	const char *file;
	bool users;
} files[] = {
	{"/home/me/train.py", true},
	{"train.py", true},
	{"/usr/lib/python3.11/threading.py", false},
	{"/root/.pyenv/versions/3.12.1/lib/python3.12/asyncio/events.py", false},
	{"/srv/venv/lib/python3.11/site-packages/torch/storage.py", false},
	{"/usr/lib/python3/dist-packages/numpy/core.py", false},
	{"<frozen importlib._bootstrap>", false},
	{"<string>", false},
};

static void test_users(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ok(python_file_is_users(files[i].file) == files[i].users, "%s", files[i].file);
}

/* Returns the merged stack as letters: a, b, ... for native frames; 0, 1, ... for Python frames. */
static const char *merged(const struct walk_record *r, __u64 loop, struct python_merge *m)
{
	static char text[MERGED_MAX + 1];
	const __u64 bits[WALK_FRAMES / 64] = {loop};

	python_merge(r, bits, m);
	for (size_t i = 0; i < m->n; i++)
		text[i] = "a0~"[m->frame[i].kind] + m->frame[i].at;
	text[m->n] = 0;
	return text;
}

static void is_merged(const struct walk_record *r, __u64 loop, const char *want, bool unsure,
		      const char *what)
{
	struct python_merge m;
	const char *got = merged(r, loop, &m);

	if (!ok(!strcmp(got, want) && m.unsure == unsure, "%s", what))
		printf("#   got %s%s\n", got, m.unsure ? ", unsure" : "");
}

#define ENDS FRAME_ENDS_RUN

static void test_merge(void)
{
	/* five native frames: b runs the Python frames 0 and 1, d runs 2 */
	struct walk_record r = {.frames = 5, .pythons = 3};

	for (int i = 0; i < 5; i++)
		r.sp[i] = 1000 + i * 100;
	r.python[0] = (struct python_frame){1, 0, 16};
	r.python[1] = (struct python_frame){1, 0, 16 | ENDS};
	r.python[2] = (struct python_frame){1, 0, 16 | ENDS};
	is_merged(&r, 1 << 1 | 1 << 3, "a01c2e", false, "runs take the place of the loop");
	r.end = STACK_END_ENTRY;
	is_merged(&r, 1 << 1, "a01cde", true, "a run without a loop is left out, and told");
	r.end = STACK_END_TOO_DEEP;
	is_merged(&r, 1 << 1, "a01cde2", false, "a run follows native frames that are cut");
	r.end = STACK_END_ENTRY;
	is_merged(&r, 1 << 0 | 1 << 4, "01bcd2", false, "from end to end");
	r.python[2].at = 16;
	is_merged(&r, 1 << 1 | 1 << 3, "a01c2e", false, "the last run ends with the list");
	/* from CPython 3.12 on, the address of a shim frame shows which native frame runs a run */
	r.pythons = 4;
	r.python[0] = (struct python_frame){1, 0, 8};
	r.python[1] = (struct python_frame){0, 0, (1200 + 16) | ENDS};
	r.python[2] = (struct python_frame){1, 0, 8};
	r.python[3] = (struct python_frame){0, 0, (1300 + 16) | ENDS};
	is_merged(&r, 0, "ab02e", false, "by address, without names");
	is_merged(&r, 1 << 1 | 1 << 2, "ab02e", false, "by address, whatever the names");
	r.pythons = 0;
	is_merged(&r, 1 << 1, "abcde", false, "without Python nothing changes");
	r.frames = 0;
	is_merged(&r, 0, "", false, "no frames at all");
	r.frames = ~0u;
	r.pythons = ~0u;
	merged(&r, 0, &(struct python_merge){});
	ok(true, "counts that are too large are cut");
}

/* Fills in a walk of a deep recursion, as the BPF program does for this number of frames. */
static void make_deep(struct walk_record *r, unsigned int frames)
{
	r->pythons = frames;
	for (unsigned int i = 0; i < frames; i++)
		r->python[python_slot(i)] = (struct python_frame){1000 + i, 0, 16};
}

/* Checks that the merged frames are these native frames and Python frames of the deep stack. */
static void is_deep(const struct walk_record *r, const struct python_merge *m, unsigned int last,
		    const char *what)
{
	size_t inner = 0, outer = 0, gaps = 0;
	bool ordered = true;

	for (size_t i = 0; i < m->n; i++) {
		const struct merged_frame *f = &m->frame[i];
		__u64 number = f->kind == MERGED_PYTHON ? r->python[f->at].code - 1000 : 0;

		gaps += f->kind == MERGED_GAP;
		if (f->kind != MERGED_PYTHON)
			continue;
		if (gaps)
			ordered = ordered && number == last - PYTHON_OUTERS + outer++;
		else
			ordered = ordered && number == inner++;
	}
	ok(ordered && inner == PYTHON_OUTER && outer == PYTHON_OUTERS && gaps == 1,
	   "%s: %zu innermost frames, %zu gap, %zu outermost frames", what, inner, gaps, outer);
}

static void test_deep(void)
{
	struct walk_record r = {.frames = 3};
	const __u64 bits[WALK_FRAMES / 64] = {2};
	static struct python_merge m;

	for (int i = 0; i < 3; i++)
		r.sp[i] = 1000 + i * 100;
	for (unsigned int frames = 129; frames < 1024; frames += 89) {
		make_deep(&r, frames);
		r.python[python_slot(frames - 1)].at |= ENDS;
		python_merge(&r, bits, &m);
		is_deep(&r, &m, frames, "one run");
		is_u64(m.frame[m.n - 1].at, 2, "the caller of the run follows");
	}
	make_deep(&r, 128);
	r.python[127].at |= ENDS;
	python_merge(&r, bits, &m);
	is_u64(m.n, 130, "128 frames have no gap");

	/* the frames before the gap are of another run, whose last frame is kept */
	make_deep(&r, 500);
	r.python[PYTHON_RUN_END] = (struct python_frame){0, 0, (1000 + 16) | ENDS};
	r.python[python_slot(499)] = (struct python_frame){0, 0, (1100 + 16) | ENDS};
	python_merge(&r, (__u64[WALK_FRAMES / 64]){}, &m);
	is_u64(m.frame[PYTHON_RUN_END].kind, MERGED_GAP, "the gap follows the first run");
	is_u64(m.frame[PYTHON_RUN_END + 1].kind, MERGED_PYTHON, "then the outer run begins");
	is_u64(m.frame[m.n - 1].at, 2, "the outermost native frame is last");
	is_u64(m.n, PYTHON_RUN_END + 1 + PYTHON_OUTERS - 1 + 1, "each run replaces its own frame");

	make_deep(&r, 5);
	r.python_cut = 1;
	python_merge(&r, bits, &m);
	is_u64(m.frame[6].kind, MERGED_GAP, "a gap stands for outer frames that were not read");
}

/* Returns a code object of one character, which has `kind` bytes. */
static struct python_code_record code_named(__u64 c, unsigned int kind)
{
	struct python_code_record r = {.subject = one, .code = 0x3000, .minor = 11};

	memcpy(r.name, &c, sizeof(c));
	r.name_bytes = r.name_kind = kind;
	return r;
}

/* Tests the bounds of what can be a character. */
static void test_characters(void)
{
	static const struct {
		__u64 character;
		unsigned int kind;
		const char *want, *name;
	} rows[] = {
		{'a', 1, "a", "one byte"},
		{0xff, 1, "\xc3\xbf", "the largest of one byte"},
		{0xffff, 2, "\xef\xbf\xbf", "the largest of two bytes"},
		{0xd7ff, 2, "\xed\x9f\xbf", "the last before the surrogates"},
		{0xd800, 2, "\xef\xbf\xbd", "the first surrogate"},
		{0xdfff, 2, "\xef\xbf\xbd", "the last surrogate"},
		{0xe000, 2, "\xee\x80\x80", "the first behind the surrogates"},
		{0xfffff, 4, "\xf3\xbf\xbf\xbf", "the last of plane 15"},
		{0x100000, 4, "\xf4\x80\x80\x80", "the first of plane 16"},
		{0x10ffff, 4, "\xf4\x8f\xbf\xbf", "the last character"},
		{0x110000, 4, "\xef\xbf\xbd", "a number that is no character"},
		{0x1d800, 4, "\xf0\x9d\xa0\x80", "lower bits of a surrogate, in plane 1"},
		{0x80000041, 4, "\xef\xbf\xbd", "the highest bit"},
		{0x100000041, 8, "A", "a size that does not exist"},
		{0, 4, "", "a NUL"},
		{'a', 0, "", "no size"},
	};
	struct python_frame frame = {.code = 0x3000};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct python_code_record r = code_named(rows[i].character, rows[i].kind);
		struct python_codes c = {};
		struct python_line_name p = {};

		is_u64(python_codes_take(&c, &r), 0, rows[i].name);
		python_codes_find(&c, &one, &frame, &p);
		ok(p.name && !strcmp(p.name, rows[i].want), "its name");
		python_codes_free(&c);
	}
}

/* Before CPython 3.10, the index of an instruction counts bytes, then words of two bytes. */
static void test_indices(void)
{
	static const struct {
		unsigned int minor;
		__u64 instr, start;
		__u32 want;
		const char *name;
	} rows[] = {
		{9, 5, 0, 10, "3.9: the last byte before a step"},
		{9, 6, 0, 11, "3.9: byte 6"},
		{10, 2, 0, 11, "3.10: word 2 is byte 4"},
		{10, 1, 0, 0, "3.10: word 1 has no line"},
		{8, 0x2006, 0x2000, 11, "an address of an instruction"},
		{8, 0x2005, 0x2000, 10, "an address before the step"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct python_code_record r = code_named('a', 1);
		struct python_frame frame = {.code = 0x3000, .instr = rows[i].instr};
		struct python_codes c = {};
		struct python_line_name p = {};

		r.minor = rows[i].minor;
		r.start = rows[i].start;
		r.first_line = 10;
		memcpy(r.table, rows[i].minor < 10 ? "\6\1\6\1" : "\4\x80\4\1", 4);
		r.table_bytes = 4;
		python_codes_take(&c, &r);
		python_codes_find(&c, &one, &frame, &p);
		is_u64(p.line, rows[i].want, rows[i].name);
		python_codes_free(&c);
	}
}

/* A full store drops the code objects that were not used for the longest time. */
static void test_full_store(void)
{
	struct python_codes c = {};
	struct python_line_name p;
	struct python_frame frame = {};
	size_t found = 0;

	for (__u64 i = 0; i < PYTHON_CODES_MAX; i++)
		take(&c, 0x10000 + i * 16, "x.py", "f");
	ok(c.n == PYTHON_CODES_MAX && !c.dropped, "as many as there is room for");
	/* the second one is used again, so that only the first one is too old */
	frame.code = 0x10010;
	ok(python_codes_find(&c, &one, &frame, &p), "the second one");
	take(&c, 0x10000 + PYTHON_CODES_MAX * 16, "x.py", "f");
	is_u64(c.dropped, 1, "one is dropped for a new one");
	is_u64(c.n, PYTHON_CODES_MAX, "the store stays full");
	frame.code = 0x10000;
	ok(!python_codes_find(&c, &one, &frame, &p), "the first one is gone");
	for (__u64 i = 1; i <= PYTHON_CODES_MAX; i++) {
		frame.code = 0x10000 + i * 16;
		found += python_codes_find(&c, &one, &frame, &p);
	}
	is_u64(found, PYTHON_CODES_MAX, "all others are there");
	take(&c, 0x10010, "y.py", "g");
	is_u64(c.dropped, 1, "an object that replaces its older self drops no other one");
	python_codes_free(&c);
	ok(!c.n && !c.dropped, "freed");
}

/* A native frame runs Python frames whose shim is in its stack memory. */
static void test_hosts_by_address(void)
{
	static const struct {
		__u64 at;
		const char *want, *name;
	} rows[] = {
		{992, "abcd0", "below all native frames"},
		{1008, "0bcd", "in the first frame"},
		{1088, "0bcd", "the last place of the first frame"},
		{1104, "a0cd", "the first place of the second frame"},
		{1184, "a0cd", "the last place of the second frame"},
		{1200, "ab0d", "the first place of the third frame"},
		{1296, "ab0d", "the last place of the third frame"},
		{1312, "abcd0", "the memory of the last frame is not known"},
	};
	struct walk_record r = {.frames = 4, .pythons = 2, .end = STACK_END_TOO_DEEP};

	for (int i = 0; i < 4; i++)
		r.sp[i] = 1008 + i * 96 + (i == 3) * 16;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r.python[0] = (struct python_frame){1, 0, 16};
		r.python[1] = (struct python_frame){0, 0, rows[i].at | ENDS};
		is_merged(&r, 0, rows[i].want, false, rows[i].name);
	}
}

/* A line table that fills its record is taken as a whole; a longer one is cut. */
static void test_full_table(void)
{
	struct python_frame frame = {.code = 0x3000, .instr = PYTHON_TABLE - 1};

	for (__u32 bytes = PYTHON_TABLE - 2; bytes <= PYTHON_TABLE + 1; bytes++) {
		struct python_code_record r = code_named('f', 1);
		struct python_codes c = {};
		struct python_line_name p = {};

		/* entries of two bytes of line 10, of which the last one begins line 11 */
		r.minor = 9;
		r.first_line = 10;
		for (int i = 0; i < PYTHON_TABLE; i += 2)
			r.table[i] = 2;
		r.table[PYTHON_TABLE - 2] = 1;
		r.table[PYTHON_TABLE - 1] = 1;
		r.table_bytes = bytes;
		is_u64(python_codes_take(&c, &r), 0, "a code object");
		ok(python_codes_find(&c, &one, &frame, &p), "it is known");
		is_u64(p.line, bytes < PYTHON_TABLE ? 10 : 11, "the line of its last entry");
		python_codes_free(&c);
	}
}

int main(void)
{
	test_lines();
	test_hostile_lines();
	test_codes();
	test_users();
	test_merge();
	test_deep();
	test_characters();
	test_indices();
	test_full_store();
	test_full_table();
	test_hosts_by_address();
	return tap_done();
}
