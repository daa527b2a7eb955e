// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/metrics.h"

const struct metric metrics[NR_METRICS] = {
#define METRIC(id, name, type, unit, help, ...)                                                    \
	[METRIC_ID_##id] = {name, METRIC_##type, unit, help, {__VA_ARGS__}},
#include "model/metrics.def"
#undef METRIC
/* clang-format off */
#define FAMILY_OWN_FAMILY(id, name, unit, help)                                                    \
	[METRIC_ID_##id] = {name, METRIC_COUNTER, unit, help, {"workload"}},
#define COUNTER(id, group, key, unit, probe, export, ...) FAMILY_##export
#include "records/counters.def"
	/* clang-format on */
};
