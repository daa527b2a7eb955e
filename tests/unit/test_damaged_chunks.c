// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests recording chunks whose checksums are right but whose content is wrong. A hostile or a newer
 * program may write such chunks. Each byte of a chunk is changed in turn. The checksum over all
 * data that is read must be equal to the expected checksum.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "fixture.h"
#include "probe/record_packing.h"
#include "sums.h"

#define RAW_BYTES 65536

/* A chunk, and its content before compression. */
struct chunk {
	struct chunk_header head;
	unsigned char raw[RAW_BYTES], packed[2 * RAW_BYTES];
	size_t size;
};

static struct chunk fields, records, key;
static bool good = true; /* becomes false after a result that is not allowed */

static void keep_chunk(struct chunk *c, const unsigned char *bytes)
{
	z_stream z = {};

	memcpy(&c->head, bytes, sizeof(c->head));
	memcpy(c->packed, bytes + sizeof(c->head), c->head.packed_bytes);
	z.next_in = c->packed;
	z.avail_in = c->head.packed_bytes;
	z.next_out = c->raw;
	z.avail_out = sizeof(c->raw);
	if (inflateInit(&z) || inflate(&z, Z_FINISH) != Z_STREAM_END)
		exit(99);
	c->size = sizeof(c->raw) - z.avail_out;
	inflateEnd(&z);
}

static uint32_t head_crc(const struct chunk_header *head)
{
	size_t from = offsetof(struct chunk_header, payload_crc);

	return crc32(0, (const unsigned char *)head + from, sizeof(*head) - from);
}

/* Compresses `raw` and corrects the checksums. */
static void pack(struct chunk *c)
{
	z_stream z = {.next_in = c->raw,
		      .avail_in = c->size,
		      .next_out = c->packed,
		      .avail_out = sizeof(c->packed)};

	if (deflateInit(&z, 1) || deflate(&z, Z_FINISH) != Z_STREAM_END)
		exit(99);
	c->head.packed_bytes = sizeof(c->packed) - z.avail_out;
	c->head.raw_bytes = c->size;
	deflateEnd(&z);
	c->head.payload_crc = crc32(0, c->packed, c->head.packed_bytes);
	c->head.header_crc = head_crc(&c->head);
}

/* Adds only fields whose offset never changes, so that new fields do not change the checksum. */
static void mix_record(uint64_t *sum, const struct record *h)
{
	const struct process_record *p = (const struct process_record *)h;
	const struct refused_record *r = (const struct refused_record *)h;

	mix(sum, h->kind);
	mix(sum, h->t_ns);
	if (h->kind == RECORD_PROCESS) {
		mix(sum, p->subject.pid);
		mix(sum, p->subject.start_ns);
		mix(sum, p->g.min_flt);
		mix(sum, p->g.rss_anon_pages);
		mix(sum, p->u.cpu_ns);
	} else if (h->kind == RECORD_REFUSED) {
		mix(sum, r->subject.pid);
		mix(sum, r->call);
		mix(sum, r->error);
	}
}

/* Reads these chunks. Adds the result of each chunk, and each record in it, to the checksum. */
static void read_chunks(uint64_t *sum, const struct chunk *const *c, size_t n)
{
	struct unpacker *u;
	struct record *h;
	int err;

	if (unpacker_make(&u))
		exit(99);
	for (size_t i = 0; i < n; i++) {
		err = unpacker_take(u, &c[i]->head, c[i]->packed);
		good &= !err || err == -EBADMSG;
		mix(sum, err);
		if (err)
			continue;
		while (!(err = unpacker_next(u, &h))) {
			mix_record(sum, h);
			good &= h->len >= sizeof(*h);
		}
		good &= err == 1 || err == -EBADMSG;
		mix(sum, err);
	}
	unpacker_free(u);
}

static void make_chunks(void)
{
	const unsigned char *bytes;
	struct packer *p;
	size_t len;

	if (packer_make(&p) || packer_fields(p, &bytes, &len))
		exit(99);
	keep_chunk(&fields, bytes);
	for (int look = 1; look < 4; look++) {
		struct tick_record tick = tick_record(look * SECOND);
		struct refused_record refused = refused_record(10, CALL_MMAP, ENOMEM);
		struct process_record process = process_record(10, 1, look * SECOND);

		process.g.min_flt = look * 1000;
		process.g.rss_anon_pages = look % 2 ? -5 : 100000;
		process.u.cpu_ns = look * 123456789ULL;
		if (look == 2) {
			process.h.len = offsetof(struct process_record, c);
			if (packer_end(p, &bytes, &len))
				exit(99);
			keep_chunk(&key, bytes);
		}
		if (packer_add(p, &process.h) || packer_add(p, &refused.h) ||
		    packer_add(p, &tick.h))
			exit(99);
	}
	if (packer_end(p, &bytes, &len))
		exit(99);
	keep_chunk(&records, bytes);
	packer_free(p);
}

/* Changes every `step`th byte of a chunk in turn. Returns the checksum over what is read. */
static uint64_t sum_of_changes(struct chunk *c, size_t step)
{
	static const unsigned char others[] = {0, 1, 0x7f, 0x80, 0xff};
	const struct chunk *const all[] = {&fields, &key, &records};
	size_t size = c->size;
	uint64_t sum = SUM_BEGINS;

	for (size_t i = 0; i < size; i += step) {
		unsigned char was = c->raw[i];

		c->raw[i] = i % 6 == 5 ? was + 1 : others[i % 6];
		pack(c);
		read_chunks(&sum, all, 3);
		c->raw[i] = was;
		c->size = i; /* the chunk is also truncated at this byte */
		pack(c);
		read_chunks(&sum, all, 3);
		c->size = size;
	}
	pack(c);
	return sum;
}

/* Returns the checksum over chunks that are in the wrong order, or that need a missing chunk. */
static uint64_t sum_of_orders(void)
{
	const struct chunk *const c[] = {&fields, &key, &records};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < 27; i++)
		read_chunks(&sum, (const struct chunk *const[]){c[i % 3], c[i / 3 % 3], c[i / 9]},
			    3);
	return sum;
}

static void test_heads(void)
{
	struct chunk_header head = key.head;

	ok(chunk_header_is_good(&head), "a head is good");
	for (size_t i = 0; i < sizeof(head); i++) {
		bool good;

		((unsigned char *)&head)[i] ^= 4;
		good = chunk_header_is_good(&head);
		((unsigned char *)&head)[i] ^= 4;
		if (good)
			ok(false, "byte %zu of it changed", i);
	}
	head.raw_bytes = CHUNK_RAW_MAX * 64;
	head.header_crc = head_crc(&head);
	ok(!chunk_header_is_good(&head), "one that claims too much is not, with a right checksum");
}

int main(void)
{
	struct sum sums[3];

	make_chunks();
	test_heads();
	/* New fields make the list of fields longer, so its checksum is not compared. */
	sum_of_changes(&fields, 7);
	ok(good, "the list of fields, changed: it is taken, or damaged");
	sums[0] = (struct sum){"a chunk that stands alone, changed", sum_of_changes(&key, 1),
			       0x9ac68cea46e20653};
	sums[1] = (struct sum){"one that stands on it, changed", sum_of_changes(&records, 1),
			       0x07b23fb27cd14cf3};
	sums[2] = (struct sum){"chunks in any order", sum_of_orders(), 0xc60b0fc54e2b72c9};
	ok(good, "each of them is taken, or damaged");
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
