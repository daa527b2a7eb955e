/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve: a rate limit (token bucket). Each request takes a token; one token is added per interval.
 */
#ifndef FS_SERVE_RATE_LIMIT_H
#define FS_SERVE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define RATE_INTERVAL_MAX_NS 3600000000000ULL
#define RATE_BURST_MAX	     1000000

struct rate_limit {
	uint64_t interval_ns; /* time after which one token is added; 0: no rate limit */
	uint64_t burst;	      /* maximum number of tokens in the bucket */
	uint64_t full_ns;     /* CLOCK_MONOTONIC time when the bucket is full again */
};

/*
 * Parses a duration in the format of Go, such as 1.5s, 1m30s, 250ms or 0. Returns false if the
 * duration is invalid or above 1 h.
 */
bool rate_interval_read(const char *text, uint64_t *ret_ns);

/* Takes a token. Returns false if the bucket has no token. */
bool rate_limit_take(struct rate_limit *r, uint64_t now_ns);

#endif
