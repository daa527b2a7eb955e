// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the lists of resident memory that the model keeps: their bounds, and what is compared. */
#include "fixture.h"
#include "model/resident.h"
#include "tap.h"

static struct model m;

static struct process_key process(uint32_t pid)
{
	return (struct process_key){.start_ns = 1, .pid = pid};
}

static struct resident_record row_of(uint32_t pid, uint32_t nth, uint64_t bytes)
{
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, 1);

	r.subject = process(pid);
	r.nth = nth;
	r.stack = nth + 1;
	r.bytes = bytes;
	return r;
}

static void give(uint32_t pid, uint32_t nth, uint64_t bytes)
{
	struct resident_record r = row_of(pid, nth, bytes);

	model_take(&m, &r.h);
}

static void end_list(uint32_t pid, uint32_t rows, uint64_t anon, uint64_t t_ns)
{
	struct resident_sum_record r = RECORD(resident_sum_record, RECORD_RESIDENT_SUM, t_ns);

	r.subject = process(pid);
	r.rows = rows;
	r.anon_bytes = anon;
	model_take(&m, &r.h);
}

static const struct resident_of *lists_of(uint32_t pid)
{
	const struct process_key id = process(pid);

	return model_resident(&m, &id);
}

static void test_kinds(void)
{
	struct resident_record r = row_of(7, 0, 10);
	const struct resident_of *of;

	begin_model(&m, NULL);
	r.by = RESIDENT_NR_BY - 1;
	r.kind = NR_HOLDING_KINDS - 1;
	model_take(&m, &r.h);
	r.nth = 1;
	r.by = RESIDENT_NR_BY;
	r.kind = NR_HOLDING_KINDS;
	model_take(&m, &r.h);
	end_list(7, 2, 10, 10);
	of = lists_of(7);
	ok(of->now.row[0].by == RESIDENT_NR_BY - 1 && of->now.row[0].kind == NR_HOLDING_KINDS - 1,
	   "the last known values stay");
	ok(of->now.row[1].by == RESIDENT_NO_FAULT && of->now.row[1].kind == HOLDING_OTHER,
	   "what is not known is replaced");
	is_str(resident_by_name(RESIDENT_NR_BY - 1), "not_chosen", "the last name");
	is_str(resident_by_name(RESIDENT_NR_BY), "?", "there is no other");
	is_str(resident_no_stack(RESIDENT_BEFORE), "resident before the watch began", "a reason");
	is_str(resident_no_stack(RESIDENT_NR_BY), "?", "and no other");
	model_free(&m);
}

static void test_many_rows(void)
{
	begin_model(&m, NULL);
	for (uint32_t i = 0; i < RESIDENT_ROWS_MAX; i++)
		give(7, i, 10);
	is_u64(m.resident->lost, 0, "as many rows as there is room for");
	give(7, RESIDENT_ROWS_MAX, 10);
	is_u64(m.resident->lost, 1, "one more is lost");
	end_list(7, RESIDENT_ROWS_MAX, 10, 10);
	is_u64(lists_of(7)->now.n, RESIDENT_ROWS_MAX, "the others are kept");
	is_u64(lists_of(7)->first.n, RESIDENT_ROWS_MAX, "and are the first list");
	give(7, 0, 10);
	give(7, 2, 10);
	is_u64(m.resident->lost, 2, "a row without the one before it");
	give(7, 0, 20);
	end_list(7, 1, 10, 20);
	ok(lists_of(7)->now.n == 1 && lists_of(7)->now.row[0].bytes == 20,
	   "row 0 begins a new list");
	give(7, 0, 30);
	end_list(7, 0, 10, 30);
	is_u64(lists_of(7)->now.n, 0, "a sum of no rows has none");
	model_free(&m);
}

static void test_many_processes(void)
{
	begin_model(&m, NULL);
	ok(!model_resident_each(&m, NULL), "no process yet");
	for (uint32_t i = 0; i < RESIDENT_PROCESSES_MAX; i++)
		end_list(1 + i, 0, 10, 10);
	is_u64(m.resident->lost, 0, "as many processes as there is room for");
	end_list(5000, 0, 10, 10);
	ok(m.resident->lost == 1 && !lists_of(5000), "one more is lost");
	give(5000, 0, 10);
	is_u64(m.resident->lost, 2, "and so are its rows");
	end_list(3, 0, 10, 20);
	is_u64(lists_of(3)->now.sum.h.t_ns, 20, "a known process has its place");
	model_resident_forget_ended(&m);
	is_u64(m.resident->n, 0, "processes that ended may be forgotten");
	model_free(&m);
}

static void test_forget(void)
{
	struct process_record lives = process_record(20, 1, SECOND);
	struct process_record ends = process_record(22, 1, SECOND);
	const struct resident_of *of = NULL;
	uint32_t found = 0;

	begin_model(&m, NULL);
	model_take(&m, &lives.h);
	model_take(&m, &ends.h);
	for (uint32_t pid = 19; pid <= 23; pid++) {
		give(pid, 0, 10);
		end_list(pid, 1, 10, 10);
	}
	give(30, 0, 10);
	while ((of = model_resident_each(&m, of)))
		found++;
	is_u64(found, 5, "all processes with a whole list");
	is_str(lists_of(20)->comm, "proc20", "with their names");
	ends.g.flags |= PROC_FINAL;
	model_take(&m, &ends.h);
	model_resident_forget_ended(&m);
	ok(m.resident->n == 1 && lists_of(20) && lists_of(20)->now.n == 1, "the live one stays");
	ok(!lists_of(22) && !lists_of(19) && !m.resident->of[1].now.row, "the others go");
	model_free(&m);
}

/* Of a process that has ended, the list with most memory is shown. */
static void test_peak(void)
{
	const struct resident_of *of;

	begin_model(&m, NULL);
	give(7, 0, 100);
	end_list(7, 1, 100, 10);
	of = lists_of(7);
	is_u64(resident_shown(of, true)->sum.h.t_ns, 10, "of one list, that one");
	give(7, 0, 100);
	end_list(7, 1, 100, 20);
	is_u64(resident_shown(of, true)->sum.h.t_ns, 10, "of equal ones, the first");
	give(7, 0, 101);
	end_list(7, 1, 101, 30);
	is_u64(resident_shown(of, true)->sum.h.t_ns, 30, "the largest");
	end_list(7, 0, 100, 40);
	is_u64(resident_shown(of, true)->sum.h.t_ns, 30, "also when it has shrunk");
	is_u64(resident_shown(of, false)->sum.h.t_ns, 40, "of a live one, the last");
	is_u64(resident_shown(of, true)->row[0].bytes, 101, "with its rows");
	model_free(&m);
}

/* Readings are kept an eighth of the time apart; the oldest ones go. */
static void test_bases(void)
{
	struct resident_list list = {};
	const struct resident_of *of;

	begin_model(&m, NULL);
	model_resident_since(&m, 80);
	end_list(7, 0, 10, 100);
	of = lists_of(7);
	end_list(7, 0, 10, 109);
	is_u64(of->bases, 0, "less than an eighth after the first");
	end_list(7, 0, 10, 110);
	is_u64(of->bases, 1, "an eighth");
	end_list(7, 0, 10, 119);
	is_u64(of->bases, 1, "less than that after the last");
	for (uint64_t t_ns = 120; of->bases < RESIDENT_BASES; t_ns += 10)
		end_list(7, 0, 10, t_ns);
	is_u64(of->base[0].sum.h.t_ns, 110, "as many as there is room for");
	is_u64(resident_base(&m, of, &of->now)->sum.h.t_ns, 120, "the reading before that time");
	end_list(7, 0, 10, 300);
	ok(of->bases == RESIDENT_BASES && of->base[0].sum.h.t_ns == 120 &&
		   of->base[RESIDENT_BASES - 1].sum.h.t_ns == 300,
	   "one more, without the oldest");
	is_u64(resident_base(&m, of, &of->now)->sum.h.t_ns, 200, "the last one that is old enough");
	list.sum.h.t_ns = 280;
	is_u64(resident_base(&m, of, &list)->sum.h.t_ns, 200, "one that is as old as that");
	list.sum.h.t_ns = 279;
	is_u64(resident_base(&m, of, &list)->sum.h.t_ns, 190, "and not a younger one");
	model_free(&m);
}

/* Growth is compared between rows that are the same in all that tells rows apart. */
static void test_growth(void)
{
	const struct resident_record r = {
		.stack = 1, .bytes = 100, .swapped_bytes = 20, .pages = 4, .before = -1};
	struct resident_record was = r, now = r;
	struct resident_list base = {.row = &was, .n = 1}, list = {.row = &now, .n = 1};

	is_u64(resident_bytes(&r), 120, "memory and swap");
	now.bytes = 150, now.pages = 6;
	ok(resident_growth(&base, &list, &now) == 50, "growth");
	now.swapped_bytes = 10;
	ok(resident_growth(&base, &list, &now) == 40, "of which swap is a part");
	now.bytes = 50;
	ok(resident_growth(&base, &list, &now) == -60, "it may be negative");
	now.pages = 4, now.huge_bytes = 1;
	ok(resident_growth(&base, &list, &now) == -60, "a huge page more is a change");
	now.huge_bytes = 0;
	ok(resident_growth(&base, &list, &now) == 0, "equal pages are none");
	was.by = now.by = RESIDENT_BEFORE;
	now.pages = 5;
	ok(resident_growth(&base, &list, &now) == -60, "memory from before may become less");
	now.bytes = 111;
	ok(resident_growth(&base, &list, &now) == 0, "and not more, by a byte");
	was = now = r;
	now.pages = 5;
	was.stack = 2;
	ok(resident_growth(&base, &list, &now) == 120, "another stack");
	was = r, was.by = RESIDENT_COPIED;
	ok(resident_growth(&base, &list, &now) == 120, "another reason");
	was = r, was.kind = HOLDING_HEAP;
	ok(resident_growth(&base, &list, &now) == 120, "another kind of memory");
	was = r, was.before = 3;
	ok(resident_growth(&base, &list, &now) == 120, "another stack before");
	was = r, was.toucher.pid = 9;
	ok(resident_growth(&base, &list, &now) == 120, "another process that touched it");
	was = r, strcpy(was.file, "x");
	ok(resident_growth(&base, &list, &now) == 120, "another file");
}

int main(void)
{
	test_kinds();
	test_many_rows();
	test_many_processes();
	test_forget();
	test_peak();
	test_bases();
	test_growth();
	return tap_done();
}
