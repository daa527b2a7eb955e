// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/exported.h"

#define RARE	EXPORT_RARE
#define SPARSE	EXPORT_SPARSE
#define FAILURE (EXPORT_FAILURE | EXPORT_SPARSE)

const struct exported exported[NR_EXPORTED] = {
/* clang-format off */
#define NOTHING(...)
#define ROW_NOT_EXPORTED NOTHING
#define ROW_EXPORTED(id, ...)	   BEGIN(id, 0, __VA_ARGS__) END
#define ROW_OWN_FAMILY(id, ...)	   BEGIN(id, RARE, id) END
#define BEGIN(id, how, family_, ...)                                                               \
	[CENSUS_##id] = {.family = METRIC_ID_##family_, .label = {__VA_ARGS__},                    \
			 .what = CENSUS_##id, .flags = how,
#define END(unit_, probe) .unit = UNIT_##unit_, .hook = probe},

#define COUNTER(id, group, key, unit, probe, export, ...)     ROW_##export(unit, probe)
#define KERNEL_TOTAL(id, base, group, key, unit, probe, export, ...) ROW_##export(unit, probe)
#define PART(member, unit, probe, export)			     ROW_##export(unit, probe)
#include "records/counters.def"
#define TOLD(id, how, family, unit, probe, ...) BEGIN(id, how, family, __VA_ARGS__) END(unit, probe)
#define PRESENT(id, family_)                                                                       \
	[NR_CENSUS_COUNTERS + CENSUS_##id] = {.family = METRIC_ID_##family_,                       \
					      .what = CENSUS_##id, .flags = EXPORT_GAUGE},
#include "model/exported.def"
	/* clang-format on */
};
