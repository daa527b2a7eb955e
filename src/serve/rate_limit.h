/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* serve: a bucket of tokens, one for each request, that fills by one each interval. */
#ifndef FS_SERVE_RATE_LIMIT_H
#define FS_SERVE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define RATE_INTERVAL_MAX_NS 3600000000000ULL
#define RATE_BURST_MAX	     1000000

struct rate_limit {
	uint64_t interval_ns; /* 0: there is no limit */
	uint64_t burst;	      /* as many tokens as there may be */
	uint64_t full_ns;     /* when there will be all of them again */
};

/* A duration as Go writes it: 1.5s, 1m30s, 250ms, 0. False where it is none, or above the most. */
bool rate_interval_read(const char *text, uint64_t *ret_ns);

/* Whether there is a token left; it is taken. */
bool rate_limit_take(struct rate_limit *r, uint64_t now_ns);

#endif
