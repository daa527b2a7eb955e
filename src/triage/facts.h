/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: the lines inside a report: addresses, error codes, registers, instruction bytes, owners.
 */
#ifndef FS_TRIAGE_FACTS_H
#define FS_TRIAGE_FACTS_H

#include "triage/match.h"

/* What kind of line the next ones belong to. */
enum section { SECTION_HEAD, SECTION_TRACE, SECTION_MODULES, SECTION_OTHER };

struct reading {
	struct incident *e;
	enum section section;
	enum part part;	  /* of the trace being read */
	bool irq;	  /* inside <IRQ> or <NMI> */
	bool aside;	  /* the next trace is not of what the report is about */
	bool main_seen;	  /* the first trace is done */
	bool regs_shut;	  /* what follows are the registers of an interrupted context */
	bool body;	  /* past the first lines */
	uint32_t silence; /* lines since the last that was understood */
};

/* Whether the line was understood as part of the report. */
bool facts_take(struct reading *r, struct str text, uint32_t line);

/* A line of a call trace. */
bool trace_section(struct reading *r, struct str text, uint32_t line);

/* Registers and instruction bytes. */
bool registers_take(struct reading *r, struct str text);
bool code_take(struct incident *e, struct str text);

/* "CPU: … Comm: …", "Pid: …, comm: …", module lists. */
bool identity_take(struct incident *e, struct str text);
bool modules_take(struct reading *r, struct str text, uint32_t line);

#endif
