// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how many bytes a record takes in a chunk before deflation, by the description in
 * docs/design/recording-format.md. A record of a process that is known takes a few bytes: only what
 * changed since its last record.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "fixture.h"
#include "probe/record_packing.h"
#include "tap.h"

#define UNCHANGED 4 /* bytes of a record that tells nothing new: kind, time, reference, end */

static struct packer *packer;

static void begin(void)
{
	packer_free(packer);
	if (packer_make(&packer))
		abort();
}

/* Returns how many bytes a record takes. */
static size_t bytes_of(const struct record *h)
{
	size_t before = packer_bytes(packer);

	if (packer_add(packer, h))
		abort();
	return packer_bytes(packer) - before;
}

static struct process_record process(uint32_t pid, uint64_t start_ns)
{
	struct process_record r = process_record(pid, start_ns, SECOND);

	r.g.min_flt = 1000;
	snprintf(r.g.comm, sizeof(r.g.comm), "name-%u", pid);
	return r;
}

static void test_changes(void)
{
	struct process_record r = process(42, 7);
	size_t first;

	begin();
	first = bytes_of(&r.h);
	ok(first > 20, "the first record of a process has all values: %zu bytes", first);
	is_u64(bytes_of(&r.h), UNCHANGED, "a record that tells nothing new");
	r.g.min_flt++;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "one value: a field and its difference");
	is_u64(bytes_of(&r.h), UNCHANGED, "the same value again");
	r.g.min_flt--;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "a value that falls");
	r.g.min_flt += 63;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "a difference of 63 has one byte");
	r.g.min_flt += 64;
	is_u64(bytes_of(&r.h), UNCHANGED + 3, "a difference of 64 has two");
	r.g.min_flt -= 64;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "one of -64 has one");
	r.g.min_flt -= 65;
	is_u64(bytes_of(&r.h), UNCHANGED + 3, "one of -65 has two");
	r.g.min_flt++;
	r.g.maj_flt++;
	is_u64(bytes_of(&r.h), UNCHANGED + 4, "two values");
	strcpy(r.g.comm, "abc");
	is_u64(bytes_of(&r.h), UNCHANGED + 5, "a text: its field, its length and its characters");
	is_u64(bytes_of(&r.h), UNCHANGED, "the same text again");
	strcpy(r.g.comm, "abd");
	is_u64(bytes_of(&r.h), UNCHANGED + 5, "another text of this length");
	strcpy(r.g.comm, "ab");
	is_u64(bytes_of(&r.h), UNCHANGED + 4, "a shorter one, which is the begin of the last");
	strcpy(r.g.comm, "ab\0x");
	is_u64(bytes_of(&r.h), UNCHANGED, "what follows the end of a text does not count");
}

static void test_times(void)
{
	static const struct {
		int64_t ns;
		size_t bytes;
	} rows[] = {{0, 1},   {1, 1},	{-1, 1},   {63, 1},   {64, 2},
		    {-64, 1}, {-65, 2}, {8191, 2}, {8192, 3}, {1000000000, 5}};
	struct process_record r = process(42, 7);

	begin();
	bytes_of(&r.h);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r.h.t_ns += rows[i].ns;
		ok(bytes_of(&r.h) == UNCHANGED - 1 + rows[i].bytes, "%lld ns after the last one",
		   (long long)rows[i].ns);
	}
}

/* A process is found by its pid and its start. Records in the order of the last scan cost least. */
static void test_processes(void)
{
	enum { MANY = 40 };
	struct process_record one[MANY];
	size_t all = 0, alternating = 0;

	begin();
	for (uint32_t i = 0; i < MANY; i++) {
		/* the same pid twice, and the same start twice */
		one[i] = process(100 + i / 2, 1000 + (i + 1) / 2);
		one[i].g.min_flt = 1000000 * i;
		bytes_of(&one[i].h);
	}
	for (uint32_t i = 0; i < MANY; i++)
		all += bytes_of(&one[i].h);
	is_u64(all, MANY * UNCHANGED, "all in order");
	/* the first one is 36 places before the last one, for which its reference has two bytes */
	for (uint32_t i = 0; i < 20; i++)
		alternating += bytes_of(&one[i % 2 ? 3 : 4].h);
	is_u64(alternating, 20 * UNCHANGED + 1, "two of them in turn");
	is_u64(bytes_of(&one[34].h), UNCHANGED, "a process 30 places behind the next one");
	is_u64(bytes_of(&one[4].h), UNCHANGED, "one 31 places before the next one");
	is_u64(bytes_of(&one[36].h), UNCHANGED + 1, "31 places behind it cost a byte more");
	is_u64(bytes_of(&one[5].h), UNCHANGED + 1, "as do 32 places before it");
}

/* A process that ends needs no place: the next one with its pid is another process. */
static void test_ends(void)
{
	struct process_record r = process(42, 7), last = process(43, 8), next = process(44, 9);

	begin();
	bytes_of(&r.h);
	last.g.flags = PROC_FINAL;
	bytes_of(&last.h);
	bytes_of(&last.h);
	bytes_of(&next.h);
	is_u64(bytes_of(&r.h), UNCHANGED, "the only process before");
	is_u64(bytes_of(&next.h), UNCHANGED, "is next to the one behind");
	r.g.flags = PROC_FINAL;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "the end of a process that is known");
}

/* A short record has no counters. They stay as they were. */
static void test_short(void)
{
	struct process_record r = process(42, 7);

	begin();
	r.c.fault_kind[0] = 77;
	bytes_of(&r.h);
	r.h.len = offsetof(struct process_record, c);
	r.c.fault_kind[0] = 0;
	is_u64(bytes_of(&r.h), UNCHANGED, "a short record");
	r.h.len = sizeof(r);
	r.c.fault_kind[0] = 77;
	is_u64(bytes_of(&r.h), UNCHANGED, "the counters of a whole one are those from before");
	r.c.fault_kind[0]++;
	is_u64(bytes_of(&r.h), UNCHANGED + 2, "one more fault");
}

/* Records of other kinds refer to the last record of their kind. */
static void test_kinds(void)
{
	struct tick_record tick = tick_record(SECOND);
	struct refused_record refused = refused_record(42, CALL_MMAP, ENOMEM);
	struct process_record r = process(42, 7);

	begin();
	refused.h.t_ns = SECOND;
	bytes_of(&tick.h);
	bytes_of(&refused.h);
	bytes_of(&r.h);
	is_u64(bytes_of(&tick.h), UNCHANGED, "a scan is known by its kind");
	is_u64(bytes_of(&refused.h), UNCHANGED, "an event like the last one");
	is_u64(bytes_of(&r.h), UNCHANGED, "a process");
	refused.subject.pid++;
	is_u64(bytes_of(&refused.h), UNCHANGED + 2, "an event of another process");
}

static void test_refused(void)
{
	struct process_record r = process(42, 7);
	size_t before;

	begin();
	bytes_of(&r.h);
	before = packer_bytes(packer);
	ok(packer_holds(packer), "a record waits");
	r.h.len--;
	ok(packer_add(packer, &r.h) == -EINVAL, "a record that is too short");
	r.h.len += 2;
	ok(packer_add(packer, &r.h) == -EINVAL, "one that is too long");
	r.h.len = offsetof(struct process_record, c) + 1;
	ok(packer_add(packer, &r.h) == -EINVAL, "one that is neither whole nor short");
	is_u64(packer_bytes(packer), before, "nothing was added");
	packer_begin_anew(packer);
	ok(!packer_holds(packer) && !packer_bytes(packer), "an empty chunk");
	r.h.len = sizeof(r);
	is_u64(bytes_of(&r.h), before, "begins with all values again");
}

int main(void)
{
	test_changes();
	test_times();
	test_processes();
	test_ends();
	test_short();
	test_kinds();
	test_refused();
	packer_free(packer);
	return tap_done();
}
