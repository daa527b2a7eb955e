/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times as RFC 3339 in UTC. */
#ifndef FS_RENDER_UTC_H
#define FS_RENDER_UTC_H

#include "base/units.h"

/* A time of CLOCK_REALTIME, in ns, as RFC 3339 in UTC; "-" for 0, which means unknown. */
struct number_text as_utc(uint64_t wall_ns);	/* 2026-11-23T14:13:09Z */
struct number_text as_utc_ms(uint64_t wall_ns); /* 2026-11-23T14:13:09.120Z */

#endif
