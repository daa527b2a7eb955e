// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/record_packing.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "probe/record_layout.h"

#define SLOTS_MAX	 65536
#define SLOT_BYTES_MAX	 (64u << 20) /* maximum sum of the lengths of the last records in `slot` */
#define BUCKETS		 (1u << 17)
#define CHUNKS_TO_KEY	 360 /* number of chunks between key chunks: 1 h at 10 s per scan */
#define RAW_ROOM	 (CHUNK_RAW_MAX + 4 * RECORD_BYTES_MAX)
#define DEFLATE_LEVEL	 6
#define VARINT_BYTES_MAX 10

/* Reference from a record to its slot: see docs/design/recording-format.md. */
#define REF_IS_SHORT 1u
#define REF_NONE     0u
#define REF_NEW	     1u
#define REF_FIRST    2u

/*
 * The last record of one process or growth entry. Packer and unpacker have equal slots in equal
 * order.
 */
struct slot {
	__u64 a; /* start time of the process; only the packer needs it */
	__u32 b, kind;
	__u32 next; /* index + 1 of the next slot in the hash chain; 0: end */
	unsigned char *image;
};

struct memory {
	struct record_layout layout;
	struct slot *slot;
	size_t n, bytes;
	__u32 *bucket; /* index + 1 of the first slot in each hash chain; 0: none */
	__u64 last_ns;
	__s64 last_slot;
};

static int memory_make(struct memory *m)
{
	m->slot = calloc(SLOTS_MAX, sizeof(*m->slot));
	m->bucket = calloc(BUCKETS, sizeof(*m->bucket));
	return m->slot && m->bucket ? 0 : -ENOMEM;
}

/* Returns false if memory ran out while the layout of a kind was completed. */
static bool is_complete(const struct kind_layout *k)
{
	return k->first && k->last;
}

static void memory_clear(struct memory *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->slot[i].image);
	if (m->n)
		memset(m->bucket, 0, BUCKETS * sizeof(*m->bucket));
	for (size_t i = 0; i < m->layout.kinds; i++) {
		const struct kind_layout *k = m->layout.kind[i];

		if (is_complete(k))
			memcpy(k->last, k->first, k->bytes);
	}
	m->n = m->bytes = 0;
	m->last_ns = 0;
	m->last_slot = -1;
}

static void memory_free(struct memory *m)
{
	if (m->slot && m->bucket)
		memory_clear(m);
	record_layout_clear(&m->layout);
	free(m->slot);
	free(m->bucket);
}

/* Returns whether memory for last records is nearly full, so that a key chunk must follow. */
static bool memory_is_full(const struct memory *m)
{
	return m->n == SLOTS_MAX || m->bytes + RECORD_BYTES_MAX > SLOT_BYTES_MAX;
}

/*
 * Finds which process or growth entry a record is about. Returns false if records of its kind are
 * not packed as differences.
 */
static bool key_of(const struct record *h, struct slot *ret)
{
	const unsigned char *bytes = (const unsigned char *)h;
	struct process_key s;

	memset(ret, 0, sizeof(*ret));
	ret->kind = h->kind;
	switch (h->kind) {
	case RECORD_TICK:
		return true;
	case RECORD_GROWTH:
		if (h->len < sizeof(*h) + sizeof(ret->b))
			return false;
		memcpy(&ret->b, bytes + sizeof(*h), sizeof(ret->b));
		return true;
	case RECORD_PROCESS:
	case RECORD_LEVELS:
	case RECORD_SAMPLE:
		if (h->len < sizeof(*h) + sizeof(s))
			return false;
		memcpy(&s, bytes + sizeof(*h), sizeof(s));
		ret->a = s.start_ns;
		ret->b = s.pid;
		return true;
	}
	return false;
}

static __u32 bucket_of(const struct slot *key)
{
	__u64 x = (key->a ^ (__u64)key->b << 32 ^ key->kind) * 0x9e3779b97f4a7c15ULL;

	return x >> 40 & (BUCKETS - 1);
}

/* Returns the index of the slot for a process or entry, or -1 if there is none. */
static __s64 memory_find(const struct memory *m, const struct slot *key)
{
	for (__u32 i = m->bucket[bucket_of(key)]; i; i = m->slot[i - 1].next) {
		const struct slot *s = &m->slot[i - 1];

		if (s->a == key->a && s->b == key->b && s->kind == key->kind)
			return i - 1;
	}
	return -1;
}

/* Returns whether a record is the last one of its process. */
static bool is_last(const struct record *h)
{
	return h->kind == RECORD_PROCESS &&
	       ((const struct process_record *)h)->g.flags & PROC_FINAL;
}

/* Creates a slot for a last record; NULL: out of memory. */
static struct slot *memory_add(struct memory *m, const struct kind_layout *k)
{
	struct slot *s = &m->slot[m->n];

	memset(s, 0, sizeof(*s));
	s->image = malloc(k->bytes);
	if (!s->image)
		return NULL;
	s->kind = k->kind;
	m->bytes += k->bytes;
	m->n++;
	return s;
}

static __u64 zigzag(__s64 v)
{
	return (__u64)v << 1 ^ (__u64)(v >> 63);
}

static __s64 unzigzag(__u64 v)
{
	return (__s64)(v >> 1) ^ -(__s64)(v & 1);
}

static __u64 load(const unsigned char *at, const struct part *p)
{
	__u64 v = 0;
	unsigned int unused = 64 - 8 * p->size;

	memcpy(&v, at, p->size); /* values in records are little-endian */
	return p->type == VALUE_SIGNED ? (__u64)((__s64)(v << unused) >> unused) : v;
}

struct packer {
	struct memory memory;
	unsigned char *raw, *out;			   /* `out` begins with the chunk header */
	_Alignas(8) unsigned char image[RECORD_BYTES_MAX]; /* the record that is being added */
	size_t len, out_room;
	__u64 t_ns;
	unsigned int chunks; /* number of chunks since the last key chunk */
	bool is_available;   /* the chunk with the list of fields was written */
};

int packer_make(struct packer **ret)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->out_room = sizeof(struct chunk_header) + compressBound(RAW_ROOM);
	p->raw = malloc(RAW_ROOM);
	p->out = malloc(p->out_room);
	if (memory_make(&p->memory) || record_layout_own(&p->memory.layout) || !p->raw || !p->out) {
		packer_free(p);
		return -ENOMEM;
	}
	memory_clear(&p->memory);
	*ret = p;
	return 0;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	memory_free(&p->memory);
	free(p->raw);
	free(p->out);
	free(p);
}

static void put(struct packer *p, __u64 v)
{
	for (; v >= 0x80; v >>= 7)
		p->raw[p->len++] = v | 0x80;
	p->raw[p->len++] = v;
}

/* Writes one field if it changed. `*last` is the id of the last field written. */
static void put_element(struct packer *p, const struct part *part, __u32 nth,
			const unsigned char *now, const unsigned char *was, __u32 *last)
{
	__u32 id = part->id + nth;
	__u64 d;

	if (part->type == VALUE_TEXT) {
		size_t n = strnlen((const char *)now, part->size - 1);

		if (n == strnlen((const char *)was, part->size) && !memcmp(now, was, n))
			return;
		put(p, id - *last);
		put(p, n);
		memcpy(p->raw + p->len, now, n);
		p->len += n;
	} else {
		d = load(now, part) - load(was, part);
		if (!d)
			return;
		put(p, id - *last);
		put(p, zigzag(d));
	}
	*last = id;
}

/* Writes all fields of p->image that differ from `was`, and a terminating 0. */
static void put_fields(struct packer *p, const struct kind_layout *k, const unsigned char *was)
{
	__u32 last = 0;

	for (size_t i = 0; i < k->parts; i++) {
		const struct part *part = &k->part[i];
		const unsigned char *a = p->image + part->offset, *b = was + part->offset;

		if (part->stride == part->size && !memcmp(a, b, (size_t)part->count * part->size))
			continue;
		for (__u32 n = 0; n < part->count; n++)
			put_element(p, part, n, a + n * part->stride, b + n * part->stride, &last);
	}
	put(p, 0);
}

/* Completes a short record with the other values of the previous record, `was`. */
static void make_image(struct packer *p, const struct kind_layout *k, const struct record *h,
		       const unsigned char *was)
{
	memcpy(p->image, was, k->bytes);
	memcpy(p->image, h, h->len);
	if (h->len == k->len && h->extra == k->bytes - k->len)
		memcpy(p->image + k->len, (const unsigned char *)h + k->len, h->extra);
}

/* Adds a slot for the first record of a process or entry; false: no room. */
static bool add_slot(struct memory *m, const struct kind_layout *k, const struct slot *key,
		     unsigned char **ret)
{
	__u32 *bucket = &m->bucket[bucket_of(key)];
	struct slot *s = memory_is_full(m) ? NULL : memory_add(m, k);

	if (!s)
		return false;
	s->a = key->a;
	s->b = key->b;
	s->next = *bucket;
	*bucket = m->n;
	*ret = s->image;
	return true;
}

int packer_add(struct packer *p, const struct record *h)
{
	struct memory *m = &p->memory;
	struct kind_layout *k = record_layout_of(&m->layout, h->kind);
	bool keyed, is_short;
	unsigned char *slot = NULL;
	const unsigned char *was;
	struct slot key;
	__s64 at;
	__u64 ref;

	if (h->kind == RECORD_FIELD && !p->is_available && !p->len)
		return record_layout_add(&m->layout, (const struct field_record *)h)
			       ?: record_layout_finish(&m->layout);
	if (!k || (h->len != k->len && h->len != k->short_len))
		return -EINVAL;
	if (!is_complete(k))
		return -ENOMEM;
	if (p->len + k->bytes + k->ids * 2 * VARINT_BYTES_MAX + 64 > RAW_ROOM)
		return -EINVAL;
	is_short = h->len < k->len;
	keyed = key_of(h, &key);
	at = keyed ? memory_find(m, &key) : -1;
	if (at >= 0) {
		ref = REF_FIRST + zigzag(at - m->last_slot - 1);
		m->last_slot = at;
		slot = m->slot[at].image;
		was = slot;
	} else {
		ref = keyed && !is_last(h) && add_slot(m, k, &key, &slot) ? REF_NEW : REF_NONE;
		was = k->last;
	}
	put(p, h->kind);
	put(p, zigzag(h->t_ns - m->last_ns));
	put(p, ref << 1 | (is_short ? REF_IS_SHORT : 0));
	make_image(p, k, h, was);
	put_fields(p, k, was);
	p->t_ns = m->last_ns = h->t_ns;
	memcpy(k->last, p->image, k->bytes);
	if (slot)
		memcpy(slot, p->image, k->bytes);
	return 0;
}

bool packer_holds(const struct packer *p)
{
	return p->len;
}

size_t packer_bytes(const struct packer *p)
{
	return p->len;
}

bool packer_is_full(const struct packer *p)
{
	return p->len >= CHUNK_RAW_MAX;
}

static __u32 header_crc(const struct chunk_header *ch)
{
	const unsigned char *bytes = (const unsigned char *)ch;
	size_t from = offsetof(struct chunk_header, payload_crc);

	return crc32(0, bytes + from, sizeof(*ch) - from);
}

/* Deflates `raw` into a chunk in p->out. */
static int make_chunk(struct packer *p, const void *raw, size_t len, __u32 flags,
		      const unsigned char **ret, size_t *ret_len)
{
	struct chunk_header ch = {
		.magic = CHUNK_MAGIC, .raw_bytes = len, .flags = flags, .t_ns = p->t_ns};
	unsigned char *payload = p->out + sizeof(ch);
	uLongf room = p->out_room - sizeof(ch);

	if (compress2(payload, &room, raw, len, DEFLATE_LEVEL) != Z_OK)
		return -ENOMEM;
	ch.packed_bytes = room;
	ch.payload_crc = crc32(0, payload, room);
	ch.header_crc = header_crc(&ch);
	memcpy(p->out, &ch, sizeof(ch));
	*ret = p->out;
	*ret_len = sizeof(ch) + room;
	return 0;
}

int packer_fields(struct packer *p, const unsigned char **ret, size_t *ret_len)
{
	struct buf text = {};
	int err;

	*ret_len = 0;
	if (p->is_available)
		return 0;
	record_layout_text(&p->memory.layout, &text);
	err = text.failed || text.len > RAW_ROOM
		      ? -ENOMEM
		      : make_chunk(p, text.s, text.len, CHUNK_FIELDS, ret, ret_len);
	buf_free(&text);
	p->is_available = !err;
	return err;
}

void packer_begin_anew(struct packer *p)
{
	p->len = p->chunks = 0;
	memory_clear(&p->memory);
}

int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len)
{
	int err = make_chunk(p, p->raw, p->len, p->chunks ? 0 : CHUNK_KEY, ret, ret_len);

	if (err)
		return err;
	p->len = 0;
	if (++p->chunks == CHUNKS_TO_KEY || memory_is_full(&p->memory)) {
		p->chunks = 0;
		memory_clear(&p->memory);
	}
	return 0;
}

struct unpacker {
	struct memory memory;
	unsigned char *raw;
	size_t len, at;
	bool keyed;	 /* all chunks since the last key chunk were passed to unpacker_take() */
	bool has_fields; /* the chunk with the list of fields was passed to unpacker_take() */
	_Alignas(8) unsigned char record[RECORD_BYTES_MAX];
};

int unpacker_make(struct unpacker **ret)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->raw = malloc(RAW_ROOM);
	if (memory_make(&u->memory) || !u->raw) {
		unpacker_free(u);
		return -ENOMEM;
	}
	memory_clear(&u->memory);
	*ret = u;
	return 0;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	memory_free(&u->memory);
	free(u->raw);
	free(u);
}

bool chunk_header_is_good(const struct chunk_header *ch)
{
	return ch->magic == CHUNK_MAGIC && ch->header_crc == header_crc(ch) &&
	       ch->raw_bytes <= RAW_ROOM && ch->packed_bytes <= compressBound(RAW_ROOM);
}

static int unpack_chunk(struct unpacker *u, const struct chunk_header *ch, const void *payload)
{
	uLongf len = ch->raw_bytes;
	int ret;

	if (!chunk_header_is_good(ch) || crc32(0, payload, ch->packed_bytes) != ch->payload_crc)
		return -EBADMSG;
	ret = uncompress(u->raw, &len, payload, ch->packed_bytes);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_OK && len == ch->raw_bytes ? 0 : -EBADMSG;
}

int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload)
{
	int err = -EBADMSG;

	u->at = u->len = 0;
	if (ch->flags & CHUNK_FIELDS) {
		if (u->has_fields)
			return -EBADMSG;
		err = unpack_chunk(u, ch, payload);
		if (err)
			return err;
		err = record_layout_read(&u->memory.layout, (const char *)u->raw, ch->raw_bytes);
		if (err)
			record_layout_clear(&u->memory.layout);
		u->has_fields = !err;
		return err == -EINVAL ? -EBADMSG : err;
	}
	if (u->has_fields && (u->keyed || ch->flags & CHUNK_KEY))
		err = unpack_chunk(u, ch, payload);
	u->keyed = !err;
	if (err)
		return err;
	if (ch->flags & CHUNK_KEY)
		memory_clear(&u->memory);
	u->len = ch->raw_bytes;
	return 0;
}

bool unpacker_unknown(const struct unpacker *u, size_t nth, struct field_record *ret)
{
	return record_layout_unknown(&u->memory.layout, nth, ret);
}

static bool take(struct unpacker *u, __u64 *ret)
{
	__u64 v = 0;

	for (unsigned int shift = 0; shift < 64 && u->at < u->len; shift += 7) {
		unsigned char byte = u->raw[u->at++];

		v |= (__u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static void store(unsigned char *at, const struct part *p, __u64 v)
{
	memcpy(at, &v, p->size);
}

static bool take_element(struct unpacker *u, const struct part *p, unsigned char *at)
{
	__u64 v;

	if (!take(u, &v))
		return false;
	if (p->type != VALUE_TEXT) {
		store(at, p, load(at, p) + unzigzag(v));
		return true;
	}
	if (v > u->len - u->at)
		return false;
	memset(at, 0, p->size);
	memcpy(at, u->raw + u->at, v < p->size ? v : p->size - 1);
	u->at += v;
	return true;
}

static bool take_fields(struct unpacker *u, const struct kind_layout *k)
{
	size_t i = 0;
	__u64 gap, id = 0;

	for (;;) {
		const struct part *p;

		if (!take(u, &gap) || gap > ELEMENTS_MAX)
			return false;
		if (!gap)
			return true;
		id += gap;
		while (i < k->parts && id >= (__u64)k->part[i].id + k->part[i].count)
			i++;
		if (i == k->parts)
			return false;
		p = &k->part[i];
		if (!take_element(u, p, u->record + p->offset + (id - p->id) * p->stride))
			return false;
	}
}

/* Reads the next record's values. Returns 0, -EBADMSG or -ENOMEM. */
static int take_record(struct unpacker *u, struct record *h)
{
	struct memory *m = &u->memory;
	const struct kind_layout *k;
	unsigned char *slot = NULL;
	__u64 kind, t, ref;
	bool is_short;
	__s64 at;

	if (!take(u, &kind) || !take(u, &t) || !take(u, &ref) || kind > UINT32_MAX)
		return -EBADMSG;
	k = record_layout_of(&m->layout, kind);
	is_short = ref & REF_IS_SHORT;
	ref >>= 1;
	if (!k || (is_short && !k->short_len))
		return -EBADMSG;
	memcpy(u->record, k->last, k->bytes);
	if (ref == REF_NEW) {
		/* The reader permits more bytes than the writer: its records may be longer. */
		struct slot *s;

		if (m->n == SLOTS_MAX || m->bytes > 4 * SLOT_BYTES_MAX)
			return -EBADMSG;
		s = memory_add(m, k);
		if (!s)
			return -ENOMEM;
		slot = s->image;
	} else if (ref >= REF_FIRST) {
		at = (__s64)((__u64)m->last_slot + (__u64)unzigzag(ref - REF_FIRST) + 1);
		if (at < 0 || at >= (__s64)m->n || m->slot[at].kind != kind)
			return -EBADMSG;
		m->last_slot = at;
		slot = m->slot[at].image;
		memcpy(u->record, slot, k->bytes);
	}
	if (!take_fields(u, k))
		return -EBADMSG;
	m->last_ns += unzigzag(t);
	*h = (struct record){
		.kind = kind,
		.len = is_short ? k->short_len : k->len,
		.t_ns = m->last_ns,
		.extra = is_short ? 0 : k->bytes - k->len,
	};
	memcpy(k->last, u->record, k->bytes);
	if (slot)
		memcpy(slot, u->record, k->bytes);
	return 0;
}

int unpacker_next(struct unpacker *u, struct record **ret)
{
	int err;

	if (u->at == u->len)
		return 1;
	*ret = (struct record *)u->record;
	err = take_record(u, *ret);
	if (err) {
		u->keyed = false;
		u->at = u->len;
	}
	return err;
}
