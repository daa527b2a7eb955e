// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/unwind_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "unwind/memory_step.h"

#define CHUNK_BYTES  (FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row))
#define AREA_BYTES   (FS_UNWIND_AREAS * sizeof(struct fs_unwind_area))
#define PAGE_BYTES   (FS_UNWIND_PAGES * sizeof(struct fs_unwind_page))
#define PYTHON_BYTES (FS_PYTHONS * sizeof(struct fs_python))
#define RULE_BYTES   (FS_UNWIND_RULES * sizeof(struct fs_unwind_rule))

/* work of copying rows, in units of about 10 ns */
#define CHUNK_WORK  20000
#define PAGE_WORK   50
#define ROWS_A_UNIT 4

static int map_fd(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static void *share(int fd, size_t bytes)
{
	void *at =
		fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

void unwind_maps_unmap(struct unwind_maps *m)
{
	if (m->area)
		munmap(m->area, AREA_BYTES);
	if (m->page)
		munmap(m->page, PAGE_BYTES);
	if (m->rule)
		munmap(m->rule, RULE_BYTES);
	if (m->python)
		munmap(m->python, PYTHON_BYTES);
	m->area = NULL;
	m->page = NULL;
	m->rule = NULL;
	m->python = NULL;
}

/* Maps the memory of the BPF maps, if it is not mapped. Returns 0 or -ENOMEM. */
static int map_tables(struct unwind_maps *m)
{
	if (m->area)
		return 0;
	m->area = share(m->area_map, AREA_BYTES);
	m->page = share(m->page_map, PAGE_BYTES);
	m->rule = share(m->rule_map, RULE_BYTES);
	m->python = share(m->python_map, PYTHON_BYTES);
	if (m->area && m->page && m->rule && (m->python || m->python_map < 0))
		return 0;
	unwind_maps_unmap(m);
	return -ENOMEM;
}

/* Reserves the first entry, because index 0 means that a process has no CPython. */
static int init_pythons(struct unwind_maps *m)
{
	__u32 none;

	return extents_init(&m->pythons, FS_PYTHONS, 0)
		       ?: extents_take(&m->pythons, 1, 0, &none) ? 0
								 : -ENOMEM;
}

int unwind_maps_open(struct unwind_maps *m, const struct bpf_object *object)
{
	memset(m, 0, sizeof(*m));
	memset(m->chunk, -1, sizeof(m->chunk));
	m->chunks_max = FS_UNWIND_CHUNKS;
	m->procs = map_fd(object, "unwind_procs");
	m->epochs = map_fd(object, "unwind_epochs");
	m->rows = map_fd(object, "unwind_rows");
	m->area_map = map_fd(object, "unwind_areas");
	m->page_map = map_fd(object, "unwind_pages");
	m->rule_map = map_fd(object, "unwind_rules");
	m->python_map = map_fd(object, "unwind_pythons");
	if (m->procs < 0 || m->epochs < 0 || m->rows < 0)
		return -ENOENT;
	if (map_tables(m)) /* later, too little memory would only delay a table */
		return -ENOMEM;
	return extents_init(&m->areas, FS_UNWIND_AREAS, 0) ?:
	       init_pythons(m) ?:
	       extents_init(&m->pages, FS_UNWIND_PAGES, 0) ?:
	       extents_init(&m->row_space, FS_UNWIND_CHUNKS * FS_UNWIND_CHUNK_ROWS,
			    FS_UNWIND_CHUNK_ROWS);
}

static void close_chunk(struct open_chunk *c)
{
	if (c->row)
		munmap(c->row, CHUNK_BYTES);
	c->row = NULL;
}

void unwind_maps_close(struct unwind_maps *m)
{
	unwind_maps_settle(m);
	unwind_maps_end_walks(m);
	for (int i = 0; i < FS_UNWIND_CHUNKS; i++)
		if (m->chunk[i] >= 0)
			close(m->chunk[i]);
	unwind_maps_unmap(m);
	extents_free(&m->areas);
	extents_free(&m->pages);
	extents_free(&m->pythons);
	extents_free(&m->row_space);
}

static int make_chunk(struct unwind_maps *m, __u32 number)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd, err;

	if (number >= m->chunks_max)
		return -E2BIG;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", sizeof(__u32), CHUNK_BYTES, 1,
			    &opts);
	if (fd < 0)
		return fd;
	err = bpf_map_update_elem(m->rows, &number, &fd, BPF_ANY);
	if (err) {
		close(fd);
		return err;
	}
	m->chunk[number] = fd;
	m->chunks++;
	return 0;
}

static void *make_first_chunk(void *arg)
{
	make_chunk(arg, 0);
	return NULL;
}

void unwind_maps_prepare(struct unwind_maps *m)
{
	m->making = !pthread_create(&m->thread, NULL, make_first_chunk, m);
}

void unwind_maps_settle(struct unwind_maps *m)
{
	if (m->making)
		pthread_join(m->thread, NULL);
	m->making = false;
}

static int open_chunk(struct unwind_maps *m, __u32 number, struct open_chunk *c)
{
	int err = 0;

	if (c->row && c->number == number)
		return 0;
	close_chunk(c);
	unwind_maps_settle(m);
	if (m->chunk[number] < 0)
		err = make_chunk(m, number);
	if (err)
		return err;
	c->number = number;
	c->row = share(m->chunk[number], CHUNK_BYTES);
	return c->row ? 0 : -ENOMEM;
}

static int note_run(struct unwind_place *p, __u32 first, __u32 n)
{
	struct unwind_run *last = p->runs ? &p->run[p->runs - 1] : NULL, *run;

	if (last && last->first + last->n == first) {
		last->n += n;
		return 0;
	}
	run = array_grow(p->run, p->runs, &p->room, UNWIND_PAGES_MAX, sizeof(*run));
	if (!run)
		return -ENOMEM;
	p->run = run;
	p->run[p->runs++] = (struct unwind_run){first, n};
	return 0;
}

static int add_page(struct unwind_maps *m, const struct unwind_table *t, size_t i, __u64 now_ns,
		    struct unwind_place *p, struct open_chunk *c)
{
	const struct fs_unwind_page *from = &t->rows.page[i];
	__u32 first, n = from->rows;
	int err;

	if (!extents_take(&m->row_space, n, now_ns, &first))
		return -E2BIG;
	err = note_run(p, first, n);
	if (err) {
		extents_give(&m->row_space, first, n, now_ns);
		return err;
	}
	err = open_chunk(m, first / FS_UNWIND_CHUNK_ROWS, c);
	if (err)
		return err;
	memcpy(c->row + first % FS_UNWIND_CHUNK_ROWS, t->rows.row + from->first,
	       n * sizeof(*c->row));
	m->page[p->first + i] = (struct fs_unwind_page){first, n};
	return 0;
}

int unwind_maps_begin_table(struct unwind_maps *m, const struct unwind_table *t, __u64 now_ns,
			    struct unwind_place *ret)
{
	*ret = (struct unwind_place){};
	if (t->rows.pages > FS_UNWIND_PAGES ||
	    !extents_take(&m->pages, t->rows.pages, now_ns, &ret->first))
		return -E2BIG;
	ret->pages = t->rows.pages;
	return 0;
}

int unwind_maps_go_on_table(struct unwind_maps *m, const struct unwind_table *t, __u64 now_ns,
			    struct unwind_place *place, __u64 *left)
{
	__u32 chunks = m->chunks;
	struct open_chunk c = {};
	int err = map_tables(m);

	while (!err && place->done < place->pages) {
		__u64 work = t->rows.page[place->done].rows / ROWS_A_UNIT + PAGE_WORK;

		if (!*left) {
			err = -EAGAIN;
			break;
		}
		err = add_page(m, t, place->done++, now_ns, place, &c);
		work += (m->chunks - chunks) * CHUNK_WORK;
		chunks = m->chunks;
		*left -= *left < work ? *left : work;
	}
	close_chunk(&c);
	if (err && err != -EAGAIN)
		unwind_maps_drop_table(m, place, now_ns);
	return err;
}

void unwind_maps_drop_table(struct unwind_maps *m, struct unwind_place *place, __u64 now_ns)
{
	for (size_t i = 0; i < place->runs; i++)
		extents_give(&m->row_space, place->run[i].first, place->run[i].n, now_ns);
	extents_give(&m->pages, place->first, place->pages, now_ns);
	free(place->run);
	*place = (struct unwind_place){};
}

void unwind_maps_trim(struct unwind_maps *m, __u64 now_ns)
{
	unwind_maps_settle(m);
	for (__u32 i = 0; i < FS_UNWIND_CHUNKS; i++) {
		if (m->chunk[i] < 0 || !extents_are_free(&m->row_space, i * FS_UNWIND_CHUNK_ROWS,
							 FS_UNWIND_CHUNK_ROWS, now_ns))
			continue;
		bpf_map_delete_elem(m->rows, &i);
		close(m->chunk[i]);
		m->chunk[i] = -1;
		m->chunks--;
	}
}

void unwind_maps_add_rules(struct unwind_maps *m, struct rule_set *rules)
{
	if (map_tables(m))
		return;
	for (size_t i = rule_set_given(rules); i < rules->n && i < FS_UNWIND_RULES; i++)
		m->rule[i] = rules->rule[i];
}

int unwind_maps_epoch(const struct unwind_maps *m, pid_t tgid, struct fs_unwind_epoch *ret)
{
	return bpf_map_lookup_elem(m->epochs, &tgid, ret);
}

int unwind_maps_begin(struct unwind_maps *m, pid_t tgid, struct fs_unwind_epoch *ret)
{
	struct fs_unwind_proc p = {};

	*ret = (struct fs_unwind_epoch){};
	bpf_map_update_elem(m->epochs, &tgid, ret, BPF_NOEXIST);
	if (!bpf_map_lookup_elem(m->procs, &tgid, &p)) {
		/* if the process runs another program meanwhile, the old list is not valid there */
		p.changed = 0;
		bpf_map_update_elem(m->procs, &tgid, &p, BPF_EXIST);
	} else {
		bpf_map_update_elem(m->procs, &tgid, &p, BPF_NOEXIST);
	}
	return unwind_maps_epoch(m, tgid, ret);
}

static struct fs_unwind_area *find_area(struct fs_unwind_area *area, __u32 areas, __u64 at)
{
	size_t i = array_count_up_to(area, areas, sizeof(*area),
				     offsetof(struct fs_unwind_area, end), at);

	return i < areas && at >= area[i].start ? &area[i] : NULL;
}

bool unwind_epoch_hide(const struct fs_unwind_epoch *now, __u32 since, struct fs_unwind_area *area,
		       __u32 areas)
{
	if (now->mapped - since > FS_UNWIND_MAPPED)
		return false;
	for (; since != now->mapped; since++) {
		struct fs_unwind_area *later =
			find_area(area, areas, now->mapped_at[since % FS_UNWIND_MAPPED]);

		if (later)
			later->pages = FS_UNWIND_NO_TABLE;
	}
	return true;
}

/*
 * Marks the mappings that are not in the old list of the process as having no table. If other code
 * had replaced a mapping of the old list, the list would not be valid any more.
 */
static void keep_old(const struct unwind_maps *m, const struct fs_unwind_proc *old,
		     const struct fs_unwind_epoch *begun, struct fs_unwind_area *area, __u32 areas)
{
	__u32 n = old->valid_ns == begun->valid_ns ? old->areas : 0;

	for (__u32 i = 0; i < areas; i++) {
		const struct fs_unwind_area *same =
			find_area(m->area + old->first, n, area[i].start);

		if (!same || same->start != area[i].start || same->end != area[i].end)
			area[i].pages = FS_UNWIND_NO_TABLE;
	}
}

/* Finds the index of the rule for an address of a mapping with an unwind table. */
static __u32 find_row(struct unwind_maps *m, const struct fs_unwind_area *a, __u64 pc)
{
	__u64 page = (pc - a->origin) >> FS_UNWIND_PAGE_SHIFT;
	struct fs_unwind_page rows;

	if (page >= a->pages || a->first + page >= FS_UNWIND_PAGES)
		return FS_UNWIND_RULE_GAP;
	rows = m->page[a->first + page];
	if (rows.first / FS_UNWIND_CHUNK_ROWS >= FS_UNWIND_CHUNKS ||
	    m->chunk[rows.first / FS_UNWIND_CHUNK_ROWS] < 0 ||
	    open_chunk(m, rows.first / FS_UNWIND_CHUNK_ROWS, &m->walks))
		return FS_UNWIND_RULE_GAP;
	return fs_unwind_find(m->walks.row, rows.first, rows.rows, pc - a->origin,
			      FS_UNWIND_CHUNK_ROWS - 1);
}

enum stack_end unwind_maps_find_rule(struct unwind_maps *m, struct fs_unwind_area *area,
				     __u32 areas, __u64 pc, struct fs_unwind_rule *ret)
{
	const struct fs_unwind_area *a = find_area(area, areas, pc);
	enum stack_end end = a ? fs_unwind_why_no_rows(a) : STACK_END_OUTSIDE;

	if (end)
		return end;
	if (map_tables(m))
		return STACK_END_MISSING;
	*ret = m->rule[a->pages == FS_UNWIND_BY_CHAIN ? FS_UNWIND_RULE_CHAIN : find_row(m, a, pc)];
	return STACK_END_GOES_ON;
}

void unwind_maps_end_walks(struct unwind_maps *m)
{
	close_chunk(&m->walks);
}

static int add_python(struct unwind_maps *m, const struct fs_python *python, __u64 now_ns,
		      __u32 *ret)
{
	if (!m->python || !python)
		return 0;
	if (!extents_take(&m->pythons, 1, now_ns, ret))
		return -E2BIG;
	m->python[*ret] = *python;
	return 0;
}

/* Gives the stored list to a process. */
static int give_list(struct unwind_maps *m, pid_t tgid, const struct fs_unwind_epoch *begun,
		     const struct unwind_given *given)
{
	struct fs_unwind_proc old, p = {.first = given->first,
					.areas = given->areas,
					.generation = given->generation,
					.python = given->python,
					.valid_ns = begun->valid_ns};
	struct fs_unwind_area *area = m->area + given->first;
	struct fs_unwind_epoch now;

	if (unwind_maps_epoch(m, tgid, &now) || bpf_map_lookup_elem(m->procs, &tgid, &old))
		return -ENOENT;
	if (now.valid_ns != begun->valid_ns)
		return -ESTALE;
	if (!unwind_epoch_hide(&now, begun->mapped, area, given->areas))
		keep_old(m, &old, begun, area, given->areas);
	p.changed = old.changed;
	return bpf_map_update_elem(m->procs, &tgid, &p, BPF_EXIST);
}

int unwind_maps_publish(struct unwind_maps *m, pid_t tgid, const struct fs_unwind_epoch *begun,
			const struct fs_unwind_area *area, __u32 areas,
			const struct fs_python *python, __u64 now_ns, struct unwind_given *ret)
{
	int err;

	*ret = (struct unwind_given){};
	if (map_tables(m))
		return -ENOMEM;
	if (areas > FS_UNWIND_AREAS || !extents_take(&m->areas, areas, now_ns, &ret->first))
		return -E2BIG;
	ret->areas = areas;
	ret->generation = ++m->generation;
	memcpy(m->area + ret->first, area, areas * sizeof(*area));
	/* if this fails, stacks have only native frames */
	if (add_python(m, python, now_ns, &ret->python))
		ret->python = 0;
	err = give_list(m, tgid, begun, ret);
	if (err)
		unwind_maps_drop_areas(m, ret, now_ns);
	return err;
}

void unwind_maps_drop_areas(struct unwind_maps *m, const struct unwind_given *given, __u64 now_ns)
{
	extents_give(&m->areas, given->first, given->areas, now_ns);
	if (given->python)
		extents_give(&m->pythons, given->python, 1, now_ns);
}

void unwind_maps_end(struct unwind_maps *m, pid_t tgid)
{
	bpf_map_delete_elem(m->procs, &tgid);
	bpf_map_delete_elem(m->epochs, &tgid);
}

void unwind_maps_each(const struct unwind_maps *m, unwind_proc_fn *each, void *ctx)
{
	struct fs_unwind_proc p;
	__u32 tgid, *before = NULL, key;

	/*
	 * if an entry is deleted during the iteration, the iteration starts again: limit its length
	 */
	for (int i = 0; i < FS_UNWIND_PROCS && !bpf_map_get_next_key(m->procs, before, &tgid);
	     i++) {
		if (!bpf_map_lookup_elem(m->procs, &tgid, &p))
			each(ctx, tgid, &p);
		key = tgid;
		before = &key;
	}
}

size_t unwind_maps_bytes(const struct unwind_maps *m)
{
	return m->chunks * CHUNK_BYTES;
}
