/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: sums up, for the exporter, which code holds the resident memory of workloads. The number
 * of series is bounded: a workload has a limited number of code places, and rows for the rest.
 */
#ifndef FS_RENDER_PROM_RESIDENT_PLACES_H
#define FS_RENDER_PROM_RESIDENT_PLACES_H

#include "model/census.h"
#include "model/model.h"
#include "model/resident.h"

/* Workloads with rows of their own, those with most memory; the others are in CENSUS_OTHER. */
#define RESIDENT_WORKLOADS_MAX 16
#define RESIDENT_PLACES_MAX    100 /* maximum number of code places of a workload */
/*
 * Further rows of a workload: RESIDENT_PLACE_OTHER, RESIDENT_PLACE_UNREAD, and
 * RESIDENT_PLACE_UNKNOWN for each reason.
 */
#define RESIDENT_ROWS_BESIDES (2 + RESIDENT_NR_BY)

/* Values of the label `code` that are no code: names of functions never start with '~' there. */
#define RESIDENT_PLACE_OTHER   "~other"		 /* the code places that have no row */
#define RESIDENT_PLACE_UNKNOWN "~not_attributed" /* memory without a stack; `by` is the reason */
#define RESIDENT_PLACE_UNREAD  "~not_read"	 /* RSS of processes that were not read */

/* A series: memory of a workload. */
struct resident_place {
	char workload[LABEL_BYTES], code[LABEL_BYTES];
	const char *kind; /* kind of mapping, such as "heap"; empty: of several kinds */
	const char *by;	  /* how it became resident, such as "touched"; empty: in several ways */
	uint64_t bytes;	  /* estimate of the resident bytes */
	uint64_t key;	  /* hash of the labels */
};

#define RESIDENT_SERIES_MAX                                                                        \
	((RESIDENT_WORKLOADS_MAX + 1) * (RESIDENT_PLACES_MAX + RESIDENT_ROWS_BESIDES))

struct resident_places {
	size_t most;	  /* code places of each workload; at most RESIDENT_PLACES_MAX */
	size_t workloads; /* workloads with rows; at most RESIDENT_WORKLOADS_MAX */
	double read_s;	  /* CPU time of all readings in seconds; set by the owner */
	uint32_t each;	  /* one of this many pages is chosen; 0: no reading yet */
	uint64_t lost;	  /* faults of chosen pages that could not be noted */
	struct resident_place *place; /* by workload; owned */
	size_t n, room;
};

/* Returns whether to show a workload. */
typedef bool resident_shows_fn(void *ctx, const char *workload);

/*
 * Sums up the last readings of the processes of a model whose workloads are shown, by the workload
 * that the census shows them in. A code place that has a row keeps it, unless another one holds a
 * quarter more memory: memory is estimated, so series would come and go otherwise. Returns 0, or
 * -ENOMEM without rows.
 */
int resident_places_fill(struct resident_places *r, const struct model *m, const struct census *c,
			 resident_shows_fn *shows, void *ctx);
void resident_places_free(struct resident_places *r);

/* Returns the maximum number of series. */
uint32_t resident_places_series(const struct resident_places *r);

#endif
