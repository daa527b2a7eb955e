/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: values of a process, as described in records/counters.def. */
#ifndef FS_MODEL_FIELDS_H
#define FS_MODEL_FIELDS_H

#include "base/nearest.h"
#include "model/model.h"

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_LIMIT /* ~0: unlimited */ };
enum field_type {
	FIELD_COUNTER, /* a total since watching started; text output shows its rate */
	FIELD_GAUGE,
};

/* A column in the table of processes. */
struct field_column {
	/*
	 * position from the left; on narrow screens the last ones are omitted first. 0: no column
	 */
	int nth;
	int width;
	const char *title; /* NULL: the title of the field */
	const char *of;	   /* show as a percentage of this field; NULL: show the value */
};

enum diff_sum { DIFF_LIVING, DIFF_EVER, DIFF_PER_SECOND };

/* A line per workload when two recordings are compared. */
struct field_diff {
	const char *name;  /* NULL: none */
	double floor;	   /* smaller growth is not shown */
	enum diff_sum sum; /* LIVING: ended processes hold nothing, and are left out */
	double divide;	   /* divisor to the field's unit; 0: none */
};

/* A condition of --fail-on with its own name. Fields with the same name are added up. */
struct field_gate {
	const char *name;  /* NULL: only the name of the field */
	const char *help;  /* NULL: another field of this name has the help */
	double unit;	   /* what a number without suffix means, in the field's unit; 0: 1 */
	const char *limit; /* the limit that is 100 %, as for resource_find(); NULL: no limit */
};

/* Cells of the live view, in this order. */
#define LEAD_VALUE    1u
#define LEAD_SHARE    2u /* share of the limit of the field's resource */
#define LEAD_TREND    4u
#define LEAD_FORECAST 8u /* time until that limit is reached */

/* Leading columns of a tab of the live view; other fields follow them. */
struct field_lead {
	int nth;	    /* position from the left; 0: not a leading column */
	unsigned int cells; /* LEAD_* */
};

/* A gauge whose sum over all processes is kept over time. */
struct field_sum {
	const char *column; /* CSV column; NULL: no sum is kept */
	const char *title;  /* of the chart */
};

struct field {
	const char *group; /* JSON object in a process line; "" for none */
	const char *key;
	enum unit unit;
	enum field_type type;
	/* the value is null without this probe; NULL: a value of the kernel itself */
	const char *hook;
	const char *help;
	/* Returns false when the value is unknown (null). NULL: the counter at `at`. */
	bool (*get)(const struct model *m, const struct subject *s, const struct facts *f,
		    uint64_t *ret);
	size_t at;	    /* offset in struct counters */
	uint32_t lacks;	    /* LACKS_* of the attach type that make it null; 0: none */
	const char *column; /* short title in tables; NULL: its key in capitals */
	struct field_column table, share;
	const char *block; /* name in the block of a process, with its group; NULL: not shown */
	const char *html;  /* title in the report's table of processes; NULL: not in it */
	struct field_diff diff;
	struct field_gate gate;
	struct field_lead overview, lead; /* in the first tab, and in the tab of its group */
	int resource;			  /* enum resource_id, for LEAD_SHARE and LEAD_FORECAST */
	/* the live view keeps its latest values for a sparkline */
	bool trend;
	struct field_sum sum;
};

extern const struct field fields[];
extern const size_t nr_fields;

/*
 * Finds a field by "group.key", or by key or column if that is unique. Returns NULL if there is
 * none.
 */
const struct field *field_find(const char *name);

bool field_get(const struct model *m, const struct subject *s, const struct field *f,
	       uint64_t *ret);

/* Returns the growth in the window; 0 when nothing changed. */
uint64_t field_delta(const struct model *m, const struct subject *s, const struct field *f);

/* A table of counters inside a process line: JSON {row: {column: n}}, or {row: n} for one column.
 */
struct grid {
	const char *group, *key, *hook, *help;
	size_t rows, columns;
	const char *(*row)(size_t i);
	const char *const *column;
	uint64_t (*cell)(const struct counters *c, size_t row, size_t column);
	uint32_t lacks; /* as in a field */
};

extern const struct grid grids[];
extern const size_t nr_grids;

/* A log2 histogram: bucket i counts values below le(i); the last bucket has no bound. */
struct histogram {
	const char *group, *key, *hook, *help;
	const char *within; /* JSON object within the group that holds it; NULL: the group itself */
	enum unit unit;
	size_t buckets;
	unsigned int shift; /* bucket i: below 2^((i + 1) * step + shift) */
	const uint64_t *(*counts)(const struct counters *c);
	uint64_t (*max)(const struct counters *c); /* NULL: no maximum is kept */
	uint32_t lacks;				   /* as in a field */
	unsigned int step;			   /* 0: one */
	bool sparse; /* one of many: omitted when empty, and one line in text */
};

extern const struct histogram histograms[];
extern const size_t nr_histograms;

/* Returns "group.key", or "key" of a field without a group, as field_find() accepts it. */
const char *field_name(const struct field *f, char *ret, size_t size);

/* Returns the column title; for a counter that of its rate. */
const char *field_column_title(const struct field *f, char *ret, size_t size);

/* Adds every field's name to the "did you mean" search; the most similar name is kept in `name`. */
void fields_offer(struct nearest *n, char name[NEAREST_BYTES]);

/*
 * Returns whether values of this probe are available: it is on, with an attach type that lacks none
 * of these.
 */
bool is_available(const struct model *m, const char *hook, uint32_t lacks);

uint64_t histogram_le(const struct histogram *h, size_t bucket);
uint64_t histogram_total(const struct histogram *h, const struct counters *c);

/*
 * Returns the upper bound of the bucket that contains the quantile q (0 to 1); 0 for an empty
 * histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, const struct counters *c, double q);

/* Returns how many calls failed: of the mmap family, or those that create file descriptors. */
uint64_t counters_refused(const struct counters *c, enum what what);

/* Returns the page faults of a kind; -1 stands for any mode, access or protection. */
uint64_t count_kinds(const struct counters *c, int kernel, int access, int protection);

/* Returns how many faults of a class were handled. */
uint64_t count_served(const struct counters *c, enum fault_class id);
const char *class_name(enum fault_class id);

/* JSON names of calls: CALL_* without NONE. */
const char *call_name(unsigned int call);

#endif
