// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests whose data are withheld by the owner of /proc/PID/maps. stat() is replaced: the test says
 * who owns the file.
 */
#define _GNU_SOURCE
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "collect/withhold.h"
#include "tap.h"
#include "waiting_child.h"

#define BIRTH 1

static struct model m;
static char asked[64]; /* the file of the last stat() */
static int stat_error; /* 0: the owner is known */
static uid_t owner;
static gid_t group;

int stat(const char *path, struct stat *ret)
{
	snprintf(asked, sizeof(asked), "%s", path);
	memset(ret, 0, sizeof(*ret));
	ret->st_uid = owner;
	ret->st_gid = group;
	errno = stat_error;
	return stat_error ? -1 : 0;
}

static bool nothing(long of)
{
	return of == 0;
}

static void owned_by(uid_t uid, gid_t gid, int error)
{
	owner = uid;
	group = gid;
	stat_error = error;
}

static void test_owners(pid_t pid)
{
	const uid_t uid = getuid(), other_uid = uid + 1;
	const gid_t gid = getgid(), other_gid = gid + 1;
	const struct {
		uid_t uid;
		gid_t gid;
		int error;
		bool known, unknown; /* whether a process is shown that the model has, or has not */
		const char *name;
	} rows[] = {
		{uid, gid, 0, true, true, "the caller and its group"},
		{uid, other_gid, 0, false, false, "the caller, with another group"},
		{other_uid, gid, 0, false, false, "another user of the group"},
		{other_uid, other_gid, 0, false, false, "another user"},
		{uid, gid, ENOENT, true, false, "a process that is gone"},
		{uid, gid, EACCES, false, false, "a process whose files cannot be looked at"},
	};
	struct process_record p = process_record(pid, BIRTH, 2 * SECOND);
	struct process_key unknown = {.pid = pid, .start_ns = BIRTH + 1};
	struct withholding w;
	char path[64];

	p.g.uid = uid;
	model_take(&m, &p.h);
	withholding_begin(&w, false);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		owned_by(rows[i].uid, rows[i].gid, rows[i].error);
		ok(withholding_shows(&w, &m, &p.subject) == rows[i].known, "%s, known",
		   rows[i].name);
		ok(withholding_shows(&w, &m, &unknown) == rows[i].unknown, "%s, not known",
		   rows[i].name);
		is_str(asked, path, "this file decides");
	}
}

/* root owns the files of a process that is exiting. Its addresses were the caller's. */
static void test_exiting(pid_t pid)
{
	struct process_key key = {.pid = pid, .start_ns = BIRTH};
	struct withholding w;
	siginfo_t info;

	withholding_begin(&w, false);
	owned_by(getuid() + 1, getgid(), 0);
	ok(!withholding_shows(&w, &m, &key), "a living process that may not be dumped");
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	ok(withholding_shows(&w, &m, &key), "a process that has ended, and was the caller's");
	key.start_ns++;
	ok(!withholding_shows(&w, &m, &key), "one that is not known");
	waitpid(pid, NULL, 0);
	key.start_ns--;
	ok(withholding_shows(&w, &m, &key), "a process without any file");
}

/* Children of the caller's processes are remembered while the parent can be asked. */
static void test_children(void)
{
	struct process_key child = {.pid = 0x7ffffff0, .start_ns = BIRTH};
	struct fork_record fork = RECORD(fork_record, RECORD_FORK, 2 * SECOND);
	const struct {
		bool off, foreign;
		int error;
		bool shown;
		const char *name;
	} rows[] = {
		{false, false, 0, true, "a child of the caller's process"},
		{true, false, 0, false, "a fork before data were withheld"},
		{false, true, 0, false, "a fork in another pid namespace"},
		{false, false, ENOENT, false, "a child of a process that is gone"},
		{false, false, EACCES, false, "a child of a process of another user"},
	};

	fork.subject = child;
	fork.parent = 77;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct withholding w;

		withholding_begin(&w, rows[i].foreign);
		w.on = !rows[i].off;
		owned_by(getuid(), getgid(), rows[i].error);
		withholding_forked(&w, &fork);
		w.on = true;
		w.foreign = false;
		owned_by(getuid(), getgid(), ENOENT);
		ok(withholding_shows(&w, &m, &child) == rows[i].shown, "%s", rows[i].name);
		owned_by(getuid(), getgid(), EACCES);
		ok(!withholding_shows(&w, &m, &child), "it is there, and may not be looked at");
	}
}

/* Each kind of record with addresses or names of files is withheld. */
static void test_kinds(void)
{
	struct process_record p = process_record(78, BIRTH, 2 * SECOND);
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, 1);
	struct symbol_record symbol = RECORD(symbol_record, RECORD_SYMBOL, 1);
	struct host_record host = host_record(1);
	struct withholding w;

	p.g.uid = getuid() + 1;
	model_take(&m, &p.h);
	withholding_begin(&w, false);
	owned_by(getuid(), getgid(), 0);
	s.subject = p.subject;
	s.address = 0x7f0000001000;
	asked[0] = 0;
	withhold(&w, &m, &s.h);
	is_u64(w.records, 1, "the signal of another user's process, by the uid of its record");
	is_str(asked, "", "whoever has the pid by now");
	symbol.ip = 0xffffffff81000000;
	withhold(&w, &m, &symbol.h);
	ok(w.records == 2 && symbol.ip != 0xffffffff81000000, "the address of a kernel symbol");
	withhold(&w, &m, &host.h);
	is_u64(w.records, 2, "the host is nobody's process");
	is_str(host.host, "host", "and keeps its name");
}

int main(void)
{
	pid_t pid = waiting_child(nothing, 0);

	begin_model(&m, NULL);
	test_owners(pid);
	test_exiting(pid);
	test_children();
	test_kinds();
	model_free(&m);
	return tap_done();
}
