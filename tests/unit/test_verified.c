// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how many instructions the verifier checks for each BPF program, which takes most of the
 * time of a start. The verifier checks code once for each path to it, so a small change can double
 * the number. verified.def has the limit of each program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "probe/live.h"
#include "tap.h"

/* Verifiers count differently: the limits are for this release. */
#define RELEASE "6.18."
/* Limit of all programs that the first line of output needs: scan, lifecycle and fault_begin. */
#define FIRST_LINE 60000

static const struct budget {
	const char *program;
	unsigned int most;
	bool first; /* the first line of output needs the program */
} budgets[] = {
#define PROGRAM(name, most, first) {#name, most, first},
#include "verified.def"
#undef PROGRAM
};
#define NR_BUDGETS (sizeof(budgets) / sizeof(budgets[0]))

static const struct budget *budget_of(const char *program)
{
	for (size_t i = 0; i < NR_BUDGETS; i++)
		if (!strcmp(budgets[i].program, program))
			return &budgets[i];
	return NULL;
}

/* Returns the number of verified instructions, or 0 if the program is not loaded. */
static unsigned int verified_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(prog);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.verified_insns;
}

static void check_programs(const struct bpf_object *obj)
{
	unsigned int all = 0, first = 0;
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj) {
		const char *name = bpf_program__name(prog);
		const struct budget *b = budget_of(name);
		unsigned int n = verified_of(prog);

		if (!n)
			continue;
		all += n;
		if (!ok(b, "%s: it has a row in verified.def (%u instructions)", name, n))
			continue;
		first += b->first ? n : 0;
		ok(n <= b->most, "%s: %u instructions, of at most %u", name, n, b->most);
	}
	ok(all, "the kernel says how many: %u in all", all);
	ok(first <= FIRST_LINE, "%u instructions before the first line", first);
}

/* Loads what `faultscope -p` loads. */
static void test_targets(void)
{
	struct live_options o = {.tiers = TIER_ALL, .attribute = true};
	const struct bpf_object *obj;
	char error[1024] = "";
	struct source *src;

	if (live_open(&o, &src, error, sizeof(error))) {
		ok(true, "programs are verified # SKIP %.*s", (int)strcspn(error, "\n"), error);
		return;
	}
	obj = live_walks(src);
	if (obj)
		check_programs(obj);
	else
		ok(true, "programs are verified # SKIP not the programs for this kernel");
	src->ops->close(src);
}

/*
 * Tests that several objects can be loaded one after the other, as `doctor` does. libbpf 1.1 uses
 * freed memory if handlers of programs are registered again after the last was removed.
 */
static void test_again(void)
{
	struct live_options o = {.tiers = 3, .watch_all = true};
	struct source *src[3] = {};
	char error[1024] = "";
	size_t n = 0;

	while (n < 3 && !live_open(&o, &src[n], error, sizeof(error)))
		n++;
	if (n)
		is_u64(n, 3, "objects that are loaded at a time");
	else
		ok(true, "several objects # SKIP %.*s", (int)strcspn(error, "\n"), error);
	while (n--)
		src[n]->ops->close(src[n]);
}

int main(void)
{
	struct utsname un;

	test_again();
	uname(&un);
	if (strncmp(un.release, RELEASE, strlen(RELEASE)))
		ok(true, "programs are verified # SKIP the limits are for Linux " RELEASE "x");
	else
		test_targets();
	return tap_done();
}
