/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of limits of one object: the bytes of a file or of a message, the elements of an
 * array, the options of a socket, the keys that protect memory.
 */
#include "zoo.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>

#define OPTMEM	    "/proc/sys/net/core/optmem_max"
#define MEMBERSHIPS "/proc/sys/net/ipv4/igmp_max_memberships"
#define SEMAPHORES  "/proc/sys/kernel/sem"

/* The size of a file is limited. The kernel also sends SIGXFSZ, which the cases ignore. */

static char word[16];

static void bound_file(long bytes)
{
	signal(SIGXFSZ, SIG_IGN);
	soft_limit(RLIMIT_FSIZE, bytes);
}

static void restore_file(void)
{
	restore_limit(RLIMIT_FSIZE);
}

static void truncates_beyond(void)
{
	long bytes = vary(1, 1000000);

	ASK(ftruncate, sized_memfd(0, 0), bytes + 1);
	bound_file(bytes);
}

static void reserves_beyond(void)
{
	long bytes = vary(1, 1000000);

	ASK(fallocate, sized_memfd(0, 0), 0, bytes, 1);
	bound_file(bytes);
}

static void writes_beyond(void)
{
	int fd = sized_memfd(0, 0);

	if (lseek(fd, 10000, SEEK_SET) < 0)
		die("lseek");
	ASK(write, fd, P(word), sizeof(word));
	bound_file(10000);
}

static void writes_at_beyond(void)
{
	ASK(pwrite64, sized_memfd(0, 0), P(word), sizeof(word), 20000);
	bound_file(vary(0, 20000));
}

/* Messages and operations of System V IPC, in the case's own IPC namespace */

static struct {
	long type;
	char text[1000];
} message = { .type = 1 };

static void sends_long_message(void)
{
	enter_ipc_namespace();
	ASK(msgsnd, msgget(IPC_PRIVATE, IPC_CREAT | 0600), P(&message), vary(101, 1000), 0);
	write_number("/proc/sys/kernel/msgmax", 100);
}

static void allow_long_message(void)
{
	write_number("/proc/sys/kernel/msgmax", 8192);
}

static void bound_operations(long call)
{
	static struct sembuf up[8] = { { .sem_op = 1 }, { .sem_op = 1 }, { .sem_op = 1 },
				       { .sem_op = 1 }, { .sem_op = 1 }, { .sem_op = 1 } };

	enter_ipc_namespace();
	ASK(semop, semget(IPC_PRIVATE, 1, IPC_CREAT | 0600), P(up), 6, 0);
	ask.number = call;
	if (!write_text(SEMAPHORES, "250 32000 5 128"))
		die("kernel.sem");
}

static void too_many_operations(void)
{
	bound_operations(SYS_semop);
}

static void too_many_timed_operations(void)
{
	bound_operations(SYS_semtimedop);
}

static void allow_operations(void)
{
	if (!write_text(SEMAPHORES, "250 32000 32 128"))
		die("kernel.sem");
}

/* Arrays of poll() */

static void fill_array(struct pollfd *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i].fd = -1;
}

static void polls_many(void)
{
	static struct pollfd array[100];

	fill_array(array, 100);
	ASK(poll, P(array), vary(61, 100), 0);
	soft_limit(RLIMIT_NOFILE, 60);
}

static void polls_many_with_mask(void)
{
	static struct timespec none;
	static struct pollfd array[100];

	fill_array(array, 100);
	ASK(ppoll, P(array), 61, P(&none), 0, 0);
	soft_limit(RLIMIT_NOFILE, 60);
}

/* Segments of shared memory that are locked */

static void locks_segment(void)
{
	int segment;

	enter_ipc_namespace();
	segment = shmget(IPC_PRIVATE, 8 * PAGE_BYTES, IPC_CREAT | 0600);
	drop_capability(CAP_IPC_LOCK);
	ASK(shmctl, segment, SHM_LOCK, 0);
	soft_limit(RLIMIT_MEMLOCK, PAGE_BYTES);
}

static void locks_segment_without_limit(void)
{
	locks_segment();
	soft_limit(RLIMIT_MEMLOCK, 0);
}

/* Options of sockets, in the case's own network namespace */

static int new_socket(void)
{
	int fd;

	if (unshare(CLONE_NEWNET))
		skip("no network namespaces: %s", strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

static void bound_options(long bytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%ld", bytes);
	if (!write_text(OPTMEM, text))
		skip("%s: %s", OPTMEM, strerror(errno));
}

static void attaches_filter(void)
{
	static struct sock_filter code[1000];
	static struct sock_fprog program = { 1000, code };
	int fd = new_socket();

	for (int i = 0; i < 999; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	code[999] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0xffff);
	ASK(setsockopt, fd, SOL_SOCKET, SO_ATTACH_FILTER, P(&program), sizeof(program));
	bound_options(4000);
}

static void allow_options(void)
{
	bound_options(131072);
}

static struct ip_mreqn group = { .imr_ifindex = 1 };

static void join(int fd, int n)
{
	group.imr_multiaddr.s_addr = htonl(0xefffff00 + n); /* 239.255.255.n */
	if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)))
		skip("IP_ADD_MEMBERSHIP: %s", strerror(errno));
}

static void joins(int fd, int n)
{
	for (int i = 0; i < n; i++)
		join(fd, i);
	group.imr_multiaddr.s_addr = htonl(0xefffff00 + n);
	ASK(setsockopt, fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, P(&group), sizeof(group));
}

static void joins_many_groups(void)
{
	joins(new_socket(), 3);
	write_number(MEMBERSHIPS, 3);
}

static void allow_groups(void)
{
	write_number(MEMBERSHIPS, 20);
}

/* The same errno, but the memory for options is used up. */
static void joins_without_memory(void)
{
	joins(new_socket(), 3);
	bound_options(160);
}

/* Keys that protect memory */

static int last_key;

static void uses_protection_keys(void)
{
	int key;

	last_key = pkey_alloc(0, 0);
	if (last_key < 0)
		skip("pkey_alloc: %s", strerror(errno));
	while ((key = pkey_alloc(0, 0)) > 0)
		last_key = key;
	ASK(pkey_alloc, 0, 0);
}

static void free_protection_key(void)
{
	if (pkey_free(last_key))
		die("pkey_free");
}

/* mseal() splits mappings, and seals no range with holes */

static void seals_hole(void)
{
	char *at = map_anon(3 * PAGE_BYTES, RW, 0);

	ASK(mseal, P(at), PAGE_BYTES, 0);
	if (make_asked())
		skip("mseal: %s", strerror(errno));
	munmap(at + 2 * PAGE_BYTES, PAGE_BYTES);
	ASK(mseal, P(at), 3 * PAGE_BYTES, 0);
}

static void seal_no_hole(void)
{
	ask.arg[1] = 2 * PAGE_BYTES;
}

static void seals_half(void)
{
	char *at = map_anon(2 * PAGE_BYTES, RW, 0);
	char *one = map_anon(PAGE_BYTES, RW, 0);

	ASK(mseal, P(one), PAGE_BYTES, 0);
	if (make_asked())
		skip("mseal: %s", strerror(errno));
	ASK(mseal, P(at + PAGE_BYTES), PAGE_BYTES, 0);
	fill_maps(most_maps());
}

static void fail_as(long ret, int error, const char *what)
{
	if (ret != -1 || errno != error)
		die("%s did not fail with %s, but returned %ld", what, strerrorname_np(error), ret);
}

/* Control tests: calls of this file that fail for everyday reasons */
static long fails_daily(void)
{
	int queue, set, pair[2], size = 0;
	struct sembuf down = { .sem_op = -1, .sem_flg = IPC_NOWAIT };
	struct pollfd none = { .fd = -1 };

	enter_ipc_namespace();
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	fail_as(msgsnd(queue, &(long){ 0 }, 0, 0), EINVAL, "a message of type 0");
	while (!msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT))
		continue;
	fail_as(msgsnd(queue, &message, 1000, IPC_NOWAIT), EAGAIN, "msgsnd to a full queue");
	fail_as(semop(set, &down, 1), EAGAIN, "semop of a semaphore that is 0");
	fail_as(semop(set, &down, 0), EINVAL, "semop without operations");
	fail_as(shmctl(-1, SHM_LOCK, NULL), EINVAL, "shmctl of no segment");
	fail_as(syscall(SYS_ppoll, &none, 1, &(struct timespec){ 0, -1 }, 0, 0), EINVAL,
		"ppoll with a wrong time");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		die("socketpair");
	fail_as(setsockopt(pair[0], IPPROTO_IP, IP_TTL, &size, sizeof(size)), EOPNOTSUPP,
		"an option of another protocol");
	while (send(pair[0], &message, sizeof(message), 0) > 0)
		continue;
	fail_as(sendmsg(pair[0], &(struct msghdr){ .msg_iov = &(struct iovec){ word, 1 },
						   .msg_iovlen = 1 }, 0),
		EAGAIN, "sendmsg to a full socket");
	fail_as(ftruncate(pair[0], 1), EINVAL, "ftruncate of a socket");
	fail_as(ftruncate(sized_memfd(0, 0), -1), EINVAL, "ftruncate to less than nothing");
	fail_as(pkey_alloc(1, 0), EINVAL, "pkey_alloc with a flag");
	fail_as(syscall(SYS_mseal, 1, PAGE_BYTES, 0), EINVAL, "mseal of a bent address");
	return 0;
}

#define FSIZE(call, prepare) { call, EFBIG, "rlimit_fsize" }, prepare, NULL, restore_file

const struct zoo_case length_cases[] = {
	{ "fsize-ftruncate", FSIZE("ftruncate", truncates_beyond) },
	{ "fsize-fallocate", FSIZE("fallocate", reserves_beyond) },
	{ "fsize-write", FSIZE("write", writes_beyond) },
	{ "fsize-pwrite", FSIZE("write", writes_at_beyond) },
	{ "msgmax", { "msgsnd", EINVAL, "msgmax" }, sends_long_message, NULL, allow_long_message },
	{ "semopm", { "semop", E2BIG, "semopm" }, too_many_operations, NULL, allow_operations },
	{ "semopm-timed", { "semtimedop", E2BIG, "semopm" }, too_many_timed_operations, NULL,
	  allow_operations },
	{ "poll-nofile", { "poll", EINVAL, "polled_fds" }, polls_many, NULL, restore_nofile },
	{ "ppoll-nofile", { "ppoll", EINVAL, "polled_fds" }, polls_many_with_mask, NULL,
	  restore_nofile },
	{ "shmctl-memlock", { "shmctl", ENOMEM, "rlimit_memlock" }, locks_segment, NULL,
	  raise_ipc_lock },
	{ "shmctl-memlock-zero", { "shmctl", EPERM, "rlimit_memlock" },
	  locks_segment_without_limit, NULL, raise_ipc_lock },
	{ "optmem-filter", { "setsockopt", ENOMEM, "optmem_max" }, attaches_filter, NULL,
	  allow_options },
	{ "optmem-membership", { "setsockopt", ENOBUFS, "optmem_max" }, joins_without_memory, NULL,
	  allow_options },
	{ "igmp-memberships", { "setsockopt", ENOBUFS, "igmp_max_memberships" }, joins_many_groups,
	  NULL, allow_groups },
	{ "protection-keys", { "pkey_alloc", ENOSPC, "protection_keys" }, uses_protection_keys,
	  NULL, free_protection_key },
	{ "mseal-hole", { "mseal", ENOMEM, "range_hole" }, seals_hole, NULL, seal_no_hole },
	{ "count-mseal", { "mseal", ENOMEM, "max_map_count" }, seals_half, NULL,
	  unmap_last_filler },
	{ "control-lengths", .make = fails_daily, .control = true },
	{ 0 },
};
