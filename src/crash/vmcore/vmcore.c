// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/vmcore/vmcore.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/vmcore/kernel_log.h"

#define CHUNK	  (16u << 20)
#define PAGE	  4096
#define INFO_MARK "OSRELEASE=" /* VMCOREINFO begins with it: kernel/vmcore_info.c */

bool vmcore_is(int fd)
{
	unsigned char head[20] = {};

	if (pread(fd, head, sizeof(head), 0) < (ssize_t)sizeof(head))
		return false;
	return !memcmp(head, "KDUMP   ", 8) || !memcmp(head, "DISKDUMP", 8) ||
	       !memcmp(head, "makedumpfile", 12) ||
	       (!memcmp(head, ELFMAG, SELFMAG) &&
		(head[head[EI_DATA] == ELFDATA2MSB ? 17 : 16] == ET_CORE));
}

/*
 * Copies VMCOREINFO, if it begins at a page of the chunk. The crash kernel's command line and old
 * copies may have the mark too, so the text must also have the symbol of a log.
 */
static void find_info(const char *chunk, size_t size, char **info)
{
	for (size_t at = 0; at + PAGE <= size && !*info; at += PAGE)
		if (!memcmp(chunk + at, INFO_MARK, strlen(INFO_MARK)) &&
		    memmem(chunk + at, PAGE, "\nPAGESIZE=", 10) &&
		    (memmem(chunk + at, PAGE, "\nSYMBOL(prb)=", 13) ||
		     memmem(chunk + at, PAGE, "\nSYMBOL(log_buf)=", 17)))
			*info = strndup(chunk + at, PAGE);
}

static void read_pages(const struct memory_image *m, uint64_t at, char *chunk, uint64_t size)
{
	for (uint64_t page = 0; page < size; page += PAGE) {
		uint64_t part = size - page < PAGE ? size - page : PAGE;

		if (memory_read(m, at + page, chunk + page, part))
			memset(chunk + page, 0, part);
	}
}

/* Reads all memory once: finds VMCOREINFO and the flight recorder's records. */
static int scan(struct bb_found *f, const struct memory_image *m, char **info)
{
	uint64_t at = 0, size;
	char *chunk = malloc(CHUNK);
	int err = chunk ? 0 : -ENOMEM;

	for (; !err && (at = memory_run(m, at, &size)) != UINT64_MAX; at += size) {
		size = size < CHUNK ? size : CHUNK;
		if (memory_read(m, at, chunk, size)) /* a page of the chunk may be damaged */
			read_pages(m, at, chunk, size);
		if (!*info)
			find_info(chunk, size, info);
		err = bb_scan(f, chunk, size);
		if (at > UINT64_MAX - size)
			break;
	}
	free(chunk);
	return err;
}

static int read_kernel(struct vmcore *v, const struct memory_image *m, char *info)
{
	struct kernel_image k = {.memory = m, .info = info};
	int err = kernel_image_open(&k, &v->why);

	err = err ?: kernel_log_read(&v->log, &k, &v->why);
	if (!err && module_list_read(&v->modules, &k))
		buf_free(&v->modules);
	return err;
}

int vmcore_read(struct vmcore *ret, int fd)
{
	struct memory_image m;
	char *info = NULL;
	int err;

	*ret = (struct vmcore){.why = ""};
	err = memory_image_open(&m, fd, &ret->why);
	if (err)
		return err;
	ret->why = "no memory";
	err = scan(&ret->records, &m, &info);
	if (!err && !info) {
		ret->why = "the kernel's description of itself (VMCOREINFO) is not in it";
		err = -ENODATA;
	}
	err = err ?: read_kernel(ret, &m, info);
	if (!err && ret->log.failed)
		err = -ENOMEM;
	free(info);
	memory_image_close(&m);
	return err;
}

int vmcore_records(struct bb_found *f, int fd)
{
	struct memory_image m;
	const char *why;
	char *info = NULL;
	int err = memory_image_open(&m, fd, &why);

	if (err)
		return err;
	err = scan(f, &m, &info);
	free(info);
	memory_image_close(&m);
	return err;
}

void vmcore_free(struct vmcore *v)
{
	buf_free(&v->log);
	buf_free(&v->modules);
	bb_found_free(&v->records);
}
