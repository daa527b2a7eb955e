// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the values, the message and the priority of log lines. */
#include "fixture.h"
#include "render/log/log_event.h"
#include "tap.h"

static struct host_record host;
static struct finding finding;
static struct incident_record incident;
static struct buf text;

static const struct rule *rule_named(const char *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

static struct log_event about_finding(enum log_kind kind)
{
	host = host_record(1);
	finding = (struct finding){.rule = rule_named("F01"),
				   .subject = {.pid = 42},
				   .severity = SEVERITY_WARNING,
				   .open = true};
	strcpy(finding.comm, "db");
	strcpy(finding.title, "open failed");
	return (struct log_event){
		.kind = kind, .wall_ns = 1700000000 * SECOND, .host = &host, .finding = &finding};
}

static struct log_event about_incident(enum log_kind kind)
{
	struct log_event e = about_finding(kind);

	incident = (struct incident_record){.trigger = INCIDENT_OOM, .subject = {.pid = 9}};
	strcpy(incident.comm, "db");
	strcpy(incident.title, "db (pid 9) was OOM-killed");
	e.finding = NULL;
	e.incident = &incident;
	e.file = "/store/1.fsr";
	e.why = "no space";
	return e;
}

static const char *message(const struct log_event *e)
{
	buf_free(&text);
	log_message(&text, e);
	return text.s ? text.s : "";
}

static const char *syslog_line(const struct log_event *e)
{
	buf_free(&text);
	log_rfc5424(&text, e);
	return text.s ? text.s : "";
}

static void test_priority(void)
{
	static const struct {
		enum log_kind kind;
		enum severity severity;
		int priority;
	} cases[] = {
		{LOG_FINDING_OPENED, SEVERITY_CRITICAL, 2},
		{LOG_FINDING_OPENED, SEVERITY_WARNING, 4},
		{LOG_FINDING_OPENED, SEVERITY_INFO, 6},
		{LOG_FINDING_CHANGED, SEVERITY_CRITICAL, 2},
		{LOG_FINDING_CLEARED, SEVERITY_CRITICAL, 6},
	};
	static const struct {
		enum log_kind kind;
		int priority;
	} others[] = {
		{LOG_INCIDENT_STORED, 5},  {LOG_INCIDENT_COMPLETED, 6}, {LOG_INCIDENT_DROPPED, 6},
		{LOG_INCIDENT_REFUSED, 4}, {LOG_INCIDENT_FAILED, 3},	{LOG_LINES_WITHHELD, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct log_event e = about_finding(cases[i].kind);

		finding.severity = cases[i].severity;
		is_u64(log_priority(&e), cases[i].priority, log_kinds[e.kind].name);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct log_event e = about_incident(others[i].kind);
		char begin[16];

		is_u64(log_priority(&e), others[i].priority, log_kinds[e.kind].name);
		snprintf(begin, sizeof(begin), "<%d>1 ", 24 + others[i].priority);
		ok(!strncmp(syslog_line(&e), begin, strlen(begin)), "syslog begins with %s", begin);
	}
}

static void test_messages(void)
{
	struct log_event e = about_finding(LOG_FINDING_OPENED);

	is_str(message(&e), "warning: db[42]: open failed (F01 nofile-reached)", "a finding");
	e.kind = LOG_FINDING_CHANGED;
	is_str(message(&e), "now warning: db[42]: open failed (F01 nofile-reached)", "it changed");
	e.kind = LOG_FINDING_CLEARED;
	is_str(message(&e), "cleared: warning: db[42]: open failed (F01 nofile-reached)",
	       "it is over");
	e = about_finding(LOG_FINDING_OPENED);
	e.redacted = true;
	is_str(message(&e), "warning: db[42] (F01 nofile-reached)", "a title may have names");
	finding.comm[0] = 0;
	is_str(message(&e), "warning: redacted (F01 nofile-reached)", "nothing may be told");
	e.workload.name = "web.service";
	is_str(message(&e), "warning: web.service (F01 nofile-reached)", "the workload may");

	e = about_incident(LOG_INCIDENT_STORED);
	is_str(message(&e), "incident stored: db (pid 9) was OOM-killed: /store/1.fsr", "stored");
	e.kind = LOG_INCIDENT_COMPLETED;
	is_str(message(&e), "incident complete: db (pid 9) was OOM-killed: /store/1.fsr",
	       "complete");
	e.kind = LOG_INCIDENT_DROPPED;
	is_str(message(&e), "incident removed: /store/1.fsr: no space", "removed");
	e.kind = LOG_INCIDENT_REFUSED;
	is_str(message(&e), "no incident was stored: db (pid 9) was OOM-killed: no space",
	       "refused");
	e.kind = LOG_INCIDENT_FAILED;
	is_str(message(&e),
	       "cannot store an incident in /store/1.fsr: no space; earlier incidents are "
	       "unchanged, watching continues",
	       "failed");
}

static void test_withheld(void)
{
	struct log_event e = about_incident(LOG_INCIDENT_DROPPED);

	e.withheld = 1;
	is_str(message(&e),
	       "incident removed: /store/1.fsr: no space [1 line before this one was left out]",
	       "one line");
	e.withheld = 2;
	is_str(message(&e),
	       "incident removed: /store/1.fsr: no space [2 lines before this one were left out]",
	       "two lines");
	e.kind = LOG_LINES_WITHHELD;
	is_str(message(&e), "2 log lines were left out, because there were too many",
	       "a line about such lines tells it once");
	e.withheld = 1;
	is_str(message(&e), "1 log line was left out, because there were too many", "or one");
}

static void test_values(void)
{
	struct log_event e = about_finding(LOG_FINDING_OPENED);

	strcpy(finding.place, "/data");
	finding.cause = "rlimit_nofile";
	is_str(log_severity(&e), "warning", "severity of a finding");
	is_str(log_finding_id(&e), "F01", "its id");
	is_u64(log_pid(&e), 42, "its process");
	is_str(log_comm(&e), "db", "and the name");
	is_str(log_title(&e), "open failed", "its title");
	is_str(log_place(&e), "/data", "its place");
	is_str(log_cause(&e), "rlimit_nofile", "its cause");
	ok(!log_trigger(&e), "it is no trigger");
	e.redacted = true;
	ok(!log_title(&e) && !log_place(&e) && log_comm(&e) && log_cause(&e),
	   "title and place may have names");
	finding.subject.pid = 0;
	ok(!log_comm(&e), "no process, no name");

	e = about_incident(LOG_INCIDENT_STORED);
	strcpy(incident.cause, "cgroup");
	strcpy(incident.finding, "K01");
	is_u64(log_pid(&e), 9, "process of an incident");
	is_str(log_comm(&e), "db", "its name");
	is_str(log_title(&e), "db (pid 9) was OOM-killed", "its title");
	is_str(log_cause(&e), "cgroup", "its cause");
	is_str(log_finding_id(&e), "K01", "its finding");
	is_str(log_trigger(&e), "oom", "its trigger");
	ok(!log_place(&e) && !log_limit(&e) && !log_remedy(&e), "it has no others");
	incident.cause[0] = incident.finding[0] = incident.title[0] = incident.comm[0] = 0;
	ok(!log_cause(&e) && !log_finding_id(&e) && !log_title(&e) && !log_comm(&e),
	   "what is empty is not known");
	e.incident = NULL;
	ok(!log_severity(&e) && !log_finding_id(&e) && !log_pid(&e) && !log_comm(&e) &&
		   !log_title(&e) && !log_cause(&e) && !log_trigger(&e),
	   "nor is anything about a removed file");
}

/* The limit of a line is that of the first evidence that counts something up to a limit. */
static void test_limit(void)
{
	struct log_event e = about_finding(LOG_FINDING_OPENED);
	struct evidence *one;

	ok(!log_limit(&e), "no evidence");
	finding_number(&finding, "count", IN_COUNT, 3);
	ok(!log_limit(&e), "evidence without a limit");
	one = finding_text(&finding, "text", "x");
	one->has_limit = true;
	one->limit = 7;
	ok(!log_limit(&e), "a text has none");
	one = finding_real(&finding, "left", IN_SECONDS, 3);
	one->has_limit = true;
	one->limit = 7;
	ok(!log_limit(&e), "nor have seconds one that is a count");
	evidence_limit(finding_number(&finding, "all", IN_COUNT, 3), UINT64_MAX);
	ok(!log_limit(&e), "nor has what is unlimited");
	one = finding_number(&finding, "fds", IN_COUNT, 300);
	evidence_limit(one, UINT64_MAX - 1);
	ok(log_limit(&e) == one, "any other count has");
	evidence_limit(finding_number(&finding, "more", IN_COUNT, 3), 1024);
	ok(log_limit(&e) == one, "the first one counts");
}

/* The remedy of a line is the first one with a command that changes something. */
static void test_remedy(void)
{
	struct log_event e = about_finding(LOG_FINDING_OPENED);

	ok(!log_remedy(&e), "no remedy");
	finding_remedy(&finding, REMEDY_FIX, "fix the leak");
	ok(log_remedy(&e) == &finding.remedy[0], "the only one");
	strcpy(finding_remedy(&finding, REMEDY_CHECK, "look")->command, "ls");
	ok(log_remedy(&e) == &finding.remedy[0], "a check is none");
	strcpy(finding_remedy(&finding, REMEDY_WORKAROUND, "raise")->command, "prlimit");
	strcpy(finding_remedy(&finding, REMEDY_FIX, "raise it")->command, "systemctl");
	ok(log_remedy(&e) == &finding.remedy[2], "the first one with a command");
	strcpy(finding.remedy[0].command, "kill");
	ok(log_remedy(&e) == &finding.remedy[0], "also if it is the first of all");
	e.redacted = true;
	ok(!log_remedy(&e), "its command may have names");
	e.redacted = false;
	finding.open = false;
	ok(!log_remedy(&e), "a finding that is over needs none");
}

/* A name of a host in a line of syslog has only printable characters of ASCII, and no blanks. */
static void test_host_names(void)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{"", "-"},	    {"web", "web"}, {"a b", "a?b"},	{"!~", "!~"},
		{"\x7f\x1f", "??"}, {"\t-", "?-"},  {"\303\244", "??"}, {"x", "x"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct log_event e = about_incident(LOG_INCIDENT_DROPPED);
		char line[64];

		strcpy(host.host, cases[i].name);
		snprintf(line, sizeof(line), "Z %s faultscope 0 incident_dropped [",
			 cases[i].shown);
		ok(strstr(syslog_line(&e), line), "%s", line);
	}
}

/* In the journal, a value with a newline has its length before it, in eight bytes. */
static void test_journal_length(void)
{
	struct log_event e = about_incident(LOG_INCIDENT_DROPPED);
	static char why[600];
	const char *at;
	size_t len;

	memset(why, 'w', sizeof(why) - 1);
	why[0] = '\n';
	e.why = why;
	buf_free(&text);
	log_journal(&text, &e);
	at = strstr(text.s, "\nFAULTSCOPE_REASON\n");
	ok(at, "the reason of a removal is a field");
	at += strlen("\nFAULTSCOPE_REASON\n");
	len = strlen(why);
	for (int i = 0; i < 8; i++)
		is_u64((unsigned char)at[i], i < 2 ? len >> 8 * i & 0xff : 0, "a byte of a length");
	ok(!memcmp(at + 8, why, len) && at[8 + len] == '\n', "then comes the value");
	ok(strstr(text.s, "PRIORITY=6\n") && strstr(text.s, "SYSLOG_IDENTIFIER=faultscope\n"),
	   "other values have none");
}

int main(void)
{
	test_priority();
	test_messages();
	test_withheld();
	test_values();
	test_limit();
	test_remedy();
	test_host_names();
	test_journal_length();
	buf_free(&text);
	return tap_done();
}
