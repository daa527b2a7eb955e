/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: samples of a page in Prometheus' text format (0.0.4) or OpenMetrics (1.0), from anybody.
 * Nothing is copied: a sample points into the page.
 */
#ifndef FS_BASE_PROMTEXT_H
#define FS_BASE_PROMTEXT_H

#include <stdbool.h>
#include <stddef.h>

#define PROM_LABELS_MAX 32

struct prom_span {
	const char *s;
	size_t len;
};

struct prom_sample {
	struct prom_span name;
	struct {
		struct prom_span name, value; /* as written, between its quotes */
	} label[PROM_LABELS_MAX];
	size_t labels;
	double value;
};

/*
 * The next sample; *at goes behind it. Comments, times and exemplars are passed over. 1: there is
 * one; 0: the end; -EBADMSG: a line that is none, and has been passed over too.
 */
int prom_next(const char **at, const char *end, struct prom_sample *ret);

bool prom_is(struct prom_span s, const char *word);

/* A label's value, unescaped and cut to what there is room for. False: it has none. */
bool prom_label(const struct prom_sample *s, const char *name, char *ret, size_t size);

#endif
