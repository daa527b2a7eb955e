// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the cause of failed calls just below, at and just above the bounds of the kernel's checks:
 * sizes of arguments, memory kept in reserve, counters that lag, tables of descriptors.
 */
#include <linux/magic.h>

#include "cause_fixture.h"
#include "rules/request.h"

#define KIB 1024ULL
#define MIB (KIB * KIB)

/* Returns the text of evidence, such as "5 of 10". */
static const char *evidence(const char *field)
{
	static char text[4][200];
	static int at;

	at = (at + 1) % 4;
	snprintf(text[at], sizeof(text[at]), "none");
	for (size_t i = 0; i < v.nr_evidence; i++)
		if (!strcmp(v.evidence[i].field, field)) {
			struct buf b = BUF_IN(text[at]);

			evidence_put(&b, &v.evidence[i]);
		}
	return text[at];
}

/* Arguments may take a quarter of RLIMIT_STACK, at least 128 KiB and at most 6 MiB. */
static void test_arguments(void)
{
	static const struct {
		uint64_t stack, bytes, longest;
		const char *cause;
		bool certain;
		uint64_t need;
		const char *name;
	} rows[] = {
		{8 * MIB, 2 * MIB, 100, "unknown", false, 0, "a quarter of the stack"},
		{8 * MIB, 2 * MIB + 1, 100, "rlimit_stack", true, 8 * MIB + 4, "a byte more"},
		{256 * KIB, 128 * KIB, 100, "unknown", false, 0, "128 KiB are always allowed"},
		{256 * KIB, 128 * KIB + 1, 100, "rlimit_stack", true, 512 * KIB + 4,
		 "a byte more than 128 KiB"},
		{8 * MIB, 3 * MIB, 128 * KIB, "rlimit_stack", true, 12 * MIB,
		 "the longest argument may have 128 KiB"},
		{8 * MIB, 3 * MIB, 128 * KIB + 1, "rlimit_stack", false, 12 * MIB,
		 "it has a byte more: two limits are exceeded"},
		{24 * MIB - 4, 6 * MIB, 100, "rlimit_stack", true, 24 * MIB,
		 "6 MiB need a stack of 24 MiB"},
		{24 * MIB - 4, 6 * MIB + 1, 100, "rlimit_stack", true, UINT64_MAX,
		 "for more than 6 MiB, no stack is large enough"},
		{24 * MIB, 6 * MIB, 100, "unknown", false, 0, "6 MiB fit with 24 MiB"},
		{24 * MIB, 6 * MIB + 1, 100, "bad_argument", true, 0, "6 MiB and a byte never fit"},
		{UINT64_MAX, 6 * MIB, 128 * KIB, "unknown", false, 0, "an argument of 128 KiB"},
		{UINT64_MAX, 6 * MIB, 128 * KIB + 1, "bad_argument", true, 0,
		 "an argument of a byte more never fits"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(CALL_EXECVE, E2BIG);
		r.stack_limit_bytes = rows[i].stack;
		r.asked.bytes = rows[i].bytes;
		r.asked.longest = rows[i].longest;
		r.asked.whole = 1;
		is_cause(rows[i].cause, rows[i].certain, rows[i].name);
		is_u64(v.need, rows[i].need, "the stack that the call needs");
	}
	is_str(evidence("bytes of one argument"), "128 KiB of 128 KiB", "the longest argument");
	r.asked.longest = 128 * KIB;
	r.asked.bytes++;
	is_cause("bad_argument", true, "all arguments together");
	is_str(evidence("bytes of arguments"), "6.00 MiB of 6.00 MiB", "how long they are");
	r.asked.whole = 0;
	is_cause("bad_argument", false, "not all arguments could be read");
}

/* RLIMIT_AS: the stack of the new program must hold the arguments and four pages. */
static void test_arguments_in_address_space(void)
{
	begin(CALL_EXECVE, E2BIG);
	r.stack_limit_bytes = UINT64_MAX;
	r.asked.whole = 1;
	r.asked.bytes = MIB;
	r.as_limit_bytes = MIB + 4 * PAGE;
	is_cause("unknown", false, "the arguments and four pages fit");
	r.as_limit_bytes--;
	is_cause("rlimit_as", false, "a byte less: they may not fit");
	r.as_limit_bytes = MIB / 2;
	is_cause("rlimit_as", false, "half of them fit: the other half may be pointers");
	r.as_limit_bytes--;
	is_cause("rlimit_as", true, "not even half of them fit");
	is_str(evidence("RLIMIT_AS"), "512 KiB", "the limit");
	begin(CALL_EXECVE, ENOMEM);
	is_cause("unknown", false, "no limit while the new program is mapped");
	r.as_limit_bytes = UINT64_MAX - 1;
	is_cause("rlimit_as", false, "any limit may be too low for it");
}

/* The kernel keeps 8 MiB for root, and 1/32 of the process, at most 128 MiB. */
static void test_commit(void)
{
	static const struct {
		uint64_t process_pages, kept;
		uint32_t facts;
		const char *name;
	} rows[] = {
		{0, 8 * MIB, 0, "an empty process: 8 MiB are kept"},
		{31, 8 * MIB, 0, "31 pages: the same"},
		{32, 8 * MIB + PAGE, 0, "32 pages: one page more"},
		{1 << 20, 136 * MIB, 0, "4 GiB: 128 MiB more"},
		{(1 << 20) - 32, 136 * MIB - PAGE, 0, "32 pages less: one page less"},
		{1 << 21, 136 * MIB, 0, "8 GiB: not more than 128 MiB"},
		{1 << 21, 128 * MIB, FACT_ADMIN, "root may use the 8 MiB"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_mmap(ENOMEM, 256, RW, ANON);
		l.overcommit_memory = 2;
		l.committed_bytes = 1024 * MIB;
		l.commit_limit_bytes = 1025 * MIB + rows[i].kept;
		r.total_vm_pages = rows[i].process_pages;
		r.facts = rows[i].facts;
		is_cause("overcommit_strict", false, rows[i].name);
		is_u64(v.need, 1025 * MIB + rows[i].kept, "the limit that the call needs");
		is_u64(v.asked, MIB, "of which it requested");
		l.commit_limit_bytes++;
		is_cause("unknown", false, "the limit is a byte higher");
	}
}

/* The kernel rejects a request for more than RAM and swap. */
static void test_heuristic(void)
{
	begin_mmap(ENOMEM, 512, RW, ANON);
	l.mem_total_bytes = MIB;
	l.swap_total_bytes = MIB;
	is_cause("unknown", false, "as much as RAM and swap");
	r.facts = FACT_SAID_COMMIT;
	is_cause("overcommit_heuristic", true, "the kernel logged that it is too much");
	r.facts = 0;
	r.args[1] += PAGE;
	is_cause("overcommit_heuristic", true, "a page more");
	is_str(evidence("requested_bytes"), "2.00 MiB of 2.00 MiB", "what it requested");
	is_u64(v.need, 2 * MIB + PAGE, "what it needs");
	l.mem_total_bytes = l.swap_total_bytes = 0;
	is_cause("unknown", false, "the size of RAM is not known");
}

/* The kernel charges pages in batches of 64: a cgroup may fail with 64 free pages. */
static void test_cgroup(void)
{
	begin(CALL_UNSHARE, ENOMEM);
	r.memory = (struct level_room){.used = 936, .limit = 1000, .known = 1, .up = 3};
	is_cause("cgroup_memory", false, "64 pages are free");
	is_str(evidence("cgroup_memory_pages"), "936 of 1,000 pages", "its pages");
	is_str(evidence("levels_above_own_cgroup"), "3", "where the limit is");
	is_u64(v.need, 936 * PAGE, "what it holds");
	r.memory.up = 0;
	is_cause("cgroup_memory", false, "its own cgroup");
	is_str(evidence("levels_above_own_cgroup"), "none", "has no level above");
	r.memory.used = 935;
	is_cause("unknown", false, "65 pages are free");
	r.memory.used = UINT64_MAX - 64;
	r.memory.limit = UINT64_MAX;
	is_cause("unknown", false, "no level has a limit");
	r.memory = (struct level_room){.used = 1000, .limit = 1000};
	is_cause("unknown", false, "the cgroup is not known");
}

/* A call that creates descriptors fails if its numbers do not fit into fs.nr_open. */
static void test_nr_open(void)
{
	begin(CALL_OPEN, EMFILE);
	l.nr_open = 4096;
	r.fd_soft = UINT64_MAX;
	r.fds_free = 1;
	r.fds = 4095;
	is_cause("unknown", false, "the last number is free");
	r.fds = 4096;
	is_cause("nr_open", true, "none is free");
	is_str(evidence("fds"), "4,096 of 4,096", "how many are open");
	is_u64(v.need, 4097, "one more is needed");
	begin(CALL_DUP, EMFILE);
	l.nr_open = 4096;
	r.args[1] = F_DUPFD_COMMAND;
	r.args[2] = 4095;
	r.fd_soft = UINT64_MAX;
	r.fds_free = 1;
	is_cause("unknown", false, "F_DUPFD from the last number on");
	r.args[2] = 4096;
	is_cause("nr_open", true, "F_DUPFD from a number on that is never possible");
	is_str(evidence("number"), "4,096 of 4,096", "the number");
	is_u64(v.need, 4097, "the table would have one more");
	r.args[1] = 1030; /* F_DUPFD_CLOEXEC */
	is_cause("nr_open", true, "F_DUPFD_CLOEXEC as well");
	r.args[1] = 1031;
	is_cause("unknown", false, "another command names no number");
	l.nr_open = 0;
	r.args[1] = F_DUPFD_COMMAND;
	is_cause("unknown", false, "the limit is not known");
}

static void test_processes(void)
{
	begin(CALL_CLONE, EAGAIN);
	r.nproc_limit = 100;
	r.user.processes = 99;
	is_cause("unknown", false, "one process more is allowed");
	is_str(evidence("processes and threads of the user"), "99 of 100", "which is shown");
	r.user.processes = 100;
	is_cause("rlimit_nproc", true, "no more is allowed");
	is_u64(v.need, 101, "one more is needed");
	for (uint32_t fact = FACT_ROOT;; fact = fact == FACT_ROOT ? FACT_RESOURCE : FACT_ADMIN) {
		r.facts = fact;
		is_cause("unknown", false, "the limit does not apply to root");
		if (fact == FACT_ADMIN)
			break;
	}
	begin(CALL_CLONE, EAGAIN);
	l.threads_max = 1000;
	l.threads = 999;
	is_cause("unknown", false, "one thread more is allowed on the machine");
	l.threads = 1000;
	is_cause("threads_max", false, "none is: the number was read later");
	is_u64(v.need, 1001, "one more is needed");
	r.variables = 1U << VARIABLE_THREADS;
	r.variable[VARIABLE_THREADS] = 1000;
	is_cause("threads_max", true, "the number was read at the failure");
	begin(CALL_CLONE, EAGAIN);
	r.pids = (struct level_room){.used = 9, .limit = 10, .known = 1, .up = 2};
	is_cause("unknown", false, "pids.max allows one more");
	r.pids.used = 10;
	is_cause("cgroup_pids", true, "pids.max allows none");
	is_str(evidence("pids.current"), "10 of 10", "its pids");
	is_str(evidence("levels_above_own_cgroup"), "2", "where the limit is");
}

/* fork() commits the private memory of the parent once more. */
static void test_fork(void)
{
	begin(CALL_CLONE, ENOMEM);
	r.data_vm_pages = 256;
	r.total_vm_pages = 0;
	l.overcommit_memory = 2;
	l.committed_bytes = 0;
	l.commit_limit_bytes = 9 * MIB;
	is_cause("overcommit_strict", false, "1 MiB and the reserve reach the limit");
	is_u64(v.need, 9 * MIB, "the limit that it needs");
	l.commit_limit_bytes++;
	is_cause("unknown", false, "the limit is a byte higher");
	l.overcommit_memory = 0;
	is_cause("unknown", false, "without strict accounting, this limit does not count");
	r.facts = FACT_SAID_COMMIT;
	is_cause("overcommit_heuristic", true, "the kernel logged that it is too much");
	is_str(evidence("kernel log"), "not enough memory for the allocation", "what it logged");
	l.overcommit_memory = 1;
	is_cause("unknown", false, "with mode 1, the kernel rejects no request");
}

static void test_holes_and_ends(void)
{
	begin_range(CALL_MSYNC, ENOMEM, 4, 3, 0);
	is_cause("range_hole", true, "the last page is not mapped");
	is_str(evidence("nothing is mapped at"), "0x7f0000003000", "its address");
	begin_range(CALL_MSYNC, ENOMEM, 4, 4, 0);
	is_cause("unknown", false, "the whole range is mapped");
	r.range.walk = 0;
	is_cause("range_hole", false, "the range was not read");
	begin(CALL_CLONE, ENOMEM);
	r.facts = FACT_PIDS_OVER;
	is_cause("unknown", false, "no limit");
	is_str(evidence("pid namespace"), "takes no process: its init process has exited",
	       "the namespace has ended");
	r.error = EAGAIN;
	is_cause("unknown", false, "another errno");
	is_str(evidence("pid namespace"), "none", "has another reason");
}

static void test_names_of_limits(void)
{
	is_str(counted_limit_name(COUNTED_MAX), "", "a number behind the last kind of objects");
	is_str(counted_limit_name(COUNTED_TIME_NAMESPACES), "user.max_time_namespaces", "a sysctl");
	is_str(counted_limit_name(COUNTED_SIGNALS), "--sigpending", "a resource limit");
	is_str(counted_limit_name(COUNTED_POLLED_FDS), "--nofile", "another one");
	is_str(counted_limit_name(COUNTED_BREAKPOINTS), "", "nothing raises it");
	ok(counted_per_user(COUNTED_USER_NAMESPACES) && counted_per_user(COUNTED_TIME_NAMESPACES),
	   "namespaces count for each user");
	ok(counted_per_user(COUNTED_FANOTIFY_MARKS), "so do fanotify marks");
	ok(!counted_per_user(COUNTED_SIGNALS) && !counted_per_user(COUNTED_NAMESPACES) &&
		   !counted_per_user(COUNTED_USER_NAMESPACES - 1),
	   "no other objects do");
	ok(!counted_limit_of("unknown"), "a cause that is no limit of objects");
}

static void test_watches(void)
{
	begin(CALL_INOTIFY_WATCH, ENOSPC);
	r.user.inotify_watches = 100;
	r.user.inotify_watches_max = 100;
	is_cause("inotify_watches", true, "the user has as many watches as allowed");
	is_u64(v.need, 101, "one more is needed");
	r.user.inotify_watches = 99;
	is_cause("inotify_watches", false, "watches were removed after the failure");
	r.facts = FACT_FILTERED;
	is_cause("unknown", false, "or a seccomp filter failed the call");
	r.user.inotify_watches = 100;
	is_cause("inotify_watches", false, "a filter, and the limit");
	r.user.inotify_watches = UINT64_MAX;
	r.facts = 0;
	l.inotify_watches = 8192;
	is_cause("inotify_watches", true, "nothing else gives ENOSPC");
	is_str(evidence("fs.inotify.max_user_watches"), "8,192 of 8,192", "the limit");
	is_u64(v.need, 8193, "one more than the limit");
	begin(CALL_EPOLL_CTL, ENOSPC);
	l.epoll_watches = 5;
	is_cause("epoll_watches", true, "the limit of epoll");
	is_u64(v.need, 6, "one more than the limit of epoll");
}

static void test_rings(void)
{
	begin(CALL_IO_URING_REGISTER, ENOMEM);
	r.memlock_limit_bytes = 100 * PAGE;
	r.asked.bytes = 10 * PAGE;
	r.asked.whole = 1;
	r.user.locked_pages = 90;
	is_cause("unknown", false, "the pages just fit");
	r.asked.whole = 0;
	is_cause("rlimit_memlock", false, "not all that it requested is known");
	r.user.locked_pages = 91;
	is_cause("rlimit_memlock", true, "one page too many");
	is_u64(v.need, 101 * PAGE, "what it needs");
	is_str(evidence("locked pages of the user"), "91 + 10 of 100 pages", "the sum");
	r.user.locked_pages = UINT64_MAX;
	is_cause("rlimit_memlock", false, "the pages of the user are not known");
	is_str(evidence("locked pages of the user"), "0 + 10 of 100 pages", "only those requested");
	r.facts = FACT_IPC_LOCK;
	is_cause("unknown", false, "CAP_IPC_LOCK lifts the limit");
	begin(CALL_IO_URING_REGISTER, EMFILE);
	r.fd_soft = 64;
	r.args[1] = 2;
	r.args[3] = 64;
	is_cause("unknown", false, "as many files as RLIMIT_NOFILE");
	r.args[3] = 65;
	is_cause("rlimit_nofile", true, "one file more");
	is_u64(v.need, 65, "the limit that it needs");
	r.args[1] = 3;
	is_cause("unknown", false, "another operation registers no files");
}

static void test_pipes(void)
{
	begin(CALL_PIPE_SIZE, EPERM);
	l.pipe_max_bytes = MIB;
	l.pipe_pages_soft = 16384;
	r.user.pipe_pages = 7;
	r.args[2] = MIB;
	is_cause("pipe_pages", true, "as large as allowed: the pages of the user");
	is_u64(v.need, 7 + 256, "the pages that it needs");
	is_str(v.limit->name, "fs.pipe-user-pages-soft", "the soft limit");
	l.pipe_pages_hard = 300;
	is_cause("pipe_pages", true, "there is a hard limit");
	ok(!v.limit, "the limit that the cause names");
	r.args[2]++;
	is_cause("pipe_pages", true, "a byte larger than allowed");
	is_str(v.limit->name, "fs.pipe-max-size", "the limit of one pipe");
	is_u64(v.need, MIB + 1, "the size that it needs");
	r.facts = FACT_ADMIN;
	is_cause("pipe_pages", true, "CAP_SYS_ADMIN does not lift the limit of one pipe");
	r.args[2]--;
	is_cause("unknown", false, "but that of the user");
	r.args[2]++;
	r.facts = FACT_RESOURCE;
	is_cause("unknown", false, "CAP_SYS_RESOURCE lifts both");
	r.facts = 0;
	l.pipe_max_bytes = 0;
	is_cause("pipe_pages", true, "the limit of one pipe is not known");
	is_u64(v.need, 7 + 256, "so it is that of the user");
}

/* Files of hugetlbfs take pages from the pool of their size. */
static void test_pool(void)
{
	begin(CALL_FALLOCATE, ENOSPC);
	r.file.magic = HUGETLBFS_MAGIC;
	r.space.block_bytes = l.huge_page_bytes = 2 * MIB;
	l.huge_pages = 10;
	l.huge_pages_free = 5;
	l.huge_pages_reserved = 2;
	r.args[3] = 4 * 2 * MIB;
	is_cause("hugetlb_pool", true, "one page more than is free and not reserved");
	is_u64(v.need, 7 + 4, "the pages in use or reserved, and those of the call");
	r.args[3] = 3 * 2 * MIB;
	is_cause("hugetlb_pool", false, "as many as are free now");
	is_u64(v.need, 0, "how many it needs is not known");
	r.args[3]++;
	is_cause("hugetlb_pool", true, "a byte of a fourth page");
	r.space.block_bytes = 1024 * MIB;
	r.args[3] = 4 * 1024 * MIB;
	is_cause("hugetlb_pool", false, "pages of another size have a pool of their own");
}

static void test_ipc(void)
{
	begin(CALL_SHMGET, EINVAL);
	r.ipc.largest = 5000;
	r.args[1] = 5000;
	is_cause("unknown", false, "as large as shmmax");
	r.args[1] = 5001;
	is_cause("shmmax", true, "a byte more than shmmax");
	is_u64(v.need, 5001, "the shmmax that it needs");
	begin(CALL_SHMGET, ENOSPC);
	r.ipc.largest = UINT64_MAX;
	r.ipc.objects_max = 4096;
	r.ipc.used = 8;
	r.ipc.limit = 10;
	r.args[1] = 2 * PAGE;
	is_cause("unknown", false, "as many pages as shmall");
	r.args[1]++;
	is_cause("shmall", true, "a page more than shmall");
	is_u64(v.need, 11, "the shmall that it needs");
	r.args[1] = PAGE;
	r.ipc.objects = 4095;
	is_cause("unknown", false, "one segment more is allowed");
	r.ipc.objects = 4096;
	is_cause("shmmni", true, "none is allowed");
	is_u64(v.need, 4097, "the shmmni that it needs");
	begin(CALL_SEMGET, EINVAL);
	r.ipc.largest = 32;
	r.args[1] = 32;
	is_cause("unknown", false, "as many semaphores as SEMMSL");
	r.args[1] = 33;
	is_cause("semmsl", true, "one more than SEMMSL");
	begin(CALL_SEMGET, ENOSPC);
	r.ipc.objects_max = 1;
	r.ipc.largest = 32;
	r.ipc.limit = 100;
	r.ipc.used = 80;
	r.args[1] = 20;
	is_cause("unknown", false, "as many semaphores as SEMMNS");
	r.args[1] = 21;
	is_cause("semmns", true, "one more than SEMMNS");
}

/* CommitLimit follows from the values at the failure, unless there are huge pages. */
static void test_commit_limit_at_failure(void)
{
	begin_mmap(ENOMEM, 1, RW, ANON);
	r.total_vm_pages = 0;
	l.committed_bytes = 0;
	r.variables = 1U << VARIABLE_OVERCOMMIT_RATIO | 1U << VARIABLE_OVERCOMMIT_KBYTES |
		      1U << VARIABLE_RAM_PAGES | 1U << VARIABLE_SWAP_PAGES |
		      1U << VARIABLE_OVERCOMMIT;
	r.variable[VARIABLE_OVERCOMMIT] = 2;
	r.variable[VARIABLE_OVERCOMMIT_RATIO] = 50;
	r.variable[VARIABLE_RAM_PAGES] = 4000;
	r.variable[VARIABLE_SWAP_PAGES] = 49;
	is_cause("overcommit_strict", false, "half of RAM, and swap: 2049 pages");
	is_str(evidence("committed_bytes"), "0 B + 4.00 KiB of 8.00 MiB", "the limit");
	r.variable[VARIABLE_SWAP_PAGES] = 50;
	is_cause("unknown", false, "2050 pages: the reserve, a page and more");
	r.variable[VARIABLE_SWAP_PAGES] = 0;
	r.variable[VARIABLE_OVERCOMMIT_KBYTES] = 2049 * 4;
	is_cause("overcommit_strict", false, "vm.overcommit_kbytes: 2049 pages");
	r.variable[VARIABLE_OVERCOMMIT_KBYTES] = 2050 * 4;
	is_cause("unknown", false, "vm.overcommit_kbytes: 2050 pages");
	l.huge_pages = 1;
	l.commit_limit_bytes = 0;
	is_cause("overcommit_strict", false, "with huge pages, the limit of /proc/meminfo");
}

int main(void)
{
	test_arguments();
	test_arguments_in_address_space();
	test_commit();
	test_heuristic();
	test_cgroup();
	test_nr_open();
	test_processes();
	test_fork();
	test_holes_and_ends();
	test_names_of_limits();
	test_watches();
	test_rings();
	test_pipes();
	test_pool();
	test_ipc();
	test_commit_limit_at_failure();
	return tap_done();
}
