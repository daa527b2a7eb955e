// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what options of the command line mean for a session. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "session/targets.h"
#include "tap.h"

static void test_plan(void)
{
	struct options o = {.interval = 2.5,
			    .duration = 9,
			    .record = "r",
			    .replay = NULL,
			    .output = "o",
			    .children = true};
	struct run_plan p;
	char want[64];

	plan_init(&p, &o);
	ok(p.o == &o && p.interval == 2.5 && p.duration == 9 && p.children, "options are taken");
	ok(p.renderer == &text_renderer && p.whom == WATCH_ALL, "text of all processes");
	is_str(p.mode, "all", "mode");
	is_u64(p.tiers, 0xb, "levels for all processes");
	plan_targets(&p);
	is_str(p.target, "", "no target");
	is_u64(p.tiers, 0xb, "the levels stay");
	o.interval = 0;
	o.format = &json_renderer;
	o.filter.pids = 1;
	o.filter.pid[0] = getpid();
	plan_init(&p, &o);
	ok(p.interval == 1 && p.renderer == &json_renderer, "each second, as JSON");
	plan_targets(&p);
	snprintf(want, sizeof(want), "test_run_plan[%d]", getpid());
	is_str(p.target, want, "name and pid");
	is_str(p.mode, "targets", "mode");
	ok(p.whom == WATCH_TARGETS && p.tiers == 0xf, "all levels");
	o.filter.pids = 3;
	o.filter.pid[1] = 7;
	o.filter.pid[2] = 4294967295U;
	plan_init(&p, &o);
	plan_targets(&p);
	snprintf(want, sizeof(want), "pids %d,7,4294967295", getpid());
	is_str(p.target, want, "several pids");
	o.filter.pids = 40;
	for (int i = 0; i < 40; i++)
		o.filter.pid[i] = 1000000 + i;
	plan_init(&p, &o);
	plan_targets(&p);
	is_u64(strlen(p.target), strlen("pids 1000000") + 13 * 8, "as many as fit");
	ok(!strncmp(p.target, "pids 1000000,1000001,", 21), "%s", p.target);
	o.filter.pids = 0;
	strcpy(o.filter.cgroup, "/a/b");
	plan_init(&p, &o);
	plan_targets(&p);
	is_str(p.target, "cgroup /a/b", "a cgroup");
	ok(p.whom == WATCH_ALL, "of which all processes are watched");
	o.replay = "x";
	plan_init(&p, &o);
	plan_targets(&p);
	is_str(p.target, "", "a recording has its own description");
}

static void view_is(struct session *s, int width, int height, int top, const char *name)
{
	session_measure_view(s);
	ok(s->out.view.width == width && s->out.view.height == height &&
		   s->out.view.top == (unsigned)top,
	   "%s: %d x %d, %d rows", name, s->out.view.width, s->out.view.height,
	   (int)s->out.view.top);
}

static void test_view(void)
{
	struct options o = {};
	struct session s = {.o = &o, .out.fd = -1};

	unsetenv("COLUMNS");
	view_is(&s, 100, 0, 20, "no terminal");
	setenv("COLUMNS", "70", 1);
	view_is(&s, 70, 0, 20, "COLUMNS");
	setenv("COLUMNS", "39", 1);
	view_is(&s, 100, 0, 20, "too narrow");
	setenv("COLUMNS", "40", 1);
	view_is(&s, 40, 0, 20, "just wide enough");
	o.width = 55;
	o.top = 3;
	view_is(&s, 55, 0, 3, "options");
	s.out.redraws = true;
	view_is(&s, 80, 24, 3, "a live view on a terminal without a size");
	o.top = 0;
	view_is(&s, 80, 24, 1000, "shows all processes");
	unsetenv("COLUMNS");
}

static void test_native(void)
{
	struct options o = {.filter = {.pids = 1}};
	pid_t child;

	o.filter.pid[0] = getpid();
	ok(targets_are_native(&o), "this program has 64 bits");
	child = fork();
	if (!child)
		_exit(0);
	waitid(P_PID, child, &(siginfo_t){}, WEXITED | WNOWAIT);
	o.filter.pids = 2;
	o.filter.pid[1] = child;
	ok(!targets_are_native(&o), "a zombie has no program");
	o.filter.pid[0] = child;
	o.filter.pid[1] = getpid();
	ok(!targets_are_native(&o), "each one counts");
	waitpid(child, NULL, 0);
	o.filter.pids = 0;
	ok(targets_are_native(&o), "nothing speaks against no process");
}

int main(void)
{
	test_plan();
	test_view();
	test_native();
	return tap_done();
}
