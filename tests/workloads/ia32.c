/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ia32 N: calls mmap, munmap, dup and close N times each. It is a 64-bit x86 program, but makes
 * 32-bit system calls (int $0x80). Their numbers mean other calls in 64-bit mode: for example, 90
 * is mmap in 32-bit mode and chmod in 64-bit mode. At the end, one mmap exceeds RLIMIT_AS. Prints
 * the counts "maps", "dups" (each fd is closed again) and "refused" (calls that failed).
 * "supported" is 0 if the kernel has no 32-bit calls, else 1.
 */
#include "common.h"

#if defined(__x86_64__)
#define IA32_CLOSE  6
#define IA32_DUP    41
#define IA32_MUNMAP 91
#define IA32_MMAP2  192

static long ia32(long number, long a, long b, long c, long d, long e)
{
	long result;

	/* The register ebp passes the sixth argument, which is the offset of mmap2. */
	__asm__ volatile("push %%rbp; xor %%ebp, %%ebp; int $0x80; pop %%rbp"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

static long map_pages_32(long bytes)
{
	return ia32(IA32_MMAP2, 0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static int supported(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		ia32(IA32_CLOSE, -1, 0, 0, 0, 0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status);
}

static void work(long times, long *maps, long *dups, long *refused)
{
	struct rlimit none = { 0, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };

	for (long i = 0; i < times; i++) {
		long at = map_pages_32(PAGE_BYTES), fd;

		if (is_error(at))
			die("mmap by int $0x80");
		*maps += !ia32(IA32_MUNMAP, (unsigned int)at, PAGE_BYTES, 0, 0, 0);
		fd = ia32(IA32_DUP, STDIN_FILENO, 0, 0, 0, 0);
		if (fd < 0)
			die("dup by int $0x80");
		*dups += !ia32(IA32_CLOSE, fd, 0, 0, 0, 0);
	}
	if (setrlimit(RLIMIT_AS, &none))
		die("setrlimit RLIMIT_AS");
	*refused = is_error(map_pages_32(PAGE_BYTES));
	setrlimit(RLIMIT_AS, &all);
}
#else
static int supported(void)
{
	return 0;
}

static void work(long times, long *maps, long *dups, long *refused)
{
}
#endif

int main(int argc, char **argv)
{
	long maps = 0, dups = 0, refused = 0, times;
	const char *word;
	int usable;

	parse_args(argc, argv, "N", NULL, &word, 1, 1);
	times = parse_number(word);
	usable = supported();
	wait_for_go();
	if (usable)
		work(times, &maps, &dups, &refused);
	truth_open();
	truth_number("supported", usable);
	truth_number("maps", maps);
	truth_number("dups", dups);
	truth_number("refused", refused);
	truth_close();
	return 0;
}
