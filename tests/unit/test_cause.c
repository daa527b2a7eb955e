// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which limit faultscope names as the cause of a failed call. faultscope must check limits in
 * the order of the kernel (mm/mmap.c, mm/vma.c, mm/mlock.c, mm/mremap.c, mm/util.c, fs/file.c).
 */
#include "cause_fixture.h"
#include "finding_text.h"

static void test_map_count(void)
{
	static const struct {
		enum call_id call;
		int error;
		uint32_t at; /* lowest map count at which the call fails */
		bool certain;
		/*
		 * with one mapping fewer than `at`, the limit is still named as the cause, but as
		 * an uncertain one
		 */
		bool near;
		const char *name;
	} rows[] = {
		{CALL_MMAP, ENOMEM, MAX + 1, true, true, "mmap"},
		{CALL_BRK, 0, MAX + 1, true, true, "brk"},
		{CALL_SHMAT, ENOMEM, MAX + 1, true, true, "shmat"},
		{CALL_MUNMAP, ENOMEM, MAX, true, false, "munmap of a part"},
		{CALL_MPROTECT, ENOMEM, MAX, false, false, "mprotect of a part"},
		{CALL_MLOCK, ENOMEM, MAX, false, false, "mlock of a part"},
		{CALL_MUNLOCK, ENOMEM, MAX, false, false, "munlock of a part"},
		{CALL_MADVISE, EAGAIN, MAX, true, false, "madvise of a part says EAGAIN"},
		{CALL_MREMAP, ENOMEM, MAX - 3, true, true, "mremap"},
	};
	char name[80];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].call, rows[i].error);
		if (rows[i].call == CALL_MREMAP)
			r.args[3] = MAYMOVE;
		r.map_count = rows[i].at;
		snprintf(name, sizeof(name), "%s, one over", rows[i].name);
		is_cause("max_map_count", rows[i].certain, name);
		is_str(v.evidence[0].field, "map_count", "its evidence");
		r.map_count = rows[i].at - 1;
		snprintf(name, sizeof(name), "%s, at the limit", rows[i].name);
		is_cause(rows[i].near ? "max_map_count" : "unknown", false, name);
		r.map_count = rows[i].at - 10;
		snprintf(name, sizeof(name), "%s, well below the limit", rows[i].name);
		is_cause("unknown", false, name);
		r.map_count = rows[i].at;
		l.max_map_count = 0;
		snprintf(name, sizeof(name), "%s, limit not known", rows[i].name);
		is_cause("unknown", false, name);
	}
	begin_mmap(ENOMEM, 1, RW, ANON);
	r.map_count = MAX + 1;
	is_cause("max_map_count", true, "mmap of a page");
	is_str(evidence_value_str(&v.evidence[0]), "65,531", "count in evidence");
	is_u64(v.evidence[0].limit, 65530, "limit in evidence");
	NO_NEXT("mmap of a page");
	begin_range(CALL_MPROTECT, ENOMEM, 4, 4, VM_WRITE);
	r.map_count = MAX;
	is_cause("unknown", false, "mprotect of a whole mapping does not split");
	r.range.start -= PAGE;
	is_cause("max_map_count", true, "mprotect, a hole was looked for and is not there");
	r.range.hole = RANGE_AT + 3 * PAGE;
	r.range.end = r.range.hole;
	is_cause("max_map_count", true, "mprotect, the split comes before the hole");
	NEXT("mprotect, a hole behind the split", "range_hole");
	r.range.start = r.range.end = 0;
	is_cause("range_hole", true, "mprotect, all before the hole is changed");
	begin_range(CALL_MUNMAP, ENOMEM, 4, 4, VM_WRITE);
	r.map_count = MAX;
	r.range.start -= PAGE;
	is_cause("unknown", false, "munmap of an end does not count");
	r.range.end += PAGE;
	is_cause("max_map_count", true, "munmap of a middle");
	begin(CALL_MREMAP, ENOMEM);
	r.args[1] = 4 * PAGE;
	r.args[2] = 40 * PAGE;
	r.args[3] = 1;
	r.map_count = MAX;
	r.as_limit_bytes = 0;
	is_cause("rlimit_as", true, "mremap looks at RLIMIT_AS before it moves");
	NEXT("mremap at the limit", "max_map_count");
	r.args[3] = 1 | 2;
	is_cause("max_map_count", true, "mremap to a place of choice wants room first");
	begin_range(CALL_MPROTECT, ENOMEM, 4, 4, VM_WRITE);
	r.args[1] = -2 * PAGE;
	is_cause("bad_argument", true, "mprotect of a range that wraps");
	begin(CALL_MREMAP, ENOMEM);
	r.args[1] = 4 * PAGE;
	r.args[2] = PAGE;
	r.map_count = MAX;
	is_cause("max_map_count", true, "mremap that shrinks splits");
	begin(CALL_MADVISE, ENOMEM);
	r.map_count = MAX;
	cause_of(&r, &l, arch, &v);
	ok(strcmp(v.cause, "max_map_count"),
	   "madvise answers ENOMEM for a hole only: the map count is not its cause");
}

static void test_as(void)
{
	begin_mmap(ENOMEM, 10, PROT_READ, ANON);
	r.as_limit_bytes = 1010 * PAGE;
	is_cause("unknown", false, "RLIMIT_AS, at the limit");
	r.as_limit_bytes = 1010 * PAGE - 1;
	is_cause("rlimit_as", true, "RLIMIT_AS, one byte less is one page less");
	is_str(evidence_value_str(&v.evidence[0]), "1,000 + 10 pages",
	       "RLIMIT_AS: what there is and what was asked");
	is_u64(v.evidence[0].limit, 1009, "RLIMIT_AS: its limit in pages");
	r.args[1] -= PAGE - 1;
	is_cause("rlimit_as", true, "RLIMIT_AS, a part of a page is a page");
	r.args[1]--;
	is_cause("unknown", false, "RLIMIT_AS, a page less asked");
	begin_mmap(ENOMEM, 1ULL << 30, PROT_READ, ANON);
	is_cause("unknown", false, "RLIMIT_AS unlimited");
	begin(CALL_MPROTECT, ENOMEM);
	r.args[1] = 100 * PAGE;
	r.as_limit_bytes = 0;
	is_cause("unknown", false, "mprotect: RLIMIT_AS is never its cause");
	begin(CALL_MREMAP, ENOMEM);
	r.args[1] = 10 * PAGE;
	r.args[2] = 20 * PAGE;
	r.args[3] = MAYMOVE;
	r.as_limit_bytes = 1009 * PAGE;
	is_cause("rlimit_as", true, "mremap counts what it grows by");
	r.as_limit_bytes = 1010 * PAGE;
	is_cause("unknown", false, "mremap, at the limit");
	r.args[2] = 5 * PAGE;
	r.as_limit_bytes = 1000 * PAGE;
	is_cause("unknown", false, "mremap that shrinks asks for nothing");
	begin_brk(10);
	r.as_limit_bytes = 1009 * PAGE;
	is_cause("rlimit_as", true, "brk, without an errno");
	r.as_limit_bytes = 1010 * PAGE;
	is_cause("unknown", false, "brk, at the limit");
}

static void test_data(void)
{
	begin_mmap(ENOMEM, 10, RW, ANON);
	r.data_limit_bytes = 509 * PAGE;
	is_cause("rlimit_data", true, "RLIMIT_DATA, one over");
	r.data_limit_bytes = 510 * PAGE;
	is_cause("unknown", false, "RLIMIT_DATA, at the limit");
	r.data_limit_bytes = 0;
	r.args[2] = PROT_READ;
	is_cause("unknown", false, "RLIMIT_DATA bounds writable mappings only");
	r.args[2] = RW;
	r.args[3] = MAP_SHARED | MAP_ANONYMOUS;
	is_cause("unknown", false, "RLIMIT_DATA bounds private mappings only");
	begin(CALL_MPROTECT, ENOMEM);
	r.args[1] = 10 * PAGE;
	r.args[2] = RW;
	r.data_limit_bytes = 509 * PAGE;
	/* For mprotect(), ENOMEM may also mean that the range has a hole. */
	is_cause("rlimit_data", false, "mprotect to writable");
	r.args[2] = PROT_READ;
	is_cause("unknown", false, "mprotect to read only");
	begin_brk(10);
	r.heap_bytes = 3 * PAGE;
	r.data_vm_pages = 0;
	r.data_limit_bytes = 13 * PAGE;
	is_cause("unknown", false, "brk: the heap at its limit");
	r.data_limit_bytes--;
	is_cause("rlimit_data", true, "brk: the heap a byte over");
	is_str(v.evidence[0].field, "heap_bytes", "brk: the heap is what is told");
	begin_brk(10);
	r.data_limit_bytes = 509 * PAGE;
	is_cause("rlimit_data", true, "brk: private writable pages over");
	is_str(v.evidence[0].field, "data_vm_pages", "brk: pages are what is told");
}

static void test_memlock(void)
{
	begin_mmap(EAGAIN, 10, RW, ANON | MAP_LOCKED);
	r.locked_vm_pages = 6;
	r.memlock_limit_bytes = 15 * PAGE;
	is_cause("rlimit_memlock", true, "MAP_LOCKED, one over");
	is_str(evidence_value_str(&v.evidence[0]), "6 + 10 pages",
	       "MAP_LOCKED: what there is and what was asked");
	r.memlock_limit_bytes = 16 * PAGE;
	is_cause("unknown", false, "MAP_LOCKED, at the limit");
	r.memlock_limit_bytes = 15 * PAGE;
	r.facts |= FACT_IPC_LOCK;
	is_cause("unknown", false, "MAP_LOCKED with CAP_IPC_LOCK");
	r.facts &= ~FACT_IPC_LOCK;
	r.args[3] = ANON;
	is_cause("unknown", false, "mmap that locks nothing");
	r.facts |= FACT_LOCKS_FUTURE;
	is_cause("rlimit_memlock", true, "mmap after mlockall(MCL_FUTURE)");
	begin(CALL_MLOCK, ENOMEM);
	r.args[0] = 16 * PAGE;
	r.args[1] = 10 * PAGE;
	r.memlock_limit_bytes = 9 * PAGE;
	is_cause("rlimit_memlock", true, "mlock says ENOMEM, one over");
	r.memlock_limit_bytes = 10 * PAGE;
	is_cause("unknown", false, "mlock, at the limit");
	r.args[0] += 100;
	is_cause("rlimit_memlock", true, "mlock that begins within a page takes one page more");
	r.args[0] -= 100;
	r.memlock_limit_bytes = 9 * PAGE;
	r.facts |= FACT_IPC_LOCK;
	is_cause("unknown", false, "mlock with CAP_IPC_LOCK");
	r.facts &= ~FACT_IPC_LOCK;
	r.memlock_limit_bytes = 0;
	r.error = EPERM;
	is_cause("rlimit_memlock", true, "mlock with a limit of 0 says EPERM");
	begin_mmap(EPERM, 10, RW, ANON | MAP_LOCKED);
	r.memlock_limit_bytes = 0;
	is_cause("rlimit_memlock", true, "MAP_LOCKED with a limit of 0 says EPERM");
	r.memlock_limit_bytes = UINT64_MAX;
	is_cause("unknown", false, "MAP_LOCKED, EPERM without a limit");
	begin(CALL_MLOCKALL, ENOMEM);
	r.args[0] = MCL_CURRENT;
	r.memlock_limit_bytes = 999 * PAGE;
	is_cause("rlimit_memlock", true, "mlockall is bounded by all mapped pages, one over");
	r.memlock_limit_bytes = 1000 * PAGE;
	is_cause("unknown", false, "mlockall, at the limit");
}

static void test_eperm(void)
{
	begin_mmap(EPERM, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	r.memlock_limit_bytes = 0;
	r.args[0] = 1 << 20;
	cause_of(&r, &l, arch, &v);
	ok(strcmp(v.cause, "rlimit_memlock"),
	   "EPERM of a mapping that locks nothing is not RLIMIT_MEMLOCK");
	begin(CALL_MUNMAP, EPERM);
	r.memlock_limit_bytes = 0;
	cause_of(&r, &l, arch, &v);
	ok(strcmp(v.cause, "rlimit_memlock"),
	   "EPERM of munmap (a sealed mapping) is not RLIMIT_MEMLOCK");
	begin_mmap(EPERM, 1, RW, ANON | MAP_FIXED);
	r.args[0] = 61440;
	is_cause("min_address", true, "MAP_FIXED below vm.mmap_min_addr");
	r.args[0] = 65536;
	is_cause("unknown", false, "MAP_FIXED at vm.mmap_min_addr");
	r.args[0] = 0;
	r.args[3] = ANON;
	is_cause("unknown", false, "a hint is never below vm.mmap_min_addr");
	r.args[3] = ANON | FIXED_NOREPLACE;
	is_cause("min_address", true, "MAP_FIXED_NOREPLACE is fixed too");
}

static void test_errnos(void)
{
	static const struct {
		enum call_id call;
		int error;
		const char *cause;
	} rows[] = {
		{CALL_MMAP, EOVERFLOW, "bad_argument"}, {CALL_MREMAP, EFAULT, "bad_argument"},
		{CALL_MMAP, EEXIST, "fixed_exists"},	{CALL_MUNMAP, EINVAL, "bad_argument"},
		{CALL_MMAP, EBADF, "unknown"},		{CALL_MMAP, ENODEV, "unknown"},
		{CALL_MMAP, EACCES, "unknown"},		{CALL_MPROTECT, EACCES, "unknown"},
		{CALL_MMAP, 4242, "unknown"},		{CALL_MPROTECT, ENOMEM, "unknown"},
		{CALL_SHMAT, ENOMEM, "unknown"},	{CALL_MADVISE, EAGAIN, "unknown"},
		{CALL_MUNMAP, ENOMEM, "unknown"},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].call, rows[i].error);
		r.args[1] = PAGE;
		r.args[3] = MAP_SHARED;
		snprintf(name, sizeof(name), "call %u, errno %d", rows[i].call, rows[i].error);
		is_cause(rows[i].cause, true, name);
	}
	begin_mmap(ENOMEM, 1, RW, ANON);
	is_cause("unknown", false, "mmap, no limit reached");
	ok(v.nr_evidence >= 3, "unknown tells what was looked at");
}

static void test_address_space(void)
{
	begin_mmap(ENOMEM, 0, PROT_READ, ANON);
	r.args[1] = 1ULL << 48;
	is_cause("address_space", true, "mmap of 2^48");
	r.args[1] = 1ULL << 47;
	is_cause("address_space", true, "mmap of 2^47");
	r.args[1] = UINT64_MAX;
	is_cause("address_space", true, "mmap of a length that wraps");
	r.args[1] = 1ULL << 46;
	is_cause("unknown", false, "mmap of 2^46 fits");
	begin(CALL_MREMAP, ENOMEM);
	r.args[1] = PAGE;
	r.args[2] = 1ULL << 47;
	is_cause("address_space", true, "mremap to 2^47");
	arch = "aarch64";
	is_cause("overcommit_heuristic", true, "mremap to 2^47 fits on arm64");
	r.args[2] = 1ULL << 48;
	is_cause("address_space", true, "mremap to 2^48 on arm64");
	arch = "s390x";
	is_cause("overcommit_heuristic", true, "another architecture: no size is known");
	arch = "x86_64";
}

static void test_overcommit(void)
{
	uint64_t room;

	begin_mmap(ENOMEM, 0, RW, ANON);
	room = l.mem_total_bytes + l.swap_total_bytes;
	r.args[1] = room;
	is_cause("unknown", false, "heuristic: all of memory and swap is not too much");
	r.args[1] = room + 1;
	is_cause("overcommit_heuristic", true, "heuristic: a byte more is");
	r.args[3] |= MAP_NORESERVE;
	is_cause("unknown", false, "heuristic: not with MAP_NORESERVE");
	r.args[3] = MAP_SHARED | MAP_ANONYMOUS;
	is_cause("overcommit_heuristic", true,
		 "heuristic: shared anonymous memory is accounted too");
	r.args[3] = MAP_SHARED;
	r.file = (struct file_facts){.flags = FILE_KNOWN | FILE_MAPPABLE,
				     .mode = 0020666,
				     .open_mode = 3,
				     .name = "zero"};
	is_cause("overcommit_heuristic", false, "heuristic: /dev/zero is shared memory too");
	r.facts |= FACT_SAID_COMMIT;
	is_cause("overcommit_heuristic", true, "heuristic: /dev/zero, and the kernel's log");
	r.facts = 0;
	l.overcommit_memory = 2;
	is_cause("overcommit_strict", false, "strict: /dev/zero");
	l.overcommit_memory = 0;
	r.args[1] = room;
	is_cause("driver", false, "heuristic: /dev/zero, and not too much");
	r.args[1] = room + 1;
	r.file.mode = 0100666;
	is_cause("unknown", false, "heuristic: a file on disk of that name");
	r.file = (struct file_facts){};
	r.args[2] = PROT_READ;
	r.args[3] = ANON;
	is_cause("unknown", false, "heuristic: not read-only");
	r.args[2] = RW;
	l.overcommit_memory = 1;
	is_cause("unknown", false, "heuristic: not in mode 1");
	l.overcommit_memory = 0;
	l.mem_total_bytes = l.swap_total_bytes = 0;
	is_cause("unknown", false, "heuristic: memory not known");
	begin_brk(0);
	r.args[0] = r.ret + room + PAGE;
	is_cause("overcommit_heuristic", true, "heuristic: brk");

	begin_mmap(ENOMEM, 0, RW, ANON);
	l.overcommit_memory = 2;
	r.args[1] = l.commit_limit_bytes - l.committed_bytes;
	is_cause("overcommit_strict", false, "strict: what reaches the limit is refused");
	r.args[3] |= MAP_NORESERVE;
	is_cause("overcommit_strict", false, "strict: MAP_NORESERVE is ignored");
	r.args[1] -= (8ULL << 20) + 31 * PAGE;
	is_cause("overcommit_strict", false,
		 "strict: 8 MiB are kept for root, and a 32nd of what the process has");
	r.args[1] -= PAGE;
	is_cause("unknown", false, "strict: a page less is granted");
	r.facts |= FACT_ADMIN;
	r.args[1] += 8ULL << 20;
	is_cause("unknown", false, "strict: root has its 8 MiB");
	r.args[1] += PAGE;
	is_cause("overcommit_strict", false, "strict: and no more");
	r.args[1] = PAGE;
	r.args[3] = ANON;
	r.facts |= FACT_SAID_COMMIT;
	is_cause("overcommit_strict", true, "strict: the kernel's log said so");
	l.overcommit_memory = 0;
	is_cause("overcommit_heuristic", true, "heuristic: the kernel's log said so");
	begin(CALL_MREMAP, ENOMEM);
	l.overcommit_memory = 2;
	r.args[1] = PAGE;
	r.args[2] = PAGE + l.commit_limit_bytes - l.committed_bytes;
	is_cause("overcommit_strict", false, "strict: mremap");

	begin_mmap(ENOMEM, 1, RW, ANON | MAP_HUGETLB);
	is_cause("hugetlb_pool", false, "MAP_HUGETLB");
}

static void test_order(void)
{
	/* The request exceeds all limits. The kernel checks the map count first. */
	begin_mmap(ENOMEM, 1ULL << 22, RW, ANON);
	r.map_count = MAX + 1;
	r.as_limit_bytes = r.data_limit_bytes = PAGE;
	is_cause("max_map_count", true, "order: map count first");
	NEXT("order: map count first", "rlimit_as", "rlimit_data", "overcommit_heuristic");
	is_u64(v.nr_evidence, 1, "evidence is of the cause alone");
	r.map_count = MAX;
	is_cause("rlimit_as", true, "order: then RLIMIT_AS");
	NEXT("order: then RLIMIT_AS", "rlimit_data", "overcommit_heuristic");
	r.as_limit_bytes = UINT64_MAX;
	is_cause("rlimit_data", true, "order: then RLIMIT_DATA");
	NEXT("order: then RLIMIT_DATA", "overcommit_heuristic");
	r.data_limit_bytes = UINT64_MAX;
	is_cause("overcommit_heuristic", true, "order: then commit");
	NO_NEXT("order: then commit");
	r.map_count = MAX + 1;
	r.as_limit_bytes = r.data_limit_bytes = r.memlock_limit_bytes = PAGE;
	r.args[1] = 1ULL << 47;
	r.args[3] |= MAP_LOCKED;
	is_cause("max_map_count", true, "order: more than can be told");
	is_u64(v.nr_next, NEXT_MAX, "order: no more than there is room for");
	NEXT("order: length, lock, AS, DATA", "address_space", "rlimit_memlock", "rlimit_as",
	     "rlimit_data");

	begin_brk(10);
	r.map_count = MAX + 1;
	r.heap_bytes = PAGE;
	r.data_limit_bytes = PAGE;
	is_cause("rlimit_data", true, "order: brk asks for the heap before the map count");
	begin_brk(10);
	r.map_count = MAX + 1;
	r.as_limit_bytes = PAGE;
	is_cause("rlimit_as", true, "order: brk asks for RLIMIT_AS before the map count");
	begin(CALL_MLOCK, ENOMEM);
	r.args[0] = 16 * PAGE;
	r.args[1] = 10 * PAGE;
	r.memlock_limit_bytes = PAGE;
	r.map_count = MAX;
	is_cause("rlimit_memlock", true, "order: mlock asks for RLIMIT_MEMLOCK before it splits");
}

static void test_page_size(void)
{
	begin_mmap(ENOMEM, 10, PROT_READ, ANON);
	l.page_bytes = 0;
	r.as_limit_bytes = 1009 * PAGE;
	is_cause("rlimit_as", true, "page size 0 is taken for 4096");
	l.page_bytes = 65536;
	r.args[1] = 65537;
	r.as_limit_bytes = 1001 * 65536;
	is_cause("rlimit_as", true, "pages of 64 KiB, one over");
	r.as_limit_bytes = 1002 * 65536;
	is_cause("unknown", false, "pages of 64 KiB, at the limit");
}

static void test_descriptors(void)
{
	static const enum call_id one[] = {CALL_OPEN,	 CALL_SOCKET, CALL_DUP,	   CALL_MEMFD,
					   CALL_EVENTFD, CALL_ACCEPT, CALL_INOTIFY};
	static const enum call_id two[] = {CALL_PIPE, CALL_SOCKETPAIR};
	char name[64];

	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		begin(one[i], EMFILE);
		hold_fds(&r, 1024);
		snprintf(name, sizeof(name), "call %u: no descriptor free", one[i]);
		is_cause("rlimit_nofile", true, name);
		hold_fds(&r, 1023);
		snprintf(name, sizeof(name), "call %u: one free", one[i]);
		is_cause(one[i] == CALL_INOTIFY ? "inotify_instances" : "unknown", true, name);
	}
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		begin(two[i], EMFILE);
		hold_fds(&r, 1023);
		snprintf(name, sizeof(name), "call %u: one free of two", two[i]);
		is_cause("rlimit_nofile", true, name);
		hold_fds(&r, 1022);
		snprintf(name, sizeof(name), "call %u: two free", two[i]);
		is_cause("unknown", false, name);
	}
	begin(CALL_OPEN, EMFILE);
	r.fds = r.fds_free = UINT32_MAX;
	is_cause("unknown", false, "descriptors not counted");
	begin(CALL_INOTIFY, EMFILE);
	r.fds = r.fds_free = UINT32_MAX;
	is_cause("inotify_instances", false, "inotify, descriptors not counted");
	r.user.inotify_instances = r.user.inotify_instances_max = 64;
	is_cause("inotify_instances", true, "inotify, its user has as many as it may");
	hold_fds(&r, 1024);
	is_cause("inotify_instances", true, "inotify, the instance comes before its descriptor");
	NEXT("inotify, both are used up", "rlimit_nofile");
	hold_fds(&r, 10);
	r.user.inotify_instances--;
	is_cause("unknown", false, "inotify, its user may have one more");
	begin(CALL_FANOTIFY, EMFILE);
	hold_fds(&r, 1024);
	is_cause("rlimit_nofile", true, "fanotify, no descriptor free");
	ok(!v.nr_next, "fanotify, whether its groups are used up too is not known");
	hold_fds(&r, 1023);
	is_cause("fanotify_groups", true, "fanotify, one descriptor free");
	r.fds = r.fds_free = UINT32_MAX;
	is_cause("fanotify_groups", false, "fanotify, descriptors not counted");
	begin(CALL_OPEN, EMFILE);
	r.facts = FACT_QUEUE;
	hold_fds(&r, 1024);
	is_cause("rlimit_nofile", true, "mq_open, no descriptor free");
	ok(!v.nr_next, "mq_open, whether its queues are too large too is not known");
	hold_fds(&r, 1023);
	is_cause("rlimit_msgqueue", true, "mq_open, one descriptor free");
	r.fds = r.fds_free = UINT32_MAX;
	is_cause("rlimit_msgqueue", false, "mq_open, descriptors not counted");
	begin(CALL_OPEN, EMFILE);
	r.fd_soft = UINT64_MAX;
	r.fds_free = INT32_MAX;
	is_cause("unknown", false, "no descriptor limit");

	begin(CALL_OPEN, ENFILE);
	l.file_nr = l.file_max;
	is_cause("file_max", true, "ENFILE, files used up");
	l.file_nr--;
	is_cause("file_max", false, "ENFILE, the count lags");
	r.facts |= FACT_SAID_FILE_MAX;
	is_cause("file_max", true, "ENFILE, the kernel's log said so");
	r.facts = FACT_ADMIN;
	is_cause("unknown", false, "ENFILE, but root is not bound by the files of all");
	begin(CALL_PIPE, ENFILE);
	l.file_nr = l.file_max;
	is_cause("file_max", true, "ENFILE of pipe");
	l.file_nr = l.file_max / 2;
	is_cause("pipe_pages", false, "ENFILE of pipe, and files are far from their limit");
	l.file_nr = l.file_max;
	l.pipe_pages_hard = 100;
	r.user.pipe_pages = 99;
	is_cause("pipe_pages", true, "ENFILE of pipe, whose user has no pages left");
	r.facts = FACT_RESOURCE;
	is_cause("file_max", true, "ENFILE of pipe, pages do not bind who may exceed limits");

	begin(CALL_DUP, EBADF);
	r.args[0] = 3;
	r.args[1] = 1024;
	is_cause("descriptor_number_limit", true, "dup2 to the limit");
	is_str(evidence_value_str(&v.evidence[0]), "1,024", "dup2: its number");
	r.args[1] = 1023;
	cause_of(&r, &l, arch, &v);
	ok(strcmp(v.cause, "descriptor_number_limit") || !v.certain,
	   "dup2 below the limit: not certainly the number");
	begin(CALL_DUP, EINVAL);
	r.args[1] = F_DUPFD_COMMAND;
	r.args[2] = 1024;
	is_cause("descriptor_number_limit", true, "F_DUPFD from the limit");
	is_str(evidence_value_str(&v.evidence[0]), "1,024", "F_DUPFD: its number");
	begin(CALL_OPEN, ENOMEM);
	is_cause("unknown", false, "ENOMEM of open");
	begin(CALL_DUP, EMFILE);
	r.fds_free = 0;
	is_cause("rlimit_nofile", true, "F_DUPFD, none is free from its number on");
	is_str(evidence_value_str(&v.evidence[1]), "0", "F_DUPFD: how many are");
	begin(CALL_OPEN, EMFILE);
	r.fds = l.nr_open;
	r.fd_soft = UINT64_MAX;
	r.fds_free = 1;
	is_cause("nr_open", true, "the table is as large as it may be");
	begin(CALL_RECVMSG, 0);
	r.fds_free = 0;
	is_cause("descriptors_dropped", true, "recvmsg, none is free");
	r.fds_free = 1;
	is_cause("descriptors_dropped", false, "recvmsg, one is free by now");
}

/*
 * Tests random records. The cause must be one of the defined causes, with at most EVIDENCE_MAX
 * values as evidence.
 */
static void test_hostile(void)
{
	uint64_t seed = 1;
	bool good = true;

	for (int i = 0; i < 200000; i++) {
		unsigned char *p = (unsigned char *)&r, *q = (unsigned char *)&l;
		size_t n = 0;

		begin(CALL_MMAP, ENOMEM);
		for (size_t k = sizeof(r.h); k < sizeof(r); k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			p[k] = seed >> 60 ? 0xff * (seed >> 59 & 1) : seed >> 33;
		}
		for (size_t k = 0; k < sizeof(l); k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			q[k] = seed >> 61 ? 0 : seed >> 33;
		}
		r.call %= CALL_MAX + 3;
		if (i & 1)
			r.error = ENOMEM;
		cause_of(&r, &l, arch, &v);
		while (cause_names[n] && strcmp(cause_names[n], v.cause))
			n++;
		good &= cause_names[n] && v.nr_evidence <= EVIDENCE_MAX && v.nr_next <= NEXT_MAX;
	}
	ok(good, "random records: a listed cause each");
}

int main(void)
{
	test_map_count();
	test_as();
	test_data();
	test_memlock();
	test_eperm();
	test_errnos();
	test_address_space();
	test_overcommit();
	test_order();
	test_page_size();
	test_descriptors();
	test_hostile();
	verdicts_are(0x43f8b8a6454e2ca5);
	return tap_done();
}
