// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/hooks.h"

#include <string.h>

#include "records/records.h"

#define NO_HANDLER                                                                                 \
	"protection is not told apart, a fault that no mapping allows is told by its signal "      \
	"alone, and the stack has grown by then: its pages are anonymous ones"

#define MAJORS	  "of major faults alone, as in export"
#define NO_COPIES "bad addresses alone (arm64); user copies are told by fault_begin"

#define CLASSES_FOLD                                                                               \
	"a page found in the swap cache counts as its mapping's, as do NUMA hints on one node; "   \
	"before 6.4 what takes the place of a mapping of the same size and rights may count as "   \
	"that one; where fault_end is not memcg, huge pages are told by resident memory"

const struct hook hooks[] = {
	{
		.name = "state",
		.tier = 0,
		.core = true,
		.feeds = "where the counters of each process are kept",
		.lost = "everything",
		.alternate =
			{
				{"task-storage", ATTACH_NOTHING, STATE_TASK},
				{"hash", ATTACH_NOTHING, STATE_HASH, .lacks = LACKS_AREA,
				 .differs =
					 "descriptors are counted up to 65,536 a process and "
					 "threads "
					 "up to 512; where threads map at the same instant, growth "
					 "by call may be off; a bad access is not compared with "
					 "what is mapped there, nor with the stack pointer; who "
					 "grows is not kept, nor slow faults by their file"},
			},
	},
	{
		.name = "look",
		.tier = 0,
		.core = true,
		.feeds = "map count, descriptors, limits, fault totals and sizes of every process",
		.lost = "everything but events",
		.alternate =
			{
				{"task-iterator", ATTACH_NOTHING, STATE_KFUNCS, {"look_syscall"}},
				{"iter/task", ATTACH_ITERATOR, STATE_ANY, {"look_iter"}},
				{"/proc", ATTACH_NOTHING, STATE_ANY,
				 .differs = "slower; a map count is the one that a hook of that "
					    "process saw last"},
			},
	},
	{
		.name = "life",
		.tier = 1,
		.core = true,
		.feeds = "fork, exec and exit: short-lived processes, last records",
		.lost = "processes that live less than an interval, and programs of new ones",
		.alternate =
			{
				{"tp_btf",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"on_fork", "on_exec", "on_exit"}},
				{"raw_tp",
				 ATTACH_AUTO,
				 STATE_HASH,
				 {"raw_fork", "raw_exec", "raw_exit"}},
			},
	},
	{
		.name = "fault_begin",
		.tier = 1,
		.feeds = "user-mode page faults: access, protection; begin of the latency",
		.lost = "fault kinds and latency (totals stay: the kernel's own)",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_fault_user"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_fault_user"}},
				{"tracepoint", ATTACH_AUTO, STATE_ANY, {"event_fault_user"}},
				{"fentry",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"on_fault_handling"},
				 LACKS_PROTECTION | SEES_KERNEL,
				 NO_HANDLER},
				{"kprobe",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"probe_fault_handling"},
				 LACKS_PROTECTION | SEES_KERNEL,
				 NO_HANDLER},
				{"perf_event",
				 ATTACH_PERF_BEGIN,
				 STATE_ANY,
				 {"on_fault_counted"},
				 LACKS_ACCESS | LACKS_PROTECTION | SEES_KERNEL,
				 "access and protection are not told"},
			},
	},
	{
		.name = "fault_kernel",
		.tier = 1,
		.feeds = "kernel-mode page faults: user copies, and bad kernel addresses",
		.lost = "kernel-mode faults and the flag on bad kernel addresses",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_fault_kernel"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_fault_kernel"}},
				{"fentry",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"on_kernel_unserved", "on_kernel_death"},
				 LACKS_COPIES,
				 NO_COPIES},
				{"kprobe",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"probe_kernel_unserved", "probe_kernel_death"},
				 LACKS_COPIES,
				 NO_COPIES},
			},
	},
	{
		.name = "signal",
		.tier = 1,
		.feeds = "failed faults: SIGSEGV and SIGBUS, with code and address",
		.lost = "failed faults",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_signal"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_signal"}},
			},
	},
	{
		.name = "oom",
		.tier = 1,
		.feeds = "victims of the OOM killer, with what `signal` and `log` see of it",
		.lost = "which processes the OOM killer chose",
		.alternate = {{"raw_tp", ATTACH_AUTO, STATE_ANY, {"on_oom_victim"}}},
	},
	{
		.name = "cgroup",
		.tier = 1,
		.feeds = "cgroups as they are made: whose the processes in them are",
		.lost = "cgroups, and so workloads, of what lives less than an interval",
		.alternate = {{"raw_tp",
			       ATTACH_AUTO,
			       STATE_ANY,
			       {"on_cgroup_made", "on_cgroup_joined"}}},
	},
	{
		.name = "reclaim",
		.tier = 1,
		.feeds = "direct reclaim, of the machine or of a memory cgroup, by threads that "
			 "want memory",
		.lost = "time in direct reclaim",
		.alternate =
			{
				{"tp_btf",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"on_reclaim_begin", "on_reclaim_end", "on_memcg_reclaim_begin",
				  "on_memcg_reclaim_end"}},
				{"raw_tp",
				 ATTACH_AUTO,
				 STATE_HASH,
				 {"raw_reclaim_begin", "raw_reclaim_end", "raw_memcg_reclaim_begin",
				  "raw_memcg_reclaim_end"}},
			},
	},
	{
		.name = "map_area",
		.tier = 1,
		.feeds = "each mapping that needs an address: map high-water and thresholds",
		.lost = "map thresholds between looks, where `calls` is off too",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_unmapped_area"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_unmapped_area"}},
			},
	},
	{
		.name = "fault_end",
		.tier = 2,
		.feeds = "the end of each fault served: latency, minor and major apart, stall",
		.lost = "fault latency and stall time",
		.alternate =
			{
				{"memcg",
				 ATTACH_MEMCG_FAULTS,
				 STATE_ANY,
				 {"on_memcg_event", "on_fault_was_major"},
				 .differs = "a user copy that ended in EFAULT is timed as a minor "
					    "fault"},
				{"perf_event",
				 ATTACH_PERF_FAULTS,
				 STATE_ANY,
				 {"on_fault_minor", "on_fault_major"}},
				{"fexit", ATTACH_AUTO, STATE_ANY, {"on_fault_handled"}},
				{"kretprobe", ATTACH_AUTO, STATE_ANY, {"probe_fault_handled"}},
				{"perf_event_major",
				 ATTACH_PERF_MAJORS,
				 STATE_ANY,
				 {"on_major"},
				 LACKS_MINOR,
				 MAJORS},
				{"fexit_major",
				 ATTACH_AUTO,
				 STATE_ANY,
				 {"on_fault_handled"},
				 LACKS_MINOR,
				 MAJORS},
			},
	},
	{
		.name = "fault_class",
		.tier = 2,
		.feeds = "what each fault was for, by what is mapped there and what was counted in "
			 "it: anonymous, huge, copy-on-write, file, swap, shared memory and so on",
		.lost = "latency and stall by class; minor and major stay",
		.alternate = {{"mappings", ATTACH_NOTHING, STATE_ANY, .differs = CLASSES_FOLD}},
	},
	{
		.name = "compaction",
		.tier = 2,
		.feeds = "direct compaction: time that threads moved pages for a large one",
		.lost = "time in compaction; huge pages are not told apart by it",
		.alternate = {{"raw_tp",
			       ATTACH_AUTO,
			       STATE_ANY,
			       {"on_compaction_begin", "on_compaction_end"}}},
	},
	{
		.name = "mmap_lock",
		.tier = 2,
		.feeds = "waits of more than 10 us for the lock of the address space, who had it, "
			 "and what that did",
		.lost = "time that faults and mapping calls wait for others of the process",
		.alternate = {{"raw_tp",
			       ATTACH_AUTO,
			       STATE_ANY,
			       {"on_lock_begin", "on_lock_end", "on_lock_released"}}},
	},
	{
		.name = "disk_wait",
		.tier = 2,
		.feeds = "waits of faults for disks, by what the kernel marks so when tasks sleep "
			 "and are woken",
		.lost = "of the time of faults, the part that is disks'",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_switch", "on_waking"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_switch", "raw_waking"}},
			},
	},
	{
		.name = "log",
		.tier = 1,
		.feeds = "the kernel's own lines in its log: which check refused a call, and its "
			 "error reports (for export)",
		.lost = "proof of refusals by overcommit; they are told from figures; error "
			"reports of the kernel",
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_console"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_console"}},
			},
	},
	{
		.name = "tlb",
		.tier = 3,
		.feeds = "TLB shootdowns: changes of mappings that other CPUs have to be told of "
			 "(x86)",
		.lost = "TLB shootdowns",
		.alternate = {{"raw_tp", ATTACH_AUTO, STATE_ANY, {"on_tlb_flush"}}},
	},
	{
		.name = "calls",
		.tier = 3,
		.feeds = "the end of mapping and descriptor calls: counts, refusals, thresholds",
		.lost = "refusals, calls by kind, descriptor thresholds between looks",
		/* the classic one costs half where nothing is of interest, but seconds to attach */
		.alternate =
			{
				{"tp_btf", ATTACH_AUTO, STATE_ANY, {"on_sys_exit"}},
				{"raw_tp", ATTACH_AUTO, STATE_HASH, {"raw_sys_exit"}},
				{"tracepoint",
				 ATTACH_CALL_EXITS,
				 STATE_TASK,
				 {"on_call_exit"},
				 .differs = "does not see calls of 32-bit processes"},
			},
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

int hook_alternate_find(const struct hook *h, const char *mechanism)
{
	for (int i = 0; h->alternate[i].mechanism; i++)
		if (!strcmp(h->alternate[i].mechanism, mechanism))
			return i;
	return -1;
}

bool hook_is_degraded(const struct hook *h, const struct hook_alternate *used)
{
	return h->core && used && used != h->alternate && used->differs && !used[1].mechanism;
}
