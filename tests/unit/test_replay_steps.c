// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how long the live view of a recording waits between scans, how much of the outline it reads
 * meanwhile, and what it shows while it is on its way to another time. The clock, the keys and the
 * waits of the event loop are played, so that each wait is known exactly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "error_output.h"
#include "marked_recording.h"
#include "open_files.h"
#include "render/text/empty_renderer.h"
#include "session/live_view.h"
#include "session/replay_outline.h"

#define STEP_NS	  (10 * SECOND)
#define STEPS_MAX 48

/* What the user does during a wait, and when the wait ends. */
struct wait_step {
	const char *keys;    /* NULL: no key */
	uint64_t passes_ns;  /* time that passes; 0: as long as the wait may last */
	uint64_t reading_ns; /* time that a reading of the clock takes from now on; 0: as before */
	void (*act)(void);   /* NULL: nothing else happens */
};

static uint64_t now_ns = 1000 * SECOND;
static uint64_t reading_ns; /* time that each reading of the clock takes */
static bool is_terminal;    /* keys come from a terminal */
static const struct wait_step *step;
static size_t steps, steps_taken;
static const char *pressed; /* keys that read() returns */
static int polls, poll_ms;  /* waits for more bytes of a key, and how long the last one was */
static int follows;	    /* number of bytes that follow, for poll() */
static int read_error;	    /* errno of reading keys; 0: keys can be read */
static unsigned int frames; /* frames that were drawn since the last wait */
static struct session s;
static struct options o;
static struct run_plan plan;
static struct buf lines; /* a line for each wait */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, ret);
	now_ns += reading_ns;
	*ret = (struct timespec){now_ns / SECOND, now_ns % SECOND};
	return 0;
}

int isatty(int fd)
{
	if (fd == STDIN_FILENO)
		return is_terminal;
	errno = ENOTTY;
	return 0;
}

ssize_t read(int fd, void *to, size_t n)
{
	size_t len;

	if (fd == STDIN_FILENO && read_error) {
		errno = read_error;
		return -1;
	}
	if (fd != STDIN_FILENO || !pressed)
		return syscall(SYS_read, fd, to, n);
	len = strlen(pressed);
	memcpy(to, pressed, len);
	pressed = NULL;
	return len;
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	(void)fds;
	polls += n;
	poll_ms = timeout_ms;
	return follows;
}

ssize_t write(int fd, const void *from, size_t n)
{
	if (fd == s.out.fd && n > 3 && !memcmp(from, "\033[H", 3))
		frames++;
	return syscall(SYS_write, fd, from, n);
}

/* The session ends when the last step is taken. */
int epoll_wait(int poll, struct epoll_event *events, int most, int timeout_ms)
{
	static const struct wait_step last = {.keys = "q"};
	const struct wait_step *now = steps_taken < steps ? &step[steps_taken] : &last;
	const struct viewing *w = s.out.viewing;
	const struct outline *out = w->outline;

	steps_taken++;
	buf_printf(&lines, "%d ms: scan %u, ", timeout_ms,
		   (unsigned int)(s.in.m.last_ns / STEP_NS));
	if (!out->complete)
		buf_printf(&lines, "outline %u, ", (unsigned int)(out->read_ns / STEP_NS));
	buf_printf(&lines, "%u drawn: %s%s%s%s", frames, w->tui.status,
		   w->tui.paused ? ", paused" : "", w->tui.has_scanned ? "" : ", no table",
		   w->tui.timeline.nr_marks ? ", marks" : "");
	if (w->tui.say[0])
		buf_printf(&lines, ": %.23s", w->tui.say);
	buf_putc(&lines, '\n');
	frames = 0;
	if (lines.len > 65536) {
		ok(false, "the view does not end");
		exit(1);
	}
	if (now->passes_ns)
		now_ns += now->passes_ns;
	else if (timeout_ms > 0)
		now_ns += timeout_ms * 1000000ULL;
	if (now->reading_ns)
		reading_ns = now->reading_ns;
	if (now->act)
		now->act();
	pressed = now->keys;
	if (pressed)
		viewing_on_keys(&s);
	return 0;
}

/* Begins the live view of a recording. */
static void begin_view(const char *path)
{
	int low;

	memset(&o.filter, 0, sizeof(o.filter));
	o.format = &text_renderer;
	steps_taken = frames = 0;
	pressed = NULL;
	buf_free(&lines);
	plan_init(&plan, &o);
	plan.replay = path;
	plan.may_redraw = true;
	plan.speed = o.speed;
	if (session_begin(&s, &plan))
		abort();
	s.out.redraws = true;
	viewing_open_settings(&s);
	low = memfd_create("screen", MFD_CLOEXEC);
	s.out.fd = fcntl(low, F_DUPFD_CLOEXEC, 3); /* 0 would be the standard input */
	close(low);
	session_measure_view(&s);
	if (session_open_replay(&s) || session_start(&s))
		abort();
	frames = 0;
}

/* Plays a recording with some steps. Returns the result of the session's loop. */
static int play(const char *path, const struct wait_step *with, size_t n)
{
	step = with;
	steps = n;
	o.colour = WHEN_NEVER;
	begin_view(path);
	return session_loop(&s);
}

static void end(void)
{
	int fd = s.out.fd;

	s.out.renderer = &silent_renderer;
	session_end(&s);
	ok(!s.out.redraws && !s.out.view.height, "the last lines are no screen");
	close(fd);
	reading_ns = 0;
	is_terminal = false;
	o = (struct options){};
}

/* Plays a recording, and compares the waits with a text. */
static void waits_are(const char *path, const struct wait_step *with, size_t n, const char *want,
		      const char *name)
{
	int status = play(path, with, n);

	is_u64(status, 0, "status");
	is_str(lines.s ? lines.s : "", want, name);
	end();
}

static const struct wait_step idle[STEPS_MAX]; /* no keys, and no early end of a wait */
static const char *short_one, *long_one;       /* recordings of 4 and 60 scans */

/* Each scan is shown for as long as it lasted when it was recorded, divided by the speed. */
static void test_speeds(void)
{
	static const struct {
		double speed;
		bool given;
		const char *state;
		int first_ms, ms; /* waits for the scans after the first one, and for the others */
	} rows[] = {
		{0, false, "x1", 9001, 10001}, {1, true, "x1", 9001, 10001},
		{4, true, "x4", 2251, 2501},   {0.5, true, "x1/2", 18001, 20001},
		{0, true, "x1024", 9, 10},     {0.001, true, "x1/1000", 9000001, 10000001},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *state = rows[i].state;
		char want[512];

		o.speed = rows[i].speed;
		o.speed_given = rows[i].given;
		o.count = i ? 0 : 4; /* --count ends the replay, as the end of the recording does */
		snprintf(want, sizeof(want),
			 "0 ms: scan 1, outline 1, 1 drawn: REPLAY %s\n"
			 "%d ms: scan 1, 1 drawn: REPLAY %s\n"
			 "%d ms: scan 2, 1 drawn: REPLAY %s\n"
			 "%d ms: scan 3, 1 drawn: REPLAY %s\n"
			 "%d ms: scan 4, 1 drawn: REPLAY %s\n",
			 state, rows[i].first_ms, state, rows[i].ms, state, rows[i].ms, state,
			 rows[i].ms, state);
		waits_are(short_one, idle, STEPS_MAX, want, state);
	}
}

static void test_ends(void)
{
	is_terminal = true;
	waits_are(short_one, idle, 6,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1\n"
		  "10001 ms: scan 2, 1 drawn: REPLAY x1\n"
		  "10001 ms: scan 3, 1 drawn: REPLAY x1\n"
		  "10001 ms: scan 4, 1 drawn: REPLAY x1\n"
		  "-1 ms: scan 4, 1 drawn: END OF RECORDING\n"
		  "-1 ms: scan 4, 0 drawn: END OF RECORDING\n",
		  "on a terminal, the last scan stays until a key ends the view");
	o.count = 2;
	waits_are(short_one, idle, STEPS_MAX,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1\n"
		  "10001 ms: scan 2, 1 drawn: REPLAY x1\n",
		  "two intervals are enough");
}

/* A wait that ends early, because of a key or a signal, goes on for the rest of its time. */
static void test_time_that_passes(void)
{
	static const struct wait_step early[] = {{},
						 {.passes_ns = 2 * SECOND},
						 {.passes_ns = SECOND},
						 {.passes_ns = 3 * SECOND / 2}};
	static const struct wait_step pause[] = {{},
						 {.keys = " ", .passes_ns = 5 * SECOND},
						 {.passes_ns = 100 * SECOND},
						 {.keys = " ", .passes_ns = 100 * SECOND},
						 {}};

	o.speed = 2;
	o.speed_given = true;
	waits_are(long_one, early, 4,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x2\n"
		  "4501 ms: scan 1, 1 drawn: REPLAY x2, marks\n"
		  "2501 ms: scan 1, 0 drawn: REPLAY x2, marks\n"
		  "1501 ms: scan 1, 0 drawn: REPLAY x2, marks\n"
		  "5001 ms: scan 2, 1 drawn: REPLAY x2, marks\n",
		  "time passes twice as fast");
	waits_are(long_one, pause, 5,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "-1 ms: scan 1, 1 drawn: REPLAY x1, paused, marks\n"
		  "-1 ms: scan 1, 0 drawn: REPLAY x1, paused, marks\n"
		  "4001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "10001 ms: scan 2, 1 drawn: REPLAY x1, marks\n",
		  "a pause does not count");
}

/*
 * The outline is read for 20 ms at a time, and its progress is shown each 500 ms. A round with one
 * scan of the outline reads the clock five times.
 */
static void test_outline(void)
{
	static const struct wait_step slow[61] = {};
	struct buf want = {};

	for (unsigned int i = 1; i <= 60; i++)
		buf_printf(&want, "0 ms: scan 1, outline %u, %d drawn: REPLAY x1%s\n", i,
			   i % 7 == 1, i >= 8 ? ", marks" : "");
	/* the readings of the clock took 307 times 15 ms of the 9 s of the first interval */
	buf_puts(&want, "4396 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
			"10001 ms: scan 2, 1 drawn: REPLAY x1, marks\n");
	reading_ns = 15000000;
	waits_are(long_one, slow, 61, want.s, "one scan at a time");
	buf_clear(&want);
	for (unsigned int i = 1; i <= 10; i++)
		buf_printf(&want, "0 ms: scan 1, outline %u, %d drawn: REPLAY x1\n", 3 * i - 2,
			   i == 1);
	reading_ns = 5000000;
	waits_are(long_one, slow, 9, want.s, "three scans at a time");
	buf_clear(&want);
	for (unsigned int i = 1; i <= 10; i++)
		buf_printf(&want, "0 ms: scan 1, outline 1, %d drawn: REPLAY x1\n", i % 7 == 1);
	reading_ns = 20000000;
	waits_are(long_one, slow, 9, want.s, "the time is over before the first scan");
	buf_free(&want);
}

/* Makes a reading of the clock take 50 ms, so that reading a scan takes 100 ms. */
#define SLOW .reading_ns = 50000000

/* A view that is on its way for 150 ms says how far it is, and handles keys. */
static void test_way(void)
{
	static const struct wait_step far[] = {{}, {.keys = "J+90s\r", SLOW}, {}, {}, {}, {}};
	static const struct wait_step end_of_it[] = {{}, {.keys = ">>>>>>.$", SLOW}, {}};
	static const struct wait_step quits[] = {{}, {.keys = "$", SLOW}, {}, {.keys = "q"}};
	static const struct wait_step back[] = {{}, {.keys = "$", SLOW}, {}, {.keys = "0"}, {}};
	static const struct wait_step waits[] = {
		{}, {.keys = "J+50s\r", SLOW}, {.keys = "."}, {}, {}};

	waits_are(long_one, far, 6,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "0 ms: scan 3, 2 drawn: reading the recording: 22 %, paused, no table, marks\n"
		  "0 ms: scan 5, 1 drawn: reading the recording: 44 %, paused, no table, marks\n"
		  "0 ms: scan 7, 1 drawn: reading the recording: 67 %, paused, no table, marks\n"
		  "0 ms: scan 9, 1 drawn: reading the recording: 89 %, paused, no table, marks\n"
		  "-1 ms: scan 10, 1 drawn: REPLAY x1, paused, marks\n",
		  "up to a time");
	waits_are(long_one, end_of_it, 3,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "0 ms: scan 3, 2 drawn: reading the recording: 3 %, paused, no table, marks\n"
		  "0 ms: scan 5, 1 drawn: reading the recording: 7 %, paused, no table, marks\n",
		  "up to the end");
	waits_are(long_one, quits, 4,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "0 ms: scan 3, 2 drawn: reading the recording: 3 %, paused, no table, marks\n"
		  "0 ms: scan 5, 1 drawn: reading the recording: 7 %, paused, no table, marks\n",
		  "a key ends the view on its way");
	waits_are(long_one, back, 5,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "0 ms: scan 3, 2 drawn: reading the recording: 3 %, paused, no table, marks\n"
		  "0 ms: scan 5, 1 drawn: reading the recording: 7 %, paused, no table, marks\n"
		  "-1 ms: scan 1, 3 drawn: REPLAY x1, paused, marks\n"
		  "-1 ms: scan 1, 0 drawn: REPLAY x1, paused, marks\n",
		  "another time is the new goal");
	waits_are(long_one, waits, 5,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "0 ms: scan 3, 2 drawn: reading the recording: 40 %, paused, no table, marks\n"
		  "0 ms: scan 5, 2 drawn: reading the recording: 80 %, paused, no table, marks\n"
		  "-1 ms: scan 7, 2 drawn: REPLAY x1, paused, marks\n"
		  "-1 ms: scan 7, 0 drawn: REPLAY x1, paused, marks\n",
		  "a scan more is read when the view has arrived");
}

/* The outline is read as far as a mark needs. */
static void test_mark_search(void)
{
	static const struct wait_step next[] = {{.keys = "]", SLOW}, {}, {}, {}};
	static const struct wait_step before[] = {{.keys = "J+50s\r[", SLOW}, {}, {}, {}, {}, {}};
	static const struct wait_step quits[] = {{.keys = "]", SLOW}, {.keys = "q"}};
	static const struct wait_step called_off[] = {{.keys = "]", SLOW}, {.keys = "0"}, {}};

	waits_are(long_one, next, 4,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "0 ms: scan 1, outline 4, 2 drawn: REPLAY x1, paused\n"
		  "0 ms: scan 3, outline 5, 1 drawn: reading the recording: 50 %, paused, "
		  "no table\n"
		  "0 ms: scan 5, outline 5, 1 drawn: reading the recording: 100 %, paused, "
		  "no table\n"
		  "0 ms: scan 5, outline 5, 1 drawn: REPLAY x1, paused, marks: critical M25 "
		  "proc10[10]\n",
		  "up to the first mark");
	waits_are(long_one, before, 6,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "0 ms: scan 3, outline 1, 2 drawn: reading the recording: 40 %, paused, "
		  "no table\n"
		  "0 ms: scan 5, outline 1, 1 drawn: reading the recording: 80 %, paused, "
		  "no table\n"
		  "0 ms: scan 6, outline 4, 2 drawn: REPLAY x1, paused\n"
		  "0 ms: scan 3, outline 6, 1 drawn: reading the recording: 50 %, paused, "
		  "no table\n"
		  "0 ms: scan 5, outline 6, 1 drawn: reading the recording: 100 %, paused, "
		  "no table\n"
		  "0 ms: scan 5, outline 6, 1 drawn: REPLAY x1, paused, marks: critical M25 "
		  "proc10[10]\n",
		  "up to the time of the view, and back to the last mark");
	waits_are(long_one, quits, 2,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "0 ms: scan 1, outline 4, 2 drawn: REPLAY x1, paused\n",
		  "a key ends the search");
	waits_are(long_one, called_off, 3,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "0 ms: scan 1, outline 4, 2 drawn: REPLAY x1, paused\n"
		  "0 ms: scan 1, outline 4, 3 drawn: REPLAY x1, paused\n"
		  "0 ms: scan 1, outline 4, 0 drawn: REPLAY x1, paused\n",
		  "a time ends the search without a message");
}

/* Writes the goals that wait, such as "scans +2; time 0; ". */
static const char *goals(void)
{
	static const char *const kinds[] = {"none", "time", "scans", "minutes", "findings"};
	static char text[512];
	const struct viewing *w = s.out.viewing;
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < w->nr_goals; i++) {
		const struct replay_goal *g = &w->goal[i];

		len += g->kind == GOAL_TIME ? snprintf(text + len, sizeof(text) - len,
						       "time %llu; ", (unsigned long long)g->t_ns)
					    : snprintf(text + len, sizeof(text) - len, "%s %+ld; ",
						       kinds[g->kind], g->by);
	}
	return text;
}

static void goals_are(const char *keys, const char *want)
{
	s.out.viewing->nr_goals = 0;
	s.out.viewing->tui.paused = false;
	for (const char *key = keys; *key; key++)
		viewing_replay_key(&s, *key);
	is_str(goals(), want, keys);
	ok(s.out.viewing->tui.paused == !!*want, "a goal pauses the replay");
}

static void jump_is(const char *text, const char *want, const char *message)
{
	s.out.viewing->nr_goals = 0;
	s.out.note[0] = 0;
	viewing_replay_jump(&s, text);
	is_str(goals(), want, text);
	is_str(s.out.note, message, "message");
}

static void test_goals(void)
{
	play(short_one, idle, 0);
	goals_are(".", "scans +1; ");
	goals_are(",", "scans -1; ");
	goals_are(">", "scans +10; ");
	goals_are("<", "scans -10; ");
	goals_are("]", "findings +1; ");
	goals_are("[", "findings -1; ");
	goals_are("}", "minutes +1; ");
	goals_are("{", "minutes -1; ");
	goals_are("0", "time 0; ");
	goals_are("$", "time 18446744073709551615; ");
	goals_are("1/a", "");
	goals_are("..,>>", "scans +2; scans -1; scans +20; ");
	goals_are(".}}.", "scans +1; minutes +2; scans +1; ");
	goals_are("]}].}]", "findings +1; minutes +1; findings +1; scans +1; minutes +1; "
			    "findings +1; ");
	goals_are(".}.}0", "time 0; ");
	goals_are("0$", "time 18446744073709551615; ");
	goals_are("0..", "time 0; scans +2; ");
	goals_are(".].].].]", "scans +1; findings +1; scans +1; findings +1; scans +1; "
			      "findings +1; scans +1; findings +1; ");
	goals_are(".].].].].", "scans +1; findings +1; scans +1; findings +1; scans +1; "
			       "findings +1; scans +1; findings +1; ");
	s.in.src->live = true;
	goals_are(".0", "");
	s.in.src->live = false;
	/* the first scan is at 10 s, at 22:13:20 UTC, and the last one at 40 s */
	jump_is("+15s", "time 25000000000; ", "");
	jump_is("-15s", "time 25000000000; ", "");
	jump_is("22:13:30", "time 20000000000; ", "");
	jump_is("noon", "",
		"noon: expected a time, as 14:03, 14:03:20, +90s (from the beginning) or -30s "
		"(from the end)");
	s.out.viewing->outline->span.wall_ns = 0;
	jump_is("22:13:30", "", "the recording has no clock time: type +90s or -30s");
	jump_is("+0s", "time 10000000000; ", "");
	end();
}

/* The view shows the scans up to the damage. */
static void test_damage(void)
{
	const char *path = make_recording("damaged.fsr", 20, STEP_NS);
	const char *said;
	struct stat st;

	if (stat(path, &st) || truncate(path, st.st_size - 100))
		abort();
	is_terminal = true;
	errors_begin();
	is_u64(play(path, (const struct wait_step[]){{.keys = "$"}, {}}, 2), 0, "status");
	said = errors_end();
	ok(strstr(said, "damaged.fsr: ") != NULL, "the damage is said");
	is_str(lines.s,
	       "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
	       "-1 ms: scan 19, 3 drawn: END OF RECORDING (DAMAGED), paused, marks\n"
	       "-1 ms: scan 19, 0 drawn: END OF RECORDING (DAMAGED), paused, marks\n",
	       "it is shown");
	errors_begin();
	end();
	said = errors_end();
	ok(strstr(said, "incomplete: recording truncated or damaged at offset "),
	   "the result is incomplete");
}

/* To go back, the recording is opened again. No file or memory is left. */
static void test_back(void)
{
	static const struct wait_step back[] = {{.keys = "$"}, {.keys = ","}, {.keys = "<"},
						{.keys = "}"}, {.keys = "{"}, {}};
	size_t fds = open_fds();

	is_terminal = true;
	o.assumed[0] = 77;
	play(long_one, back, 6);
	is_str(lines.s,
	       "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
	       "-1 ms: scan 60, 3 drawn: END OF RECORDING, paused, marks\n"
	       "-1 ms: scan 59, 2 drawn: REPLAY x1, paused, marks\n"
	       "-1 ms: scan 49, 2 drawn: REPLAY x1, paused, marks\n"
	       "-1 ms: scan 55, 2 drawn: REPLAY x1, paused, marks\n"
	       "-1 ms: scan 49, 2 drawn: REPLAY x1, paused, marks\n"
	       "-1 ms: scan 49, 0 drawn: REPLAY x1, paused, marks\n",
	       "back and forth");
	is_u64(s.in.m.assumed[0], 77, "assumed limits stay");
	is_u64(s.out.viewing->window, 48, "intervals after the first scan");
	ok(s.out.viewing->shown && !s.out.viewing->ended, "the last one is shown");
	end();
	is_u64(open_fds(), fds, "no file stays open");
}

/* Replaces the marks. The one after the last mark is not in use. */
static void make_marks(void)
{
	static const struct tui_mark made[] = {
		{30 * SECOND, MARK_OPENED},   {30 * SECOND, MARK_CRITICAL},
		{30 * SECOND, MARK_CRITICAL}, {50 * SECOND, MARK_OPENED},
		{70 * SECOND, MARK_TRIGGER},  {70 * SECOND, MARK_OPENED},
		{70 * SECOND, MARK_TRIGGER},
	};
	struct outline *out = s.out.viewing->outline;

	out->n = 6;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		out->mark[i] = made[i];
		snprintf(out->what[i].text, sizeof(out->what[i].text), "mark %zu", i);
		if (i != 3)
			out->what[i].subject =
				(struct process_key){.pid = 10 + i % 2, .start_ns = 1};
		else
			out->what[i].subject = (struct process_key){};
	}
}

static void choose_none(void)
{
	struct tui *t = &s.out.viewing->tui;

	t->chosen = (struct process_key){};
	t->chosen_group = 5;
	t->follows = false;
}

static void open_help(void)
{
	choose_none();
	s.out.viewing->tui.where = TUI_HELP;
}

static void check_choice(uint32_t pid)
{
	const struct tui *t = &s.out.viewing->tui;

	ok(t->follows && t->chosen.pid == pid && !t->chosen_group,
	   "the cursor is at the process of the mark: %u", t->chosen.pid);
	choose_none();
}

static void check_first(void)
{
	check_choice(11);
}

static void check_help(void)
{
	is_u64(s.out.viewing->tui.chosen.pid, 0, "only the table has a cursor that moves");
}

static void check_third(void)
{
	check_choice(10);
}

/* Of several marks at one time, the first one of the most important kind is shown. */
static void test_marks_at_one_time(void)
{
	static const struct wait_step ways[] = {
		{},
		{.act = make_marks, .keys = "]"},
		{.act = check_first, .keys = "]"},
		{.keys = "]"},
		{.act = check_third, .keys = "]"},
		{.keys = "[["},
		{.act = check_first, .keys = "["},
		{.act = open_help, .keys = "]]"},
		{.act = check_help},
	};

	waits_are(long_one, ways, 9,
		  "0 ms: scan 1, outline 1, 1 drawn: REPLAY x1\n"
		  "9001 ms: scan 1, 1 drawn: REPLAY x1, marks\n"
		  "-1 ms: scan 3, 2 drawn: REPLAY x1, paused, marks: mark 1\n"
		  "-1 ms: scan 5, 2 drawn: REPLAY x1, paused, marks: mark 3\n"
		  "-1 ms: scan 7, 2 drawn: REPLAY x1, paused, marks: mark 4\n"
		  "-1 ms: scan 7, 2 drawn: REPLAY x1, paused, marks: no finding opens after \n"
		  "-1 ms: scan 3, 2 drawn: REPLAY x1, paused, marks: mark 1\n"
		  "-1 ms: scan 3, 2 drawn: REPLAY x1, paused, marks: no finding opened befor\n"
		  "-1 ms: scan 7, 2 drawn: REPLAY x1, paused, marks: mark 4\n"
		  "-1 ms: scan 7, 0 drawn: REPLAY x1, paused, marks: mark 4\n",
		  "marks");
}

/* Returns whether the live view ends when keys cannot be read, and checks that it is not drawn. */
static bool ends_by(int error, const char *keys)
{
	bool done;

	read_error = error;
	pressed = keys;
	frames = 0;
	is_u64(viewing_on_keys(&s), 0, "result");
	ok(!frames || *keys > 1, "frames");
	read_error = 0;
	done = s.loop.done;
	s.loop.done = false;
	return done;
}

static void test_keys_that_cannot_be_read(void)
{
	play(short_one, idle, 0);
	s.loop.done = false;
	ok(!ends_by(EINTR, ""), "a signal came first");
	ok(!ends_by(EAGAIN, ""), "there is no key");
	ok(ends_by(EIO, ""), "the terminal is gone");
	ok(ends_by(0, ""), "the input has ended");
	ok(ends_by(0, "q"), "q");
	is_u64(frames, 0, "the last frame stays");
	ok(!ends_by(0, "x"), "any other key");
	is_u64(frames, 1, "it is drawn");
	end();
}

/* Esc is a key of its own if no byte follows within 30 ms. */
static void test_escape(void)
{
	struct tui *t;

	play(short_one, idle, 0);
	t = &s.out.viewing->tui;
	s.loop.done = false;
	polls = 0;
	ok(!ends_by(0, "?") && t->where == TUI_HELP, "help");
	is_u64(polls, 0, "a whole key is not waited for");
	follows = 1;
	ok(!ends_by(0, "\033") && t->where == TUI_HELP, "Esc, if a byte follows");
	ok(polls == 1 && poll_ms == 30, "%d ms", poll_ms);
	ok(!ends_by(0, "[A") && t->where == TUI_HELP, "the rest of the key");
	is_u64(polls, 1, "no more is waited for");
	follows = 0;
	ok(!ends_by(0, "\033") && t->where == TUI_TABLE, "Esc, if no byte follows");
	is_u64(polls, 2, "it was waited for");
	ok(!ends_by(0, "?x\033") && t->where == TUI_TABLE, "the last of several keys");
	ok(ends_by(0, "q?") && t->where == TUI_TABLE, "no key counts after q");
	end();
}

/* Settings of the user, and options that come before them. */
static void test_settings(void)
{
	static const struct {
		const char *text;
		enum when colour;
		enum tui_theme theme;
		const char *message; /* NULL: none */
	} rows[] = {
		{"theme = none\n", WHEN_NEVER, THEME_NONE, NULL},
		{"theme = none\n", WHEN_ALWAYS, THEME_DARK, NULL},
		{"theme = light\n", WHEN_ALWAYS, THEME_LIGHT, NULL},
		{"theme = light\nx = y\n", WHEN_NEVER, THEME_LIGHT, "/settings:2: "},
	};
	char config[128], file[192], kept[256];

	snprintf(config, sizeof(config), "%s", fixture_path("config"));
	snprintf(file, sizeof(file), "%s/faultscope/settings", config);
	setenv("XDG_CONFIG_HOME", config, 1);
	mkdir(config, 0700);
	mkdir(fixture_path("config/faultscope"), 0700);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *said;
		const struct tui *t;
		int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		if (fd < 0 || write(fd, rows[i].text, strlen(rows[i].text)) < 0)
			abort();
		close(fd);
		o.colour = rows[i].colour;
		errors_begin();
		begin_view(short_one);
		said = errors_end();
		t = &s.out.viewing->tui;
		is_u64(t->theme, rows[i].theme, "the theme");
		if (rows[i].message)
			ok(strstr(said, "faultscope: settings of the live view: ") &&
				   strstr(said, rows[i].message) &&
				   !strncmp(t->say, "settings: ", 10) && !strchr(t->say, '\n'),
			   "a line that is wrong");
		else
			ok(!*said && !*t->say, "no message");
		ok(t->looks == false && t->writes == false && t->recording == false,
		   "a recording is only read");
		s.out.viewing->tui.ended = true;
		s.out.viewing->tui.tree = TREE_OF_CGROUPS;
		end();
		io_read(AT_FDCWD, file, kept, sizeof(kept));
		ok(strstr(kept, "tree = ") && !strstr(kept, "ended"),
		   "the tree is kept; what has ended is no choice");
	}
	unsetenv("XDG_CONFIG_HOME");
}

/* The page of a process, or of its memory, shows a process. */
static void test_chosen(void)
{
	static const enum tui_where pages[] = {TUI_TABLE,     TUI_PROCESS, TUI_MEMORY,
					       TUI_DIAGNOSIS, TUI_FINDING, TUI_COMMANDS,
					       TUI_COLUMNS,   TUI_HELP};
	const struct process_key known = {.pid = 11, .start_ns = 1}, unknown = {.pid = 12};
	struct viewing *w;

	play(short_one, idle, 0);
	w = s.out.viewing;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const struct subject *of;

		w->tui.where = pages[i];
		w->tui.chosen = known;
		of = viewing_chosen(&s);
		ok(pages[i] == TUI_PROCESS || pages[i] == TUI_MEMORY ? of && of->id.pid == 11 : !of,
		   "page %d", pages[i]);
		w->tui.chosen = unknown;
		ok(!viewing_chosen(&s), "a process that is not known");
	}
	s.out.viewing = NULL;
	ok(!viewing_chosen(&s), "no live view");
	s.out.viewing = w;
	end();
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	unsetenv("COLUMNS");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	short_one = strdup(make_recording("short.fsr", 4, STEP_NS));
	long_one = strdup(make_recording("long.fsr", 60, STEP_NS));
	test_speeds();
	test_ends();
	test_time_that_passes();
	test_outline();
	test_way();
	test_mark_search();
	test_marks_at_one_time();
	test_keys_that_cannot_be_read();
	test_escape();
	test_settings();
	test_chosen();
	test_goals();
	test_damage();
	test_back();
	free((char *)short_one);
	free((char *)long_one);
	return tap_done();
}
