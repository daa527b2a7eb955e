/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests: functions with 60 shapes of frames. call_next(depth, x) calls a chain of `depth` of them,
 * and then at_the_bottom(), which the including file defines.
 */
#ifndef FS_TESTS_SHAPES_H
#define FS_TESTS_SHAPES_H

#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define SHAPES	 60

typedef long chain_fn(int depth, long x);

static NOINLINE long call_next(int depth, long x);
static volatile long sink;

static NOINLINE long at_the_bottom(long x);

/* Each shape exists six times, with different numbers of registers, arguments and bytes. */
#define PLAIN(n)                                                                                   \
	static NOINLINE long plain_##n(int depth, long x)                                          \
	{                                                                                          \
		long y = call_next(depth, x + (n));                                                \
		return y ^ (n);                                                                    \
	}
#define BUFFER(n)                                                                                  \
	static NOINLINE long buffer_##n(int depth, long x)                                         \
	{                                                                                          \
		volatile char b[(n)*100 + 16];                                                     \
		b[x & 15] = depth;                                                                 \
		return call_next(depth, x) + b[x & 15];                                            \
	}
#define ALLOCA(n)                                                                                  \
	static NOINLINE long alloca_##n(int depth, long x)                                         \
	{                                                                                          \
		char *b = alloca((x & 63) + (n)*40 + 1);                                           \
		memset(b, depth, (x & 63) + 1);                                                    \
		return call_next(depth, x) + b[x & 63];                                            \
	}
#define VLA(n)                                                                                     \
	static NOINLINE long vla_##n(int depth, long x)                                            \
	{                                                                                          \
		volatile long b[(x & 31) + (n)];                                                   \
		b[0] = x;                                                                          \
		return call_next(depth, x) + b[0];                                                 \
	}
#define LARGE(n)                                                                                   \
	static NOINLINE long large_##n(int depth, long x)                                          \
	{                                                                                          \
		volatile char b[40000 + (n)];                                                      \
		b[x & 1023] = depth;                                                               \
		return call_next(depth, x) + b[x & 1023];                                          \
	}
#define ALIGNED(n)                                                                                 \
	static NOINLINE long aligned_##n(int depth, long x)                                        \
	{                                                                                          \
		_Alignas(32 << (n) % 3) volatile char b[128];                                      \
		b[x & 127] = depth;                                                                \
		return call_next(depth, x) + b[x & 127] + ((long)b & 31);                          \
	}
#define ALIGNED_VLA(n)                                                                             \
	static NOINLINE long aligned_vla_##n(int depth, long x)                                    \
	{                                                                                          \
		_Alignas(64) volatile char b[64];                                                  \
		volatile char c[(x & 63) + (n)];                                                   \
		b[0] = c[0] = depth;                                                               \
		return call_next(depth, x) + b[0] + c[0];                                          \
	}
#define SAVED(n)                                                                                   \
	static NOINLINE long saved_##n(int depth, long x)                                          \
	{                                                                                          \
		long a = sink, b = sink + (n), c = sink * 3, d = sink ^ 5, e = sink - 7;           \
		long y = call_next(depth, x);                                                      \
		return y + (a ^ b) + (c ^ d) + e;                                                  \
	}
#define SORTED(n)                                                                                  \
	static int compare_##n(const void *a, const void *b, void *ctx)                            \
	{                                                                                          \
		long *at = ctx;                                                                    \
		if (at[0] >= 0) {                                                                  \
			int depth = at[0];                                                         \
			at[0] = -1;                                                                \
			at[1] = call_next(depth, at[1]);                                           \
		}                                                                                  \
		return *(const int *)a - *(const int *)b;                                          \
	}                                                                                          \
	static NOINLINE long sorted_##n(int depth, long x)                                         \
	{                                                                                          \
		int numbers[] = {3, 1, 2, (n)};                                                    \
		long at[] = {depth, x};                                                            \
		qsort_r(numbers, 4, sizeof(int), compare_##n, at);                                 \
		return at[1] + numbers[0];                                                         \
	}
#define VARIED(n)                                                                                  \
	static NOINLINE long sum_##n(int depth, long x, ...)                                       \
	{                                                                                          \
		va_list ap;                                                                        \
		long y;                                                                            \
		va_start(ap, x);                                                                   \
		y = call_next(depth, x + va_arg(ap, int)) + (long)va_arg(ap, double);              \
		va_end(ap);                                                                        \
		return y;                                                                          \
	}                                                                                          \
	static NOINLINE long varied_##n(int depth, long x)                                         \
	{                                                                                          \
		return sum_##n(depth, x, (n), 1.5 * x, 1, 2, 3, 4, 5, 6, 7) + 1;                   \
	}
#define SIX(SHAPE) SHAPE(1) SHAPE(2) SHAPE(3) SHAPE(4) SHAPE(5) SHAPE(6)
SIX(PLAIN)
SIX(BUFFER)
SIX(ALLOCA)
SIX(VLA)
SIX(LARGE)
SIX(ALIGNED)
SIX(ALIGNED_VLA)
SIX(SAVED)
SIX(SORTED)
SIX(VARIED)

#define NAMES(shape) shape##_1, shape##_2, shape##_3, shape##_4, shape##_5, shape##_6

static chain_fn *const shapes[SHAPES] = {
	NAMES(plain),	NAMES(buffer),	    NAMES(alloca), NAMES(vla),	  NAMES(large),
	NAMES(aligned), NAMES(aligned_vla), NAMES(saved),  NAMES(sorted), NAMES(varied),
};

static NOINLINE long call_next(int depth, long x)
{
	if (!depth)
		return at_the_bottom(x);
	return shapes[(unsigned long)(x * 7 + depth * 13) % SHAPES](depth - 1, x * 31 + 1) + 1;
}

#endif
