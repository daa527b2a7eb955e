// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the scan of /proc: how its files are read, which processes are sent, and how their values
 * join the state that BPF programs keep. The files in /proc are those of this test.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>

#include "fakeroot.h"
#include "failing_memory.h"
#include "open_files.h"
#include "probe/proc_scan.h"
#include "records/records.h"
#include "tap.h"

#define PID    5000001 /* greater than pids of Linux */
#define SECOND 1000000000ULL
#define TICK   10000000ULL /* of the clock of /proc */

static struct fakeroot root;
static struct proc_scan *scan;
static off_t fd_size; /* of the directory of file descriptors; 0: an old kernel */
static int opendir_error;

static struct {
	struct process_record last;
	unsigned int n;
	int error; /* result of the reader */
} sent;

DIR *opendir(const char *path)
{
	char fake[96];

	if (opendir_error) {
		errno = opendir_error;
		return NULL;
	}
	snprintf(fake, sizeof(fake), "%s%s", root.path, path);
	return fdopendir(open(fake, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int fstatat(int dir, const char *path, struct stat *ret, int flags)
{
	if (syscall(SYS_newfstatat, dir, path, ret, flags))
		return -1;
	if (!strcmp(path, "fd"))
		ret->st_size = fd_size;
	return 0;
}

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_PROCESS && h->len == sizeof(sent.last)) {
		memcpy(&sent.last, h, sizeof(sent.last));
		sent.n++;
	}
	return sent.error;
}

static void put_stat(const char *text)
{
	fake_file(&root, "proc/5000001/stat", "%s", text);
}

#define FLAGS "4194560"
#define STAT_OF(flags)                                                                             \
	"5000001 (a (b) c) S 77 1 1 0 -1 " flags " 11 12 13 14 15 16 17 18 20 0 4 0 123 9"

static void put_process(void)
{
	put_stat(STAT_OF(FLAGS));
	fake_file(&root, "proc/5000001/status",
		  "Name:\ta\nUid:\t1000\t1001\t1002\t1003\nVmPeak:\t400 kB\nVmSize:\t4000 kB\n"
		  "VmLck:\t40 kB\nRssAnon:\t80 kB\nRssFile:\t120 kB\nRssShmem:\t160 kB\n"
		  "VmData:\t200 kB\nVmSwap:\t240 kB\n");
	fake_file(&root, "proc/5000001/limits",
		  "Limit Soft Limit Hard Limit Units\n"
		  "Max data size             unlimited            7000                 bytes\n"
		  "Max open files            1024                 4096                 files\n"
		  "Max locked memory         65536                unlimited            bytes\n"
		  "Max address space         8000                 9000                 bytes\n");
	fake_file(&root, "proc/5000001/fd/0", "x");
	fake_file(&root, "proc/5000001/fd/1", "x");
	fake_file(&root, "proc/5000001/fd/2", "x");
}

/* Scans once. Returns the result; the number of records is in `sent`. */
static int look(const struct proc_states *states, bool everyone)
{
	const struct sink sink = {.take = take};
	size_t before = open_fds();
	int err;

	sent.n = 0;
	err = proc_scan(&scan, everyone, states, &sink);
	if (open_fds() != before)
		ok(false, "a file stays open");
	return err;
}

static void begin(void)
{
	proc_scan_free(scan);
	scan = NULL;
	memset(&sent, 0, sizeof(sent));
	fd_size = opendir_error = 0;
	put_process();
}

static void test_values(void)
{
	const struct process_record *p = &sent.last;
	const __u64 kib = 1024 / (sysconf(_SC_PAGESIZE) / 1024);

	begin();
	is_u64(look(NULL, true), 0, "a scan");
	is_u64(sent.n, 1, "sends the process");
	is_u64(p->subject.pid, PID, "its pid");
	is_u64(p->subject.start_ns, 123 * TICK, "its start");
	is_str(p->g.comm, "a (b) c", "its name");
	is_u64(p->g.ppid, 77, "its parent");
	is_u64(p->g.min_flt, 11, "minor faults");
	is_u64(p->g.maj_flt, 13, "major faults");
	is_u64(p->u.cpu_ns, (15 + 16) * TICK, "CPU time");
	is_u64(p->g.threads, 4, "threads");
	is_u64(p->u.user_threads, ~0ULL, "threads of the user are not known");
	is_u64(p->u.user_threads_limit, ~0ULL, "nor is their limit");
	is_u64(p->g.uid, 1000, "real user id");
	is_u64(p->g.total_vm_pages, 4000 * kib / 1024, "VmSize");
	is_u64(p->g.locked_vm_pages, 40 * kib / 1024, "VmLck");
	is_u64(p->g.rss_anon_pages, 80 * kib / 1024, "RssAnon");
	is_u64(p->g.rss_file_pages, 120 * kib / 1024, "RssFile");
	is_u64(p->g.rss_shmem_pages, 160 * kib / 1024, "RssShmem");
	is_u64(p->g.data_vm_pages, 200 * kib / 1024, "VmData");
	is_u64(p->g.swap_pages, 240 * kib / 1024, "VmSwap");
	is_u64(p->g.fd_soft, 1024, "soft limit of files");
	is_u64(p->g.fd_hard, 4096, "hard limit of files");
	is_u64(p->g.as_limit_bytes, 8000, "limit of the address space");
	is_u64(p->g.data_limit_bytes, ~0ULL, "no limit of data");
	is_u64(p->g.memlock_limit_bytes, 65536, "limit of locked memory");
	ok(p->g.fds == 3 && p->g.fd_high == 3, "file descriptors");
	is_u64(p->g.flags, PROC_NO_COUNT, "mappings are not counted");
	ok(p->h.t_ns > 0, "time of the record");
	fd_size = 9;
	look(NULL, true);
	ok(sent.n == 1 && p->g.fds == 9, "from 6.2 on, their number is the directory's size");
}

/* Only processes that changed are sent. */
static void test_changes(void)
{
	begin();
	look(NULL, true);
	is_u64(look(NULL, true), 0, "a second scan");
	is_u64(sent.n, 0, "sends nothing new");
	put_stat("5000001 (a) S 77 1 1 0 -1 " FLAGS " 12 0 0 0 0 0 0 0 20 0 4 0 123 9");
	look(NULL, true);
	ok(sent.n == 1 && sent.last.g.min_flt == 12, "one more fault is sent");
	put_stat("5000001 (a) S 77 1 1 0 -1 " FLAGS " 12 0 0 0 0 0 0 0 20 0 4 0 124 9");
	look(NULL, true);
	ok(sent.n == 1 && sent.last.subject.start_ns == 124 * TICK,
	   "another process with this pid is sent");
	is_u64(look(NULL, false), 0, "without state");
	is_u64(sent.n, 0, "a process is sent only on request");
}

static void is_left_out(const char *name)
{
	is_u64(look(NULL, true), 0, name);
	is_u64(sent.n, 0, "is not sent");
}

static void test_left_out(void)
{
	static const char *const stats[] = {
		"", "5000001 a S 77", "5000001 (a S 77", "5000001 a) S 77",
		"5000001 (a) S 77 1 1 0",
		/* threads of the kernel, and processes that are ending */
		STAT_OF("2097152"), STAT_OF("4"),
		"5000001 (a) Z 77 1 1 0 -1 " FLAGS " 1 0 0 0 0 0 0 0 20 0 4 0 123 9"};
	char path[128];

	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		begin();
		put_stat(stats[i]);
		is_left_out(stats[i]);
	}
	begin();
	unlink(fake_path(&root, "proc/5000001/status", path, sizeof(path)));
	is_left_out("a process without status");
	begin();
	unlink(fake_path(&root, "proc/5000001/limits", path, sizeof(path)));
	is_left_out("a process without limits");
}

static void test_failures(void)
{
	begin();
	sent.error = -EIO;
	is_u64(-look(NULL, true), EIO, "an error of the reader");
	begin();
	opendir_error = EMFILE;
	is_u64(-look(NULL, true), EMFILE, "no file is left for a scan");
	begin();
	memory_fail_after(0);
	is_u64(-look(NULL, true), ENOMEM, "no memory");
	ok(memory_recovers(), "this allocation failed");
	is_u64(look(NULL, true), 0, "the next scan");
	is_u64(sent.n, 1, "sends the process");
}

/* ---- state of BPF programs ---- */

static struct fs_whole_state state;
static int has_state; /* result of the first read of a scan */
static int arrives;   /* result of later reads */
static bool moves;
static unsigned int reads;

static int read_state(void *ctx, __u32 pid, struct fs_whole_state *ret)
{
	(void)ctx;
	*ret = state;
	return pid != PID ? 0 : reads++ ? arrives : has_state;
}

static bool waits(void *ctx, __u32 pid, __u64 birth_ns)
{
	(void)ctx;
	return moves && pid == PID && birth_ns == 123 * TICK;
}

static const struct proc_states states = {
	.read = read_state, .waits = waits, .exact_ns = 2 * SECOND};

static void begin_with_state(void)
{
	begin();
	memset(&state, 0, sizeof(state));
	state.st.start_ns = 123 * TICK + 7;
	state.st.map_count = 20;
	state.st.map_high = 30;
	state.st.fd_high = 5;
	state.st.fd_base = 2;
	state.st.execs = 1;
	has_state = 1;
	arrives = 0;
	moves = false;
	reads = 0;
}

/* Scans with state. Returns how many records were sent. */
static unsigned int sends(bool everyone)
{
	reads = 0;
	if (look(&states, everyone))
		ok(false, "a scan fails");
	return sent.n;
}

static void test_state(void)
{
	const struct gauges *g = &sent.last.g;

	begin_with_state();
	is_u64(sends(false), 1, "a process with state");
	is_u64(sent.last.subject.start_ns, 123 * TICK, "its start is the one of /proc");
	ok(g->map_count == 20 && g->map_high == 30 && !(g->flags & PROC_NO_COUNT), "mappings");
	ok(g->fd_base == 2 && g->execs == 1 && g->fds == 3 && g->fd_high == 5, "files");
	state.st.flags = PROC_BORN;
	is_u64(sends(false), 1, "one whose birth was seen");
	is_u64(sent.last.subject.start_ns, 123 * TICK + 7, "has an exact start");
	state.st.map_count = 0;
	state.st.last_map_count = 19;
	ok(sends(false) == 1 && g->map_count == 19, "the last known number of mappings");
	state.st.fd_high = 2;
	ok(sends(false) == 1 && g->fd_high == 3, "no maximum is below the present number");
	state.st.fd_high = 5;
	state.st.fd_limit = 1024;
	ok(sends(false) == 1 && g->fd_high == 5, "the maximum since the limit was set");
	state.st.fd_limit = 1025;
	ok(sends(false) == 1 && g->fd_high == 3, "a limit that was lowered begins a new one");
	state.st.start_ns = 124 * TICK;
	is_u64(sends(true), 0, "state of an earlier process with this pid");
	state.st.start_ns = 0;
	is_u64(sends(true), 1, "state without a start");
	is_u64(sent.last.subject.start_ns, 123 * TICK, "has the one of /proc");
	has_state = -EAGAIN;
	state.st.map_high = 31;
	is_u64(sends(true), 0, "state that is being moved");
}

/* A command of faultscope that has not called execve() yet has files of faultscope. */
static void test_command(void)
{
	begin_with_state();
	state.st.flags = PROC_COMMAND;
	state.st.execs = 0;
	is_u64(sends(true), 0, "a command before its execve()");
	state.st.execs = 1;
	is_u64(sends(true), 1, "and behind it");
	state.st.flags = 0;
	state.st.execs = 0;
	is_u64(sends(true), 1, "another process without execve()");
}

/* A process whose state is elsewhere is sent at a later scan, so that its counters do not fall. */
static void test_elsewhere(void)
{
	begin_with_state();
	has_state = 0;
	is_u64(sends(false), 0, "a process without state");
	is_u64(sends(true), 1, "is sent on request");
	begin_with_state();
	has_state = 0;
	moves = true;
	is_u64(sends(true), 0, "state that moves to another thread");
	moves = false;
	arrives = 1;
	is_u64(sends(true), 0, "state that arrived meanwhile");
	arrives = 0;
	is_u64(sends(true), 1, "no state at all");
	begin_with_state();
	is_u64(sends(true), 1, "a process that had state at the last scan");
	has_state = 0;
	is_u64(sends(true), 0, "has counters in a record that is on its way");
	put_stat("5000001 (a) S 77 1 1 0 -1 " FLAGS " 1 0 0 0 0 0 0 0 20 0 4 0 124 9");
	is_u64(sends(true), 1, "a later process with this pid has none");
}

static void test_starts(void)
{
	is_u64(proc_scan_birth(123 * TICK + TICK - 1), 123 * TICK, "a start is rounded down");
	is_u64(proc_scan_birth(123 * TICK), 123 * TICK, "to a tick");
	is_u64(proc_scan_start(SECOND + 7, 0, SECOND + 8), SECOND, "before the fork probe");
	is_u64(proc_scan_start(SECOND + 8, 0, SECOND + 8), SECOND + 8, "from then on");
	is_u64(proc_scan_start(SECOND + 7, PROC_BORN, SECOND + 8), SECOND + 7, "a birth seen");
}

int main(void)
{
	if (sysconf(_SC_CLK_TCK) != 100) {
		ok(true, "# SKIP a clock of other ticks");
		return tap_done();
	}
	root = fakeroot_make();
	fake_file(&root, "proc/uptime", "no process");
	test_values();
	test_changes();
	test_left_out();
	test_failures();
	test_state();
	test_command();
	test_elsewhere();
	test_starts();
	proc_scan_free(scan);
	opendir_error = 0;
	fakeroot_free(&root);
	return tap_done();
}
