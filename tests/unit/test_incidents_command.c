// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what `incidents` and `snapshot` print: the list, pages, and what is deleted or missing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "command_output.h"
#include "incident/incidents.h"
#include "incident/snapshot_socket.h"
#include "render/render.h"
#include "session/commands.h"
#include "tap.h"

#define WALL (1795877792 * SECOND) /* 2026-11-28 14:56:32 UTC */

static int no_metrics(const struct options *o)
{
	(void)o;
	return 0;
}

static int incidents(const struct options *o)
{
	return command_incidents(o, no_metrics);
}

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

/* Fills a ring with a minute of a process whose number of mappings doubles after 30 s. */
static void fill_ring(struct record_ring *ring)
{
	struct host_record host = host_record(1);

	record_ring_take(ring, &host.h);
	for (uint64_t t = 1; t <= 60; t++) {
		struct process_record p = process_record(42, 1, t * SECOND);
		struct tick_record tick = tick_record(t * SECOND);

		p.g.map_count = p.g.map_high = t <= 30 ? 1000 : 2000;
		tick.wall_ns = WALL + t * SECOND;
		record_ring_take(ring, &p.h);
		record_ring_take(ring, &tick.h);
	}
}

/* Stores this number of incidents, a second apart. */
static void store(const char *dir, uint32_t n)
{
	struct store_bounds bounds = {.count = 100};
	struct ring_bounds most = {.bytes = 1 << 20};
	struct record_ring *ring;
	struct incident_store s;

	if (incident_store_open(&s, dir, &bounds) ||
	    record_ring_make(&most, tell_nothing, NULL, &ring))
		exit(1);
	fill_ring(ring);
	for (uint32_t i = 0; i < n; i++) {
		struct incident_record r = RECORD(incident_record, RECORD_INCIDENT, SECOND);
		char name[STORED_NAME_BYTES];

		r.at_ns = 40 * SECOND;
		r.until_ns = 60 * SECOND;
		r.wall_ns = WALL + i * SECOND;
		r.trigger = INCIDENT_OOM;
		snprintf(r.title, sizeof(r.title), "title %u", i);
		stored_name(r.wall_ns, "oom", name);
		incident_store_put(&s, ring, &r, name);
	}
	record_ring_free(ring);
	incident_store_close(&s);
}

static struct options options(const char *dir)
{
	struct options o = {.colour = WHEN_NEVER, .width = 150};

	o.incident.store = dir;
	return o;
}

/* Runs `incidents` with at most three words. */
static void run(struct options *o, char *a, char *b, char *c)
{
	char *argv[] = {a, b, c, NULL};

	o->argv = argv;
	for (o->argc = 0; o->argc < 3 && argv[o->argc];)
		o->argc++;
	run_command(incidents, o);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static size_t files_in(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	for (struct dirent *de; d && (de = readdir(d));)
		n += de->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void test_list(void)
{
	struct options o = options(strdup(fixture_path("list")));

	store(o.incident.store, 3);
	run(&o, NULL, NULL, NULL);
	is_u64(got.status, 0, "the list");
	is_u64(count(got.out, "\n"), 4, "a heading, and three incidents");
	ok(!strncmp(got.out, "  #  when", 9), "the heading");
	ok(strstr(got.out, "  1  2026-11-28T14:56:34Z  oom "), "the newest is the first");
	ok(strstr(got.out, "title 2") < strstr(got.out, "title 0"), "the oldest is the last");
	is_str(got.err, "", "no message");
	o.top = 2;
	run(&o, "list", NULL, NULL);
	is_u64(count(got.out, "title"), 2, "the newest two");
	o.top = 0;
	o.format = &json_renderer;
	run(&o, "list", NULL, NULL);
	is_u64(count(got.out, "\n"), 3, "three lines of JSON");
	is_u64(count(got.out, "{\"type\":\"incident\""), 3, "each is an incident");
	free((char *)o.incident.store);
}

static void test_pages(void)
{
	struct options o = options(strdup(fixture_path("pages")));

	store(o.incident.store, 3);
	run(&o, "show", NULL, NULL);
	is_u64(got.status, 0, "a page");
	ok(!strncmp(got.out, "title 2\n", 8), "of the newest");
	ok(strstr(got.out, "39 s before the trigger, 20 s after it"), "with its times");
	ok(strstr(got.out, "faultscope incidents report 1\n"), "and its number");
	run(&o, "show", "3", NULL);
	ok(!strncmp(got.out, "title 0\n", 8), "of the oldest");
	run(&o, "show", "20261128T145633.000Z-oom.fsr", NULL);
	ok(!strncmp(got.out, "title 1\n", 8), "by the name of the file");
	run(&o, "show", "4", NULL);
	is_u64(got.status, EXIT_FAILED, "a number that is too high");
	is_str(got.err,
	       "faultscope: there is no incident 4: 3 incidents are stored\n  see: faultscope "
	       "incidents\n",
	       "says how many there are");
	run(&o, "show", "x.fsr", NULL);
	is_u64(got.status, EXIT_FAILED, "a file that is missing");
	is_str(got.err, "faultscope: there is no incident x.fsr\n  see: faultscope incidents\n",
	       "says so");
	o.format = &json_renderer;
	run(&o, "show", "2", NULL);
	ok(!strncmp(got.out, "{\"type\":\"incident\"", 18) && count(got.out, "\n") == 1 &&
		   strstr(got.out, "title 1"),
	   "as JSON");
	free((char *)o.incident.store);
}

static void test_deleting(void)
{
	struct options o = options(strdup(fixture_path("delete")));

	store(o.incident.store, 4);
	run(&o, "delete", "1", "4");
	is_u64(got.status, 0, "two incidents are deleted");
	is_str(got.out, "", "nothing is printed");
	is_u64(files_in(o.incident.store), 2, "two are left");
	run(&o, NULL, NULL, NULL);
	ok(strstr(got.out, "title 2") && strstr(got.out, "title 1"), "the others");
	run(&o, "delete", "3", "2");
	is_u64(got.status, EXIT_FAILED, "one that does not exist");
	is_u64(files_in(o.incident.store), 1, "the other is deleted");
	run(&o, "delete", "9", NULL);
	is_str(got.err,
	       "faultscope: there is no incident 9: 1 incident is stored\n  see: faultscope "
	       "incidents\n",
	       "only one is left");
	free((char *)o.incident.store);
}

static void test_comparing(void)
{
	struct options o = options(strdup(fixture_path("compare")));

	store(o.incident.store, 1);
	run(&o, "compare", NULL, NULL);
	is_u64(got.status, EXIT_INCOMPLETE, "a comparison, as /proc alone was read");
	is_str(got.err,
	       "faultscope: incomplete: before (20 s): not measured: everything that needs BPF "
	       "(only /proc was read); the last 40 s: not measured: everything that needs BPF "
	       "(only /proc was read)\n",
	       "the times that are compared");
	ok(strstr(got.out, "2,000"), "the number of mappings doubled");
	free((char *)o.incident.store);
}

/* Stores an incident whose ring begins at `from`, with a scan every second. */
static void store_one(const char *dir, uint64_t from, uint64_t at, uint64_t until)
{
	struct incident_record r = RECORD(incident_record, RECORD_INCIDENT, from * SECOND);
	struct store_bounds bounds = {.count = 1};
	struct ring_bounds most = {.bytes = 1 << 20};
	struct host_record host = host_record(1);
	struct record_ring *ring;
	struct incident_store s;

	if (incident_store_open(&s, dir, &bounds) ||
	    record_ring_make(&most, tell_nothing, NULL, &ring))
		exit(1);
	record_ring_take(ring, &host.h);
	for (uint64_t t = from; t <= until; t++) {
		struct process_record p = process_record(42, 1, t * SECOND);
		struct tick_record tick = tick_record(t * SECOND);

		record_ring_take(ring, &p.h);
		record_ring_take(ring, &tick.h);
	}
	r.at_ns = at * SECOND;
	r.until_ns = until * SECOND;
	incident_store_put(&s, ring, &r, "1T.fsr");
	record_ring_free(ring);
	incident_store_close(&s);
}

/* The last two minutes before the trigger, or the last half, are compared with what was before. */
static void test_compared_times(void)
{
	static const struct {
		uint64_t at, until;
		const char *before, *last; /* NULL: there is nothing to compare with */
	} rows[] = {
		{9, 20, NULL, NULL},
		{10, 20, NULL, NULL},
		{12, 20, "before (1.0 s): ", "the last 9.0 s: "},
		{248, 260, "before (119 s): ", "the last 2m 11s: "},
		{250, 260, "before (2m 00s): ", "the last 2m 10s: "},
		{252, 260, "before (2m 02s): ", "the last 2m 08s: "},
	};
	struct options o = options(strdup(fixture_path("times")));
	char want[512];

	snprintf(want, sizeof(want),
		 "faultscope: %s/1T.fsr: it has nothing before its trigger to compare with\n",
		 o.incident.store);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		store_one(o.incident.store, 10, rows[i].at, rows[i].until);
		run(&o, "compare", "1", NULL);
		if (rows[i].before) {
			is_u64(got.status, EXIT_INCOMPLETE, "a comparison, by /proc alone");
			ok(strstr(got.err, rows[i].before) && strstr(got.err, rows[i].last),
			   "%s and %s", rows[i].before, rows[i].last);
		} else {
			is_u64(got.status, EXIT_FAILED, "a trigger without a time before it");
			is_str(got.err, want, "says so");
		}
	}
	free((char *)o.incident.store);
}

static void test_list_bounds(void)
{
	struct options o = options(strdup(fixture_path("bounds")));

	store(o.incident.store, 3);
	o.top = 3;
	run(&o, "list", NULL, NULL);
	is_u64(count(got.out, "title"), 3, "as many as there are");
	o.top = 4;
	run(&o, "list", NULL, NULL);
	is_u64(count(got.out, "title"), 3, "no more than there are");
	o.top = 1;
	run(&o, "list", NULL, NULL);
	is_u64(count(got.out, "title"), 1, "one");
	run(&o, "show", "0", NULL);
	is_u64(got.status, EXIT_FAILED, "numbers begin with 1");
	is_str(got.err, "faultscope: there is no incident 0\n  see: faultscope incidents\n",
	       "0 is the name of no file");
	run(&o, "show", "1", NULL);
	ok(!got.status && !strncmp(got.out, "title 2\n", 8), "the first one");
	free((char *)o.incident.store);
}

static void test_nothing_stored(void)
{
	struct options o = options(strdup(fixture_path("absent")));
	char want[1024];

	for (int i = 0; i < 2; i++) {
		run(&o, NULL, NULL, NULL);
		snprintf(want, sizeof(want),
			 "faultscope: no incident is stored in %s\n"
			 "  incidents are stored while one of these runs:  faultscope export, "
			 "faultscope record --ring 1h\n"
			 "  to store one now:  sudo faultscope snapshot\n",
			 o.incident.store);
		is_u64(got.status, EXIT_INCOMPLETE, i ? "an empty store" : "no store");
		is_str(got.err, want, "says where incidents come from");
		mkdir(o.incident.store, 0700);
	}
	free((char *)o.incident.store);
	o.incident.store = strdup(fixture_path("file"));
	fclose(fopen(o.incident.store, "w"));
	run(&o, NULL, NULL, NULL);
	snprintf(want, sizeof(want), "faultscope: cannot read %s: Not a directory\n",
		 o.incident.store);
	is_u64(got.status, EXIT_FAILED, "a store that is a file");
	is_str(got.err, want, "says why");
	free((char *)o.incident.store);
}

/* A file that is no incident is listed, since it takes room in the store. */
static void test_damaged(void)
{
	struct options o = options(strdup(fixture_path("damaged")));
	FILE *f;

	store(o.incident.store, 1);
	o.width = 200;
	f = fopen(fixture_path("damaged/20261128T145635.000Z-oom.fsr"), "w");
	fputs("x", f);
	fclose(f);
	run(&o, NULL, NULL, NULL);
	ok(strstr(got.out, "-oom.fsr: damaged, or no recording\n"), "it is listed with the reason");
	is_u64(got.status, EXIT_INCOMPLETE, "the list is incomplete");
	ok(strstr(got.err, "incomplete: 1 of 2 files in "), "and says how many it lacks");
	run(&o, "show", "1", NULL);
	ok(strstr(got.out, ": damaged, or no recording\n"), "its page says so");
	run(&o, "compare", "1", NULL);
	is_u64(got.status, EXIT_FAILED, "it cannot be compared");
	ok(strstr(got.err, "-oom.fsr: damaged, or no recording\n"), "and says why");
	free((char *)o.incident.store);
}

static void test_snapshot(void)
{
	struct options o = options(strdup(fixture_path("snapshot")));
	char *words[] = {"two", "words"}, reason[SNAPSHOT_REASON_BYTES];
	pid_t answers;
	int fd;

	run_command(command_snapshot, &o);
	is_u64(got.status, EXIT_NO_TARGET, "no faultscope answers");
	ok(strstr(got.err, "no running faultscope keeps a ring for"), "says so");
	mkdir(o.incident.store, 0755);
	chmod(fixture_dir, 0755);
	fd = snapshot_listen(o.incident.store);
	answers = fork();
	if (!answers) {
		for (int i = 0; i < 2; i++) {
			struct pollfd p = {.fd = fd, .events = POLLIN};
			int client;

			poll(&p, 1, 10000);
			client = snapshot_accept(fd, reason);
			snapshot_answer(client, i			      ? "-too many"
						: strcmp(reason, "two words") ? "-wrong reason"
									      : "+/a/file");
		}
		_exit(0);
	}
	o.argv = words;
	o.argc = 2;
	run_command(command_snapshot, &o);
	ok(!got.status, "a snapshot");
	is_str(got.out, "/a/file\n", "its file");
	run_command(command_snapshot, &o);
	is_u64(got.status, EXIT_FAILED, "no snapshot");
	is_str(got.err, "faultscope: too many\n", "why");
	waitpid(answers, NULL, 0);
	close(fd);
	free((char *)o.incident.store);
}

static int reported(const struct options *o)
{
	return command_report(o, no_metrics);
}

/* `incidents report` prints what `report` prints of the incident's file. */
static void test_reports(void)
{
	struct options o = options(strdup(fixture_path("reports"))), r = options(NULL);
	static char want[sizeof(got.out)];
	char path[512], *file[] = {path, NULL};
	int status;

	store(o.incident.store, 2);
	run(&o, "report", "2", NULL);
	ok(strstr(got.out, "proc42[42]  maps 2,000"), "a report of the second");
	run(&o, "report", NULL, NULL);
	status = got.status;
	strcpy(want, got.out);
	snprintf(path, sizeof(path), "%s/20261128T145633.000Z-oom.fsr", o.incident.store);
	r.command = CMD_REPORT;
	r.argv = file;
	r.argc = 1;
	run_command(reported, &r);
	is_str(want, got.out, "as report prints the file");
	is_u64(status, got.status, "with its status");
	o.format = r.format = &json_renderer;
	run(&o, "report", "1", NULL);
	ok(!strncmp(got.out, "{\"type\":\"start\"", 15), "JSON: a line for each fact");
	o.report_format = report_format_find("html");
	run(&o, "report", "1", NULL);
	ok(!strncmp(got.out, "<!doctype html>", 15), "a format that is named comes first");
	run(&o, "report", "3", NULL);
	is_u64(got.status, EXIT_FAILED, "there is no third one");
	is_str(got.out, "", "nothing is printed");
	free((char *)o.incident.store);
}

int main(void)
{
	test_reports();
	test_list();
	test_pages();
	test_deleting();
	test_comparing();
	test_compared_times();
	test_list_bounds();
	test_nothing_stored();
	test_damaged();
	test_snapshot();
	return tap_done();
}
