// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests unwind tables at the borders of gaps, functions, segments and sections. */
#define _GNU_SOURCE
#include <errno.h>
#include <libelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi_maker.h"
#include "tap.h"
#include "unwind/code_scan.h"
#include "unwind/table_maker.h"

#define USUAL	    0x0c, 7, 8, 0x90, 1
#define START	    (TEXT + 0x3000) /* address of the entry point, which has no FDE */
#define START_BYTES 128
#define TEXT_END    (TEXT + TEXT_BYTES)
#define MIB	    (1ULL << 20)
#define FRAMES_MOST (64 * MIB) /* greatest size of .eh_frame */
/* offsets in the file: program headers, and the header of .eh_frame */
#define PHDR(i)	    (sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr))
#define FRAMES_SHDR (0x400 + sizeof(Elf64_Shdr))

static uint8_t file[MADE_FILE];
static struct rule_set rules;
static struct unwind_table table;

static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Makes the table of the file, or of its first bytes. */
static int read_bytes(size_t bytes)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)file, .bytes = bytes};

	unwind_table_free(&table);
	return unwind_table_read(&s, &rules, &table);
}

static __u8 cfa_at(__u64 address)
{
	return rules.rule[row_table_find(&table.rows, address)].cfa;
}

static __s32 offset_at(__u64 address)
{
	return rules.rule[row_table_find(&table.rows, address)].cfa_off;
}

/* Makes a file with a function from `start` on and one up to `end`, with a gap between. */
static void make_gap(__u64 start, __u64 end)
{
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, start - TEXT, WITH(0));
	put_fde(&m, cie, end, TEXT_END - end, WITH(0));
	make_file(&m, EM_X86_64, true, file);
}

/* Tests where the outermost function begins and ends in gaps of several sizes. */
static void test_start(void)
{
	static const struct {
		__u64 start, end; /* of the gap */
		__u64 bytes;	  /* of the outermost function */
		const char *name;
	} t[] = {
		{START - 100, START + START_BYTES + 1, START_BYTES, "a byte more than it may have"},
		{START, START + START_BYTES, START_BYTES, "as many bytes as it may have"},
		{START, START + START_BYTES - 1, START_BYTES - 1, "a byte less"},
		{START - 100, START + 1, 1, "one byte"},
		{START - 100, START, 0, "a gap that ends before it"},
		{START + 1, START + 200, 0, "a gap that begins behind its first byte"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		__u64 end = START + t[i].bytes;

		make_gap(t[i].start, t[i].end);
		is_u64(read_bytes(sizeof(file)), 0, t[i].name);
		is_u64(cfa_at(START - 1), t[i].start < START ? FS_UNWIND_CFA_GAP : FS_UNWIND_CFA_SP,
		       "before it");
		if (t[i].bytes) {
			is_u64(cfa_at(START), FS_UNWIND_CFA_END, "its first byte");
			is_u64(cfa_at(end - 1), FS_UNWIND_CFA_END, "its last byte");
		}
		is_u64(cfa_at(end),
		       end >= t[i].end || end < t[i].start ? FS_UNWIND_CFA_SP : FS_UNWIND_CFA_GAP,
		       "behind it");
	}
}

/* Tests the code of a signal's return at the borders of its gap. */
static void test_sigreturn(void)
{
	__u64 at = TEXT + 0x100;

	make_gap(at, at + 9);
	memcpy(file + at, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(at - 1), FS_UNWIND_CFA_SP, "nine bytes are padding, though they are code");
	is_u64(cfa_at(at), FS_UNWIND_CFA_SP, "which goes on with the rule before it");

	make_gap(at, at + 16);
	memcpy(file + at, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(at - 1), FS_UNWIND_CFA_SP, "the function before the gap keeps its last byte");
	is_u64(cfa_at(at), FS_UNWIND_CFA_SIGNAL, "the first byte of the gap");
	is_u64(cfa_at(at + 8), FS_UNWIND_CFA_SIGNAL, "the last byte of the code");
	is_u64(cfa_at(at + 9), FS_UNWIND_CFA_GAP, "the rest of the gap");
	is_u64(cfa_at(at + 16), FS_UNWIND_CFA_SP, "the function behind the gap");

	make_gap(at, at + 16);
	memcpy(file + at + 7, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(at + 5), FS_UNWIND_CFA_GAP, "before the code");
	is_u64(cfa_at(at + 6), FS_UNWIND_CFA_SIGNAL, "the byte before it");
	is_u64(cfa_at(at + 15), FS_UNWIND_CFA_SIGNAL, "it ends with the gap");
	is_u64(cfa_at(at + 16), FS_UNWIND_CFA_SP, "the function behind the gap");

	make_gap(at, at + 16);
	memcpy(file + at + 8, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(at + 8), FS_UNWIND_CFA_GAP, "code that ends behind the gap is not found");
}

/* Tests the entry point and the code of a signal's return in one gap. */
static void test_both(void)
{
	__u64 start = START - 0x200, end = START + 0x400;

	make_gap(start, end);
	memcpy(file + START + 50, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START + 48), FS_UNWIND_CFA_END, "the outermost function");
	is_u64(cfa_at(START + 49), FS_UNWIND_CFA_SIGNAL, "ends where a signal's return begins");
	is_u64(cfa_at(START + 59), FS_UNWIND_CFA_GAP, "behind which is a gap");

	make_gap(start, end);
	memcpy(file + START + START_BYTES + 1, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START + START_BYTES - 1), FS_UNWIND_CFA_END,
	       "the outermost function is whole");
	is_u64(cfa_at(START + START_BYTES), FS_UNWIND_CFA_SIGNAL,
	       "a signal's return is next to it");

	make_gap(start, end);
	memcpy(file + START + START_BYTES + 2, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START + START_BYTES), FS_UNWIND_CFA_GAP, "a byte between them is a gap");

	make_gap(start, end);
	memcpy(file + START - 9, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START - 1), FS_UNWIND_CFA_SIGNAL, "a signal's return before it");
	is_u64(cfa_at(START), FS_UNWIND_CFA_END, "is next to the outermost function");
	is_u64(cfa_at(START + START_BYTES - 1), FS_UNWIND_CFA_END, "which has all its bytes");
	is_u64(cfa_at(START + START_BYTES), FS_UNWIND_CFA_GAP, "and no more");

	make_gap(start, end);
	memcpy(file + START - 8, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START), FS_UNWIND_CFA_SIGNAL, "a signal's return has the entry point");
	is_u64(cfa_at(START + 1), FS_UNWIND_CFA_GAP, "so there is no outermost function");

	make_gap(start, end);
	memcpy(file + START, sigreturn, 9);
	read_bytes(sizeof(file));
	is_u64(cfa_at(START), FS_UNWIND_CFA_SIGNAL, "both at one address");
	is_u64(cfa_at(START + 9), FS_UNWIND_CFA_GAP, "is a signal's return");
}

/* Tests the last bytes of the code, which are a gap even if they are few. */
static void test_end(void)
{
	for (__u64 bytes = 0; bytes <= 2; bytes++) {
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		put_fde(&m, cie, TEXT, TEXT_BYTES - bytes, WITH(0));
		make_file(&m, EM_X86_64, true, file);
		read_bytes(sizeof(file));
		is_u64(cfa_at(TEXT_END - 1), bytes ? FS_UNWIND_CFA_GAP : FS_UNWIND_CFA_SP,
		       "the last byte of the code");
		is_u64(cfa_at(TEXT_END - 1 - bytes), FS_UNWIND_CFA_SP,
		       "the last byte of a function");
		is_u64(table.covered_bytes, TEXT_BYTES - bytes, "the bytes of functions");
	}
}

/* Tests gaps whose last bytes are the end of the code, with an entry point or a signal's return. */
static void test_last_piece(void)
{
	static const struct {
		uint64_t start;	    /* entry point */
		uint64_t sigreturn; /* 0: none */
		__u8 last;	    /* rule of the last byte */
		const char *name;
	} t[] = {
		{TEXT_END - START_BYTES, 0, FS_UNWIND_CFA_END, "the entry point has all its bytes"},
		{TEXT_END - 1, 0, FS_UNWIND_CFA_END, "the entry point has one byte"},
		{TEXT_END, 0, FS_UNWIND_CFA_GAP, "the entry point is behind the code"},
		{TEXT - 1, 0, FS_UNWIND_CFA_GAP, "the entry point is before the code"},
		{TEXT, TEXT_END - 9, FS_UNWIND_CFA_SIGNAL, "a signal's return is the end"},
		{TEXT, TEXT_END - 8, FS_UNWIND_CFA_GAP, "a signal's return that is cut"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct made m = {};

		make_file(&m, EM_X86_64, true, file);
		memcpy(file + offsetof(Elf64_Ehdr, e_entry), &t[i].start, sizeof(t[i].start));
		if (t[i].sigreturn)
			memcpy(file + t[i].sigreturn, sigreturn, TEXT_END - t[i].sigreturn);
		is_u64(read_bytes(sizeof(file)), 0, t[i].name);
		is_u64(cfa_at(TEXT_END - 1), t[i].last, "the last byte");
		is_u64(cfa_at(TEXT), t[i].start == TEXT ? FS_UNWIND_CFA_END : FS_UNWIND_CFA_GAP,
		       "the first byte");
	}
}

/* Tests code like _init: it is _init only at the begin of a segment, and _fini at its end. */
static void test_init_places(void)
{
	static const uint8_t init[] = {0x50, 0x58, 0xc3};
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT + 0x20, 0x20, WITH(0x0e, 32));
	put_fde(&m, cie, TEXT + 0x60, TEXT_BYTES - 0x80, WITH(0x0e, 32));
	make_file(&m, EM_X86_64, true, file);
	memcpy(file + TEXT, init, sizeof(init));
	memcpy(file + TEXT + 0x40, init, sizeof(init));
	memcpy(file + TEXT_END - 0x20, init, sizeof(init));
	is_u64(read_bytes(sizeof(file)), 0, "code of _init in three gaps");
	is_u64(offset_at(TEXT + 1), 16, "at the begin of the segment");
	is_u64(cfa_at(TEXT + 0x41), FS_UNWIND_CFA_GAP, "not between two functions");
	is_u64(offset_at(TEXT_END - 0x1f), 16, "at the end of the segment");
}

/* Tests functions that overlap: each byte belongs to the first one. */
static void test_overlap(void)
{
	static const struct {
		uint32_t start, bytes;
		uint32_t from; /* address from which on the second function has its rule */
		const char *name;
	} t[] = {
		{0x10, 0x10, 0, "a function that ends with the first one"},
		{0x10, 0x11, 0x20, "a function that ends a byte behind it"},
		{0, 0x21, 0x20, "a longer function at the same address"},
		{0x1f, 0x10, 0x20, "a function that begins at its last byte"},
		{0x20, 0x10, 0x20, "a function next to it"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));
		__u64 end = TEXT + t[i].start + t[i].bytes;

		put_fde(&m, cie, TEXT, 0x20, WITH(0x0e, 16));
		put_fde(&m, cie, TEXT + t[i].start, t[i].bytes, WITH(0x0e, 32));
		make_file(&m, EM_X86_64, true, file);
		is_u64(read_bytes(sizeof(file)), 0, t[i].name);
		is_u64(offset_at(TEXT + 0x1f), 16, "the first function keeps its last byte");
		if (t[i].from)
			is_u64(offset_at(TEXT + 0x20), 32, "the second one has those behind");
		is_u64(cfa_at(end), FS_UNWIND_CFA_GAP, "a gap is behind both");
		is_u64(table.covered_bytes, end - TEXT, "no byte counts twice");
		is_u64(table.dropped, 0, "none is dropped");
	}
}

/* Tests that a function in another one is no error, even at the end of the code. */
static void test_inner(void)
{
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, TEXT_BYTES, WITH(0x0e, 16));
	put_fde(&m, cie, TEXT_END - 16, 16, WITH(0x0e, 32));
	make_file(&m, EM_X86_64, true, file);
	is_u64(read_bytes(sizeof(file)), 0, "a function in another one");
	is_u64(offset_at(TEXT_END - 1), 16, "has no rule of its own");
	is_u64(table.dropped, 0, "but is not dropped");
	is_u64(table.fdes, 2, "both are counted");
}

/* Tests rows of a function whose first bytes belong to another one. */
static void test_covered_rows(void)
{
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	put_fde(&m, cie, TEXT, 0x20, WITH(0x0e, 16));
	put_fde(&m, cie, TEXT + 0x10, 0x20, WITH(0x48, 0x0e, 24, 0x48, 0x0e, 32, 0x48, 0x0e, 40));
	make_file(&m, EM_X86_64, true, file);
	is_u64(read_bytes(sizeof(file)), 0, "a function that begins in another");
	is_u64(offset_at(TEXT + 0x1f), 16, "the other one keeps its bytes");
	is_u64(offset_at(TEXT + 0x20), 32, "the state that holds behind it");
	is_u64(offset_at(TEXT + 0x27), 32, "up to the next one");
	is_u64(offset_at(TEXT + 0x28), 40, "the last state");
	is_u64(cfa_at(TEXT + 0x30), FS_UNWIND_CFA_GAP, "and the end");
}

/* Tests which functions count as having a frame pointer, and as opaque. */
static void test_counts(void)
{
	static const struct {
		uint8_t program[12];
		size_t n;
		size_t framed, opaque;
		const char *name;
	} t[] = {
		{{0x0c, 6, 16, 0x86, 2}, 5, 64, 0, "a frame pointer at rbp"},
		{{0x0c, 6, 24, 0x86, 2}, 5, 0, 0, "a frame that is a word larger"},
		{{0x0c, 6, 8, 0x86, 2}, 5, 0, 0, "a frame that is a word smaller"},
		{{0x0c, 6, 16, 0x86, 3}, 5, 0, 0, "rbp is saved a word lower"},
		{{0x0c, 6, 16, 0x86, 1}, 5, 0, 0, "rbp is saved a word higher"},
		{{0x0c, 7, 16, 0x86, 2}, 5, 0, 0, "a frame by rsp"},
		{{0x0c, 6, 16}, 3, 0, 0, "rbp is not saved"},
		{{0x0c, 6, 16, 0x86, 2, 0x83, 3}, 7, 64, 0, "rbx is saved, too"},
		{{0x0c, 20, 16}, 3, 0, 64, "a frame by a vector register"},
		{{0x50, 0x0c, 6, 16, 0x86, 2}, 6, 48, 0, "after 16 bytes"},
		{{0x50, 0x0c, 20, 16, 0x50, 0x0c, 7, 8}, 8, 0, 16, "16 bytes of 64"},
		{{0x50, 0x0b}, 2, 0, 48, "an error after 16 bytes"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		put_fde(&m, cie, TEXT + 0x100, 64, t[i].program, t[i].n);
		make_file(&m, EM_X86_64, true, file);
		is_u64(read_bytes(sizeof(file)), 0, t[i].name);
		is_u64(table.covered_bytes, 64, "64 bytes have a function");
		is_u64(table.framed_bytes, t[i].framed, "bytes with a frame pointer");
		is_u64(table.opaque_bytes, t[i].opaque, "opaque bytes");
	}
	is_u64(table.dropped, 1, "the function with an error counts as dropped");
}

/* Tests a second segment of code before the other one. */
static void test_segments(void)
{
	uint32_t flags = PF_R | PF_X;
	uint64_t bytes = 0x3000, none = 0;
	struct made m = {};

	make_file(&m, EM_X86_64, true, file);
	is_u64(read_bytes(sizeof(file)), 0, "one segment of code");
	is_u64(table.codes, 1, "is listed");
	is_u64(table.text_bytes, TEXT_BYTES, "with its size");
	is_u64(table.rows.base, TEXT, "the rows begin with it");
	is_u64(table.rows.pages, TEXT_BYTES / FS_UNWIND_PAGE_BYTES, "and end with it");
	memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_flags), &flags, sizeof(flags));
	memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_filesz), &bytes, sizeof(bytes));
	is_u64(read_bytes(sizeof(file)), 0, "two segments of code");
	is_u64(table.codes, 2, "both are listed");
	ok(table.code[0].address == 0 && table.code[0].bytes == bytes && !table.code[0].offset,
	   "the first one");
	ok(table.code[1].address == TEXT && table.code[1].bytes == TEXT_BYTES &&
		   table.code[1].offset == TEXT,
	   "the second one");
	is_u64(table.text_bytes, TEXT_BYTES + bytes, "the size of both");
	is_u64(table.rows.base, 0, "the rows begin with the first one");
	is_u64(table.rows.pages, 1 + TEXT_BYTES / FS_UNWIND_PAGE_BYTES, "and end with the second");
	memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_filesz), &none, sizeof(none));
	is_u64(read_bytes(sizeof(file)), 0, "a segment of code without bytes");
	ok(table.codes == 1 && table.rows.base == TEXT, "does not count");
	flags = PF_R;
	memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_flags), &flags, sizeof(flags));
	memcpy(file + PHDR(1) + offsetof(Elf64_Phdr, p_flags), &flags, sizeof(flags));
	is_u64(-read_bytes(sizeof(file)), ENOEXEC, "a file without code");
}

/* Tests functions at the borders of two segments of code with a hole between them. */
static void test_segment_borders(void)
{
	static const struct {
		uint32_t start, bytes;
		bool good;
	} t[] = {
		{0x7ff0, 0x10, true},	  {0x7ff0, 0x11, false}, {0x8000, 0x10, false},
		{TEXT - 1, 2, false},	  {TEXT, 0x10, true},	 {TEXT_END - 1, 1, true},
		{TEXT_END - 1, 2, false},
	};
	uint32_t flags = PF_R | PF_X;
	uint64_t bytes = 0x8000;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		put_fde(&m, cie, t[i].start, t[i].bytes, WITH(0));
		make_file(&m, EM_X86_64, true, file);
		memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_flags), &flags, sizeof(flags));
		memcpy(file + PHDR(0) + offsetof(Elf64_Phdr, p_filesz), &bytes, sizeof(bytes));
		read_bytes(sizeof(file));
		ok(table.fdes == t[i].good && table.dropped == !t[i].good,
		   "a function of %#x bytes at %#x is %s", t[i].bytes, t[i].start,
		   t[i].good ? "read" : "dropped");
	}
}

/* Tests a file that ends in its call frame information. */
static void test_cut_file(void)
{
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL)), first;

	put_fde(&m, cie, TEXT, 16, WITH(0));
	first = m.n;
	put_fde(&m, cie, TEXT + 16, 16, WITH(0));
	make_file(&m, EM_X86_64, true, file);
	is_u64(read_bytes(FRAMES + m.n), 0, "a file that ends with its last function");
	ok(table.fdes == 2 && !table.cut, "has both functions");
	is_u64(read_bytes(FRAMES + m.n - 1), 0, "a byte less");
	ok(table.fdes == 1 && table.cut, "cuts off the second function");
	is_u64(read_bytes(FRAMES + first), 0, "a file that ends with its first function");
	ok(table.fdes == 1 && !table.cut, "has this function");
	is_u64(read_bytes(FRAMES), 0, "a file that ends before its functions");
	ok(table.fdes == 0 && !table.cut, "has none");
	is_u64(read_bytes(FRAMES - 1), 0, "a file that ends earlier");
	ok(table.fdes == 0 && !table.cut, "has none either");
}

/* Tests an .eh_frame_hdr that points to the first or the last bytes of a segment. */
static void test_index(void)
{
	static const struct {
		uint64_t to;
		size_t fdes;
		const char *name;
	} t[] = {
		{TEXT, 1, "the begin of a segment"},
		{TEXT - 1, 0, "the last byte of the segment before"},
		{TEXT_END - 1, 0, "the last byte of a segment"},
		{TEXT_END, 0, "behind all segments"},
	};
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

	/* addresses are relative to the section, which is at TEXT in place of FRAMES */
	put_fde(&m, cie, FRAMES + 0x8000, 16, WITH(0));
	put_u32(&m, 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		int32_t to = t[i].to - 0x804;

		make_file(&m, EM_X86_64, false, file);
		memcpy(file + TEXT, m.b, m.n);
		memcpy(file + 0x804, &to, sizeof(to));
		is_u64(read_bytes(sizeof(file)), 0, t[i].name);
		is_u64(table.fdes, t[i].fdes, "its functions");
	}
}

/* Makes a file of many bytes: the first bytes of `file`, and zeros. */
static struct byte_source sparse(size_t first, size_t bytes)
{
	struct byte_source s = {.fd = memfd_create("file", MFD_CLOEXEC), .bytes = bytes};

	if (s.fd < 0 || ftruncate(s.fd, bytes) || pwrite(s.fd, file, first, 0) != (ssize_t)first)
		abort();
	return s;
}

/* Tests the greatest size of .eh_frame. */
static void test_largest_section(void)
{
	for (uint64_t more = 0; more < 2; more++) {
		uint64_t bytes = FRAMES_MOST + more;
		struct byte_source s;
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		put_fde(&m, cie, TEXT, 16, WITH(0));
		make_file(&m, EM_X86_64, true, file);
		memcpy(file + FRAMES_SHDR + offsetof(Elf64_Shdr, sh_size), &bytes, sizeof(bytes));
		s = sparse(TEXT, FRAMES + bytes);
		unwind_table_free(&table);
		is_u64(-unwind_table_read(&s, &rules, &table), more ? E2BIG : 0,
		       "a section of 64 MiB, or of a byte more");
		if (!more)
			is_u64(table.fdes, 1, "its function");
		close(s.fd);
	}
}

/* Tests the largest gap in which a signal's return is searched. */
static void test_largest_gap(void)
{
	for (uint64_t more = 0; more < 2; more++) {
		uint64_t bytes = CODE_SCAN_BYTES + more;
		struct byte_source s;
		struct made m = {};

		make_file(&m, EM_X86_64, true, file);
		memcpy(file + PHDR(1) + offsetof(Elf64_Phdr, p_filesz), &bytes, sizeof(bytes));
		memcpy(file + TEXT, sigreturn, sizeof(sigreturn));
		s = sparse(TEXT + sizeof(sigreturn), TEXT + bytes);
		unwind_table_free(&table);
		is_u64(unwind_table_read(&s, &rules, &table), 0, "a gap of 64 MiB, or a byte more");
		is_u64(cfa_at(TEXT), more ? FS_UNWIND_CFA_GAP : FS_UNWIND_CFA_SIGNAL,
		       "a signal's return is found, or not searched");
		close(s.fd);
	}
}

int main(void)
{
	elf_version(EV_CURRENT);
	if (rule_set_init(&rules))
		return 1;
	test_start();
	test_sigreturn();
	test_both();
	test_end();
	test_last_piece();
	test_init_places();
	test_overlap();
	test_inner();
	test_covered_rows();
	test_counts();
	test_segments();
	test_segment_borders();
	test_cut_file();
	test_index();
	test_largest_section();
	test_largest_gap();
	unwind_table_free(&table);
	rule_set_free(&rules);
	return tap_done();
}
