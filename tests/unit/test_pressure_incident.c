// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests incidents that memory pressure triggers. The kernel's file of memory pressure is a
 * pseudo-terminal of this test, which can have an urgent event, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>

#include "error_output.h"
#include "fixture.h"
#include "session/incident_watch.h"
#include "session/session.h"
#include "tap.h"

#define PSI "/proc/pressure/memory"

static struct session s;
static struct options o;
static int master = -1, slave = -1; /* the kernel's file, and its other end */
static int open_error;		    /* of the file; 0: it can be opened */
static unsigned int opens, caught_up;

int open(const char *path, int flags, ...)
{
	if (strcmp(path, PSI))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	opens++;
	if (open_error || (flags & O_ACCMODE) != O_RDWR || !(flags & O_NONBLOCK)) {
		errno = open_error ? open_error : EINVAL;
		return -1;
	}
	return master;
}

static void make_file(void)
{
	struct termios raw;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) || unlockpt(master))
		abort();
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || tcgetattr(slave, &raw))
		abort();
	cfmakeraw(&raw);
	if (tcsetattr(slave, TCSANOW, &raw) || ioctl(master, TIOCPKT, &(int){1}))
		abort();
}

static void catch_up(void *ctx)
{
	caught_up += ctx == &s;
}

static void begin(uint32_t on)
{
	struct incident_options opt = {.ring.bytes = 1 << 20,
				       .store.count = 100,
				       .after_ns = 3600 * SECOND,
				       .per_hour = 400,
				       .on = on};
	struct tick_record tick = tick_record(SECOND);
	char error[512];

	opens = caught_up = 0;
	s = (struct session){
		.o = &o, .loop = {LOOP_CLOSED}, .out.file = OUTPUT_NONE, .out.junit = OUTPUT_NONE};
	if (session_open_loop(&s) || model_init(&s.in.m) ||
	    incident_watch_open(&s, &opt, fixture_path("store"), error, sizeof(error)))
		abort();
	s.in.collector.m = &s.in.m;
	s.in.collector.filter = &s.in.filter;
	collector_take(&s.in.collector, &tick.h);
}

static void end(void)
{
	incident_watch_close(&s);
	loop_close(&s.loop);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
}

static void test_pressure(void)
{
	const struct incident_record *r;
	char text[64] = "";

	make_file();
	begin(INCIDENT_ON_PRESSURE);
	is_u64(s.incidents->pressure, master, "the file of memory pressure is watched");
	ok(read(slave, text, sizeof(text) - 1) > 0, "what the kernel is asked for");
	is_str(text, "full 300000 2000000",
	       "300 ms of 2 s in which all tasks waited, in microseconds");
	is_u64(incident_watch_begin(&s), 0, "the loop waits for it");
	loop_once(&s.loop, 0);
	ok(!incidents_wait(&s.incidents->in), "no incident yet");
	tcflush(slave, TCIFLUSH);
	loop_once(&s.loop, 1000);
	ok(incidents_wait(&s.incidents->in), "an event makes an incident");
	r = &s.incidents->in.waiting[0].r;
	is_u64(r->trigger, INCIDENT_PRESSURE, "its trigger");
	is_str(r->title, "all tasks waited for memory for 300 ms or more within 2 s (PSI full)",
	       "its title");
	ok(!r->subject.pid, "no process is named");
	end();
	ok(fcntl(master, F_GETFD) < 0, "the file is closed at the end");
	close(slave);
}

static void test_no_pressure(void)
{
	static const struct {
		int error, want;
		const char *name;
	} rows[] = {
		{ENOENT, -EOPNOTSUPP, "a kernel without memory pressure"},
		{EACCES, -EACCES, "a file that may not be written to"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_error = rows[i].error;
		begin(INCIDENT_ON_PRESSURE);
		ok(s.incidents->no_pressure == rows[i].want, "%s", rows[i].name);
		is_u64(incident_watch_begin(&s), 0, "other triggers work");
		end();
	}
	master = syscall(SYS_openat, AT_FDCWD, "/dev/full", O_RDWR | O_CLOEXEC);
	open_error = 0;
	begin(INCIDENT_ON_PRESSURE);
	ok(s.incidents->no_pressure == -ENOSPC, "the kernel does not accept the text");
	end();
	ok(fcntl(master, F_GETFD) < 0, "the file is closed");
	begin(0);
	ok(!opens && !s.incidents->no_pressure, "pressure is no trigger: nothing is opened");
	end();
}

/* What happened up to a request, or up to the end, is part of the incident. */
static void test_catching_up(void)
{
	char path[PATH_MAX + 64];

	begin(0);
	s.incidents->catch_up = catch_up;
	ok(incident_watch_request(&s, INCIDENT_HTTP, "x", path, sizeof(path)), "a request");
	is_u64(caught_up, 1, "pending records are read before it");
	end();
	is_u64(caught_up, 2, "and before the end, as the incident waits");
	begin(0);
	s.incidents->catch_up = catch_up;
	end();
	is_u64(caught_up, 0, "no incident waits");
	ok(!s.incidents && !s.in.collector.ring, "closed");
	incident_watch_close(&s);
}

int main(void)
{
	test_pressure();
	test_no_pressure();
	test_catching_up();
	return tap_done();
}
