/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: formats times as RFC 3339 in UTC. */
#ifndef FS_RENDER_UTC_H
#define FS_RENDER_UTC_H

#include "base/units.h"

/* Formats a time (CLOCK_REALTIME, ns) as RFC 3339 in UTC; 0 means unknown and becomes "-". */
struct number_text as_utc(uint64_t wall_ns);	/* 2026-11-23T14:13:09Z */
struct number_text as_utc_ms(uint64_t wall_ns); /* 2026-11-23T14:13:09.120Z */

/* The same for seconds since 1970, which may be negative. A year that does not fit becomes "-". */
struct number_text as_utc_of_seconds(int64_t seconds);

#endif
