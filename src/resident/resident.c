// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "resident/resident.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/array.h"
#include "probe/host_facts.h"
#include "resident/held.h"
#include "resident/known_frames.h"
#include "resident/mappings.h"
#include "resident/owners.h"
#include "resident/page_ranges.h"
#include "resident/page_tables.h"
#include "resident/unit_set.h"
#include "wire.h"

#define TARGETS_MAX 4096
#define EACH_MOST   (1u << 20)
#define EACH_FIRST  64 /* up to this value, all ranges of files are chosen */
#define HUGE_BYTES  (PAGE_BYTES << FS_RESIDENT_HUGE_SHIFT)
#define ANCESTORS   8 /* generations from which pages may be inherited */

_Static_assert(RESIDENT_WANTED_MAX == FS_RESIDENT_WANTED, "the size of the BPF map");

/* A process that is read, between two rounds. */
struct target {
	struct process_key id;
	struct process_key parent; /* from which pages may be inherited; pid 0: none */
	__u64 forked_ns;
	int pagemap; /* of the memory that the process got at its last exec; -1: it has ended */
	__u32 execs;
	uint64_t memory;	 /* see page_tables_read() */
	__u64 first_ns;		 /* time of the first reading; 0: not read yet */
	struct unit_sets before; /* that were in memory before they were watched */
	/* the same, one reading earlier: a reading misses pages while they become a huge page */
	struct unit_sets earlier;
	struct known_frames frames; /* of private mappings of files, in the last reading */
	bool read;		    /* in this round */
	bool has_children;	    /* another target names it as its parent */
};

struct resident {
	struct fs_shared *shared;
	struct fs_resident_config config;
	struct owners owners;
	int wanted;	       /* the BPF map of wanted processes */
	struct target *target; /* owned */
	size_t n, room;
	struct mappings mappings;
	struct page_tables tables;
	bool has_tables; /* `tables` can be used; otherwise pages are read from /proc */
	__u32 each;
	__u64 round_ns; /* time at which the owners were read */
	__u32 expected; /* pid of resident_expect(), or 0 */
	int pagemap;	/* of this process; -1: none */
};

/* State of one reading. */
struct reading {
	struct resident *r;
	struct target *t;
	const struct resident_process *p;
	const struct target *ancestor[ANCESTORS]; /* parent first; NULL: no more */
	struct page_reader pages;
	const struct mapping *in;
	size_t nth;	/* for page_tables_read(): index of the mapping `in` */
	bool collapsed; /* the pages that are taken are parts of one huge page */
	struct held rows;
	struct unit_sets before; /* what remains of the sets of the target */
	struct known_frames frames;
	__u64 frame; /* of the page about which the kernel is asked; 0: none */
};

static __u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Returns the settings of the programs, or NULL. */
static const struct fs_config *config_of(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");
	size_t size = 0;
	const void *config = map ? bpf_map__initial_value(map, &size) : NULL;

	return size >= sizeof(struct fs_config) ? config : NULL;
}

static struct fs_shared *map_shared(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".data.shared");
	void *at = map ? mmap(NULL, sizeof(struct fs_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(map), 0)
		       : MAP_FAILED;

	return at == MAP_FAILED ? NULL : at;
}

struct resident *resident_new(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "resident");
	const struct fs_config *config = config_of(object);
	struct resident *r = NULL;

	if (map && config && config->resident.on)
		r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->config = config->resident;
	r->pagemap = -1;
	r->owners.map = bpf_map__fd(map);
	r->wanted = bpf_object__find_map_fd_by_name(object, "resident_wanted");
	mappings_begin(&r->mappings);
	r->shared = map_shared(object);
	if (!r->shared) {
		free(r);
		return NULL;
	}
	r->tables.shared = r->shared;
	r->tables.program = bpf_program__fd(bpf_object__find_program_by_name(object, "read_pages"));
	r->has_tables = page_tables_usable(&r->tables);
	return r;
}

static void close_target(struct target *t)
{
	if (t->pagemap >= 0)
		close(t->pagemap);
	unit_sets_free(&t->before);
	unit_sets_free(&t->earlier);
	known_frames_free(&t->frames);
}

void resident_free(struct resident *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		close_target(&r->target[i]);
	if (r->pagemap >= 0)
		close(r->pagemap);
	free(r->target);
	owners_free(&r->owners);
	munmap(r->shared, sizeof(*r->shared));
	mappings_free(&r->mappings);
	free(r);
}

static void choose_each(struct resident *r, __u32 each)
{
	r->each = each;
	r->shared->resident_below = each > 1 ? (1ULL << 32) / each : UINT32_MAX;
	r->shared->resident_ranges_below =
		each > EACH_FIRST ? (1ULL << 32) / (each / EACH_FIRST) : UINT32_MAX;
}

void resident_begin(struct resident *r, __u32 each)
{
	choose_each(r, each);
}

static struct target *find_target(const struct resident *r, const struct process_key *id)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->target[i].id.pid == id->pid && r->target[i].id.start_ns == id->start_ns)
			return &r->target[i];
	return NULL;
}

static int open_pagemap(__u32 pid)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/pagemap", alive_thread(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

/*
 * Returns the file of an expected process, or opens it. The expected file shows the memory that the
 * process got at its first exec.
 */
static int take_pagemap(struct resident *r, const struct resident_process *p)
{
	int fd = r->pagemap;

	if (fd < 0 || r->expected != p->pid || p->execs > 1)
		return open_pagemap(p->pid);
	r->pagemap = -1;
	return fd;
}

void resident_expect(struct resident *r, __u32 pid)
{
	r->expected = pid;
	r->pagemap = open_pagemap(pid);
}

static struct target *add_target(struct resident *r, const struct resident_process *p, int *ret_err)
{
	struct target *more = array_grow(r->target, r->n, &r->room, TARGETS_MAX, sizeof(*more));
	int fd;

	*ret_err = -ENOMEM;
	if (!more)
		return NULL;
	r->target = more;
	*ret_err = fd = take_pagemap(r, p);
	if (fd < 0)
		return NULL;
	more[r->n] = (struct target){.id = p->id,
				     .parent = p->parent,
				     .forked_ns = p->forked_ns,
				     .pagemap = fd,
				     .execs = p->execs};
	return &more[r->n++];
}

/* After an exec, the process has new memory, which was watched from its first page on. */
static int begin_again(struct target *t, const struct resident_process *p)
{
	struct target fresh = {.id = p->id, .execs = p->execs, .first_ns = t->first_ns};

	fresh.pagemap = open_pagemap(p->pid);
	if (fresh.pagemap < 0)
		return fresh.pagemap;
	close_target(t);
	*t = fresh;
	return 0;
}

bool resident_want(struct resident *r, const struct process_key *id)
{
	const __u8 since = FS_WANTED_SINCE_LATER;

	return !bpf_map_update_elem(r->wanted, &id->pid, &since, BPF_NOEXIST) || errno == EEXIST;
}

bool resident_wanted_since_fork(const struct resident *r, const struct process_key *id)
{
	__u8 since;

	return !bpf_map_lookup_elem(r->wanted, &id->pid, &since) && since == FS_WANTED_SINCE_FORK;
}

void resident_unwant(struct resident *r, const struct process_key *id)
{
	bpf_map_delete_elem(r->wanted, &id->pid);
}

bool resident_knows(const struct resident *r, const struct process_key *id)
{
	return find_target(r, id);
}

int resident_open(struct resident *r, const struct resident_process *p)
{
	int err = 0;

	return find_target(r, &p->id) || add_target(r, p, &err) ? 0 : err;
}

int resident_prepare(struct resident *r)
{
	r->round_ns = host_monotonic_ns();
	for (size_t i = 0; i < r->n; i++)
		r->target[i].read = false;
	return owners_read(&r->owners);
}

static bool is_chosen_page(const struct resident *r, __u64 page)
{
	return fs_resident_chosen(r->config.secret, page, r->shared->resident_below);
}

static bool is_chosen_range(const struct resident *r, __u64 page)
{
	return fs_resident_chosen(r->config.secret, page >> FS_RESIDENT_HUGE_SHIFT,
				  r->shared->resident_ranges_below);
}

/* Fills the key of a row for the mapping that is read; the caller adds who holds the page. */
static struct row_key key_of(const struct reading *g, const struct page_range *range)
{
	struct row_key key = {.toucher = g->p->id, .stack = -1, .before = -1, .kind = g->in->kind};

	memcpy(key.file, g->in->file, sizeof(key.file));
	key.group = g->in->device		  ? GROUP_DEVICE
		    : !(range->what & RANGE_FILE) ? GROUP_ANON
		    : g->in->shmem		  ? GROUP_SHMEM
						  : GROUP_FILE;
	return key;
}

static struct owner_process process_at(const struct target *t, __u64 ns)
{
	return (struct owner_process){t->id.pid, t->id.start_ns, ns};
}

/*
 * Finds who made a page resident in a process: by the page itself, by the nearest page of the same
 * file or of the same huge page, or by the huge page that it was part of.
 */
static struct owner_entry *find_owner(const struct reading *g, const struct owner_process *of,
				      __u64 page)
{
	const struct owners *o = &g->r->owners;
	struct owner_entry *e = owners_find(o, of, FS_RESIDENT_PAGE, page);

	if (!e && (g->in->filed || g->collapsed))
		e = owners_nearest(o, of, page);
	if (!e)
		e = owners_find(o, of, FS_RESIDENT_HUGE, page >> FS_RESIDENT_HUGE_SHIFT);
	return e;
}

static struct owner_entry *find_unit(const struct reading *g, const struct owner_process *of,
				     const struct unit *u)
{
	return u->huge ? owners_find(&g->r->owners, of, FS_RESIDENT_HUGE, u->number)
		       : find_owner(g, of, u->number);
}

/*
 * Finds out who held an inherited unit when it was inherited. Returns false if no ancestor had it.
 * key->stack is -1 if an ancestor had it, but the stack is not known.
 */
static bool inherit(const struct reading *g, const struct unit *u, struct row_key *key)
{
	__u64 forked_ns = g->t->forked_ns;

	for (int i = 0; i < ANCESTORS && g->ancestor[i]; i++) {
		const struct target *of = g->ancestor[i];
		const struct owner_process then = process_at(of, forked_ns);
		struct owner_entry *e = find_unit(g, &then, u);

		if (e)
			e->seen = true;
		if (!e && !unit_sets_have(&of->before, u)) {
			forked_ns = of->forked_ns;
			continue;
		}
		key->by = RESIDENT_INHERITED;
		key->toucher = of->id;
		if (e && e->is.since_ns <= forked_ns)
			key->stack = e->is.stack;
		else if (e && e->is.how == FS_RESIDENT_COPIED)
			key->stack = e->is.before; /* the ancestor has a copy since the fork */
		return true;
	}
	return false;
}

/*
 * Finds the owner of a unit that was touched while the process was read, after the owners were
 * copied.
 */
static bool find_late(const struct reading *g, const struct unit *u, struct row_key *key)
{
	const struct owner_process now = process_at(g->t, OWNER_NOW);
	struct owner_entry e;

	if (!owners_read_one(&g->r->owners, &now, u->huge ? FS_RESIDENT_HUGE : FS_RESIDENT_PAGE,
			     u->number, &e) ||
	    e.is.stack < 0)
		return false;
	key->stack = e.is.stack;
	key->toucher = g->p->id;
	key->by = e.is.how == FS_RESIDENT_COPIED && !g->in->filed ? RESIDENT_COPIED
								  : RESIDENT_TOUCHED;
	return true;
}

/* Fills in that no stack is known for a unit, and keeps it in mind if it was there before. */
static int note_unknown(struct reading *g, const struct unit *u, struct row_key *key)
{
	bool inherited, was;

	key->stack = key->before = -1;
	inherited = inherit(g, u, key);
	if (inherited && key->stack >= 0)
		return 0;
	was = g->t->first_ns ? unit_sets_have(&g->t->before, u) : !g->p->born;
	was = was || unit_sets_have(&g->t->earlier, u);
	if (!inherited && !was && find_late(g, u, key))
		return 0;
	if (!inherited)
		key->by = !was		     ? RESIDENT_NO_FAULT
			  : g->t->parent.pid ? RESIDENT_INHERITED
					     : RESIDENT_BEFORE;
	return inherited || was ? unit_sets_add(&g->before, u) : 0;
}

/*
 * Settles whether the write that an entry describes made a copy of the page. If nobody else used
 * the page any more, the kernel let the process write to it, and the frame is still the same.
 */
static void settle_copy(struct reading *g, struct owner_entry *e, const struct page_range *range,
			__u64 page)
{
	__u64 frame = !e->is.frame ? 0 : range->frame ?: page_frame(&g->pages, page);

	if (!frame)
		return;
	if (frame == e->is.frame) {
		e->is.how = FS_RESIDENT_TOUCHED;
		e->is.stack = e->is.before;
	}
	e->is.frame = 0;
	owners_change(&g->r->owners, e);
}

/*
 * Returns whether an entry is not of this page, but of a page nearby, and the page was in memory
 * before it was watched. The fault of the other page then did not add this page. The entry of a
 * huge page does not count: at its fault, none of the pages of the huge page was in memory.
 */
static bool is_older(const struct reading *g, const struct owner_entry *e, const struct unit *u)
{
	return e->key.unit == FS_RESIDENT_PAGE && e->key.number != u->number &&
	       unit_sets_have(&g->t->before, u);
}

static int take_page(struct reading *g, const struct page_range *range, __u64 page)
{
	const struct owner_process now = process_at(g->t, OWNER_NOW);
	struct owner_entry *e = find_owner(g, &now, page);
	const struct unit unit = {.number = page};
	struct row_key key = key_of(g, range);
	int err = 0;

	if (e)
		e->seen = true;
	if (e && is_older(g, e, &unit))
		e = NULL;
	if (e && e->is.how == FS_RESIDENT_COPIED && e->key.number == page)
		settle_copy(g, e, range, page);
	if (e && e->is.stack >= 0) {
		key.stack = e->is.stack;
		/* a private copy of a file's page is new memory, also without a fork */
		key.by = e->is.how == FS_RESIDENT_COPIED && !g->in->filed ? RESIDENT_COPIED
									  : RESIDENT_TOUCHED;
		key.before = key.by == RESIDENT_COPIED ? e->is.before : -1;
	} else {
		err = note_unknown(g, &unit, &key);
		if (e && key.by == RESIDENT_NO_FAULT)
			key.by = RESIDENT_TOUCHED;
	}
	return err ?: held_add_page(&g->rows, &key, range->what & RANGE_SWAPPED);
}

static int take_pages(struct reading *g, const struct page_range *range, __u64 from, __u64 to)
{
	int err = 0;

	for (__u64 page = from; page < to && !err; page++)
		if (is_chosen_page(g->r, page) &&
		    (!(range->what & RANGE_FILE) || is_chosen_range(g->r, page)))
			err = take_page(g, range, page);
	return err;
}

/* Takes the pages of a huge page one by one. */
static int take_parts(struct reading *g, const struct page_range *range, __u64 huge)
{
	int err;

	g->collapsed = true;
	err = take_pages(g, range, huge << FS_RESIDENT_HUGE_SHIFT,
			 (huge + 1) << FS_RESIDENT_HUGE_SHIFT);
	g->collapsed = false;
	return err;
}

/*
 * Takes a huge page. Its pages are taken one by one if parts of it were touched on their own, or if
 * it has no owner. Without an owner, the kernel may have made it from small pages: these were in
 * memory before they were watched, or no chosen one of them was touched.
 */
static int take_huge(struct reading *g, const struct page_range *range, __u64 huge)
{
	const struct owner_process now = process_at(g->t, OWNER_NOW);
	const struct owners *o = &g->r->owners;
	struct owner_entry *e = owners_find(o, &now, FS_RESIDENT_HUGE, huge);
	const struct unit unit = {.number = huge, .huge = true};
	struct row_key key = key_of(g, range);
	int err = 0;

	if (owners_within(o, &now, huge, e ? e->is.since_ns : 0))
		return take_parts(g, range, huge);
	if (e) {
		e->seen = true;
		key.stack = e->is.stack;
		key.by = RESIDENT_TOUCHED;
	} else {
		err = note_unknown(g, &unit, &key);
		if (!err && key.by == RESIDENT_NO_FAULT)
			return take_parts(g, range, huge);
	}
	return err ?: held_add_huge(&g->rows, &key, HUGE_BYTES);
}

static int take_range(void *ctx, const struct page_range *range)
{
	const __u64 pages = 1 << FS_RESIDENT_HUGE_SHIFT;
	struct reading *g = ctx;
	__u64 at = range->from;
	int err = 0;

	if (!(range->what & RANGE_HUGE) || range->what & RANGE_SWAPPED)
		return take_pages(g, range, range->from, range->to);
	while (at < range->to && !err) {
		__u64 end = (at / pages + 1) * pages;

		if (at % pages || end > range->to) {
			end = end < range->to ? end : range->to;
			err = take_pages(g, range, at, end);
		} else {
			err = take_huge(g, range, at / pages);
		}
		at = end;
	}
	return err;
}

/* Reads the kernel's totals of a process. Returns 0 or -errno. */
static int read_totals(__u32 pid, struct resident_sum_record *ret)
{
	const struct {
		const char *name;
		__u64 *to;
	} rows[] = {
		{"RssAnon:", &ret->anon_bytes},		{"RssFile:", &ret->file_bytes},
		{"RssShmem:", &ret->shmem_bytes},	{"VmSwap:", &ret->swap_bytes},
		{"HugetlbPages:", &ret->hugetlb_bytes},
	};
	unsigned long long kib;
	char path[40], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", alive_thread(pid));
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (!strncmp(line, rows[i].name, strlen(rows[i].name)) &&
			    sscanf(line + strlen(rows[i].name), "%llu", &kib) == 1)
				*rows[i].to = kib << 10;
	fclose(f);
	return 0;
}

static bool is_wanted(const void *ctx, uint64_t page)
{
	const struct reading *g = ctx;

	return is_chosen_page(g->r, page);
}

/* Asks the kernel about pages of the mapping `in`, which holds the mmap_lock of the process. */
static int ask_pages(struct reading *g, __u64 from, __u64 to)
{
	return page_ranges_read(&g->pages, from, to, is_wanted, take_range, g);
}

/* Takes a page about which the kernel was asked, and keeps the answer in mind. */
static int take_answer(void *ctx, const struct page_range *range)
{
	struct reading *g = ctx;
	struct page_range answer = *range;
	int err = 0;

	answer.frame = g->frame;
	if (answer.frame)
		err = known_frames_add(&g->frames, &answer);
	return err ?: take_range(g, &answer);
}

/*
 * Takes a page of a private mapping of a file. The page table does not say whether it is one of the
 * file, or a private copy.
 */
static int take_private(struct reading *g, const struct page_range *page)
{
	const struct page_range *known = known_frames_find(&g->t->frames, page->from, page->frame);

	g->frame = page->frame;
	return known ? take_answer(g, known)
		     : page_ranges_read(&g->pages, page->from, page->to, is_wanted, take_answer, g);
}

static bool is_private_file(const struct mapping *m)
{
	return m->filed && !m->shared;
}

/* Takes what a page table says about a page. */
static int take_read(void *ctx, const struct fs_page_read *page)
{
	const __u64 pages = 1 << FS_RESIDENT_HUGE_SHIFT;
	struct reading *g = ctx;
	const struct mappings *m = &g->r->mappings;
	struct page_range range = {.from = page->page, .to = page->page + 1, .frame = page->frame};

	while (g->nth < m->n && m->one[g->nth].to <= page->page)
		g->nth++;
	if (g->nth >= m->n || m->one[g->nth].from > page->page)
		return 0;
	g->in = &m->one[g->nth];
	if (page->what & FS_PAGE_HUGE) {
		range.to = (page->page / pages + 1) * pages;
		range.what |= RANGE_HUGE;
	}
	if (range.to > g->in->to)
		range.to = g->in->to;
	if (page->what & FS_PAGE_UNKNOWN || (page->what & FS_PAGE_HUGE && is_private_file(g->in)))
		return ask_pages(g, range.from, range.to);
	if (is_private_file(g->in))
		return take_private(g, &range);
	range.what |= page->what & FS_PAGE_SWAPPED ? RANGE_SWAPPED : RANGE_PRESENT;
	if (g->in->shared && !g->in->device)
		range.what |= RANGE_FILE;
	return take_range(g, &range);
}

static int read_pages(struct reading *g)
{
	const struct mappings *m = &g->r->mappings;
	int err = 0;

	if (g->r->has_tables && alive_thread(g->p->pid) == g->p->pid)
		return page_tables_read(&g->r->tables, g->p->pid, m->one[0].from,
					m->one[m->n - 1].to, &g->t->memory, take_read, g);
	for (size_t i = 0; i < m->n && !err; i++) {
		g->in = &m->one[i];
		err = ask_pages(g, g->in->from, g->in->to);
	}
	return err;
}

/* Replaces the sets of the target by what was found of them. */
static void keep_sets(struct reading *g)
{
	unit_sets_replace(&g->t->earlier, &g->t->before);
	unit_sets_replace(&g->t->before, &g->before);
	known_frames_replace(&g->t->frames, &g->frames);
}

static void find_ancestors(struct reading *g)
{
	const struct target *t = g->t;

	for (int i = 0; i < ANCESTORS && t && t->parent.pid; i++) {
		t = find_target(g->r, &t->parent);
		g->ancestor[i] = t;
	}
}

static int read_target(struct resident *r, struct target *t, const struct resident_process *p,
		       const struct sink *sink)
{
	struct reading g = {.r = r,
			    .t = t,
			    .p = p,
			    .pages = {.fd = t->pagemap, .zero_frame = r->config.zero_frame}};
	struct resident_sum_record sum = {.h = {RECORD_RESIDENT_SUM, sizeof(sum)},
					  .subject = p->id,
					  .each = r->each,
					  .lost = r->shared->resident_lost};
	__u64 began = cpu_ns(), now = host_monotonic_ns();
	int err = mappings_read(&r->mappings, p->pid);

	find_ancestors(&g);
	err = err ?: held_open(&g.rows);
	err = err ?: read_pages(&g);
	err = err ?: read_totals(p->pid, &sum);
	keep_sets(&g);
	if (!t->first_ns)
		t->first_ns = now;
	t->read = true;
	sum.watched_ns = now - t->first_ns;
	sum.took_ns = cpu_ns() - began;
	err = err ?: held_send(&g.rows, &sum, sink);
	held_free(&g.rows);
	return err;
}

int resident_read(struct resident *r, const struct resident_process *p, const struct sink *sink)
{
	struct target *t = find_target(r, &p->id);
	int err;

	if (!t)
		t = add_target(r, p, &err);
	if (!t)
		return err;
	err = t->execs != p->execs ? begin_again(t, p) : 0;
	return err ?: read_target(r, t, p, sink);
}

/* Returns whether the page of an entry would still be chosen. */
static bool stays_chosen(const struct resident *r, const struct owner_entry *e)
{
	return e->key.unit == FS_RESIDENT_HUGE || is_chosen_page(r, e->key.number) ||
	       (e->is.area && is_chosen_range(r, e->key.number));
}

static void close_ended(struct resident *r, struct target *t)
{
	close(t->pagemap);
	t->pagemap = -1;
	resident_unwant(r, &t->id);
}

/* Forgets processes that have ended, except those whose children may have inherited pages. */
static void forget_ended(struct resident *r, resident_ended_fn *has_ended, void *ctx)
{
	struct target *parent;

	for (size_t i = 0; i < r->n; i++)
		r->target[i].has_children = false;
	for (size_t i = 0; i < r->n; i++) {
		parent = r->target[i].parent.pid ? find_target(r, &r->target[i].parent) : NULL;
		if (parent)
			parent->has_children = true;
	}
	for (size_t i = 0; i < r->n;) {
		struct target *t = &r->target[i];
		bool ended = !t->read && has_ended(ctx, &t->id);

		if (!ended || t->has_children) {
			if (ended && t->pagemap >= 0)
				close_ended(r, t);
			i++;
			continue;
		}
		if (t->pagemap >= 0)
			close_ended(r, t);
		close_target(t);
		*t = r->target[--r->n];
	}
}

/*
 * Returns whether no page of a process can be found with its entries any more: the process was read
 * in this round, or it has ended.
 */
static bool is_settled(const struct resident *r, const struct process_key *of,
		       resident_ended_fn *has_ended, void *ctx)
{
	const struct target *t = find_target(r, of);

	return t ? t->read || t->pagemap < 0 : has_ended(ctx, of);
}

/* Makes room in the kernel's map. Entries of one process are next to each other. */
static void drop_entries(struct resident *r, resident_ended_fn *has_ended, void *ctx)
{
	struct owners *o = &r->owners;
	struct process_key of = {};
	bool settled = false;

	for (size_t i = 0; i < o->n; i++) {
		const struct owner_entry *e = &o->entry[i];

		if (of.pid != e->key.pid || of.start_ns != e->is.start_ns) {
			of = (struct process_key){.start_ns = e->is.start_ns, .pid = e->key.pid};
			settled = is_settled(r, &of, has_ended, ctx);
		}
		if ((settled && !e->seen) || !stays_chosen(r, e))
			owners_drop(o, e, r->round_ns);
	}
}

int resident_finish(struct resident *r, resident_ended_fn *has_ended, void *ctx)
{
	const struct owners *o = &r->owners;

	forget_ended(r, has_ended, ctx);
	if (o->n > FS_RESIDENT_PAGES / 4 * 3 && r->each < EACH_MOST)
		choose_each(r, r->each * 2);
	if (o->n >= FS_RESIDENT_PAGES / 4)
		drop_entries(r, has_ended, ctx);
	return 0;
}
