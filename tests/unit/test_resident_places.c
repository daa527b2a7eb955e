// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which code the exporter shows as the holder of memory, and how many rows it shows. */
#include <stdlib.h>

#include "collect/symbols/frame_lister.h"
#include "fixture.h"
#include "render/prom/resident_places.h"
#include "tap.h"

#define MIB (1ULL << 20)

struct stage {
	struct model m;
	struct census c;
	struct resident_places r;
	const char *only; /* the workload to show; NULL: all */
	uint32_t rows;	  /* rows of the process that is being read */
};

static bool shows(void *ctx, const char *workload)
{
	const struct stage *s = ctx;

	return !s->only || !strcmp(workload, s->only);
}

static void begin(struct stage *s, size_t places, const char *only)
{
	const struct census_limits limits = {.workloads = 4000, .series = 1000000};
	struct tick_record tick = tick_record(1);

	memset(s, 0, sizeof(*s));
	model_init(&s->m);
	census_init(&s->c, &limits);
	model_take(&s->m, &tick.h);
	s->r.most = places;
	s->r.workloads = RESIDENT_WORKLOADS_MAX;
	s->only = only;
}

static void end(struct stage *s)
{
	resident_places_free(&s->r);
	model_free(&s->m);
	census_free(&s->c);
}

static void add_process(struct stage *s, uint32_t pid, const char *workload, uint64_t rss)
{
	struct process_record p = process_record(pid, 7, 10);
	struct identity id = {.kind = KIND_UNIT};

	p.g.rss_anon_pages = rss / 4096;
	identity_rename(&id, workload);
	identity_seal(&id);
	model_take(&s->m, &p.h);
	census_take(&s->c, &p, &id, 10);
}

static void add_row(struct stage *s, uint32_t pid, const char *code, uint32_t by, uint64_t bytes)
{
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, 11);
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, 11);

	r.subject = r.toucher = (struct process_key){.start_ns = 7, .pid = pid};
	r.nth = s->rows++;
	r.stack = -1;
	r.by = by;
	r.bytes = bytes;
	r.kind = HOLDING_HEAP;
	if (code) {
		f.subject = r.subject;
		f.stack = r.stack = pid * 10000 + s->rows;
		snprintf(f.text, sizeof(f.text), "%s", code);
		model_take(&s->m, &f.h);
	}
	model_take(&s->m, &r.h);
}

static void end_reading(struct stage *s, uint32_t pid)
{
	struct resident_sum_record sum = RECORD(resident_sum_record, RECORD_RESIDENT_SUM, 12);

	sum.subject = (struct process_key){.start_ns = 7, .pid = pid};
	sum.rows = s->rows;
	sum.each = 64;
	sum.lost = 3;
	s->rows = 0;
	model_take(&s->m, &sum.h);
}

static void fill(struct stage *s)
{
	census_update(&s->c, 1000 * SECOND, 65530);
	ok(!resident_places_fill(&s->r, &s->m, &s->c, shows, s), "the rows are summed up");
}

/* Returns the MiB of the rows with these labels; NULL: any. */
static uint64_t mib_of(const struct stage *s, const char *workload, const char *code,
		       const char *by)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->r.n; i++) {
		const struct resident_place *p = &s->r.place[i];

		if ((!workload || !strcmp(p->workload, workload)) &&
		    (!code || !strcmp(p->code, code)) && (!by || !strcmp(p->by, by)))
			bytes += p->bytes;
	}
	return bytes / MIB;
}

static void test_sums(void)
{
	struct stage s;

	begin(&s, 2, "a");
	add_process(&s, 10, "a", 0);
	add_row(&s, 10, "load (train.py:5)\nmain (train.py:9)", RESIDENT_TOUCHED, 40 * MIB);
	add_row(&s, 10, "load (train.py:5)\nother (train.py:8)", RESIDENT_TOUCHED, 2 * MIB);
	add_row(&s, 10, "load (train.py:5)", RESIDENT_COPIED, 30 * MIB);
	add_row(&s, 10, "small", RESIDENT_TOUCHED, 5 * MIB);
	add_row(&s, 10, "smaller", RESIDENT_TOUCHED, 4 * MIB);
	add_row(&s, 10, NULL, RESIDENT_BEFORE, 6 * MIB);
	add_row(&s, 10, NULL, RESIDENT_NO_FAULT, 7 * MIB);
	end_reading(&s, 10);
	add_process(&s, 11, "a", 9 * MIB);
	add_process(&s, 12, "a", 0);
	add_row(&s, 12, "load (train.py:5)", RESIDENT_TOUCHED, 1 * MIB);
	add_row(&s, 12, NULL, RESIDENT_BEFORE, 1 * MIB);
	end_reading(&s, 12);
	add_process(&s, 13, "b", 900 * MIB);
	fill(&s);
	is_u64(mib_of(&s, "a", "load (train.py:5)", "touched"), 43,
	       "one place, in two processes and from two callers");
	is_u64(mib_of(&s, "a", "load (train.py:5)", "copied"), 30, "copies are apart");
	is_u64(mib_of(&s, "a", RESIDENT_PLACE_OTHER, ""), 9, "the other places together");
	is_u64(mib_of(&s, "a", RESIDENT_PLACE_UNKNOWN, "before"), 7, "what was there before");
	is_u64(mib_of(&s, "a", RESIDENT_PLACE_UNKNOWN, "no_fault"), 7, "what had no fault");
	is_u64(mib_of(&s, "a", RESIDENT_PLACE_UNREAD, ""), 9, "a process that was not read");
	is_u64(mib_of(&s, NULL, NULL, NULL), 105, "nothing is lost");
	is_u64(mib_of(&s, "b", NULL, NULL), 0, "a workload that does not match has no row");
	is_u64(s.r.n, 6, "and these are all rows");
	ok(!strcmp(s.r.place[0].kind, "heap"), "the kind of mapping");
	ok(s.r.each == 64 && s.r.lost == 3, "facts of the readings");
	end(&s);
}

/* A process chooses the names of its functions. */
static void test_names(void)
{
	char longest[400];
	struct stage s;

	begin(&s, 100, NULL);
	add_process(&s, 10, "a", 0);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	add_row(&s, 10, "~other", RESIDENT_TOUCHED, 1 * MIB);
	add_row(&s, 10, "a\033[31m\x01\xff\x80", RESIDENT_TOUCHED, 2 * MIB);
	add_row(&s, 10, longest, RESIDENT_TOUCHED, 3 * MIB);
	end_reading(&s, 10);
	fill(&s);
	is_u64(mib_of(&s, "a", "_other", NULL), 1, "no function has a name of faultscope");
	is_u64(mib_of(&s, "a", "a?[31m???", NULL), 2, "no control characters, and no broken UTF-8");
	longest[LABEL_BYTES - 1] = 0;
	is_u64(mib_of(&s, "a", longest, NULL), 3, "a long name is cut");
	end(&s);
}

static int take(void *ctx, const struct record *h)
{
	return model_take(ctx, h);
}

/* Frames of code that belongs to no file have no module, and may have no name either. */
static void test_frames_without_module(void)
{
	const struct process_key of = {.start_ns = 7, .pid = 10};
	struct stage s;
	const struct sink sink = {.take = take, .ctx = &s.m};
	struct frame_lister l;

	begin(&s, 100, NULL);
	add_process(&s, 10, "a", 0);
	add_row(&s, 10, "first", RESIDENT_TOUCHED, 1 * MIB);
	frame_lister_begin(&l, &sink, 12, &of, 100001);
	frame_lister_add(&l, &(struct listed_frame){.function = "jitted", .kind = FRAME_JIT});
	frame_lister_add(&l, &(struct listed_frame){.function = "main", .module = "a"});
	frame_lister_end(&l);
	add_row(&s, 10, "second", RESIDENT_TOUCHED, 2 * MIB);
	frame_lister_begin(&l, &sink, 12, &of, 100002);
	frame_lister_add(&l, &(struct listed_frame){.function = "memset", .module = "libc.so.6"});
	frame_lister_add(&l, &(struct listed_frame){.kind = FRAME_JIT});
	frame_lister_end(&l);
	end_reading(&s, 10);
	fill(&s);
	is_u64(mib_of(&s, "a", "jitted", NULL), 1, "a function without a module");
	is_u64(mib_of(&s, "a", "[unknown]", NULL), 2, "code without a name, behind the C library");
	end(&s);
}

static void test_bounds(void)
{
	char name[32];
	struct stage s;

	begin(&s, 3, NULL);
	for (uint32_t pid = 1; pid <= 50; pid++) {
		snprintf(name, sizeof(name), "work%u", pid);
		add_process(&s, pid, name, 0);
		for (int i = 1; i <= 20; i++) {
			snprintf(name, sizeof(name), "f%d", i);
			add_row(&s, pid, name, RESIDENT_TOUCHED, i * MIB);
		}
		add_row(&s, pid, "g", RESIDENT_TOUCHED, pid * MIB);
		add_row(&s, pid, NULL, RESIDENT_BEFORE, 1 * MIB);
		end_reading(&s, pid);
	}
	fill(&s);
	ok(s.r.n <= resident_places_series(&s.r), "the number of rows is bounded");
	is_u64(s.r.n, (RESIDENT_WORKLOADS_MAX + 1) * 5, "by workloads and places");
	is_u64(mib_of(&s, NULL, NULL, NULL), 50 * 210 + 50 * 51 / 2 + 50, "nothing is lost");
	is_u64(mib_of(&s, "work50", "g", NULL), 50, "a large workload has rows");
	is_u64(mib_of(&s, "work1", NULL, NULL), 0, "a small one has none");
	is_u64(mib_of(&s, CENSUS_OTHER, "f20", NULL), 34 * 20, "it is counted with the others");
	s.r.most = 0;
	fill(&s);
	is_u64(mib_of(&s, "work50", RESIDENT_PLACE_OTHER, NULL), 260, "no places: only their sum");
	end(&s);
}

static void read_two(struct stage *s, uint64_t a, uint64_t b)
{
	add_row(s, 10, "a", RESIDENT_TOUCHED, a * MIB);
	add_row(s, 10, "b", RESIDENT_TOUCHED, b * MIB);
	end_reading(s, 10);
	fill(s);
}

/* Estimates vary, and series shall not come and go with them. */
static void test_kept(void)
{
	struct stage s;

	begin(&s, 1, NULL);
	add_process(&s, 10, "w", 0);
	read_two(&s, 20, 19);
	is_u64(mib_of(&s, "w", "a", NULL), 20, "the larger place has a row");
	read_two(&s, 20, 24);
	is_u64(mib_of(&s, "w", "a", NULL), 20, "it keeps it if another is a little larger");
	read_two(&s, 20, 26);
	is_u64(mib_of(&s, "w", "b", NULL), 26, "but not if it is a quarter larger");
	is_u64(mib_of(&s, "w", RESIDENT_PLACE_OTHER, NULL), 20, "the first one is in the rest");
	end(&s);
}

static void test_ended(void)
{
	struct process_record last = process_record(10, 7, 20);
	struct stage s;

	begin(&s, 5, NULL);
	add_process(&s, 10, "w", 0);
	add_process(&s, 11, "w", 0);
	read_two(&s, 20, 19);
	add_row(&s, 11, "c", RESIDENT_TOUCHED, 8 * MIB);
	end_reading(&s, 11);
	last.g.flags |= PROC_FINAL;
	model_take(&s.m, &last.h);
	model_resident_forget_ended(&s.m);
	ok(!model_resident(&s.m, &last.subject), "the lists of an ended process are dropped");
	fill(&s);
	is_u64(mib_of(&s, NULL, NULL, NULL), 8, "it holds nothing");
	is_u64(mib_of(&s, "w", "c", NULL), 8, "the other one still does");
	add_process(&s, 12, "w", 0);
	add_row(&s, 12, "d", RESIDENT_TOUCHED, 4 * MIB);
	end_reading(&s, 12);
	fill(&s);
	is_u64(mib_of(&s, "w", "d", NULL), 4, "a later one takes its place");
	end(&s);
}

int main(void)
{
	test_sums();
	test_names();
	test_frames_without_module();
	test_bounds();
	test_kept();
	test_ended();
	return tap_done();
}
