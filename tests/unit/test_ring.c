// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the reader of a BPF ring buffer. A memfd is in place of the BPF map. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/ring.h"
#include "tap.h"

#define RING_BYTES 4096
#define MOST_TAKEN 64

struct world {
	int fd;
	size_t page;
	unsigned char *at; /* writable mapping of all pages */
	struct ring *ring;
	uint64_t taken[MOST_TAKEN]; /* first word of each record that was taken */
	size_t n;
	bool mixed; /* a record had words of another record */
	int error;  /* result of the callback */
	bool sends; /* the callback sends another record */
};

static unsigned long *position(struct world *w, size_t page)
{
	return (unsigned long *)(w->at + page * w->page);
}

static bool begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->page = sysconf(_SC_PAGESIZE);
	w->fd = memfd_create("ring", MFD_CLOEXEC);
	if (w->fd < 0 || ftruncate(w->fd, 2 * w->page + RING_BYTES))
		return false;
	w->at = mmap(NULL, 2 * w->page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	return w->at != MAP_FAILED && !ring_open(w->fd, RING_BYTES, &w->ring);
}

static void end(struct world *w)
{
	ring_close(w->ring);
	munmap(w->at, 2 * w->page + RING_BYTES);
	close(w->fd);
}

/* Writes a record, all of whose words are `value`, as bpf_ringbuf_reserve() and submit() do. */
static void put(struct world *w, size_t words, uint64_t value, uint32_t flags)
{
	unsigned char *data = w->at + 2 * w->page;
	unsigned long *produced = position(w, 1), pos = *produced;
	uint32_t header[2] = {words * sizeof(value) | flags, 0};

	memcpy(data + pos % RING_BYTES, header, sizeof(header));
	for (size_t i = 0; i < words; i++)
		memcpy(data + (pos + (i + 1) * sizeof(value)) % RING_BYTES, &value, sizeof(value));
	*produced = pos + (words + 1) * sizeof(value);
}

static int take(void *ctx, void *data, size_t size)
{
	struct world *w = ctx;
	const uint64_t *word = data;

	for (size_t i = 0; i < size / sizeof(*word); i++)
		w->mixed |= word[i] != word[0];
	if (w->n < MOST_TAKEN)
		w->taken[w->n++] = word[0];
	if (w->sends && w->n < MOST_TAKEN)
		put(w, 1, word[0] + 1, 0);
	return w->error;
}

static void test_records(struct world *w)
{
	put(w, 3, 1, 0);
	put(w, 1, 2, BPF_RINGBUF_DISCARD_BIT);
	put(w, 5, 3, 0);
	ok(ring_drain(w->ring, take, w) == 0, "it drains");
	ok(w->n == 2 && w->taken[0] == 1 && w->taken[1] == 3, "records that are not discarded");
	ok(*position(w, 0) == *position(w, 1), "all room is free again");
	ok(ring_drain(w->ring, take, w) == 0, "an empty ring");
	is_u64(w->n, 2, "nothing is taken twice");
}

static void test_busy(struct world *w)
{
	unsigned char *data = w->at + 2 * w->page;
	unsigned long pos = *position(w, 1);
	uint32_t done = sizeof(uint64_t);

	w->n = 0;
	put(w, 1, 4, BPF_RINGBUF_BUSY_BIT);
	put(w, 1, 5, 0);
	ok(ring_drain(w->ring, take, w) == 0, "a record that is being written");
	ok(w->n == 0 && *position(w, 0) == pos, "it stays, and the next one too");
	memcpy(data + pos % RING_BYTES, &done, sizeof(done));
	ring_drain(w->ring, take, w);
	ok(w->n == 2 && w->taken[0] == 4 && w->taken[1] == 5, "both follow when it is written");
}

/* Records of many sizes go round the buffer, so that its end is in each place of a record. */
static void test_crossing(struct world *w)
{
	size_t wrong = 0, crossed = 0;

	for (uint64_t i = 0; i < 5000; i++) {
		size_t words = 1 + i % 97;

		crossed += *position(w, 1) % RING_BYTES + (words + 1) * 8 > RING_BYTES;
		w->n = 0;
		put(w, words, i + 1000, 0);
		if (ring_drain(w->ring, take, w) || w->n != 1 || w->taken[0] != i + 1000)
			wrong++;
	}
	is_u64(wrong, 0, "records that came out wrong");
	ok(crossed > 100, "%zu records crossed the end", crossed);
	ok(!w->mixed, "each has only its own words");
}

static void test_errors(struct world *w)
{
	w->n = 0;
	w->error = -EIO;
	put(w, 1, 6, 0);
	put(w, 1, 7, 0);
	ok(ring_drain(w->ring, take, w) == -EIO, "the error of the callback");
	is_u64(w->n, 1, "the next record stays");
	w->error = 0;
	ring_drain(w->ring, take, w);
	ok(w->n == 2 && w->taken[1] == 7, "and is taken later");
}

/* Each record that is read is followed by another one, as on a busy host. */
static void test_sent_meanwhile(struct world *w)
{
	w->n = 0;
	w->sends = true;
	put(w, 1, 20, 0);
	ring_drain(w->ring, take, w);
	ok(w->n == 1, "a record that is sent while others are read stays");
	w->sends = false;
	ring_drain(w->ring, take, w);
	ok(w->n == 2 && w->taken[1] == 21, "and is taken the next time");
}

static void test_sizes(void)
{
	is_u64(ring_bytes_for(1), 1 << 20, "one CPU: 1 MiB");
	is_u64(ring_bytes_for(5), 2 << 20, "five CPUs: 256 KiB each, as a power of two");
	is_u64(ring_bytes_for(4), 1 << 20, "four CPUs: 256 KiB each");
	is_u64(ring_bytes_for(8), 2 << 20, "eight CPUs");
	is_u64(ring_bytes_for(9), 4 << 20, "nine CPUs");
	is_u64(ring_bytes_for(16), 4 << 20, "16 CPUs");
	is_u64(ring_bytes_for(17), 8 << 20, "17 CPUs");
	is_u64(ring_bytes_for(33), 8 << 20, "33 CPUs have no more than 32");
	is_u64(ring_bytes_for(0), 1 << 20, "no CPU");
	is_u64(ring_bytes_for(512), 8 << 20, "many CPUs: 8 MiB at most");
	is_u64(ring_bytes_for(-1), 1 << 20, "an unknown number of CPUs");
}

int main(void)
{
	struct world w;

	test_sizes();
	if (!ok(begin(&w), "a ring in a memfd"))
		return tap_done();
	test_records(&w);
	test_busy(&w);
	test_crossing(&w);
	test_errors(&w);
	test_sent_meanwhile(&w);
	end(&w);
	return tap_done();
}
