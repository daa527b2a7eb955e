// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/host_facts.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

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

unsigned long long host_boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
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

/* Inode numbers of the initial namespaces: the kernel's PROC_*_INIT_INO, linux/proc_ns.h. */
#define INITIAL_USER_NS 0xeffffffdU
#define INITIAL_PID_NS	0xeffffffcU

static bool is_below(const char *path, ino_t initial)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino != initial;
}

bool host_is_in_pid_namespace(void)
{
	return is_below("/proc/self/ns/pid", INITIAL_PID_NS);
}

bool host_is_in_user_namespace(void)
{
	return is_below("/proc/self/ns/user", INITIAL_USER_NS);
}

bool host_has_own_proc(void)
{
	char pid[16] = "";

	return readlink("/proc/self", pid, sizeof(pid) - 1) > 0 && atoi(pid) == getpid();
}

bool host_hides_processes(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *me;
	bool hides = false;

	while (f && (me = getmntent(f))) {
		const char *how = strcmp(me->mnt_dir, "/proc") ? NULL : hasmntopt(me, "hidepid");

		if (!strcmp(me->mnt_dir, "/proc"))
			hides = how && strncmp(how, "hidepid=0", 9) &&
				strncmp(how, "hidepid=off", 11);
	}
	if (f)
		endmntent(f);
	return hides;
}

bool host_balances_numa(void)
{
	return !access("/proc/sys/kernel/numa_balancing", F_OK) &&
	       !access("/sys/devices/system/node/node1", F_OK);
}

bool host_counts_fds(void)
{
	struct stat st;

	return !stat("/proc/self/fd", &st) && st.st_size > 0;
}

unsigned long host_processes(void)
{
	unsigned long n;
	char text[128];

	io_read(AT_FDCWD, "/proc/loadavg", text, sizeof(text));
	return sscanf(text, "%*f %*f %*f %*u/%lu", &n) == 1 ? n : 0;
}

unsigned long long host_own_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int host_kernel_major(void)
{
	struct utsname un;

	uname(&un);
	return atoi(un.release);
}

bool host_kernel_since(int major, int minor)
{
	struct utsname un;
	int first = 0, second = 0;

	uname(&un);
	sscanf(un.release, "%d.%d", &first, &second);
	return first > major || (first == major && second >= minor);
}

bool host_may_free_storage(void)
{
	return !host_kernel_since(7, 2);
}

void host_fill(struct host_record *ret)
{
	struct utsname un;

	memset(ret, 0, sizeof(*ret));
	ret->h.kind = RECORD_HOST;
	ret->h.len = sizeof(*ret);
	ret->h.t_ns = host_monotonic_ns();
	ret->wall_ns = host_wall_ns();
	ret->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uname(&un);
	snprintf(ret->kernel, sizeof(ret->kernel), "%s", un.release);
	snprintf(ret->arch, sizeof(ret->arch), "%.15s", un.machine);
	snprintf(ret->host, sizeof(ret->host), "%.63s", un.nodename);
	io_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", ret->boot_id, sizeof(ret->boot_id));
	ret->boot_id[strcspn(ret->boot_id, "\n")] = 0;
}

bool host_has_swap(void)
{
	struct sysinfo info;

	return sysinfo(&info) || info.totalswap;
}
