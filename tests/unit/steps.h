/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the arguments at which the result of a function changes, so that a test can compare all
 * boundaries of the function with a kept text. The function is called with given arguments. Between
 * two of them with different results, bisection finds where the result changes.
 */
#ifndef FS_TESTS_STEPS_H
#define FS_TESTS_STEPS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Returns the result of the tested function as a text, which is valid until the next call. */
typedef const char *step_fn(const void *of, uint64_t argument);

#define STEP_ARGUMENTS_MAX 1024

struct step_arguments {
	uint64_t at[STEP_ARGUMENTS_MAX];
	size_t n;
};

static inline void step_add(struct step_arguments *s, uint64_t at)
{
	if (s->n == STEP_ARGUMENTS_MAX)
		abort();
	s->at[s->n++] = at;
}

/* Adds powers of two, sums of the two highest bits, and the largest numbers. */
static inline void step_add_powers(struct step_arguments *s)
{
	step_add(s, 0);
	for (int i = 0; i < 64; i++) {
		step_add(s, 1ull << i);
		step_add(s, -(1ull << i));
		step_add(s, (1ull << i) + (1ull << i) / 2);
		step_add(s, -(1ull << i) - 1);
	}
}

static inline int step_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Writes "from 0: RESULT; 0x1000: RESULT; …". */
static inline void steps_write(struct buf *b, step_fn *f, const void *of, struct step_arguments *s)
{
	char *now;

	qsort(s->at, s->n, sizeof(*s->at), step_order);
	now = strdup(f(of, s->at[0]));
	buf_printf(b, "%#jx: %s", (uintmax_t)s->at[0], now);
	for (size_t i = 1; i < s->n; i++) {
		uint64_t low = s->at[i - 1], high = s->at[i];

		/* the results at both ends are the same as soon as all changes are found */
		while (strcmp(now, f(of, high))) {
			uint64_t from = low, to = high;

			while (to - from > 1) {
				uint64_t middle = from + (to - from) / 2;

				if (strcmp(now, f(of, middle)))
					to = middle;
				else
					from = middle;
			}
			free(now);
			now = strdup(f(of, to));
			buf_printf(b, "; %#jx: %s", (uintmax_t)to, now);
			low = to;
		}
	}
	free(now);
}

#endif
