/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fills memory of one kind, up to MIB MiB, and keeps it: a memory limit below that is reached by
 * construction. --name sets the program's name, --adj its oom_score_adj. --children starts
 * processes that each fill MIB MiB. Kind "kill" kills process MIB instead.
 */
#include "common.h"

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>

#define MIB	    (1L << 20)
#define TABLE_BYTES (2 * MIB) /* memory that one page of page tables maps */
#define STACK_KIB   16 /* kernel memory of a thread */

static struct {
	long rate, children, wait_ms;
	bool huge, lock, exits, init;
	const char *directory, *name, *adj;
} how = {.directory = "/dev/shm"};

static void fill(char *base, long mib)
{
	long long start = now_ns();

	for (long i = 0; i < mib; i++) {
		for (long at = 0; at < MIB; at += PAGE_BYTES)
			*(volatile long *)(base + i * MIB + at) = i * MIB + at + 1;
		keep_rate(start, i + 1, how.rate);
	}
}

static char *map(size_t bytes, int flags, int fd)
{
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (base == MAP_FAILED)
		die("mmap");
	madvise(base, bytes, how.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return base;
}

static void anon(long mib)
{
	char *base = map(mib * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (how.lock)
		mlock(base, mib * MIB);
	fill(base, mib);
}

/* Allocates in a thread that is not the leader. */
static void *anon_thread(void *arg)
{
	anon((long)arg);
	return NULL;
}

static void thread(long mib)
{
	pthread_join(start_thread(anon_thread, (void *)mib), NULL);
}

static void shared(long mib)
{
	fill(map(mib * MIB, MAP_SHARED | MAP_ANONYMOUS, -1), mib);
}

static void sysv(long mib)
{
	int id = shmget(IPC_PRIVATE, mib * MIB, IPC_CREAT | 0600);
	void *base = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (base == (void *)-1)
		die("shmget");
	shmctl(id, IPC_RMID, NULL); /* the segment exists until this process exits */
	fill(base, mib);
}

static void write_file(int fd, long mib)
{
	static char block[MIB];
	long long start = now_ns();

	memset(block, 1, sizeof(block));
	for (long i = 0; i < mib; i++) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write");
		keep_rate(start, i + 1, how.rate);
	}
}

/* A memfd that no process maps: it fills by write(2). */
static void memfd(long mib)
{
	int fd = memfd_create("oomkill", 0);

	if (fd < 0)
		die("memfd_create");
	write_file(fd, mib);
}

/* A file in the directory --in. The file remains when the process exits. */
static void file(long mib)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/oomkill.%d", how.directory, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die("%s", path);
	write_file(fd, mib);
	if (how.lock && mlock(map(mib * MIB, MAP_SHARED, fd), mib * MIB))
		die("mlock");
}

/* Changes each page of a private mapping of a file, so that the pages become anonymous. */
static void copied(long mib)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/oomkill.%d", how.directory, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, mib * MIB))
		die("%s", path);
	unlink(path);
	fill(map(mib * MIB, MAP_PRIVATE, fd), mib);
}

/* Reads a page in each 2 MiB: the zero page costs nothing, but its page table 4 KiB. */
static void tables(long mib)
{
	long pages = mib * MIB / PAGE_BYTES, each = 1024;

	for (long done = 0; done < pages; done += each) {
		char *base = mmap(NULL, each * TABLE_BYTES, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base == MAP_FAILED)
			die("mmap");
		madvise(base, each * TABLE_BYTES, MADV_NOHUGEPAGE);
		for (long i = 0; i < each; i++)
			(void)*(const volatile char *)(base + i * TABLE_BYTES);
	}
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Threads with small user stacks: each takes 16 KiB of kernel memory for its kernel stack. */
static void stacks(long mib)
{
	pthread_attr_t attr;
	pthread_t one;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (long i = 0; i < mib * 1024 / STACK_KIB; i++)
		if (pthread_create(&one, &attr, rest, NULL))
			die("pthread_create");
}

static void more_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
}

/* Pipes that are full and never read. */
static void pipes(long mib)
{
	static char block[65536];
	int fd[2];

	more_fds();
	memset(block, 1, sizeof(block));
	for (long i = 0; i < mib * MIB / (long)sizeof(block); i++)
		if (pipe(fd) || write(fd[1], block, sizeof(block)) < 0)
			die("pipe");
}

/* Messages in unix sockets that nobody reads. */
static void messages(long mib)
{
	static char block[65536];
	int fd[2];

	more_fds();
	memset(block, 1, sizeof(block));
	for (long sent = 0; sent < mib * MIB;) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
			die("socketpair");
		for (ssize_t n; (n = write(fd[0], block, sizeof(block))) > 0;)
			sent += n;
	}
}

/* Empty sockets: kernel objects in slab memory. */
static void objects(long mib)
{
	int fd[2];

	more_fds();
	for (long i = 0; i < mib * MIB / 2048; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			die("socketpair");
}

/* Kills a process, as a program does that watches the memory of the machine. */
static void send_kill(long pid)
{
	if (kill(pid, SIGKILL))
		die("kill");
}

static const struct {
	const char *name;
	void (*take)(long mib);
} kinds[] = {{"anon", anon},	 {"thread", thread}, {"shared", shared},   {"sysv", sysv},
	     {"memfd", memfd},	 {"file", file},     {"copied", copied},   {"tables", tables},
	     {"stacks", stacks}, {"pipes", pipes},   {"messages", messages}, {"objects", objects},
	     {"kill", send_kill}};

static void take(const char *kind, long mib)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, kind)) {
			kinds[i].take(mib);
			return;
		}
	die("%s: no such kind", kind);
}

static void set_adj(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (!how.adj)
		return;
	if (fd < 0 || dprintf(fd, "%s", how.adj) < 0)
		die("oom_score_adj");
	close(fd);
}

int main(int argc, char **argv)
{
	const char *words[2];
	const struct opt opts[] = {{"rate", OPT_NUMBER, &how.rate},
				   {"children", OPT_NUMBER, &how.children},
				   {"adj", OPT_TEXT, &how.adj},
				   {"after", OPT_NUMBER, &how.wait_ms},
				   {"huge", OPT_FLAG, &how.huge},
				   {"lock", OPT_FLAG, &how.lock},
				   {"exits", OPT_FLAG, &how.exits},
				   {"init", OPT_FLAG, &how.init},
				   {"in", OPT_TEXT, &how.directory},
				   {"name", OPT_TEXT, &how.name},
				   {0}};
	long mib;

	parse_args(argc, argv,
		   "KIND MIB [--rate MIB] [--children N] [--adj N] [--after MS] [--huge] "
		   "[--lock] [--exits] [--init] [--in DIRECTORY] [--name NAME]",
		   opts, words, 2, 2);
	mib = parse_number(words[1]);
	if (how.name)
		prctl(PR_SET_NAME, how.name);
	set_adj();
	if (how.wait_ms)
		usleep(how.wait_ms * 1000);
	/* --init: the process that takes the memory is PID 1 of a pid namespace */
	if (how.init && (unshare(CLONE_NEWPID) || fork_or_die())) {
		wait(NULL);
		return 0;
	}
	for (long i = 0; i < how.children; i++)
		if (!fork_or_die()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			take(words[0], mib);
			rest(NULL);
		}
	if (!how.children)
		take(words[0], mib);
	truth_open(); /* the memory is filled: no limit was reached */
	truth_close();
	if (how.exits)
		return 0;
	rest(NULL);
}
