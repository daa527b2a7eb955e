/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of code that is made at run time (JITs, Python's trampolines), from the map that
 * its maker writes to /tmp/perf-PID.map: lines "START SIZE NAME", as perf reads them.
 */
#ifndef FS_COLLECT_SYMBOLS_PERF_MAP_H
#define FS_COLLECT_SYMBOLS_PERF_MAP_H

#include "collect/files/byte_source.h"
#include "collect/symbols/symbol_table.h"

#define PERF_MAP_BYTES (64u << 20) /* what is written behind it is not read */

/* Zero-initialise with fd -1. */
struct perf_map {
	int fd;	    /* owned; -1: it has none */
	__u64 read; /* up to where lines are in the table */
	struct symbol_table table;
};

/*
 * Opens that of a process (target_open()): below its own root, by its own pid there, and only where
 * that user or root made it. -ENOENT: it has none; -EPERM: it is another's.
 */
int perf_map_open(int proc, struct perf_map *ret);

/* Reads what was written since the last time, first: of two that hold it, the later one. */
bool perf_map_find(struct perf_map *m, __u64 ip, char *ret, size_t size, __u64 *ret_offset);

/* One line: "START SIZE NAME"; hexadecimal. *ret_name: where the name begins. */
bool perf_map_parse(const char *line, __u64 *ret_start, __u32 *ret_bytes, size_t *ret_name);

void perf_map_close(struct perf_map *m);

#endif
