// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what the flight recorder keeps while it runs: events of BPF programs, lines of the kernel
 * log, and heartbeats. BPF programs and /dev/kmsg are those of this test; the ring file is real.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "blackbox/scan.h"
#include "command_output.h"
#include "crash/blackbox_live.h"
#include "made_precursors.h"
#include "probe/host_facts.h"
#include "recorder/record_sinks.h"
#include "tap.h"

#define SITE	   0xffffffff81234567ULL
#define BURST	   200 /* lines of severity info that are kept at once */
#define OOPS_LINES 250 /* lines that are kept after the first one of an oops */

static int kmsg[2]; /* a pipe of packets: each write is a line, as in /dev/kmsg */
static struct bb_found found;
static struct options o;

/* Only the recorder reads /dev/kmsg. */
int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (!strcmp(path, "/dev/kmsg"))
		return kmsg[0];
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* The recorder of this test shall not run before all others. */
int mlockall(int flags)
{
	(void)flags;
	return 0;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	(void)pid, (void)policy, (void)param;
	return 0;
}

static void begin(const char *file)
{
	made_begin();
	cpus = 1; /* no other thread takes over in a panic */
	if (pipe2(kmsg, O_CLOEXEC | O_NONBLOCK | O_DIRECT) ||
	    fcntl(kmsg[1], F_SETPIPE_SZ, 1 << 20) < 0)
		abort();
	o = (struct options){.colour = WHEN_NEVER, .width = 150, .duration = 0.35};
	o.blackbox.file = file ? strdup(fixture_path(file)) : NULL;
	o.blackbox.file_bytes = 1 << 20;
	o.blackbox.record_sinks = 1u << SINK_FILE | 1u << SINK_MAP;
	o.blackbox.heartbeat = 0.1;
}

static void say(int level, const char *text)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%d,1,5000000,-;%s\n", level, text);

	if (write(kmsg[1], line, n) != n)
		abort();
}

/* Runs the recorder, and reads its ring file. */
static void run(int (*command)(const struct options *o))
{
	static char bytes[2 << 20];
	int fd;
	ssize_t n;

	run_command(command, &o);
	bb_found_free(&found);
	memset(&found, 0, sizeof(found));
	fd = o.blackbox.file ? open(o.blackbox.file, O_RDONLY | O_CLOEXEC) : -1;
	n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
	bb_scan(&found, bytes, n > 0 ? n : 0);
	bb_found_settle(&found);
	if (fd >= 0)
		close(fd);
	close(kmsg[0]);
	close(kmsg[1]);
	free((char *)o.blackbox.file);
}

/* Returns the nth record of a class that has a text, or NULL. */
static const struct bb_record *nth(enum bb_class class, const char *text, size_t n)
{
	for (size_t i = 0; i < found.n; i++)
		if (found.record[i].class == class && strstr(found.record[i].text, text) && !n--)
			return &found.record[i];
	return NULL;
}

static size_t count(enum bb_class class, const char *text)
{
	size_t n = 0;

	while (nth(class, text, n))
		n++;
	return n;
}

static bool has(const struct bb_record *r, const char *text)
{
	return r && strstr(r->text, text);
}

static void test_empty_run(void)
{
	const struct bb_record *first, *last;

	begin("empty");
	named("black_mce")->fails = named("black_aer")->fails = true;
	run(blackbox_run);
	is_u64(got.status, 0, "the recorder ran");
	is_str(got.err, "", "no message");
	first = nth(BB_START, "", 0);
	last = nth(BB_STOP, "", 0);
	ok(has(first, "blind=mce,aer"), "its start names the probes that do not work");
	ok(has(first, "version=") && has(first, "kernel=") && has(first, "taint=0x"),
	   "and the kernel");
	ok(first && last && first->sequence < last->sequence, "the stop is last");
	is_u64(count(BB_STOP, ""), 1, "one stop");
	begin("whole");
	run(blackbox_run);
	ok(has(nth(BB_START, "", 0), "blind=-"), "all probes work");
}

static void test_log(void)
{
	begin("log");
	say(6, "usb 1-1: new device");
	say(4, "a warning");
	say(1, "BUG: unable to handle page fault for address: 0");
	say(6, "RIP: 0010:driver_write+0x12/0x40");
	say(6, "faultscope: #a line of its own");
	say(6, "---[ end trace 0000000000000000 ]---");
	say(6, "usb 1-1: another device");
	say(6, "Out of memory: Killed process 1");
	run(blackbox_run);
	is_u64(count(BB_CONSOLE, "usb 1-1"), 0, "lines of severity info are not kept");
	is_u64(count(BB_CONSOLE, "a warning"), 1, "a warning is");
	is_u64(count(BB_OOPS, "unable to handle page fault"), 1, "an oops");
	is_u64(count(BB_CONSOLE, "driver_write"), 1, "and the lines that follow");
	is_u64(count(BB_CONSOLE, "end trace"), 1, "up to its end");
	is_u64(count(BB_CONSOLE, "of its own"), 0, "but no line of the recorder");
	is_u64(count(BB_OOM, "Killed process"), 1, "a line of a known kind");
	ok(has(nth(BB_CONSOLE, "a warning", 0), "level=4 us=5000000"), "with level and time");
}

/* Many lines of severity info are cut, so that worse ones have room. */
static void test_burst(void)
{
	size_t kept;

	begin("burst");
	for (int i = 0; i < BURST + 20; i++)
		say(6, "Out of memory: Killed process 1");
	say(4, "WARNING: at mm/slub.c:1");
	run(blackbox_run);
	kept = count(BB_OOM, "Killed process");
	ok(kept >= BURST && kept <= BURST + 20, "lines that are kept: %zu", kept);
	is_u64(count(BB_REPORT, "mm/slub.c"), 1, "a worse one is kept nevertheless");
}

/* An oops has many lines of severity info; those behind the 250th are other lines again. */
static void test_long_oops(void)
{
	begin("long");
	say(1, "BUG: unable to handle page fault for address: 0");
	for (int i = 1; i <= OOPS_LINES + 2; i++)
		say(6, i == OOPS_LINES ? "the last line" : i > OOPS_LINES ? "behind it" : "a line");
	run(blackbox_run);
	is_u64(count(BB_CONSOLE, "a line"), OOPS_LINES - 1, "lines of an oops");
	is_u64(count(BB_CONSOLE, "the last line"), 1, "up to the last");
	is_u64(count(BB_CONSOLE, "behind it"), 0, "and none behind it");
}

static struct precursor_record event(enum precursor_kind what, uint64_t age_ns)
{
	struct precursor_record r = {.what = what, .ip = SITE, .count = 1, .pid = 42, .tid = 42};

	r.h.t_ns = host_boottime_ns() - age_ns;
	strcpy(r.comm, "driver");
	return r;
}

/* A suspected fault that is followed by no oops was survived. */
static void test_survived(void)
{
	const struct bb_record *r;

	begin("survived");
	queue[queued++] = event(PRE_FAULT, 2 * SECOND);
	o.duration = 1.5; /* time for a timer event on a busy machine */
	run(blackbox_run);
	is_u64(count(BB_FAULT, ""), 1, "a fault");
	r = nth(BB_FIXUP, "how=survived", 0);
	ok(r, "from which the kernel recovered");
	ok(has(r, "comm=driver"), "by this process: %s", r ? r->text : "");
	ok(r && r->count == 1 && r->severity == BB_WARNING, "once");
	is_u64(count(BB_FIXUP, ""), 1, "it is said once");
	begin("oops");
	queue[queued++] = event(PRE_FAULT, 2 * SECOND);
	say(1, "BUG: unable to handle page fault for address: 0");
	/* the log is read at once after a fault, before the timer of this test */
	o.blackbox.heartbeat = 0.3;
	run(blackbox_run);
	is_u64(count(BB_OOPS, ""), 1, "an oops");
	is_u64(count(BB_FIXUP, ""), 0, "after which nothing was survived");
	begin("fixed");
	queue[queued++] = event(PRE_FAULT, 2 * SECOND);
	queue[queued++] = event(PRE_FIXED, 2 * SECOND);
	run(blackbox_run);
	is_u64(count(BB_FIXUP, "how=survived"), 0, "nor after an exception table entry");
	is_u64(count(BB_FIXUP, ""), 1, "which has a record");
}

/* BPF programs send few of the equal faults; the rest is counted. */
static void test_equal_faults(void)
{
	struct fs_equal_key key = {.what = PRE_FIXED, .at = SITE};
	struct fs_equal value = {.count = 9};

	begin("equal");
	bpf_map_update_elem(made_by_name("equals")->fd, &key, &value, BPF_ANY);
	queue[queued++] = event(PRE_FIXED, 0);
	queue[queued++] = event(PRE_FIXED, 0);
	queue[1].count = 2;
	run(blackbox_run);
	is_u64(count(BB_FIXUP, ""), 3, "two faults, and the sum of all");
	is_u64(nth(BB_FIXUP, "", 2)->count, 9, "the sum");
}

/* Before a panic goes on, what the programs sent and the log are on the disk. */
static void test_panic(void)
{
	struct fs_blackbox_shared *shared;

	begin("panic");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      made_by_name(".data.shared")->fd, 0);
	shared->panic_cpu = 1;
	queue[queued++] = event(PRE_PANIC, 0);
	say(0, "Kernel panic - not syncing: a test");
	run(blackbox_run);
	is_u64(shared->panic_kept, 1, "the panic goes on");
	is_u64(count(BB_PANIC, "level=0"), 1, "its line is kept");
	is_u64(count(BB_PANIC, ""), 2, "and its event");
	munmap(shared, sizeof(*shared));
}

static void test_no_place(void)
{
	begin(NULL);
	o.blackbox.file = strdup("/proc/no/ring");
	o.blackbox.record_sinks = 1u << SINK_FILE;
	run(blackbox_run);
	is_u64(got.status, EXIT_FAILED, "no place to keep records in");
	ok(strstr(got.err, "nothing is kept there: ") && strstr(got.err, "faultscope blackbox arm"),
	   "says what to do");
	begin("refused");
	loads = false;
	run(blackbox_run);
	is_u64(got.status, EXIT_NOT_PERMITTED, "programs that cannot be loaded");
	ok(*got.err, "say why");
}

static void test_session(void)
{
	begin(NULL);
	o.blackbox.record_sinks = 1u << SINK_MAP;
	named("black_mce")->fails = true;
	queue[queued++] = event(PRE_FIXED, 0);
	say(1, "BUG: unable to handle page fault for address: 0000000000000010");
	say(1, "RIP: 0010:driver_write+0x12/0x40 [driver]");
	say(1, "---[ end trace 0000000000000000 ]---");
	run(triage_live);
	ok(strstr(got.out, "driver"), "records are printed, and the log is analysed");
	ok(strstr(got.out, "driver_write"), "its verdict names the function");
	begin(NULL);
	o.blackbox.record_sinks = 1u << SINK_MAP;
	named("black_mce")->fails = true;
	for (int i = 0; i < BURST + 20; i++)
		say(6, "Out of memory: Killed process 1");
	run(triage_live);
	is_u64(got.status, EXIT_INCOMPLETE, "a session that found nothing, but missed something");
	ok(strstr(got.err, "not measured: mce (tp/black_mce: No such file or directory)"),
	   "says what was not measured");
	ok(strstr(got.err, "records of class oom"), "and what was lost");
}

int main(void)
{
	test_empty_run();
	test_log();
	test_burst();
	test_long_oops();
	test_survived();
	test_equal_faults();
	test_panic();
	test_no_place();
	test_session();
	return tap_done();
}
