// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the rows of slow page faults: which are kept, which are the worst, and ties. */
#include "fixture.h"
#include "model/fields.h"
#include "model/slow.h"
#include "tap.h"

static struct model m;
static const struct process_key id = {.start_ns = 1, .pid = 10}, other = {.start_ns = 1, .pid = 11};

static struct slow_faults_record slow(const struct process_key *of, int32_t stack, uint64_t t_ns)
{
	struct slow_faults_record r = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, t_ns);

	r.subject = *of;
	r.stack = stack;
	r.class = CLASS_FILE_MAJOR;
	r.count = 1;
	return r;
}

static void take_slow(const struct process_key *of, int32_t stack, uint32_t class,
		      uint64_t total_ns)
{
	struct slow_faults_record r = slow(of, stack, SECOND);

	r.class = class;
	r.total_ns = total_ns;
	slow_take(&m, &r);
}

static void test_same(void)
{
	const struct slow_faults_record a = slow(&id, 1, 1);
	struct slow_faults_record b = a;

	b.h.t_ns = b.count = b.total_ns = b.max_ns = 77;
	ok(slow_is_same(&a, &b), "totals and times may differ");
	b = a, b.subject.pid++;
	ok(!slow_is_same(&a, &b), "another process");
	b = a, b.subject.start_ns++;
	ok(!slow_is_same(&a, &b), "a later process with its pid");
	b = a, b.class = CLASS_SWAP;
	ok(!slow_is_same(&a, &b), "another class");
	b = a, b.inode++;
	ok(!slow_is_same(&a, &b), "another file");
	b = a, b.holder++;
	ok(!slow_is_same(&a, &b), "another holder of the lock");
	b = a, b.stack++;
	ok(!slow_is_same(&a, &b), "another stack");
}

static bool has_stack(int32_t stack)
{
	for (size_t i = 0; i < m.slow->n; i++)
		if (m.slow->row[i].now.stack == stack)
			return true;
	return false;
}

static void test_room(void)
{
	struct slow_faults_record r;

	begin_model(&m, NULL);
	for (int i = 0; i < SLOW_ROWS_MAX; i++) {
		r = slow(&id, i, 1000 + i);
		if (i == 5 || i == 7)
			r.h.t_ns = 100; /* of two equally old rows, the first one goes */
		slow_take(&m, &r);
	}
	is_u64(m.slow->n, SLOW_ROWS_MAX, "as many rows as there is room for");
	is_u64(m.slow->lost, 0, "none is lost");
	r = slow(&id, 5000, 9000);
	slow_take(&m, &r);
	ok(m.slow->n == SLOW_ROWS_MAX && m.slow->lost == 1, "one more costs one");
	ok(has_stack(5000) && !has_stack(5) && has_stack(7) && has_stack(0), "the oldest one");
	r = slow(&id, 5001, 9001);
	slow_take(&m, &r);
	ok(m.slow->lost == 2 && has_stack(5001) && !has_stack(7) && has_stack(0), "and the next");
	r = slow(&id, 0, 9002);
	slow_take(&m, &r);
	is_u64(m.slow->lost, 2, "a known row needs no room");
	r = slow(&id, 5002, 9003);
	slow_take(&m, &r);
	ok(has_stack(0) && !has_stack(1), "and is no longer the oldest");
	model_free(&m);
}

static void test_worst(void)
{
	const struct slow_row *row[3] = {};

	begin_model(&m, NULL);
	is_u64(slow_worst(&m, &id, row, 3), 0, "no record");
	ok(!slow_own_hold(&m, &id), "no call that held the lock");
	take_slow(&id, 1, CLASS_FILE_MAJOR, 500);
	take_slow(&id, 2, CLASS_CALL, 700);
	take_slow(&other, 3, CLASS_FILE_MAJOR, 900);
	take_slow(&id, 4, CLASS_HOLDER, 800);
	take_slow(&id, 5, CLASS_FILE_MAJOR, 500);
	take_slow(&id, 6, CLASS_FILE_MAJOR, 499);
	take_slow(&id, 7, CLASS_HOLDER, 800);
	take_slow(&id, 8, CLASS_HOLDER, 799);
	is_u64(slow_worst(&m, &id, row, 3), 3, "three of a process");
	ok(row[0]->now.stack == 2 && row[1]->now.stack == 1 && row[2]->now.stack == 5,
	   "the longest first, of equal ones the one that was first seen");
	is_u64(slow_worst(&m, &other, row, 3), 1, "of another process, its own");
	is_u64(slow_own_hold(&m, &id)->now.stack, 4, "the call that held the lock longest");
	ok(!slow_own_hold(&m, &other), "the other process held none");
	model_free(&m);
}

static void wait_for(const struct process_key *of, uint32_t holder, uint64_t waited_ns)
{
	struct slow_faults_record r = slow(of, 1, SECOND);

	r.holder = holder;
	r.waited_ns[WAIT_LOCK] = waited_ns;
	slow_take(&m, &r);
}

static void test_for_others(void)
{
	const struct slow_row *worst;
	uint64_t ns = 1;

	begin_model(&m, NULL);
	ok(!slow_for_others(&m, &id, &ns) && !ns, "no record");
	wait_for(&id, 20, 100);
	wait_for(&id, 21, 300);
	wait_for(&id, 22, 300);
	wait_for(&id, 23, 299);
	wait_for(&id, 0, 900);
	wait_for(&id, id.pid, 800);
	wait_for(&other, 20, 700);
	worst = slow_for_others(&m, &id, &ns);
	is_u64(ns, 999, "the waits while another process held the lock");
	ok(worst && worst->now.holder == 21, "the longest, of equal ones that first seen");
	model_next_window(&m);
	ok(!slow_for_others(&m, &id, &ns) && !ns, "the next window has none yet");
	wait_for(&id, 20, 100);
	ok(!slow_for_others(&m, &id, &ns) && !ns, "a total that did not grow");
	wait_for(&id, 22, 299);
	ok(!slow_for_others(&m, &id, &ns) && !ns, "or that fell");
	wait_for(&id, 20, 101);
	wait_for(&id, 20, 105);
	worst = slow_for_others(&m, &id, &ns);
	ok(worst && worst->now.holder == 20 && ns == 5, "the growth since the window before");
	model_free(&m);
}

static void test_sort(void)
{
	struct slow_faults_record r = {.class = CLASS_FILE_MAJOR};

	is_str(slow_sort(&r), "file_major", "a class");
	r.class = NR_CLASSES - 1;
	is_str(slow_sort(&r), class_name(NR_CLASSES - 1), "the last one");
	r.class = CLASS_CALL;
	is_str(slow_sort(&r), "call", "a call that waited");
	r.class = CLASS_HOLDER;
	is_str(slow_sort(&r), "holder", "one that held the lock");
	r.class = UINT32_MAX;
	is_str(slow_sort(&r), class_name(CLASS_OTHER), "what no class has");
	r.class = CLASS_HOLDER + 1;
	is_str(slow_sort(&r), class_name(CLASS_OTHER), "nor has the next number");
}

int main(void)
{
	test_same();
	test_room();
	test_worst();
	test_for_others();
	test_sort();
	return tap_done();
}
