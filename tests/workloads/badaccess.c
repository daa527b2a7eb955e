/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a bad memory access of each given kind in a child, and prints the signal that results. */
#include "common.h"

#include <sys/ptrace.h>

#define SMALL_STACK (256 << 10)

/* siginfo of the signal. The child's handler writes it, and the parent reads it. */
static siginfo_t *seen;

static char *map(long pages, int protection, int flags, int fd)
{
	char *base = mmap(NULL, pages * PAGE_BYTES, protection, flags, fd, 0);

	if (base == MAP_FAILED)
		die("mmap");
	return base;
}

/* Returns the address. The compiler must not know its value, or it would reject the access. */
static char *at_address(uintptr_t address)
{
	__asm__("" : "+r"(address));
	return (char *)address;
}

static void write_null(void)
{
	write_pages(at_address(0), 1);
}

static void read_near_null(void)
{
	read_pages(at_address(0x18), 1);
}

static void read_unmapped(void)
{
	char *page = map(1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	munmap(page, PAGE_BYTES);
	read_pages(page, 1);
}

static void write_readonly(void)
{
	write_pages(map(1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1);
}

static void read_protnone(void)
{
	read_pages(map(1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1);
}

static void read_past_eof(void)
{
	int fd = memfd_create("badaccess", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, PAGE_BYTES))
		die("memfd");
	read_pages(map(2, PROT_READ, MAP_SHARED, fd) + PAGE_BYTES, 1);
}

static void read_kernel_address(void)
{
	read_pages(at_address(0xffff888000000000UL), 1);
}

static void read_noncanonical(void)
{
	read_pages(at_address(0x0badc0de00000000UL), 1);
}

static int recurse(int depth)
{
	volatile char frame[PAGE_BYTES];

	frame[0] = depth;
	return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static void overrun_stack(void)
{
	struct rlimit limit = { SMALL_STACK, SMALL_STACK };

	if (setrlimit(RLIMIT_STACK, &limit))
		die("setrlimit RLIMIT_STACK");
	recurse(0);
}

static const struct mode {
	const char *name;
	void (*access)(void);
} modes[] = {
	{ "null", write_null },
	{ "near-null", read_near_null },
	{ "unmapped", read_unmapped },
	{ "readonly", write_readonly },
	{ "protnone", read_protnone },
	{ "past-eof", read_past_eof },
	{ "kernel-address", read_kernel_address },
	{ "noncanonical", read_noncanonical },
	{ "stack", overrun_stack },
};

static void note_and_exit(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	*seen = *info;
	_exit(0);
}

static void handle_fault_signals(void)
{
	struct sigaction action = {
		.sa_sigaction = note_and_exit,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	stack_t stack = { .ss_size = 1 << 16 };

	stack.ss_sp = map(16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL) ||
	    sigaction(SIGBUS, &action, NULL))
		die("signal handler");
}

/*
 * Starts a child that makes one bad access. If `handled` is false, the child has no signal handler;
 * it is traced, and the signal kills it.
 */
static pid_t run_child(const struct mode *mode, bool handled)
{
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		if (handled)
			handle_fault_signals();
		else if (ptrace(PTRACE_TRACEME))
			die("PTRACE_TRACEME");
		mode->access();
		_exit(1);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		if (ptrace(PTRACE_GETSIGINFO, child, NULL, seen) ||
		    ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status)))
			die("trace of child");
	errno = 0;
	if (handled ? status : !WIFSIGNALED(status))
		die("%s: child ended with status %#x", mode->name, status);
	return child;
}

int main(int argc, char **argv)
{
	static const char usage[] = "null|near-null|unmapped|readonly|protnone|past-eof|"
				    "kernel-address|noncanonical|stack|all [--handled]";
	const struct rlimit no_core = { 0, 0 };
	bool handled = false, known, first = true;
	const struct opt opts[] = { { "handled", OPT_FLAG, &handled }, { 0 } };
	const char *word;

	parse_args(argc, argv, usage, opts, &word, 1, 1);
	known = !strcmp(word, "all");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		known |= !strcmp(word, modes[i].name);
	if (!known)
		wrong_usage(usage);
	seen = (siginfo_t *)map(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	setrlimit(RLIMIT_CORE, &no_core);
	wait_for_go();

	truth_open();
	printf(",\"accesses\":[");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		pid_t child;

		if (strcmp(word, "all") && strcmp(word, modes[i].name))
			continue;
		fflush(stdout);
		child = run_child(&modes[i], handled);
		printf("%s{\"mode\":\"%s\",\"child\":%d,\"signal\":%d,\"code\":%d,\"addr\":\"%p\"}",
		       first ? "" : ",", modes[i].name, child, seen->si_signo, seen->si_code,
		       seen->si_addr);
		first = false;
	}
	printf("]");
	truth_close();
	return 0;
}
