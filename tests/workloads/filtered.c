/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filtered ERRNO CALL... -- CMD ARG...: runs a command under a seccomp filter, as containers and
 * services do. The filter makes the given system calls fail with ERRNO.
 */
#include "common.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#define MOST_CALLS 8

static const struct {
	const char *name;
	long number;
} calls[] = {
	{"bpf", SYS_bpf},
	{"capset", SYS_capset},
	{"landlock_create_ruleset", 444}, /* this call has the number 444 on every architecture */
	{"perf_event_open", SYS_perf_event_open},
};

static long number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	errno = 0;
	die("%s: not among the calls it can refuse", name);
}

static void refuse(char **names, int n, int error)
{
	struct sock_filter code[MOST_CALLS + 3] = {
		/* loads seccomp_data.nr, the number of the system call */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	};
	struct sock_fprog filter = {.len = n + 3, .filter = code};

	for (int i = 0; i < n; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   number_of(names[i]), n - i, 0);
	code[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		die("seccomp");
}

int main(int argc, char **argv)
{
	int n = 0;

	while (n + 2 < argc && strcmp(argv[n + 2], "--"))
		n++;
	if (argc < 5 || n + 3 >= argc || n > MOST_CALLS)
		die("filtered ERRNO CALL... -- CMD ARG...");
	refuse(argv + 2, n, atoi(argv[1]));
	execvp(argv[n + 3], argv + n + 3);
	die("%s", argv[n + 3]);
}
