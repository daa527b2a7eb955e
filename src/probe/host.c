// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

unsigned long long host_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

unsigned long long host_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

bool host_has_smap(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool smap = false;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "flags", 5)) {
			smap = strstr(line, " smap") != NULL;
			break;
		}
	if (f)
		fclose(f);
	return smap;
}

unsigned long host_processes(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned long n = 0;

	if (f) {
		if (fscanf(f, "%*f %*f %*f %*u/%lu", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n;
}

unsigned long long host_own_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void host_fill(struct fs_host_record *ret)
{
	struct utsname un;
	FILE *f;

	memset(ret, 0, sizeof(*ret));
	ret->h.kind = FS_REC_HOST;
	ret->h.len = sizeof(*ret);
	ret->h.t_ns = host_monotonic_ns();
	ret->wall_ns = host_wall_ns();
	ret->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uname(&un);
	snprintf(ret->kernel, sizeof(ret->kernel), "%s", un.release);
	snprintf(ret->arch, sizeof(ret->arch), "%.15s", un.machine);
	snprintf(ret->host, sizeof(ret->host), "%.63s", un.nodename);
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		if (fscanf(f, "%39s", ret->boot_id) != 1)
			ret->boot_id[0] = 0;
		fclose(f);
	}
}
