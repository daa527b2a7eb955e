/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: parses the lines of a report: addresses, error codes, registers, code bytes, tasks. */
#ifndef FS_TRIAGE_FACTS_H
#define FS_TRIAGE_FACTS_H

#include "triage/match.h"

/* The section of a report that the next lines belong to. */
enum section { SECTION_HEAD, SECTION_TRACE, SECTION_MODULES, SECTION_OTHER };

struct reading {
	struct incident *e;
	enum section section;
	enum part part; /* trace that the next frames belong to */
	bool irq;	/* the current line is within <IRQ> or <NMI> */
	bool aside;	/* the next trace is that of a bystander, not of the report's task */
	bool main_seen; /* the main trace has begun */
	/* registers that follow are not those of the fault, but of an interrupted context */
	bool regs_shut;
	bool body;	  /* the first lines of the report are over */
	uint32_t silence; /* number of lines since the last recognised one */
};

/* Returns whether the line is part of the report. */
bool facts_take(struct reading *r, struct str text, uint32_t line);

/* Parses a line of a call trace. Returns whether it is one. */
bool trace_section(struct reading *r, struct str text, uint32_t line);

/* Parse registers, and code bytes. Return whether the line holds them. */
bool registers_take(struct reading *r, struct str text);
bool code_take(struct incident *e, struct str text);

/* Parse "CPU: … Comm: …" or "Pid: …, comm: …", and module lists. Return whether the line is one. */
bool identity_take(struct incident *e, struct str text);
bool modules_take(struct reading *r, struct str text, uint32_t line);

#endif
