/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of memory accesses whose signal is usual for another kind of access. */
#include "zoo.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

/*
 * distance in bytes from the end of a stack to the mapping below it, less than the stack guard gap
 */
#define FAR_DOWN (96 * KIB)

static char *memory;

static void good_memory(void)
{
	memory = map_anon(2 * PAGE_BYTES, RW | PROT_EXEC, 0);
	memset(memory, 0xc3, PAGE_BYTES); /* opcode of `ret` */
	bad_address = P(memory);
}

/*
 * Reads through the frame pointer register. For a non-canonical address, such a read raises #SS,
 * and therefore SIGBUS. Reads through other registers raise SIGSEGV.
 */
static void read_by_frame(void)
{
	__asm__ volatile("push %%rbp; mov %0, %%rbp; mov (%%rbp), %%al; pop %%rbp"
			 :
			 : "r"(bad_address)
			 : "rax", "memory");
}

static long reads_by_frame(void)
{
	long ret = catch_signal(read_by_frame);

	if (got_signal == SIGSEGV)
		skip("an emulated CPU, which has no #SS of that");
	return ret;
}

static void not_canonical(void)
{
	bad_address = 0x7000000000000000 + vary(0, 1000) * PAGE_BYTES;
}

/* Makes an unaligned access raise SIGBUS: sets the alignment check flag (AC), then clears it. */
static void read_askew(void)
{
	__asm__ volatile("pushf; orq $0x40000, (%%rsp); popf; mov (%0), %%eax;"
			 "pushf; andq $~0x40000, (%%rsp); popf"
			 :
			 : "r"(bad_address)
			 : "rax", "memory", "cc");
}

static long reads_askew(void)
{
	long ret = catch_signal(read_askew);

	__asm__ volatile("pushf; andq $~0x40000, (%%rsp); popf" ::: "memory", "cc");
	if (!got_signal && (unsigned long)bad_address & 1)
		skip("an emulated CPU, which checks no alignment");
	return ret;
}

static void askew(void)
{
	good_memory();
	bad_address++;
}

static void straight(void)
{
	bad_address = P(memory);
}

/* Test cases of executing data: on the stack, and in the program's read-only data. */
static char on_stack[64] __attribute__((aligned(16)));

static long runs_stack(void)
{
	char code[64];

	memset(code, 0xc3, sizeof(code));
	__asm__ volatile("" ::"r"(code) : "memory");
	if (!bad_address)
		bad_address = P(code);
	return runs();
}

static void of_data(void)
{
	memset(on_stack, 0xc3, sizeof(on_stack));
	bad_address = P(on_stack);
}

static void of_text(void)
{
	bad_address = P(good_memory);
}

static void of_gate(void)
{
	bad_address = (long)0xffffffffff600000;
}

static void past_heap(void)
{
	bad_address = syscall(SYS_brk, 0);
	bad_address = ((bad_address + PAGE_BYTES - 1) & -PAGE_BYTES) + 64 * PAGE_BYTES;
}

static void at_edge(void)
{
	bad_address = PAGE_BYTES - 1;
}

/* A mapping in the guard gap below the stack stops its growth, far below RLIMIT_STACK. */
static char *neighbour;

static long low_stack(void)
{
	char *line, text[16384];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t got, length = 0;

	while ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += got;
	close(fd);
	text[length] = '\0';
	line = strstr(text, "[stack]");
	if (!line)
		die("no stack");
	while (line > text && line[-1] != '\n')
		line--;
	return strtol(line, NULL, 16);
}

static void neighbour_of_stack(void)
{
	long low = low_stack();

	neighbour = mmap((void *)(low - 2 * FAR_DOWN), FAR_DOWN, RW,
			 PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0);
	if (neighbour == MAP_FAILED)
		skip("no place below the stack: %s", strerror(errno));
}

static void dig_down(void)
{
	dig(512 * KIB);
}

static long digs(void)
{
	return catch_signal(dig_down);
}

static void no_neighbour(void)
{
	if (munmap(neighbour, FAR_DOWN))
		die("munmap");
}

/* After mlockall(MCL_FUTURE), new stack memory counts as locked memory. */
static void locked_stack(void)
{
	if (mlockall(MCL_FUTURE))
		die("mlockall");
	/* MCL_CURRENT also locks the present stack. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	room_memlock(64 * KIB);
}

/* A MAP_GROWSDOWN mapping grows like a stack, but not beyond RLIMIT_STACK. */
static void grows_past_limit(void)
{
	memory = mmap((void *)0x200000000000, 4 * PAGE_BYTES, RW, PRIVATE_ANON | MAP_GROWSDOWN,
		      -1, 0);
	if (memory == MAP_FAILED)
		die("mmap MAP_GROWSDOWN");
	*memory = 1;
	soft_limit(RLIMIT_STACK, 128 * KIB);
	bad_address = P(memory) - 256 * KIB;
}

/* A userfaultfd that raises SIGBUS for a missing page, and never supplies the page. */
static int handler;

static void missing_page(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	memory = map_anon(4 * PAGE_BYTES, RW, 0);
	handler = syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
	if (handler < 0 || ioctl(handler, UFFDIO_API, &api))
		skip("userfaultfd: %s", strerror(errno));
	range.range.start = P(memory);
	range.range.len = 4 * PAGE_BYTES;
	if (ioctl(handler, UFFDIO_REGISTER, &range))
		skip("UFFDIO_REGISTER: %s", strerror(errno));
	bad_address = P(memory) + PAGE_BYTES;
}

static void no_handler(void)
{
	close(handler);
}

/* Test cases of an empty file, and of private mappings beyond the end of a file. */
static int file;

static void empty_file(void)
{
	file = disk_file(0);
	bad_address = P(map_file(file, PAGE_BYTES, PROT_READ, MAP_SHARED));
}

static void private_past_end(void)
{
	file = disk_file(PAGE_BYTES);
	bad_address = P(map_file(file, 4 * PAGE_BYTES, RW, MAP_PRIVATE)) + 2 * PAGE_BYTES;
}

static void with_pages(void)
{
	if (ftruncate(file, 4 * PAGE_BYTES))
		die("ftruncate");
}

/* Sends SIGSEGV or SIGBUS by a system call. No memory access causes the signal. */
static long sent_by_others(void)
{
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGBUS);
		_exit(0);
	}
	waitpid(child, &status, 0);
	child = fork_or_die();
	if (!child) {
		pause();
		_exit(0);
	}
	kill(child, SIGSEGV);
	waitpid(child, &status, 0);
	return 0;
}

const struct zoo_case fault_cases[] = {
	{ "bus-frame", BUS("non-canonical", not_canonical, reads_by_frame, good_memory) },
	{ "bus-askew", BUS("misaligned", askew, reads_askew, straight) },
	{ "bus-empty-file", BUS("past end of file", empty_file, reads, with_pages) },
	{ "bus-private-past-end", BUS("past end of file", private_past_end, writes, with_pages) },
	{ "bus-missing-page", BUS("unknown", missing_page, reads, no_handler) },
	{ "segv-run-stack", SEGV("no-exec", NULL, runs_stack, good_memory) },
	{ "segv-run-data", SEGV("no-exec", of_data, runs, good_memory) },
	{ "segv-write-text", SEGV("read-only", of_text, writes, good_memory) },
	{ "segv-gate", SEGV("kernel address", of_gate, reads, good_memory) },
	{ "segv-past-heap", SEGV("unmapped", past_heap, writes, good_memory) },
	{ "segv-null-edge", SEGV("near-null", at_edge, reads, good_memory) },
	{ "segv-stack-neighbour",
	  SEGV("stack overflow|guard page", neighbour_of_stack, digs, no_neighbour) },
	{ "segv-stack-locked", SEGV("stack overflow", locked_stack, digs, raise_ipc_lock) },
	{ "segv-grows-past-limit",
	  SEGV("stack overflow|unmapped", grows_past_limit, writes, restore_stack) },
	{ "control-sent", { 0 }, NULL, sent_by_others, .control = true },
	{ 0 },
};
