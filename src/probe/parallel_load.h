/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: loads the programs of a BPF object in several threads, since the verifier takes most of
 * the time of a load. libbpf prepares each program, and loads a placeholder instead. The threads
 * load the programs themselves, which then take over the file descriptors of the placeholders.
 */
#ifndef FS_PROBE_PARALLEL_LOAD_H
#define FS_PROBE_PARALLEL_LOAD_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "probe/kernel_types.h"

/*
 * Begins before the object is opened, and ends after the load. In between, libbpf must open no
 * other object. If it fails, parallel_load() loads all programs one after the other.
 */
void parallel_load_begin(void);
void parallel_load_end(void);

/* Returns whether a program is loaded now; the others are loaded later. */
typedef bool (*parallel_load_filter)(void *ctx, const struct bpf_program *prog);

/* Programs that are prepared, but not loaded yet. */
struct loading;

/*
 * Loads an object in place of bpf_object__load(). `types` are the kernel's types. If `now` is not
 * NULL, it selects the programs to load; *ret_rest is then the rest of them, owned by the caller,
 * or NULL if there is no rest. Returns 0 or -errno; load_log() says why.
 */
int parallel_load(struct bpf_object *obj, const struct kernel_types *types,
		  parallel_load_filter now, void *ctx, struct loading **ret_rest);

/* Loads and frees the rest, while its object is open. Returns 0 or -errno; load_log() says why. */
int parallel_load_rest(struct loading *rest);

/* Frees the rest without loading it; NULL is allowed. */
void parallel_load_free(struct loading *rest);

/* Returns whether a program attaches to a tracepoint by the id of its type. */
bool parallel_load_is_typed(const struct bpf_program *prog);

/*
 * Attaches a program in place of bpf_program__attach(), which needs what parallel_load_end() ends.
 */
struct bpf_link *parallel_load_attach(struct bpf_program *prog);

#endif
