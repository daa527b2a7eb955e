// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Refused calls whose cause has no finding of its own: what each means, and what to do. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/refusal_rules.h"

static const struct meaning {
	const char *cause;
	const char *words;
	const char *help; /* NULL: none but to look at the call */
	bool mistake;	  /* of the caller, or a probe by it */
} meanings[] = {
	{"rlimit_stack",
	 "arguments and environment are more than a quarter of RLIMIT_STACK (ulimit -s)",
	 "fix: pass less: a file or standard input in place of arguments (xargs splits them), a "
	 "smaller environment"},
	{"cgroup_memory", "its cgroup has as much memory as it may (memory.max)",
	 "see what is charged to it: memory.stat of that cgroup: anon, shmem (files of tmpfs and "
	 "/dev/shm too), kernel (page tables, mappings)"},
	{"range_hole", "a part of its range is not mapped",
	 "fix in the caller: it reaches over what was unmapped, or never mapped; who unmapped it: "
	 "strace -f -k -e trace=mmap,munmap,mremap -p PID"},
	{"no_room_in_place", "it may not move, and a neighbour is in its way",
	 "fix in the caller: mremap with MREMAP_MAYMOVE, or room reserved beforehand (PROT_NONE)"},
	{"brk_collision", "another mapping is in the heap's way",
	 "malloc goes on by mmap: harmless but for a program that needs sbrk; fix: map nothing at "
	 "fixed addresses behind the heap"},
	{"fixed_exists", "something is mapped there already",
	 "MAP_FIXED_NOREPLACE says so by design: ask for another address, or for none", true},
	{"file_mode", "its file is not open for that",
	 "fix in the caller: a mapping wants its file open for reading, and a shared one that is "
	 "written for reading and writing (O_RDWR)"},
	{"noexec_mount", "its file is on a file system that nothing may be run from (noexec)",
	 "which mount it is: findmnt -T FILE; run it from elsewhere, or as root: mount -o "
	 "remount,exec MOUNTPOINT (what anybody may write there can be run then)"},
	{"sealed", "its file or range is sealed against it",
	 "nothing takes a seal back: map a sealed memory file for reading or privately; leave what "
	 "mseal() sealed as it is"},
	{"min_address", "so low an address is below vm.mmap_min_addr",
	 "fix in the caller: ask for no address, or a higher one; the sysctl is the kernel's own "
	 "defence against its null pointers"},
	{"not_mappable", "a file of this kind cannot be mapped",
	 "fix in the caller: read() it, or map what it is made of"},
	{"write_exec_denied", "memory may not be executed that is or was written (PR_SET_MDWE)",
	 "its service manager or itself set it: MemoryDenyWriteExecute= of the unit; a compiler at "
	 "run time (JIT) needs it off"},
	{"security_module", "no limit: a filter or a security module said no, as far as it shows",
	 "what forbids it: journalctl -k -g 'audit|seccomp|apparmor|avc'; the seccomp profile of "
	 "its container, SystemCallFilter= of its unit"},
	{"bad_descriptor", "its descriptor is not open, or not one for that", NULL, true},
	{"bad_argument", "an argument is wrong", NULL, true},
	{"nr_open", "no process may have more descriptors: fs.nr_open is used up",
	 "fix: so many are seldom meant: ls -l /proc/PID/fd shows what they are"},
	{"descriptor_number_limit", "the number it asks for is not below RLIMIT_NOFILE (ulimit -n)",
	 "fix in the caller: a smaller number, by what getrlimit() says"},
	{"inotify_watches", "its user has as many inotify watches as it may",
	 "who has them: grep -c ^inotify /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -v ':0$' | sort "
	 "-t: -k2 -n | tail -5"},
	{"fanotify_groups",
	 "its user has as many fanotify groups as it may (user.max_fanotify_groups): no descriptor "
	 "limit",
	 "who has them: grep -l ^fanotify /proc/[0-9]*/fdinfo/* 2>/dev/null; a user namespace has "
	 "a limit of its own besides those above it; before Linux 5.13 it is 128, and cannot be "
	 "changed"},
	{"rlimit_msgqueue",
	 "its user's message queues would take more bytes than RLIMIT_MSGQUEUE (ulimit -q): no "
	 "descriptor limit",
	 "fix: mq_unlink the queues that are done with (ls -l /dev/mqueue), or fewer and smaller "
	 "messages a queue: each takes mq_maxmsg times (mq_msgsize + 96) bytes of the user's"},
	{"epoll_watches",
	 "its user has as many epoll watches as it may (fs.epoll.max_user_watches)",
	 "who has them: grep -c ^tfd /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -v ':0$' | sort -t: "
	 "-k2 -n | tail -5"},
	{"pipe_pages",
	 "its user's pipes may not be larger (fs.pipe-max-size, fs.pipe-user-pages-*)",
	 "fix: fewer pipes, or the size they have by themselves: F_SETPIPE_SZ is a wish"},
	{"unknown", "by no limit that can be read", NULL},
};

static const struct meaning *meaning_of(const struct occasion *o)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (refusal_has_cause(o, meanings[i].cause))
			return &meanings[i];
	return NULL;
}

/* What stands behind an answer that no limit explains. */
static void help_unknown(const struct refused_record *r, struct finding *f)
{
	if (r->facts & FACT_FILTERED)
		finding_remedy(f,
			       "its seccomp filter decides of this call: the profile of its "
			       "container (docker: --security-opt seccomp=), SystemCallFilter= of "
			       "its unit");
	if (r->facts & FACT_PIDS_OVER)
		finding_remedy(f,
			       "fix in the caller: after unshare(CLONE_NEWPID) the first child is "
			       "the namespace's init, and has to live as long as it is used");
}

/* Of a namespace's own limit the host's setting is not the one to change. */
static void of_namespace(const struct refused_record *r, const char *sysctl, struct finding *f)
{
	snprintf(f->set_by, sizeof(f->set_by), "its user namespace, or one above: %s there",
		 sysctl);
	finding_remedy(f, "to gain time: nsenter -t %u -U sysctl -w %s=%" PRIu64, r->subject.pid,
		       sysctl, f->want);
}

bool help_inotify(const struct occasion *o, struct finding *f)
{
	const struct host_limits *l = &o->m->tick.limits;
	const struct user_counts *u = &o->refused->user;

	if (refusal_has_cause(o, "inotify_watches") && u->inotify_watches != UINT64_MAX &&
	    u->inotify_watches_max < l->inotify_watches)
		of_namespace(o->refused, "user.max_inotify_watches", f);
	else if (refusal_has_cause(o, "inotify_instances") && u->inotify_instances != UINT64_MAX &&
		 u->inotify_instances_max < l->inotify_instances)
		of_namespace(o->refused, "user.max_inotify_instances", f);
	else
		return false;
	return true;
}

/* A program that raises its limit tries the highest value first, and takes a lower one then. */
static bool is_probe(const struct refused_record *r)
{
	return r->call == CALL_SETRLIMIT;
}

bool refused_otherwise(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct meaning *m = meaning_of(o);

	if (!m)
		return false;
	refusal_say(o, f, m->words);
	/* what the kernel does not take is the caller's affair, and may be a probe */
	f->severity = m->mistake || is_probe(o->refused) ? SEVERITY_INFO : SEVERITY_WARNING;
	if (m->help)
		finding_remedy(f, "%s", m->help);
	if (!help_inotify(o, f))
		help_limit(o, f);
	if (refusal_has_cause(o, "unknown"))
		help_unknown(o->refused, f);
	finding_remedy(f,
		       "see the call and its arguments: faultscope --json -p PID, or run --json: "
		       "lines of type \"refused\"");
	return true;
}
