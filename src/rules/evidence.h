/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: the values on which a verdict or a finding rests, as numbers with a unit, or as texts. */
#ifndef FS_RULES_EVIDENCE_H
#define FS_RULES_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define EVIDENCE_MAX 16

/*
 * The unit of evidence. Evidence has its number in `value` for the units before IN_SECONDS, and in
 * `real` from IN_SECONDS on.
 */
enum evidence_unit {
	IN_TEXT, /* the evidence is `text` alone, without a number */
	IN_COUNT,
	IN_BYTES,
	IN_PAGES,
	IN_SECONDS,
	IN_PERCENT,
	IN_PER_SECOND,
	IN_BYTES_PER_SECOND,
	NR_EVIDENCE_UNITS,
};

struct evidence {
	const char *field; /* name of the value; not owned: a literal */
	/* the evidence itself if there is no number, else what the number is about */
	char text[160];
	enum evidence_unit unit;
	uint64_t value;
	double real;
	uint64_t asked; /* the amount that a call requested in addition to `value`; 0: none */
	uint64_t limit; /* the limit of `value`; UINT64_MAX: unlimited */
	bool has_limit;
	bool at_least; /* `value` is a lower bound */
	bool assumed;  /* the user assumed the limit (--assume); the system has another */
};

/* Returns the name of a unit as in JSON; NULL for IN_TEXT. */
const char *evidence_unit_name(enum evidence_unit u);

static inline bool unit_is_real(enum evidence_unit u)
{
	return u >= IN_SECONDS;
}

/* Makes `e` empty evidence with that field name, and returns it. */
struct evidence *evidence_init(struct evidence *e, const char *field);

void evidence_set(struct evidence *e, enum evidence_unit unit, uint64_t value);
void evidence_set_real(struct evidence *e, enum evidence_unit unit, double value);
void evidence_limit(struct evidence *e, uint64_t limit);

/* Sets what the number is about, such as a process or a file name. */
void evidence_about(struct evidence *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes evidence for people: "65,531 of 65,530", "88 MiB of 128 MiB", or the text. */
void evidence_put(struct buf *b, const struct evidence *e);

#endif
