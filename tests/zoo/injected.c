/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of errors that a seccomp filter returns, as filters of containers and services do.
 * faultscope must name no limit, because the kernel has not checked any.
 */
#include "zoo.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>

static long number;
static int error;

static void filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("prctl PR_SET_NO_NEW_PRIVS");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		skip("seccomp: %s", strerror(errno));
}

static void deny(long call, int with)
{
	number = call;
	error = with;
}

static void ask_mmap(void)
{
	ASK(mmap, 0, (long)some_bytes(), RW, PRIVATE_ANON, -1, 0);
}

static void mmap_enomem(void)
{
	ask_mmap();
	deny(SYS_mmap, ENOMEM);
}

static void mmap_eagain(void)
{
	ask_mmap();
	deny(SYS_mmap, EAGAIN);
}

static void mmap_eperm(void)
{
	ASK(mmap, 0, PAGE_BYTES, RX, PRIVATE_ANON, -1, 0);
	deny(SYS_mmap, EPERM);
}

static void mmap_eacces(void)
{
	ASK(mmap, 0, PAGE_BYTES, RW | PROT_EXEC, PRIVATE_ANON, -1, 0);
	deny(SYS_mmap, EACCES);
}

/* The call would also exceed a limit. The filter returns before the kernel checks it. */
static void limit_as_too(void)
{
	filter();
	room_as(MIB);
}

static void limit_nofile_too(void)
{
	filter();
	leave_free(0);
}

static void munmap_enomem(void)
{
	ASK(munmap, P(map_anon(3 * PAGE_BYTES, RW, 0)) + PAGE_BYTES, PAGE_BYTES);
	deny(SYS_munmap, ENOMEM);
}

static void mprotect_eacces(void)
{
	ASK(mprotect, P(map_anon(PAGE_BYTES, RW, 0)), PAGE_BYTES, RX);
	deny(SYS_mprotect, EACCES);
}

static void mprotect_eperm(void)
{
	ASK(mprotect, P(map_anon(PAGE_BYTES, RW, 0)), PAGE_BYTES, RX);
	deny(SYS_mprotect, EPERM);
}

static void mprotect_enomem(void)
{
	ASK(mprotect, P(map_anon(3 * PAGE_BYTES, RW, 0)) + PAGE_BYTES, PAGE_BYTES, PROT_READ);
	deny(SYS_mprotect, ENOMEM);
}

static void madvise_eagain(void)
{
	ASK(madvise, P(map_anon(3 * PAGE_BYTES, RW, 0)) + PAGE_BYTES, PAGE_BYTES, MADV_RANDOM);
	deny(SYS_madvise, EAGAIN);
}

static void mremap_enomem(void)
{
	ASK(mremap, P(map_anon(PAGE_BYTES, RW, 0)), PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE);
	deny(SYS_mremap, ENOMEM);
}

static void mlock_enomem(void)
{
	ASK(mlock, P(map_anon(PAGE_BYTES, RW, 0)), PAGE_BYTES);
	deny(SYS_mlock, ENOMEM);
}

static void mlock_eperm(void)
{
	mlock_enomem();
	deny(SYS_mlock, EPERM);
}

static void mlockall_eperm(void)
{
	ASK(mlockall, MCL_FUTURE | MCL_CURRENT);
	deny(SYS_mlockall, EPERM);
}

static void openat_emfile(void)
{
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY);
	deny(SYS_openat, EMFILE);
}

static void openat_enfile(void)
{
	openat_emfile();
	deny(SYS_openat, ENFILE);
}

static void socket_emfile(void)
{
	ASK(socket, AF_UNIX, SOCK_STREAM, 0);
	deny(SYS_socket, EMFILE);
}

static void inotify_emfile(void)
{
	ASK(inotify_init1, IN_CLOEXEC);
	deny(SYS_inotify_init1, EMFILE);
}

static void watch_enospc(void)
{
	ASK(inotify_add_watch, inotify_init1(IN_CLOEXEC), P("/"), IN_CREATE);
	deny(SYS_inotify_add_watch, ENOSPC);
}

static void fcntl_eperm(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe2");
	ASK(fcntl, ends[0], F_SETPIPE_SZ, 64 * KIB);
	deny(SYS_fcntl, EPERM);
}

static void clone_eagain(void)
{
	deny(SYS_clone, EAGAIN);
}

static void clone_enomem(void)
{
	deny(SYS_clone, ENOMEM);
}

static void memfd_emfile(void)
{
	ASK(memfd_create, P("zoo"), MFD_CLOEXEC);
	deny(SYS_memfd_create, EMFILE);
}

static void pipe2_enfile(void)
{
	static int ends[2];

	ASK(pipe2, P(ends), O_CLOEXEC);
	deny(SYS_pipe2, ENFILE);
}

static void unshare_enospc(void)
{
	ASK(unshare, CLONE_NEWUTS);
	deny(SYS_unshare, ENOSPC);
}

static void clone_enospc(void)
{
	deny(SYS_clone, ENOSPC);
}

static void mount_enospc(void)
{
	enter_mount_namespace();
	ASK(mount, P("/proc"), P("/proc"), 0, MS_BIND, 0);
	deny(SYS_mount, ENOSPC);
}

static void key_edquot(void)
{
	ASK(add_key, P("user"), P("zoo"), P("x"), 1, KEY_SPEC_PROCESS_KEYRING);
	deny(SYS_add_key, EDQUOT);
}

static void timer_eagain(void)
{
	static int timer;

	ASK(timer_create, CLOCK_MONOTONIC, 0, P(&timer));
	deny(SYS_timer_create, EAGAIN);
}

static void queue_enospc(void)
{
	enter_ipc_namespace();
	ASK(mq_open, P("zoo"), O_RDWR | O_CREAT, 0600, 0);
	deny(SYS_mq_open, ENOSPC);
}

static void io_setup_eagain(void)
{
	static unsigned long context;

	ASK(io_setup, 1, P(&context));
	deny(SYS_io_setup, EAGAIN);
}

static void option_enomem(void)
{
	static int size = 10000;

	ASK(setsockopt, socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, SO_RCVBUF, P(&size),
	    sizeof(size));
	deny(SYS_setsockopt, ENOMEM);
}

static void rights_etoomanyrefs(void)
{
	static struct iovec byte = { "x", 1 };
	static struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	ASK(sendmsg, pair[0], P(&message), 0);
	deny(SYS_sendmsg, ETOOMANYREFS);
}

static void seal_enomem(void)
{
	ASK(mseal, P(map_anon(PAGE_BYTES, RW, 0)), PAGE_BYTES, 0);
	deny(SYS_mseal, ENOMEM);
}

static void write_edquot(void)
{
	ASK(pwrite64, disk_file(0), P("x"), 1, 0);
	deny(SYS_pwrite64, EDQUOT);
}

static void brk_enomem(void)
{
	ASK(brk, syscall(SYS_brk, 0) + MIB);
	deny(SYS_brk, ENOMEM);
}

/* The seccomp filter makes brk return -ENOMEM. The kernel's brk never returns a negative errno. */
static long make_brk(void)
{
	/* for -ENOMEM, libc's syscall() returns -1 and sets errno */
	long ret = syscall(SYS_brk, ask.arg[0]);

	return ret < 0 ? -1 : 0;
}

/* io_setup() wants a context of 0, so each call gets a new one. */
static long make_context(void)
{
	*(unsigned long *)ask.arg[1] = 0;
	return make_asked();
}

#define INJECTED(prepare) prepare, NULL, NULL, .impose = filter
#define MADE_UP(call, error)                                                                       \
	{ call, error, "unknown|security_module", .undecidable = true }

const struct zoo_case injected_cases[] = {
	{ "injected-mmap-enomem", MADE_UP("mmap", ENOMEM), INJECTED(mmap_enomem) },
	{ "injected-mmap-enomem-past-as",
	  { "mmap", ENOMEM, "rlimit_as|unknown|security_module", .undecidable = true },
	  mmap_enomem, .impose = limit_as_too },
	{ "injected-mmap-eagain", MADE_UP("mmap", EAGAIN), INJECTED(mmap_eagain) },
	{ "injected-mmap-eperm", MADE_UP("mmap", EPERM), INJECTED(mmap_eperm) },
	{ "injected-mmap-eacces", MADE_UP("mmap", EACCES), INJECTED(mmap_eacces) },
	{ "injected-munmap-enomem", MADE_UP("munmap", ENOMEM), INJECTED(munmap_enomem) },
	{ "injected-mprotect-eacces", MADE_UP("mprotect", EACCES), INJECTED(mprotect_eacces) },
	{ "injected-mprotect-eperm", MADE_UP("mprotect", EPERM), INJECTED(mprotect_eperm) },
	{ "injected-mprotect-enomem", MADE_UP("mprotect", ENOMEM), INJECTED(mprotect_enomem) },
	{ "injected-madvise-eagain", MADE_UP("madvise", EAGAIN), INJECTED(madvise_eagain) },
	{ "injected-mremap-enomem", MADE_UP("mremap", ENOMEM), INJECTED(mremap_enomem) },
	{ "injected-mlock-enomem", MADE_UP("mlock", ENOMEM), INJECTED(mlock_enomem) },
	{ "injected-mlock-eperm", MADE_UP("mlock", EPERM), INJECTED(mlock_eperm) },
	{ "injected-mlockall-eperm", MADE_UP("mlockall", EPERM), INJECTED(mlockall_eperm) },
	{ "injected-openat-emfile", MADE_UP("openat", EMFILE), INJECTED(openat_emfile) },
	{ "injected-openat-emfile-full",
	  { "openat", EMFILE, "rlimit_nofile|unknown|security_module", .undecidable = true },
	  openat_emfile, .impose = limit_nofile_too },
	{ "injected-openat-enfile", MADE_UP("openat", ENFILE), INJECTED(openat_enfile) },
	{ "injected-socket-emfile", MADE_UP("socket", EMFILE), INJECTED(socket_emfile) },
	{ "injected-inotify-emfile", MADE_UP("inotify_init1", EMFILE), INJECTED(inotify_emfile) },
	{ "injected-watch-enospc", MADE_UP("inotify_add_watch", ENOSPC),
	  INJECTED(watch_enospc) },
	{ "injected-fcntl-eperm", MADE_UP("fcntl", EPERM), INJECTED(fcntl_eperm) },
	{ "injected-clone-eagain", MADE_UP("clone", EAGAIN), clone_eagain, make_fork,
	  .impose = filter },
	{ "injected-clone-enomem", MADE_UP("clone", ENOMEM), clone_enomem, make_fork,
	  .impose = filter },
	{ "injected-memfd-emfile", MADE_UP("memfd_create", EMFILE), INJECTED(memfd_emfile) },
	{ "injected-pipe2-enfile", MADE_UP("pipe2", ENFILE), INJECTED(pipe2_enfile) },
	{ "injected-unshare-enospc", MADE_UP("unshare", ENOSPC), INJECTED(unshare_enospc) },
	{ "injected-clone-enospc", MADE_UP("clone", ENOSPC), clone_enospc, make_fork,
	  .impose = filter },
	{ "injected-mount-enospc", MADE_UP("mount", ENOSPC), INJECTED(mount_enospc) },
	{ "injected-key-edquot", MADE_UP("add_key", EDQUOT), INJECTED(key_edquot) },
	{ "injected-timer-eagain", MADE_UP("timer_create", EAGAIN), INJECTED(timer_eagain) },
	{ "injected-queue-enospc", MADE_UP("mq_open", ENOSPC), INJECTED(queue_enospc) },
	{ "injected-io-setup-eagain", MADE_UP("io_setup", EAGAIN), io_setup_eagain, make_context,
	  .impose = filter },
	{ "injected-option-enomem", MADE_UP("setsockopt", ENOMEM), INJECTED(option_enomem) },
	{ "injected-rights-etoomanyrefs", MADE_UP("sendmsg", ETOOMANYREFS),
	  INJECTED(rights_etoomanyrefs) },
	{ "injected-mseal-enomem", MADE_UP("mseal", ENOMEM), INJECTED(seal_enomem) },
	{ "injected-write-edquot",
	  { "write", EDQUOT, "file_quota|unknown|security_module", .undecidable = true },
	  INJECTED(write_edquot) },
	{ "injected-brk", MADE_UP("brk", ENOMEM), brk_enomem, make_brk, .impose = filter },
	{ 0 },
};
