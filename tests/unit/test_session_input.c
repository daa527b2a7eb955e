// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a session opens a live source: what it prepares for each kind of plan, what it says
 * about the probes, and its exit status for each error. The kernel is played; scans read /proc.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "command_output.h"
#include "played_kernel.h"
#include "probe/host_facts.h"
#include "probe/live_load.h"
#include "session/session.h"
#include "tap.h"

/* What a session is asked for. */
static struct {
	struct run_plan plan; /* its callbacks, levels and targets */
	int load_error; /* errno of maps at the start, and of programs that are loaded later */
	int late_error;
	int scan_error; /* errno of the scan after all probes are attached */
	bool records;	/* a recording is made */
	bool unwinds;	/* a stack is copied */
} ask;

static int drops;

static void before_drop(struct session *s)
{
	(void)s;
	drops++;
}

static void say(const char *name, bool is)
{
	printf("%s%s", is ? "" : "no ", name);
}

/* Prints what a session has opened. */
static void say_opened(const struct session *s)
{
	const struct live *live = (const struct live *)s->in.src;

	say("live, ", s->in.collector.live);
	say("children, ", s->in.filter.children);
	say("targets, ", s->in.pressure.targets);
	say("scores, ", s->in.pressure.scores);
	say("levels, ", s->in.collector.reads_levels);
	say("lines, ", s->in.lines != NULL);
	say("stacks, ", s->in.collector.names_stacks);
	say("unwinder, ", s->in.unwinder && s->in.collector.walk_place &&
				  s->in.collector.walk_ctx == s->in.unwinder);
	say("resident, ", s->in.resident != NULL);
	if (s->in.src->plain)
		printf("plain\n");
	else
		say("samples\n", live->obj.shared->sample_each != 0);
}

/* Calls the functions that the source calls for code and copied stacks, and prints what they did.
 */
static void say_unwound(struct session *s)
{
	const struct live_options lo = session_live_options(s);
	struct stack_copy_record *r = calloc(1, sizeof(*r));
	struct unwinder_figures f = {};

	r->h = (struct record){RECORD_STACK_COPY, offsetof(struct stack_copy_record, data),
			       host_monotonic_ns()};
	r->subject = (struct process_key){.pid = getpid(), .start_ns = 1};
	printf("unwind %d, ", session_unwind(s));
	lo.code_changed(lo.code_ctx, &r->subject);
	while (!session_unwind(s))
		continue;
	if (s->in.unwinder)
		unwinder_figures(s->in.unwinder, &f);
	printf("%llu process, ", f.processes);
	lo.stack_copied(lo.code_ctx, r);
	say("copy, ", s->in.unwinder && unwinder_waits(s->in.unwinder));
	printf("\n");
	free(r);
}

/* Opens a session in steps, and prints what each of them did. */
static int open_session(const struct options *o)
{
	struct session s;
	struct sink sink = session_sink(&s);
	int status;

	alarm(60);
	ask.plan.o = o;
	ask.plan.interval = 1;
	ask.plan.mode = "all";
	ask.plan.renderer = o->format ? o->format : &text_renderer;
	ask.plan.before_drop = before_drop;
	status = session_begin(&s, &ask.plan);
	if (ask.records)
		s.in.collector.rec = (struct recorder *)&s;
	status = status ?: session_open_live(&s);
	if (ask.records)
		s.in.collector.rec = NULL;
	if (status) {
		s.status = status;
		return session_end(&s);
	}
	say_opened(&s);
	if (ask.unwinds)
		say_unwound(&s);
	status = session_first_scan(&s, &sink);
	printf("scan: %d, %sdropped, levels %#x\n", status, drops ? "" : "not ", s.in.m.host.tiers);
	if (!status && model_has_pending_hooks(&s.in.m)) {
		if (ask.late_error)
			played_fail(PLAYED_PROGRAM, NULL, 0, ask.late_error);
		played_run_error = ask.scan_error;
		status = session_attach_rest(&s, &sink);
		printf("rest: %d, status %d, %sdropped, ", status, s.status, drops ? "" : "not ");
		say("stacks, ", s.in.collector.names_stacks);
		say("pending\n", model_has_pending_hooks(&s.in.m));
	}
	fflush(stdout);
	s.status = status;
	s.out.renderer = &json_renderer;
	s.in.m.last_ns = 0; /* no summary */
	return session_end(&s);
}

static struct options options(void)
{
	struct options o = {.colour = WHEN_NEVER, .revision = "test"};

	o.forced[hook_find("scan")] = "/proc";
	memset(&ask, 0, sizeof(ask));
	ask.plan.tiers = 3;
	return o;
}

static void run(const struct options *o)
{
	played_begin();
	if (ask.load_error)
		played_fail(PLAYED_MAP, NULL, 0, ask.load_error);
	run_command(open_session, o);
}

static void test_plans(void)
{
	struct options o = options();

	run(&o);
	is_str(got.out,
	       "live, no children, no targets, no scores, no levels, no lines, no stacks, "
	       "no unwinder, no resident, no samples\n"
	       "scan: 0, dropped, levels 0x3\n",
	       "all processes");
	is_u64(got.status, 0, "status");
	ask.plan.attributes = ask.plan.scores = ask.plan.profiles = true;
	run(&o);
	is_str(got.out,
	       "live, no children, no targets, scores, no levels, lines, stacks, "
	       "no unwinder, no resident, samples\n"
	       "scan: 0, dropped, levels 0x3\n",
	       "all processes, with stacks");
	ask.plan.tiers = 0xb;
	run(&o);
	ok(strstr(got.out, " stacks, unwinder, no resident, samples\n") != NULL,
	   "stacks of calls are unwound");
	ask.plan = (struct run_plan){.tiers = 3, .whom = WATCH_COMMAND, .children = true};
	ask.plan.resident_each = 64;
	ask.records = true;
	run(&o);
	ok(!strncmp(got.out, "live, children, targets, no scores, ", 36), "a command");
	ok(strstr(got.out, " lines, stacks, unwinder, resident, samples\n") != NULL,
	   "its stacks, memory and samples");
	ok(strstr(got.out, "levels 0x1b\n") != NULL, "levels of resident memory");
}

/* Code that a process maps, and stacks that are copied, are for the unwinder. */
static void test_unwinding(void)
{
	struct options o = options();

	ask.unwinds = true;
	run(&o);
	ok(strstr(got.out, "unwind -1, 0 process, no copy, \n") != NULL, "no stacks are named");
	ask.plan.attributes = true;
	ask.plan.tiers = 0xb;
	run(&o);
	ok(strstr(got.out, "unwind -1, 1 process, copy, \n") != NULL,
	   "a process and a stack of it");
}

/* Probes may be attached after the first scan. */
static void test_late_probes(void)
{
	struct options o = options();

	o.forced[hook_find("scan")] = NULL;
	ask.plan.prompt = ask.plan.attributes = true;
	run(&o);
	ok(strstr(got.out, ", no stacks, no unwinder, no resident, no samples\n") != NULL,
	   "no stack is named yet");
	ok(strstr(got.out, "scan: 0, not dropped, levels 0x3\n") != NULL, "the first scan");
	ok(strstr(got.out, "rest: 0, status 0, dropped, stacks, no pending\n") != NULL,
	   "all probes are attached");
	ask.late_error = EPERM;
	run(&o);
	ok(strstr(got.out, "rest: 5, status 5, not dropped, no stacks, ") != NULL,
	   "a kernel that refuses programs");
	is_u64(got.status, EXIT_NOT_PERMITTED, "status");
	ok(!strncmp(got.err, "faultscope: ", 12), "and a message");
	ask.late_error = 0;
	ask.scan_error = EIO;
	run(&o);
	ok(strstr(got.out, "rest: 1, status 1, not dropped, stacks, no pending\n") != NULL,
	   "a scan that fails then");
	ok(strstr(got.err, "Input/output error") != NULL, "its error");
}

static void test_errors(void)
{
	static const struct {
		int error, status;
		bool without; /* /proc alone is read if the command can do without BPF */
	} rows[] = {{EPERM, EXIT_NOT_PERMITTED, true},
		    {EACCES, EXIT_NOT_PERMITTED, true},
		    {EIO, EXIT_KERNEL_LACKS, true}, /* a kernel without what BPF needs */
		    {ENOMEM, EXIT_FAILED, false}};
	struct options bad = options();

	ask.plan.works_without_bpf = true;
	bad.btf = "/nonexistent";
	run(&bad);
	is_u64(got.status, EXIT_USAGE, "a file that does not exist");
	ok(strstr(got.err, "/nonexistent") != NULL, "is named");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o = options();

		ask.load_error = rows[i].error;
		run(&o);
		is_u64(got.status, rows[i].status, strerror(rows[i].error));
		is_str(got.out, "", "nothing is opened");
		ok(!strncmp(got.err, "faultscope: ", 12) && !strstr(got.err, "reading /proc only"),
		   "a message");
		ask.plan.works_without_bpf = true;
		run(&o);
		is_u64(got.status, rows[i].without ? 0 : rows[i].status, "without BPF");
		is_u64(strstr(got.err, "): reading /proc only; OOM kills are counted, but not "
				       "reported\n") != NULL,
		       rows[i].without, "says so");
		ok(!rows[i].without ||
			   (strstr(got.out, "plain\nscan: 0, not dropped, levels 0\n") &&
			    !strncmp(got.err, "faultscope: BPF is unavailable (", 32)),
		   "and what is read");
	}
}

/* What the probes cost other processes. */
static void test_overhead(void)
{
	static const struct {
		const char *name, *want; /* NULL: nothing is said */
		bool tells, quiet, json;
		unsigned int tiers;
		enum watched whom;
	} rows[] = {
		{"all processes", "probes run in all processes, at: ", true, .tiers = 3},
		{"a command", "probes run in other processes too, at: ", true, .tiers = 3,
		 .whom = WATCH_COMMAND},
		{"not asked for", NULL, false, .tiers = 3},
		{"--quiet", NULL, true, true, .tiers = 3},
		{"JSON", NULL, true, .json = true, .tiers = 3},
		{"only scans", NULL, true, .tiers = 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o = options();

		ask.plan.tells_overhead = rows[i].tells;
		ask.plan.tiers = rows[i].tiers;
		ask.plan.whom = rows[i].whom;
		o.quiet = rows[i].quiet;
		o.format = rows[i].json ? &json_renderer : NULL;
		run(&o);
		if (rows[i].want)
			ok(strstr(got.err, rows[i].want) &&
				   strstr(got.err, " (cost: faultscope doctor)\n"),
			   "%s", rows[i].name);
		else
			ok(!strstr(got.err, "probes run"), "%s", rows[i].name);
	}
}

int main(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		ok(true, "# SKIP no types of the kernel");
		return tap_done();
	}
	signal(SIGPIPE, SIG_IGN);
	test_plans();
	test_unwinding();
	test_late_probes();
	test_errors();
	test_overhead();
	return tap_done();
}
