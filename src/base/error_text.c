// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"

bool is_exhausted(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

struct error_text as_error(int err)
{
	struct rlimit files = {}, data = {};
	struct error_text ret;
	char name[24];
	int len;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_DATA, &data);
	len = snprintf(ret.s, sizeof(ret.s), "%s", strerror(-err));
	if (is_exhausted(err))
		len += snprintf(ret.s + len, sizeof(ret.s) - len, " (%s)",
				errno_name(-err, name, sizeof(name)));
	if (err == -EMFILE)
		snprintf(ret.s + len, sizeof(ret.s) - len,
			 ": RLIMIT_NOFILE is %llu\n"
			 "  try:  ulimit -n 1024; of a service LimitNOFILE=1024",
			 (unsigned long long)files.rlim_cur);
	else if (err == -ENFILE)
		snprintf(ret.s + len, sizeof(ret.s) - len,
			 "\n  see:  sysctl fs.file-nr fs.file-max");
	else if (err == -ENOMEM && data.rlim_cur != RLIM_INFINITY)
		snprintf(ret.s + len, sizeof(ret.s) - len,
			 ": RLIMIT_DATA is %llu KiB\n  try:  ulimit -d unlimited",
			 (unsigned long long)data.rlim_cur / 1024);
	else if (err == -ENOMEM)
		snprintf(ret.s + len, sizeof(ret.s) - len,
			 "\n  see:  ulimit -v, and memory.max of the cgroup and its parents");
	return ret;
}
