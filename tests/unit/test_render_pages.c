// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests pages about incidents, buckets of crash logs and names of functions at their bounds. */
#include <errno.h>
#include <stdlib.h>

#include "fixture.h"
#include "render/crash/crash_view.h"
#include "render/incident_pages.h"
#include "tap.h"

static struct view v = {.width = 120};
static struct buf text;

static const char *shown(void)
{
	return text.s ? text.s : "";
}

static struct incident_record incident_of(uint64_t before_s, uint64_t after_s)
{
	struct incident_record r = RECORD(incident_record, RECORD_INCIDENT, 100 * SECOND);

	r.at_ns = (100 + before_s) * SECOND;
	r.until_ns = r.at_ns + after_s * SECOND;
	r.wall_ns = 1700000000 * SECOND;
	r.trigger = INCIDENT_OOM;
	return r;
}

static const char *page(const struct incident_record *r)
{
	struct incident_page p = {
		.r = r, .number = 7, .file = "/s/1.fsr", .bytes = 2048, .why = "is cut off"};

	buf_free(&text);
	incident_page_text(&text, &v, &p);
	return shown();
}

#define FOOT                                                                                       \
	"file         /s/1.fsr, 2.00 KiB\n"                                                        \
	"\n  the report:          faultscope incidents report 7\n"                                 \
	"  what changed:        faultscope incidents compare 7\n"                                  \
	"  in the live view:    faultscope replay /s/1.fsr\n"

static void test_incident(void)
{
	struct incident_record r = incident_of(60, 30);

	is_str(page(&r),
	       "oom\n"
	       "when         2023-11-14T22:13:20.000Z\n"
	       "trigger      oom\n"
	       "workload     (host)\n"
	       "contains     60 s before the trigger, 30 s after it\n" FOOT,
	       "an incident of which little is known");
	strcpy(r.finding, "F01");
	strcpy(r.cause, "rlimit_nofile");
	strcpy(r.workload, "web.service");
	strcpy(r.comm, "db");
	strcpy(r.not_raised, "the mappings: no room");
	r.subject.pid = 9;
	r.severity = 3;
	r.more = 1;
	r.raised = INCIDENT_RAISED_SCANS | INCIDENT_RAISED_MAPS | INCIDENT_RAISED_FDS;
	is_str(page(&r),
	       "nofile-reached\n"
	       "when         2023-11-14T22:13:20.000Z\n"
	       "trigger      oom: F01, critical\n"
	       "cause        rlimit_nofile\n"
	       "workload     web.service\n"
	       "process      db (pid 9)\n"
	       "contains     60 s before the trigger, 30 s after it\n"
	       "more detail  a scan each second, mappings, file descriptors\n"
	       "not recorded the mappings: no room\n"
	       "also         1 further trigger of this workload\n" FOOT,
	       "an incident of which all is known");
	r.severity = 2;
	r.more = 2;
	r.raised = INCIDENT_RAISED_FDS;
	ok(strstr(page(&r), "trigger      oom: F01\n"), "a warning is not critical");
	ok(strstr(shown(), "also         2 further triggers of this workload\n"), "two more");
	ok(strstr(shown(), "more detail  file descriptors\n"), "one kind of detail");
	r.raised = INCIDENT_RAISED_MAPS;
	ok(strstr(page(&r), "more detail  mappings\n"), "or another");
	r.raised = INCIDENT_RAISED_SCANS;
	ok(strstr(page(&r), "more detail  a scan each second\n"), "or scans");
	strcpy(r.title, "db (pid 9) ran out of descriptors");
	ok(!strncmp(page(&r), "db (pid 9) ran out of descriptors\n", 34), "its own title");
	v.width = 60;
	memset(r.title, 'a', 58);
	strcpy(r.title + 58, " and a second line");
	ok(!strncmp(page(&r) + 58, "\n    and a second line\n", 23), "a long title is indented");
	v.width = 120;
	r = incident_of(0, 0);
	is_str(strstr(page(&r), "contains"),
	       "contains     0.0 s before the trigger, 0.0 s after it\n" FOOT,
	       "no time before the trigger, and none after it");
	r.at_ns -= SECOND;
	r.until_ns = r.at_ns - 1;
	is_str(strstr(page(&r), "contains"),
	       "contains     0.0 s before the trigger, 0.0 s after it\n" FOOT,
	       "nor less than none");
	is_str(page(NULL), "/s/1.fsr: is cut off\n", "a file that cannot be read");
}

static const char *list_line(const struct incident_record *r)
{
	struct incident_page p = {
		.r = r, .number = 7, .file = "/s/1.fsr", .bytes = 2048, .why = "is cut off"};

	buf_free(&text);
	incident_list_line(&text, &v, &p);
	return shown();
}

static void test_incident_list(void)
{
	struct incident_record r = incident_of(60, 30);

	is_str(list_line(&r),
	       "  7  2023-11-14T22:13:20Z  oom       (host)                     2.00 KiB  oom\n",
	       "an incident");
	strcpy(r.workload, "a-workload-of-24-columns");
	strcpy(r.finding, "F01");
	is_str(list_line(&r),
	       "  7  2023-11-14T22:13:20Z  F01       a-workload-of-24-columns   2.00 KiB  "
	       "nofile-reached\n",
	       "the longest workload that fits");
	strcpy(r.workload, "a-workload-of-24-columns!");
	ok(strstr(list_line(&r), "a-workload-of-24-columns   2.00 KiB"), "a longer one is cut");
	is_str(list_line(NULL),
	       "  7  -                     -         -                          2.00 KiB  "
	       "/s/1.fsr: is cut off\n",
	       "a file that cannot be read");
	buf_free(&text);
	incident_list_heading(&text, &v);
	is_str(shown(),
	       "  #  when                  trigger   workload                       size  what\n",
	       "the heading");
	is_str(incident_trigger_name(NR_INCIDENT_TRIGGERS), "unknown",
	       "a trigger of a later version");
	ok(strcmp(incident_trigger_name(NR_INCIDENT_TRIGGERS - 1), "unknown"), "the last trigger");
	for (uint32_t severity = 0; severity <= NR_SEVERITIES + 1; severity++) {
		const char *name;

		r.severity = severity;
		name = incident_severity_name(&r);
		ok(!name == (severity < 1 || severity > NR_SEVERITIES), "severity %u", severity);
		if (name)
			is_str(name, severity_name(severity - 1), "has its name");
	}
}

static size_t decoded;
static int answer;

static int decode(const char *name, char *ret, size_t size)
{
	decoded++;
	snprintf(ret, size, "plain%zu", strlen(name));
	return answer;
}

static const char *name_of(struct triage_names *names, const char *function)
{
	struct triage_view tv = {.v = &v, .names_of = names};

	buf_free(&text);
	triage_name(&text, &tv, str_of(function));
	return shown();
}

/* Only names that Rust may have made are demangled, and only as long as no name is a bomb. */
static void test_names(void)
{
	struct triage_names names = {.decode = decode};
	char longer[513] = "_R";

	is_str(name_of(NULL, "_Rabc"), "_Rabc", "without a demangler, names stay");
	is_str(name_of(&names, "_Rabc"), "plain5", "a name of Rust");
	is_str(name_of(&names, "_ZN3foo"), "plain7", "one of its older scheme");
	decoded = 0;
	is_str(name_of(&names, "_Z3foo"), "_Z3foo", "one of C++");
	is_str(name_of(&names, "do_work"), "do_work", "one of C");
	is_str(name_of(&names, ""), "", "none");
	is_u64(decoded, 0, "are not demangled");
	for (size_t len = 510; len <= 512; len++) {
		memset(longer + 2, 'x', len - 2);
		longer[len] = 0;
		is_str(name_of(&names, longer),
		       len == 510   ? "plain510"
		       : len == 511 ? "plain511"
				    : longer,
		       "a long name");
	}
	answer = -EINVAL;
	is_str(name_of(&names, "_Rabc"), "_Rabc", "a name that is none");
	answer = 0;
	is_str(name_of(&names, "_Rabc"), "plain5", "others are demangled then");
	answer = -E2BIG;
	is_str(name_of(&names, "_Rbomb"), "_Rbomb", "a name without end");
	answer = 0;
	decoded = 0;
	is_str(name_of(&names, "_Rabc"), "_Rabc", "then no other one");
	is_u64(decoded, 0, "is demangled");
}

static void test_buckets(void)
{
	static struct triage_bucket bucket[2];
	struct triage_buckets all = {.bucket = bucket, .n = 2, .logs = 5, .quiet = 1};

	strcpy(bucket[0].name, "null in f");
	strcpy(bucket[0].example, "/logs/a");
	bucket[0].count = 3;
	bucket[0].first = 1700000000;
	bucket[0].last = 1700086400;
	bucket[0].kernels = 2;
	strcpy(bucket[0].kernel[0], "6.1");
	strcpy(bucket[0].kernel[1], "6.2");
	bucket[0].more_kernels = 1;
	strcpy(bucket[1].name, "null in g");
	strcpy(bucket[1].example, "/logs/b");
	bucket[1].count = 1;
	bucket[1].fresh = true;
	buf_free(&text);
	triage_buckets_text(&text, &v, &all);
	is_str(shown(),
	       "   LOGS  FIRST       LAST        BUCKET\n"
	       "      3  2023-11-14  2023-11-15  null in f\n"
	       "                                 /logs/a; kernel 6.1, 6.2 and 1 more\n"
	       "      1  -           -           null in g  new\n"
	       "                                 /logs/b\n"
	       "5 logs, 2 buckets, 1 without a crash\n",
	       "buckets of logs");
	all = (struct triage_buckets){
		.bucket = bucket, .n = 1, .logs = 1, .unreadable = 1, .partial = 2, .lost = 3};
	bucket[0].kernels = bucket[0].more_kernels = 0;
	buf_free(&text);
	triage_buckets_text(&text, &v, &all);
	is_str(shown(),
	       "   LOGS  FIRST       LAST        BUCKET\n"
	       "      3  2023-11-14  2023-11-15  null in f\n"
	       "                                 /logs/a\n"
	       "1 log, 1 bucket, 0 without a crash, 1 unreadable, 2 incomplete, 3 above the "
	       "maximum\n",
	       "and logs that are in none");
	buf_free(&text);
}

int main(void)
{
	test_incident();
	test_incident_list();
	test_names();
	test_buckets();
	return tap_done();
}
