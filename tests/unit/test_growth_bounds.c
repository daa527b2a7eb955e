// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about many mappings of one kind just below and at each bound: how many there must
 * be, which share of all mappings, and which names belong to the kind.
 */
#include "growth_fixture.h"
#include "tap.h"

/* Returns whether a process with `all` mappings, of which `n` have this name, has the finding. */
static bool has(const char *id, const char *name, uint64_t n, uint32_t all)
{
	struct process_record r;
	bool found;

	begin();
	r = process_with(all, 20);
	model_take(&m, &r.h);
	holds(WHAT_MAPS, 0, HOLDING_FILE_SHARED, name, n);
	judge_window();
	found = find(id);
	end();
	return found;
}

static void test_counts(void)
{
	static const struct {
		const char *id, *name;
		uint64_t n;
		uint32_t all;
		bool opens;
	} rows[] = {
		{"M03", "/dev/shm/torch_#", 1000, 3333, true},
		{"M03", "/dev/shm/torch_#", 1000, 3334, false},
		{"M03", "/dev/shm/torch_#", 999, 1000, false},
		{"M05", "/memfd:java_heap", 1000, 4000, true},
		{"M05", "/memfd:java_heap", 1000, 4001, false},
		{"M05", "/memfd:java_heap", 999, 1000, false},
		{"M07", "/memfd:doublemapper", 500, 2000, true},
		{"M07", "/memfd:doublemapper", 500, 2001, false},
		{"M07", "/memfd:doublemapper", 499, 500, false},
		{"M09", "/data/part-#", 1000, 3333, true},
		{"M09", "/data/part-#", 1000, 3334, false},
		{"M09", "/data/part-#", 999, 1000, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(has(rows[i].id, rows[i].name, rows[i].n, rows[i].all) == rows[i].opens,
		   "%s: %d of %u mappings of %s are %s", rows[i].id, (int)rows[i].n, rows[i].all,
		   rows[i].name, rows[i].opens ? "many" : "not many");
}

/* Names of tensors in shared memory have a number after "torch_"; libraries have not. */
static void test_names(void)
{
	static const struct {
		const char *name;
		bool torch;
	} rows[] = {
		{"torch_#", true},     {"torch_0", true},	   {"torch_9", true},
		{"torch_/", false},    {"torch_:", false},	   {"/dev/shm/torch_5_x", true},
		{"libtorch_0", false}, {"/lib/libtorch_9", false}, {"torch_", false},
		{"torch_cpu", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(has("M03", rows[i].name, 2000, 2500) == rows[i].torch, "\"%s\" is %s tensor",
		   rows[i].name, rows[i].torch ? "a" : "no");
	ok(!has("M09", "torch_#", 2000, 2500), "tensors are not mapped files");
	ok(!has("M09", "/memfd:java_heap#", 2000, 2500), "nor is the heap of Java");
	ok(!has("M09", "/memfd:doublemapper#", 2000, 2500), "nor the code of .NET");
	ok(!has("M09", "[anon#]", 2000, 2500), "nor anonymous memory");
	ok(!has("M09", "/data/part", 2000, 2500), "a file without a number is one file");
}

/* A finding about thread stacks needs 250 threads, with half of all mappings. */
static void test_threads(void)
{
	static const struct {
		uint32_t threads, maps;
		bool opens;
		const char *name;
	} rows[] = {
		{250, 1000, true, "250 threads, 1000 mappings"},
		{249, 900, false, "a thread less"},
		{250, 1001, false, "a mapping more"},
		{251, 1004, true, "251 threads, 1004 mappings"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct process_record r;

		begin();
		r = process_with(rows[i].maps, 20);
		r.g.threads = rows[i].threads;
		model_take(&m, &r.h);
		judge_window();
		ok(!!find("M04") == rows[i].opens, "%s", rows[i].name);
		end();
	}
}

int main(void)
{
	test_counts();
	test_names();
	test_threads();
	return tap_done();
}
