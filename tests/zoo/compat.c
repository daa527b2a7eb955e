/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of 32-bit system calls (int $0x80), as 32-bit programs make them. For most numbers,
 * the 32-bit call and the 64-bit call are different calls.
 */
#include "zoo.h"

#include <sys/socket.h>

/* Numbers from arch/x86/entry/syscalls/syscall_32.tbl */
enum {
	CALL_OPEN = 5,
	CALL_LINK = 9,
	CALL_UNLINK = 10,
	CALL_CHDIR = 12,
	CALL_CHMOD = 15,
	CALL_UMOUNT = 22,
	CALL_UTIME = 30,
	CALL_ACCESS = 33,
	CALL_RENAME = 38,
	CALL_DUP = 41,
	CALL_PIPE = 42,
	CALL_MUNMAP = 91,
	CALL_CLONE = 120,
	CALL_MPROTECT = 125,
	CALL_MREMAP = 163,
	CALL_MMAP2 = 192,
	CALL_EVENTFD2 = 328,
	CALL_MEMFD_CREATE = 356,
	CALL_SOCKET = 359,
};

static long call_32(long number, const long *arg)
{
	long ret = number;

	/* The frame pointer register passes the sixth argument, which is 0 in all cases. */
	__asm__ volatile("push %%rbp; xor %%ebp, %%ebp; int $0x80; pop %%rbp"
			 : "+a"(ret)
			 : "b"(arg[0]), "c"(arg[1]), "d"(arg[2]), "S"(arg[3]), "D"(arg[4])
			 : "memory", "r8", "r9", "r10", "r11");
	ret = (int)ret;
	if (ret < 0 && ret > -4096) {
		errno = -ret;
		return -1;
	}
	return ret;
}

static long make_32(void)
{
	return call_32(ask.number, ask.arg);
}

static void gate(void)
{
	static const long nothing[6];

	if (call_32(20 /* getpid */, nothing) != getpid())
		skip("no 32-bit calls");
}

static void ask_32(long number, long first, long second, long third, long fourth, long fifth)
{
	gate();
	ask = (struct ask){ number, { first, second, third, fourth, fifth } };
}

/* Returns memory below 4 GiB, for arguments of 32-bit calls. */
static char *low(size_t bytes)
{
	return map_anon(bytes, RW, MAP_32BIT);
}

static long low_text(const char *text)
{
	return P(strcpy(low(PAGE_BYTES), text));
}

static void map_past_as(void)
{
	ask_32(CALL_MMAP2, 0, 16 * MIB, RW, PRIVATE_ANON, -1);
	room_as(MIB);
}

static void map_past_data(void)
{
	ask_32(CALL_MMAP2, 0, 16 * MIB, RW, PRIVATE_ANON, -1);
	room_data(MIB);
}

/*
 * Requests more memory than is free below the address at which 32-bit calls start to map
 * (mmap_base). This address is at least 128 MiB below 4 GiB (MIN_GAP in arch/x86/mm/mmap.c). A
 * 64-bit call could map this much, because its address space is larger.
 */
static void map_past_space(void)
{
	ask_32(CALL_MMAP2, 0, 0xfc000000, PROT_NONE, PRIVATE_ANON | MAP_NORESERVE, -1);
}

static void map_less(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void unmap_middle_at_count(void)
{
	char *block = low(3 * PAGE_BYTES);

	ask_32(CALL_MUNMAP, P(block) + PAGE_BYTES, PAGE_BYTES, 0, 0, 0);
	fill_maps(most_maps());
}

static void protect_hole(void)
{
	char *block = low(3 * PAGE_BYTES);

	munmap(block + PAGE_BYTES, PAGE_BYTES);
	ask_32(CALL_MPROTECT, P(block), 3 * PAGE_BYTES, PROT_READ, 0, 0);
}

static void protect_less(void)
{
	ask.arg[1] = PAGE_BYTES;
}

static void open_full(void)
{
	ask_32(CALL_OPEN, low_text("/dev/null"), O_RDONLY, 0, 0, 0);
	leave_free(0);
}

static void dup_full(void)
{
	ask_32(CALL_DUP, STDOUT_FILENO, 0, 0, 0, 0);
	leave_free(0);
}

static void pipe_full(void)
{
	ask_32(CALL_PIPE, P(low(PAGE_BYTES)), 0, 0, 0, 0);
	leave_free(1);
}

static void eventfd_full(void)
{
	ask_32(CALL_EVENTFD2, 0, 0, 0, 0, 0);
	leave_free(0);
}

static void memfd_full(void)
{
	ask_32(CALL_MEMFD_CREATE, low_text("zoo"), 0, 0, 0, 0);
	leave_free(0);
}

static void socket_full(void)
{
	ask_32(CALL_SOCKET, AF_UNIX, SOCK_STREAM, 0, 0, 0);
	leave_free(0);
}

static void one_process(void)
{
	gate();
	become_another_user();
	soft_limit(RLIMIT_NPROC, 1);
}

static long clone_32(void)
{
	static const long arg[6] = { SIGCHLD };
	long child = call_32(CALL_CLONE, arg);

	if (!child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

static void more_processes(void)
{
	restore_limit(RLIMIT_NPROC);
}

static void must_fail_as(long number, long first, long second, int error)
{
	const long arg[6] = { first, second };

	if (call_32(number, arg) != -1 || errno != error)
		die("32-bit call %ld did not fail as %s", number, strerrorname_np(error));
}

/*
 * Makes 32-bit calls that fail. In 64-bit mode, their numbers mean mmap, mprotect, brk,
 * rt_sigreturn, pipe, shmat, dup2, socket and other calls that faultscope watches.
 */
static long look_alikes(void)
{
	long path = low_text("/nonexistent/zoo");

	must_fail_as(CALL_LINK, path, path, ENOENT);
	must_fail_as(CALL_UNLINK, path, 0, ENOENT);
	must_fail_as(CALL_UNLINK, low_text("/proc/self/maps"), 0, EPERM);
	must_fail_as(CALL_CHDIR, path, 0, ENOENT);
	must_fail_as(CALL_CHDIR, low_text("/dev/null"), 0, ENOTDIR);
	must_fail_as(CALL_UMOUNT, low_text("/dev/null"), 0, EINVAL);
	must_fail_as(CALL_UTIME, path, 0, ENOENT);
	must_fail_as(CALL_ACCESS, path, 0, ENOENT);
	must_fail_as(CALL_RENAME, path, path, ENOENT);
	must_fail_as(CALL_DUP, 1000, 0, EBADF);
	return 0;
}

/*
 * Makes failing 32-bit calls. In 64-bit mode, their numbers are those of mlock, mmap, clone and
 * socketpair.
 */
static long look_alikes_of_want(void)
{
	/* 149 is mlock in 64-bit mode and the obsolete _sysctl in 32-bit mode. */
	must_fail_as(149, 0, 0, ENOSYS);
	/* link() cannot link a directory. In 64-bit mode, its number is that of mmap. */
	must_fail_as(CALL_LINK, low_text("/proc"), low_text("/tmp/zoo-link"), EXDEV);
	/* In 64-bit mode, 56 is clone and 53 socketpair. 32-bit mode lacks these calls. */
	must_fail_as(56, 0, 0, ENOSYS);
	must_fail_as(53, 0, 0, ENOSYS);
	return 0;
}

#define NOFILE(call, prepare) { call, EMFILE, "rlimit_nofile" }, prepare, make_32, restore_nofile

const struct zoo_case compat_cases[] = {
	{ "compat-mmap-as", { "mmap", ENOMEM, "rlimit_as" }, map_past_as, make_32, restore_as },
	{ "compat-mmap-data", { "mmap", ENOMEM, "rlimit_data" }, map_past_data, make_32,
	  restore_data },
	{ "compat-mmap-space", { "mmap", ENOMEM, "address_space" }, map_past_space, make_32,
	  map_less },
	{ "compat-munmap-count", { "munmap", ENOMEM, "max_map_count" }, unmap_middle_at_count,
	  make_32, unmap_last_filler },
	{ "compat-mprotect-hole", { "mprotect", ENOMEM, "range_hole" }, protect_hole, make_32,
	  protect_less },
	{ "compat-open", NOFILE("open", open_full) },
	{ "compat-dup", NOFILE("dup", dup_full) },
	{ "compat-pipe", NOFILE("pipe", pipe_full) },
	{ "compat-eventfd", NOFILE("eventfd2", eventfd_full) },
	{ "compat-memfd", NOFILE("memfd_create", memfd_full) },
	{ "compat-socket", NOFILE("socket", socket_full) },
	{ "compat-clone", { "clone", EAGAIN, "rlimit_nproc" }, one_process, clone_32,
	  more_processes },
	{ "control-compat", { 0 }, gate, look_alikes, .control = true },
	{ "control-compat-want", { 0 }, gate, look_alikes_of_want, .control = true },
	{ 0 },
};
