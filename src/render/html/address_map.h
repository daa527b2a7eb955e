/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: where processes faulted, by address: the mappings that most of the faults that were drawn
 * went to, each in runs of pages.
 */
#ifndef FS_RENDER_HTML_ADDRESS_MAP_H
#define FS_RENDER_HTML_ADDRESS_MAP_H

#include "model/samples.h"
#include "render/recording_story.h"

#define ADDRESS_AREAS_MAX 6
#define ADDRESS_ROWS_MAX  (ADDRESS_AREAS_MAX * ADDRESS_RUNS)
#define ADDRESS_RUNS	  12 /* of an area, at most */

/* A run of pages. Faults are about: each that was drawn stands for some. */
struct address_row {
	size_t area;
	uint64_t from, to;
	uint64_t faults, major, stall_ns;
	uint64_t *by_point; /* faults */
};

/* Mappings of one name that touched, over all of the recording. */
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
	uint64_t faults;    /* of all that were drawn */
	uint64_t elsewhere; /* of these: in areas that are not among the most */
};

/* -ENOMEM. */
int addresses_make(struct address_map *m, const struct story_view *s);
void addresses_free(struct address_map *m);

/* "libc.so.6", "anonymous memory", ... */
const char *address_name(const struct address_area *a);

#endif
