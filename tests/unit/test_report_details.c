// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the details that triage finds in reports: the meaning of error codes, the process with the
 * most memory, the owner of a lock, and how far from the first line of a report they may be. In the
 * logs of this test, a line such as "+40" stands for 40 lines that belong to no report.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/judge.h"

#define OOPS	  "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define MCE_LINE  "mce: [Hardware Error]: CPU 1: Machine Check: 0 Bank 4: "
#define MCE_HEAD  MCE_LINE "8000000000000005\n"
#define CPU_TYPE  "mce: [Hardware Error]: PROCESSOR 0:306c3 TIME 1 SOCKET 0\n"
#define HUNG	  "INFO: task tool:77 blocked for more than 120 seconds.\n"
#define IN_FLIGHT "in-flight: 12:widget_work\n"
#define OOM	  "tool invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
#define USAGE	  "memory: usage 512kB, limit 512kB, failcnt 24\n"
#define LOCK(n, task, address)                                                                     \
#n " locks held by " task ":\n #0: " address                                               \
	   " (&x->lock){+.+.}-{3:3}, at: widget_get+0x1/0x2\n"
#define EXIT(code) "Kernel panic - not syncing: Attempted to kill init! exitcode=0x" code "\n"
#define KILLED(kb)                                                                                 \
	"Out of memory: Killed process 812 (hog) total-vm:99999kB, anon-rss:" kb                   \
	"kB, file-rss:0kB, shmem-rss:0kB, UID:0\n"
#define TASK_LIST                                                                                  \
	OOM "[ pid ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
#define TASK(pid, pages, name)                                                                     \
	"[    " pid "]     0   " pid "     9999     " pages                                        \
	"    90112        0             0 " name "\n"
#define TEXT_POINTER(value)                                                                        \
	"general protection fault, probably for non-canonical address 0x" value ": 0000 [#1] "     \
	"SMP\n"

/* A log, and the value of a detail of its report; "": the report has no such detail. */
static const struct row {
	const char *log, *name, *want;
} rows[] = {
	/* how far the details are from the first line */
	{MCE_HEAD "+38\n" CPU_TYPE, "processor", "0:306c3"},
	{MCE_HEAD "+39\n" CPU_TYPE, "processor", ""},
	{HUNG "+598\n" IN_FLIGHT, "work item", "12:widget_work"},
	{HUNG "+599\n" IN_FLIGHT, "work item", ""},
	{OOM "+3998\n" USAGE, "usage", "512kB, limit 512kB"},
	{OOM "+3999\n" USAGE, "usage", ""},

	/* the task that holds a lock */
	{HUNG LOCK(1, "tool/77", "ffff888101234567") LOCK(1, "other/78", "ffff888101234567"),
	 "lock owner", "other/78: (&x->lock){+.+.}-{3:3}, at: widget_get+0x1/0x2"},
	{HUNG LOCK(1, "tool/77", "c1234567") LOCK(1, "other/78", "c1234567"), "lock owner",
	 "other/78: (&x->lock){+.+.}-{3:3}, at: widget_get+0x1/0x2"},
	{HUNG LOCK(1, "tool/77", "1234567") LOCK(1, "other/78", "1234567"), "lock owner", ""},
	{HUNG LOCK(1, "tool/77", "c1234567") LOCK(1, "other/78", "c1234568"), "lock owner", ""},
	{HUNG LOCK(1, "other/78", "c1234567"), "lock owner", ""},

	/* the process with the most memory: pages are of 4, 16 or 64 KiB */
	{TASK_LIST TASK("811", "512", "small") TASK("812", "1024", "hog") KILLED("4096"), "largest",
	 "hog (pid 812), 4 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") KILLED("9215"), "largest",
	 "hog (pid 812), 4 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") KILLED("9216"), "largest",
	 "hog (pid 812), 16 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") KILLED("33791"), "largest",
	 "hog (pid 812), 16 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") KILLED("33792"), "largest",
	 "hog (pid 812), 64 MiB in memory"},
	{TASK_LIST TASK("810", "1024", "first") TASK("811", "1024", "second"), "largest",
	 "first (pid 810), 4 MiB in memory"},
	{TASK_LIST TASK("811", "0", "kthread"), "largest", ""},
	{TASK_LIST TASK("811", "1024", "with blanks"), "largest",
	 "with blanks (pid 811), 4 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") "+3996\n" KILLED("33792"), "largest",
	 "hog (pid 812), 64 MiB in memory"},
	{TASK_LIST TASK("812", "1024", "hog") "+3997\n" KILLED("33792"), "largest",
	 "hog (pid 812), 4 MiB in memory"},
	{TASK_LIST TASK("811", "2048", "other")
		 KILLED("33792") "+3995\n" TASK("812", "1024", "hog"),
	 "largest", "other (pid 811), 128 MiB in memory"},
	{TASK_LIST TASK("811", "2048", "other")
		 KILLED("33792") "+3996\n" TASK("812", "1024", "hog"),
	 "largest", "other (pid 811), 8 MiB in memory"},
	{OOM "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null)\n", "limit",
	 "none: the memory of the machine was used up"},
	{OOM "oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=0\n", "limit",
	 "the NUMA nodes of the cpuset"},
	{OOM "oom-kill:constraint=CONSTRAINT_MEMORY_POLICY,nodemask=0\n", "limit",
	 "the NUMA nodes of the memory policy"},

	/* how init ended */
	{EXIT("00000009"), "exit", "init was ended by SIGKILL"},
	{EXIT("0000000b"), "exit", "init was ended by SIGSEGV"},
	{EXIT("0000008b"), "exit", "init was ended by SIGSEGV"},
	{EXIT("0000000c"), "exit", "init was ended by signal 12"},
	{EXIT("0000007f"), "exit", "init was ended by signal 127"},
	{EXIT("00000100"), "exit", "init exited with status 1"},
	{EXIT("00007d00"), "exit", "init exited with status 125"},
	{EXIT("00007e00"), "exit", "init exited with status 126: a program could not be executed"},
	{EXIT("00007f00"), "exit",
	 "init exited with status 127: a program or a library was not found"},
	{EXIT("00008000"), "exit", "init exited with status 128"},
	{EXIT("0000ff00"), "exit", "init exited with status 255"},

	/* numbers of NVIDIA's driver */
	{"NVRM: Xid (PCI:0000:01:00): 8, pid=7, x\n", "Xid",
	 "8: a program's GPU channel timed out"},
	{"NVRM: Xid (PCI:0000:01:00): 9, pid=7, x\n", "Xid", "9"},
	{"NVRM: Xid (PCI:0000:01:00): 143, pid=7, x\n", "Xid",
	 "143: the GPU could not be initialised"},
	{"NVRM: Xid (PCI:0000:01:00): 144, pid=7, x\n", "Xid", "144"},

	/* a pointer of text, of which a byte is a blank, the last letter of ASCII, or none */
	{TEXT_POINTER("6162632064656620"), "text", "\" fed cba\""},
	{TEXT_POINTER("6162637e64656667"), "text", "\"gfed~cba\""},
	{TEXT_POINTER("6162630064656667"), "text", "\"gfed.cba\""},
};

/* The low 16 bits of the status of a bank, and the class of the error. */
static const struct {
	const char *status, *class;
} banks[] = {
	{"0b", "error code 0xb"},
	{"0c", "cache error, L0"},
	{"0f", "cache error, generic level"},
	{"10", "TLB error, L0"},
	{"1f", "TLB error, generic level"},
	{"20", "error code 0x20"},
	{"04", "error code 0x4"},
	{"05", "internal parity error of the CPU"},
	{"06", "error code 0x6"},
	{"7f", "error code 0x7f"},
	{"80", "memory controller error, channel 0"},
	{"91", "memory controller error read, channel 1"},
	{"cf", "memory controller error scrubbing, channel 15"},
	{"d0", "memory controller error, channel 0"},
	{"ff", "memory controller error, channel 15"},
	{"0100", "cache error, L0"},
	{"0111", "cache error, L1 read"},
	{"0182", "cache error, L2 snoop"},
	{"0192", "cache error, L2"},
	{"01ff", "cache error, generic level"},
	{"0200", "error code 0x200"},
	{"03ff", "error code 0x3ff"},
	{"0400", "internal timer error (the CPU was stuck)"},
	{"0401", "internal error of the CPU"},
	{"07ff", "internal error of the CPU"},
	{"0800", "bus or interconnect error, L0"},
	{"0913", "bus or interconnect error, generic level read, time-out"},
	{"1100", "cache error, L0"},
};

/* The high bits of the status of a bank, and what follows from them. */
static const struct {
	const char *status, *then;
} states[] = {
	{"8000000000000005", "corrected by the hardware"},
	{"a000000000000005", "not corrected"},
	{"a200000000000005", "not corrected, the CPU's state is corrupt"},
	{"c000000000000005", "corrected by the hardware, earlier errors were overwritten"},
};

/* Writes a log to `b`, with other lines instead of their number. */
static void expand(struct buf *b, const char *log)
{
	for (const char *end; *log; log = end + 1) {
		end = strchr(log, '\n');
		if (*log == '+')
			for (int n = atoi(log + 1); n; n--)
				buf_printf(b, "other text %d\n", n);
		else
			buf_add(b, log, end + 1 - log);
	}
	if (b->failed)
		abort();
}

static void is_detail(const char *log, const char *name, const char *want)
{
	const struct diagnosis *v = NULL;
	struct buf b = {};
	struct triage_input in = {.name = "log"};
	struct triage t;
	char got[PARTICULAR_BYTES] = "", what[300];

	expand(&b, log);
	in.data = b.s;
	in.size = b.len;
	if (triage_run(&t, &in, 1))
		abort();
	if (t.verdicts)
		v = &t.verdict[0];
	else if (t.notices)
		v = &t.notice[0];
	for (uint32_t i = 0; v && i < v->particulars; i++)
		if (!strcmp(v->particular[i].name, name))
			snprintf(got, sizeof(got), "%s", v->particular[i].value);
	snprintf(what, sizeof(what), "%s: %s", name, want);
	ok(v, "a diagnosis");
	is_str(got, want, what);
	triage_free(&t);
	buf_free(&b);
}

static void test_banks(void)
{
	char log[256], want[256];

	for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++) {
		snprintf(log, sizeof(log), "%s8000%012lx\n", MCE_LINE,
			 strtoul(banks[i].status, NULL, 16));
		snprintf(want, sizeof(want), "4 of CPU 1: %s; corrected by the hardware",
			 banks[i].class);
		is_detail(log, "bank", want);
	}
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		snprintf(log, sizeof(log), "%s%s\n", MCE_LINE, states[i].status);
		snprintf(want, sizeof(want), "4 of CPU 1: internal parity error of the CPU; %s",
			 states[i].then);
		is_detail(log, "bank", want);
	}
}

/* A report has at most 10 details, each with up to 191 bytes. */
static void test_room(void)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
	struct diagnosis v = {};

	particular_add(&v, names[0], "%0200d", 1);
	is_u64(strlen(v.particular[0].value), PARTICULAR_BYTES - 1, "a long detail is cut");
	particular_add(&v, names[0], "again");
	is_u64(v.particulars, 1, "a second detail of the same name is not added");
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		particular_add(&v, names[i], "%zu", i);
	ok(v.particulars == PARTICULARS_MAX && !strcmp(v.particular[9].value, "9"),
	   "there is no room for an eleventh detail");
}

/* Places in the source: of the check that failed, or in a decoded trace. */
static void test_sources(void)
{
	is_detail("kernel BUG at mm/a.c:3!\nRIP: 0010:f+0x1/0x2\n", "source", "mm/a.c:3");
	is_detail("kernel BUG at a.h:3!\nRIP: 0010:f+0x1/0x2\n", "source", "a.h:3");
	is_detail("kernel BUG at .c:3!\nRIP: 0010:f+0x1/0x2\n", "source", "");
	is_detail("kernel BUG at a.x:3!\nRIP: 0010:f+0x1/0x2\n", "source", "");
	is_detail(OOPS "RIP: 0010:f+0x1/0x2 (drivers/a.rs:12:5)\n", "source", "drivers/a.rs:12:5");
	is_detail(OOPS "RIP: 0010:f (a.c:12 b.c:3) m\n", "source", "a.c:12");
	is_detail(OOPS "RIP: 0010:f (a.c:x)\n", "source", "");
	is_detail("BUG: sleeping function called from invalid context at mm/slab.h:401\n", "source",
		  "");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_detail(rows[i].log, rows[i].name, rows[i].want);
	test_banks();
	test_room();
	test_sources();
	return tap_done();
}
