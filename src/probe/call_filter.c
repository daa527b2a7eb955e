// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "system calls of this architecture are not known"
#endif

static const unsigned int allowed[] = {
#define ALLOWED(name) SYS_##name,
#include "probe/call_filter.def"
#undef ALLOWED
};
#define NR_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

int call_filter_enter(bool all_threads)
{
	struct sock_filter code[NR_ALLOWED + 8];
	struct sock_fprog program = {.filter = code};
	unsigned short n = 0;
	long other; /* > 0: id of a thread that has another filter; < 0: error */

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	_Static_assert(NR_ALLOWED < 250, "a jump goes 255 instructions at most");
	for (size_t i = 0; i < NR_ALLOWED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							 NR_ALLOWED - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	/* For one thread, use prctl(): the seccomp filters of some services forbid seccomp(2). */
	other = all_threads ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				      SECCOMP_FILTER_FLAG_TSYNC, &program)
			    : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return other < 0 ? -errno : other ? -EBUSY : 0;
}
