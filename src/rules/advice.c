// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TIGHT_PERCENT 80

/*
 * Default values of old kernels, which are too low for current programs. Advice is given for a
 * limit that is at most this value.
 */
static const struct row {
	const char *key;
	int64_t value;
	const char *why;
	uint64_t want; /* value to suggest; 0: the value that remedies_for() suggests */
} lows[] = {
	{"max_map_count", 65530,
	 "this is the kernel's default, but JVMs, data loaders and databases need more"},
	{"inotify_instances", 128,
	 "this is the kernel's default, which a few desktops or containers use up"},
	{"inotify_watches", 8192,
	 "this is the kernel's smallest default, which one source tree uses up"},
	{"pid_max", 32768, "this is the kernel's default, and threads count too"},
};

/* Settings that hide information from faultscope if their value is at least the value here. */
static const struct row highs[] = {
	{"kptr_restrict", 2,
	 "this value hides kernel symbols, so functions in kernel faults have no names", 1},
};

/* If one of these limits is almost used up, the advice is to double the limit. */
static const char *const doubled[] = {"max_map_count", "file_max", "threads_max",
				      "cgroup_memory_max_bytes", "cgroup_pids_max"};

struct advices {
	const struct setting *s;
	size_t n;
	const struct origin *origin;
	size_t origins;
	struct advice *a;
	size_t used;
};

/*
 * Appends advice about a setting and returns it. Returns NULL if the setting has advice already, or
 * if the list is full.
 */
static struct advice *__attribute__((format(printf, 3, 4)))
add(struct advices *all, const char *key, const char *why, ...)
{
	struct advice *a = &all->a[all->used];
	va_list ap;

	for (size_t i = 0; i < all->used; i++)
		if (!strcmp(all->a[i].key, key))
			return NULL;
	if (all->used == ADVICE_MAX)
		return NULL;
	memset(a, 0, sizeof(*a));
	a->key = key;
	va_start(ap, why);
	vsnprintf(a->why, sizeof(a->why), why, ap);
	va_end(ap);
	all->used++;
	return a;
}

static const struct setting *get(const struct advices *all, const char *key)
{
	const struct setting *s = setting_find(all->s, all->n, key);

	return s && s->known && !s->unlimited ? s : NULL;
}

/* Returns the percentage of a limit that is in use; -1: not known. */
static int use_of(const struct advices *all, const struct setting *limit)
{
	const struct setting *use = setting_use(all->s, all->n, limit->key);

	if (!use || limit->value <= 0)
		return -1;
	return (int)(100.0 * use->value / limit->value);
}

static void copy_command(const struct remedy *r, char *ret, size_t size)
{
	snprintf(ret, size, "%s", r ? r->command : "");
}

/*
 * Copies from remedies_for() the commands that raise the limit, and the cost of a higher limit.
 * Both depend on where the limit was set.
 */
static void take_remedies(const struct advices *all, const struct setting *s, uint64_t want,
			  struct advice *a)
{
	struct origin bare = {.limit = limit_find(s->key), .known = true, .value = s->value};
	const struct remedy_for f = {.want = want};
	const struct origin *o = &bare;
	struct remedy r[REMEDY_MAX];
	size_t n;

	if (!bare.limit)
		return;
	for (size_t i = 0; i < all->origins; i++)
		if (all->origin[i].limit == bare.limit && all->origin[i].known)
			o = &all->origin[i];
	n = remedies_for(o, &f, r);
	copy_command(remedy_find(r, n, REMEDY_WORKAROUND, false), a->command, sizeof(a->command));
	copy_command(remedy_find(r, n, REMEDY_WORKAROUND, true), a->lasting, sizeof(a->lasting));
	for (size_t i = 0; i < n && !a->cost[0]; i++)
		snprintf(a->cost, sizeof(a->cost), "%s", r[i].risk);
}

static void advise_row(struct advices *all, const struct row *row, bool high)
{
	const struct setting *s = get(all, row->key);
	struct advice *a;

	if (!s || (high ? s->value < row->value : s->value > row->value))
		return;
	a = add(all, row->key, "%s", row->why);
	if (a)
		take_remedies(all, s, row->want, a);
}

static void advise_doubled(struct advices *all, const char *key)
{
	const struct setting *s = get(all, key);
	struct advice *a;

	if (!s || use_of(all, s) < TIGHT_PERCENT)
		return;
	a = add(all, s->key, "%d %% of it is in use", use_of(all, s));
	if (a)
		take_remedies(all, s, s->value * 2, a);
}

/*
 * Suggests to raise the soft RLIMIT_NOFILE to the hard limit, which needs no root. If the hard
 * limit is unlimited, or not above the soft limit, suggests 65536.
 */
static void advise_nofile(struct advices *all)
{
	const struct setting *soft = get(all, "rlimit_nofile");
	const struct setting *hard = setting_find(all->s, all->n, "rlimit_nofile_hard");
	struct advice *a;

	if (!soft || soft->value > 1024 || !hard || !hard->known)
		return;
	a = add(all, soft->key, "this is the default of a shell, but servers need more");
	if (a)
		take_remedies(all, soft,
			      hard->unlimited || hard->value <= soft->value ? 65536 : hard->value,
			      a);
}

/*
 * Gives advice only if vm.overcommit_memory is 2: with other values, no call fails at the commit
 * limit.
 */
static void advise_commit(struct advices *all)
{
	const struct setting *mode = get(all, "overcommit_memory");
	const struct setting *limit = get(all, "commit_limit_bytes");
	struct advice *a;

	if (!mode || mode->value != 2 || !limit || use_of(all, limit) < TIGHT_PERCENT)
		return;
	a = add(all, limit->key,
		"%d %% of it is committed, and with vm.overcommit_memory=2 calls fail at 100 %%",
		use_of(all, limit));
	if (a)
		take_remedies(all, mode, 0, a);
}

static void advise_swap(struct advices *all)
{
	const struct setting *s = get(all, "swap_total_bytes");
	struct advice *a;

	if (!s || !s->value || use_of(all, s) < TIGHT_PERCENT)
		return;
	a = add(all, s->key, "%d %% of it is in use", use_of(all, s));
	if (a)
		snprintf(a->command, sizeof(a->command),
			 "fallocate -l 4G /swapfile && chmod 600 /swapfile && mkswap /swapfile && "
			 "swapon /swapfile");
}

static void advise_lockdown(struct advices *all)
{
	const struct setting *s = get(all, "lockdown");
	struct advice *a;

	if (!s || strcmp(s->text, "confidentiality"))
		return;
	a = add(all, s->key,
		"in the lockdown mode confidentiality, BPF programs may not read kernel memory");
	if (a)
		snprintf(a->command, sizeof(a->command), "boot with lockdown=integrity");
}

size_t advise(const struct setting *s, size_t n, const struct origin *origin, size_t origins,
	      struct advice *ret)
{
	struct advices all = {.s = s, .n = n, .origin = origin, .origins = origins, .a = ret};

	for (size_t i = 0; i < sizeof(lows) / sizeof(lows[0]); i++)
		advise_row(&all, &lows[i], false);
	advise_nofile(&all);
	for (size_t i = 0; i < sizeof(doubled) / sizeof(doubled[0]); i++)
		advise_doubled(&all, doubled[i]);
	advise_commit(&all);
	advise_swap(&all);
	for (size_t i = 0; i < sizeof(highs) / sizeof(highs[0]); i++)
		advise_row(&all, &highs[i], true);
	advise_lockdown(&all);
	return all.used;
}
