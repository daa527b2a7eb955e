// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what user space writes into the BPF maps of unwind tables, and when: lists of mappings,
 * rows, rules, and the lists that an unwinder makes for this process.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <libelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_maps.h"
#include "tap.h"
#include "unwind/memory_step.h"
#include "unwind/unwinder.h"

#define ROWS_OF_CHUNK FS_UNWIND_CHUNK_ROWS
#define CHUNK_BYTES   (ROWS_OF_CHUNK * sizeof(struct fs_unwind_row))
#define REST	      EXTENTS_REST_NS

static struct made_map *procs, *epochs, *chunks, *areas, *tables, *rule_table, *pythons;
static const struct bpf_object *object = (const struct bpf_object *)&object;
static int chunk_err; /* makes new chunks fail */

/* Makes the map of a chunk. It is a memfd, which can be mapped as the map could. */
int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 most,
		   const struct bpf_map_create_opts *opts)
{
	int fd;

	if (chunk_err)
		return made_error(chunk_err);
	if (type != BPF_MAP_TYPE_ARRAY || key != sizeof(__u32) || value != CHUNK_BYTES ||
	    most != 1 || opts->map_flags != BPF_F_MMAPABLE)
		return made_error(EINVAL);
	fd = memfd_create(name, MFD_CLOEXEC);
	return fd >= 0 && ftruncate(fd, value) ? -1 : fd;
}

static void clear_maps(void)
{
	made_clear(procs);
	made_clear(epochs);
	made_clear(chunks);
}

static struct unwind_maps opened(void)
{
	struct unwind_maps m;

	clear_maps();
	if (unwind_maps_open(&m, object))
		abort();
	return m;
}

static struct fs_unwind_proc proc_of(pid_t pid)
{
	struct fs_unwind_proc p = {};

	if (bpf_map_lookup_elem(procs->fd, &pid, &p))
		p.first = ~0;
	return p;
}

static void put_epoch(pid_t pid, const struct fs_unwind_epoch *e)
{
	bpf_map_update_elem(epochs->fd, &pid, e, BPF_ANY);
}

static void test_open(void)
{
	static const struct {
		const char *name;
		int err;
	} missing[] = {{"unwind_procs", -ENOENT}, {"unwind_epochs", -ENOENT},
		       {"unwind_rows", -ENOENT},  {"unwind_areas", -ENOMEM},
		       {"unwind_pages", -ENOMEM}, {"unwind_rules", -ENOMEM},
		       {"unwind_pythons", 0}};
	struct unwind_maps m;

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		struct made_map *map = made_by_name(missing[i].name);

		map->name = "other";
		ok(unwind_maps_open(&m, object) == missing[i].err, "an object without %s",
		   missing[i].name);
		ok(missing[i].err ? !m.area && !m.page && !m.rule : m.area && !m.python,
		   "what is mapped then");
		unwind_maps_close(&m);
		map->name = missing[i].name;
	}
	m = opened();
	is_u64(m.chunks_max, FS_UNWIND_CHUNKS, "maximum number of chunks");
	is_u64(unwind_maps_bytes(&m), 0, "no chunk is made yet");
	ok(m.area && m.page && m.rule && m.python, "memory is mapped");
	unwind_maps_unmap(&m);
	ok(!m.area && !m.page && !m.rule && !m.python, "memory is not mapped");
	unwind_maps_close(&m);
}

/* ---- lists of mappings ---- */

static void test_begin(void)
{
	struct unwind_maps m = opened();
	struct fs_unwind_epoch e = {.valid_ns = 1}, kept = {.valid_ns = 5, .mapped = 3};
	struct fs_unwind_proc old = {.first = 9, .areas = 2, .generation = 4, .changed = 1};
	pid_t pid = 100;

	ok(!unwind_maps_begin(&m, pid, &e), "a new process");
	ok(!e.valid_ns && !e.mapped, "nothing happened to it");
	ok(!proc_of(pid).areas && !proc_of(pid).first, "it has no list");
	put_epoch(pid, &kept);
	bpf_map_update_elem(procs->fd, &pid, &old, BPF_ANY);
	ok(!unwind_maps_begin(&m, pid, &e), "a known process");
	ok(e.valid_ns == 5 && e.mapped == 3, "what happened to it");
	ok(proc_of(pid).first == 9 && proc_of(pid).areas == 2 && proc_of(pid).generation == 4 &&
		   !proc_of(pid).changed,
	   "its list is kept, and is not changed yet");
	unwind_maps_end(&m, pid);
	ok(!procs->n && !epochs->n, "its entries are removed");
	ok(unwind_maps_epoch(&m, pid, &e) == -ENOENT, "it has ended");
	unwind_maps_close(&m);
}

static const struct fs_unwind_area three[] = {{0x1000, 0x3000, 0x1000, 5, 1},
					      {0x4000, 0x5000, 0x4000, 6, 2},
					      {0x8000, 0x9000, 0x8000, 7, 3}};

static void test_publish(void)
{
	struct unwind_maps m = opened();
	struct fs_python python = {};
	struct unwind_given given;
	struct fs_unwind_epoch begun, e;
	struct fs_unwind_proc p;
	pid_t pid = 100;

	memset(&python, 7, sizeof(python));
	ok(unwind_maps_publish(&m, pid, &(struct fs_unwind_epoch){}, three, 3, NULL, 1, &given) ==
		   -ENOENT,
	   "a process that has ended");
	unwind_maps_begin(&m, pid, &begun);
	p = proc_of(pid);
	p.changed = 6; /* after user space began to read */
	bpf_map_update_elem(procs->fd, &pid, &p, BPF_ANY);
	ok(!unwind_maps_publish(&m, pid, &begun, three, 3, &python, 2, &given), "a list is given");
	p = proc_of(pid);
	ok(p.first == given.first && p.areas == 3 && given.areas == 3, "where it is");
	is_u64(p.generation, 2, "number of the list");
	is_u64(given.generation, 2, "number of the list for the caller");
	ok(p.changed == 6 && !p.valid_ns, "its mappings changed meanwhile");
	ok(!memcmp(m.area + p.first, three, sizeof(three)), "the mappings");
	ok(p.python == 1 && given.python == 1 && !memcmp(&m.python[1], &python, sizeof(python)),
	   "its CPython");
	unwind_maps_begin(&m, pid, &begun);
	e = begun;
	e.valid_ns = 40;
	put_epoch(pid, &e);
	ok(unwind_maps_publish(&m, pid, &begun, three, 3, &python, 3, &given) == -ESTALE,
	   "a process that runs another program");
	ok(!unwind_maps_publish(&m, pid, &e, three, 2, NULL, 4, &given), "the next list");
	p = proc_of(pid);
	ok(p.valid_ns == 40 && p.areas == 2 && p.generation == 4 && !p.python, "without a CPython");
	ok(unwind_maps_publish(&m, pid, &e, three, FS_UNWIND_AREAS + 1, NULL, 5, &given) == -E2BIG,
	   "too many mappings");
	unwind_maps_close(&m);
}

/* Lists that were dropped, and those that could not be given, make room again. */
static void test_room_for_lists(void)
{
	struct fs_unwind_area *all = calloc(FS_UNWIND_AREAS, sizeof(*all));
	struct unwind_maps m = opened();
	struct fs_python python = {};
	struct unwind_given given, next;
	struct fs_unwind_epoch begun;
	pid_t pid = 100, ended = 101;
	__u32 taken = 0;

	unwind_maps_begin(&m, pid, &begun);
	ok(!unwind_maps_publish(&m, pid, &begun, all, FS_UNWIND_AREAS, NULL, 1, &given),
	   "the longest list");
	ok(unwind_maps_publish(&m, pid, &begun, all, 1, NULL, 1, &next) == -E2BIG, "no more room");
	unwind_maps_drop_areas(&m, &given, 1);
	ok(unwind_maps_publish(&m, pid, &begun, all, 1, NULL, REST, &next) == -E2BIG,
	   "a dropped list rests");
	ok(unwind_maps_publish(&m, ended, &begun, all, FS_UNWIND_AREAS, NULL, 2 + REST, &next) ==
		   -ENOENT,
	   "a process that has ended");
	while (taken < FS_PYTHONS - 1 &&
	       !unwind_maps_publish(&m, pid, &begun, all, 1, &python, 3 + 2 * REST, &given) &&
	       given.python == taken + 1)
		taken++;
	is_u64(taken, FS_PYTHONS - 1, "entries for CPython, in order");
	ok(!unwind_maps_publish(&m, pid, &begun, all, 1, &python, 3 + 2 * REST, &next) &&
		   !next.python,
	   "no room for another CPython: only native frames");
	unwind_maps_drop_areas(&m, &given, 3 + 2 * REST);
	ok(!unwind_maps_publish(&m, pid, &begun, all, 1, &python, 4 + 4 * REST, &next) &&
		   next.python == FS_PYTHONS - 1,
	   "the place of a CPython that was dropped");
	unwind_maps_close(&m);
	free(all);
}

static void test_hidden(void)
{
	static const struct {
		__u32 since, mapped;
		bool fits;
		__u32 hidden; /* bits of the mappings that are hidden */
	} rows[] = {{0, 0, true, 0}, {0, 1, true, 1},  {1, 2, true, 2},	 {0, 3, true, 7},
		    {2, 3, true, 4}, {3, 4, true, 0},  {0, 8, true, 7},	 {0, 9, false, 0},
		    {1, 9, true, 7}, {~0, 1, true, 1}, {5, 14, false, 0}};
	/* the second mapping begins at 0x4000; 0x3000 is the first address after the first one */
	const struct fs_unwind_epoch at = {
		.mapped_at = {0x2fff, 0x4000, 0x8001, 0x3000, 0x3fff, 0xfff, 0x9000, 0x5000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fs_unwind_area area[3];
		struct fs_unwind_epoch now = at;
		__u32 hidden = 0;

		memcpy(area, three, sizeof(area));
		now.mapped = rows[i].mapped;
		ok(unwind_epoch_hide(&now, rows[i].since, area, 3) == rows[i].fits,
		   "row %zu: whether all calls are known", i);
		for (int k = 0; k < 3; k++)
			hidden |= (area[k].pages == FS_UNWIND_NO_TABLE) << k;
		is_u64(hidden, rows[i].hidden, "mappings that are hidden");
	}
}

/* After too many calls that mapped code, only mappings of the old list have a table. */
static void test_old_mappings(void)
{
	const struct fs_unwind_area later[] = {{0x1000, 0x3000, 0x1000, 5, 1},
					       {0x4000, 0x6000, 0x4000, 6, 2},
					       {0x7000, 0x9000, 0x8000, 7, 3},
					       {0xa000, 0xb000, 0xa000, 8, 4}};
	struct unwind_maps m = opened();
	struct fs_unwind_epoch begun, now;
	struct unwind_given given;
	const struct fs_unwind_area *got;
	pid_t pid = 100;

	unwind_maps_begin(&m, pid, &begun);
	unwind_maps_publish(&m, pid, &begun, three, 3, NULL, 1, &given);
	now = begun;
	now.mapped = begun.mapped + FS_UNWIND_MAPPED + 1;
	put_epoch(pid, &now);
	ok(!unwind_maps_publish(&m, pid, &begun, later, 4, NULL, 2, &given), "a later list");
	got = m.area + given.first;
	is_u64(got[0].pages, 1, "a mapping that is in both lists");
	is_u64(got[1].pages, FS_UNWIND_NO_TABLE, "another end");
	is_u64(got[2].pages, FS_UNWIND_NO_TABLE, "another start");
	is_u64(got[3].pages, FS_UNWIND_NO_TABLE, "a new mapping");
	now.mapped = begun.mapped + 1;
	now.mapped_at[begun.mapped % FS_UNWIND_MAPPED] = 0xa800;
	put_epoch(pid, &now);
	ok(!unwind_maps_publish(&m, pid, &begun, later, 4, NULL, 3, &given), "one call");
	got = m.area + given.first;
	ok(got[1].pages == 2 && got[2].pages == 3 && got[3].pages == FS_UNWIND_NO_TABLE,
	   "only the mapping of this call has no table");
	unwind_maps_close(&m);
}

struct seen {
	pid_t pid[8];
	__u32 first[8];
	int n;
	struct unwind_maps *ends; /* removes each process */
};

static void see(void *ctx, pid_t pid, const struct fs_unwind_proc *p)
{
	struct seen *s = ctx;

	if (s->n < 8) {
		s->pid[s->n] = pid;
		s->first[s->n++] = p->first;
	}
	if (s->ends)
		unwind_maps_end(s->ends, pid);
}

static void test_each(void)
{
	struct unwind_maps m = opened();
	struct seen s = {};
	int sum = 0;

	for (pid_t pid = 100; pid < 105; pid++)
		bpf_map_update_elem(procs->fd, &pid, &(struct fs_unwind_proc){.first = pid},
				    BPF_ANY);
	unwind_maps_each(&m, see, &s);
	for (int i = 0; i < s.n; i++)
		sum += s.pid[i] + 1000 * (s.first[i] == (__u32)s.pid[i]);
	is_u64(s.n, 5, "number of processes");
	is_u64(sum, 5 * 102 + 5000, "processes and their lists");
	s = (struct seen){.ends = &m};
	unwind_maps_each(&m, see, &s);
	ok(s.n == 5 && !procs->n, "all processes are removed");
	unwind_maps_close(&m);
}

/* ---- tables ---- */

/* Makes a table of pages with these numbers of rows; row i of all has the rule `rule` + i. */
static struct unwind_table made_table(const __u32 *rows, size_t n, __u16 rule)
{
	struct unwind_table t = {};
	size_t all = 0;

	t.rows.pages = n;
	t.rows.page = calloc(n, sizeof(*t.rows.page));
	for (size_t i = 0; i < n; i++) {
		t.rows.page[i] = (struct fs_unwind_page){all, rows[i]};
		all += rows[i];
	}
	t.rows.row = calloc(all, sizeof(*t.rows.row));
	for (size_t i = 0; i < all; i++) {
		t.rows.row[i].pc = i - t.rows.page[0].rows * (i >= rows[0]);
		t.rows.row[i].rule = rule + i;
	}
	return t;
}

static void free_table(struct unwind_table *t)
{
	free(t->rows.page);
	free(t->rows.row);
}

static void test_tables(void)
{
	static const __u32 pages[] = {3, 2};
	struct unwind_maps m = opened();
	struct unwind_table t = made_table(pages, 2, 10);
	struct rule_set rules;
	struct unwind_place place;
	struct fs_unwind_rule rule;
	struct fs_unwind_area area;
	__u64 left = 1;
	int wrong = 0;

	rule_set_init(&rules);
	while (rules.n < 20)
		rule_set_add(&rules, (struct fs_unwind_rule){.cfa_off = rules.n});
	unwind_maps_add_rules(&m, &rules);
	for (size_t i = 0; i < rules.n; i++)
		wrong += memcmp(&m.rule[i], &rules.rule[i], sizeof(rules.rule[i])) != 0;
	is_u64(wrong, 0, "all rules are copied");
	ok(!unwind_maps_begin_table(&m, &t, 1, &place), "there is room for the pages");
	is_u64(place.pages, 2, "number of pages");
	ok(unwind_maps_go_on_table(&m, &t, 1, &place, &left) == -EAGAIN, "the first part");
	ok(!left && place.done == 1, "one page is copied");
	left = 1000000;
	ok(!unwind_maps_go_on_table(&m, &t, 1, &place, &left) && place.done == 2, "the rest");
	is_u64(left, 1000000 - 50, "work that was done: a small page");
	is_u64(unwind_maps_bytes(&m), CHUNK_BYTES, "one chunk is made");
	ok(chunks->n == 1 && m.chunk[0] >= 0, "the program has it");
	area = (struct fs_unwind_area){0x10000, 0x30000, 0x10000, place.first, place.pages};
	for (int i = 0; i < 5; i++) {
		__u64 pc = 0x10000 + (i < 3 ? i : 0x10000 + i - 3);

		if (unwind_maps_find_rule(&m, &area, 1, pc, &rule) != STACK_END_GOES_ON ||
		    rule.cfa_off != m.rule[10 + i].cfa_off)
			wrong++;
	}
	is_u64(wrong, 0, "the rule of each row");
	ok(unwind_maps_find_rule(&m, &area, 1, 0xffff, &rule) == STACK_END_OUTSIDE &&
		   unwind_maps_find_rule(&m, &area, 1, 0x30000, &rule) == STACK_END_OUTSIDE,
	   "addresses outside of the mapping");
	area.pages = 1;
	ok(unwind_maps_find_rule(&m, &area, 1, 0x20000, &rule) == STACK_END_GOES_ON &&
		   !memcmp(&rule, &m.rule[FS_UNWIND_RULE_GAP], sizeof(rule)),
	   "an address after the pages is in a gap");
	area.pages = FS_UNWIND_BY_CHAIN;
	ok(unwind_maps_find_rule(&m, &area, 1, 0x20000, &rule) == STACK_END_GOES_ON &&
		   !memcmp(&rule, &m.rule[FS_UNWIND_RULE_CHAIN], sizeof(rule)),
	   "a file without a table is walked by frame pointers");
	area.pages = FS_UNWIND_NO_TABLE;
	ok(unwind_maps_find_rule(&m, &area, 1, 0x20000, &rule) == STACK_END_MISSING,
	   "the table is not made yet");
	unwind_maps_end_walks(&m);
	unwind_maps_drop_table(&m, &place, 2);
	ok(!place.pages && !place.run, "the table is dropped");
	unwind_maps_trim(&m, REST);
	is_u64(unwind_maps_bytes(&m), CHUNK_BYTES, "rows rest before their chunk is freed");
	unwind_maps_trim(&m, 3 + REST);
	ok(!unwind_maps_bytes(&m) && !chunks->n && m.chunk[0] < 0, "the chunk is freed");
	rule_set_free(&rules);
	free_table(&t);
	unwind_maps_close(&m);
}

static void test_room_for_tables(void)
{
	static const __u32 large[] = {ROWS_OF_CHUNK - 1, 2, 1};
	struct unwind_maps m = opened();
	struct unwind_table t = made_table(large, 3, 0), wide = {.rows.pages = FS_UNWIND_PAGES + 1};
	struct unwind_place place, other;
	__u64 left = 1 << 30;

	ok(unwind_maps_begin_table(&m, &wide, 1, &place) == -E2BIG, "too many pages");
	wide.rows.pages = FS_UNWIND_PAGES;
	ok(!unwind_maps_begin_table(&m, &wide, 1, &place), "as many pages as there are");
	ok(unwind_maps_begin_table(&m, &t, 1, &other) == -E2BIG, "no page is left");
	unwind_maps_drop_table(&m, &place, 1);
	ok(!unwind_maps_begin_table(&m, &t, 2 + REST, &place), "pages are free again");
	ok(!unwind_maps_go_on_table(&m, &t, 2 + REST, &place, &left), "a table in two chunks");
	is_u64(unwind_maps_bytes(&m), 2 * CHUNK_BYTES, "a page is never in two chunks");
	is_u64((1 << 30) - left, 2 * 20000 + 3 * 50 + (ROWS_OF_CHUNK - 1) / 4,
	       "work that was done");
	ok(m.page[place.first].rows == ROWS_OF_CHUNK - 1 && m.page[place.first + 1].rows == 2 &&
		   m.page[place.first + 1].first == ROWS_OF_CHUNK,
	   "where the rows are");
	unwind_maps_drop_table(&m, &place, 2 + REST);
	unwind_maps_trim(&m, 4 + 2 * REST);
	m.chunks_max = 1;
	unwind_maps_begin_table(&m, &t, 5 + 3 * REST, &place);
	ok(unwind_maps_go_on_table(&m, &t, 5 + 3 * REST, &place, &left) == -E2BIG,
	   "the memory for tables is used up");
	ok(!place.pages, "the table is dropped");
	m.chunks_max = 2;
	unwind_maps_trim(&m, 6 + 4 * REST);
	is_u64(unwind_maps_bytes(&m), 0, "its rows are freed");
	chunk_err = EPERM;
	unwind_maps_begin_table(&m, &t, 7 + 5 * REST, &place);
	ok(unwind_maps_go_on_table(&m, &t, 7 + 5 * REST, &place, &left) == -EPERM && !place.pages,
	   "a chunk that the kernel does not make");
	chunk_err = 0;
	unwind_maps_prepare(&m);
	unwind_maps_settle(&m);
	ok(unwind_maps_bytes(&m) == CHUNK_BYTES && chunks->n == 1, "a chunk that a thread makes");
	free_table(&t);
	unwind_maps_close(&m);
}

/* Tests pages at the end of the table of pages, and rows that no chunk has. */
static void test_last_page(void)
{
	struct unwind_maps m = opened();
	struct fs_unwind_area area = {0x10000, 0x30000, 0x10000, FS_UNWIND_PAGES - 1, 2};
	struct unwind_table t = made_table((__u32[]){1}, 1, FS_UNWIND_RULE_END);
	struct unwind_place place;
	struct fs_unwind_rule rule;
	__u64 left = 1000000;

	for (int i = 0; i < FS_UNWIND_FIXED_RULES; i++)
		m.rule[i].cfa = 100 + i;
	unwind_maps_begin_table(&m, &t, 1, &place);
	unwind_maps_go_on_table(&m, &t, 1, &place, &left);
	m.page[FS_UNWIND_PAGES - 1] = m.page[place.first];
	ok(!unwind_maps_find_rule(&m, &area, 1, 0x10000, &rule) &&
		   rule.cfa == 100 + FS_UNWIND_RULE_END,
	   "the last page of all has its rows");
	ok(!unwind_maps_find_rule(&m, &area, 1, 0x20000, &rule) &&
		   rule.cfa == 100 + FS_UNWIND_RULE_GAP,
	   "there is no page behind it");
	m.page[FS_UNWIND_PAGES - 1].first = ROWS_OF_CHUNK;
	ok(!unwind_maps_find_rule(&m, &area, 1, 0x10000, &rule) &&
		   rule.cfa == 100 + FS_UNWIND_RULE_GAP,
	   "rows of a chunk that is not made");
	unwind_maps_end_walks(&m);
	free_table(&t);
	unwind_maps_close(&m);
}

/* Moves what has the descriptor 0, if anything has, so that the next file gets it. */
static void free_descriptor_0(void)
{
	struct made_map *m = made_by_fd(0);

	if (m)
		m->fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
	close(0);
}

static bool is_open_0(void)
{
	return fcntl(0, F_GETFD) >= 0;
}

/* Tests that a map and a chunk may have the descriptor 0: only negative numbers mean none. */
static void test_descriptor_0(void)
{
	struct made_map *all[] = {procs, epochs, chunks, areas, tables, rule_table, pythons};
	struct unwind_table t = made_table((__u32[]){3}, 1, 0);
	struct unwind_place place;
	struct fs_unwind_rule rule;
	struct fs_unwind_area area;
	struct unwind_maps m;
	__u64 left = 1000000;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		int fd;

		free_descriptor_0();
		fd = all[i]->fd;
		all[i]->fd = dup2(fd, 0);
		m = opened();
		ok(m.area && m.page && m.rule && m.python, "%s has the descriptor 0", all[i]->name);
		unwind_maps_close(&m);
		ok(is_open_0(), "it is borrowed");
		all[i]->fd = fd;
		close(0);
	}
	m = opened();
	unwind_maps_begin_table(&m, &t, 1, &place);
	ok(!unwind_maps_go_on_table(&m, &t, 1, &place, &left) && !m.chunk[0], "a chunk has it");
	area = (struct fs_unwind_area){0x10000, 0x20000, 0x10000, place.first, place.pages};
	m.rule[2].cfa = 77;
	ok(!unwind_maps_find_rule(&m, &area, 1, 0x10002, &rule) && rule.cfa == 77, "its rows");
	unwind_maps_end_walks(&m);
	unwind_maps_drop_table(&m, &place, 2);
	unwind_maps_trim(&m, 3 + REST);
	ok(m.chunk[0] < 0 && !is_open_0(), "the chunk is freed");
	unwind_maps_begin_table(&m, &t, 4 + REST, &place);
	unwind_maps_go_on_table(&m, &t, 4 + REST, &place, &left);
	ok(!m.chunk[0] && is_open_0(), "another chunk has it");
	unwind_maps_drop_table(&m, &place, 5 + REST);
	unwind_maps_close(&m);
	ok(!is_open_0(), "which is closed with the maps");
	free_table(&t);
}

/* ---- the unwinder ---- */

/* Returns the key of this process, without its start time. */
static struct process_key own(void)
{
	return (struct process_key){.pid = getpid()};
}

static void work_until_done(struct unwinder *u)
{
	for (int i = 0; i < 10000 && unwinder_work(u, 50000000) >= 0; i++)
		usleep(100);
}

static void test_unwinder(void)
{
	const struct process_key id = own(), gone = {.pid = 0x7ffffff0, .start_ns = 1};
	struct unwinder_figures f, again;
	struct fs_unwind_proc p;
	__u8 build_id[BUILD_ID_BYTES] = {}, other[BUILD_ID_BYTES] = {};
	__u64 offset = 0, next = 0;
	const __u64 here = (uintptr_t)test_unwinder;
	struct unwinder *u;

	clear_maps();
	u = unwinder_new(object);
	ok(u && unwinder_work(u, 1000000) == -1, "there is nothing to do");
	unwinder_note(u, &id);
	unwinder_note(u, &id);
	unwinder_note(u, &gone);
	work_until_done(u);
	unwinder_figures(u, &f);
	is_u64(f.processes, 2, "processes that were read");
	ok(f.files >= 5 && f.tables >= 5 && !f.no_room, "%llu files, %llu tables",
	   (unsigned long long)f.files, (unsigned long long)f.tables);
	ok(f.bytes && f.bytes % CHUNK_BYTES == 0, "memory in chunks");
	ok(f.work_ns >= f.longest_piece_ns && f.longest_piece_ns, "time of the work");
	ok(!f.freed && !f.walked && !f.dropped, "nothing was freed, no stack was walked");
	is_u64(procs->n, 1, "a process that is gone has no entry");
	p = proc_of(getpid());
	ok(p.areas >= 5 && p.generation, "this process has a list");
	ok(unwinder_find(u, p.generation, here, build_id, &offset), "code of this test");
	ok(unwinder_find(u, p.generation, here + 1, other, &next), "the next address");
	ok(!memcmp(build_id, other, sizeof(build_id)) && next == offset + 1, "its file and offset");
	ok(!unwinder_find(u, p.generation + 1, here, other, &next), "another list");
	ok(!unwinder_find(u, p.generation, 16, other, &next), "an address without code");
	ok(unwinder_find(u, p.generation, (uintptr_t)read, other, &next) &&
		   memcmp(build_id, other, sizeof(build_id)),
	   "code of another file");
	unwinder_note(u, &id);
	work_until_done(u);
	unwinder_figures(u, &again);
	is_u64(again.processes, 3, "the process was read again");
	is_u64(again.tables, f.tables, "tables are made once");
	ok(proc_of(getpid()).generation > p.generation, "it has a new list");
	ok(unwinder_find(u, p.generation, here, other, &next) && next == offset,
	   "the old list is still known");
	unwinder_free(u);
}

/* Tests a read whose directory of /proc has the descriptor 0. */
static void test_unwinder_descriptor_0(void)
{
	const struct process_key id = own();
	struct unwinder *u;

	free_descriptor_0();
	clear_maps();
	u = unwinder_new(object);
	unwinder_note(u, &id);
	is_u64(unwinder_work(u, 0), 0, "without time nothing is done, and there is more to do");
	is_u64(procs->n, 0, "no process is read");
	work_until_done(u);
	ok(proc_of(getpid()).areas >= 5, "this process has a list");
	unwinder_free(u);
	ok(!is_open_0(), "the directory is closed");
}

/* Tests a copied stack of a process that is gone. */
static void test_unwinder_copy(void)
{
	static struct stack_copy_record r = {.h = {.len = offsetof(struct stack_copy_record, data)},
					     .subject = {.pid = 0x7ffffff0, .start_ns = 1}};
	struct unwinder_figures f;
	struct unwinder *u;

	clear_maps();
	u = unwinder_new(object);
	ok(!unwinder_waits(u), "no stack waits");
	unwinder_copy(u, &r);
	ok(unwinder_waits(u), "a copied stack waits");
	is_u64(unwinder_work(u, 0), 0, "its process is to be read at once");
	work_until_done(u);
	ok(!unwinder_waits(u), "its process is gone, so it does not wait any more");
	unwinder_figures(u, &f);
	ok(f.processes == 1 && f.dropped == 1 && !f.walked, "it is dropped and counted");
	unwinder_free(u);
}

/* With no memory for tables, mappings have none. */
static void test_no_room(void)
{
	const struct process_key id = own();
	struct unwinder_figures f;
	struct fs_unwind_proc p;
	struct fs_unwind_area *all;
	struct unwinder *u;
	__u32 without = 0;

	clear_maps();
	u = unwinder_new(object);
	unwinder_set_ceiling(u, CHUNK_BYTES - 1);
	unwinder_note(u, &id);
	work_until_done(u);
	unwinder_figures(u, &f);
	ok(f.no_room >= 5 && !f.bytes && !f.tables, "%llu tables have no room",
	   (unsigned long long)f.no_room);
	p = proc_of(getpid());
	all = mmap(NULL, areas->bytes, PROT_READ, MAP_SHARED, areas->fd, 0);
	for (__u32 i = p.first; i < p.first + p.areas; i++)
		without += all[i].pages == FS_UNWIND_FILE_NO_ROOM;
	ok(without >= 5, "%u of %u mappings have no table", without, p.areas);
	munmap(all, areas->bytes);
	unwinder_free(u);
	clear_maps();
	u = unwinder_new(object);
	unwinder_set_ceiling(u, (FS_UNWIND_CHUNKS + 1) * CHUNK_BYTES);
	unwinder_note(u, &id);
	work_until_done(u);
	unwinder_figures(u, &f);
	ok(!f.no_room && f.tables, "with more memory than the maps have");
	unwinder_free(u);
	procs->name = "other";
	ok(!unwinder_new(object), "an object without these maps");
	procs->name = "unwind_procs";
	unwinder_free(NULL);
}

int main(void)
{
	elf_version(EV_CURRENT);
	procs = made_map("unwind_procs", 0, sizeof(pid_t), sizeof(struct fs_unwind_proc),
			 FS_UNWIND_PROCS);
	epochs = made_map("unwind_epochs", 0, sizeof(pid_t), sizeof(struct fs_unwind_epoch),
			  FS_UNWIND_PROCS);
	chunks = made_map("unwind_rows", 0, sizeof(__u32), sizeof(int), FS_UNWIND_CHUNKS);
	areas = made_map("unwind_areas", FS_UNWIND_AREAS * sizeof(struct fs_unwind_area), 0, 0, 0);
	tables = made_map("unwind_pages", FS_UNWIND_PAGES * sizeof(struct fs_unwind_page), 0, 0, 0);
	rule_table =
		made_map("unwind_rules", FS_UNWIND_RULES * sizeof(struct fs_unwind_rule), 0, 0, 0);
	pythons = made_map("unwind_pythons", FS_PYTHONS * sizeof(struct fs_python), 0, 0, 0);
	test_open();
	test_begin();
	test_publish();
	test_room_for_lists();
	test_hidden();
	test_old_mappings();
	test_each();
	test_tables();
	test_room_for_tables();
	test_last_page();
	test_descriptor_0();
	test_unwinder();
	test_unwinder_descriptor_0();
	test_unwinder_copy();
	test_no_room();
	return tap_done();
}
