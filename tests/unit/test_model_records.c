// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the records that describe the state of a model. They begin a recording that starts in the
 * middle of a measurement: what a model was told is told again.
 */
#include <errno.h>
#include <stddef.h>

#include "collect/model_records.h"
#include "collect/symbols/frame_lister.h"
#include "fixture.h"
#include "tap.h"

#define TOLD_MAX 64

static struct model m;
static struct record *told[TOLD_MAX];
static size_t n_told;
static size_t fails_at; /* number of the record that the consumer refuses; 0: none */

static int take(void *ctx, const struct record *h)
{
	if (ctx != told || n_told == TOLD_MAX)
		abort();
	told[n_told] = malloc(h->len);
	memcpy(told[n_told++], h, h->len);
	return n_told == fails_at ? -ENOSPC : 0;
}

static const struct sink sink = {.take = take, .ctx = told};

static void forget(void)
{
	while (n_told)
		free(told[--n_told]);
}

/* Returns the only record of a kind; NULL: there is none, or more than one. */
static const void *only(uint32_t kind)
{
	const struct record *found = NULL;

	for (size_t i = 0; i < n_told; i++) {
		if (told[i]->kind != kind)
			continue;
		if (found)
			return NULL;
		found = told[i];
	}
	return found;
}

static size_t count(uint32_t kind)
{
	size_t n = 0;

	for (size_t i = 0; i < n_told; i++)
		n += told[i]->kind == kind;
	return n;
}

static void begin(void)
{
	struct host_record host = host_record(SECOND / 2);
	struct hook_record hook = hook_record("signal", HOOK_BLIND);
	struct tick_record tick = tick_record(SECOND);

	if (model_init(&m))
		abort();
	hook.tier = 3;
	hook.lacks = 5;
	host.zone_s = 3600;
	tick.wall_ns = 1700000001 * SECOND;
	model_take(&m, &host.h);
	model_take(&m, &hook.h);
	model_take(&m, &tick.h);
}

static void end(void)
{
	forget();
	model_free(&m);
}

static void test_host(void)
{
	const struct host_record *host;
	const struct hook_record *hook;

	begin();
	ok(!retell(&m, &sink), "an empty model");
	is_u64(n_told, 3, "is a host, a probe and a scan");
	host = only(RECORD_HOST);
	hook = only(RECORD_HOOK);
	ok(host == (void *)told[0], "the host comes first");
	ok(told[n_told - 1]->kind == RECORD_TICK, "the end of a scan comes last");
	is_u64(told[n_told - 1]->t_ns, SECOND, "with its time");
	is_u64(host->h.t_ns, SECOND, "the host has the time of the last scan");
	is_u64(host->wall_ns, 1700000001 * SECOND, "and its time of day");
	is_str(host->version, "1.2.3", "its texts are kept");
	is_u64(host->zone_s, 3600, "and its time zone");
	ok(hook->tier == 3 && hook->state == HOOK_BLIND && hook->lacks == 5, "the probe's state");
	is_str(hook->name, "signal", "its name");
	is_str(hook->why, "tp_btf: EPERM", "why it is off");
	is_str(hook->mechanism, "", "its way to attach");
	end();
}

static struct names_record names_record(uint32_t pid, const char *exe, const char *cgroup,
					const char *command, const char *user)
{
	struct names_record r = RECORD(names_record, RECORD_NAMES, SECOND);

	r.subject = (struct process_key){.pid = pid, .start_ns = 1};
	strcpy(r.exe, exe);
	strcpy(r.cgroup, cgroup);
	strcpy(r.command, command);
	strcpy(r.user, user);
	return r;
}

static void test_names(void)
{
	static const struct {
		const char *exe, *cgroup, *command, *user;
		const char *name;
	} rows[] = {
		{"/bin/a", "/a.service", "a -b", "root", "all names"},
		{"/bin/a", "", "", "", "only the program"},
		{"", "/a.service", "", "", "only the cgroup"},
	};
	struct process_record p = process_record(10, 1, SECOND);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct names_record r = names_record(10, rows[i].exe, rows[i].cgroup,
						     rows[i].command, rows[i].user);
		const struct names_record *got;

		begin();
		model_take(&m, &p.h);
		model_take(&m, &r.h);
		retell(&m, &sink);
		got = only(RECORD_NAMES);
		ok(got && got->subject.pid == 10 && got->subject.start_ns == 1 &&
			   !strcmp(got->exe, r.exe) && !strcmp(got->cgroup, r.cgroup) &&
			   !strcmp(got->command, r.command) && !strcmp(got->user, r.user),
		   "%s", rows[i].name);
		end();
	}
	begin();
	model_take(&m, &p.h);
	retell(&m, &sink);
	is_u64(count(RECORD_NAMES), 0, "a process without names has no record of names");
	is_u64(count(RECORD_LEVELS), 0, "one without read cgroups has no record of them");
	end();
}

static void test_process(void)
{
	struct process_record p = process_record(10, 1, SECOND), final = process_record(11, 1, 1);
	struct tick_record tick = tick_record(2 * SECOND);
	const struct process_record *got;

	begin();
	p.g.min_flt = 70;
	p.u.cpu_ns = 123456;
	p.c.fault_kind[1] = 40;
	model_take(&m, &p.h);
	model_next_window(&m);
	p.c.fault_kind[1] = 45;
	p.g.min_flt = 75;
	model_take(&m, &p.h);
	final.g.flags = PROC_BORN | PROC_FINAL;
	model_take(&m, &final.h);
	model_take(&m, &tick.h);
	ok(!retell(&m, &sink), "a process");
	got = only(RECORD_PROCESS);
	ok(got && got->subject.pid == 10, "one that has ended is not told");
	is_u64(got->h.len, sizeof(*got), "with its counters");
	is_u64(got->h.t_ns, 2 * SECOND, "at the last scan");
	ok(got->g.min_flt == 75 && got->u.cpu_ns == 123456, "the last values");
	is_u64(got->c.fault_kind[1], 45, "counters have what they had before the first scan, too");
	ok(got->g.flags & PROC_RESUMED, "the process is older than the records");
	end();

	begin();
	p.g.flags = PROC_BORN | PROC_WATCHED;
	p.h.len = offsetof(struct process_record, c);
	model_take(&m, &p.h);
	retell(&m, &sink);
	got = only(RECORD_PROCESS);
	ok(got && got->g.flags == (PROC_RESUMED | PROC_WATCHED), "it is not new, but as before");
	is_u64(got->h.len, offsetof(struct process_record, c), "without counters");
	end();
}

static void test_cgroups_and_holdings(void)
{
	struct process_record p = process_record(10, 1, SECOND);
	struct levels_record levels = RECORD(levels_record, RECORD_LEVELS, SECOND);
	struct holding_record held = RECORD(holding_record, RECORD_HOLDING, SECOND);
	const struct levels_record *got;
	size_t right = 0;

	begin();
	levels.subject = held.g.subject = p.subject;
	levels.memory = (struct level_room){.used = 5, .limit = 9, .up = 1, .known = 1};
	levels.pids = (struct level_room){.used = 6, .limit = 8, .up = 2, .known = 1};
	model_take(&m, &p.h);
	model_take(&m, &levels.h);
	for (int what = WHAT_MAPS; what <= WHAT_FDS; what++)
		for (held.nth = 0; held.nth < 2; held.nth++) {
			held.g.what = what;
			held.g.count = 10 * (what + 1) + held.nth;
			model_take(&m, &held.h);
		}
	retell(&m, &sink);
	got = only(RECORD_LEVELS);
	ok(got && got->subject.pid == 10 && !memcmp(&got->memory, &levels.memory, 24) &&
		   !memcmp(&got->pids, &levels.pids, 24),
	   "what its cgroups permit");
	for (size_t i = 0; i < n_told; i++) {
		const struct holding_record *h = (const void *)told[i];

		right += h->h.kind == RECORD_HOLDING && h->g.subject.pid == 10 &&
			 h->g.count == 10 * (h->g.what + 1) + h->nth;
	}
	is_u64(right, 4, "what it holds: mappings and file descriptors, each in its order");
	is_u64(count(RECORD_HOLDING), 4, "and nothing else");
	end();
}

static void test_stacks(void)
{
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);
	struct growth_record g = RECORD(growth_record, RECORD_GROWTH, SECOND);
	struct symbol_record s = RECORD(symbol_record, RECORD_SYMBOL, SECOND);
	const struct sink model = {.take = (int (*)(void *, const struct record *))model_take,
				   .ctx = &m};
	const struct frame_list_record *list;
	const struct frames_record *got;
	const struct symbol_record *symbol;
	struct frame_lister lister;
	size_t growths = 0;

	begin();
	f.subject = g.g.subject = (struct process_key){.pid = 10, .start_ns = 1};
	f.stack = 7;
	f.flags = FRAMES_SHORT;
	f.end = 3;
	f.by_chain = 2;
	strcpy(f.user_line, "train.py:57 load");
	strcpy(f.text, "load (train.py)\nmain (app)");
	model_take(&m, &f.h);
	frame_lister_begin(&lister, &model, SECOND, &f.subject, 7);
	frame_lister_add(&lister, &(struct listed_frame){.function = "load",
							 .file = "/x/train.py",
							 .module = "app",
							 .offset = 0x1234,
							 .line = 57,
							 .kind = FRAME_NATIVE,
							 .flags = FRAME_USER});
	frame_lister_end(&lister);
	g.g.added = 100;
	g.g.first_ns = 1;
	model_take(&m, &g.h);
	g.place = 1;
	g.g.added = 101;
	model_take(&m, &g.h);
	s.ip = 0xffffffff81000000;
	strcpy(s.symbol, "do_it+0x4");
	strcpy(s.module, "nfs");
	model_take(&m, &s.h);
	ok(!retell(&m, &sink), "stacks");
	got = only(RECORD_FRAMES);
	ok(got && got->subject.pid == 10 && got->stack == 7 && got->flags == FRAMES_SHORT &&
		   got->end == 3 && got->by_chain == 2,
	   "how the stack was walked");
	is_str(got->user_line, f.user_line, "its line of the user's code");
	is_str(got->text, f.text, "its functions");
	list = only(RECORD_FRAME_LIST);
	ok(list && list->subject.pid == 10 && list->stack == 7 && list->n == 1 && !list->first,
	   "the list of its frames");
	ok(list->frame[0].offset == 0x1234 && list->frame[0].line == 57 &&
		   list->frame[0].kind == FRAME_NATIVE && list->frame[0].flags == FRAME_USER,
	   "the facts of a frame");
	ok(strstr(list->texts, "load") && strstr(list->texts, "/x/train.py") &&
		   strstr(list->texts, "app"),
	   "its texts");
	symbol = only(RECORD_SYMBOL);
	ok(symbol && symbol->ip == s.ip && !strcmp(symbol->symbol, s.symbol) &&
		   !strcmp(symbol->module, s.module),
	   "the name of a kernel address");
	for (size_t i = 0; i < n_told; i++) {
		const struct growth_record *r = (const void *)told[i];

		growths += r->h.kind == RECORD_GROWTH && r->g.added == 100 + r->place &&
			   r->g.subject.pid == 10;
	}
	is_u64(growths, 2, "what grew, each in its place");
	end();
}

/* Fills a model with two of each. */
static void fill(void)
{
	struct hook_record hook = hook_record("oom", HOOK_ON);

	begin();
	model_take(&m, &hook.h);
	for (uint32_t pid = 10; pid < 12; pid++) {
		struct process_record p = process_record(pid, 1, SECOND);
		struct names_record names = names_record(pid, "/bin/a", "/a", "a", "root");
		struct levels_record levels = RECORD(levels_record, RECORD_LEVELS, SECOND);
		struct holding_record held = RECORD(holding_record, RECORD_HOLDING, SECOND);
		struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);
		struct frame_list_record list =
			RECORD(frame_list_record, RECORD_FRAME_LIST, SECOND);
		struct growth_record g = RECORD(growth_record, RECORD_GROWTH, SECOND);
		struct symbol_record s = RECORD(symbol_record, RECORD_SYMBOL, SECOND);
		struct origin_record o = RECORD(origin_record, RECORD_ORIGIN, SECOND);

		levels.subject = held.g.subject = f.subject = list.subject = g.g.subject =
			o.subject = p.subject;
		f.stack = list.stack = s.ip = pid;
		list.n = list.frame[0].function = 1;
		strcpy(list.texts, "f\n");
		g.place = pid - 10;
		snprintf(o.set_by, sizeof(o.set_by), "origin %u", pid);
		model_take(&m, &p.h);
		model_take(&m, &names.h);
		model_take(&m, &levels.h);
		for (; held.nth < 2; held.nth++) {
			held.g.what = WHAT_MAPS;
			model_take(&m, &held.h);
			held.g.what = WHAT_FDS;
			model_take(&m, &held.h);
		}
		model_take(&m, &f.h);
		model_take(&m, &list.h);
		model_take(&m, &g.h);
		model_take(&m, &s.h);
		model_take(&m, &o.h);
	}
}

/* If the consumer refuses a record, its error is returned, and no more records are sent. */
static void test_errors(void)
{
	static const uint32_t kinds[] = {RECORD_HOOK,	RECORD_SYMBOL,	   RECORD_PROCESS,
					 RECORD_NAMES,	RECORD_LEVELS,	   RECORD_FRAMES,
					 RECORD_GROWTH, RECORD_FRAME_LIST, RECORD_ORIGIN};
	size_t all, wrong = 0;

	fill();
	is_u64(retell(&m, &sink), 0, "a model with two of each");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_u64(count(kinds[i]), 2, "both are told");
	is_u64(count(RECORD_HOLDING), 8, "and two lists of two for each process");
	all = n_told;
	for (fails_at = 1; fails_at <= all; fails_at++) {
		forget();
		wrong += retell(&m, &sink) != -ENOSPC || n_told != fails_at;
	}
	is_u64(wrong, 0, "an error at any record ends it at once, and is returned");
	fails_at = 0;
	end();
}

int main(void)
{
	test_host();
	test_names();
	test_process();
	test_cgroups_and_holdings();
	test_stacks();
	test_errors();
	return tap_done();
}
