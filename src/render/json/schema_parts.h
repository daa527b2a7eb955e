/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: what lines of JSON consist of, as the schema tells it. */
#ifndef FS_RENDER_JSON_SCHEMA_PARTS_H
#define FS_RENDER_JSON_SCHEMA_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Made from the field, grid and histogram tables where a process line is concerned; the other lines
 * are rows here: one a key.
 */
enum type {
	T_COUNT,
	T_COUNT_NULL,
	T_REAL,
	T_REAL_NULL,
	T_TEXT,
	T_TEXT_NULL,
	T_FLAG,
	T_FLAG_NULL,
	T_COUNTS,
	T_TEXTS,
	T_EVIDENCE,
	T_FORECAST,
	T_OBJECT,
	T_TEXT_OBJECT,
	T_ANY_OBJECT,
	T_KEYED,
	T_REALS_NULL,
	T_OBJECTS,
};

struct key {
	const char *name;
	enum type type;
	bool optional;
	const char *help;
	const struct key *of; /* of each object of an array; an empty name ends it */
};

struct shape {
	const char *type;
	const char *help;
	struct key key[20];
	bool alone;		/* not a line among others: it has no time */
	const struct key *more; /* after those; an empty name ends it */
};

/* Of machine, cgroups and file systems: schema_pressure.c. */
extern const struct shape pressure_shapes[];
extern const size_t nr_pressure_shapes;

/* Of the flight recorder: schema_blackbox.c. */
extern const struct shape blackbox_shapes[];
extern const size_t nr_blackbox_shapes;

/* Of what `explain TEXT` finds: schema_explain.c. */
extern const struct key candidate_keys[], message_keys[];

#endif
