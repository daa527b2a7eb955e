// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests when a collector looks up the names of the processes of a machine, which the test makes. */
#include "fakeroot.h"

#include <inttypes.h>

#include "collect/collector.h"
#include "fixture.h"
#include "tap.h"

#define PID	7
#define TICKS	9		      /* birth of the process, in clock ticks of /proc */
#define BIRTH	(TICKS * 10000000ULL) /* in ns */
#define ALICE	1000
#define CGROUP	55
#define CGROUP2 56

static struct fakeroot root;
static struct model m;
static struct collector c;
static struct process_record p;

/* Writes the /proc files of the process. */
static void put(const char *exe, const char *cgroup, const char *command)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/stat", PID);
	fake_file(&root, path, "%u (a b) S 1 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 %u 1 1\n", PID,
		  TICKS);
	snprintf(path, sizeof(path), "proc/%u/cgroup", PID);
	fake_file(&root, path, "4:memory:%s\n0::/\n", cgroup);
	snprintf(path, sizeof(path), "proc/%u/exe", PID);
	fake_link(&root, path, exe);
	snprintf(path, sizeof(path), "proc/%u/cmdline", PID);
	fake_file(&root, path, "%s", command);
}

/* The process ends: its pid is free. */
static void take_away(void)
{
	static const char *const files[] = {"stat", "cgroup", "exe", "cmdline"};
	char path[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "proc/%u/%s", PID, files[i]);
		fake_remove(&root, path);
	}
}

static struct subject *subject(void)
{
	return model_find(&m, &p.subject);
}

/* Takes a record of the process, as the present value of `p`. */
static struct subject *scan(void)
{
	p.h.t_ns += SECOND;
	if (collector_take(&c, &p.h))
		abort();
	return subject();
}

/* Begins with a process whose names are known. */
static struct subject *begin(void)
{
	begin_model(&m, NULL);
	c = (struct collector){.m = &m, .live = true};
	c.names.root = dup(root.fd);
	c.names.commands = true;
	fake_file(&root, "etc/passwd", "root:x:0:0::/:/bin/sh\nalice:x:1000:100::/:/bin/sh\n");
	put("/bin/one", "/one", "one -a");
	p = process_record(PID, BIRTH, SECOND);
	p.g.uid = ALICE;
	p.g.cgroup_id = CGROUP;
	return scan();
}

static void end(void)
{
	collector_free(&c);
	model_free(&m);
}

static void names_are(const struct subject *s, const char *exe, const char *cgroup,
		      const char *command, const char *what)
{
	is_str(s->exe, exe, what);
	is_str(s->cgroup, cgroup, "  its cgroup");
	is_str(s->command, command, "  its command line");
}

static void test_first(void)
{
	struct subject *s = begin();

	names_are(s, "/bin/one", "/one", "one -a", "the names of a new process");
	is_str(s->user, "alice", "the name of its user");
	put("/bin/two", "/two", "two");
	names_are(scan(), "/bin/one", "/one", "one -a", "they are looked up once");
	end();
	begin_model(&m, NULL);
	c = (struct collector){.m = &m};
	c.names.root = dup(root.fd);
	s = scan();
	ok(!s->exe && !s->cgroup, "a recording has its own names: none is looked up here");
	end();
}

static void test_changes(void)
{
	struct cgroup_path_record moved = RECORD(cgroup_path_record, RECORD_CGROUP, SECOND);
	struct subject *s = begin();

	put("/bin/two", "/one", "two");
	p.g.execs++;
	names_are(scan(), "/bin/two", "/one", "two", "a new program");
	put("/bin/two", "/two", "two");
	p.g.cgroup_id = CGROUP2;
	names_are(scan(), "/bin/two", "/two", "two", "a new cgroup");
	p.g.uid = 0;
	is_str(scan()->user, "root", "a new user");
	put("/bin/two", "/three", "two");
	moved.id = 1;
	moved.hierarchy = 4;
	moved.pid = PID + 1;
	strcpy(moved.path, "/three");
	collector_take(&c, &moved.h);
	is_str(scan()->cgroup, "/two", "another process moved to a cgroup of version 1");
	moved.pid = PID;
	c.live = false;
	collector_take(&c, &moved.h);
	c.live = true;
	is_str(scan()->cgroup, "/two", "this one moved, on the machine of a recording");
	collector_take(&c, &moved.h);
	is_str(scan()->cgroup, "/three", "this one moved on this machine");
	ok(s == subject(), "it is the same process");
	end();
}

/* /proc no longer has the process. */
static void test_gone(void)
{
	begin();
	take_away();
	p.g.cgroup_id = CGROUP2;
	p.g.flags |= PROC_FINAL;
	names_are(scan(), "/bin/one", "/one", "one -a", "the last names of a process that moved");
	end();

	begin();
	take_away();
	p.g.execs++;
	names_are(scan(), NULL, "/one", NULL, "a program that started and ended has no old name");
	end();

	begin();
	take_away();
	p.subject.start_ns += SECOND;
	names_are(scan(), NULL, NULL, NULL, "another process with this pid has no names");
	end();
}

/* The record of an exec arrives after a scan has counted the exec, and the process is gone. */
static void test_late_exec(void)
{
	struct exec_record e = RECORD(exec_record, RECORD_EXEC, 5 * SECOND);

	begin();
	take_away();
	p.g.execs = 3;
	scan();
	e.subject = p.subject;
	strcpy(e.path, "/bin/late");
	e.execs = 2;
	collector_take(&c, &e.h);
	is_str(subject()->exe, NULL, "the path of an earlier exec is not the program's");
	e.execs = 3;
	collector_take(&c, &e.h);
	is_str(subject()->exe, "/bin/late", "the path of the counted exec is");
	is_str(subject()->cgroup, "/one", "its cgroup stays");
	end();

	begin();
	take_away();
	p.g.execs = 3;
	p.g.flags |= PROC_FINAL;
	scan();
	e.subject = p.subject;
	collector_take(&c, &e.h);
	is_str(subject()->exe, NULL, "a process whose last record was received is not changed");
	end();
}

/* The view shows a process by the cgroup that was looked up, from its first record on. */
static void test_view(void)
{
	struct filter one = {.cgroup = "/one"}, two = {.cgroup = "/two"};
	struct subject *s = begin();

	c.filter = &two;
	ok(!s->hidden && scan()->hidden, "a process of another cgroup is hidden");
	c.filter = &one;
	ok(!scan()->hidden, "one of this cgroup is shown");
	put("/bin/one", "/two", "one -a");
	p.g.cgroup_id = CGROUP2;
	ok(scan()->hidden, "it is hidden as soon as it moves away");
	end();
}

int main(void)
{
	root = fakeroot_make();
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	test_first();
	test_changes();
	test_gone();
	test_late_exec();
	test_view();
	fakeroot_free(&root);
	return tap_done();
}
