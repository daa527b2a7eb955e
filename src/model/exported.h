/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the series that the exporter shows of a workload, one row each: counters marked EXPORTED
 * in records/counters.def, and the rows of exported.def.
 */
#ifndef FS_MODEL_EXPORTED_H
#define FS_MODEL_EXPORTED_H

#include <stddef.h>
#include <stdint.h>

#include "model/fields.h"
#include "model/metrics.h"

/* clang-format off */
/*
 * Counters of a workload. The first NR_CENSUS_TAKEN counters come from process records. These
 * contain totals, so the census adds the increase of each total.
 */
enum census_counter {
#define ENUM_NOT_EXPORTED
#define ENUM_EXPORTED(id, ...)	    CENSUS_##id,
#define ENUM_OWN_FAMILY(id, ...)    CENSUS_##id,
#define COUNTER(id, group, key, unit, probe, export, ...)      ENUM_##export
#define KERNEL_TOTAL(id, base, group, key, unit, probe, export, ...)  ENUM_##export
#define PART(member, unit, probe, export)			      ENUM_##export
#include "records/counters.def"
	NR_CENSUS_TAKEN,
	CENSUS_LAST_TAKEN = NR_CENSUS_TAKEN - 1,
#define TOLD(id, ...) CENSUS_##id,
#include "model/exported.def"
	NR_CENSUS_COUNTERS,
};

enum census_gauge {
#define PRESENT(id, family) CENSUS_##id,
#include "model/exported.def"
	NR_EXPORTED_GAUGES,
	CENSUS_PROCESSES = NR_EXPORTED_GAUGES,
	NR_CENSUS_GAUGES,
};
/* clang-format on */

#define NR_EXPORTED (NR_CENSUS_COUNTERS + NR_EXPORTED_GAUGES)

/* Flag of a series that is exported only after its value has been above 0. */
#define EXPORT_RARE 1
/*
 * Flag of a counter that stays 0 in most workloads. Workloads with series of their own have this
 * one only after its value has been above 0, except with --export.zeros=yes.
 */
#define EXPORT_SPARSE 8
/*
 * Flag of a counter of failed calls or killed processes, which is sparse too. If the counter of a
 * workload increases, the workload has priority for series of its own.
 */
#define EXPORT_FAILURE 2
#define EXPORT_GAUGE   4

struct exported {
	enum metric_id family;
	const char *label[2]; /* labels of the series besides the workload; NULL: none */
	enum unit unit;
	const char *hook; /* probe that this value needs; NULL: none */
	unsigned int flags;
	int what; /* value of enum census_counter or census_gauge */
};

/* Rows of counters in the order of enum census_counter, then rows of enum census_gauge. */
extern const struct exported exported[NR_EXPORTED];

#endif
