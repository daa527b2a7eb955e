// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests where records are written, in which format and order, and what counts as failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "blackbox/scan.h"
#include "recorder/record_sinks.h"
#include "tap.h"

#define ALL   ((1u << NR_SINKS) - 1)
#define SLOTS 4

static char place[64];
static uint8_t map[SLOTS * RING_SLOT];

static const char *below(const char *name, char ret[128])
{
	snprintf(ret, 128, "%s/%s", place, name);
	return ret;
}

static void make_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		abort();
	close(fd);
}

/* Reads the records in a file, in their order. Returns the number of bytes of the file. */
static size_t records_in(const char *path, struct bb_found *ret)
{
	static char bytes[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

	memset(ret, 0, sizeof(*ret));
	bb_scan(ret, bytes, n > 0 ? n : 0);
	if (fd >= 0)
		close(fd);
	return n > 0 ? n : 0;
}

static bool file_has(const char *path, const char *text)
{
	char bytes[4096] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strstr(bytes, text);
}

static void has(const char *path, size_t want, const char *what)
{
	struct bb_found f;

	records_in(path, &f);
	is_u64(f.n, want, what);
	for (size_t i = 0; i + 1 < f.n; i++)
		ok(f.record[i].sequence < f.record[i + 1].sequence, "in order");
	bb_found_free(&f);
}

static struct bb_record example(enum bb_severity severity)
{
	struct bb_record r = {.class = BB_FAULT, .severity = severity, .count = 1};

	bb_put(&r, "symbol", "f+0x1");
	return r;
}

static void test_names(void)
{
	for (int i = 0; i < NR_SINKS; i++)
		ok(sink_find(sink_rows[i].name) == i, "%s is found", sink_rows[i].name);
	ok(sink_find("none") == -1, "another name is not");
}

static void test_places(void)
{
	char marker[128], pmsg[128], kmsg[128], file[128];
	struct bb_record info = example(BB_INFO), warning = example(BB_WARNING),
			 critical = example(BB_CRITICAL), beat = example(BB_INFO);
	struct record_sinks r;
	struct sink_options o = {.record_sinks = ALL,
				 .file = below("file", file),
				 .file_bytes = 64 << 10,
				 .marker = below("marker", marker),
				 .pmsg = below("pmsg", pmsg),
				 .kmsg = below("kmsg", kmsg),
				 .map = map,
				 .map_slots = SLOTS};
	struct bb_found f = {};

	make_empty(marker);
	make_empty(pmsg);
	make_empty(kmsg);
	sinks_open(&r, &o);
	is_u64(sinks_on(&r), NR_SINKS, "all places are in use");
	r.dropped[BB_FAULT] = 5;
	critical.boot_ns = 77;
	sinks_write(&r, &info);
	sinks_write(&r, &warning);
	sinks_write(&r, &critical);
	is_u64(info.sequence, 1, "the first sequence number");
	is_u64(critical.sequence, 3, "the third");
	ok(info.wall_ns > 1500000000ull * 1000000000 && info.boot_ns, "the current times");
	is_u64(critical.boot_ns, 77, "a given time stays");
	is_u64(info.dropped, 5, "the number of dropped records of the class");
	has(marker, 3, "the marker has them at once");
	has(pmsg, 3, "so has pmsg");
	has(kmsg, 0, "the kernel log has none before the flush");
	sinks_flush(&r);
	has(kmsg, 2, "then it has warnings and errors");
	ok(file_has(kmsg, "<4>" BB_LINE_BEGINS) && file_has(kmsg, "\n<2>" BB_LINE_BEGINS),
	   "with their levels");
	has(file, 3, "the ring file has all");
	bb_scan(&f, map, sizeof(map));
	is_u64(f.n, 3, "so has the map");
	bb_found_free(&f);
	sinks_beat(&r, &beat);
	is_u64(beat.sequence, 3, "a heartbeat has the last sequence number");
	ok(beat.class == BB_HEARTBEAT, "and its class");
	is_u64(r.sequence, 3, "and takes none");
	for (int i = 0; i < NR_SINKS; i++) {
		is_u64(r.record_sink[i].written, i == SINK_KMSG ? 2 : 4, sink_rows[i].name);
		is_u64(r.record_sink[i].failed, 0, "nothing failed");
	}
	for (int i = 0; i < 3; i++) {
		info = example(BB_INFO);
		sinks_write(&r, &info);
	}
	memset(&f, 0, sizeof(f));
	bb_scan(&f, map, sizeof(map));
	is_u64(f.n, SLOTS, "a full map keeps the newest records");
	ok(f.n == SLOTS && f.record[0].sequence + f.record[1].sequence + f.record[2].sequence +
					   f.record[3].sequence ==
				   3 + 4 + 5 + 6,
	   "and the heartbeat's slot is used like others");
	bb_found_free(&f);
	sinks_close(&r);

	sinks_open(&r, &o);
	is_u64(r.sequence, 6, "a ring file continues its sequence numbers");
	sinks_close(&r);
}

/* Records that wait for the kernel log are written when there is no more room for them. */
static void test_later(void)
{
	struct record_sinks r;
	char kmsg[128];
	struct sink_options o = {.record_sinks = 1u << SINK_KMSG, .kmsg = below("kmsg2", kmsg)};

	make_empty(kmsg);
	sinks_open(&r, &o);
	is_u64(sinks_on(&r), 1, "only the kernel log is in use");
	for (int i = 0; i < SINK_LATER; i++) {
		struct bb_record one = example(BB_WARNING);

		sinks_write(&r, &one);
	}
	has(kmsg, 0, "as many as there is room for wait");
	sinks_write(&r, &(struct bb_record){.class = BB_FAULT, .severity = BB_CRITICAL});
	has(kmsg, SINK_LATER, "one more, and those are written");
	sinks_close(&r);
	has(kmsg, SINK_LATER + 1, "at the end, all are");
}

static void test_failures(void)
{
	char marker[128];
	struct record_sinks r;
	struct sink_options o = {.record_sinks = ALL & ~(1u << SINK_FILE),
				 .marker = below("late", marker),
				 .pmsg = "/dev/full",
				 .kmsg = NULL};
	struct bb_record one = example(BB_WARNING);

	sinks_open(&r, &o);
	is_u64(sinks_on(&r), 1, "one place can be opened");
	is_u64(r.record_sink[SINK_MAP].error, ENOENT, "there is no map");
	is_u64(r.record_sink[SINK_MARKER].error, ENOENT, "nor a marker yet");
	is_u64(r.record_sink[SINK_KMSG].error, ENOENT, "nor a kernel log");
	is_u64(r.record_sink[SINK_FILE].error, 0, "the file is not requested");
	sinks_write(&r, &one);
	sinks_write(&r, &one);
	is_u64(r.record_sink[SINK_PMSG].failed, 2, "two writes failed");
	is_u64(r.record_sink[SINK_PMSG].written, 0, "none succeeded");
	is_u64(r.record_sink[SINK_PMSG].error, ENOSPC, "for this reason");
	is_u64(r.nr_later, 0, "nothing waits for a kernel log that is not in use");
	make_empty(below("late", marker));
	sinks_beat(&r, &one);
	ok(r.record_sink[SINK_MARKER].on, "a heartbeat opens what is there by now");
	is_u64(sinks_on(&r), 2, "two places are in use");
	is_u64(r.record_sink[SINK_MARKER].written, 1, "and the heartbeat is there");
	sinks_close(&r);
	o = (struct sink_options){.record_sinks = 1u << SINK_KMSG, .kmsg = place};
	sinks_open(&r, &o);
	is_u64(r.record_sink[SINK_KMSG].error, EISDIR, "the reason why one cannot be opened");
	is_u64(sinks_on(&r), 0, "no place is in use");
	sinks_close(&r);
}

int main(void)
{
	static const char *const names[] = {"file", "marker", "pmsg", "kmsg", "kmsg2", "late"};
	char path[128];

	strcpy(place, "/tmp/test_record_sinks.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	test_names();
	test_places();
	test_later();
	test_failures();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(below(names[i], path));
	rmdir(place);
	return tap_done();
}
