/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: families of metrics as Prometheus reads them: its text format 0.0.4, OpenMetrics 1.0, or
 * delimited protobuf. One writer a format; what is written through them is the same.
 *
 * Names, help and label names are of the table of metrics; values of labels may be anybody's bytes:
 * they are escaped, made UTF-8 and cut to a length here.
 */
#ifndef FS_RENDER_PROM_EXPOSITION_H
#define FS_RENDER_PROM_EXPOSITION_H

#include "base/buf.h"
#include "model/metrics.h"

#define VALUE_BYTES    200 /* of a value, at most */
#define EXEMPLAR_CHARS 128 /* of all names and values of one, as OpenMetrics 1.0 has it */

/* One event behind a counter: "pid", "comm" and "site", each that is known. */
struct exemplar {
	uint32_t pid;
	const char *comm, *site; /* NULL: not known */
	double value;
	double at_s; /* CLOCK_REALTIME; 0: not known */
};

/* Bounds are powers of two of a second. */
struct distribution {
	const uint64_t *count; /* by bucket, not cumulative; the last has no bound */
	size_t buckets;
	int first_exponent; /* of the upper bound of the first bucket: 2^first seconds */
	double sum;
	const struct exemplar *slowest; /* goes with the bucket of its value; NULL: none */
	bool native;			/* as a native histogram too, where the format has them */
};

struct exposition;

struct exposition_format {
	const char *name;	  /* "text", "openmetrics", "protobuf" */
	const char *content_type; /* of HTTP */
	void (*family)(struct exposition *e);
	void (*sample)(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x);
	void (*distribution)(struct exposition *e, const char *const *label,
			     const struct distribution *d);
	void (*family_end)(struct exposition *e); /* NULL: nothing */
	void (*end)(struct exposition *e);	  /* NULL: nothing */
};

extern const struct exposition_format exposition_text, exposition_openmetrics, exposition_protobuf;

/* Zero-initialised but for `format` and `b`. */
struct exposition {
	const struct exposition_format *format;
	struct buf *b;		     /* the caller's */
	const struct metric *metric; /* the family at hand; NULL: none */
	struct buf message;	     /* protobuf: of the family at hand */
	size_t series;		     /* samples written, as the server will count them */
};

/*
 * The format that an Accept header prefers, of those there are: text where it names none. As
 * RFC 9110 has it: the highest q wins, then the order in the header.
 */
const struct exposition_format *exposition_negotiate(const char *accept);

/* Begins a family; one without samples leaves no trace but its HELP and TYPE. */
void exposition_family(struct exposition *e, const struct metric *m);

/* `label`: a value for each of the metric's label names, in their order. */
void exposition_sample(struct exposition *e, const char *const *label, double v,
		       const struct exemplar *x);
void exposition_distribution(struct exposition *e, const char *const *label,
			     const struct distribution *d);

/* The end of it all. */
void exposition_end(struct exposition *e);

/* For the formats. */

/* Appends a label's value: UTF-8 without control characters but line feeds, cut; not escaped. */
void label_clean(struct buf *b, const char *s, size_t max_bytes);

/* A number as Go reads it back: shortest decimal that is the same double. */
void put_number(struct buf *b, double v);

/* Label pairs of an exemplar that are known and fit; returns how many. */
#define EXEMPLAR_LABELS 3
struct label_pair {
	const char *name;
	char value[VALUE_BYTES + 1];
};
size_t exemplar_labels(const struct exemplar *x, struct label_pair ret[EXEMPLAR_LABELS]);

/* Upper bound of a bucket in seconds; HUGE_VAL for the last. */
double distribution_bound(const struct distribution *d, size_t bucket);

#endif
