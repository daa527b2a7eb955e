// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps memory that became resident in unusual ways. The functions "unseen_" make memory resident
 * without a page fault, so that no stack holds it.
 */
#include "hold.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

own void unseen_populated_32(void)
{
	map(32 * MIB, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

own void unseen_locked_16(void)
{
	if (mlock(map_own(16 * MIB), 16 * MIB))
		die("mlock");
}

/* The kernel gets the pages by their number: get_user_pages(). */
own void unseen_written_by_kernel_24(void)
{
	char *from = map_own(MIB), *at = map_own(24 * MIB);
	struct iovec here = { from, MIB };

	touch_here(from, MIB);
	for (size_t done = 0; done < 24 * MIB; done += MIB) {
		struct iovec there = { at + done, MIB };

		if (process_vm_writev(getpid(), &here, 1, &there, 1, 0) != (ssize_t)MIB)
			die("process_vm_writev");
	}
	munmap(from, MIB);
}

/* A disk writes to the pages of the buffer, or the kernel does, if no disk can. */
own void unseen_direct_8(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT);
	char *at = map_own(8 * MIB);

	if (fd < 0 || read(fd, at, 8 * MIB) != 8 * MIB)
		mlock(at, 8 * MIB);
	close(fd);
}

/* The buffers of io_uring are pinned when they are registered. */
own void unseen_uring_8(void)
{
	char params[120] = {}, *at = map_own(8 * MIB);
	struct iovec buffer = { at, 8 * MIB };
	int fd = syscall(SYS_io_uring_setup, 1, params);

	if (fd < 0 || syscall(SYS_io_uring_register, fd, 0, &buffer, 1))
		mlock(at, 8 * MIB);
}

own void unseen_populated_later_8(void)
{
	char *at = map_own(8 * MIB);

	if (madvise(at, 8 * MIB, 23)) /* MADV_POPULATE_WRITE, Linux 5.14 */
		mlock(at, 8 * MIB);
}

/* Returns blocks of the heap that were freed, behind which another block keeps the heap large. */
own void hold_first_user_24(void)
{
	static char *block[24 * 16];
	static char *volatile behind; /* the compiler may omit an allocation that nothing uses */

	for (int i = 0; i < 24 * 16; i++) {
		block[i] = malloc(64 << 10);
		touch_here(block[i], 64 << 10);
	}
	behind = malloc(1 << 10);
	if (!behind)
		die("malloc");
	for (int i = 0; i < 24 * 16; i++)
		free(block[i]);
}

/* The allocator gives the same pages to other code: they keep their owner. */
own void second_user(void)
{
	for (int i = 0; i < 24 * 16; i++) {
		char *block = malloc(64 << 10);

		touch_here(block, 64 << 10);
	}
}

own char *hold_moved_40(void)
{
	char *at = map_own(40 * MIB);

	touch_here(at, 40 * MIB);
	return at;
}

own void move(char *at, size_t bytes)
{
	char *to = map_own(bytes + MIB) + MIB;

	if (mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die("mremap");
	/* other memory in the old place */
	if (mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		die("mmap");
	read_here(at, bytes);
}

/* realloc() moves a large block by mremap(). */
own void hold_reallocated_30(void)
{
	char *at = NULL, *wall;

	for (size_t bytes = MIB; bytes <= 30 * MIB; bytes += MIB) {
		at = realloc(at, bytes);
		memset(at + bytes - MIB, 1, MIB);
		wall = malloc(MIB); /* may take the place behind the block */
		if (!at || !wall)
			die("realloc");
	}
}

own void hold_freed_lazily_20(void)
{
	char *at = map_own(20 * MIB);

	touch_here(at, 20 * MIB);
	madvise(at, 20 * MIB, MADV_FREE); /* stays resident until memory is short */
}

own void read_file_28(char *at)
{
	read_here(at, 28 * MIB);
}

/* Writes to pages of a private file mapping that were read before: copies of the file's pages. */
own void hold_written_file_28(char *at)
{
	touch_here(at, 28 * MIB);
}

own void hold_after_zero_page_22(char *at)
{
	touch_here(at, 22 * MIB);
}

own void read_zero_page(char *at)
{
	read_here(at, 22 * MIB);
}

static void *answer(void *arg)
{
	int fd = *(int *)arg;
	struct uffd_msg message;
	static char page[PAGE_BYTES];

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_copy copy = {
			.dst = message.arg.pagefault.address & -PAGE_BYTES,
			.src = (uintptr_t)page,
			.len = PAGE_BYTES,
		};

		ioctl(fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

/* A thread fills the page of each fault. */
own void hold_userfaultfd_12(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *at = map_own(12 * MIB);
	static int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	area.range = (struct uffdio_range){ (uintptr_t)at, 12 * MIB };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area))
		die("userfaultfd");
	start_thread(answer, &fd);
	touch_here(at, 12 * MIB);
}

int main(int argc, char **argv)
{
	const char *word = NULL;
	char path[64], *at;
	int fd;

	hold_begin(argc, argv, "[huge]", &word);
	snprintf(path, sizeof(path), "/var/tmp/hold_kinds.%d", getpid());
	unseen_populated_32();
	unseen_locked_16();
	unseen_written_by_kernel_24();
	unseen_uring_8();
	unseen_populated_later_8();
	hold_first_user_24();
	second_user();
	move(hold_moved_40(), 40 * MIB);
	hold_reallocated_30();
	hold_freed_lazily_20();
	fd = file_of(path, 28 * MIB);
	unseen_direct_8(path);
	unlink(path);
	at = mmap(NULL, 28 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	read_file_28(at);
	hold_written_file_28(at);
	at = map_own(22 * MIB);
	read_zero_page(at);
	hold_after_zero_page_22(at);
	hold_userfaultfd_12();
	hold_end("\"unseen_\":96,\"hold_first_user_24\":24,\"second_user\":0,"
		 "\"hold_moved_40\":40,\"hold_reallocated_30\":30,"
		 "\"hold_freed_lazily_20\":20,\"hold_written_file_28\":28,\"read_file_28\":0,"
		 "\"hold_after_zero_page_22\":22,\"read_zero_page\":0,"
		 "\"hold_userfaultfd_12\":12");
	return 0;
}
