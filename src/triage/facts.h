/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: parses the lines of a report: addresses, error codes, registers, code bytes, tasks. */
#ifndef FS_TRIAGE_FACTS_H
#define FS_TRIAGE_FACTS_H

#include "triage/match.h"

/* The section of a report to which the next lines belong. */
enum section { SECTION_HEAD, SECTION_TRACE, SECTION_MODULES, SECTION_OTHER };

struct reading {
	struct incident *e;
	enum section section;
	enum part part; /* enum part of the trace to which the next frames belong */
	bool irq;	/* the current line is within <IRQ> or <NMI> */
	bool aside;	/* the next trace is of a task that is not at fault */
	bool main_seen; /* the main trace has begun */
	/* further registers are those of an interrupted context, not of the fault */
	bool regs_shut;
	bool body;	  /* the header lines of the report are over */
	uint32_t silence; /* number of lines since the last one that belongs to the report */
};

/* Reads facts from a log line. Returns whether the line is part of the report. */
bool facts_take(struct reading *r, struct str text, uint32_t line);

/* Parses a line of a call trace. Returns whether the line belongs to a trace. */
bool trace_section(struct reading *r, struct str text, uint32_t line);

/* Parse a line of registers or of code bytes. Return whether the line has such values. */
bool registers_take(struct reading *r, struct str text);
bool code_take(struct incident *e, struct str text);

/*
 * Parse "CPU: … Comm: …" or "Pid: …, comm: …", and module lists. Return whether the line has one of
 * these forms.
 */
bool identity_take(struct incident *e, struct str text);
bool modules_take(struct reading *r, struct str text, uint32_t line);

#endif
