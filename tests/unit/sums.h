/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes 64-bit FNV-1a checksums over the results of a function for very many arguments, so that
 * a test notices any changed result. After an intended change, copy the new checksum into the test.
 */
#ifndef FS_TESTS_SUMS_H
#define FS_TESTS_SUMS_H

#include "tap.h"

#define SUM_BEGINS 0xcbf29ce484222325

struct sum {
	const char *what;
	uint64_t got, want;
};

static inline void mix(uint64_t *sum, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		*sum = (*sum ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
}

static inline void mix_text(uint64_t *sum, const char *s)
{
	mix(sum, strlen(s));
	for (; *s; s++)
		mix(sum, (unsigned char)*s);
}

/*
 * Adds a text without its words: each part that is letters, spaces, commas, semicolons and
 * apostrophes counts as one letter. So a changed sentence does not change the checksum, but a
 * changed number, order, mark or tag does.
 */
static inline void mix_shape(uint64_t *sum, const char *s, size_t len)
{
	bool prose = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];
		bool was = prose;

		prose = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c && strchr(" ,;'", c));
		if (!prose || !was)
			mix(sum, prose ? 'a' : c);
	}
}

/* Returns the next random number. The sequence of numbers is the same on every machine. */
static inline uint64_t roll(uint64_t *dice)
{
	*dice = *dice * 6364136223846793005 + 1442695040888963407;
	return *dice >> 16;
}

static inline void are_sums(const struct sum *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ok(row[i].got == row[i].want, "%s: 0x%016" PRIx64, row[i].what, row[i].got);
}

/* Checks sums over results of floating point, which not every processor rounds in the same way. */
static inline void are_rounded_sums(const struct sum *row, size_t n)
{
#ifdef __x86_64__
	are_sums(row, n);
#else
	ok(true, "# SKIP other processors round differently, as they have fused multiply-add");
#endif
}

#endif
