/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: bytes of logs in, a verdict out: what happened, by what mechanism, who is suspect, in
 * what order, and in which bucket it belongs. Opens no file, asks no clock.
 */
#ifndef FS_TRIAGE_TRIAGE_H
#define FS_TRIAGE_TRIAGE_H

#include "blackbox/scan.h"
#include "triage/address.h"
#include "triage/incident.h"
#include "triage/insn.h"
#include "triage/crash_signs.h"
#include "triage/recognise.h"

#define DIAGNOSES_MAX  32
#define FUNCTIONS_MAX  12
#define SUSPECTS_MAX   6
#define REASONS_MAX    8
#define FIRED_MAX      12
#define PRECURSORS_MAX 12
#define STEPS_MAX      8
#define HASH_BYTES     20

/* What it means. */
enum mechanism {
#define MECHANISM(id, ...) MECH_##id,
#include "triage/mechanisms.def"
#undef MECHANISM
	NR_MECHANISMS,
};

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

struct reason {
	int points;
	const char *why;
};

struct suspect {
	struct str module; /* "vmlinux": the kernel's own code; "hardware" */
	struct str function;
	bool cut; /* the log has only the beginning of its name */
	int points;
	struct reason reason[REASONS_MAX];
	uint32_t reasons;
};

struct fired {
	const char *id;
	char text[160];
};

struct precursor {
	uint32_t event; /* index */
	bool timed;
	double before; /* seconds */
};

struct diagnosis {
	const struct incident *event;
	uint32_t index; /* of the event */
	enum kind kind;
	enum mechanism mechanism;
	enum confidence confidence;
	enum access access;
	uint32_t size; /* 0: not known */
	bool has_address;
	uint64_t address;
	enum region region;
	bool has_base; /* the pointer that the address was computed from */
	uint64_t base;
	int64_t offset;
	char base_register[8];
	enum poison poison;
	char text[320]; /* one or two sentences */

	struct str function[FUNCTIONS_MAX];
	uint32_t functions;
	struct frame frame;  /* of the first of them, where known */
	struct str module;   /* of the instruction; "vmlinux" */
	bool in_kernel_code; /* false: the instruction pointer was in no code */
	struct str repeated; /* a function that the trace holds three times and more */
	uint32_t repeats;

	struct suspect suspect[SUSPECTS_MAX];
	uint32_t suspects;
	bool culprit_unknown; /* none stands out */
	bool hardware;	      /* more likely than any code */

	struct fired fired[FIRED_MAX];
	uint32_t nr_fired;
	struct precursor precursor[PRECURSORS_MAX];
	uint32_t precursors;
	uint32_t consequences;
	bool announced; /* only came before the crash of the same module */
	uint32_t first_consequence;

	char bucket[224];
	char exact[2 * HASH_BYTES + 1], stack[2 * HASH_BYTES + 1];
};

#define RECORDED_MAX 16

/* What the flight recorder tells of the time before; the nearest to the crash last. */
struct recorded_note {
	enum bb_class class;
	double before; /* seconds; negative: behind it */
	char text[320];
};

struct recorded {
	bool any; /* records were at hand, of the boot that crashed */
	char boot_id[2 * BB_BOOT_BYTES + 1];
	struct recorded_note note[RECORDED_MAX];
	uint32_t notes;
	uint32_t left_out; /* notes beyond the most, the oldest */
	uint64_t absorbed; /* bad accesses that were survived */
	uint64_t torn;
	double silent;	 /* seconds from the last sign of life to the crash; below 0: not known */
	bool fatal;	 /* a fault is among them that the kernel was to die of */
	char module[64]; /* whom the fault accuses: who gave the range back, or is gone */
	char why[128];	 /* and why */
	int points;	 /* as a suspect */
	char registers[400]; /* of the fault */
	struct crash_signs crash_signs;
};

struct triage {
	struct lines lines;
	struct recorded recorded;
	struct recognised seen;
	struct diagnosis *verdict; /* independent crashes, in order */
	uint32_t verdicts;
	uint64_t lost_verdicts;
	int32_t primary; /* index; -1: no crash */
};

/* Returns 0 or -ENOMEM. */
int triage_run(struct triage *ret, const struct triage_input *input, size_t inputs);
void triage_free(struct triage *t);

/* Joins it with the records of a recorder: by boot and clock. `f` is settled. */
void triage_join(struct triage *t, const struct bb_found *f);

const char *mechanism_meaning(enum mechanism m);
const char *mechanism_next(enum mechanism m); /* what to do next; "": no advice */

/* The mechanism's class, of which a verdict of no mechanism takes its kind's name. */
const char *verdict_semantic(const struct diagnosis *v);
const char *verdict_mechanism(const struct diagnosis *v);
const char *confidence_name(enum confidence c);

#endif
