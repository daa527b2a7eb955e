// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what `blackbox read` and `blackbox status` print of records, and what they return. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <time.h>

#include "blackbox/ring_record.h"
#include "command_output.h"
#include "crash/blackbox_command.h"
#include "tap.h"

static char bytes[64 * BB_RECORD_MAX];
static size_t size;

static struct bb_record example(uint64_t sequence, enum bb_class class, enum bb_severity severity)
{
	struct bb_record r = {.sequence = sequence,
			      .boot_ns = sequence * SECOND,
			      .wall_ns = (1700000000 + sequence) * SECOND,
			      .class = class,
			      .severity = severity,
			      .count = 1};

	memset(r.boot_id, 0x5a, sizeof(r.boot_id));
	return r;
}

static void begin(void)
{
	memset(bytes, 0, sizeof(bytes));
	size = 0;
}

static void add(const struct bb_record *r)
{
	bb_encode(r, (uint8_t *)bytes + size);
	size += BB_RECORD_MAX;
}

static void add_line(uint64_t sequence, enum bb_severity severity, const char *line)
{
	struct bb_record r = example(sequence, BB_CONSOLE, severity);

	bb_put(&r, "line", line);
	add(&r);
}

/* Writes the records to a file, and runs a command on it. */
static void run(const char *action, const struct renderer *format)
{
	char *path = strdup(fixture_path("ring")), *argv[] = {(char *)action, path, NULL};
	struct options o = {.argc = strcmp(action, "status") ? 2 : 1,
			    .argv = argv,
			    .colour = WHEN_NEVER,
			    .width = 200,
			    .format = format};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	o.blackbox.file = path;
	run_command(command_blackbox, &o);
	free(path);
}

static void complains(const char *text)
{
	if (!ok(strstr(got.err, text) != NULL, "%s", text))
		printf("# %s\n", got.err);
}

static void shows(const char *text)
{
	if (!ok(strstr(got.out, text) != NULL, "%s", text))
		printf("# %s\n", got.out);
}

static void test_read(void)
{
	begin();
	add_line(1, BB_INFO, "a note");
	add_line(2, BB_WARNING, "a warning");
	run("read", NULL);
	is_u64(got.status, EXIT_DONE, "records without an error");
	is_str(got.out,
	       "boot 5a5a5a5a: 2 records since 2023-11-14T22:13:21Z; last sign of life at "
	       "2023-11-14T22:13:22Z, 2.000000 s after the boot\n"
	       "    1.000000  info      console     line=\"a note\"\n"
	       "    2.000000  warning   console     line=\"a warning\"\n"
	       "2 records of 1 boot, 0 torn\n",
	       "are printed");
	is_str(got.err, "", "nothing is missing");
	run("read", &json_renderer);
	shows("\"type\":\"blackbox_end\"");
	add_line(3, BB_CRITICAL, "an error");
	run("read", NULL);
	is_u64(got.status, EXIT_GATE, "an error");
	is_str(got.err, "", "nothing is missing");
}

static void test_gaps(void)
{
	begin();
	run("read", NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "an empty file");
	complains("incomplete: nothing was read: there is no record");
	begin();
	add_line(1, BB_INFO, "a note");
	add_line(4, BB_INFO, "another");
	run("read", NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "numbers are missing");
	complains("incomplete: lost: 2 records that were overwritten or never written\n");
	begin();
	add_line(1, BB_INFO, "a note");
	add_line(2, BB_CRITICAL, "an error");
	bytes[BB_RECORD_MAX + 40] ^= 1;
	run("read", NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "a torn record");
	complains("incomplete: lost: 1 record that is torn\n");
	shows("1 record of 1 boot, 1 torn\n");
}

static void test_no_file(void)
{
	char *argv[] = {"read", "/nowhere/ring", NULL};
	struct options o = {.argc = 2, .argv = argv, .colour = WHEN_NEVER};

	run_command(command_blackbox, &o);
	is_u64(got.status, EXIT_FAILED, "a file that does not exist");
	complains("cannot read /nowhere/ring: No such file or directory\n");
	is_str(got.out, "", "nothing is printed");
	argv[0] = "status";
	o.argc = 1;
	o.blackbox.file = argv[1];
	run_command(command_blackbox, &o);
	is_u64(got.status, EXIT_FAILED, "the status of one that does not exist");
	complains("no recorder has written here: cannot read /nowhere/ring: No such file or "
		  "directory\n  try:  faultscope blackbox run\n");
}

static void test_status(void)
{
	struct bb_record beat = example(2, BB_HEARTBEAT, BB_INFO), stop;

	begin();
	run("status", NULL);
	is_u64(got.status, EXIT_FAILED, "a file without a record");
	complains("ring holds no record\n");
	add_line(1, BB_INFO, "a note");
	run("status", NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "a recorder that never said that it lives");
	complains("not read: there is no sign of life of the recorder\n");
	add_line(2, BB_INFO, "another");
	beat.wall_ns = UINT64_MAX / 2; /* a clock that was set back: it is no time ago */
	bb_put_u64(&beat, "pid", 42);
	add(&beat);
	run("status", NULL);
	is_u64(got.status, EXIT_DONE, "a recorder that lives");
	is_str(got.out, "last sign of life 0 s ago\n    2.000000  info      heartbeat   pid=42\n",
	       "its last heartbeat");
	stop = example(3, BB_STOP, BB_INFO);
	add(&stop);
	run("status", NULL);
	shows("last sign of life 0 s ago; ended in order\n");
	beat.boot_ns++;
	bb_put_u64(&beat, "dropped.fault", 2);
	bb_put_u64(&beat, "dropped.panic", 3);
	bb_put_u64(&beat, "dropped.heartbeat", 4);
	bb_put_u64(&beat, "failed.map", 0);
	bb_put_u64(&beat, "failed.kmsg", 1);
	bb_put_u64(&beat, "failed.file", 5);
	add(&beat);
	run("status", NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "a recorder that lost something");
	is_str(got.err,
	       "faultscope: incomplete: lost: 2 records of class fault; lost: 3 records of class "
	       "panic; lost: 5 records that file could not keep; lost: 1 record that kmsg could "
	       "not keep\n",
	       "says what, in its newest heartbeat");
	beat = example(2, BB_HEARTBEAT, BB_INFO);
	beat.wall_ns = (time(NULL) - 1000) * SECOND;
	beat.boot_ns += 1000;
	add(&beat);
	run("status", NULL);
	ok(!strncmp(got.out, "last sign of life 10", 20) && strstr(got.out, " s ago; ended"),
	   "a heartbeat some time ago");
}

static void test_words(void)
{
	begin();
	run("rnu", NULL);
	is_u64(got.status, EXIT_USAGE, "a word that is no action");
	is_str(got.err,
	       "faultscope: blackbox rnu: not understood\n"
	       "  see: faultscope blackbox --help\n"
	       "  did you mean: run\n",
	       "says what is meant");
}

int main(void)
{
	test_read();
	test_gaps();
	test_no_file();
	test_status();
	test_words();
	return tap_done();
}
