// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the lists of mappings that processes have: which file an address was in, and when a list
 * that no process uses any more is freed. The BPF maps are tables of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_maps.h"
#include "tap.h"
#include "unwind/area_blocks.h"

static struct made_map *procs, *epochs;
static struct unwind_maps m;
static struct area_blocks x;
static struct code_file file[2];
static struct code_mapping mapping[3] = {
	{.start = 0x1000, .end = 0x3000, .offset = 0x500},
	{.start = 0x3000, .end = 0x4000, .offset = 0x700},
	{.start = 0x8000, .end = 0x9000, .offset = 0},
};

static void begin(void)
{
	made_clear(procs);
	made_clear(epochs);
	if (unwind_maps_open(&m, (const struct bpf_object *)&m))
		abort();
	memset(&x, 0, sizeof(x));
	memset(file, 0, sizeof(file));
	memset(file[0].build_id, 'a', BUILD_ID_BYTES);
	file[0].has_build_id = true;
}

static void end(void)
{
	area_blocks_free(&x);
	unwind_maps_close(&m);
}

/* Gives a process a list of three mappings, of which `at` are read. Returns its generation. */
static __u32 publish(pid_t pid, size_t at)
{
	struct fs_unwind_area area[3] = {{.start = 0x1000, .end = 0x3000, .pages = 1},
					 {.start = 0x3000, .end = 0x4000, .pages = 2},
					 {.start = 0x8000, .end = 0x9000, .pages = 3}};
	struct code_file *files[3] = {&file[0], &file[1], NULL};
	struct mapped_code c = {
		.of.pid = pid, .m = mapping, .area = area, .file = files, .n = 3, .at = at};
	struct fs_unwind_proc p;

	unwind_maps_begin(&m, pid, &c.begun);
	if (area_blocks_publish(&x, &m, &c, 1) || bpf_map_lookup_elem(procs->fd, &pid, &p))
		abort();
	return p.generation;
}

static bool has(pid_t pid)
{
	struct fs_unwind_proc p;

	return !bpf_map_lookup_elem(procs->fd, &pid, &p);
}

static void test_addresses(void)
{
	__u8 id[BUILD_ID_BYTES];
	__u32 generation;
	__u64 offset = 0;

	begin();
	generation = publish(getpid(), 2);
	ok(area_blocks_find(&x, generation, 0x1000, id, &offset) && offset == 0x500,
	   "the first address of a mapping");
	ok(!memcmp(id, file[0].build_id, sizeof(id)), "its file");
	ok(area_blocks_find(&x, generation, 0x2fff, id, &offset) && offset == 0x24ff, "the last");
	ok(!area_blocks_find(&x, generation, 0xfff, id, &offset), "an address before");
	ok(!area_blocks_find(&x, generation, 0x3000, id, &offset), "a file without build ID");
	ok(!area_blocks_find(&x, generation, 0x8000, id, &offset), "a mapping that is not read");
	ok(!area_blocks_find(&x, generation + 1, 0x1000, id, &offset), "another list");
	file[1].has_build_id = true;
	memset(file[1].build_id, 'b', BUILD_ID_BYTES);
	ok(area_blocks_find(&x, generation, 0x3000, id, &offset) && offset == 0x700 && id[0] == 'b',
	   "the next mapping");
	end();
}

/* Mappings that are not read yet are marked, so that the BPF program knows that it must wait. */
static void test_rest(void)
{
	struct fs_unwind_proc p;
	pid_t pid = getpid();

	begin();
	publish(pid, 1);
	bpf_map_lookup_elem(procs->fd, &pid, &p);
	is_u64(p.areas, 3, "all mappings are given");
	is_u64(m.area[p.first].pages, 1, "the one that is read");
	for (int i = 1; i < 3; i++) {
		is_u64(m.area[p.first + i].pages, FS_UNWIND_NO_TABLE, "one that is not");
		is_u64(m.area[p.first + i].start, mapping[i].start, "its start");
		is_u64(m.area[p.first + i].end, mapping[i].end, "its end");
	}
	ok(file[0].users == 1 && !file[1].users, "users of the files");
	end();
}

static pid_t waiting(void)
{
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

static void sweep(__u64 now_ns)
{
	x.ended = 0;
	area_blocks_sweep(&x, &m, now_ns);
}

static void test_sweeps(void)
{
	pid_t child = waiting();

	begin();
	publish(child, 2);
	publish(getpid(), 2);
	is_u64(file[0].users, 2, "two lists refer to a file");
	for (__u64 i = 0; i < 4; i++)
		sweep(10 + i);
	ok(x.n == 2 && !x.ended && has(child), "both processes live");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sweep(20);
	is_u64(x.ended, 1, "a process has ended");
	ok(!has(child) && has(getpid()), "its entry is removed");
	is_u64(x.n, 2, "its list stays, since a fork may just copy the entry");
	is_u64(file[0].users, 2, "with its files");
	sweep(30);
	is_u64(x.n, 1, "the next sweep frees it");
	ok(file[0].users == 1 && file[0].left_ns == 30, "and leaves its files");
	ok(file[1].users == 1 && file[1].left_ns == 30, "all of them");
	ok(has(getpid()) && !x.ended, "the other list is in use");
	sweep(40);
	is_u64(x.n, 1, "and stays");
	end();
}

/* A list is in use again if a forked child has it after all. */
static void test_fork(void)
{
	pid_t child = waiting(), other = getpid();
	struct fs_unwind_proc p;

	begin();
	publish(child, 2);
	bpf_map_lookup_elem(procs->fd, &child, &p);
	bpf_map_delete_elem(procs->fd, &child);
	sweep(10);
	is_u64(x.b[0].unused, 1, "a sweep that finds the list unused");
	bpf_map_update_elem(procs->fd, &other, &p, BPF_ANY);
	sweep(20);
	is_u64(x.b[0].unused, 0, "a process has it");
	bpf_map_delete_elem(procs->fd, &other);
	sweep(30);
	is_u64(x.n, 1, "it takes two sweeps in a row");
	p.areas = 0;
	bpf_map_update_elem(procs->fd, &other, &p, BPF_ANY);
	sweep(40);
	is_u64(x.n, 0, "an entry without mappings has no list");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	end();
}

/* Tests the longest list of mappings. */
static void test_longest(void)
{
	static struct fs_unwind_area area[MAPPED_CODE_MAX + 1];
	static struct code_mapping many[MAPPED_CODE_MAX + 1];
	static struct code_file *files[MAPPED_CODE_MAX + 1];
	struct mapped_code c = {.of.pid = getpid(),
				.m = many,
				.area = area,
				.file = files,
				.n = MAPPED_CODE_MAX + 1};
	__u8 id[BUILD_ID_BYTES];
	__u64 offset = 0;

	begin();
	for (size_t i = 0; i <= MAPPED_CODE_MAX; i++) {
		many[i] = (struct code_mapping){.start = i * 16, .end = i * 16 + 16};
		files[i] = &file[0];
	}
	unwind_maps_begin(&m, c.of.pid, &c.begun);
	is_u64(-area_blocks_publish(&x, &m, &c, 1), ENOMEM, "a list of 4097 mappings");
	is_u64(x.n, 0, "is not kept");
	is_u64(m.areas.taken, 0, "and takes no room");
	c.n = c.at = MAPPED_CODE_MAX;
	is_u64(area_blocks_publish(&x, &m, &c, 1), 0, "a list of 4096 mappings");
	is_u64(file[0].users, MAPPED_CODE_MAX, "refers to a file as often");
	ok(area_blocks_find(&x, x.b[0].given.generation, 4095 * 16 + 5, id, &offset) && offset == 5,
	   "its last mapping is found");
	end();
}

/* Tests a list that cannot be given, because the process runs another program. */
static void test_refused(void)
{
	struct fs_unwind_area area[3] = {};
	struct code_file *files[3] = {&file[0], NULL, NULL};
	struct mapped_code c = {
		.of.pid = getpid(), .m = mapping, .area = area, .file = files, .n = 3, .at = 1};
	struct fs_unwind_epoch later;

	begin();
	unwind_maps_begin(&m, c.of.pid, &c.begun);
	later = c.begun;
	later.valid_ns++;
	bpf_map_update_elem(epochs->fd, &c.of.pid, &later, BPF_ANY);
	is_u64(-area_blocks_publish(&x, &m, &c, 1), ESTALE, "a process that runs another program");
	is_u64(x.n, 0, "its list is not kept");
	is_u64(file[0].users, 0, "and refers to no file");
	is_u64(m.areas.taken, 0, "nor takes room");
	c.begun = later;
	is_u64(area_blocks_publish(&x, &m, &c, 1), 0, "its next list is given");
	ok(x.n == 1 && file[0].users == 1 && m.areas.taken == 3, "and kept");
	end();
}

/* Tests that a freed list gives back its room, and its place for a CPython. */
static void test_freed(void)
{
	struct fs_unwind_area area[3] = {};
	struct code_file *files[3] = {&file[0], NULL, NULL};
	struct mapped_code c = {
		.of.pid = getpid(), .m = mapping, .area = area, .file = files, .n = 3, .at = 1};
	struct fs_unwind_proc p = {};

	begin();
	file[0].state = CODE_TABLE;
	file[0].table.codes = 1;
	file[0].table.code[0].bytes = 0x1000;
	file[0].python.is_interpreter = true;
	file[0].python.offsets.minor = 12;
	unwind_maps_begin(&m, c.of.pid, &c.begun);
	is_u64(area_blocks_publish(&x, &m, &c, 1), 0, "a list of a process with CPython");
	bpf_map_lookup_elem(procs->fd, &c.of.pid, &p);
	ok(p.python && m.python[p.python].minor == 12, "the process has its description");
	is_u64(m.pythons.taken, 2, "which takes a place behind the first one");
	unwind_maps_end(&m, c.of.pid);
	sweep(10);
	is_u64(m.areas.taken, 3, "the first sweep frees nothing");
	sweep(20);
	is_u64(m.areas.taken, 0, "the second one frees the list");
	is_u64(m.pythons.taken, 1, "and the description");
	end();
}

int main(void)
{
	procs = made_map("unwind_procs", 0, sizeof(pid_t), sizeof(struct fs_unwind_proc),
			 FS_UNWIND_PROCS);
	epochs = made_map("unwind_epochs", 0, sizeof(pid_t), sizeof(struct fs_unwind_epoch),
			  FS_UNWIND_PROCS);
	made_map("unwind_rows", 0, sizeof(__u32), sizeof(int), FS_UNWIND_CHUNKS);
	made_map("unwind_areas", FS_UNWIND_AREAS * sizeof(struct fs_unwind_area), 0, 0, 0);
	made_map("unwind_pages", FS_UNWIND_PAGES * sizeof(struct fs_unwind_page), 0, 0, 0);
	made_map("unwind_rules", FS_UNWIND_RULES * sizeof(struct fs_unwind_rule), 0, 0, 0);
	made_map("unwind_pythons", FS_PYTHONS * sizeof(struct fs_python), 0, 0, 0);
	test_addresses();
	test_rest();
	test_sweeps();
	test_fork();
	test_longest();
	test_refused();
	test_freed();
	return tap_done();
}
