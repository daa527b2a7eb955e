// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests limits that are kernel variables: their addresses, and as causes of failed calls. */
#include <errno.h>
#include <stdlib.h>

#include "cause_fixture.h"
#include "probe/variables.h"

static __u64 at[NR_VARIABLES];

static void parse(const char *table)
{
	memset(at, 0xff, sizeof(at));
	variables_parse(table, strlen(table), at);
}

static void test_table(void)
{
	parse("ffffffff81000000 T _stext\n"
	      "ffffffff9a26a140 D sysctl_max_map_count\n"
	      "ffffffff9a26a154 d sysctl_overcommit_memory\n"
	      "ffffffff9abf2cc8 b pipe_user_pages_hard\n"
	      "ffffffff9a26c994 t sysctl_nr_open\n"
	      "ffffffffc0123450 d max_threads\t[some_module]\n"
	      "ffffffff9ab301a0 B nr_threads\n"
	      "ffffffff9ab301a8 d nr_threads\n"
	      "ffffffff9ab30200 D files_state\n"
	      "ffffffff9ab30208 D files_sta\n"
	      "ffffffff9ab30210 D files_stat");
	ok(at[VARIABLE_MAX_MAP_COUNT] == 0xffffffff9a26a140 &&
		   at[VARIABLE_OVERCOMMIT] == 0xffffffff9a26a154 &&
		   at[VARIABLE_PIPE_HARD] == 0xffffffff9abf2cc8,
	   "data, of the kernel's own or of one file");
	ok(!at[VARIABLE_NR_OPEN], "a function of that name");
	ok(!at[VARIABLE_THREADS_MAX], "a module's");
	ok(!at[VARIABLE_THREADS], "a name of two things");
	ok(!at[VARIABLE_FILE_MAX], "names that are alike, and a line without an end");
	parse("0000000000000000 D sysctl_max_map_count\n");
	ok(!at[VARIABLE_MAX_MAP_COUNT], "addresses that are hidden");
	parse("");
	ok(!at[VARIABLE_MAX_MAP_COUNT], "no table");
}

static void test_hostile(void)
{
	unsigned int seed = 5;
	char table[3000];

	for (int i = 0; i < 20000; i++) {
		size_t n = rand_r(&seed) % sizeof(table);

		for (size_t k = 0; k < n; k++)
			table[k] = "f0 D\n\tb"[rand_r(&seed) % 7];
		variables_parse(table, n, at);
	}
	ok(true, "random tables");
}

/* Tests that the thread finds what a read of the whole table finds. */
static void test_thread(void)
{
	static char table[64 << 20];
	struct variables v;
	__u64 read[NR_VARIABLES];
	FILE *f = fopen("/proc/kallsyms", "r");
	size_t n = f ? fread(table, 1, sizeof(table), f) : 0;

	if (f)
		fclose(f);
	variables_parse(table, n, at);
	variables_begin(&v);
	variables_take(&v, read);
	ok(!memcmp(read, at, sizeof(at)), "this kernel's");
	ok(!v.reads, "the thread has ended");
	variables_end(&v);
	variables_begin(&v);
	variables_end(&v);
	ok(!v.reads, "addresses that nobody needs");
}

static void know(enum variable which, uint64_t value)
{
	r.variables |= 1U << which;
	r.variable[which] = value;
}

/*
 * Tests that the cause contains the value that a limit had when the call failed, not a later value.
 */
static void test_causes(void)
{
	begin_mmap(ENOMEM, 1, RW, ANON);
	r.map_count = 601;
	is_cause("unknown", false, "601 mappings of 65,530");
	know(VARIABLE_MAX_MAP_COUNT, 600);
	is_cause("max_map_count", true, "the limit was 600 then");
	is_u64(v.evidence[0].limit, 600, "which is told");
	begin(CALL_DUP, EMFILE);
	r.fds = 50;
	r.fds_free = 10;
	r.args[2] = 70;
	is_cause("unknown", false, "F_DUPFD from 70 on");
	know(VARIABLE_NR_OPEN, 64);
	is_cause("nr_open", true, "and no number from 64 on was to be had");
	begin(CALL_PIPE, ENFILE);
	r.user.pipe_pages = 7;
	know(VARIABLE_PIPE_HARD, 8);
	is_cause("pipe_pages", true, "pages of pipes");
	begin_mmap(ENOMEM, 1 << 20, RW, ANON);
	l.committed_bytes = 5ULL << 30;
	know(VARIABLE_OVERCOMMIT, 2);
	is_cause("overcommit_strict", false, "mode 2 then");
	know(VARIABLE_OVERCOMMIT_RATIO, 50);
	know(VARIABLE_OVERCOMMIT_KBYTES, 0);
	know(VARIABLE_SWAP_PAGES, 0);
	know(VARIABLE_RAM_PAGES, (64ULL << 30) / PAGE);
	is_cause("unknown", false, "half of 64 GiB");
	know(VARIABLE_OVERCOMMIT_KBYTES, 8 << 20);
	is_cause("overcommit_strict", false, "8 GiB, whatever the ratio");
	know(VARIABLE_SWAP_PAGES, (8ULL << 30) / PAGE);
	is_cause("unknown", false, "and as much of swap");
	begin(CALL_CLONE, EAGAIN);
	know(VARIABLE_THREADS, 100);
	know(VARIABLE_THREADS_MAX, 100);
	is_cause("threads_max", true, "threads of that moment");
}

int main(void)
{
	test_table();
	test_hostile();
	test_thread();
	test_causes();
	return tap_done();
}
