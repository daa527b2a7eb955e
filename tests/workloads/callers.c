/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps memory from chains of functions without frame pointers, whose frames have all shapes: sizes
 * known only at run time, realigned stacks, callbacks of libc, signal handlers. It prints the
 * number of frames that backtrace(3) finds there. With --execs, it runs itself again TIMES times in
 * the same process, and maps memory each time. With --refused, the calls fail. With --at-once, a
 * library is called as soon as it is loaded. With --then, this is a second library, which replaces
 * the first one.
 *
 * Usage: callers plain|thread|fork|crash|library|deep N [--library FILE] [--then FILE]
 *        [--execs TIMES] [--calls CALLS] [--refused] [--at-once]
 */
#include "common.h"

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>

#pragma GCC optimize("omit-frame-pointer", "no-optimize-sibling-calls")

#define NOINLINE      __attribute__((noinline, noclone))
#define KEEP	      __asm__ volatile("" ::: "memory")
#define REFUSED_BYTES (1UL << 47) /* more than the address space */
/* milliseconds after which faultscope has the tables of a loaded library */
#define SOON_MS 1000

static long wanted;
static long calls = 1; /* number of recursive calls of the way `deep` */
static int crash_pipe = -1; /* pipe to which the child writes the depth before its bad access */
static int depth;	    /* number of frames that backtrace(3) finds at the call */
static volatile char *sink;
static volatile int *volatile no_memory;
static const char *library = "";
static const char *second = ""; /* library that replaces the first one; empty: none */
static bool refused;		/* true: the calls fail */
static bool at_once;		/* true: a loaded library is called at once */

/* Maps one page. The protections alternate, so that the kernel does not merge neighbours. */
static NOINLINE void map_one(long n)
{
	void *at[128];

	if (!n)
		depth = backtrace(at, 128);
	if (crash_pipe >= 0 && write(crash_pipe, &depth, sizeof(depth)) == sizeof(depth))
		*no_memory = 1;
	if (refused &&
	    mmap(NULL, REFUSED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		die("a call succeeded that must fail");
	if (!refused && mmap(NULL, PAGE_BYTES, n & 1 ? PROT_READ : PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		die("mmap");
	KEEP;
}

static NOINLINE void map_all(void)
{
	for (long i = 0; i < wanted; i++)
		map_one(i);
	KEEP;
}

static void on_signal(int number)
{
	(void)number;
	map_all();
	KEEP;
}

static NOINLINE void by_signal(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	KEEP;
}

static bool compared; /* true: compare() was called */

static int compare(const void *a, const void *b)
{
	if (!compared) {
		compared = true;
		by_signal();
	}
	KEEP;
	return *(const char *)a - *(const char *)b;
}

static NOINLINE void by_callback(void)
{
	char text[] = "ba";

	qsort(text, 2, 1, compare);
	KEEP;
}

static NOINLINE void realigned(void)
{
	char frame[128] __attribute__((aligned(64)));

	sink = frame;
	by_callback();
	KEEP;
}

static NOINLINE void of_late_size(long n)
{
	char *frame = alloca(n * 100);

	sink = frame;
	realigned();
	KEEP;
}

static NOINLINE void large_frame(void)
{
	char frame[40000];

	sink = frame;
	of_late_size(wanted);
	KEEP;
}

static void *in_thread(void *arg)
{
	large_frame();
	KEEP;
	return arg;
}

static NOINLINE void by_thread(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, in_thread, NULL);
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
}

/* Maps memory in a forked child with its first system call. */
static NOINLINE void by_fork(void)
{
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC))
		die("pipe");
	child = fork_or_die();
	if (!child) {
		large_frame();
		if (write(pipes[1], &depth, sizeof(depth)) != sizeof(depth))
			_exit(1);
		for (;;)
			pause();
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (read(pipes[0], &depth, sizeof(depth)) != sizeof(depth))
		die("the child ended");
	truth_number("child", child);
	truth_number("depth", depth);
	truth_close();
	kill(child, SIGKILL);
	exit(0);
}

/* Crashes a child with a bad access. */
static NOINLINE void by_crash(void)
{
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC))
		die("pipe");
	child = fork_or_die();
	if (!child) {
		crash_pipe = pipes[1];
		large_frame();
		_exit(1);
	}
	if (read(pipes[0], &depth, sizeof(depth)) != sizeof(depth))
		die("the child ended");
	waitpid(child, NULL, 0);
	truth_number("child", child);
	KEEP;
}

/* Calls large_frame() by a function of a library. Returns the library, and the function. */
static NOINLINE void *call_by(const char *path, bool wait, void **ret_call)
{
	void (*call)(void (*)(void));
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		die("%s", dlerror());
	*ret_call = dlsym(lib, "call_back");
	*(void **)&call = *ret_call;
	if (!call)
		die("%s", dlerror());
	if (wait)
		told_by_input(SOON_MS);
	call(large_frame);
	KEEP;
	return lib;
}

static NOINLINE void by_library(void)
{
	void *first, *then, *lib = call_by(library, !at_once || *second, &first);

	if (!*second)
		return;
	dlclose(lib);
	compared = false;
	call_by(second, !at_once, &then);
	truth_number("same_address", first == then);
	KEEP;
}

static NOINLINE void by_plain(void)
{
	large_frame();
	KEEP;
}

static NOINLINE void recurse(long n)
{
	if (n)
		recurse(n - 1);
	else
		large_frame();
	KEEP;
}

static NOINLINE void by_deep(void)
{
	recurse(calls - 1);
	KEEP;
}

/* Executes this program again, which changes all addresses if the kernel randomises them. */
static void run_anew(const char *way, const char *maps, long times)
{
	char number[32];

	snprintf(number, sizeof(number), "%ld", times - 1);
	execl("/proc/self/exe", "callers", way, maps, "--hold", "--again", "--execs", number, NULL);
	die("execl");
}

static const struct way {
	const char *name;
	void (*go)(void);
} ways[] = {
	{"plain", by_plain}, {"thread", by_thread},   {"fork", by_fork},
	{"crash", by_crash}, {"library", by_library}, {"deep", by_deep},
};

int main(int argc, char **argv)
{
	bool again = false; /* true: this program was executed by itself */
	long execs = 0;
	const struct opt opts[] = {
		{"library", OPT_TEXT, &library},
		{"then", OPT_TEXT, &second},
		{"execs", OPT_NUMBER, &execs},
		{"calls", OPT_NUMBER, &calls},
		{"again", OPT_FLAG, &again},
		{"refused", OPT_FLAG, &refused},
		{"at-once", OPT_FLAG, &at_once},
		{0},
	};
	const char *words[2];
	const struct way *way = NULL;
	void *at[1];

	parse_args(argc, argv,
		   "plain|thread|fork|crash|library|deep N [--library FILE] [--then FILE] "
		   "[--execs TIMES] [--calls CALLS] [--refused] [--at-once]",
		   opts, words, 2, 2);
	wanted = parse_number(words[1]);
	backtrace(at, 1); /* the first call loads libgcc */
	wait_for_go();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, words[0]))
			way = &ways[i];
	if (!way)
		die("no such way: %s", words[0]);
	if (again)
		told(NULL, SOON_MS / 10);
	if (!execs)
		truth_open();
	way->go();
	if (execs)
		run_anew(words[0], words[1], execs);
	truth_number("depth", depth);
	truth_close();
	return 0;
}
