/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: families of metrics in the formats that Prometheus reads: text format 0.0.4, OpenMetrics
 * 1.0, delimited protobuf. All formats get the same metrics.
 *
 * Names, help and label names come from the table of metrics. Label values may come from any
 * process: they are escaped, converted to UTF-8 and cut here.
 */
#ifndef FS_RENDER_PROM_EXPOSITION_H
#define FS_RENDER_PROM_EXPOSITION_H

#include "base/buf.h"
#include "model/metrics.h"

#define VALUE_BYTES 200 /* maximum length of a label value, in bytes */
/* maximum length of an exemplar's label names and values together (OpenMetrics 1.0) */
#define EXEMPLAR_CHARS 128

/* An event behind a counter. Its labels are "pid", "comm" and "site", as far as known. */
struct exemplar {
	uint32_t pid;
	/* process name; "symbol+0x1a4", call or class of faults; NULL: not known */
	const char *comm, *site;
	double value;
	double at_s; /* time in seconds, CLOCK_REALTIME; 0: not known */
};

/* A histogram. The bounds of its buckets are powers of two of a second. */
struct distribution {
	/* values in each bucket, not cumulative; the last bucket has no bound */
	const uint64_t *count;
	size_t buckets;
	int first_exponent; /* the first bucket ends at 2^first_exponent seconds */
	double sum;
	const struct exemplar *slowest; /* exemplar for the bucket of its value; NULL: none */
	bool native;			/* write a native histogram, too, if the format has them */
};

struct exposition;

struct exposition_format {
	const char *name;	  /* the format's name: "text", "openmetrics", "protobuf" */
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

/* A page under construction. Set `format` and `b`, zero the rest. */
struct exposition {
	const struct exposition_format *format;
	struct buf *b;		     /* output buffer, owned by the caller */
	const struct metric *metric; /* the current family; NULL: none */
	struct buf message;	     /* protobuf: message of the current family */
	size_t series;		     /* samples written so far, as Prometheus counts them */
};

/*
 * Returns the format that an Accept header prefers; text if the header accepts no known format. RFC
 * 9110: the highest q wins, then the order in the header.
 */
const struct exposition_format *exposition_negotiate(const char *accept);

/* Begins a family. If no sample follows, only its HELP and TYPE appear. */
void exposition_family(struct exposition *e, const struct metric *m);

/* Write a sample or a histogram. `label` has a value for each of the metric's label names. */
void exposition_sample(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x);
void exposition_distribution(struct exposition *e, const char *const *label,
			     const struct distribution *d);

/* Ends the page and frees e->message. */
void exposition_end(struct exposition *e);

/* Functions for the writers of formats. */

/*
 * Appends a label value as UTF-8, cut to max_bytes, not escaped. `?` replaces control characters,
 * but not line feeds.
 */
void label_clean(struct buf *b, const char *s, size_t max_bytes);

/* Appends a number as Go parses it: the shortest decimal that is the same double. */
void put_number(struct buf *b, double v);

/* Finds the labels of an exemplar that are known and fit. Returns how many. */
#define EXEMPLAR_LABELS 3
struct label_pair {
	const char *name;
	char value[VALUE_BYTES + 1];
};
size_t exemplar_labels(const struct exemplar *x, struct label_pair ret[EXEMPLAR_LABELS]);

/* Returns the upper bound of a bucket in seconds; HUGE_VAL for the last bucket. */
double distribution_bound(const struct distribution *d, size_t bucket);

#endif
