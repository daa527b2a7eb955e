/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: figures of a process, as records/counters.def describes them. */
#ifndef FS_MODEL_FIELDS_H
#define FS_MODEL_FIELDS_H

#include "base/nearest.h"
#include "model/model.h"

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_LIMIT /* ~0: unlimited */ };
enum field_type {
	FIELD_COUNTER, /* a total since watching began; text shows its rate */
	FIELD_GAUGE,
};

/* A column of the table of processes. */
struct field_column {
	int nth; /* from the left; the last ones go first where the screen is narrow. 0: none */
	int width;
	const char *title; /* NULL: the field's column */
	const char *of;	   /* in percent of this field; NULL: as it is */
};

enum diff_sum { DIFF_LIVING, DIFF_EVER, DIFF_PER_SECOND };

/* A line for each workload where two recordings are compared. */
struct field_diff {
	const char *name;  /* NULL: none */
	double floor;	   /* growth below it is no news */
	enum diff_sum sum; /* LIVING: what ended holds nothing */
	double divide;	   /* by the field's unit; 0: as it is */
};

/* A condition of --fail-on with a name of its own. Fields that have the same name are added up. */
struct field_gate {
	const char *name;  /* NULL: none but that of the field */
	const char *help;  /* NULL: another field of this name has it */
	double unit;	   /* of a number without a suffix, in the field's units; 0: 1 */
	const char *limit; /* what is 100 %, as resource_find() takes it; NULL: there is no limit */
};

/* Cells of the live view, in this order. */
#define LEAD_VALUE    1u
#define LEAD_SHARE    2u /* of the limit of the field's resource */
#define LEAD_TREND    4u
#define LEAD_FORECAST 8u /* when that limit is reached */

/* Among the leading columns of a tab of the live view. The fields that do not lead follow them. */
struct field_lead {
	int nth;	    /* from the left; 0: it does not lead */
	unsigned int cells; /* LEAD_* */
};

/* A gauge whose sum over all processes is kept over time. */
struct field_sum {
	const char *column; /* of CSV; NULL: no sum is kept */
	const char *title;  /* of the chart */
};

struct field {
	const char *group; /* JSON object in a process line; "" for none */
	const char *key;
	enum unit unit;
	enum field_type type;
	const char *hook; /* blind, so null, without it; NULL: the kernel's own figure */
	const char *help;
	/* Returns false where it is not known (null). NULL: it is the counter at `at`. */
	bool (*get)(const struct model *m, const struct subject *s, const struct facts *f,
		    uint64_t *ret);
	size_t at;	    /* in struct counters */
	uint32_t lacks;	    /* LACKS_* of the hook's mechanism that make it null; 0: none */
	const char *column; /* short title in tables; NULL: its key in capitals */
	struct field_column table, share;
	const char *block; /* name in the block of a process, with its group; NULL: none */
	const char *html;  /* title in the report's table of processes; NULL: not in it */
	struct field_diff diff;
	struct field_gate gate;
	struct field_lead overview, lead; /* of the first tab; of the tab that has its group */
	int resource;			  /* enum resource_id, where LEAD_SHARE or LEAD_FORECAST */
	bool trend;			  /* the live view keeps its last values, and draws them */
	struct field_sum sum;
};

extern const struct field fields[];
extern const size_t nr_fields;

/* By "group.key", or by key or column alone where that is one field. NULL where there is none. */
const struct field *field_find(const char *name);

bool field_get(const struct model *m, const struct subject *s, const struct field *f,
	       uint64_t *ret);

/* Growth in the window; 0 where nothing changed. */
uint64_t field_delta(const struct model *m, const struct subject *s, const struct field *f);

/* A table of counters inside a process line: JSON {row: {column: n}}, or {row: n} for one column.
 */
struct grid {
	const char *group, *key, *hook, *help;
	size_t rows, columns;
	const char *(*row)(size_t i);
	const char *const *column;
	uint64_t (*cell)(const struct counters *c, size_t row, size_t column);
	uint32_t lacks; /* as of a field */
};

extern const struct grid grids[];
extern const size_t nr_grids;

/* A log2 histogram: bucket i counts values below le(i); the last has no bound. */
struct histogram {
	const char *group, *key, *hook, *help;
	const char
		*within; /* a JSON object inside the group that holds it; NULL: the group itself */
	enum unit unit;
	size_t buckets;
	unsigned int shift; /* bucket i: below 2^((i + 1) * step + shift) */
	const uint64_t *(*counts)(const struct counters *c);
	uint64_t (*max)(const struct counters *c); /* NULL: not kept */
	uint32_t lacks;				   /* as of a field */
	unsigned int step;			   /* 0: one */
	bool sparse; /* one of many: left out where it is empty, and in text a line */
};

extern const struct histogram histograms[];
extern const size_t nr_histograms;

/* "group.key", or "key" of one without a group: as field_find() takes it. */
const char *field_name(const struct field *f, char *ret, size_t size);

/* Over a column: of a counter that is its rate. */
const char *field_column_title(const struct field *f, char *ret, size_t size);

/* Offers every field's name for "did you mean"; the nearest of them is kept in `name`. */
void fields_offer(struct nearest *n, char name[NEAREST_BYTES]);

/* Whether a figure of this hook can be told: it is on, by a mechanism that lacks none of these. */
bool is_available(const struct model *m, const char *hook, uint32_t lacks);

uint64_t histogram_le(const struct histogram *h, size_t bucket);
uint64_t histogram_total(const struct histogram *h, const struct counters *c);

/* The upper bound of the bucket in which the quantile q (0 to 1) falls; 0 for an empty one. */
uint64_t histogram_quantile(const struct histogram *h, const struct counters *c, double q);

/* Calls that failed: of the mmap family, or that make descriptors. */
uint64_t counters_refused(const struct counters *c, enum what what);

/* Page faults of a kind: pass -1 for any mode, access or protection. */
uint64_t count_kinds(const struct counters *c, int kernel, int access, int protection);

/* Sum of what was served as a class, and its JSON name and meaning. */
uint64_t count_served(const struct counters *c, enum fault_class id);
const char *class_name(enum fault_class id);

/* JSON names of calls, CALL_* without NONE. */
const char *call_name(unsigned int call);

#endif
