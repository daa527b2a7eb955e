// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/packed.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SLOTS_MAX	 65536
#define SLOT_BYTES_MAX	 (64u << 20) /* of all records remembered */
#define BUCKETS		 (1u << 17)
#define CHUNKS_TO_KEY	 360 /* an hour of looks each ten seconds */
#define RAW_ROOM	 (CHUNK_RAW_MAX + 4 * RECORD_BYTES_MAX)
#define DEFLATE_LEVEL	 6
#define VARINT_BYTES_MAX 10
#define RECORD_ROOM(len) ((len) / 8 * (2 * VARINT_BYTES_MAX) + 8 + 5 * VARINT_BYTES_MAX)

/* What the last record of one subject was: both sides remember the same, in the same order. */
struct slot {
	__u64 a;
	__u32 b, kind;
	__u32 len, next; /* of the chain: 1 + its place; 0: the end */
	unsigned char *bytes;
};

struct memory {
	struct slot *slot;
	size_t n, bytes;
	__u32 *bucket; /* 1 + place */
	__u64 last_ns;
	__s64 last_slot;
	struct slot process; /* the last one of any: a new one is most like it */
};

static int memory_make(struct memory *m)
{
	m->slot = calloc(SLOTS_MAX, sizeof(*m->slot));
	m->bucket = calloc(BUCKETS, sizeof(*m->bucket));
	return m->slot && m->bucket ? 0 : -ENOMEM;
}

static void memory_clear(struct memory *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->slot[i].bytes);
	if (m->n)
		memset(m->bucket, 0, BUCKETS * sizeof(*m->bucket));
	m->n = m->bytes = m->process.len = 0;
	m->last_ns = 0;
	m->last_slot = -1;
}

static void memory_free(struct memory *m)
{
	if (m->slot && m->bucket)
		memory_clear(m);
	free(m->process.bytes);
	free(m->slot);
	free(m->bucket);
}

/* Nearly full: it is time to begin anew. */
static bool memory_is_full(const struct memory *m)
{
	return m->n == SLOTS_MAX || m->bytes + RECORD_BYTES_MAX > SLOT_BYTES_MAX;
}

/* What a record is of, where it is one of many of the same; false: it stands for itself. */
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

/* Its place; -1: there is none. */
static __s64 memory_find(const struct memory *m, const struct slot *key)
{
	for (__u32 i = m->bucket[bucket_of(key)]; i; i = m->slot[i - 1].next) {
		const struct slot *s = &m->slot[i - 1];

		if (s->a == key->a && s->b == key->b && s->kind == key->kind)
			return i - 1;
	}
	return -1;
}

/* A record may leave out its end: that of the one before stays. */
static int slot_keep(struct slot *s, const struct record *h)
{
	unsigned char *more;

	if (h->len > s->len) {
		more = realloc(s->bytes, h->len);
		if (!more)
			return -ENOMEM;
		s->bytes = more;
		s->len = h->len;
	}
	memcpy(s->bytes, h, h->len);
	return 0;
}

/* What a record that is the first of its kind and subject is told as the difference from. */
static const struct slot *model_of(const struct memory *m, const struct record *h)
{
	return h->kind == RECORD_PROCESS ? &m->process : NULL;
}

/* Whether a process lives on: of one that ended there is no further record. */
static bool is_last(const struct record *h)
{
	struct process_record r;

	if (h->kind != RECORD_PROCESS || h->len < offsetof(struct process_record, u))
		return false;
	memcpy(&r, h, offsetof(struct process_record, u));
	return r.g.flags & PROC_FINAL;
}

static int memory_keep(struct memory *m, const struct slot *key, const struct record *h, __s64 at)
{
	__u32 *bucket = &m->bucket[bucket_of(key)], was;
	int err = h->kind == RECORD_PROCESS ? slot_keep(&m->process, h) : 0;

	if (err)
		return err;
	if (at < 0) {
		if (is_last(h))
			return 0;
		if (memory_is_full(m))
			return 0;
		at = m->n++;
		m->slot[at] = *key;
		m->slot[at].next = *bucket;
		*bucket = at + 1;
	}
	was = m->slot[at].len;
	err = slot_keep(&m->slot[at], h);
	m->bytes += m->slot[at].len - was;
	return err;
}

static __u64 zigzag(__s64 v)
{
	return (__u64)v << 1 ^ (__u64)(v >> 63);
}

static __s64 unzigzag(__u64 v)
{
	return (__s64)(v >> 1) ^ -(__s64)(v & 1);
}

/* The word at `at` of a record; 0 behind its end. */
static __u64 word_at(const unsigned char *bytes, __u32 len, __u32 at)
{
	__u64 w = 0;

	if (at + sizeof(w) <= len)
		memcpy(&w, bytes + at, sizeof(w));
	return w;
}

struct packer {
	struct memory memory;
	unsigned char *raw, *out; /* out has the header in front */
	size_t len, out_room;
	__u64 t_ns;
	unsigned int chunks; /* since the last key */
};

int packer_make(struct packer **ret)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->out_room = sizeof(struct chunk_header) + compressBound(RAW_ROOM);
	p->raw = malloc(RAW_ROOM);
	p->out = malloc(p->out_room);
	if (memory_make(&p->memory) || !p->raw || !p->out) {
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

static void put_bytes(struct packer *p, const unsigned char *bytes, size_t n)
{
	memcpy(p->raw + p->len, bytes, n);
	p->len += n;
}

/* Words that are as they were are only counted. */
static void put_difference(struct packer *p, const unsigned char *bytes, __u32 len,
			   const struct slot *was)
{
	__u32 at = sizeof(struct record), same = 0;

	for (; at + 8 <= len; at += 8) {
		__u64 d = word_at(bytes, len, at) - word_at(was->bytes, was->len, at);

		if (!d) {
			same++;
			continue;
		}
		put(p, same);
		put(p, zigzag(d));
		same = 0;
	}
	if (same)
		put(p, same);
	put_bytes(p, bytes + at, len - at);
}

int packer_add(struct packer *p, const struct record *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	struct memory *m = &p->memory;
	const struct slot *model;
	struct slot key;
	bool keyed;
	__s64 at;

	if (h->len < sizeof(*h) || h->len > RECORD_BYTES_MAX ||
	    p->len + RECORD_ROOM(h->len) > RAW_ROOM)
		return -EINVAL;
	keyed = key_of(h, &key);
	at = keyed ? memory_find(m, &key) : -1;
	put(p, h->kind);
	put(p, h->len);
	put(p, zigzag(h->t_ns - m->last_ns));
	p->t_ns = m->last_ns = h->t_ns;
	model = model_of(m, h);
	if (at < 0) {
		put(p, 0);
		if (model)
			put_difference(p, bytes, h->len, model);
		else
			put_bytes(p, bytes + sizeof(*h), h->len - sizeof(*h));
	} else {
		put(p, 1 + zigzag(at - m->last_slot - 1));
		m->last_slot = at;
		put_difference(p, bytes, h->len, &m->slot[at]);
	}
	return keyed ? memory_keep(m, &key, h, at) : 0;
}

bool packer_holds(const struct packer *p)
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

int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len)
{
	struct chunk_header ch = {.magic = CHUNK_MAGIC, .raw_bytes = p->len, .t_ns = p->t_ns};
	unsigned char *payload = p->out + sizeof(ch);
	uLongf room = p->out_room - sizeof(ch);

	if (compress2(payload, &room, p->raw, p->len, DEFLATE_LEVEL) != Z_OK)
		return -ENOMEM;
	ch.packed_bytes = room;
	ch.payload_crc = crc32(0, payload, room);
	ch.flags = p->chunks ? 0 : CHUNK_KEY;
	ch.header_crc = header_crc(&ch);
	memcpy(p->out, &ch, sizeof(ch));
	*ret = p->out;
	*ret_len = sizeof(ch) + room;
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
	bool keyed; /* a key chunk was taken, and all after it */
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

int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload)
{
	uLongf len = ch->raw_bytes;
	bool good = chunk_header_is_good(ch) &&
		    crc32(0, payload, ch->packed_bytes) == ch->payload_crc &&
		    (u->keyed || ch->flags & CHUNK_KEY);

	u->at = u->len = 0;
	u->keyed = good && uncompress(u->raw, &len, payload, ch->packed_bytes) == Z_OK &&
		   len == ch->raw_bytes;
	if (!u->keyed)
		return -EBADMSG;
	if (ch->flags & CHUNK_KEY)
		memory_clear(&u->memory);
	u->len = len;
	return 0;
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

static bool take_bytes(struct unpacker *u, unsigned char *to, size_t n)
{
	if (n > u->len - u->at)
		return false;
	memcpy(to, u->raw + u->at, n);
	u->at += n;
	return true;
}

static bool take_difference(struct unpacker *u, __u32 len, const struct slot *was)
{
	__u32 at = sizeof(struct record), words = (len - at) / 8;
	__u64 same, d;

	memset(u->record + at, 0, len - at);
	for (__u32 i = 0; i < words; i++)
		if (at + (i + 1) * 8 <= was->len)
			memcpy(u->record + at + i * 8, was->bytes + at + i * 8, 8);
	for (__u32 i = 0; i < words; i++) {
		if (!take(u, &same) || same > words - i)
			return false;
		i += same;
		if (i == words)
			break;
		if (!take(u, &d))
			return false;
		d = word_at(u->record, len, at + i * 8) + unzigzag(d);
		memcpy(u->record + at + i * 8, &d, sizeof(d));
	}
	at += words * 8;
	return take_bytes(u, u->record + at, len - at);
}

static bool take_record(struct unpacker *u, struct record *h)
{
	struct memory *m = &u->memory;
	__u64 kind, len, t, ref;
	__s64 at;

	if (!take(u, &kind) || !take(u, &len) || !take(u, &t) || !take(u, &ref) ||
	    len < sizeof(*h) || len > RECORD_BYTES_MAX || kind > UINT32_MAX)
		return false;
	m->last_ns += unzigzag(t);
	*h = (struct record){.kind = kind, .len = len, .t_ns = m->last_ns};
	if (!ref)
		return model_of(m, h) ? take_difference(u, len, model_of(m, h))
				      : take_bytes(u, u->record + sizeof(*h), len - sizeof(*h));
	at = (__s64)((__u64)m->last_slot + (__u64)unzigzag(ref - 1) + 1);
	if (at < 0 || at >= (__s64)m->n)
		return false;
	m->last_slot = at;
	return take_difference(u, len, &m->slot[at]);
}

int unpacker_next(struct unpacker *u, struct record **ret)
{
	struct record *h = (struct record *)u->record;
	struct slot key;
	int err = 0;

	if (u->at == u->len)
		return 1;
	if (!take_record(u, h)) {
		u->keyed = false;
		u->at = u->len;
		return -EBADMSG;
	}
	if (key_of(h, &key))
		err = memory_keep(&u->memory, &key, h, memory_find(&u->memory, &key));
	*ret = h;
	return err;
}
