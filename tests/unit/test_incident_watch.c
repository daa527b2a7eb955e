// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the incidents of a session: what is read about their process, how often scans come while
 * they wait, and the answers to requests.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "error_output.h"
#include "fixture.h"
#include "incident/snapshot_socket.h"
#include "session/incident_watch.h"
#include "session/session.h"
#include "session/startup.h"
#include "tap.h"

#define CALM_NS (3600 * SECOND)
#define NOTHING "mappings and file descriptors: "

static struct session s;
static struct options o;
static struct incident_options opt;

static void open_watch(void)
{
	char error[512];

	if (incident_watch_open(&s, &opt, fixture_path("store"), error, sizeof(error))) {
		printf("# %s\n", error);
		exit(1);
	}
	s.incidents->calm_ns = CALM_NS;
}

static int on_timer(void *ctx)
{
	(void)ctx;
	return 0;
}

static void begin(void)
{
	struct process_record p = process_record(getpid(), 1, SECOND);
	struct tick_record tick = tick_record(SECOND);

	s = (struct session){.o = &o,
			     .loop = {.on_timer = on_timer, LOOP_CLOSED},
			     .out.file = OUTPUT_NONE,
			     .out.junit = OUTPUT_NONE};
	opt = (struct incident_options){
		.ring.bytes = 1 << 20, .store.count = 100, .after_ns = CALM_NS, .per_hour = 400};
	if (session_open_loop(&s) || model_init(&s.in.m))
		abort();
	s.in.collector.m = &s.in.m;
	s.in.collector.filter = &s.in.filter;
	open_watch();
	collector_take(&s.in.collector, &p.h);
	collector_take(&s.in.collector, &tick.h);
}

static void end(void)
{
	incident_watch_close(&s);
	loop_close(&s.loop);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
}

/* Begins an incident of a process. Returns its record. */
static const struct incident_record *incident_of(uint32_t pid, uint64_t birth)
{
	struct process_key of = {.pid = pid, .start_ns = birth};
	struct incident_cause c = {.trigger = INCIDENT_SNAPSHOT, .subject = &of, .title = "x"};

	ok(incidents_trigger(&s.incidents->in, &c), "an incident");
	return &s.incidents->in.waiting[0].r;
}

static void test_detail(void)
{
	const struct incident_record *r;
	struct process_record p;

	begin();
	r = incident_of(getpid(), 1);
	is_u64(r->raised, INCIDENT_RAISED_SCANS | INCIDENT_RAISED_MAPS | INCIDENT_RAISED_FDS,
	       "scans come every second, and what the process holds is read");
	is_str(r->not_raised, "", "nothing is missing");
	ok(s.incidents->raised, "until no incident waits");
	end();
	begin();
	r = incident_of(0, 0);
	is_u64(r->raised, INCIDENT_RAISED_SCANS, "an incident of the host");
	is_str(r->not_raised, "", "has no process");
	end();
	begin();
	r = incident_of(getpid(), 2);
	is_u64(r->raised, INCIDENT_RAISED_SCANS, "a process that is not known");
	is_str(r->not_raised, NOTHING "the process has ended", "has ended");
	end();
	begin();
	p = process_record(getpid(), 1, 2 * SECOND);
	p.g.flags |= PROC_FINAL;
	collector_take(&s.in.collector, &p.h);
	s.incidents->lacks = "user stacks";
	r = incident_of(getpid(), 1);
	is_u64(r->raised, INCIDENT_RAISED_SCANS, "a process that has ended");
	is_str(r->not_raised, NOTHING "the process has ended; user stacks: needs --export.profiles",
	       "two things that are missing");
	end();
	begin();
	p = process_record(INT32_MAX, 1, 2 * SECOND);
	collector_take(&s.in.collector, &p.h);
	r = incident_of(INT32_MAX, 1);
	is_u64(r->raised, INCIDENT_RAISED_SCANS, "a process that cannot be read");
	ok(!strncmp(r->not_raised, NOTHING, strlen(NOTHING)), "says why: %s", r->not_raised);
	end();
}

/* Returns the time between timer events. */
static uint64_t interval_ns(void)
{
	struct itimerspec t = {};

	timerfd_gettime(s.loop.timer, &t);
	return t.it_interval.tv_sec * SECOND + t.it_interval.tv_nsec;
}

static void test_end_of_waiting(void)
{
	begin();
	incident_of(0, 0);
	ok(s.incidents->raised, "an incident waits");
	is_u64(interval_ns(), SECOND, "scans come every second");
	s.incidents->in.waiting[0].due_ns = 1;
	incident_watch_work(&s);
	is_u64(interval_ns(), CALM_NS, "scans come as before");
	ok(!incidents_wait(&s.incidents->in) && !s.incidents->raised, "it is complete");
	end();
}

static void test_requests(void)
{
	char text[PATH_MAX + 64], *name;
	struct stat st;
	int n = 1;

	s = (struct session){};
	ok(!incident_watch_request(&s, INCIDENT_HTTP, "", text, sizeof(text)), "no ring");
	is_str(text, "no incidents: there is no ring (see --ring)", "says so");
	incident_watch_look(&s);
	incident_watch_work(&s);
	incident_watch_next_window(&s);
	is_u64(incident_watch_begin(&s), 0, "other functions do nothing then");
	begin();
	ok(incident_watch_request(&s, INCIDENT_HTTP, "slow jobs", text, sizeof(text)), "a request");
	ok(!stat(text, &st) && st.st_size > 0, "is answered by the path of a file: %s", text);
	name = s.incidents->in.waiting[0].r.title;
	is_str(name, "slow jobs", "the reason is the title");
	is_u64(s.incidents->in.waiting[0].r.trigger, INCIDENT_HTTP, "the trigger");
	ok(incident_watch_request(&s, INCIDENT_USR1, "", text, sizeof(text)), "without a reason");
	is_str(s.incidents->in.waiting[1].r.title, "requested", "is a request");
	while (incident_watch_request(&s, INCIDENT_USR1, "", text, sizeof(text)) && n < 100)
		n++;
	is_str(text, "no incident was written: there were too many requests; try again in a minute",
	       "too many requests");
	s.incidents->in.failing = true;
	incident_watch_request(&s, INCIDENT_USR1, "", text, sizeof(text));
	is_str(text, "no incident was written: the store cannot be written", "a full disk");
	end();
}

/* Asks for an incident in a child process. Returns its answer. */
static const char *asked(const char *reason)
{
	static char answer[SNAPSHOT_ANSWER_BYTES];
	int ends[2], status;
	pid_t child;
	ssize_t n;

	if (pipe(ends))
		abort();
	fflush(stdout);
	child = fork();
	if (!child) {
		int err = -1;

		/* the session does not wait long for a request, which may be late on a busy machine
		 */
		for (int i = 0; i < 10 && err; i++)
			err = snapshot_ask(fixture_path("store"), reason, answer);
		_exit(err || write(ends[1], answer, strlen(answer)) < 0);
	}
	close(ends[1]);
	for (struct pollfd end = {.fd = ends[0]}; !poll(&end, 1, 0);)
		loop_once(&s.loop, 10);
	n = read(ends[0], answer, sizeof(answer) - 1);
	answer[n > 0 ? n : 0] = 0;
	close(ends[0]);
	waitpid(child, &status, 0);
	is_u64(status, 0, "an answer");
	return answer;
}

static void test_socket(void)
{
	const char *answer;
	struct session other;

	begin();
	is_u64(incident_watch_begin(&s), 0, "the loop waits for requests");
	answer = asked("why\nnow");
	ok(answer[0] == '+' && !access(answer + 1, R_OK), "a file: %s", answer);
	is_str(s.incidents->in.waiting[0].r.title, "why now", "the reason");
	is_u64(s.incidents->in.waiting[0].r.trigger, INCIDENT_SNAPSHOT, "the trigger");
	s.incidents->in.manual = (struct allowance){};
	is_str(asked("again"),
	       "-no incident was written: there were too many requests; try again in a minute",
	       "no file");
	other = s;
	errors_begin();
	open_watch();
	ok(strstr(errors_end(), "another faultscope uses"), "a second session says who answers");
	incident_watch_close(&s);
	s = other;
	end();
	ok(access(fixture_path("store/" SNAPSHOT_SOCKET), F_OK), "the socket is removed");
}

static void test_pressure(void)
{
	begin();
	ok(s.incidents->pressure == -1 && !s.incidents->no_pressure, "pressure was not asked for");
	ok(s.in.collector.ring == s.incidents->in.ring, "records go to the ring");
	end();
	ok(!s.incidents && !s.in.collector.ring, "until the end");
	begin();
	incident_watch_close(&s);
	opt.on = INCIDENT_ON_PRESSURE;
	open_watch();
	ok((s.incidents->pressure >= 0) == !s.incidents->no_pressure,
	   "pressure, or why there is none: %d", s.incidents->no_pressure);
	end();
}

int main(void)
{
	test_detail();
	test_end_of_waiting();
	test_requests();
	test_socket();
	test_pressure();
	return tap_done();
}
