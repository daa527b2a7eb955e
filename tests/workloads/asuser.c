/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * asuser UID [CAPABILITY...] -- CMD ARG...: runs a command as user UID, with no capabilities except
 * those in the arguments. Services with AmbientCapabilities=, and files with capabilities set by
 * setcap, run in this way.
 */
#include "common.h"

#include <grp.h>
#include <linux/capability.h>

#define MOST_CAPABILITIES 8

/* The numbers are defined here because old headers lack newer capabilities, such as CAP_BPF. */
static const struct {
	const char *name;
	unsigned int number;
} names[] = {
	{"dac_read_search", 2}, {"kill", 5},	 {"sys_admin", 21}, {"sys_resource", 24},
	{"syslog", 34},		{"perfmon", 38}, {"bpf", 39},
};

static unsigned int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name))
			return names[i].number;
	errno = 0;
	die("%s: not among the capabilities it can give", name);
}

static void become(uid_t uid)
{
	if (getuid() == uid && geteuid() == uid)
		return;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		die("PR_SET_KEEPCAPS");
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		die("user %u", uid);
}

static void take(const unsigned int *number, int n)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	for (int i = 0; i < n; i++) {
		struct __user_cap_data_struct *word = &data[number[i] / 32];

		word->effective |= 1U << number[i] % 32;
		word->permitted = word->inheritable = word->effective;
	}
	if (syscall(SYS_capset, &header, data))
		die("capset");
	for (int i = 0; i < n; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number[i], 0, 0))
			die("PR_CAP_AMBIENT_RAISE");
}

int main(int argc, char **argv)
{
	unsigned int number[MOST_CAPABILITIES];
	int n = 0;

	for (; n + 2 < argc && n < MOST_CAPABILITIES && strcmp(argv[n + 2], "--"); n++)
		number[n] = number_of(argv[n + 2]);
	if (n + 3 >= argc || strcmp(argv[n + 2], "--"))
		die("asuser UID [CAPABILITY...] -- CMD ARG...");
	become(parse_number(argv[1]));
	take(number, n);
	execvp(argv[n + 3], argv + n + 3);
	die("%s", argv[n + 3]);
}
