// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests to which report triage counts the first lines and the last lines of reports, if several
 * tasks or CPUs print at the same time, and what it reads from them.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/recognise.h"

#define NULL_AT	 "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define OOPS	 "Oops: 0002 [#1] PREEMPT SMP NOPTI\n"
#define IP	 "RIP: 0010:widget_reset+0x14/0x40 [widget]\n"
#define CPU	 "CPU: 1 PID: 2 Comm: tool Not tainted 6.1.0 #1\n"
#define FATAL	 "Kernel panic - not syncing: Fatal exception\n"
#define NULL_ARM "Unable to handle kernel NULL pointer dereference at virtual address 00000018"
#define T1	 "[    1.000000][    T1] "
#define T2	 "[    1.000000][    T2] "
#define C0	 "[    1.000000][    C0] "
#define C1	 "[    1.000000][    C1] "
#define C2	 "[    1.000000][    C2] "
#define STALL	 "rcu: INFO: rcu_preempt self-detected stall on CPU\n"
#define END	 "---[ end trace 0000000000000000 ]---\n"

static const struct row {
	const char *name, *log, *want;
} rows[] = {
	{"a second kind of the same rank does not replace the first",
	 NULL_AT "double fault: 0000 [#1] SMP\n", "null_deref"},
	{"a kind of higher rank does",
	 "Oops: 0002 [#1] SMP\nBUG: unable to handle page fault for address: 0000000000000018\n"
	 "double fault: 0000 [#1] SMP\n",
	 "double_fault #1"},
	{"the kind of a report without its begin", IP "debug: 0000 [#1] SMP\n" FATAL,
	 "internal_error headless panicked ip"},
	{"a panic in a report without its begin", IP FATAL, "panic headless panicked ip"},
	{"arm: the access in the header", NULL_ARM " when write\n", "null_deref write"},
	{"arm: the first access in the header counts",
	 NULL_ARM " when write\n" NULL_ARM " when execute\n", "null_deref write"},
	{"the access of an earlier line",
	 "kernel tried to execute NX-protected page - exploit attempt? (uid: 0)\n" NULL_AT,
	 "null_deref exec"},
	{"the range that KASAN prints",
	 "general protection fault, probably for non-canonical address 0xdffffc0000000003: 0000\n"
	 "KASAN: null-ptr-deref in range [0x0000000000000018-0x000000000000001f]\n",
	 "gpf 0x18-0x1f"},
	{"arm: the end of an oops' first line", "Internal error: Oops: 817 [#1] SMP ARM\n",
	 "paging_request arm #1"},
	{"arm: the end of an oops' first line for Thumb",
	 "Internal error: Oops: 817 [#1] SMP THUMB2\n", "paging_request arm #1"},
	{"riscv: the number of an oops", NULL_AT "Oops [#1]\n", "null_deref riscv #1"},
	{"an address of KASAN is no page fault that waits for its number",
	 "BUG: KASAN: use-after-free in f+0x1/0x2 at addr ffff888012345678\n" CPU OOPS,
	 "kasan_uaf; paging_request #1"},

	/* tasks and CPUs */
	{"two tasks, each with its own lines", T1 NULL_AT T2 NULL_AT T2 IP T1 OOPS,
	 "null_deref #1; null_deref ip"},
	{"the panic of the first task", T1 NULL_AT T2 NULL_AT T1 FATAL,
	 "null_deref panicked; null_deref"},
	{"the panic of a third task belongs to the newest report", T1 NULL_AT T2 NULL_AT C0 FATAL,
	 "null_deref; null_deref panicked"},
	{"without tasks, the number belongs to the fault that waits for it",
	 NULL_AT
	 "BUG: sleeping function called from invalid context at mm/slab.h:401\n" CPU OOPS IP,
	 "null_deref #1 ip; atomic_sleep"},
	{"a CPU answers to the report of a hang", C0 STALL C1 "NMI backtrace for cpu 1\n" C1 IP,
	 "hang ip"},
	{"a CPU that was skipped does not answer",
	 C0 STALL C1 "NMI backtrace for cpu 1 skipped: idling\n" C1 IP, "hang"},
	{"nobody asked a CPU", C0 NULL_AT C1 "NMI backtrace for cpu 1\n" C1 IP, "null_deref"},
	{"a CPU answers to the newest report",
	 T1 NULL_AT END C0 STALL C2 "NMI backtrace for cpu 2\n" C2 IP, "null_deref; hang ip"},
	{"the restart of the kernel ends a report", NULL_AT "Linux version 6.1.0 (x)\n" IP,
	 "null_deref"},
	{"lines of a program belong to no report", NULL_AT "Nov 20 09:41:01 host tool[7]: " IP,
	 "null_deref"},
};

static void write_reports(struct buf *to, const char *log)
{
	struct triage_input in = {.name = "log", .data = log, .size = strlen(log)};
	struct recognised r;
	struct lines ls;

	if (lines_read(&ls, &in, 1) || recognise(&r, &ls))
		abort();
	buf_printf(to, "%s", "");
	for (size_t i = 0; i < r.n; i++) {
		const struct incident *e = &r.event[i];
		const char *access = access_name(e->access), *arch = arch_name(e->arch);

		buf_printf(to, "%s%s", i ? "; " : "", kind_name(e->kind));
		buf_printf(to, "%s%s", *access ? " " : "", access);
		if (e->arch != ARCH_X86_64)
			buf_printf(to, "%s%s", *arch ? " " : "", arch);
		if (e->number)
			buf_printf(to, " #%u", e->number);
		if (e->has_range)
			buf_printf(to, " %#jx-%#jx", (uintmax_t)e->range_low,
				   (uintmax_t)e->range_high);
		buf_printf(to, "%s%s%s%s", e->headless ? " headless" : "",
			   e->interleaved ? " interleaved" : "", e->panicked ? " panicked" : "",
			   e->has_ip ? " ip" : "");
	}
	recognised_free(&r);
	lines_free(&ls);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};

		write_reports(&b, rows[i].log);
		is_str(b.s, rows[i].want, rows[i].name);
		buf_free(&b);
	}
	return tap_done();
}
