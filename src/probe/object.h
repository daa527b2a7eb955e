/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the BPF object in one of its builds (bpf/compat.bpf.h), and memory shared with it. */
#ifndef FS_PROBE_OBJECT_H
#define FS_PROBE_OBJECT_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

#include "probe/kernel_types.h"
#include "probe/parallel_load.h"
#include "wire.h"

enum object_build {
	OBJECT_FULL,
	OBJECT_PLAIN, /* the build that calls no kfuncs */
	OBJECT_HASH,  /* the build that keeps state in hash tables by pid, for old kernels */
};

struct object {
	struct bpf_object *obj; /* BPF object of libbpf; NULL: not open */
	enum object_build build;
	struct fs_config *config; /* settings of the programs; NULL after the load */
	struct fs_shared *shared; /* memory shared with the programs; set by the load */
	/* Tables, valid after the load; NULL if growth is not recorded. */
	const struct growth *growth; /* the first growth_rows rows: see object_map_growth() */
	__u32 growth_rows;
	struct fs_spare *spares; /* GROWTH_MAX entries */
	struct kernel_types types; /* empty after the load */
	struct loading *rest;	   /* programs that object_load_rest() loads; NULL: none */
};

/*
 * Opens a build. `btf_path` is a file with the kernel's BTF; if it is NULL, call
 * object_read_types() before the load. Returns 0 or -errno.
 */
int object_open(struct object *o, enum object_build build, const char *btf_path);

/*
 * Reads the types of the running kernel that the programs use. Returns them, valid until the load,
 * or NULL.
 */
struct btf *object_read_types(struct object *o);

/* Returns how many fds the load of the selected programs and maps needs at least. */
size_t object_files(const struct object *o);

/*
 * Call object_size_tables() between open and load. The function sizes tables for the CPUs of this
 * machine, tables by pid for `processes`, and the ring for `ring_bytes` (a power of two).
 */
void object_size_tables(struct object *o, __u32 ring_bytes, __u64 processes);

/*
 * Call object_size_lru_tables() between open and load. The function enlarges every LRU hash table
 * of an object to at least 256 entries per possible CPU. Each CPU reserves up to 128 free entries
 * (kernel/bpf/bpf_lru_list.c, LOCAL_FREE_TARGET), so a smaller table would evict entries in use.
 */
void object_size_lru_tables(struct bpf_object *obj);

/*
 * Call object_adopt() between open and load. The object will use the maps of a loaded object of the
 * same build, except for its settings. Returns 0 or -errno.
 */
int object_adopt(struct object *o, const struct object *from);

/*
 * Loads the selected programs, and maps shared memory. If `growth` is set, also maps the tables of
 * growth. If `now` is not NULL, loads only the programs for which it returns true. Returns 0 or
 * -errno.
 */
int object_load(struct object *o, bool growth, parallel_load_filter now, void *ctx);

/* Returns whether selected programs are not loaded yet. */
bool object_has_rest(const struct object *o);

/* Loads the selected programs that object_load() left. Returns 0 or -errno. */
int object_load_rest(struct object *o);

/*
 * Maps at least the first `rows` rows of the table of growth, at most GROWTH_MAX. Mapped memory
 * counts as resident memory of faultscope, so the rows that were never used are not mapped. Returns
 * 0 or -errno; after an error, the mapped rows stay.
 */
int object_map_growth(struct object *o, __u32 rows);

/* Closes an object; does nothing if it is not open. */
void object_close(struct object *o);

/* Returns a program by name, or NULL if this build has no such program. */
struct bpf_program *object_program(const struct object *o, const char *name);

/* Returns whether a program attaches by a type id, which only the kernel's own BTF has. */
bool object_is_typed(const struct object *o, const char *program);

/* Returns whether the kernel's BTF lacks the function or tracepoint that a program attaches to. */
bool object_lacks_target(const struct object *o, const char *program, const struct btf *kernel);

/*
 * Returns whether object_lacks_target() is true for at least one of `n` programs. A NULL ends the
 * list early.
 */
bool object_lacks_one(const struct object *o, const char *const *programs, size_t n,
		      const struct btf *kernel);

struct bpf_map *object_map(const struct object *o, const char *name);

#endif
