// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/limit.h"

#include <limits.h>
#include <string.h>

#define KIB 1024ULL
#define MIB (1024 * KIB)

#define SYSCTL(of_name, of_path) .name = of_name, .kind = LIMIT_OF_MACHINE, .path = of_path

#define RLIMIT(NAME, of_word, of_letter, of_title)                                                 \
	.name = "RLIMIT_" NAME, .kind = LIMIT_OF_PROCESS, .word = of_word, .letter = of_letter,    \
	.title = of_title, .unit_key = "Limit" NAME, .manager_key = "DefaultLimit" NAME

#define CGROUP(file) .name = file, .kind = LIMIT_OF_CGROUP, .initial = LIMIT_NONE, .max = file

#define LIMIT_ROW(id, fix, cost, check, ...) [LIMIT_##id] = {__VA_ARGS__},

const struct limit limit_table[NR_LIMITS] = {
#include "model/limits.def"
};

/* Causes of failed calls whose names differ from the keys of their limits. */
static const struct {
	const char *cause;
	enum limit_id limit;
} others[] = {
	{"overcommit_heuristic", LIMIT_OVERCOMMIT_MEMORY},
	{"overcommit_strict", LIMIT_OVERCOMMIT_MEMORY},
	{"hugetlb_pool", LIMIT_HUGEPAGES},
	{"min_address", LIMIT_MMAP_MIN_ADDR},
	{"pipe_pages", LIMIT_PIPE_PAGES_HARD},
	{"descriptors_dropped", LIMIT_NOFILE},
	{"descriptor_number_limit", LIMIT_NOFILE},
	{"cgroup_memory", LIMIT_CGROUP_MEMORY},
	{"cgroup_pids", LIMIT_CGROUP_PIDS},
};

const struct limit *limit_find(const char *key)
{
	for (size_t i = 0; i < NR_LIMITS; i++) {
		size_t len = strlen(limit_table[i].key);

		if (!strncmp(key, limit_table[i].key, len) &&
		    (!key[len] || (limit_table[i].bytes && !strcmp(key + len, "_bytes"))))
			return &limit_table[i];
	}
	return NULL;
}

const struct limit *limit_of_cause(const char *cause)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(cause, others[i].cause))
			return &limit_table[others[i].limit];
	return limit_find(cause);
}

/*
 * Returns a suggested limit. A count is a power of two from 65,536 on; a size in bytes has finer
 * steps.
 */
uint64_t limit_roomy(const struct limit *l, uint64_t peak)
{
	uint64_t step = l->bytes ? MIB : 65536, want;

	peak = peak < UINT64_MAX / 8 ? peak * 2 : UINT64_MAX / 4;
	if (l->usual && peak <= l->usual)
		return l->usual;
	while (step < peak)
		step *= 2;
	want = step;
	if (l->bytes && step >= 4 * MIB)
		want = (peak + step / 8 - 1) / (step / 8) * (step / 8);
	return l->most && want > l->most ? l->most : want;
}

uint64_t limit_above(const struct limit *l, uint64_t peak, uint64_t now)
{
	uint64_t least = now < UINT64_MAX / 4 ? now / 4 * 3 : 0;

	return limit_roomy(l, peak > least ? peak : least);
}
