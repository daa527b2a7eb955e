// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/drop_privileges.h"

#include <dirent.h>
#include <stdlib.h>
#include <linux/capability.h>

#include "collect/limits/limit_source.h"
#include "probe/host_facts.h"

/*
 * Chooses the capabilities to keep, which depend on the kernel and on what faultscope does. Returns
 * their number.
 */
static size_t choose_kept(struct session *s, struct right *ret)
{
	bool runs = s->plan.whom == WATCH_COMMAND;
	bool reads = s->plan.attributes_all || s->out.redraws || s->plan.resident_each ||
		     s->plan.profiles;
	size_t n = 0;

	if (!s->in.src->live)
		return 0;
	/*
	 * Without Landlock, faultscope can read files that are mapped later. The unwind tables of
	 * these files need new BPF maps.
	 */
	if (s->in.unwinder && !live_needs_rights(s->in.src) && !rights_are_of_file() &&
	    (reads || runs))
		ret[n++] = (struct right){CAP_BPF, CAP_SYS_ADMIN,
					  "unwind tables of files mapped later need new BPF maps"};
	if (live_needs_rights(s->in.src))
		ret[n++] = (struct right){CAP_BPF, CAP_SYS_ADMIN,
					  "before Linux 5.19, kernel.unprivileged_bpf_disabled "
					  "also forbids scans and BPF map commands"};
	/*
	 * If faultscope has file capabilities, any user may run it. For this reason it keeps no
	 * capability that shows other users' processes.
	 */
	if (rights_are_of_file())
		return n;
	if (host_hides_processes())
		ret[n++] = (struct right){
			CAP_SYS_PTRACE, -1,
			"/proc is mounted with hidepid, which hides other users' processes"};
	else if (reads)
		ret[n++] = (struct right){CAP_SYS_PTRACE, -1,
					  "diagnose, memory and the live view read what a process "
					  "maps and has open"};
	else if (runs && s->in.collector.names_stacks)
		ret[n++] = (struct right){CAP_SYS_PTRACE, -1,
					  "user stacks of the command are named by the files that "
					  "its processes map"};
	if (live_scans_proc(s->in.src) && !host_counts_fds())
		ret[n++] = (struct right){CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE,
					  "before 6.2 file descriptors are counted by reading "
					  "/proc/PID/fd"};
	else if (reads)
		ret[n++] = (struct right){CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE,
					  "diagnose and the live view read /proc/PID/fd of other "
					  "users"};
	if (runs)
		ret[n++] = (struct right){
			CAP_KILL, -1, "signals are passed on to the command, whoever it becomes"};
	return n;
}

/*
 * Reads the mappings of each process now, to name the functions of stacks later: without
 * privileges, faultscope cannot read the mappings of other users' processes. Files that such a
 * process maps later are not known, and their functions have no names.
 */
static void learn_mappings(struct session *s)
{
	struct user_symbols *us = &s->in.collector.user_symbols;

	if (!s->in.collector.names_stacks)
		return;
	for (struct subject *one = model_each(&s->in.m, NULL);
	     one && s->in.unwinder && s->plan.whom != WATCH_ALL; one = model_each(&s->in.m, one))
		if (!one->final)
			unwinder_note(s->in.unwinder, &one->id);
	while (!session_unwind(s))
		continue;
	for (struct subject *one = model_each(&s->in.m, NULL); one; one = model_each(&s->in.m, one))
		if (!one->final)
			user_symbols_learn(us, &one->id);
}

void privileges_drop(struct session *s)
{
	struct right keep[RIGHTS_KEPT_MAX];
	size_t n = choose_kept(s, keep);

	learn_mappings(s);
	if (s->in.unwinder)
		unwinder_settle(s->in.unwinder);
	/*
	 * origins of limits are looked up later, when a finding names the limit: keep their files
	 * readable
	 */
	if (s->in.collector.names_stacks)
		s->in.scope.readable = origin_places;
	s->in.scope.filters = true;
	s->in.scope.renames_in[0] = s->out.file.waits ? s->out.file.dir : -1;
	s->in.scope.renames_in[1] = s->out.junit.waits ? s->out.junit.dir : -1;
	rights_drop(keep, n, &s->in.scope, &s->in.rights);
	if (s->in.rights.failed[0])
		complain("continuing with more privileges than necessary, because dropping them "
			 "failed: %s",
			 s->in.rights.failed);
}

static void name_one(struct session *s, pid_t pid)
{
	struct names_record names = {.h = {RECORD_NAMES, sizeof(names), host_monotonic_ns()}};
	pid_t initial = live_pid_of(s->in.src, pid);

	for (struct subject *one = model_each(&s->in.m, NULL); one;
	     one = model_each(&s->in.m, one)) {
		if (one->id.pid != (uint32_t)initial || one->final)
			continue;
		names.subject = one->id;
		if (names_read(pid, &names))
			collector_take(&s->in.collector, &names.h);
		return;
	}
}

void privileges_name_namespace(struct session *s)
{
	const struct filter *f = &s->o->filter;
	struct dirent *de;
	DIR *d;

	if (!host_is_in_pid_namespace())
		return;
	d = host_has_own_proc() ? opendir("/proc") : NULL;
	while (d && (de = readdir(d)))
		if (atoi(de->d_name) > 0)
			name_one(s, atoi(de->d_name));
	if (d)
		closedir(d);
	if (!f->pids)
		complain("in a pid namespace: pids in the output are those of the initial "
			 "namespace");
	if (!f->pids && live_scan_is_confined(s->in.src))
		complain("in a pid namespace: " LOOKS_WITHIN);
	for (size_t i = 0; i < f->pids; i++)
		complain("in a pid namespace: pids in the output are those of the initial "
			 "namespace: "
			 "%u here is %d",
			 f->pid[i], live_pid_of(s->in.src, f->pid[i]));
}

void privileges_drop_to_store(int kept)
{
	const struct right keep = {kept, -1, "the files of a service belong to another user"};
	struct rights rights = {};

	rights_drop_to(&keep, rights_are_of_file() ? 0 : 1, &rights);
	if (rights.failed[0])
		complain("not all privileges could be dropped: %s", rights.failed);
}

void privileges_report(const struct session *s, struct report_rights *ret)
{
	const struct rights *r = &s->in.rights;

	for (size_t i = 0; i < r->nr_kept && ret->nr_kept < REPORT_KEPT; i++) {
		rights_name(r->kept[i].capability, ret->kept[i].capability,
			    sizeof(ret->kept[i].capability));
		ret->kept[ret->nr_kept++].why = r->kept[i].why;
	}
	ret->no_new_privs = r->no_new_privs;
	ret->landlock_abi = r->landlock;
	ret->landlock_off = r->landlock ? NULL : r->no_landlock;
	ret->kernel_symbols = s->in.collector.symbols.f != NULL;
	ret->not_given_up = r->failed[0] ? r->failed : NULL;
}
