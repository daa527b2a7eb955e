/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: parses the lines of a report: addresses, error codes, registers, code bytes, tasks. */
#ifndef FS_TRIAGE_FACTS_H
#define FS_TRIAGE_FACTS_H

#include "triage/match.h"

/* What the following lines belong to. */
enum section { SECTION_HEAD, SECTION_TRACE, SECTION_MODULES, SECTION_OTHER };

struct reading {
	struct incident *e;
	enum section section;
	enum part part;	  /* part of the current trace */
	bool irq;	  /* within <IRQ> or <NMI> */
	bool aside;	  /* the next trace is not that of the report's subject */
	bool main_seen;	  /* the first trace is complete */
	bool regs_shut;	  /* registers that follow are those of an interrupted context */
	bool body;	  /* behind the first lines */
	uint32_t silence; /* lines since the last one that was recognised */
};

/* Returns whether the line was recognised as part of the report. */
bool facts_take(struct reading *r, struct str text, uint32_t line);

/* Takes a line of a call trace. */
bool trace_section(struct reading *r, struct str text, uint32_t line);

/* Takes registers and code bytes. */
bool registers_take(struct reading *r, struct str text);
bool code_take(struct incident *e, struct str text);

/* Takes "CPU: … Comm: …", "Pid: …, comm: …" and module lists. */
bool identity_take(struct incident *e, struct str text);
bool modules_take(struct reading *r, struct str text, uint32_t line);

#endif
