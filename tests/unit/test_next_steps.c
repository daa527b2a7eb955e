// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what triage advises to do next about a report. Advice has commands for a shell, so names
 * that a shell does not take literally must not be in them.
 */
#include <stdlib.h>

#include "tap.h"
#include "triage/next_steps.h"

#define OOPS	"BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define CPU(of) "CPU: 1 PID: 2 Comm: tool Not tainted " of " #1\n"
#define IP	"RIP: 0010:widget_reset+0x14/0x40 [widget]\n"
#define TRACE	"Call Trace:\n widget_ioctl+0x58/0x120 [widget]\n __x64_sys_ioctl+0x97/0xd0\n"

#define BOOT	  "boot without the module: "
#define LINE	  "find the source line: "
#define DECODE	  "decode the whole trace: "
#define FILES	  "get the debug files: "
#define OWN	  " is a kernel of your own: use vmlinux and the modules of its build"
#define BLACKLIST "modprobe.blacklist=widget on the kernel command line"
#define NO_MODULE "module_blacklist=widget on the kernel command line"

static const struct row {
	const char *name, *log;
	const char *begin; /* of the advice */
	const char *want;  /* rest of the advice; NULL: there is none */
} rows[] = {
	/* module_blacklist= came with Linux 4.4 */
	{"before 4.4", OOPS CPU("4.3.9") IP, BOOT, BLACKLIST},
	{"4.4", OOPS CPU("4.4.0") IP, BOOT, NO_MODULE},
	{"4.5", OOPS CPU("4.5.0") IP, BOOT, NO_MODULE},
	{"3.10", OOPS CPU("3.10.0") IP, BOOT, BLACKLIST},
	{"5.3", OOPS CPU("5.3.0") IP, BOOT, NO_MODULE},
	{"a release without numbers", OOPS IP, BOOT, NO_MODULE},
	{"a module that udev loads",
	 OOPS "CPU: 1 PID: 2 Comm: systemd-udevd Not tainted 6.1.0 #1\n" IP
	      "Modules linked in: widget(+)\n",
	 BOOT, BLACKLIST},
	{"a module that udev loaded before",
	 OOPS "CPU: 1 PID: 2 Comm: systemd-udevd Not tainted 6.1.0 #1\n" IP
	      "Modules linked in: widget\n",
	 BOOT, NO_MODULE},
	{"a module that someone else loads", OOPS CPU("6.1.0") IP "Modules linked in: widget(+)\n",
	 BOOT, NO_MODULE},
	{"a module that drives disks", OOPS CPU("6.1.0") IP "Call Trace:\n scsi_queue_rq+0x1/0x2\n",
	 BOOT, NULL},
	{"the same", OOPS CPU("6.1.0") IP "Call Trace:\n scsi_queue_rq+0x1/0x2\n",
	 "boot the previous kernel; ",
	 "do not disable widget, because the root file system may need it"},
	{"disks behind the entry of the kernel",
	 OOPS CPU("6.1.0") IP "Call Trace:\n do_syscall_64+0x1/0x2\n scsi_queue_rq+0x1/0x2\n", BOOT,
	 NO_MODULE},
	{"a module of the root file system", OOPS "RIP: 0010:f+0x1/0x2 [ext4]\n",
	 "boot the previous kernel; ",
	 "do not disable ext4, because the root file system may need it"},
	{"the kernel itself is no module", OOPS "RIP: 0010:f+0x1/0x2\n", BOOT, NULL},
	{"a kernel that went on after a warning",
	 "WARNING: CPU: 1 PID: 2 at a.c:3 f+0x1/0x2 [widget]\n" IP, BOOT, NULL},

	/* the source line, the trace and the debug files */
	{"a function of a module", OOPS CPU("6.1.0") IP, LINE,
	 "faddr2line widget.ko widget_reset+0x14/0x40"},
	{"a function of a kernel of one's own", OOPS CPU("6.1.0") "RIP: 0010:f+0x1/0x2\n", LINE,
	 "faddr2line /lib/modules/6.1.0/build/vmlinux f+0x1/0x2"},
	{"a function of a kernel without a release", OOPS "RIP: 0010:f+0x1/0x2\n", LINE,
	 "faddr2line vmlinux f+0x1/0x2"},
	{"a function without a size", OOPS "RIP: 0010:f+0x1\n", LINE, NULL},
	{"a name for which a shell would run a program", OOPS "RIP: 0010:f$f+0x1/0x2\n", LINE,
	 NULL},
	{"a name of Rust", OOPS "RIP: 0010:<a::b>::f+0x1/0x2\n", LINE, NULL},
	{"a decoded place", OOPS "RIP: 0010:f (a.c:12)\n",
	 "the log has the source line: ", "a.c:12"},
	{"two frames", OOPS CPU("6.1.0") IP TRACE, DECODE,
	 "decode_stacktrace.sh /lib/modules/6.1.0/build/vmlinux auto < LOG"},
	{"one frame", OOPS CPU("6.1.0") IP "Call Trace:\n f+0x1/0x2\n", DECODE, NULL},
	{"debug files of a kernel of one's own", OOPS CPU("6.1.0") IP, FILES, "6.1.0" OWN},
	{"debug files of Debian", OOPS CPU("6.1.0-50-amd64") IP, FILES,
	 "apt install linux-image-6.1.0-50-amd64-dbg"},
	{"debug files of Fedora", OOPS CPU("6.8.5-301.fc40.x86_64") IP, FILES,
	 "dnf debuginfo-install kernel-6.8.5-301.fc40.x86_64"},
	{"debug files of SUSE", OOPS CPU("6.4.0-150600.23.14-default") IP, FILES,
	 "zypper install kernel-default-debuginfo"},
	{"debug files of Ubuntu", OOPS CPU("6.8.0-31-generic") IP, FILES,
	 "apt install linux-image-6.8.0-31-generic-dbgsym, from ddebs"},
	{"a kernel of Debian", OOPS CPU("6.1.0-50-amd64") "RIP: 0010:f+0x1/0x2\n", LINE,
	 "faddr2line /usr/lib/debug/boot/vmlinux-6.1.0-50-amd64 f+0x1/0x2"},
	{"a trace of Debian", OOPS CPU("6.1.0-50-amd64") IP TRACE, DECODE,
	 "decode_stacktrace.sh /usr/lib/debug/boot/vmlinux-6.1.0-50-amd64 "
	 "/usr/lib/debug/lib/modules/6.1.0-50-amd64 < LOG"},
	{"no debug files without a release", OOPS IP, FILES, NULL},
	{"no debug files without a place", OOPS CPU("6.1.0"), FILES, NULL},
	{"a release that a shell takes for an option or a program", OOPS CPU("6.1.0$x") IP TRACE,
	 DECODE, "decode_stacktrace.sh vmlinux auto < LOG"},

	/* KASAN */
	{"the stack that freed the object",
	 "BUG: KASAN: slab-use-after-free in f+0x1/0x2 [m]\nCall Trace:\n f+0x1/0x2 [m]\n"
	 "Freed by task 7:\n g+0x1/0x2 [m]\n",
	 "compare the stacks in the report: ", "the object was freed there, and used here"},
	{"no stacks", "BUG: KASAN: slab-use-after-free in f+0x1/0x2 [m]\n",
	 "the kernel has KASAN: ",
	 "an access before this one may have a report further up in the log"},

	/* hangs, and reports that say nothing */
	{"a hang", "INFO: task tool:77 blocked for more than 120 seconds.\n",
	 "show blocked tasks and held locks while it hangs: ",
	 "echo w > /proc/sysrq-trigger; echo d > /proc/sysrq-trigger"},
	{"a report without functions", OOPS,
	 "find more of the log: ", "journalctl -k -b -1, /sys/fs/pstore, a serial console"},
	{"a report with one", OOPS IP, "find more of the log: ", NULL},
};

/* Finds the advice with this beginning. Returns whether there is one. */
static bool find(const struct diagnosis *v, const char *begin, struct buf *b)
{
	for (size_t i = 0; remedy_at(v, i, b); i++) {
		if (!strncmp(b->s, begin, strlen(begin)))
			return true;
		b->len = 0;
		b->s[0] = 0;
	}
	return false;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triage_input in = {.name = "log", .data = rows[i].log};
		struct buf b = {};
		struct triage t;

		in.size = strlen(in.data);
		if (triage_run(&t, &in, 1) || !t.verdicts)
			abort();
		if (find(&t.verdict[0], rows[i].begin, &b))
			is_str(b.s + strlen(rows[i].begin), rows[i].want, rows[i].name);
		else
			is_str(NULL, rows[i].want, rows[i].name);
		triage_free(&t);
		buf_free(&b);
	}
	return tap_done();
}
