/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the BPF object in one of its builds (bpf/compat.bpf.h), and memory shared with it. */
#ifndef FS_PROBE_OBJECT_H
#define FS_PROBE_OBJECT_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"

enum object_build {
	OBJECT_FULL,
	OBJECT_PLAIN, /* build that calls no kfuncs */
	OBJECT_HASH,  /* build with state in tables by pid, for old kernels */
};

struct object {
	struct bpf_object *obj; /* BPF object of libbpf; NULL: not open */
	enum object_build build;
	struct fs_config *config; /* settings of the programs, until the load */
	struct fs_shared *shared; /* memory shared with the programs, after the load */
	/* Tables of GROWTH_MAX entries, valid after the load. NULL: growth is not recorded. */
	const struct growth *growth;
	struct fs_spare *spares;
};

/* Opens a build. `btf_path`: file with the kernel's BTF; NULL: libbpf finds it. 0 or -errno. */
int object_open(struct object *o, enum object_build build, const char *btf_path);

/* Returns the minimum number of files that the selected programs and maps need. */
size_t object_files(const struct object *o);

/*
 * Call between open and load. Sizes tables for the CPUs of this machine, tables by pid for a number
 * of processes, and the ring in bytes (a power of two; 0: default).
 */
void object_size_tables(struct object *o, __u32 ring_bytes, __u64 processes);

/*
 * Call between open and load. Enlarges every LRU hash of an object to at least 256 entries per
 * possible CPU. Each CPU reserves up to 128 free entries (kernel/bpf/bpf_lru_list.c,
 * LOCAL_FREE_TARGET): a smaller table evicts entries in use.
 */
void object_size_lru_tables(struct bpf_object *obj);

/* Loads the selected programs, and maps shared memory (`growth`: growth too). 0 or -errno. */
int object_load(struct object *o, bool growth);

/* Closes an object; does nothing if it is not open. */
void object_close(struct object *o);

/* Returns NULL if this build has no such program. */
struct bpf_program *object_program(const struct object *o, const char *name);

/* Returns whether a program attaches to a type of the kernel, which only the kernel's BTF has. */
bool object_is_typed(const struct object *o, const char *program);

/* Returns whether a typed program's target is missing in the kernel's BTF: its load would fail. */
bool object_lacks_target(const struct object *o, const char *program, const struct btf *kernel);

/* As object_lacks_target(), for any of at most `n` programs; NULL ends the list. */
bool object_lacks_one(const struct object *o, const char *const *programs, size_t n,
		      const struct btf *kernel);

struct bpf_map *object_map(const struct object *o, const char *name);

#endif
