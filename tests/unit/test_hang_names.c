// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests after which function triage names the hang of a task, of a CPU and of a kernel thread: one
 * that does more than wait, and that is the same each time.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/triage.h"

#define TASK   "INFO: task tool:77 blocked for more than 120 seconds.\nCall Trace:\n"
#define CPU    "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [tool:77]\nCall Trace:\n"
#define SLEEPS " __schedule+0x1/0x2\n schedule+0x1/0x2\n"
#define ENTRY  " do_syscall_64+0x1/0x2\n entry_SYSCALL_64_after_hwframe+0x1/0x2\n"
#define WORKER " process_one_work+0x1/0x2\n worker_thread+0x1/0x2\n kthread+0x1/0x2\n"

static const struct {
	const char *name, *log, *function;
} rows[] = {
	{"a task that waits for a lock", TASK SLEEPS " mutex_lock+0x1/0x2\n f+0x1/0x2\n" ENTRY,
	 "f"},
	{"a task in a function that only waits", TASK SLEEPS " f_wait+0x1/0x2\n g+0x1/0x2\n" ENTRY,
	 "g"},
	{"a task in a function that waits for something",
	 TASK SLEEPS " f_wait_g+0x1/0x2\n h+0x1/0x2\n" ENTRY, "h"},
	{"a name that begins with the wait", TASK SLEEPS " wait_f+0x1/0x2\n g+0x1/0x2\n" ENTRY,
	 "g"},
	{"a name that only has the letters", TASK SLEEPS " await+0x1/0x2\n g+0x1/0x2\n" ENTRY,
	 "await"},
	{"a module's own wait", TASK SLEEPS " f_wait+0x1/0x2 [m]\n g+0x1/0x2\n" ENTRY, "f_wait"},
	{"a task that waits for RCU",
	 TASK SLEEPS " __wait_rcu_gp+0x1/0x2\n synchronize_rcu_normal+0x1/0x2\n f+0x1/0x2\n" ENTRY,
	 "synchronize_rcu"},
	{"a CPU in a system call", CPU " f+0x1/0x2\n g+0x1/0x2\n vfs_write+0x1/0x2\n" ENTRY, "g"},
	{"a CPU in a module", CPU " f+0x1/0x2 [m]\n g+0x1/0x2\n vfs_write+0x1/0x2\n" ENTRY, "f"},
	{"a kernel thread", CPU " f+0x1/0x2\n g+0x1/0x2\n" WORKER, "f"},
	{"a kernel thread that reads a device's register", CPU " ioread32+0x1/0x2\n" WORKER,
	 "ioread32"},
	{"a kernel thread without functions of its own", CPU " mutex_lock+0x1/0x2\n" WORKER,
	 "process_one_work"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triage_input in = {.name = "log", .data = rows[i].log};
		const struct diagnosis *v;
		struct triage t;

		in.size = strlen(in.data);
		if (triage_run(&t, &in, 1) || !t.verdicts)
			abort();
		v = &t.verdict[0];
		if (!ok(v->functions && str_is(v->function[0], rows[i].function), "%s",
			rows[i].name))
			printf("#   got %.*s\n", STR_ARG(v->function[0]));
		triage_free(&t);
	}
	return tap_done();
}
