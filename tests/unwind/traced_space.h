/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests: the executable mappings of a stopped process, with the unwind table of each file. */
#ifndef FS_TESTS_TRACED_SPACE_H
#define FS_TESTS_TRACED_SPACE_H

#include <sys/types.h>

#include "unwind/unwind_walk.h"

#define TRACED_FILES_MAX 1024
#define TRACED_AREAS_MAX 8192

struct traced_file {
	char name[64]; /* device and inode of the file, or "[vdso]" */
	bool readable;
	struct unwind_table table;
};

/* The tables of all files, which several processes may share. */
struct traced_files {
	struct rule_set rules;
	struct traced_file *file[TRACED_FILES_MAX];
	size_t n;
};

struct traced_space {
	pid_t pid;
	struct traced_files *files; /* borrowed */
	struct unwind_area area[TRACED_AREAS_MAX];
	char path[TRACED_AREAS_MAX][96];
	struct unwind_space space;
};

struct traced_files *traced_files_new(void);

void traced_files_free(struct traced_files *f);

/* Makes the space of a process, without mappings. `files` is borrowed. */
struct traced_space *traced_space_new(pid_t pid, struct traced_files *files);

/* Reads /proc/PID/maps again. */
void traced_space_update(struct traced_space *t);

/*
 * Adds a mapping after the others. `name` identifies the file; NULL: the mapping has no file.
 * `path` is printed in messages. `link` is the path that is opened.
 */
void traced_space_add(struct traced_space *t, __u64 start, __u64 end, __u64 offset,
		      const char *name, const char *path, const char *link);

/* Reads a word of the process's memory. */
bool traced_space_word(void *pid, __u64 at, __u64 *ret);

/* Returns the name of the file that contains an address, for messages. */
const char *traced_space_name(const struct traced_space *t, __u64 pc, __u64 *ret_address);

void traced_space_free(struct traced_space *t);

#endif
