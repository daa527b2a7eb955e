// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the live source loads and attaches its programs: each attach type of each probe, what
 * follows if the kernel refuses a program, a link or memory, and that no file stays open. The
 * kernel is played; its types, /proc/kallsyms and tracefs are needed.
 */
#define _GNU_SOURCE
#include "live_machine.h"
#include "probe/ring.h"

#define MECHANISMS_MAX 8
#define NO_SUCH	       "no such function or tracepoint"

/* ---- each attach type ---- */

/* Appends the program of a link, and what the link is attached to. */
static void describe(const struct played *link, char *ret, size_t size)
{
	size_t len = strlen(ret);
	const char *program = played_program(link);

	if (link->type == BPF_PERF_EVENT)
		snprintf(ret + len, size - len, "%s:event %u on %d; ", program,
			 (unsigned int)link->config, link->cpu);
	else if (link->type == BPF_TRACE_KPROBE_MULTI)
		snprintf(ret + len, size - len, "%s:%s %u of %u %u; ", program, link->name,
			 link->flags, link->names, (unsigned int)link->cookie);
	else
		snprintf(ret + len, size - len, "%s:%s; ", program,
			 link->type == BPF_TRACE_ITER ? "iterator" : "");
}

/* Returns the open links in the order of their making. */
static const char *links(void)
{
	static char text[65536];

	text[0] = 0;
	for (unsigned int i = 0; i < played_n; i++)
		if (played[i].kind == PLAYED_LINK && played_is_open(&played[i]))
			describe(&played[i], text, sizeof(text));
	return text;
}

static void want_event(const char *program, unsigned int config, char *ret, size_t size)
{
	for (int cpu = 0; cpu < PLAYED_CPUS; cpu++)
		if (cpu != PLAYED_OFF) {
			size_t len = strlen(ret);

			snprintf(ret + len, size - len, "%.15s:event %u on %d; ", program, config,
				 cpu);
		}
}

static void want_program(const char *program, char *ret, size_t size)
{
	size_t len = strlen(ret);

	snprintf(ret + len, size - len, "%.15s:; ", program);
}

/* Returns whether the section of a program is one to which libbpf attaches by a perf event. */
static bool is_by_event(const char *mechanism)
{
	return !strcmp(mechanism, "kprobe") || !strcmp(mechanism, "kretprobe") ||
	       !strcmp(mechanism, "tracepoint");
}

static const char *want_links(const struct hook_alternate *alt)
{
	static char text[65536];
	const size_t size = sizeof(text);

	text[0] = 0;
	switch (alt->attach) {
	case ATTACH_AUTO:
		for (int i = 0; i < HOOK_PROGRAMS && alt->program[i]; i++)
			want_program(alt->program[i], text, size);
		break;
	case ATTACH_ITERATOR:
		snprintf(text, size, "%.15s:iterator; ", alt->program[0]);
		break;
	case ATTACH_PERF_BEGIN:
		want_event(alt->program[0], PERF_COUNT_SW_PAGE_FAULTS, text, size);
		break;
	case ATTACH_PERF_MAJORS:
		want_event(alt->program[0], PERF_COUNT_SW_PAGE_FAULTS_MAJ, text, size);
		break;
	case ATTACH_PERF_FAULTS:
		want_event(alt->program[0], PERF_COUNT_SW_PAGE_FAULTS_MIN, text, size);
		want_event(alt->program[1], PERF_COUNT_SW_PAGE_FAULTS_MAJ, text, size);
		break;
	case ATTACH_MEMCG_FAULTS:
		want_program(alt->program[0], text, size);
		want_event(alt->program[1], PERF_COUNT_SW_PAGE_FAULTS_MAJ, text, size);
		break;
	case ATTACH_FILE_MAJORS:
		want_program(alt->program[1], text, size);
		want_event(alt->program[0], PERF_COUNT_SW_PAGE_FAULTS_MAJ, text, size);
		break;
	case ATTACH_CALL_EXITS:
		for (unsigned int i = 0, len = 0; i < nr_call_rows; i++)
			len += snprintf(text + len, size - len, "on_call_exit:event %u on 0; ",
					LIVE_FIRST_CALL + i);
		break;
	case ATTACH_CALL_RETURNS:
		snprintf(text, size, "on_call_return:__x64_sys_mmap %u of 3 0; ",
			 BPF_F_KPROBE_MULTI_RETURN);
		break;
	default:
		break;
	}
	return text;
}

/* Programs at kprobes and tracepoints have a perf event each. */
static void test_one(size_t h, int a)
{
	const struct hook_alternate *alt = &hooks[h].alternate[a];
	size_t fds = played_fds();
	const struct hook_status *st;
	unsigned int n;

	begin();
	wish.tiers = 0x1f;
	for (size_t other = 0; other < nr_hooks; other++)
		wish.forced[other] = "none";
	wish.forced[hook_find("state")] =
		alt->state == STATE_HASH || !strcmp(alt->mechanism, "hash") ? "hash" : NULL;
	if (strcmp(hooks[h].name, "state") != 0)
		wish.forced[h] = alt->mechanism;
	if (!ok(!load(), "%s: %s is loaded %s", hooks[h].name, alt->mechanism, error))
		return;
	st = &live_hooks(src)[h];
	if (st->state == HOOK_BLIND && strstr(st->why, NO_SUCH)) {
		ok(true, "%s: %s # SKIP %s", hooks[h].name, alt->mechanism, st->why);
	} else if (!strcmp(hooks[h].name, "fault_class")) {
		ok(st->state == HOOK_BLIND && strstr(st->why, "needs fault_begin"),
		   "it needs others: %s", st->why);
	} else {
		ok(st->state == HOOK_ON && st->used == alt && !*st->why && !st->pending,
		   "it is on: %s", st->why);
		n = played_open(PLAYED_LINK);
		if (is_by_event(alt->mechanism) && alt->attach == ATTACH_AUTO)
			ok(n && n == played_open(PLAYED_EVENT), "%u links of perf events", n);
		else
			is_str(links(), want_links(alt), "its links");
		ok(live_is_on(live_of_test(), hooks[h].name), "it is said to be on");
		is_u64((live_of_test()->links.iterator >= 0), alt->attach == ATTACH_ITERATOR,
		       "whether it has an iterator");
		live_pause(src);
		is_u64(played_open(PLAYED_LINK) + played_open(PLAYED_EVENT), 0,
		       "a pause closes all links");
		is_u64(live_resume(src), 0, "it resumes");
		is_u64(played_open(PLAYED_LINK), n, "with as many links");
	}
	for (size_t other = 0; other < nr_hooks; other++)
		if (other != h && other != (size_t)hook_find("state") &&
		    live_hooks(src)[other].state != HOOK_BLIND)
			ok(false, "%s is on", hooks[other].name);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

static void test_each(void)
{
	for (size_t h = 0; h < nr_hooks; h++)
		for (int a = 0; hooks[h].alternate[a].mechanism; a++)
			test_one(h, a);
}

/* ---- programs that are refused ---- */

/* Attach types of all probes of a source, in their order. */
struct mechanisms {
	const char *of[HOOKS_MAX];
};

static struct mechanisms mechanisms(void)
{
	struct mechanisms m = {};

	for (size_t h = 0; h < nr_hooks; h++)
		if (live_hooks(src)[h].state == HOOK_ON)
			m.of[h] = live_hooks(src)[h].used->mechanism;
	return m;
}

static const struct {
	const char *hook;
	const char *then; /* attach type that is used if programs of the first one are refused */
} seconds[] = {
	{"scan", "iter/task"}, {"fault_begin", "tracepoint"},
	{"oom", NULL},	       {"fault_end", "perf_event"},
	{"cgroup", NULL},      {"mmap_lock", "raw_tp"},
	{"lifecycle", NULL},   {"tlb", "raw_tp"},
	{"log", NULL},
};

static void compare(const struct mechanisms *before, const char *hook, const char *then)
{
	struct mechanisms now = mechanisms();

	for (size_t h = 0; h < nr_hooks; h++) {
		const char *want = strcmp(hooks[h].name, hook) ? before->of[h] : then;

		/* without the probe of both kinds of faults, or of calls, no classes are known */
		if (now.of[h] != want && (!now.of[h] || !want || strcmp(now.of[h], want) != 0) &&
		    strcmp(hooks[h].name, "fault_class") != 0)
			ok(false, "%s: %s is %s, not %s", hook, hooks[h].name,
			   now.of[h] ? now.of[h] : "off", want ? want : "off");
	}
}

static void test_refused(enum played_kind kind, int number, const char *text)
{
	struct mechanisms before;

	begin();
	if (!ok(!load(), "all probes are loaded"))
		return;
	before = mechanisms();
	unload();
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		size_t h = hook_find(seconds[i].hook), fds = played_fds();
		const char *first = before.of[h];
		const struct hook_alternate *alt;
		const struct hook_status *st;

		if (!first || (kind == PLAYED_LINK && !strcmp(seconds[i].hook, "scan")))
			continue;
		alt = &hooks[h].alternate[hook_alternate_find(&hooks[h], first)];
		if (alt != hooks[h].alternate)
			continue;
		begin();
		played_fail(kind, kind == PLAYED_PROGRAM ? alt->program[0] : NULL, 0, number);
		if (kind == PLAYED_LINK) { /* the first link is one of this probe */
			for (size_t other = 0; other < nr_hooks; other++)
				wish.forced[other] = other == h ? NULL : "none";
			wish.forced[hook_find("state")] = NULL;
		}
		if (!ok(!load(), "%s: another attach type is loaded %s", seconds[i].hook, error))
			continue;
		st = status(seconds[i].hook);
		ok(!strncmp(st->why, first, strlen(first)) && strstr(st->why, text), "%s: %s",
		   seconds[i].hook, st->why);
		is_u64(st->state, seconds[i].then || kind == PLAYED_LINK ? st->state : HOOK_BLIND,
		       "whether another is left");
		if (kind == PLAYED_PROGRAM)
			compare(&before, seconds[i].hook, seconds[i].then);
		unload();
		is_u64(played_fds(), fds, "no file is left");
	}
}

/* Without rights, no other attach type is tried. */
static void test_not_permitted(void)
{
	size_t fds = played_fds();

	begin();
	played_fail(PLAYED_PROGRAM, "on_fault_user", 0, EPERM);
	ok(load() == -EPERM && strstr(error, "whose capabilities do not count here"), "%s", error);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- memory and files that run out ---- */

static void test_exhausted(void)
{
	static const struct {
		enum played_kind kind;
		int step, most;
	} kinds[] = {{PLAYED_MAP, 9, 60},
		     {PLAYED_PROGRAM, 11, 80},
		     {PLAYED_LINK, 3, 28},
		     {PLAYED_EVENT, 1, 3}};
	static const int numbers[] = {ENOMEM, EMFILE, ENFILE};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (int left = kinds[i].kind == PLAYED_PROGRAM ? 40 : 1; left < kinds[i].most;
		     left += kinds[i].step) {
			size_t fds = played_fds();
			int number = numbers[left % 3], err;
			char want[64];

			begin();
			wish.attribute = left & 1;
			played_fail(kinds[i].kind, NULL, left, number);
			err = load();
			if (!err && played_fails.left >= 0) {
				unload(); /* there are fewer such calls */
				break;
			}
			snprintf(want, sizeof(want), "cannot load BPF programs: %s (",
				 strerror(number));
			ok(err == -number && !strncmp(error, want, strlen(want)) && !src,
			   "kind %d, call %d: %d %.60s", kinds[i].kind, left, err, error);
			unload();
			is_u64(played_fds(), fds, "no file is left");
		}
}

/* ---- probes that are deferred ---- */

static unsigned int told; /* records of probes */

static int count_hooks(void *ctx, const struct record *h)
{
	(void)ctx;
	told += h->kind == RECORD_HOOK;
	return 0;
}

static const struct sink counter = {.take = count_hooks};

static unsigned int maps_made(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < played_n; i++)
		n += played[i].kind == PLAYED_MAP && *played[i].name &&
		     strncmp(played[i].name, ".rodata", 7) != 0;
	return n;
}

static void test_deferred(const char *refused)
{
	size_t fds = played_fds();
	struct mechanisms all;
	unsigned int maps;

	begin();
	if (!ok(!load(), "all probes are loaded at once"))
		return;
	all = mechanisms();
	unload();
	begin();
	wish.defers = true;
	if (!ok(!load(), "core probes are loaded first"))
		return;
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_status *st = &live_hooks(src)[h];

		if (all.of[h] && (hooks[h].core ? st->state != HOOK_ON || st->pending
						: st->state == HOOK_ON || !st->pending))
			ok(false, "%s: state %d, pending %d", hooks[h].name, st->state,
			   st->pending);
	}
	ok(choice_has_pending(live_hooks(src)), "others are pending");
	maps = maps_made();
	if (refused)
		played_fail(PLAYED_PROGRAM, refused, 0, E2BIG);
	told = 0;
	is_u64(live_load_deferred(src, &counter, error, sizeof(error)), 0, "then the others");
	is_u64(told, nr_hooks, "the state of each probe is sent");
	is_u64(maps_made(), maps, "the maps stay");
	ok(!choice_has_pending(live_hooks(src)), "none is pending");
	compare(&all, refused ? "fault_end" : "", "perf_event");
	is_u64(live_of_test()->before.obj != NULL, 0, "the object before is closed");
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

static void test_deferred_exhausted(void)
{
	size_t fds = played_fds();

	begin();
	wish.defers = true;
	if (!ok(!load(), "core probes are loaded first"))
		return;
	played_fail(PLAYED_LINK, NULL, 2, ENOMEM);
	ok(live_load_deferred(src, &counter, error, sizeof(error)) == -ENOMEM &&
		   strstr(error, "ENOMEM"),
	   "memory runs out later: %s", error);
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- what the programs are told ---- */

static void test_settings(void)
{
	static const struct {
		bool attribute, watch_all, majors, filtered;
		unsigned int tiers;
		const char *fault_end;
		bool times, classes, samples, majors_alone;
	} rows[] = {
		{true, true, false, false, TIER_ALL, NULL, true, true, true, false},
		{false, true, false, false, TIER_ALL, NULL, true, true, false, false},
		{true, false, false, true, TIER_ALL, NULL, true, true, true, false},
		{true, true, false, false, TIER_ALL, "perf_event_major", true, false, false, true},
		{true, true, false, false, 0x3, NULL, false, false, false, false},
		{false, true, true, false, 0x3, NULL, true, false, false, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t fds = played_fds(), size;
		const struct fs_config *c;
		struct bpf_map *map;

		begin();
		wish.attribute = rows[i].attribute;
		wish.attribute_maps = 11;
		wish.attribute_fds = 12;
		wish.watch_all = rows[i].watch_all;
		wish.majors = rows[i].majors;
		wish.filtered = rows[i].filtered;
		wish.tiers = rows[i].tiers;
		wish.forced[hook_find("fault_end")] = rows[i].fault_end;
		if (!ok(!load(), "row %zu is loaded %s", i, error))
			continue;
		map = object_map(&live_of_test()->obj, ".rodata.config");
		c = bpf_map__initial_value(map, &size);
		ok(c->watch_all == rows[i].watch_all && c->attribute == rows[i].attribute &&
			   c->in_seconds == rows[i].majors,
		   "what was asked for");
		ok(c->time_faults == rows[i].times && c->classify == rows[i].classes &&
			   c->samples == rows[i].samples && c->majors_alone == rows[i].majors_alone,
		   "times %d, classes %d, samples %d, majors alone %d", c->time_faults, c->classify,
		   c->samples, c->majors_alone);
		ok(c->attribute_maps == 11 && c->attribute_fds == 12,
		   "growth from which counts on");
		ok(c->mark_percent[0] == 50 && c->mark_percent[1] == 80 &&
			   c->mark_percent[2] == 95 && c->slow_ns == 1000000,
		   "marks, and what is slow");
		ok(!c->resident.on, "no page is chosen");
		ok((live_of_test()->obj.growth != NULL) == rows[i].attribute &&
			   (live_of_test()->obj.spares != NULL) == rows[i].attribute &&
			   live_of_test()->growth.rows == (rows[i].attribute ? 256 : 0),
		   "memory of growth");
		ok(live_of_test()->obj.shared->max_map_count > 1000, "vm.max_map_count");
		is_u64(bpf_map__max_entries(object_map(&live_of_test()->obj, "growth")),
		       rows[i].attribute ? GROWTH_MAX : 1, "rows of growth");
		is_u64(bpf_map__max_entries(object_map(&live_of_test()->obj, "resident")), 1,
		       "pages");
		unload();
		is_u64(played_fds(), fds, "no file is left");
	}
}

static void test_resident(void)
{
	size_t fds = played_fds(), size;
	const struct fs_config *c;

	begin();
	wish.tiers = 0x1f;
	wish.attribute = true;
	if (!ok(!load(), "pages are chosen %s", error))
		return;
	c = bpf_map__initial_value(object_map(&live_of_test()->obj, ".rodata.config"), &size);
	ok(c->resident.on && c->ring_bytes == 4 * ring_bytes_for(sysconf(_SC_NPROCESSORS_ONLN)),
	   "a larger ring");
	is_u64(bpf_map__max_entries(object_map(&live_of_test()->obj, "ring")), c->ring_bytes,
	       "its size");
	ok(bpf_map__max_entries(object_map(&live_of_test()->obj, "resident")) > 1, "room for them");
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

/* ---- scans ---- */

static struct tick_record last_tick;
static unsigned int ticks, hook_records;

static int take_tick(void *ctx, const struct record *h)
{
	(void)ctx;
	hook_records += h->kind == RECORD_HOOK;
	if (h->kind != RECORD_TICK)
		return 0;
	ticks++;
	memcpy(&last_tick, h, sizeof(last_tick));
	return 0;
}

static int refuse(void *ctx, const struct record *h)
{
	(void)ctx, (void)h;
	return -EIO;
}

static const struct sink keeps = {.take = take_tick}, refuses = {.take = refuse};

static void test_scan(const char *mechanism)
{
	unsigned int programs = 0;
	struct fs_shared *shared;
	size_t fds = played_fds();
	struct program_statistics s[128];

	begin();
	wish.forced[hook_find("scan")] = mechanism;
	if (!ok(!load(), "%s", mechanism))
		return;
	ticks = hook_records = 0;
	is_u64(src->ops->start(src, &keeps), 0, "it starts");
	is_u64(hook_records, nr_hooks, "with a record of each probe");
	ok(src->ops->start(src, &refuses) == -EIO, "an error of the reader ends it");
	played_statistics.run_ns = 1000;
	played_statistics.runs = 7;
	played_statistics.recursions = 2;
	shared = live_of_test()->obj.shared;
	shared->losses.ring = 5;
	shared->walk_ends[STACK_END_ENTRY] = 9;
	shared->woken = 1;
	live_count_missed(src, 3);
	played_runs = 0;
	is_u64(src->ops->look(src, &keeps), 0, "a scan");
	is_u64(played_runs, 1, "runs once");
	is_u64(ticks, 1, "a record of the scan");
	is_u64(shared->epoch, 1, "the first scan");
	is_u64(shared->woken, 0, "the reader may be woken again");
	programs = live_programs(src, s, 128);
	ok(programs > 20 && s[0].runs == 7 && s[0].run_ns == 1000, "%u programs", programs);
	is_u64(live_programs(src, s, 5), 5, "as many as there is room for");
	is_u64(last_tick.losses.ring, 5, "losses");
	/* one program runs inside of others, which is no loss */
	ok(last_tick.losses.missed >= 3 + 2 * (programs - 1) &&
		   last_tick.losses.missed <= 3 + 2 * programs,
	   "missed: %llu", (unsigned long long)last_tick.losses.missed);
	is_u64(last_tick.walk_ends[STACK_END_ENTRY], 9, "stacks that were walked");
	is_u64(last_tick.own_bpf_ns, live_times_programs(src) ? 1000 * programs : 0, "CPU time");
	ok(last_tick.own_cpu_ns && last_tick.own_rss_bytes && last_tick.wall_ns > 1e18 &&
		   last_tick.look_ns && last_tick.look_ns < 10000000000ULL,
	   "what faultscope itself takes");
	ok(src->ops->look(src, &refuses) == -EIO, "an error of the reader ends a scan");
	is_u64(shared->epoch, 2, "the second scan");
	played_run_error = EPERM;
	ok(src->ops->look(src, &keeps) == -EPERM, "a scan that the kernel refuses");
	is_str(src->error, "scanning the processes failed: Operation not permitted", "its text");
	if (!strcmp(mechanism, "iter/task")) {
		__u64 missed = live_of_test()->missed;

		played_run_error = EMFILE;
		is_u64(src->ops->look(src, &keeps), 0, "no file is left for a scan");
		played_run_error = ENFILE;
		is_u64(src->ops->look(src, &keeps), 0, "nor for the machine");
		is_u64(live_of_test()->missed, missed + 2, "both are counted");
	}
	is_u64(fcntl(src->ops->fd(src), F_GETFD) >= 0, 1, "the ring can be waited for");
	unload();
	is_u64(played_fds(), fds, "no file is left");
}

static void test_no_scan(void)
{
	begin();
	wish.forced[hook_find("scan")] = "none";
	if (!ok(!load(), "without scans"))
		return;
	ticks = 0;
	is_u64(src->ops->look(src, &keeps), 0, "events are read");
	ok(ticks == 1 && !played_runs && !live_of_test()->obj.shared->epoch, "nothing is scanned");
	unload();
}

/* ---- records of the ring ---- */

static unsigned int codes, copies, limits_told, refusals, order;

static void see_code(void *ctx, const struct process_key *of)
{
	codes += ctx == &codes && of->pid == 77;
}

static void see_copy(void *ctx, const struct stack_copy_record *r)
{
	copies += ctx == &codes && r->bytes == 5;
}

static int take_any(void *ctx, const struct record *h)
{
	(void)ctx;
	limits_told += h->kind == RECORD_LIMITS;
	if (h->kind == RECORD_REFUSED)
		order += limits_told;
	refusals += h->kind == RECORD_REFUSED;
	return 0;
}

/* Writes a record behind the others of the ring, as the kernel does. */
static void put(int fd, unsigned long *end, const void *record, __u32 len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	__u32 head[2] = {len, 0};

	if (pwrite(fd, head, 8, 2 * page + *end) != 8 ||
	    pwrite(fd, record, len, 2 * page + *end + 8) != (ssize_t)len)
		abort();
	*end += (8 + len + 7) / 8 * 8;
	if (pwrite(fd, end, sizeof(*end), page) != sizeof(*end))
		abort();
}

static void test_ring(void)
{
	static struct stack_copy_record copy;
	const __u32 head = offsetof(struct stack_copy_record, data);
	const struct sink any = {.take = take_any};
	struct refused_record refused = {.h = {RECORD_REFUSED, sizeof(refused), 1}};
	struct code_record code = {.h = {RECORD_CODE, sizeof(code), 1}};
	unsigned long end = 0;
	int fd;

	begin();
	wish.code_changed = see_code;
	wish.stack_copied = see_copy;
	wish.code_ctx = &codes;
	if (!ok(!load(), "a source with a ring"))
		return;
	fd = src->ops->fd(src);
	code.subject.pid = 77;
	copy = (struct stack_copy_record){.h = {RECORD_STACK_COPY, head, 1}, .bytes = 5};
	for (int i = 0; i < 2; i++)
		put(fd, &end, &refused, sizeof(refused));
	put(fd, &end, &code, sizeof(code));
	put(fd, &end, &copy, head);
	put(fd, &end, &copy, head + 8);
	copy.h.len = head + 9;
	put(fd, &end, &copy, head + 8); /* longer than what there is */
	copy.h.len = head - 1;
	put(fd, &end, &copy, head - 1); /* without its head */
	put(fd, &end, &copy, 4);
	codes = copies = limits_told = refusals = order = 0;
	is_u64(src->ops->drain(src, &any), 0, "the ring is read");
	ok(refusals == 2 && limits_told == 1 && order == 2,
	   "limits are sent once, before failed calls: %u %u %u", refusals, limits_told, order);
	is_u64(codes, 1, "code that has changed");
	is_u64(copies, 2, "stacks that were copied");
	is_u64(src->ops->drain(src, &any), 0, "nothing is left");
	is_u64(refusals, 2, "each record is read once");
	put(fd, &end, &refused, sizeof(refused));
	ok(src->ops->drain(src, &refuses) == -EIO, "an error of the reader");
	put(fd, &end, &refused, sizeof(refused));
	is_u64(src->ops->drain(src, &any), 0, "it goes on");
	is_u64(limits_told, 2, "with limits again");
	unload();
}

int main(void)
{
#ifdef __x86_64__
	if (live_make_machine()) {
		test_each();
		test_settings();
		test_resident();
		test_refused(PLAYED_PROGRAM, E2BIG, "(E2BIG): R0 !read_ok");
		test_refused(PLAYED_LINK, EOPNOTSUPP, "not supported by this kernel (EOPNOTSUPP)");
		test_not_permitted();
		test_exhausted();
		test_deferred(NULL);
		test_deferred("on_memcg_event");
		test_deferred_exhausted();
		test_scan("task-iterator");
		test_scan("iter/task");
		test_no_scan();
		test_ring();
		return tap_done();
	}
#endif
	ok(true, "# SKIP no types of the kernel, no tracefs, or no user namespaces");
	return tap_done();
}
