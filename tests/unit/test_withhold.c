// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which data of other users' processes is withheld if faultscope has file capabilities. */
#define _GNU_SOURCE
#include "fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "collect/withhold.h"
#include "tap.h"
#include "waiting_child.h"

#define BIRTH 1

static struct model m;

static bool set_dumpable(long dumpable)
{
	return !prctl(PR_SET_DUMPABLE, dumpable);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct process_key known(uint32_t pid, uint32_t uid)
{
	struct process_record p = process_record(pid, BIRTH, 2 * SECOND);

	p.g.uid = uid;
	model_take(&m, &p.h);
	return p.subject;
}

static void test_who_shows(void)
{
	static struct withholding w;
	pid_t pid = waiting_child(set_dumpable, true);
	struct process_key own = known(pid, getuid()), other = known(pid + 1, getuid() + 1),
			   unknown = {.pid = pid, .start_ns = BIRTH + 1};
	struct fork_record fork = RECORD(fork_record, RECORD_FORK, 2 * SECOND);

	ok(withholding_shows(&w, &m, &other), "where nothing is withheld all is shown");
	withholding_begin(&w, false);
	ok(withholding_shows(&w, &m, &own), "a process of the caller is shown");
	ok(!withholding_shows(&w, &m, &other), "one of another user is not");
	ok(withholding_shows(&w, &m, &unknown), "one that is there is asked, known or not");
	fork.subject = unknown;
	fork.parent = getpid();
	end_child(pid);
	ok(withholding_shows(&w, &m, &own), "one that is gone is, if it was known");
	ok(!withholding_shows(&w, &m, &unknown), "and is not if it was not");
	withholding_forked(&w, &fork);
	ok(withholding_shows(&w, &m, &unknown), "but where its parent was the caller's");
	unknown.start_ns++;
	ok(!withholding_shows(&w, &m, &unknown), "another with that pid is not");
	fork.parent = pid;
	fork.subject = unknown;
	withholding_forked(&w, &fork);
	ok(!withholding_shows(&w, &m, &unknown), "nor one whose parent is gone");
	withholding_begin(&w, true);
	ok(!withholding_shows(&w, &m, &own), "of pids of another namespace nobody is");
	fork.parent = getpid();
	withholding_forked(&w, &fork);
	withholding_begin(&w, false);
	ok(!withholding_shows(&w, &m, &unknown), "and what is begun anew remembers nobody");
}

static void test_not_dumpable(void)
{
	static struct withholding w;
	pid_t pid = waiting_child(set_dumpable, false);
	struct process_key own = known(pid, getuid());

	withholding_begin(&w, false);
	ok(withholding_shows(&w, &m, &own) == !getuid(),
	   "a process that may not be dumped is shown to root alone");
	end_child(pid);
}

static void test_records(void)
{
	static struct withholding w;
	struct process_key own = known(getpid(), getuid()), other = known(77, getuid() + 1);
	struct names_record names = RECORD(names_record, RECORD_NAMES, 2 * SECOND);
	struct signal_record signal = RECORD(signal_record, RECORD_SIGNAL, 2 * SECOND);
	struct kernel_fault_record fault = kernel_fault_record(77, 0xffffffff81000123ULL, false);
	struct crossing_record crossing = RECORD(crossing_record, RECORD_CROSSING, 1),
			       before = crossing;

	snprintf(names.exe, sizeof(names.exe), "/home/a/secret");
	snprintf(names.command, sizeof(names.command), "secret --now");
	snprintf(names.cgroup, sizeof(names.cgroup), "/a");
	names.subject = other;
	withhold(&w, &m, &names.h);
	is_str(names.exe, "/home/a/secret", "nothing is taken out where nothing is withheld");
	withholding_begin(&w, false);
	names.subject = own;
	withhold(&w, &m, &names.h);
	is_str(names.exe, "/home/a/secret", "nor of a process of the caller");
	is_u64(w.records, 0, "and no record is counted");
	names.subject = other;
	withhold(&w, &m, &names.h);
	is_str(names.exe, "", "the program of another's is");
	is_str(names.command, "", "and its command line");
	is_str(names.cgroup, "/a", "its cgroup stays");
	is_u64(w.records, 1, "it is counted");
	signal.subject = other;
	signal.address = 0x7f0000001000;
	withhold(&w, &m, &signal.h);
	ok(signal.address != 0x7f0000001000, "so is the address of its signal");
	is_u64(signal.address & 0xfff, 0, "less the page that it is in");
	fault.subject = own;
	withhold(&w, &m, &fault.h);
	ok(fault.ip != 0xffffffff81000123ULL, "where the kernel is nobody is told");
	is_u64(w.records, 3, "each is counted");
	crossing.subject = before.subject = other;
	crossing.value = before.value = 900;
	withhold(&w, &m, &crossing.h);
	ok(!memcmp(&crossing, &before, sizeof(before)), "a record without addresses stays");
	is_u64(w.records, 3, "and is not counted");
}

/* Tests each kind of record with addresses or file names, for a process of another user. */
static void test_kinds(void)
{
	static struct withholding w;
	struct process_key other = known(78, getuid() + 1);
	struct refused_record refused = refused_record(78, CALL_MMAP, 12);
	struct growth_record growth = RECORD(growth_record, RECORD_GROWTH, 1);
	struct holding_record holding = RECORD(holding_record, RECORD_HOLDING, 1);
	struct slow_faults_record slow = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, 1);
	struct sample_record sample = sample_record(78, BIRTH, 1, 1);
	struct resident_record resident = RECORD(resident_record, RECORD_RESIDENT, 1);
	struct record *const all[] = {&refused.h, &growth.h, &holding.h,
				      &slow.h,	  &sample.h, &resident.h};

	refused.args[0] = sample.address = 0x7f1234567000;
	growth.g.subject = holding.g.subject = slow.subject = resident.subject = other;
	snprintf(resident.file, sizeof(resident.file), "secret.db");
	holding.g.kind = HOLDING_FILE;
	snprintf(growth.g.name, sizeof(growth.g.name), "secret.db");
	snprintf(holding.g.name, sizeof(holding.g.name), "/home/a/secret.db");
	snprintf(slow.file, sizeof(slow.file), "secret.db");
	withholding_begin(&w, false);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		withhold(&w, &m, all[i]);
		is_u64(w.records, i + 1, "a record of another's process is counted");
	}
	ok(!strstr(growth.g.name, "secret"), "what grew is not named");
	ok(!strstr(holding.g.name, "secret"), "nor what it holds");
	ok(!strstr(slow.file, "secret"), "nor what was slow");
	ok(!strstr(resident.file, "secret"), "nor what is in memory");
	ok(sample.address != 0x7f1234567000, "nor is where it faulted told");
}

/* Returns the name of what a process of another user holds, as it is shown. */
static const char *shown(struct process_key of, const char *name)
{
	static struct withholding w;
	static struct holding_record holding;

	holding = (struct holding_record)RECORD(holding_record, RECORD_HOLDING, 1);
	holding.g.subject = of;
	snprintf(holding.g.name, sizeof(holding.g.name), "%s", name);
	withholding_begin(&w, false);
	withhold(&w, &m, &holding.h);
	return holding.g.name;
}

static void test_names_of_files(void)
{
	static const char *const hidden[] = {"[secret",	     "secret]",	     "/home/a/[secret",
					     "libsecret.so", "torch_secret", "/dev/shm/socket"};
	struct process_key other = known(79, getuid() + 1);

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		ok(!strncmp(shown(other, hidden[i]), "name-", 5), "%s is hidden", hidden[i]);
	is_str(shown(other, "[heap]"), "[heap]", "a name of the kernel is shown");
	is_str(shown(other, ""), "", "no name is no secret");
}

int main(void)
{
	begin_model(&m, NULL);
	test_who_shows();
	test_not_dumpable();
	test_records();
	test_kinds();
	test_names_of_files();
	model_free(&m);
	return tap_done();
}
