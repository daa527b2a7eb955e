// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how many other lines may be between the lines of one report. In the logs of this test, a
 * line such as "+40" stands for 40 lines that belong to no report.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/recognise.h"

#define NULL_AT	 "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define FAULT_AT "BUG: unable to handle page fault for address: ffffc90000b38000\n"
#define OOPS	 "Oops: 0002 [#1] PREEMPT SMP NOPTI\n"
#define IP	 "RIP: 0010:widget_reset+0x14/0x40 [widget]\n"
#define PANIC	 "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\n"
#define WRITES	 "#PF: supervisor write access in kernel mode\n"
#define OLD_WARN "WARNING: at lib/list_debug.c:30 __list_add+0x68/0x81()\nHardware name: PC\n"
#define LIST	 "list_add corruption. next->prev should be prev (a), but was b. (next=c).\n"
#define CUT	 "------------[ cut here ]------------\n"
#define NO_CODE	 "invalid opcode: 0000 [#1] SMP\n"
#define LEAKS	 "kmemleak: 5 new suspected memory leaks (see /sys/kernel/debug/kmemleak)\n"
#define WARN_AT	 "WARNING: CPU: 1 PID: 2 at lib/widget.c:3 widget_get+0x1/0x2\n"

/* A log, and the reports in it: their kinds, and what else is known about them. */
static const struct row {
	const char *name, *log, *want;
} rows[] = {
	{"120 other lines are within a report", NULL_AT "+120\n" IP, "null_deref with ip"},
	{"a report ends before 121 other lines", NULL_AT "+121\n" IP, "null_deref"},
	{"each line of a report starts the count again",
	 NULL_AT "+120\nCPU: 1 PID: 2 Comm: x\n+120\n" IP, "null_deref with ip"},

	/* a message of one line within a report */
	{"a report goes on around a message after 39 other lines", NULL_AT "+39\n" LEAKS IP,
	 "null_deref with ip; leak"},
	{"after 40 other lines, such a message is a report of its own", NULL_AT "+40\n" LEAKS IP,
	 "null_deref; leak with ip"},

	/* a panic */
	{"a panic after 23 other lines is a consequence", NULL_AT "+23\n" PANIC,
	 "null_deref panicked"},
	{"a panic after 24 other lines is not", NULL_AT "+24\n" PANIC, "null_deref; panic"},
	{"a panic after the report's end is not",
	 NULL_AT "---[ end trace 0000000000000000 ]---\n" PANIC, "null_deref ended; panic"},
	{"a panic that only says so always is",
	 NULL_AT "+200\nKernel panic - not syncing: Fatal exception\n", "null_deref panicked"},

	/* lines of one header */
	{"a second line of the header after 24 other lines", FAULT_AT "+24\n" NO_CODE,
	 "paging_request"},
	{"a second line of the header after 25 other lines", FAULT_AT "+25\n" NO_CODE,
	 "paging_request; invalid_opcode"},
	{"the number of an oops again, 48 lines after its begin", FAULT_AT OOPS "+46\n" OOPS IP,
	 "paging_request #1 with ip"},
	{"the number of an oops again, 49 lines after its begin", FAULT_AT OOPS "+47\n" OOPS IP,
	 "paging_request #1; paging_request #1 with ip"},
	{"another number begins another report", FAULT_AT OOPS "+46\nOops: 0002 [#2] SMP\n",
	 "paging_request #1; paging_request #2"},
	{"the number of an oops, 240 lines after its begin", NULL_AT "+239\n" OOPS IP,
	 "null_deref #1 with ip"},
	{"the number of an oops, 241 lines after its begin", NULL_AT "+240\n" OOPS IP,
	 "null_deref; paging_request #1 with ip"},

	{"a second line of the header, 48 lines after the first",
	 FAULT_AT "+23\n" WRITES "+23\n" NO_CODE, "paging_request"},
	{"a second line of the header, 49 lines after the first",
	 FAULT_AT "+23\n" WRITES "+24\n" NO_CODE, "paging_request; invalid_opcode"},
	{"the reason of a warning, 24 lines after it", OLD_WARN "+22\n" LIST, "list_corruption"},
	{"the reason of a warning, 25 lines after it", OLD_WARN "+23\n" LIST,
	 "warning; list_corruption"},

	/* two CPUs print at the same time */
	{"a fault, 24 lines after another one", NULL_AT "+23\n" NULL_AT,
	 "null_deref interleaved; null_deref interleaved"},
	{"a fault, 25 lines after another one", NULL_AT "+24\n" NULL_AT, "null_deref; null_deref"},
	{"a fault after the instruction of another one", NULL_AT IP NULL_AT,
	 "null_deref with ip; null_deref"},
	{"a fault after the end of another one",
	 NULL_AT "---[ end trace 0000000000000000 ]---\n" NULL_AT, "null_deref ended; null_deref"},

	/* lines that a symbolizer repeats */
	{"a warning of an inlined function",
	 "WARNING: CPU: 1 PID: 2 at lib/widget.h:3 widget_get lib/widget.h:3 [inline]\n"
	 "WARNING: CPU: 1 PID: 2 at lib/widget.h:3 widget_put lib/widget.c:12\n",
	 "warning"},

	{"the same warning, 2 lines after it, behind an inlined function",
	 WARN_AT "1 [inline]\n" WARN_AT, "warning"},
	{"the same warning, 3 lines after it", WARN_AT "+1\n1 [inline]\n" WARN_AT,
	 "warning; warning"},
	{"the same warning without an inlined function", WARN_AT WARN_AT, "warning; warning"},

	/* "cut here" */
	{"a warning of any form, 2 lines after \"cut here\"",
	 CUT "+1\n[    1.000000] WARNING: it broke\n", "warning says other text 0"},
	{"a warning of any form, 3 lines after \"cut here\"",
	 CUT "+2\n[    1.000000] WARNING: it broke\n", "warning says other text 0"},
	{"a warning of any form, 4 lines after \"cut here\"",
	 CUT "+3\n[    1.000000] WARNING: it broke\n", ""},
	{"a warning of any form without \"cut here\"", "[    1.000000] WARNING: it broke\n", ""},
	{"such a warning that no kernel printed", CUT "WARNING: it broke\n", ""},
	{"a warning right after \"cut here\"", CUT WARN_AT, "warning"},
	{"a text between \"cut here\" and the warning", CUT "+1\n" WARN_AT,
	 "warning says other text 0"},
	{"two lines between \"cut here\" and the warning", CUT "+2\n" WARN_AT,
	 "warning says other text 0"},
	{"three lines between \"cut here\" and the warning", CUT "+3\n" WARN_AT, "warning"},

	/* a log without the begin of its first report */
	{"the instruction of a fault in the first 400 lines", "+399\n" IP,
	 "unknown headless with ip"},
	{"the instruction of a fault behind the first 400 lines", "+400\n" IP, ""},
	{"the registers that someone asked for", "sysrq: Show Regs\n" IP, ""},

	/* a boot message after the kernel ran */
	{"a boot after 10.000001 s", "[   10.000001] x\nBooting the kernel.\n", "reboot"},
	{"a boot after 10 s", "[   10.000000] x\nBooting the kernel.\n", ""},
	{"a boot after the kernel restarted",
	 "[   11.000000] x\nreboot: Restarting system\n"
	 "Booting the kernel.\n",
	 ""},
	{"a boot after a report", "[   11.000000] " NULL_AT "Booting the kernel.\n", "null_deref"},
};

/* Writes a log to `b`, with other lines instead of their number. */
static void expand(struct buf *b, const char *log)
{
	int other = 0;

	for (const char *end; *log; log = end + 1) {
		end = strchr(log, '\n');
		if (*log != '+') {
			buf_add(b, log, end + 1 - log);
			continue;
		}
		for (int n = atoi(log + 1); n; n--)
			buf_printf(b, "other text %d\n", other++);
	}
	if (b->failed)
		abort();
}

/* Writes the reports of a log as text. */
static void write_reports(struct buf *to, const char *log)
{
	struct buf b = {};
	struct triage_input in = {.name = "log"};
	struct recognised r;
	struct lines ls;

	expand(&b, log);
	in.data = b.s;
	in.size = b.len;
	if (lines_read(&ls, &in, 1) || recognise(&r, &ls))
		abort();
	buf_printf(to, "%s", "");
	for (size_t i = 0; i < r.n; i++) {
		const struct incident *e = &r.event[i];

		buf_printf(to, "%s%s", i ? "; " : "", kind_name(e->kind));
		if (e->number)
			buf_printf(to, " #%u", e->number);
		buf_printf(to, "%s%s%s%s%s", e->headless ? " headless" : "",
			   e->panicked ? " panicked" : "", e->ended ? " ended" : "",
			   e->interleaved ? " interleaved" : "", e->has_ip ? " with ip" : "");
		if (e->message.n)
			buf_printf(to, " says %.*s", STR_ARG(e->message));
	}
	recognised_free(&r);
	lines_free(&ls);
	buf_free(&b);
}

/* Triage follows 64 tasks and CPUs at the same time. Another one replaces that of the oldest line.
 */
static void test_tasks(void)
{
	for (int tasks = 63; tasks <= 65; tasks++) {
		struct buf b = {}, log = {};
		char name[64];

		buf_printf(&log, "[    1.000000][    T1] %s", NULL_AT);
		for (int i = 2; i <= tasks; i++)
			buf_printf(&log, "[    1.000000][ %4s%d] text\n", "T", i);
		buf_printf(&log, "[    1.000000][    T1] %s", IP);
		write_reports(&b, log.s);
		snprintf(name, sizeof(name), "a report beside lines of %d other tasks", tasks - 1);
		is_str(b.s, tasks <= 64 ? "null_deref with ip" : "null_deref", name);
		buf_free(&b);
		buf_free(&log);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};

		write_reports(&b, rows[i].log);
		is_str(b.s, rows[i].want, rows[i].name);
		buf_free(&b);
	}
	test_tasks();
	return tap_done();
}
