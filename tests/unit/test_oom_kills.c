// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which records of OOM kills are one event, and when the limit of a cgroup was reached. */
#include "fixture.h"
#include "model/oom_kills.h"
#include "tap.h"

#define FULL 10000 /* a limit, in pages */

static struct model m;

/* Returns a kill by the kernel because of memory.oom.group. */
static struct oom_record kill_at(uint32_t pid, uint64_t t_ns)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, t_ns);

	r.subject = (struct process_key){.start_ns = 1, .pid = pid};
	r.by = 7;
	r.group = 1;
	r.cgroup_id = 3;
	r.swap_limit = r.memory.limit = UINT64_MAX;
	return r;
}

static void test_full_counters(void)
{
	static const struct {
		const char *what;
		uint64_t limit, used;
		bool known, full;
	} memory[] = {
		{"all pages are used", FULL, FULL, true, true},
		{"the slack is left", FULL, FULL - OOM_COUNTER_SLACK, true, true},
		{"one page more is left", FULL, FULL - OOM_COUNTER_SLACK - 1, true, false},
		{"counters that were not read", FULL, FULL, false, false},
		{"no limit", UINT64_MAX, FULL, true, false},
	};
	static const struct {
		const char *what;
		uint32_t version;
		uint64_t limit, used;
		bool full;
	} swap[] = {
		{"memory and swap: all pages are used", 1, FULL, FULL, true},
		{"memory and swap: the slack is left", 1, FULL, FULL - OOM_COUNTER_SLACK, true},
		{"memory and swap: one page more", 1, FULL, FULL - OOM_COUNTER_SLACK - 1, false},
		{"in version 2, swap has a limit of its own", 2, FULL, FULL, false},
		{"a version that is not known", 0, FULL, FULL, false},
		{"no limit of memory and swap", 1, UINT64_MAX, FULL, false},
		{"unknown swap is not full", 1, UINT64_MAX, UINT64_MAX, false},
	};

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		struct oom_record r = kill_at(20, SECOND);

		r.memory.limit = memory[i].limit;
		r.memory.used = memory[i].used;
		r.memory.known = memory[i].known;
		r.constraint = OOM_UNKNOWN;
		ok(oom_is_of_cgroup(&r) == memory[i].full, "not logged: %s", memory[i].what);
		r.constraint = OOM_MEMCG;
		ok(oom_is_of_cgroup(&r), "the kernel named the cgroup: %s", memory[i].what);
		r.constraint = OOM_NONE;
		ok(!oom_is_of_cgroup(&r), "the kernel named the machine: %s", memory[i].what);
	}
	for (size_t i = 0; i < sizeof(swap) / sizeof(swap[0]); i++) {
		struct oom_record r = kill_at(20, SECOND);

		r.version = swap[i].version;
		r.swap_limit = swap[i].limit;
		r.swap_used = swap[i].used;
		ok(oom_memsw_is_full(&r) == swap[i].full, "%s", swap[i].what);
		r.constraint = OOM_UNKNOWN;
		r.memory = (struct level_room){.limit = FULL, .used = 1, .known = 1};
		ok(oom_is_of_cgroup(&r) == swap[i].full, "so the cgroup %s",
		   swap[i].full ? "was full" : "had room");
	}
}

static void test_one_event(void)
{
	static const struct {
		const char *what;
		struct {
			uint32_t pid, by, sent, group;
			uint64_t t_ns, cgroup;
		} first, next;
		bool same;
	} cases[] = {
		{"another victim", {20, 7, 0, 1, SECOND, 3}, {21, 7, 0, 1, SECOND + 9, 3}, true},
		{"at the same time", {20, 7, 0, 1, SECOND, 3}, {21, 7, 0, 1, SECOND, 3}, true},
		{"after 2 s",
		 {20, 7, 0, 1, SECOND, 3},
		 {21, 7, 0, 1, SECOND + OOM_SAME_NS, 3},
		 true},
		{"after more than 2 s",
		 {20, 7, 0, 1, SECOND, 3},
		 {21, 7, 0, 1, SECOND + OOM_SAME_NS + 1, 3},
		 false},
		{"a record from before", {20, 7, 0, 1, SECOND, 3}, {21, 7, 0, 1, SECOND - 1, 3}},
		{"because of another process", {20, 7, 0, 1, SECOND, 3}, {21, 8, 0, 1, SECOND, 3}},
		{"of another cgroup", {20, 7, 0, 1, SECOND, 3}, {21, 7, 0, 1, SECOND, 4}},
		{"the first one alone", {20, 7, 0, 0, SECOND, 3}, {21, 7, 0, 1, SECOND, 3}},
		{"the second one alone", {20, 7, 0, 1, SECOND, 3}, {21, 7, 0, 0, SECOND, 3}},
		{"the same process again", {20, 7, 0, 1, SECOND, 3}, {20, 7, 0, 1, SECOND, 3}},
		{"SIGTERM, and SIGKILL later",
		 {20, 7, 15, 0, SECOND, 0},
		 {20, 7, 9, 0, SECOND + OOM_SAME_NS, 0},
		 true},
		{"a signal to another process",
		 {20, 7, 15, 0, SECOND, 0},
		 {21, 7, 15, 0, SECOND, 0}},
		{"SIGTERM, and the kernel's kill later",
		 {20, 7, 15, 1, SECOND, 3},
		 {21, 7, 0, 1, SECOND, 3}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oom_record first = kill_at(cases[i].first.pid, cases[i].first.t_ns);
		struct oom_record next = kill_at(cases[i].next.pid, cases[i].next.t_ns);

		first.by = cases[i].first.by;
		first.sent = cases[i].first.sent;
		first.group = cases[i].first.group;
		first.cgroup_id = cases[i].first.cgroup;
		next.by = cases[i].next.by;
		next.sent = cases[i].next.sent;
		next.group = cases[i].next.group;
		next.cgroup_id = cases[i].next.cgroup;
		begin_model(&m, NULL);
		ok(!oom_kills_continue(&m, &next), "no kill before: a new event");
		is_u64(model_take(&m, &first.h), 0, "a kill");
		ok(oom_kills_continue(&m, &next) == cases[i].same, "%s: %s event", cases[i].what,
		   cases[i].same ? "the same" : "another");
		is_u64(model_take(&m, &next.h), 0, "the next one");
		is_u64(m.ooms->n, cases[i].same ? 1 : 2, "it is stored so");
		model_free(&m);
	}
}

static void test_victims(void)
{
	const struct oom_kill *k;

	begin_model(&m, NULL);
	ok(!oom_kills_last(&m), "no kill");
	for (uint32_t i = 0; i < OOM_VICTIMS_MAX + 2; i++) {
		struct oom_record r = kill_at(20 + i, SECOND + i);

		r.rss_anon_pages = 100;
		r.rss_shmem_pages = 10 + i;
		r.swap_pages = 1;
		r.score_adj = -5;
		strcpy(r.comm, "victim");
		if (i == 1)
			r.rss_anon_pages = -11; /* the kernel's counters lag */
		if (i == 2)
			r.rss_anon_pages = -13;
		if (i == 3)
			r.rss_anon_pages = -14;
		model_take(&m, &r.h);
		if (i > 1 && i < OOM_VICTIMS_MAX)
			model_take(&m, &r.h);
	}
	k = oom_kills_last(&m);
	is_u64(m.ooms->n, 1, "one event");
	is_u64(k->victims, OOM_VICTIMS_MAX + 2, "all victims are counted, each once");
	is_u64(k->first.subject.pid, 20, "the record of the first one");
	is_u64(k->victim[0].id.pid, 20, "the first one is listed");
	is_u64(k->victim[0].kept_pages, 111, "with its anonymous, shared and swapped memory");
	ok(k->victim[0].score_adj == -5, "and its score");
	is_str(k->victim[0].comm, "victim", "and its name");
	is_u64(k->victim[1].kept_pages, 1, "one page");
	is_u64(k->victim[2].kept_pages, 0, "no page");
	is_u64(k->victim[3].kept_pages, 0, "fewer than none are none");
	is_u64(k->victim[OOM_VICTIMS_MAX - 1].id.pid, 20 + OOM_VICTIMS_MAX - 1,
	       "and as many as there is room for");
	is_u64(k->holders, 0, "nothing else is written over");
	model_free(&m);
}

static void take_scene(const struct oom_record *of, uint64_t used)
{
	struct oom_scene_record s = RECORD(oom_scene_record, RECORD_OOM_SCENE, 90 * SECOND);

	s.subject = of->subject;
	s.kill_ns = of->h.t_ns;
	s.used = used;
	is_u64(model_take(&m, &s.h), 0, "a scene");
}

static void take_holder(const struct oom_record *of, uint32_t nth, uint32_t pid)
{
	struct oom_holder_record h = RECORD(oom_holder_record, RECORD_OOM_HOLDER, 90 * SECOND);

	h.subject = of->subject;
	h.kill_ns = of->h.t_ns;
	h.nth = nth;
	h.pid = pid;
	is_u64(model_take(&m, &h.h), 0, "a holder");
}

static void test_scene(void)
{
	struct oom_record first = kill_at(20, SECOND), second = kill_at(21, 9 * SECOND);
	struct oom_record other = kill_at(22, SECOND), later = kill_at(20, SECOND + 1);
	struct oom_kill *k;

	begin_model(&m, NULL);
	take_scene(&first, 1);
	take_holder(&first, 0, 30);
	ok(!oom_kills_last(&m), "without the kill, they tell nothing");
	model_take(&m, &first.h);
	model_take(&m, &second.h);
	k = &m.ooms->kill[0];
	take_scene(&other, 5);
	take_scene(&later, 6);
	ok(!k[0].has_scene && !k[1].has_scene, "a scene of another victim, or of another time");
	take_scene(&first, 7);
	ok(k[0].has_scene && k[0].scene.used == 7 && !k[1].has_scene, "the scene of its kill");
	take_holder(&second, OOM_HOLDERS, 31);
	is_u64(k[1].holders, 0, "more holders than there is room for");
	is_u64(k[1].serial, 2, "nothing else is written over");
	take_holder(&second, OOM_HOLDERS - 1, 32);
	is_u64(k[1].holders, OOM_HOLDERS, "the last one that there is room for");
	is_u64(k[1].holder[OOM_HOLDERS - 1].pid, 32, "in its place");
	is_u64(k[0].holders, 0, "of its kill alone");
	take_holder(&first, 0, 33);
	is_u64(k[0].holders, 1, "one");
	take_holder(&first, 1, 34);
	is_u64(k[0].holders, 2, "two");
	take_holder(&first, 0, 35);
	is_u64(k[0].holders, 2, "a later record of the first one");
	is_u64(k[0].holder[0].pid, 35, "replaces it");
	take_holder(&other, 5, 36);
	is_u64(k[0].holders, 2, "a holder of another kill");
	model_free(&m);
}

static void test_many(void)
{
	begin_model(&m, NULL);
	for (uint32_t i = 0; i < OOM_KILLS_MAX; i++) {
		struct oom_record r = kill_at(20 + i, (1 + 10 * i) * SECOND);

		model_take(&m, &r.h);
	}
	is_u64(m.ooms->n, OOM_KILLS_MAX, "as many kills as there is room for");
	is_u64(m.ooms->kill[0].first.subject.pid, 20, "with the first one");
	for (uint32_t i = 0; i < 2; i++) {
		struct oom_record r = kill_at(90 + i, (1000 + 10 * i) * SECOND);

		model_take(&m, &r.h);
	}
	is_u64(m.ooms->n, OOM_KILLS_MAX, "no more");
	is_u64(m.ooms->kill[0].first.subject.pid, 22, "the oldest ones go");
	is_u64(m.ooms->kill[0].serial, 3, "with their numbers");
	is_u64(m.ooms->kill[OOM_KILLS_MAX - 3].first.subject.pid, 20 + OOM_KILLS_MAX - 1,
	       "the others stay in their order");
	is_u64(oom_kills_last(&m)->first.subject.pid, 91, "the latest is the last");
	is_u64(oom_kills_last(&m)->serial, OOM_KILLS_MAX + 2, "and is numbered on");
	is_u64(oom_kills_last(&m)->victims, 1, "with its own victim alone");
	model_free(&m);
}

static void take_stack(const struct process_key *of, int32_t stack, const char *text)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = *of;
	r.stack = stack;
	snprintf(r.text, sizeof(r.text), "%s", text);
	model_take(&m, &r.h);
}

static void test_stack(void)
{
	struct process_record by = process_record(7, 2, SECOND);
	struct oom_record r = kill_at(20, 2 * SECOND);
	const struct frames *f;

	begin_model(&m, NULL);
	model_take(&m, &by.h);
	take_stack(&r.subject, 0, "of the victim");
	take_stack(&by.subject, 4, "of the asker");
	ok(!oom_kills_stack(&m, &r), "0: there is no stack");
	r.stack = 1;
	f = oom_kills_stack(&m, &r);
	is_str(f ? f->text : NULL, "of the victim", "a stored kill has it under the victim");
	r.stack = 5;
	f = oom_kills_stack(&m, &r);
	is_str(f ? f->text : NULL, "of the asker", "the thread whose request led to the kill");
	r.stack = 4;
	ok(!oom_kills_stack(&m, &r), "a number without a stack");
	r.by = 8;
	r.stack = 5;
	ok(!oom_kills_stack(&m, &r), "a process without a stack");
	model_free(&m);
}

int main(void)
{
	test_full_counters();
	test_one_event();
	test_victims();
	test_scene();
	test_many();
	test_stack();
	return tap_done();
}
