// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests tables with different keys whose hashes are equal: each key must have an entry of its own.
 * Such keys are rare, so no other test has any.
 */
#include "base/hash.h"
#include "collect/python/python_codes.h"
#include "fixture.h"
#include "model/census.h"
#include "model/fields.h"
#include "model/trend.h"
#include "tap.h"

/* two processes with equal values of subject_hash() */
static const struct process_key keys[] = {{.pid = 1, .start_ns = 77},
					  {.pid = 2, .start_ns = 77 ^ 3ULL << 32}};
/* two texts with equal values of hash_text() */
static const char *const names[] = {"costarring", "liquid"};

static struct process_record process(int nth, uint64_t faults)
{
	struct process_record r = process_record(keys[nth].pid, keys[nth].start_ns, SECOND);

	r.g.min_flt = faults;
	r.g.flags = PROC_BORN;
	return r;
}

static void test_processes(void)
{
	static struct model m;
	struct trends t = {.field = {FIELD(min_flt)}, .fields = 1};
	uint64_t got[2];
	double last[2];

	ok(subject_hash(&keys[0]) == subject_hash(&keys[1]), "hashes of processes are equal");
	begin_model(&m, NULL);
	for (uint64_t window = 1; window <= 2; window++) {
		struct tick_record tick = tick_record(window * SECOND);

		for (int i = 0; i < 2; i++) {
			struct process_record r = process(i, 100 * window + 10 * i * window);

			model_take(&m, &r.h);
		}
		model_take(&m, &tick.h);
		ok(!trends_update(&t, &m), "trends of window %" PRIu64, window);
		model_next_window(&m);
	}
	is_u64(m.subjects, 2, "processes");
	for (int i = 0; i < 2; i++) {
		const struct subject *s = model_find(&m, &keys[i]);

		got[i] = s ? s->now.g.min_flt : 0;
		trends_read(&t, &keys[i], t.field[0], &last[i], 1);
	}
	ok(got[0] == 200 && got[1] == 220, "values of each process");
	ok(last[0] == 100 && last[1] == 110, "trend of each process: %g, %g", last[0], last[1]);
	trends_clear(&t);
	model_free(&m);
}

static void test_workloads(void)
{
	static struct census c;
	const struct census_limits limits = {.workloads = 5, .series = 1000, .series_each = 24};

	ok(hash_text(HASH_BEGIN, names[0]) == hash_text(HASH_BEGIN, names[1]),
	   "hashes of names are equal");
	if (census_init(&c, &limits))
		return;
	for (int i = 0; i < 2; i++) {
		struct process_record r = process(i, 1);
		struct identity id = {.serial = i + 1, .kind = KIND_UNIT};

		identity_rename(&id, names[i]);
		census_take(&c, &r, &id, SECOND);
	}
	for (int i = 0; i < 2; i++) {
		const struct census_workload *w = census_workload_of(&c, &keys[i]);

		is_str(w ? w->id.name : NULL, names[i], "workload of a process");
	}
	census_free(&c);
}

static void test_code_objects(void)
{
	/* the hash of a code object combines pid, start time and address */
	static const struct process_key of[] = {{.pid = 1, .start_ns = 2},
						{.pid = 2, .start_ns = 1}};
	struct python_codes c = {};

	for (int i = 0; i < 2; i++) {
		struct python_code_record r =
			RECORD(python_code_record, RECORD_PYTHON_CODE, SECOND);

		r.subject = of[i];
		r.code = 0x1000;
		r.minor = 11;
		r.name_kind = 1;
		r.name_bytes = strlen(names[i]);
		memcpy(r.name, names[i], r.name_bytes);
		ok(!python_codes_take(&c, &r), "code object of process %d", i + 1);
	}
	for (int i = 0; i < 2; i++) {
		struct python_frame frame = {.code = 0x1000};
		struct python_line_name line = {};

		ok(python_codes_find(&c, &of[i], &frame, &line), "its name is known");
		is_str(line.name, names[i], "name of its function");
	}
	python_codes_free(&c);
}

int main(void)
{
	test_processes();
	test_workloads();
	test_code_objects();
	return tap_done();
}
