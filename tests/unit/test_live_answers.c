// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what the live source uses on kernels that lack a feature or forbid it: another build,
 * another attach type, or an error with its reason. bpf(2) and uname(2) are played.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <sys/utsname.h>

#include "live_machine.h"
#include "probe/layout.h"

#define NO_REFUSAL "R0 !read_ok"

static const char *release = "6.18.0";
static int map_type = 1, has_loop = 1; /* 1: the kernel has it; 0: it has not */
static int link_answer;		       /* errno of links to no function; 0: as played */
static bool nested;		       /* faultscope is in a pid namespace */
static unsigned int asked;	       /* number of questions for map types */

int uname(struct utsname *un)
{
	memset(un, 0, sizeof(*un));
	snprintf(un->release, sizeof(un->release), "%s", release);
	strcpy(un->machine, "x86_64");
	return 0;
}

int stat(const char *path, struct stat *st)
{
	if (!strcmp(path, "/proc/self/ns/pid")) {
		st->st_ino = nested ? 1 : 0xeffffffcU;
		return 0;
	}
	return fstatat(AT_FDCWD, path, st, 0);
}

int libbpf_probe_bpf_map_type(enum bpf_map_type type, const void *opts)
{
	(void)type, (void)opts;
	asked++;
	return map_type;
}

int libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id helper, const void *opts)
{
	(void)type, (void)helper, (void)opts;
	return has_loop;
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	static int (*real)(int, int, enum bpf_attach_type, const struct bpf_link_create_opts *);

	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "bpf_link_create");
	if (link_answer && type == BPF_TRACE_KPROBE_MULTI && !opts->kprobe_multi.cnt) {
		errno = link_answer;
		return -link_answer;
	}
	return real(prog_fd, target_fd, type, opts);
}

static int types_error; /* errno of opening the kernel's types; 0: they can be opened */

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list list;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	if (!types_error || strcmp(path, LIVE_BTF) != 0)
		return openat(AT_FDCWD, path, flags, mode);
	errno = types_error;
	return -1;
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) =
		(FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");

	if (!types_error || strcmp(path, LIVE_BTF) != 0)
		return real(path, mode);
	errno = types_error;
	return NULL;
}

/* ---- returns of functions ---- */

/* Checks which attach type of calls is used, and why it is not the best one. */
static void calls_use(const char *mechanism, const char *why)
{
	if (!ok(!load(), "kernel %s: it is loaded %s", release, error))
		return;
	is_str(used("calls"), mechanism, "the attach type of calls");
	is_str(status("calls")->why, why, "the reason");
	unload();
}

/* The kernels of 6.14 and later have no limit, if they can trace returns at all. */
static void test_unlimited_returns(void)
{
	begin();
	if (!live_name("hlist_array"))
		ok(true, "# SKIP the types of this kernel have no such list");
	else
		calls_use(CALL_RETURNS, "");
}

static void test_returns(void)
{
	begin();
	link_answer = EOPNOTSUPP;
	calls_use("tracepoint", CALL_RETURNS ": " NO_RETURNS);
	link_answer = 0;
	live_remove_name("hlist_array");
	calls_use("tracepoint", CALL_RETURNS ": " FEW_RETURNS);
	force("calls", CALL_RETURNS);
	calls_use(CALL_RETURNS, "");
	release = "6.7.1";
	calls_use(CALL_RETURNS, "");
	release = "6.6.99";
	calls_use("", CALL_RETURNS ": " UNCOUNTED_RETURNS);
	begin();
	calls_use("tracepoint", CALL_RETURNS ": " UNCOUNTED_RETURNS);
	live_remove_name(NULL);
	test_unlimited_returns();
	release = "6.18.0";
}

/* ---- types that the kernel lacks ---- */

static void test_types(void)
{
	begin();
	live_remove_name("run_delay");
	if (ok(!load(), "a kernel that counts no delays %s", error))
		is_str(used("disk_wait"), "tp_btf", "disk waits by switches");
	is_str(status("disk_wait")->why, SCHEDULER_COUNTERS ": " NO_DELAYS, "the reason");
	unload();
	live_remove_name("btf_trace_signal_generate");
	if (ok(!load(), "a kernel without a tracepoint %s", error))
		is_u64(status("signal")->state, HOOK_BLIND, "its probe is unavailable");
	ok(!strncmp(status("signal")->why, "tp_btf: this kernel has no such function or tracepoint",
		    30),
	   "%s", status("signal")->why);
	is_str(used("log"), "tp_btf", "others are on");
	unload();
	live_remove_name(NULL);
}

static void test_iterators(void)
{
	begin();
	live_remove_name("bpf_iter_task_new");
	played_fail(PLAYED_PROGRAM, "look_syscall", 0, E2BIG);
	if (ok(!load(), "a kernel without iterators %s", error)) {
		is_str(used("scan"), "iter/task", "another scan");
		is_str(status("scan")->why,
		       "task-iterator: this kernel has no open-coded iterators (6.7)",
		       "the reason");
		is_str(used("state"), "task-storage", "state stays as it is");
		ok(live_of_test()->obj.build == OBJECT_PLAIN, "the build without iterators");
	}
	unload();
	live_remove_name(NULL);
}

/* ---- features that are asked for after a refusal ---- */

/* The kernel refuses the program of fault_end, since it lacks a feature of the whole build. */
static void falls_back(const char *why)
{
	char want[128];

	begin();
	played_fail(PLAYED_PROGRAM, "on_memcg_event", 0, E2BIG);
	snprintf(want, sizeof(want), "task-storage: %s", why);
	if (ok(!load(), "the build for old kernels is loaded %s", error)) {
		is_str(used("state"), "hash", "hash tables");
		is_str(status("state")->why, want, "the reason");
		ok(live_of_test()->obj.build == OBJECT_HASH, "of the build for old kernels");
		is_str(used("fault_end"), "perf_event", "whose program is refused too");
		ok(strstr(status("fault_end")->why, NO_REFUSAL), "%s", status("fault_end")->why);
	}
	unload();
}

static void test_features(void)
{
	asked = 0;
	map_type = 0;
	falls_back("this kernel has no task storage for tracing (5.12)");
	is_u64(asked, 1, "the kernel is asked once");
	map_type = 1;
	has_loop = 0;
	falls_back("this kernel lacks helpers it needs (5.17)");
	has_loop = 1;
	begin();
	played_fail(PLAYED_PROGRAM, "on_memcg_event", 0, E2BIG);
	if (ok(!load(), "a kernel with all features"))
		is_str(used("state"), "task-storage", "the build stays");
	unload();
}

/* The maps of the core probes stay, so that another build cannot be loaded later. */
static void test_too_late(void)
{
	const struct sink none = {};
	size_t fds = played_fds();

	begin();
	wish.defers = true;
	if (!ok(!load(), "core probes are loaded"))
		return;
	map_type = 0;
	played_fail(PLAYED_PROGRAM, "on_memcg_event", 0, E2BIG);
	is_u64(live_load_deferred(src, &none, error, sizeof(error)), (uint64_t)-ENOSYS,
	       "another build is too late");
	ok(!strncmp(error, "the kernel refused the BPF programs: Operation not supported", 60),
	   "%s", error);
	map_type = 1;
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

static void test_exhausted_later(void)
{
	const struct sink none = {};

	begin();
	wish.defers = true;
	if (!ok(!load(), "core probes are loaded"))
		return;
	asked = 0;
	played_fail(PLAYED_PROGRAM, "on_memcg_event", 0, ENOMEM);
	is_u64(live_load_deferred(src, &none, error, sizeof(error)), (uint64_t)-ENOMEM,
	       "memory runs out");
	ok(strstr(error, "ENOMEM") && !asked, "no feature is missing: %s", error);
	unload();
}

/* If memory or files run out while the kernel's types are read, no other build is tried. */
static void test_exhausted_types(void)
{
	static const int numbers[] = {ENOMEM, EMFILE, ENFILE};
	char want[96];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t fds = played_fds();

		begin();
		asked = 0;
		types_error = numbers[i];
		is_u64(-load(), numbers[i], "the kernel's types cannot be opened");
		types_error = 0;
		snprintf(want, sizeof(want), "cannot load BPF programs: %s (",
			 strerror(numbers[i]));
		ok(!strncmp(error, want, strlen(want)) && !asked && !src, "%s", error);
		is_u64(played_fds(), fds, "no file is left");
	}
	begin();
	if (ok(!load(), "later, they can %s", error))
		unload();
}

/* ---- pid namespaces ---- */

static void test_nested(void)
{
	size_t fds = played_fds();

	nested = true;
	begin();
	force("scan", "/proc");
	is_u64(load(), (uint64_t)-ENOSYS, "in a pid namespace, /proc is no scan");
	ok(!strncmp(error, "in a pid namespace processes are looked at by BPF iterators", 59) &&
		   strstr(error, "try:  outside of it"),
	   "%s", error);
	ok(!src, "there is no source");
	is_u64(played_fds(), fds, "no file is left");
	begin();
	if (ok(!load(), "iterators are %s", error))
		ok(live_of_test()->nested && live_of_test()->obj.shared, "of this namespace");
	unload();
	begin();
	played_fail(PLAYED_PROGRAM, OWN_PID, 0, E2BIG);
	is_u64(load(), (uint64_t)-ENOSYS, "a program of no probe is needed");
	ok(!strncmp(error, "the kernel refused the BPF programs: ", 37), "%s", error);
	is_u64(played_fds(), fds, "no file is left");
	nested = false;
	if (ok(!load(), "outside of it, that program is not loaded %s", error))
		unload();
	begin();
	force("scan", "/proc");
	if (ok(!load(), "nor is /proc a fault %s", error))
		is_str(used("scan"), "/proc", "it is scanned");
	unload();
}

/* ---- when the fork probe was attached ---- */

static void test_exact(void)
{
	begin();
	if (ok(!load(), "with lifecycle"))
		ok(live_of_test()->exact_ns && live_of_test()->exact_ns < UINT64_MAX,
		   "the time since when each fork was seen");
	unload();
	begin();
	force("lifecycle", "none");
	if (ok(!load(), "without lifecycle"))
		is_u64(live_of_test()->exact_ns, UINT64_MAX, "there is no such time");
	unload();
}

/* ---- lockdown ---- */

static void is_locked(int err)
{
	is_u64(err, (uint64_t)-ENOSYS, "nothing is loaded");
	ok(!strncmp(error, "kernel lockdown is in `confidentiality` mode", 44) && !src, "%s",
	   error);
}

/* For `doctor`, each probe says that the kernel is locked. */
static void test_examined(void)
{
	wish.examines = true;
	if (!ok(!load(), "doctor examines the machine nevertheless %s", error))
		return;
	is_str(used("scan"), "/proc", "without programs");
	is_u64(status("calls")->state, HOOK_BLIND, "probes are unavailable");
	ok(strstr(status("calls")->why, permission_locked.text), "since %s", status("calls")->why);
	is_u64(played_open(PLAYED_LINK), 0, "nothing is attached");
	ok(live_of_test()->locked, "it is noted");
	unload();
}

static void test_lockdown(void)
{
	machine_empty("/sys/kernel/security");
	machine_write("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	begin();
	is_locked(load());
	test_examined();
	machine_write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	begin();
	if (ok(!load(), "this lockdown permits reads %s", error))
		is_str(used("scan"), "task-iterator", "as without it");
	unload();
	/* a kernel that does not show its lockdown: no program that reads memory is loaded */
	begin();
	played_fail(PLAYED_PROGRAM, NULL, 20, EINVAL);
	is_locked(load());
}

/* ---- a kernel without BTF ---- */

static void test_no_btf(void)
{
	const char *path = live_types_file("given");
	size_t fds = played_fds();

	machine_empty("/sys/kernel/btf");
	begin();
	is_u64(load(), (uint64_t)-ENOSYS, "a kernel without BTF");
	ok(!strncmp(error, "this kernel has no BTF", 22) && !src, "%s", error);
	wish.btf_path = path;
	if (!ok(!load(), "with a file of its BTF %s", error))
		return;
	is_str(status("state")->why, "task-storage: needs the kernel's own BTF", "hash tables");
	is_str(used("lifecycle"), "raw_tp", "attach types without ids of types");
	is_str(status("lifecycle")->why, "tp_btf: needs the kernel's own BTF", "the reason");
	is_str(used("signal"), "raw_tp", "of each probe");
	is_str(used("oom"), "raw_tp", "a probe that needs none");
	is_str(status("oom")->why, "", "is as good as before");
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

int main(void)
{
#ifdef __x86_64__
	if (live_make_machine()) {
		test_unlimited_returns();
		test_returns();
		test_types();
		test_iterators();
		test_features();
		test_too_late();
		test_exhausted_later();
		test_exhausted_types();
		test_nested();
		test_exact();
		test_lockdown();
		test_no_btf();
		free(live_types);
		return tap_done();
	}
#endif
	ok(true, "# SKIP no types of the kernel, no tracefs, or no user namespaces");
	return tap_done();
}
