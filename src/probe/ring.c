// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES_PER_CPU (256u << 10)
#define BYTES_LEAST   (1u << 20)
#define BYTES_MOST    (8u << 20)

struct ring {
	unsigned long *consumed;       /* page 0: position up to which records were read */
	const unsigned long *produced; /* page 1: position up to which records were begun */
	const unsigned char *data;     /* page 2 and the following ones */
	size_t page, bytes;
	unsigned char *crossing; /* copy of a record that crosses the end of the buffer */
	size_t room;
};

__u32 ring_bytes_for(int cpus)
{
	__u32 bytes = BYTES_LEAST;

	while (bytes < BYTES_MOST && cpus > 0 && bytes / BYTES_PER_CPU < (__u32)cpus)
		bytes *= 2;
	return bytes;
}

static void *map_at(int fd, size_t size, int prot, off_t offset)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return at == MAP_FAILED ? NULL : at;
}

int ring_open(int map_fd, size_t bytes, struct ring **ret)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->page = sysconf(_SC_PAGESIZE);
	r->bytes = bytes;
	r->consumed = map_at(map_fd, r->page, PROT_READ | PROT_WRITE, 0);
	r->produced = r->consumed ? map_at(map_fd, r->page + bytes, PROT_READ, r->page) : NULL;
	if (!r->produced) {
		int err = -errno;

		ring_close(r);
		return err;
	}
	r->data = (const unsigned char *)r->produced + r->page;
	*ret = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	if (r->consumed)
		munmap(r->consumed, r->page);
	if (r->produced)
		munmap((void *)r->produced, r->page + r->bytes);
	free(r->crossing);
	free(r);
}

/* Returns the record at an offset in one piece, or NULL if there is no memory for a copy. */
static void *whole_record(struct ring *r, size_t at, size_t len)
{
	size_t before_end = r->bytes - at;
	unsigned char *copy;

	if (len <= before_end)
		return (void *)(r->data + at);
	if (len > r->room) {
		copy = realloc(r->crossing, len);
		if (!copy)
			return NULL;
		r->crossing = copy;
		r->room = len;
	}
	memcpy(r->crossing, r->data + at, before_end);
	memcpy(r->crossing + before_end, r->data, len - before_end);
	return r->crossing;
}

/* Passes on the record at a position. Returns the position of the next record in `*pos`. */
static int take_one(struct ring *r, __u32 header, unsigned long *pos, ring_take take, void *ctx)
{
	size_t len = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	size_t at = (*pos + BPF_RINGBUF_HDR_SZ) & (r->bytes - 1);
	void *record;

	*pos += (len + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	if (header & BPF_RINGBUF_DISCARD_BIT)
		return 0;
	record = whole_record(r, at, len);
	return record ? take(ctx, record, len) : -ENOMEM;
}

int ring_drain(struct ring *r, ring_take take, void *ctx)
{
	unsigned long pos = *r->consumed;
	unsigned long end = __atomic_load_n(r->produced, __ATOMIC_ACQUIRE);
	__u32 header;
	int err = 0;

	while (pos < end && !err) {
		header = __atomic_load_n((__u32 *)(r->data + (pos & (r->bytes - 1))),
					 __ATOMIC_ACQUIRE);
		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		err = take_one(r, header, &pos, take, ctx);
		__atomic_store_n(r->consumed, pos, __ATOMIC_RELEASE);
	}
	return err;
}
