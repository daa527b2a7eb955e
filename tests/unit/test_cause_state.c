// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests causes of failed calls that are no numeric limits. Such a cause depends on the address
 * range, the file, the arguments, the cgroup or the user of the call.
 */
#include "cause_fixture.h"
#include "finding_text.h"

static void test_ranges(void)
{
	begin_range(CALL_MPROTECT, ENOMEM, 10, 10, VM_MAYWRITE);
	r.args[2] = RW;
	r.data_limit_bytes = 509 * PAGE;
	is_cause("rlimit_data", true, "mprotect to writable, without a hole");
	r.range.start += PAGE;
	is_cause("unknown", false, "mprotect, a page is writable already");
	begin_range(CALL_MPROTECT, ENOMEM, 10, 4, VM_MAYWRITE);
	r.args[2] = RW;
	r.data_limit_bytes = 503 * PAGE;
	r.range.start = r.range.end = 0;
	is_cause("range_hole", true, "mprotect, what is in front of the hole is changed");
	begin_range(CALL_MPROTECT, ENOMEM, 10, 4, VM_MAYWRITE);
	r.args[2] = RW;
	r.data_limit_bytes = 504 * PAGE - 1;
	is_cause("rlimit_data", true, "mprotect, what is in front of the hole does not fit");
	NEXT("mprotect, the hole", "range_hole");
	begin_range(CALL_MPROTECT, ENOMEM, 10, 0, 0);
	r.args[2] = RW;
	r.data_limit_bytes = 0;
	is_cause("range_hole", true, "mprotect of what is not mapped asks no limit");
	begin_range(CALL_MPROTECT, ENOMEM, 1 << 23, 1 << 23, VM_NORESERVE | VM_MAYWRITE);
	r.args[2] = RW;
	is_cause("unknown", false, "mprotect of a reservation promises nothing");
	r.range.start_flags = VM_MAYWRITE;
	is_cause("overcommit_heuristic", true, "mprotect of another promises all of it");
	r.range.start_flags = VM_MAYWRITE | VM_ACCOUNT;
	is_cause("unknown", false, "mprotect of what was promised before");

	begin_range(CALL_MADVISE, ENOMEM, 10, 4, VM_WRITE);
	is_cause("range_hole", true, "madvise, a hole");
	is_str(evidence_value_str(&v.evidence[0]), "0x7f0000004000", "madvise, where it is");
	r.range.walk = WALK_CUT;
	is_cause("range_hole", true, "a hole in as much as was looked at");
	r.range.hole = UINT64_MAX;
	is_cause("range_hole", false, "madvise: nothing else makes it say so");
	begin_range(CALL_MLOCK, ENOMEM, 10, 4, VM_WRITE);
	is_cause("range_hole", true, "mlock, a hole");
	begin_range(CALL_MUNLOCK, ENOMEM, 10, 0, 0);
	is_cause("range_hole", true, "munlock, nothing is there");
	begin_range(CALL_MSYNC, ENOMEM, 10, 4, VM_WRITE);
	is_cause("range_hole", true, "msync, a hole");
	r.range.walk = WALK_BUSY;
	is_cause("range_hole", false, "msync, not looked at");
	begin_range(CALL_MINCORE, ENOMEM, 10, 4, VM_WRITE);
	is_cause("range_hole", true, "mincore, a hole");
	begin_range(CALL_MBIND, ENOMEM, 4, 4, VM_WRITE);
	is_cause("unknown", false, "mbind");
	r.map_count = MAX;
	is_cause("max_map_count", true, "mbind splits");
	begin_range(CALL_MREMAP, EFAULT, 10, 4, VM_WRITE);
	is_cause("range_hole", true, "mremap, a hole");
	r.range.hole = UINT64_MAX;
	is_cause("bad_argument", true, "mremap of two mappings");

	/* If a page is already locked, mlock() does not count it again towards RLIMIT_MEMLOCK. */
	begin_range(CALL_MLOCK, ENOMEM, 10, 10, VM_WRITE);
	r.locked_vm_pages = 6;
	r.memlock_limit_bytes = 12 * PAGE;
	r.range.locked_bytes = 4 * PAGE;
	is_cause("unknown", false, "mlock, four of ten are locked");
	r.range.locked_bytes = 3 * PAGE;
	is_cause("rlimit_memlock", true, "mlock, three of ten are");
	is_str(evidence_value_str(&v.evidence[0]), "6 + 7 pages", "mlock, what it asked for");
	r.range.walk = WALK_BUSY;
	r.range.locked_bytes = 0;
	is_cause("rlimit_memlock", false, "mlock, what is locked there is not known");
}

static void test_fixed(void)
{
	begin_range(CALL_MMAP, ENOMEM, 10, 10, VM_WRITE);
	r.args[2] = RW;
	r.args[3] = ANON | MAP_FIXED;
	r.as_limit_bytes = 1000 * PAGE;
	is_cause("unknown", false, "MAP_FIXED over as much asks for nothing");
	r.range.mapped_bytes = 9 * PAGE;
	is_cause("rlimit_as", true, "MAP_FIXED over less asks for the rest");
	is_str(evidence_value_str(&v.evidence[0]), "1,000 + 1 pages", "MAP_FIXED: that is");
	r.range.walk = WALK_BUSY;
	is_cause("rlimit_as", false, "MAP_FIXED, what is there is not known");
	r.as_limit_bytes = UINT64_MAX;
	r.data_limit_bytes = 500 * PAGE;
	r.range.walk = WALK_DONE;
	is_cause("rlimit_data", true, "MAP_FIXED, RLIMIT_DATA likewise");
	r.data_limit_bytes = UINT64_MAX;
	r.map_count = MAX;
	is_cause("max_map_count", false, "MAP_FIXED within a mapping splits it");
	r.map_count = 100;
	r.error = EPERM;
	is_cause("unknown", false, "MAP_FIXED, EPERM");
	r.range.flags_any |= 1ULL << 42;
	is_cause("sealed", true, "MAP_FIXED over what is sealed");
	r.range.flags_any = VM_WRITE | 1ULL << 63;
	is_cause("sealed", true, "the bit of older kernels");
	begin_range(CALL_MADVISE, EPERM, 1, 1, 1ULL << 42);
	is_cause("sealed", true, "madvise that would discard what is sealed");
	r.range.flags_any = 0;
	is_cause("unknown", false, "madvise, EPERM of something else");
	begin_range(CALL_MUNMAP, EPERM, 1, 1, 1ULL << 42);
	is_cause("sealed", true, "munmap of what is sealed");
	r.range.walk = WALK_BUSY;
	r.range.flags_any = 0;
	is_cause("sealed", false, "munmap, not looked at: it says EPERM for nothing else");
	r.range.walk = WALK_DONE;
	is_cause("unknown", false, "munmap, and nothing is sealed");
	r.facts = FACT_FILTERED;
	is_cause("security_module", false, "munmap, and a filter of seccomp may have said it");
	r.error = EACCES;
	is_cause("security_module", false, "EACCES likewise");
	r.error = ENOMEM;
	is_cause("unknown", false, "another errno says nothing of rights");
	r.range.start -= PAGE;
	r.range.end += PAGE;
	r.map_count = MAX;
	is_cause("max_map_count", false, "what a filter may answer is never certain");
	is_str(v.evidence[v.nr_evidence - 1].field, "seccomp", "and the filter is told of");

	begin_mmap(ENOMEM, 1, RW, ANON | MAP_FIXED);
	r.task_size_bytes = (1ULL << 47) - PAGE;
	r.args[0] = (1ULL << 47) - PAGE;
	is_cause("address_space", true, "MAP_FIXED at the end of the address space");
	r.args[0] -= PAGE;
	is_cause("unknown", false, "MAP_FIXED in its last page");
}

static void test_searched(void)
{
	begin_mmap(ENOMEM, 10, RW, ANON);
	r.facts = FACT_NO_AREA;
	r.area_bytes = 10 * PAGE;
	is_cause("address_space", true, "no free range was found");
	r.as_limit_bytes = PAGE;
	is_cause("address_space", true, "that is asked before RLIMIT_AS");
	NEXT("no free range", "rlimit_as");
	r.map_count = MAX + 1;
	is_cause("max_map_count", true, "and after the map count");
	r.map_count = 100;
	r.area_bytes = 5 * PAGE;
	is_cause("address_space", false, "a search for less was another one");
	begin(CALL_MREMAP, ENOMEM);
	r.args[1] = PAGE;
	r.args[2] = 4 * PAGE;
	is_cause("no_room_in_place", false, "mremap in place, not looked at");
	r.range.above = RANGE_AT;
	is_cause("no_room_in_place", true, "mremap in place, a mapping behind");
	r.args[3] = MAYMOVE;
	is_cause("unknown", false, "mremap that may move");
	begin_brk(10);
	r.range.above = r.ret + 5 * PAGE;
	is_cause("brk_collision", true, "brk, a mapping in the way");
	r.range.above = r.args[0];
	is_cause("brk_collision", true, "brk keeps a page free");
	r.range.above = r.args[0] + PAGE;
	is_cause("brk_collision", false, "brk, only a stack keeps more free");
}

static void test_files(void)
{
	begin_mmap(EBADF, 1, PROT_READ, MAP_SHARED);
	r.file.flags = FILE_CLOSED;
	r.args[4] = 77;
	is_cause("bad_descriptor", true, "a closed descriptor");
	is_str(evidence_value_str(&v.evidence[0]), "77", "its number");
	is_of(REGULAR, FMODE_PATH, FILE_MAPPABLE);
	is_cause("bad_descriptor", true, "O_PATH");
	begin_mmap(EACCES, 1, RW, MAP_SHARED);
	is_of(REGULAR, FMODE_READ, FILE_MAPPABLE);
	is_cause("file_mode", true, "shared and writable, of a file open for reading");
	is_str(evidence_value_str(&v.evidence[0]), "thing", "its name");
	is_of(REGULAR, FMODE_WRITE, FILE_MAPPABLE);
	r.args[2] = PROT_READ;
	is_cause("file_mode", true, "of a file open for writing only");
	is_of(REGULAR, FMODE_READ, FILE_MAPPABLE);
	is_cause("unknown", false, "EACCES, and its mode is right");
	r.args[2] = RW;
	r.args[3] = MAP_PRIVATE;
	is_cause("unknown", false, "private: to read is enough");
	r.args[2] = RW | PROT_EXEC;
	r.facts = FACT_MDWE;
	is_cause("write_exec_denied", true, "write and exec, under PR_SET_MDWE");
	begin_mmap(EPERM, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	is_of(REGULAR, FMODE_READ, FILE_MAPPABLE | FILE_NOEXEC);
	is_cause("noexec_mount", true, "exec, of a mount without");
	r.args[2] = PROT_READ;
	is_cause("unknown", false, "not exec");
	begin_mmap(EPERM, 1, RW, MAP_SHARED);
	is_of(REGULAR, FMODE_READ | FMODE_WRITE, FILE_MAPPABLE);
	r.file.seals = 8;
	is_cause("sealed", true, "F_SEAL_WRITE");
	r.args[3] = MAP_PRIVATE;
	is_cause("unknown", false, "F_SEAL_WRITE does not bind private ones");
	begin_mmap(EPERM, 129, RW, MAP_SHARED);
	is_of(0600, FMODE_READ | FMODE_WRITE, FILE_MAPPABLE);
	strcpy(r.file.name, "[perf_event]");
	r.memlock_limit_bytes = 16 * PAGE;
	is_cause("driver", false, "a device that is called as perf's buffer");
	r.file.magic = 0x09041934;
	is_cause("rlimit_memlock", true, "perf's buffer does not fit");
	ok(v.need == 145 * PAGE && v.asked == 129 * PAGE, "perf's buffer: what is enough for it");
	r.facts = FACT_IPC_LOCK;
	is_cause("rlimit_memlock", false, "perf's buffer, and a capability that spares it");
	r.facts = 0;
	r.memlock_limit_bytes = UINT64_MAX;
	is_cause("driver", false, "perf's buffer, and no limit");
	begin_mmap(ENODEV, 1, PROT_READ, MAP_SHARED);
	is_of(PIPE, FMODE_READ, 0);
	is_cause("not_mappable", true, "a pipe");
	begin_mmap(EINVAL, 1, PROT_READ, MAP_SHARED);
	is_of(0600, FMODE_READ, FILE_MAPPABLE);
	is_cause("driver", false, "EINVAL of a file with rules of its own");
	r.args[5] = 1;
	is_cause("bad_argument", true, "EINVAL, its offset is no page's");
	is_of(REGULAR, FMODE_READ, FILE_MAPPABLE);
	r.args[5] = 0;
	is_cause("bad_argument", false, "EINVAL of a file on disk");
	begin_mmap(EINVAL, 0, PROT_READ, ANON);
	is_cause("bad_argument", true, "EINVAL, without a file");
	begin_mmap(EAGAIN, 10, RW, MAP_SHARED);
	is_of(REGULAR, FMODE_READ | FMODE_WRITE, FILE_MAPPABLE);
	r.memlock_limit_bytes = 9 * PAGE;
	is_cause("unknown", false, "EAGAIN of a file");
	r.file.magic = SECRETMEM;
	is_cause("rlimit_memlock", true, "secret memory is locked");

	begin_range(CALL_MPROTECT, EACCES, 1, 1, 0);
	r.args[2] = RW;
	strcpy(r.file.name, "thing");
	is_cause("file_mode", true, "mprotect, its file is open for reading");
	r.file.seals = 16;
	is_cause("sealed", true, "mprotect, its file is sealed");
	r.args[2] = PROT_READ | PROT_EXEC;
	is_cause("noexec_mount", true, "mprotect to exec, of a mount without");
	r.range.flags_all = VM_MAYEXEC;
	r.facts = FACT_MDWE;
	is_cause("write_exec_denied", true, "mprotect to exec, under PR_SET_MDWE");
	r.range.flags_all = VM_MAYEXEC | VM_EXEC;
	is_cause("unknown", false, "which it was before");
}

static void test_segment(void)
{
	begin(CALL_SHMAT, ENOMEM);
	r.asked = (struct asked){.bytes = 10 * PAGE, .whole = 1};
	r.as_limit_bytes = 1009 * PAGE;
	is_cause("rlimit_as", true, "shmat, its segment is too large");
	r.as_limit_bytes += PAGE;
	is_cause("unknown", false, "shmat, at the limit");
	r.error = EAGAIN;
	r.memlock_limit_bytes = 9 * PAGE;
	is_cause("unknown", false, "shmat locks nothing");
	r.facts = FACT_LOCKS_FUTURE;
	is_cause("rlimit_memlock", true, "but after mlockall(MCL_FUTURE)");
}

static void test_hugetlb(void)
{
	begin_mmap(ENOMEM, 1024, RW, ANON | MAP_HUGETLB);
	l.huge_page_bytes = 512 * PAGE;
	l.huge_pages_free = 3;
	l.huge_pages_reserved = 2;
	is_cause("hugetlb_pool", true, "two huge pages, one is left");
	l.huge_pages_reserved = 1;
	is_cause("hugetlb_pool", false, "two are left by now");
	l.huge_pages_free = 0;
	r.args[3] |= 30UL << 26;
	is_cause("hugetlb_pool", false, "the pool of another size was not read");
}

static void test_cgroup(void)
{
	begin_mmap(ENOMEM, 1, RW, ANON);
	r.memory = (struct level_room){.used = 936, .limit = 1000, .known = 1};
	is_cause("cgroup_memory", false, "64 pages below its limit");
	r.memory.used--;
	is_cause("unknown", false, "65 pages below it");
	r.memory = (struct level_room){.used = 1000, .limit = UINT64_MAX, .known = 1};
	is_cause("unknown", false, "no level has a limit");
	begin(CALL_CLONE, ENOMEM);
	r.memory = (struct level_room){.used = 1000, .limit = 1000, .up = 2, .known = 1};
	is_cause("cgroup_memory", false, "clone");
	is_str(evidence_value_str(&v.evidence[1]), "2", "clone, how many levels up");
}

static void test_tasks(void)
{
	begin(CALL_CLONE, EAGAIN);
	r.user.processes = r.nproc_limit = 50;
	is_cause("rlimit_nproc", true, "as many processes as the user may have");
	r.user.processes--;
	is_cause("unknown", false, "one less");
	r.user.processes++;
	r.facts = FACT_RESOURCE;
	is_cause("unknown", false, "who may exceed limits is not bound");
	r.facts = FACT_ROOT;
	is_cause("unknown", false, "nor is root");
	r.pids = (struct level_room){.used = 20, .limit = 20, .known = 1};
	is_cause("cgroup_pids", true, "the cgroup has as many");
	r.facts = 0;
	is_cause("rlimit_nproc", true, "the user's limit is asked first");
	NEXT("clone", "cgroup_pids");
	r.user.processes = 0;
	l.threads = l.threads_max = 1000;
	is_cause("threads_max", false, "as many threads as there may be");
	begin(CALL_CLONE, EMFILE);
	r.fds_free = 0;
	is_cause("rlimit_nofile", true, "CLONE_PIDFD, no number is free");
	begin(CALL_CLONE, ENOMEM);
	l.overcommit_memory = 2;
	r.data_vm_pages = (l.commit_limit_bytes - l.committed_bytes) / PAGE;
	is_cause("overcommit_strict", false, "fork promises all of it once more");
}

static void test_exec(void)
{
	begin(CALL_EXECVE, E2BIG);
	r.asked = (struct asked){.bytes = (2 << 20) + 1, .longest = 100, .whole = 1};
	is_cause("rlimit_stack", true, "more than a quarter of the stack");
	r.asked.longest = (128 << 10) + 1;
	is_cause("rlimit_stack", false, "and one that is too long besides");
	r.asked.bytes = 1 << 20;
	is_cause("bad_argument", true, "one that is too long");
	r.asked.whole = 0;
	is_cause("rlimit_stack", false, "not all was read");
	r.stack_limit_bytes = UINT64_MAX;
	r.asked = (struct asked){.bytes = 7 << 20, .longest = 100, .whole = 1};
	is_cause("bad_argument", true, "more than is ever taken");
	r.stack_limit_bytes = 4096;
	r.asked.bytes = 128 << 10;
	is_cause("unknown", false, "128 KiB are taken under any limit");
	r.as_limit_bytes = 64 << 10;
	is_cause("rlimit_as", false, "but not where RLIMIT_AS keeps them out");
	r.as_limit_bytes = UINT64_MAX;
	r.asked.bytes++;
	is_cause("rlimit_stack", true, "and a byte more is not");
	begin(CALL_EXECVE, EAGAIN);
	r.user.processes = r.nproc_limit = 50;
	is_cause("rlimit_nproc", true, "a user with too many processes may run no other program");
}

static void test_objects(void)
{
	begin(CALL_INOTIFY_WATCH, ENOSPC);
	r.user.inotify_watches = r.user.inotify_watches_max = 8;
	is_cause("inotify_watches", true, "inotify_add_watch");
	begin(CALL_EPOLL_CTL, ENOSPC);
	is_cause("epoll_watches", true, "epoll_ctl");
	begin(CALL_IO_URING_REGISTER, ENOMEM);
	r.memlock_limit_bytes = 16 * PAGE;
	r.user.locked_pages = 7;
	r.asked = (struct asked){.bytes = 10 * PAGE, .whole = 1};
	is_cause("rlimit_memlock", true, "buffers of io_uring");
	r.user.locked_pages = 6;
	is_cause("unknown", false, "buffers that fit");
	r.asked.whole = 0;
	is_cause("rlimit_memlock", false, "not all were read");
	r.facts = FACT_IPC_LOCK;
	is_cause("unknown", false, "with CAP_IPC_LOCK");
	begin(CALL_PIPE_SIZE, EPERM);
	l.pipe_max_bytes = 1 << 20;
	r.args[2] = (1 << 20) + 1;
	is_cause("pipe_pages", true, "fcntl(F_SETPIPE_SZ)");
	begin(CALL_SETRLIMIT, EPERM);
	is_cause("nr_open", true, "setrlimit beyond fs.nr_open");
}

/* Tests rare errnos, which drivers return. faultscope must not name a limit as the cause. */
static void test_other_errnos(void)
{
	static const int errors[] = {EIO, ENXIO, EBUSY, EFAULT, ENOSYS, ENOTTY, EROFS, ELOOP};
	bool good = true;

	for (unsigned int call = CALL_MMAP; call < CALL_MAX; call++)
		for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
			begin(call, errors[i]);
			r.args[3] = ANON;
			r.map_count = MAX + 100;
			r.as_limit_bytes = r.data_limit_bytes = r.memlock_limit_bytes = 0;
			r.fds_free = 0;
			r.memory = r.pids = (struct level_room){.known = 1};
			cause_of(&r, &l, arch, &v);
			if (call == CALL_MREMAP && errors[i] == EFAULT)
				continue; /* mremap returns EFAULT for an unmapped range */
			good &= !v.certain && !strcmp(v.cause, "unknown");
		}
	ok(good, "errnos of no limit: unknown, whatever is exceeded");
}

int main(void)
{
	test_ranges();
	test_fixed();
	test_searched();
	test_files();
	test_segment();
	test_hugetlb();
	test_cgroup();
	test_tasks();
	test_exec();
	test_objects();
	test_other_errnos();
	verdicts_are(0xe6262581a9d38faf);
	return tap_done();
}
