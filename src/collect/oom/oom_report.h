/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: parses the report that the kernel logs just before it kills a process for lack of
 * memory: dump_header() in mm/oom_kill.c, mem_cgroup_print_oom_meminfo() in mm/memcontrol.c,
 * show_mem() in mm/show_mem.c. Accepts the reports of Linux 5.10 and later. Pure: the caller passes
 * lines.
 */
#ifndef FS_COLLECT_OOM_OOM_REPORT_H
#define FS_COLLECT_OOM_OOM_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "records/oom_records.h"

/* Columns of the kernel's table of tasks. */
enum oom_column {
	OOM_COLUMN_TGID,
	OOM_COLUMN_RSS,
	OOM_COLUMN_ANON,
	OOM_COLUMN_FILE,
	OOM_COLUMN_SHMEM,
	OOM_COLUMN_PAGE_TABLES,
	OOM_COLUMN_SWAP,
	OOM_COLUMN_ADJ,
	OOM_COLUMN_NAME,
	NR_OOM_COLUMNS,
};

/* The part of the report that a line belongs to. */
enum oom_section {
	OOM_SECTION_NONE,
	OOM_SECTION_TRACE,
	OOM_SECTION_CGROUP,
	OOM_SECTION_HOST,
	OOM_SECTION_TASKS,
};

/* Values that the kernel prints, in bytes; FIGURE_UNKNOWN: not printed. */
enum oom_printed {
	PRINTED_USED,
	PRINTED_LIMIT,
	PRINTED_SWAP_USED,
	PRINTED_SWAP_LIMIT,
	PRINTED_KMEM,
	PRINTED_ANON,
	PRINTED_FILE,
	PRINTED_SHMEM,
	PRINTED_DIRTY,
	PRINTED_WRITEBACK,
	PRINTED_UNEVICTABLE,
	PRINTED_KERNEL_STACK,
	PRINTED_PAGE_TABLES,
	PRINTED_SOCK,
	PRINTED_SLAB_RECLAIMABLE,
	PRINTED_SLAB_UNRECLAIMABLE,
	PRINTED_HUGETLB,
	PRINTED_FREE,
	PRINTED_RAM,
	PRINTED_RESERVED,
	PRINTED_SWAP_TOTAL,
	PRINTED_SWAP_FREE,
	NR_OOM_PRINTED,
};

struct oom_report {
	bool begun;	     /* the first line of a report was seen */
	uint64_t page_bytes; /* bytes of a page */
	enum oom_section section;
	uint32_t constraint; /* enum oom_constraint */
	uint32_t order;
	char gfp[64];
	uint64_t printed[NR_OOM_PRINTED];
	uint64_t tasks, tasks_kept_bytes, tasks_page_table_bytes;
	size_t holders;
	struct oom_holder_record holder[OOM_HOLDERS]; /* sorted by memory */
	signed char column[NR_OOM_COLUMNS];	      /* index of each column; -1: not printed */
	char path[256];
	char zone[32];
	uint64_t zone_free, zone_min;
	char cgroup[256], victim_cgroup[256];
	uint32_t pid; /* the process that is killed; valid if the report is complete */
};

void oom_report_begin(struct oom_report *r, uint64_t page_bytes);

/* Takes a line without its time stamp. Returns true if it is the last line of a report. */
bool oom_report_line(struct oom_report *r, const char *line);

/*
 * Fills the values of a scene from a complete report: `used`, `limit`, `memory` and others. Kinds
 * of memory that the kernel does not print separately are part of OTHER_KERNEL.
 */
void oom_report_fill(const struct oom_report *r, struct oom_scene_record *ret);

#endif
