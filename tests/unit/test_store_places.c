// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where stored OOM kills and incidents are looked for if no --store is given: in the store of
 * faultscope, or else in that of its service. /var/lib is a directory of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <dirent.h>

#include "cli/messages.h"
#include "command_output.h"
#include "probe/recording.h"
#include "render/render.h"
#include "session/commands.h"
#include "session/oom_store.h"
#include "tap.h"

#define LIB "/var/lib/"

static char lib[128]; /* the directory that stands for /var/lib */

/* Returns the path of this test that a path leads to. */
static const char *led(const char *path)
{
	static char ret[1024];

	if (strncmp(path, LIB, strlen(LIB)))
		return path;
	snprintf(ret, sizeof(ret), "%s/%s", lib, path + strlen(LIB));
	return ret;
}

int open(const char *path, int flags, ...)
{
	return (int)syscall(SYS_openat, AT_FDCWD, led(path), flags, 0600);
}

int openat(int dir, const char *path, int flags, ...)
{
	return (int)syscall(SYS_openat, dir, led(path), flags, 0600);
}

DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

/* Stores a kill in a directory. */
static void store(const char *name, uint32_t pid)
{
	struct oom_scene_record scene = RECORD(oom_scene_record, RECORD_OOM_SCENE, 2 * SECOND);
	struct oom_record r = RECORD(oom_record, RECORD_OOM, 2 * SECOND);
	char dir[256];
	struct oom_store s;
	struct model m;

	snprintf(dir, sizeof(dir), "%s/%s", lib, name);
	begin_model(&m, NULL);
	r.subject.pid = pid;
	snprintf(r.comm, sizeof(r.comm), "victim%u", pid);
	model_take(&m, &r.h);
	scene.subject = r.subject;
	scene.kill_ns = r.h.t_ns;
	scene.wall_ns = 1795877792 * SECOND;
	model_take(&m, &scene.h);
	if (oom_store_open(&s, dir, 9) || oom_store_write(&s, &m))
		exit(1);
	model_free(&m);
}

static int no_metrics(const struct options *o)
{
	(void)o;
	return 0;
}

static int incidents(const struct options *o)
{
	return command_incidents(o, no_metrics);
}

static void test_kills(void)
{
	struct options o = {.colour = WHEN_NEVER, .width = 150};

	run_command(command_oom, &o);
	is_u64(got.status, EXIT_INCOMPLETE, "no store");
	ok(strstr(got.err, "no OOM kill is stored in /var/lib/faultscope/oom\n"),
	   "the usual place is named");
	store("faultscope-exporter/oom", 20);
	run_command(command_oom, &o);
	is_u64(got.status, 0, "a store of the service alone");
	ok(!strncmp(got.out, "victim20[20]", 12), "its kill is shown");
	is_str(got.err, "", "no error");
	o.oom.list = true;
	run_command(command_oom, &o);
	ok(strstr(got.out, " /var/lib/faultscope-exporter/oom/20261128T145632.000Z-20.fsr"),
	   "the list has the paths of its files");
	o.oom.list = false;
	store("faultscope/oom", 30);
	run_command(command_oom, &o);
	ok(!strncmp(got.out, "victim30[30]", 12), "the usual place comes first");
	o.oom.store = fixture_path("lib/none");
	run_command(command_oom, &o);
	is_u64(got.status, EXIT_INCOMPLETE, "a store that is named");
	is_str(got.out, "", "is the only one");
}

static void test_incidents(void)
{
	struct options o = {.colour = WHEN_NEVER, .width = 150};

	run_command(incidents, &o);
	is_u64(got.status, EXIT_INCOMPLETE, "no store of incidents");
	ok(strstr(got.err, "/var/lib/faultscope/incidents"), "the usual place is named");
}

int main(void)
{
	strcpy(lib, fixture_path("lib"));
	mkdir(lib, 0755);
	mkdir(fixture_path("lib/faultscope"), 0755);
	mkdir(fixture_path("lib/faultscope-exporter"), 0755);
	test_kills();
	test_incidents();
	return tap_done();
}
