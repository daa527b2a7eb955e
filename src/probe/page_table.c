// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/page_table.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define CHECK		"check_page_table"
#define READER		"read_pages"
#define PAGE		4096
#define FRAME_MASK	((1ULL << 55) - 1) /* Documentation/admin-guide/mm/pagemap.rst */
#define PRESENT		(1ULL << 63)
#define CPU_FLAGS_BYTES (1 << 16)
#define HUGE_FOLDER	"/sys/kernel/mm/transparent_hugepage/"

/* Returns whether a small file contains a text. */
static bool file_contains(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *all = calloc(1, CPU_FLAGS_BYTES);
	bool found = false;

	if (all && fd >= 0 && read(fd, all, CPU_FLAGS_BYTES - 1) > 0)
		found = strstr(all, text) != NULL;
	if (fd >= 0)
		close(fd);
	free(all);
	return found;
}

/* Returns the address of a kernel variable, or 0. */
static __u64 address_of(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0, found = 0;
	char line[256], symbol[128], kind;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %127s", &address, &kind, symbol) == 3 &&
		    !strcmp(symbol, name))
			found = address;
	if (f)
		fclose(f);
	return found;
}

/* Returns the number of the frame of a page of this process; 0: not known. */
static __u64 frame_of(const void *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 entry = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry), (unsigned long)page / PAGE * 8) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry & PRESENT ? entry & FRAME_MASK : 0;
}

/*
 * Returns the number of the page frame that the kernel maps for a page that was only read. Returns
 * ~0 if it cannot be read, which needs CAP_SYS_ADMIN.
 */
static __u64 zero_frame(void)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__u64 frame = page != MAP_FAILED && !page[0] ? frame_of((const void *)page) : 0;

	if (page != MAP_FAILED)
		munmap((void *)page, PAGE);
	return frame ?: ~0ULL;
}

/*
 * Returns when the kernel uses huge pages, or large folios of other sizes (from Linux 6.8 on). The
 * value "inherit" of a size stands for the value for all sizes.
 */
static enum fs_resident_use huge_use(void)
{
	enum fs_resident_use use = FS_RESIDENT_NEVER;
	char path[96];

	for (int shift = 3; shift <= 11; shift++) {
		if (shift == 3)
			snprintf(path, sizeof(path), HUGE_FOLDER "enabled");
		else
			snprintf(path, sizeof(path), HUGE_FOLDER "hugepages-%dkB/enabled",
				 1 << shift);
		if (file_contains(path, "[always]"))
			return FS_RESIDENT_ALWAYS;
		if (file_contains(path, "[madvise]"))
			use = FS_RESIDENT_ADVISED;
	}
	return use;
}

#if defined(__x86_64__)

/* Starts of the mapping of all memory, if it is not at random: asm/page_64_types.h. */
static const __u64 map_bases[] = {0xffff888000000000ULL, 0xff11000000000000ULL};
#define MAP_BASE_VARIABLE "page_offset_base"

static __u32 levels(void)
{
	/* The kernel hides the flag if it uses four levels: arch/x86/kernel/cpu/common.c. */
	return file_contains("/proc/cpuinfo", " la57") ? 5 : 4;
}

#elif defined(__aarch64__)

/* PAGE_OFFSET of kernels with addresses of 48, 52 and 39 bits: asm/memory.h. */
static const __u64 map_bases[] = {0xffff000000000000ULL, 0xfff0000000000000ULL,
				  0xffffff8000000000ULL};
#define MAP_BASE_VARIABLE "memstart_addr"

#define BITS_OF_3_LEVELS 39
#define BITS_OF_4_LEVELS 48

/*
 * Returns whether a process can map an address of more than `bits` bits. The kernel uses addresses
 * above 48 bits only for a wish above 2^48: arch_get_mmap_end().
 */
static bool has_more_bits(int bits)
{
	const __u64 wanted = (1ULL << bits) + PAGE;
	char *page = mmap((void *)wanted, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	munmap(page, PAGE);
	return (__u64)page >= wanted;
}

/* Each level translates 9 bits of an address; tables of larger pages are not read. */
static __u32 levels(void)
{
	if (sysconf(_SC_PAGESIZE) != PAGE)
		return 0;
	return has_more_bits(BITS_OF_4_LEVELS) ? 5 : has_more_bits(BITS_OF_3_LEVELS) ? 4 : 3;
}

#endif

void page_table_fill(struct fs_resident_config *ret, bool on)
{
	memset(ret, 0, sizeof(*ret));
	/* without random numbers, no page is chosen */
	if (!on || getrandom(ret->secret, sizeof(ret->secret), 0) != sizeof(ret->secret))
		return;
	ret->secret[0] |= 1;
	ret->secret[1] |= 1;
	ret->on = 1;
	ret->huge = huge_use();
	ret->zero_frame = zero_frame();
	ret->levels = levels();
}

bool page_table_has_program(const char *program)
{
	return !strcmp(program, CHECK) || !strcmp(program, READER);
}

bool page_table_check(const struct bpf_object *object, const struct fs_resident_config *config,
		      const struct fs_shared *shared)
{
	int program = bpf_program__fd(bpf_object__find_program_by_name(object, CHECK));
	volatile char page[2 * PAGE] = {1}; /* its first address is in a page that is present */
	struct fs_page_check check = {
		.address = (unsigned long)page,
		.frame = frame_of((const void *)page),
		.map_base_at = address_of(MAP_BASE_VARIABLE),
	};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &check, .ctx_size_in = sizeof(check));
	size_t tried = 0;

	if (!config->levels || !check.frame || program < 0)
		return false;
	while (tried < sizeof(map_bases) / sizeof(map_bases[0]) && !shared->resident_map_base) {
		check.map_base = map_bases[tried++];
		if (bpf_prog_test_run_opts(program, &run))
			return false;
	}
	return true;
}
