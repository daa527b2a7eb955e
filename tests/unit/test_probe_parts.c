// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the parts of src/probe that need no BPF: the keeper of links, the filter of system calls,
 * tables of calls and probes, the log of a load, and files of the machine. Messages to a service
 * manager are tested too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/passed_files.h"
#include "export/service_notify.h"
#include "open_files.h"
#include "own_machine.h"
#include "probe/btf.h"
#include "probe/call_filter.h"
#include "probe/calls.h"
#include "probe/hooks.h"
#include "probe/keeper.h"
#include "probe/load_log.h"
#include "probe/page_table.h"
#include "probe/permission.h"
#include "probe/tracefs.h"
#include "tap.h"

/* ---- keeper ---- */

/* Returns whether the other end of a pipe is closed everywhere. */
static bool is_closed(int reader, int timeout_ms)
{
	struct pollfd p = {.fd = reader, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLHUP;
}

/* Lets a keeper hold `n` files, the last of which is the writing end of a pipe. */
static void keeps(int n)
{
	int ends[2], other[2], files[600], keeper;
	size_t before = open_fds();

	if (pipe2(ends, 0) || pipe2(other, 0))
		abort();
	keeper = keeper_start();
	ok(keeper > 0, "a keeper is started");
	close(other[1]);
	ok(is_closed(other[0], 5000), "it closes files that it inherited");
	for (int i = 0; i < n; i++)
		files[i] = i == n - 1 ? ends[1] : STDIN_FILENO;
	is_u64(keeper_hold(keeper, files, n), 0, "it is given files");
	close(ends[1]);
	ok(!is_closed(ends[0], 50), "it holds the last of %d", n);
	close(keeper);
	ok(is_closed(ends[0], 5000), "until its socket is closed");
	close(ends[0]);
	close(other[0]);
	is_u64(open_fds(), before, "no file is left");
}

static void test_keeper(void)
{
	int closed, ends[2];

	keeps(1);
	keeps(PASSED_FILES_MOST);
	keeps(PASSED_FILES_MOST + 1);
	keeps(2 * PASSED_FILES_MOST + 7);
	/* each file counts, not only the last one */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		abort();
	close(ends[1]);
	closed = STDIN_FILENO;
	is_u64(keeper_hold(ends[0], &closed, 1), (uint64_t)-EPIPE, "a keeper that has ended");
	is_u64(keeper_hold(ends[0], &closed, 0), 0, "no file is no work");
	close(ends[0]);
}

/* ---- filter of system calls ---- */

enum { FILTERED_OK = 10, FILTERED_EPERM, FILTERED_OTHER, NO_FILTER };

/* Makes a system call in a child that has entered the filter. Returns how the call ended. */
static int filtered(long number, bool all_threads)
{
	int status;
	pid_t child = fork();

	if (!child) {
		long result;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || call_filter_enter(all_threads))
			_exit(NO_FILTER);
		result = syscall(number, -1, 0, 0, 0, 0, 0);
		syscall(SYS_exit_group, result >= 0	 ? FILTERED_OK
					: errno == EPERM ? FILTERED_EPERM
							 : FILTERED_OTHER);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_filter(void)
{
	static const long denied[] = {SYS_execve, SYS_socket,	   SYS_ptrace,		SYS_mount,
				      SYS_setuid, SYS_init_module, SYS_perf_event_open, SYS_chdir};

	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
		is_u64(filtered(denied[i], false), FILTERED_EPERM, "a call that is denied");
		is_u64(filtered(denied[i], true), FILTERED_EPERM, "in all threads");
	}
	is_u64(filtered(SYS_close, true), FILTERED_OTHER, "a call that is permitted fails itself");
	is_u64(filtered(SYS_pidfd_open, false), FILTERED_OTHER, "so does another one");
	is_u64(filtered(SYS_getpid, false), FILTERED_OK, "a call that succeeds");
}

/* ---- tables ---- */

static void test_calls(void)
{
	static struct fs_config c;
	unsigned int rows = 0, filled = 0;

	calls_fill(&c);
	for (unsigned int i = 0; i < nr_call_rows; i++) {
		const struct fs_syscall *one = &c.syscalls[call_rows[i].number];

		rows += call_rows[i].number < FS_SYSCALL_MAX;
		if (one->call != call_rows[i].call || one->shape != call_rows[i].shape)
			ok(false, "%s", call_rows[i].name);
	}
	for (unsigned int i = 0; i < FS_SYSCALL_MAX; i++)
		filled += c.syscalls[i].shape != FS_SHAPE_NONE;
	ok(filled >= rows && filled < FS_SYSCALL_MAX / 2, "%u of %u calls are counted", filled,
	   FS_SYSCALL_MAX);
	is_u64(c.syscalls[SYS_mmap].shape, FS_SHAPE_MMAP, "mmap");
	is_u64(c.syscalls[SYS_close].shape, FS_SHAPE_CLOSE, "close");
	is_u64(c.syscalls[SYS_getpid].shape, FS_SHAPE_NONE, "getpid");
#ifdef __x86_64__
	is_u64(c.compat_bits, 2, "the bit of 32-bit calls");
	is_u64(c.compat_syscalls[6].shape, FS_SHAPE_CLOSE, "close of 32 bits");
	is_u64(c.compat_syscalls[20].shape, FS_SHAPE_NONE, "getpid of 32 bits");
#endif
}

static void test_hooks(void)
{
	size_t degraded = 0, core = 0;

	for (size_t i = 0; i < nr_hooks; i++) {
		const struct hook *h = &hooks[i];
		int last = -1;

		if (hook_find(h->name) != (int)i)
			ok(false, "%s is not found", h->name);
		while (h->alternate[last + 1].mechanism)
			last++;
		for (int a = 0; a <= last; a++) {
			bool is = hook_is_degraded(h, &h->alternate[a]);

			if (hook_alternate_find(h, h->alternate[a].mechanism) != a)
				ok(false, "%s: %s", h->name, h->alternate[a].mechanism);
			if (is && (!h->core || !a || a < last))
				ok(false, "%s: %s is not degraded", h->name,
				   h->alternate[a].mechanism);
			degraded += is;
		}
		core += h->core;
		if (hook_is_degraded(h, NULL) || hook_alternate_find(h, "nothing") != -1)
			ok(false, "%s", h->name);
	}
	ok(core && degraded, "%zu of %zu core probes may be degraded", degraded, core);
	is_u64(hook_find("nothing"), (uint64_t)-1, "no such probe");
}

static void test_load_log(void)
{
	static char line[8192];

	load_log_begin();
	is_str(load_log(), "", "the log is empty");
	load_log_add("one\n");
	load_log_add("two\n");
	is_str(load_log(), "one\ntwo\n", "lines are appended");
	memset(line, 'x', 8191 - 8);
	load_log_add(line);
	is_u64(strlen(load_log()), 8191, "the log is full");
	ok(!strncmp(load_log(), "one\ntwo\nxxx", 11), "nothing is lost");
	load_log_add("end\n");
	is_u64(strlen(load_log()), 8191, "a further line");
	ok(!strncmp(load_log(), "one\n", 4) && !strcmp(load_log() + 8187, "end\n"),
	   "replaces the end");
	memset(line, 'y', 8000);
	strcpy(line + 8000, "tail");
	load_log_add(line);
	ok(!strncmp(load_log(), "one\ntwo\nxxx", 11) && load_log()[8191 - 4096 - 1] == 'x' &&
		   load_log()[8191 - 4096] == 'y' && !strcmp(load_log() + 8187, "tail"),
	   "of a long line, the last half of the log is kept");
	load_log_begin();
	is_str(load_log(), "", "a new load has a new log");
	load_log_add("12345678");
	memset(line, 'x', 8191 - 7);
	line[8191 - 7] = 0;
	load_log_add(line);
	is_u64(strlen(load_log()), 4096 + 8, "a line for which one byte is missing is cut");
	load_log_begin();
	line[4095] = 0;
	load_log_add(line);
	load_log_add("y");
	is_u64(strlen(load_log()), 4096, "half of the log");
	line[4095] = 'x';
	memset(line, 'z', 4097);
	line[4097] = 0;
	load_log_add(line);
	is_u64(strlen(load_log()), 8191, "and the last half of a longer line");
	ok(load_log()[4094] == 'x' && load_log()[4095] == 'z', "replaces one byte");
	load_log_begin();
}

/* ---- files of the machine ---- */

static void test_tracefs(void)
{
	size_t fds = open_fds();
	int root;

	machine_empty("/sys/kernel");
	root = tracefs_open();
	ok(root < 0, "tracefs is not mounted, and may not be");
	mkdir("/sys/kernel/tracing", 0755);
	root = tracefs_open();
	ok(root < 0, "a directory without events is none");
	is_u64(open_fds(), fds, "no file stays open");
	mkdir("/sys/kernel/debug", 0755);
	mkdir("/sys/kernel/debug/tracing", 0755);
	mkdir("/sys/kernel/debug/tracing/events", 0755);
	mkdir("/sys/kernel/debug/tracing/events/x", 0755);
	machine_write("/sys/kernel/debug/tracing/events/x/id", "77\n");
	root = tracefs_open();
	ok(root >= 0, "below debugfs");
	is_u64(tracefs_tracepoint(root, "x"), 77, "number of a tracepoint");
	is_u64(tracefs_tracepoint(root, "y"), (uint64_t)-ENOENT, "no such tracepoint");
	machine_write("/sys/kernel/debug/tracing/events/x/id", "");
	is_u64(tracefs_tracepoint(root, "x"), (uint64_t)-ENODATA, "a file without a number");
	close(root);
	mkdir("/sys/kernel/tracing/events", 0755);
	root = tracefs_open();
	ok(root >= 0 && tracefs_tracepoint(root, "x") == -ENOENT, "the first place wins");
	close(root);
	is_u64(open_fds(), fds, "all files are closed");
}

static void test_attaching_without_tracefs(void)
{
	struct answer a;

	machine_empty("/proc/sys/kernel");
	machine_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	/* the rights of a user namespace count as CAP_SYS_ADMIN here */
	a = permission_attach_answer("kprobe", -EPERM);
	is_str(a.text, "not permitted by this kernel's policy (EPERM)", "kprobe");
	a = permission_attach_answer("tracepoint", -EPERM);
	is_str(a.text, "not permitted (tracefs wants CAP_DAC_READ_SEARCH) (EPERM)", "tracepoint");
	is_str(a.remedy, "sudo faultscope …: tracefs is root's", "what to do");
	rmdir("/sys/kernel/tracing/events");
	a = permission_attach_answer("tracepoint", -EACCES);
	is_str(a.text, "tracefs is not mounted at /sys/kernel/tracing (EACCES)", "no tracefs");
	is_str(a.remedy, "mount -t tracefs nodev /sys/kernel/tracing", "what to do");
}

static void test_btf(void)
{
	char path[BTF_PATH_MAX] = "old", error[1024], want[1024];
	struct utsname un;

	uname(&un);
	is_u64(btf_find(NULL, path, error, sizeof(error)), (uint64_t)-ENOSYS, "no BTF");
	snprintf(want, sizeof(want),
		 "this kernel has no BTF: /sys/kernel/btf/vmlinux is missing "
		 "(CONFIG_DEBUG_INFO_BTF)\n  kernel %s: ",
		 un.release);
	ok(!strncmp(error, want, strlen(want)), "%s", error);
	mkdir("/sys/kernel/btf", 0755);
	machine_write("/sys/kernel/btf/vmlinux", "x");
	is_u64(btf_find(NULL, path, error, sizeof(error)), 0, "the kernel's own BTF");
	is_str(path, "", "needs no path");
	is_u64(btf_find("/nowhere", path, error, sizeof(error)), (uint64_t)-ENOENT,
	       "a file that is missing");
	is_str(error, "--btf /nowhere: cannot be read: No such file or directory", "its text");
	machine_write("/sys/kernel/btf/other", "no BTF at all, but text of some length");
	is_u64(btf_find("/sys/kernel/btf/other", path, error, sizeof(error)), (uint64_t)-EINVAL,
	       "a file that is no BTF");
	ok(strstr(error, "holds no BTF that can be read") != NULL, "its text");
}

static void test_page_table(void)
{
	struct fs_resident_config c;
	bool odd = true;

	memset(&c, 0xff, sizeof(c));
	page_table_fill(&c, false);
	ok(!c.on && !c.secret[0] && !c.huge && !c.levels, "off");
	mkdir("/sys/kernel/mm", 0755);
	mkdir("/sys/kernel/mm/transparent_hugepage", 0755);
	machine_write("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
	machine_cover("/proc/cpuinfo", "flags\t\t: fpu la57 x\n");
	for (int i = 0; i < 30; i++) {
		page_table_fill(&c, true);
		odd &= c.secret[0] & c.secret[1] & 1;
	}
	ok(c.on == 1 && odd, "on, with odd secrets");
	ok(!c.huge, "no huge pages");
	is_u64(c.zero_frame, ~0ULL, "the frame of zeros is not shown to this user");
	machine_write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
#if defined(__x86_64__)
	is_u64(c.levels, 5, "levels of page tables");
	machine_cover("/proc/cpuinfo", "flags\t\t: fpu x\n");
	page_table_fill(&c, true);
	is_u64(c.levels, 4, "without la57");
#else
	page_table_fill(&c, true);
#endif
	ok(c.huge, "huge pages");
}

/* ---- service manager ---- */

static int listen_at(const char *path, bool abstract)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t len = strlen(path);

	memcpy(at.sun_path, path, len);
	if (abstract)
		at.sun_path[0] = 0;
	if (bind(fd, (struct sockaddr *)&at, offsetof(struct sockaddr_un, sun_path) + len))
		abort();
	return fd;
}

static void notifies(const char *path, bool abstract)
{
	int fd = listen_at(path, abstract);
	char text[64] = "";
	struct notify n;

	setenv("NOTIFY_SOCKET", path, 1);
	notify_open(&n);
	ok(n.fd >= 0, "%s", path);
	notify_send(&n, "READY=1");
	ok(recv(fd, text, sizeof(text) - 1, 0) == 7 && !strcmp(text, "READY=1"), "a message");
	notify_close(&n);
	is_u64(n.fd, (uint64_t)-1, "closed");
	close(fd);
}

static void opens_nothing(const char *path, const char *name)
{
	size_t fds = open_fds();
	struct notify n = {.fd = 77};

	if (path)
		setenv("NOTIFY_SOCKET", path, 1);
	else
		unsetenv("NOTIFY_SOCKET");
	notify_open(&n);
	is_u64(n.fd, (uint64_t)-1, name);
	notify_send(&n, "READY=1");
	notify_close(&n);
	is_u64(open_fds(), fds, "no file is left");
}

static void test_notify(void)
{
	char path[200], pid[16];
	struct notify n;

	snprintf(path, sizeof(path), "/tmp/test_notify.%d", getpid());
	notifies(path, false);
	unlink(path);
	opens_nothing(path, "no socket there");
	snprintf(path, sizeof(path), "@test_notify.%d", getpid());
	notifies(path, true);
	opens_nothing(NULL, "no service manager");
	opens_nothing("", "an empty name");
	memset(path, 'x', 108);
	path[0] = '/';
	path[108] = 0;
	opens_nothing(path, "a name that is too long");
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	notify_open(&n);
	is_u64(n.watchdog_ns, 0, "no watchdog");
	setenv("WATCHDOG_USEC", "30000000", 1);
	notify_open(&n);
	is_u64(n.watchdog_ns, 30000000000ULL, "a watchdog");
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	notify_open(&n);
	is_u64(n.watchdog_ns, 30000000000ULL, "of this process");
	setenv("WATCHDOG_PID", "1", 1);
	notify_open(&n);
	is_u64(n.watchdog_ns, 0, "of another one");
}

int main(void)
{
	test_keeper();
	test_filter();
	test_calls();
	test_hooks();
	test_load_log();
	test_notify();
	if (!machine_enter()) {
		ok(true, "# SKIP user namespaces are not permitted");
		return tap_done();
	}
	test_tracefs();
	test_attaching_without_tracefs();
	test_btf();
	test_page_table();
	return tap_done();
}
