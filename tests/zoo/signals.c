/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of memory accesses that raise SIGSEGV or SIGBUS, one for each kind of cause. */
#include "zoo.h"

#include <setjmp.h>
#include <sys/mount.h>

#define SMALL_STACK (512 * KIB)
/* bytes of stack that a case uses: more than SMALL_STACK, but less than the usual RLIMIT_STACK */
#define DEEP	    (2 * MIB)
#define FILE_PAGES  4

static sigjmp_buf back;
volatile sig_atomic_t got_signal;
static bool handled;
static int file;
static char *memory;
long bad_address;

static void jump_back(int number)
{
	got_signal = number;
	siglongjmp(back, 1);
}

static void handle(void)
{
	static char stack[64 * KIB];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = jump_back, .sa_flags = SA_ONSTACK };

	if (handled)
		return;
	handled = true;
	if (sigaltstack(&other, NULL) || sigaction(SIGSEGV, &action, NULL) ||
	    sigaction(SIGBUS, &action, NULL))
		die("handler");
}

/* Makes an access. Returns -1 if it raised a signal, else 0. */
long catch_signal(void (*access)(void))
{
	handle();
	got_signal = 0;
	if (!sigsetjmp(back, 1))
		access();
	return got_signal ? -1 : 0;
}

static void read_at(void)
{
	(void)*(volatile char *)bad_address;
}

static void write_at(void)
{
	*(volatile char *)bad_address = 1;
}

/*
 * Calls the code at bad_address. If this address can be executed, the code there is a `ret`
 * instruction.
 */
static void run_at(void)
{
	((void (*)(void))bad_address)();
}

long reads(void)
{
	return catch_signal(read_at);
}

long writes(void)
{
	return catch_signal(write_at);
}

long runs(void)
{
	return catch_signal(run_at);
}

static void to_good_memory(void)
{
	memory = map_anon(2 * PAGE_BYTES, RW, 0);
	*memory = (char)0xc3; /* opcode of `ret` */
	bad_address = P(memory);
}

static void to_good_code(void)
{
	to_good_memory();
	if (mprotect(memory, PAGE_BYTES, RX))
		die("mprotect");
}

/* Test cases of addresses without a mapping */

static void at_null(void)
{
	bad_address = 0;
}

static void near_null(void)
{
	bad_address = vary(8, PAGE_BYTES - 8);
}

static void in_hole(void)
{
	memory = map_anon(3 * PAGE_BYTES, RW, 0);
	if (munmap(memory + PAGE_BYTES, PAGE_BYTES))
		die("munmap");
	bad_address = P(memory) + PAGE_BYTES + vary(0, PAGE_BYTES - 1);
}

static void far_out(void)
{
	bad_address = 0x100000000000 + vary(0, 1000) * PAGE_BYTES;
}

static void not_canonical(void)
{
	bad_address = (long)(0xdeadbeef00000000UL + vary(0, 1000));
}

static void in_kernel(void)
{
	bad_address = (long)(0xffff888000000000UL + vary(0, 1000) * PAGE_BYTES);
}

static void in_kernel_text(void)
{
	bad_address = (long)0xffffffff81000000UL;
}

/* Test cases of mappings that forbid the access */

static void no_access(void)
{
	memory = map_anon(PAGE_BYTES, PROT_NONE, 0);
	bad_address = P(memory);
}

static void no_access_of_file(void)
{
	memory = map_file(sized_memfd(PAGE_BYTES, 0), PAGE_BYTES, PROT_NONE, MAP_SHARED);
	bad_address = P(memory);
}

static void give_access(void)
{
	if (mprotect(memory, PAGE_BYTES, RW))
		die("mprotect");
}

static void read_only(void)
{
	memory = map_anon(PAGE_BYTES, PROT_READ, 0);
	bad_address = P(memory);
}

static void read_only_touched(void)
{
	memory = map_anon(PAGE_BYTES, RW, 0);
	*memory = 1;
	if (mprotect(memory, PAGE_BYTES, PROT_READ))
		die("mprotect");
	bad_address = P(memory);
}

static void read_only_file(void)
{
	memory = map_file(disk_file(PAGE_BYTES), PAGE_BYTES, PROT_READ, MAP_PRIVATE);
	bad_address = P(memory);
}

static void no_exec(void)
{
	to_good_memory();
}

static void give_exec(void)
{
	if (mprotect(memory, PAGE_BYTES, RX))
		die("mprotect");
}

static void guarded(void)
{
	memory = map_anon(4 * PAGE_BYTES, RW, 0);
	bad_address = P(memory);
	if (madvise(memory, PAGE_BYTES, 102 /* MADV_GUARD_INSTALL */))
		skip("MADV_GUARD_INSTALL: %s", strerror(errno));
}

static void unguard(void)
{
	if (madvise(memory, PAGE_BYTES, 103 /* MADV_GUARD_REMOVE */))
		die("MADV_GUARD_REMOVE");
}

/*
 * hlt is a privileged instruction. In user mode it raises #GP, for which the signal has no address.
 */
static void halt(void)
{
	__asm__ volatile("hlt");
}

static long halts(void)
{
	return catch_signal(halt);
}

/* Test cases of stacks */

__attribute__((noinline)) void dig(long bytes)
{
	volatile char frame[1024];

	frame[0] = 1;
	if (bytes > 0)
		dig(bytes - (long)sizeof(frame));
	frame[1] = frame[0];
}

static void dig_deep(void)
{
	dig(DEEP);
}

static long overflows(void)
{
	return catch_signal(dig_deep);
}

static void small_stack(void)
{
	soft_limit(RLIMIT_STACK, SMALL_STACK);
}

/* The stack may grow according to RLIMIT_STACK, but not according to RLIMIT_AS. */
static void no_space_for_stack(void)
{
	room_as(256 * KIB);
}

static size_t thread_stack = 256 * KIB;

static void *dig_in_thread(void *arg)
{
	static char stack[64 * KIB];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&other, NULL);
	*(long *)arg = catch_signal(dig_deep);
	if (got_signal)
		subject.tid = syscall(SYS_gettid);
	return NULL;
}

static long overflows_in_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	long ret;

	handle();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, thread_stack);
	errno = pthread_create(&thread, &attr, dig_in_thread, &ret);
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
	return ret;
}

static void large_stack(void)
{
	thread_stack = 4 * DEEP;
}

/* Test cases of mapped files */

static void past_end_of(int fd)
{
	file = fd;
	memory = map_file(fd, 4 * FILE_PAGES * PAGE_BYTES, RW, MAP_SHARED);
	bad_address = P(memory) + (FILE_PAGES + vary(0, 2 * FILE_PAGES)) * PAGE_BYTES;
}

static void past_end(void)
{
	past_end_of(sized_memfd(FILE_PAGES * PAGE_BYTES, 0));
}

static void past_end_on_disk(void)
{
	past_end_of(disk_file(FILE_PAGES * PAGE_BYTES));
}

static void truncated(void)
{
	past_end_of(disk_file(4 * FILE_PAGES * PAGE_BYTES));
	read_at();
	if (ftruncate(file, PAGE_BYTES))
		die("ftruncate");
}

static void extend(void)
{
	if (ftruncate(file, 4 * FILE_PAGES * PAGE_BYTES))
		die("ftruncate");
}

static void full_tmpfs(void)
{
	const size_t pages = 64;

	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", 0, "size=128k"))
		skip("mount: %s", strerror(errno));
	file = open("/tmp/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, pages * PAGE_BYTES))
		die("/tmp/file");
	memory = map_file(file, pages * PAGE_BYTES, RW, MAP_SHARED);
	write_pages(memory, 32);
	bad_address = P(memory) + vary(32, 63) * PAGE_BYTES;
}

static void enlarge_tmpfs(void)
{
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT, "size=1m"))
		die("mount -o remount");
}

static void no_huge_page(void)
{
	if (read_number("/proc/sys/vm/nr_hugepages"))
		skip("there are huge pages");
	memory = mmap(NULL, 2 * MIB, RW, PRIVATE_ANON | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		skip("no huge pages: %s", strerror(errno));
	bad_address = P(memory);
}

static void small_pages(void)
{
	munmap(memory, 2 * MIB);
	to_good_memory();
}

/* Test cases in which a child dies of the signal */

static long dies(void (*access)(void))
{
	int status;
	pid_t child = fork_or_die();

	if (!child) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		access();
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (!WIFSIGNALED(status))
		return 0;
	subject.pid = subject.tid = child;
	got_signal = WTERMSIG(status);
	return -1;
}

static long dies_writing(void)
{
	return dies(write_at);
}

static long dies_digging(void)
{
	return dies(dig_deep);
}

const struct zoo_case signal_cases[] = {
	{ "segv-null-read", SEGV("null", at_null, reads, to_good_memory) },
	{ "segv-null-write", SEGV("null", at_null, writes, to_good_memory) },
	{ "segv-null-run", SEGV("null", at_null, runs, to_good_code) },
	{ "segv-null-fatal", SEGV("null", at_null, dies_writing, to_good_memory) },
	{ "segv-near-null", SEGV("near-null", near_null, reads, to_good_memory) },
	{ "segv-near-null-write", SEGV("near-null", near_null, writes, to_good_memory) },
	{ "segv-unmapped", SEGV("unmapped", in_hole, reads, to_good_memory) },
	{ "segv-unmapped-write", SEGV("unmapped", far_out, writes, to_good_memory) },
	{ "segv-unmapped-run", SEGV("unmapped", far_out, runs, to_good_code) },
	{ "segv-not-canonical", SEGV("non-canonical", not_canonical, reads, to_good_memory) },
	{ "segv-not-canonical-write",
	  SEGV("non-canonical", not_canonical, writes, to_good_memory) },
	{ "segv-kernel", SEGV("kernel address", in_kernel, reads, to_good_memory) },
	{ "segv-kernel-write", SEGV("kernel address", in_kernel, writes, to_good_memory) },
	{ "segv-kernel-run", SEGV("kernel address", in_kernel_text, runs, to_good_code) },
	{ "segv-no-access", SEGV("no access", no_access, reads, give_access) },
	{ "segv-no-access-write", SEGV("no access", no_access, writes, give_access) },
	{ "segv-no-access-file", SEGV("no access", no_access_of_file, reads, give_access) },
	{ "segv-read-only", SEGV("read-only", read_only, writes, give_access) },
	{ "segv-read-only-touched", SEGV("read-only", read_only_touched, writes, give_access) },
	{ "segv-read-only-file", SEGV("read-only", read_only_file, writes, give_access) },
	{ "segv-no-exec", SEGV("no-exec", no_exec, runs, give_exec) },
	{ "segv-guard", SEGV("guard page|no access", guarded, reads, unguard) },
	{ "segv-privileged",
	  SEGV("general protection|privileged instruction|unknown|other", NULL, halts, NULL) },
	{ "segv-stack", SEGV("stack overflow", small_stack, overflows, restore_stack) },
	{ "segv-stack-fatal", SEGV("stack overflow", small_stack, dies_digging, restore_stack) },
	{ "segv-stack-as", SEGV("stack overflow", no_space_for_stack, overflows, restore_as) },
	{ "segv-thread-stack",
	  SEGV("guard page|stack overflow", NULL, overflows_in_thread, large_stack) },
	{ "bus-past-end", BUS("past end of file", past_end, reads, extend) },
	{ "bus-past-end-disk", BUS("past end of file", past_end_on_disk, writes, extend) },
	{ "bus-past-end-fatal", BUS("past end of file", past_end, dies_writing, extend) },
	{ "bus-truncated", BUS("past end of file|truncated", truncated, reads, extend) },
	{ "bus-tmpfs-full", BUS("tmpfs full", full_tmpfs, writes, enlarge_tmpfs) },
	{ "bus-tmpfs-full-fatal", BUS("tmpfs full", full_tmpfs, dies_writing, enlarge_tmpfs) },
	{ "bus-hugetlb", BUS("hugetlb pool|huge page pool empty|huge page pool", no_huge_page,
			     writes, small_pages) },
	{ 0 },
};
