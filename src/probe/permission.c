// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/permission.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "probe/host.h"

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

/* Tracing asks for rights in the initial user namespace, whatever one may do in another. */
static bool may_load(void)
{
	return !host_is_in_user_namespace() &&
	       (have(CAP_SYS_ADMIN) || (have(CAP_BPF) && have(CAP_PERFMON)));
}

/* Whether system calls of ours are filtered: "Seccomp:	2" in /proc/self/status. */
static bool is_filtered(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	return mode == 2;
}

/* How bpf(2) answers a question that anyone may ask who may call it: 0, or -errno. */
static int ask_bpf(void)
{
	union bpf_attr attr = {.info.bpf_fd = -1};

	if (!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) || errno == EBADF)
		return 0;
	return -errno;
}

bool permission_is_total(int err)
{
	return (err == -EPERM || err == -EACCES) && !may_load();
}

/* The word in brackets. */
void permission_lockdown(char *ret, size_t size)
{
	char line[128] = "", *at, *end;
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");

	ret[0] = 0;
	if (!f)
		return;
	if (fgets(line, sizeof(line), f) && (at = strchr(line, '[')) && (end = strchr(at, ']'))) {
		*end = 0;
		snprintf(ret, size, "%s", at + 1);
	}
	fclose(f);
}

int permission_explain(int err, const char *log, char *error, size_t size)
{
	char lockdown[32];
	size_t len;

	permission_lockdown(lockdown, sizeof(lockdown));
	if (!strcmp(lockdown, "confidentiality")) {
		snprintf(error, size,
			 "kernel lockdown is in `confidentiality` mode: BPF may not read kernel "
			 "memory\n"
			 "  `integrity` is enough for faultscope: boot with lockdown=integrity");
		return -ENOSYS;
	}
	if ((err == -EPERM || err == -EACCES) && host_is_in_user_namespace()) {
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
	if ((err == -EPERM || err == -EACCES) && !may_load()) {
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
			 "  or:   sudo setcap cap_bpf,cap_perfmon=ep \"$(command -v faultscope)\"");
		return -EPERM;
	}
	if (ask_bpf() && is_filtered()) {
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
#define NOT_TAKEN "the verifier of this kernel does not take it"
#define POLICY	  "not permitted by this kernel's policy"
#define SET_DAC	  "setcap cap_bpf,cap_perfmon,cap_dac_read_search=ep \"$(command -v faultscope)\""

static struct answer answer_of(int err, const char *text, const char *remedy)
{
	struct answer a = {.remedy = remedy};
	char name[24];

	snprintf(a.text, sizeof(a.text), "%s (%s)", text, errno_name(-err, name, sizeof(name)));
	return a;
}

struct answer permission_load_answer(int err, const char *log)
{
	if (strstr(log, "not found in kernel") ||
	    strstr(log, "failed to find kernel BTF type ID") ||
	    strstr(log, "call #0")) /* a kfunc that was not resolved */
		return answer_of(err, NO_SUCH, NULL);
	if (strstr(log, "failed to resolve CO-RE relocation"))
		return answer_of(err, "the BTF in use lacks what it reads", NULL);
	if (strstr(log, "BEGIN PROG LOAD LOG") && strstr(log, "processed "))
		return answer_of(err, NOT_TAKEN, NULL);
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
	case ENOMEM:
		return answer_of(err, "out of memory", "ulimit -l unlimited");
	}
	return answer_of(err, "refused", NULL);
}

struct answer permission_attach_answer(const char *mechanism, int err)
{
	bool tracepoint = !strcmp(mechanism, "tracepoint");

	switch (-err) {
	case EPERM:
	case EACCES:
		/* with the capability the setting does not count: then it is a policy's answer */
		if (!strcmp(mechanism, "perf_event") && !have(CAP_PERFMON) && !have(CAP_SYS_ADMIN))
			return answer_of(err,
					 "not permitted (kernel.perf_event_paranoid, CAP_PERFMON)",
					 "sysctl -w kernel.perf_event_paranoid=-1");
		if (tracepoint)
			return answer_of(err, "not permitted (tracefs wants CAP_DAC_READ_SEARCH)",
					 SET_DAC);
		return answer_of(err, POLICY, NULL);
	case ENOENT:
		if (strstr(mechanism, "probe"))
			return answer_of(err, "no kprobes here, or not of this function", NULL);
		if (tracepoint && access("/sys/kernel/tracing/events", F_OK))
			return answer_of(err, "tracefs is not mounted at /sys/kernel/tracing",
					 "mount -t tracefs nodev /sys/kernel/tracing");
		return answer_of(err, "this kernel has no such tracepoint", NULL);
	case E2BIG:
		return answer_of(err, "more CPUs than are kept track of", NULL);
	case ENOSYS:
	case EOPNOTSUPP:
		return answer_of(err, "not supported by this kernel", NULL);
	}
	return answer_of(err, "refused", NULL);
}
