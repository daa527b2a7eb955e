// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the settings of the programs that read page tables, and the check of whether they can: huge
 * pages, the zero page, and the places where the kernel may map all memory. The files of the kernel
 * and its answers are those of this test.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "open_files.h"
#include "probe/page_table.h"
#include "tap.h"

#define PAGE	 4096
#define PRESENT	 (1ULL << 63)
#define DIRTY	 (1ULL << 55) /* soft-dirty: the lowest bit that is none of the frame's number */
#define HUGE	 "/sys/kernel/mm/transparent_hugepage/"
#define CHECK	 ((struct bpf_program *)0x1000)
#define CHECK_FD 77
#define RUNS	 8

#if defined(__x86_64__)
/* Documentation/arch/x86/x86_64/mm.rst: with 4 and with 5 levels */
static const __u64 bases[] = {0xffff888000000000ULL, 0xff11000000000000ULL};
#define BASE_VARIABLE "page_offset_base"
#else
/* Documentation/arch/arm64/memory.rst: 48, 52 and 39 bits */
static const __u64 bases[] = {0xffff000000000000ULL, 0xfff0000000000000ULL, 0xffffff8000000000ULL};
#define BASE_VARIABLE "memstart_addr"
#endif
#define BASES (sizeof(bases) / sizeof(bases[0]))

static struct {
	const char *path[2], *text[2]; /* files that are there */
	const char *symbols;	       /* /proc/kallsyms; NULL: cannot be opened */
	int pagemap;		       /* its descriptor; -1: it is not open */
	bool no_pagemap, short_pagemap, no_map;
	const void *mapped; /* the page that was mapped last */
	__u64 zero_entry, own_entry;
	ssize_t random; /* answer of getrandom() */
	int program_fd, run_error;
	size_t runs, found_at; /* the run that finds the page, from 1 on; 0: none */
	struct fs_page_check check[RUNS];
} kernel;

static struct fs_shared shared;

static int file_of(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

int open(const char *path, int flags, ...)
{
	(void)flags;
	for (int i = 0; i < 2; i++)
		if (kernel.path[i] && !strcmp(path, kernel.path[i]))
			return file_of(kernel.text[i]);
	if (!strcmp(path, "/proc/self/pagemap") && !kernel.no_pagemap)
		return kernel.pagemap = file_of("");
	errno = ENOENT;
	return -1;
}

FILE *fopen(const char *path, const char *mode)
{
	errno = EPERM;
	if (strcmp(path, "/proc/kallsyms") != 0 || !kernel.symbols)
		return NULL;
	return fdopen(file_of(kernel.symbols), mode);
}

/* The entry of a page: one of the mapped page, and one of all others. */
ssize_t pread(int fd, void *ret, size_t size, off_t at)
{
	void *page = (void *)(at / 8 * PAGE);
	__u64 entry = page == kernel.mapped ? kernel.zero_entry : kernel.own_entry;
	unsigned char is_there = 0;

	if (fd != kernel.pagemap || size != sizeof(entry) || at % 8)
		abort();
	if (kernel.short_pagemap) {
		memcpy(ret, &entry, size);
		return 0;
	}
	/* as the kernel does, tell of a page only after it was read */
	if (mincore(page, PAGE, &is_there) || !is_there)
		entry = 0;
	memcpy(ret, &entry, size);
	return size;
}

void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t from)
{
	void *page;

	if (kernel.no_map)
		return MAP_FAILED;
	page = (void *)syscall(SYS_mmap, at, size, rights, flags, fd, from);
	if (size == PAGE)
		kernel.mapped = page;
	return page;
}

ssize_t getrandom(void *ret, size_t size, unsigned int flags)
{
	(void)flags;
	memset(ret, 0x10, size);
	return kernel.random;
}

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	return !strcmp(name, "check_page_table") ? CHECK : NULL;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return prog == CHECK ? kernel.program_fd : -EINVAL;
}

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	if (prog_fd != CHECK_FD || opts->ctx_size_in != sizeof(struct fs_page_check) ||
	    kernel.runs == RUNS)
		abort();
	memcpy(&kernel.check[kernel.runs++], opts->ctx_in, sizeof(struct fs_page_check));
	if (kernel.runs == kernel.found_at)
		shared.resident_map_base = 1;
	return kernel.run_error;
}

static void begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	memset(&shared, 0, sizeof(shared));
	kernel.pagemap = -1;
	kernel.random = 2 * sizeof(__u64);
	kernel.program_fd = CHECK_FD;
	kernel.zero_entry = PRESENT | DIRTY | 0x123;
	kernel.own_entry = PRESENT | DIRTY | 0x456;
	kernel.symbols = "ffffffff81000000 T _text\nffffffff82000010 D " BASE_VARIABLE "\n"
			 "ffffffff82000020 D after\n";
}

/* Returns the settings, and checks that no file stays open. */
static struct fs_resident_config filled(void)
{
	size_t before = open_fds();
	struct fs_resident_config c;

	memset(&c, 0xff, sizeof(c));
	page_table_fill(&c, true);
	if (open_fds() != before)
		ok(false, "a file stays open");
	return c;
}

static void test_secrets(void)
{
	const struct fs_resident_config nothing = {};
	struct fs_resident_config c;

	begin();
	c = filled();
	is_u64(c.on, 1, "pages are chosen");
	is_u64(c.secret[0], 0x1010101010101011, "by a random number that is made odd");
	is_u64(c.secret[1], 0x1010101010101011, "and another one");
	kernel.random = sizeof(__u64);
	ok(!filled().on, "with too few random numbers, no page is chosen");
	kernel.random = -1;
	ok(!filled().on, "nor without any");
	kernel.random = 2 * sizeof(__u64);
	memset(&c, 0xff, sizeof(c));
	page_table_fill(&c, false);
	ok(!memcmp(&c, &nothing, sizeof(c)), "nor if it is off");
}

static void test_huge_pages(void)
{
	static const struct {
		const char *name;
		bool known;
	} files[] = {
		{HUGE "enabled", true},
		{HUGE "hugepages-16kB/enabled", true},
		{HUGE "hugepages-32kB/enabled", true},
		{HUGE "hugepages-64kB/enabled", true},
		{HUGE "hugepages-1024kB/enabled", true},
		{HUGE "hugepages-2048kB/enabled", true},
		/* there are no folios of two pages, and none above the size of one table */
		{HUGE "hugepages-8kB/enabled", false},
		{HUGE "hugepages-4096kB/enabled", false},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		begin();
		kernel.path[0] = files[i].name;
		kernel.text[0] = "[always] inherit madvise never\n";
		is_u64(filled().huge, files[i].known ? FS_RESIDENT_ALWAYS : FS_RESIDENT_NEVER,
		       files[i].name);
		kernel.text[0] = "always inherit [madvise] never\n";
		is_u64(filled().huge, files[i].known ? FS_RESIDENT_ADVISED : FS_RESIDENT_NEVER,
		       "on advice");
		kernel.text[0] = "always [inherit] madvise never\n";
		is_u64(filled().huge, FS_RESIDENT_NEVER, "as for all sizes");
		kernel.text[0] = "";
		is_u64(filled().huge, FS_RESIDENT_NEVER, "an empty file");
	}
	begin();
	kernel.path[0] = files[0].name;
	kernel.text[0] = "always [madvise] never\n";
	kernel.path[1] = files[5].name;
	kernel.text[1] = "[always] inherit madvise never\n";
	is_u64(filled().huge, FS_RESIDENT_ALWAYS, "one size that is always used counts most");
	kernel.text[1] = "always inherit madvise [never]\n";
	is_u64(filled().huge, FS_RESIDENT_ADVISED, "one that is never used does not count");
}

static void test_zero_page(void)
{
	unsigned char is_there;

	begin();
	is_u64(filled().zero_frame, 0x123, "the frame of a page that was only read");
	ok(mincore((void *)kernel.mapped, PAGE, &is_there) && errno == ENOMEM,
	   "the page is unmapped afterwards");
	kernel.zero_entry = PRESENT | ((1ULL << 55) - 1);
	is_u64(filled().zero_frame, (1ULL << 55) - 1, "a number of 55 bits");
	kernel.zero_entry = PRESENT;
	is_u64(filled().zero_frame, ~0ULL, "a frame that the kernel does not show");
	kernel.zero_entry = 0x123;
	is_u64(filled().zero_frame, ~0ULL, "a page that is swapped out");
	kernel.zero_entry = PRESENT | 0x123;
	kernel.short_pagemap = true;
	is_u64(filled().zero_frame, ~0ULL, "a file that ends early");
	kernel.short_pagemap = false;
	kernel.no_pagemap = true;
	is_u64(filled().zero_frame, ~0ULL, "a file that cannot be opened");
	kernel.no_pagemap = false;
	kernel.no_map = true;
	is_u64(filled().zero_frame, ~0ULL, "no page");
}

#if defined(__x86_64__)
static void test_levels(void)
{
	static char large[60000];

	begin();
	is_u64(filled().levels, 4, "no file");
	kernel.path[0] = "/proc/cpuinfo";
	kernel.text[0] = "flags\t\t: fpu la57 smap\n";
	is_u64(filled().levels, 5, "five levels");
	kernel.text[0] = "flags\t\t: fpu xla57 smap\n";
	is_u64(filled().levels, 4, "another flag");
	memset(large, 'x', sizeof(large) - 1);
	memcpy(large + sizeof(large) - 8, " la57\n", 6);
	kernel.text[0] = large;
	is_u64(filled().levels, 5, "a line of many flags");
}
#else
static void test_levels(void)
{
}
#endif

static void test_names(void)
{
	static const struct {
		const char *name;
		bool is;
	} rows[] = {{"check_page_table", true},
		    {"read_pages", true},
		    {"read_page", false},
		    {"check_page_tables", false},
		    {"", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(page_table_has_program(rows[i].name) == rows[i].is, "\"%s\": %d", rows[i].name,
		   rows[i].is);
}

/* Runs the check with a table of 4 levels. Checks how often the program runs. */
static void checks(bool want, size_t runs, const char *name)
{
	const struct fs_resident_config config = {.levels = 4};
	size_t before = open_fds();

	kernel.runs = 0;
	ok(page_table_check(NULL, &config, &shared) == want && kernel.runs == runs, "%s: %zu runs",
	   name, kernel.runs);
	if (open_fds() != before)
		ok(false, "a file stays open");
}

static void test_check(void)
{
	const struct fs_resident_config unknown = {};

	begin();
	checks(true, BASES, "a program that never finds its page tries all places");
	for (size_t i = 0; i < BASES; i++) {
		is_u64(kernel.check[i].map_base, bases[i], "a place");
		is_u64(kernel.check[i].frame, 0x456, "the frame that the kernel tells");
		is_u64(kernel.check[i].map_base_at, 0xffffffff82000010, "the variable's address");
		is_u64(kernel.check[i].address, kernel.check[0].address, "the same page");
	}
	kernel.found_at = 1;
	checks(true, 1, "found in the first place");
	checks(true, 0, "already found");
	shared.resident_map_base = 0;
	kernel.found_at = 2;
	checks(true, 2, "found in the second place");
	shared.resident_map_base = 0;
	kernel.run_error = -EPERM;
	checks(false, 1, "a program that the kernel does not run");
	begin();
	ok(!page_table_check(NULL, &unknown, &shared) && !kernel.runs, "levels are not known");
	kernel.program_fd = -1;
	checks(false, 0, "no program");
	kernel.program_fd = CHECK_FD;
	kernel.own_entry = PRESENT;
	checks(false, 0, "a frame that the kernel does not show");
	kernel.own_entry = 0x456;
	checks(false, 0, "a page that is not present");
}

/* Returns the address of the variable that the program is given. */
static __u64 address_in(const char *symbols)
{
	begin();
	kernel.symbols = symbols;
	checks(true, BASES, "the program runs");
	return kernel.check[0].map_base_at;
}

static void test_variable(void)
{
	is_u64(address_in(NULL), 0, "no addresses are shown");
	is_u64(address_in("ffffffff82000020 D other\n"), 0, "no such variable");
	is_u64(address_in("ffffffff82000020 D " BASE_VARIABLE "_x\n"), 0, "a longer name");
	is_u64(address_in("12 D\n13 D " BASE_VARIABLE "\n"), 0x13, "a line without a name");
	is_u64(address_in("12 D " BASE_VARIABLE "\n13 D " BASE_VARIABLE "\n"), 0x12,
	       "the first of two");
	is_u64(address_in("0 D " BASE_VARIABLE "\n"), 0, "a hidden address");
}

int main(void)
{
	test_secrets();
	test_huge_pages();
	test_zero_page();
	test_levels();
	test_names();
	test_check();
	test_variable();
	return tap_done();
}
