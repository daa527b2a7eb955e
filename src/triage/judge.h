/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: what a report means: mechanism, who, order, bucket. */
#ifndef FS_TRIAGE_JUDGE_H
#define FS_TRIAGE_JUDGE_H

#include "triage/address.h"
#include "triage/insn.h"
#include "triage/triage.h"

/* A report under judgement: its facts, and what follows from them. */
struct judged {
	const struct incident *e;
	const struct lines *ls;
	struct diagnosis *v;
	struct insn in;
	bool has_insn;
	bool has_address;
	uint64_t a;
	bool has_base;
	uint64_t b; /* the pointer that the address was computed from */
	int64_t o;  /* what was added */
	char base_name[8];
	enum region region;
	bool fault;	  /* an access to memory failed */
	bool has_present; /* whether the page was there is known */
	bool present;
};

void judge_facts(struct judged *j);	/* access, address, region */
void judge_mechanism(struct judged *j); /* the table of rules */
void judge_functions(struct judged *j); /* whose code it was */
void judge_suspects(struct judged *j, const struct triage *t);
void judge_bucket(struct diagnosis *v);

/* One more reason for a suspect, whose strings outlive the verdict; then their order. */
void suspect_accuse(struct diagnosis *v, struct str module, int points, const char *why);

/* Notes that a rule decided, with what it saw. */
void rule_fired(struct diagnosis *v, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
