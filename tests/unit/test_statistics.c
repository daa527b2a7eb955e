// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the kernel's statistics of BPF programs are read and added up. The programs are those
 * of this test: one is not loaded, and the kernel tells nothing about another.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>

#include "probe/host_facts.h"
#include "probe/statistics.h"
#include "tap.h"

#define PROGRAMS 5

struct made_program {
	const char *name;
	int fd;
	struct bpf_prog_info info;
};

static struct made_program program[PROGRAMS] = {
	{"on_fork", 10, {.run_cnt = 3, .run_time_ns = 100, .recursion_misses = 7}},
	{"not_loaded", -1, {.run_cnt = 1000, .run_time_ns = 1000, .recursion_misses = 1000}},
	{"not_told", 11, {.run_cnt = 2000, .run_time_ns = 2000, .recursion_misses = 2000}},
	{"on_page_kernel", 12, {.run_cnt = 4, .run_time_ns = 200, .recursion_misses = 8}},
	{"on_exit", 13, {.run_cnt = 5, .run_time_ns = 400, .recursion_misses = 16}},
};

struct bpf_program *bpf_object__next_program(const struct bpf_object *obj, struct bpf_program *prev)
{
	struct made_program *next = prev ? (struct made_program *)prev + 1 : program;

	(void)obj;
	return next < program + PROGRAMS ? (struct bpf_program *)next : NULL;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return ((const struct made_program *)prog)->fd;
}

const char *bpf_program__name(const struct bpf_program *prog)
{
	return ((const struct made_program *)prog)->name;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	for (size_t i = 0; i < PROGRAMS; i++)
		if (program[i].fd == fd && fd != 11 && *len == sizeof(program[i].info)) {
			memcpy(info, &program[i].info, *len);
			return 0;
		}
	return -ENOENT;
}

static void test_losses(void)
{
	ok(!statistics_is_loss("on_page_kernel", 6), "only its own reads can interrupt it");
	ok(statistics_is_loss("on_page_kernel", 7), "the kernel may switch tasks within it");
	ok(statistics_is_loss("on_page_user", 6), "a program that reads cannot interrupt");
	ok(statistics_is_loss("on_fault_kernel", 6), "a program that counts such faults");
}

static void test_reading(void)
{
	struct program_statistics got[PROGRAMS];

	is_u64(statistics_read(NULL, got, PROGRAMS), 3, "programs that are loaded");
	for (int i = 0; i < 3; i++) {
		const struct made_program *want = &program[(int[]){0, 3, 4}[i]];

		is_str(got[i].name, want->name, "name");
		is_u64(got[i].runs, want->info.run_cnt, "runs");
		is_u64(got[i].run_ns, want->info.run_time_ns, "time");
	}
	is_u64(statistics_read(NULL, got, 2), 2, "no more than there is room for");
	is_u64(statistics_read(NULL, got, 0), 0, "or none");
}

static void add(void *ctx, const struct program_statistics *p)
{
	*(uint64_t *)ctx += 1000 * p->runs + p->run_ns;
}

static void test_sum(void)
{
	uint64_t each = 0;
	struct statistics_sum sum = statistics_sum(NULL, NULL, NULL);

	statistics_sum(NULL, add, &each);
	is_u64(each, 12000 + 700, "each program is passed on");

	is_u64(sum.run_ns, 700, "time of all programs");
	is_u64(sum.missed, host_kernel_major() >= 7 ? 31 : 23, "events that were missed");
}

int main(void)
{
	test_losses();
	test_reading();
	test_sum();
	return tap_done();
}
