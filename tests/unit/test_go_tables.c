// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests Go's function tables at the bounds of their section, and of the address range to read. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/go_functions.h"

#define TEXT	   0x10000
#define NAMES	   0x60
#define STEPS	   0x100
#define INDEX	   0x200
#define FIRST	   0x100 /* offset of the first function's description from the index */
#define EACH	   0x40	 /* from one description to the next */
#define SIZE	   0x800
#define WORK	   50	      /* work of reading a function */
#define MOST	   (1u << 22) /* one more than the greatest number of functions */
#define STEPS_MOST 65536

enum { MAGIC_1_16 = 0xfffffffa, MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1 };
enum { OUTERMOST = 1, SETS_SP = 2 };

static __u8 section[INDEX + (MOST + 1) * 8ULL];

static void put_number(size_t at, uint64_t n, size_t bytes)
{
	memcpy(section + at, &n, bytes);
}

/* where the head's numbers are; the layout of Go 1.16 has no address of the code */
static size_t head_at(uint32_t magic, int number)
{
	return 8 + (number + (magic != MAGIC_1_16)) * 8;
}

enum { HEAD_NAMES = 2, HEAD_STEPS = 5, HEAD_INDEX = 6 };

/* Begins a table of n functions without names. Their addresses are 0. */
static void begin(uint32_t magic, size_t n)
{
	memset(section, 0, SIZE);
	put_number(0, magic, 4);
	section[6] = 1;
	section[7] = 8;
	put_number(8, n, 8);
	if (magic != MAGIC_1_16)
		put_number(24, TEXT, 8);
	put_number(head_at(magic, HEAD_NAMES), NAMES, 8);
	put_number(head_at(magic, HEAD_STEPS), STEPS, 8);
	put_number(head_at(magic, HEAD_INDEX), INDEX, 8);
}

/* Adds a function, or the end of the last one, `from` bytes behind the begin of the code. */
static void put_function(uint32_t magic, int i, uint32_t from, uint32_t name, uint32_t steps,
			 uint8_t flag)
{
	size_t word = magic == MAGIC_1_16 ? 8 : 4, at = FIRST + i * EACH;
	size_t numbers = magic == MAGIC_1_20 ? 9 : 8;

	put_number(INDEX + i * 2 * word, from + (word == 8 ? TEXT : 0), word);
	put_number(INDEX + (i * 2 + 1) * word, at, word);
	put_number(INDEX + at + word, name, 4);
	put_number(INDEX + at + word + 12, steps, 4);
	section[INDEX + at + word + numbers * 4 + 1] = flag;
}

static struct go_functions read_section(size_t bytes, __u16 machine)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)section, .bytes = bytes};
	struct elf_headers h = {.machine = machine, .go_functions = {0, bytes}};
	struct go_functions g;

	go_functions_read(&s, &h, &g);
	return g;
}

/* Returns whether a section of this size has functions. If it has none, no memory is kept. */
static bool is_read(size_t bytes)
{
	struct go_functions g = read_section(bytes, EM_X86_64);
	bool is = g.n || g.bytes;

	go_functions_free(&g);
	return is;
}

#define RULES 8

struct rules {
	__u64 address[RULES];
	struct fs_unwind_rule rule[RULES];
	size_t n; /* number of rules, though there were more than RULES */
};

static void add_rule(void *ctx, __u64 address, struct fs_unwind_rule rule)
{
	struct rules *r = ctx;

	if (r->n < RULES) {
		r->address[r->n] = address;
		r->rule[r->n] = rule;
	}
	r->n++;
}

/* Reads the rules of a range, whose bounds are relative to the begin of the code. */
static struct rules rules_of(size_t bytes, __u64 start, __u64 end)
{
	struct go_functions g = read_section(bytes, EM_X86_64);
	struct rules r = {};
	__u64 all = ~0ULL;

	is_u64(go_functions_rules(&g, TEXT + start, TEXT + end, add_rule, &r, &all), 0,
	       "a range is read");
	go_functions_free(&g);
	return r;
}

static void is_rule(const struct rules *r, size_t i, __u64 at, __u8 cfa, const char *name)
{
	if (!ok(i < r->n && r->address[i] == TEXT + at && r->rule[i].cfa == cfa, "%s", name))
		printf("#   got rule %zu of %zu: at %#llx, cfa %d\n", i, r->n, r->address[i] - TEXT,
		       r->rule[i].cfa);
}

static void test_head(void)
{
	static const uint32_t layouts[] = {MAGIC_1_16, MAGIC_1_18, MAGIC_1_20};

	for (size_t i = 0; i < 3; i++) {
		uint32_t magic = layouts[i];
		size_t least = INDEX + 3 * 2 * (magic == MAGIC_1_16 ? 8 : 4);
		static const int heads[] = {HEAD_NAMES, HEAD_STEPS, HEAD_INDEX};
		struct go_functions g;

		begin(magic, 2);
		ok(is_read(SIZE), "layout %#x is read", magic);
		ok(is_read(least), "the section may end with the index of functions");
		ok(!is_read(least - 1), "but not before");
		for (int k = 0; k < 2; k++) {
			begin(magic, 2);
			put_number(head_at(magic, heads[k]), SIZE - 1, 8);
			ok(is_read(SIZE), "names or changes begin with the last byte");
			put_number(head_at(magic, heads[k]), SIZE, 8);
			ok(!is_read(SIZE), "but not behind it");
		}
		begin(magic, 2);
		put_number(head_at(magic, HEAD_INDEX), SIZE, 8);
		ok(!is_read(SIZE), "the index cannot be behind the section");
		begin(magic, 2);
		section[7] = 4;
		ok(!is_read(SIZE), "words of 4 bytes");
		begin(magic, 0);
		ok(!is_read(SIZE), "no function");
		begin(magic, 1);
		g = read_section(SIZE, EM_AARCH64);
		ok(!g.n && !g.bytes, "a program of arm64");
		g = read_section(0, EM_X86_64);
		ok(!g.n && !g.bytes, "a program without a section");
	}
	for (uint32_t magic = MAGIC_1_18 - 1; magic >= MAGIC_1_18 - 1; magic++) {
		begin(magic, 1);
		ok(is_read(SIZE) ==
			   (magic == MAGIC_1_16 || magic == MAGIC_1_18 || magic == MAGIC_1_20),
		   "layout %#x", magic);
	}
	begin(MAGIC_1_20, 1);
	put_number(24, 0, 8);
	ok(!is_read(SIZE), "entries that are relative to no address");
}

static void test_cut_file(void)
{
	struct byte_source s = {.fd = -1, .mem = (const char *)section, .bytes = SIZE + 8};
	struct elf_headers h = {.machine = EM_X86_64, .go_functions = {8, SIZE}};
	struct go_functions g;

	begin(MAGIC_1_20, 1);
	memmove(section + 8, section, SIZE);
	go_functions_read(&s, &h, &g);
	ok(g.n == 1 && g.size == SIZE, "a section up to the end of its file");
	go_functions_free(&g);
	s.bytes--;
	go_functions_read(&s, &h, &g);
	ok(!g.n && !g.bytes, "a section that is cut");
}

/* Tests the largest section. The file has no bytes but those of the head. */
static void test_largest(void)
{
	const size_t most = 128 << 20;
	struct byte_source s = {.fd = memfd_create("section", MFD_CLOEXEC), .bytes = most + 1};
	struct elf_headers h = {.machine = EM_X86_64, .go_functions = {0, most}};
	struct go_functions g;

	begin(MAGIC_1_20, 1);
	if (s.fd < 0 || ftruncate(s.fd, most + 1) || pwrite(s.fd, section, SIZE, 0) != SIZE)
		abort();
	go_functions_read(&s, &h, &g);
	is_u64(g.n, 1, "a section of 128 MiB");
	go_functions_free(&g);
	h.go_functions.bytes++;
	go_functions_read(&s, &h, &g);
	ok(!g.n && !g.bytes, "a larger one");
	close(s.fd);
}

static void test_most_functions(void)
{
	begin(MAGIC_1_20, MOST - 1);
	ok(is_read(INDEX + MOST * 8), "the greatest number of functions");
	begin(MAGIC_1_20, MOST);
	ok(!is_read(sizeof(section)), "one function more");
}

/* Three functions of 16 bytes each, from 32, 48 and 64 on. */
static void make_three(uint32_t name, uint8_t flag)
{
	begin(MAGIC_1_20, 3);
	memcpy(section + NAMES + 1, "runtime.sigreturn", 17);
	for (int i = 0; i < 4; i++)
		put_function(MAGIC_1_20, i, 32 + i * 16, i == 1 ? name : 0x40, 0,
			     i == 1 ? flag : 0);
}

static void test_ranges(void)
{
	static const struct {
		__u64 start, end;
		size_t n;
		__u64 first, last; /* addresses of the first and the last rule */
		bool gap;	   /* the last rule is a gap */
		const char *name;
	} t[] = {
		{0, 100, 4, 32, 80, true, "all functions, and a gap behind them"},
		{32, 80, 3, 32, 64, false, "all functions exactly"},
		{32, 81, 4, 32, 80, true, "a byte behind them"},
		{32, 79, 3, 32, 64, true, "a byte less: the last function is left out"},
		{33, 80, 2, 48, 64, false, "a byte later: the first function is left out"},
		{32, 64, 2, 32, 48, false, "two functions"},
		{32, 48, 1, 32, 32, false, "one function"},
		{32, 49, 2, 32, 48, true, "one function and a byte"},
		{32, 33, 0, 0, 0, false, "one byte of a function"},
		{0, 32, 0, 0, 0, false, "the bytes before them"},
		{80, 100, 0, 0, 0, false, "the bytes behind them"},
	};

	make_three(0x40, 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct rules r = rules_of(SIZE, t[i].start, t[i].end);

		is_u64(r.n, t[i].n, t[i].name);
		if (!r.n)
			continue;
		is_rule(&r, 0, t[i].first, FS_UNWIND_CFA_CHAIN, "the first rule");
		is_rule(&r, r.n - 1, t[i].last, t[i].gap ? FS_UNWIND_CFA_GAP : FS_UNWIND_CFA_CHAIN,
			"the last rule");
	}
}

/* Tests functions that overlap or have no size. */
static void test_overlap(void)
{
	struct rules r;

	begin(MAGIC_1_20, 3);
	put_function(MAGIC_1_20, 0, 32, 0x40, 0, 0);
	put_function(MAGIC_1_20, 1, 48, 0x40, 0, 0);
	put_function(MAGIC_1_20, 2, 48, 0x40, 0, 0);
	put_function(MAGIC_1_20, 3, 64, 0x40, 0, 0);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 2, "a function of no bytes has no rule");
	is_rule(&r, 1, 48, FS_UNWIND_CFA_CHAIN, "the next one has");
	put_function(MAGIC_1_20, 1, 50, 0x40, 0, 0);
	put_function(MAGIC_1_20, 2, 49, 0x40, 0, 0);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 2, "nor one that ends before its begin, nor one that begins in another");
	is_rule(&r, 1, 50, FS_UNWIND_CFA_GAP, "behind the first one is a gap");
}

static void test_flags(void)
{
	static const uint32_t layouts[] = {MAGIC_1_16, MAGIC_1_18, MAGIC_1_20};
	static const struct {
		const char *name;
		uint8_t flag, cfa;
		__s32 offset;
	} t[] = {
		{"main.main", 0, FS_UNWIND_CFA_CHAIN, 0},
		{"main.main", OUTERMOST, FS_UNWIND_CFA_END, 0},
		{"main.main", SETS_SP, FS_UNWIND_CFA_CHAIN, FS_UNWIND_OTHER_STACK},
		{"main.main", OUTERMOST | SETS_SP, FS_UNWIND_CFA_END, 0},
		{"main.main", 4, FS_UNWIND_CFA_CHAIN, 0},
		{"runtime.mstart", OUTERMOST, FS_UNWIND_CFA_CHAIN, 0},
		{"runtime.mstart", 0, FS_UNWIND_CFA_CHAIN, 0},
		{"runtime.mstar", OUTERMOST, FS_UNWIND_CFA_END, 0},
		{"_rt0_amd64_linux", 0, FS_UNWIND_CFA_END, 0},
		{"runtime.clone", 0, FS_UNWIND_CFA_END, 0},
		{"runtime.mcall", SETS_SP, FS_UNWIND_CFA_END, 0},
		{"runtime.sigreturn__sigaction", OUTERMOST, FS_UNWIND_CFA_SIGNAL, 0},
		{"runtime.sigretur", 0, FS_UNWIND_CFA_CHAIN, 0},
	};

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
			struct rules r;

			begin(layouts[k], 1);
			strcpy((char *)section + NAMES + 1, t[i].name);
			put_function(layouts[k], 0, 32, 1, 0, t[i].flag);
			put_function(layouts[k], 1, 48, 0, 0, 0);
			r = rules_of(SIZE, 32, 48);
			is_rule(&r, 0, 32, t[i].cfa, t[i].name);
			is_u64(r.rule[0].cfa_off, t[i].offset, "whether it changes to a stack");
		}
}

/* Tests that the byte before runtime.sigreturn gets its rule if the range has this byte. */
static void test_sigreturn(void)
{
	struct rules r;

	make_three(1, 0);
	r = rules_of(SIZE, 32, 80);
	is_rule(&r, 1, 47, FS_UNWIND_CFA_SIGNAL, "from the byte before it on");
	r = rules_of(SIZE, 47, 80);
	is_rule(&r, 0, 47, FS_UNWIND_CFA_SIGNAL, "if the range begins there");
	r = rules_of(SIZE, 48, 80);
	is_rule(&r, 0, 48, FS_UNWIND_CFA_SIGNAL, "else from its first byte on");
}

/* Tests a name and a description at the end of the section. */
static void test_section_end(void)
{
	const size_t end = INDEX + FIRST + 4 + 9 * 4 + 2; /* behind the flag of function 0 */
	struct rules r;

	begin(MAGIC_1_20, 1);
	put_function(MAGIC_1_20, 0, 32, 0x40, 0, OUTERMOST);
	put_number(INDEX + 2 * 4, 48, 4);
	r = rules_of(end, 32, 48);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_END, "the flag is the last byte");
	r = rules_of(end - 1, 32, 48);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_CHAIN, "without this byte there is no flag");

	begin(MAGIC_1_20, 1);
	put_function(MAGIC_1_20, 0, 32, SIZE - 5 - NAMES, 0, 0);
	put_function(MAGIC_1_20, 1, 48, 0, 0, 0);
	memcpy(section + SIZE - 5, "_rt0_", 5);
	r = rules_of(SIZE, 32, 48);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_END, "a name that ends with the section");
	r = rules_of(SIZE - 1, 32, 48);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_CHAIN, "without its last byte it is another");
	put_function(MAGIC_1_20, 0, 32, SIZE - NAMES, 0, 0);
	r = rules_of(SIZE, 32, 48);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_CHAIN, "a name behind the section");
}

/* One function from 32 on, with these changes of the stack pointer. */
static void make_steps(const uint8_t *bytes, size_t n, size_t size)
{
	begin(MAGIC_1_20, 1);
	put_function(MAGIC_1_20, 0, 32, 0x40, size - n - STEPS, 0);
	put_function(MAGIC_1_20, 1, 64, 0x40, 0, 0);
	memcpy(section + size - n, bytes, n);
}
#define MAKE_STEPS(...)                                                                            \
	make_steps((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), SIZE)

static void test_steps(void)
{
	struct rules r;

	MAKE_STEPS(2, 8, 16, 8, 15, 16);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 3, "three changes");
	is_rule(&r, 0, 32, FS_UNWIND_CFA_SP, "the first one");
	ok(r.rule[0].cfa_off == 8 && r.rule[0].fp == FS_UNWIND_FP_SAME, "no frame yet");
	is_rule(&r, 1, 40, FS_UNWIND_CFA_SP, "the second one");
	ok(r.rule[1].cfa_off == 16 && r.rule[1].fp == FS_UNWIND_FP_AT_CFA &&
		   r.rule[1].fp_off == -16,
	   "a frame of 8 bytes");
	is_rule(&r, 2, 48, FS_UNWIND_CFA_SP, "the third one");
	is_u64(r.rule[2].cfa_off, 8, "the frame ends");

	MAKE_STEPS(2, 8, 0, 8);
	is_u64(rules_of(SIZE, 32, 64).n, 1, "a change by 0 is the end");
	MAKE_STEPS(0, 8, 2, 24);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 2, "but not the first one");
	is_u64(r.rule[0].cfa, FS_UNWIND_CFA_OPAQUE, "though it leaves -1, which is no size");
	is_u64(r.rule[1].cfa_off, 8, "the next one makes it 0");
	MAKE_STEPS(2, 31, 16, 1, 16, 1);
	is_u64(rules_of(SIZE, 32, 64).n, 2, "changes up to the end of the function");
	MAKE_STEPS(2, 33, 16, 1);
	is_u64(rules_of(SIZE, 32, 64).n, 1, "a change beyond the end of the function");
	MAKE_STEPS(2, 31, 16);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 3, "a change without its length");
	is_rule(&r, 2, 63, FS_UNWIND_CFA_OPAQUE, "leaves the rest unknown");
}

static void test_broken_steps(void)
{
	struct rules r;

	MAKE_STEPS(2, 8, 0x80);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 2, "a change that is cut");
	is_rule(&r, 1, 40, FS_UNWIND_CFA_OPAQUE, "the rest of the function is not known");
	MAKE_STEPS(2);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 2, "only the last byte of the section");
	is_rule(&r, 0, 32, FS_UNWIND_CFA_SP, "is a change");
	put_function(MAGIC_1_20, 0, 32, 0x40, SIZE - STEPS, 0);
	r = rules_of(SIZE, 32, 64);
	is_u64(r.n, 1, "changes behind the section");
	is_rule(&r, 0, 32, FS_UNWIND_CFA_CHAIN, "count as none");
	put_function(MAGIC_1_20, 0, 32, 0x40, 0, 0);
	r = rules_of(SIZE, 32, 64);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_CHAIN, "a function without changes");
}

/* Tests the size of a frame: 1 GiB at most. */
static void test_frame_size(void)
{
	struct rules r;

	/* twice the number of bytes, and 2 more for the -1 at the begin */
	MAKE_STEPS(0x82, 0x80, 0x80, 0x80, 8, 64);
	r = rules_of(SIZE, 32, 64);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_SP, "a frame of 1 GiB");
	is_u64(r.rule[0].cfa_off, (1u << 30) + 8, "its size");
	MAKE_STEPS(0x84, 0x80, 0x80, 0x80, 8, 64);
	r = rules_of(SIZE, 32, 64);
	is_rule(&r, 0, 32, FS_UNWIND_CFA_OPAQUE, "a byte more");
}

/* Tests a function with more changes than are read. */
static void test_most_steps(void)
{
	size_t n = 2 * (STEPS_MOST + 1), at = INDEX + FIRST + 2 * EACH;
	struct rules r;

	begin(MAGIC_1_20, 1);
	put_function(MAGIC_1_20, 0, 0, 0x40, at - STEPS, 0);
	put_function(MAGIC_1_20, 1, STEPS_MOST + 1, 0x40, 0, 0);
	for (size_t i = 0; i < n; i += 2) {
		section[at + i] = 2;
		section[at + i + 1] = 1;
	}
	r = rules_of(at + n, 0, STEPS_MOST + 1);
	is_u64(r.n, STEPS_MOST, "65536 of 65537 changes are read");
	memset(section + at, 0, n);
}

static void test_work(void)
{
	struct go_functions g;
	struct rules r = {};
	__u64 left = 0;

	make_three(0x40, 0);
	g = read_section(SIZE, EM_X86_64);
	is_u64(-go_functions_rules(&g, TEXT, TEXT + 100, add_rule, &r, &left), EAGAIN, "no work");
	is_u64(r.n, 0, "no rule");
	left = WORK;
	is_u64(-go_functions_rules(&g, TEXT, TEXT + 100, add_rule, &r, &left), EAGAIN, "one");
	ok(r.n == 1 && !left, "the first function");
	left = WORK + 1;
	is_u64(go_functions_rules(&g, TEXT, TEXT + 100, add_rule, &r, &left), 0, "both others");
	is_u64(left, 0, "the last work may be more than is left");
	is_u64(r.n, 4, "two functions, and the gap behind them");
	is_rule(&r, 3, 80, FS_UNWIND_CFA_GAP, "its address");
	go_functions_free(&g);

	/* two ranges, one after the other */
	g = read_section(SIZE, EM_X86_64);
	r.n = 0;
	left = 1000;
	go_functions_rules(&g, TEXT + 32, TEXT + 48, add_rule, &r, &left);
	is_u64(left, 1000 - WORK, "the first range");
	go_functions_rules(&g, TEXT + 64, TEXT + 80, add_rule, &r, &left);
	is_u64(left, 1000 - 3 * WORK, "a function between two ranges is passed over");
	ok(r.n == 2 && r.address[1] == TEXT + 64, "the function of the second range");
	go_functions_free(&g);
}

int main(void)
{
	test_head();
	test_cut_file();
	test_largest();
	test_most_functions();
	test_ranges();
	test_overlap();
	test_flags();
	test_sigreturn();
	test_section_end();
	test_steps();
	test_broken_steps();
	test_frame_size();
	test_most_steps();
	test_work();
	return tap_done();
}
