// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/record_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "probe/record_packing.h"
#include "probe/recording.h"

#define NS_PER_S 1000000000ULL
/* A dropped group costs this part of the ring, and each group has a copy of the state. */
#define GROUPS 8
/* A chunk ends at the first scan that finds it larger or older than this. */
#define CHUNK_BYTES (48u << 10)
#define CHUNK_NS    (60 * NS_PER_S)
/* Without waiting for a scan, a chunk ends when it is as large as this. */
#define CHUNK_BYTES_MAX (192u << 10)

struct chunk {
	struct chunk *next;
	size_t len;
	unsigned char bytes[];
};

struct chunks {
	struct chunk *first, **end; /* `end`: where the next chunk is linked */
};

struct group {
	struct group *next;
	struct chunks state, data;
	size_t bytes, state_bytes;
	__u64 begin_ns; /* time of the scan whose state begins the group; 0: it has no scan yet */
};

struct record_ring {
	struct ring_bounds bounds;
	struct packer *packer;
	int (*tell)(void *ctx, const struct sink *sink);
	void *ctx;
	struct group *first, *last;
	size_t bytes;
	__u64 chunk_ns;		/* time of the first record in the current chunk; 0: it is empty */
	__u64 scan_ns, last_ns; /* times of the last scan and of the newest record */
	__u64 dropped, lost;
};

static struct group *add_group(struct record_ring *r)
{
	struct group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->state.end = &g->state.first;
	g->data.end = &g->data.first;
	g->begin_ns = r->scan_ns;
	*(r->last ? &r->last->next : &r->first) = g;
	r->last = g;
	r->bytes += sizeof(*g);
	g->bytes = sizeof(*g);
	return g;
}

static void free_chunks(struct chunks *c)
{
	struct chunk *next;

	for (; c->first; c->first = next) {
		next = c->first->next;
		free(c->first);
	}
}

static void drop_first(struct record_ring *r)
{
	struct group *g = r->first;

	r->first = g->next;
	if (!r->first)
		r->last = NULL;
	r->bytes -= g->bytes;
	free_chunks(&g->state);
	free_chunks(&g->data);
	free(g);
}

int record_ring_make(const struct ring_bounds *bounds,
		     int (*tell)(void *ctx, const struct sink *sink), void *ctx,
		     struct record_ring **ret)
{
	struct record_ring *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->bounds = *bounds;
	r->tell = tell;
	r->ctx = ctx;
	if (packer_make(&r->packer) || !add_group(r)) {
		record_ring_free(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

void record_ring_free(struct record_ring *r)
{
	if (!r)
		return;
	while (r->first)
		drop_first(r);
	packer_free(r->packer);
	free(r);
}

/* Ends the current chunk of the packer, and adds it to `to`, which belongs to the last group. */
static int end_chunk(struct record_ring *r, struct chunks *to)
{
	const unsigned char *bytes;
	struct chunk *c;
	size_t len;
	int err;

	if (!packer_holds(r->packer))
		return 0;
	err = packer_end(r->packer, &bytes, &len);
	if (err)
		return err;
	c = malloc(sizeof(*c) + len);
	if (!c)
		return -ENOMEM;
	c->next = NULL;
	c->len = len;
	memcpy(c->bytes, bytes, len);
	*to->end = c;
	to->end = &c->next;
	r->last->bytes += sizeof(*c) + len;
	r->bytes += sizeof(*c) + len;
	return 0;
}

static int end_data(struct record_ring *r)
{
	r->chunk_ns = 0;
	return end_chunk(r, &r->last->data);
}

/* Drops groups until the ring keeps its bounds. The last group stays. */
static void keep_bounds(struct record_ring *r)
{
	const struct ring_bounds *b = &r->bounds;

	while (r->first != r->last &&
	       ((b->bytes && r->bytes > b->bytes) ||
		(b->ns && r->last_ns > b->ns && r->first->next->begin_ns <= r->last_ns - b->ns))) {
		drop_first(r);
		r->dropped++;
	}
}

static int pack_state(void *ctx, const struct record *h)
{
	struct record_ring *r = ctx;
	int err = packer_add(r->packer, h);

	return err || !packer_is_full(r->packer) ? err : end_chunk(r, &r->last->state);
}

/* Begins a group with the present state. */
static int begin_group(struct record_ring *r)
{
	const struct sink sink = {.take = pack_state, .ctx = r};
	int err;

	packer_begin_anew(r->packer);
	if (!add_group(r))
		return -ENOMEM;
	err = r->tell(r->ctx, &sink) ?: end_chunk(r, &r->last->state);
	r->last->state_bytes = r->last->bytes;
	packer_begin_anew(r->packer);
	keep_bounds(r);
	return err;
}

/* Forgets all groups, because the last one lacks records: it cannot be continued. */
static void begin_anew(struct record_ring *r)
{
	r->lost++;
	while (r->first != r->last)
		drop_first(r);
	r->chunk_ns = 0;
	if (begin_group(r))
		r->lost++;
	if (r->first != r->last)
		drop_first(r);
}

/* Returns whether a new group must begin. A large state takes at most half of a full group. */
static bool group_is_full(const struct record_ring *r)
{
	const struct ring_bounds *b = &r->bounds;
	const struct group *g = r->last;
	__u64 now = r->scan_ns;

	if (b->bytes && g->bytes >= b->bytes / GROUPS && g->bytes >= 2 * g->state_bytes)
		return true;
	return b->ns && g->begin_ns && now >= g->begin_ns + b->ns / GROUPS;
}

static bool chunk_is_over(const struct record_ring *r, const struct record *h)
{
	size_t bytes = packer_bytes(r->packer);

	return bytes >= CHUNK_BYTES_MAX ||
	       (h->kind == RECORD_TICK &&
		(bytes >= CHUNK_BYTES || h->t_ns >= r->chunk_ns + CHUNK_NS));
}

static int take(struct record_ring *r, const struct record *h)
{
	int err = packer_add(r->packer, h);

	if (err == -EINVAL)
		return 0; /* a kind of record that recordings do not contain */
	if (err)
		return err;
	if (h->t_ns > r->last_ns) /* an ended process may be recorded after a later scan */
		r->last_ns = h->t_ns;
	if (h->kind == RECORD_TICK)
		r->scan_ns = h->t_ns;
	if (!r->chunk_ns)
		r->chunk_ns = h->t_ns;
	if (!r->last->begin_ns && h->kind == RECORD_TICK)
		r->last->begin_ns = h->t_ns;
	if (!chunk_is_over(r, h))
		return 0;
	err = end_data(r);
	if (!err && group_is_full(r))
		err = begin_group(r);
	keep_bounds(r);
	return err;
}

void record_ring_take(struct record_ring *r, const struct record *h)
{
	if (take(r, h))
		begin_anew(r);
}

struct ring_use record_ring_use(const struct record_ring *r)
{
	return (struct ring_use){
		.bytes = r->bytes + packer_bytes(r->packer),
		.from_ns = r->first->begin_ns,
		.until_ns = r->last_ns,
		.dropped = r->dropped,
		.lost = r->lost,
	};
}

static int write_chunks(const struct chunks *c, int fd)
{
	int err = 0;

	for (const struct chunk *one = c->first; one && !err; one = one->next)
		err = io_write(fd, (const char *)one->bytes, one->len);
	return err;
}

static int write_packed(struct packer *p, const struct record *h, int fd)
{
	const unsigned char *bytes;
	size_t len;
	int err;

	packer_begin_anew(p);
	err = packer_add(p, h) ?: packer_end(p, &bytes, &len);
	return err ?: io_write(fd, (const char *)bytes, len);
}

static int write_begin(struct packer *p, const struct record *head, int fd)
{
	unsigned char header[RECORDING_HEADER_BYTES];
	const unsigned char *bytes;
	size_t len;
	int err;

	recording_header(header);
	err = io_write(fd, (const char *)header, sizeof(header));
	err = err ?: packer_fields(p, &bytes, &len);
	err = err ?: io_write(fd, (const char *)bytes, len);
	return err || !head ? err : write_packed(p, head, fd);
}

int record_ring_write(struct record_ring *r, const struct record *head, int fd)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), r->last_ns}};
	struct packer *p = NULL;
	int err = end_data(r);

	if (err) {
		begin_anew(r);
		return err;
	}
	err = packer_make(&p) ?: write_begin(p, head, fd);
	err = err ?: write_chunks(&r->first->state, fd);
	for (const struct group *g = r->first; g && !err; g = g->next)
		err = write_chunks(&g->data, fd);
	err = err ?: write_packed(p, &end.h, fd);
	packer_free(p);
	return err;
}
