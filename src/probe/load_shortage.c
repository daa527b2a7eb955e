// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/load_shortage.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error_text.h"

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
