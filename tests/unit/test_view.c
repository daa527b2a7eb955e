// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what all outputs share: times, parts of a frame, names of workloads, losses and gaps. */
#include "fixture.h"
#include "render/completeness.h"
#include "render/json_out.h"
#include "render/losses.h"
#include "render/render.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct view v = {.m = &m, .findings = &fs, .width = 80};

static size_t written;

static void on_part(void *ctx, struct buf *b)
{
	ok(ctx == &written, "the context of the caller");
	written += b->len;
	buf_clear(b);
}

/* A frame is written in parts of at least 64 KiB. */
static void test_parts(void)
{
	struct buf b = {};

	buf_repeat(&b, "x", VIEW_PART_BYTES - 1);
	view_write_part(&v, &b);
	is_u64(b.len, VIEW_PART_BYTES - 1, "without a function, all is kept");
	v.write_part = on_part;
	v.write_ctx = &written;
	view_write_part(&v, &b);
	is_u64(written, 0, "a smaller part is kept too");
	buf_putc(&b, 'x');
	view_write_part(&v, &b);
	is_u64(written, VIEW_PART_BYTES, "a part that is large enough is written");
	is_u64(b.len, 0, "and forgotten");
	v.write_part = NULL;
	buf_repeat(&b, "x", VIEW_PART_BYTES + 1);
	view_write_part(&v, &b);
	is_u64(b.len, VIEW_PART_BYTES + 1, "if there is a function");
	buf_free(&b);
}

static void test_times(void)
{
	memset(&m, 0, sizeof(m));
	m.origin_ns = 10 * SECOND;
	ok(view_seconds(&v, 10 * SECOND) == 0, "the start");
	ok(view_seconds(&v, 9 * SECOND) == 0, "nothing is before it");
	ok(view_seconds(&v, 12 * SECOND + SECOND / 2) == 2.5, "a time after it");
	is_u64(view_wall_ns(&v, SECOND), 0, "without a clock, no time of day is known");
	m.host.wall_ns = 1000 * SECOND;
	m.host.h.t_ns = 10 * SECOND;
	is_u64(view_wall_ns(&v, 13 * SECOND), 1003 * SECOND, "that of the host's record");
	is_u64(view_wall_ns(&v, 9 * SECOND), 999 * SECOND, "also before it");
	m.tick.wall_ns = 2000 * SECOND;
	m.tick.h.t_ns = 12 * SECOND;
	is_u64(view_wall_ns(&v, 13 * SECOND), 2001 * SECOND, "that of the last scan comes first");
}

static void test_shows(void)
{
	struct process_key one = {.pid = 1, .start_ns = 2}, other = one;

	ok(view_shows(&v, &one), "all processes");
	v.only = &one;
	ok(view_shows(&v, &other), "only one");
	other.start_ns = 3;
	ok(!view_shows(&v, &other), "and no other one with its pid");
	v.only = NULL;
}

static void test_who(void)
{
	struct finding f = {.subject = {.pid = 7, .start_ns = 1}};
	const struct rule *cgroup = NULL, *host = NULL, *process = NULL;
	char who[WHO_BYTES];

	for (size_t i = 0; i < nr_rules; i++) {
		if (rules[i].trigger == ON_CGROUP)
			cgroup = &rules[i];
		if (rules[i].trigger == ON_HOST)
			host = &rules[i];
		if (!strcmp(rules[i].id, "F01"))
			process = &rules[i];
	}
	f.rule = process;
	strcpy(f.comm, "db");
	finding_who(&f, who, sizeof(who));
	is_str(who, "db[7]", "a process");
	strcpy(f.place, "/data");
	finding_who(&f, who, sizeof(who));
	is_str(who, "file system /data", "a file system");
	f.rule = cgroup;
	finding_who(&f, who, sizeof(who));
	is_str(who, "cgroup /data", "a cgroup");
	f.place[0] = 0;
	f.rule = host;
	finding_who(&f, who, sizeof(who));
	is_str(who, "this host", "the host");
}

static void test_workloads(void)
{
	static const struct {
		struct workload_of_process of;
		const char *name;
	} cases[] = {
		{{"/system.slice/db.service", "postgres", false}, "db.service"},
		{{NULL, "postgres", false}, "postgres"},
		{{"/", "postgres", false}, "postgres"},
		{{NULL, "", false}, ""},
		{{NULL, "", true}, "kthreadd"},
		{{"/system.slice/db.service", "", false}, "db.service"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[256] = "unset";

		workload_name(&cases[i].of, name, sizeof(name));
		is_str(name, cases[i].name, "a workload");
	}
}

/* Each counter of losses is told, and is in the sum. */
static void test_losses(void)
{
	struct loss l[LOSSES_MAX];
	__u64 *of_tick[] = {&m.tick.losses.ring,   &m.tick.losses.map,	 &m.tick.losses.slot,
			    &m.tick.losses.missed, &m.tick.losses.stack, &m.tick.losses.growth};
	static const char *const names[] = {"ring", "map", "slot", "missed", "stack", "growth"};

	memset(&m, 0, sizeof(m));
	is_u64(losses_all(&v), 0, "nothing was lost");
	for (size_t i = 0; i < 6; i++) {
		*of_tick[i] = 1 << i;
		is_u64(losses_of(&v, l), LOSSES_MAX, "all counters");
		is_str(l[i].key, names[i], "a counter");
		is_u64(l[i].n, 1 << i, "and its value");
		is_u64(losses_all(&v), (2 << i) - 1, "the sum");
	}
	m.subjects_lost = 100;
	m.frames_lost = 200;
	m.growth_lost = 300;
	m.events_lost = 400;
	fs.lost = 500;
	losses_of(&v, l);
	is_u64(l[1].n, 102, "processes without room are lost too");
	is_u64(l[4].n, 216, "so are stacks");
	is_u64(l[5].n, 332, "and growth");
	is_u64(l[6].n, 400, "and events");
	is_u64(l[7].n, 500, "and findings");
	is_u64(losses_all(&v), 63 + 1500, "the sum of all");
	fs.lost = 0;
}

static void test_gaps(void)
{
	struct buf gaps = {}, b = {}, more = {};
	struct json j;

	ok(!has_gaps(&gaps), "no gap");
	gaps_text(&b, &v, &gaps);
	is_u64(b.len, 0, "is no text");
	gap_lost(&gaps, 0, "record{|s}");
	ok(!has_gaps(&gaps), "nothing lost is no gap");
	gap_lost(&gaps, 1, "record{|s} of %s", "x");
	gap_lost(&gaps, 2, "record{|s}");
	gap_add(&gaps, "a\nb %d", 7);
	gaps_text(&b, &v, &gaps);
	is_str(b.s, "incomplete: lost: 1 record of x; lost: 2 records; a b 7\n",
	       "each gap is in one line");
	buf_clear(&b);
	json_begin(&j, &b);
	gaps_json(&j, "incomplete", &gaps);
	json_finish(&j);
	is_str(b.s, "{\"incomplete\":[\"lost: 1 record of x\",\"lost: 2 records\",\"a b 7\"]}\n",
	       "or an element of a list");
	buf_clear(&b);
	buf_puts(&more, "other\n");
	gaps_add(&gaps, &more);
	gaps_join(&b, &gaps);
	ok(strstr(b.s, "; a b 7; other") && b.s[b.len - 1] == 'r', "gaps of others follow");
	buf_clear(&b);
	more.failed = true;
	gaps_add(&gaps, &more);
	ok(has_gaps(&gaps), "without memory, it is not known what is missing");
	gaps_text(&b, &v, &gaps);
	is_str(b.s, "incomplete: out of memory\n", "which is told");
	buf_clear(&b);
	json_begin(&j, &b);
	gaps_json(&j, "incomplete", &gaps);
	json_finish(&j);
	is_str(b.s, "{\"incomplete\":[\"out of memory\"]}\n", "also as JSON");
	buf_free(&b);
	buf_free(&gaps);
	buf_free(&more);
}

int main(void)
{
	test_parts();
	test_times();
	test_shows();
	test_who();
	test_workloads();
	test_losses();
	test_gaps();
	return tap_done();
}
