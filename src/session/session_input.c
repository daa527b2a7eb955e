// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The input of a session: a live source or a recording, and the model of its records. */
#define _GNU_SOURCE
#include "resident/resident.h"
#include "session/session.h"
#include "session/session_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error_text.h"
#include "base/overhead.h"
#include "probe/host_facts.h"
#include "probe/proc_source.h"
#include "session/drop_privileges.h"
#include "session/live_view.h"
#include "session/memory_readings.h"
#include "session/recording_parts.h"
#include "session/startup.h"
#include "session/targets.h"

/*
 * Unless `attributes_all` of the plan is set, growth by call stack is kept only for processes with
 * at least this many mappings or file descriptors.
 */
#define ATTRIBUTE_MAPS 1024
#define ATTRIBUTE_FDS  64

/* Returns the exit status for an error of live_open(). */
static int status_of(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return EXIT_NOT_PERMITTED;
	case -ENOSYS:
		return EXIT_KERNEL_LACKS;
	case -EINVAL:
	case -ENOENT:
		return EXIT_USAGE;
	}
	return EXIT_FAILED;
}

static bool has_ended(void *ctx, const struct process_key *of)
{
	const struct subject *s = model_find(ctx, of);

	return !s || s->final;
}

static void code_changed(void *ctx, const struct process_key *of)
{
	struct session_input *in = ctx;

	if (in->unwinder)
		unwinder_note(in->unwinder, of);
}

static void stack_copied(void *ctx, const struct stack_copy_record *r)
{
	struct session_input *in = ctx;

	if (in->unwinder)
		unwinder_copy(in->unwinder, r);
}

/* Takes a copied stack that was walked after its unwind tables were made. */
static void stack_walked(void *ctx, const struct walk_record *r)
{
	struct session_input *in = ctx;

	live_count_walk(in->src, r->end);
	collector_take(&in->collector, &r->h);
}

static bool walk_place(void *ctx, __u32 generation, __u64 ip, __u8 *ret_build_id, __u64 *ret_offset)
{
	return unwinder_find(ctx, generation, ip, ret_build_id, ret_offset);
}

int session_unwind(struct session *s)
{
	return s->in.unwinder ? unwinder_work(s->in.unwinder, UNWINDER_PIECE_NS) : -1;
}

static bool watches_few(const struct run_plan *p)
{
	return p->whom == WATCH_TARGETS && !p->children;
}

/* Returns what attach types may lack or cost: see choice_begin(). */
static unsigned int accepted(const struct session *s)
{
	unsigned int bits = s->o->tiers_given ? ACCEPTS_ON_REQUEST : 0;

	if (s->plan.calls_if_free && !s->o->tiers_given)
		bits |= ACCEPTS_FREE_CALLS;
	if (s->plan.examines) /* `doctor` shows what -p uses, and tries all probes */
		return LACKS_WRITES | ACCEPTS_ON_REQUEST;
	if (!watches_few(&s->plan))
		return bits;
	return bits | LACKS_WRITES | (targets_are_native(s->o) ? LACKS_COMPAT : 0);
}

struct live_options session_live_options(struct session *s)
{
	const struct run_plan *p = &s->plan;
	struct live_options lo = {.watch_all = p->whom == WATCH_ALL,
				  .tiers = (s->o->tiers_given ? s->o->tiers : p->tiers) |
					   (p->resident_each ? MEMORY_TIERS : 0),
				  .btf_path = s->o->btf,
				  .accepts = accepted(s),
				  .filtered = !watches_few(p) || targets_are_filtered(s->o),
				  .attribute = p->attributes || p->whom != WATCH_ALL,
				  .attribute_maps = p->attributes_pages ? UINT32_MAX
						    : p->attributes_all ? 0
									: ATTRIBUTE_MAPS,
				  .attribute_fds = p->attributes_pages ? UINT32_MAX
						   : p->attributes_all ? 0
								       : ATTRIBUTE_FDS,
				  .majors = p->majors,
				  .defers = p->prompt,
				  .examines = p->examines,
				  .has_ended = has_ended,
				  .ended_ctx = &s->in.m,
				  .code_changed = code_changed,
				  .stack_copied = stack_copied,
				  .code_ctx = &s->in};

	memcpy(lo.forced, s->o->forced, sizeof(lo.forced));
	for (size_t i = 0; i < nr_hooks; i++)
		lo.defers = lo.defers && !lo.forced[i];
	for (size_t i = 0; p->unused && p->unused[i] && !s->o->tiers_given; i++)
		if (!lo.forced[hook_find(p->unused[i])])
			lo.forced[hook_find(p->unused[i])] = HOOK_UNNEEDED;
	return lo;
}

/*
 * Warns about each probe that uses a degraded attach type, because few users run `doctor` before
 * each start.
 */
static void write_degraded(const struct session *s)
{
	const struct hook_status *status = live_hooks(s->in.src);

	for (size_t i = 0; i < nr_hooks; i++)
		if (!s->o->forced[i] && status[i].state == HOOK_ON &&
		    hook_is_degraded(&hooks[i], status[i].used))
			complain("degraded: probe %s uses attach type %s: %s (%s)", hooks[i].name,
				 status[i].used->mechanism, status[i].used->differs, status[i].why);
}

/* Says at which events of processes that are not watched a probe runs too. */
static void write_overhead(const struct session *s)
{
	unsigned int levels = choice_levels_on(live_hooks(s->in.src));
	char events[160];

	overhead_for_others_text(choice_events_of_others(live_hooks(s->in.src)), events,
				 sizeof(events));
	if (!*events || !s->plan.tells_overhead || s->o->quiet || s->out.renderer != &text_renderer)
		return;
	complain("probes run in %s, at: %s (cost: faultscope doctor%s)",
		 s->plan.whom == WATCH_ALL ? "all processes" : "other processes too", events,
		 levels & ~OVERHEAD_LOW ? "; less: --overhead low" : "");
}

/* Says what the attached probes cost, and begins to name the stacks that they send. */
static void begin_stacks(struct session *s, const struct live_options *lo)
{
	if (!lo->examines) {
		write_degraded(s);
		write_overhead(s);
	}
	s->in.collector.names_stacks =
		lo->attribute && !user_symbols_open(&s->in.collector.user_symbols);
	if (s->in.collector.names_stacks && !host_is_in_pid_namespace() && live_walks(s->in.src))
		s->in.unwinder = unwinder_new(live_walks(s->in.src));
	if (s->plan.resident_each && live_walks(s->in.src))
		s->in.resident = resident_new(live_walks(s->in.src));
	if (s->in.resident)
		resident_begin(s->in.resident, s->plan.resident_each);
	if (s->in.unwinder) {
		s->in.collector.walk_place = walk_place;
		s->in.collector.walk_ctx = s->in.unwinder;
		unwinder_on_walked(s->in.unwinder, stack_walked, &s->in);
		unwinder_prepare(s->in.unwinder);
	}
	live_sample(s->in.src, s->in.collector.rec || s->plan.profiles);
}

static int open_live(struct session *s)
{
	const struct live_options lo = session_live_options(s);
	char error[1024] = "";
	int err;

	if (lo.attribute && !lo.examines)
		session_lines_begin(s);
	err = live_open(&lo, &s->in.src, error, sizeof(error));
	if (s->plan.works_without_bpf &&
	    (status_of(err) == EXIT_NOT_PERMITTED || status_of(err) == EXIT_KERNEL_LACKS)) {
		complain("BPF is unavailable (%.*s): reading /proc only; OOM kills are counted, "
			 "but not reported",
			 (int)strcspn(error, "\n"), error);
		err = proc_open(&s->in.src);
	}
	if (err) {
		complain("%s", *error ? error : as_error(err).s);
		return status_of(err);
	}
	s->in.collector.live = true;
	s->in.filter.children |= s->plan.children;
	/*
	 * If the capabilities come from the file of faultscope, the user lacks them: withhold other
	 * users' data. A user who has CAP_BPF and CAP_PERFMON could read everything anyway.
	 */
	if (rights_are_of_file())
		withholding_begin(&s->in.collector.withholding, host_is_in_pid_namespace());
	s->in.pressure.targets = !lo.watch_all;
	s->in.pressure.scores = s->plan.scores;
	pressure_open(&s->in.pressure);
	symbols_open(&s->in.collector.symbols);
	oom_scenes_open(&s->in.collector.oom);
	if (s->in.src->plain)
		return 0;
	if (!choice_has_pending(live_hooks(s->in.src)))
		begin_stacks(s, &lo);
	s->in.collector.reads_levels = !lo.watch_all && !host_is_in_pid_namespace() &&
				       cgroup_levels_open(&s->in.collector.levels);
	s->in.collector.user_symbols.foreign = host_is_in_pid_namespace();
	if (host_is_in_pid_namespace()) {
		s->in.collector.names.foreign = s->in.ends.foreign = true;
		/*
		 * -p names pids of this pid namespace, but records contain pids of the initial
		 * namespace: let the filter accept all watched processes
		 */
		s->in.filter.children = true;
	}
	return 0;
}

int session_open_live(struct session *s)
{
	struct startup st;
	/*
	 * open these files early: later, a watched program may have reached the host-wide maximum
	 * of open files
	 */
	int err = session_open_loop(s);

	if (err) {
		complain("%s", as_error(err).s);
		return EXIT_FAILED;
	}
	err = targets_find_cgroup(s);
	if (err)
		return err;
	startup_begin(&st, s);
	err = open_live(s);
	startup_end(&st);
	return err || s->plan.whom != WATCH_TARGETS ? err : targets_watch(s);
}

int session_replay_source(const struct session *s, struct source **ret, char *error, size_t size)
{
	char part[32];

	snprintf(part, sizeof(part), "/proc/self/fd/%d", s->in.part);
	return replay_open(s->in.part < 0 ? s->plan.replay : part, ret, error, size);
}

int session_open_replay(struct session *s)
{
	const struct moment *from = &s->o->from, *to = &s->o->to;
	bool whole = from->kind == MOMENT_NONE && to->kind == MOMENT_NONE;
	char error[512] = "";
	int err;

	/* the live view of a recording opens it again to go back */
	if (!whole && s->in.part < 0) {
		s->in.part = recording_part_open(s->plan.replay, from, to, &s->out.gaps);
		if (s->in.part < 0)
			return -s->in.part;
	}
	err = session_replay_source(s, &s->in.src, error, sizeof(error));
	if (!err && s->out.redraws && s->loop.poll < 0)
		err = session_open_loop(s);
	if (err) {
		complain("%s", *error ? error : as_error(err).s);
		return EXIT_FAILED;
	}
	return 0;
}

struct sink session_sink(struct session *s)
{
	return (struct sink){.take = collector_take, .ctx = &s->in.collector};
}

/* Scans memory pressure, then the processes. Returns 0, 1 at the end of a recording, or -errno. */
static int look(struct session *s, const struct sink *sink)
{
	int err = s->in.src->live ? pressure_scan(&s->in.pressure, &s->in.m, sink) : 0;

	return err ? err : s->in.src->ops->look(s->in.src, sink);
}

/*
 * Returns whether to search now for processes whose end was not reported. If all processes are
 * watched, this is done only every ENDS_EVERY scans.
 */
static bool is_asked(struct session *s, const struct losses *now)
{
	if (s->in.ends.foreign)
		return ends_may_be_lost(&s->in.ends, &s->in.m, now);
	return s->plan.whom != WATCH_ALL || !(s->in.m.window % ENDS_EVERY);
}

/*
 * Passes on the last record of a live scan. Before it, sends the last values of processes that have
 * ended, because a replay shows what comes after a tick record one interval later.
 */
static int take_tick(struct session *s, const struct tick_record *r)
{
	const struct sink sink = session_sink(s);
	struct tick_record tick = *r;
	int ended = 0;

	if (is_asked(s, &tick.losses))
		ended = ends_find(&s->in.ends, &s->in.collector, s->in.src, &sink);
	if (ended < 0)
		return ended;
	if (ended && model_hook_on(&s->in.m, "lifecycle")) {
		live_count_missed(s->in.src, ended);
		tick.losses.missed += ended;
	}
	return sink.take(sink.ctx, &tick.h);
}

static int take_scanned(void *ctx, const struct record *h)
{
	struct session *s = ctx;

	if (h->kind == RECORD_TICK)
		return take_tick(s, (const struct tick_record *)h);
	return collector_take(&s->in.collector, h);
}

int session_scan(struct session *s)
{
	const struct sink scanned = {.take = take_scanned, .ctx = s}, replayed = session_sink(s);

	if (!s->in.src->live)
		return look(s, &replayed);
	ends_begin(&s->in.ends, &s->in.m, s->in.src);
	return look(s, &scanned);
}

size_t session_alive(const struct session *s)
{
	size_t n = 0;

	for (struct subject *one = model_each(&s->in.m, NULL); one; one = model_each(&s->in.m, one))
		n += !one->final;
	return n;
}

static void fill_zone(struct host_record *ret)
{
	time_t now = ret->wall_ns / 1000000000;
	struct tm tm;

	ret->zone_known = localtime_r(&now, &tm) != NULL;
	ret->zone_s = ret->zone_known ? tm.tm_gmtoff : 0;
}

static int begin_host(struct session *s, const struct sink *sink)
{
	struct host_record host;

	host_fill(&host);
	fill_zone(&host);
	host.interval_ns = s->plan.interval * 1e9;
	if (!s->in.src->plain)
		host.tiers = choice_levels_on(live_hooks(s->in.src));
	snprintf(host.version, sizeof(host.version), "%s", VERSION);
	snprintf(host.mode, sizeof(host.mode), "%s", s->plan.mode);
	snprintf(host.target, sizeof(host.target), "%s", s->plan.target);
	return sink->take(sink->ctx, &host.h);
}

int session_fail(struct session *s, int err)
{
	viewing_end(s);
	s->out.redraws = false;
	complain("%s", s->in.src->error[0] ? s->in.src->error : as_error(err).s);
	s->status = EXIT_FAILED;
	return EXIT_FAILED;
}

static void drop(struct session *s)
{
	if (!s->in.src->live || s->in.src->plain)
		return;
	privileges_name_namespace(s);
	if (s->plan.before_drop)
		s->plan.before_drop(s);
	privileges_drop(s);
}

int session_first_scan(struct session *s, const struct sink *sink)
{
	cap_t had = rights_raise(RIGHTS_FOR_BPF);
	int err = 0;

	if (s->in.src->live)
		err = begin_host(s, sink);
	if (!err)
		err = s->in.src->ops->start(s->in.src, sink);
	/* use the values of the first scan as base: what existed before is not growth */
	if (!err)
		err = look(s, sink);
	rights_lower(had);
	if (err == 1) {
		complain("%s: the recording is empty", s->plan.replay);
		return s->status = EXIT_FAILED;
	}
	if (err)
		return session_fail(s, err);
	if (s->in.src->live)
		err = session_publish(s);
	if (err)
		return err;
	if (!model_has_pending_hooks(&s->in.m))
		drop(s);
	return 0;
}

int session_attach_rest(struct session *s, const struct sink *sink)
{
	const struct live_options lo = session_live_options(s);
	char error[1024] = "";
	/* a signal ends the session after that, with its last lines, since output was printed */
	int err = live_load_deferred(s->in.src, sink, error, sizeof(error));

	if (err) {
		complain("%s", *error ? error : as_error(err).s);
		return s->status = status_of(err);
	}
	begin_stacks(s, &lo);
	/* also of unchanged processes, values are known now that were null before */
	live_scan_whole(s->in.src, true);
	err = look(s, sink);
	live_scan_whole(s->in.src, false);
	if (err)
		return session_fail(s, err);
	drop(s);
	return 0;
}
