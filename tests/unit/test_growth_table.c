// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the table of growth by call stack. A row must be sent after each growth, and entries must
 * be released before the table is full.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/growth_table.h"
#include "tap.h"

#define EARLY 1000 /* time of the first row in ns; each row is 1 ns later */

static struct growth row[GROWTH_MAX];
static struct fs_spare spare[GROWTH_MAX];
static struct fs_shared shared;
static struct growth_table t;
static uint64_t now, told, told_added;
static uint32_t alive_from; /* processes with a lower pid have exited */

static int count_told(void *ctx, const struct record *h)
{
	const struct growth_record *r = (const void *)h;

	told++;
	told_added += r->g.added;
	return ctx ? -1 : 0;
}

static const struct sink sink = {.take = count_told};

static bool ended(void *ctx, const struct process_key *of)
{
	return of->pid < alive_from;
}

static void begin(void)
{
	memset(row, 0, sizeof(row));
	memset(&shared, 0, sizeof(shared));
	memset(&t, 0, sizeof(t));
	t.row = row;
	t.rows = GROWTH_MAX;
	t.spare = spare;
	t.shared = &shared;
	now = EARLY;
	told = told_added = 0;
	alive_from = 0;
}

/* Takes an entry as BPF programs do. Returns the entry's index; GROWTH_MAX: none is free. */
static uint32_t take_place(void)
{
	while (shared.growth_used == GROWTH_MAX) {
		const struct fs_spare *s = &spare[shared.growth_taken % GROWTH_MAX];

		if (shared.growth_taken == shared.growth_spared)
			return GROWTH_MAX;
		shared.growth_taken++;
		if (row[s->place].last_ns == s->last_ns)
			return s->place;
	}
	return shared.growth_used++;
}

static uint32_t grow(uint32_t pid, enum what what, uint64_t added, uint64_t removed)
{
	uint32_t place = take_place();

	if (place < GROWTH_MAX) {
		row[place] = (struct growth){.subject.pid = pid,
					     .what = what,
					     .added = added,
					     .removed = removed,
					     .first_ns = now,
					     .last_ns = now};
		now++;
	}
	return place;
}

static void look(void)
{
	growth_table_send(&t, &sink);
	growth_table_expire(&t, ended, NULL, now);
}

static void fill(uint32_t pid, enum what what, uint64_t added, uint64_t removed)
{
	while (shared.growth_used < GROWTH_MAX)
		grow(pid, what, added, removed);
}

static void test_telling(void)
{
	uint32_t place;

	begin();
	place = grow(1, WHAT_FDS, 1, 0);
	look();
	look();
	is_u64(told, 1, "a row that did not grow is told once");
	row[place].added++;
	row[place].last_ns = EARLY - 1; /* the CPU that wrote the row had read its clock earlier */
	look();
	is_u64(told, 2, "one that grew is told again, whatever the clock of its CPU says");
	row[place].last_ns = 0;
	look();
	is_u64(told, 2, "one that is being made is not told");
}

static void test_held(void)
{
	begin();
	fill(1, WHAT_FDS, 2, 1);
	look();
	is_u64(shared.growth_spared, 0, "what is held by a living process keeps its place");
	is_u64(grow(1, WHAT_FDS, 1, 0), GROWTH_MAX, "and so the table is full");
	alive_from = 2;
	look();
	is_u64(shared.growth_spared, GROWTH_SPARE, "of one that has ended half is given back");
	look();
	is_u64(shared.growth_spared, GROWTH_SPARE, "and no more than that, nor twice");
	is_u64(grow(2, WHAT_FDS, 1, 0), 0, "the row that grew longest ago first");
}

static void test_closed(void)
{
	uint32_t place;

	begin();
	fill(1, WHAT_FDS, 3, 3);
	look();
	is_u64(shared.growth_spared, GROWTH_SPARE, "rows of what is closed are given back");
	row[0].added++; /* row 0 grows again before its entry is reused */
	row[0].last_ns = now++;
	place = grow(1, WHAT_FDS, 1, 0);
	is_u64(place, 1, "one that grew meanwhile stays what it is");
	told_added = 0;
	look();
	is_u64(told_added, 4 + 1, "both are told");
}

static void test_not_told(void)
{
	struct growth_table before;

	begin();
	fill(1, WHAT_MAPS, 1, 0);
	before = t;
	growth_table_expire(&t, ended, NULL, now);
	is_u64(shared.growth_spared, 0, "a row that was not told keeps its place");
	t = before;
	growth_table_send(&t, &sink);
	growth_table_expire(&t, ended, NULL, EARLY + 10);
	is_u64(shared.growth_spared, 10, "and one that is younger than the look");
	look();
	is_u64(shared.growth_spared, GROWTH_SPARE, "rows of mappings, once they are told");
}

/* As many entries are released as are needed for the free ones, those of the oldest rows first. */
static void test_order(void)
{
	begin();
	while (shared.growth_used < GROWTH_MAX - GROWTH_SPARE)
		grow(1, WHAT_MAPS, 1, 0);
	look();
	is_u64(shared.growth_spared, 0, "while half of the table is free, nothing is given back");
	grow(1, WHAT_MAPS, 1, 0);
	look();
	is_u64(shared.growth_spared, 1, "with one row more, one is");
	begin();
	fill(1, WHAT_MAPS, 1, 0);
	for (uint32_t i = 0; i < GROWTH_MAX; i++)
		row[i].last_ns = now + GROWTH_MAX - i;
	look();
	is_u64(shared.growth_spared, GROWTH_SPARE, "half of a full table is given back");
	is_u64(spare[0].place, GROWTH_MAX - 1, "the row that grew longest ago is the first");
	is_u64(spare[GROWTH_SPARE - 1].place, GROWTH_MAX - GROWTH_SPARE, "and the last one");
}

static void test_never_used(void)
{
	begin();
	fill(1, WHAT_FDS, 1, 0);
	row[7].last_ns = row[7].added =
		/*
		 * two threads created a row for the same key, so one of the two entries stays
		 * unused
		 */
		0;
	look();
	is_u64(shared.growth_spared, 1, "a place that was never used is given back");
	is_u64(grow(1, WHAT_FDS, 1, 0), 7, "and taken");
}

/*
 * Simulates random growth. All growth must be sent, and the fds of processes that live must keep
 * their row.
 */
static bool random_history(unsigned int seed)
{
	uint64_t made = 0, held[GROWTH_MAX] = {};
	bool good = true;

	begin();
	srandom(seed);
	for (int step = 0; step < 20; step++) {
		for (int n = random() % GROWTH_MAX; n; n--) {
			bool kept = random() % 8 == 0;
			uint32_t pid = alive_from + random() % 4;
			uint32_t place = grow(pid, WHAT_FDS, 1, !kept);

			if (place == GROWTH_MAX)
				break;
			made++;
			/* held[] contains the pid + 1 */
			good &= !held[place] || held[place] <= alive_from;
			held[place] = kept ? pid + 1 : 0;
		}
		look();
		alive_from += random() % 2;
	}
	return good && told_added == made;
}

int main(void)
{
	int good = 0;

	test_telling();
	test_held();
	test_closed();
	test_not_told();
	test_order();
	test_never_used();
	for (unsigned int seed = 0; seed < 200; seed++)
		good += random_history(seed);
	is_u64(good, 200, "random histories: all is told, what is held is kept");
	return tap_done();
}
