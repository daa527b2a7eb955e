// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests searches of code at the borders of segments, of reads, and of their limits. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/code_scan.h"

#define TEXT	  0x40000000 /* address of the code; its offset in the file is 0 */
#define READ	  16384	     /* bytes that one read has */
#define BYTES	  (3 * READ)
#define READ_WORK 50 /* work of a read */
#define ALL	  (~0ULL)
#define COUNTED	  (4u << 20) /* maximum number of bytes in which prologues are counted */

static __u8 code[BYTES];
static const struct byte_source file = {.fd = -1, .mem = (const char *)code, .bytes = BYTES};

static const __u8 sigreturn[CODE_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* One segment of code with this size. */
static struct elf_headers one_load(__u64 bytes)
{
	struct elf_headers h = {.nr_loads = 1};

	h.load[0].address = TEXT;
	h.load[0].bytes = bytes;
	h.load[0].executable = true;
	return h;
}

/* Searches the code of a signal's return between two addresses. Returns its address, or 0. */
static __u64 find(const struct byte_source *f, const struct elf_headers *h, __u64 start, __u64 end)
{
	struct code_scan s;
	__u64 left = ALL;

	code_scan_begin(&s, f, h, CFI_X86_64, start, end);
	if (code_find_sigreturn(&s, &left))
		return ALL;
	return s.found;
}

static void test_places(void)
{
	static const size_t at[] = {0,	      1,    READ - 9,	   READ - 8,
				    READ - 1, READ, 2 * READ - 10, BYTES - 9};
	struct elf_headers h = one_load(BYTES);

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		__u64 address = TEXT + at[i];

		memset(code, 0x90, sizeof(code));
		memcpy(code + at[i], sigreturn, sizeof(sigreturn));
		ok(find(&file, &h, TEXT, TEXT + BYTES) == address, "code at byte %zu", at[i]);
		is_u64(find(&file, &h, address, address + 9), address, "in a range of 9 bytes");
		is_u64(find(&file, &h, address, address + 8), 0, "not in one that ends early");
		is_u64(find(&file, &h, address + 1, TEXT + BYTES), 0,
		       "not in one that begins late");
		is_u64(find(&file, &h, 0, ALL), address, "in a range that is larger than the code");
		code[at[i] + 8]++;
		is_u64(find(&file, &h, TEXT, TEXT + BYTES), 0, "not if its last byte is another");
	}
}

/* Tests segments that are not searched, and code behind them. */
static void test_loads(void)
{
	struct elf_headers h = one_load(9);

	memset(code, 0x90, sizeof(code));
	memcpy(code + 100, sigreturn, sizeof(sigreturn));
	h.nr_loads = 2;
	h.load[1] = h.load[0];
	h.load[0].address = 0x10000;
	h.load[1].address = 0x50000;
	h.load[1].offset = 100;
	is_u64(find(&file, &h, 0, ALL), 0x50000, "code in the second segment");
	is_u64(find(&file, &h, 0, 0x50009), 0x50000, "up to the end of the range");
	is_u64(find(&file, &h, 0, 0x50008), 0, "not in a range that ends before");
	is_u64(find(&file, &h, 0x60000, ALL), 0, "not in one that begins behind");
	memcpy(code + 200, sigreturn, sizeof(sigreturn));
	is_u64(find(&file, &h, 0x50000 + 100, ALL), 0,
	       "not behind the segment, though it is there");
	h.load[1].bytes = 8;
	is_u64(find(&file, &h, 0, ALL), 0, "not in a segment that ends before");
	h.load[1].bytes = 9;
	h.load[1].executable = false;
	is_u64(find(&file, &h, 0, ALL), 0, "not in data");
	h.load[1].executable = true;
	h.load[1].bytes = ALL;
	is_u64(find(&file, &h, 0, ALL), 0, "not in a segment beyond the last address");
	h.load[1].bytes = 9;
	h.load[1].offset = BYTES - 8;
	is_u64(find(&file, &h, 0, ALL), 0, "not in a segment that the file does not have");
	h.load[0].offset = 100;
	is_u64(find(&file, &h, 0, ALL), 0x10000, "the first segment is searched first");
}

/* Tests that a search goes on where it paused. */
static void test_pieces(void)
{
	struct elf_headers h = one_load(BYTES);
	struct code_scan s;
	__u64 left = 0;
	int pieces = 0, err;

	memset(code, 0x90, sizeof(code));
	memcpy(code + BYTES - 9, sigreturn, sizeof(sigreturn));
	code_scan_begin(&s, &file, &h, CFI_X86_64, TEXT, TEXT + BYTES);
	is_u64(-code_find_sigreturn(&s, &left), EAGAIN, "no work");
	is_u64(s.at, 0, "nothing is begun");
	do {
		left = 1;
		err = code_find_sigreturn(&s, &left);
		is_u64(left, 0, "the work is used up");
		pieces++;
	} while (err == -EAGAIN);
	is_u64(pieces, 4, "three reads, and one of the bytes that overlap");
	is_u64(s.found, TEXT + BYTES - 9, "the code is found");
	code_scan_begin(&s, &file, &h, CFI_X86_64, TEXT, TEXT + 409);
	left = 1000;
	is_u64(code_find_sigreturn(&s, &left), 0, "a search of 409 bytes");
	is_u64(left, 1000 - 2 * READ_WORK - (409 - 8) / 40, "its work");
}

/* Tests a segment that is larger than what is searched. The file has no bytes but the code. */
static void test_large(void)
{
	struct elf_headers h = one_load(CODE_SCAN_BYTES + 64);
	int fd = memfd_create("code", MFD_CLOEXEC);
	struct byte_source sparse = {.fd = fd, .bytes = CODE_SCAN_BYTES + 64};

	if (fd < 0 || ftruncate(fd, sparse.bytes) ||
	    pwrite(fd, sigreturn, 9, CODE_SCAN_BYTES - 9) != 9)
		abort();
	is_u64(find(&sparse, &h, 0, ALL), TEXT + CODE_SCAN_BYTES - 9, "at the end of 64 MiB");
	if (pwrite(fd, "\x90", 1, CODE_SCAN_BYTES - 9) != 1 ||
	    pwrite(fd, sigreturn, 9, CODE_SCAN_BYTES - 8) != 9)
		abort();
	is_u64(find(&sparse, &h, 0, ALL), 0, "a byte further it is not searched");
	close(fd);
}

struct init {
	__u8 bytes[24];
	size_t n;
	__u64 from, until;
	const char *name;
};

static const struct init inits[] = {
	{{0x48, 0x83, 0xec, 8, 0x48, 0x8b, 5,	 1,    2,    3, 4,   0x48,
	  0x85, 0xc0, 0x74, 2, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3},
	 23,
	 4,
	 22,
	 "_init of glibc"},
	{{0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3}, 9, 4, 8, "_fini of glibc"},
	{{0x50, 0x58, 0xc3}, 3, 1, 2, "_init of musl"},
};

static void test_init(void)
{
	struct elf_headers h = one_load(BYTES);

	for (size_t i = 0; i < sizeof(inits) / sizeof(*inits); i++) {
		const struct init *t = &inits[i];
		struct code_init got = {};
		size_t last = 64 - t->n;
		int wrong = 0;

		for (size_t at = 0; at <= last; at++) {
			memset(code, 0x90, 256);
			memcpy(code + at, t->bytes, t->n);
			wrong += !code_find_init(&file, &h, TEXT, TEXT + 256, &got) ||
				 got.from != TEXT + at + t->from ||
				 got.until != TEXT + at + t->until || got.end != TEXT + at + t->n;
		}
		ok(!wrong, "%s: in 64 bytes", t->name);
		ok(code_find_init(&file, &h, TEXT, TEXT + 64, &got), "of a gap that ends there");
		ok(!code_find_init(&file, &h, TEXT, TEXT + 63, &got), "not in a shorter gap");
		memset(code, 0x90, 256);
		memcpy(code + last + 1, t->bytes, t->n);
		ok(!code_find_init(&file, &h, TEXT, TEXT + 256, &got), "not behind 64 bytes");
		ok(code_find_init(&file, &h, TEXT + 1, TEXT + 256, &got), "of the gap");
		for (size_t k = 0; k < t->n; k++) {
			bool any = i == 0 && k >= 7 && k <= 10;

			memcpy(code, t->bytes, t->n);
			memset(code + t->n, 0x90, 256 - t->n);
			code[k] ^= 0x40;
			wrong += code_find_init(&file, &h, TEXT, TEXT + 256, &got) != any;
		}
		ok(!wrong, "each byte counts, but for those of an address");
	}
}

static const struct {
	enum cfi_machine machine;
	__u8 bytes[4];
	__u8 any[4]; /* bits that may have any value */
	const char *name;
} prologues[] = {
	{CFI_X86_64, {0x55, 0x48, 0x89, 0xe5}, {}, "push %rbp; mov %rsp, %rbp"},
	{CFI_X86_64, {0x55, 0x48, 0x8b, 0xec}, {}, "the same with another encoding"},
	{CFI_X86_64, {0x48, 0x8d, 0x6c, 0x24}, {}, "a short lea of Go"},
	{CFI_X86_64, {0x48, 0x8d, 0xac, 0x24}, {}, "a long lea of Go"},
	{CFI_ARM64, {0xfd, 0x7b, 0x80, 0xa9}, {0, 0x80, 0x3f, 0}, "stp with a new stack pointer"},
	{CFI_ARM64, {0xfd, 0x7b, 0x00, 0xa9}, {0, 0x80, 0x3f, 0}, "stp"},
};

static struct code_prologues count(enum cfi_machine machine, const struct elf_headers *h,
				   __u64 start, __u64 end)
{
	struct code_prologues p = {.machine = machine};
	__u64 left = ALL;

	code_count_prologues(&file, h, start, end, &p, &left);
	return p;
}

static void test_prologues(void)
{
	struct elf_headers h = one_load(BYTES);

	for (size_t i = 0; i < sizeof(prologues) / sizeof(*prologues); i++) {
		enum cfi_machine machine = prologues[i].machine;
		struct code_prologues p;
		int wrong = 0;

		memset(code, 0x90, sizeof(code));
		memcpy(code, prologues[i].bytes, 4);
		memcpy(code + 64, prologues[i].bytes, 4);
		p = count(machine, &h, TEXT, TEXT + 68);
		ok(p.found == 2 && p.bytes == 68, "%s: two are found", prologues[i].name);
		is_u64(count(machine, &h, TEXT, TEXT + 67).found, 1, "one that is cut is not");
		is_u64(count(machine, &h, TEXT + 4, TEXT + 68).found, 1,
		       "nor one before the start");
		for (int bit = 0; bit < 32; bit++) {
			bool any = prologues[i].any[bit / 8] >> bit % 8 & 1;

			code[bit / 8] ^= 1 << bit % 8;
			/* the two encodings of arm64 differ in bit 23 */
			wrong += count(machine, &h, TEXT, TEXT + 4).found != any &&
				 !(machine == CFI_ARM64 && bit == 23);
			code[bit / 8] ^= 1 << bit % 8;
		}
		is_u64(wrong, 0, "each bit counts, but for those of a number");
	}
	memset(code, 0x90, sizeof(code));
	memcpy(code + 2, prologues[4].bytes, 4);
	is_u64(count(CFI_ARM64, &h, TEXT, TEXT + 64).found, 0, "arm64's code is aligned");
	memcpy(code + READ - 2, prologues[0].bytes, 4);
	is_u64(count(CFI_X86_64, &h, TEXT, TEXT + BYTES).found, 1, "one in two reads counts once");
}

/* Tests the greatest number of bytes in which prologues are counted. */
static void test_count_limit(void)
{
	struct elf_headers h = one_load(BYTES);
	struct code_prologues p = {.machine = CFI_ARM64, .bytes = COUNTED};
	__u64 left = 1000;

	for (size_t i = 0; i < 256; i += 4)
		memcpy(code + i, prologues[4].bytes, 4);
	code_count_prologues(&file, &h, TEXT, TEXT + 256, &p, &left);
	is_u64(p.found, 0, "4 MiB are counted already");
	is_u64(left, 1000, "so there is no work");
	p.bytes = COUNTED - 8;
	code_count_prologues(&file, &h, TEXT, TEXT + 256, &p, &left);
	is_u64(p.found, 2, "the last 8 bytes of 4 MiB are counted");
	is_u64(p.bytes, COUNTED, "and no more");
	is_u64(left, 1000 - 2 * READ_WORK - 1, "which is some work");
	p.bytes = COUNTED - 256;
	code_count_prologues(&file, &h, TEXT, TEXT + 256, &p, &left);
	is_u64(p.found, 2 + 64, "256 bytes");
	is_u64(p.bytes, COUNTED, "fit exactly");
	left = 3;
	p.bytes = 0;
	code_count_prologues(&file, &h, TEXT, TEXT + 256, &p, &left);
	is_u64(left, 0, "more work than is left leaves none");
	is_u64(p.found, 2 + 2 * 64, "though it is done");
}

static void test_frame_pointers(void)
{
	static const struct {
		__u64 bytes, found;
		bool keeps;
	} t[] = {
		{0, 0, false},		{1024, 0, false},      {1024, 1, true},
		{1025, 1, false},	{10240, 10, true},     {10250, 10, false},
		{10249, 10, true},	{COUNTED, 4096, true}, {COUNTED, 4095, true},
		{COUNTED, 4091, false},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct code_prologues p = {.bytes = t[i].bytes, .found = t[i].found};

		ok(code_has_frame_pointers(&p) == t[i].keeps, "%llu prologues in %llu bytes: %s",
		   t[i].found, t[i].bytes, t[i].keeps ? "frame pointers" : "no frame pointers");
	}
}

int main(void)
{
	test_places();
	test_loads();
	test_pieces();
	test_large();
	test_init();
	test_prologues();
	test_count_limit();
	test_frame_pointers();
	return tap_done();
}
