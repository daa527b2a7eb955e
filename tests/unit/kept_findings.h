/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes a checksum over all findings of a test: their ids, severities and times, and the digits
 * in their texts, but no words. The test contains the expected checksum, so it fails if any number
 * changes. After an intended change, copy the new checksum into the test.
 *
 * If the environment variable FS_SHOW_EXPECTED=FILE is set, the numbers are appended to FILE. They
 * can then be compared with those of another build.
 */
#ifndef FS_TESTS_KEPT_FINDINGS_H
#define FS_TESTS_KEPT_FINDINGS_H

#include <stdlib.h>

#include "base/buf.h"
#include "rules/rules.h"
#include "tap.h"
#include "finding_text.h"

static uint32_t sum_of_findings = 2166136261u; /* offset basis of FNV-1a */

static void put_numbers(struct buf *b, const char *text)
{
	for (; *text; text++)
		if (strchr("0123456789.%", *text))
			buf_putc(b, *text);
	buf_putc(b, ' ');
}

static void put_finding(struct buf *b, const struct finding *f)
{
	buf_printf(b, "%s %d%d%d%d %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %d: ", f->rule->id,
		   f->severity, f->worst, f->open, f->fresh, f->subject.pid, f->level, f->since_ns,
		   f->times, f->want, f->forecast.known);
	put_numbers(b, f->title);
	for (size_t i = 0; i < f->nr_evidence; i++)
		put_numbers(b, evidence_value_str(&f->evidence[i]));
	for (size_t i = 0; i < f->nr_remedies; i++)
		put_numbers(b, remedy_str(f, i));
	for (size_t i = 0; i < f->nr_because; i++)
		buf_printf(b, "%s ", f->because[i]->id);
	buf_putc(b, '\n');
}

static void note_findings(const struct findings *fs)
{
	const char *path = getenv("FS_SHOW_EXPECTED");
	FILE *shown = path ? fopen(path, "a") : NULL;
	struct buf b = {};

	for (size_t i = 0; i < fs->n; i++)
		put_finding(&b, &fs->f[i]);
	for (size_t i = 0; i < b.len; i++)
		sum_of_findings = (sum_of_findings ^ (unsigned char)b.s[i]) * 16777619u;
	if (shown) {
		fprintf(shown, "%.*s\n", (int)b.len, b.s ? b.s : "");
		fclose(shown);
	}
	buf_free(&b);
}

#define findings_judge(fs, m)                                                                      \
	do {                                                                                       \
		findings_judge(fs, m);                                                             \
		note_findings(fs);                                                                 \
	} while (0)

/* Checks the checksum over all findings at the end of a test. */
#define numbers_are(want)                                                                          \
	ok(sum_of_findings == (want), "the numbers of all findings come to 0x%08x",                \
	   sum_of_findings)

#endif
