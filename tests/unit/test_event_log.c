// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which log lines a session writes about findings and incidents, and where. The clock is
 * played, so that the number of lines in an hour is known exactly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "collect/redact.h"
#include "error_output.h"
#include "fixture.h"
#include "played_clock.h"
#include "session/session.h"
#include "tap.h"

#define MINUTE (60 * SECOND)

static uint64_t now_ns = 1000 * SECOND; /* CLOCK_MONOTONIC */
static struct session s;
static struct options o;
static struct finding f;
static int reader = -1;
static char path[256];

static int listen_at(const char *at)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(to.sun_path, at);
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	return fd;
}

/* Opens a log whose lines this test reads from a socket. */
static void begin(void)
{
	memset(&s, 0, sizeof(s));
	memset(&o, 0, sizeof(o));
	memset(&f, 0, sizeof(f));
	s.o = &o;
	begin_model(&s.in.m, NULL);
	snprintf(path, sizeof(path), "%s", fixture_path("log"));
	unlink(path);
	reader = listen_at(path);
	o.log.format = LOG_FORMAT_RFC5424;
	o.log.socket = path;
	is_u64(event_log_open(&s), 0, "a log is opened");
	f.rule = &rules[0];
	f.severity = SEVERITY_WARNING;
	f.open = true;
	f.subject = (struct process_key){.pid = 7, .start_ns = 1};
	strcpy(f.comm, "leak");
	strcpy(f.title, "something grows");
}

static void end(void)
{
	event_log_close(&s);
	findings_free(&s.in.findings);
	model_free(&s.in.m);
	close(reader);
	unlink(path);
}

/* Returns the next line, or "". */
static const char *line(void)
{
	static char text[8192];
	ssize_t n = recv(reader, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static unsigned int lines(void)
{
	unsigned int n = 0;

	while (*line())
		n++;
	return n;
}

/* Shows the log the finding, as a rule left it. */
static void look(void)
{
	struct findings *all = &s.in.findings;

	if (!all->n && findings_copy(all, &(struct findings){.f = &f, .n = 1, .room = 1}))
		abort();
	f.logged = all->f[0].logged;
	all->f[0] = f;
	event_log_look(&s);
}

static void is_line(const char *kind, const char *text)
{
	const char *got = line();

	if (!ok(strstr(got, kind) && strstr(got, text), "%s: %s", kind, text))
		printf("# got %s\n", got);
}

static void test_kinds_of_lines(void)
{
	begin();
	look();
	is_line("<28>1 ", " finding_opened [");
	look();
	is_u64(lines(), 0, "nothing is new");
	f.severity = SEVERITY_CRITICAL;
	look();
	is_line("<26>1 ", " finding_changed [");
	f.level++;
	look();
	is_line(" finding_changed [", "leak");
	f.open = false;
	look();
	is_line("<30>1 ", " finding_cleared [");
	look();
	is_u64(lines(), 0, "it is cleared once");
	f.open = true;
	f.severity = SEVERITY_INFO;
	look();
	is_line("<30>1 ", " finding_opened [");
	end();
}

/* Of one finding: four lines at once, then twelve in an hour, that is one in five minutes. */
static void test_lines_of_one(void)
{
	begin();
	for (int i = 0; i < 10; i++) {
		f.level++;
		look();
	}
	is_u64(lines(), 4, "lines at once");
	now_ns += 5 * MINUTE - SECOND;
	look();
	is_u64(lines(), 0, "not before five minutes");
	now_ns += 2 * SECOND;
	look();
	is_line(" finding_changed [", "withheld=\"1\"");
	is_u64(lines(), 0, "one line");
	now_ns += 5 * MINUTE;
	f.level++;
	look();
	is_line(" finding_changed [", "leak");
	f.open = false;
	look();
	is_line(" finding_cleared [", "leak");
	now_ns += 3600 * SECOND;
	f.open = true;
	for (int i = 0; i < 9; i++) {
		f.level++;
		look();
	}
	is_u64(lines(), 4, "after an hour, as many as at first");
	/* another process, and another place, have lines of their own */
	f.subject.pid++;
	f.level++;
	look();
	is_u64(lines(), 1, "another process");
	strcpy(f.place, "/a");
	f.level++;
	look();
	is_u64(lines(), 1, "another place");
	f.rule++;
	f.level++;
	look();
	is_u64(lines(), 1, "another rule");
	end();
}

/* Of all findings: a hundred lines at once, then one in six seconds. */
static void test_lines_of_all(void)
{
	unsigned int n = 0;

	begin();
	for (int i = 0; i < 120; i++) {
		f.subject.pid = 100 + i;
		f.level++;
		look();
		n += lines();
	}
	is_u64(n, 100, "lines at once");
	now_ns += 5 * SECOND;
	f.subject.pid++;
	f.level++;
	look();
	is_u64(lines(), 0, "not before six seconds");
	now_ns += 2 * SECOND;
	f.subject.pid++;
	f.level++;
	look();
	is_line(" finding_", "withheld=\"");
	event_log_work(&s);
	is_u64(lines(), 0, "lines that are left out are told once a minute");
	f.subject.pid++;
	f.logged.withheld = false;
	s.in.findings.f[0].logged.withheld = false;
	f.level++;
	look();
	now_ns += MINUTE - SECOND;
	/* the allowance has grown, and nothing is new */
	event_log_work(&s);
	is_u64(lines(), 0, "not before a minute");
	now_ns += 2 * SECOND;
	event_log_work(&s);
	is_line("<28>1 ", " lines_withheld [");
	event_log_work(&s);
	is_u64(lines(), 0, "nothing is left out since");
	end();
}

/* Lines that were left out are told when the last line is more than a minute old. */
static void test_minute(void)
{
	begin();
	look();
	is_u64(lines(), 1, "a line");
	for (int i = 0; i < 6; i++) {
		f.level++;
		look();
		s.in.findings.f[0].logged.withheld = false;
	}
	is_u64(lines(), 3, "of one finding four at once");
	now_ns += MINUTE;
	event_log_work(&s);
	is_u64(lines(), 0, "a minute after the last line, nothing is told");
	now_ns++;
	event_log_work(&s);
	is_line("lines_withheld [", "withheld=\"3\"");
	f.open = false;
	look();
	is_line("finding_cleared [", "leak");
	now_ns += 2 * MINUTE;
	event_log_work(&s);
	is_u64(lines(), 0, "none was left out since");
	end();
}

/* The path of a socket has room for 107 bytes and a zero. */
static void test_socket_paths(void)
{
	static const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	char at[256], want[512];

	for (size_t len = most - 1; len <= most + 1; len++) {
		begin();
		event_log_close(&s);
		close(reader);
		unlink(path);
		memset(at, '/', sizeof(at));
		memcpy(at, fixture_path(""), strlen(fixture_path("")));
		strcpy(at + len - 4, "/log");
		o.log.socket = at;
		reader = listen_at(path);
		errors_begin();
		if (len <= most) {
			is_u64(event_log_open(&s), 0, "the path of a socket");
			errors_are("", "which is good");
			look();
			is_line("finding_opened [", "leak");
		} else {
			is_u64(event_log_open(&s), EXIT_FAILED, "a path that is too long");
			snprintf(want, sizeof(want),
				 "faultscope: --log-format: %s: the path of a socket has at most "
				 "107 bytes\n",
				 at);
			errors_are(want, "which is said");
			ok(!s.log, "there is no log");
		}
		end();
	}
	begin();
	event_log_close(&s);
	o.log.socket = fixture_path("absent");
	errors_begin();
	is_u64(event_log_open(&s), EXIT_FAILED, "nobody reads");
	snprintf(want, sizeof(want), "faultscope: --log-format: %s: No such file or directory\n",
		 fixture_path("absent"));
	errors_are(want, "which is said");
	end();
}

/* The log remembers the lines of the 128 latest findings. */
static void test_many_findings(void)
{
	begin();
	for (int i = 0; i < 4; i++) {
		f.level++;
		look();
	}
	is_u64(lines(), 4, "all lines of the first one");
	for (int i = 1; i < 128; i++) {
		now_ns += 6 * SECOND;
		f.subject.pid = 1000 + i;
		f.level++;
		look();
		lines();
	}
	f.subject.pid = 7;
	f.level++;
	now_ns -= 127 * 6 * SECOND; /* so that its allowance has not grown */
	look();
	is_u64(lines(), 0, "the first one is remembered");
	f.subject.pid = 2000;
	f.level++;
	look();
	lines();
	f.subject.pid = 7;
	f.level++;
	look();
	is_u64(lines(), 1, "the 129th takes its place");
	end();
}

/* A reader that is gone, or does not read, never blocks; it is told how many lines it missed. */
static void test_readers(void)
{
	begin();
	close(reader);
	unlink(path);
	look();
	f.level++;
	look();
	reader = listen_at(path);
	f.level++;
	look();
	is_line(" finding_changed [", "withheld=\"2\"");
	end();
	begin();
	for (int i = 0; i < 2000; i++) {
		now_ns += 301 * SECOND;
		f.level++;
		look();
	}
	ok(lines() < 2000, "a reader that does not read");
	f.level++;
	look();
	is_line(" finding_changed [", "withheld=\"");
	event_log_close(&s);
	is_u64(lines(), 0, "nothing is left out since");
	end();
}

static void test_close(void)
{
	begin();
	for (int i = 0; i < 6; i++) {
		f.level++;
		look();
		s.in.findings.f[0].logged.withheld = false;
	}
	is_u64(lines(), 4, "lines");
	event_log_close(&s);
	is_line(" lines_withheld [", "withheld=\"2\"");
	end();
}

static void incident(enum incident_event event, const char *name, int err)
{
	static struct incident_record r;
	struct incident_news news = {.event = event, .r = &r, .name = name, .why = "x", .err = err};

	snprintf(r.title, sizeof(r.title), "a title");
	snprintf(r.workload, sizeof(r.workload), "shop");
	event_log_incident(&s, &news);
}

static void test_incidents(void)
{
	static struct incident_watch watch;

	begin();
	s.incidents = &watch;
	strcpy(watch.in.store.dir, "/var/lib/x");
	incident(INCIDENT_STORED, "a.fsr", 0);
	is_line("<29>1 ", "incident_stored [");
	incident(INCIDENT_COMPLETED, "a.fsr", 0);
	is_line("<30>1 ", "/var/lib/x/a.fsr");
	incident(INCIDENT_DROPPED, "a.fsr", 0);
	is_line("incident_dropped [", "shop");
	incident(INCIDENT_REFUSED_RATE, NULL, 0);
	is_line("<28>1 ", "incident_refused [");
	incident(INCIDENT_FAILED, NULL, -ENOSPC);
	is_line("<27>1 ", "No space left on device");
	for (int i = 0; i < 200; i++)
		incident(INCIDENT_STORED, "a.fsr", 0), lines();
	incident(INCIDENT_STORED, "a.fsr", 0);
	is_u64(lines(), 0, "too many");
	incident(INCIDENT_FAILED, NULL, -EIO);
	is_line("incident_failed [", "withheld=\""); /* the lines that were too many */
	incident(INCIDENT_FAILED, NULL, -EIO);
	is_line("incident_failed [", "Input/output error");
	s.incidents = NULL;
	end();
}

/* ---- where lines are written ---- */

static const char *written(enum log_format format, const char *journal, bool progress)
{
	begin();
	event_log_close(&s);
	o.log.format = format;
	o.log.socket = NULL;
	if (journal)
		setenv("JOURNAL_STREAM", journal, 1);
	else
		unsetenv("JOURNAL_STREAM");
	errors_begin();
	if (event_log_open(&s))
		abort();
	if (progress)
		event_log_replaces_progress(&s);
	look();
	return errors_end();
}

static void test_places(void)
{
	const char *got = written(LOG_FORMAT_AUTO, NULL, false);

	ok(!strncmp(got, "faultscope: 20", 14) && strstr(got, "something grows ("), "text: %s",
	   got);
	end();
	got = written(LOG_FORMAT_TEXT, "1:2", true);
	ok(!strncmp(got, "\r\033[Kfaultscope: ", 15), "it replaces progress");
	end();
	got = written(LOG_FORMAT_AUTO, "1:2", false);
	ok(!strncmp(got, "faultscope: ", 12), "another stream is the journal's");
	end();
	got = written(LOG_FORMAT_AUTO, "1:2:", false);
	ok(!strncmp(got, "faultscope: ", 12), "no stream");
	end();
	is_str(written(LOG_FORMAT_OFF, NULL, false), "", "off");
	end();
}

static void test_off(void)
{
	static struct incident_watch watch;
	const char *got;

	begin();
	event_log_close(&s);
	o.log.format = LOG_FORMAT_OFF;
	errors_begin();
	if (event_log_open(&s))
		abort();
	strcpy(watch.in.store.dir, "/x");
	s.incidents = &watch;
	incident(INCIDENT_STORED, "a.fsr", 0);
	incident(INCIDENT_FAILED, NULL, -ENOSPC);
	s.incidents = NULL;
	got = errors_end();
	ok(!strstr(got, "stored") && strstr(got, "No space left on device"), "errors alone: %s",
	   got);
	end();
}

static void test_bad_sockets(void)
{
	char longest[200];

	begin();
	event_log_close(&s);
	o.log.socket = "/nonexistent/socket";
	errors_begin();
	is_u64(event_log_open(&s), 1, "no such socket");
	errors_are("faultscope: --log-format: /nonexistent/socket: No such file or directory\n",
		   "its text");
	ok(!s.log, "no log");
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[108] = 0;
	o.log.socket = longest;
	errors_begin();
	is_u64(event_log_open(&s), 1, "a path that is too long");
	ok(strstr(errors_end(), "the path of a socket has at most 107 bytes") != NULL, "its text");
	longest[107] = 0;
	errors_begin();
	is_u64(event_log_open(&s), 1, "the longest path");
	ok(strstr(errors_end(), "No such file or directory") != NULL, "is tried");
	end();
}

static void say_shop(void *ctx, const struct finding *of, struct log_workload *ret)
{
	*(int *)ctx += of->subject.pid == 7;
	*ret = (struct log_workload){.name = "shop", .pod = "shop-1"};
}

static void test_workloads(void)
{
	struct process_record p = process_record(7, 1, SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, SECOND);
	int asked = 0;

	begin();
	n.subject = p.subject;
	strcpy(n.cgroup, "/system.slice/web.service");
	model_take(&s.in.m, &p.h);
	model_take(&s.in.m, &n.h);
	look();
	is_line("web.service", "finding_opened");
	event_log_identify_by(&s, say_shop, &asked);
	f.level++;
	look();
	is_line("shop-1", "finding_changed");
	is_u64(asked, 1, "another function is asked");
	end();
}

int main(void)
{
	test_kinds_of_lines();
	test_lines_of_one();
	test_lines_of_all();
	test_minute();
	test_socket_paths();
	test_many_findings();
	test_readers();
	test_close();
	test_incidents();
	test_places();
	test_off();
	test_bad_sockets();
	test_workloads();
	event_log_look(&s);
	event_log_work(&s);
	event_log_close(&s);
	ok(true, "without a log, nothing happens");
	return tap_done();
}
