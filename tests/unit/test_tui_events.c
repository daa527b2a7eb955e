// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the list of events in the live view: each kind of event, replaced rows, and its limits. */
#include <errno.h>
#include <locale.h>
#include <signal.h>

#include "fixture.h"
#include "render/tui/tui_parts.h"
#include "tap.h"

#define PID 10

static struct model m;
static struct tui t;
static struct view v = {.m = &m, .width = 120, .unicode = true};

static void add(const struct record *h, size_t size)
{
	union event *e = &t.event[t.events++ % TUI_EVENTS];

	memset(e, 0, sizeof(*e));
	memcpy(e, h, size);
	e->h.t_ns = t.events * SECOND;
	t.events_shown = t.events;
}

#define ADD(record) add(&(record).h, sizeof(record))

static void slow(uint32_t class, uint32_t count, const char *file, uint32_t holder)
{
	struct slow_faults_record r = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, 0);

	r.subject = (struct process_key){.pid = PID, .start_ns = 1};
	r.class = class;
	r.count = count;
	r.total_ns = count * 1000000ULL;
	r.max_ns = 3000000;
	r.inode = *file;
	r.holder = holder;
	snprintf(r.file, sizeof(r.file), "%s", file);
	snprintf(r.holder_comm, sizeof(r.holder_comm), "agent");
	ADD(r);
}

static void add_each_kind(void)
{
	struct crossing_record c = RECORD(crossing_record, RECORD_CROSSING, 0);
	struct signal_record s = RECORD(signal_record, RECORD_SIGNAL, 0);
	struct oom_record o = RECORD(oom_record, RECORD_OOM, 0);
	struct kernel_fault_record k = kernel_fault_record(PID, 0xffffffff81000000, 0);
	struct refused_record r = refused_record(PID, CALL_MMAP, ENOMEM);

	c.subject = s.subject = o.subject = k.subject = r.subject =
		(struct process_key){.pid = PID, .start_ns = 1};
	c.what = WHAT_MAPS;
	c.percent = 80;
	c.limit = 65530;
	ADD(c);
	c.what = WHAT_FDS;
	c.limit = UINT64_MAX;
	ADD(c);
	r.count = 1;
	ADD(r);
	r.count = 2;
	ADD(r);
	s.signal = SIGBUS;
	s.code = 2;
	ADD(s);
	k.count = 1;
	ADD(k);
	k.nofault = 1;
	k.count = 12;
	ADD(k);
	o.constraint = OOM_MEMCG;
	snprintf(o.comm, sizeof(o.comm), "eater");
	ADD(o);
	o.constraint = OOM_MEMCG + 1;
	ADD(o);
}

/* Returns the list of a process, or of all processes, below its heading; "" without a list. */
static const char *list(const struct subject *of)
{
	static char text[8192];
	struct buf b = {};
	const char *end;

	tui_write_events(&t, &v, &b, of, of ? "Events" : "Kernel");
	end = b.s ? strchr(b.s, '\n') : NULL;
	snprintf(text, sizeof(text), "%s", end ? end + 1 : "");
	ok(!b.s || !strncmp(b.s, of ? "Events" : "Kernel", 6), "the heading");
	buf_free(&b);
	return text;
}

static size_t lines(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

int main(void)
{
	struct process_record p = process_record(PID, 1, SECOND);
	const struct subject *of;

	setlocale(LC_ALL, "C.UTF-8");
	begin_model(&m, NULL);
	model_take(&m, &p.h);
	of = model_find(&m, &p.subject);
	is_str(list(of), "", "without events there is no list");
	add_each_kind();
	is_str(list(of),
	       "       8.5 s  OOM-killed: the memory of the machine is full\n"
	       "       7.5 s  OOM-killed: the memory of its cgroup is full\n"
	       "       6.5 s  kernel-mode fault in a probing read, 12 times\n"
	       "       5.5 s  kernel-mode fault on a bad address\n"
	       "       4.5 s  SIGBUS, code 2\n"
	       "       3.5 s  mmap refused with ENOMEM, 2 times\n"
	       "       2.5 s  mmap refused with ENOMEM\n"
	       "       1.5 s  file descriptors passed 80 % of unlimited\n"
	       "       0.5 s  mappings passed 80 % of 65,530\n",
	       "each kind of event");
	is_str(list(NULL),
	       "       8.5 s  eater[10]: OOM-killed: the memory of the machine is full\n"
	       "       7.5 s  eater[10]: OOM-killed: the memory of its cgroup is full\n"
	       "       6.5 s  oops[10]: kernel-mode fault in a probing read, 12 times\n"
	       "       5.5 s  oops[10]: kernel-mode fault on a bad address\n",
	       "events of the kernel");
	t.events = 0;
	slow(CLASS_FILE_MAJOR, 5, "a.db", 0);
	slow(CLASS_CALL, 1, "", 77);
	slow(CLASS_FILE_MAJOR, 7, "a.db", 0);
	slow(CLASS_FILE_MAJOR, 8, "b.db", 0);
	slow(CLASS_HOLDER, 2, "", 0);
	slow(CLASS_CALL, 3, "", 78);
	is_str(list(of),
	       "       5.5 s  3 calls that waited for mmap_lock, mmap_lock held by agent[78]: 3.00 "
	       "ms in all, at most 3.00 ms\n"
	       "       4.5 s  2 calls that held mmap_lock: 2.00 ms in all, at most 3.00 ms\n"
	       "       3.5 s  8 slow faults, file_major of b.db: 8.00 ms in all, at most 3.00 ms\n"
	       "       2.5 s  7 slow faults, file_major of a.db: 7.00 ms in all, at most 3.00 ms\n"
	       "       1.5 s  1 call that waited for mmap_lock, mmap_lock held by agent[77]: 1.00 "
	       "ms in all, at most 3.00 ms\n",
	       "a later row of the same code replaces an earlier one");
	v.addresses = true;
	t.events = 0;
	add_each_kind();
	is_str(list(NULL),
	       "       8.5 s  eater[10]: OOM-killed: the memory of the machine is full\n"
	       "       7.5 s  eater[10]: OOM-killed: the memory of its cgroup is full\n"
	       "       6.5 s  oops[10]: kernel-mode fault in a probing read 0xffff888000000000, 12 "
	       "times\n"
	       "       5.5 s  oops[10]: kernel-mode fault on a bad address 0xffff888000000000\n",
	       "events of the kernel with addresses");
	for (uint32_t i = 0; i < 2 * TUI_EVENTS; i++) {
		struct refused_record r = refused_record(i % 2 ? PID : 11, CALL_OPEN, EMFILE);

		ADD(r);
	}
	is_u64(lines(list(of)), 12, "lines of a long list");
	ok(!lines(list(NULL)), "the oldest events are forgotten");
	model_free(&m);
	return tap_done();
}
