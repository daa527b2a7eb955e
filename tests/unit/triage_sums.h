/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds texts and diagnoses of triage to checksums. */
#ifndef FS_TESTS_TRIAGE_SUMS_H
#define FS_TESTS_TRIAGE_SUMS_H

#include "sums.h"
#include "triage/triage.h"

static inline void mix_str(uint64_t *sum, struct str s)
{
	mix(sum, s.n);
	for (size_t i = 0; i < s.n; i++)
		*sum = (*sum ^ (unsigned char)s.s[i]) * 0x100000001b3;
}

static inline bool is_hex_digit(char c)
{
	return c && strchr("0123456789abcdef", c);
}

static inline void mix_digits(uint64_t *sum, const char *text)
{
	for (; *text; text++)
		if (is_hex_digit(*text))
			mix(sum, *text);
}

static inline void mix_diagnosis(uint64_t *sum, const struct diagnosis *v)
{
	const uint64_t numbers[] = {v->index,
				    v->kind,
				    v->mechanism,
				    v->confidence,
				    v->access,
				    v->size,
				    v->has_address ? v->address : 1,
				    v->region,
				    v->has_base ? v->base ^ v->offset : 1,
				    v->poison,
				    v->functions,
				    v->in_kernel_code,
				    v->repeats,
				    v->suspects,
				    v->culprit_unknown,
				    v->culprit_direct,
				    v->particulars,
				    v->hardware,
				    v->nr_fired,
				    v->precursors,
				    v->consequences,
				    v->announced,
				    v->first_consequence};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		mix(sum, numbers[i]);
	mix_text(sum, v->base_register);
	mix_text(sum, v->bucket);
	mix_text(sum, v->exact);
	mix_text(sum, v->stack);
	mix_text(sum, v->page);
	mix_text(sum, v->subject);
	mix_str(sum, v->module);
	mix_str(sum, v->repeated);
	mix_digits(sum, v->text);
	for (uint32_t i = 0; i < v->particulars; i++)
		mix_digits(sum, v->particular[i].value);
	for (uint32_t i = 0; i < v->functions; i++)
		mix_str(sum, v->function[i]);
	for (uint32_t i = 0; i < v->suspects; i++) {
		mix_str(sum, v->suspect[i].module);
		mix_str(sum, v->suspect[i].function);
		mix(sum, v->suspect[i].points * 2 + v->suspect[i].cut);
		for (uint32_t r = 0; r < v->suspect[i].reasons; r++)
			mix(sum, v->suspect[i].reason[r].points);
	}
	for (uint32_t i = 0; i < v->nr_fired; i++) {
		mix_text(sum, v->fired[i].id);
		mix_digits(sum, v->fired[i].text);
	}
	for (uint32_t i = 0; i < v->precursors; i++)
		mix(sum, v->precursor[i].event + 1000 * (int64_t)v->precursor[i].before);
}

#endif
