// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what `oom --watch` prints when kills happen, and what it stores. The kills come from a
 * recording, as if they happened now.
 */
#define _GNU_SOURCE

#include "cli/messages.h"
#include "command_output.h"
#include "probe/recording.h"
#include "render/render.h"
#include "session/commands.h"
#include "session/oom_store.h"
#include "tap.h"

/* Makes a recording with two kills, between events of another kind. */
static const char *record(void)
{
	static char path[256];
	struct end_record end = RECORD(end_record, RECORD_END, 30 * SECOND);
	struct host_record host = host_record(SECOND / 2);
	struct tick_record tick = tick_record(SECOND);
	struct refused_record refused = refused_record(40, CALL_OPEN, 24);
	struct recorder *rec;
	char error[256];

	strcpy(path, fixture_path("kills.fsr"));
	if (recorder_open(path, true, &rec, error, sizeof(error)))
		exit(1);
	recorder_take(rec, &host.h);
	recorder_take(rec, &tick.h);
	for (uint32_t i = 0; i < 2; i++) {
		struct oom_record r = RECORD(oom_record, RECORD_OOM, (2 + 5 * i) * SECOND);
		struct oom_scene_record scene =
			RECORD(oom_scene_record, RECORD_OOM_SCENE, r.h.t_ns);

		r.subject.pid = r.by = 30; /* the next process may get the pid of the last */
		r.constraint = OOM_NONE;
		r.rss_anon_pages = 100;
		snprintf(r.comm, sizeof(r.comm), "victim%u", 30 + i);
		recorder_take(rec, &r.h);
		scene.subject = r.subject;
		scene.kill_ns = r.h.t_ns;
		scene.wall_ns = (1795877792 + i) * SECOND;
		recorder_take(rec, &scene.h);
		refused.h.t_ns = i ? r.h.t_ns : r.h.t_ns + SECOND;
		refused.subject = r.subject;
		recorder_take(rec, &refused.h);
		tick.h.t_ns = r.h.t_ns + 2 * SECOND;
		recorder_take(rec, &tick.h);
	}
	recorder_take(rec, &end.h);
	recorder_close(rec);
	return path;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static size_t stored(const char *dir)
{
	struct stored_names names;
	size_t n = stored_names_read(dir, &names) ? 0 : names.n;

	stored_names_free(&names);
	return n;
}

static struct options options(const char *path, const char *store, uint64_t keep)
{
	struct options o = {.colour = WHEN_NEVER, .width = 150, .replay = path, .quiet = true};

	o.oom.watch = true;
	o.oom.store = store;
	o.oom.keep = keep;
	return o;
}

static void test_text(const char *path, const char *dir)
{
	struct options o = options(path, dir, 9);
	const char *second;
	char want[512];

	run_command(command_oom, &o);
	ok(!strncmp(got.out, "victim30[30] OOM-killed", 23), "a page of the first kill");
	second = strstr(got.out, "\n\nvictim31[30] OOM-killed");
	ok(second && count(got.out, "OOM-killed") == 2, "an empty line, and that of the second");
	ok(strlen(got.out) > 2 && !strcmp(got.out + strlen(got.out) - 2, "\n\n"),
	   "an empty line behind the last one, as others may follow");
	ok(!strstr(got.out, "EMFILE"), "other events are not printed");
	is_u64(stored(dir), 2, "both are stored");
	o.quiet = false;
	run_command(command_oom, &o);
	snprintf(want, sizeof(want),
		 "faultscope: watching for OOM kills, pages are stored in %s; Ctrl-C ends it\n",
		 dir);
	ok(!strncmp(got.err, want, strlen(want)), "it says what it does, and where it stores");
	o.oom.keep = 0;
	run_command(command_oom, &o);
	ok(!strncmp(got.err, "faultscope: watching for OOM kills; Ctrl-C ends it\n", 51),
	   "or that it watches only");
	o.quiet = true;
	run_command(command_oom, &o);
	ok(!strstr(got.err, "watching"), "--quiet leaves this out");
}

static void test_formats(const char *path)
{
	struct options o = options(path, NULL, 0);

	o.markdown = true;
	run_command(command_oom, &o);
	ok(!strncmp(got.out, "## victim30\\[30\\]", 17) && count(got.out, "## victim") == 2,
	   "Markdown");
	o.markdown = false;
	o.format = &json_renderer;
	run_command(command_oom, &o);
	is_u64(count(got.out, "{\"type\":\"oom_page\""), 2, "JSON");
	is_u64(count(got.out, "\n"), 2, "a line for each kill, and no other");
}

static void test_stores(const char *path)
{
	struct options o = options(path, strdup(fixture_path("one")), 1);
	char want[512];

	run_command(command_oom, &o);
	is_u64(stored(o.oom.store), 1, "as many as are kept");
	free((char *)o.oom.store);
	o.oom.store = strdup(fixture_path("kills.fsr/below"));
	run_command(command_oom, &o);
	is_u64(got.status, EXIT_FAILED, "a store that cannot be made");
	snprintf(want, sizeof(want), "faultscope: cannot make %s: Not a directory\n", o.oom.store);
	is_str(got.err, want, "says why");
	is_str(got.out, "", "nothing is watched");
	free((char *)o.oom.store);
}

int main(void)
{
	char path[256], dir[256];

	strcpy(path, record());
	strcpy(dir, fixture_path("store"));
	test_text(path, dir);
	test_formats(path);
	test_stores(path);
	return tap_done();
}
