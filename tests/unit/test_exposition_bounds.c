// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests labels, exemplars, numbers and the choice of a format of the exporter at their bounds. */
#include <math.h>
#include <stdlib.h>

#include "render/prom/exposition.h"
#include "tap.h"

static void test_label_length(void)
{
	static const struct {
		const char *value;
		size_t most;
		const char *want;
	} rows[] = {
		{"abc", 4, "abc"},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"a\303\251", 3, "a\303\251"},
		{"a\303\251", 2, "a"}, /* no half of a character */
		{"a\377b", 5,
		 "a\xef\xbf\xbd"
		 "b"}, /* what is no UTF-8 takes three bytes */
		{"a\377b", 4, "a\xef\xbf\xbd"},
		{"a\377b", 3, "a"},
		{"\x1b[1m", 4, "?[1m"},
		{"\x1f\x20\x7f\x7e", 4, "? ?~"},
		{"\xc2\x9b", 2, "?"}, /* a control character of two bytes */
		{"a\nb", 3, "a\nb"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};

		label_clean(&b, rows[i].value, rows[i].most);
		is_str(b.s ? b.s : "", rows[i].want, "a label");
		buf_free(&b);
	}
}

/* Names and values of an exemplar's labels have at most 128 characters together. */
static void test_exemplar_length(void)
{
	struct label_pair pair[EXEMPLAR_LABELS];
	char site[VALUE_BYTES];

	for (size_t len = 114; len <= 117; len++) {
		struct exemplar x = {.pid = 1, .comm = "c", .site = site};
		size_t n;

		memset(site, 's', len); /* pid1 and commc and site leave 115 characters */
		site[len] = 0;
		n = exemplar_labels(&x, pair);
		is_u64(n, len <= 115 ? 3 : 2, "labels that fit");
		ok(!strcmp(pair[0].name, "pid") && !strcmp(pair[0].value, "1") &&
			   !strcmp(pair[1].name, "comm") && !strcmp(pair[1].value, "c"),
		   "in their order");
	}
	for (size_t len = 62; len <= 64; len++) {
		struct exemplar x = {.comm = site};

		for (size_t i = 0; i < len; i++)
			memcpy(site + 2 * i, "\303\251", 2);
		site[2 * len] = 0;
		is_u64(exemplar_labels(&x, pair), 1, "characters count, not bytes");
		is_u64(strlen(pair[0].value), 2 * len, "the value is whole");
	}
	/* a label that does not fit leaves its room to the next one */
	memset(site, 's', 125);
	site[125] = 0;
	is_u64(exemplar_labels(&(struct exemplar){.pid = 1, .comm = site, .site = "f"}, pair), 2,
	       "without one that is too long");
	is_str(pair[1].name, "site", "the others are there");
	is_u64(exemplar_labels(&(struct exemplar){.comm = "", .site = NULL}, pair), 0,
	       "what is empty or not known is no label");
}

static void test_numbers(void)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {
		{1, "1"},
		{-1, "-1"},
		{9, "9"},
		{10, "10"},
		{0.5, "0.5"},
		{-0.5, "-0.5"},
		{999999999999999.0, "999999999999999"},
		{-999999999999999.0, "-999999999999999"},
		{1e15, "1e+15"}, /* from here on with an exponent */
		{-1e15, "-1e+15"},
		{1e300, "1e+300"},
		{0.3, "0.3"},
		{0.1 + 0.2, "0.30000000000000004"}, /* 17 digits */
		{2.0 / 3, "0.6666666666666666"},    /* 16 digits */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};

		put_number(&b, rows[i].v);
		is_str(b.s, rows[i].text, rows[i].text);
		ok(strtod(b.s, NULL) == rows[i].v, "is the same double");
		buf_free(&b);
	}
}

static void test_buckets(void)
{
	struct distribution d = {.buckets = 4, .first_exponent = -2};

	ok(distribution_bound(&d, 0) == 0.25, "the first bucket");
	ok(distribution_bound(&d, 1) == 0.5, "the second one");
	ok(distribution_bound(&d, 2) == 1, "the last one with a bound");
	ok(distribution_bound(&d, 3) == HUGE_VAL, "the last one has none");
	d.buckets = 1;
	ok(distribution_bound(&d, 0) == HUGE_VAL, "nor has the only one");
}

static void test_negotiation(void)
{
	static const struct {
		const char *accept;
		const struct exposition_format *format;
	} rows[] = {
		{"", &exposition_text},
		{"*/*", &exposition_text},
		{"text/*", &exposition_text},
		{"text/html", &exposition_text},
		{"application/openmetrics-text", &exposition_openmetrics},
		{"APPLICATION/OpenMetrics-Text", &exposition_openmetrics},
		{"application/openmetrics-text;version=1.0.0", &exposition_openmetrics},
		{"application/openmetrics-text;version=0.0.1", &exposition_openmetrics},
		{"application/openmetrics-text;version=0.0.2", &exposition_text},
		{"application/openmetrics-text;version=1", &exposition_text},
		/* of equal ones, the first one counts */
		{"application/openmetrics-text,text/plain", &exposition_openmetrics},
		{"text/plain,application/openmetrics-text", &exposition_text},
		{"text/plain;q=0.5,application/openmetrics-text;q=0.5", &exposition_text},
		{"application/openmetrics-text;q=0.5,text/plain;q=0.5", &exposition_openmetrics},
		{"application/openmetrics-text;q=0.4,text/plain;q=0.5", &exposition_text},
		{"text/plain;version=0.0.4;q=0.3,application/openmetrics-text;q=0.4",
		 &exposition_openmetrics},
		{"text/plain;version=0.0.3,application/openmetrics-text;q=0.1",
		 &exposition_openmetrics},
		/* a quality of 0 is none, and one that is not given is 1 */
		{"application/openmetrics-text;q=0", &exposition_text},
		{"application/openmetrics-text;Q=0.1", &exposition_openmetrics},
		{"text/plain;q=0.9,application/openmetrics-text", &exposition_openmetrics},
		{"text/plain;q=1,application/openmetrics-text", &exposition_text},
		/* blanks */
		{" \tapplication/openmetrics-text \t; \tversion \t= \t1.0.0 \t",
		 &exposition_openmetrics},
		{"text/html , application/openmetrics-text", &exposition_openmetrics},
		{"application/openmetrics-text;;version=1.0.0", &exposition_openmetrics},
		{"application/openmetrics-text;version", &exposition_openmetrics},
		/* protobuf needs both of its parameters */
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		 "encoding=delimited",
		 &exposition_protobuf},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		 "encoding=text",
		 &exposition_text},
		{"application/vnd.google.protobuf;encoding=delimited", &exposition_text},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.Metric;"
		 "encoding=delimited",
		 &exposition_text},
		/* text that is too long is cut, and does not match */
		{"application/openmetrics-text;version=1.0.0000000000000000000000",
		 &exposition_openmetrics},
		{"application/openmetrics-text-with-a-name-that-is-much-longer-than-its-room,"
		 "application/openmetrics-text;q=0.1",
		 &exposition_openmetrics},
		{"application/openmetrics-text;a-parameter-with-a-very-long-name=1;q=0.5,"
		 "text/plain;q=0.6",
		 &exposition_text},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(exposition_negotiate(rows[i].accept) == rows[i].format, "\"%s\": %s",
		   rows[i].accept, rows[i].format->name);
}

int main(void)
{
	test_label_length();
	test_exemplar_length();
	test_numbers();
	test_buckets();
	test_negotiation();
	return tap_done();
}
