// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the links of attach types that have many of them, and scans that take several turns: what
 * is attached, what is counted as missed, and what is left after an error. The kernel is played.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>

#include "live_machine.h"

#define LAST_CALL (nr_call_rows - 1)

static unsigned int turns, runs; /* turns of the next scan; runs of its program */

/* A scan sets scan_again each time the ring is full. */
int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	(void)prog_fd, (void)opts;
	runs++;
	if (runs < turns)
		live_of_test()->obj.shared->scan_again = 1;
	return 0;
}

/* Results of the next reads of an iterator: bytes, or -errno. After them, its file is read. */
static int iterator_reads[4];
static unsigned int nr_iterator_reads, iterator_read;

ssize_t read(int fd, void *to, size_t size)
{
	const struct played *p = played_by_fd(fd);
	int got;

	if (!p || p->kind != PLAYED_OTHER || iterator_read == nr_iterator_reads)
		return played_real(SYS_read, fd, to, size);
	got = iterator_reads[iterator_read++];
	errno = got < 0 ? -got : EIO; /* of an earlier call, if this one succeeds */
	return got < 0 ? -1 : got;
}

/* Code with _FORTIFY_SOURCE calls this function in place of read(). */
ssize_t read_checked(int fd, void *to, size_t size, size_t room) __asm__("__read_chk");
ssize_t read_checked(int fd, void *to, size_t size, size_t room)
{
	return size > room ? -1 : read(fd, to, size);
}

/* Only one attach type of one probe is asked for. */
static void begin_only(const char *hook, const char *mechanism)
{
	begin();
	for (size_t h = 0; h < nr_hooks; h++)
		wish.forced[h] = "none";
	force("state", NULL);
	force(hook, mechanism);
}

static void event_of(unsigned int row, bool exists)
{
	char path[160], name[64];

	snprintf(name, sizeof(name), "sys_exit_%s", call_rows[row].name);
	snprintf(path, sizeof(path), LIVE_TRACING "/events/syscalls/%s/id", name);
	if (exists)
		live_make_tracepoint("syscalls", name, 1000 + row);
	else
		unlink(path);
}

static void is_refused(const char *why)
{
	is_u64(status("calls")->state, HOOK_BLIND, "the probe is unavailable");
	is_str(status("calls")->why, why, "the reason");
	is_u64(played_open(PLAYED_LINK) + played_open(PLAYED_EVENT), 0, "no link is left");
}

/* ---- tracepoints of system calls ---- */

static void exits_without(unsigned int row, unsigned int links)
{
	size_t fds = played_fds();

	event_of(row, false);
	begin_only("calls", "tracepoint");
	if (ok(!load(), "without the tracepoint of %s", call_rows[row].name)) {
		is_str(used("calls"), links ? "tracepoint" : "", "whether calls are traced");
		is_u64(played_open(PLAYED_LINK), links, "the links of the others");
		ok((live_of_test()->links.keeper > 0) == (links > 0), "a keeper, if there are any");
	}
	event_of(row, true);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

static void test_exits(void)
{
	size_t fds = played_fds();

	exits_without(1, nr_call_rows - 1);
	exits_without(LAST_CALL, nr_call_rows - 1);
	exits_without(0, 0); /* a kernel without any of them */
	begin_only("calls", "tracepoint");
	played_fail(PLAYED_EVENT, NULL, 5, EACCES);
	if (ok(!load(), "an event is refused"))
		ok(status("calls")->state == HOOK_BLIND && !played_open(PLAYED_LINK) &&
			   !played_open(PLAYED_EVENT),
		   "none stays attached: %s", status("calls")->why);
	unload();
	begin_only("calls", "tracepoint");
	played_fail(PLAYED_LINK, NULL, 5, EBUSY);
	if (ok(!load(), "a link is refused"))
		ok(status("calls")->state == HOOK_BLIND && !played_open(PLAYED_LINK) &&
			   !played_open(PLAYED_EVENT),
		   "none stays attached: %s", status("calls")->why);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- returns of functions ---- */

/* Returns the open link to a function, or NULL. */
static const struct played *link_to(const char *function)
{
	for (unsigned int i = 0; i < played_n; i++)
		if (played[i].kind == PLAYED_LINK && played_is_open(&played[i]) &&
		    !strcmp(played[i].name, function))
			return &played[i];
	return NULL;
}

static __u64 missed(void)
{
	return links_missed(&live_of_test()->links);
}

static void test_returns(bool filtered)
{
	const struct played *calls, *filter;

	begin_only("calls", CALL_RETURNS);
	wish.filtered = filtered;
	if (!ok(!load(), "%s processes", filtered ? "filtered" : "plain"))
		return;
	is_str(used("calls"), CALL_RETURNS, "returns of functions are traced");
	calls = link_to("__x64_sys_mmap");
	filter = link_to(FILTER_FUNCTION);
	ok(calls && calls->names == 3 && !calls->cookie, "those of all calls");
	ok((filter != NULL) == filtered, "and of seccomp filters, if there are any");
	ok(!filter || (filter->names == 1 && filter->cookie == 1), "which a cookie tells apart");
	is_u64(played_open(PLAYED_LINK), 1 + filtered, "links");
	played_statistics.missed = 100;
	is_u64(missed(), filtered ? 200 : 100, "returns that were not traced, of each link");
	live_pause(src);
	is_u64(missed(), 0, "none without links");
	is_u64(live_resume(src), 0, "attached again");
	is_u64(missed(), filtered ? 200 : 100, "they count again");
	unload();
}

/* Links of other probes before those of calls count no missed returns. */
static void test_returns_of_many(void)
{
	begin();
	force("calls", CALL_RETURNS);
	if (!ok(!load(), "all probes"))
		return;
	ok(live_of_test()->links.first_return > 10 && live_of_test()->links.returns == 1 &&
		   live_of_test()->links.nr == live_of_test()->links.first_return + 1,
	   "calls are attached last");
	played_statistics.missed = 100;
	is_u64(missed(), 100, "missed returns of one link");
	unload();
	begin();
	force("calls", "tp_btf");
	if (!ok(!load(), "another attach type"))
		return;
	played_statistics.missed = 100;
	is_u64(missed(), 0, "has no returns");
	unload();
}

static void test_no_functions(void)
{
	machine_cover("/proc/kallsyms", "0000000000000000 T __x64_sys_mmap\n"
					"ffffffff81000010 T __x64_sys_munmap\n");
	begin_only("calls", CALL_RETURNS);
	if (ok(!load(), "an address is hidden")) {
		ok(strstr(status("calls")->why, "EACCES") != NULL, "%s", status("calls")->why);
		is_refused(status("calls")->why);
	}
	unload();
	machine_cover("/proc/kallsyms", "ffffffff81000010 T other\n");
	begin_only("calls", CALL_RETURNS);
	if (ok(!load(), "no call has a function")) {
		ok(strstr(status("calls")->why, "ESRCH") != NULL, "%s", status("calls")->why);
		is_refused(status("calls")->why);
	}
	unload();
	machine_cover("/proc/kallsyms", "ffffffff81000000 T __x64_sys_mmap\n"
					"ffffffff81000010 T __x64_sys_munmap\n"
					"ffffffff81000020 T __x64_sys_close\n");
}

/* ---- events of each CPU ---- */

static void test_events(void)
{
	size_t fds = played_fds();

	begin_only("fault_end", "perf_event");
	played_fail(PLAYED_EVENT, NULL, 3, ENOENT);
	if (ok(!load(), "the last event is refused"))
		ok(status("fault_end")->state == HOOK_BLIND && !played_open(PLAYED_LINK) &&
			   !played_open(PLAYED_EVENT),
		   "none stays attached: %s", status("fault_end")->why);
	unload();
	begin_only("fault_end", "memcg");
	played_fail(PLAYED_EVENT, NULL, 0, ENOENT);
	if (ok(!load(), "the event behind a tracepoint is refused"))
		ok(status("fault_end")->state == HOOK_BLIND && !played_open(PLAYED_LINK),
		   "the tracepoint does not stay: %s", status("fault_end")->why);
	unload();
	begin_only("fault_end", "file_major");
	played_fail(PLAYED_LINK, NULL, 0, EBUSY);
	if (ok(!load(), "its tracepoint is refused"))
		ok(status("fault_end")->state == HOOK_BLIND && !played_open(PLAYED_EVENT),
		   "no event is opened: %s", status("fault_end")->why);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- scans ---- */

static unsigned int ticks, refusals;
static __u64 start_ns;

static int keep(void *ctx, const struct record *h)
{
	(void)ctx;
	ticks += h->kind == RECORD_TICK;
	if (h->kind != RECORD_REFUSED)
		return 0;
	refusals++;
	start_ns = ((const struct refused_record *)h)->subject.start_ns;
	return 0;
}

static int refuse(void *ctx, const struct record *h)
{
	(void)ctx, (void)h;
	return -EIO;
}

static const struct sink keeps = {.take = keep}, refuses = {.take = refuse};

/* Writes a record to the ring, as the kernel does. */
static void put_record(unsigned long *end, const struct record *h)
{
	size_t page = sysconf(_SC_PAGESIZE);
	__u32 head[2] = {h->len, 0};
	int fd = src->ops->fd(src);

	if (pwrite(fd, head, 8, 2 * page + *end) != 8 ||
	    pwrite(fd, h, h->len, 2 * page + *end + 8) != h->len)
		abort();
	*end += (8 + h->len + 7) / 8 * 8;
	if (pwrite(fd, end, sizeof(*end), page) != sizeof(*end))
		abort();
}

/* Writes a failed call of a process that started at `start`. */
static void put(unsigned long *end, __u64 start)
{
	struct refused_record r = {.h = {RECORD_REFUSED, sizeof(r), 1}};

	r.subject.pid = 77;
	r.subject.start_ns = start;
	put_record(end, &r.h);
}

static void test_turns(void)
{
	unsigned long end = 0;

	begin();
	if (!ok(!load(), "a source"))
		return;
	for (turns = 1; turns < 4; turns++) {
		runs = ticks = 0;
		is_u64(src->ops->look(src, &keeps), 0, "a scan");
		is_u64(runs, turns, "goes on until the ring has room for all");
		is_u64(live_of_test()->obj.shared->epoch, turns, "and is one scan");
		is_u64(ticks, 1, "with one record at its end");
	}
	runs = refusals = 0;
	turns = 2;
	put(&end, 5);
	ok(src->ops->look(src, &refuses) == -EIO && !runs, "an error before the scan ends it");
	is_u64(src->ops->look(src, &keeps), 0, "the next one");
	unload();
}

/* /proc shows start times in units of 10 ms: those of events are rounded, so that they are equal.
 */
static void test_start_times(void)
{
	static const char *const scans[] = {"iter/task", "/proc"};
	const __u64 start = 1234567891; /* ns after boot */

	for (size_t i = 0; i < 2; i++) {
		unsigned long end = 0;

		begin();
		force("scan", scans[i]);
		if (!ok(!load(), "%s", scans[i]))
			return;
		put(&end, start);
		refusals = 0;
		is_u64(src->ops->drain(src, &keeps), 0, "an event");
		is_u64(refusals, 1, "is sent");
		is_u64(start_ns, i ? 1230000000 : start,
		       i ? "with a start time as of /proc" : "as it is");
		unload();
	}
}

static union {
	struct record h;
	struct process_record process;
	struct cgroup_path_record cgroup;
	struct fork_record fork;
} last;

static int keep_last(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->len <= sizeof(last))
		memcpy(&last, h, h->len);
	return 0;
}

/* A start is exact if the fork was seen. Records of no process have no start. */
static void test_exact_starts(void)
{
	const struct sink keeps_last = {.take = keep_last};
	struct process_record process = {.h = {RECORD_PROCESS, sizeof(process), 1}};
	struct cgroup_path_record cgroup = {.h = {RECORD_CGROUP, sizeof(cgroup), 1}};
	struct fork_record fork = {.h = {RECORD_FORK, sizeof(fork), 1}};
	const __u64 start = 1234567891;
	unsigned long end = 0;

	begin();
	force("scan", "/proc");
	if (!ok(!load(), "/proc is scanned"))
		return;
	for (int i = 0; i < 3; i++) {
		process.subject.start_ns = i == 2 ? live_of_test()->exact_ns : start;
		process.g.flags = i == 1 ? PROC_BORN : PROC_WATCHED;
		put_record(&end, &process.h);
		is_u64(src->ops->drain(src, &keeps_last), 0, "a process");
		is_u64(last.process.subject.start_ns,
		       i ? process.subject.start_ns : start / 10000000 * 10000000,
		       i == 0	? "that faultscope found"
		       : i == 1 ? "whose fork was seen"
				: "that is younger than the probe");
	}
	memset((char *)&cgroup + sizeof(cgroup.h), 0x55, sizeof(cgroup) - sizeof(cgroup.h));
	put_record(&end, &cgroup.h);
	is_u64(src->ops->drain(src, &keeps_last), 0, "a cgroup");
	ok(!memcmp(&last.cgroup, &cgroup, sizeof(cgroup)), "is sent as it is");
	fork.subject.start_ns = start;
	put_record(&end, &fork.h);
	is_u64(src->ops->drain(src, &keeps_last), 0, "an event");
	is_u64(last.fork.subject.start_ns, start / 10000000 * 10000000, "has no flags");
	unload();
}

static void test_proc_scan(void)
{
	begin();
	force("scan", "/proc");
	if (!ok(!load(), "/proc is scanned"))
		return;
	ticks = runs = 0;
	is_u64(src->ops->look(src, &keeps), 0, "a scan");
	ok(ticks == 1 && !runs, "without a program");
	is_u64(live_of_test()->obj.shared->epoch, 0, "of no number");
	ok(live_scans_proc(src) && live_of_test()->proc, "with a state of its own");
	unload();
}

static void test_iterator(void)
{
	static const struct {
		int results[4];
		unsigned int n;
		int error;
		const char *name;
	} reads[] = {
		{{5, 64, 1, 0}, 4, 0, "an iterator that writes something"},
		{{-EAGAIN, 0}, 2, 0, "one that takes several turns"},
		{{-EINTR, 1, 0}, 3, 0, "a signal in between"},
		{{-EIO}, 1, EIO, "an error"},
		{{1, -EFAULT}, 2, EFAULT, "an error later"},
	};

	begin();
	force("scan", "iter/task");
	if (!ok(!load(), "an iterator"))
		return;
	ok(live_of_test()->links.iterator >= 0, "is a link");
	live_pause(src);
	is_u64(live_of_test()->links.iterator, (__u64)-1, "which a pause closes");
	is_u64(live_resume(src), 0, "it goes on");
	played_runs = runs = 0;
	is_u64(src->ops->look(src, &keeps), 0, "a scan");
	ok(played_runs == 1 && !runs, "reads the iterator");
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		size_t fds = played_fds();

		memcpy(iterator_reads, reads[i].results, sizeof(iterator_reads));
		nr_iterator_reads = reads[i].n;
		iterator_read = 0;
		is_u64(-src->ops->look(src, &keeps), reads[i].error, reads[i].name);
		is_u64(iterator_read, reads[i].n, "it is read to its end");
		is_u64(played_fds(), fds, "and closed");
	}
	nr_iterator_reads = iterator_read = 0;
	unload();
}

int main(void)
{
#ifdef __x86_64__
	if (live_make_machine()) {
		test_exits();
		test_returns(false);
		test_returns(true);
		test_returns_of_many();
		test_no_functions();
		test_events();
		test_turns();
		test_start_times();
		test_exact_starts();
		test_proc_scan();
		test_iterator();
		free(live_types);
		return tap_done();
	}
#endif
	ok(true, "# SKIP no types of the kernel, no tracefs, or no user namespaces");
	return tap_done();
}
