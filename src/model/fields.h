/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: describes the values of a process: title, unit, where to show it, how to read it. */
#ifndef FS_MODEL_FIELDS_H
#define FS_MODEL_FIELDS_H

#include "base/nearest.h"
#include "model/model.h"

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_LIMIT /* UNIT_LIMIT: ~0 means unlimited */ };
enum field_type {
	/* a total since faultscope began to watch the process; text output shows a rate */
	FIELD_COUNTER,
	FIELD_GAUGE,
};

/* A column in the live view's and text output's table of processes. */
struct field_column {
	/* Position of the column from the left; 0: none. Narrow screens omit the last columns. */
	int nth;
	int width;
	const char *title; /* title of the column; NULL: title of the field */
	const char *of;	   /* field of which the column shows a percentage; NULL: none */
};

enum diff_sum { DIFF_LIVING, DIFF_EVER, DIFF_PER_SECOND };

/* A line for each workload in `faultscope diff`, which compares two recordings. */
struct field_diff {
	const char *name;  /* name of the line in the comparison; NULL: no line */
	double floor;	   /* growth of a workload below this value is not reported */
	enum diff_sum sum; /* DIFF_LIVING: only live processes are summed */
	double divide;	   /* divisor that converts the value to the unit shown; 0: none */
};

/* A condition of --fail-on. Fields with the same condition name are added up. */
struct field_gate {
	const char *name; /* name of the condition; NULL: only the field's name is valid */
	const char *help; /* help text of the condition; NULL: another field has the text */
	/* value of a number without suffix, in units of the field; 0 is treated as 1 */
	double unit;
	/* name of the resource whose limit is 100 %; NULL: the condition takes no percentage */
	const char *limit;
};

/* Cells for a leading field of the live view, from left to right. */
#define LEAD_VALUE    1u
#define LEAD_SHARE    2u /* percentage of the limit of the field's resource */
#define LEAD_TREND    4u
#define LEAD_FORECAST 8u /* time until the resource's limit is reached */

/* Position of a field among the first columns of a live view tab; other fields follow these. */
struct field_lead {
	int nth;	    /* position of the column from the left; 0: not a first column */
	unsigned int cells; /* bits of the cells to show: LEAD_* */
};

/* A gauge whose sum over all processes is shown over time in the report of a recording. */
struct field_sum {
	const char *column; /* name of the CSV column with the sum; NULL: no sum is kept */
	const char *title;  /* title of the chart that shows the sum */
};

struct field {
	const char *group; /* name of the JSON object that holds the field; "": none */
	const char *key;
	enum unit unit;
	enum field_type type;
	/* Probe without which the value is null; NULL: the kernel counts without a probe. */
	const char *hook;
	const char *help;
	/*
	 * Reads the value. Returns false if the value is unknown (null). If `get` is NULL, the
	 * value is the counter at offset `at`.
	 */
	bool (*get)(const struct model *m, const struct subject *s, const struct facts *f,
		    uint64_t *ret);
	size_t at; /* offset of the field's counter in struct counters */
	/* LACKS_* bits: the value is null if the probe's attach type has one of them */
	uint32_t lacks;
	const char *column; /* short column title of the field; NULL: `key` in capitals */
	struct field_column table, share;
	const char *block; /* name of the value in the text block of a process; NULL: not in it */
	const char *html;  /* column title in the HTML report's process table; NULL: not shown */
	struct field_diff diff;
	struct field_gate gate;
	/*
	 * overview: position in the first tab of the live view; lead: position in the tab of the
	 * field's group
	 */
	struct field_lead overview, lead;
	int resource; /* enum resource_id for LEAD_SHARE and LEAD_FORECAST */
	/* The live view keeps recent values of the field for a sparkline. */
	bool trend;
	struct field_sum sum;
};

extern const struct field fields[];
extern const size_t nr_fields;

/* The place of each value in `fields`, by the id of its row in records/counters.def. */
enum field_place {
#define COUNTER(id, ...)      FIELD_AT_##id,
#define KERNEL_TOTAL(id, ...) FIELD_AT_##id,
#define SUM(id, ...)	      FIELD_AT_##id,
#define GAUGE(id, ...)	      FIELD_AT_##id,
#define COMPUTED(id, ...)     FIELD_AT_##id,
#include "records/counters.def"
};

/* The field with an id of records/counters.def. field_find() compares names, which is slow. */
#define FIELD(id) (&fields[FIELD_AT_##id])

/* Finds a field by "group.key", or by a unique key or column title. Returns NULL if not found. */
const struct field *field_find(const char *name);

bool field_get(const struct model *m, const struct subject *s, const struct field *f,
	       uint64_t *ret);

/* Returns the increase of a counter in the window; 0 if the process did not change. */
uint64_t field_delta(const struct model *m, const struct subject *s, const struct field *f);

/* A table of counters of a process, in JSON {row: {column: n}}, or {row: n} with one column. */
struct grid {
	const char *group, *key, *hook, *help;
	size_t rows, columns;
	const char *(*row)(size_t i);
	const char *const *column;
	uint64_t (*cell)(const struct counters *c, size_t row, size_t column);
	/* LACKS_* bits: the table is null if the probe's attach type has one of them */
	uint32_t lacks;
};

extern const struct grid grids[];
extern const size_t nr_grids;

/* A log2 histogram: bucket i counts values below histogram_le(i); the last bucket has no bound. */
struct histogram {
	const char *group, *key, *hook, *help;
	const char *within; /* name of the JSON object that contains the histogram; NULL: none */
	enum unit unit;
	size_t buckets;
	unsigned int shift; /* values in bucket i are below 2^((i + 1) * step + shift) */
	const uint64_t *(*counts)(const struct counters *c);
	uint64_t (*max)(const struct counters *c); /* returns the highest value; NULL: not kept */
	/* LACKS_* bits: the histogram is null if the probe's attach type has one of them */
	uint32_t lacks;
	unsigned int step; /* log2 of the ratio of two adjacent bounds; 0 is treated as 1 */
	bool sparse;	   /* an empty histogram is not output */
};

extern const struct histogram histograms[];
extern const size_t nr_histograms;

/* Writes the name that field_find() accepts: "group.key", or "key" if the group is "". */
const char *field_name(const struct field *f, char *ret, size_t size);

/* Writes a field's column title, with "/s" at its end for a counter. Returns `ret`. */
const char *field_column_title(const struct field *f, char *ret, size_t size);

/* Offers all field names to the "did you mean" search. `name` receives the most similar one. */
void fields_offer(struct nearest *n, char name[NEAREST_BYTES]);

/* Returns whether a probe is on, and its attach type has none of the bits `lacks`. */
bool is_available(const struct model *m, const char *hook, uint32_t lacks);

uint64_t histogram_le(const struct histogram *h, size_t bucket);
uint64_t histogram_total(const struct histogram *h, const struct counters *c);

/*
 * Returns the upper bound of the bucket that contains quantile q (0 to 1), or the highest value if
 * lower. Returns 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, const struct counters *c, double q);

/* Returns the number of failed mapping calls (WHAT_MAPS), or of failed calls that create fds. */
uint64_t counters_refused(const struct counters *c, enum what what);

/* Returns the number of page faults by mode, access and protection; -1 means any. */
uint64_t count_kinds(const struct counters *c, int kernel, int access, int protection);

/* Returns the number of faults of a class that the kernel handled. */
uint64_t count_served(const struct counters *c, enum fault_class id);
const char *class_name(enum fault_class id);

/* Returns the name of an enum call_id as in JSON; "unknown" for other numbers. */
const char *call_name(unsigned int call);

#endif
