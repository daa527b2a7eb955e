// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what the command `oom` prints of stored kills and of recordings. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/messages.h"
#include "command_output.h"
#include "probe/recording.h"
#include "render/render.h"
#include "session/commands.h"
#include "session/oom_store.h"
#include "tap.h"

#define WALL (1795877792 * SECOND) /* 2026-11-28 14:56:32 UTC */

static void run(const struct options *o)
{
	run_command(command_oom, o);
}

static struct oom_record kill_record(uint32_t pid, uint64_t t_ns)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, t_ns);

	r.subject.pid = r.by = pid;
	r.constraint = OOM_NONE;
	r.rss_anon_pages = 100;
	snprintf(r.comm, sizeof(r.comm), "victim%u", pid);
	return r;
}

/* Stores this number of kills, a second apart. */
static void store(const char *dir, uint32_t kills)
{
	struct oom_store s;
	struct model m;

	begin_model(&m, NULL);
	oom_store_open(&s, dir, 9);
	for (uint32_t i = 0; i < kills; i++) {
		struct oom_record r = kill_record(10 + i, (2 + 5 * i) * SECOND);
		struct oom_scene_record c = RECORD(oom_scene_record, RECORD_OOM_SCENE, r.h.t_ns);

		model_take(&m, &r.h);
		c.subject = r.subject;
		c.kill_ns = r.h.t_ns;
		c.wall_ns = WALL + i * SECOND;
		model_take(&m, &c.h);
	}
	oom_store_write(&s, &m);
	model_free(&m);
}

/* Makes a recording with this number of kills. */
static char *record(const char *path, uint32_t kills)
{
	struct end_record end = RECORD(end_record, RECORD_END, 60 * SECOND);
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);
	struct recorder *rec;
	char error[256];

	if (recorder_open(path, true, &rec, error, sizeof(error)))
		exit(1);
	recorder_take(rec, &host.h);
	recorder_take(rec, &tick.h);
	for (uint32_t i = 0; i < kills; i++) {
		struct oom_record r = kill_record(30 + i, (2 + 5 * i) * SECOND);

		recorder_take(rec, &r.h);
	}
	recorder_take(rec, &end.h);
	recorder_close(rec);
	return strdup(path);
}

static struct options options(const char *dir)
{
	struct options o = {.colour = WHEN_NEVER, .width = 150};

	o.oom.store = dir;
	o.oom.keep = 9;
	return o;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

static void test_store(void)
{
	struct options o = options(strdup(fixture_path("store")));
	const char *first, *last;

	store(o.oom.store, 3);
	run(&o);
	is_u64(got.status, 0, "a page");
	ok(!strncmp(got.out, "victim12[12] OOM-killed", 23), "of the newest kill: %.40s", got.out);
	is_u64(count(got.out, "OOM-killed"), 1, "only one");
	last = strstr(got.out, "\n\n2 older kills are stored: faultscope oom --list\n");
	ok(last && strlen(last) == 50, "and how many older ones there are");
	is_str(got.err, "", "no message");
	o.markdown = true;
	run(&o);
	ok(!strncmp(got.out, "## victim12\\[12\\]", 17) && !strstr(got.out, "older"),
	   "in Markdown");
	o.markdown = false;
	o.format = &json_renderer;
	run(&o);
	ok(!strncmp(got.out, "{\"type\":\"oom_page\"", 18) && count(got.out, "\n") == 1,
	   "one line of JSON");
	o.oom.list = true;
	run(&o);
	is_u64(count(got.out, "{\"type\":\"oom_page\""), 3, "all as JSON");
	is_u64(count(got.out, "\n"), 3, "each is a line");
	o.format = NULL;
	run(&o);
	is_u64(got.status, 0, "a list");
	is_u64(count(got.out, "\n"), 4, "of three kills, and a heading");
	ok(!strncmp(got.out, "when ", 5), "the heading");
	first = strstr(got.out, "victim12[12]");
	last = strstr(got.out, "victim10[10]");
	ok(first && last && first < last, "the newest is first");
	ok(strstr(got.out, fixture_path("store/20261128T145632.000Z-10.fsr")), "with their files");
	free((char *)o.oom.store);
}

static void test_nothing_stored(void)
{
	struct options o = options(strdup(fixture_path("absent")));
	char want[1024];

	for (int i = 0; i < 2; i++) {
		run(&o);
		snprintf(want, sizeof(want),
			 "faultscope: no OOM kill is stored in %s\n"
			 "  kills are stored while one of these runs:  faultscope export, "
			 "faultscope oom --watch\n"
			 "  a recording has kills too:  faultscope oom FILE.fsr\n"
			 "  earlier kills are only in the kernel log:  dmesg | grep -i 'killed "
			 "process'\n",
			 o.oom.store);
		is_u64(got.status, EXIT_INCOMPLETE, i ? "an empty store" : "no store");
		is_str(got.err, want, "says where kills come from");
		is_str(got.out, "", "prints nothing");
		free((char *)o.oom.store);
		o.oom.store = strdup(fixture_path("empty"));
		mkdir(o.oom.store, 0700);
	}
	free((char *)o.oom.store);
	o.oom.store = strdup(fixture_path("file"));
	fclose(fopen(o.oom.store, "w"));
	run(&o);
	snprintf(want, sizeof(want), "faultscope: cannot read %s: Not a directory\n", o.oom.store);
	is_u64(got.status, EXIT_FAILED, "a store that is a file");
	is_str(got.err, want, "says why");
	free((char *)o.oom.store);
}

static void test_recordings(void)
{
	struct options o = options(NULL);
	char *files[] = {record(fixture_path("two.fsr"), 2), record(fixture_path("none.fsr"), 0),
			 strdup(fixture_path("absent.fsr"))};
	const char *first, *last;

	o.argv = files;
	o.argc = 2;
	run(&o);
	is_u64(got.status, 0, "recordings");
	first = strstr(got.out, "victim30[30] OOM-killed");
	last = strstr(got.out, "\n\nvictim31[31] OOM-killed");
	ok(first == got.out && last, "pages in the order of the kills, with a line between them");
	ok(!strstr(got.out, "stored"), "nothing about the store");
	o.oom.list = true;
	run(&o);
	first = strstr(got.out, "victim31[31]");
	last = strstr(got.out, "victim30[30]");
	ok(first && last && first < last, "a list has the newest first");
	o.argv = files + 1;
	o.argc = 1;
	run(&o);
	is_u64(got.status, EXIT_INCOMPLETE, "a recording without kills");
	is_str(got.err, "faultscope: no OOM kill is in the recording\n", "says so");
	o.argc = 2;
	run(&o);
	is_u64(got.status, EXIT_FAILED, "a file that is missing");
	ok(strstr(got.err, "absent.fsr") && !strstr(got.err, "no OOM kill"), "is an error: %s",
	   got.err);
	o.argv = (char *[]){files[2], files[0]};
	o.oom.list = false;
	run(&o);
	is_u64(got.status, EXIT_FAILED, "then another one");
	is_u64(count(got.out, "OOM-killed"), 2, "whose kills are printed");
	o.argv = (char *[]){files[1], files[1]};
	run(&o);
	is_str(got.err, "faultscope: no OOM kill is in the recordings\n", "several without kills");
	for (int i = 0; i < 3; i++)
		free(files[i]);
}

/* The page of one kill says nothing about older ones; that of the newer of two does. */
static void test_few(void)
{
	struct options o = options(strdup(fixture_path("few")));

	store(o.oom.store, 1);
	run(&o);
	ok(!got.status && !strncmp(got.out, "victim10[10] OOM-killed", 23), "the only kill");
	ok(!strstr(got.out, "older"), "without a word about others");
	o.oom.list = true;
	run(&o);
	is_u64(count(got.out, "victim10"), 1, "a list of one");
	o.oom.list = false;
	free((char *)o.oom.store);
	o.oom.store = strdup(fixture_path("two"));
	store(o.oom.store, 2);
	run(&o);
	ok(!strncmp(got.out, "victim11[11] OOM-killed", 23), "the newer of two");
	ok(strstr(got.out, "\n\n1 older kill is stored: faultscope oom --list\n"),
	   "and that there is another");
	free((char *)o.oom.store);
}

int main(void)
{
	test_store();
	test_few();
	test_nothing_stored();
	test_recordings();
	return tap_done();
}
