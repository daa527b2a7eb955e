// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "page_check.h"
#include "render/prom/prom.h"
#include "tap.h"

static const char *const no_labels[] = {NULL};

/* Returns a metric with one sample and one label, in the given format. */
static struct buf sample(const struct exposition_format *format, const char *value, double v,
			 const struct exemplar *x)
{
	struct buf b = {};
	struct exposition e = {.format = format, .b = &b};

	exposition_family(&e, &metrics[METRIC_ID_STALL]);
	exposition_sample(&e, (const char *const[]){value}, v, x);
	exposition_end(&e);
	return b;
}

static void is_page(struct buf b, const char *want, const char *name)
{
	is_str(b.s, want, name);
	buf_free(&b);
}

#define HEAD(family)                                                                               \
	"# HELP faultscope_major_fault_stall_seconds" family                                       \
	" Time threads spent waiting in major page faults.\n"                                      \
	"# TYPE faultscope_major_fault_stall_seconds" family " counter\n"
#define UNIT "# UNIT faultscope_major_fault_stall_seconds seconds\n"
#define NAME "faultscope_major_fault_stall_seconds_total"

static void test_text(void)
{
	is_page(sample(&exposition_text, "a", 1.5, NULL),
		HEAD("_total") NAME "{workload=\"a\"} 1.5\n", "text 0.0.4");
	is_page(sample(&exposition_openmetrics, "a", 1.5, NULL),
		HEAD("") UNIT NAME "{workload=\"a\"} 1.5\n# EOF\n", "OpenMetrics");
	is_page(sample(&exposition_text, "a\\b\"c\nd", 2, NULL),
		HEAD("_total") NAME "{workload=\"a\\\\b\\\"c\\nd\"} 2\n", "escapes of a label");
	is_page(sample(&exposition_text, "\xff\xc3(\xed\xa0\x80 \xc3\xa9", 2, NULL),
		HEAD("_total") NAME "{workload=\"\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd"
				    "\xef\xbf\xbd \xc3\xa9\"} 2\n",
		"what is no UTF-8");
	is_page(sample(&exposition_text, "\x1b[31m\r\t", 0, NULL),
		HEAD("_total") NAME "{workload=\"?[31m??\"} 0\n", "what a terminal would obey");
}

static void test_length(void)
{
	char longer[1000] = "";
	struct buf b;

	for (int i = 0; i < 300; i++)
		strcat(longer, "\xc3\xa9");
	b = sample(&exposition_text, longer, 1, NULL);
	is_u64(b.len, strlen(HEAD("_total") NAME "{workload=\"\"} 1\n") + VALUE_BYTES,
	       "a long value is cut, at a character");
	ok(!page_text_error(&b, false), "and stays one");
	buf_free(&b);
}

static void test_numbers(void)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{0, "0"},
		{-3, "-3"},
		{1e14, "100000000000000"},
		{9007199254740993.0, "9.00719925474099e+15"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{INFINITY, "+Inf"},
		{-INFINITY, "-Inf"},
		{NAN, "NaN"},
		{4.76837158203125e-07, "4.76837158203125e-07"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = {};

		put_number(&b, cases[i].v);
		if (isnan(cases[i].v) || cases[i].v != 9007199254740993.0)
			is_str(b.s, cases[i].text, cases[i].text);
		else
			ok(strtod(b.s, NULL) == cases[i].v, "%s is the same double", b.s);
		buf_free(&b);
	}
}

static void test_exemplars(void)
{
	struct exemplar x = {.pid = 42, .comm = "a\"b", .site = "f+0x1", .value = 1, .at_s = 12.5};
	char site[300];

	is_page(sample(&exposition_openmetrics, "w", 1, &x),
		HEAD("") UNIT NAME "{workload=\"w\"} 1 # "
				   "{pid=\"42\",comm=\"a\\\"b\",site=\"f+0x1\"} 1 12.500\n# EOF\n",
		"of a counter");
	is_page(sample(&exposition_text, "w", 1, &x), HEAD("_total") NAME "{workload=\"w\"} 1\n",
		"text 0.0.4 has none");
	memset(site, 's', sizeof(site) - 1);
	site[sizeof(site) - 1] = 0;
	x.site = site;
	is_page(sample(&exposition_openmetrics, "w", 1, &x),
		HEAD("") UNIT NAME
		"{workload=\"w\"} 1 # {pid=\"42\",comm=\"a\\\"b\"} 1 12.500\n# EOF\n",
		"what is too long for 128 characters is left out");
}

static void test_gauge_has_no_exemplar(void)
{
	struct exemplar x = {.pid = 1, .value = 1};
	struct buf b = {};
	struct exposition e = {.format = &exposition_openmetrics, .b = &b};

	exposition_family(&e, &metrics[METRIC_ID_UP]);
	exposition_sample(&e, no_labels, 1, &x);
	exposition_end(&e);
	ok(!strstr(b.s, " # "), "a gauge has no exemplar: it would fail the scrape");
	is_u64(e.series, 1, "series are counted");
	buf_free(&b);
}

static void test_names(void)
{
	for (size_t i = 0; i < NR_METRICS; i++) {
		const struct metric *m = &metrics[i];
		size_t len = strlen(m->name), unit = m->unit ? strlen(m->unit) : 0;

		ok(!m->unit || (len > unit && m->name[len - unit - 1] == '_' &&
				!strcmp(m->name + len - unit, m->unit)),
		   "%s ends in its unit", m->name);
		ok(!strstr(m->name, "_total") && !strstr(m->name, "_info"), "%s has no suffix",
		   m->name);
		ok(m->help[strlen(m->help) - 1] == '.', "%s has help", m->name);
	}
}

static void test_protobuf(void)
{
	struct buf b = sample(&exposition_protobuf, "a", 1.5, &(struct exemplar){.pid = 7});

	ok(page_is_protobuf(&b), "a delimited message");
	ok(memmem(b.s, b.len, NAME, strlen(NAME)) != NULL, "named as in the text");
	ok(memmem(b.s, b.len,
		  "\x0a\x08workload\x12\x01"
		  "a",
		  13) != NULL,
	   "a label pair");
	buf_free(&b);
}

/* Tests hostile names wherever a page contains a name, in every format. */
static void test_page(void)
{
	static const struct exposition_format *const formats[] = {
		&exposition_text, &exposition_openmetrics, &exposition_protobuf};
	struct model m;
	struct census *c = calloc(1, sizeof(*c));
	struct node n;
	struct identity id = {.serial = 1, .kind = KIND_COMM, .name = "}\n# EOF\n\"\\\xfe"};
	struct process_record r = {.h = {RECORD_PROCESS, sizeof(r), 1},
				   .subject = {1, 1, 0},
				   .g = {.map_count = 9, .fds = 1, .fd_soft = 10}};
	struct signal_record s = {.subject = r.subject, .signal = 7, .code = 2};
	struct prom_view v = {.m = &m, .c = c, .n = &n, .self = {.libbpf = "\xff"}};

	if (model_init(&m) ||
	    census_init(c, &(struct census_limits){.workloads = 5, .series = 1000}) ||
	    node_init(&n, c))
		abort();
	memcpy(s.comm, "\"}\n\\\xff\xff", 6);
	census_take(c, &r, &id, 10);
	node_take(&n, &r, &id);
	node_signal(&n, &s, &id, "null");
	census_update(c, 20, 65530);
	for (size_t i = 0; i < 3; i++) {
		struct buf b = {};
		struct exposition e = {.format = formats[i], .b = &b};

		prom_render(&e, &v);
		ok(i == 2 ? page_is_protobuf(&b) : !page_text_error(&b, i == 1), "%s",
		   formats[i]->name);
		buf_free(&b);
	}
	node_free(&n);
	census_free(c);
	free(c);
	model_free(&m);
}

static void test_negotiation(void)
{
	ok(exposition_negotiate(NULL) == &exposition_text, "nothing asked");
	ok(exposition_negotiate("application/openmetrics-text; version=1.0.0; charset=utf-8") ==
		   &exposition_openmetrics,
	   "OpenMetrics");
	ok(exposition_negotiate("application/openmetrics-text;version=2.0.0") == &exposition_text,
	   "a version that is not there");
	ok(exposition_negotiate("text/plain;q=0.1,application/openmetrics-text;q=0.2") ==
		   &exposition_openmetrics,
	   "the higher q");
}

int main(void)
{
	test_text();
	test_length();
	test_numbers();
	test_exemplars();
	test_gauge_has_no_exemplar();
	test_names();
	test_protobuf();
	test_page();
	test_negotiation();
	return tap_done();
}
