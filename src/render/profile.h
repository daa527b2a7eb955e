/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: a recording as a profile, by workload, process and user stack. The number of a process's
 * faults and the time that it waited for them (stall) are exact. They are divided between its
 * stacks in proportion to the sampled faults. Resident memory is an estimate (model/resident.h).
 */
#ifndef FS_RENDER_PROFILE_H
#define FS_RENDER_PROFILE_H

#include "render/recording_story.h"

#define PROFILE_FRAMES 384 /* maximum number of frames of a sample */

/* A frame in a profile. Texts are empty if they are not known. */
struct profile_name {
	char *texts; /* memory of all texts, owned */
	const char *text, *function, *file, *module;
	uint32_t line;
	/* number of the function that the compiler inlined this one into, plus 1; 0: not inlined */
	uint32_t inlined_into;
	/* number of the first name that has the same function */
	uint32_t same_function;
};

/* Indexes in outputs for other programs: new measures are added at the end. */
enum profile_measure {
	MEASURE_FAULTS,
	MEASURE_STALL,
	MEASURE_BYTES,
	MEASURE_MAPS,
	MEASURE_FDS,
	MEASURE_MEMORY, /* only in recordings of the command memory */
	MEASURE_MEMORY_GROWTH,
	NR_MEASURES,
};

struct measure {
	const char *key, *title, *unit;
};

extern const struct measure measures[NR_MEASURES];

/*
 * The part of a sample in one column of time (story_columns()), as weights of the sampled faults in
 * that time. Only ratios between weights of the same sample have a meaning.
 */
struct profile_cell {
	uint32_t column;
	uint64_t faults, stall_ns;
};

#define PROFILE_OUTER 2 /* outermost frames of a sample: the workload and the process */

struct profile_sample {
	const struct history_row *row; /* process of the sample; NULL: it is not in the history */
	uint64_t value[NR_MEASURES];
	uint64_t first_ns, last_ns; /* time span of growth or memory; 0 in samples of faults */
	/* index of the sample's first cell in profile.cell, and its number of cells */
	size_t cell, cells;
	uint32_t frames;
	uint32_t frame[PROFILE_FRAMES]; /* numbers of the frames' names, outermost first */
};

struct profile {
	struct profile_name *name;
	size_t names, names_room;
	/* numbers of names, plus 1, by hash of the text, and by hash of the function */
	uint32_t *bucket, *function_bucket;
	struct profile_sample *sample;
	size_t samples, samples_room;
	/*
	 * per row of the history: bit 0: minor faults were sampled with stacks; bit 1: major faults
	 * were
	 */
	unsigned char *drawn;
	struct profile_cell *cell;
	size_t cells, cells_room;
	uint64_t total[NR_MEASURES];
	/*
	 * number of samples that were not stored: more than PROFILE_SAMPLES_MAX samples or
	 * PROFILE_NAMES_MAX names; `others` has the sums of their values, so that totals stay exact
	 */
	uint64_t left_out;
	struct profile_sample others;
};

/* Makes the profile of a recording. Returns 0 or -ENOMEM. */
int profile_make(struct profile *p, const struct story_view *s);
void profile_free(struct profile *p);

/* Returns the measure to show first: memory, or the first one whose total is above 0. */
enum profile_measure profile_first_measure(const struct profile *p);

/* Returns whether a recording can have values of a measure: not all recordings have memory. */
bool profile_has(const struct profile *p, enum profile_measure measure);

/* Returns the function of a frame with a known source file; of other frames, the whole text. */
const char *profile_function(const struct profile_name *n);

/*
 * Returns whether a name is no function, but a kind of fault, mapping or memory: the innermost
 * frame of a sample.
 */
bool profile_is_kind(const struct profile_name *n);

#endif
