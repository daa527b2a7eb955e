// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests in which order a session scans, waits, prints and calls its command, and how long it waits.
 * The clock, the timer and the waits of the event loop are played. The source is made here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include "made_session.h"
#include "marked_recording.h"
#include "model/resident.h"
#include "render/text/empty_renderer.h"

#define MS 1000000ULL

/* What happens in a wait. */
struct wait_step {
	uint64_t passes_ns; /* time that passes; 0: as long as the wait may last */
	char event;	    /* 't': the timer, 'u': an urgent record; 0: none */
	int error;	    /* the wait fails with this errno; 0: it does not */
	void (*act)(void);  /* NULL: nothing else happens */
};

static uint64_t now_ns;		     /* CLOCK_MONOTONIC; 0: it is not played */
static uint64_t scan_ns;	     /* time that a scan takes */
static int drain_error, timer_error; /* errno of calls that fail; 0: none fails */
static bool is_terminal[3];
static rlim_t most_bytes; /* size of files during the first scan */
static const struct wait_step *step;
static size_t steps, steps_taken;
static struct run r;
static struct buf log_of; /* a word for each action */

static void note_number(const char *what, long long number)
{
	buf_printf(&log_of, "%s%lld ", what, number);
}

/* Appends the letters of callbacks and output since the last word. */
static void note_calls(void)
{
	if (calls[0])
		buf_printf(&log_of, "%s ", calls);
	memset(calls, 0, sizeof(calls));
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_MONOTONIC || !now_ns)
		return syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){now_ns / SECOND, now_ns % SECOND};
	return 0;
}

int isatty(int fd)
{
	if (fd >= 0 && fd < 3 && is_terminal[fd])
		return 1;
	errno = ENOTTY;
	return 0;
}

ssize_t read(int fd, void *to, size_t n)
{
	if (!now_ns || fd != r.s.loop.timer || fd < 0)
		return syscall(SYS_read, fd, to, n);
	memset(to, 1, n);
	return n;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	(void)fd, (void)flags, (void)old;
	note_calls();
	note_number("T", new->it_interval.tv_sec * 1000000000LL + new->it_interval.tv_nsec);
	errno = timer_error;
	return timer_error ? -1 : 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	note_calls();
	note_number("N", t->tv_sec * 1000000000LL + t->tv_nsec);
	return 0;
}

int epoll_wait(int poll, struct epoll_event *events, int most, int timeout_ms)
{
	static const struct wait_step none = {.error = EBADF};
	const struct wait_step *now = steps_taken < steps ? &step[steps_taken] : &none;

	(void)poll, (void)most;
	steps_taken++;
	note_calls();
	note_number("W", timeout_ms);
	if (now->passes_ns)
		now_ns += now->passes_ns;
	else if (timeout_ms > 0)
		now_ns += timeout_ms * MS;
	if (now->act)
		now->act();
	if (now->error) {
		errno = now->error;
		return -1;
	}
	events[0].data.fd = now->event == 't' ? r.s.loop.timer : r.made.pipe[0];
	return now->event != 0;
}

/* ---- the source ---- */

static int step_start(struct source *src, const struct sink *sink)
{
	buf_puts(&log_of, "S ");
	return made_start(src, sink);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit size = {bytes, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &size);
}

static int step_look(struct source *src, const struct sink *sink)
{
	int err;

	note_calls();
	buf_puts(&log_of, "L ");
	now_ns += scan_ns;
	limit_files(most_bytes);
	err = made_look(src, sink);
	limit_files(RLIM_INFINITY);
	return err;
}

static int step_drain(struct source *src, const struct sink *sink)
{
	(void)src, (void)sink;
	note_calls();
	buf_puts(&log_of, "D ");
	return drain_error;
}

static void step_close(struct source *src)
{
	note_calls();
	buf_puts(&log_of, "X");
	made_close(src);
}

static const struct source_ops step_ops = {.start = step_start,
					   .look = step_look,
					   .drain = step_drain,
					   .fd = made_fd,
					   .close = step_close};

static void make(void)
{
	run_make(&r);
	r.o.count = 0;
	r.plan.interval = 0.1;
	now_ns = 1000 * SECOND;
	scan_ns = drain_error = timer_error = 0;
	most_bytes = RLIM_INFINITY;
	memset(is_terminal, 0, sizeof(is_terminal));
	buf_free(&log_of);
}

/* Runs a session with some steps. */
static void run_steps(const struct wait_step *with, size_t n)
{
	int err = session_begin(&r.s, &r.plan);

	step = with;
	steps = n;
	steps_taken = 0;
	if (err || pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r.made.src.ops = &step_ops;
	r.made.src.live = r.made.src.plain = 1;
	r.s.in.src = &r.made.src;
	open_no_pressure(&r.s.in.pressure);
	if (session_open_loop(&r.s))
		abort();
	if (!session_start(&r.s))
		session_loop(&r.s);
	r.status = session_end(&r.s);
	note_calls();
	now_ns = 0;
	run_free(&r);
}

/* Runs a session, and compares its actions and its errors with texts. */
static void actions_are(const struct wait_step *with, size_t n, const char *want,
			const char *errors, const char *name)
{
	errors_begin();
	run_steps(with, n);
	errors_are(errors, name);
	is_str(log_of.s, want, name);
}

#define ACTIONS_ARE(with, want, errors, name)                                                      \
	actions_are(with, sizeof(with) / sizeof((with)[0]), want, errors, name)

static const struct wait_step timers[] = {{.event = 't'}, {.event = 't'}, {.event = 't'}};

static void test_count(void)
{
	make();
	r.o.count = 3;
	ACTIONS_ARE(timers, "S L 1ofa T100000000 W-1 D L bfa W-1 D L bfa W-1 D L bfaec X",
		    INCOMPLETE, "three intervals");
	is_u64(r.s.out.frames, 3, "frames");
}

/* --duration begins after the first scan. The wait ends a millisecond after it at most. */
static void test_duration(void)
{
	static const struct wait_step parts[] = {
		{.passes_ns = 100 * MS, .event = 't'}, {.passes_ns = 100 * MS, .event = 't'}, {}};
	static const struct wait_step just[] = {{.passes_ns = 250 * MS - 1, .event = 0},
						{.passes_ns = 1}};
	static const struct wait_step late[] = {{.passes_ns = 240 * MS, .event = 't'}, {}};

	make();
	r.plan.duration = 0.25;
	ACTIONS_ARE(parts, "S L 1ofa T100000000 W251 D L bfa W151 D L bfa W51 D L bfaec X",
		    INCOMPLETE, "two intervals, and the rest of the time");
	is_u64(r.s.out.frames, 3, "frames");
	make();
	r.plan.duration = 0.25;
	ACTIONS_ARE(just, "S L 1ofa T100000000 W251 W1 D L bfaec X", INCOMPLETE,
		    "a nanosecond before the end, and the end");
	make();
	r.plan.duration = 0.25;
	scan_ns = 20 * MS;
	ACTIONS_ARE(late, "S L 1ofa T100000000 W251 D L bfa W0 D L bfaec X", INCOMPLETE,
		    "a scan beyond the end");
	make();
	r.plan.interval = 2.5;
	r.o.count = 1;
	ACTIONS_ARE(timers, "S L 1ofa T2500000000 W-1 D L bfaec X", INCOMPLETE,
		    "an interval of seconds and a fraction");
}

/* An urgent record is read at once, and does not count as an interval. */
static void test_urgent(void)
{
	static const struct wait_step both[] = {{.event = 'u'}, {.event = 't'}, {.event = 'u'}};
	static const struct wait_step interrupted[] = {
		{.error = EINTR}, {.event = 't'}, {.error = EINTR}};

	make();
	r.o.count = 1;
	ACTIONS_ARE(both, "S L 1ofa T100000000 W-1 D W-1 D L bfaec X", INCOMPLETE,
		    "an urgent record");
	make();
	r.o.count = 1;
	ACTIONS_ARE(interrupted, "S L 1ofa T100000000 W-1 W-1 D L bfaec X", INCOMPLETE,
		    "a wait that a signal interrupts");
}

static void fail_drain(void)
{
	drain_error = -ENXIO;
}

static void test_errors(void)
{
	static const struct wait_step bad_wait[] = {{.error = EBADF}};
	static const struct wait_step bad_timer[] = {{.event = 't', .act = fail_drain}};
	static const struct wait_step bad_urgent[] = {{.event = 'u', .act = fail_drain}};
	static const struct wait_step bad_end[] = {{.act = fail_drain}};

	make();
	ACTIONS_ARE(bad_wait, "S L 1ofa T100000000 W-1 ec X", "faultscope: Bad file descriptor\n",
		    "a wait that fails");
	is_u64(r.status, EXIT_FAILED, "status");
	make();
	ACTIONS_ARE(bad_timer, "S L 1ofa T100000000 W-1 D ec X",
		    "faultscope: No such device or address\n",
		    "records that cannot be read before a scan");
	is_u64(r.status, EXIT_FAILED, "status");
	make();
	ACTIONS_ARE(bad_urgent, "S L 1ofa T100000000 W-1 D ec X",
		    "faultscope: No such device or address\n",
		    "urgent records that cannot be read");
	make();
	r.plan.duration = 0.25;
	ACTIONS_ARE(bad_end, "S L 1ofa T100000000 W251 D ec X",
		    "faultscope: No such device or address\n",
		    "records that cannot be read before the last scan");
	is_u64(r.status, EXIT_FAILED, "status");
	make();
	r.made.fails_at = 2;
	r.made.err = -ENXIO;
	ACTIONS_ARE(timers, "S L 1ofa T100000000 W-1 D L ec X",
		    "faultscope: No such device or address\n", "a scan that fails");
	make();
	r.made.fails_at = 1;
	r.made.err = -ENXIO;
	ACTIONS_ARE(timers, "S L X", "faultscope: No such device or address\n",
		    "a first scan that fails");
	is_u64(r.status, EXIT_FAILED, "status");
}

/* The timer cannot be set, or the recording cannot be written from the first scan on. */
static void test_errors_at_the_begin(void)
{
	char path[128], want[512];

	make();
	timer_error = EINVAL;
	ACTIONS_ARE(timers, "S L 1ofa T100000000 ec X", "faultscope: Invalid argument\n",
		    "a timer that cannot be set");
	is_u64(r.status, EXIT_FAILED, "status");
	below("failing.fsr", path, sizeof(path));
	make();
	r.plan.record = path;
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 1;
	most_bytes = 40;
	signal(SIGXFSZ, SIG_IGN);
	snprintf(want, sizeof(want),
		 "faultscope: the recording %s failed: File too large; it is empty, "
		 "because no interval was written completely, watching continues\n",
		 path);
	ACTIONS_ARE(timers, "S L 1ofaec X", want, "a recording that fails");
	is_u64(r.status, EXIT_FAILED, "status");
	unlink(path);
}

static void on_finding(struct buf *b, const struct view *v, const struct finding *f)
{
	note('n');
}

/* A finding of the first scan is reported with it, and once. */
static void test_first_finding(void)
{
	struct renderer with_findings = noting;

	with_findings.finding = on_finding;
	make();
	r.plan.renderer = &with_findings;
	r.made.maps = 65500;
	r.o.count = 1;
	ACTIONS_ARE(timers, "S L 1onfa T100000000 W-1 D L bfaec X", INCOMPLETE,
		    "a finding of the first scan");
	make();
	r.plan.renderer = &with_findings;
	r.plan.view.verdict = true;
	r.made.maps = 65500;
	r.o.count = 1;
	ACTIONS_ARE(timers, "S L 1ofa T100000000 W-1 D L bfaenc X",
		    "faultscope: incomplete: not measured: everything that needs BPF (only /proc "
		    "was read); not measured: memory pressure (no PSI: boot with psi=1)\n",
		    "a verdict has it only at the end");
}

static void quit(void)
{
	r.s.loop.done = true;
}

static void stop(void)
{
	r.s.stopped = r.s.loop.done = true;
}

/* A signal ends the session with a last scan; the key q of the live view ends it at once. */
static void test_ends(void)
{
	static const struct wait_step quits[] = {{.act = quit}}, stops[] = {{.act = stop}};
	static const struct wait_step quits_with[] = {{.act = quit, .event = 't'}};

	make();
	ACTIONS_ARE(quits, "S L 1ofa T100000000 W-1 ec X", INCOMPLETE, "q");
	make();
	ACTIONS_ARE(quits_with, "S L 1ofa T100000000 W-1 ec X", INCOMPLETE,
		    "nothing is read after it");
	make();
	ACTIONS_ARE(stops, "S L 1ofa T100000000 W-1 D L bfaec X", INCOMPLETE, "a signal");
	make();
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 2;
	ACTIONS_ARE(timers, "S L 1ofa T100000000 W-1 D L bfaec X", INCOMPLETE,
		    "all targets have ended");
	make();
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 1;
	ACTIONS_ARE(timers, "S L 1ofaec X", INCOMPLETE, "they have ended at once");
}

static void fail_command(struct session *s)
{
	note('1');
	s->status = EXIT_RUN_NOT_FOUND;
}

/* The command may fail to start: nothing is printed, and no interval begins. */
static void test_command_that_fails(void)
{
	make();
	r.plan.after_first_scan = fail_command;
	ACTIONS_ARE(timers, "S L 1ec X", "", "status of a callback");
	is_u64(r.status, EXIT_RUN_NOT_FOUND, "status");
}

static void end_command(void)
{
	r.s.child.gone = true;
}

/* When the command has ended, a scan tells whether a descendant of it is alive. */
static void test_command(void)
{
	static const struct wait_step ends[] = {{.event = 't'}, {.act = end_command}};
	static const struct wait_step lives_on[] = {
		{.act = end_command}, {.passes_ns = MS}, {.event = 'u'}, {.event = 'u'}};

	make();
	r.plan.whom = WATCH_COMMAND;
	r.made.ends_at = 3;
	ACTIONS_ARE(ends, "S L 1ofa T100000000 W-1 D L bfa W-1 L D L bfaec X", INCOMPLETE,
		    "a command without descendants");
	make();
	r.plan.whom = WATCH_COMMAND;
	r.made.ends_at = 4;
	ACTIONS_ARE(lives_on, "S L 1ofa T100000000 W-1 L W-1 W-1 D L W-1 D L D L bfaec X",
		    INCOMPLETE, "a descendant that lives on is looked at after each record");
	make();
	r.plan.whom = WATCH_COMMAND;
	r.made.fails_at = 3;
	r.made.err = -ENXIO;
	ACTIONS_ARE(ends, "S L 1ofa T100000000 W-1 D L bfa W-1 L D L bfaec X", INCOMPLETE,
		    "a scan that fails is repeated at the end");
}

/* The last interval of text is shown if each line of the text is an interval. */
static void test_last_frame(void)
{
	static const struct wait_step one[] = {{.event = 't', .passes_ns = 100 * MS}, {}};
	static const struct {
		const struct renderer *renderer;
		unsigned int top, frames;
		const char *name;
	} rows[] = {{&noting, 0, 2, "another format"},
		    {&noting, 3, 2, "another format, with --top"},
		    {&text_renderer, 0, 2, "lines of text"},
		    {&text_renderer, 3, 1, "tables of text"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make();
		r.plan.renderer = rows[i].renderer;
		r.plan.duration = 0.25;
		r.o.top = rows[i].top;
		errors_begin();
		run_steps(one, 2);
		errors_end();
		is_u64(r.s.out.frames, rows[i].frames, rows[i].name);
	}
}

static bool has_command;

/* The output to the terminal would be among the results of this test. */
static void be_mute(struct session *s)
{
	s->out.mute = true;
	s->child.pid = has_command ? getpid() : 0;
}

/* Progress is shown after two seconds, unless something else may appear on the terminal. */
static void test_progress(void)
{
	static const struct wait_step quarter[] = {{.passes_ns = 2500 * MS}, {}};
	static const char shown[] =
		"\r\033[Kfaultscope: watching: 25 %, 7.5 s left\r\033[K" INCOMPLETE;
	static const struct {
		const char *name;
		bool progress, quiet, alone, command, terminal;
		const struct renderer *renderer;
	} rows[] = {
		{"output to a file", true, .renderer = &noting},
		{"--quiet", .quiet = true, .renderer = &noting},
		{"a command that records", .alone = true, .renderer = &noting},
		{"a command that runs", .command = true, .renderer = &noting},
		{"output to the terminal", .terminal = true, .renderer = &noting},
		{"no output at all", true, .terminal = true, .renderer = &silent_renderer},
	};

	setenv("TERM", "xterm", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make();
		is_terminal[2] = true;
		is_terminal[1] = rows[i].terminal;
		if (rows[i].terminal) {
			free((char *)r.plan.output);
			r.plan.output = NULL;
		}
		r.plan.duration = 10;
		r.o.quiet = rows[i].quiet;
		r.plan.records_alone = rows[i].alone;
		r.plan.renderer = rows[i].renderer;
		r.plan.after_first_scan = be_mute;
		has_command = rows[i].command;
		errors_begin();
		run_steps(quarter, 2);
		errors_are(rows[i].progress ? shown : INCOMPLETE, rows[i].name);
	}
}

/* A replay waits as long as the recorded interval, divided by the speed. */
static void test_replay(void)
{
	static const struct {
		double speed;
		uint64_t count;
		const char *want;
	} rows[] = {
		{0, 0, "1ofabfabfabfaec "},
		{0, 2, "1ofabfabfaec "},
		{2, 0, "1ofabfa N5000000000 bfa N5000000000 bfa N5000000000 ec "},
		{3, 2, "1ofabfa N3333333333 bfa N3333333333 ec "},
		{1, 1, "1ofabfa N10000000000 ec "},
		{-1, 1, "1ofabfaec "},
	};
	const char *path = make_recording("replay.fsr", 4, 10 * SECOND);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make();
		r.plan.replay = path;
		r.plan.speed = rows[i].speed;
		r.o.count = rows[i].count;
		errors_begin();
		session_measure(&r.s, &r.plan);
		is_u64(session_end(&r.s), 0, "status");
		errors_are("", "no error");
		note_calls();
		now_ns = 0;
		is_str(log_of.s, rows[i].want, "a replay");
		run_free(&r);
	}
}

/* What the record of the host says about the session. */
static void test_host(void)
{
	const struct host_record *h = &r.s.in.m.host;

	setenv("TZ", "XYZ-2:30", 1);
	tzset();
	make();
	r.plan.interval = 2.5;
	r.plan.mode = "targets";
	strcpy(r.plan.target, "leak[42]");
	r.o.since = 90;
	r.o.assumed[1] = 77;
	errors_begin();
	if (session_begin(&r.s, &r.plan) || pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r.made.src = (struct source){.ops = &step_ops, .live = 1, .plain = 1};
	r.s.in.src = &r.made.src;
	open_no_pressure(&r.s.in.pressure);
	session_open_loop(&r.s);
	session_start(&r.s);
	is_u64(h->interval_ns, 2500 * MS, "interval");
	is_str(h->mode, "targets", "mode");
	is_str(h->target, "leak[42]", "target");
	is_str(h->version, VERSION, "version");
	is_u64(h->tiers, 0, "no overhead level");
	ok(h->zone_known && h->zone_s == 9000, "the time zone: %d s", (int)h->zone_s);
	is_u64(r.s.in.m.resident->since_ns, 90 * SECOND, "--since");
	is_u64(r.s.in.m.assumed[1], 77, "--assume");
	ok(r.s.out.began && r.s.in.collector.m == &r.s.in.m && r.s.in.collector.names.commands,
	   "the session has begun");
	session_end(&r.s);
	errors_end();
	now_ns = 0;
	run_free(&r);
	unsetenv("TZ");
	tzset();
}

/* Up to three processes that are named are shown as blocks, all others as a table. */
static void test_layout(void)
{
	static const struct {
		const char *mode;
		unsigned int pids, others, ended;
		enum layout want;
	} rows[] = {
		{"all", 0, 0, 0, LAYOUT_TABLE},	     {"all", 1, 0, 0, LAYOUT_BLOCKS},
		{"targets", 0, 0, 0, LAYOUT_BLOCKS}, {"targets", 2, 2, 0, LAYOUT_BLOCKS},
		{"targets", 2, 3, 0, LAYOUT_TABLE},  {"targets", 2, 4, 2, LAYOUT_BLOCKS},
		{"targets", 2, 4, 1, LAYOUT_TABLE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make();
		r.plan.mode = rows[i].mode;
		r.o.filter.pids = rows[i].pids;
		r.o.filter.pid[0] = getpid();
		r.made.others = rows[i].others;
		r.made.ended = rows[i].ended;
		r.o.count = 1;
		errors_begin();
		run_steps(timers, 3);
		errors_end();
		ok(r.s.out.view.layout == rows[i].want, "%s: %u other processes, %u have ended",
		   rows[i].mode, rows[i].others, rows[i].ended);
	}
}

/* ---- processes whose end was not reported ---- */

static unsigned int own_looks;
static unsigned int
	look_of_end; /* number of the first scan whose tick record comes after the end */

/* The first scan finds a process that no later scan finds, and that does not exist. */
static int look_once(struct source *src, const struct sink *sink)
{
	int err;

	r.made.others = own_looks++ ? 0 : 1;
	err = made_look(src, sink);
	if (!look_of_end && session_alive(&r.s) == 1)
		look_of_end = own_looks;
	return err;
}

/* Returns the number of the scan after which the process has ended, from 1 on; 0: none. */
static unsigned int scan_of_end(enum watched whom)
{
	static const struct source_ops ops = {.start = made_start,
					      .look = look_once,
					      .drain = made_drain,
					      .fd = made_fd,
					      .close = made_close};
	unsigned int found = 0;

	make();
	r.plan.whom = whom;
	own_looks = look_of_end = 0;
	errors_begin();
	if (session_begin(&r.s, &r.plan) || pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK))
		abort();
	r.made.src = (struct source){.ops = &ops, .live = 1, .plain = 1};
	r.s.in.src = &r.made.src;
	open_no_pressure(&r.s.in.pressure);
	session_start(&r.s);
	for (unsigned int i = 2; i <= 40 && !found; i++) {
		now_ns += SECOND;
		if (session_scan(&r.s))
			break;
		if (session_alive(&r.s) == 1)
			found = i;
		session_next_window(&r.s);
	}
	session_end(&r.s);
	errors_end();
	now_ns = 0;
	run_free(&r);
	return found;
}

static void test_lost_ends(void)
{
	is_u64(scan_of_end(WATCH_TARGETS), 2, "targets are looked for at the end of each scan");
	is_u64(look_of_end, 2, "their last records come before the tick record");
	is_u64(scan_of_end(WATCH_COMMAND), 2, "so are processes of a command");
	is_u64(scan_of_end(WATCH_ALL), 17, "all processes at the end of each 16th one");
}

int main(void)
{
	place_begin();
	test_count();
	test_duration();
	test_urgent();
	test_errors();
	test_errors_at_the_begin();
	test_first_finding();
	test_ends();
	test_command_that_fails();
	test_command();
	test_last_frame();
	test_progress();
	test_replay();
	test_host();
	test_layout();
	test_lost_ends();
	place_end();
	buf_free(&log_of);
	return tap_done();
}
