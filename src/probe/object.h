/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the kernel side as a BPF object, in one of its builds (bpf/compat.bpf.h), and what it
 * shares with us.
 */
#ifndef FS_PROBE_OBJECT_H
#define FS_PROBE_OBJECT_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"

enum object_build {
	OBJECT_FULL,
	OBJECT_PLAIN, /* without kfuncs */
	OBJECT_HASH,  /* state in tables by pid, not on the task; nothing new of the kernel */
};

struct object {
	struct bpf_object *obj; /* NULL: not open */
	enum object_build build;
	struct fs_config *config; /* until the load */
	struct fs_shared *shared; /* after the load */
	/* after the load, GROWTH_MAX each; NULL: growth is not kept */
	const struct growth *growth;
	struct fs_spare *spares;
};

/* Opens a build of it. `btf_path`: the kernel's BTF; NULL: where libbpf looks. 0, -errno. */
int object_open(struct object *o, enum object_build build, const char *btf_path);

/* How many files the programs and maps that are to be loaded will be, at least. */
size_t object_files(const struct object *o);

/*
 * Between open and load: room for what the CPUs here need at least, for that many processes in
 * tables by pid, and a ring of that many bytes (a power of two; 0: as it is built).
 */
void object_size_tables(struct object *o, __u32 ring_bytes, __u64 processes);

/*
 * Between open and load: enlarges every LRU hash of an object to 256 entries a CPU that can be,
 * where it has fewer. Each CPU takes up to 128 free entries ahead of its need
 * (kernel/bpf/bpf_lru_list.c, LOCAL_FREE_TARGET): a table with fewer than that for each CPU loses
 * entries that are in use.
 */
void object_size_lru_tables(struct bpf_object *obj);

/* Loads what is selected, and maps what is shared; `growth`: that too. 0, -errno. */
int object_load(struct object *o, bool growth);

/* Safe on one that is not open. */
void object_close(struct object *o);

/* NULL where this build has no such program. */
struct bpf_program *object_program(const struct object *o, const char *name);

/* Whether a program's target is a type of the kernel, found by its own BTF only. */
bool object_is_typed(const struct object *o, const char *program);

/* Whether such a program's target is not among the types of the kernel: it would fail the load. */
bool object_lacks_target(const struct object *o, const char *program, const struct btf *kernel);

/* The same of any of `n` programs, of which NULL is the last. */
bool object_lacks_one(const struct object *o, const char *const *programs, size_t n,
		      const struct btf *kernel);

struct bpf_map *object_map(const struct object *o, const char *name);

#endif
