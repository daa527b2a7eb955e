/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the page of metrics, from the census and the node. */
#ifndef FS_RENDER_PROM_PROM_H
#define FS_RENDER_PROM_PROM_H

#include "model/census.h"
#include "model/model.h"
#include "model/node.h"
#include "render/prom/exposition.h"

#define PROM_PROGRAMS 128 /* more than the kernel side has */

/* One of the kernel side. */
struct prom_program {
	const char *name;
	uint64_t runs, run_ns;
};

/* Of the exporter itself. */
struct prom_self {
	const char *revision, *libbpf;
	double start_s; /* CLOCK_REALTIME */
	double cpu_s;
	uint64_t rss_bytes, open_fds, max_fds;
	uint64_t tainted; /* bits of /proc/sys/kernel/tainted */
	struct prom_program program[PROM_PROGRAMS];
	size_t programs; /* 0: the kernel does not time them */
};

struct prom_view {
	const struct model *m; /* host, hooks, ticks: no processes */
	const struct census *c;
	const struct node *n;
	struct prom_self self;
	bool live; /* else a recording is told, and what is of a live one alone is left out */
	bool up;
	bool partial; /* the time was up: of workloads nothing is told */
	bool native;  /* native histograms, where the format has them */
	double scrape_s;
	double boot_s; /* CLOCK_REALTIME at CLOCK_MONOTONIC 0: when events were */
};

void prom_render(struct exposition *e, const struct prom_view *v);

/* How many series there are besides those of workloads, and for each of these, as things are. */
uint32_t prom_series_else(const struct prom_view *v);
uint32_t prom_series_each(const struct model *m);

#endif
