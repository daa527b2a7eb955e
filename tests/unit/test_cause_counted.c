// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which cause faultscope names if a call fails at a limit of counted objects. */
#include <string.h>

#include "cause_fixture.h"
#include "rules/request.h"

static void begin_counted(enum call_id call, int error, uint32_t what, uint64_t used,
			  uint64_t asked, uint64_t limit)
{
	begin(call, error);
	r.counted = (struct counted_objects){
		.what = what, .used = used, .asked = asked, .limit = limit};
}

/* Each limit: exactly at it the call fails for sure; one object less, and it is not the cause. */
static void test_edges(void)
{
	static const struct {
		enum call_id call;
		int error;
		uint32_t what;
		const char *cause;
	} rows[] = {
		{CALL_UNSHARE, ENOSPC, COUNTED_USER_NAMESPACES, "max_user_namespaces"},
		{CALL_CLONE, ENOSPC, COUNTED_NET_NAMESPACES, "max_net_namespaces"},
		{CALL_FANOTIFY_MARK, ENOSPC, COUNTED_FANOTIFY_MARKS, "fanotify_marks"},
		{CALL_TIMER_CREATE, EAGAIN, COUNTED_SIGNALS, "rlimit_sigpending"},
		{CALL_SETSOCKOPT, ENOMEM, COUNTED_OPTION_BYTES, "optmem_max"},
		{CALL_SETSOCKOPT, ENOBUFS, COUNTED_OPTION_BYTES, "optmem_max"},
		{CALL_OPEN, ENOSPC, COUNTED_QUEUES, "mqueue_queues_max"},
		{CALL_OPEN, EINVAL, COUNTED_QUEUE_MESSAGES, "mqueue_msg_max"},
		{CALL_ADD_KEY, EDQUOT, COUNTED_KEYS, "maxkeys"},
		{CALL_SEMOP, E2BIG, COUNTED_SEMAPHORE_OPS, "semopm"},
		{CALL_FTRUNCATE, EFBIG, COUNTED_FILE_BYTES, "rlimit_fsize"},
		{CALL_POLL, EINVAL, COUNTED_POLLED_FDS, "polled_fds"},
		{CALL_PKEY_ALLOC, ENOSPC, COUNTED_PROTECTION_KEYS, "protection_keys"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_counted(rows[i].call, rows[i].error, rows[i].what, 90, 11, 100);
		is_cause(rows[i].cause, true, "one more than the limit");
		is_u64(v.need, 101, "what the call needs");
		/* the option memory must stay below its limit */
		r.counted.asked = rows[i].what == COUNTED_OPTION_BYTES ? 9 : 10;
		is_cause("unknown", false, "up to the limit");
		if (rows[i].what != COUNTED_OPTION_BYTES) { /* which has two errnos */
			begin_counted(rows[i].call, EIO, rows[i].what, 90, 11, 100);
			is_cause("unknown", false, "another errno has another reason");
		}
		begin_counted(rows[i].call, rows[i].error, rows[i].what, 90, 11, 100);
		r.facts = FACT_FILTERED;
		is_cause(rows[i].cause, false, "a seccomp filter may have returned the errno");
		r.counted.used = UINT64_MAX;
		is_cause("unknown", false, "a filter, and no count");
	}
}

static void test_unknown_counts(void)
{
	begin_counted(CALL_SIGQUEUE, EAGAIN, COUNTED_SIGNALS, UINT64_MAX, 0, UINT64_MAX);
	is_cause("rlimit_sigpending", false, "the receiver's counts are not known");
	begin_counted(CALL_SETSOCKOPT, ENOMEM, COUNTED_OPTION_BYTES, UINT64_MAX, 0, UINT64_MAX);
	is_cause("unknown", false, "ENOMEM has other reasons");
	begin_counted(CALL_PERF_EVENT, ENOSPC, COUNTED_BREAKPOINTS, UINT64_MAX, 0, UINT64_MAX);
	is_cause("hardware_breakpoints", true, "only breakpoints have this errno");
	begin_counted(CALL_ADD_KEY, EDQUOT, COUNTED_KEY_BYTES, 10, 5, 100);
	is_cause("maxbytes", false, "bytes were released meanwhile");
	begin_counted(CALL_IO_SETUP, EAGAIN, COUNTED_AIO_REQUESTS, 10, 5, 100);
	is_cause("aio_max_nr", false, "a process ended meanwhile");
	begin_counted(CALL_UNSHARE, ENOSPC, COUNTED_MAX + 5, 10, 5, 1);
	is_cause("unknown", false, "a count that this version does not know");
}

/* Limits that the counts do not prove, since another limit has the same errno. */
static void test_other_limits(void)
{
	begin_counted(CALL_SETSOCKOPT, ENOBUFS, COUNTED_MULTICAST_GROUPS, 20, 1, 20);
	is_cause("igmp_max_memberships", true, "one group more");
	begin_counted(CALL_SETSOCKOPT, ENOBUFS, COUNTED_MULTICAST_SOURCES, 10, 1, 10);
	is_cause("igmp_max_msf", true, "one source more");
	r.counted.used = UINT64_MAX;
	is_cause("igmp_max_msf", false, "it is not known which interface the call names");
	begin_counted(CALL_SETSOCKOPT, ENOBUFS, COUNTED_LISTENER_SOURCES, 64, 1, 64);
	is_cause("mld_max_msf", true, "one IPv6 source more");
	begin_counted(CALL_OPEN, ENOSPC, COUNTED_PTYS, 1022, 1, 1024);
	is_cause("unknown", false, "a terminal more is below the limit");
	r.counted.used = 1023;
	is_cause("pty_max", true, "a terminal more is not below the limit");
	begin_counted(CALL_OPEN, ENOSPC, COUNTED_PTYS, 900, 1 + 200, 1024);
	is_cause("pty_max", false, "some mounts must leave terminals for others");
	begin_counted(CALL_OPEN, ENOSPC, COUNTED_PTYS, UINT64_MAX, 1, 3);
	is_cause("pty_max", false, "one of the mounts that the process sees permits 3");
	begin_counted(CALL_WRITE, EFBIG, COUNTED_FILE_BYTES, UINT64_MAX, 1, 1000);
	is_cause("rlimit_fsize", false, "the offset of the write is not known");
	begin_counted(CALL_KEYCTL, EDQUOT, COUNTED_KEYS, 200, 1, 200);
	is_cause("maxkeys", false, "keyctl() may have changed only the bytes of a key");
	begin_counted(CALL_MOUNT, ENOSPC, COUNTED_MOUNTS, 50, 1, 100);
	is_cause("mount_max", false, "a tree of mounts may need half of the limit");
	r.counted.used = 49;
	is_cause("unknown", false, "file systems return ENOSPC, too");
}

/* Before Linux 5.14, counts of the user in its own namespace are often not known. */
static void test_unknown_types(void)
{
	begin_counted(CALL_UNSHARE, ENOSPC, COUNTED_NAMESPACES, UINT64_MAX, 1, UINT64_MAX);
	r.counted.types = 1U << COUNTED_MNT_NAMESPACES | 1U << COUNTED_UTS_NAMESPACES;
	is_cause("max_namespaces", false, "one of two types");
	begin_counted(CALL_UNSHARE, ENOSPC, COUNTED_NET_NAMESPACES, 5, 1, 5);
	r.counted.types = 1U << COUNTED_MNT_NAMESPACES;
	is_cause("max_net_namespaces", false, "the mount namespace may have been refused before");
	r.counted.types = 0;
	is_cause("max_net_namespaces", true, "no other type was requested");
}

static void test_pids(void)
{
	begin_counted(CALL_CLONE, EAGAIN, COUNTED_PIDS, 1000, 1, 1000);
	is_cause("pid_max", true, "each pid is in use");
	r.counted.used = 700;
	is_cause("pid_max", false, "each pid is in use, except those below 300");
	r.counted.used = 699;
	is_cause("unknown", false, "a pid above 300 is free");
	r.counted.limit = UINT64_MAX;
	is_cause("unknown", false, "clone() returns EAGAIN for other reasons, too");
	begin_counted(CALL_CLONE, EAGAIN, COUNTED_PIDS, 1000, 1, 1000);
	r.pids = (struct level_room){.used = 10, .limit = 10, .known = 1};
	is_cause("cgroup_pids", true, "the kernel checks the cgroup first");
}

static void test_locked_pages(void)
{
	begin_counted(CALL_SHMCTL, ENOMEM, COUNTED_LOCKED_PAGES, 2, 8, 4);
	is_cause("rlimit_memlock", true, "more pages than RLIMIT_MEMLOCK");
	is_u64(v.need, 10 * PAGE, "the limit is in bytes");
	r.facts = FACT_IPC_LOCK;
	is_cause("unknown", false, "CAP_IPC_LOCK lifts the limit");
	begin_counted(CALL_SHMCTL, EPERM, COUNTED_LOCKED_PAGES, 0, 8, 0);
	is_cause("rlimit_memlock", true, "a limit of 0 has an errno of its own");
}

static void test_quotas(void)
{
	begin(CALL_WRITE, EDQUOT);
	r.space = (struct file_space){.block_bytes = PAGE};
	r.file.magic = 0xef53;
	is_cause("file_quota", true, "a file of ext4");
	r.file.magic = 0x01021994;
	is_cause("tmpfs_quota", true, "a file of tmpfs");
	begin(CALL_OPEN, EDQUOT);
	is_cause("file_quota", true, "a file that cannot be created");
}

int main(void)
{
	test_edges();
	test_unknown_counts();
	test_other_limits();
	test_unknown_types();
	test_pids();
	test_locked_pages();
	test_quotas();
	return tap_done();
}
