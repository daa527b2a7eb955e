// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what src/probe derives from tables and small facts: calls of which only failures matter,
 * stacks that a scan grants, releases of the kernel, and which lines of libbpf are kept.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "probe/calls.h"
#include "probe/growth_table.h"
#include "probe/host_facts.h"
#include "probe/load_log.h"
#include "tap.h"

static const char *release;

int uname(struct utsname *un)
{
	memset(un, 0, sizeof(*un));
	snprintf(un->release, sizeof(un->release), "%s", release);
	strcpy(un->machine, "a machine");
	strcpy(un->nodename, "a name");
	return 0;
}

/* ---- calls of which only failures matter ---- */

static void test_failures_only(void)
{
	static struct fs_config c;

	memset(&c, 0, sizeof(c));
	calls_fill(&c);
	ok(c.failures_only[SYS_getpid], "a call that is not counted");
	ok(!c.failures_only[SYS_mmap], "a new mapping");
	ok(!c.failures_only[SYS_openat], "a new fd");
	ok(!c.failures_only[SYS_close], "an fd less");
	ok(!c.failures_only[SYS_pipe2], "two fds");
	ok(!c.failures_only[SYS_munmap], "a mapping less");
#ifdef __x86_64__
	/* 32-bit close() has the number of lstat() */
	ok(!c.failures_only[6], "a number at which 32-bit programs close an fd");
	ok(!c.failures_only[254], "a number at which they open an epoll instance");
	ok(c.failures_only[SYS_fallocate], "a call that needs space");
	ok(c.failures_only[SYS_semget], "a call that needs a free IPC object");
#endif
	is_u64(c.syscalls[SYS_write].shape != FS_SHAPE_NONE, 1, "failed writes are seen");
	ok(c.failures_only[SYS_sendmsg] || c.compat_syscalls[SYS_sendmsg].shape != FS_SHAPE_NONE,
	   "a call that only sends");
	for (unsigned int i = 0; i < FS_SYSCALL_MAX; i++)
		if (c.failures_only[i] &&
		    (c.syscalls[i].shape == FS_SHAPE_FD || c.syscalls[i].shape == FS_SHAPE_MAP ||
		     c.compat_syscalls[i].shape == FS_SHAPE_FD ||
		     c.compat_syscalls[i].shape == FS_SHAPE_MAP))
			ok(false, "call %u makes fds or mappings", i);
}

/* Calls whose numbers are equal on all machines, also if the C library does not know them. */
static void test_numbers(void)
{
	static const struct {
		const char *name;
		unsigned int number;
	} rows[] = {{"memfd_secret", 447}, {"mseal", 462}, {"openat2", 437}, {"pidfd_open", 434}};
	unsigned int found = 0;

	for (unsigned int i = 0; i < nr_call_rows; i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			if (!strcmp(call_rows[i].name, rows[k].name)) {
				is_u64(call_rows[i].number, rows[k].number, rows[k].name);
				found++;
			}
	is_u64(found, sizeof(rows) / sizeof(rows[0]), "each is counted once");
}

/* ---- stacks ---- */

static void test_stacks(void)
{
	static const struct {
		uint32_t used, all, samples;
	} rows[] = {
		{0, STACKS_MAX, STACKS_MAX / 2},
		{STACKS_MAX / 2 - 64, STACKS_MAX, STACKS_MAX / 2},
		{STACKS_MAX / 2 - 63, STACKS_MAX, STACKS_MAX / 2 + 1},
		{STACKS_MAX - 256, STACKS_MAX, STACKS_MAX - 192},
		{STACKS_MAX - 255, STACKS_MAX + 1, STACKS_MAX - 191},
		{STACKS_MAX * 3, STACKS_MAX * 3 + 256, STACKS_MAX * 3 + 64},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fs_shared shared = {.stacks_used = rows[i].used};

		growth_table_grant_stacks(&shared);
		is_u64(shared.stacks_for_all, rows[i].all, "256 new stacks, or the first ones");
		is_u64(shared.stacks_for_samples, rows[i].samples,
		       "of sampled faults 64, or half of the first ones");
	}
}

/* ---- releases ---- */

static void test_releases(void)
{
	static const struct {
		const char *release;
		int major, minor;
		bool since;
	} rows[] = {
		{"6.9.3", 6, 9, true},
		{"6.9.3", 6, 10, false},
		{"6.10.0-rc1", 6, 9, true},
		{"5.15.0", 6, 0, false},
		{"7.0.0", 6, 18, true},
		{"6.18", 6, 18, true},
		{"10.1.0-custom", 9, 9, true},
		{"unknown", 1, 0, false},
		{"6", 6, 0, true},
		{"6", 6, 1, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		release = rows[i].release;
		ok(host_kernel_since(rows[i].major, rows[i].minor) == rows[i].since,
		   "%s is %s %d.%d", release, rows[i].since ? "at least" : "before", rows[i].major,
		   rows[i].minor);
	}
	release = "10.1.0";
	is_u64(host_kernel_major(), 10, "the first number");
	release = "7.1.9";
	ok(host_may_free_storage(), "clone() may free task storage");
	release = "7.2.0";
	ok(!host_may_free_storage(), "since 7.2, it does not");
}

/* ---- swap space ---- */

static unsigned long swap_bytes;
static int swap_result; /* of sysinfo(2) */

int sysinfo(struct sysinfo *info)
{
	memset(info, 0, sizeof(*info));
	info->totalswap = swap_bytes;
	return swap_result;
}

static void test_swap(void)
{
	ok(!host_has_swap(), "a machine without swap space");
	swap_bytes = 4096;
	ok(host_has_swap(), "a machine with swap space");
	swap_result = -1;
	swap_bytes = 0;
	ok(host_has_swap(), "if it is not known, there may be some");
}

/* ---- log ---- */

static int __attribute__((format(printf, 3, 4)))
say(libbpf_print_fn_t print, enum libbpf_print_level level, const char *format, ...)
{
	va_list list;
	int err;

	va_start(list, format);
	err = print(level, format, list);
	va_end(list);
	return err;
}

static void test_log(void)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL), print;

	load_log_begin();
	print = libbpf_set_print(before);
	if (!ok(print != NULL && print != before, "what libbpf says is taken"))
		return;
	is_u64(say(print, LIBBPF_INFO, "loading %s\n", "a"), 0, "a note");
	is_u64(say(print, LIBBPF_DEBUG, "section %d\n", 7), 0, "a detail");
	is_str(load_log(), "", "is not kept");
	is_u64(say(print, LIBBPF_WARN, "prog '%s': failed: %d\n", "b", -7), 0, "a warning");
	is_u64(say(print, LIBBPF_WARN, "prog '%s': missing .BTF.ext line info\n", "c"), 0,
	       "a warning of each program, by the build");
	is_u64(say(print, LIBBPF_WARN, "the end\n"), 0, "another one");
	is_str(load_log(), "prog 'b': failed: -7\nthe end\n", "warnings are kept, but that one");
	load_log_begin();
	is_str(load_log(), "", "a new load begins with no line");
	libbpf_set_print(before);
}

int main(void)
{
	test_failures_only();
	test_numbers();
	test_stacks();
	test_releases();
	test_swap();
	test_log();
	return tap_done();
}
