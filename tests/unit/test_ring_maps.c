// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the pages of a BPF ring buffer are mapped and unmapped, records of any length, and a
 * record across the end for which there is no memory. A memfd is in place of the BPF map.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "failing_memory.h"
#include "probe/ring.h"
#include "tap.h"

#define RING_BYTES 4096
#define MAPS	   4

static struct {
	int fails_at; /* number of the mapping that fails, from 1 on; 0: none */
	int n;
	struct {
		void *at;
		size_t size;
		off_t offset;
		int rights;
		bool unmapped;
	} map[MAPS];
} kernel;

static int fd;	    /* of the ring */
static size_t page; /* bytes of a page */

void *mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
	void *map;

	if (file != fd || kernel.n == MAPS)
		return (void *)syscall(SYS_mmap, at, size, rights, flags, file, offset);
	if (++kernel.n == kernel.fails_at) {
		errno = EPERM;
		return MAP_FAILED;
	}
	map = (void *)syscall(SYS_mmap, at, size, rights, flags, file, offset);
	kernel.map[kernel.n - 1].at = map;
	kernel.map[kernel.n - 1].size = size;
	kernel.map[kernel.n - 1].offset = offset;
	kernel.map[kernel.n - 1].rights = rights;
	return map;
}

int munmap(void *at, size_t size)
{
	for (int i = 0; i < kernel.n; i++)
		if (kernel.map[i].at == at && kernel.map[i].size == size && !kernel.map[i].unmapped)
			kernel.map[i].unmapped = true;
	return syscall(SYS_munmap, at, size);
}

static void begin(int fails_at)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.fails_at = fails_at;
}

static void test_mapping(void)
{
	struct ring *r = NULL;

	begin(0);
	is_u64(ring_open(fd, RING_BYTES, &r), 0, "a ring is opened");
	is_u64(kernel.n, 2, "two mappings");
	ok(kernel.map[0].size == page && !kernel.map[0].offset &&
		   kernel.map[0].rights == (PROT_READ | PROT_WRITE),
	   "a page that is written");
	ok(kernel.map[1].size == page + RING_BYTES && kernel.map[1].offset == (off_t)page &&
		   kernel.map[1].rights == PROT_READ,
	   "and the others, which the kernel lets nobody write");
	ring_close(r);
	ok(kernel.map[0].unmapped && kernel.map[1].unmapped, "both end");
	begin(1);
	r = NULL;
	ok(ring_open(fd, RING_BYTES, &r) == -EPERM && !r, "a first mapping that fails");
	is_u64(kernel.n, 1, "is the only one");
	begin(2);
	ok(ring_open(fd, RING_BYTES, &r) == -EPERM && !r, "a second one that fails");
	ok(kernel.map[0].unmapped, "ends the first");
	begin(0);
	memory_fail_after(0);
	ok(ring_open(fd, RING_BYTES, &r) == -ENOMEM && !r, "no memory");
	ok(memory_recovers() && !kernel.n, "nothing is mapped");
	ring_close(NULL);
}

static unsigned long *consumed, *produced;
static unsigned char *data;

/* Writes a record whose bytes are numbered from `first` on. */
static void put(size_t len, unsigned char first)
{
	unsigned long pos = *produced;
	uint32_t header[2] = {len, 0};

	memcpy(data + pos % RING_BYTES, header, sizeof(header));
	for (size_t i = 0; i < len; i++)
		data[(pos + 8 + i) % RING_BYTES] = first + i;
	*produced = pos + (len + 8 + 7) / 8 * 8;
}

static size_t took, len_taken[8];
static bool good[8]; /* the bytes are in order */

static int take(void *ctx, void *record, size_t size)
{
	const unsigned char *byte = record;

	if (ctx != &took || took == 8)
		abort();
	good[took] = true;
	for (size_t i = 1; i < size; i++)
		good[took] &= byte[i] == (unsigned char)(byte[i - 1] + 1);
	len_taken[took++] = size;
	return 0;
}

static int drain(struct ring *r)
{
	took = 0;
	return ring_drain(r, take, &took);
}

static void test_lengths(struct ring *r)
{
	static const size_t lengths[] = {1, 7, 8, 9, 0, 15, 16, 17};
	unsigned long before = *produced;

	for (size_t i = 0; i < 8; i++)
		put(lengths[i], i);
	is_u64(*produced - before, 8 * 8 + 8 + 8 + 8 + 16 + 0 + 16 + 16 + 24, "room of 8 records");
	is_u64(drain(r), 0, "they are read");
	is_u64(took, 8, "all of them");
	for (size_t i = 0; i < 8; i++)
		ok(len_taken[i] == lengths[i] && good[i], "%zu bytes", lengths[i]);
	is_u64(*consumed, *produced, "all room is free");
}

/* Puts the next record so that `before_end` of its bytes are before the end of the buffer. */
static void move_to(size_t before_end)
{
	*produced = *consumed =
		(*produced / RING_BYTES + 2) * RING_BYTES - before_end - BPF_RINGBUF_HDR_SZ;
}

static void test_crossing(struct ring *r)
{
	static const struct {
		size_t before_end, len;
	} rows[] = {{0, 24}, {8, 24}, {16, 17}, {24, 24}, {24, 25}, {32, 1000}, {1000, 1008}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		move_to(rows[i].before_end);
		put(rows[i].len, 5);
		is_u64(drain(r), 0, "a record near the end");
		ok(took == 1 && len_taken[0] == rows[i].len && good[0], "%zu of %zu bytes",
		   rows[i].before_end, rows[i].len);
		is_u64(*consumed, *produced, "its room is free");
	}
}

static void test_no_memory(struct ring *r)
{
	move_to(8);
	put(2000, 5);
	put(8, 6);
	memory_fail_after(0);
	is_u64(-drain(r), ENOMEM, "no memory for a record across the end");
	ok(memory_recovers() && !took, "it is left out");
	is_u64(drain(r), 0, "the next one");
	ok(took == 1 && len_taken[0] == 8 && good[0], "follows");
	/* the copy of an earlier record has room for shorter ones */
	move_to(8);
	put(1000, 5);
	memory_fail_after(0);
	is_u64(drain(r), 0, "a shorter record than an earlier one");
	ok(!memory_recovers() && took == 1 && good[0], "needs no memory");
}

int main(void)
{
	struct ring *r;
	unsigned char *all;

	page = sysconf(_SC_PAGESIZE);
	fd = memfd_create("ring", MFD_CLOEXEC);
	if (ftruncate(fd, 2 * page + RING_BYTES))
		abort();
	test_mapping();
	all = (void *)syscall(SYS_mmap, NULL, 2 * page + RING_BYTES, PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	consumed = (unsigned long *)all;
	produced = (unsigned long *)(all + page);
	data = all + 2 * page;
	begin(0);
	if (!ok(!ring_open(fd, RING_BYTES, &r), "a ring is opened"))
		return tap_done();
	test_lengths(r);
	test_crossing(r);
	test_no_memory(r);
	ring_close(r);
	return tap_done();
}
