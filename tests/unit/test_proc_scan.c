// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the scan of /proc: how its files are read, which processes are sent, and how their values
 * join the state that BPF programs keep. The files in /proc are those of this test.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
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

/* /proc is the one of this test. */
int open(const char *path, int flags, ...)
{
	char fake[96];
	mode_t mode;
	va_list list;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	va_end(list);
	snprintf(fake, sizeof(fake), "%s%s", strncmp(path, "/proc/", 6) ? "" : root.path, path);
	return syscall(SYS_openat, AT_FDCWD, fake, flags, mode);
}

static const char *unopened; /* a directory that cannot be opened; NULL: none */
static int openat_error;     /* the errno of this */

int openat(int dir, const char *path, int flags, ...)
{
	if (unopened && !strcmp(path, unopened)) {
		errno = openat_error;
		return -1;
	}
	return syscall(SYS_openat, dir, path, flags, 0);
}

static int streams_left = INT_MAX; /* directories that can be read, the first is /proc */

DIR *fdopendir(int fd)
{
	DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");

	errno = ENOMEM;
	return streams_left-- > 0 ? real(fd) : NULL;
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

/* A process that cannot be opened has ended, unless files or memory ran out. */
static void test_unopened(void)
{
	static const struct {
		int error;
		bool fails;
	} rows[] = {{ENOENT, false}, {ESRCH, false}, {EACCES, false},
		    {EMFILE, true},  {ENFILE, true}, {ENOMEM, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		unopened = "5000001";
		openat_error = rows[i].error;
		is_u64(-look(NULL, true), rows[i].fails ? rows[i].error : 0,
		       "a process that cannot be opened");
		is_u64(sent.n, 0, "is not sent");
		unopened = NULL;
		is_u64(look(NULL, true), 0, "the next scan");
		is_u64(sent.n, 1, "sends it");
	}
}

/* Before 6.2, the entries of a directory are counted, of which two are none of files. */
static void test_files(void)
{
	char path[128];

	begin();
	unopened = "fd";
	openat_error = EACCES;
	look(NULL, true);
	ok(sent.n == 1 && !sent.last.g.fds, "files that may not be seen are not counted");
	unopened = NULL;
	begin();
	streams_left = 1;
	look(NULL, true);
	ok(sent.n == 1 && !sent.last.g.fds, "nor without memory");
	streams_left = INT_MAX;
	begin();
	for (int fd = 2; fd >= 0; fd--) {
		snprintf(path, sizeof(path), "%s/proc/5000001/fd/%d", root.path, fd);
		unlink(path);
		look(NULL, true);
		ok(sent.n == 1 && sent.last.g.fds == (__u32)fd, "%d files", fd);
	}
}

/* Values that the files of a process lack are 0, or stand for no limit. */
static void test_lacking(void)
{
	const struct gauges *g = &sent.last.g;

	begin();
	fake_file(&root, "proc/5000001/status", "Name:\tVmSize:\t77\n");
	fake_file(&root, "proc/5000001/limits",
		  "Max open files unlimited unlimited files\nMax data size 5\n");
	put_stat("5000001 (0123456789abcdefgh) S 77 1 1 0 -1 " FLAGS
		 " 1 0 0 0 0 0 0 0 20 0 4 0 123 9");
	look(NULL, true);
	is_u64(sent.n, 1, "a process");
	is_str(g->comm, "0123456789abcde", "a long name is cut");
	ok(!g->uid && !g->total_vm_pages && !g->data_vm_pages && !g->rss_anon_pages &&
		   !g->swap_pages,
	   "values that are not there");
	ok(g->fd_soft == (typeof(g->fd_soft))~0ULL && g->fd_hard == (typeof(g->fd_hard))~0ULL,
	   "no limit of files");
	ok(g->as_limit_bytes == ~0ULL && g->memlock_limit_bytes == ~0ULL &&
		   g->data_limit_bytes == ~0ULL,
	   "limits that are not there, or not whole");
}

/* If the main thread has exited, values come from another thread. */
static void test_other_thread(void)
{
	static const char zombie[] =
		"5000001 (a) Z 77 1 1 0 -1 " FLAGS " 9 0 0 0 0 0 0 0 20 0 4 0 123 9";
	static const char alive[] =
		"5000002 (b) S 77 1 1 0 -1 " FLAGS " 5 0 0 0 0 0 0 0 20 0 4 0 124 9";
	const struct process_record *p = &sent.last;

	begin();
	put_stat(zombie);
	fake_file(&root, "proc/5000001/task/5000001/stat", "%s", zombie);
	fake_file(&root, "proc/5000001/task/5000002/stat", "%s", alive);
	fake_file(&root, "proc/5000001/task/5000002/status", "Name:\tb\nUid:\t7\t7\t7\t7\n");
	fake_file(&root, "proc/5000001/task/5000002/limits", "Max open files 5 6 files\n");
	fake_file(&root, "proc/5000001/task/5000002/fd/0", "x");
	is_u64(look(NULL, true), 0, "a process whose main thread has exited");
	is_u64(sent.n, 1, "is sent");
	ok(p->g.uid == 7 && p->g.fd_soft == 5 && p->g.fd_hard == 6 && p->g.fds == 1,
	   "with values of another thread");
	ok(p->subject.pid == PID && p->subject.start_ns == 123 * TICK && p->g.min_flt == 9 &&
		   !strcmp(p->g.comm, "a"),
	   "and those of the process");
	unopened = "task/5000002";
	openat_error = ENOENT;
	put_stat("5000001 (a) Z 77 1 1 0 -1 " FLAGS " 8 0 0 0 0 0 0 0 20 0 4 0 123 9");
	is_left_out("one whose other thread has just exited");
	unopened = NULL;
	fake_remove(&root, "proc/5000001/task/5000002/limits");
	is_left_out("or exits now");
	fake_remove(&root, "proc/5000001/task/5000002/stat");
	fake_remove(&root, "proc/5000001/task/5000001/stat");
}

/* The values of a process are kept by its pid modulo 65536. */
static void test_many(void)
{
	static const struct {
		unsigned int pid, again; /* processes that a second scan sends */
	} rows[] = {{PID + 1, 0}, {PID + 65535, 0}, {PID + 65536, 2}, {PID + 65537, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const char *const files[] = {"stat", "status", "limits"};
		char path[128];

		begin();
		for (size_t k = 0; k < 3; k++) {
			snprintf(path, sizeof(path), "proc/%u/%s", rows[i].pid, files[k]);
			fake_file(&root, path, "%s",
				  k ? "x"
				    : "9 (b) S 1 1 1 0 -1 " FLAGS " 1 0 0 0 0 0 0 0 20 0 4 0 1 9");
		}
		look(NULL, true);
		is_u64(sent.n, 2, "two processes");
		look(NULL, true);
		is_u64(sent.n, rows[i].again, "are sent again if they share a place");
		for (size_t k = 0; k < 3; k++) {
			snprintf(path, sizeof(path), "proc/%u/%s", rows[i].pid, files[k]);
			fake_remove(&root, path);
		}
		snprintf(path, sizeof(path), "%s/proc/%u", root.path, rows[i].pid);
		rmdir(path);
	}
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

/* The last fault of the main thread is added to the counters. */
static void test_pending(void)
{
	static const struct {
		__u64 ns;
		unsigned int bucket; /* of 2^(8 + n) ns and more */
	} rows[] = {{1, 0},	      {511, 0},		{512, 1},
		    {1023, 1},	      {1024, 2},	{1ULL << 38, 30},
		    {1ULL << 39, 31}, {1ULL << 40, 31}, {UINT64_MAX, 31}};
	const struct counters *c = &sent.last.c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_with_state();
		state.slot.ended_ns = rows[i].ns;
		state.slot.address = 4096;
		state.slot.end = i & 1;
		state.slot.as[0] = CLASS_ANONYMOUS;
		state.slot.as[1] = CLASS_FILE_MAJOR;
		state.slot.read_bytes = 77;
		state.slot.waited_ns[0] = 5;
		is_u64(sends(false), 1, "a process with a fault");
		ok(c->latency[i & 1][rows[i].bucket] == 1 && c->stall_ns[i & 1] == rows[i].ns,
		   "of %llu ns", (unsigned long long)rows[i].ns);
		is_u64(c->served[i & 1 ? CLASS_FILE_MAJOR : CLASS_ANONYMOUS].stall_ns, rows[i].ns,
		       "in its class");
		is_u64(c->fault_read_bytes, i & 1 ? 77 : 0, "bytes that a major fault read");
		is_u64(c->wait[0].in_faults_ns, 5, "its waits");
	}
	begin_with_state();
	state.slot.ended_ns = 1000;
	state.slot.as[0] = CLASS_ANONYMOUS;
	is_u64(sends(false), 1, "a fault without an address");
	ok(c->stall_ns[0] == 1000 && !c->served[CLASS_ANONYMOUS].stall_ns, "has no class");
	begin_with_state();
	state.st.flags = PROC_WATCHED | PROC_KEPT | PROC_BORN;
	is_u64(sends(false), 1, "a process");
	is_u64(sent.last.g.flags, PROC_WATCHED | PROC_BORN, "flags of its place are not sent");
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
	test_unopened();
	test_files();
	test_lacking();
	test_other_thread();
	test_many();
	test_state();
	test_pending();
	test_command();
	test_elsewhere();
	test_starts();
	proc_scan_free(scan);
	opendir_error = 0;
	fakeroot_free(&root);
	return tap_done();
}
