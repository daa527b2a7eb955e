/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of code generated at run time (JIT compilers, Python's trampolines), from lines
 * "START SIZE NAME" that the runtime writes to /tmp/perf-PID.map for perf.
 */
#ifndef FS_COLLECT_SYMBOLS_PERF_MAP_H
#define FS_COLLECT_SYMBOLS_PERF_MAP_H

#include "collect/files/byte_source.h"
#include "collect/symbols/symbol_table.h"

#define PERF_MAP_BYTES (64u << 20) /* maximum number of bytes read of a perf map */

/* The perf map of a process. Initialise with zeros and fd -1. */
struct perf_map {
	int fd;	    /* descriptor of the map, owned; -1: the process has no map */
	__u64 read; /* number of bytes of the file whose lines are in the table */
	struct symbol_table table;
};

/*
 * Opens /tmp/perf-PID.map of a process, below its root and with its pid there; `proc` is from
 * target_open(). Returns 0 or -errno. -ENOENT: there is no map. -EPERM: the owner of the map is
 * neither root nor the process's user.
 */
int perf_map_open(int proc, struct perf_map *ret);

/*
 * Reads new lines of the map, then finds the name of an address. If several lines contain the
 * address, uses the last one, because the runtime may have replaced code.
 */
bool perf_map_find(struct perf_map *m, __u64 ip, char *ret, size_t size, __u64 *ret_offset);

/* Parses "START SIZE NAME" (hexadecimal). Sets *ret_name to the position of the name. */
bool perf_map_parse(const char *line, __u64 *ret_start, __u32 *ret_bytes, size_t *ret_name);

void perf_map_close(struct perf_map *m);

#endif
