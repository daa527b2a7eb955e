// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/permission.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/io.h"
#include "base/units.h"
#include "probe/features.h"
#include "probe/host_facts.h"

static bool have(cap_value_t cap)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t v = CAP_CLEAR;

	if (caps) {
		cap_get_flag(caps, cap, CAP_EFFECTIVE, &v);
		cap_free(caps);
	}
	return v == CAP_SET;
}

/* Returns whether faultscope may trace: this needs capabilities in the initial user namespace. */
static bool may_load(void)
{
	return !host_is_in_user_namespace() &&
	       (have(CAP_SYS_ADMIN) || (have(CAP_BPF) && have(CAP_PERFMON)));
}

bool permission_is_filtered(pid_t pid)
{
	char path[64], line[256];
	int mode = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	return mode == 2;
}

/*
 * Makes a bpf(2) call that needs no capabilities. Returns 0 or -errno. For a bad file descriptor,
 * bpf_obj_get_info_by_fd() in kernel/bpf/syscall.c returns EBADFD.
 */
static int ask_bpf(void)
{
	union bpf_attr attr = {.info.bpf_fd = -1};

	if (!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) || errno == EBADF ||
	    errno == EBADFD)
		return 0;
	return -errno;
}

/*
 * Returns whether an error means that a right is missing. Without CAP_BPF, the kernel takes no BTF,
 * and then refuses maps that need it with EINVAL.
 */
static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES || (err == -EINVAL && !may_load());
}

bool permission_is_total(int err)
{
	return is_refusal(err) && !may_load();
}

/* Returns the word in brackets of /sys/kernel/security/lockdown. */
void permission_lockdown(char *ret, size_t size)
{
	char text[128], *at, *end;

	ret[0] = 0;
	io_read(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof(text));
	if ((at = strchr(text, '[')) && (end = strchr(at, ']'))) {
		*end = 0;
		snprintf(ret, size, "%s", at + 1);
	}
}

bool permission_is_locked(bool refused)
{
	char lockdown[32];

	permission_lockdown(lockdown, sizeof(lockdown));
	return !strcmp(lockdown, "confidentiality") || (refused && kernel_lacks_reads());
}

/* Before 5.11, maps count as locked memory; above RLIMIT_MEMLOCK, bpf(2) fails with EPERM. */
static bool explain_locked_memory(char *error, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    permission_is_filtered(getpid()) || !kernel_lacks_task_storage())
		return false;
	snprintf(
		error, size,
		"cannot make BPF maps: before 5.11 they count as locked memory, and RLIMIT_MEMLOCK "
		"is %llu KiB\n"
		"  try:  ulimit -l unlimited, where that is permitted; of a service "
		"LimitMEMLOCK=infinity\n"
		"  or:   sudo faultscope …",
		(unsigned long long)limit.rlim_cur / 1024);
	return true;
}

int permission_explain(int err, const char *log, char *error, size_t size)
{
	size_t len;

	if (is_exhausted(err)) {
		snprintf(error, size, "cannot load BPF programs: %s", as_error(err).s);
		return err;
	}
	if (permission_is_locked(*log)) {
		snprintf(error, size,
			 "kernel lockdown is in `confidentiality` mode: BPF may not read kernel "
			 "memory\n"
			 "  `integrity` is enough for faultscope: boot with lockdown=integrity");
		return -ENOSYS;
	}
	if (is_refusal(err) && host_is_in_user_namespace()) {
		snprintf(
			error, size,
			"cannot load BPF programs: not permitted\n"
			"  you are uid %d of a user namespace, whose capabilities do not count "
			"here; "
			"needed: CAP_BPF and CAP_PERFMON of the initial one\n"
			"  try:  sudo faultscope … outside of it; a rootless container cannot, one "
			"started by root can",
			(int)geteuid());
		return -EPERM;
	}
	if (is_refusal(err) && !may_load()) {
		len = snprintf(error, size,
			       "cannot load BPF programs: not permitted\n  you are uid %d with",
			       (int)geteuid());
		len += snprintf(error + len, size - len, "%s%s; needed: CAP_BPF and CAP_PERFMON\n",
				have(CAP_BPF)	    ? " CAP_BPF only"
				: have(CAP_PERFMON) ? " CAP_PERFMON only"
						    : "",
				have(CAP_BPF) || have(CAP_PERFMON)
					? ""
					: " neither CAP_BPF nor CAP_PERFMON");
		snprintf(error + len, size - len,
			 "  try:  sudo faultscope …\n"
			 "  or:   for a group of users alone: README, Privileges");
		return -EPERM;
	}
	if (err == -EPERM && explain_locked_memory(error, size))
		return -EPERM;
	if (ask_bpf() && permission_is_filtered(getpid())) {
		snprintf(
			error, size,
			"cannot load BPF programs: a seccomp filter refuses bpf(2): %s\n"
			"  you are uid %d with the capabilities needed; the filter is of the "
			"container or the service that started faultscope\n"
			"  docker: --security-opt seccomp=unconfined, or a profile that allows bpf "
			"and perf_event_open\n"
			"  systemd: SystemCallFilter=bpf perf_event_open",
			strerror(-ask_bpf()), (int)geteuid());
		return -EPERM;
	}
	if (ask_bpf() == -ENOSYS) {
		snprintf(error, size,
			 "this kernel has no bpf(2): it is built without "
			 "CONFIG_BPF_SYSCALL");
		return -ENOSYS;
	}
	snprintf(error, size, "the kernel refused the BPF programs: %s\n%.300s", strerror(-err),
		 log);
	return err == -EPERM || err == -EACCES ? -EPERM : -ENOSYS;
}

#define NO_SUCH	  "this kernel has no such function or tracepoint"
#define NOT_TAKEN "the verifier of this kernel rejects it"
#define POLICY	  "not permitted by this kernel's policy"
#define AS_ROOT	  "sudo faultscope …: tracefs is root's"

static struct answer answer_of(int err, const char *text, const char *remedy)
{
	struct answer a = {.remedy = remedy};
	char name[24];

	snprintf(a.text, sizeof(a.text), "%s (%s)", text, errno_name(-err, name, sizeof(name)));
	return a;
}

/* Returns whether a log line is no error: a line of libbpf, an instruction, or statistics. */
static bool is_step(const char *line)
{
	static const char *const begins[] = {
		"libbpf: ", ";", "from ", "mark_precise", "verification time", "stack depth"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(line, begins[i], strlen(begins[i])))
			return true;
	return isdigit((unsigned char)*line);
}

/*
 * Explains a program that the verifier checked and rejected. The reason is the last line of the log
 * before "processed N insns" that is_step() does not exclude. If the verifier's log is long, only
 * the end of the log is kept.
 */
static struct answer not_taken(int err, const char *log)
{
	const char *end = strstr(log, "\nprocessed "), *line = log, *reason = NULL;
	struct answer a = answer_of(err, NOT_TAKEN, NULL);
	size_t len = strlen(a.text);

	for (; line <= end; line = strchr(line, '\n') + 1)
		if (!is_step(line))
			reason = line;
	if (reason)
		snprintf(a.text + len, sizeof(a.text) - len, ": %.*s", (int)strcspn(reason, "\n"),
			 reason);
	return a;
}

struct answer permission_load_answer(int err, const char *log)
{
	if (strstr(log, "not found in kernel") || strstr(log, "failed to find kernel BTF type ID"))
		return answer_of(err, NO_SUCH, NULL);
	if (strstr(log, "failed to resolve CO-RE relocation"))
		return answer_of(err, "the BTF in use lacks what it reads", NULL);
	if (strstr(log, "END PROG LOAD LOG") && strstr(log, "\nprocessed "))
		return not_taken(err, log);
	switch (-err) {
	case EPERM:
	case EACCES:
		return answer_of(err, POLICY, NULL);
	case ESRCH:
	case ENOENT:
		return answer_of(err, NO_SUCH, NULL);
	case EINVAL:
	case E2BIG:
		return answer_of(err, NOT_TAKEN, NULL);
	}
	return answer_of(err, "refused", NULL);
}

const struct answer permission_locked = {
	.text = "kernel lockdown (confidentiality): BPF may not read kernel memory",
	.remedy = "boot with lockdown=integrity",
};

/* On Debian and Android, perf_event_paranoid may exceed 2: CAP_PERFMON does not suffice. */
static bool is_paranoid(void)
{
	char level[16];

	io_read(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	return atoi(level) > 2 && !have(CAP_SYS_ADMIN);
}

static bool opens_events(const char *mechanism)
{
	return strstr(mechanism, "probe") || !strcmp(mechanism, "perf_event") ||
	       !strcmp(mechanism, "memcg") || !strcmp(mechanism, "tracepoint");
}

static struct answer not_permitted(const char *mechanism, int err)
{
	bool reads_tracefs = !strcmp(mechanism, "tracepoint");

	if (reads_tracefs && access("/sys/kernel/tracing/events", F_OK) && errno == ENOENT)
		return answer_of(err, "tracefs is not mounted at /sys/kernel/tracing",
				 "mount -t tracefs nodev /sys/kernel/tracing");
	if (opens_events(mechanism) && is_paranoid())
		return answer_of(err, "kernel.perf_event_paranoid above 2 wants CAP_SYS_ADMIN",
				 "sysctl -w kernel.perf_event_paranoid=2");
	if (reads_tracefs)
		return answer_of(err, "not permitted (tracefs wants CAP_DAC_READ_SEARCH)", AS_ROOT);
	return answer_of(err, POLICY, NULL);
}

struct answer permission_attach_answer(const char *mechanism, int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		return not_permitted(mechanism, err);
	case ENOENT:
		if (strstr(mechanism, "probe"))
			return answer_of(err, "no kprobes here, or not of this function", NULL);
		return answer_of(err, "this kernel has no such tracepoint", NULL);
	case E2BIG:
		return answer_of(err, "more CPUs than are kept track of", NULL);
	case ENOSYS:
	case EOPNOTSUPP:
		return answer_of(err, "not supported by this kernel", NULL);
	}
	return answer_of(err, "refused", NULL);
}
