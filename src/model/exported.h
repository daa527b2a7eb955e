/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: what is told of each workload: one row a series. Those of records/counters.def that are
 * EXPORTED the census sums up by itself; the others are here.
 */
#ifndef FS_MODEL_EXPORTED_H
#define FS_MODEL_EXPORTED_H

#include <stddef.h>
#include <stdint.h>

#include "model/fields.h"
#include "model/metrics.h"

/* clang-format off */
/* Counters of events, told by census_count(). X(id, flags, family, unit, probe, label...) */
#define CENSUS_TOLD(X)                                                                             \
	X(SEGV_MAPERR, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGSEGV", "SEGV_MAPERR")         \
	X(SEGV_ACCERR, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGSEGV", "SEGV_ACCERR")         \
	X(SEGV_OTHER, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGSEGV", "other")                \
	X(BUS_ADRALN, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGBUS", "BUS_ADRALN")            \
	X(BUS_ADRERR, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGBUS", "BUS_ADRERR")            \
	X(BUS_OBJERR, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGBUS", "BUS_OBJERR")            \
	X(BUS_MCEERR, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGBUS", "BUS_MCEERR")            \
	X(BUS_OTHER, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGBUS", "other")                  \
	X(ABRT, RARE | FAILURE, SIGNALS, COUNT, "signal", "SIGABRT", "SI_TKILL")                   \
	X(MAPPING_FAILURES_MAX_MAP_COUNT, FAILURE, MAPPING_FAILURES, COUNT, "calls",               \
	  "max_map_count")                                                                         \
	X(MAPPING_FAILURES_RLIMIT_AS, FAILURE, MAPPING_FAILURES, COUNT, "calls", "rlimit_as")      \
	X(MAPPING_FAILURES_OVERCOMMIT, FAILURE, MAPPING_FAILURES, COUNT, "calls", "overcommit")    \
	X(MAPPING_FAILURES_OTHER, FAILURE, MAPPING_FAILURES, COUNT, "calls", "other")              \
	X(FD_FAILURES_EMFILE, FAILURE, FD_FAILURES, COUNT, "calls", "EMFILE")                      \
	X(FD_FAILURES_ENFILE, FAILURE, FD_FAILURES, COUNT, "calls", "ENFILE")                      \
	X(SWAP_INS, 0, SWAP_INS, COUNT, "fault_end")                                               \
	X(DIRECT_RECLAIM_NS, 0, RECLAIM, NS, "reclaim")                                            \
	X(COMMIT_FAILURES, FAILURE, COMMIT_FAILURES, COUNT, "calls")                               \
	X(OOM_KILLS_MEMCG, FAILURE, OOM_KILLS, COUNT, "oom", "memcg")                              \
	X(OOM_KILLS_GLOBAL, FAILURE, OOM_KILLS, COUNT, "oom", "global")

/* Of processes that live. X(id, family) */
#define CENSUS_GAUGES(X)                                                                           \
	X(MAPPINGS, MAPPINGS)                                                                      \
	X(WORST_MAPPINGS, WORST_MAPPINGS) /* of the process that has most */                       \
	X(FDS, FDS)                                                                                \
	X(WORST_FDS, WORST_FDS) /* of the process nearest its soft limit */                        \
	X(WORST_FDS_LIMIT, WORST_FDS_LIMIT) /* of that same process; 0: no process has one */      \
	X(SWAP_PAGES, SWAP)

/*
 * The first ones are taken from the records of processes, cumulative there: the census adds what
 * they grew by.
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
#define X(id, ...) CENSUS_##id,
	CENSUS_TOLD(X)
#undef X
	NR_CENSUS_COUNTERS,
};

enum census_gauge {
#define X(id, family) CENSUS_##id,
	CENSUS_GAUGES(X)
#undef X
	NR_EXPORTED_GAUGES,
	CENSUS_PROCESSES = NR_EXPORTED_GAUGES,
	NR_CENSUS_GAUGES,
};
/* clang-format on */

#define NR_EXPORTED (NR_CENSUS_COUNTERS + NR_EXPORTED_GAUGES)

/* A series only once it is not 0. */
#define EXPORT_RARE 1
/* Somebody was refused something, or died: they are looked at first. */
#define EXPORT_FAILURE 2
#define EXPORT_GAUGE   4

struct exported {
	enum metric_id family;
	const char *label[2]; /* behind the workload's; NULL: none */
	enum unit unit;
	const char *hook; /* not known without it; NULL: always */
	unsigned int flags;
	int what; /* enum census_counter or census_gauge */
};

/* Counters by enum census_counter, then gauges. */
extern const struct exported exported[NR_EXPORTED];

#endif
