// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which part of the table of growth is mapped, and which files a load needs. The table is a
 * file of this test; the BPF objects are the real ones, which are not loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/object.h"
#include "tap.h"

static int table = -1; /* descriptor of the table of growth */

/* Replaces libbpf's function, since no map has a descriptor before the load. */
int bpf_map__fd(const struct bpf_map *map)
{
	return map && !strcmp(bpf_map__name(map), "growth") ? table : -1;
}

static void test_growth(void)
{
	struct object o;
	int err = object_open(&o, OBJECT_FULL, NULL);
	const struct growth *first;
	struct growth row = {.added = 77};

	ok(!err && o.config && !o.shared, "an object that is open");
	table = -1;
	ok(object_map_growth(&o, 10) < 0 && !o.growth && !o.growth_rows, "a table without file");
	table = memfd_create("growth", MFD_CLOEXEC);
	if (ftruncate(table, GROWTH_MAX * sizeof(row)) ||
	    pwrite(table, &row, sizeof(row), 99 * sizeof(row)) != sizeof(row))
		ok(false, "the table of this test");
	is_u64(object_map_growth(&o, 100), 0, "the first rows");
	is_u64(o.growth_rows, 100, "as many as were asked for");
	is_u64(o.growth[99].added, 77, "are those of the table");
	first = o.growth;
	is_u64(object_map_growth(&o, 100), 0, "no more rows");
	ok(o.growth == first, "the mapping stays");
	is_u64(object_map_growth(&o, 101), 0, "one more row");
	is_u64(o.growth_rows, 202, "twice as many, since the table grows on");
	is_u64(o.growth[99].added, 77, "are those of the table");
	close(table);
	table = -1;
	ok(object_map_growth(&o, 1000) < 0, "a table that cannot be mapped any more");
	is_u64(o.growth_rows, 202, "keeps its rows");
	table = memfd_create("growth", MFD_CLOEXEC);
	if (ftruncate(table, GROWTH_MAX * sizeof(row)))
		ok(false, "the table of this test");
	is_u64(object_map_growth(&o, GROWTH_MAX / 2), 0, "half of the table");
	is_u64(o.growth_rows, GROWTH_MAX, "the whole table");
	first = o.growth;
	is_u64(object_map_growth(&o, UINT32_MAX), 0, "more than there is");
	ok(o.growth == first && o.growth_rows == GROWTH_MAX, "is the whole table");
	object_close(&o);
	ok(!o.obj && !o.growth && !o.growth_rows, "a closed object has none");
	object_close(&o);
}

static void test_files(void)
{
	struct bpf_program *prog;
	struct bpf_map *map;
	size_t programs = 0, maps = 0, all;
	struct object o;

	if (object_open(&o, OBJECT_PLAIN, NULL))
		ok(false, "the object can be opened");
	bpf_object__for_each_program (prog, o.obj)
		programs++;
	bpf_object__for_each_map(map, o.obj) maps++;
	all = object_files(&o);
	is_u64(all, programs + maps, "a descriptor for each program and map");
	bpf_program__set_autoload(bpf_object__next_program(o.obj, NULL), false);
	is_u64(object_files(&o), all - 1, "none for a program that is not loaded");
	bpf_map__set_autocreate(bpf_object__next_map(o.obj, NULL), false);
	is_u64(object_files(&o), all - 2, "none for a map that is not made");
	ok(!object_has_rest(&o), "no program waits for a load");
	is_u64(object_load_rest(&o), 0, "so there is nothing to do");
	object_close(&o);
}

static void test_sizes(void)
{
	struct object o;

	for (int build = OBJECT_FULL; build <= OBJECT_HASH; build++) {
		__u32 was;

		if (object_open(&o, build, NULL))
			ok(false, "the object can be opened");
		was = bpf_map__max_entries(object_map(&o, "procs"));
		object_size_tables(&o, 1 << 21, 100000);
		is_u64(bpf_map__max_entries(object_map(&o, "ring")), 1 << 21, "the ring");
		is_u64(bpf_map__max_entries(object_map(&o, "procs")),
		       build == OBJECT_HASH ? 100000 : was, "the table by pid");
		object_size_tables(&o, 1 << 20, 8192);
		is_u64(bpf_map__max_entries(object_map(&o, "procs")),
		       build == OBJECT_HASH ? 100000 : was, "a few processes need no more");
		object_close(&o);
	}
}

int main(void)
{
	test_growth();
	test_files();
	test_sizes();
	return tap_done();
}
