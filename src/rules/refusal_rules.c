// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/refusal_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/pressure_rules.h"

bool refusal_has_cause(const struct occasion *o, const char *cause)
{
	return !strcmp(o->verdict->cause, cause);
}

void refusal_say(const struct occasion *o, struct finding *f, const char *limit)
{
	const struct fs_refused_record *r = o->refused;
	char number[16];

	f->severity = SEVERITY_CRITICAL;
	f->cause = o->verdict->cause;
	f->level = 1;
	snprintf(f->title, sizeof(f->title), "%s refused%s%s: %s", call_name(r->call),
		 r->error ? " with " : "",
		 r->error ? errno_name(r->error, number, sizeof(number)) : "", limit);
	for (size_t i = 0; i < o->verdict->nr_evidence; i++)
		finding_evidence(f, o->verdict->evidence[i].field, o->verdict->evidence[i].value,
				 o->verdict->evidence[i].limit);
	snprintf(number, sizeof(number), "%" PRIu64, (uint64_t)r->count);
	finding_evidence(f, "refused_calls", number, NULL);
	for (size_t i = 0; i < o->verdict->nr_next; i++)
		finding_evidence(f, "would_fail_next", o->verdict->next[i], NULL);
}

static bool is_fork(const struct occasion *o)
{
	return o->refused->call == FS_CALL_CLONE;
}

/* What would have had to be there besides: of mmap, whose length is known. */
static uint64_t missing_commit(const struct occasion *o)
{
	const struct fs_limits *l = &o->m->tick.limits;
	uint64_t want = l->committed_bytes;

	if (o->refused->call == FS_CALL_MMAP && o->refused->args[1] < UINT64_MAX - want)
		want += o->refused->args[1];
	return want > l->commit_limit_bytes ? want - l->commit_limit_bytes : 0;
}

bool refused_by_strict(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct fs_limits *l = &o->m->tick.limits;
	char used[24], limit[24];

	if (is_fork(o) || !refusal_has_cause(o, "overcommit_strict"))
		return false;
	refusal_say(o, f, "CommitLimit is used up (vm.overcommit_memory=2), host-wide");
	bytes_as_text(l->committed_bytes, used);
	bytes_as_text(l->commit_limit_bytes, limit);
	finding_remedy(
		f, "%s of %s are promised: who has most: ps -eo pid,vsz,comm --sort=-vsz | head",
		used, limit);
	/* swap counts whole, and so does what a program no longer asks for */
	pressure_help_room(f, o->m, missing_commit(o), "swap");
	finding_remedy(f,
		       "to gain time: swap adds its size to the limit (fallocate, mkswap, swapon), "
		       "or sysctl -w vm.overcommit_ratio=%s",
		       "80");
	finding_remedy(f,
		       "fix: reserve with PROT_NONE, which is not counted; MAP_NORESERVE does not "
		       "help in this mode");
	return true;
}

bool refused_by_heuristic(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (is_fork(o) || !refusal_has_cause(o, "overcommit_heuristic"))
		return false;
	refusal_say(o, f, "one mapping larger than all of memory and swap");
	finding_remedy(f, "fix: map in parts, or reserve with MAP_NORESERVE or PROT_NONE and make "
			  "writable what is used");
	finding_remedy(f,
		       "to gain time (host-wide): sysctl -w vm.overcommit_memory=1, which refuses "
		       "nothing and leaves the rest to the OOM killer");
	return true;
}

bool fork_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!is_fork(o) || (!refusal_has_cause(o, "overcommit_strict") &&
			    !refusal_has_cause(o, "overcommit_heuristic")))
		return false;
	refusal_say(o, f, "a copy of all that is writable would have to be promised");
	finding_remedy(f, "fix: posix_spawn() or vfork() before an exec: nothing is copied");
	finding_remedy(f, "to gain time (host-wide): sysctl -w vm.overcommit_memory=1 (what Redis "
			  "asks for), or more swap");
	return true;
}

bool refused_by_space(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "address_space"))
		return false;
	refusal_say(o, f, "no free range of that length in the address space");
	finding_remedy(f,
		       "fix: reserve less at a time (WebAssembly runtimes: a smaller pool); what "
		       "is reserved and done with is to be unmapped");
	return true;
}

bool refused_by_huge_pages(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct fs_limits *l = &o->m->tick.limits;

	if (!refusal_has_cause(o, "hugetlb_pool"))
		return false;
	refusal_say(o, f, "the pool of huge pages has not as many");
	finding_remedy(f,
		       "to gain time (host-wide, memory is taken at once): sysctl -w "
		       "vm.nr_hugepages=%" PRIu64,
		       (uint64_t)l->huge_pages + 512);
	finding_remedy(f, "fix: reserve at boot (hugepages=), or use transparent ones: "
			  "madvise(MADV_HUGEPAGE); in Kubernetes also a limit of hugepages-2Mi");
	return true;
}

bool refused_by_driver(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!refusal_has_cause(o, "driver"))
		return false;
	refusal_say(o, f, "no limit of the kernel: the file's own driver said no");
	f->severity = SEVERITY_WARNING;
	finding_remedy(f, "look at dmesg for what the driver says, and at the arguments it takes");
	return true;
}

bool thread_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (refusal_has_cause(o, "rlimit_nproc")) {
		refusal_say(o, f, "RLIMIT_NPROC (ulimit -u) of its user is used up");
		finding_remedy(f, "it counts threads of the user in all sessions: ps -eLo user= | "
				  "sort | uniq -c | sort -n | tail -3");
		finding_remedy(f,
			       "to gain time: prlimit --pid %u --nproc=65536; for sessions: "
			       "/etc/security/limits.d, for units: LimitNPROC=",
			       o->refused->subject.pid);
	} else if (refusal_has_cause(o, "cgroup_pids")) {
		refusal_say(o, f, "pids.max of its cgroup is used up");
		finding_remedy(
			f, "to gain time: systemctl set-property UNIT TasksMax=infinity; docker "
			   "update --pids-limit 0; in Kubernetes podPidsLimit of the kubelet");
		finding_remedy(f, "fix: fewer threads: pools, not one a request");
	} else if (refusal_has_cause(o, "threads_max")) {
		refusal_say(o, f, "kernel.threads-max is used up, host-wide");
		finding_remedy(f, "find who has them: ps -eo nlwp,pid,comm --sort=-nlwp | head");
		finding_remedy(f, "to gain time: sysctl -w kernel.threads-max=%" PRIu64,
			       (uint64_t)o->m->tick.limits.threads_max * 2);
	} else {
		return false;
	}
	return true;
}
