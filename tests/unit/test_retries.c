// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which failed requests for memory count as retried: by thread, call and time. */
#include <errno.h>

#include "fixture.h"
#include "tap.h"

#define FAILED_NS (2 * SECOND)

static struct model m;

static struct retry_record retry_at(uint32_t tid, uint64_t t_ns)
{
	struct retry_record r = RECORD(retry_record, RECORD_RETRY, t_ns);

	r.subject = (struct process_key){.start_ns = 1, .pid = 10};
	r.tid = tid;
	r.call = CALL_MMAP;
	return r;
}

static void test_failed_calls(void)
{
	static const struct {
		const char *what;
		enum call_id call;
		uint32_t tid, pid;
		uint64_t t_ns;
		bool retried;
	} cases[] = {
		{"at once", CALL_MMAP, 10, 10, FAILED_NS, true},
		{"within half a second", CALL_MMAP, 10, 10, FAILED_NS + RETRY_NS, true},
		{"later", CALL_MMAP, 10, 10, FAILED_NS + RETRY_NS + 1, false},
		{"mremap", CALL_MREMAP, 10, 10, FAILED_NS, true},
		{"brk", CALL_BRK, 10, 10, FAILED_NS, true},
		{"a call that asks for no memory", CALL_MPROTECT, 10, 10, FAILED_NS, false},
		{"another thread", CALL_MMAP, 11, 10, FAILED_NS, false},
		{"another process", CALL_MMAP, 10, 11, FAILED_NS, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct refused_record e = refused_record(cases[i].pid, cases[i].call, ENOMEM);
		struct retry_record r = retry_at(10, cases[i].t_ns);

		e.tid = cases[i].tid;
		begin_model(&m, NULL);
		model_take(&m, &e.h);
		is_u64(model_take(&m, &r.h), 0, "a retry");
		ok(!!(m.event[0].refused.facts & FACT_RETRIED) == cases[i].retried, "%s: %s",
		   cases[i].what, cases[i].retried ? "retried" : "not retried");
		model_free(&m);
	}
}

/* One retry marks all failed calls of half a second, and looks no further back. */
static void test_several(void)
{
	struct refused_record e = refused_record(10, CALL_MMAP, ENOMEM);
	struct kernel_fault_record fault = kernel_fault_record(10, 7, false);
	struct retry_record r = retry_at(10, FAILED_NS + RETRY_NS);

	begin_model(&m, NULL);
	e.h.t_ns = FAILED_NS - 1;
	model_take(&m, &e.h);
	e.h.t_ns = FAILED_NS;
	model_take(&m, &e.h);
	model_take(&m, &fault.h);
	e.h.t_ns = FAILED_NS + 5;
	model_take(&m, &e.h);
	model_take(&m, &r.h);
	ok(!(m.event[0].refused.facts & FACT_RETRIED), "more than half a second before");
	ok(m.event[1].refused.facts & FACT_RETRIED, "half a second before");
	ok(m.event[3].refused.facts & FACT_RETRIED, "and less");
	model_free(&m);
}

/* A thread that got no memory is starved, until a retry of it succeeds. */
static void test_starved(void)
{
	static const struct {
		const char *what;
		uint32_t tid;
		uint64_t t_ns;
		bool starved;
	} cases[] = {
		{"before it failed", 12, FAILED_NS - 1, true},
		{"at once", 12, FAILED_NS, false},
		{"within half a second", 12, FAILED_NS + RETRY_NS, false},
		{"later", 12, FAILED_NS + RETRY_NS + 1, true},
		{"by another thread", 13, FAILED_NS, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_record p = process_record(10, 1, SECOND);
		struct refused_record e = refused_record(10, CALL_MMAP, ENOMEM);
		struct tick_record tick = tick_record(FAILED_NS + 1);
		struct retry_record r = retry_at(cases[i].tid, cases[i].t_ns);
		const struct subject *s;

		begin_model(&m, NULL);
		e.tid = 12;
		model_take(&m, &p.h);
		model_take(&m, &e.h);
		model_take(&m, &tick.h);
		model_next_window(&m);
		s = model_find(&m, &p.subject);
		ok(s->starved_ns == FAILED_NS && s->starved_tid == 12, "a thread is starved");
		model_take(&m, &r.h);
		is_u64(s->starved_ns, cases[i].starved ? FAILED_NS : 0, cases[i].what);
		model_free(&m);
	}
}

/* Which failed calls starve a thread. */
static void test_not_starved(void)
{
	static const struct {
		const char *what;
		enum call_id call;
		int error;
		uint32_t tid, facts;
		bool starved;
	} cases[] = {
		{"mmap without memory", CALL_MMAP, ENOMEM, 12, 0, true},
		{"the main thread", CALL_MMAP, ENOMEM, 10, 0, false},
		{"another error", CALL_MMAP, EAGAIN, 12, 0, false},
		{"brk, which tells no error", CALL_BRK, 0, 12, 0, true},
		{"the first call of descriptors", CALL_FD_FIRST, ENOMEM, 12, 0, false},
		{"the last one before it", CALL_FD_FIRST - 1, ENOMEM, 12, 0, true},
		{"a call that was retried", CALL_MMAP, ENOMEM, 12, FACT_RETRIED, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_record p = process_record(10, 1, SECOND);
		struct refused_record e = refused_record(10, cases[i].call, cases[i].error);
		struct tick_record tick = tick_record(FAILED_NS + 1);

		begin_model(&m, NULL);
		e.tid = cases[i].tid;
		e.facts |= cases[i].facts;
		model_take(&m, &p.h);
		model_take(&m, &e.h);
		model_take(&m, &tick.h);
		is_u64(model_find(&m, &p.subject)->starved_ns, cases[i].starved ? FAILED_NS : 0,
		       cases[i].what);
		model_free(&m);
	}
}

static void test_many(void)
{
	begin_model(&m, NULL);
	for (uint32_t i = 0; i < MODEL_RETRIES_MAX + 2; i++) {
		struct retry_record r = retry_at(100 + i, FAILED_NS);

		model_take(&m, &r.h);
		is_u64(m.retries, i < MODEL_RETRIES_MAX ? i + 1 : MODEL_RETRIES_MAX,
		       "no more retries than there is room for");
	}
	is_u64(m.retry[MODEL_RETRIES_MAX - 2].tid, 100 + MODEL_RETRIES_MAX - 2, "those stay");
	is_u64(m.retry[MODEL_RETRIES_MAX - 1].tid, 100 + MODEL_RETRIES_MAX + 1,
	       "and the last one is the latest");
	model_next_window(&m);
	is_u64(m.retries, 0, "a window has its own");
	model_free(&m);
}

int main(void)
{
	test_failed_calls();
	test_several();
	test_starved();
	test_not_starved();
	test_many();
	return tap_done();
}
