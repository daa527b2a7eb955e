// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which processes -p and --cgroup select on a machine that this test makes: /proc and its
 * processes are files of the test, and functions of the C library lead there.
 */
#include "fakeroot.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "error_output.h"
#include "made_maps.h"
#include "probe/live_load.h"
#include "session/targets.h"

#define MOST	   256
#define INITIAL_NS 0xeffffffcU /* the kernel's number of the initial pid namespace */
#define CHAIN	   70

static struct fs_shared shared;
static struct live live = {.src.live = true, .obj = {.build = OBJECT_HASH, .shared = &shared}};
static struct options o;
static struct session s;
static struct made_map *procs;
static struct fakeroot root;
static bool played;	      /* paths lead to the made files */
static bool no_root, no_proc; /* "/" or "/proc" cannot be opened */
static int entries_left;      /* entries of /proc that are read before an error; -1: no error */
static ino_t namespace;	      /* of pids */
static char proc_of[16];      /* the process that /proc/self leads to; "": /proc has none */
static pid_t protected;	      /* a process that may not be watched */

static bool is_of_proc(const char *path)
{
	return played && !strncmp(path, "/proc", 5) && strncmp(path, "/proc/self/fd/", 14);
}

static int open_real(int dir, const char *path, int flags)
{
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

int open(const char *path, int flags, ...)
{
	if (!played || strcmp(path, "/"))
		return open_real(AT_FDCWD, path, flags);
	if (no_root) {
		errno = EACCES;
		return -1;
	}
	return open_real(root.fd, ".", flags);
}

int openat(int dir, const char *path, int flags, ...)
{
	return is_of_proc(path) ? open_real(root.fd, path + 1, flags) : open_real(dir, path, flags);
}

DIR *opendir(const char *path)
{
	if (no_proc) {
		errno = EACCES;
		return NULL;
	}
	return fdopendir(openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

struct dirent *readdir(DIR *d)
{
	struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");

	if (entries_left < 0 || entries_left--)
		return real(d);
	errno = EIO;
	return NULL;
}

ssize_t readlink(const char *path, char *ret, size_t size)
{
	if (!is_of_proc(path))
		return readlinkat(AT_FDCWD, path, ret, size);
	if (strcmp(path, "/proc/self"))
		return readlinkat(root.fd, path + 1, ret, size);
	if (!proc_of[0]) {
		errno = ENOENT;
		return -1;
	}
	return stpncpy(ret, proc_of, size) - ret;
}

int stat(const char *path, struct stat *st)
{
	if (strcmp(path, "/proc/self/ns/pid"))
		return fstatat(AT_FDCWD, path, st, 0);
	*st = (struct stat){.st_ino = namespace};
	return 0;
}

FILE *fopen(const char *path, const char *mode)
{
	int fd = openat(AT_FDCWD, path,
			mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Reads arguments that a caller may not have given, as the C library's syscall() does. */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
	char path[32];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_pidfd_open)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	snprintf(path, sizeof(path), "proc/%d", (int)a[0]);
	if (a[0] == protected) {
		errno = EPERM;
		return -1;
	}
	return real(SYS_openat, root.fd, path, O_PATH | O_CLOEXEC, 0, 0, 0);
}

static void begin(bool children, const char *cgroup)
{
	made_clear(procs);
	buf_free(&s.out.gaps);
	no_root = no_proc = false;
	entries_left = -1;
	namespace = INITIAL_NS;
	protected = 0;
	snprintf(proc_of, sizeof(proc_of), "%d", getpid());
	o = (struct options){};
	s = (struct session){.o = &o, .in.src = &live.src, .plan.children = children};
	strcpy(o.filter.cgroup, cgroup);
}

/* A process with its parent, whose cgroup is the given text of /proc/PID/cgroup. */
static void add_process(pid_t pid, pid_t ppid, const char *name, const char *cgroup)
{
	char path[64];

	fake_process(&root, pid, ppid, name, 0, cgroup);
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	fake_file(&root, path, "%d (%s) S %d 1 1 0 -1\n", pid, name, ppid);
	snprintf(path, sizeof(path), "proc/%d/exe", pid);
	fake_link(&root, path, "/bin/sh");
}

static bool is_watched(pid_t pid)
{
	struct fs_whole_state whole;

	return !bpf_map_lookup_elem(procs->fd, &pid, &whole);
}

static int watch(pid_t pid, bool children)
{
	begin(children, "");
	o.filter.pid[o.filter.pids++] = pid;
	return targets_watch(&s);
}

/* In a pid namespace, pids of a /proc that belongs to another namespace are those of others. */
static void test_namespaces(void)
{
	static const struct {
		ino_t namespace;
		const char *proc_of; /* NULL: this process */
		int want;
		const char *name;
	} rows[] = {
		{INITIAL_NS, NULL, 0, "no pid namespace"},
		{INITIAL_NS, "", 0, "no pid namespace: /proc need not have this process"},
		{1, NULL, 0, "a pid namespace with its own /proc"},
		{1, "", EXIT_FAILED, "a pid namespace, and /proc does not have this process"},
		{1, "1", EXIT_FAILED, "a pid namespace, and /proc has it by another pid"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(false, "");
		namespace = rows[i].namespace;
		if (rows[i].proc_of)
			strcpy(proc_of, rows[i].proc_of);
		o.filter.pid[o.filter.pids++] = 100;
		errors_begin();
		is_u64(targets_watch(&s), rows[i].want, rows[i].name);
		errors_are(rows[i].want
				   ? "faultscope: -p: /proc belongs to another pid namespace\n"
				     "  mount /proc of this one: unshare -p -f --mount-proc …\n"
				   : "",
			   "and says so");
		is_u64(procs->n, !rows[i].want, "processes that are watched");
	}
}

static void test_threads(void)
{
	fake_file(&root, "proc/130/status", "Name:\tx\\nTgid:\t7\nTgid:\t100\nPid:\t130\n");
	is_u64(watch(130, false), 0, "a thread");
	ok(is_watched(100) && procs->n == 1, "its process is watched");
	fake_file(&root, "proc/131/status", "Name:\tTgid:\t7\n");
	is_u64(watch(131, false), 0, "a process whose name looks like a line of the status");
	ok(is_watched(131) && procs->n == 1, "it is watched itself");
}

/* Up to 64 generations are searched, so that damaged data cannot make an endless loop. */
static void test_descendants(void)
{
	for (pid_t i = 0; i < CHAIN; i++)
		add_process(1000 + i, i ? 999 + i : 1, "a) S 1 (b", "0::/chain\n");
	add_process(1200, 0, "swapper", "0::/\n");
	fake_file(&root, "proc/1201/stat", "1201 (cut");
	fake_file(&root, "proc/1202/stat", "1202 (cut) S");
	is_u64(watch(1000, true), 0, "a process with its descendants");
	ok(is_watched(1000) && is_watched(1001), "itself, and its child");
	ok(is_watched(1064), "64 generations below");
	ok(!is_watched(1065), "no more");
	is_u64(procs->n, 65, "no other process");
	is_u64(watch(1069, true), 0, "a process without children");
	is_u64(procs->n, 1, "is watched alone");
	is_u64(watch(1068, false), 0, "a process without its child");
	is_u64(procs->n, 1, "is watched alone");
	is_u64(watch(1, true), 0, "pid 1");
	ok(is_watched(1000) && is_watched(1063) && !is_watched(1064), "with all below it");
	ok(!is_watched(1200) && !is_watched(1201) && !is_watched(1202),
	   "not those without a parent, or with damaged data");
}

static void test_cgroups(void)
{
	char path[64];

	add_process(200, 1, "both", "4:memory:/old\n0::/new\n");
	add_process(201, 1, "below", "0::/new/part\n");
	add_process(202, 1, "like", "0::/newer\n");
	add_process(203, 1, "colon", "1:name=systemd:/a:b\n");
	add_process(204, 1, "damaged", "/new\n0:/new\n");
	add_process(205, 1, "kthread", "0::/new\n");
	fake_remove(&root, "proc/205/exe");
	add_process(206, 1, "hidden", "0::/new\n");
	fake_remove(&root, "proc/206/exe");
	fake_file(&root, "proc/206/exe", "no link, so that readlink(2) fails otherwise");
	add_process(getpid(), 1, "faultscope", "0::/new\n");
	begin(true, "/new");
	errors_begin();
	is_u64(targets_watch(&s), 0, "a cgroup");
	errors_are("", "no error");
	ok(is_watched(200), "a process in it, in one of its hierarchies");
	ok(is_watched(201), "a process below it");
	ok(!is_watched(202), "not one in a cgroup with a longer name");
	ok(!is_watched(204), "not one with damaged data");
	ok(!is_watched(205), "not a kernel thread, which has no program");
	ok(is_watched(206), "a process whose program may not be asked for");
	ok(!is_watched(getpid()), "not faultscope itself");
	is_u64(procs->n, 3, "no other");
	begin(true, "/old");
	is_u64(targets_watch_cgroup(&s), 1, "a cgroup of the other hierarchy");
	ok(is_watched(200), "the same process");
	begin(true, "/a:b");
	is_u64(targets_watch_cgroup(&s), 1, "a name with a colon");
	ok(is_watched(203), "its process");
	begin(true, "/none");
	errors_begin();
	is_u64(targets_watch(&s), EXIT_NO_TARGET, "a cgroup without a process");
	errors_are("faultscope: --cgroup /none: no process in this cgroup\n", "is named");
	is_u64(procs->n, 0, "nothing is watched");
	snprintf(path, sizeof(path), "proc/%d/cgroup", getpid());
	fake_remove(&root, path);
}

/* If processes could not be watched, the result says that something may be missing. */
static void test_gaps(void)
{
	begin(true, "/new");
	protected = 201;
	is_u64(targets_watch_cgroup(&s), 2, "processes that can be watched");
	is_str(s.out.gaps.s, "not watched: processes of the cgroup: Operation not permitted\n",
	       "another cannot");
	begin(true, "/a:b");
	protected = 203;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_FAILED, "if none can be watched, nothing is");
	errors_are("faultscope: not watched: processes of the cgroup: Operation not permitted\n",
		   "for this reason, not since the cgroup is empty");
	begin(true, "/new");
	no_proc = true;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_FAILED, "/proc cannot be opened");
	errors_are("faultscope: not watched: processes of the cgroup: Permission denied\n",
		   "the reason is named");
	begin(true, "/new");
	entries_left = 0;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_FAILED, "/proc cannot be read");
	errors_are("faultscope: not watched: processes of the cgroup: Input/output error\n",
		   "the reason is named");
	begin(true, "");
	no_proc = true;
	o.filter.pid[o.filter.pids++] = 100;
	is_u64(targets_watch(&s), 0, "a process whose children cannot be listed");
	is_str(s.out.gaps.s, "not watched: child processes: Permission denied\n", "a gap");
	begin(false, "");
	protected = 100;
	o.filter.pid[o.filter.pids++] = 100;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_FAILED, "a process that may not be watched");
	errors_are("faultscope: cannot watch process 100: Operation not permitted\n", "is named");
}

static void find(const char *cgroup, int want, const char *text, const char *name)
{
	errors_begin();
	strcpy(o.filter.cgroup, cgroup);
	is_u64(targets_find_cgroup(&s), want, name);
	errors_are(text, "what is said");
}

#define HINT "  list cgroups: systemd-cgls, or cat /proc/PID/cgroup\n"

/* A name that is mistyped is an error before anything is loaded. */
static void test_find_cgroup(void)
{
	fake_file(&root, "proc/self/mountinfo",
		  "31 30 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	fake_file(&root, "sys/fs/cgroup/web.slice/a/cgroup.procs", "\n");
	fake_file(&root, "sys/fs/cgroup/web.slice/b/cgroup.procs", "\n");
	begin(false, "");
	find("/web.slice/a", 0, "", "a cgroup that exists");
	find("/web.slice/c", EXIT_NO_TARGET,
	     "faultscope: --cgroup /web.slice/c: no such cgroup\n  /web.slice has: a, b\n" HINT,
	     "a name that is mistyped");
	find("/web.slice/a/c", EXIT_NO_TARGET,
	     "faultscope: --cgroup /web.slice/a/c: no such cgroup\n  /web.slice/a has: no "
	     "cgroup\n" HINT,
	     "below a cgroup without others");
	find("/newe", EXIT_NO_TARGET,
	     "faultscope: --cgroup /newe: no such cgroup\n  / has: web.slice\n" HINT,
	     "the begin of the name of a cgroup");
	find("/newer", 0, "", "a cgroup without a directory here, but with a process");
	find("", 0, "", "no cgroup was named");
	namespace = 1;
	find("/web.slice/c", 0, "", "in a pid namespace, cgroups of the host may be invisible");
	namespace = INITIAL_NS;
	no_root = true;
	find("/web.slice/c", 0, "", "/ cannot be opened");
	no_root = false;
	no_proc = true;
	find("/web.slice/c", 0, "", "/proc cannot be listed: a process may be in the cgroup");
	no_proc = false;
	find("/web.slice/c", EXIT_NO_TARGET,
	     "faultscope: --cgroup /web.slice/c: no such cgroup\n  /web.slice has: a, b\n" HINT,
	     "all can be read again");
}

/* Programs of 64 bits are known by the first bytes of their file. */
static void test_native(void)
{
	static const struct {
		const char *head;
		bool want;
		const char *name;
	} rows[] = {
		{"\177ELF\2\1\1", true, "a program of 64 bits"},
		{"\177ELF\1\1\1", false, "a program of 32 bits"},
		{"\177ELF\2", true, "no more than the class is read"},
		{"\177ELF", false, "a file that is cut off"},
		{"", false, "an empty file"},
	};

	begin(false, "");
	ok(targets_are_native(&o), "no process is known not to be native");
	o.filter.pid[o.filter.pids++] = 300;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_file(&root, "proc/300/exe", "%s", rows[i].head);
		ok(targets_are_native(&o) == rows[i].want, "%s", rows[i].name);
	}
	o.filter.pid[o.filter.pids++] = 301;
	fake_file(&root, "proc/300/exe", "%s", rows[0].head);
	fake_file(&root, "proc/301/exe", "%s", rows[1].head);
	ok(!targets_are_native(&o), "one of two");
	fake_file(&root, "proc/301/exe", "%s", rows[0].head);
	ok(targets_are_native(&o), "both");
}

static void test_filtered(void)
{
	static const bool want[] = {false, false, true, false};

	begin(false, "");
	ok(!targets_are_filtered(&o), "no process");
	o.filter.pid[o.filter.pids++] = 100;
	o.filter.pid[o.filter.pids++] = 310;
	for (int mode = 0; mode < 4; mode++) {
		fake_file(&root, "proc/310/status", "Name:\tx\nSeccomp:\t%d\nThreads:\t2\n", mode);
		ok(targets_are_filtered(&o) == want[mode], "the second process has the mode %d",
		   mode);
	}
}

int main(void)
{
	root = fakeroot_make();
	procs = made_map("procs", 0, sizeof(pid_t), sizeof(struct fs_whole_state), MOST);
	add_process(1, 0, "init", "0::/\n");
	add_process(100, 1, "a", "0::/one\n");
	played = true;
	test_namespaces();
	test_threads();
	test_descendants();
	test_cgroups();
	test_gaps();
	test_find_cgroup();
	test_native();
	test_filtered();
	played = false;
	begin(false, "");
	fakeroot_free(&root);
	return tap_done();
}
