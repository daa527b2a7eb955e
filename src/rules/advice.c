// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIGHT_PERCENT 80

/* Where a value at or below a default of long ago is what programs of today run into. */
static const struct low {
	const char *key;
	int64_t low;
	const char *why, *command;
} lows[] = {
	{"max_map_count", 65530, "the kernel's default; JVMs, data loaders and databases need more",
	 "sysctl -w vm.max_map_count=1048576"},
	{"inotify_instances", 128, "the kernel's default; a few desktops or containers use it up",
	 "sysctl -w fs.inotify.max_user_instances=8192"},
	{"inotify_watches", 8192, "the kernel's smallest default; one source tree uses it up",
	 "sysctl -w fs.inotify.max_user_watches=524288"},
	{"pid_max", 32768, "the kernel's default; threads count too",
	 "sysctl -w kernel.pid_max=4194304"},
};

/* Where a value at or above this hides something from us. */
static const struct low highs[] = {
	{"kptr_restrict", 2, "no symbols of the kernel: a kernel fault has no name",
	 "sysctl -w kernel.kptr_restrict=1"},
};

/* What doubles a limit that is in use, by its key. */
static const struct {
	const char *key, *command;
} doubled[] = {
	{"max_map_count", "sysctl -w vm.max_map_count=%" PRId64},
	{"file_max", "sysctl -w fs.file-max=%" PRId64},
	{"threads_max", "sysctl -w kernel.threads-max=%" PRId64},
};

struct advices {
	const struct setting *s;
	size_t n;
	struct advice *a;
	size_t used;
};

static struct advice *add(struct advices *all, const char *key)
{
	struct advice *a = &all->a[all->used];

	for (size_t i = 0; i < all->used; i++)
		if (!strcmp(all->a[i].key, key))
			return NULL; /* once is enough */
	if (all->used == ADVICE_MAX)
		return NULL;
	memset(a, 0, sizeof(*a));
	a->key = key;
	all->used++;
	return a;
}

static const struct setting *get(const struct advices *all, const char *key)
{
	const struct setting *s = setting_find(all->s, all->n, key);

	return s && s->known && !s->unlimited ? s : NULL;
}

/* How a limit is used, in percent; -1: not known. */
static int use_of(const struct advices *all, const struct setting *limit)
{
	const struct setting *use = setting_use(all->s, all->n, limit->key);

	if (!use || limit->value <= 0)
		return -1;
	return (int)(100.0 * use->value / limit->value);
}

static void advise_low(struct advices *all, const struct low *row, bool high)
{
	const struct setting *s = get(all, row->key);
	struct advice *a;

	if (!s || (high ? s->value < row->low : s->value > row->low))
		return;
	a = add(all, row->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "%s", row->why);
	snprintf(a->command, sizeof(a->command), "%s", row->command);
}

static void advise_doubled(struct advices *all, size_t row)
{
	const struct setting *s = get(all, doubled[row].key);
	struct advice *a;

	if (!s || use_of(all, s) < TIGHT_PERCENT)
		return;
	a = add(all, s->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "%d %% of it is in use", use_of(all, s));
	snprintf(a->command, sizeof(a->command), doubled[row].command, s->value * 2);
}

static void advise_cgroup(struct advices *all, const char *key)
{
	const struct setting *s = get(all, key);
	struct advice *a;

	if (!s || !s->text[0] || use_of(all, s) < TIGHT_PERCENT)
		return;
	a = add(all, key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "%d %% of it is in use", use_of(all, s));
	snprintf(a->command, sizeof(a->command), "echo %" PRId64 " > %s", s->value * 2, s->text);
}

/* More than the hard limit only root may ask for. */
static void advise_nofile(struct advices *all)
{
	const struct setting *soft = get(all, "rlimit_nofile");
	const struct setting *hard = setting_find(all->s, all->n, "rlimit_nofile_hard");
	struct advice *a;

	if (!soft || soft->value > 1024 || !hard || !hard->known)
		return;
	a = add(all, soft->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "the default of a shell; servers need more");
	if (hard->unlimited || hard->value <= soft->value)
		snprintf(a->command, sizeof(a->command), "prlimit --nofile=65536 --pid $$");
	else
		snprintf(a->command, sizeof(a->command), "ulimit -n %" PRId64, hard->value);
}

/* It refuses only in mode 2. */
static void advise_commit(struct advices *all)
{
	const struct setting *mode = get(all, "overcommit_memory");
	const struct setting *limit = get(all, "commit_limit_bytes");
	struct advice *a;

	if (!mode || mode->value != 2 || !limit || use_of(all, limit) < TIGHT_PERCENT)
		return;
	a = add(all, limit->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "%d %% of it is committed, and the mode is strict",
		 use_of(all, limit));
	snprintf(a->command, sizeof(a->command), "sysctl -w vm.overcommit_memory=0");
}

static void advise_swap(struct advices *all)
{
	const struct setting *s = get(all, "swap_total_bytes");
	struct advice *a;

	if (!s || !s->value || use_of(all, s) < TIGHT_PERCENT)
		return;
	a = add(all, s->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "%d %% of it is in use", use_of(all, s));
	snprintf(a->command, sizeof(a->command),
		 "fallocate -l 4G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon "
		 "/swapfile");
}

static void advise_lockdown(struct advices *all)
{
	const struct setting *s = get(all, "lockdown");
	struct advice *a;

	if (!s || strcmp(s->text, "confidentiality"))
		return;
	a = add(all, s->key);
	if (!a)
		return;
	snprintf(a->why, sizeof(a->why), "BPF may not read kernel memory in this mode");
	snprintf(a->command, sizeof(a->command), "boot with lockdown=integrity");
}

size_t advise(const struct setting *s, size_t n, struct advice *ret)
{
	struct advices all = {.s = s, .n = n, .a = ret};

	for (size_t i = 0; i < sizeof(lows) / sizeof(lows[0]); i++)
		advise_low(&all, &lows[i], false);
	advise_nofile(&all);
	for (size_t i = 0; i < sizeof(doubled) / sizeof(doubled[0]); i++)
		advise_doubled(&all, i);
	advise_cgroup(&all, "cgroup_memory_max_bytes");
	advise_cgroup(&all, "cgroup_pids_max");
	advise_commit(&all);
	advise_swap(&all);
	for (size_t i = 0; i < sizeof(highs) / sizeof(highs[0]); i++)
		advise_low(&all, &highs[i], true);
	advise_lockdown(&all);
	return all.used;
}
