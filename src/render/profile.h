/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: a recording as a profile: what was measured, by workload, process and user stack. Page
 * faults and their stall are known by process; what made mappings and descriptors by stack too.
 */
#ifndef FS_RENDER_PROFILE_H
#define FS_RENDER_PROFILE_H

#include "render/story.h"

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

struct profile_sample {
	const struct history_row *row; /* NULL: the process is not known any more */
	uint64_t value[NR_MEASURES];
	uint32_t frames;
	uint32_t frame[PROFILE_FRAMES]; /* numbers of names, the outermost first */
};

struct profile {
	char **name;
	size_t names, names_room;
	uint32_t *bucket;
	struct profile_sample *sample;
	size_t samples, samples_room;
	uint64_t total[NR_MEASURES];
	uint64_t left_out; /* samples beyond the cap */
};

/* -ENOMEM. */
int profile_make(struct profile *p, const struct story_view *s);
void profile_free(struct profile *p);

/* A frame of "symbol+0x12 (module)": what is before the parenthesis, and what is in it. */
void profile_frame_parts(const char *frame, size_t *ret_symbol, const char **ret_module,
			 size_t *ret_module_len);

#endif
