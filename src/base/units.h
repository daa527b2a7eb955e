/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: numbers with units, and names of errnos and signals. */
#ifndef FS_BASE_UNITS_H
#define FS_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A number as text, valid until the end of the full expression: printf("%s", as_count(n).s) */
struct number_text {
	char s[32];
};
struct number_text as_count(uint64_t n);     /* a number with separators, such as "12,480" */
struct number_text as_rate(double per_s);    /* a rate per second, such as "12,480" or "0.4" */
struct number_text as_bytes(uint64_t bytes); /* a size, such as "412 MiB" */
struct number_text as_duration(uint64_t ns); /* a duration, such as "1.3 us" or "31 ms" */
struct number_text as_span(double seconds);  /* a long duration, such as "1h 21m" */
struct number_text as_clock(uint64_t seconds); /* a time since the start, such as "01:21:05" */
struct number_text as_limit(uint64_t limit); /* a limit, such as "65,530"; ~0 is "unlimited" */

/*
 * The words after a number. Of "{one|many}", `one` follows the number 1, and `many` others:
 * as_words(1, "file{|s} {is|are} left") is "file is left". Valid as long as struct number_text.
 */
struct words_text {
	char s[192];
};
struct words_text as_words(uint64_t n, const char *words);

void put_count(struct buf *b, uint64_t n);
void put_rate(struct buf *b, double per_s);
void put_bytes(struct buf *b, uint64_t bytes);
void put_duration(struct buf *b, uint64_t ns);
void put_span(struct buf *b, double seconds);
void put_limit(struct buf *b, uint64_t limit);

/* Returns how many units `bytes` take, of which the last may be used in part. `unit` is not 0. */
static inline uint64_t units_of(uint64_t bytes, uint64_t unit)
{
	return bytes / unit + !!(bytes % unit);
}

/* Returns a real number as a count; 0 for negative values and NaN. */
uint64_t count_of_real(double v);

/*
 * Returns the name of an errno, such as "ENOMEM"; for a number that libc does not know, returns `b`
 * with "errno 4242".
 */
const char *errno_name(int error, char *b, size_t size);
const char *signal_name(int signal, char *b, size_t size);

/*
 * Parses "2", "0.5", "1m", "2h" as seconds. Returns 0, -EINVAL, or -ERANGE if the time is too short
 * or too long.
 */
int parse_seconds(const char *s, double *ret_seconds);
/* Parses a time like parse_seconds(), but also accepts 0, with or without a unit. */
int parse_seconds_or_0(const char *s, double *ret_seconds);
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret);
/* Parses a size above 0 and below 2^63: "4096", "64K", "8G". */
int parse_bytes(const char *s, uint64_t *ret);

#endif
