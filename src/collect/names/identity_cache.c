// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/identity_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "collect/names/container_names.h"
#include "collect/names/pod_names.h"
#include "collect/names/runtime_state.h"

#define WAYS	    4
#define SETS	    256
#define PAUSE_FIRST 1000000000ULL /* pause before a retry: some logs are created late */
#define PAUSE_LAST  (300 * 1000000000ULL)

int known_init(struct known_table *t)
{
	t->known = calloc(SETS * WAYS, sizeof(*t->known));
	return t->known ? 0 : -ENOMEM;
}

void known_free(struct known_table *t)
{
	free(t->known);
	t->known = NULL;
}

enum workload_kind path_kind(const char *path)
{
	struct workload w;

	workload_of(path, &w);
	return workload_kind_of(&w);
}

void identity_rename_by(const regex_t *pattern, struct identity *id)
{
	char name[LABEL_BYTES] = "";
	const char *at = id->name;
	regmatch_t match;
	int flags = 0;

	while (*at && !regexec(pattern, at, 1, &match, flags)) {
		char before[LABEL_BYTES];

		if (match.rm_eo == 0)
			match.rm_so = match.rm_eo = 1; /* empty match: skip a character */
		array_copy(before, (size_t)match.rm_so + 1, at);
		array_append(name, sizeof(name), before);
		if (match.rm_eo > match.rm_so)
			array_append(name, sizeof(name), "*");
		at += match.rm_eo;
		flags = REG_NOTBOL;
	}
	array_append(name, sizeof(name), at);
	identity_rename(id, name);
}

/* Finds the names of a pod or container. Returns false if some names are still missing. */
static bool find_names(const struct known_table *t, const struct workload *w,
		       const struct member *m, struct pod_names *ret)
{
	bool in_pod = w->pod[0], has_id = w->runtime != RUNTIME_NONE && w->container[0];
	struct pod_names stored;

	memset(ret, 0, sizeof(*ret));
	if (!in_pod && !has_id)
		return true;
	/* in a delegated subtree, a user can name a cgroup like the container of another pod */
	pod_names_find(t->root, w->pod, has_id && !w->delegated ? w->container : "", ret);
	if (has_id && !w->delegated && (!ret->container[0] || ret->guessed) &&
	    runtime_state_find(t->root, w, &stored))
		*ret = stored;
	/* the pause container writes no log, so the guessed name belongs to another container */
	if (in_pod && has_id && (!ret->container[0] || ret->guessed) && m->comm &&
	    !strcmp(m->comm, "pause")) {
		array_copy(ret->container, sizeof(ret->container), "pause");
		ret->guessed = false;
	}
	if (in_pod)
		return ret->pod[0] && (!has_id || (ret->container[0] && !ret->guessed));
	if (!ret->container[0] && (!w->delegated || w->runtime == RUNTIME_PODMAN))
		container_name_find(t->root, w, m->pid, ret->container, sizeof(ret->container));
	return true;
}

static const char *if_known(const char *s)
{
	return *s ? s : NULL;
}

static void make(const struct known_table *t, struct known *k, const struct member *m)
{
	bool of_program = k->key[0] == ':';
	struct pod_names found;
	struct identity_names names = {.comm = m->comm};
	struct workload w;

	workload_of(of_program ? "" : k->key, &w);
	k->waits = !find_names(t, &w, m, &found);
	names.namespace = if_known(found.namespace);
	names.pod = if_known(found.pod);
	names.container = if_known(found.container);
	names.family = if_known(found.family);
	names.kernel_thread = of_program && m->kernel_thread;
	identity_make(&w, &names, t->collapse, &k->id);
	if (!of_program)
		label_copy(k->id.cgroup, sizeof(k->id.cgroup), k->key);
	if (t->pattern)
		identity_rename_by(t->pattern, &k->id);
	identity_seal(&k->id);
}

void known_refresh(struct known_table *t, struct known *k, const struct member *m)
{
	k->used = ++t->uses;
	if (!k->waits || m->t_ns < k->retry_ns)
		return;
	make(t, k, m);
	k->retry_ns = m->t_ns + k->pause_ns;
	k->pause_ns = k->pause_ns < PAUSE_LAST / 2 ? k->pause_ns * 2 : PAUSE_LAST;
}

static struct known *place_for(struct known_table *t, const char *key)
{
	uint32_t hash = hash_text(HASH_BEGIN, key);
	struct known *set, *oldest;

	set = oldest = &t->known[(hash ^ hash >> 16) % SETS * WAYS];
	for (int i = 0; i < WAYS; i++) {
		if (set[i].id.serial && !strcmp(set[i].key, key))
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	return oldest;
}

struct known *known_find(struct known_table *t, const char *path, const struct member *m)
{
	char key[CGROUP_PATH_LEN] = ":";
	struct known *k;

	if (*path)
		array_copy(key, sizeof(key), path);
	else
		array_append(key, sizeof(key), m->kernel_thread ? ":" : m->comm ? m->comm : "");
	k = place_for(t, key);
	if (k->id.serial) {
		known_refresh(t, k, m);
		return k;
	}
	k->used = ++t->uses;
	array_copy(k->key, sizeof(k->key), key);
	make(t, k, m);
	k->pause_ns = PAUSE_FIRST;
	k->retry_ns = m->t_ns + k->pause_ns;
	return k;
}
