/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps copies of the test's own program under other names, so that functions of the test appear as
 * functions of other programs and libraries. Each copy has its own build-id.
 */
#ifndef FS_TESTS_MAPPED_PROGRAM_H
#define FS_TESTS_MAPPED_PROGRAM_H

#define _GNU_SOURCE
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/files/byte_source.h"
#include "collect/symbols/elf_headers.h"
#include "collect/symbols/exec_maps.h"

struct program {
	char place[32]; /* directory of the copies */
	char *bytes;	/* contents of the program's file, owned */
	size_t n;
	__u64 start, offset; /* start of the program's code, in memory and in its file */
	__u8 build_id[BUILD_ID_BYTES];
};

static inline int program_find_code(void *ctx, const struct exec_map *m)
{
	struct program *p = ctx;
	__u64 here = (unsigned long)program_find_code;

	if (here >= m->start && here < m->end) {
		p->start = m->start;
		p->offset = m->offset;
	}
	return 0;
}

/* Reads the program of this process, and makes a directory for copies of it. */
static inline void program_read(struct program *p)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), proc;
	struct byte_source source = {.fd = fd};
	struct elf_headers headers;
	struct stat st;
	bool cut;

	elf_version(EV_CURRENT);
	snprintf(p->place, sizeof(p->place), "/tmp/mapped_program.XXXXXX");
	if (fd < 0 || fstat(fd, &st) || !mkdtemp(p->place))
		exit(1);
	p->n = source.bytes = st.st_size;
	p->bytes = malloc(p->n);
	if (!p->bytes || read(fd, p->bytes, p->n) != (ssize_t)p->n ||
	    elf_headers_read(&source, &headers))
		exit(1);
	close(fd);
	memcpy(p->build_id, headers.build_id, BUILD_ID_BYTES);
	proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	exec_maps_each(proc, EXEC_MAPS_FILES, true, program_find_code, p, &cut);
	close(proc);
}

/* Returns the offset of a function in the program's file. */
static inline __u64 program_offset(const struct program *p, const void *function)
{
	return (unsigned long)function - p->start + p->offset;
}

/* Returns the path of a copy. The text stays valid until the next call. */
static inline const char *program_path(const struct program *p, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", p->place, name);
	return path;
}

static inline void program_put(const struct program *p, const char *name, const char *bytes,
			       size_t n)
{
	int fd = open(program_path(p, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		exit(1);
	close(fd);
}

/* Maps a whole file as code, and returns its address. */
static inline char *program_map(const struct program *p, const char *name, size_t n)
{
	int fd = open(program_path(p, name), O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (fd < 0 || at == MAP_FAILED)
		exit(1);
	close(fd);
	return at;
}

/*
 * Maps a copy of the program, whose build-id differs from the program's by `id` in the last byte.
 * Returns the address of the mapping, and stores the build-id.
 */
static inline char *program_copy(const struct program *p, const char *name, __u8 id,
				 __u8 ret_id[BUILD_ID_BYTES])
{
	char *note = memmem(p->bytes, p->n, p->build_id, BUILD_ID_BYTES);

	if (!note)
		exit(1);
	memcpy(ret_id, note, BUILD_ID_BYTES);
	ret_id[BUILD_ID_BYTES - 1] ^= id;
	note[BUILD_ID_BYTES - 1] ^= id;
	program_put(p, name, p->bytes, p->n);
	note[BUILD_ID_BYTES - 1] ^= id;
	return program_map(p, name, p->n);
}

static inline void program_forget(const struct program *p, const char *name, char *at)
{
	munmap(at, p->n);
	unlink(program_path(p, name));
}

static inline void program_free(struct program *p)
{
	rmdir(p->place);
	free(p->bytes);
}

#endif
