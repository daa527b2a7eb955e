// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/promtext.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tap.h"

/* A line as others write it, and what it says: "name{label=value,…} number", or "bad". */
static const struct {
	const char *line, *said;
} rows[] = {
	{"up 1", "up{} 1"},
	{"up 1\n", "up{} 1"},
	{"up 1\r\n", "up{} 1"},
	{"  up\t1 1395066363000\n", "up{} 1"},
	{"a:b_c{} 2.5\n", "a:b_c{} 2.5"},
	{"a{b=\"c\"} 1e3\n", "a{b=c} 1000"},
	{"a{b=\"c\",} -0.5\n", "a{b=c} -0.5"},
	{"a { b = \"c\" , d = \"e\" } 3 4\n", "a{b=c,d=e} 3"},
	{"a{b=\"\"} +Inf\n", "a{b=} inf"},
	{"a{b=\"x\"} NaN\n", "a{b=x} nan"},
	{"a{b=\"q\\\"u\\\\o\\nte }\"} 1\n", "a{b=q\"u\\o\nte }} 1"},
	{"a_total{b=\"c\"} 7 # {pid=\"42\",comm=\"x\"} 1 1.5\n", "a_total{b=c} 7"},
	{"a_total 7 1.5 # {pid=\"42\"} 1\n", "a_total{} 7"},
	{"# HELP a b\n# TYPE a gauge\n\n#\na 1\n", "a{} 1"},
	{"# EOF\n", "end"},
	{"", "end"},
	{"\n\n", "end"},
	{"a\n", "bad"},
	{"a x\n", "bad"},
	{"1a 1\n", "bad"},
	{"a{b} 1\n", "bad"},
	{"a{b=c} 1\n", "bad"},
	{"a{b=\"c} 1\n", "bad"},
	{"a{b=\"c\\\"} 1\n", "bad"},
	{"a{b=\"c\" 1\n", "bad"},
	{"a{b=\"c\"d=\"e\"} 1\n", "bad"},
	{"a{,} 1\n", "bad"},
	{"a 1 2 3\n", "bad"},
	{"a 1 x\n", "bad"},
	{"{a=\"b\"} 1\n", "bad"},
	{"a 0000000000000000000000000000000000000000000000000000000000000000000000001\n", "bad"},
};

static const char *said_of(const char *line, char *b, size_t size)
{
	const char *at = line;
	struct prom_sample s;
	int got = prom_next(&at, line + strlen(line), &s);
	size_t n;

	if (got <= 0)
		return got ? "bad" : "end";
	n = snprintf(b, size, "%.*s{", (int)s.name.len, s.name.s);
	for (size_t i = 0; i < s.labels; i++) {
		char name[64], value[64];

		snprintf(name, sizeof(name), "%.*s", (int)s.label[i].name.len, s.label[i].name.s);
		prom_label(&s, name, value, sizeof(value));
		n += snprintf(b + n, size - n, "%s%s=%s", i ? "," : "", name, value);
	}
	if (isnan(s.value))
		snprintf(b + n, size - n, "} nan");
	else
		snprintf(b + n, size - n, "} %g", s.value);
	return b;
}

static void test_lines(void)
{
	char b[512], name[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "line %zu", i);
		is_str(said_of(rows[i].line, b, sizeof(b)), rows[i].said, name);
	}
}

static void test_limits(void)
{
	char line[8192] = "a{", value[4];
	struct prom_sample s;
	const char *at = line;

	for (int i = 0; i < PROM_LABELS_MAX; i++)
		strcat(line, "b=\"12345\",");
	strcat(line, "} 1\n");
	ok(prom_next(&at, line + strlen(line), &s) == 1 && s.labels == PROM_LABELS_MAX,
	   "as many labels as there is room for");
	ok(prom_label(&s, "b", value, sizeof(value)) && !strcmp(value, "123"), "values are cut");
	ok(!prom_label(&s, "c", value, sizeof(value)), "one that is not there");
	strcpy(line, "a{");
	for (int i = 0; i <= PROM_LABELS_MAX; i++)
		strcat(line, "b=\"1\",");
	strcat(line, "} 1\nc 2\n");
	at = line;
	is_u64(-prom_next(&at, line + strlen(line), &s), EBADMSG, "one more makes the line none");
	ok(prom_next(&at, line + strlen(line), &s) == 1 && prom_is(s.name, "c"),
	   "the next line is not lost");
}

/* Bytes of any sort, in a buffer of exactly their length: a sanitizer sees what is read beyond. */
static void test_hostile(void)
{
	static const char bytes[] = "abc{}=\"\\\n,# 019.e+-NI\t\r";
	uint64_t seed = 1, samples = 0, bad = 0, outside = 0;

	for (int i = 0; i < 100000; i++) {
		size_t len = i % 61, begun = i & 1 && len > 5 ? 5 : 0;
		char *page = malloc(len ? len : 1);
		const char *at = page, *end = page + len;
		struct prom_sample s;
		char value[8];
		int got;

		memcpy(page, "a{b=\"", begun);
		for (size_t k = begun; k < len; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			page[k] = seed >> 60 ? bytes[(seed >> 33) % (sizeof(bytes) - 1)]
					     : (char)(seed >> 40);
		}
		while ((got = prom_next(&at, end, &s))) {
			samples += got > 0;
			bad += got < 0;
			for (size_t k = 0; got > 0 && k < s.labels; k++) {
				outside += s.label[k].value.s < page ||
					   s.label[k].value.s + s.label[k].value.len > end;
				prom_label(&s, "a", value, sizeof(value));
			}
			outside += at > end;
		}
		free(page);
	}
	ok(samples && bad && !outside, "100,000 pages of rubbish: %llu samples, %llu bad lines",
	   (unsigned long long)samples, (unsigned long long)bad);
}

int main(void)
{
	test_lines();
	test_limits();
	test_hostile();
	return tap_done();
}
