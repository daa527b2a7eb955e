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

/*
 * Loads an object in place of bpf_object__load(). `types` are the kernel's types. Returns 0 or
 * -errno; load_log() says why.
 */
int parallel_load(struct bpf_object *obj, const struct kernel_types *types);

/* Returns whether a program attaches to a tracepoint by the id of its type. */
bool parallel_load_is_typed(const struct bpf_program *prog);

/*
 * Attaches a program in place of bpf_program__attach(), which needs what parallel_load_end() ends.
 */
struct bpf_link *parallel_load_attach(struct bpf_program *prog);

#endif
