// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the amounts in findings and in their remedies just below, at and just above each bound:
 * sizes of a tmpfs, room on a disk, guards of stacks, values of limits that remedies suggest.
 */
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>

#include "fixture.h"
#include "rules/pressure_rules.h"
#include "rules/refusal_rules.h"
#include "rules/stack_rules.h"
#include "tap.h"
#include "finding_text.h"

#define KIB  1024ULL
#define MIB  (KIB * KIB)
#define GIB  (KIB * MIB)
#define PAGE 4096ULL
#define EXT4 0xef53

static struct model m;
static struct findings fs;
static struct finding f;

typedef bool rule_test(const struct occasion *o, const struct finding *open, struct finding *f);

/* Judges an occasion by the rule with this test. Returns whether the rule matches. */
static bool judged(rule_test *test, const struct occasion *o)
{
	f = (struct finding){};
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].test == test)
			f.rule = &rules[i];
	return f.rule->test(o, NULL, &f);
}

static void take_mount(const char *path, uint64_t device, uint64_t magic, uint64_t size,
		       uint64_t used, uint64_t free)
{
	struct mount_record r = RECORD(mount_record, RECORD_MOUNT, SECOND);

	snprintf(r.path, sizeof(r.path), "%s", path);
	r.device = device;
	r.magic = magic;
	r.size_bytes = size;
	r.used_bytes = used;
	r.free_bytes = free;
	model_take(&m, &r.h);
}

/* A larger tmpfs has room for twice what is needed, but not more than the machine's memory. */
static void test_larger_tmpfs(void)
{
	static const struct {
		uint64_t size, need, memory;
		const char *want, *name;
	} rows[] = {
		{64 * MIB, 0, 8 * GIB, "size=128M ", "not full yet: twice the size"},
		{64 * MIB, 65 * MIB, 8 * GIB, "size=256M ", "full: four times the size"},
		{64 * MIB, 129 * MIB, 8 * GIB, "size=258M ", "twice what is needed, if it is more"},
		{64 * MIB, 0, 100 * MIB, "size=100M ", "at most the memory of the machine"},
		{64 * MIB, 0, 101 * MIB - 1, "size=100M ", "in whole MiB"},
		{64 * MIB, 0, 0, "size=128M ", "memory that is not known is no bound"},
		{64 * MIB, 0, 64 * MIB, NULL, "as large as the memory already"},
		{64 * MIB, 0, 65 * MIB, "size=65M ", "a MiB smaller than the memory"},
		{64 * MIB, 100 * MIB, 100 * MIB, "size=100M ", "all memory is needed"},
		{64 * MIB, 100 * MIB + 1, 100 * MIB, NULL, "a byte more than all memory"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.tick.limits.mem_total_bytes = rows[i].memory;
		f = (struct finding){};
		tmpfs_help(&f, &m, rows[i].size, rows[i].need, "/mnt/a b", SCOPE_HOST);
		ok(finding_advises(&f, "ls -lS '/mnt/a b' | head; fuser -vm '/mnt/a b'"),
		   "what uses it");
		if (rows[i].want)
			ok(finding_advises(&f, rows[i].want) &&
				   !finding_advises(&f, "use less space"),
			   "%s: %s", rows[i].name, remedy_str(&f, 1));
		else
			ok(finding_advises(&f, "use less space") &&
				   !finding_advises(&f, "mount -o"),
			   "%s: %s", rows[i].name, remedy_str(&f, 1));
		is_u64(f.nr_remedies, 2, "one remedy, and a check");
		is_u64(f.remedy[0].scope, SCOPE_HOST, "on the host");
		is_u64(f.remedy[1].scope, SCOPE_HOST, "this too");
	}
	ok(finding_advises(&f, "100 MiB are needed, and this machine has 100 MiB"),
	   "what is needed");
	f = (struct finding){};
	m.tick.limits.mem_total_bytes = 8 * GIB;
	tmpfs_help(&f, &m, 64 * MIB, 0, "/dev/shm", SCOPE_PROCESS);
	ok(finding_advises(
		   &f,
		   "docker run --shm-size=128m (its default is 64m), or in Kubernetes an emptyDir "
		   "of medium Memory at /dev/shm, with sizeLimit: 128Mi"),
	   "containers have options for /dev/shm");
	f = (struct finding){};
	tmpfs_help(&f, &m, 64 * MIB, 0, "/tmp", SCOPE_PROCESS);
	ok(finding_advises(
		   &f, "docker run --tmpfs DIR:size=128m, or in Kubernetes an emptyDir of medium "
		       "Memory, with sizeLimit: 128Mi"),
	   "and others for a tmpfs elsewhere");
}

static void test_files_of_tmpfs(void)
{
	struct mount_use u = {.now = {.size_bytes = 1600, .unnamed_bytes = 100}};

	f = (struct finding){};
	tmpfs_say_files(&f, NULL);
	tmpfs_say_files(&f, &u);
	is_u64(f.nr_evidence, 0, "deleted files with a sixteenth of the tmpfs are not told");
	u.now.unnamed_bytes++;
	tmpfs_say_files(&f, &u);
	is_str(finding_evidence(&f, "in deleted files that processes still use"),
	       "101 B of 1.56 KiB", "with a byte more they are");
	strcpy(u.now.largest, "l");
	u.now.largest_bytes = 900;
	u.now.largest_uid = 33;
	tmpfs_say_files(&f, &u);
	is_str(finding_evidence(&f, "largest file"), "l: 900 B, of user 33", "the largest file");
}

static void test_which_tmpfs(void)
{
	begin_model(&m, NULL);
	take_mount("/a", 7, TMPFS_MAGIC, 100, 0, 0);
	take_mount("/b", 8, TMPFS_MAGIC, 200, 0, 0);
	is_str(tmpfs_find(&m, 8, TMPFS_MAGIC, 200)->now.path, "/b", "the device decides");
	ok(!tmpfs_find(&m, 8, TMPFS_MAGIC, 100), "another size, so it is another one");
	ok(!tmpfs_find(&m, 9, TMPFS_MAGIC, 200), "another device");
	is_str(tmpfs_find(&m, 0, TMPFS_MAGIC, 100)->now.path, "/a", "the size alone decides");
	ok(!tmpfs_find(&m, 0, EXT4, 100), "another file system");
	take_mount("/c", 9, TMPFS_MAGIC, 100, 0, 0);
	ok(!tmpfs_find(&m, 0, TMPFS_MAGIC, 100), "two of this size");
	is_str(tmpfs_find(&m, 9, TMPFS_MAGIC, 100)->now.path, "/c", "the device tells them apart");
	take_mount("/d", FIGURE_UNKNOWN, TMPFS_MAGIC, 300, 0, 0);
	is_str(tmpfs_find(&m, 5, TMPFS_MAGIC, 300)->now.path, "/d", "a device that is not known");
	model_free(&m);
}

/* Sends SIGBUS for a write to a hole of a file on ext4. Returns whether the disk was full. */
static bool disk_is_full(uint32_t uid, uint64_t size, uint64_t used, uint64_t free,
			 uint64_t deleted_blocks)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, 2 * SECOND);
	struct verdict v = {.cause = "read error"};
	struct subject s = {};
	struct occasion o = {.m = &m, .s = &s, .signal = &r, .verdict = &v, .t_ns = 2 * SECOND};
	bool full;

	begin_model(&m, NULL);
	take_mount("/data", 7, EXT4, size, used, free);
	s.now.g.uid = uid;
	r.signal = SIGBUS;
	r.file_device = 7;
	r.file.magic = EXT4;
	r.file.flags = deleted_blocks ? FILE_DELETED : 0;
	r.file_blocks = deleted_blocks;
	full = judged(disk_was_full, &o);
	model_free(&m);
	return full;
}

static void test_full_disk(void)
{
	ok(disk_is_full(1, GIB, GIB, MIB - 1, 0), "less than 1 MiB is free");
	is_str(finding_evidence(&f, "file system"), "/data", "where");
	is_str(finding_evidence(&f, "free"), "1.00 MiB of 1.00 GiB", "how much");
	ok(!disk_is_full(1, GIB, GIB, MIB, 0), "1 MiB is free");
	ok(disk_is_full(1, GIB, GIB, 3 * MIB - 1, 4096), "a deleted file gave back 2 MiB");
	is_str(finding_evidence(&f, "held by the deleted file"), "2.00 MiB", "which is told");
	ok(!disk_is_full(1, GIB, GIB, 3 * MIB, 4096), "more than it gave back is free");
	ok(disk_is_full(1, GIB, GIB - 100 * MIB, 0, 0), "only root may use the rest");
	ok(!disk_is_full(0, GIB, GIB - 100 * MIB, 0, 0), "the process is root");
	/* ext4 keeps a fiftieth for itself, at most 16 MiB */
	ok(disk_is_full(0, GIB, GIB - 17 * MIB + 1, 0, 0), "16 MiB are for ext4 itself");
	ok(!disk_is_full(0, GIB, GIB - 17 * MIB, 0, 0), "1 MiB more is for root");
	ok(disk_is_full(0, 100 * MIB, 97 * MIB + 1, 0, 0), "a fiftieth is for ext4 itself");
	ok(!disk_is_full(0, 100 * MIB, 97 * MIB, 0, 0), "1 MiB more is for root");
	ok(disk_is_full(0, GIB, GIB, MIB - 1, 0), "it is full for root, too");
	ok(!disk_is_full(0, GIB, GIB - 16 * MIB, MIB, 0), "or not: others may use 1 MiB");
}

/* A time later than the signal's: the space that was free just after it. */
static void test_free_just_after(void)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct verdict v = {.cause = "read error"};
	struct occasion o = {.m = &m, .signal = &r, .verdict = &v, .t_ns = SECOND};

	begin_model(&m, NULL);
	take_mount("/data", 7, EXT4, GIB, GIB, 5);
	r.file_device = 7;
	ok(judged(disk_was_full, &o), "a full disk");
	is_str(finding_evidence(&f, "free"), "5 B of 1.00 GiB", "read at the time of the signal");
	is_str(finding_evidence(&f, "free just after"), "none", "not later");
	o.t_ns--;
	ok(judged(disk_was_full, &o), "a full disk");
	is_str(finding_evidence(&f, "free just after"), "5 B of 1.00 GiB",
	       "read just after the signal");
	r.error_code = 1;
	ok(!judged(disk_was_full, &o), "a read does not need a block");
	r.error_code = 2;
	ok(judged(disk_was_full, &o), "a write does");
	v.cause = "driver";
	ok(!judged(disk_was_full, &o), "the file of a device does not");
	model_free(&m);
}

static void test_poison(void)
{
	struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, SECOND);
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct verdict v = {.cause = "hardware poison"};
	struct occasion o = {.m = &m, .signal = &r, .verdict = &v, .t_ns = SECOND};

	begin_model(&m, NULL);
	r.signal = SIGBUS;
	ok(judged(page_was_poisoned, &o), "a poisoned page");
	is_str(finding_evidence(&f, "poisoned pages"), "none", "how many there are is not known");
	is_str(finding_evidence(&f, "signal"), "SIGBUS", "the signal");
	p.n[HOST_CORRUPTED] = 8192;
	model_take(&m, &p.h);
	ok(judged(page_was_poisoned, &o), "a poisoned page");
	is_str(finding_evidence(&f, "poisoned pages"), "8.00 KiB", "two pages");
	ok(f.severity == SEVERITY_CRITICAL && f.nr_remedies, "critical, with advice");
	v.cause = "unknown";
	ok(!judged(page_was_poisoned, &o), "another cause");
	model_free(&m);
}

#define GUARD_AT 0x7f0000000000ULL

static struct signal_record guard_fault(uint64_t t_ns)
{
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, t_ns);

	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.tid = 10;
	r.signal = SIGSEGV;
	r.address = GUARD_AT + 4000;
	r.sp = GUARD_AT + 4096;
	r.area = MAPPED_FOUND;
	r.area_start = GUARD_AT;
	r.area_end = GUARD_AT + 4096;
	r.above_end = r.area_end + 2 * MIB;
	return r;
}

static bool ran_out(const struct signal_record *r, const char *cause)
{
	struct verdict v = {.cause = cause};
	struct occasion o = {.m = &m, .findings = &fs, .signal = r, .verdict = &v};

	return judged(stack_ran_out, &o);
}

static void take_guard(const struct signal_record *r)
{
	struct verdict v = {.cause = "guard page"};

	stack_fault_take(&fs, r, &v);
}

/* A handler may abort the process up to 10 s after the access to the guard. */
static void test_abort_after_guard(void)
{
	struct signal_record guard = guard_fault(5 * SECOND), abort_at = guard;

	abort_at.signal = SIGABRT;
	abort_at.flags = SIGNAL_FATAL | SIGNAL_ASIDE;
	fs.nr_guards = 0;
	ok(!ran_out(&abort_at, "abort"), "no access to a guard before");
	take_guard(&guard);
	ok(ran_out(&abort_at, "abort"), "at the same time");
	is_str(finding_evidence(&f, "raised later by the same thread"), "SIGABRT: 0 ns",
	       "how much later");
	abort_at.h.t_ns = 15 * SECOND;
	ok(ran_out(&abort_at, "abort"), "10 s later");
	is_str(finding_evidence(&f, "raised later by the same thread"), "SIGABRT: 10 s",
	       "how much later");
	abort_at.h.t_ns++;
	ok(!ran_out(&abort_at, "abort"), "a nanosecond more than 10 s later");
	abort_at.h.t_ns = 5 * SECOND - 1;
	ok(!ran_out(&abort_at, "abort"), "before the access");
	abort_at.h.t_ns = 6 * SECOND;
	abort_at.subject.start_ns = 2;
	ok(!ran_out(&abort_at, "abort"), "another process with this pid");
	abort_at.subject.start_ns = 1;
	/* the last 16 accesses are kept */
	guard.tid = 11;
	for (int i = 0; i < GUARD_FAULTS_MAX - 1; i++)
		take_guard(&guard);
	ok(ran_out(&abort_at, "abort"), "15 threads have hit their guards since");
	take_guard(&guard);
	ok(!ran_out(&abort_at, "abort"), "16 threads have: the access is forgotten");
	abort_at.tid = 11;
	ok(ran_out(&abort_at, "abort"), "theirs are known");
	fs.nr_guards = 0;
	guard.flags = SIGNAL_FATAL;
	take_guard(&guard);
	ok(!ran_out(&abort_at, "abort"), "an access that killed has no handler");
}

/* The guard is at most 64 KiB from the stack pointer, and its stack has at most 1 GiB. */
static void test_guard(void)
{
	static const struct {
		uint64_t sp;
		const char *away, *name;
	} rows[] = {
		{GUARD_AT + 4000 + 64 * KIB, "64.0 KiB", "64 KiB below the stack pointer"},
		{GUARD_AT + 4001 + 64 * KIB, NULL, "a byte more"},
		{GUARD_AT + 4000 - 64 * KIB, "64.0 KiB", "64 KiB above the stack pointer"},
		{GUARD_AT + 3999 - 64 * KIB, NULL, "a byte more"},
		{GUARD_AT + 4000, "0 B", "at the stack pointer"},
	};
	struct signal_record r;

	m.tick.limits.page_bytes = 4096;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = guard_fault(SECOND);
		r.flags = SIGNAL_FATAL;
		r.sp = rows[i].sp;
		ok(ran_out(&r, "guard page") == !!rows[i].away, "%s", rows[i].name);
		is_str(finding_evidence(&f, "distance from the stack pointer"),
		       rows[i].away ? rows[i].away : "none", "how far it was");
	}
	is_str(finding_evidence(&f, "guard below its stack"), "4.00 KiB", "the size of the guard");
	ok(!ran_out(&r, "no access"), "no guard of a stack");
	r.above_end = r.area_end + GIB;
	ok(ran_out(&r, "guard page"), "a stack of 1 GiB");
	is_str(f.title, "SIGSEGV: stack overflow of a thread (1.00 GiB)", "its size");
	ok(finding_advises(&f, "ulimit -s 4194304") && finding_advises(&f, "-Xss4096m"),
	   "four times as much is better");
	r.above_end++;
	ok(ran_out(&r, "guard page"), "a mapping that is larger");
	is_str(f.title, "SIGSEGV: stack overflow of a thread", "is not the stack alone");
	ok(!finding_advises(&f, "ulimit -s"), "its size is not known, so no other is suggested");
	r.above_end = r.area_end;
	ok(ran_out(&r, "guard page"), "nothing above the guard");
	is_str(f.title, "SIGSEGV: stack overflow of a thread", "no size");
	r.above_end = r.area_end + 1;
	ok(ran_out(&r, "guard page"), "a byte above the guard");
	ok(finding_advises(&f, "-Xss1m"), "in whole MiB, rounded up");
	r.area_flags = 1;
	ok(ran_out(&r, "guard page"), "a guard within the mapping of the stack");
	is_str(finding_evidence(&f, "guard below its stack"), "none", "has no size of its own");
	is_str(f.title, "SIGSEGV: stack overflow of a thread", "nothing is above its page");
	r.area_end = GUARD_AT + 3 * PAGE;
	ok(ran_out(&r, "guard page"), "two pages above its page");
	is_str(f.title, "SIGSEGV: stack overflow of a thread (8.00 KiB)", "their size");
}

/* The main thread's stack ends at RLIMIT_STACK. */
static void test_main_stack(void)
{
	struct signal_record r = guard_fault(SECOND);

	r.stack_limit_bytes = 8 * MIB;
	ok(ran_out(&r, "stack overflow"), "the main thread's stack");
	is_str(f.title, "SIGSEGV: stack overflow (RLIMIT_STACK 8.00 MiB)", "its limit");
	is_str(f.cause, "rlimit_stack", "its cause");
	is_str(finding_evidence(&f, "signal"), "SIGSEGV", "the signal");
	ok(f.severity == SEVERITY_CRITICAL && f.level == 1, "critical, of one level");
	ok(finding_advises(&f, "start the program with this limit") &&
		   finding_advises(&f, "ulimit -s 65536"),
	   "a larger limit");
	ok(f.nr_remedies > 1, "and what the rule advises");
	r.stack_limit_bytes = UINT64_MAX;
	ok(ran_out(&r, "stack overflow"), "a stack without a limit");
	is_str(f.title, "SIGSEGV: stack overflow (RLIMIT_STACK unlimited)", "its limit");
	r.flags = SIGNAL_FATAL;
	ok(!ran_out(&r, NULL), "a signal of which no cause is known");
	r.area_flags = 1;
	r.area_end = GUARD_AT + 2 * PAGE;
	m.tick.limits.page_bytes = 0;
	ok(ran_out(&r, "guard page"), "the size of a page is not known");
	ok(f.level == 1, "one level");
	is_str(f.title, "SIGSEGV: stack overflow of a thread (4.00 KiB)", "it is taken for 4096");
}

static bool refused(rule_test *test, const struct refused_record *r, const char *cause,
		    uint64_t need)
{
	struct verdict v = {.cause = cause, .need = need};
	struct occasion o = {.m = &m, .findings = &fs, .refused = r, .verdict = &v};

	return judged(test, &o);
}

/* vm.overcommit_ratio is at most 100 %. The machine has 100 MiB, so a MiB is one percent. */
static void test_commit_ratio(void)
{
	static const struct {
		uint64_t limit, swap, committed, need;
		const char *want, *name;
	} rows[] = {
		{50 * MIB, 0, 60 * MIB, 0, "vm.overcommit_ratio=61", "what is committed"},
		{50 * MIB, 0, 60 * MIB, 60 * MIB + 1, "vm.overcommit_ratio=61", "a byte more"},
		{50 * MIB, 0, 60 * MIB, 61 * MIB, "vm.overcommit_ratio=62", "a MiB more"},
		{50 * MIB, 50 * MIB, 60 * MIB, 0, "vm.overcommit_ratio=11",
		 "swap is as large as the limit, so RAM does not count"},
		{50 * MIB, 20 * MIB, 60 * MIB, 0, "vm.overcommit_ratio=41", "RAM counts 30 %"},
		{50 * MIB, 20 * MIB, 50 * MIB, 0, "vm.overcommit_ratio=31", "the limit is enough"},
		{50 * MIB, 0, 100 * MIB - 1, 0, "vm.overcommit_ratio=100", "all RAM"},
		{50 * MIB, 0, 100 * MIB, 0, "no vm.overcommit_ratio up to 100 is enough",
		 "more than all RAM"},
	};
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);

	begin_model(&m, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.tick.limits.mem_total_bytes = 100 * MIB;
		m.tick.limits.swap_total_bytes = rows[i].swap;
		m.tick.limits.commit_limit_bytes = rows[i].limit;
		m.tick.limits.committed_bytes = rows[i].committed;
		ok(refused(refused_by_strict, &r, "overcommit_strict", rows[i].need),
		   "the commit limit is reached");
		ok(finding_advises(&f, rows[i].want), "%s: %s", rows[i].name, rows[i].want);
	}
	ok(finding_advises(&f, "add 50.0 MiB of swap"), "as much swap as is missing");
	m.tick.limits.committed_bytes = 50 * MIB + 1;
	refused(refused_by_strict, &r, "overcommit_strict", 0);
	ok(finding_advises(&f, "add 1 B of swap"), "a byte is missing");
	m.tick.limits.committed_bytes = 50 * MIB;
	refused(refused_by_strict, &r, "overcommit_strict", 0);
	ok(!finding_advises(&f, "of swap:"), "nothing is missing");
	m.tick.limits.mem_total_bytes = 0;
	refused(refused_by_strict, &r, "overcommit_strict", 0);
	ok(finding_advises(&f, "no vm.overcommit_ratio up to 100"), "the size of RAM is not known");
	model_free(&m);
}

/* Suggested limits are twice what the call needs, and at most what the kernel accepts. */
static void test_counted(void)
{
	static const struct {
		uint32_t what;
		const char *cause;
		uint64_t asked, limit, need;
		const char *title, *want, *name;
	} rows[] = {
		{COUNTED_QUEUE_MESSAGES, "mqueue_msg_max", 32767, 10, 32767, "above fs.mqueue",
		 "fs.mqueue.msg_max=65534'", "twice what is needed"},
		{COUNTED_QUEUE_MESSAGES, "mqueue_msg_max", 32769, 10, 32769, "above fs.mqueue",
		 "fs.mqueue.msg_max=65536'", "twice as much is not accepted"},
		{COUNTED_QUEUE_MESSAGES, "mqueue_msg_max", 65536, 10, 65536, "above fs.mqueue",
		 "fs.mqueue.msg_max=65536'", "the greatest value"},
		{COUNTED_QUEUE_MESSAGES, "mqueue_msg_max", 65537, 10, 65537, "is above 65536", NULL,
		 "more than the kernel permits"},
		{COUNTED_QUEUE_MESSAGE_BYTES, "mqueue_msgsize_max", 8 * MIB - 1, 10, 8 * MIB - 1,
		 "above fs.mqueue", "fs.mqueue.msgsize_max=16777214'", "twice the size"},
		{COUNTED_QUEUE_MESSAGE_BYTES, "mqueue_msgsize_max", 16 * MIB, 10, 16 * MIB,
		 "above fs.mqueue", "fs.mqueue.msgsize_max=16777216'", "the greatest size"},
		{COUNTED_QUEUE_MESSAGE_BYTES, "mqueue_msgsize_max", 16 * MIB + 1, 10, 16 * MIB + 1,
		 "is above 16 MiB", NULL, "a greater size than the kernel permits"},
		{COUNTED_MESSAGE_BYTES, "msgmax", 5, 8192, 8193, "kernel.msgmax",
		 "kernel.msgmax=16386'", "another limit has no greatest value"},
		{COUNTED_MESSAGE_BYTES, "msgmax", 5, 8192, 8191, "kernel.msgmax",
		 "kernel.msgmax=16384'", "at least twice the limit"},
		{COUNTED_MESSAGE_BYTES, "msgmax", 5, 8192, 0, "kernel.msgmax",
		 "show the limit: sysctl kernel.msgmax", "what it needs is not known"},
		{COUNTED_MESSAGE_BYTES, "msgmax", 5, 8192, UINT64_MAX, "kernel.msgmax",
		 "show the limit: sysctl kernel.msgmax", "no value is enough"},
		{COUNTED_MESSAGE_BYTES, "msgmax", 5, UINT64_MAX, 10, "kernel.msgmax",
		 "show the limit: sysctl kernel.msgmax", "the limit is not known"},
		{COUNTED_SIGNALS, "rlimit_sigpending", 1, UINT64_MAX, 10, "RLIMIT_SIGPENDING", NULL,
		 "a limit of a process has no sysctl"},
		{COUNTED_NAMESPACES, "max_namespaces", 1, UINT64_MAX, 0,
		 "one of the limits user.max_time_namespaces reached", NULL, "the last type"},
	};

	begin_model(&m, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct refused_record r = refused_record(10, CALL_OPEN, EINVAL);

		r.counted = (struct counted_objects){.what = rows[i].what,
						     .asked = rows[i].asked,
						     .limit = rows[i].limit,
						     .owner = 1,
						     .inside = COUNTED_INSIDE,
						     .types = 1U << COUNTED_TIME_NAMESPACES};
		ok(refused(refused_by_counted, &r, rows[i].cause, rows[i].need), "%s",
		   rows[i].cause);
		is_u64(f.severity, SEVERITY_WARNING, "a warning");
		ok(strstr(f.title, rows[i].title), "%s: %s", rows[i].name, f.title);
		if (rows[i].want)
			ok(finding_advises(&f, rows[i].want), "%s: %s", rows[i].name, rows[i].want);
		else
			ok(!finding_advises(&f, "raise the limit in") &&
				   !finding_advises(&f, "show the limit") &&
				   !finding_advises(&f, "raise the soft"),
			   "%s: nothing raises it", rows[i].name);
	}
	model_free(&m);
}

/* root has limits of its own for keys. */
static void test_keys_of_root(void)
{
	struct refused_record r = refused_record(10, CALL_ADD_KEY, EDQUOT);

	begin_model(&m, NULL);
	r.counted = (struct counted_objects){.what = COUNTED_KEYS, .limit = 200};
	refused(refused_by_counted, &r, "maxkeys", 201);
	ok(strstr(f.title, "kernel.keys.root_maxkeys reached"), "keys of root: %s", f.title);
	ok(finding_advises(&f, "kernel.keys.root_maxkeys=402"), "the limit of root");
	r.counted.owner = 1;
	refused(refused_by_counted, &r, "maxkeys", 201);
	ok(finding_advises(&f, "kernel.keys.maxkeys=402"), "the limit of others");
	r.counted.what = COUNTED_KEY_BYTES;
	refused(refused_by_counted, &r, "maxbytes", 201);
	ok(finding_advises(&f, "kernel.keys.maxbytes=402"), "the bytes of others");
	r.counted.owner = 0;
	refused(refused_by_counted, &r, "maxbytes", 201);
	ok(finding_advises(&f, "kernel.keys.root_maxbytes=402"), "the bytes of root");
	ok(strstr(f.title, "kernel.keys.root_maxbytes reached"), "in its title: %s", f.title);
	r.counted.what = COUNTED_PTYS;
	refused(refused_by_counted, &r, "pty_max", 201);
	ok(finding_advises(&f, "kernel.pty.max=402"), "terminals of root are those of all");
	model_free(&m);
}

int main(void)
{
	test_larger_tmpfs();
	test_files_of_tmpfs();
	test_which_tmpfs();
	test_full_disk();
	test_free_just_after();
	test_poison();
	test_abort_after_guard();
	test_guard();
	test_main_stack();
	test_commit_ratio();
	test_counted();
	test_keys_of_root();
	return tap_done();
}
