/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: why a recording is an incident, and when its trigger came. An incident is a recording
 * that faultscope cut out of its ring in memory. Its first chunk has one struct incident_record and
 * nothing else, so that a list of incidents need not read whole recordings.
 */
#ifndef FS_RECORDS_INCIDENT_RECORD_H
#define FS_RECORDS_INCIDENT_RECORD_H

#include <stdint.h>

#include "records/records.h"

/* Kind of record that only user space creates, in addition to enum oom_record_kind. */
enum incident_record_kind { RECORD_INCIDENT = 120 };

/*
 * What triggered an incident. X(id, name): the name is the JSON value. Append rows only: recordings
 * identify the rows by number.
 */
#define INCIDENT_TRIGGERS(X)                                                                       \
	X(FINDING, "finding")                                                                      \
	X(REFUSED, "refused")                                                                      \
	X(OOM, "oom")                                                                              \
	X(PRESSURE, "pressure")                                                                    \
	X(SIGNAL, "signal")                                                                        \
	X(USR1, "sigusr1")                                                                         \
	X(SNAPSHOT, "snapshot")                                                                    \
	X(HTTP, "http")

enum incident_trigger {
#define X(id, name) INCIDENT_##id,
	INCIDENT_TRIGGERS(X)
#undef X
		NR_INCIDENT_TRIGGERS,
};

/* Detail that was recorded after the trigger, in addition to what the ring always has. */
#define INCIDENT_RAISED_SCANS 1u /* scans came every second */
#define INCIDENT_RAISED_MAPS  2u /* the mappings of the process were read */
#define INCIDENT_RAISED_FDS   4u /* the file descriptors of the process were read */

struct incident_record {
	struct record h;	    /* h.t_ns: time of the first scan in the file */
	struct process_key subject; /* process that the trigger concerns; all 0: none */
	uint64_t at_ns;		    /* time of the trigger: CLOCK_MONOTONIC, as in other records */
	uint64_t wall_ns;	    /* time of the trigger: CLOCK_REALTIME */
	uint64_t until_ns;	    /* time of the newest record in the file: CLOCK_MONOTONIC */
	uint32_t trigger;	    /* enum incident_trigger */
	uint32_t severity;    /* of the finding: enum severity of rules/rules.h, plus 1; 0: none */
	uint32_t raised;      /* detail that was raised: INCIDENT_RAISED_* bits */
	uint32_t more;	      /* number of later triggers that this incident contains */
	char finding[8];      /* id of the finding, such as "M01"; empty: none */
	char comm[COMM_LEN];  /* name of the process; empty: none */
	char cause[64];	      /* name of the cause of a failed call or signal; empty: none */
	char workload[208];   /* name of the workload; empty: the whole host */
	char title[192];      /* the finding, or the event, as text */
	char not_raised[192]; /* detail that could not be raised, and why; empty: none */
};

#endif
