/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases that change a setting of the whole machine. They run in virtual machines only. */
#include "zoo.h"

#include <linux/loop.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>

#define OVERCOMMIT "/proc/sys/vm/overcommit_memory"
#define HUGE_PAGES "/proc/sys/vm/nr_hugepages"
#define MAX_MAPS   "/proc/sys/vm/max_map_count"
#define FILE_MAX   "/proc/sys/fs/file-max"
#define NR_OPEN	   "/proc/sys/fs/nr_open"
#define PIPE_PAGES "/proc/sys/fs/pipe-user-pages-hard"
#define INSTANCES  "/proc/sys/fs/inotify/max_user_instances"
#define WATCHES	   "/proc/sys/fs/inotify/max_user_watches"
#define EPOLLS	   "/proc/sys/fs/epoll/max_user_watches"
#define THREADS	   "/proc/sys/kernel/threads-max"
#define PID_MAX	   "/proc/sys/kernel/pid_max"

/* Returns a size that exceeds what the commit limit still allows by 1 MiB. */
static size_t beyond_commit(void)
{
	static char text[8192];
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *limit, *now;

	if (got < 1)
		die("/proc/meminfo");
	close(fd);
	text[got] = '\0';
	limit = strstr(text, "CommitLimit:");
	now = strstr(text, "Committed_AS:");
	if (!limit || !now)
		die("no commit limit in /proc/meminfo");
	return (strtol(limit + 12, NULL, 10) - strtol(now + 13, NULL, 10)) * KIB + MIB;
}

static void strictly(void)
{
	machine_setting(OVERCOMMIT, 2);
}

static void loosely(void)
{
	machine_setting(OVERCOMMIT, 0);
}

static void strict_anon(void)
{
	strictly();
	ASK(mmap, 0, beyond_commit(), RW, PRIVATE_ANON, -1, 0);
}

static void strict_noreserve(void)
{
	strictly();
	ASK(mmap, 0, beyond_commit(), RW, PRIVATE_ANON | MAP_NORESERVE, -1, 0);
}

static void strict_shared(void)
{
	strictly();
	ASK(mmap, 0, beyond_commit(), RW, SHARED_ANON, -1, 0);
}

static void strict_protect(void)
{
	size_t bytes = beyond_commit();

	ASK(mprotect, P(map_anon(bytes, PROT_READ, 0)), bytes, RW);
	strictly();
}

static void strict_remap(void)
{
	size_t bytes = beyond_commit();

	ASK(mremap, P(map_anon(MIB, RW, 0)), MIB, MIB + bytes, MREMAP_MAYMOVE);
	strictly();
}

static void strict_brk(void)
{
	uintptr_t end = (syscall(SYS_brk, 0) + PAGE_BYTES - 1) & -PAGE_BYTES;

	ASK(brk, end + beyond_commit());
	strictly();
}

/*
 * With strict overcommit, fork needs as much commit charge for the child as the private writable
 * memory of the parent process has.
 */
static void strict_fork(void)
{
	strictly();
	map_anon(beyond_commit() / 4 * 3, RW, 0);
}

/* Test cases of fs.file-max, which processes with CAP_SYS_ADMIN may exceed. */

static void raise_and_restore(const char *path, long number)
{
	raise_capability(CAP_SYS_ADMIN);
	machine_setting(path, number);
	drop_capability(CAP_SYS_ADMIN);
}

static void few_files(void)
{
	machine_setting(FILE_MAX, 10);
	drop_capability(CAP_SYS_ADMIN);
}

static void many_files(void)
{
	raise_and_restore(FILE_MAX, 100000);
}

static int pair[2];

static void files_open(void)
{
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY);
	few_files();
}

static void files_socket(void)
{
	ASK(socket, AF_UNIX, SOCK_STREAM, 0);
	few_files();
}

static void files_pipe(void)
{
	ASK(pipe2, P(pair), 0);
	few_files();
}

static void files_eventfd(void)
{
	ASK(eventfd2, 0, 0);
	few_files();
}

static void files_memfd(void)
{
	ASK(memfd_create, P("zoo"), 0);
	few_files();
}

static void files_epoll(void)
{
	ASK(epoll_create1, 0);
	few_files();
}

/*
 * Test cases of pipe pages. pipe() fails for a user without capabilities at the limit of pages,
 * although no limit of open files is reached.
 */
static void few_pipe_pages(void)
{
	machine_setting(PIPE_PAGES, 8);
	drop_capability(CAP_SYS_RESOURCE);
	drop_capability(CAP_SYS_ADMIN);
}

static void pipe_pages(void)
{
	ASK(pipe2, P(pair), O_CLOEXEC);
	few_pipe_pages();
}

static void pipe_pages_resized(void)
{
	if (pipe(pair))
		die("pipe");
	ASK(fcntl, pair[0], F_SETPIPE_SZ, 512 * KIB);
	few_pipe_pages();
}

static void many_pipe_pages(void)
{
	raise_and_restore(PIPE_PAGES, 0);
}

/* Test cases of RLIMIT_NOFILE above fs.nr_open */

static void limit_above(void)
{
	static struct rlimit limit;

	machine_setting(NR_OPEN, 4096);
	limit = (struct rlimit){ 1024, 4096 + 1 };
	ASK(prlimit64, 0, RLIMIT_NOFILE, P(&limit), 0);
}

static void more_numbers(void)
{
	machine_setting(NR_OPEN, 1 << 20);
}

static void numbers_used_up(void)
{
	soft_limit(RLIMIT_NOFILE, 1024);
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) < 0 && dup2(STDOUT_FILENO, fd) != fd)
			die("dup2 to %d", fd);
	close(63); /* frees an fd number, which opening the sysctl file needs */
	machine_setting(NR_OPEN, 64);
	if (dup2(STDOUT_FILENO, 63) != 63)
		die("dup2");
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY);
}

static void free_a_number(void)
{
	close(63);
	more_numbers();
	if (dup2(STDOUT_FILENO, 63) != 63)
		die("dup2");
}

static void chosen_number(void)
{
	soft_limit(RLIMIT_NOFILE, 1024);
	machine_setting(NR_OPEN, 64);
	ASK(fcntl, STDOUT_FILENO, F_DUPFD, 70);
}

/* Test cases of huge pages */

static void some_huge_pages(long count)
{
	machine_setting(HUGE_PAGES, count);
	if (read_number(HUGE_PAGES) != count)
		skip("no %ld huge pages", count);
}

static void pool_too_small(void)
{
	some_huge_pages(3);
	ASK(mmap, 0, 4 * 2 * MIB, RW, PRIVATE_ANON | MAP_HUGETLB, -1, 0);
}

static void pool_reserved(void)
{
	some_huge_pages(3);
	map_anon(2 * 2 * MIB, RW, MAP_HUGETLB);
	ASK(mmap, 0, 2 * 2 * MIB, RW, SHARED_ANON | MAP_HUGETLB, -1, 0);
}

static void larger_pool(void)
{
	some_huge_pages(8);
}

/* Test case of a vm.max_map_count that is changed while the process runs. */
static void fewer_maps(void)
{
	machine_setting(MAX_MAPS, 600);
	ASK(mmap, 0, PAGE_BYTES, PROT_READ, PRIVATE_ANON, -1, 0);
	fill_maps(601);
}

static void more_maps(void)
{
	machine_setting(MAX_MAPS, 700);
}

/* Test cases of limits on the objects of each user. A sysctl sets the same limit for all users. */

static void few_instances(void)
{
	machine_setting(INSTANCES, 3);
	for (int i = 0; i < 3; i++)
		if (inotify_init1(IN_CLOEXEC) < 0)
			die("inotify_init1");
	ASK(inotify_init1, IN_CLOEXEC);
}

static void more_instances(void)
{
	machine_setting(INSTANCES, 128);
}

static void few_watches(void)
{
	int notify = inotify_init1(IN_CLOEXEC);

	machine_setting(WATCHES, 2);
	if (inotify_add_watch(notify, "/proc", IN_CREATE) < 0 ||
	    inotify_add_watch(notify, "/sys", IN_CREATE) < 0)
		die("inotify_add_watch");
	ASK(inotify_add_watch, notify, P("/dev"), IN_CREATE);
}

static void more_watches(void)
{
	machine_setting(WATCHES, 1000);
}

/*
 * Maximum number of epoll watches for each user. faultscope runs as another user, and needs fewer
 * watches.
 */
#define MOST_EPOLLS 40

static void few_epolls(void)
{
	static struct epoll_event event = { .events = EPOLLIN };
	int poll;

	machine_setting(EPOLLS, MOST_EPOLLS);
	/* Watches count for the real user ID. The effective user ID keeps the capabilities. */
	if (setresuid(1000000000 + getpid(), 0, 0))
		die("setresuid");
	poll = epoll_create1(0);
	for (int i = 0; i <= MOST_EPOLLS; i++) {
		if (pipe(pair))
			die("pipe");
		if (i < MOST_EPOLLS && epoll_ctl(poll, EPOLL_CTL_ADD, pair[0], &event))
			die("epoll_ctl");
	}
	ASK(epoll_ctl, poll, EPOLL_CTL_ADD, pair[0], P(&event));
}

static void more_epolls(void)
{
	machine_setting(EPOLLS, 1000);
}

static void few_threads(void)
{
	machine_setting(THREADS, 20);
}

static void more_threads(void)
{
	machine_setting(THREADS, 4000);
}

static pid_t sleepers[512];

static void end_sleepers(void)
{
	for (size_t i = 0; i < 512 && sleepers[i]; i++) {
		kill(sleepers[i], SIGKILL);
		waitpid(sleepers[i], NULL, 0);
		sleepers[i] = 0;
	}
}

/* fork fails with EAGAIN because all pids are in use. Three limits cause the same errno. */
static void few_pids(void)
{
	machine_setting(PID_MAX, 301);
	at_end(end_sleepers);
}

static long fork_many(void)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < 510; i++) {
		long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child < 0)
			return -1;
		if (!child) {
			end_with(parent);
			pause();
			_exit(0);
		}
		sleepers[i] = child;
		if (read_number(PID_MAX) > 301)
			return 0;
	}
	return 0;
}

static void more_pids(void)
{
	end_sleepers();
	machine_setting(PID_MAX, 32768);
}

/* Test case of swap. The overcommit heuristic counts it as available memory. */
#define SWAP_BYTES (64 * MIB)

static char loop_path[32];

static void swap_off(void)
{
	if (swapoff(loop_path))
		fprintf(stderr, "swapoff %s: %s\n", loop_path, strerror(errno));
}

static void swap_on(void)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), loop, file;
	static union {
		char page[PAGE_BYTES];
		struct {
			char boot[1024];
			uint32_t version;
			uint32_t last_page;
		} head;
	} header = { .head = { .version = 1, .last_page = SWAP_BYTES / PAGE_BYTES - 1 } };

	if (control < 0)
		skip("/dev/loop-control: %s", strerror(errno));
	snprintf(loop_path, sizeof(loop_path), "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
	loop = open(loop_path, O_RDWR | O_CLOEXEC);
	file = disk_file(SWAP_BYTES);
	memcpy(header.page + PAGE_BYTES - 10, "SWAPSPACE2", 10);
	if (loop < 0 || pwrite(file, &header, PAGE_BYTES, 0) != PAGE_BYTES ||
	    ioctl(loop, LOOP_SET_FD, file) || swapon(loop_path, 0))
		skip("swapon %s: %s", loop_path, strerror(errno));
	at_end(swap_off);
}

static void ask_of_memory(size_t more)
{
	struct sysinfo info;

	machine_setting(OVERCOMMIT, 0);
	sysinfo(&info);
	ASK(mmap, 0, info.totalram * info.mem_unit + more, RW, PRIVATE_ANON, -1, 0);
}

static void beyond_swap(void)
{
	swap_on();
	ask_of_memory(SWAP_BYTES + 2 * MIB);
}

static void within_swap(void)
{
	swap_on();
	ask_of_memory(SWAP_BYTES / 2);
}

static void ask_within_swap(void)
{
	ask_of_memory(SWAP_BYTES / 2);
}

/* Test cases of hardware memory errors */

static volatile char *page;
static bool broken;

/* MADV_HWPOISON makes the kernel treat the page as faulty hardware memory. */
static void touch_page(void)
{
	if (broken && madvise((void *)page, PAGE_BYTES, MADV_HWPOISON))
		skip("MADV_HWPOISON: %s", strerror(errno));
	(void)*page;
}

static void break_page(void)
{
	page = map_anon(PAGE_BYTES, RW, 0);
	*page = 1;
	broken = true;
}

static long reads_page(void)
{
	return catch_signal(touch_page);
}

static void another_page(void)
{
	page = map_anon(PAGE_BYTES, RW, 0);
	broken = false;
}

/* Test case of a process that uses up all memory. Its oom_score_adj is 1000. */

static long eats_memory(void)
{
	struct sysinfo info;
	pid_t child;
	int status;

	sysinfo(&info);
	child = fork_or_die();
	if (!child) {
		size_t bytes = info.totalram * info.mem_unit * 9 / 10;
		char *base = map_anon(bytes, RW, MAP_NORESERVE);

		if (!write_text("/proc/self/oom_score_adj", "1000"))
			_exit(1);
		for (int again = 0; again < 2; again++)
			for (size_t i = 0; i < bytes; i += PAGE_BYTES)
				base[i] = 1;
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	subject.pid = subject.tid = child;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? -1 : 0;
}

/* Locks a quarter of all memory. A request for nine tenths of all memory is then too large. */
static void little_memory(void)
{
	struct sysinfo info;

	machine_setting(OVERCOMMIT, 1);
	sysinfo(&info);
	if (mlock(map_anon(info.totalram * info.mem_unit / 4, RW, 0),
		  info.totalram * info.mem_unit / 4))
		skip("mlock: %s", strerror(errno));
}

#define GUEST(prepare_, make_, lift_)                                                              \
	.prepare = prepare_, .make = make_, .lift = lift_, .guest = true
#define STRICT(call) { call, ENOMEM, "overcommit_strict" }
#define FILES(call) { call, ENFILE, "file_max" }

const struct zoo_case guest_cases[] = {
	{ "strict-mmap", STRICT("mmap"), GUEST(strict_anon, NULL, loosely) },
	{ "strict-noreserve", STRICT("mmap"), GUEST(strict_noreserve, NULL, loosely) },
	{ "strict-shared", STRICT("mmap"), GUEST(strict_shared, NULL, loosely) },
	{ "strict-mprotect", STRICT("mprotect"), GUEST(strict_protect, NULL, loosely) },
	{ "strict-mremap", STRICT("mremap"), GUEST(strict_remap, NULL, loosely) },
	{ "strict-brk", { "brk", 0, "overcommit_strict" }, GUEST(strict_brk, NULL, loosely) },
	{ "strict-fork", STRICT("clone"), GUEST(strict_fork, make_fork, loosely) },
	{ "files-open", FILES("openat"), GUEST(files_open, NULL, many_files) },
	{ "files-socket", FILES("socket"), GUEST(files_socket, NULL, many_files) },
	{ "files-pipe", FILES("pipe2"), GUEST(files_pipe, NULL, many_files) },
	{ "files-eventfd", FILES("eventfd2"), GUEST(files_eventfd, NULL, many_files) },
	{ "files-memfd", FILES("memfd_create"), GUEST(files_memfd, NULL, many_files) },
	{ "files-epoll", FILES("epoll_create1"), GUEST(files_epoll, NULL, many_files) },
	{ "pipe-pages-hard", { "pipe2", ENFILE, "pipe_pages" },
	  GUEST(pipe_pages, NULL, many_pipe_pages) },
	{ "pipe-pages-hard-resized", { "fcntl", EPERM, "pipe_pages" },
	  GUEST(pipe_pages_resized, NULL, many_pipe_pages) },
	{ "nr-open-setrlimit", { "prlimit64", EPERM, "nr_open" },
	  GUEST(limit_above, NULL, more_numbers) },
	{ "nr-open-used-up", { "openat", EMFILE, "nr_open" },
	  GUEST(numbers_used_up, NULL, free_a_number) },
	{ "nr-open-dupfd", { "fcntl", EMFILE, "nr_open" },
	  GUEST(chosen_number, NULL, more_numbers) },
	{ "hugetlb-too-small", { "mmap", ENOMEM, "hugetlb_pool" },
	  GUEST(pool_too_small, NULL, larger_pool) },
	{ "hugetlb-reserved", { "mmap", ENOMEM, "hugetlb_pool" },
	  GUEST(pool_reserved, NULL, larger_pool) },
	{ "count-setting-changed", { "mmap", ENOMEM, "max_map_count" },
	  GUEST(fewer_maps, NULL, more_maps) },
	{ "inotify-instances-setting", { "inotify_init1", EMFILE, "inotify_instances" },
	  GUEST(few_instances, NULL, more_instances) },
	{ "inotify-watches-setting", { "inotify_add_watch", ENOSPC, "inotify_watches" },
	  GUEST(few_watches, NULL, more_watches) },
	{ "epoll-watches", { "epoll_ctl", ENOSPC, "epoll_watches" },
	  GUEST(few_epolls, NULL, more_epolls) },
	{ "threads-max", { "clone", EAGAIN, "threads_max" },
	  GUEST(few_threads, make_fork, more_threads) },
	{ "pid-max", { "clone", EAGAIN, "pid_max|unknown" },
	  GUEST(few_pids, fork_many, more_pids) },
	{ "heuristic-swap", { "mmap", ENOMEM, "overcommit_heuristic" },
	  GUEST(beyond_swap, NULL, ask_within_swap) },
	{ "control-swap", { 0 }, GUEST(within_swap, NULL, NULL), .control = true },
	{ "bus-poison", .class = "hardware poison|hardware memory error", .signal = SIGBUS,
	  GUEST(break_page, reads_page, another_page) },
	{ "oom-of-machine", .oom = "none|global|system|CONSTRAINT_NONE",
	  GUEST(little_memory, eats_memory, NULL) },
	{ 0 },
};
