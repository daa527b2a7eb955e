// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes delimited io.prometheus.client.MetricFamily messages (metrics.proto of client_model), the
 * only format that can contain native histograms.
 */
#include <math.h>
#include <string.h>

#include "render/prom/exposition.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Field numbers of messages in metrics.proto, and values of its enum MetricType. */
enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC, FAMILY_UNIT };
enum { METRIC_PB_LABEL = 1, METRIC_PB_GAUGE, METRIC_PB_COUNTER, METRIC_PB_HISTOGRAM = 7 };
enum { PAIR_NAME = 1, PAIR_VALUE };
enum { NUMBER_VALUE = 1, COUNTER_EXEMPLAR };
enum { HISTOGRAM_COUNT = 1, HISTOGRAM_SUM, HISTOGRAM_BUCKET };
enum { HISTOGRAM_SCHEMA = 5, HISTOGRAM_ZERO_THRESHOLD, HISTOGRAM_ZERO_COUNT };
enum { HISTOGRAM_SPAN = 12, HISTOGRAM_DELTA };
enum { BUCKET_COUNT = 1, BUCKET_BOUND, BUCKET_EXEMPLAR };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };
enum { EXEMPLAR_LABEL = 1, EXEMPLAR_VALUE, EXEMPLAR_TIMESTAMP };
enum { TIMESTAMP_SECONDS = 1, TIMESTAMP_NANOS };
enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };

static void put_varint(struct buf *b, uint64_t v)
{
	do {
		buf_putc(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
}

static void put_key(struct buf *b, unsigned int field, enum wire_type type)
{
	put_varint(b, field << 3 | type);
}

static void put_u64(struct buf *b, unsigned int field, uint64_t v)
{
	put_key(b, field, WIRE_VARINT);
	put_varint(b, v);
}

/* Encodes a number as protobuf's sint64, in which small negative numbers are short. */
static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void put_double(struct buf *b, unsigned int field, double v)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = bits >> 8 * i;
	put_key(b, field, WIRE_FIXED64);
	buf_add(b, (const char *)bytes, sizeof(bytes));
}

static void put_bytes_of(struct buf *b, unsigned int field, const char *s, size_t len)
{
	put_key(b, field, WIRE_BYTES);
	put_varint(b, len);
	buf_add(b, s, len);
}

static void put_text(struct buf *b, unsigned int field, const char *s)
{
	put_bytes_of(b, field, s, strlen(s));
}

/* Adds a message as a field of another message, and frees the added message. */
static void put_message(struct buf *b, unsigned int field, struct buf *message)
{
	put_bytes_of(b, field, message->s ? message->s : "", message->len);
	b->failed |= message->failed;
	buf_free(message);
}

static void put_pair(struct buf *b, unsigned int field, const char *name, const char *value)
{
	struct buf pair = {}, clean = {};

	label_clean(&clean, value, VALUE_BYTES);
	put_text(&pair, PAIR_NAME, name);
	put_text(&pair, PAIR_VALUE, clean.s ? clean.s : "");
	buf_end_part(b, &clean);
	put_message(b, field, &pair);
}

static void put_exemplar(struct buf *b, unsigned int field, const struct exemplar *x)
{
	struct label_pair pair[EXEMPLAR_LABELS];
	struct buf message = {}, at = {};
	size_t n = exemplar_labels(x, pair);

	for (size_t i = 0; i < n; i++)
		put_pair(&message, EXEMPLAR_LABEL, pair[i].name, pair[i].value);
	put_double(&message, EXEMPLAR_VALUE, x->value);
	if (x->at_s > 0) {
		double whole = floor(x->at_s);

		put_u64(&at, TIMESTAMP_SECONDS, whole);
		put_u64(&at, TIMESTAMP_NANOS, (x->at_s - whole) * 1e9);
		put_message(&message, EXEMPLAR_TIMESTAMP, &at);
	}
	put_message(b, field, &message);
}

/* Begins a family. A family of counters or infos gets its samples' suffix (_total, _info). */
static void protobuf_family(struct exposition *e)
{
	const struct metric *m = e->metric;
	struct buf name = {};

	buf_puts(&name, m->name);
	if (m->type == METRIC_COUNTER)
		buf_puts(&name, "_total");
	else if (m->type == METRIC_INFO)
		buf_puts(&name, "_info");
	buf_clear(&e->message);
	put_text(&e->message, FAMILY_NAME, name.s ? name.s : "");
	buf_end_part(&e->message, &name);
	put_text(&e->message, FAMILY_HELP, m->help);
	put_u64(&e->message, FAMILY_TYPE,
		m->type == METRIC_COUNTER     ? TYPE_COUNTER
		: m->type == METRIC_HISTOGRAM ? TYPE_HISTOGRAM
					      : TYPE_GAUGE);
	if (m->unit)
		put_text(&e->message, FAMILY_UNIT, m->unit);
}

static void protobuf_family_end(struct exposition *e)
{
	put_varint(e->b, e->message.len);
	buf_add(e->b, e->message.s ? e->message.s : "", e->message.len);
	e->b->failed |= e->message.failed;
}

static void put_metric(struct exposition *e, const char *const *label, unsigned int field,
		       struct buf *value)
{
	struct buf metric = {};

	for (size_t i = 0; i < METRIC_LABELS && e->metric->label[i]; i++)
		put_pair(&metric, METRIC_PB_LABEL, e->metric->label[i], label[i]);
	put_message(&metric, field, value);
	put_message(&e->message, FAMILY_METRIC, &metric);
}

static void protobuf_sample(struct exposition *e, const char *const *label, double v,
			    const struct exemplar *x)
{
	bool counter = e->metric->type == METRIC_COUNTER;
	struct buf number = {};

	put_double(&number, NUMBER_VALUE, v);
	if (counter && x)
		put_exemplar(&number, COUNTER_EXEMPLAR, x);
	put_metric(e, label, counter ? METRIC_PB_COUNTER : METRIC_PB_GAUGE, &number);
}

static void put_classic(struct buf *b, const struct distribution *d, uint64_t *ret_total)
{
	const struct exemplar *x = d->slowest;
	uint64_t sum = 0;

	for (size_t i = 0; i < d->buckets; i++) {
		double bound = distribution_bound(d, i);
		struct buf bucket = {};

		sum += d->count[i];
		put_u64(&bucket, BUCKET_COUNT, sum);
		put_double(&bucket, BUCKET_BOUND, bound);
		if (x && x->value <= bound) {
			put_exemplar(&bucket, BUCKET_EXEMPLAR, x);
			x = NULL;
		}
		put_message(b, HISTOGRAM_BUCKET, &bucket);
	}
	*ret_total = sum;
}

/*
 * Writes a native histogram of schema 0. Its bucket i holds (2^(i-1), 2^i], so its bounds are those
 * of struct distribution. The last bucket of struct distribution has no upper bound; it is written
 * as the next bucket.
 */
static void put_native(struct buf *b, const struct distribution *d)
{
	struct buf span = {};
	uint64_t before = 0;

	put_u64(b, HISTOGRAM_SCHEMA, zigzag(0));
	put_double(b, HISTOGRAM_ZERO_THRESHOLD, ldexp(1, d->first_exponent - 1));
	put_u64(b, HISTOGRAM_ZERO_COUNT, 0);
	put_u64(&span, SPAN_OFFSET, zigzag(d->first_exponent));
	put_u64(&span, SPAN_LENGTH, d->buckets);
	put_message(b, HISTOGRAM_SPAN, &span);
	for (size_t i = 0; i < d->buckets; i++) {
		put_u64(b, HISTOGRAM_DELTA, zigzag((int64_t)(d->count[i] - before)));
		before = d->count[i];
	}
}

static void protobuf_distribution(struct exposition *e, const char *const *label,
				  const struct distribution *d)
{
	struct buf histogram = {}, buckets = {};
	uint64_t total;

	put_classic(&buckets, d, &total);
	put_u64(&histogram, HISTOGRAM_COUNT, total);
	put_double(&histogram, HISTOGRAM_SUM, d->sum);
	buf_add(&histogram, buckets.s ? buckets.s : "", buckets.len);
	histogram.failed |= buckets.failed;
	buf_free(&buckets);
	if (d->native)
		put_native(&histogram, d);
	put_metric(e, label, METRIC_PB_HISTOGRAM, &histogram);
}

const struct exposition_format exposition_protobuf = {
	.name = "protobuf",
	.content_type = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
			"encoding=delimited",
	.family = protobuf_family,
	.sample = protobuf_sample,
	.distribution = protobuf_distribution,
	.family_end = protobuf_family_end,
};
