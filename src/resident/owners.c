// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/owners.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	    1024
#define ENTRIES_MAX (4 * FS_RESIDENT_PAGES) /* while it is copied, the map may change */

static int order_keys(const struct fs_resident_key *x, const struct fs_resident_key *y)
{
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int order(const void *a, const void *b)
{
	return order_keys(&((const struct owner_entry *)a)->key,
			  &((const struct owner_entry *)b)->key);
}

static int make_room(struct owners *o, size_t more)
{
	struct owner_entry *all;
	size_t room = o->room ?: BATCH;

	while (room < o->n + more)
		room *= 2;
	if (room > ENTRIES_MAX)
		return -E2BIG;
	if (room == o->room)
		return 0;
	all = realloc(o->entry, room * sizeof(*all));
	if (!all)
		return -ENOMEM;
	o->entry = all;
	o->room = room;
	return 0;
}

struct batch {
	struct fs_resident_key key[BATCH];
	struct fs_resident value[BATCH];
};

static int add_batch(struct owners *o, const struct batch *b, size_t n)
{
	int err = make_room(o, n);

	for (size_t i = 0; !err && i < n; i++)
		o->entry[o->n++] = (struct owner_entry){.key = b->key[i], .is = b->value[i]};
	return err;
}

/* A key that the kernel returns twice, while the map changes, is kept once. */
static void drop_doubles(struct owners *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		if (!n || order(&o->entry[n - 1], &o->entry[i]))
			o->entry[n++] = o->entry[i];
	o->n = n;
}

int owners_read(struct owners *o)
{
	struct batch *b = malloc(sizeof(*b));
	__u64 position = 0, next = 0;
	bool first = true;
	int err = 0;

	if (!b)
		return -ENOMEM;
	o->n = 0;
	while (!err) {
		__u32 n = BATCH;
		int end = bpf_map_lookup_batch(o->map, first ? NULL : &position, &next, b->key,
					       b->value, &n, NULL);

		if (end && errno != ENOENT) {
			err = -errno;
			break;
		}
		err = add_batch(o, b, n);
		if (end)
			break;
		position = next;
		first = false;
	}
	free(b);
	if (o->n)
		qsort(o->entry, o->n, sizeof(o->entry[0]), order);
	drop_doubles(o);
	return err;
}

void owners_free(struct owners *o)
{
	free(o->entry);
	memset(o, 0, sizeof(*o));
}

/* Returns the index of the first entry whose key is not below `key`. */
static size_t first_from(const struct owners *o, const struct fs_resident_key *key)
{
	size_t low = 0, high = o->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (order_keys(&o->entry[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns whether an entry is of a process, for a page that it had at its time. */
static bool is_of(const struct owner_entry *e, const struct owner_process *of)
{
	return e->key.pid == of->pid && e->is.start_ns == of->start_ns &&
	       (e->is.how != FS_RESIDENT_LEFT || e->is.frame > of->at_ns);
}

struct owner_entry *owners_find(const struct owners *o, const struct owner_process *of, __u32 unit,
				__u64 number)
{
	const struct fs_resident_key key = {of->pid, unit, number};
	size_t at = first_from(o, &key);
	struct owner_entry *e = at < o->n ? &o->entry[at] : NULL;

	return e && !order_keys(&e->key, &key) && is_of(e, of) ? e : NULL;
}

bool owners_read_one(const struct owners *o, const struct owner_process *of, __u32 unit,
		     __u64 number, struct owner_entry *ret)
{
	*ret = (struct owner_entry){.key = {of->pid, unit, number}};
	return !bpf_map_lookup_elem(o->map, &ret->key, &ret->is) && is_of(ret, of);
}

/* Returns whether an entry is of a page of a process in a range of 2 MiB, at any time. */
static bool is_within(const struct owner_entry *e, const struct owner_process *of, __u64 huge)
{
	return e->key.pid == of->pid && e->key.unit == FS_RESIDENT_PAGE &&
	       e->key.number >> FS_RESIDENT_HUGE_SHIFT == huge;
}

/* Returns the entry at an index if it is within a range of 2 MiB of a process, or NULL. */
static struct owner_entry *entry_within(const struct owners *o, size_t at,
					const struct owner_process *of, __u64 huge)
{
	return at < o->n && is_within(&o->entry[at], of, huge) ? &o->entry[at] : NULL;
}

struct owner_entry *owners_nearest(const struct owners *o, const struct owner_process *of,
				   __u64 page)
{
	const struct fs_resident_key key = {of->pid, FS_RESIDENT_PAGE, page};
	const __u64 huge = page >> FS_RESIDENT_HUGE_SHIFT;
	size_t up = first_from(o, &key), down = up - 1; /* SIZE_MAX: below the first entry */
	struct owner_entry *above, *below;

	while ((above = entry_within(o, up, of, huge)) && !is_of(above, of))
		up++;
	while ((below = entry_within(o, down, of, huge)) && !is_of(below, of))
		down--;
	if (!above || !below)
		return above ?: below;
	return above->key.number - page < page - below->key.number ? above : below;
}

bool owners_within(const struct owners *o, const struct owner_process *of, __u64 huge,
		   __u64 since_ns)
{
	const struct fs_resident_key key = {of->pid, FS_RESIDENT_PAGE,
					    huge << FS_RESIDENT_HUGE_SHIFT};

	for (size_t i = first_from(o, &key); i < o->n && is_within(&o->entry[i], of, huge); i++)
		if (is_of(&o->entry[i], of) && o->entry[i].is.since_ns > since_ns)
			return true;
	return false;
}

void owners_change(const struct owners *o, const struct owner_entry *e)
{
	struct fs_resident now;

	if (!bpf_map_lookup_elem(o->map, &e->key, &now) && now.since_ns == e->is.since_ns)
		bpf_map_update_elem(o->map, &e->key, &e->is, BPF_EXIST);
}

void owners_drop(const struct owners *o, const struct owner_entry *e, __u64 before_ns)
{
	struct fs_resident now;

	if (bpf_map_lookup_elem(o->map, &e->key, &now) || now.since_ns > before_ns)
		return;
	bpf_map_delete_elem(o->map, &e->key);
}
