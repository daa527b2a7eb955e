// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what faultscope says about a kernel that refuses BPF programs or their attachment: for each
 * set of capabilities, with lockdown, with a seccomp filter, and before Linux 5.11. The answers of
 * the kernel are those of this test, so that it runs as any user.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "probe/permission.h"
#include "tap.h"

#define INITIAL_USER_NS 0xeffffffdU
#define BOTH		(1ULL << CAP_BPF | 1ULL << CAP_PERFMON)
#define ADMIN		(1ULL << CAP_SYS_ADMIN)

static struct {
	unsigned long long has; /* effective capabilities: bits 1 << CAP_* */
	bool in_user_namespace;
	const char *lockdown, *paranoid; /* texts of files; NULL: there is no such file */
	const char *status;		 /* of this process */
	int bpf_error;			 /* errno of the call that needs no capabilities */
	bool lacks_reads;		 /* the kernel refuses bpf_probe_read_kernel() */
	bool lacks_storage;
	rlim_t locked_bytes;
	int rlimit_error;
	int events_error; /* errno of the directory of tracefs; 0: it is there */
} kernel;

/* If a call succeeds, errno is the one of an earlier call. */
static int fails(int number)
{
	errno = number ? number : EPERM;
	return number ? -1 : 0;
}

int cap_get_flag(cap_t caps, cap_value_t one, cap_flag_t flag, cap_flag_value_t *ret)
{
	(void)caps;
	*ret = flag == CAP_EFFECTIVE && kernel.has >> one & 1 ? CAP_SET : CAP_CLEAR;
	return 0;
}

int stat(const char *path, struct stat *ret)
{
	if (strcmp(path, "/proc/self/ns/user") != 0)
		return fails(ENOENT);
	memset(ret, 0, sizeof(*ret));
	ret->st_ino = kernel.in_user_namespace ? 4026532000 : INITIAL_USER_NS;
	return 0;
}

int openat(int dir, const char *path, int flags, ...)
{
	const char *text = NULL;
	int fd;

	(void)dir, (void)flags;
	if (!strcmp(path, "/sys/kernel/security/lockdown"))
		text = kernel.lockdown;
	if (!strcmp(path, "/proc/sys/kernel/perf_event_paranoid"))
		text = kernel.paranoid;
	if (!text)
		return fails(ENOENT);
	fd = memfd_create("text", MFD_CLOEXEC);
	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

FILE *fopen(const char *path, const char *mode)
{
	static char text[128];
	char own[64];

	(void)mode;
	snprintf(own, sizeof(own), "/proc/%d/status", (int)getpid());
	if (strcmp(path, own) != 0 || !kernel.status) {
		errno = ENOENT;
		return NULL;
	}
	snprintf(text, sizeof(text), "%s", kernel.status);
	return fmemopen(text, strlen(text), "r");
}

long syscall(long number, ...)
{
	const union bpf_attr *attr;
	va_list args;
	int command;
	size_t size;

	va_start(args, number);
	command = va_arg(args, int);
	attr = va_arg(args, const union bpf_attr *);
	size = va_arg(args, size_t);
	va_end(args);
	if (number != SYS_bpf)
		return fails(ENOSYS);
	if (command == BPF_PROG_LOAD && kernel.lacks_reads)
		return fails(EINVAL);
	if (command == BPF_PROG_LOAD)
		return memfd_create("program", MFD_CLOEXEC);
	/* with a file, or with a size that it does not know, the kernel does not even look */
	if (command != BPF_OBJ_GET_INFO_BY_FD || attr->info.bpf_fd != (__u32)-1 ||
	    size != sizeof(*attr))
		return fails(E2BIG);
	return fails(kernel.bpf_error);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *ret)
{
	*ret = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	if (resource == RLIMIT_MEMLOCK)
		ret->rlim_cur = kernel.locked_bytes;
	return fails(kernel.rlimit_error);
}

int libbpf_probe_bpf_map_type(enum bpf_map_type type, const void *opts)
{
	(void)opts;
	return type != BPF_MAP_TYPE_TASK_STORAGE || !kernel.lacks_storage;
}

int access(const char *path, int mode)
{
	if (strcmp(path, "/sys/kernel/tracing/events") != 0 || mode != F_OK)
		return fails(EINVAL);
	return fails(kernel.events_error);
}

/* A kernel that takes all programs of a user with these capabilities. */
static void begin(unsigned long long has)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.has = has;
	kernel.bpf_error = EBADF;
	kernel.locked_bytes = 65536;
	kernel.status = "Name:\ttest\nSeccomp:\t0\nSeccomp_filters:\t0\n";
}

static char error[1024];

/* Returns the explanation of a load that failed. */
static const char *explained(int err, const char *log, int want)
{
	int got;

	memset(error, 0, sizeof(error));
	got = permission_explain(err, log, error, sizeof(error));
	if (got != want)
		ok(false, "%d instead of %d: %s", got, want, error);
	return error;
}

static void says(int err, const char *log, int want, const char *begins, const char *name)
{
	const char *text = explained(err, log, want);

	ok(!strncmp(text, begins, strlen(begins)), "%s: %s", name, text);
}

#define REFUSED "cannot load BPF programs: not permitted\n"

static void test_capabilities(void)
{
	static const struct {
		unsigned long long has;
		const char *had; /* NULL: they suffice */
	} rows[] = {
		{0, "with neither CAP_BPF nor CAP_PERFMON; needed"},
		{1ULL << CAP_BPF, "with CAP_BPF only; needed"},
		{1ULL << CAP_PERFMON, "with CAP_PERFMON only; needed"},
		{1ULL << CAP_SYS_RESOURCE, "with neither CAP_BPF nor CAP_PERFMON; needed"},
		{BOTH, NULL},
		{ADMIN, NULL},
		{ADMIN | 1ULL << CAP_BPF, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text;
		bool lacks = rows[i].had;

		begin(rows[i].has);
		ok(permission_is_total(-EPERM) == lacks && permission_is_total(-EACCES) == lacks &&
			   permission_is_total(-EINVAL) == lacks,
		   "%#llx: nothing can be loaded: %d", rows[i].has, lacks);
		ok(!permission_is_total(-ENOENT) && !permission_is_total(0),
		   "other errors are of one program");
		text = explained(-EACCES, "", -EPERM);
		ok(lacks ? !strncmp(text, REFUSED, strlen(REFUSED)) && strstr(text, rows[i].had)
			 : !strncmp(text, "the kernel refused the BPF programs: Perm", 41),
		   "it says: %s", text);
	}
}

static void test_user_namespace(void)
{
	char own[32];

	snprintf(own, sizeof(own), "you are uid %d of a user ", (int)geteuid());
	begin(BOTH | ADMIN);
	kernel.in_user_namespace = true;
	ok(permission_is_total(-EPERM), "capabilities of a user namespace do not count");
	ok(strstr(explained(-EPERM, "", -EPERM), own) != NULL, "this is told: %s", error);
	ok(strstr(explained(-EINVAL, "", -EPERM), own) != NULL, "also if no BTF was taken");
	says(-ENOENT, "", -ENOSYS, "the kernel refused the BPF programs: No such", "no refusal");
}

static void test_lockdown(void)
{
	static const struct {
		const char *text, *mode;
		bool locked;
	} rows[] = {
		{"none integrity [confidentiality]\n", "confidentiality", true},
		{"none [integrity] confidentiality\n", "integrity", false},
		{"[none] integrity confidentiality\n", "none", false},
		{"none integrity confidentiality\n", "", false},
		{"none [confidentiality", "", false},
		{"none] integrity\n", "", false},
		{NULL, "", false},
	};
	char mode[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(BOTH);
		kernel.lockdown = rows[i].text;
		permission_lockdown(mode, sizeof(mode));
		is_str(mode, rows[i].mode, rows[i].text ? rows[i].text : "no lockdown");
		ok(permission_is_locked(false) == rows[i].locked, "locked: %d", rows[i].locked);
	}
	memset(mode, 'x', sizeof(mode));
	kernel.lockdown = "[integrity]";
	permission_lockdown(mode, 4);
	ok(!strcmp(mode, "int") && mode[4] == 'x', "a small buffer is not exceeded");
	begin(BOTH);
	kernel.lacks_reads = true;
	ok(!permission_is_locked(false), "before a program is refused, none is tried");
	ok(permission_is_locked(true), "a kernel that lets no program read memory is locked");
	says(-EINVAL, "a log", -ENOSYS, "kernel lockdown is in `confidentiality` mode", "a log");
	says(-EINVAL, "", -ENOSYS, "the kernel refused the BPF programs: Inv", "no program failed");
	kernel.lacks_reads = false;
	ok(!permission_is_locked(true), "a kernel that lets programs read memory is not");
	kernel.lockdown = "none integrity [confidentiality]\n";
	says(-EPERM, "", -ENOSYS, "kernel lockdown is in `confidentiality` mode", "mode is shown");
}

static void test_exhausted(void)
{
	begin(0);
	kernel.lockdown = "[confidentiality]";
	says(-ENOMEM, "", -ENOMEM,
	     "cannot load BPF programs: ", "no memory is no question of mode");
	says(-EMFILE, "a log", -EMFILE, "cannot load BPF programs: ", "nor are too many files");
}

#define LOCKED_MEMORY "cannot make BPF maps: before 5.11 they count as locked memory, and "

static void test_locked_memory(void)
{
	begin(BOTH);
	kernel.lacks_storage = true;
	says(-EPERM, "", -EPERM, LOCKED_MEMORY "RLIMIT_MEMLOCK is 64 KiB\n", "an old kernel");
	kernel.locked_bytes = 2047;
	says(-EPERM, "", -EPERM, LOCKED_MEMORY "RLIMIT_MEMLOCK is 1 KiB\n", "a whole KiB");
	says(-EACCES, "", -EPERM, "the kernel refused the BPF programs: Perm", "another error");
	kernel.locked_bytes = RLIM_INFINITY;
	says(-EPERM, "", -EPERM, "the kernel refused the BPF programs: Op", "without a limit");
	kernel.locked_bytes = 65536;
	kernel.rlimit_error = EPERM;
	says(-EPERM, "", -EPERM, "the kernel refused the BPF programs: Op", "a limit not known");
	kernel.rlimit_error = 0;
	kernel.lacks_storage = false;
	says(-EPERM, "", -EPERM, "the kernel refused the BPF programs: Op", "from 5.11 on");
	kernel.lacks_storage = true;
	kernel.status = "Seccomp:\t2\n";
	kernel.bpf_error = EPERM;
	says(-EPERM, "", -EPERM, "cannot load BPF programs: a seccomp filter refuses bpf(2): Op",
	     "a seccomp filter comes first");
}

static void test_filter(void)
{
	static const struct {
		const char *status;
		bool filtered;
	} rows[] = {
		{"Seccomp:\t2\nSeccomp_filters:\t1\n", true},
		{"Name:\tx\nUid:\t0\t0\nSeccomp:\t2\n", true},
		{"Seccomp:\t0\nSeccomp_filters:\t2\n", false},
		{"Seccomp:\t1\n", false},
		{"Seccomp_filters:\t2\n", false},
		{"NoNewPrivs:\t2\n", false},
		{NULL, false},
	};
	static const struct {
		int bpf_error;
		const char *filtered, *plain;
	} calls[] = {
		{0, "the kernel refused the", "the kernel refused the"},
		{EBADF, "the kernel refused the", "the kernel refused the"},
		{EBADFD, "the kernel refused the", "the kernel refused the"},
		{EPERM, "cannot load BPF programs: a seccomp filter refuses bpf(2): Operation not",
		 "the kernel refused the"},
		{EACCES, "cannot load BPF programs: a seccomp filter refuses bpf(2): Permission",
		 "the kernel refused the"},
	};

	begin(BOTH);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		kernel.status = rows[i].status;
		ok(permission_is_filtered(getpid()) == rows[i].filtered, "filtered: %d: %s",
		   rows[i].filtered, rows[i].status ? rows[i].status : "no such process");
	}
	kernel.status = "Seccomp:\t2\n";
	ok(!permission_is_filtered(getpid() + 1), "the file of this process alone is read");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		begin(BOTH);
		kernel.bpf_error = calls[i].bpf_error;
		says(-ENOENT, "", -ENOSYS, calls[i].plain, "without a filter");
		kernel.status = "Seccomp:\t2\n";
		says(-ENOENT, "",
		     calls[i].bpf_error == EPERM || calls[i].bpf_error == EACCES ? -EPERM : -ENOSYS,
		     calls[i].filtered, "with a filter");
	}
	begin(BOTH);
	kernel.bpf_error = ENOSYS;
	says(-ENOSYS, "", -ENOSYS, "this kernel has no bpf(2)", "a kernel without bpf(2)");
	kernel.status = "Seccomp:\t2\n";
	says(-ENOSYS, "", -EPERM, "cannot load BPF programs: a seccomp filter refuses bpf(2): Func",
	     "a filter can look the same");
}

#define POLICY	 "not permitted by this kernel's policy (EPERM)"
#define PARANOID "kernel.perf_event_paranoid above 2 wants CAP_SYS_ADMIN (EPERM)"

static void attach_says(const char *mechanism, const char *text, const char *remedy)
{
	struct answer a = permission_attach_answer(mechanism, -EPERM);

	is_str(a.text, text, mechanism);
	ok(remedy ? a.remedy && !strncmp(a.remedy, remedy, strlen(remedy)) : !a.remedy,
	   "what to do: %s", a.remedy ? a.remedy : "nothing");
}

static void test_attaching(void)
{
	static const char *const events[] = {"kprobe", "kretprobe", "kprobe_multi", "perf_event",
					     "memcg"};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		begin(BOTH);
		kernel.paranoid = "3\n";
		attach_says(events[i], PARANOID, "sysctl -w kernel.perf_event_paranoid=2");
		kernel.paranoid = "2\n";
		attach_says(events[i], POLICY, NULL);
		kernel.paranoid = NULL;
		attach_says(events[i], POLICY, NULL);
		kernel.paranoid = "4\n";
		kernel.has |= ADMIN;
		attach_says(events[i], POLICY, NULL);
	}
	begin(BOTH);
	kernel.paranoid = "3\n";
	attach_says("fentry", POLICY, NULL);
	attach_says("raw_tracepoint", POLICY, NULL);
	attach_says("tracepoint", PARANOID, "sysctl");
	kernel.events_error = ENOENT;
	attach_says("tracepoint", "tracefs is not mounted at /sys/kernel/tracing (EPERM)", "mount");
	attach_says("kprobe", PARANOID, "sysctl");
	kernel.events_error = EACCES;
	attach_says("tracepoint", PARANOID, "sysctl");
	kernel.paranoid = "2\n";
	attach_says("tracepoint", "not permitted (tracefs wants CAP_DAC_READ_SEARCH) (EPERM)",
		    "sudo");
}

int main(void)
{
	test_capabilities();
	test_user_namespace();
	test_lockdown();
	test_exhausted();
	test_locked_memory();
	test_filter();
	test_attaching();
	return tap_done();
}
