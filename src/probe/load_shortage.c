// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/load_shortage.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/units.h"

bool is_exhausted(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

int exhausted_files(size_t needed)
{
	int next = open("/", O_PATH | O_CLOEXEC); /* open() returns the lowest free fd */
	struct rlimit limit;

	if (next < 0)
		return is_exhausted(-errno) ? -errno : 0;
	close(next);
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return needed > limit.rlim_cur - next ? -EMFILE : 0;
}

int exhausted_by_btf(int err)
{
	struct btf *btf = NULL;
	int real;

	if (err != -ESRCH)
		return err;
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	real = libbpf_get_error(btf);
	if (!real)
		btf__free(btf);
	return is_exhausted(real) ? real : err;
}

int exhausted_explain(int err, char *error, size_t size)
{
	struct rlimit files = {}, data = {};
	char name[24];
	int len;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_DATA, &data);
	len = snprintf(error, size, "cannot load BPF programs: %s (%s)", strerror(-err),
		       errno_name(-err, name, sizeof(name)));
	if (err == -EMFILE)
		snprintf(error + len, size - len,
			 ": RLIMIT_NOFILE is %llu, and each program, map and link takes a file\n"
			 "  try:  ulimit -n 1024; of a service LimitNOFILE=1024",
			 (unsigned long long)files.rlim_cur);
	else if (err == -ENFILE)
		snprintf(error + len, size - len, "\n  see:  sysctl fs.file-nr fs.file-max");
	else if (data.rlim_cur != RLIM_INFINITY)
		snprintf(error + len, size - len,
			 ": RLIMIT_DATA is %llu KiB\n  try:  ulimit -d unlimited",
			 (unsigned long long)data.rlim_cur / 1024);
	else
		snprintf(error + len, size - len,
			 "\n  see:  ulimit -v, and memory.max of the cgroup and its parents");
	return err;
}
