// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests a table with pids as keys: each entry is found until it is removed. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/pids.h"
#include "tap.h"

#define MOST  4096
#define PIDS  20000
#define STEPS 400000
#define ALIVE 1000

struct entry {
	uint64_t value;
	uint32_t pid;
};

static struct pids table(void)
{
	return (struct pids){.entry_bytes = sizeof(struct entry),
			     .pid_at = offsetof(struct entry, pid),
			     .most = MOST};
}

static size_t count(const struct pids *t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->slots; i++)
		n += pids_at(t, i) != NULL;
	return n;
}

/* Adds and removes random pids, and compares the table with an array. */
static void test_beside_an_array(void)
{
	static uint64_t want[PIDS + 1];
	struct pids t = table();
	size_t alive = 0, wrong = 0;
	uint32_t dice = 1;

	for (int i = 0; i < STEPS; i++) {
		uint32_t pid = (dice = dice * 1664525 + 1013904223) / (UINT32_MAX / PIDS + 1) + 1;
		struct entry *e = pids_find(&t, pid);

		wrong += (e != NULL) != (want[pid] != 0) || (e && e->value != want[pid]);
		if (e) {
			pids_remove(&t, e);
			want[pid] = 0;
			alive--;
		} else if (alive < ALIVE) {
			e = pids_add(&t, pid);
			wrong += !e || e->pid != pid || e->value;
			e->value = want[pid] = i + 1;
			alive++;
		}
	}
	is_u64(wrong, 0, "found with its value, or not there");
	is_u64(t.used, alive, "as many as are alive");
	is_u64(count(&t), alive, "each in one slot");
	is_u64(t.slots, 2048, "room for those, not for all that ever were");
	pids_free(&t);
}

static void test_cap(void)
{
	struct pids t = table();
	uint32_t n = 0;

	ok(!pids_find(&t, 1), "nobody is in an empty one");
	while (pids_add(&t, n + 1))
		n++;
	is_u64(n, MOST / 4 * 3, "a quarter stays free");
	ok(pids_is_full(&t) && !pids_find(&t, n + 1) && pids_find(&t, n),
	   "who came too late is not there");
	pids_remove(&t, pids_find(&t, 1));
	ok(pids_add(&t, n + 1) != NULL, "there is room for one that takes another's place");
	pids_free(&t);
	is_u64(t.slots, 0, "and none when it is freed");
}

int main(void)
{
	test_beside_an_array();
	test_cap();
	return tap_done();
}
