// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the filter of system calls that is given to the kernel: which calls it permits, how it is
 * installed, and what is returned if it cannot be. No filter is installed here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "probe/call_filter.h"
#include "tap.h"

#ifdef __x86_64__
#define ARCH	   AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#else
#define ARCH	   AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#endif

static struct sock_filter code[400];
static size_t length;
static unsigned int by_prctl, by_seccomp;
static long answer; /* of the kernel: a thread id, 0, or -errno */

static long install(const struct sock_fprog *program)
{
	length = program->len;
	memcpy(code, program->filter, length * sizeof(code[0]));
	errno = answer < 0 ? -answer : 0;
	return answer < 0 ? -1 : answer;
}

long syscall(long number, ...)
{
	long mode, flags;
	va_list list;

	va_start(list, number);
	mode = va_arg(list, long);
	flags = va_arg(list, long);
	by_seccomp += number == SYS_seccomp && mode == SECCOMP_SET_MODE_FILTER &&
		      flags == SECCOMP_FILTER_FLAG_TSYNC;
	mode = install(va_arg(list, void *));
	va_end(list);
	return mode;
}

int prctl(int option, ...)
{
	va_list list;
	long mode;

	va_start(list, option);
	mode = va_arg(list, long);
	by_prctl += option == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER;
	mode = install(va_arg(list, void *));
	va_end(list);
	return mode;
}

/* Runs the filter as the kernel does. Returns its verdict of a call. */
static unsigned int verdict(unsigned int arch, unsigned int nr)
{
	const struct seccomp_data call = {.arch = arch, .nr = nr};
	unsigned int a = 0;

	for (size_t at = 0; at < length; at++) {
		const struct sock_filter *i = &code[at];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)&call + i->k, sizeof(a));
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += a == i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return -1;
		}
	}
	return -1;
}

static const unsigned int allowed[] = {
#define ALLOWED(name) SYS_##name,
#include "probe/call_filter.def"
#undef ALLOWED
};

static bool is_allowed(unsigned int nr)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (allowed[i] == nr)
			return true;
	return false;
}

static void test_verdicts(void)
{
	unsigned int wrong = 0, others = 0;

	is_u64(call_filter_enter(true), 0, "it is entered");
	for (unsigned int nr = 0; nr < 1000; nr++) {
		unsigned int want = is_allowed(nr) ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM;

		wrong += verdict(ARCH, nr) != want;
		others += verdict(OTHER_ARCH, nr) != SECCOMP_RET_KILL_PROCESS;
	}
	is_u64(wrong, 0, "calls of the list are permitted, others fail with EPERM");
	is_u64(others, 0, "calls of another architecture, which have other numbers, end it");
}

static void test_threads(void)
{
	by_prctl = by_seccomp = 0;
	is_u64(call_filter_enter(false), 0, "one thread");
	ok(by_prctl == 1 && !by_seccomp, "by prctl(), which filters of services permit");
	is_u64(call_filter_enter(true), 0, "all threads");
	ok(by_prctl == 1 && by_seccomp == 1, "by seccomp(), at once");
}

static void test_errors(void)
{
	answer = -EACCES;
	is_u64(call_filter_enter(false), (uint64_t)-EACCES, "the kernel refuses it");
	is_u64(call_filter_enter(true), (uint64_t)-EACCES, "for all threads too");
	answer = 4711;
	is_u64(call_filter_enter(true), (uint64_t)-EBUSY, "a thread has another filter");
	answer = 0;
}

int main(void)
{
	test_verdicts();
	test_threads();
	test_errors();
	return tap_done();
}
