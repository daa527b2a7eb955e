/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes a checksum over the causes of failed calls that a test finds: their names, numbers and
 * fields, but no other words. The test contains the expected checksum, so it fails if any cause
 * changes. After an intended change, copy the new checksum into the test.
 */
#ifndef FS_TESTS_KEPT_VERDICTS_H
#define FS_TESTS_KEPT_VERDICTS_H

#include "rules/cause.h"
#include "sums.h"

static uint64_t sum_of_verdicts = SUM_BEGINS;

static void mix_digits(const char *text)
{
	for (; *text; text++)
		if (strchr("0123456789.%", *text))
			mix(&sum_of_verdicts, *text);
	mix(&sum_of_verdicts, ' ');
}

static void note_verdict(const struct verdict *v)
{
	uint64_t *sum = &sum_of_verdicts;

	mix_text(sum, v->cause);
	mix(sum, v->certain);
	mix(sum, v->need);
	mix(sum, v->asked);
	mix_text(sum, v->limit ? v->limit->name : "");
	for (size_t i = 0; i < v->nr_evidence; i++) {
		mix_text(sum, v->evidence[i].field);
		mix_digits(v->evidence[i].text);
		mix(sum, v->evidence[i].value);
		mix(sum, v->evidence[i].asked);
		mix(sum, v->evidence[i].limit);
	}
	for (size_t i = 0; i < v->nr_next; i++)
		mix_text(sum, v->next[i]);
}

#define cause_of(r, l, arch, v)                                                                    \
	do {                                                                                       \
		cause_of(r, l, arch, v);                                                           \
		note_verdict(v);                                                                   \
	} while (0)

/* Checks the checksum over all causes at the end of a test. */
#define verdicts_are(want)                                                                         \
	ok(sum_of_verdicts == (want), "all verdicts come to 0x%016" PRIx64, sum_of_verdicts)

#endif
