/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: analyses kernel logs. Its input are the bytes of logs, and its results are diagnoses. A
 * diagnosis contains the event, the mechanism, the suspect modules, the order of events, and the
 * bucket of the crash. Triage opens no file and reads no clock.
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

#define PARTICULARS_MAX	 10
#define PARTICULAR_BYTES 192
#define NOTICES_MAX	 4

/* How a crash came about: each value is a row of mechanisms.def. */
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
	/*
	 * module name; "vmlinux": the kernel's own code; "hardware": no module, but faulty hardware
	 */
	struct str module;
	struct str function;
	bool cut; /* the log has only the beginning of this module's name */
	int points;
	struct reason reason[REASONS_MAX];
	uint32_t reasons;
};

struct fired {
	const char *id;
	char text[160];
};

struct precursor {
	uint32_t event; /* index in seen.event of struct triage */
	bool timed;
	double before; /* seconds from the event to the crash */
};

/* A detail of a report, such as the device or the limit that was reached. */
struct particular {
	const char *name;
	char value[PARTICULAR_BYTES];
};

struct diagnosis {
	const struct incident *event;
	uint32_t index; /* index of the event in seen.event of struct triage */
	enum kind kind;
	enum mechanism mechanism;
	enum confidence confidence;
	enum access access;
	uint32_t size; /* bytes accessed; 0: not known */
	bool has_address;
	uint64_t address;
	enum region region;
	bool has_base; /* `base`, the pointer from which the address was computed, is known */
	uint64_t base;
	int64_t offset;
	char base_register[8];
	enum poison poison;
	char text[320]; /* what happened, in one or two sentences */
	struct particular particular[PARTICULARS_MAX];
	uint32_t particulars;
	const char *page; /* id of the page that `explain` prints about the report; "": none */
	char subject[32]; /* part of the bucket's name, for reports without a function */
	const char *next; /* what to do about this kind of report; "": no advice */

	struct str function[FUNCTIONS_MAX];
	uint32_t functions;
	struct frame frame;  /* frame of function[0], if `functions` is not 0 */
	struct str module;   /* module of the instruction; "vmlinux": the kernel's own code */
	bool in_kernel_code; /* the instruction pointer was in code of the kernel or a module */
	struct str repeated; /* function that appears in the trace most often: `repeats` times */
	uint32_t repeats;

	struct suspect suspect[SUSPECTS_MAX];
	uint32_t suspects;
	bool culprit_unknown; /* no suspect stands out */
	bool culprit_direct;  /* the trace itself shows the culprit, without an inference */
	bool hardware;	      /* faulty hardware is more likely than faulty code */

	struct fired fired[FIRED_MAX];
	uint32_t nr_fired;
	struct precursor precursor[PRECURSORS_MAX];
	uint32_t precursors;
	uint32_t consequences;
	bool announced; /* a warning of the crashed module preceded the crash */
	uint32_t first_consequence;

	char bucket[224];
	char exact[2 * HASH_BYTES + 1], stack[2 * HASH_BYTES + 1];
};

#define RECORDED_MAX 16

/* An event from the flight recorder. `note` is sorted by time, with the latest event last. */
struct recorded_note {
	enum bb_class class;
	double before; /* seconds from the event to the crash; negative: after the crash */
	char text[320];
};

struct recorded {
	bool any; /* there are records of the boot in which the crash happened */
	char boot_id[2 * BB_BOOT_BYTES + 1];
	struct recorded_note note[RECORDED_MAX];
	uint32_t notes;
	uint32_t left_out; /* number of old notes that were dropped, because there was no room */
	uint64_t absorbed; /* number of recovered kernel faults */
	uint64_t torn;
	double silent;	     /* time from the last record to the crash in s; negative: not known */
	bool fatal;	     /* one of the notes is a fatal kernel fault */
	char module[64];     /* module that the fault record blames; empty: none */
	char why[128];	     /* reason to blame `module` */
	int points;	     /* points that this reason adds to the module as a suspect */
	char registers[400]; /* registers at the fault, as text */
	struct crash_signs crash_signs;
};

struct triage {
	struct lines lines;
	struct recorded recorded;
	struct recognised seen;
	struct diagnosis *verdict; /* independent crashes, in order of the log */
	uint32_t verdicts;
	uint64_t lost_verdicts;
	int32_t primary; /* index of the most important diagnosis; -1: no crash */
	/* diagnoses of reports that are no crash, such as OOM kills, if the log has no crash */
	struct diagnosis *notice;
	uint32_t notices;
};

/* Analyses the inputs, which the caller may then free. Returns 0 or -ENOMEM. */
int triage_run(struct triage *ret, const struct triage_input *input, size_t inputs);
void triage_free(struct triage *t);

/* Adds flight recorder records, matched by boot and clock. `f`: result of bb_found_settle(). */
void triage_join(struct triage *t, const struct bb_found *f);

const char *mechanism_meaning(enum mechanism m);
const char *mechanism_next(enum mechanism m); /* what to do next; "": no advice */

/* verdict_semantic() returns the class of the mechanism, verdict_mechanism() its name. */
const char *verdict_semantic(const struct diagnosis *v);
const char *verdict_mechanism(const struct diagnosis *v);
const char *confidence_name(enum confidence c);

#endif
