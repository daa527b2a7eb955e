// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings M15 to M19, M21 and M23. A failed call must only open the finding of its own
 * cause.
 */
#include <errno.h>
#include <string.h>

#include "growth_fixture.h"
#include "rules/refusal_rules.h"
#include "tap.h"
#include "finding_text.h"

static const struct {
	const char *cause, *id;
	enum call_id call;
	int error;
	enum severity severity;
	const char *title, *advice;
	uint64_t need;
} cases[] = {
	{"overcommit_strict", "M15", CALL_MMAP, ENOMEM, SEVERITY_CRITICAL,
	 "mmap failed with ENOMEM: CommitLimit reached", "ps -eo pid,vsz,comm"},
	{"overcommit_heuristic", "M16", CALL_MMAP, ENOMEM, SEVERITY_CRITICAL,
	 "larger than RAM and swap", "MAP_NORESERVE"},
	{"overcommit_strict", "M17", CALL_CLONE, ENOMEM, SEVERITY_CRITICAL,
	 "overcommit does not allow a copy", "posix_spawn()"},
	{"overcommit_heuristic", "M17", CALL_CLONE, ENOMEM, SEVERITY_CRITICAL,
	 "overcommit does not allow a copy", "vm.overcommit_memory=1"},
	{"address_space", "M18", CALL_MMAP, ENOMEM, SEVERITY_CRITICAL, "no free range",
	 "reserve less address space at a time"},
	{"hugetlb_pool", "M19", CALL_MMAP, ENOMEM, SEVERITY_CRITICAL, "not enough free huge pages",
	 "vm.nr_hugepages=520", 520},
	{"driver", "M21", CALL_MMAP, EIO, SEVERITY_WARNING, "the driver of the file returned",
	 "dmesg"},
	{"rlimit_nproc", "M23", CALL_CLONE, EAGAIN, SEVERITY_CRITICAL, "RLIMIT_NPROC",
	 "prlimit --pid 10 --nproc=", 101},
	{"cgroup_pids", "M23", CALL_CLONE, EAGAIN, SEVERITY_CRITICAL, "pids.max", "TasksMax=", 21},
	{"threads_max", "M23", CALL_CLONE, EAGAIN, SEVERITY_CRITICAL, "kernel.threads-max",
	 "kernel.threads-max=65536", 30001},
	{"tmpfs_size", "M38", CALL_FALLOCATE, ENOSPC, SEVERITY_CRITICAL,
	 "fallocate failed with ENOSPC: tmpfs of 0 B is full", "files in a tmpfs stay"},
	{"shmmax", "M39", CALL_SHMGET, EINVAL, SEVERITY_CRITICAL, "kernel.shmmax is smaller",
	 "nsenter -t 10 -i sysctl -w kernel.shmmax=1048576", 5000},
	{"shmall", "M39", CALL_SHMGET, ENOSPC, SEVERITY_CRITICAL, "kernel.shmall reached",
	 "nsenter -t 10 -i sysctl -w kernel.shmall=65536", 5000},
	{"shmmni", "M39", CALL_SHMGET, ENOSPC, SEVERITY_CRITICAL, "kernel.shmmni reached",
	 "nsenter -t 10 -i sysctl -w kernel.shmmni=32768", 4097},
	{"semmsl", "M39", CALL_SEMGET, EINVAL, SEVERITY_CRITICAL, "SEMMSL",
	 "kernel.sem='32000 1024000000 500 32000'"},
	{"semmns", "M39", CALL_SEMGET, ENOSPC, SEVERITY_CRITICAL, "SEMMNS", "ipcs -s"},
	{"semmni", "M39", CALL_SEMGET, ENOSPC, SEVERITY_CRITICAL, "SEMMNI", "ipcrm"},
	{"msgmni", "M39", CALL_MSGGET, ENOSPC, SEVERITY_CRITICAL, "kernel.msgmni",
	 "kernel.msgmni=32768", 32001},
	{"tmpfs_quota", "M27", CALL_FALLOCATE, EDQUOT, SEVERITY_WARNING, "quota", "setquota"},
	{"hugetlbfs_size", "M27", CALL_FALLOCATE, ENOSPC, SEVERITY_WARNING, "hugetlbfs is full",
	 "larger size="},
	{"device", "M40", CALL_IOCTL, ENOMEM, SEVERITY_WARNING,
	 "ioctl failed with ENOMEM: the driver of the device returned the error", "dmesg"},
	{"device_right", "M40", CALL_IOCTL, EPERM, SEVERITY_INFO, "a right that the program lacks",
	 "CAP_NET_ADMIN"},
	{"device_busy", "M40", CALL_IOCTL, EAGAIN, SEVERITY_INFO, "asks the program to try again",
	 "with a pause"},
	{"max_user_namespaces", "M41", CALL_UNSHARE, ENOSPC, SEVERITY_WARNING,
	 "unshare failed with ENOSPC: user.max_user_namespaces reached",
	 "sysctl -w user.max_user_namespaces=202", 101},
	{"rlimit_sigpending", "M41", CALL_TIMER_CREATE, EAGAIN, SEVERITY_WARNING,
	 "RLIMIT_SIGPENDING", "prlimit --pid 10 --sigpending=202", 101},
	{"optmem_max", "M41", CALL_SETSOCKOPT, ENOMEM, SEVERITY_WARNING, "net.core.optmem_max",
	 "sh -c '[ $(sysctl -n net.core.optmem_max) -ge 202 ] || "
	 "sysctl -w net.core.optmem_max=202'", 101},
	{"protection_keys", "M41", CALL_PKEY_ALLOC, ENOSPC, SEVERITY_WARNING,
	 "used up its memory protection keys", "pkey_free()", 17},
	{"aio_max_nr", "M41", CALL_IO_SETUP, EAGAIN, SEVERITY_WARNING, "fs.aio-max-nr reached",
	 "sysctl fs.aio-max-nr"},
	{"file_quota", "M27", CALL_WRITE, EDQUOT, SEVERITY_WARNING, "a quota of its user",
	 "setquota"},
};

/*
 * Calls all rules with a failed call. Returns how many match. `ret` is the finding of the last rule
 * that matches.
 */
static size_t rules_of(const struct occasion *o, struct finding *ret, const char **ret_id)
{
	size_t n = 0;

	for (size_t i = 0; i < nr_rules; i++) {
		struct finding f = {.rule = &rules[i]};

		if (rules[i].trigger != ON_REFUSED || !rules[i].test(o, NULL, &f))
			continue;
		*ret = f;
		*ret_id = rules[i].id;
		n++;
	}
	return n;
}

static void test_case(size_t i)
{
	struct refused_record r = refused_record(10, cases[i].call, cases[i].error);
	struct verdict v = {.cause = cases[i].cause, .certain = true};
	struct occasion o = {.m = &m, .findings = &fs, .refused = &r, .verdict = &v};
	const char *id = "none";
	struct finding f = {};
	size_t n;

	begin();
	m.tick.limits.huge_pages = 8;
	m.tick.limits.threads_max = 30000;
	r.count = 7;
	v.need = cases[i].need;
	v.nr_evidence = 1;
	evidence_init(&v.evidence[0], "pages");
	evidence_set(&v.evidence[0], IN_PAGES, 12);
	evidence_limit(&v.evidence[0], 10);
	v.nr_next = 1;
	v.next[0] = "rlimit_as";
	n = rules_of(&o, &f, &id);
	ok(n == 1 && !strcmp(id, cases[i].id), "%s of call %d: %s alone", cases[i].cause,
	   cases[i].call, cases[i].id);
	ok(f.severity == cases[i].severity && f.cause == v.cause, "%s: severity and cause", id);
	ok(strstr(f.title, cases[i].title), "%s says \"%s\": %s", id, cases[i].title, f.title);
	ok(advises(&f, cases[i].advice), "%s advises: %s", id, cases[i].advice);
	is_str(evidence_of(&f, "pages"), "12 of 10 pages", "it shows what decided");
	is_str(evidence_of(&f, "refused_calls"), "7", "and how often");
	is_str(evidence_of(&f, "would_fail_next"), "rlimit_as", "and what stands behind it");
	end();
}

/* Tests that one finding opens for each cause. Several causes may share a general finding. */
static void test_all_causes(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
	struct verdict v = {};
	struct occasion o = {.m = &m, .findings = &fs, .refused = &r, .verdict = &v};
	struct finding f = {};
	const char *id = "none";

	begin();
	for (size_t i = 0; cause_names[i]; i++) {
		v.cause = cause_names[i];
		is_u64(rules_of(&o, &f, &id), 1, cause_names[i]);
		ok(f.nr_remedies && *f.title, "%s: %s has a title and a remedy", cause_names[i],
		   id);
	}
	end();
}

static void test_stack(void)
{
	struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);
	struct verdict v = {.cause = "address_space", .certain = true};
	struct occasion o = {.m = &m, .findings = &fs, .refused = &r, .verdict = &v};
	struct finding f = {};
	const char *id = "none";

	begin();
	walk_reads(4, "mmap (libc.so.6)\nload (train.py:57)", STACK_END_ENTRY, 0,
		   "train.py:57 load");
	r.stack = 3;
	rules_of(&o, &f, &id);
	refusal_add_stack(&o, &f);
	is_str(f.by, "", "a stack that is not known says nothing");
	r.stack = 4;
	refusal_add_stack(&o, &f);
	is_str(evidence_of(&f, "from"), "train.py:57 load: mmap (libc.so.6) <- load (train.py:57)",
	       "the stack of the failed call");
	is_str(f.by, "in train.py:57 load", "and the end of the title");
	walk_reads(5, "mmap (libc.so.6)", STACK_END_ENTRY, 0, "");
	r.stack = 5;
	refusal_add_stack(&o, &f);
	is_u64(f.nr_evidence && !strcmp(f.evidence[f.nr_evidence - 1].text, "mmap (libc.so.6)"), 0,
	       "a finding has one stack");
	end();
}

/* Limits that namespaces have: the command enters the namespace that refused the call. */
static void test_places(void)
{
	static const struct {
		const char *cause;
		enum call_id call;
		struct counted_objects counted;
		const char *title, *advice;
	} limits[] = {
		{"max_uts_namespaces", CALL_UNSHARE,
		 {.what = COUNTED_UTS_NAMESPACES, .limit = 7},
		 "user.max_uts_namespaces reached",
		 "sh -c '[ $(sysctl -n user.max_uts_namespaces) -ge 16 ] || "
		 "sysctl -w user.max_uts_namespaces=16'"},
		{"max_uts_namespaces", CALL_UNSHARE,
		 {.what = COUNTED_UTS_NAMESPACES, .limit = 7, .inside = COUNTED_INSIDE},
		 "user.max_uts_namespaces reached",
		 "nsenter -t 10 -U --preserve-credentials sh -c"},
		{"max_uts_namespaces", CALL_UNSHARE,
		 {.what = COUNTED_UTS_NAMESPACES, .limit = 7, .inside = COUNTED_ELSEWHERE,
		  .namespace = 4026532179},
		 "user.max_uts_namespaces reached",
		 "nsenter -t $(lsns -n -t user -o NS,PID | awk '$1 == 4026532179 {print $2}') -U"},
		{"igmp_max_msf", CALL_SETSOCKOPT,
		 {.what = COUNTED_MULTICAST_SOURCES, .limit = 7, .inside = COUNTED_ELSEWHERE,
		  .namespace = 4026532180},
		 "net.ipv4.igmp_max_msf reached",
		 "nsenter -t $(lsns -n -t net -o NS,PID | awk '$1 == 4026532180 {print $2}') -n"},
		{"mld_max_msf", CALL_SETSOCKOPT,
		 {.what = COUNTED_LISTENER_SOURCES, .limit = 7},
		 "net.ipv6.mld_max_msf reached", "sysctl -w net.ipv6.mld_max_msf=16"},
		{"max_namespaces", CALL_UNSHARE,
		 {.what = COUNTED_NAMESPACES, .limit = UINT64_MAX,
		  .types = 1U << COUNTED_MNT_NAMESPACES | 1U << COUNTED_NET_NAMESPACES},
		 "one of the limits user.max_net_namespaces or user.max_mnt_namespaces reached",
		 "end processes"},
		{"mqueue_msg_max", CALL_OPEN,
		 {.what = COUNTED_QUEUE_MESSAGES, .limit = 7, .asked = 65537,
		  .inside = COUNTED_INSIDE},
		 "mq_maxmsg is above 65536, the most that the kernel permits", "fewer messages"},
		{"mqueue_msg_max", CALL_OPEN,
		 {.what = COUNTED_QUEUE_MESSAGES, .limit = 60000, .inside = COUNTED_INSIDE},
		 "mq_maxmsg is above fs.mqueue.msg_max",
		 "sysctl -w fs.mqueue.msg_max=65536'"},
	};

	begin();
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct refused_record r = refused_record(10, limits[i].call, ENOSPC);
		struct verdict v = {.cause = limits[i].cause, .need = 8};
		struct occasion o = {.m = &m, .findings = &fs, .refused = &r, .verdict = &v};
		struct finding f = {};
		const char *id = "none";

		r.counted = limits[i].counted;
		is_u64(rules_of(&o, &f, &id), 1, limits[i].cause);
		ok(strstr(f.title, limits[i].title), "it says \"%s\": %s", limits[i].title,
		   f.title);
		ok(advises(&f, limits[i].advice), "it advises: %s", limits[i].advice);
	}
	end();
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		test_case(i);
	test_all_causes();
	test_places();
	test_stack();
	return tap_done();
}
