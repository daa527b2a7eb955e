/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: gates: conditions under which a measurement fails (--fail-on), as "maps.peak>60%". What a
 * gate is about is an event, a finding, or any figure of the field table.
 */
#ifndef FS_RULES_GATES_H
#define FS_RULES_GATES_H

#include "model/fields.h"
#include "rules/rules.h"

#define GATES_MAX 32

enum gate_kind {
	GATE_TOTAL,   /* of all processes, ended ones too */
	GATE_HIGHEST, /* of any process, at any look */
	GATE_SIGNAL,
	GATE_FINDINGS,
};

/* What a gate can be about. */
struct gate_row {
	const char *name;
	enum gate_kind kind;
	int number;  /* of the signal; enum severity */
	double unit; /* of a number without a suffix, in units of the field */
	const char *help;
	const struct field *field, *plus; /* added up; NULL: none */
	int resource;			  /* a row of resources[], whose limit is 100 %; -1: none */
};

/* The gates with names of their own, from 0 on. Returns false behind the last. */
bool gate_row(size_t nth, struct gate_row *ret);

enum gate_op { GATE_ABOVE, GATE_FROM, GATE_BELOW, GATE_TO };
enum gate_state { GATE_PASSED, GATE_TRIPPED, GATE_NOT_MEASURED };

struct gate {
	char text[96]; /* as asked, without blanks */
	enum gate_kind kind;
	const struct field *field, *plus; /* NULL: none */
	int resource;			  /* a row of resources[], whose limit is 100 %; -1: none */
	int number;
	double unit;
	enum gate_op op;
	bool percent;
	double threshold; /* percent, or in the field's units */
	/* so far */
	double ended; /* of a total: what ended processes had */
	double most;  /* of one process */
	uint64_t most_value, most_limit, asked, answered;
	uint32_t pid; /* whose the most is; 0: nobody's */
	char comm[COMM_LEN];
	/* once judged */
	enum gate_state state;
	double value;	 /* compared with the threshold */
	bool incomplete; /* something fell out: it is at least this */
};

struct gates {
	struct gate gate[GATES_MAX];
	size_t n;
	size_t failed; /* tripped, or not measured */
};

/* Adds "GATE>N,GATE>N%,…". 0, or -EINVAL with `error` set. */
int gates_parse(struct gates *g, const char *text, char *error, size_t size);

/* At the end of each window, once, before the model forgets it. */
void gates_check(struct gates *g, const struct model *m);

/* After the last window. */
void gates_judge(struct gates *g, const struct model *m, const struct findings *fs);

/* The hook without which it was not measured; NULL: the kernel does not tell it. */
const char *gate_lacks(const struct gate *g);

/* What `value` counts: UNIT_COUNT where it is a percentage. */
enum unit gate_unit(const struct gate *g);

#endif
