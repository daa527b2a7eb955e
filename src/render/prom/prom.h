/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: writes the page of metrics, from the census of workloads and the machine's counters. */
#ifndef FS_RENDER_PROM_PROM_H
#define FS_RENDER_PROM_PROM_H

#include "model/census.h"
#include "model/model.h"
#include "model/node.h"
#include "render/prom/exposition.h"
#include "render/prom/resident_places.h"

#define PROM_PROGRAMS 128 /* maximum number of BPF programs */

/* The run time of a BPF program. */
struct prom_program {
	const char *name;
	uint64_t runs, run_ns;
};

/* The exporter's values about itself. */
struct prom_self {
	const char *revision, *libbpf;
	double start_s; /* start time in seconds, CLOCK_REALTIME */
	double cpu_s;
	uint64_t rss_bytes, open_fds, max_fds;
	uint64_t tainted; /* value of /proc/sys/kernel/tainted */
	struct prom_program program[PROM_PROGRAMS];
	size_t programs; /* number of BPF programs; 0: the kernel does not measure their run time */
};

/* The ring in memory and its incidents. */
struct prom_incidents {
	bool on; /* false: there is no ring */
	uint64_t by[NR_INCIDENT_TRIGGERS]; /* incidents, by trigger */
	uint64_t merged, repeated, over_rate; /* triggers that stored none: see incidents.h */
	uint64_t failed;		      /* writes that failed */
	uint64_t ring_bytes;
	double ring_s; /* seconds that the ring keeps */
};

struct prom_view {
	const struct model *m; /* model of the host, probes and losses, without processes */
	const struct census *c;
	const struct node *n;
	const struct resident_places *resident; /* NULL: not measured */
	struct prom_self self;
	struct prom_incidents incidents;
	bool live; /* true: values are live; false: they are from a recording */
	bool up;
	bool partial; /* the collection timed out: omit metrics of workloads */
	bool native;  /* write native histograms, if the format has them */
	double scrape_s;
	double boot_s; /* time in seconds (CLOCK_REALTIME) at which CLOCK_MONOTONIC was 0 */
};

void prom_render(struct exposition *e, const struct prom_view *v);

/* Returns the number of series that belong to no workload; it depends on the enabled probes. */
uint32_t prom_series_else(const struct prom_view *v);

/* How many series a workload and ~other have, without rare counters: see struct census_limits. */
struct prom_series {
	uint32_t each, of_other;
};

/* Counts series. The numbers depend on the enabled probes and on --export.zeros. */
struct prom_series prom_series_of(const struct model *m, bool zeros);

#endif
