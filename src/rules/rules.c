// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/calling_rules.h"
#include "rules/diagnoses.h"
#include "rules/event_count.h"
#include "rules/growth_rules.h"
#include "rules/limits_rules.h"
#include "rules/pressure_rules.h"
#include "rules/refusal_rules.h"
#include "rules/stack_rules.h"
#include "rules/stall_rules.h"

static bool is_freeing(unsigned int call)
{
	return call != CALL_MMAP && call != CALL_BRK && call != CALL_SHMAT;
}

static bool refused_by_map_count(const struct occasion *o, const struct finding *open,
				 struct finding *f)
{
	if (!refusal_has_cause(o, "max_map_count") || is_freeing(o->refused->call))
		return false;
	refusal_say(o, f, "vm.max_map_count is used up");
	growth_evidence(f, o->m, &o->refused->subject, WHAT_MAPS);
	finding_remedy(f, "fewer mappings: pack small ones together; a PyTorch DataLoader that "
			  "shares many tensors: stack them, or use multiprocessing_context='fork'");
	limit_help_map_count(f, o->m, o->refused->map_count);
	return true;
}

static bool split_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "max_map_count") || !is_freeing(o->refused->call))
		return false;
	refusal_say(o, f, "it needs to split a mapping, and vm.max_map_count is used up");
	finding_remedy(f, "memory can no longer be given back in parts: unmap whole mappings, or "
			  "let the allocator keep its pages (jemalloc: retain:true)");
	limit_help_map_count(f, o->m, o->refused->map_count);
	return true;
}

static bool refused_by_as(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_as"))
		return false;
	refusal_say(o, f, "RLIMIT_AS (ulimit -v) is used up");
	finding_remedy(f, "RLIMIT_AS counts reservations nobody touches: bound memory by a cgroup "
			  "(memory.max) instead");
	if (!help_limit(o, f))
		finding_remedy(f, "to gain time: prlimit --pid %u --as=unlimited",
			       o->refused->subject.pid);
	return true;
}

static bool refused_by_data(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_data"))
		return false;
	refusal_say(o, f, "RLIMIT_DATA (ulimit -d) is used up");
	finding_remedy(
		f, "since Linux 4.7 it counts private writable mappings too, not only the heap");
	if (!help_limit(o, f))
		finding_remedy(f, "to gain time: prlimit --pid %u --data=unlimited",
			       o->refused->subject.pid);
	return true;
}

static bool refused_by_memlock(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_memlock"))
		return false;
	refusal_say(o, f, "RLIMIT_MEMLOCK (ulimit -l) is used up");
	/* programs lock what they can, and register buffers where they may: most go on without */
	if (o->refused->call != CALL_MMAP && o->refused->call != CALL_BRK &&
	    o->refused->call != CALL_MREMAP && o->refused->call != CALL_IO_URING)
		f->severity = SEVERITY_WARNING;
	if (!help_limit(o, f))
		limit_help_memlock(f, o->s, o->refused->subject.pid);
	return true;
}

static bool refused_by_nofile(const struct occasion *o, const struct finding *open,
			      struct finding *f)
{
	if (!refusal_has_cause(o, "rlimit_nofile"))
		return false;
	refusal_say(o, f, "RLIMIT_NOFILE (ulimit -n) is used up");
	growth_evidence(f, o->m, &o->refused->subject, WHAT_FDS);
	limit_help_descriptors(f, o->s);
	if (f->want > o->refused->fd_soft * 4 && f->want > 65536)
		help_limit(o, f);
	else
		limit_help_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

static bool descriptors_dropped(const struct occasion *o, const struct finding *open,
				struct finding *f)
{
	if (!refusal_has_cause(o, "descriptors_dropped"))
		return false;
	refusal_say(o, f, "");
	snprintf(f->title, sizeof(f->title),
		 "%s dropped descriptors sent to it, and said success: RLIMIT_NOFILE is used up",
		 call_name(o->refused->call));
	limit_help_descriptors(f, o->s);
	if (f->want > o->refused->fd_soft * 4 && f->want > 65536)
		help_limit(o, f);
	else
		limit_help_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

static bool refused_by_file_max(const struct occasion *o, const struct finding *open,
				struct finding *f)
{
	if (!refusal_has_cause(o, "file_max"))
		return false;
	refusal_say(o, f, "fs.file-max is used up, host-wide");
	limit_help_file_holders(f);
	help_limit_or_see(o, f);
	return true;
}

static bool refused_by_inotify(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	if (!refusal_has_cause(o, "inotify_instances"))
		return false;
	refusal_say(o, f, "its user has as many inotify instances as it may: no descriptor limit");
	if (!help_inotify(o, f))
		help_limit_or_see(o, f);
	return true;
}

static bool bad_kernel_address(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	const struct kernel_fault_record *r = o->kernel_fault;
	const struct symbol *sym = model_symbol(o->m, r->ip);
	char text[48];

	if (r->nofault)
		return false; /* a probing read: it survives by design */
	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	snprintf(f->title, sizeof(f->title), "the kernel touched a bad address in %s%s%s%s",
		 sym ? sym->symbol : "code without a name", sym && sym->module[0] ? " [" : "",
		 sym ? sym->module : "", sym && sym->module[0] ? "]" : "");
	snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)r->count);
	finding_evidence(f, KERNEL_FAULT_TIMES, text, NULL);
	f->times = r->count;
	finding_evidence(f, "access",
			 r->error_code & 16  ? "exec"
			 : r->error_code & 2 ? "write"
					     : "read",
			 NULL);
	finding_evidence(f, "address", r->address >> 63 ? "kernel half" : "user half, no user copy",
			 NULL);
	finding_remedy(f, "it may be an oops in the making: look at dmesg; lsmod | grep for the "
			  "module named");
	return true;
}

/* A signal is the consequence of what was refused at most this long before. */
#define HEELS_NS 1000000000ULL

/* The latest refusal by the map count, of a call that maps or of one that splits. */
static const struct finding *refused_before(const struct occasion *o)
{
	const struct finding *map = finding_open(o->findings, "M01", &o->signal->subject);
	const struct finding *split = finding_open(o->findings, "M02", &o->signal->subject);

	if (!map || (split && split->seen_ns > map->seen_ns))
		map = split;
	return map && map->seen_ns <= o->t_ns && o->t_ns - map->seen_ns <= HEELS_NS ? map : NULL;
}

static bool crash_after_refusal(const struct occasion *o, const struct finding *open,
				struct finding *f)
{
	const struct finding *refused = refused_before(o);
	char name[24], number[16];
	struct buf b = {};

	if (!refused)
		return false;
	signal_name(o->signal->signal, name, sizeof(name));
	put_duration(&b, o->t_ns - refused->seen_ns);
	f->severity = SEVERITY_CRITICAL;
	f->cause = refused->cause;
	f->level = 1;
	snprintf(f->title, sizeof(f->title), "%s %s after %.144s", name, b.s ? b.s : "?",
		 refused->title);
	finding_evidence(f, "signal", name, NULL);
	snprintf(number, sizeof(number), "%d", o->signal->code);
	finding_evidence(f, "si_code", number, NULL);
	finding_evidence(f, "after_refusal", b.s ? b.s : "", NULL);
	buf_free(&b);
	finding_remedy(f,
		       "take the refusal for the cause, not the place of the crash: it is "
		       "finding %s",
		       refused->rule->id);
	return true;
}

/* Ids are stable once shipped. */
const struct rule rules[] = {
	{"M01", ON_REFUSED, "calls", refused_by_map_count,
	 "M03 M04 M05 M06 M07 M08 M09 M10 M12 M25 M26"},
	{"M02", ON_REFUSED, "calls", split_refused, "M03 M04 M05 M06 M07 M08 M09 M10 M12 M25 M26"},
	{"M03", ON_SUBJECT, NULL, torch_shares},
	{"M04", ON_SUBJECT, NULL, thread_stacks},
	{"M05", ON_SUBJECT, NULL, zgc_heap},
	{"M06", ON_SUBJECT, "calls", allocator_splits},
	{"M07", ON_SUBJECT, NULL, dotnet_double_maps},
	{"M08", ON_SUBJECT, "calls", go_splits},
	{"M09", ON_SUBJECT, NULL, map_per_file},
	{"M10", ON_SUBJECT, "calls", maps_leak},
	{"M11", ON_SUBJECT, NULL, maps_burst},
	{"M12", ON_SUBJECT, NULL, wine_demand},
	{"M13", ON_REFUSED, "calls", refused_by_as},
	{"M14", ON_REFUSED, "calls", refused_by_data},
	{"M15", ON_REFUSED, "calls", refused_by_strict, "M30 M31"},
	{"M16", ON_REFUSED, "calls", refused_by_heuristic},
	{"M17", ON_REFUSED, "calls", fork_refused, "M30 M31"},
	{"M18", ON_REFUSED, "calls", refused_by_space},
	{"M19", ON_REFUSED, "calls", refused_by_huge_pages},
	{"M20", ON_REFUSED, "calls", refused_by_memlock, "M28 M29"},
	{"M21", ON_REFUSED, "calls", refused_by_driver},
	{"M22", ON_SUBJECT, "calls", python_waits_for_thread, "M01 M13 M14 M15 M16"},
	{"M23", ON_REFUSED, "calls", thread_refused, "M32 M33 M36 M37"},
	{"M24", ON_SIGNAL, "signal", crash_after_refusal, "M02 M01"},
	{"M25", ON_SUBJECT, NULL, limit_is_near, "M03 M04 M05 M06 M07 M08 M09 M10 M12",
	 RESOURCE_MAPS},
	{"M26", ON_SUBJECT, NULL, limit_is_coming, "M03 M04 M05 M06 M07 M08 M09 M10 M12",
	 RESOURCE_MAPS},
	{"M27", ON_REFUSED, "calls", refused_otherwise},
	{"M28", ON_SUBJECT, NULL, limit_is_near, NULL, RESOURCE_MEMLOCK},
	{"M29", ON_SUBJECT, NULL, limit_is_coming, NULL, RESOURCE_MEMLOCK},
	{"M30", ON_HOST, NULL, limit_is_near, NULL, RESOURCE_COMMIT},
	{"M31", ON_HOST, NULL, limit_is_coming, NULL, RESOURCE_COMMIT},
	{"M32", ON_SUBJECT, NULL, limit_is_near, NULL, RESOURCE_THREADS},
	{"M33", ON_SUBJECT, NULL, limit_is_coming, NULL, RESOURCE_THREADS},
	{"M34", ON_SUBJECT, NULL, limit_is_near, NULL, RESOURCE_CGROUP_MEMORY},
	{"M35", ON_SUBJECT, NULL, limit_is_coming, NULL, RESOURCE_CGROUP_MEMORY},
	{"M36", ON_SUBJECT, NULL, limit_is_near, NULL, RESOURCE_CGROUP_PIDS},
	{"M37", ON_SUBJECT, NULL, limit_is_coming, NULL, RESOURCE_CGROUP_PIDS},
	{"F01", ON_REFUSED, "calls", refused_by_nofile, "F08 F09 F10 F11 F12 F13"},
	{"F02", ON_REFUSED, "calls", refused_by_file_max, "F14 F15"},
	{"F03", ON_REFUSED, "calls", refused_by_inotify},
	{"F04", ON_REFUSED, "calls", descriptors_dropped, "F12 F13"},
	{"F05", ON_SUBJECT, "calls", accept_spins, "F01 F09 F12 F13"},
	{"F06", ON_SUBJECT, "calls", closes_in_vain},
	{"F07", ON_SUBJECT, "calls", select_is_too_wide},
	{"F08", ON_SUBJECT, "calls", fd_class_leaks},
	{"F09", ON_SUBJECT, NULL, sockets_not_closed},
	{"F10", ON_SUBJECT, NULL, sharing_by_fd},
	{"F11", ON_SUBJECT, NULL, wine_esync},
	{"F12", ON_SUBJECT, NULL, limit_is_near, "F08 F09 F10 F11", RESOURCE_FDS},
	{"F13", ON_SUBJECT, NULL, limit_is_coming, "F08 F09 F10 F11", RESOURCE_FDS},
	{"F14", ON_HOST, NULL, limit_is_near, NULL, RESOURCE_FILES},
	{"F15", ON_HOST, NULL, limit_is_coming, NULL, RESOURCE_FILES},
	{"P01", ON_SIGNAL, "signal", tmpfs_was_full, "P21"},
	{"P02", ON_SIGNAL, "signal", file_was_cut},
	{"P03", ON_SIGNAL, "signal", disk_was_full},
	{"P04", ON_SIGNAL, "signal", page_was_poisoned},
	{"P05", ON_HOST, NULL, swap_thrashes, "P19 P20"},
	{"P06", ON_HOST, NULL, cache_thrashes},
	{"P07", ON_CGROUP, NULL, cgroup_is_throttled},
	{"P08", ON_SUBJECT, "compaction", compaction_in_faults},
	{"P09", ON_SUBJECT, "fault_class", copies_after_fork},
	{"P10", ON_HOST, NULL, pages_migrate},
	{"P11", ON_SUBJECT, "fault_class", purge_and_touch},
	{"P12", ON_SUBJECT, "mmap_lock", waits_for_itself},
	{"P13", ON_SUBJECT, "mmap_lock", waits_for_another},
	{"P14", ON_SUBJECT, "fault_class", reads_too_much},
	{"P15", ON_SUBJECT, "fault_class", served_by_user},
	{"P16", ON_SUBJECT, "fault_class", file_hangs, "P05"},
	{"P17", ON_OOM, "oom", oom_killed, "P24 P19 P20 P05"},
	{"P18", ON_SIGNAL, "signal", stack_ran_out},
	{"P19", ON_HOST, NULL, limit_is_coming, NULL, RESOURCE_MEMORY},
	{"P20", ON_HOST, NULL, limit_is_coming, NULL, RESOURCE_SWAP},
	{"P21", ON_MOUNT, NULL, tmpfs_fills},
	{"P22", ON_CGROUP, NULL, cgroup_fills},
	{"P23", ON_HOST, NULL, work_waits},
	{"P24", ON_HOST, NULL, memory_is_near_its_end, "P19 P20"},
	{"K01", ON_KERNEL_FAULT, "fault_kernel", bad_kernel_address},
};

const size_t nr_rules = sizeof(rules) / sizeof(rules[0]);

const struct rule *diagnosis_rule(const struct diagnosis *d)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].id, d->id))
			return &rules[i];
	return NULL;
}
