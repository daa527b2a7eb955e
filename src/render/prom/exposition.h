/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: writes families of metrics in the formats that Prometheus reads: text format 0.0.4,
 * OpenMetrics 1.0, delimited protobuf. All formats have the same metrics.
 *
 * Names, help and label names come from the table of metrics. Label values may come from any
 * process: here they are escaped, converted to UTF-8 and cut.
 */
#ifndef FS_RENDER_PROM_EXPOSITION_H
#define FS_RENDER_PROM_EXPOSITION_H

#include "base/buf.h"
#include "model/metrics.h"

#define VALUE_BYTES 200 /* maximum length of a label value, in bytes */
/* maximum total length of the label names and values of an exemplar (OpenMetrics 1.0) */
#define EXEMPLAR_CHARS 128

/* An event that raised a counter, exported with the labels "pid", "comm" and "site", if known. */
struct exemplar {
	uint32_t pid;
	/* process name; "symbol+0x1a4", system call or fault class; NULL: not known */
	const char *comm, *site;
	double value;
	double at_s; /* time in seconds, CLOCK_REALTIME; 0: not known */
};

/* A histogram. The bounds of its buckets are powers of two seconds. */
struct distribution {
	/* number of values in each bucket, not cumulative; the last bucket has no upper bound */
	const uint64_t *count;
	size_t buckets;
	int first_exponent; /* the first bucket ends at 2^first_exponent seconds */
	double sum;
	/* exemplar to write in the bucket that contains its value; NULL: none */
	const struct exemplar *slowest;
	/* true: also write a native histogram, if the format has native histograms */
	bool native;
};

struct exposition;

struct exposition_format {
	const char *name;	  /* name of the format: "text", "openmetrics", "protobuf" */
	const char *content_type; /* HTTP Content-Type */
	void (*family)(struct exposition *e);
	void (*sample)(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x);
	void (*distribution)(struct exposition *e, const char *const *label,
			     const struct distribution *d);
	void (*family_end)(struct exposition *e); /* ends a family; NULL: nothing to do */
	void (*end)(struct exposition *e);	  /* ends the page; NULL: nothing to do */
};

extern const struct exposition_format exposition_text, exposition_openmetrics, exposition_protobuf;

/* A metrics page that is being written. Set `format` and `b`, and zero the other members. */
struct exposition {
	const struct exposition_format *format;
	struct buf *b;		     /* output buffer, owned by the caller */
	const struct metric *metric; /* metric family that is being written; NULL: none */
	struct buf message;	     /* protobuf message of the family that is being written */
	size_t series;		     /* samples written so far, as Prometheus counts them */
};

/*
 * Returns the format that an Accept header prefers, or text if it accepts no known format. The
 * highest q value wins, then the order in the header (RFC 9110).
 */
const struct exposition_format *exposition_negotiate(const char *accept);

/* Begins a family. A family without samples consists only of the lines HELP and TYPE. */
void exposition_family(struct exposition *e, const struct metric *m);

/* Write a sample or a histogram. `label` has a value for each label name of the metric. */
void exposition_sample(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x);
void exposition_distribution(struct exposition *e, const char *const *label,
			     const struct distribution *d);

/* Ends a page, and frees e->message. */
void exposition_end(struct exposition *e);

/* The functions below are for writers of formats. */

/*
 * Appends a label value as UTF-8, cut to max_bytes, not escaped. Control characters other than line
 * feeds become `?`.
 */
void label_clean(struct buf *b, const char *s, size_t max_bytes);

/* Appends a number as the shortest decimal that Go parses as an equal double. */
void put_number(struct buf *b, double v);

/*
 * Finds the labels of an exemplar whose values are known and that fit into EXEMPLAR_CHARS. Returns
 * their number.
 */
#define EXEMPLAR_LABELS 3
struct label_pair {
	const char *name;
	char value[VALUE_BYTES + 1];
};
size_t exemplar_labels(const struct exemplar *x, struct label_pair ret[EXEMPLAR_LABELS]);

/* Returns the upper bound of a bucket in seconds; HUGE_VAL for the last bucket. */
double distribution_bound(const struct distribution *d, size_t bucket);

#endif
