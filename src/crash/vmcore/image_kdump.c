// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <libkdumpfile/kdumpfile.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "crash/vmcore/kdump_library.h"
#include "crash/vmcore/memory_image.h"

#define PAGE_BYTES_LEAST 16 /* of a page in a dump; the description of a page has 24 */
#define FAILURES_MAX 64 /* reads that may fail, before the rest of the dump counts as damaged */
/*
 * After a read that fails and takes as long, the rest counts as damaged at once. libkdumpfile 0.5.5
 * reads a page of damaged size for seconds, even behind the end of the file.
 */
#define SLOW_FAILURE_NS 200000000ULL

struct kdump_image {
	int fd;
	unsigned int failures;
	kdump_ctx_t *context; /* NULL: too many reads failed */
	kdump_bmp_t *pages;   /* bit i is set if the dump has page i; the first context owns it */
	uint64_t page_size;
	uint64_t end; /* pages from this one on are not read: see end_of_pages() */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int open_context(struct kdump_image *k)
{
	k->context = kdump_new();
	if (!k->context)
		return -ENOMEM;
	/* If a file shrinks while it is mapped, a read raises SIGBUS. */
	kdump_set_number_attr(k->context, KDUMP_ATTR_FILE_MMAP_POLICY, KDUMP_MMAP_NEVER);
	return kdump_open_fd(k->context, k->fd) == KDUMP_OK ? 0 : -EINVAL;
}

/* Returns whether the dump has all pages of a range. */
static bool has_pages(const struct kdump_image *k, uint64_t first, uint64_t last)
{
	kdump_addr_t set = first, clear = first;

	if (kdump_bmp_find_set(k->pages, &set) != KDUMP_OK || set != first)
		return false;
	return kdump_bmp_find_clear(k->pages, &clear) != KDUMP_OK || clear > last;
}

static int read_pages(void *of, uint64_t at, void *to, size_t size)
{
	struct kdump_image *k = of;
	uint64_t begin = now_ns();
	size_t n = size;

	if (!k->context || !size ||
	    !has_pages(k, at / k->page_size, (at + size - 1) / k->page_size))
		return -ENODATA;
	if (kdump_read(k->context, KDUMP_MACHPHYSADDR, at, to, &n) == KDUMP_OK && n == size)
		return 0;
	/*
	 * After a read that fails, libkdumpfile 0.5.1 may crash in a later read. So this context is
	 * not used again.
	 */
	k->context = NULL;
	if (++k->failures < FAILURES_MAX && now_ns() - begin < SLOW_FAILURE_NS && open_context(k))
		k->context = NULL;
	return -ENODATA;
}

/* Returns the page after the run of pages that begins at page `first`. */
static kdump_addr_t end_of_run(const struct kdump_image *k, kdump_addr_t first)
{
	kdump_addr_t end = first;

	return kdump_bmp_find_clear(k->pages, &end) == KDUMP_OK && end > first ? end : first + 1;
}

/*
 * Returns the page after the last one that a dump of this size can have. Each page of a dump takes
 * some bytes, but a damaged dump may claim any number of pages, and libkdumpfile 0.5.5 reads zeros
 * for those that are not in the file.
 */
static kdump_addr_t end_of_pages(const struct kdump_image *k, uint64_t bytes)
{
	uint64_t left = bytes / PAGE_BYTES_LEAST + 1;
	kdump_addr_t first = 0, end;

	for (; kdump_bmp_find_set(k->pages, &first) == KDUMP_OK; first = end) {
		end = end_of_run(k, first);
		if (end - first >= left)
			return first + left;
		left -= end - first;
	}
	return UINT64_MAX;
}

static uint64_t next_run(void *of, uint64_t at, uint64_t *ret_size)
{
	struct kdump_image *k = of;
	kdump_addr_t first = at / k->page_size, end;
	uint64_t begin;

	if (kdump_bmp_find_set(k->pages, &first) != KDUMP_OK || first >= k->end)
		return UINT64_MAX;
	end = end_of_run(k, first);
	if (end > k->end)
		end = k->end;
	begin = first * k->page_size;
	if (begin < at)
		begin = at;
	*ret_size = end * k->page_size - begin;
	return begin;
}

/* The context is not freed: kdump_free() of libkdumpfile 0.5.1 uses memory that it has freed. */
static void close_image(void *of)
{
	free(of);
}

static const struct memory_format format = {read_pages, next_run, close_image};

static int machine_of(kdump_ctx_t *context)
{
	const char *name = "";

	kdump_get_string_attr(context, KDUMP_ATTR_ARCH_NAME, &name);
	return !strcmp(name, KDUMP_ARCH_X86_64)	   ? EM_X86_64
	       : !strcmp(name, KDUMP_ARCH_AARCH64) ? EM_AARCH64
						   : EM_NONE;
}

/* Returns whether a dump is a stream of pieces, as makedumpfile -F and QEMU write it. */
static bool is_flat(int fd)
{
	char head[12] = "";

	return pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	       !memcmp(head, "makedumpfile", sizeof(head));
}

static uint64_t file_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_size;
}

int memory_open_kdump(struct memory_image *ret, int fd, const char **ret_why)
{
	struct kdump_image *k;
	kdump_attr_t pages = {};
	kdump_num_t page_size = 0;

	if (kdump_library_load()) {
		*ret_why = "it is compressed, and libkdumpfile, which reads such dumps, is missing "
			   "or too old; get the log by: makedumpfile --dump-dmesg FILE dmesg.txt";
		return -ENOTSUP;
	}
	k = calloc(1, sizeof(*k));
	*ret_why = "no memory";
	if (!k)
		return -ENOMEM;
	k->fd = fd;
	*ret_why = is_flat(fd) ? "it is in the flattened format, which libkdumpfile reads since "
				 "0.5.3; rearrange it by: makedumpfile -R DUMP < FILE"
			       : "libkdumpfile cannot read it: it is damaged, or of an unknown "
				 "format; try: makedumpfile --dump-dmesg DUMP FILE";
	if (open_context(k) ||
	    kdump_get_number_attr(k->context, KDUMP_ATTR_PAGE_SIZE, &page_size) != KDUMP_OK ||
	    kdump_get_attr(k->context, KDUMP_ATTR_FILE_PAGEMAP, &pages) != KDUMP_OK ||
	    pages.type != KDUMP_BITMAP || !page_size) {
		close_image(k);
		return -EINVAL;
	}
	k->pages = pages.val.bitmap;
	k->page_size = page_size;
	k->end = end_of_pages(k, file_bytes(fd));
	*ret = (struct memory_image){&format, k, machine_of(k->context)};
	return 0;
}
