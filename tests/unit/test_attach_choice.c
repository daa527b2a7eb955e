// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which attach type of each probe is tried first, which one is tried after a refusal, and
 * what is said of a probe that has none left.
 */
#include "base/overhead.h"
#include "probe/attach_choice.h"
#include "tap.h"

#define NO_LEVEL  "off: its overhead level is disabled in this mode; --overhead all enables it"
#define NO_STATE  "none: without state there is nothing to count in"
#define ALL_CALLS 0u /* no system call may be missing */

static const char *forced[HOOKS_MAX];
static struct choice c;

static void begin(unsigned int levels, bool majors, unsigned int accepts)
{
	memset(forced, 0, sizeof(forced));
	choice_begin(&c, levels, majors, accepts, forced);
}

/* As begin() with all levels; the user requests an attach type of one probe, or of two. */
static void begin_forced(const char *hook, const char *mechanism, const char *other,
			 const char *its)
{
	memset(forced, 0, sizeof(forced));
	forced[hook_find(hook)] = mechanism;
	if (other)
		forced[hook_find(other)] = its;
	choice_begin(&c, OVERHEAD_ALL, false, ALL_CALLS, forced);
}

static const char *chosen(const char *hook)
{
	const struct hook_alternate *alt = choice_of(&c, hook_find(hook));

	return alt ? alt->mechanism : "";
}

static struct hook_status *status(const char *hook)
{
	return &c.status[hook_find(hook)];
}

static void refuse(const char *hook, const char *text, const char *remedy)
{
	struct answer answer = {.remedy = remedy};

	snprintf(answer.text, sizeof(answer.text), "%s", text);
	choice_refused(&c, hook_find(hook), &answer);
}

/* Checks the state of a probe without an attach type, and what is said of it. */
static void is_without(const char *hook, enum hook_use state, const char *why)
{
	is_str(chosen(hook), "", hook);
	is_u64(status(hook)->state, state, state == HOOK_OFF ? "is off" : "is unavailable");
	is_str(status(hook)->why, why, "the reason");
}

/* ---- levels ---- */

static void test_levels(void)
{
	for (unsigned int levels = 0; levels < 1u << NR_OVERHEAD_LEVELS; levels++) {
		begin(levels, false, ALL_CALLS);
		for (size_t h = 0; h < nr_hooks; h++) {
			bool on = levels >> hooks[h].tier & 1 || !strcmp(hooks[h].name, "state");
			const char *why = on ? ""
					  : hooks[h].tier == 4
						  ? "off: only readings of resident memory use it"
						  : NO_LEVEL;

			if ((choice_of(&c, h) != NULL) != on || c.status[h].state != HOOK_OFF ||
			    strcmp(c.status[h].why, why) != 0)
				ok(false, "levels %#x: %s: %s", levels, hooks[h].name,
				   c.status[h].why);
		}
	}
	begin(0x3, true, ALL_CALLS);
	is_str(chosen("fault_end"), "file_major", "major faults are measured at any level");
	is_without("fault_class", HOOK_OFF, NO_LEVEL);
	is_without("calls", HOOK_OFF, NO_LEVEL);
}

/* ---- order of attach types ---- */

/* Attach types of a probe in the order of their trial, each followed by a space. */
struct order {
	const char *hook, *task, *hash;
	unsigned int accepts;
	bool majors;
};

static const struct order orders[] = {
	{"scan", "task-iterator iter/task /proc ", "iter/task /proc "},
	{"lifecycle", "tp_btf ", "tp_btf raw_tp "},
	{"fault_begin", "tp_btf tracepoint fentry kprobe perf_event ",
	 "tp_btf raw_tp tracepoint fentry kprobe perf_event "},
	{"fault_kernel", "tp_btf fentry kprobe ", "tp_btf raw_tp fentry kprobe "},
	{"oom", "raw_tp ", "raw_tp "},
	{"fault_end", "memcg perf_event fexit kretprobe ", "memcg perf_event fexit kretprobe "},
	{"fault_end", "file_major perf_event_major fexit_major ", "perf_event_major fexit_major ",
	 .majors = true},
	{"fault_class", "mappings ", "mappings "},
	{"mmap_lock", "tp_btf raw_tp ", "tp_btf raw_tp "},
	{"disk_wait", "counters tp_btf ", "counters tp_btf raw_tp "},
	{"tlb", "fentry raw_tp ", "fentry raw_tp ", .accepts = ACCEPTS_ON_REQUEST},
	{"calls", "tp_btf ", "tp_btf raw_tp "},
	{"calls", "kprobe_multi tp_btf ", "tp_btf raw_tp ", .accepts = LACKS_WRITES},
	{"calls", "tp_btf ", "tp_btf raw_tp ", .accepts = LACKS_COMPAT},
	{"calls", "kprobe_multi tracepoint tp_btf ", "tp_btf raw_tp ", .accepts = OPTIONAL_CALLS},
	{"resident", "tp_btf perf_event ", ""},
};

/* Refuses each attach type of a probe, until none is left. */
static void try_all(const char *hook, const char *want)
{
	char order[256] = "", why[512] = "", text[16];
	int n = 0;

	while (*chosen(hook)) {
		size_t len = strlen(order), said = strlen(why);

		snprintf(text, sizeof(text), "no %d", ++n);
		snprintf(order + len, sizeof(order) - len, "%s ", chosen(hook));
		snprintf(why + said, sizeof(why) - said, "%s%s: %s", said ? "; " : "", chosen(hook),
			 text);
		is_u64(status(hook)->state, HOOK_OFF, "it is not attached yet");
		status(hook)->pending = true;
		refuse(hook, text, n == 1 ? NULL : n == 2 ? "second" : "later");
		ok(!status(hook)->pending, "a refused one is not pending");
	}
	is_str(order, want, hook);
	if (!n)
		return;
	is_u64(status(hook)->state, HOOK_BLIND, "none is left");
	is_str(status(hook)->why, why, "each attach type and its answer");
	is_str(status(hook)->remedy, n > 1 ? "second" : NULL, "the first remedy");
}

static void test_order(void)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct order *o = &orders[i];
		const unsigned int levels = OVERHEAD_ALL | 1u << hooks[hook_find(o->hook)].tier;

		begin(levels, o->majors, o->accepts);
		is_str(chosen("state"), "task-storage", "state of tasks");
		try_all(o->hook, o->task);
		begin(levels, o->majors, o->accepts);
		ok(choice_fall_back(&c, "old"), "the build for old kernels is left to try");
		is_str(chosen("state"), "hash", "hash tables");
		try_all(o->hook, o->hash);
	}
}

static void test_fall_back(void)
{
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	ok(!choice_is_hash(&c), "the build with task storage is the first");
	refuse("scan", "no", "a remedy");
	is_str(chosen("scan"), "iter/task", "the second scan");
	ok(choice_fall_back(&c, "too old"), "hash tables are left to try");
	ok(choice_is_hash(&c), "hash tables");
	is_str(status("state")->why, "task-storage: too old", "the reason");
	ok(!*status("scan")->why && !status("scan")->remedy, "answers to the other build are void");
	is_u64(status("state")->state, HOOK_OFF, "state is not refused");
	ok(!choice_fall_back(&c, "older") && !strstr(status("state")->why, "older"),
	   "it is the last build");
	begin_forced("state", "task-storage", NULL, NULL);
	ok(choice_fall_back(&c, "too old"), "the requested state cannot be used");
	is_without("state", HOOK_BLIND, "task-storage: too old");
	is_without("scan", HOOK_BLIND, NO_STATE);
	ok(choice_is_hash(&c), "any build will do");
}

static void test_kfuncs(void)
{
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	ok(choice_leave_kfuncs(&c), "the build without iterators is left to try");
	is_str(chosen("scan"), "iter/task", "another scan");
	is_str(status("scan")->why, "task-iterator: this kernel has no open-coded iterators (6.7)",
	       "the reason");
	is_str(status("lifecycle")->why, "", "other probes stay");
	ok(!choice_leave_kfuncs(&c), "it is tried once");
	refuse("scan", "no", NULL);
	is_str(chosen("scan"), "/proc", "the next scan");
	begin_forced("scan", "task-iterator", NULL, NULL);
	ok(choice_leave_kfuncs(&c), "also if iterators are requested");
	is_u64(status("scan")->state, HOOK_BLIND, "which then has no other attach type");
	is_str(chosen("scan"), "", "none");
}

/* The reasons of a probe end where their room ends, and change nothing behind it. */
static void test_long_reasons(void)
{
	const struct hook_status *st = status("fault_begin");
	char text[sizeof(((struct answer *)0)->text)];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	for (int i = 0; i < 5; i++)
		refuse("fault_begin", text, "a remedy");
	is_u64(strlen(st->why), sizeof(st->why) - 1, "as many as have room");
	ok(strstr(st->why, "tp_btf: xxx") == st->why && strstr(st->why, "x; tracepoint: x"),
	   "the first ones");
	is_str(st->remedy, "a remedy", "the remedy stays");
	is_u64(st->state, HOOK_BLIND, "none is left");
}

/* ---- attach types that the user requests ---- */

static void test_forced(void)
{
	begin_forced("fault_begin", "kprobe", NULL, NULL);
	is_str(chosen("fault_begin"), "kprobe", "a requested attach type");
	is_str(status("fault_begin")->why, "", "without a reason");
	is_u64(status("fault_begin")->state, HOOK_OFF, "it is not attached yet");
	refuse("fault_begin", "no", NULL);
	is_without("fault_begin", HOOK_BLIND, "kprobe: no");
	begin_forced("fault_begin", "none", NULL, NULL);
	is_without("fault_begin", HOOK_BLIND, "none: " SWITCHED_OFF);
	begin_forced("tlb", HOOK_UNNEEDED, NULL, NULL);
	is_without("tlb", HOOK_OFF, "off: faultscope memory does not need it");
	begin_forced("fault_end", "file_major", NULL, NULL);
	is_str(chosen("fault_end"), "file_major", "also one that lacks minor faults");
	begin_forced("calls", "tracepoint", NULL, NULL);
	is_str(chosen("calls"), "tracepoint", "also one that lacks calls");
}

static void test_forced_state(void)
{
	begin_forced("state", "none", NULL, NULL);
	is_without("state", HOOK_BLIND, "none: " SWITCHED_OFF);
	is_without("scan", HOOK_BLIND, NO_STATE "; it is " SWITCHED_OFF);
	begin_forced("state", "hash", NULL, NULL);
	ok(choice_is_hash(&c) && !*status("state")->why, "hash tables as requested");
	begin_forced("signal", "raw_tp", NULL, NULL);
	is_str(chosen("state"), "hash", "an attach type may need hash tables");
	is_str(status("state")->why, "task-storage: the --probe option for signal needs the other",
	       "the reason");
	is_str(chosen("signal"), "raw_tp", "it is used");
	is_str(chosen("log"), "tp_btf", "the others are as good as may be");
	begin_forced("oom", "raw_tp", NULL, NULL);
	ok(!choice_is_hash(&c), "an attach type of any build");
	begin_forced("signal", "tp_btf", "log", "raw_tp");
	is_str(status("state")->why, "task-storage: the --probe option for log needs the other",
	       "the probe that needs hash tables");
	begin_forced("state", "task-storage", "signal", "raw_tp");
	is_str(chosen("state"), "task-storage", "both are requested");
	is_without("signal", HOOK_BLIND, "raw_tp: needs state=hash");
	begin_forced("state", "hash", "calls", "tracepoint");
	is_without("calls", HOOK_BLIND, "tracepoint: not with state=hash");
}

/* ---- attach types on request only ---- */

static void test_on_request(void)
{
	const char *differs = hooks[hook_find("tlb")].alternate[1].differs;
	char why[512];

	snprintf(why, sizeof(why), "off: %s", differs);
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	refuse("tlb", "no", "a remedy");
	is_without("tlb", HOOK_OFF, why);
	is_str(status("tlb")->remedy, NULL, "nothing is to be mended");
	begin(OVERHEAD_ALL, false, ACCEPTS_ON_REQUEST);
	refuse("tlb", "no", NULL);
	is_str(chosen("tlb"), "raw_tp", "on request");
	refuse("tlb", "no", NULL);
	is_without("tlb", HOOK_BLIND, "fentry: no; raw_tp: no");
	begin_forced("tlb", "raw_tp", NULL, NULL);
	is_str(chosen("tlb"), "raw_tp", "requested by --probe");
	refuse("tlb", "no", NULL);
	is_without("tlb", HOOK_BLIND, "raw_tp: no");
}

/* Calls may be traced at any level by an attach type that costs other calls nothing. */
static void test_free_calls(void)
{
	static const char costs[] =
		"off: it costs each system call of the host; --export.calls enables it";
	const unsigned int free_calls = OPTIONAL_CALLS | ACCEPTS_FREE_CALLS;
	char why[256];

	begin(0x3, false, OPTIONAL_CALLS);
	is_without("calls", HOOK_OFF, NO_LEVEL);
	begin(0x3, false, free_calls);
	is_str(chosen("calls"), CALL_RETURNS, "an attach type that is free");
	is_str(status("calls")->why, "", "without a reason");
	is_u64(status("calls")->state, HOOK_OFF, "it is not attached yet");
	is_without("fault_class", HOOK_OFF, NO_LEVEL);
	refuse("calls", "no", NULL);
	snprintf(why, sizeof(why), CALL_RETURNS ": no; %s", costs);
	is_without("calls", HOOK_OFF, why);
	begin(0x3, false, free_calls);
	ok(choice_fall_back(&c, "old"), "the build for old kernels");
	is_without("calls", HOOK_OFF, costs);
	begin(OVERHEAD_ALL, false, free_calls);
	refuse("calls", "no", NULL);
	is_str(chosen("calls"), "tracepoint", "at its level, the others are tried too");
	memset(forced, 0, sizeof(forced));
	forced[hook_find("calls")] = "tracepoint";
	choice_begin(&c, 0x3, false, free_calls, forced);
	is_without("calls", HOOK_OFF, NO_LEVEL);
}

static void test_forbidden(void)
{
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	choice_forbid(&c, "disk_wait", "tp_btf", "not here");
	is_str(chosen("disk_wait"), "counters", "an attach type that is not chosen is no matter");
	is_str(status("disk_wait")->why, "", "nor said");
	choice_forbid(&c, "disk_wait", "counters", "not here");
	is_str(chosen("disk_wait"), "tp_btf", "the next one");
	is_str(status("disk_wait")->why, "counters: not here", "the reason");
	choice_forbid(&c, "disk_wait", "tp_btf", "not here");
	is_str(chosen("disk_wait"), "", "none is left");
	choice_forbid(&c, "disk_wait", "tp_btf", "not here");
	is_str(status("disk_wait")->why, "counters: not here; tp_btf: not here", "said once");
}

/* ---- a kernel that loads no programs ---- */

static void test_no_programs(void)
{
	const struct answer locked = {"locked", "unlock it"};

	begin(OVERHEAD_ALL, false, ALL_CALLS);
	choice_refuse_programs(&c, &locked);
	for (size_t h = 0; h < nr_hooks; h++) {
		const char *name = hooks[h].name;
		bool off = !(OVERHEAD_ALL >> hooks[h].tier & 1);

		if (!strcmp(name, "state"))
			is_str(chosen(name), "hash", name);
		else if (!strcmp(name, "scan"))
			is_str(chosen(name), "/proc", name);
		else if (!strcmp(name, "fault_class"))
			is_str(chosen(name), "mappings", name);
		else if (!strcmp(name, "disk_wait"))
			is_str(chosen(name), "counters", name);
		else if (off)
			is_u64(c.status[h].state, HOOK_OFF, name);
		else
			is_without(name, HOOK_BLIND, "each: locked");
		is_str(c.status[h].remedy,
		       *c.status[h].why && !off && strcmp(name, "state") ? "unlock it" : NULL,
		       "what to do");
	}
	is_u64(status("scan")->state, HOOK_OFF, "processes can be scanned");
	is_str(status("scan")->why, "each: locked", "but not by a program");
	begin_forced("scan", "iter/task", NULL, NULL);
	choice_refuse_programs(&c, &locked);
	is_without("scan", HOOK_BLIND, "each: locked");
}

/* ---- programs ---- */

static void test_programs(void)
{
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = choice_of(&c, h);

		for (int i = 0; alt && i < HOOK_PROGRAMS && alt->program[i]; i++)
			if (choice_hook_of(&c, alt->program[i]) != (int)h)
				ok(false, "%s is not of %s", alt->program[i], hooks[h].name);
	}
	is_u64(choice_hook_of(&c, "on_memcg_reclaim_end"), hook_find("reclaim"),
	       "the fourth program of a probe");
	ok(choice_hook_of(&c, "event_fault_user") == -1, "a program of another attach type");
	ok(choice_hook_of(&c, "on_page_user") == -1, "a program of a probe that is off");
	ok(choice_hook_of(&c, "nothing") == -1, "no such program");
}

/* ---- states of attached probes ---- */

static void all_on(void)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		c.status[h].used = choice_of(&c, h);
		c.status[h].state = c.status[h].used ? HOOK_ON : HOOK_BLIND;
	}
}

static void test_classes(void)
{
	static const char needs[] = "needs fault_begin, and fault_end of minor faults too";
	static const char switched_off[] =
		"needs fault_begin, and fault_end of minor faults too; one is " SWITCHED_OFF;
	static const struct {
		const char *hook, *mechanism; /* what is requested, if any */
		const char *lost;	      /* a probe that is not on */
		bool foreign;		      /* the tree of mappings is unknown */
		const char *why;	      /* of fault_class; NULL: it stays on */
	} rows[] = {
		{NULL, NULL, NULL, false, NULL},
		{NULL, NULL, NULL, true,
		 "this kernel's tree of mappings (maple tree) has an unknown layout"},
		{NULL, NULL, "fault_begin", false, needs},
		{"fault_end", "perf_event_major", NULL, false, needs},
		{"fault_end", "perf_event", NULL, false, NULL},
		{"fault_end", "none", NULL, false, switched_off},
		{"fault_begin", "none", NULL, false, switched_off},
		{"calls", "none", "fault_begin", false, needs},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct hook_status *st = status("fault_class");

		begin(OVERHEAD_ALL, false, ALL_CALLS);
		if (rows[i].hook)
			begin_forced(rows[i].hook, rows[i].mechanism, NULL, NULL);
		all_on();
		if (rows[i].lost)
			status(rows[i].lost)->state = HOOK_BLIND;
		choice_settle_classes(&c, rows[i].foreign);
		is_u64(st->state, rows[i].why ? HOOK_BLIND : HOOK_ON, "classes of faults");
		ok((st->used != NULL) == !rows[i].why, "an attach type is in use if they are on");
		is_str(st->why, rows[i].why ? rows[i].why : "", "the reason");
		is_str(choice_why_no_classes(&c),
		       rows[i].why == switched_off ? "; one is " SWITCHED_OFF : "",
		       "whether the user did it");
	}
	begin(0x3, false, ALL_CALLS);
	choice_settle_classes(&c, true);
	is_without("fault_class", HOOK_OFF, NO_LEVEL);
}

static void test_states(void)
{
	begin(OVERHEAD_ALL, false, ALL_CALLS);
	ok(!choice_has_pending(c.status), "none is pending");
	is_u64(choice_levels_on(c.status), 0, "no level is on");
	is_u64(choice_events_of_others(c.status), 0, "others are not slowed");
	for (size_t h = 0; h < nr_hooks; h++) {
		c.status[h].pending = true;
		c.status[h].used = choice_of(&c, h);
		ok(choice_has_pending(c.status), "%s is pending", hooks[h].name);
		if (c.status[h].used)
			is_u64(choice_levels_on(c.status), 1u << hooks[h].tier, "its level");
		if (!strcmp(hooks[h].name, "calls"))
			is_u64(choice_events_of_others(c.status), AT_CALLS, "all calls");
		c.status[h].pending = false;
		c.status[h].state = HOOK_BLIND;
		is_u64(choice_levels_on(c.status), 0, "a probe that is unavailable");
	}
	all_on();
	is_u64(choice_levels_on(c.status), OVERHEAD_ALL, "all levels");
	is_u64(choice_events_of_others(c.status),
	       AT_FAULTS | AT_MAPPINGS | AT_SIGNALS | AT_LOCKS | AT_CALLS, "what all probes slow");
	begin_forced("calls", CALL_RETURNS, "disk_wait", "tp_btf");
	all_on();
	is_u64(choice_events_of_others(c.status),
	       AT_FAULTS | AT_MAPPINGS | AT_SIGNALS | AT_LOCKS | AT_FEW_CALLS | AT_SWITCHES,
	       "other attach types slow fewer calls, or switches");
}

int main(void)
{
	test_levels();
	test_order();
	test_fall_back();
	test_kfuncs();
	test_long_reasons();
	test_forced();
	test_forced_state();
	test_on_request();
	test_free_calls();
	test_forbidden();
	test_no_programs();
	test_programs();
	test_classes();
	test_states();
	return tap_done();
}
