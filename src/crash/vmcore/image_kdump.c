// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <libkdumpfile/kdumpfile.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/vmcore/memory_image.h"

#define FAILURES_MAX 64 /* reads that may fail, before the rest of the dump counts as damaged */

struct kdump_image {
	int fd;
	unsigned int failures;
	kdump_ctx_t *context; /* NULL: too many reads failed */
	kdump_bmp_t *pages;   /* bit i is set if the dump has page i */
	uint64_t page_size;
};

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
	size_t n = size;

	if (!k->context || !size ||
	    !has_pages(k, at / k->page_size, (at + size - 1) / k->page_size))
		return -ENODATA;
	if (kdump_read(k->context, KDUMP_MACHPHYSADDR, at, to, &n) == KDUMP_OK && n == size)
		return 0;
	/*
	 * After a read that fails, libkdumpfile 0.5.1 may crash in a later read and when it frees
	 * the context. So this context is neither used nor freed.
	 */
	k->context = NULL;
	if (++k->failures < FAILURES_MAX && open_context(k))
		k->context = NULL;
	return -ENODATA;
}

static uint64_t next_run(void *of, uint64_t at, uint64_t *ret_size)
{
	struct kdump_image *k = of;
	kdump_addr_t first = at / k->page_size, end;
	uint64_t begin;

	if (kdump_bmp_find_set(k->pages, &first) != KDUMP_OK)
		return UINT64_MAX;
	end = first;
	if (kdump_bmp_find_clear(k->pages, &end) != KDUMP_OK || end <= first)
		end = first + 1;
	begin = first * k->page_size;
	if (begin < at)
		begin = at;
	*ret_size = end * k->page_size - begin;
	return begin;
}

static void close_image(void *of)
{
	struct kdump_image *k = of;

	if (k->pages && !k->failures) /* the pages belong to the first context */
		kdump_bmp_decref(k->pages);
	if (k->context && !k->failures)
		kdump_free(k->context);
	free(k);
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

int memory_open_kdump(struct memory_image *ret, int fd, const char **ret_why)
{
	struct kdump_image *k = calloc(1, sizeof(*k));
	kdump_attr_t pages = {.type = KDUMP_BITMAP};
	kdump_num_t page_size = 0;

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
	    kdump_get_typed_attr(k->context, KDUMP_ATTR_FILE_PAGEMAP, &pages) != KDUMP_OK ||
	    !page_size) {
		free(k); /* the context is not freed: libkdumpfile 0.5.1 may crash there */
		return -EINVAL;
	}
	k->pages = pages.val.bitmap;
	k->page_size = page_size;
	*ret = (struct memory_image){&format, k, machine_of(k->context)};
	return 0;
}
