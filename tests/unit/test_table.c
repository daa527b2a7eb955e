// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/table.h"

#include <string.h>

#include "tap.h"

#define ENTRIES 1000
#define CHAINS	64

struct entry {
	struct table_link link;
	int number;
};

static struct entry entries[ENTRIES];
static int dropped;

/*
 * Three entries each have the same hash. The low bits of all hashes are equal, so that all entries
 * are in one chain.
 */
static uint64_t hash_of(int number)
{
	return number / 3 * 0x100000001ULL;
}

static struct entry *find(const struct table *t, int number)
{
	struct entry *e = table_find(t, hash_of(number));

	while (e && e->number != number)
		e = table_next(&e->link, hash_of(number));
	return e;
}

static int count(const struct table *t)
{
	int n = 0;

	for (struct table_link *l = table_each(t, NULL); l; l = table_each(t, l))
		n++;
	return n;
}

static void drop(struct table_link *l)
{
	dropped++;
	memset(l, 0xff, sizeof(*l));
}

int main(void)
{
	struct table t = {};
	int found = 0, gone = 0;

	ok(!table_find(&t, 1) && !table_each(&t, NULL), "nothing is in a table that was not made");
	ok(!table_make(&t, CHAINS) && !count(&t), "nor in one that was");
	for (int i = 0; i < ENTRIES; i++) {
		entries[i].number = i;
		table_add(&t, &entries[i].link, hash_of(i));
	}
	ok(!table_make(&t, CHAINS), "making it again changes nothing");
	for (int i = 0; i < ENTRIES; i++)
		found += find(&t, i) == &entries[i];
	is_u64(found, ENTRIES, "every entry is found");
	is_u64(count(&t), ENTRIES, "each is passed once");
	ok(!find(&t, ENTRIES + 5), "none that was not added");
	for (struct table_link *l = table_each(&t, NULL), *next; l; l = next) {
		next = table_each(&t, l);
		if (((struct entry *)l)->number % 2)
			table_remove(&t, l);
	}
	found = 0;
	for (int i = 0; i < ENTRIES; i++) {
		found += i % 2 == 0 && find(&t, i) == &entries[i];
		gone += i % 2 && !find(&t, i);
	}
	is_u64(found, ENTRIES / 2, "those that stay are found");
	is_u64(gone, ENTRIES / 2, "those that were removed on the way are not");
	table_free(&t, drop);
	is_u64(dropped, ENTRIES / 2, "each that is left is dropped once");
	ok(!table_find(&t, 0), "and the table is empty");
	return tap_done();
}
