// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that on machines with many CPUs, BPF tables are large enough for all entries in use. */
#include <stdlib.h>

#include "probe/object.h"
#include "tap.h"

#define CPUS 512
/* number of free entries that each CPU reserves in an LRU table: kernel/bpf/bpf_lru_list.c */
#define EACH_TAKES 128

/* Replaces libbpf's function. object.c reads nothing else about the machine. */
int libbpf_num_possible_cpus(void)
{
	return CPUS;
}

extern const unsigned char blackbox_object[], blackbox_object_end[];

/* Returns the number of LRU tables. Stores the name of a table that is too small, or NULL. */
static int count_lru(struct bpf_object *obj, const char **ret_small)
{
	struct bpf_map *map;
	int n = 0;

	*ret_small = NULL;
	bpf_object__for_each_map(map, obj)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_LRU_HASH)
			continue;
		n++;
		if (bpf_map__max_entries(map) < 2 * EACH_TAKES * CPUS)
			*ret_small = bpf_map__name(map);
	}
	return n;
}

static void test_build(enum object_build build, const char *name)
{
	const char *small;
	struct object o;

	if (!ok(!object_open(&o, build, NULL), "%s: it opens", name))
		return;
	object_size_tables(&o, 1 << 20, 0);
	ok(count_lru(o.obj, &small), "%s: it has such tables", name);
	is_str(small, NULL, "each has room for what every CPU takes ahead, and as much in use");
	object_close(&o);
}

/*
 * Tests that probes use task storage for data that they keep from the entry of a function to its
 * exit.
 */
static void test_on_tasks(void)
{
	static const char *const names[] = {"procs", "slots", "ooms"};
	struct object o;

	if (!ok(!object_open(&o, OBJECT_FULL, NULL), "the full build opens"))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(bpf_map__type(object_map(&o, names[i])) == BPF_MAP_TYPE_TASK_STORAGE,
		   "%s: on the task itself, however many CPUs there are", names[i]);
	object_close(&o);
}

static void test_recorder(void)
{
	size_t size = blackbox_object_end - blackbox_object;
	struct bpf_object *obj = bpf_object__open_mem(blackbox_object, size, NULL);
	const char *small;

	if (!ok(obj, "the flight recorder's opens"))
		return;
	object_size_lru_tables(obj);
	ok(count_lru(obj, &small), "it has such tables");
	is_str(small, NULL, "each has room");
	bpf_object__close(obj);
}

int main(void)
{
	test_build(OBJECT_FULL, "with task storage");
	test_build(OBJECT_PLAIN, "without kfuncs");
	test_build(OBJECT_HASH, "with tables by pid");
	test_on_tasks();
	test_recorder();
	return tap_done();
}
