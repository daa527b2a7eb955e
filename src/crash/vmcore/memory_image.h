/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Physical memory in a dump: an ELF file (kdump, QEMU, libvirt), or a file of makedumpfile. */
#ifndef FS_CRASH_VMCORE_MEMORY_IMAGE_H
#define FS_CRASH_VMCORE_MEMORY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct memory_image;

/* What the file formats implement. `of` is the format's own data. */
struct memory_format {
	/* Reads memory that lies in one run. Returns 0, or -ENODATA if the dump does not have it.
	 */
	int (*read)(void *of, uint64_t at, void *to, size_t size);
	/*
	 * Finds the first run of memory that the dump has at or after `at`. Returns its address,
	 * and sets *ret_size; UINT64_MAX: there is none.
	 */
	uint64_t (*run)(void *of, uint64_t at, uint64_t *ret_size);
	void (*close)(void *of);
};

/* A number of enum e_machine in elf.h: EM_X86_64, EM_AARCH64, or another; EM_NONE: not known. */
struct memory_image {
	const struct memory_format *format;
	void *of;
	int machine;
};

/* Open a dump. Return 0, or -errno with the reason in *ret_why. The caller keeps the file open. */
int memory_image_open(struct memory_image *ret, int fd, const char **ret_why);
int memory_open_elf(struct memory_image *ret, int fd, const char **ret_why);
int memory_open_kdump(struct memory_image *ret, int fd, const char **ret_why);

int memory_read(const struct memory_image *m, uint64_t at, void *to, size_t size);
uint64_t memory_run(const struct memory_image *m, uint64_t at, uint64_t *ret_size);
void memory_image_close(struct memory_image *m);

#endif
