/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: page faults by address, for the mappings with most sampled faults, in runs of pages. */
#ifndef FS_RENDER_HTML_ADDRESS_MAP_H
#define FS_RENDER_HTML_ADDRESS_MAP_H

#include "model/samples.h"
#include "render/recording_story.h"

#define ADDRESS_AREAS_MAX 6
#define ADDRESS_ROWS_MAX  (ADDRESS_AREAS_MAX * ADDRESS_RUNS)
#define ADDRESS_RUNS	  12 /* maximum number of runs of pages of an area */

/* A run of pages. Fault numbers are estimates, because each sample stands for several faults. */
struct address_row {
	size_t area;
	uint64_t from, to;
	uint64_t faults, major, stall_ns;
	uint64_t *by_point; /* number of faults by point of the history */
};

/* Touched addresses of overlapping mappings that have one name, in the whole recording. */
struct address_area {
	struct process_key subject;
	uint32_t kind;
	char name[FILE_NAME_LEN];
	uint64_t from, to;
	uint64_t faults;
	size_t first, rows;
};

struct address_map {
	struct address_area area[ADDRESS_AREAS_MAX];
	size_t areas;
	struct address_row row[ADDRESS_ROWS_MAX];
	size_t rows;
	uint64_t faults;    /* estimated number of faults at all addresses */
	uint64_t elsewhere; /* estimated number of faults outside of the areas */
};

/* Makes a map from the sampled faults of a recording. Returns 0 or -ENOMEM. */
int addresses_make(struct address_map *m, const struct story_view *s);
void addresses_free(struct address_map *m);

/* Returns a mapping's file name or kind, such as "libc.so.6" or "anonymous memory". */
const char *address_name(const struct address_area *a);

#endif
