/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: gates of --fail-on. A gate is a condition such as "maps.peak>60%": if it is true, the
 * command fails. It compares a number of events or findings, or any value of the field table, with
 * a threshold.
 */
#ifndef FS_RULES_GATES_H
#define FS_RULES_GATES_H

#include "model/fields.h"
#include "model/phases.h"
#include "rules/rules.h"

#define GATES_MAX 32

enum gate_kind {
	/* GATE_TOTAL compares the sum over all processes, including those that have ended */
	GATE_TOTAL,
	GATE_HIGHEST, /* GATE_HIGHEST compares the highest value of any process, at any scan */
	GATE_SIGNAL,
	GATE_FINDINGS,
	GATE_PHASE, /* GATE_PHASE compares a value of each phase; see model/phases.h */
};

/* A value that a gate can compare with a threshold. The help text lists these rows. */
struct gate_row {
	const char *name;
	enum gate_kind kind;
	int number;  /* signal number for GATE_SIGNAL, severity for GATE_FINDINGS */
	double unit; /* what 1 means in a threshold without a suffix, in units of the field */
	const char *help;
	const struct field *field, *plus; /* fields whose values are added up; NULL: none */
	int resource;			  /* index in resources[], whose limit is 100 %; -1: none */
	const struct phase_value *of_phase; /* value of GATE_PHASE; NULL: another kind */
};

/* Stores row `nth` of the gates that the help text lists. Returns false behind the last. */
bool gate_row(size_t nth, struct gate_row *ret);

enum gate_op { GATE_ABOVE, GATE_FROM, GATE_BELOW, GATE_TO };
enum gate_state { GATE_PASSED, GATE_TRIPPED, GATE_NOT_MEASURED };

struct gate {
	char text[96]; /* the gate as the user wrote it, without blanks */
	enum gate_kind kind;
	const struct field *field, *plus; /* fields whose values are added up; NULL: none */
	int resource;			  /* index in resources[], whose limit is 100 %; -1: none */
	int number;
	const struct phase_value *of_phase; /* value of GATE_PHASE; NULL: another kind */
	double unit;
	enum gate_op op;
	bool percent;
	double threshold; /* threshold in percent, or in units of the field */
	/* gates_check() updates the members from here on */
	double ended; /* sum of the values of processes that have ended, or number of signals */
	double most;  /* highest value that any process had */
	uint64_t most_value, most_limit, asked, answered;
	uint32_t pid; /* pid of the process with the highest value; 0: none */
	char comm[COMM_LEN];
	/* gates_judge() sets the members from here on */
	enum gate_state state;
	double value;	 /* the value that was compared with the threshold */
	bool incomplete; /* records were lost, so `value` is a lower bound */
	const struct phase *phase; /* GATE_PHASE: the phase with `value`; NULL: no phase */
};

struct gates {
	struct gate gate[GATES_MAX];
	size_t n;
	size_t failed; /* number of gates that tripped, or were not measured */
};

/* Adds gates from a list "GATE>N,GATE>N%,…". Returns 0, or -EINVAL with a message in `error`. */
int gates_parse(struct gates *g, const char *text, char *error, size_t size);

/*
 * Updates the gates. Must be called once at the end of each interval, before the model drops the
 * data of that interval.
 */
void gates_check(struct gates *g, const struct model *m);

/* Sets the state and the value of each gate, after the last interval. */
void gates_judge(struct gates *g, const struct model *m, const struct findings *fs);

/*
 * Returns the probe without which the gate cannot be measured; NULL: the kernel does not have the
 * value.
 */
const char *gate_lacks(const struct gate *g);

/*
 * Compares the value of a phase with the threshold of a gate on phases. Stores the value, unless it
 * is not measured.
 */
enum gate_state gate_of_phase(const struct gate *g, const struct phase *p, double *ret);

/* Returns the unit of `value`; UNIT_COUNT if it is a percentage. */
enum unit gate_unit(const struct gate *g);

#endif
