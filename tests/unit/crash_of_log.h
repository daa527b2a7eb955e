/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A log with a warning and a crash, of which tests of outputs change single facts. */
#ifndef FS_TESTS_UNIT_CRASH_OF_LOG_H
#define FS_TESTS_UNIT_CRASH_OF_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triage/triage.h"

static struct triage t;
static struct diagnosis *crash; /* the verdict about the crash */

/* Reads the log. `comm` is the name of the crashed process. Free the result with triage_free(&t).
 */
static inline void read_crash(const char *comm, const char *outer)
{
	static char log[2048];
	struct triage_input in = {.name = "log", .data = log};

	in.size = snprintf(
		log, sizeof(log),
		"[   10.000000] ------------[ cut here ]------------\n"
		"[   10.000001] WARNING: CPU: 1 PID: 816 at drivers/x/y.c:12 early+0x9/0x50 [drv]\n"
		"[   10.000002] CPU: 1 PID: 816 Comm: x Not tainted 6.1.0 #1\n"
		"[   10.000003] RIP: 0010:early+0x9/0x50 [drv]\n"
		"[   10.000004] ---[ end trace 0000000000000000 ]---\n"
		"[   12.500000] BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
		"[   12.500001] #PF: supervisor read access in kernel mode\n"
		"[   12.500002] Oops: 0000 [#1] SMP\n"
		"[   12.500003] CPU: 1 PID: 816 Comm: %s Not tainted 6.1.0 #1\n"
		"[   12.500004] RIP: 0010:late+0x9/0x50 [drv]\n"
		"[   12.500005] Call Trace:\n"
		"[   12.500006]  later+0x1/0x20 [drv]\n"
		"%s"
		"[   12.500008] ---[ end trace 0000000000000001 ]---\n",
		comm, outer);
	if (triage_run(&t, &in, 1) || t.primary < 0)
		abort();
	crash = &t.verdict[t.primary];
}

#endif
