// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/kernel_report.h"
#include "tap.h"

static uint64_t now_ns = 1000;

/* Returns the reports in log lines as "kind module, kind module". The last line is NULL. */
static const char *counted(const char *const *line)
{
	static char text[1024];
	struct pending_report pending = {};
	struct kernel_report done[3];
	size_t at = 0;

	text[0] = 0;
	for (bool more = true; more; line++) {
		struct report_record r = {.h.t_ns = now_ns++};
		int n = 0;

		more = *line;
		if (more) {
			snprintf(r.line, sizeof(r.line), "%s", *line);
			n = kernel_report_take(&pending, &r, done);
		} else {
			n = kernel_report_expire(&pending, now_ns + REPORT_WAIT_NS, done);
		}
		for (int i = 0; i < n; i++)
			at += snprintf(text + at, sizeof(text) - at, "%s%s %s", at ? ", " : "",
				       kernel_report_name(done[i].kind),
				       done[i].module[0] ? done[i].module : "-");
	}
	return text;
}

#define COUNTED(want, name, ...)                                                                   \
	is_str(counted((const char *const[]){__VA_ARGS__, NULL}), want, name)

static void test_kinds(void)
{
	COUNTED("warn vmlinux", "WARN",
		"WARNING: CPU: 1 PID: 89 at mm/maccess.c:228 __copy_overflow+0x16/0x30");
	COUNTED("warn mydrv", "WARN of a module",
		"WARNING: CPU: 0 PID: 12 at drivers/my.c:1 my_ioctl+0x1f/0x200 [mydrv]",
		"RIP: 0010:my_ioctl+0x1f/0x200 [mydrv]");
	COUNTED("warn vmlinux", "WARN of 7",
		"WARNING: lib/string_helpers.c:1036 at __fortify_report+0x4d/0xa0, CPU#0: "
		"init/107");
	COUNTED("warn my_drv", "WARN of 7 of a module",
		"WARNING: my.c:1 at f+0x4d/0xa0 [my_drv], CPU#0: a/7");
	COUNTED("kasan mydrv", "KASAN",
		"BUG: KASAN: slab-use-after-free in mydrv_dma_done+0x5c/0x80 [mydrv 1a2b3c]");
	COUNTED("kfence vmlinux", "KFENCE",
		"BUG: KFENCE: use-after-free read in test_read+0xa6/0x17b");
	COUNTED("ubsan -", "UBSAN", "UBSAN: array-index-out-of-bounds in drivers/my.c:12:3");
	COUNTED("hung_task -", "hung task",
		"INFO: task jbd2/sda1-8:231 blocked for more than 120 seconds.");
	COUNTED("hung_task -", "hung task in I/O",
		"INFO: task a:b:231 blocked in I/O wait for more than 120 seconds.");
}

static void test_place_follows(void)
{
	COUNTED("oops mydrv", "oops of x86",
		"BUG: kernel NULL pointer dereference, address: 0000000000000040",
		"Oops: 0002 [#1] PREEMPT SMP NOPTI", "RIP: 0010:my_read+0x12/0x40 [mydrv]",
		"RIP: 0033:0x7f0123456789");
	COUNTED("oops mydrv", "oops of x86, no page fault",
		"general protection fault, probably for non-canonical address "
		"0xdead000000000140: 0000 [#1] PREEMPT SMP NOPTI",
		"RIP: 0010:my_read+0x12/0x40 [mydrv]");
	COUNTED("oops vmlinux", "oops of 7", "Oops: Oops: 0002 [#12] SMP NOPTI",
		"RIP: 0010:list_del+0x12/0x40");
	COUNTED("oops mydrv", "oops of arm64", "Internal error: Oops: 0000000096000006 [#1] SMP",
		"pc : my_read+0x12/0x40 [mydrv]", "lr : my_read+0x12/0x40 [other]");
	COUNTED("oops mydrv", "oops of riscv", "Oops [#1]", "epc : my_read+0x12/0x40 [mydrv]");
	COUNTED("oops -", "nowhere", "Oops: 0010 [#1] PREEMPT SMP", "RIP: 0010:0x0");
	COUNTED("soft_lockup mydrv", "soft lockup",
		"watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [kworker/0:1:12]",
		"RIP: 0010:my_poll+0x12/0x40 [mydrv]");
	COUNTED("oops -", "its place never came", "Oops: 0010 [#1] PREEMPT SMP");
	COUNTED("oops -, oops mydrv", "another came first", "Oops: 0010 [#1] PREEMPT SMP",
		"Oops: 0010 [#2] PREEMPT SMP", "RIP: 0010:my_poll+0x12/0x40 [mydrv]");
	COUNTED("oops -, warn vmlinux", "a WARN came first", "Oops: 0010 [#1] PREEMPT SMP",
		"WARNING: CPU: 1 PID: 89 at mm/maccess.c:228 __copy_overflow+0x16/0x30");
}

/* Tests that names of processes and files are not taken for kernel reports. */
static void test_none(void)
{
	COUNTED("", "no report", "WARNING: this is not what it seems",
		"BUG: unable to handle page fault for address: 0000000023dfcb70",
		"INFO: rcu_sched self-detected stall on CPU", "RIP: 0010:f+0x1/0x2 [mydrv]");
	COUNTED("", "a segfault of one with such a name",
		"BUG: KASAN: x[12]: segfault at 0 ip 0 sp 0 error 4 in f+0x1/0x2 [m]");
	COUNTED("", "of one with the name of an oops",
		"Oops: [#1] A[12]: segfault at 0 ip 0 sp 0 error 4 in [#1]");
	COUNTED("", "of one with the name of a task",
		"INFO: task a[12]: segfault at 0 in  blocked for more than 120 seconds.");
	COUNTED("", "memory refused to one", "Oops [#1] invoked oom-killer: gfp_mask=0x1");
	COUNTED("", "cut short", "Oops: 0002 [#");
}

/* A name of a process has 16 bytes at most: a bracket behind that is no pid. */
static void test_long_names(void)
{
	COUNTED("", "a pid behind 16 bytes", "BUG: KASAN: abcd[1]: x in f+0x1/0x2");
	COUNTED("kasan vmlinux", "behind 17", "BUG: KASAN: abcde[1]: x in f+0x1/0x2");
	COUNTED("kasan vmlinux", "no digits", "BUG: KASAN: abc[]: x in f+0x1/0x2");
	COUNTED("kasan vmlinux", "no colon", "BUG: KASAN: abc[1] x in f+0x1/0x2");
}

/* A report whose place does not follow is counted after a while. */
static void test_wait(void)
{
	struct report_record r = {.h.t_ns = 5000, .line = "Oops: 0010 [#1] PREEMPT SMP"};
	struct pending_report pending = {};
	struct kernel_report done[2];

	ok(!kernel_report_expire(&pending, 5000 + REPORT_WAIT_NS, done), "no report");
	is_u64(kernel_report_take(&pending, &r, done), 0, "its place may follow");
	ok(!kernel_report_expire(&pending, 5000 + REPORT_WAIT_NS - 1, done), "it is waited for");
	ok(kernel_report_expire(&pending, 5000 + REPORT_WAIT_NS, done) &&
		   done[0].kind == REPORT_OOPS && !done[0].module[0],
	   "and no longer");
	ok(!kernel_report_expire(&pending, 5000 + REPORT_WAIT_NS, done), "it is counted once");
}

static void test_hostile_module(void)
{
	char line[REPORT_LINE_LEN] = "BUG: KASAN: x in f+0x1/0x2 [";

	memset(line + strlen(line), 'm', sizeof(line) - strlen(line) - 1);
	line[sizeof(line) - 1] = 0;
	ok(strlen(counted((const char *const[]){line, NULL})) == strlen("kasan ") + 63,
	   "a long name is cut");
	COUNTED("kasan my", "a name ends where it is none", "BUG: KASAN: x in f+0x1/0x2 [my\"}\n]");
	COUNTED("kasan -", "no name at all", "BUG: KASAN: x in f+0x1/0x2 [\x1b]");
}

int main(void)
{
	test_kinds();
	test_place_follows();
	test_none();
	test_long_names();
	test_wait();
	test_hostile_module();
	return tap_done();
}
