/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: a recording as a profile: what was measured, by workload, process and user stack. Of page
 * faults the sums of a process are what was counted; its stacks share in them as in the faults that
 * were drawn.
 */
#ifndef FS_RENDER_PROFILE_H
#define FS_RENDER_PROFILE_H

#include "render/recording_story.h"

#define PROFILE_FRAMES 64 /* of a sample */

enum profile_measure {
	MEASURE_FAULTS,
	MEASURE_STALL,
	MEASURE_BYTES,
	MEASURE_MAPS,
	MEASURE_FDS,
	NR_MEASURES,
};

struct measure {
	const char *key, *title, *unit;
};

extern const struct measure measures[NR_MEASURES];

/* When: in a column of story_columns(), in parts of what all of its sample are worth. */
struct profile_cell {
	uint32_t column;
	uint64_t faults, stall_ns;
};

struct profile_sample {
	const struct history_row *row; /* NULL: the process is not known any more */
	uint64_t value[NR_MEASURES];
	uint64_t first_ns, last_ns; /* both 0: by its cells, or its process */
	size_t cell, cells;	    /* of the profile's */
	uint32_t frames;
	uint32_t frame[PROFILE_FRAMES]; /* numbers of names, the outermost first */
};

struct profile {
	char **name;
	size_t names, names_room;
	uint32_t *bucket;
	struct profile_sample *sample;
	size_t samples, samples_room;
	unsigned char *drawn; /* by row of the history: bits of ends that are told by stack */
	struct profile_cell *cell;
	size_t cells, cells_room;
	uint64_t total[NR_MEASURES];
	/* samples beyond the cap, or with a name beyond that of names: their values are in one
	 * sample more, HISTORY_OTHERS, so that sums stay exact */
	uint64_t left_out;
	struct profile_sample others;
};

/* -ENOMEM. */
int profile_make(struct profile *p, const struct story_view *s);
void profile_free(struct profile *p);

/* The first of which there is anything. */
enum profile_measure profile_first_measure(const struct profile *p);

/* A frame of "symbol+0x12 (module)": what is before the parenthesis, and what is in it. */
void profile_frame_parts(const char *frame, size_t *ret_symbol, const char **ret_module,
			 size_t *ret_module_len);

#endif
