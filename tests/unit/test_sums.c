// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares checksums over many results: conversion of numbers, folded names, kernel addresses. */
#include "base/fold.h"
#include "base/units.h"
#include "sums.h"
#include "triage/address.h"

/* Stores powers of two and of ten, numbers next to them, and numbers between them. */
static size_t values(uint64_t ret[1024])
{
	uint64_t dice = 1, ten = 1;
	size_t n = 0;

	for (int i = 0; i < 64; i++)
		for (int k = -1; k < 3; k++)
			ret[n++] = (1ULL << i) + k;
	for (int i = 0; i < 20; i++, ten *= 10)
		for (int k = -1; k < 2; k++) {
			ret[n++] = ten + k;
			ret[n++] = ten / 2 + k;
			ret[n++] = ten * 60 + k;
		}
	while (n < 1024) {
		ret[n] = roll(&dice);
		ret[n++] >>= roll(&dice) % 48;
	}
	return n;
}

static uint64_t sum_of_texts(void)
{
	uint64_t sum = SUM_BEGINS, value[1024];
	size_t n = values(value);

	for (size_t i = 0; i < n; i++) {
		mix_text(&sum, as_count(value[i]).s);
		mix_text(&sum, as_bytes(value[i]).s);
		mix_text(&sum, as_duration(value[i]).s);
		mix_text(&sum, as_limit(value[i]).s);
		mix_text(&sum, as_rate(value[i] / 1000.0).s);
		mix_text(&sum, as_span(value[i] / 1000.0).s);
		mix(&sum, count_of_real(value[i] * 1.5));
	}
	return sum;
}

static const char *const numbers[] = {"",
				      "0",
				      "1",
				      "07",
				      "12",
				      "3600",
				      "65536",
				      "1.5",
				      "0.25",
				      ".5",
				      "-1",
				      "+1",
				      "1e3",
				      "18446744073709551615",
				      "18446744073709551616",
				      "9223372036854775807",
				      "8589934592"};
static const char *const suffixes[] = {"",  "s", "ms", "us",  "ns",  "m", "h", "d",
				       "k", "K", "KB", "KiB", "M",   "G", "T", "P",
				       "E", " ", "x",  "s1",  "m5s", "%"};

static void mix_real(uint64_t *sum, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.9g", value);
	mix_text(sum, text);
}

static uint64_t sum_of_numbers(void)
{
	uint64_t sum = SUM_BEGINS, number;
	double seconds;
	char text[64];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
			snprintf(text, sizeof(text), "%s%s", numbers[i], suffixes[k]);
			seconds = 0;
			mix(&sum, parse_seconds(text, &seconds));
			mix_real(&sum, seconds);
			seconds = 0;
			mix(&sum, parse_seconds_or_0(text, &seconds));
			mix_real(&sum, seconds);
			number = 0;
			mix(&sum, parse_u64(text, 1, 65536, &number));
			mix(&sum, number);
			number = 0;
			mix(&sum, parse_bytes(text, &number));
			mix(&sum, number);
		}
	return sum;
}

static uint64_t sum_of_names(void)
{
	static const char some[] = "ab0159fF-_/.:# (e~";
	uint64_t sum = SUM_BEGINS, dice = 3;
	char name[48], folded[40];

	for (int i = 0; i < 20000; i++) {
		size_t n = roll(&dice) % sizeof(name);

		for (size_t k = 0; k < n; k++)
			name[k] = some[roll(&dice) % (sizeof(some) - 1)];
		name[n ? n - 1 : 0] = 0;
		name_fold(name, folded, sizeof(folded));
		mix_text(&sum, folded);
	}
	return sum;
}

static uint64_t sum_of_addresses(void)
{
	static const enum arch arch[] = {ARCH_UNKNOWN, ARCH_X86_64, ARCH_I386, ARCH_ARM64,
					 ARCH_ARM,     ARCH_RISCV,  ARCH_PPC,  ARCH_S390};
	static const uint64_t high[] = {0,
					1ULL << 47,
					0xffff8000ULL << 32,
					0xffff8880ULL << 32,
					0xffffc900ULL << 32,
					0xffffea00ULL << 32,
					0xffffffff81000000,
					0xffffffffc0000000,
					0xc0000000,
					0xdead000000000000,
					0x6b6b6b6b6b6b6b6b,
					0x5a5a5a5a5a5a5a5a,
					0xfffffffffffff000,
					0xcccccccccccccccc,
					1ULL << 60};
	static const enum kind kind[] = {KIND_GPF, KIND_PAGING_REQUEST, KIND_NULL_DEREF, KIND_BUG};
	uint64_t sum = SUM_BEGINS, dice = 4;

	for (int i = 0; i < 60000; i++) {
		struct incident e = {};
		uint64_t address, like = 0, low;

		/*
		 * Two statements, because C does not define which of two calls in one expression
		 * runs first.
		 */
		e.arch = arch[roll(&dice) % 8];
		e.kind = kind[roll(&dice) % 4];
		e.has_error = roll(&dice) % 2;
		e.error = roll(&dice) % 4;
		e.regs.known = roll(&dice);
		e.regs.known &= roll(&dice);
		e.has_sp = roll(&dice) % 2;
		e.sp = high[roll(&dice) % 15];
		e.sp += roll(&dice) % (1 << 20);
		address = high[roll(&dice) % 15];
		low = roll(&dice) & 0xffffffffffff;
		address += low >> roll(&dice) % 49;
		if (i % 8 == 0)
			address = e.sp ^ 1ULL << roll(&dice) % 64;
		for (int k = 0; k < REGS_MAX; k++)
			e.regs.value[k] = k % 4 ? roll(&dice) : address ^ 1ULL << roll(&dice) % 64;
		mix(&sum, region_of(&e, address));
		mix(&sum, is_kernel_address(e.arch, address));
		mix(&sum, poison_of(&e, address));
		mix(&sum, one_bit_off(&e, address, &like));
		mix(&sum, like);
	}
	return sum;
}

/* Returns a checksum over addresses at the borders of regions, where results change. */
static uint64_t sum_of_bounds(void)
{
	static const uint64_t bounds[] = {
		0xbf000000,	    0xc0000000,		0xff00000000000000, 0xfff0000000000000,
		0xffff000000000000, 0xffff800000000000, 0xffff880000000000, 0xffff890000000000,
		0xffffc80000000000, 0xffffffff80000000, 0xffffffffa0000000, 0xffffffffc0000000,
		0xffffffffff000000, 0xdffffc0000000000, 0xdffffd0000000000, 0xe0001c0000000000,
		0xffffc90000123000, 0xffffc80000123000, 0xffffe90000123000, 0xff11000000123000,
		0xff10ff0000123000, 0xff1d800000123000, 0xffff800081234000, 0xffff810081234000,
		0xffff7f0081234000, 0xfffffffffffff000, 0xfffff000,	    0xdead4ead00000000,
		0xdeadbeef00000000, 0xdeadb000,		0xdeadc000,	    0x100200,
		0x200300,	    0x1000f0,		0x2001f0,	    0x122,
	};
	static const uint64_t sp[] = {0, 0xffffc90000123000, 0xff11000000123000,
				      0xffff800081234000};
	uint64_t sum = SUM_BEGINS, dice = 5;

	for (int i = 0; i < NR_ARCHES * 4 * 5; i++) {
		struct incident e = {.arch = i % NR_ARCHES};

		e.sp = sp[i / NR_ARCHES % 4];
		e.has_sp = e.sp != 0;
		e.kind = i % 3 ? KIND_PAGING_REQUEST : i % 2 ? KIND_GPF : KIND_BUG;
		e.has_error = i % 5 > 1;
		e.error = i % 5;
		for (size_t k = 0; k < 64 + sizeof(bounds) / sizeof(bounds[0]); k++)
			for (int beside = -1; beside < 2; beside++) {
				uint64_t at = k < 64 ? 1ULL << k : bounds[k - 64];

				at += beside;
				mix(&sum, region_of(&e, at));
				mix(&sum, is_kernel_address(e.arch, at));
				mix(&sum, poison_of(&e, at));
			}
		for (uint64_t at = 0; at < 0x700; at++) {
			mix(&sum, poison_of(&e, 0xdead000000000000 | at));
			mix(&sum, poison_of(&e, 0x00ad000000000000 | at));
		}
		/* Each value repeats a poison byte (0x6b, …), with up to three changed bytes. */
		for (int k = 0; k < 4000; k++) {
			static const uint8_t fill[] = {0x6b, 0x5a, 0xa5, 0xbb, 0xcc,
						       0xaa, 0xa7, 0xa9, 0x41, 0x20};
			uint64_t value = fill[k % 10] * 0x0101010101010101ULL;

			/*
			 * C does not define which of two calls in one expression runs first, so
			 * these are two statements.
			 */
			for (int n = k % 4; n > 0; n--) {
				uint64_t byte = roll(&dice) & 0xff;

				value ^= byte << roll(&dice) % 8 * 8;
			}
			mix(&sum, poison_of(&e, k % 7 ? value : value & 0xffffffffffffff));
			mix(&sum, poison_of(&e, value & UINT32_MAX));
		}
	}
	return sum;
}

int main(void)
{
	const struct sum rows[] = {
		{"numbers as text", sum_of_texts(), 0xbec44bbb30360c1b},
		{"text as numbers", sum_of_numbers(), 0x127ae49d594560e9},
		{"names that are folded", sum_of_names(), 0x4c7f8e7b2a16619f},
		{"addresses where regions begin", sum_of_bounds(), 0xafe839ea370bbdee},
		{"addresses", sum_of_addresses(), 0x2b547384f30618be},
	};

	are_sums(rows, sizeof(rows) / sizeof(rows[0]));
	return tap_done();
}
