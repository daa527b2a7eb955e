/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: finds a crash's mechanism, the suspect modules, the order of events and the bucket. */
#ifndef FS_TRIAGE_JUDGE_H
#define FS_TRIAGE_JUDGE_H

#include "triage/address.h"
#include "triage/insn.h"
#include "triage/triage.h"

/* A report being analysed: its facts, and what follows from them. */
struct judged {
	const struct incident *e;
	const struct lines *ls;
	struct diagnosis *v;
	struct insn in;
	bool has_insn;
	bool has_address;
	uint64_t a;
	bool has_base;
	uint64_t b; /* pointer from which the address was computed */
	int64_t o;  /* offset that was added to `b` */
	char base_name[8];
	enum region region;
	bool fault;	  /* a memory access failed */
	bool has_present; /* `present` (the page was present) is known */
	bool present;
};

void judge_facts(struct judged *j);	/* finds access, address and region */
void judge_mechanism(struct judged *j); /* applies the rules that find the mechanism */
void judge_functions(struct judged *j); /* finds the functions at fault */
void judge_suspects(struct judged *j, const struct triage *t);
void judge_confidence(struct judged *j); /* after judge_suspects() */
void judge_bucket(struct diagnosis *v);
/* Finds details of the report, its page of `explain`, and the advice for it. */
void judge_particulars(struct judged *j, const struct triage *t);

/*
 * Applies all rules to the report `index` of seen.event, in the order above. Stores the diagnosis
 * in `ret`, which points into `t`.
 */
void judge_report(struct triage *t, uint32_t index, struct diagnosis *ret);

/* Adds a detail, unless the report already has one of this name. */
void particular_add(struct diagnosis *v, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds points to a suspect, and sorts suspects. Strings `module` and `why` must outlive `v`. */
void suspect_accuse(struct diagnosis *v, struct str module, int points, const char *why);

/* Records a rule that led to the diagnosis, and its evidence. */
void rule_fired(struct diagnosis *v, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
