// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: compares stacks that the BPF program walks with those of backtrace(3) in the same
 * function. Threads call chains of functions with frames of all shapes, and make a system call in
 * the innermost function. It prints TAP. The tables of the FILEs are added before those of this
 * program, so that rows are in several chunks.
 *
 * Usage: kernel_walk OBJECT [ROUNDS [FILE...]]
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <libelf.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_walk.h"
#include "shapes.h"
#include "tap.h"
#include "traced_space.h"
#include "unwind/table_maker.h"
#include "unwind/unwind_maps.h"

#define THREADS	     8
#define EXPECTED_MAX 4096 /* maximum number of stacks of a thread */

struct expected {
	int n;
	void *pc[FS_UNWIND_FRAMES];
};

struct walker {
	pthread_t thread;
	pid_t tid;
	long rounds;
	struct expected *expected;
	long asked, compared, equal, cut;
	unsigned long long ns;
	unsigned long long frames;
};

static __thread struct walker *self;
static struct walker walkers[THREADS];
static long ends[NR_STACK_ENDS];

static NOINLINE long at_the_bottom(long x)
{
	struct expected *e = &self->expected[self->asked++ % EXPECTED_MAX];
	long ret;

	e->n = backtrace(e->pc, FS_UNWIND_FRAMES);
	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(WALKED_CALL), "D"(WALKED_MARK)
		     : "rcx", "r11", "memory");
	return ret + x;
}

static void *in_thread(void *arg)
{
	self = arg;
	self->tid = gettid();
	for (long i = 0; i < self->rounds; i++)
		sink += call_next(5 + i % 60, i * (self - walkers + 1));
	return NULL;
}

static void show(const struct walked_stack *s, const struct expected *e)
{
	printf("# differs: %u frames, %s; backtrace(3) %d\n", s->n, unwind_end_name(s->end), e->n);
	for (int i = 0; i < e->n || i < (int)s->n; i++)
		printf("#   %#llx %p\n", i < (int)s->n ? s->pc[i] : 0, i < e->n ? e->pc[i] : NULL);
}

static int take(void *ctx, void *data, size_t size)
{
	const struct walked_stack *s = data;
	struct walker *w = walkers;
	const struct expected *e;
	bool equal;

	while (w < walkers + THREADS && w->tid != (pid_t)s->tid)
		w++;
	if (w == walkers + THREADS)
		return 0;
	e = &w->expected[w->compared++ % EXPECTED_MAX];
	ends[s->end]++;
	w->ns += s->ns;
	w->frames += s->n;
	equal = s->end == STACK_END_ENTRY && (int)s->n == e->n;
	for (int i = 1; equal && i < e->n; i++)
		equal = s->pc[i] == (unsigned long)e->pc[i];
	w->equal += equal;
	if (!equal && w->compared - w->equal < 3)
		show(s, e);
	return 0;
}

static int add_table(struct unwind_maps *m, const struct unwind_table *t, struct unwind_place *ret)
{
	__u64 all = ~0ULL;

	return unwind_maps_begin_table(m, t, 1, ret) ?:
	       unwind_maps_go_on_table(m, t, 1, ret, &all);
}

/* Writes the tables of this process into the BPF maps. */
static bool give_tables(struct unwind_maps *m, struct traced_space *t)
{
	static struct fs_unwind_area area[TRACED_AREAS_MAX];
	struct unwind_place place[TRACED_FILES_MAX] = {};
	struct fs_unwind_epoch begun;
	struct unwind_given given;

	traced_space_update(t);
	for (size_t i = 0; i < t->files->n; i++)
		if (t->files->file[i]->readable &&
		    add_table(m, &t->files->file[i]->table, &place[i]))
			return false;
	for (size_t i = 0; i < t->space.areas; i++) {
		const struct unwind_area *from = &t->area[i];

		area[i] = (struct fs_unwind_area){.start = from->start,
						  .end = from->end,
						  .pages = from->keeps_frame_pointers
								   ? FS_UNWIND_BY_CHAIN
								   : FS_UNWIND_NO_TABLE};
		for (size_t j = 0; from->table && j < t->files->n; j++) {
			if (from->table != &t->files->file[j]->table)
				continue;
			area[i].origin = from->bias + from->table->rows.base;
			area[i].first = place[j].first;
			area[i].pages = from->table->rows.pages;
		}
	}
	for (size_t i = 0; i < t->files->n; i++)
		free(place[i].run);
	unwind_maps_add_rules(m, &t->files->rules);
	return !unwind_maps_begin(m, getpid(), &begun) &&
	       !unwind_maps_publish(m, getpid(), &begun, area, t->space.areas, NULL, 1, &given);
}

/* Reads back each row of a table as the BPF program finds it. Returns the number of wrong rows. */
static long count_wrong_rows(const struct unwind_maps *m, const struct unwind_table *t, __u32 first)
{
	size_t bytes = FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row);
	struct fs_unwind_row *rows = malloc(bytes);
	__u32 have = ~0u, zero = 0, number;
	struct fs_unwind_page page;
	long wrong = 0;

	for (size_t i = 0; rows && i < t->rows.pages; i++) {
		const struct fs_unwind_page *p = &t->rows.page[i];

		page = m->page[first + i];
		if (page.rows != p->rows)
			return -1;
		number = page.first / FS_UNWIND_CHUNK_ROWS;
		if (number != have && bpf_map_lookup_elem(m->chunk[number], &zero, rows))
			return -1;
		have = number;
		wrong += memcmp(rows + page.first % FS_UNWIND_CHUNK_ROWS, t->rows.row + p->first,
				p->rows * sizeof(*rows)) != 0;
	}
	free(rows);
	return wrong;
}

/* Writes the tables of files into the BPF maps, and reads them back. */
static void give_files(struct unwind_maps *m, struct rule_set *rules, char **path, int n)
{
	for (int i = 0; i < n; i++) {
		struct byte_source file = {.fd = open(path[i], O_RDONLY | O_CLOEXEC)};
		struct unwind_place place;
		struct unwind_table t;
		struct stat st = {};

		fstat(file.fd, &st);
		file.bytes = st.st_size;
		if (!ok(!unwind_table_read(&file, rules, &t), "%s is read", path[i]))
			continue;
		is_u64(add_table(m, &t, &place), 0, "its table is given");
		unwind_maps_add_rules(m, rules);
		is_u64(count_wrong_rows(m, &t, place.first), 0, "the maps have the same rows");
		free(place.run);
		printf("# %zu rows, %u chunks in all\n", t.rows.rows, m->chunks);
		unwind_table_free(&t);
		close(file.fd);
	}
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);
	struct bpf_map *map;
	__u32 tgid = getpid();

	if (!o)
		return NULL;
	bpf_object__for_each_map(map, o) if (strstr(bpf_map__name(map), ".rodata"))
		bpf_map__set_initial_value(map, &tgid, sizeof(tgid));
	return bpf_object__load(o) ? NULL : o;
}

int main(int argc, char **argv)
{
	struct traced_files *files = traced_files_new();
	struct traced_space *space = traced_space_new(getpid(), files);
	long rounds = argc > 2 ? atol(argv[2]) : 200;
	long asked = 0, compared = 0, equal = 0;
	unsigned long long ns = 0, frames = 0;
	struct unwind_maps maps;
	struct ring_buffer *ring;
	struct bpf_object *o;
	struct bpf_link *link;
	void *first[1];

	elf_version(EV_CURRENT);
	backtrace(first, 1); /* the first call loads libgcc, which is then in the tables */
	if (argc < 2 || rounds > EXPECTED_MAX || geteuid()) {
		printf("1..0 # SKIP needs root, an object, and at most %d rounds\n", EXPECTED_MAX);
		return argc < 2;
	}
	o = load(argv[1]);
	if (!ok(o != NULL, "the kernel accepts the program"))
		return tap_done();
	if (!ok(!unwind_maps_open(&maps, o), "it has the maps"))
		return tap_done();
	give_files(&maps, &files->rules, argv + 3, argc > 3 ? argc - 3 : 0);
	if (!ok(give_tables(&maps, space), "it has the tables"))
		return tap_done();
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(o, "events"), take, NULL, NULL);
	link = bpf_program__attach(bpf_object__find_program_by_name(o, "on_exit"));
	if (!ok(ring && link, "it is attached"))
		return tap_done();
	for (int i = 0; i < THREADS; i++) {
		walkers[i].rounds = rounds;
		walkers[i].expected = calloc(EXPECTED_MAX, sizeof(struct expected));
		pthread_create(&walkers[i].thread, NULL, in_thread, &walkers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(walkers[i].thread, NULL);
	ring_buffer__consume(ring);
	for (int i = 0; i < THREADS; i++) {
		asked += walkers[i].asked;
		compared += walkers[i].compared;
		equal += walkers[i].equal;
		ns += walkers[i].ns;
		frames += walkers[i].frames;
		free(walkers[i].expected);
	}
	is_u64(compared, asked, "each system call gave a stack");
	is_u64(equal, compared, "each stack is that of backtrace(3)");
	for (int i = 0; i < NR_STACK_ENDS; i++)
		if (ends[i])
			printf("# %s: %ld\n", unwind_end_name(i), ends[i]);
	printf("# %ld stacks, %.1f frames each, %.0f ns each, %.1f ns a frame\n", compared,
	       compared ? (double)frames / compared : 0, compared ? (double)ns / compared : 0,
	       frames ? (double)ns / frames : 0);
	bpf_link__destroy(link);
	ring_buffer__free(ring);
	unwind_maps_close(&maps);
	bpf_object__close(o);
	traced_space_free(space);
	traced_files_free(files);
	return tap_done();
}
