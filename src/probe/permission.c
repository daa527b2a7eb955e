// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/permission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

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

static bool may_load(void)
{
	return have(CAP_SYS_ADMIN) || (have(CAP_BPF) && have(CAP_PERFMON));
}

bool permission_is_total(int err)
{
	return (err == -EPERM || err == -EACCES) && !may_load();
}

/* The word in brackets in /sys/kernel/security/lockdown; empty where there is none. */
static void read_lockdown(char *ret, size_t size)
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

	read_lockdown(lockdown, sizeof(lockdown));
	if (!strcmp(lockdown, "confidentiality")) {
		snprintf(error, size,
			 "kernel lockdown is in `confidentiality` mode: BPF may not read kernel "
			 "memory\n"
			 "  `integrity` is enough for faultscope: boot with lockdown=integrity");
		return -ENOSYS;
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
	snprintf(error, size, "the kernel refused the BPF programs: %s\n%.300s", strerror(-err),
		 log);
	return err == -EPERM || err == -EACCES ? -EPERM : -ENOSYS;
}

const char *permission_load_reason(int err, const char *log)
{
	if (strstr(log, "not found in kernel") ||
	    strstr(log, "failed to find kernel BTF type ID") ||
	    strstr(log, "call #0")) /* a kfunc that was not resolved */
		return "this kernel has no such function or tracepoint";
	if (strstr(log, "failed to resolve CO-RE relocation"))
		return "the BTF in use lacks what it reads";
	if (strstr(log, "BEGIN PROG LOAD LOG") && strstr(log, "processed "))
		return "the verifier of this kernel does not take it";
	switch (-err) {
	case EPERM:
	case EACCES:
		return "not permitted by this kernel's policy";
	case ESRCH:
	case ENOENT:
		return "this kernel has no such function or tracepoint";
	case EINVAL:
	case E2BIG:
		return "the verifier of this kernel does not take it";
	case ENOMEM:
		return "out of memory";
	}
	return "refused";
}

const char *permission_attach_reason(const char *mechanism, int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		if (!strcmp(mechanism, "perf_event"))
			return "not permitted (kernel.perf_event_paranoid, CAP_PERFMON)";
		if (!strcmp(mechanism, "tracepoint"))
			return "not permitted (tracefs wants CAP_DAC_READ_SEARCH)";
		return "not permitted by this kernel's policy";
	case ENOENT:
		if (strstr(mechanism, "probe"))
			return "no kprobes here, or not of this function";
		if (!strcmp(mechanism, "tracepoint"))
			return access("/sys/kernel/tracing/events", F_OK)
				       ? "tracefs is not mounted at /sys/kernel/tracing"
				       : "this kernel has no syscall tracepoints";
		return "this kernel has no such tracepoint";
	case E2BIG:
		return "more CPUs than are kept track of";
	case ENOSYS:
	case EOPNOTSUPP:
		return "not supported by this kernel";
	}
	return "refused";
}
