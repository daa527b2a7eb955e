/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: what the BPF programs must know to read page table entries, and to choose pages at random:
 * see bpf/wire_resident.h.
 */
#ifndef FS_PROBE_PAGE_TABLE_H
#define FS_PROBE_PAGE_TABLE_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"

/*
 * Fills the settings; `on`: pages are to be chosen. If pages do not have 4 KiB, `levels` stays 0:
 * each fault then counts as one that adds a page.
 */
void page_table_fill(struct fs_resident_config *ret, bool on);

/*
 * Returns whether a program is the one that tests whether programs can read page tables, or the one
 * that reads them for src/resident.
 */
bool page_table_has_program(const char *program);

/*
 * Runs the first of these programs for each address where this architecture may map all memory,
 * until it finds a page of this process. Returns whether it ran; shared.resident_map_base then says
 * whether programs can read page tables.
 */
bool page_table_check(const struct bpf_object *object, const struct fs_resident_config *config,
		      const struct fs_shared *shared);

#endif
