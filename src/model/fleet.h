/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: workloads of many hosts, as their exporters tell them: what is near a limit or stands
 * still. Pages come in with their time, rates are between two of a host. Pure.
 */
#ifndef FS_MODEL_FLEET_H
#define FS_MODEL_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/identity.h"

#define FLEET_HOSTS_MAX 512
#define FLEET_ROWS_MAX	4096 /* of a host */
#define FLEET_WHY_BYTES 160

enum fleet_figure {
	FLEET_MAPS, /* of the process that has most */
	FLEET_FDS,  /* of the process nearest its limit, and that limit */
	FLEET_FDS_LIMIT,
	FLEET_MAJORS,  /* counter */
	FLEET_STALL_S, /* counter */
	NR_FLEET_FIGURES,
};

struct fleet_row {
	char workload[LABEL_BYTES];
	double figure[NR_FLEET_FIGURES];
	double before[NR_FLEET_FIGURES]; /* by the page before */
	bool seen, was_seen;		 /* in this page; in the one before */
	uint32_t next; /* of its hash chain; 0: none, else one more than the index */
};

struct fleet_host {
	char name[LABEL_BYTES];
	char why[FLEET_WHY_BYTES]; /* nothing is known of it now; empty: it is up */
	double maps_limit;	   /* vm.max_map_count; 0: not known */
	struct fleet_row *row;	   /* owned */
	uint32_t rows;
	size_t room;
	uint32_t *chain;	  /* by workload; owned */
	uint64_t t_ns, before_ns; /* of the last two pages; 0: none */
	uint64_t bad_lines;	  /* of the last page */
	uint64_t lost;		  /* rows beyond the cap, of the last page */
	bool told;		  /* the page has been of an exporter of ours */
};

struct fleet {
	struct fleet_host *host; /* owned */
	uint32_t hosts;
};

/* What a row says, for sorting and telling. */
struct fleet_entry {
	const struct fleet_host *host;
	const struct fleet_row *row;
	double pressure;   /* the largest of the shares that follow; over 1: beyond a limit */
	double maps_share; /* of the limit; < 0: not known */
	double fds_share;
	double majors_per_s; /* < 0: not known yet */
	double stall_share;  /* seconds of standing still a second, of all threads; < 0 likewise */
};

/* `names` of hosts, at most FLEET_HOSTS_MAX. -E2BIG, -ENOMEM. */
int fleet_init(struct fleet *f, const char *const *names, uint32_t n);
void fleet_free(struct fleet *f);

/* A page of a host. -EBADMSG: it is none of an exporter of ours; -ENOMEM. It then counts as down.
 */
int fleet_take(struct fleet *f, uint32_t host, const char *page, size_t len, uint64_t t_ns);

/* There is no page, because. What it said last is forgotten. */
void fleet_down(struct fleet *f, uint32_t host, const char *why);

/* All rows of hosts that are up, under most pressure first. The caller frees; NULL: no memory. */
struct fleet_entry *fleet_sorted(const struct fleet *f, size_t *ret_n);

#endif
