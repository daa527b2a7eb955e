// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests log lines with hostile names: a name cannot add a field, a line or a message. */
#include "fixture.h"
#include "render/log/log_event.h"
#include "tap.h"

static struct host_record host;
static struct finding finding;
static struct incident_record incident;

static const struct rule *rule_named(const char *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

static struct log_event event_of(enum log_kind kind)
{
	host = host_record(1);
	strcpy(host.host, "web 1");
	strcpy(host.boot_id, "0f1e");
	finding = (struct finding){.rule = rule_named("F01"),
				   .subject = {.pid = 42},
				   .severity = SEVERITY_CRITICAL,
				   .open = true,
				   .cause = "rlimit_nofile"};
	strcpy(finding.comm, "a\"]\\\nPRIORITY=0");
	strcpy(finding.title, "open failed");
	finding_number(&finding, "fds", IN_COUNT, 300);
	evidence_limit(&finding.evidence[0], 1024);
	return (struct log_event){.kind = kind,
				  .wall_ns = 1700000000120000000ULL,
				  .host = &host,
				  .finding = &finding,
				  .workload = {.name = "web.service", .unit = "web.service"},
				  .pid = 7};
}

/*
 * Reads a datagram of the journal's native protocol as journald does. Returns the value of a field,
 * or NULL. *ret_fields is the number of fields; 0 if the datagram is malformed.
 */
static const char *journal_field(const struct buf *b, const char *name, size_t *ret_fields)
{
	static char value[512];
	const char *at = b->s, *end = b->s + b->len, *found = NULL;

	for (*ret_fields = 0; at < end; (*ret_fields)++) {
		const char *stop = memchr(at, '\n', end - at), *equal = memchr(at, '=', end - at);
		const char *from = equal && equal < stop ? equal + 1 : stop + 1;
		uint64_t len = from == stop + 1 ? 0 : stop - from;
		size_t key = from - 1 - at;

		if (from == stop + 1) {
			for (int i = 7; i >= 0; i--)
				len = len << 8 | (unsigned char)from[i];
			from += 8;
		}
		if (from + len >= end || from[len] != '\n')
			break;
		if (strlen(name) == key && !memcmp(at, name, key)) {
			snprintf(value, sizeof(value), "%.*s", (int)len, from);
			found = value;
		}
		at = from + len + 1;
	}
	if (at != end)
		*ret_fields = 0;
	return found;
}

static void test_journal(void)
{
	struct log_event e = event_of(LOG_FINDING_OPENED);
	struct buf b = {};
	size_t n;

	log_journal(&b, &e);
	is_str(journal_field(&b, "MESSAGE_ID", &n), "af28f5352d9e4add8d45929c0dc1aa33",
	       "the journal identifies the kind of line");
	ok(n > 15, "the datagram can be read to its end");
	is_str(journal_field(&b, "PRIORITY", &n), "2", "a name with a newline adds no field");
	is_str(journal_field(&b, "FAULTSCOPE_COMM", &n), "a\"]\\\nPRIORITY=0", "and stays whole");
	is_str(journal_field(&b, "MESSAGE", &n),
	       "critical: a\"]\\\\x0aPRIORITY=0[42]: open failed (F01 nofile-reached)",
	       "the message is one line");
	is_str(journal_field(&b, "FAULTSCOPE_LIMIT", &n), "1024", "the limit is a field");
	is_str(journal_field(&b, "FAULTSCOPE_UNIT", &n), "web.service", "the unit too");
	ok(!journal_field(&b, "FAULTSCOPE_POD", &n), "what is not known is no field");
	buf_free(&b);
}

static void test_rfc5424(void)
{
	static const char head[] =
		"<26>1 2023-11-14T22:13:20.120Z web?1 faultscope 7 finding_opened "
		"[faultscope@32473 ";
	struct log_event e = event_of(LOG_FINDING_OPENED);
	struct buf b = {};

	log_rfc5424(&b, &e);
	ok(!strncmp(b.s, head, strlen(head)), "a syslog line begins with priority, time and host");
	ok(strstr(b.s, " comm=\"a\\\"\\]\\\\\\\\x0aPRIORITY=0\""),
	   "quotes, brackets and backslashes of a name are escaped");
	is_u64(strchr(b.s, '\n') - b.s, b.len - 1, "the line has no other newline");
	buf_free(&b);
}

static void test_json(void)
{
	struct log_event e = event_of(LOG_FINDING_CLEARED);
	struct buf b = {};

	finding.open = false;
	e.withheld = 3;
	log_json(&b, &e);
	ok(strstr(b.s, "\"event\":\"finding_cleared\""), "a JSON line names the event");
	ok(strstr(b.s, "\"comm\":\"a\\\"]\\\\\\nPRIORITY=0\""), "names are escaped");
	ok(strstr(b.s, "\"pod\":null"), "what is not known is null");
	ok(strstr(b.s, "\"remedy\":null"), "a finding that is over needs no remedy");
	ok(strstr(b.s, "\"withheld\":3}\n"), "lines that were left out are counted");
	ok(strstr(b.s, "[3 lines before this one were left out]"), "and the message says so");
	buf_free(&b);
}

static void test_incidents(void)
{
	struct log_event e = event_of(LOG_INCIDENT_STORED);
	struct buf b = {};

	incident = (struct incident_record){.trigger = INCIDENT_OOM, .subject = {.pid = 9}};
	strcpy(incident.comm, "db");
	strcpy(incident.title, "db (pid 9) was OOM-killed");
	e.finding = NULL;
	e.incident = &incident;
	e.file = "/store/a\x1b[2J.fsr";
	log_text(&b, &e);
	is_str(b.s,
	       "faultscope: 2023-11-14T22:13:20Z incident stored: db (pid 9) was OOM-killed: "
	       "/store/a\\x1b[2J.fsr\n",
	       "text is safe on a terminal");
	buf_clear(&b);
	log_json(&b, &e);
	ok(strstr(b.s, "\"trigger\":\"oom\"") && strstr(b.s, "\"severity\":null"),
	   "an incident without a finding has a trigger");
	e.incident = NULL;
	e.kind = LOG_INCIDENT_DROPPED;
	e.why = "bounds";
	buf_clear(&b);
	log_json(&b, &e);
	ok(strstr(b.s, "\"pid\":null") && strstr(b.s, "\"reason\":\"bounds\""),
	   "a removed file is not read");
	e = (struct log_event){.kind = LOG_LINES_WITHHELD, .host = &host, .withheld = 12};
	buf_clear(&b);
	log_rfc5424(&b, &e);
	ok(!strncmp(b.s, "<28>1 ", 6) && strstr(b.s, "12 log lines were left out"),
	   "lines that were left out are a warning");
	buf_free(&b);
}

static void test_ids(void)
{
	size_t equal = 0, bad = 0;

	for (size_t i = 0; i < NR_LOG_KINDS; i++) {
		bad += strspn(log_kinds[i].message_id, "0123456789abcdef") != 32 ||
		       log_kinds[i].message_id[32];
		for (size_t k = 0; k < i; k++)
			equal += !strcmp(log_kinds[i].message_id, log_kinds[k].message_id);
	}
	is_u64(equal + bad, 0, "each kind has an id of 128 bits");
}

int main(void)
{
	test_journal();
	test_rfc5424();
	test_json();
	test_incidents();
	test_ids();
	return tap_done();
}
