// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests sessions from the first scan to the last line. Their source is a part of this test, and
 * sends records of this process. Output, recording, signals and the event loop are the real ones.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "error_output.h"
#include "probe/host_facts.h"
#include "probe/recording.h"
#include "session/read_holdings.h"
#include "session/session.h"
#include "session/targets.h"
#include "tap.h"

/* Data is missing in each session of this test, as its source has no probes. */
#define INCOMPLETE                                                                                 \
	"faultscope: incomplete: not measured: everything that needs BPF (only /proc was read)\n"

static char place[64]; /* directory of this test's files */

static const char *below(const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", place, name);
	return ret;
}

#define BELOW(name) below(name, (char[128]){}, 128)

static const char *text_of(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return n < 0 ? NULL : ret;
}

#define TEXT(path) text_of(path, (char[4096]){}, 4096)

/* ---- a source, and what a session calls ---- */

struct made {
	struct source src;
	int pipe[2]; /* readable when an urgent record is pending */
	unsigned int starts, looks, drains, closes;
	unsigned int ends_at;  /* number of the scan at which the process has ended; 0: never */
	unsigned int fails_at; /* number of the scan that fails; 0: none */
	unsigned int others;   /* number of other processes, which hold more than this one */
	unsigned int ended;    /* number of other processes that have ended */
	unsigned int maps;     /* number of mappings of this process */
	int err;
};

static struct process_key own_key(void)
{
	return (struct process_key){.pid = getpid(), .start_ns = 1000};
}

static int made_start(struct source *src, const struct sink *sink)
{
	((struct made *)src)->starts++;
	return 0;
}

static int made_look(struct source *src, const struct sink *sink)
{
	struct made *m = (struct made *)src;
	struct process_record r = {.h = {RECORD_PROCESS, sizeof(r), host_monotonic_ns()}};
	struct tick_record tick = {.h = {RECORD_TICK, sizeof(tick)}};
	int err = 0;

	if (++m->looks == m->fails_at)
		return m->err;
	for (unsigned int i = 0; i < m->others && !err; i++) {
		r.subject = (struct process_key){.pid = 5000000 + i, .start_ns = 1000};
		r.g.flags = i < m->ended ? PROC_FINAL : 0;
		r.g.fds = r.g.map_count = 100 + i;
		err = sink->take(sink->ctx, &r.h);
	}
	r.g.map_count = m->maps;
	r.subject = own_key();
	r.g.flags = m->looks == m->ends_at ? PROC_WATCHED | PROC_FINAL : PROC_WATCHED;
	r.g.fds = m->looks;
	strcpy(r.g.comm, "made");
	if (!err && (!m->ends_at || m->looks <= m->ends_at))
		err = sink->take(sink->ctx, &r.h);
	tick.h.t_ns = host_monotonic_ns();
	tick.wall_ns = host_wall_ns();
	return err ?: sink->take(sink->ctx, &tick.h);
}

static int made_drain(struct source *src, const struct sink *sink)
{
	struct made *m = (struct made *)src;
	char byte;

	m->drains += read(m->pipe[0], &byte, 1) == 1;
	return 0;
}

static int made_fd(struct source *src)
{
	return ((struct made *)src)->pipe[0];
}

static void made_close(struct source *src)
{
	struct made *m = (struct made *)src;

	m->closes++;
	close(m->pipe[0]);
	close(m->pipe[1]);
}

static const struct source_ops made_ops = {.start = made_start,
					   .look = made_look,
					   .drain = made_drain,
					   .fd = made_fd,
					   .close = made_close};

/* Names of callbacks, one letter each, in the order of their calls. */
static char calls[256];

static void note(char letter)
{
	size_t len = strlen(calls);

	if (len + 1 < sizeof(calls))
		calls[len] = letter;
}

static void on_open(struct buf *b, const struct view *v)
{
	note('o');
	buf_puts(b, "open\n");
}

static void on_frame(struct buf *b, const struct view *v)
{
	note('f');
	buf_puts(b, "frame\n");
}

static void on_close(struct buf *b, const struct view *v)
{
	note('c');
	buf_puts(b, "close\n");
}

static const struct renderer noting = {.name = "noting",
				       .open = on_open,
				       .event = render_no_event,
				       .finding = render_no_finding,
				       .frame = on_frame,
				       .close = on_close};

static void after_first(struct session *s)
{
	note('1');
}

static void before_output(struct session *s)
{
	note('b');
}

static void after_scan(struct session *s)
{
	note('a');
}

static void before_end(struct session *s)
{
	note('e');
}

struct run {
	struct options o;
	struct run_plan plan;
	struct session s;
	struct made made;
	int status; /* exit status of the session */
	double seconds;
};

static void run_make(struct run *r)
{
	memset(r, 0, sizeof(*r));
	memset(calls, 0, sizeof(calls));
	r->o.colour = WHEN_NEVER;
	r->o.interval = 0.02;
	r->o.count = 3;
	plan_init(&r->plan, &r->o);
	r->plan.renderer = &noting;
	r->plan.output = BELOW("out");
	r->plan.output = strdup(r->plan.output);
	r->plan.after_first_scan = after_first;
	r->plan.before_output = before_output;
	r->plan.after_scan = after_scan;
	r->plan.before_end = before_end;
	unlink(r->plan.output);
}

/* Does what session_measure() does for a live source, with the source of this test. */
static void run_begin(struct run *r)
{
	int err = session_begin(&r->s, &r->plan);

	if (pipe2(r->made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r->made.src.ops = &made_ops;
	r->made.src.live = r->made.src.plain = 1;
	if (!err)
		r->s.in.src = &r->made.src;
	if (!err && session_open_loop(&r->s))
		err = EXIT_FAILED;
	pressure_open(&r->s.in.pressure);
	if (!err)
		err = session_start(&r->s);
	if (!err)
		session_loop(&r->s);
	else
		r->s.status = err;
}

static void run_all(struct run *r)
{
	uint64_t begin = host_monotonic_ns();

	run_begin(r);
	r->status = session_end(&r->s);
	r->seconds = (host_monotonic_ns() - begin) / 1e9;
}

static void run_quietly(struct run *r)
{
	errors_begin();
	run_all(r);
	errors_are(INCOMPLETE, "no error");
}

static void run_free(struct run *r)
{
	free((char *)r->plan.output);
}

/* ---- tests ---- */

static void test_intervals(void)
{
	struct run r;

	run_make(&r);
	errors_begin();
	run_all(&r);
	errors_are(INCOMPLETE, "no error");
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_str(calls, "1ofabfabfabfaec", "callbacks and output of three intervals");
	is_str(TEXT(r.plan.output), "open\nframe\nframe\nframe\nframe\nclose\n",
	       "the whole output");
	is_u64(r.made.starts, 1, "the source is started once");
	is_u64(r.made.looks, 4, "a first scan, and one of each interval");
	is_u64(r.made.closes, 1, "the source is closed");
	ok(r.seconds >= 0.06, "%.3f s for three intervals of 20 ms", r.seconds);
	run_free(&r);
}

static void test_duration(void)
{
	struct run r;

	run_make(&r);
	r.o.count = 0;
	r.plan.duration = 0.25;
	r.plan.interval = 0.1;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	ok(r.seconds >= 0.25, "%.3f s of 0.25 s", r.seconds);
	ok(r.made.looks >= 1 && r.made.looks <= 4, "%u scans", r.made.looks);
	run_free(&r);
}

static void test_end_of_targets(void)
{
	struct run r;

	run_make(&r);
	r.o.count = 0;
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 3;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_u64(r.made.looks, 3, "the session ends when the last target has ended");
	run_free(&r);
	run_make(&r);
	r.o.count = 0;
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 1;
	run_quietly(&r);
	is_u64(r.made.looks, 1, "or at once, if none is alive");
	is_str(calls, "1ofaec", "with one frame");
	run_free(&r);
	run_make(&r);
	r.made.ends_at = 1;
	run_quietly(&r);
	is_u64(r.made.looks, 4, "but not if all processes are watched");
	run_free(&r);
}

static void test_errors(void)
{
	struct run r;

	run_make(&r);
	r.made.fails_at = 3;
	r.made.err = -EIO;
	strcpy(r.made.src.error, "the probes fell off");
	errors_begin();
	run_all(&r);
	errors_are("faultscope: the probes fell off\n", "the source says why");
	is_u64(r.status, EXIT_FAILED, "a scan that fails");
	is_str(TEXT(r.plan.output), "open\nframe\nframe\nclose\n", "the output up to it");
	run_free(&r);
	run_make(&r);
	r.made.fails_at = 1;
	r.made.err = -EIO;
	errors_begin();
	run_all(&r);
	errors_are("faultscope: Input/output error\n", "or the errno does");
	is_u64(r.status, EXIT_FAILED, "a first scan that fails");
	ok(!TEXT(r.plan.output), "leaves no output file");
	is_u64(r.made.closes, 1, "and closes the source");
	run_free(&r);
}

static void test_urgent_records(void)
{
	struct run r;

	run_make(&r);
	r.plan.interval = 0.5;
	r.o.count = 1;
	errors_begin();
	if (!session_begin(&r.s, &r.plan) && !pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK)) {
		r.made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
		r.s.in.src = &r.made.src;
		session_open_loop(&r.s);
		pressure_open(&r.s.in.pressure);
		session_start(&r.s);
		ok(write(r.made.pipe[1], "!!", 2) == 2, "two records are pending");
		session_loop(&r.s);
	}
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	is_u64(r.made.drains, 2, "each is read before the next scan");
	is_u64(r.made.looks, 2, "which comes in time");
	run_free(&r);
}

/*
 * Returns whether the holdings of this process are read, if others hold more: bit 0 for mappings,
 * bit 1 for file descriptors.
 */
static int reads_holdings(unsigned int others, unsigned int ended, unsigned int maps)
{
	const struct process_key own = own_key();
	const struct subject *one;
	int found = 0;
	struct run r;

	run_make(&r);
	r.made.others = others;
	r.made.ended = ended;
	r.made.maps = maps;
	errors_begin();
	if (!session_begin(&r.s, &r.plan) && !pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK)) {
		r.made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
		r.s.in.src = &r.made.src;
		session_open_loop(&r.s);
		pressure_open(&r.s.in.pressure);
		session_start(&r.s);
		holders_read(&r.s);
		one = model_find(&r.s.in.m, &own);
		found = one ? (one->held[WHAT_MAPS].n > 0) | (one->held[WHAT_FDS].n > 0) << 1 : -1;
	}
	session_end(&r.s);
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
	return found;
}

static void test_holders(void)
{
	if (host_is_in_pid_namespace()) {
		ok(true, "# SKIP /proc has the pids of another namespace");
		return;
	}
	is_u64(reads_holdings(0, 0, 1), 3, "the only process");
	is_u64(reads_holdings(15, 0, 1), 3, "the last of 16 processes that hold most");
	is_u64(reads_holdings(16, 0, 1), 0, "not the 17th");
	is_u64(reads_holdings(16, 0, 200), 1, "unless it has more mappings than another");
	is_u64(reads_holdings(16, 1, 1), 3, "processes that have ended do not count");
}

/* Counts records of a kind in a recording; -1: it is no recording. */
struct counted {
	unsigned int kind;
	int n;
};

static int count_record(void *ctx, const struct record *h)
{
	struct counted *c = ctx;

	c->n += h->kind == c->kind;
	return 0;
}

static int records_of(const char *path, unsigned int kind)
{
	struct counted c = {.kind = kind};
	const struct sink sink = {.take = count_record, .ctx = &c};
	struct source *src;
	char error[512];
	int err;

	if (replay_open(path, &src, error, sizeof(error)))
		return -1;
	err = src->ops->start(src, &sink);
	while (!err)
		err = src->ops->look(src, &sink);
	src->ops->close(src);
	return c.n;
}

static void test_recording(void)
{
	char path[128];
	struct run r;

	below("recording.fsr", path, sizeof(path));
	run_make(&r);
	r.plan.record = path;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_u64(records_of(path, RECORD_TICK), 4, "a recording has each scan");
	is_u64(records_of(path, RECORD_HOST), 1, "and the host");
	is_u64(records_of(path, RECORD_PROCESS), 4, "and the process");
	is_u64(records_of(path, RECORD_END), 1, "and its end");
	run_free(&r);
	run_make(&r);
	r.plan.record = path;
	errors_begin();
	run_all(&r);
	is_u64(r.status, EXIT_FAILED, "an existing recording is kept");
	ok(strstr(errors_end(), "exists") != NULL, "and named");
	is_u64(r.made.looks, 0, "nothing was scanned");
	run_free(&r);
	run_make(&r);
	r.plan.record = path;
	r.o.force = true;
	r.o.count = 1;
	run_quietly(&r);
	is_u64(records_of(path, RECORD_TICK), 2, "--force overwrites it");
	run_free(&r);
	unlink(path);
	run_make(&r);
	r.plan.record = path;
	r.made.fails_at = 1;
	r.made.err = -EIO;
	errors_begin();
	run_all(&r);
	errors_are("faultscope: Input/output error\n", "a first scan that fails");
	ok(access(path, F_OK), "leaves no recording");
	run_free(&r);
}

static void test_outputs_that_fail(void)
{
	char path[128], want[512];
	struct run r;

	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup(below("none/out", path, sizeof(path)));
	errors_begin();
	run_all(&r);
	snprintf(want, sizeof(want), "faultscope: cannot write %s: No such file or directory\n",
		 path);
	errors_are(want, "a directory that is missing");
	is_u64(r.status, EXIT_FAILED, "status");
	is_u64(r.made.looks, 0, "nothing was scanned");
	run_free(&r);
	run_make(&r);
	r.o.junit = below("none/junit", path, sizeof(path));
	errors_begin();
	run_all(&r);
	snprintf(want, sizeof(want), "faultscope: cannot write %s: No such file or directory\n",
		 path);
	errors_are(want, "a JUnit file that cannot be made");
	is_u64(r.status, EXIT_FAILED, "status");
	ok(!TEXT(r.plan.output), "no output file");
	run_free(&r);
	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup("/dev/full");
	errors_begin();
	run_all(&r);
	errors_are("faultscope: cannot write /dev/full: No space left on device\n",
		   "a disk that is full");
	is_u64(r.status, EXIT_FAILED, "status");
	is_u64(r.made.looks, 1, "ends the session");
	run_free(&r);
}

/* Writes to a pipe whose reader has gone. Returns the number of scans. */
static unsigned int scans_without_reader(const char *record, int *ret_status)
{
	struct run r;
	char path[64];
	int ends[2];

	if (pipe(ends))
		abort();
	close(ends[0]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup(path);
	r.plan.record = record;
	errors_begin();
	run_all(&r);
	errors_are(INCOMPLETE, "a reader that has gone is no error");
	close(ends[1]);
	*ret_status = r.status;
	run_free(&r);
	return r.made.looks;
}

static void test_reader_that_has_gone(void)
{
	char path[128];
	int status;

	signal(SIGPIPE, SIG_IGN);
	is_u64(scans_without_reader(NULL, &status), 1, "it ends the session");
	is_u64(status, EXIT_INCOMPLETE, "status");
	is_u64(scans_without_reader(below("alone.fsr", path, sizeof(path)), &status), 4,
	       "unless a recording is made");
	is_u64(status, EXIT_INCOMPLETE, "status");
	is_u64(records_of(path, RECORD_TICK), 4, "which is complete");
	unlink(path);
	signal(SIGPIPE, SIG_DFL);
}

static void test_no_memory_for_output(void)
{
	struct session s = {.out.fd = -1, .out.file = OUTPUT_NONE};

	s.plan.renderer = &noting;
	s.out.text.failed = true;
	errors_begin();
	session_flush(&s);
	s.out.text.failed = true;
	session_flush(&s);
	errors_are(
		"faultscope: not enough memory for the output of an interval, which is missing\n",
		"it is said once");
	is_u64(s.status, EXIT_FAILED, "status");
	ok(s.out.incomplete && s.out.flushed && !s.loop.done, "the session goes on");
	buf_free(&s.out.text);
}

/* ---- plans and views ---- */

static void test_plan(void)
{
	struct options o = {.interval = 2.5,
			    .duration = 9,
			    .record = "r",
			    .replay = NULL,
			    .output = "o",
			    .children = true};
	struct run_plan p;
	char want[64];

	plan_init(&p, &o);
	ok(p.o == &o && p.interval == 2.5 && p.duration == 9 && p.children, "options are taken");
	ok(p.renderer == &text_renderer && p.whom == WATCH_ALL, "text of all processes");
	is_str(p.mode, "all", "mode");
	is_u64(p.tiers, 0xb, "levels for all processes");
	plan_targets(&p);
	is_str(p.target, "", "no target");
	is_u64(p.tiers, 0xb, "the levels stay");
	o.interval = 0;
	o.format = &json_renderer;
	o.filter.pids = 1;
	o.filter.pid[0] = getpid();
	plan_init(&p, &o);
	ok(p.interval == 1 && p.renderer == &json_renderer, "each second, as JSON");
	plan_targets(&p);
	snprintf(want, sizeof(want), "test_session[%d]", getpid());
	is_str(p.target, want, "name and pid");
	is_str(p.mode, "targets", "mode");
	ok(p.whom == WATCH_TARGETS && p.tiers == 0xf, "all levels");
	o.filter.pids = 3;
	o.filter.pid[1] = 7;
	o.filter.pid[2] = 4294967295U;
	plan_init(&p, &o);
	plan_targets(&p);
	snprintf(want, sizeof(want), "pids %d,7,4294967295", getpid());
	is_str(p.target, want, "several pids");
	o.filter.pids = 40;
	for (int i = 0; i < 40; i++)
		o.filter.pid[i] = 1000000 + i;
	plan_init(&p, &o);
	plan_targets(&p);
	is_u64(strlen(p.target), strlen("pids 1000000") + 13 * 8, "as many as fit");
	ok(!strncmp(p.target, "pids 1000000,1000001,", 21), "%s", p.target);
	o.filter.pids = 0;
	strcpy(o.filter.cgroup, "/a/b");
	plan_init(&p, &o);
	plan_targets(&p);
	is_str(p.target, "cgroup /a/b", "a cgroup");
	ok(p.whom == WATCH_ALL, "of which all processes are watched");
	o.replay = "x";
	plan_init(&p, &o);
	plan_targets(&p);
	is_str(p.target, "", "a recording has its own description");
}

/* Begins a session whose command can mark phases. Returns the command's end of the socket. */
static int begin_phases(struct run *r)
{
	const char *number;
	int end;

	run_make(r);
	r->o.count = 1;
	r->plan.interval = 0.05;
	if (session_begin(&r->s, &r->plan) || pipe2(r->made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r->made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
	r->s.in.src = &r->made.src;
	session_open_loop(&r->s);
	pressure_open(&r->s.in.pressure);
	is_u64(phase_marks_open(&r->s.marks), 0, "a socket for marks");
	number = getenv("FAULTSCOPE_PHASES");
	ok(number && atoi(number) == r->s.marks.of_command, "its number is in the environment");
	ok(fcntl(r->s.marks.of_command, F_GETFD) == FD_CLOEXEC, "only the command inherits it");
	end = fcntl(r->s.marks.of_command, F_DUPFD_CLOEXEC, 100);
	unsetenv("FAULTSCOPE_PHASES");
	session_start(&r->s);
	return end;
}

static void put_marks(int fd, const char *text, size_t n)
{
	if (send(fd, text, n, 0) != (ssize_t)n)
		abort();
}

/* Returns how many answers the command has. Each is an empty line. */
static unsigned int answers(int fd)
{
	char text[64];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	for (ssize_t i = 0; i < n; i++)
		if (text[i] != '\n')
			return ~0u;
	return n > 0 ? n : 0;
}

static void is_phase(const struct session *s, size_t i, const char *name)
{
	const struct phases *p = s->in.m.phases;

	is_str(p && i < p->n ? p->phase[i].name : NULL, name, "name of a phase");
}

/* Tests marks of phases: each one is scanned and answered, whatever it contains. */
static void test_phases(void)
{
	static const char marks[] = "load\nse\0cond\n\nhalf of a na";
	char longest[PHASE_NAME_LEN + 8];
	struct run r;
	int end;

	errors_begin();
	end = begin_phases(&r);
	put_marks(end, marks, sizeof(marks) - 1);
	session_loop(&r.s);
	is_u64(r.s.marks.of_command, -1, "our copy of the command's end is closed");
	is_u64(r.made.looks, 1 + 3 + 1, "a scan for each mark, and one for the interval");
	is_u64(answers(end), 3, "each mark is answered");
	is_phase(&r.s, 0, "load");
	is_phase(&r.s, 1, "second");
	ok(r.s.in.m.phases->n == 2 && !r.s.in.m.phases->runs, "an empty line ends a phase");
	memset(longest, 'x', sizeof(longest));
	put_marks(end, "me\n", 3);
	put_marks(end, longest, sizeof(longest));
	put_marks(end, "\nlast\n", 6);
	is_u64(phase_marks_finish(&r.s), 0, "marks that are unread at the end");
	is_phase(&r.s, 2, "half of a name");
	longest[PHASE_NAME_LEN - 1] = 0;
	is_phase(&r.s, 3, longest);
	is_u64(r.made.looks, 5 + 3, "are scanned, too");
	ok(r.s.in.m.phases->runs && r.s.in.m.phases->n == 5, "the last one goes on");
	close(end);
	is_u64(phase_marks_finish(&r.s), 0, "the command has closed its end");
	phase_marks_close(&r.s.marks);
	ok(r.s.marks.fd == -1, "so does faultscope");
	is_u64(phase_marks_finish(&r.s), 0, "no socket");
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
}

/* Tests a command that closes the socket, and one whose marks cannot be scanned. */
static void test_phases_that_fail(void)
{
	struct run r;
	int end;

	errors_begin();
	end = begin_phases(&r);
	close(end);
	close(r.s.marks.of_command);
	r.s.marks.of_command = -1;
	session_loop(&r.s);
	is_u64(r.s.marks.fd, -1, "the event loop forgets a socket that is closed");
	is_u64(r.made.looks, 2, "and goes on");
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
	errors_begin();
	end = begin_phases(&r);
	r.made.fails_at = 2;
	r.made.err = -EIO;
	put_marks(end, "a\nb\n", 4);
	ok(phase_marks_finish(&r.s) == -EIO, "a scan that fails ends the marks");
	ok(!answers(end) && !r.s.in.m.phases, "no phase begins, and no answer is sent");
	session_loop(&r.s);
	session_end(&r.s);
	close(end);
	errors_are(INCOMPLETE, "the next scan succeeds");
	run_free(&r);
}

static void view_is(struct session *s, int width, int height, int top, const char *name)
{
	session_measure_view(s);
	ok(s->out.view.width == width && s->out.view.height == height &&
		   s->out.view.top == (unsigned)top,
	   "%s: %d x %d, %d rows", name, s->out.view.width, s->out.view.height,
	   (int)s->out.view.top);
}

static void test_view(void)
{
	struct options o = {};
	struct session s = {.o = &o, .out.fd = -1};

	unsetenv("COLUMNS");
	view_is(&s, 100, 0, 20, "no terminal");
	setenv("COLUMNS", "70", 1);
	view_is(&s, 70, 0, 20, "COLUMNS");
	setenv("COLUMNS", "39", 1);
	view_is(&s, 100, 0, 20, "too narrow");
	setenv("COLUMNS", "40", 1);
	view_is(&s, 40, 0, 20, "just wide enough");
	o.width = 55;
	o.top = 3;
	view_is(&s, 55, 0, 3, "options");
	s.out.redraws = true;
	view_is(&s, 80, 24, 3, "a live view on a terminal without a size");
	o.top = 0;
	view_is(&s, 80, 24, 1000, "shows all processes");
	unsetenv("COLUMNS");
}

static void test_native(void)
{
	struct options o = {.filter = {.pids = 1}};
	pid_t child;

	o.filter.pid[0] = getpid();
	ok(targets_are_native(&o), "this program has 64 bits");
	child = fork();
	if (!child)
		_exit(0);
	waitid(P_PID, child, &(siginfo_t){}, WEXITED | WNOWAIT);
	o.filter.pids = 2;
	o.filter.pid[1] = child;
	ok(!targets_are_native(&o), "a zombie has no program");
	o.filter.pid[0] = child;
	o.filter.pid[1] = getpid();
	ok(!targets_are_native(&o), "each one counts");
	waitpid(child, NULL, 0);
	o.filter.pids = 0;
	ok(targets_are_native(&o), "nothing speaks against no process");
}

int main(void)
{
	signal(SIGPIPE, SIG_DFL); /* a program that starts this test may ignore it */
	strcpy(place, "/tmp/test_session.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	test_plan();
	test_phases();
	test_phases_that_fail();
	test_view();
	test_native();
	test_intervals();
	test_duration();
	test_end_of_targets();
	test_errors();
	test_urgent_records();
	test_holders();
	test_recording();
	test_outputs_that_fail();
	test_reader_that_has_gone();
	test_no_memory_for_output();
	unlink(BELOW("out"));
	unlink(BELOW("stderr"));
	ok(!rmdir(place), "no other file is left");
	return tap_done();
}
