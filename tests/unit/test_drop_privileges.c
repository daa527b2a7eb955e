// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which capabilities a session keeps for each kind of work, and why, and which files stay
 * accessible. The capabilities are those of a test that has all, whoever runs it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/limits/limit_source.h"
#include "fixture.h"
#include "made_maps.h"
#include "probe/host_facts.h"
#include "probe/live_load.h"
#include "session/drop_privileges.h"
#include "session/session.h"
#include "tap.h"

#define CAP(number) (1ULL << (number))

static unsigned long long lacking; /* CAP(n) bits of capabilities that this test does not have */

int cap_get_flag(cap_t caps, cap_value_t one, cap_flag_t flag, cap_flag_value_t *ret)
{
	(void)caps, (void)flag;
	*ret = lacking >> one & 1 ? CAP_CLEAR : CAP_SET;
	return 0;
}

int cap_set_proc(cap_t caps)
{
	(void)caps;
	return 0;
}

/* What privileges_drop() left in a child process. */
struct left {
	struct rights rights;
	struct rights_scope scope;
	struct report_rights report;
};

static struct fs_shared shared;
static struct live live;
static struct options o;
static struct session s;
static const char *forced[HOOKS_MAX];
static struct left *left;

static void begin(void)
{
	memset(&s, 0, sizeof(s));
	memset(&live, 0, sizeof(live));
	memset(forced, 0, sizeof(forced));
	lacking = 0;
	live.src.live = true;
	live.obj.shared = &shared;
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	s.o = &o;
	s.in.src = &live.src;
	s.out.file = s.out.junit = OUTPUT_NONE;
	s.plan.whom = WATCH_ALL;
	if (model_init(&s.in.m))
		abort();
	s.in.collector.m = &s.in.m;
	s.in.collector.filter = &s.in.filter;
}

/* Drops privileges in a child process. Returns the CAP() bits that it keeps. */
static unsigned long long kept(void)
{
	unsigned long long found = 0;
	int status;
	pid_t pid;

	memset(left, 0, sizeof(*left));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		privileges_drop(&s);
		privileges_report(&s, &left->report);
		left->rights = s.in.rights;
		left->scope = s.in.scope;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		ok(false, "privileges_drop() in a child");
	for (size_t i = 0; i < left->rights.nr_kept; i++)
		found |= CAP(left->rights.kept[i].capability);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
	return found;
}

/* Reading other users' processes: capabilities for mappings, and for file descriptors. */
#define READS (CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH))

static void test_work(void)
{
	/* if /proc hides processes, each live session needs this to see them */
	unsigned long long hidden = host_hides_processes() ? CAP(CAP_SYS_PTRACE) : 0;

	begin();
	live.src.live = false;
	is_u64(kept(), 0, "a recording needs none");
	begin();
	is_u64(kept(), hidden, "counting needs none");
	is_u64(left->rights.no_new_privs, true, "no privileges are gained later");
	begin();
	s.plan.attributes_all = true;
	is_u64(kept(), READS, "reading what all processes hold");
	begin();
	s.out.redraws = true;
	is_u64(kept(), READS, "the live view");
	begin();
	s.plan.resident_each = 64;
	is_u64(kept(), READS, "readings of resident memory");
	begin();
	s.plan.whom = WATCH_COMMAND;
	is_u64(kept(), CAP(CAP_KILL) | hidden, "signals for a command");
	begin();
	s.plan.whom = WATCH_COMMAND;
	s.in.collector.names_stacks = true;
	is_u64(kept(), CAP(CAP_KILL) | CAP(CAP_SYS_PTRACE), "stacks of a command");
	begin();
	s.in.collector.names_stacks = true;
	is_u64(kept(), hidden, "stacks of processes that exist are named before");
	begin();
	forced[hook_find("scan")] = "/proc";
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	is_u64(kept() & CAP(CAP_DAC_READ_SEARCH), host_counts_fds() ? 0 : CAP(CAP_DAC_READ_SEARCH),
	       "scans of /proc, if file descriptors cannot be counted otherwise");
}

static void test_instead(void)
{
	begin();
	s.out.redraws = true;
	lacking = CAP(CAP_DAC_READ_SEARCH);
	is_u64(kept(), CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_OVERRIDE), "another one does as well");
	begin();
	s.out.redraws = true;
	lacking = CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH) | CAP(CAP_DAC_OVERRIDE);
	is_u64(kept(), 0, "none is kept that the process does not have");
}

static void test_files(void)
{
	int dir = open("/", O_PATH | O_CLOEXEC), other = open("/tmp", O_PATH | O_CLOEXEC);

	begin();
	s.out.file.waits = s.out.junit.waits = true;
	s.out.file.dir = dir;
	s.out.junit.dir = other;
	kept();
	ok(left->scope.filters, "system calls are filtered");
	ok(left->scope.renames_in[0] == dir && left->scope.renames_in[1] == other,
	   "outputs that are renamed at the end: %d, %d", left->scope.renames_in[0],
	   left->scope.renames_in[1]);
	ok(!left->scope.readable, "no origins of limits are read");
	begin();
	s.in.collector.names_stacks = true;
	s.out.file.dir = s.out.junit.dir = dir;
	kept();
	ok(left->scope.readable == origin_places, "origins of limits are read");
	ok(left->scope.renames_in[0] == -1 && left->scope.renames_in[1] == -1,
	   "outputs that are written at once");
}

static void test_report(void)
{
	begin();
	s.out.redraws = true;
	kept();
	is_u64(left->report.nr_kept, 2, "capabilities in the report");
	is_str(left->report.kept[0].capability, "cap_sys_ptrace", "the first");
	is_str(left->report.kept[1].capability, "cap_dac_read_search", "the second");
	ok(left->report.kept[0].why == left->rights.kept[0].why &&
		   left->report.kept[1].why == left->rights.kept[1].why,
	   "and why");
	is_u64(left->report.no_new_privs, true, "no_new_privs");
	is_u64(left->report.landlock_abi, 0, "Landlock would take what CAP_SYS_PTRACE is for");
	ok(left->report.landlock_off == left->rights.no_landlock, "as the report says");
	ok(!left->report.kernel_symbols, "no kernel symbols");
	is_str(left->report.not_given_up, NULL, "nothing failed");
}

int main(void)
{
	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	made_map(".data.shared", 0, sizeof(__u32), sizeof(shared), 1);
	test_work();
	test_instead();
	test_files();
	test_report();
	return tap_done();
}
