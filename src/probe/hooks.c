// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/hooks.h"

#include <string.h>

const struct hook hooks[] = {
	{
		.name = "look",
		.tier = 0,
		.feeds = "map count, descriptors, limits, fault totals and sizes of every process",
		.lost = "everything but events",
		.alternate = {{"task-iterator", ATTACH_RUN, {"look_syscall"}, NULL}},
	},
	{
		.name = "life",
		.tier = 1,
		.feeds = "fork, exec and exit: short-lived processes, last records",
		.lost = "processes that live less than an interval",
		.alternate =
			{{"tp_btf", ATTACH_TRACEPOINT, {"on_fork", "on_exec", "on_exit"}, NULL}},
	},
	{
		.name = "fault_begin",
		.tier = 1,
		.feeds = "user-mode page faults: access, protection; begin of the latency",
		.lost = "fault kinds and latency (totals stay: the kernel's own)",
		.alternate = {{"tp_btf", ATTACH_TRACEPOINT, {"on_fault_user"}, NULL}},
	},
	{
		.name = "fault_kernel",
		.tier = 1,
		.feeds = "kernel-mode page faults: user copies, and bad kernel addresses",
		.lost = "kernel-mode faults and the flag on bad kernel addresses",
		.alternate = {{"tp_btf", ATTACH_TRACEPOINT, {"on_fault_kernel"}, NULL}},
	},
	{
		.name = "signal",
		.tier = 1,
		.feeds = "failed faults: SIGSEGV and SIGBUS, with code and address",
		.lost = "failed faults",
		.alternate = {{"tp_btf", ATTACH_TRACEPOINT, {"on_signal"}, NULL}},
	},
	{
		.name = "map_area",
		.tier = 1,
		.feeds = "each mapping that needs an address: map high-water and thresholds",
		.lost = "map thresholds between looks, where `calls` is off too",
		.alternate = {{"tp_btf", ATTACH_TRACEPOINT, {"on_unmapped_area"}, NULL}},
	},
	{
		.name = "fault_end",
		.tier = 2,
		.feeds = "the end of each fault served: latency, minor and major apart, stall",
		.lost = "fault latency and stall time",
		.alternate = {{"memcg",
			       ATTACH_MEMCG_FAULTS,
			       {"on_memcg_event", "on_fault_was_major"},
			       "a user copy that ended in EFAULT is timed as a minor fault"},
			      {"perf_event",
			       ATTACH_PERF_FAULTS,
			       {"on_fault_minor", "on_fault_major"},
			       NULL},
			      {"fexit", ATTACH_TRACEPOINT, {"on_fault_handled"}, NULL}},
	},
	{
		.name = "calls",
		.tier = 3,
		.feeds = "the end of mapping and descriptor calls: counts, refusals, thresholds",
		.lost = "refusals, calls by kind, descriptor thresholds between looks",
		/* the other costs half where nothing is of interest, but seconds to attach */
		.alternate = {{"tp_btf",
			       ATTACH_TRACEPOINT,
			       {"on_sys_exit"},
			       "does not see calls of 32-bit processes"},
			      {"tracepoint",
			       ATTACH_CALL_EXITS,
			       {"on_call_exit"},
			       "does not see calls of 32-bit processes"}},
	},
};

const size_t nr_hooks = sizeof(hooks) / sizeof(hooks[0]);

int hook_find(const char *name)
{
	for (size_t i = 0; i < nr_hooks; i++)
		if (!strcmp(hooks[i].name, name))
			return i;
	return -1;
}
