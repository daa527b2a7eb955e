/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the table of the exporter's metrics: name, help, type and labels. All output formats use
 * it.
 */
#ifndef FS_MODEL_METRICS_H
#define FS_MODEL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRIC_LABELS 8

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER, /* a counter; the names of its samples end in _total */
	METRIC_INFO,	/* constant 1 with labels; the sample's name ends in _info */
	METRIC_HISTOGRAM,
};

enum metric_id {
#define METRIC(id, ...) METRIC_ID_##id,
#include "model/metrics.def"
#undef METRIC
/* clang-format off */
#define FAMILY_NOT_EXPORTED
#define FAMILY_EXPORTED(...)
#define FAMILY_OWN_FAMILY(id, ...) METRIC_ID_##id,
#define COUNTER(id, group, key, unit, probe, export, ...) FAMILY_##export
#include "records/counters.def"
	/* clang-format on */
	NR_METRICS,
};
#undef FAMILY_OWN_FAMILY

struct metric {
	const char *name; /* family name as in OpenMetrics: without _total and _info */
	enum metric_type type;
	const char *unit; /* unit, the last word of the name; NULL: none */
	const char *help;
	const char *label[METRIC_LABELS]; /* names of the labels; a NULL follows the last */
};

extern const struct metric metrics[NR_METRICS];

#endif
