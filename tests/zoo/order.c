/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of calls with two causes of failure. faultscope must name the cause that the kernel
 * checks first.
 */
#include "zoo.h"

#include <sched.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BLOCK_PAGES 8
#define BLOCK	    (BLOCK_PAGES * PAGE_BYTES)

static char *block;
static void *heap_guard;

/* Removes both causes: lifts RLIMIT_AS, and makes room below the map count limit. */
static void lift_as_and_count(void)
{
	restore_as();
	for (int i = 0; i < 8; i++) {
		unmap_last_filler();
		fill_maps(map_count() + 1);
		unmap_last_filler();
	}
}

/* mremap first checks RLIMIT_AS. It checks the map count later, when it moves the mapping. */
static void remap_past_as_at_count(void)
{
	char *wall;

	block = map_anon(2 * BLOCK, RW, 0);
	wall = block + BLOCK;
	if (mprotect(wall, BLOCK, PROT_NONE))
		die("mprotect");
	fill_maps(most_maps());
	ASK(mremap, P(block), BLOCK, 64 * BLOCK, MREMAP_MAYMOVE);
	room_as(BLOCK);
}

static void drop_some_fillers(void)
{
	restore_as();
	if (munmap(block + BLOCK, BLOCK))
		die("munmap");
	/* the block can now grow in place, which needs no further mapping */
	ask.arg[2] = BLOCK + PAGE_BYTES;
}

/* With MREMAP_FIXED, mremap checks the map count before RLIMIT_AS. */
static void remap_to_at_count_past_as(void)
{
	char *place = map_anon(64 * BLOCK, PROT_NONE, 0);

	block = map_anon(BLOCK, RW, 0);
	fill_maps(most_maps());
	ASK(mremap, P(block), BLOCK, 64 * BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED, P(place));
	room_as(0);
	soft_limit(RLIMIT_AS, status_bytes("\nVmSize:") - PAGE_BYTES);
}

static void remap_in_place(void)
{
	restore_as();
	ask.arg[2] = BLOCK;
	ask.arg[3] = 0;
}

static void heap_end(void)
{
	ASK(brk, syscall(SYS_brk, 0) + (long)some_bytes());
}

static void brk_past_as_at_count(void)
{
	/* The end of the heap has another protection, so new heap memory is a new mapping. */
	ASK(brk, syscall(SYS_brk, 0) + 4 * MIB);
	if (mprotect((void *)(((syscall(SYS_brk, 0) + PAGE_BYTES - 1) & -PAGE_BYTES) - PAGE_BYTES),
		     PAGE_BYTES, PROT_READ))
		die("mprotect of the heap's end");
	fill_maps(most_maps() + 1);
	room_as(MIB);
}

static void brk_past_data_into_mapping(void)
{
	heap_end();
	heap_guard = mmap((void *)((ask.arg[0] + PAGE_BYTES) & -PAGE_BYTES), PAGE_BYTES, PROT_NONE,
			  PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0);
	if (heap_guard == MAP_FAILED)
		skip("no place beyond the heap: %s", strerror(errno));
	soft_limit(RLIMIT_DATA, PAGE_BYTES);
}

static void brk_room(void)
{
	restore_data();
	if (munmap(heap_guard, PAGE_BYTES))
		die("munmap");
}

/* Another mapping occupies the new heap's addresses. brk checks this before RLIMIT_AS. */
static void brk_into_mapping_past_as(void)
{
	heap_end();
	heap_guard = mmap((void *)((ask.arg[0] + PAGE_BYTES) & -PAGE_BYTES), PAGE_BYTES, PROT_NONE,
			  PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0);
	if (heap_guard == MAP_FAILED)
		skip("no place beyond the heap: %s", strerror(errno));
	room_as(PAGE_BYTES);
}

static void brk_room_of_as(void)
{
	restore_as();
	if (munmap(heap_guard, PAGE_BYTES))
		die("munmap");
}

/* mprotect checks RLIMIT_DATA before it splits a mapping. */
static void protect_past_data_at_count(void)
{
	block = map_anon(64 * BLOCK, PROT_EXEC, 0);
	fill_maps(most_maps());
	ASK(mprotect, P(block) + BLOCK, 32 * BLOCK, RW);
	room_data(0);
}

static void room_for_both(void)
{
	restore_data();
	ask.arg[0] = P(block); /* the range becomes the whole block, which needs no split */
	ask.arg[1] = 64 * BLOCK;
}

/* Makes a block and a hole after it. At the map count limit, no mapping can be split. */
static void hole_behind(int protection)
{
	block = map_anon(3 * BLOCK, PROT_NONE, 0);
	if (mprotect(block, BLOCK, protection) || mprotect(block + BLOCK, BLOCK, PROT_EXEC))
		die("mprotect");
	fill_maps(most_maps() + 1);
	if (munmap(block + BLOCK, BLOCK))
		die("munmap");
}

/*
 * The kernel changes the range one mapping after another. For the block, it must first split a
 * mapping. The split fails, so the kernel does not reach the hole that follows the block.
 */
static void middle_before_hole(long call)
{
	hole_behind(RW);
	ask = (struct ask){ call, { P(block) + PAGE_BYTES, BLOCK } };
}

static void protect_middle_before_hole(void)
{
	middle_before_hole(SYS_mprotect);
	ask.arg[2] = PROT_READ;
}

static void lock_middle_before_hole(void)
{
	middle_before_hole(SYS_mlock);
}

static void advise_middle_before_hole(void)
{
	middle_before_hole(SYS_madvise);
	ask.arg[2] = MADV_RANDOM;
}

/* Removes both causes: takes the hole out of the range, and makes room for the split. */
static void no_hole_and_room(void)
{
	unmap_last_filler();
	ask.arg[1] = BLOCK - PAGE_BYTES;
}

/* The range starts with a whole mapping, so no split is needed. Only the hole makes it fail. */
static void whole_before_hole(long call)
{
	hole_behind(RX);
	ask = (struct ask){ call, { P(block), BLOCK + PAGE_BYTES } };
}

static void protect_whole_before_hole(void)
{
	whole_before_hole(SYS_mprotect);
	ask.arg[2] = PROT_READ | PROT_WRITE | PROT_EXEC;
}

static void lock_whole_before_hole(void)
{
	whole_before_hole(SYS_mlock);
}

static void whole_alone(void)
{
	ask.arg[1] = BLOCK;
}

/* The range starts with a hole. Later in the range, a split would exceed the map count limit. */
static void hole_before_middle(void)
{
	hole_behind(RW);
	if (munmap(block, PAGE_BYTES))
		die("munmap");
	ASK(mprotect, P(block), BLOCK / 2, PROT_READ);
}

static void past_hole_to_end(void)
{
	unmap_last_filler();
	ask.arg[0] += PAGE_BYTES;
}

/* mlock checks RLIMIT_MEMLOCK before it searches for holes in the range. */
static void lock_past_limit_over_hole(void)
{
	size_t bytes = small_bytes();

	block = map_anon(bytes, RW, 0);
	if (munmap(block + bytes / 2 / PAGE_BYTES * PAGE_BYTES, PAGE_BYTES))
		die("munmap");
	ASK(mlock, P(block), bytes);
	room_memlock(PAGE_BYTES);
}

static void lock_start(void)
{
	raise_ipc_lock();
	ask.arg[1] = PAGE_BYTES;
}

/* With RLIMIT_MEMLOCK 0, mlock fails before any other check. */
static void lock_nothing_over_hole(void)
{
	lock_past_limit_over_hole();
	soft_limit(RLIMIT_MEMLOCK, 0);
}

/* mmap checks RLIMIT_DATA before the commit limit. */
static void data_before_memory(void)
{
	ASK(mmap, 0, (long)beyond_memory(), RW, PRIVATE_ANON, -1, 0);
	room_data(MIB);
}

static void as_before_memory(void)
{
	ASK(mmap, 0, (long)beyond_memory(), RW, PRIVATE_ANON, -1, 0);
	room_as(MIB);
}

static void ask_less(void)
{
	restore_as();
	restore_data();
	ask.arg[1] = PAGE_BYTES;
}

/*
 * mmap first checks the map count. Only after that, it checks whether the range is free, as
 * MAP_FIXED_NOREPLACE requires.
 */
static void count_before_exists(void)
{
	block = map_anon(BLOCK, RW, 0);
	fill_maps(most_maps() + 1);
	ASK(mmap, P(block), PAGE_BYTES, PROT_READ, PRIVATE_ANON | MAP_FIXED_NOREPLACE, -1, 0);
}

static void free_place(void)
{
	unmap_last_filler();
	if (munmap(block, BLOCK))
		die("munmap");
}

/*
 * mmap checks CAP_IPC_LOCK before it checks whether the mount is noexec. Both checks fail with
 * EPERM.
 */
static void locked_before_noexec(void)
{
	int file;

	enter_mount_namespace();
	if (mount("zoo", "/tmp", "tmpfs", MS_NOEXEC, "size=1m"))
		skip("mount: %s", strerror(errno));
	file = disk_file(PAGE_BYTES);
	ASK(mmap, 0, PAGE_BYTES, RX, MAP_PRIVATE | MAP_LOCKED, file, 0);
	drop_capability(CAP_IPC_LOCK);
	soft_limit(RLIMIT_MEMLOCK, 0);
}

static void may_lock_and_run(void)
{
	raise_ipc_lock();
	if (mount("zoo", "/tmp", NULL, MS_REMOUNT, NULL))
		die("mount -o remount,exec");
}

/* mmap checks the file's open mode before PR_SET_MDWE. Each check fails with EACCES. */
static void mode_before_write_exec(void)
{
	int file = reopen(sized_memfd(PAGE_BYTES, 0), O_RDONLY);

	ASK(mmap, 0, PAGE_BYTES, RW | PROT_EXEC, MAP_SHARED, file, 0);
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		skip("prctl PR_SET_MDWE: %s", strerror(errno));
}

static void only_read(void)
{
	ask.arg[2] = PROT_READ;
}

/*
 * inotify_init first counts inotify instances, and then takes an fd number. At each of the two
 * limits, it fails with EMFILE.
 */
static int last_instance;

static void instances_before_nofile(void)
{
	enter_user_namespace();
	write_number("/proc/sys/user/max_inotify_instances", 3);
	for (int i = 0; i < 3; i++) {
		last_instance = inotify_init1(IN_CLOEXEC);
		if (last_instance < 0)
			die("inotify_init1");
	}
	leave_free(0);
	ASK(inotify_init1, IN_CLOEXEC);
}

static void close_instance(void)
{
	restore_nofile();
	close(last_instance);
}

/* dup2 checks the new fd number before the old one. */
static void dup2_of_closed_past(void)
{
	soft_limit(RLIMIT_NOFILE, 100);
	ASK(dup2, 99, 100);
}

static void dup2_of_open(void)
{
	restore_nofile();
	ask.arg[0] = STDOUT_FILENO;
}

/* dup checks whether the old fd is open before it searches for a free number. */
static void dup_of_closed_full(void)
{
	leave_free(0);
	ASK(dup, 1000);
}

static long make_closed(void)
{
	if (make_asked() != -1 || errno != EBADF)
		die("a closed descriptor did not fail as EBADF");
	return 0;
}

static void dupfd_of_closed_past(void)
{
	soft_limit(RLIMIT_NOFILE, 100);
	ASK(fcntl, 99, F_DUPFD, 200);
}

/* openat takes an fd number before it looks up the path. */
static void open_missing_full(void)
{
	leave_free(0);
	ASK(openat, AT_FDCWD, P("/nonexistent/zoo"), O_RDONLY);
}

static void open_there(void)
{
	restore_nofile();
	ask.arg[1] = P("/dev/null");
}

/* accept takes an fd number before it checks whether a client is waiting. */
static void accept_nobody_full(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(name.sun_family);

	if (bind(listener, (struct sockaddr *)&name, length) || listen(listener, 4))
		die("listen");
	length = sizeof(name);
	if (getsockname(listener, (struct sockaddr *)&name, &length))
		die("getsockname");
	leave_free(0);
	ASK(accept4, listener, 0, 0, SOCK_CLOEXEC);
	/* The client connects after the failing call, when the limit is lifted. */
	subject.tid = subject.pid;
	ask.arg[4] = client;
	ask.arg[5] = 0;
	block = malloc(sizeof(name) + sizeof(length));
	memcpy(block, &length, sizeof(length));
	memcpy(block + sizeof(length), &name, sizeof(name));
}

static void somebody_comes(void)
{
	socklen_t length;

	memcpy(&length, block, sizeof(length));
	restore_nofile();
	if (connect(ask.arg[4], (struct sockaddr *)(block + sizeof(length)), length))
		die("connect");
}

/* socket checks the address family before it searches for a free fd number. */
static long socket_of_no_family(void)
{
	if (syscall(SYS_socket, 255, SOCK_STREAM, 0) != -1 || errno != EAFNOSUPPORT)
		die("socket of no family");
	return 0;
}

static void nothing_free(void)
{
	leave_free(0);
}

/* fork checks RLIMIT_NPROC before the cgroup's pids.max. */
static void nproc_before_pids(void)
{
	cgroup_make("pids");
	cgroup_enter("pids", "/below");
	cgroup_set("pids", "/below", "pids.max", "1");
	become_another_user();
	soft_limit(RLIMIT_NPROC, 1);
}

/*
 * The limits cannot be removed after the change of user, so the fork that must succeed runs before.
 */
static void fork_before(void)
{
	pid_t child = fork_or_die();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

static long fork_after(void)
{
	static bool made;

	if (!made) {
		made = true;
		fork_before();
		return 0;
	}
	return make_fork();
}

#define AT(prepare, lift) prepare, NULL, lift

const struct zoo_case order_cases[] = {
	{ "order-mremap-as-count", { "mremap", ENOMEM, "rlimit_as", "max_map_count" },
	  AT(remap_past_as_at_count, drop_some_fillers) },
	{ "order-mremap-fixed-count-as", { "mremap", ENOMEM, "max_map_count", "rlimit_as" },
	  AT(remap_to_at_count_past_as, remap_in_place) },
	{ "order-brk-as-count", { "brk", 0, "rlimit_as", "max_map_count" },
	  AT(brk_past_as_at_count, lift_as_and_count) },
	{ "order-brk-data-mapping", { "brk", 0, "rlimit_data", "brk_collision" },
	  AT(brk_past_data_into_mapping, brk_room) },
	{ "order-brk-mapping-as", { "brk", 0, "brk_collision", "rlimit_as" },
	  AT(brk_into_mapping_past_as, brk_room_of_as) },
	{ "order-mprotect-data-count", { "mprotect", ENOMEM, "rlimit_data", "max_map_count" },
	  AT(protect_past_data_at_count, room_for_both) },
	{ "order-mprotect-count-hole", { "mprotect", ENOMEM, "max_map_count" },
	  AT(protect_middle_before_hole, no_hole_and_room) },
	{ "order-mlock-count-hole", { "mlock", ENOMEM, "max_map_count" },
	  AT(lock_middle_before_hole, no_hole_and_room) },
	{ "order-madvise-count-hole", { "madvise", EAGAIN, "max_map_count" },
	  AT(advise_middle_before_hole, no_hole_and_room) },
	{ "order-mprotect-hole-no-split", { "mprotect", ENOMEM, "range_hole" },
	  AT(protect_whole_before_hole, whole_alone) },
	{ "order-mlock-hole-no-split", { "mlock", ENOMEM, "range_hole" },
	  AT(lock_whole_before_hole, whole_alone) },
	{ "order-mprotect-hole-count", { "mprotect", ENOMEM, "range_hole" },
	  AT(hole_before_middle, past_hole_to_end) },
	{ "order-mlock-memlock-hole", { "mlock", ENOMEM, "rlimit_memlock" },
	  AT(lock_past_limit_over_hole, lock_start) },
	{ "order-mlock-zero-hole", { "mlock", EPERM, "rlimit_memlock" },
	  AT(lock_nothing_over_hole, lock_start) },
	{ "order-mmap-data-heuristic",
	  { "mmap", ENOMEM, "rlimit_data", "overcommit_heuristic" },
	  AT(data_before_memory, ask_less) },
	{ "order-mmap-as-heuristic", { "mmap", ENOMEM, "rlimit_as", "overcommit_heuristic" },
	  AT(as_before_memory, ask_less) },
	{ "order-mmap-count-exists", { "mmap", ENOMEM, "max_map_count" },
	  AT(count_before_exists, free_place) },
	{ "order-mmap-memlock-noexec", { "mmap", EPERM, "rlimit_memlock" },
	  AT(locked_before_noexec, may_lock_and_run) },
	{ "order-mmap-mode-write-exec", { "mmap", EACCES, "file_mode" },
	  AT(mode_before_write_exec, only_read) },
	{ "order-inotify-instances-nofile",
	  { "inotify_init1", EMFILE, "inotify_instances", "rlimit_nofile" },
	  AT(instances_before_nofile, close_instance) },
	{ "order-dup2-number-closed", { "dup2", EBADF, "descriptor_number_limit" },
	  AT(dup2_of_closed_past, dup2_of_open) },
	{ "order-dup-closed-nofile", { "dup", .causes = "bad_descriptor" },
	  dup_of_closed_full, make_closed, .control = true },
	{ "order-dupfd-closed-number", { "fcntl", .causes = "bad_descriptor" },
	  dupfd_of_closed_past, make_closed, .control = true },
	{ "order-open-nofile-missing", { "openat", EMFILE, "rlimit_nofile" },
	  AT(open_missing_full, open_there) },
	{ "order-accept-nofile-nobody", { "accept4", EMFILE, "rlimit_nofile" },
	  AT(accept_nobody_full, somebody_comes) },
	{ "order-socket-family-nofile", { 0 }, nothing_free, socket_of_no_family,
	  .control = true },
	{ "order-clone-nproc-pids", { "clone", EAGAIN, "rlimit_nproc", "cgroup_pids" },
	  NULL, fork_after, NULL, .impose = nproc_before_pids },
	{ 0 },
};
