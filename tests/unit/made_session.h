/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a session from the first scan to the last line. Its source is made here, and sends records
 * of this process. Output, recording, signals and the event loop are the real ones.
 */
#ifndef FS_TESTS_MADE_SESSION_H
#define FS_TESTS_MADE_SESSION_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "error_output.h"
#include "probe/host_facts.h"
#include "session/session.h"
#include "tap.h"

/* Data is missing in each session of this test, as its source has no probes. */
#define INCOMPLETE                                                                                 \
	"faultscope: incomplete: not measured: everything that needs BPF (only /proc was read)\n"

static char place[64]; /* directory of this test's files */

static inline const char *below(const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", place, name);
	return ret;
}

#define BELOW(name) below(name, (char[128]){}, 128)

static inline const char *text_of(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return n < 0 ? NULL : ret;
}

#define TEXT(path) text_of(path, (char[4096]){}, 4096)

static inline void place_begin(void)
{
	strcpy(place, "/tmp/test_session.XXXXXX");
	if (!mkdtemp(place))
		abort();
}

static inline void place_end(void)
{
	unlink(BELOW("out"));
	unlink(BELOW("stderr"));
	ok(!rmdir(place), "no other file is left");
}

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

static inline struct process_key own_key(void)
{
	return (struct process_key){.pid = getpid(), .start_ns = 1000};
}

static inline int made_start(struct source *src, const struct sink *sink)
{
	((struct made *)src)->starts++;
	return 0;
}

static inline int made_look(struct source *src, const struct sink *sink)
{
	struct made *m = (struct made *)src;
	struct process_record r = {.h = {RECORD_PROCESS, sizeof(r), host_monotonic_ns()}};
	struct tick_record tick = {.h = {RECORD_TICK, sizeof(tick)},
				   .limits = {.max_map_count = 65530,
					      .file_max = 1000000,
					      .nr_open = 1 << 20,
					      .mem_total_bytes = 8ULL << 30,
					      .threads_max = 1 << 20,
					      .pid_max = 1 << 22}};
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

static inline int made_drain(struct source *src, const struct sink *sink)
{
	struct made *m = (struct made *)src;
	char byte;

	m->drains += read(m->pipe[0], &byte, 1) == 1;
	return 0;
}

static inline int made_fd(struct source *src)
{
	return ((struct made *)src)->pipe[0];
}

static inline void made_close(struct source *src)
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

static inline void note(char letter)
{
	size_t len = strlen(calls);

	if (len + 1 < sizeof(calls))
		calls[len] = letter;
}

static inline void on_open(struct buf *b, const struct view *v)
{
	note('o');
	buf_puts(b, "open\n");
}

static inline void on_frame(struct buf *b, const struct view *v)
{
	note('f');
	buf_puts(b, "frame\n");
}

static inline void on_close(struct buf *b, const struct view *v)
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

static inline void after_first(struct session *s)
{
	note('1');
}

static inline void before_output(struct session *s)
{
	note('b');
}

static inline void after_scan(struct session *s)
{
	note('a');
}

static inline void before_end(struct session *s)
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

static inline void run_make(struct run *r)
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

/* Opens no file of memory pressure, so that the memory of this machine does not affect a test. */
static inline void open_no_pressure(struct pressure_reader *r)
{
	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r->fd[i] = -1;
	r->root = -1;
}

/* Does what session_measure() does for a live source, with the source of this test. */
static inline void run_begin(struct run *r)
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
	open_no_pressure(&r->s.in.pressure);
	if (!err)
		err = session_start(&r->s);
	if (!err)
		session_loop(&r->s);
	else
		r->s.status = err;
}

static inline void run_all(struct run *r)
{
	uint64_t begin = host_monotonic_ns();

	run_begin(r);
	r->status = session_end(&r->s);
	r->seconds = (host_monotonic_ns() - begin) / 1e9;
}

static inline void run_quietly(struct run *r)
{
	errors_begin();
	run_all(r);
	errors_are(INCOMPLETE, "no error");
}

static inline void run_free(struct run *r)
{
	free((char *)r->plan.output);
}

#endif
