// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which scans a part of a recording has: those between two times, with both ends, and what
 * is said if there are none, or if the recording lacks some.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "error_output.h"
#include "fixture.h"
#include "session/recording_parts.h"
#include "tap.h"
#include "written_recording.h"

#define SCANS	  6 /* at 10 s, 11 s, ... 15 s */
#define FIRST_NS  (10 * SECOND)
#define LAST_NS	  (FIRST_NS + (SCANS - 1) * SECOND)
#define WALL_NS	  (1700000000 * SECOND) /* 2023-11-14T22:13:20Z, at the first scan */
#define EXIT_BAD  1
#define NO_MOMENT ((struct moment){})

static char path[160], error[512];
static struct buf gaps;

/* Makes a recording of one process. Its second scan has an event, 0.5 s after the first one. */
static void make_recording(bool clock, bool ends)
{
	struct host_record host = host_record(FIRST_NS - 1);
	struct incident_record incident = RECORD(incident_record, RECORD_INCIDENT, FIRST_NS);
	struct recorder *rec = NULL;

	snprintf(path, sizeof(path), "%s", fixture_path("all.fsr"));
	if (recorder_open(path, true, &rec, error, sizeof(error)))
		abort();
	put(rec, &incident.h);
	put(rec, &host.h);
	for (uint64_t i = 0; i < SCANS; i++) {
		struct tick_record tick = tick_record(FIRST_NS + i * SECOND);
		struct process_record p = process_record(7, 1, tick.h.t_ns - 1000);
		struct signal_record event =
			RECORD(signal_record, RECORD_SIGNAL, tick.h.t_ns - SECOND / 2);

		event.subject = p.subject;
		event.signal = 11;
		if (i == 1)
			put(rec, &event.h);
		tick.wall_ns = clock ? WALL_NS + i * SECOND : 0;
		p.g.fds = i + 1;
		put(rec, &p.h);
		put(rec, &tick.h);
	}
	if (ends) {
		struct end_record end = RECORD(end_record, RECORD_END, LAST_NS);

		put(rec, &end.h);
	}
	if (recorder_close(rec))
		abort();
}

/* What a part has. */
static struct {
	unsigned int ticks, events, incidents, hosts, processes;
	uint64_t first_ns, last_ns, end_ns; /* times of the first scan, last scan, end record */
	uint32_t first_fds;		    /* of the first record of the process */
} got;

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_TICK) {
		got.first_ns = got.ticks++ ? got.first_ns : h->t_ns;
		got.last_ns = h->t_ns;
	}
	if (h->kind == RECORD_PROCESS && !got.processes++)
		got.first_fds = ((const struct process_record *)h)->g.fds;
	got.events += h->kind == RECORD_SIGNAL;
	got.incidents += h->kind == RECORD_INCIDENT;
	got.hosts += h->kind == RECORD_HOST;
	if (h->kind == RECORD_END)
		got.end_ns = h->t_ns;
	return 0;
}

/* Reads the recording in an open file. */
static void read_part(int fd)
{
	struct sink sink = {.take = take};
	struct source *src = NULL;
	char part[32];
	int err;

	memset(&got, 0, sizeof(got));
	snprintf(part, sizeof(part), "/proc/self/fd/%d", fd);
	if (replay_open(part, &src, error, sizeof(error)))
		abort();
	do
		err = src->ops->look(src, &sink);
	while (!err);
	ok(err == 1 && replay_facts(src)->ended, "the part is a complete recording");
	src->ops->close(src);
}

static void cut(uint64_t from_ns, uint64_t to_ns)
{
	int fd = memfd_create("part", MFD_CLOEXEC);

	is_u64(recording_part(path, from_ns, to_ns, fd, &gaps), 0, "a part");
	ok(fcntl(fd, F_GETFD) >= 0, "its file stays open");
	read_part(fd);
	close(fd);
}

/* A part has the scans after its begin, the state at its begin, and the scan at its end. */
static void test_parts(void)
{
	static const struct {
		uint64_t from_ns, to_ns;
		uint64_t first, last; /* scans, from 0 on */
		unsigned int events;
		const char *what;
	} rows[] = {
		{0, UINT64_MAX, 0, 5, 1, "all"},
		{1, UINT64_MAX, 0, 5, 1, "from before the first scan"},
		{FIRST_NS - 1, UINT64_MAX, 0, 5, 1, "from just before it"},
		{FIRST_NS, UINT64_MAX, 0, 5, 1, "from the first scan"},
		{FIRST_NS + SECOND / 2 - 1, UINT64_MAX, 0, 5, 1, "from just before the event"},
		{FIRST_NS + SECOND / 2, UINT64_MAX, 0, 5, 0, "from the event on"},
		{FIRST_NS + SECOND, UINT64_MAX, 1, 5, 0, "from the second scan"},
		{FIRST_NS + SECOND + 1, UINT64_MAX, 1, 5, 0, "from just after it"},
		{0, LAST_NS, 0, 5, 1, "to the last scan"},
		{0, LAST_NS - 1, 0, 4, 1, "to just before it"},
		{0, LAST_NS - SECOND, 0, 4, 1, "to the last but one"},
		{0, FIRST_NS, 0, 0, 0, "the first scan alone"},
		{FIRST_NS + SECOND, FIRST_NS + 2 * SECOND, 1, 2, 0, "one second"},
	};

	make_recording(true, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t last_ns = FIRST_NS + rows[i].last * SECOND;

		buf_clear(&gaps);
		cut(rows[i].from_ns, rows[i].to_ns);
		ok(got.first_ns == FIRST_NS + rows[i].first * SECOND, "%s: its first scan",
		   rows[i].what);
		is_u64(got.last_ns, last_ns, "its last scan");
		is_u64(got.ticks, rows[i].last - rows[i].first + 1, "their number");
		is_u64(got.end_ns, last_ns, "the time of its end");
		is_u64(got.first_fds, rows[i].first + 1, "the state at its begin");
		is_u64(got.events, rows[i].events, "the events in it");
		ok(got.hosts == 1 && !got.incidents, "the host, and it is no incident");
		is_u64(gaps.len, 0, "nothing is missing");
	}
}

/* What a recording lacks before the end of a part. */
static void test_gaps(void)
{
	static const char cut_off[] = "recording cut off: it has no end record";
	struct stat st;

	make_recording(true, false);
	buf_clear(&gaps);
	cut(0, UINT64_MAX);
	ok(gaps.s && !strncmp(gaps.s, cut_off, strlen(cut_off)), "no end record");
	is_u64(got.ticks, SCANS, "but all scans");
	buf_clear(&gaps);
	cut(0, FIRST_NS);
	is_u64(gaps.len, 0, "which makes no difference to its begin");
	make_recording(true, true);
	if (stat(path, &st) || truncate(path, st.st_size - 1))
		abort();
	buf_clear(&gaps);
	cut(0, UINT64_MAX);
	ok(gaps.s && strstr(gaps.s, "recording truncated or damaged at offset "),
	   "a file that was cut");
	buf_clear(&gaps);
	recording_gaps(&(struct replay_facts){.damages = 1, .damage_offset = 7, .lost_bytes = 1},
		       &gaps);
	is_str(gaps.s, "recording truncated or damaged at offset 7: 1 byte not read\n",
	       "one byte is lost");
	buf_clear(&gaps);
	recording_gaps(&(struct replay_facts){.at_end = true, .ended = true}, &gaps);
	recording_gaps(&(struct replay_facts){}, &gaps);
	is_u64(gaps.len, 0, "a recording with its end, and one that is still being read");
}

#define AFTER(s)  ((struct moment){MOMENT_AFTER_BEGIN, s})
#define BEFORE(s) ((struct moment){MOMENT_BEFORE_END, s})

/* Opens a part. Returns its descriptor, or the negative exit status; `errors` is what it said. */
static int open_part(struct moment from, struct moment to, const char **errors)
{
	int fd;

	buf_clear(&gaps);
	errors_begin();
	fd = recording_part_open(path, &from, &to, &gaps);
	*errors = errors_end();
	return fd;
}

static void test_moments(void)
{
	static const struct {
		struct moment from, to;
		unsigned int scans; /* 0: nothing is between */
		const char *what;
	} rows[] = {
		{{}, {}, 6, "no moment"},
		{AFTER(0), {}, 6, "from the begin"},
		{AFTER(1), {}, 5, "from the second scan"},
		{AFTER(4.999), {}, 2, "from just before the last scan"},
		{AFTER(5), {}, 0, "from the last scan"},
		{AFTER(6), {}, 0, "from after it"},
		{{}, AFTER(0), 0, "to the begin"},
		{{}, AFTER(0.001), 1, "to just after it"},
		{{}, AFTER(5), 6, "to the last scan"},
		{{}, BEFORE(0), 6, "to the end"},
		{{}, BEFORE(5), 0, "to the begin, from the end"},
		{{}, BEFORE(4), 2, "to the second scan, from the end"},
		{AFTER(2), AFTER(2), 0, "from and to the same scan"},
		{AFTER(2), AFTER(2.001), 1, "a moment"},
		{AFTER(3), AFTER(2), 0, "from after to"},
	};
	char want[512];

	make_recording(true, true);
	snprintf(want, sizeof(want),
		 "faultscope: %s: nothing is between --from and --to: it lasts 5.0 s, from "
		 "2023-11-14T22:13:20.000Z\n  see: faultscope info %s\n",
		 path, path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *said;
		int fd = open_part(rows[i].from, rows[i].to, &said);

		if (rows[i].scans) {
			ok(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC, "%s", rows[i].what);
			read_part(fd);
			is_u64(got.ticks, rows[i].scans, "its scans");
			is_str(said, "", "nothing is said");
			close(fd);
		} else {
			ok(fd == -EXIT_BAD, "%s: %d", rows[i].what, fd);
			is_str(said, want, "which is said");
		}
	}
}

static void test_errors(void)
{
	char want[512];
	const char *said;
	int fd;

	make_recording(false, true);
	snprintf(want, sizeof(want),
		 "faultscope: %s: nothing is between --from and --to: it lasts 5.0 s\n"
		 "  see: faultscope info %s\n",
		 path, path);
	ok(open_part(AFTER(5), NO_MOMENT, &said) == -EXIT_BAD, "without a clock time");
	is_str(said, want, "there is no date");
	snprintf(want, sizeof(want),
		 "faultscope: %s: it has no clock time: give --from and --to as seconds since its "
		 "beginning\n",
		 path);
	ok(open_part((struct moment){MOMENT_CLOCK, 60}, NO_MOMENT, &said) == -EXIT_BAD &&
		   !strcmp(said, want),
	   "a clock time as the begin");
	ok(open_part(NO_MOMENT, (struct moment){MOMENT_CLOCK, 60}, &said) == -EXIT_BAD &&
		   !strcmp(said, want),
	   "or as the end");
	snprintf(path, sizeof(path), "%s", fixture_path("absent.fsr"));
	ok(open_part(NO_MOMENT, NO_MOMENT, &said) == -EXIT_BAD && strstr(said, "absent.fsr"),
	   "no such file");
	errors_begin();
	is_u64(recording_part(path, 0, 1, STDOUT_FILENO + 90, &gaps), EXIT_BAD, "no file for it");
	ok(*errors_end(), "which is said");
	make_recording(true, true);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	errors_begin();
	is_u64(recording_part(path, 0, UINT64_MAX, fd, &gaps), EXIT_BAD, "a full disk");
	ok(strstr(errors_end(), ": No space left on device\n"), "which is said");
	close(fd);
	if (truncate(path, 10))
		abort();
	fd = memfd_create("part", MFD_CLOEXEC);
	errors_begin();
	is_u64(recording_part(path, 0, UINT64_MAX, fd, &gaps), EXIT_BAD, "no recording");
	ok(strstr(errors_end(), "all.fsr"), "which is said, with its name");
	close(fd);
	buf_free(&gaps);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_parts();
	test_gaps();
	test_moments();
	test_errors();
	return tap_done();
}
