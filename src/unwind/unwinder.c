// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "unwind/area_blocks.h"
#include "unwind/stack_copies.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL
#define SWEEP_NS  NS_PER_S
/* While a long list of files is read, the BPF program gets the finished part at this interval. */
#define PUBLISH_NS (200 * NS_PER_MS)
/*
 * Minimum time between two reads of a process that maps code all the time. The time is longer if
 * reading is costly, or if nothing that matters changed.
 */
#define REST_LEAST_NS (2 * NS_PER_MS)
#define REST_MOST_NS  (2 * NS_PER_S)
#define REST_BY_COST  4

struct followed {
	struct process_key of;
	bool wanted;	 /* true: the mappings of this process must be read */
	__u64 due_ns;	 /* earliest time at which the mappings are read again */
	__u64 rest_ns;	 /* time to wait after the next read */
	__u64 signature; /* hash of the mappings at the last read */
};

struct unwinder {
	struct unwind_maps maps;
	struct code_files files;
	struct area_blocks blocks;
	struct stack_copies copies;
	stack_walked_fn *walked;
	void *walked_ctx;
	struct followed *f; /* array of watched processes; owned */
	size_t n, room;
	struct mapped_code reading; /* state of the read that is in progress; proc < 0: none */
	__u64 published_ns, swept_ns;
	__u64 read_ns; /* time spent on this read, without the time for making tables */
	struct unwinder_figures sum;
};

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct unwinder *unwinder_new(const struct bpf_object *object)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->reading.proc = u->reading.root = -1;
	u->swept_ns = now();
	if (!unwind_maps_open(&u->maps, object) && !code_files_open(&u->files))
		return u;
	unwinder_free(u);
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	mapped_code_free(&u->reading, 0);
	stack_copies_free(&u->copies);
	area_blocks_free(&u->blocks);
	code_files_close(&u->files);
	unwind_maps_close(&u->maps);
	free(u->f);
	free(u);
}

void unwinder_prepare(struct unwinder *u)
{
	unwind_maps_prepare(&u->maps);
}

void unwinder_settle(struct unwinder *u)
{
	unwind_maps_settle(&u->maps);
}

void unwinder_set_ceiling(struct unwinder *u, size_t bytes)
{
	size_t chunks = bytes / (FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row));

	u->maps.chunks_max = chunks < FS_UNWIND_CHUNKS ? chunks : FS_UNWIND_CHUNKS;
}

static struct followed *find(struct unwinder *u, const struct process_key *of)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->f[i].of.pid == of->pid && u->f[i].of.start_ns == of->start_ns)
			return &u->f[i];
	return NULL;
}

void unwinder_note(struct unwinder *u, const struct process_key *of)
{
	struct followed *f = find(u, of), *grown;

	if (!f) {
		grown = array_grow(u->f, u->n, &u->room, FS_UNWIND_PROCS, sizeof(*grown));
		if (!grown)
			return;
		u->f = grown;
		f = &u->f[u->n++];
		*f = (struct followed){.of = *of, .rest_ns = REST_LEAST_NS};
	}
	f->wanted = true;
}

void unwinder_on_walked(struct unwinder *u, stack_walked_fn *walked, void *ctx)
{
	u->walked = walked;
	u->walked_ctx = ctx;
}

void unwinder_copy(struct unwinder *u, const struct stack_copy_record *r)
{
	struct followed *f;

	stack_copies_add(&u->copies, r);
	unwinder_note(u, &r->subject);
	f = find(u, &r->subject);
	if (f)
		f->due_ns = 0; /* the copies of a process are limited by number */
}

bool unwinder_waits(const struct unwinder *u)
{
	return u->copies.n;
}

/* Returns the process whose read is due first. */
static struct followed *next_due(struct unwinder *u)
{
	struct followed *next = NULL;

	for (size_t i = 0; i < u->n; i++)
		if (u->f[i].wanted && (!next || u->f[i].due_ns < next->due_ns))
			next = &u->f[i];
	return next;
}

static void begin(struct unwinder *u, struct followed *f, __u64 now_ns)
{
	struct fs_unwind_epoch begun;
	int err;

	f->wanted = false;
	u->published_ns = now_ns;
	u->sum.processes++;
	/* begin before the read, so that the BPF program reports changes from here on */
	err = unwind_maps_begin(&u->maps, f->of.pid, &begun);
	if (!err)
		err = mapped_code_read(&u->reading, &f->of, &begun);
	if (!err)
		unwind_maps_epoch(&u->maps, f->of.pid, &u->reading.read);
	u->read_ns = now() - now_ns;
	if (!err && u->reading.n)
		return;
	if (err == -ESRCH) {
		unwind_maps_end(&u->maps, f->of.pid);
		stack_copies_drop(&u->copies, &f->of, now_ns);
	}
	mapped_code_free(&u->reading, now_ns);
}

static __u64 signature_of(const struct mapped_code *c)
{
	__u64 hash = c->n;

	for (size_t i = 0; i < c->n; i++)
		/* ignore code of JIT compilers, which appears and disappears all the time */
		if (c->m[i].path)
			hash = (hash ^ c->m[i].start ^ c->m[i].inode << 48) * 0x9e3779b97f4a7c15ULL;
	return hash;
}

static void finish(struct unwinder *u, __u64 now_ns)
{
	struct followed *f = find(u, &u->reading.of);
	__u64 signature = signature_of(&u->reading);
	int err = area_blocks_publish(&u->blocks, &u->maps, &u->reading, now_ns);

	if (u->copies.n && u->walked)
		stack_copies_walk(&u->copies, &u->reading, &u->maps, u->walked, u->walked_ctx);
	mapped_code_free(&u->reading, now_ns);
	if (!f)
		return;
	f->rest_ns = signature == f->signature ? f->rest_ns * 2 : REST_LEAST_NS;
	f->signature = signature;
	/* tables are made only once; a repeated read costs only the time to read the mappings */
	if (f->rest_ns < u->read_ns * REST_BY_COST)
		f->rest_ns = u->read_ns * REST_BY_COST;
	if (f->rest_ns > REST_MOST_NS)
		f->rest_ns = REST_MOST_NS;
	f->due_ns = now_ns + f->rest_ns;
	/* without room, try again: freed lists make room; an invalid list must be read again */
	f->wanted = f->wanted || err == -E2BIG || err == -ESTALE;
}

static void sweep(struct unwinder *u, __u64 now_ns)
{
	u->swept_ns = now_ns;
	stack_copies_drop(&u->copies, NULL, now_ns);
	area_blocks_sweep(&u->blocks, &u->maps, now_ns);
	code_files_expire(&u->files, &u->maps, now_ns);
	unwind_maps_trim(&u->maps, now_ns);
	for (size_t i = 0; i < u->n;)
		if (!u->f[i].wanted && now_ns > u->f[i].due_ns + REST_MOST_NS)
			u->f[i] = u->f[--u->n];
		else
			i++;
}

static int wait_ms(struct unwinder *u, __u64 now_ns)
{
	struct followed *next = next_due(u);

	if (u->reading.proc >= 0)
		return 0;
	if (!next)
		return -1;
	return next->due_ns > now_ns ? (next->due_ns - now_ns) / NS_PER_MS + 1 : 0;
}

/* Does a part of the work for the process that is being read. */
static void go_on(struct unwinder *u, __u64 now_ns)
{
	switch (mapped_code_step(&u->reading, &u->files, &u->maps, now_ns)) {
	case MAPPED_END:
		finish(u, now());
		break;
	case MAPPED_NEXT:
		u->read_ns += now() - now_ns;
		break;
	case MAPPED_MAKING:
		break;
	}
}

int unwinder_work(struct unwinder *u, __u64 budget_ns)
{
	__u64 began = now(), at = began, took;

	while (at - began < budget_ns) {
		if (u->reading.proc >= 0) {
			go_on(u, at);
		} else {
			struct followed *next = next_due(u);

			if (!next || next->due_ns > at)
				break;
			begin(u, next, at);
		}
		at = now();
	}
	if (u->reading.proc >= 0 && at - u->published_ns >= PUBLISH_NS) {
		area_blocks_publish(&u->blocks, &u->maps, &u->reading, at);
		u->published_ns = at;
	}
	if (at - u->swept_ns >= SWEEP_NS)
		sweep(u, at);
	if (u->reading.proc < 0)
		unwind_maps_unmap(&u->maps);
	took = now() - began;
	u->sum.work_ns += took;
	if (took > u->sum.longest_piece_ns)
		u->sum.longest_piece_ns = took;
	return wait_ms(u, at);
}

bool unwinder_find(const struct unwinder *u, __u32 generation, __u64 ip,
		   __u8 ret_build_id[BUILD_ID_BYTES], __u64 *ret_offset)
{
	return generation == STACK_COPY_GENERATION
		       ? mapped_code_find(&u->reading, ip, ret_build_id, ret_offset)
		       : area_blocks_find(&u->blocks, generation, ip, ret_build_id, ret_offset);
}

void unwinder_figures(const struct unwinder *u, struct unwinder_figures *ret)
{
	*ret = u->sum;
	ret->files = u->files.n;
	ret->tables = u->files.tables;
	ret->freed = u->files.freed;
	ret->no_room = u->files.no_room;
	ret->unreadable = u->files.unreadable;
	ret->bytes = unwind_maps_bytes(&u->maps);
	ret->walked = u->copies.walked;
	ret->dropped = u->copies.dropped;
}
