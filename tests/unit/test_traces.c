// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which frames triage reads from stack traces, and to which part of the report they belong:
 * the task at fault, another one, the allocation or the release of an object.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/recognise.h"

#define OOPS  "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define KASAN "BUG: KASAN: slab-use-after-free in f+0x1/0x2\n"
#define KCSAN "BUG: KCSAN: data-race in f / g\n"
#define HANG  "rcu: INFO: rcu_preempt self-detected stall on CPU\n"
#define TRACE "Call Trace:\n"
#define F     " f+0x1/0x2\n"
#define G     " g+0x1/0x2\n"
#define H     " h+0x1/0x2\n"

/*
 * A log, and its frames. After the function: '?' unreliable, '!' of an interrupt, '>' inlined.
 * Before it the part, unless it is the main one.
 */
static const struct row {
	const char *name, *log, *want;
} rows[] = {
	{"a trace", OOPS TRACE F " g+0x1/0x2 [m]\n", "f g[m]"},
	{"a frame on the line that begins the trace",
	 OOPS "Call Trace: [<ffffffff81234567>] f+0x1/0x2\n" G, "f g"},
	{"a trace without its first line", OOPS F G, "f g"},
	{"an unreliable frame", OOPS TRACE " ? f+0x1/0x2\n" G, "f? g"},
	{"a question mark after the address", OOPS TRACE " [<ffffffff81234567>] ? f+0x1/0x2\n",
	 "f?"},
	{"ppc: the word after the frame", OOPS TRACE " f+0x1/0x2 (unreliable)\n", "f?"},
	{"a return address behind the function before", OOPS TRACE " f+0x0/0x2\n" G, "f? g"},
	{"a frame of an interrupt", OOPS TRACE " <IRQ>\n" F " </IRQ>\n" G, "f! g"},
	{"marks on the line of a frame", OOPS TRACE " <IRQ>  f+0x1/0x2\n <EOI>  g+0x1/0x2\n",
	 "f! g"},
	{"an NMI", OOPS TRACE " <NMI>\n" F " </NMI>\n" G, "f! g"},
	{"a task is no interrupt", OOPS TRACE " <TASK>\n" F " </TASK>\n", "f"},
	{"a new trace is of no interrupt", OOPS TRACE " <IRQ>\n" F TRACE G, "f! other:g"},
	{"an inlined frame", OOPS TRACE " f a.c:1 [inline]\n g+0x1/0x2 a.c:2\n", "f> g"},
	{"an inlined frame of old robots", OOPS TRACE " [inline] f a.c:1\n g+0x1/0x2 a.c:2\n",
	 "f> g"},
	{"a decoded frame", OOPS TRACE " f (a.c:1) m\n g (a.c:2 a.c:3)\n", "f[m] g"},
	{"a function without offset, address and place", OOPS TRACE " f\n g+0x1/0x2\n", "g"},
	{"an address without a function", OOPS TRACE " [<ffffffff81234567>]\n" F, " f"},
	{"text after a frame", OOPS TRACE " f+0x1/0x2 is bad\n" G, "g"},
	{"a flag after a frame", OOPS TRACE " f+0x1/0x2 (P)\n", "f"},
	{"a file after a frame", OOPS TRACE " f+0x1/0x2 a.c:1\n", "f"},
	{"x86-64 before 2.6.18",
	 OOPS "Call Trace: <ffffffff8010a0b0>{f+12}\n <ffffffff8010a0c0>{g+13}\n", "f g"},

	{"a second trace is of another task", OOPS TRACE F TRACE G, "f other:g"},
	{"a third one, too", OOPS TRACE F TRACE G TRACE H, "f other:g other:h"},
	{"an empty trace before it", OOPS TRACE TRACE F, "f"},
	{"the object's allocation and release",
	 KASAN TRACE F "Allocated by task 7:\n" G "Freed by task 8:\n" H, "f alloc:g free:h"},
	{"slab: functions on the same lines",
	 "BUG kmalloc-64 (Not tainted): Poison overwritten\n"
	 "INFO: Allocated in g+0x1/0x2 age=1 cpu=0 pid=7\nINFO: Freed in h+0x1/0x2 age=1 cpu=0 "
	 "pid=8\n",
	 "alloc:g free:h"},
	{"the work that was queued last",
	 KASAN TRACE F "Last potentially related work creation:\n" G, "f other:g"},
	{"the origin of a value",
	 "BUG: KMSAN: uninit-value in f+0x1/0x2\n" F "Uninit was created at:\n" G, "f alloc:g"},
	{"a lock chain",
	 "WARNING: possible circular locking dependency detected\n"
	 "-> #1 (a){+.+.}-{3:3}:\n" F "stack backtrace:\n" G,
	 "other:f g"},
	{"KCSAN: two accesses",
	 KCSAN "write to 0xffff888012345678 of 8 bytes by task 7 on cpu 0:\n" F
	       "read to 0xffff888012345678 of 8 bytes by task 8 on cpu 1:\n" G,
	 "f other:g"},
	{"only KCSAN prints accesses",
	 OOPS "write to 0xffff888012345678 of 8 bytes by task 7 on cpu 0:\n", ""},
	{"the kthread of RCU is not at fault",
	 HANG "RCU grace-period kthread stack dump:\n" TRACE F TRACE G, "other:f g"},
	{"the CPU that hangs, and another one",
	 HANG "NMI backtrace for cpu 0\n" TRACE F "NMI backtrace for cpu 1\n" TRACE G, "f other:g"},
	{"the stack's content is no trace",
	 OOPS TRACE F "Stack:\n [<ffffffff81234567>] g+0x1/0x2\n", "f"},
	{"x86-64 before 2.6.18: several frames on a line, with decimal offsets",
	 OOPS "Call Trace:<ffffffff80101234>{f+12} <ffffffff88005678>{:mod:g+3}\n"
	      "       <ffffffff80109abc>{h+125}\n",
	 "f g[mod] h"},
	{"with interrupts between them",
	 OOPS "Call Trace: <IRQ> <ffffffff80101234>{f+12}<ffffffff80105678>{g+3} <EOI> "
	      "<ffffffff80109abc>{h+125}\n",
	 "f! g! h"},
	{"a frame in braces, and a text", OOPS TRACE "<ffffffff80101234>{f+12} is the last\n", "f"},
	{"all locks are no trace", HANG TRACE F "Showing all locks held in the system:\n" G, "f"},
};

static void write_frames(struct buf *b, const struct incident *e)
{
	static const char *const parts[] = {[PART_MAIN] = "",
					    [PART_OTHER] = "other:",
					    [PART_ALLOC] = "alloc:",
					    [PART_FREE] = "free:",
					    [PART_LOCK] = "lock:"};

	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];

		buf_printf(b, "%s%s%.*s%s%s%s", i ? " " : "", parts[f->part], STR_ARG(f->function),
			   f->unreliable ? "?" : "", f->irq ? "!" : "", f->inlined ? ">" : "");
		if (f->module.n)
			buf_printf(b, "[%.*s]", STR_ARG(f->module));
	}
}

static void see(struct buf *b, const char *log)
{
	struct triage_input in = {.name = "log", .data = log, .size = strlen(log)};
	struct recognised r;
	struct lines ls;

	if (lines_read(&ls, &in, 1) || recognise(&r, &ls) || !r.n)
		abort();
	buf_printf(b, "%s", "");
	write_frames(b, &r.event[0]);
	recognised_free(&r);
	lines_free(&ls);
}

/* At most 1024 frames of a report are kept. */
static void test_most(void)
{
	for (uint32_t n = 1023; n <= 1025; n++) {
		struct triage_input in = {.name = "log"};
		struct recognised r;
		struct buf b = {};
		struct lines ls;

		buf_printf(&b, OOPS TRACE);
		for (uint32_t i = 0; i < n; i++)
			buf_printf(&b, " f%u+0x1/0x2\n", i);
		in.data = b.s;
		in.size = b.len;
		if (b.failed || lines_read(&ls, &in, 1) || recognise(&r, &ls))
			abort();
		ok(r.event[0].nr_frames == (n < 1024 ? n : 1024) &&
			   r.event[0].lost_frames == (n > 1024),
		   "a trace of %u frames", n);
		recognised_free(&r);
		lines_free(&ls);
		buf_free(&b);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};

		see(&b, rows[i].log);
		is_str(b.s, rows[i].want, rows[i].name);
		buf_free(&b);
	}
	test_most();
	return tap_done();
}
