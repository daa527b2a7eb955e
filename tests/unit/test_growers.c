// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests growth by file name: which names are reported for a process, and which call stack added
 * most of the growth.
 */
#include "fixture.h"
#include "model/growers.h"
#include "model/growth_archive.h"
#include "tap.h"

#define TMPFS 0x01021994

static const struct process_key me = {.pid = 10, .start_ns = 1};
static struct model m;
static uint32_t place;

static struct growth_record row(const char *name, uint64_t added, uint64_t removed, int32_t stack)
{
	struct growth_record r = RECORD(growth_record, RECORD_GROWTH, SECOND);

	r.place = place++;
	r.g.subject = me;
	r.g.call = CALL_MMAP;
	r.g.what = WHAT_MAPS;
	r.g.flags = FILE_KNOWN;
	r.g.mode = 0100600;
	r.g.magic = TMPFS;
	r.g.stack = stack;
	r.g.added = added;
	r.g.removed = removed;
	snprintf(r.g.name, sizeof(r.g.name), "%s", name);
	return r;
}

static void add(struct growth_record r)
{
	model_take(&m, &r.h);
}

static void test_sorts(void)
{
	struct growth_record other = row("of_another", 999, 0, 1);
	struct grower g[4];
	uint64_t added;

	/* BPF programs replace a number by '#' and by 0x01 bytes that fill its place. */
	add(row("torch_#\x01\x01\x01_#\x01", 60, 0, 5));
	add(row("torch_#\x01_#", 30, 10, 6));
	add(row("model.bin", 70, 70, 7));
	add(row("cache", 15, 0, 8));
	add(row("gone", 0, 4, 9));
	other.g.subject.start_ns = 2;
	add(other);
	other = row("descriptors", 999, 0, 1);
	other.g.what = WHAT_FDS;
	add(other);
	is_u64(growers_of(&m, &me, WHAT_MAPS, g, 4, &added), 3, "sorts that grew");
	is_u64(added, 175, "all that was added");
	is_str(g[0].name, "torch_# in tmpfs", "the one with most left is first");
	ok(g[0].added == 90 && g[0].removed == 14,
	   "rows of one sort are added up; what anybody unmapped may have been of it");
	ok(g[0].stack == 5 && g[0].by_stack == 60, "by the stack that added most of it");
	is_str(g[1].name, "cache in tmpfs", "then the next");
	is_str(g[2].name, "model.bin in tmpfs", "one of which nothing is left is last");
	is_u64(growers_of(&m, &me, WHAT_MAPS, g, 1, &added), 1, "no more than there is room for");
	is_u64(added, 175, "but the sum is of all");
	is_u64(growers_of(&m, &me, WHAT_FDS, g, 4, &added), 1, "descriptors apart");
	ok(g[0].removed == 0, "of which nothing is gone: who closes says whose it was");
	is_u64(growers_of(&m, &(struct process_key){.pid = 3}, WHAT_MAPS, g, 4, &added), 0,
	       "one that is not known");
	is_u64(added, 0, "nothing was added");
}

static void stack_reads(int32_t stack, const char *text)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = me;
	r.stack = stack;
	snprintf(r.text, sizeof(r.text), "%s", text);
	model_take(&m, &r.h);
}

static void early_reads(int32_t stack, const char *text)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = me;
	r.stack = stack;
	r.flags = FRAMES_SHORT;
	r.end = STACK_END_MISSING;
	snprintf(r.text, sizeof(r.text), "%s", text);
	model_take(&m, &r.h);
}

/*
 * Tests that the growth of a stack that was cut short, because its process had no unwind tables
 * yet, is added to the whole stack that begins with its frames, if there is exactly one.
 */
static void test_early_stacks(void)
{
	struct grower g[4];
	uint64_t added;

	stack_reads(31, "mmap\nleak\nmain");
	stack_reads(32, "mmap\nother\nmain");
	stack_reads(33, "brk\nmalloc\nmain");
	early_reads(34, "mmap\nleak");
	early_reads(35, "mmap");
	early_reads(36, "mmap\nlea");
	early_reads(37, "brk");
	add(row("a.so", 100, 0, 31));
	add(row("a.so", 50, 0, 32));
	add(row("b.so", 30, 0, 33));
	add(row("a.so", 7, 0, 34));
	add(row("a.so", 6, 0, 35));
	add(row("a.so", 5, 0, 36));
	add(row("a.so", 4, 0, 37));
	growers_by_place(&m, &me, WHAT_MAPS, g, 4, &added);
	ok(g[0].added == 107 && g[0].stack == 31,
	   "a short stack counts for the one whole stack that begins with its frames");
	ok(g[1].added == 50 && g[2].added == 30,
	   "a short stack that several whole stacks begin with counts for none of them");
	is_u64(added, 202, "the sum of all stacks is unchanged");
}

/* Tests that the growth of stacks whose text is equal is added up and shown as one stack. */
static void test_places(void)
{
	struct grower g[4];
	uint64_t added;

	stack_reads(21, "mmap\nleak");
	stack_reads(22, "mmap\nleak");
	stack_reads(23, "mmap\nother");
	stack_reads(24, "[unknown]");
	stack_reads(25, "[unknown]");
	add(row("a.so", 10, 0, 22));
	add(row("b.so", 15, 0, 21));
	add(row("a.so", 12, 0, 23));
	add(row("c.so", 9, 0, -1));
	add(row("a.so", 3, 0, 24));
	add(row("a.so", 3, 0, 25));
	is_u64(growers_by_place(&m, &me, WHAT_MAPS, g, 4, &added), 4, "places, as many as asked");
	is_u64(added, 52, "of all");
	ok(g[0].added == 25 && g[0].stack == 21, "two stacks that read alike are the first");
	is_str(g[0].name, "b.so in tmpfs", "by its largest sort");
	ok(g[1].added == 12 && g[1].stack == 23, "then the next");
	ok(g[2].added == 9 && g[2].stack == -1 && !g[2].known, "then those of no stack");
	ok(g[3].added == 3, "those without a name are not one place");
	is_u64(growers_of(&m, &me, WHAT_MAPS, g, 4, &added), 3, "the same by sort");
	ok(g[0].added == 28 && g[0].known == 28, "a.so of four stacks");
	ok(g[0].stack == 23 && g[0].by_stack == 12, "and the place that made most of it");
	ok(g[2].stack == -1 && !g[2].by_stack, "of c.so no stack is known");
}

static void is_named(uint32_t call, uint32_t flags, uint32_t mode, uint64_t magic, const char *file,
		     const char *name)
{
	struct growth g = {.call = call, .flags = flags, .mode = mode, .magic = magic};
	char text[GROWER_NAME];

	snprintf(g.name, sizeof(g.name), "%s", file);
	growth_name(&g, text, sizeof(text));
	is_str(text, name, name);
}

static void test_names(void)
{
	is_named(CALL_MMAP, FILE_KNOWN | FILE_DELETED, 0100600, TMPFS, "torch_1",
		 "torch_# (deleted) in tmpfs");
	is_named(CALL_OPEN, FILE_KNOWN, 0100600, 0x1234, "log.7", "log.7");
	is_named(CALL_OPEN, FILE_KNOWN, 0100600, 0xef53, "", "file without a name in ext4");
	is_named(CALL_SOCKET, FILE_KNOWN, 0140777, 0, "TCP", "socket");
	is_named(CALL_PIPE, FILE_KNOWN, 0010600, 0, "", "pipe");
	is_named(CALL_EVENTFD, FILE_KNOWN | FILE_DELETED, 0600, 0, "[eventfd]", "[eventfd]");
	is_named(CALL_MMAP, 0, GROWTH_ANON(3, 0x22), 0, "", "anonymous rw");
	is_named(CALL_MMAP, 0, GROWTH_ANON(3, 0x21), 0, "", "anonymous shared rw");
	is_named(CALL_MMAP, 0, GROWTH_ANON(0, 0x22), 0, "",
		 "anonymous, no rights (reserved, or a guard)");
	is_named(CALL_MMAP, 0, GROWTH_ANON(3, 0x20022), 0, "", "thread stack");
	is_named(CALL_MMAP, 0, GROWTH_ANON(3, 0x40022), 0, "", "huge pages");
	is_named(CALL_MPROTECT, 0, 0, 0, "", "split by mprotect");
	is_named(CALL_MMAP, FILE_KNOWN, 0100600, 0,
		 "\xff\x01~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
		 "\xff\x01~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

/*
 * Tests more names than the maximum. The others share one row, and the totals must stay complete.
 */
static void test_many(void)
{
	struct grower g[300];
	uint64_t added, sum = 0;
	char name[16];
	size_t n;

	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "%c%c%c", 'a' + i / 26 % 26, 'a' + i % 26, 'x');
		add(row(name, 1000, 0, i));
	}
	n = growers_of(&m, &me, WHAT_MAPS, g, 300, &added);
	for (size_t i = 0; i < n; i++)
		sum += g[i].added;
	ok(n == 256 && sum == added && added == 400175, "400 sorts");
	is_str(g[0].name, "others", "what is beyond the last one is one sort");
}

static void test_hostile(void)
{
	struct growth_record r = row("x", 1, 0, 1);
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);
	struct grower g;
	uint64_t added;

	r.place = MODEL_GROWTH_MAX;
	is_u64(model_take(&m, &r.h), 0, "a place that there is not");
	r.place = GROWTH_MAX - 1;
	r.g.added = r.g.removed = UINT64_MAX;
	r.g.call = r.g.what = 0xffff;
	r.g.subject = me;
	is_u64(model_take(&m, &r.h), 0, "numbers that there are not");
	growers_of(&m, &me, WHAT_MAPS, &g, 1, &added);
	f.subject = me;
	f.stack = -1;
	is_u64(model_take(&m, &f.h), 0, "no stack");
	f.stack = 5;
	strcpy(f.text, "one\ntwo\n");
	model_take(&m, &f.h);
	strcpy(f.text, "three\n");
	model_take(&m, &f.h);
	ok(model_frames(&m, &me, 5) && !strcmp(model_frames(&m, &me, 5)->text, "one\ntwo\n"),
	   "the first names of a stack stay");
	f.stack = 7;
	f.end = STACK_END_MISSING;
	model_take(&m, &f.h);
	strcpy(f.text, "three\nfour\n");
	f.end = STACK_END_ENTRY;
	model_take(&m, &f.h);
	strcpy(f.text, "five\n");
	model_take(&m, &f.h);
	ok(model_frames(&m, &me, 7) && !strcmp(model_frames(&m, &me, 7)->text, "three\nfour\n"),
	   "the names of a stack without a table are replaced once");
	ok(!model_frames(&m, &me, 6) && !model_frames(&m, &me, -1) &&
		   !model_frames(&m, &me, STACKS_MAX),
	   "stacks without names");
}

/* Tests that a row with a new key replaces the old row: BPF programs reuse table entries. */
static void test_taken_places(void)
{
	struct growth_record r = row("leak", 5, 0, 1);
	struct grower g[300];
	uint64_t added, made = 0;

	r.g.what = WHAT_FDS;
	for (int i = 0; i < 400; i++) {
		r.place = i % 2;
		r.g.first_ns = i + 1;
		snprintf(r.g.name, sizeof(r.g.name), "%c%c", 'g' + i % 20, 'g' + i / 20 % 10);
		r.g.added = 2;
		r.g.removed = i == 333 ? 0 : 2;
		add(r);
		made += 2;
	}
	growers_of(&m, &me, WHAT_FDS, g, 300, &added);
	is_u64(added, made, "what stood in a place before is kept");
	ok(g[0].added == 4 && g[0].removed == 2, "rows of one name are one");
	is_str(g[0].name, "tm in tmpfs", "and the one that leaks comes first");
}

static struct growth_record former(uint32_t pid, uint32_t nth)
{
	struct growth_record r = row("", 1, 0, nth);

	r.place = 0;
	r.g.subject = (struct process_key){.pid = pid, .start_ns = 1};
	r.g.first_ns = nth + 1;
	return r;
}

/* Tests that counts from samples stay known as such, also when rows are archived and added up. */
static void test_sampled(void)
{
	struct growth_record r = row("brief", 80, 80, 1), first = r;
	struct grower g[2];
	uint64_t added;

	r.g.what = first.g.what = WHAT_FDS;
	for (int i = 0; i < 3; i++) {
		r.g.first_ns = i + 1;
		r.g.flags = FILE_KNOWN | (i == 1 ? GROWTH_SAMPLED : 0);
		add(r);
	}
	first.g.first_ns = 9;
	snprintf(first.g.name, sizeof(first.g.name), "exact");
	add(first);
	is_u64(growers_of(&m, &me, WHAT_FDS, g, 2, &added), 2, "two names");
	is_u64(added, 4 * 80, "all rows are added up");
	for (int i = 0; i < 2; i++)
		ok(g[i].sampled == !strcmp(g[i].name, "brief in tmpfs"),
		   "whether %s is an estimate", g[i].name);
	is_u64(m.growths, GROWTH_MAX + 1,
	       "rows that differ in this flag alone are archived as one");
}

/* Names of equal growth: first those that were added more often, then by name. */
static void test_ties(void)
{
	struct grower g[5];
	uint64_t added;

	add(row("b", 5, 0, 1));
	add(row("c", 9, 4, 1));
	add(row("a", 5, 0, 1));
	add(row("d", 5, 5, 1));
	add(row("e", 3, 4, 1));
	is_u64(growers_of(&m, &me, WHAT_MAPS, g, 5, &added), 5, "five names");
	is_str(g[0].name, "c in tmpfs", "the one that was added more often");
	is_str(g[1].name, "a in tmpfs", "then by name");
	is_str(g[2].name, "b in tmpfs", "the next");
	is_str(g[3].name, "d in tmpfs", "nothing is left of one");
	is_str(g[4].name, "e in tmpfs", "and less than nothing counts as much");
	is_u64(growers_of(&m, &me, WHAT_MAPS, g, 0, &added), 0, "no room");
}

/* Of stacks that added as much to a name, the one with the lower number is shown. */
static void test_equal_stacks(void)
{
	struct grower g[2];
	uint64_t added;

	add(row("a", 5, 0, 8));
	add(row("a", 5, 0, 7));
	add(row("a", 4, 0, -1));
	growers_of(&m, &me, WHAT_MAPS, g, 2, &added);
	ok(g[0].stack == 7 && g[0].by_stack == 5 && g[0].known == 10 && g[0].added == 14,
	   "of a name");
	add(row("b", 5, 0, 7));
	is_u64(growers_by_place(&m, &me, WHAT_MAPS, g, 2, &added), 2, "two of three places");
	ok(g[0].stack == 7 && g[0].added == 10, "the place with most");
	is_str(g[0].name, "a in tmpfs", "by the name that came first");
	ok(g[1].stack == 8 && g[1].added == 5, "and the next");
}

/* Rows with numbers from GROWTH_MAX on are archived ones: equal ones are added up. */
static void test_archived_places(void)
{
	struct growth_record r = row("kept", 5, 2, 1);
	struct grower g;
	uint64_t added;

	r.place = GROWTH_MAX;
	add(r);
	r.place = GROWTH_MAX + 1;
	r.g.added = 7;
	r.g.removed = 0;
	add(r);
	is_u64(m.growths, GROWTH_MAX + 1, "two that are equal are one");
	r.g.mode = 0100644;
	r.place = MODEL_GROWTH_MAX - 1;
	add(r);
	is_u64(m.growths, GROWTH_MAX + 2, "another mode of the file is another one");
	r.place = MODEL_GROWTH_MAX;
	add(r);
	is_u64(m.growths, GROWTH_MAX + 2, "a number that there is not");
	is_u64(growers_of(&m, &me, WHAT_MAPS, &g, 1, &added), 1, "one name");
	ok(added == 19 && g.added == 19 && g.removed == 2, "with the sum of its rows");
	r = row("last", 1, 0, 1);
	r.place = GROWTH_MAX - 1;
	add(r);
	ok(m.growths == GROWTH_MAX + 2 && !strcmp(m.growth[GROWTH_MAX - 1].name, "last"),
	   "the last number that is not archived has its place");
}

static void see(uint32_t pid, bool ends)
{
	struct process_record r = process_record(pid, 1, SECOND);

	r.g.flags |= ends ? PROC_FINAL : 0;
	model_take(&m, &r.h);
	model_next_window(&m);
}

static void test_full_archive(void)
{
	struct grower g;
	uint64_t added;
	uint32_t n = 0;

	see(10, false);
	see(11, false);
	for (; n < 4 * GROWTH_MAX; n++)
		add(former(11, n));
	add(former(10, n++));
	is_u64(m.growth_lost, 0, "room for four times the places");
	add(former(10, n++));
	is_u64(m.growth_lost, 1, "then it is counted what is lost");
	see(11, true);
	add(former(10, n++));
	growers_of(&m, &me, WHAT_MAPS, &g, 1, &added);
	is_u64(added, 2, "until a process ends: its rows make room");
	is_u64(m.growth_lost, 1 + 4 * GROWTH_MAX, "and are counted");
}

static void test_many_stacks(void)
{
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);

	see(10, false);
	see(11, false);
	f.subject = (struct process_key){.pid = 11, .start_ns = 1};
	for (f.stack = 0; f.stack < MODEL_FRAMES_MAX; f.stack++) {
		snprintf(f.text, sizeof(f.text), "f%d\n", f.stack);
		model_take(&m, &f.h);
	}
	ok(model_frames(&m, &f.subject, STACKS_MAX) && model_frames(&m, &f.subject, 0) &&
		   model_frames(&m, &f.subject, STACKS_MAX) != model_frames(&m, &f.subject, 0),
	   "numbers of stacks go on");
	f.subject = me;
	model_take(&m, &f.h);
	is_u64(m.frames_lost, 1, "more than there is room for are counted");
	see(11, true);
	model_take(&m, &f.h);
	ok(m.frames_lost == 1 && model_frames(&m, &me, f.stack), "those of who ended make room");
}

/*
 * Tests that the name with the most growth is found, even if it comes last and there are too many
 * names.
 */
static void test_late_sort(void)
{
	struct grower g[2];
	char name[16];
	uint64_t added;

	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "%c%c", 'a' + i / 20, 'a' + i % 20);
		add(row(name, 10, 5, 1));
	}
	add(row("large", 5000, 0, 7));
	growers_of(&m, &me, WHAT_MAPS, g, 2, &added);
	is_str(g[0].name, "large in tmpfs", "the sort with most left has its name, however late");
	ok(g[0].stack == 7 && g[0].by_stack == 5000, "and its stack");
	is_u64(added, 400 * 10 + 5000, "all are in the sum");
}

int main(void)
{
	begin_model(&m, NULL);
	test_late_sort();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_taken_places();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_sampled();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_ties();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_equal_stacks();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_archived_places();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_full_archive();
	model_free(&m);
	begin_model(&m, NULL);
	test_many_stacks();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_places();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_early_stacks();
	model_free(&m);
	place = 0;
	begin_model(&m, NULL);
	test_sorts();
	test_names();
	test_many();
	test_hostile();
	model_free(&m);
	return tap_done();
}
