// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/statistics.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "probe/host_facts.h"

/*
 * Returns the first loaded program after `at`, and the kernel's info about it, or NULL if there is
 * none.
 */
static struct bpf_program *next_loaded(const struct bpf_object *obj, struct bpf_program *at,
				       struct bpf_prog_info *ret)
{
	while ((at = bpf_object__next_program(obj, at))) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_program__fd(at);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
			continue;
		*ret = info;
		break;
	}
	return at;
}

size_t statistics_read(const struct bpf_object *obj, struct program_statistics *ret, size_t room)
{
	struct bpf_program *prog = NULL;
	struct bpf_prog_info info;
	size_t n = 0;

	while (n < room && (prog = next_loaded(obj, prog, &info)))
		ret[n++] = (struct program_statistics){bpf_program__name(prog), info.run_cnt,
						       info.run_time_ns};
	return n;
}

bool statistics_is_loss(const char *program, int kernel_major)
{
	return kernel_major >= 7 || strcmp(program, "on_page_kernel");
}

struct statistics_sum statistics_sum(const struct bpf_object *obj,
				     void (*each)(void *ctx, const struct program_statistics *p),
				     void *ctx)
{
	struct bpf_program *prog = NULL;
	struct statistics_sum sum = {};
	struct bpf_prog_info info;
	int major = host_kernel_major();

	while ((prog = next_loaded(obj, prog, &info))) {
		const struct program_statistics one = {bpf_program__name(prog), info.run_cnt,
						       info.run_time_ns};

		if (each)
			each(ctx, &one);
		sum.run_ns += info.run_time_ns;
		if (statistics_is_loss(bpf_program__name(prog), major))
			sum.missed += info.recursion_misses;
	}
	return sum;
}
