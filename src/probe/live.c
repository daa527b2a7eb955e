// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error_text.h"
#include "probe/btf.h"
#include "probe/growth_table.h"
#include "probe/host_facts.h"
#include "probe/kernel_memory.h"
#include "probe/limits.h"
#include "probe/live_load.h"
#include "probe/load_log.h"
#include "probe/variables.h"
#include "probe/permission.h"
#include "probe/proc_scan.h"
#include "probe/rights.h"
#include "probe/ring.h"
#include "probe/sample_rate.h"
#include "probe/state.h"
#include "probe/statistics.h"
#include "probe/wire_records.h"

#define NOT_YET "not attached yet"

static struct live *live_of(struct source *src)
{
	return (struct live *)src;
}

/* Each time the ring is drained, sends the machine's limits before the first failed call. */
static int tell_limits(struct live *live)
{
	struct limits_record r = {.h = {RECORD_LIMITS, sizeof(r), host_monotonic_ns()}};

	if (live->limits_sent)
		return 0;
	live->limits_sent = true;
	limits_read(&live->limits, &r.limits);
	return live->sink->take(live->sink->ctx, &r.h);
}

/* Passes on a copied stack. It is too large to be copied into live->record. */
static void take_copy(struct live *live, const struct record *h, size_t size)
{
	if (live->opt.stack_copied && size >= offsetof(struct stack_copy_record, data) &&
	    h->len <= size)
		live->opt.stack_copied(live->opt.code_ctx, (const void *)h);
}

/* Returns the flags of a record of a process, or 0 for other records. */
static __u32 flags_of(const struct record *h)
{
	return h->kind == RECORD_PROCESS ? ((const struct process_record *)h)->g.flags : 0;
}

static int take_record(void *ctx, void *data, size_t size)
{
	struct live *live = ctx;
	const struct record *raw = data;
	const struct record *h = record_of_wire(data, size, &live->record);
	struct process_key *subject;
	int err;

	if (!h) {
		if (size >= sizeof(*raw) && raw->kind == RECORD_STACK_COPY)
			take_copy(live, raw, size);
		return 0;
	}
	if (h->kind == RECORD_CODE) {
		if (live->opt.code_changed)
			live->opt.code_changed(live->opt.code_ctx, process_of_wire(&live->record));
		return 0;
	}
	err = h->kind == RECORD_REFUSED ? tell_limits(live) : 0;
	if (err)
		return err;
	subject = process_of_wire(&live->record);
	if (subject && live_scans_with(live, "/proc"))
		subject->start_ns = proc_scan_start(subject->start_ns, flags_of(h), live->exact_ns);
	return live->sink->take(live->sink->ctx, h);
}

static int live_drain(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);

	live->sink = sink;
	live->limits_sent = false;
	__atomic_store_n(&live->obj.shared->woken, 0, __ATOMIC_SEQ_CST);
	return ring_drain(live->ring, take_record, live);
}

/* Costs of the probes, and at the end of programs that belong to none. */
struct probe_sums {
	const struct choice *choice;
	struct program_statistics of[HOOKS_MAX + 1];
};

static void add_program(void *ctx, const struct program_statistics *p)
{
	struct probe_sums *sums = ctx;
	int hook = choice_hook_of(sums->choice, p->name);
	struct program_statistics *of = &sums->of[hook < 0 ? HOOKS_MAX : hook];

	of->name = p->name;
	of->runs += p->runs;
	of->run_ns += p->run_ns;
}

/* Sends what each probe has cost since its programs were loaded. */
static int send_costs(const struct probe_sums *sums, __u64 t_ns, const struct sink *sink)
{
	int err = 0;

	for (size_t i = 0; i <= HOOKS_MAX && !err; i++) {
		struct probe_cost_record r = {.h = {RECORD_PROBE_COST, sizeof(r), t_ns},
					      .runs = sums->of[i].runs,
					      .run_ns = sums->of[i].run_ns};

		if (!sums->of[i].name) /* no program of this probe is loaded */
			continue;
		array_copy(r.name, sizeof(r.name), i < nr_hooks ? hooks[i].name : "other");
		err = sink->take(sink->ctx, &r.h);
	}
	return err;
}

static int read_statistics(const struct live *live, struct tick_record *tick,
			   const struct sink *sink)
{
	struct probe_sums sums = {.choice = &live->choice};
	bool times = limits_bpf_stats(&live->limits);
	struct statistics_sum sum =
		statistics_sum(live->obj.obj, times ? add_program : NULL, &sums);

	tick->losses.missed += live->missed + sum.missed + links_missed(&live->links);
	if (!times)
		return 0;
	tick->own_bpf_ns = sum.run_ns;
	return send_costs(&sums, tick->h.t_ns, sink);
}

size_t live_programs(const struct source *src, struct program_statistics *ret, size_t room)
{
	return statistics_read(((const struct live *)src)->obj.obj, ret, room);
}

bool live_times_programs(const struct source *src)
{
	return limits_bpf_stats(&((const struct live *)src)->limits);
}

static int run_scan(struct live *live)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	return bpf_prog_test_run_opts(bpf_program__fd(object_program(&live->obj, "look_syscall")),
				      &run);
}

static int read_scan(struct live *live)
{
	int fd = bpf_iter_create(bpf_link__fd(live->links.link[live->links.iterator]));
	char none[64];
	ssize_t n;

	/* No more files can be opened: keep the values of the last scan. */
	if (fd < 0 && (errno == ENFILE || errno == EMFILE)) {
		live->missed++;
		return 0;
	}
	if (fd < 0)
		return -errno;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	close(fd);
	return n < 0 ? -errno : 0;
}

static int state_of(void *ctx, __u32 pid, struct fs_whole_state *ret)
{
	return state_read(&((struct live *)ctx)->obj, pid, ret);
}

static bool state_is_waiting(void *ctx, __u32 pid, __u64 birth_ns)
{
	return state_waits(&((struct live *)ctx)->obj, pid, birth_ns);
}

/* Scans all processes once. Each time the ring has no room for a scan, drains it and continues. */
static int scan_all(struct live *live, const struct sink *sink)
{
	const struct proc_states states = {live, state_of, state_is_waiting, live->exact_ns};
	int err;

	if (!live_is_on(live, "scan"))
		return live_drain(&live->src, sink);
	if (live_scans_with(live, "/proc")) {
		err = live_drain(&live->src, sink);
		return err ?: proc_scan(&live->proc, live->opt.watch_all, &states, sink);
	}
	live->obj.shared->epoch++;
	do {
		live->obj.shared->scan_again = 0;
		err = live->links.iterator >= 0 ? read_scan(live) : run_scan(live);
		if (!err)
			err = live_drain(&live->src, sink);
	} while (!err && live->obj.shared->scan_again);
	if (!err)
		live->obj.shared->scanned = 1;
	return err;
}

static int send_growth(struct live *live, const struct sink *sink)
{
	/* if memory is short, rows that cannot be mapped now are sent later */
	if (live->growth.row)
		object_map_growth(&live->obj, live->obj.shared->growth_used);
	live->growth.row = live->obj.growth;
	live->growth.rows = live->obj.growth_rows;
	return growth_table_send(&live->growth, sink);
}

static int live_scan(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);
	struct tick_record tick = {};
	unsigned long long begin;
	int err;

	limits_read(&live->limits, &tick.limits);
	if (tick.limits.max_map_count)
		live->obj.shared->max_map_count = tick.limits.max_map_count;
	live->obj.shared->has_swap = host_has_swap();
	/* Sends events that precede the scan before the newer values of the scan. */
	err = live_drain(src, sink);
	if (err)
		return err;
	begin = host_monotonic_ns();
	err = scan_all(live, sink);
	if (err) {
		snprintf(src->error, sizeof(src->error), "scanning the processes failed: %s",
			 as_error(err).s);
		return err;
	}
	err = send_growth(live, sink);
	if (err)
		return err;
	if (live->opt.has_ended)
		growth_table_expire(&live->growth, live->opt.has_ended, live->opt.ended_ctx, begin);
	growth_table_grant_stacks(live->obj.shared);
	sample_rate_adapt(live->obj.shared, &live->sampled);
	tick.h = (struct record){RECORD_TICK, sizeof(tick), host_monotonic_ns()};
	tick.look_ns = tick.h.t_ns - begin;
	tick.wall_ns = host_wall_ns();
	tick.losses = live->obj.shared->losses;
	memcpy(tick.walk_ends, live->obj.shared->walk_ends, sizeof(tick.walk_ends));
	tick.own_cpu_ns = host_own_cpu_ns();
	tick.own_rss_bytes = limits_own_rss_bytes(&live->limits);
	tick.own_tables_bytes = live->tables_bytes;
	tick.own_state_bytes = kernel_memory_of_state(live->obj.shared->stored);
	err = read_statistics(live, &tick, sink);
	return err ?: sink->take(sink->ctx, &tick.h);
}

static int live_start(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);

	for (size_t h = 0; h < nr_hooks; h++) {
		struct hook_record r = {.h = {RECORD_HOOK, sizeof(r), host_monotonic_ns()}};
		const struct hook_status *st = &live->choice.status[h];
		int err;

		const struct hook_alternate *alt = st->used;

		r.tier = hooks[h].tier;
		r.state = st->state;
		r.lacks = alt ? alt->lacks : 0;
		if ((int)h == hook_find("scan") && live_scan_is_confined(src))
			r.lacks |= LACKS_OTHERS;
		snprintf(r.name, sizeof(r.name), "%s", hooks[h].name);
		snprintf(r.mechanism, sizeof(r.mechanism), "%s",
			 alt ? alt->mechanism : "");
		array_shorten(r.why, sizeof(r.why), st->pending ? NOT_YET : st->why);
		err = sink->take(sink->ctx, &r.h);
		if (err)
			return err;
	}
	return 0;
}

static int live_fd(struct source *src)
{
	return bpf_map__fd(object_map(&live_of(src)->obj, "ring"));
}

static void live_close(struct source *src)
{
	struct live *live = live_of(src);

	detach_all(&live->links);
	ring_close(live->ring);
	object_close(&live->before);
	object_close(&live->obj);
	proc_scan_free(live->proc);
	limits_close(&live->limits);
	free(live);
}

static const struct source_ops live_ops = {
	.start = live_start,
	.look = live_scan,
	.drain = live_drain,
	.fd = live_fd,
	.close = live_close,
};

static int map_ring(struct live *live, char *error, size_t size)
{
	const struct bpf_map *map = object_map(&live->obj, "ring");
	int err = ring_open(bpf_map__fd(map), bpf_map__max_entries(map), &live->ring);

	if (err)
		snprintf(error, size, "cannot map the ring buffer: %s", strerror(-err));
	return err;
}

int live_open(const struct live_options *opt, struct source **ret, char *error, size_t size)
{
	struct live *live = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return -ENOMEM;
	live->src.ops = &live_ops;
	live->src.live = 1;
	live->opt = *opt;
	live->links.iterator = -1;
	live->links.filtered = opt->filtered;
	live->nested = host_is_in_pid_namespace();
	limits_open(&live->limits);
	choice_begin(&live->choice, opt->tiers, opt->majors && !(opt->tiers >> 2 & 1),
		     opt->accepts, live->opt.forced);
	if (choice_is(&live->choice, "calls", "tracepoint"))
		links_keep(&live->links);
	load_log_begin(); /* libbpf prints nothing itself from here on */
	/* Opens the BTF file that the user named, with the user's rights. */
	err = btf_find(opt->btf_path, live->btf_path, error, size);
	if (!err) {
		cap_t had = rights_raise(RIGHTS_FOR_BPF);

		if (choice_of(&live->choice, hook_find("calls")) && !opt->defers)
			variables_begin(&live->variables);
		err = live_load(live, error, size) ?: map_ring(live, error, size);
		variables_end(&live->variables);
		rights_lower(had);
	}
	if (err) {
		live_close(&live->src);
		return err;
	}
	live->tables_bytes = kernel_memory_of_tables(live->obj.obj);
	malloc_trim(0); /* frees the kernel's BTF, several MB, which was parsed for the load */
	*ret = &live->src;
	return 0;
}

int live_load_deferred(struct source *src, const struct sink *sink, char *error, size_t size)
{
	struct live *live = live_of(src);
	cap_t had = rights_raise(RIGHTS_FOR_BPF);
	int err;

	if (choice_of(&live->choice, hook_find("calls")))
		variables_begin(&live->variables);
	err = live_load_rest(live, error, size);
	variables_end(&live->variables);
	rights_lower(had);
	if (err)
		return err;
	malloc_trim(0);
	return live_start(src, sink);
}

int live_watch(struct source *src, pid_t pid, bool follow)
{
	struct live *live = live_of(src);

	if (live->nested && live->obj.build == OBJECT_HASH)
		return -EOPNOTSUPP;
	return state_begin(&live->obj, pid, PROC_WATCHED | (follow ? PROC_FOLLOW : 0));
}

/*
 * Returns faultscope's pid in the initial namespace, or getpid() if the kernel cannot run the
 * program that reads it.
 */
static pid_t own_pid(struct live *live)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (live->nested && !live->obj.shared->own_pid)
		bpf_prog_test_run_opts(bpf_program__fd(object_program(&live->obj, OWN_PID)), &run);
	return live->obj.shared->own_pid ? (pid_t)live->obj.shared->own_pid : getpid();
}

void live_run_parent(struct source *src, bool begin)
{
	struct live *live = live_of(src);

	live->obj.shared->run_parent = begin ? own_pid(live) : 0;
}

void live_wake_at_exits(struct source *src)
{
	live_of(src)->obj.shared->exits_wake = 1;
}

void live_count_walk(struct source *src, enum stack_end end)
{
	struct fs_shared *shared = live_of(src)->obj.shared;

	__atomic_fetch_sub(&shared->walk_ends[STACK_END_MISSING], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->walk_ends[end], 1, __ATOMIC_RELAXED);
}

void live_count_missed(struct source *src, __u64 events)
{
	live_of(src)->missed += events;
}

pid_t live_pid_of(struct source *src, pid_t pid)
{
	struct live *live = live_of(src);
	struct fs_whole_state whole;

	if (!live->nested)
		return pid;
	if (live->obj.build == OBJECT_HASH || state_read(&live->obj, pid, &whole) <= 0)
		return 0;
	return whole.st.pid;
}

static int try_lookup(void *ctx)
{
	struct live *live = ctx;
	struct fs_shared shared;
	__u32 zero = 0;

	return bpf_map_lookup_elem(bpf_map__fd(object_map(&live->obj, ".data.shared")), &zero,
				   &shared);
}

void live_sample(struct source *src, bool on)
{
	live_of(src)->obj.shared->sample_each = on ? SAMPLE_EACH : 0;
}

bool live_needs_rights(struct source *src)
{
	int answer;

	return !rights_try_without(try_lookup, live_of(src), &answer) && answer == -EPERM;
}

bool live_scans_proc(const struct source *src)
{
	return live_scans_with((const struct live *)src, "/proc");
}

/* iter/task shows only processes of the reader's pid namespace: init_seq_pidns(), task_iter.c. */
bool live_scan_is_confined(const struct source *src)
{
	const struct live *live = (const struct live *)src;

	return live->nested && live_scans_with(live, "iter/task");
}

void live_scan_whole(struct source *src, bool whole)
{
	live_of(src)->obj.shared->scan_whole = whole;
}

void live_pause(struct source *src)
{
	detach_all(&live_of(src)->links);
}

int live_resume(struct source *src)
{
	struct live *live = live_of(src);
	int err = 0;

	for (size_t h = 0; h < nr_hooks && !err; h++)
		if (live->choice.status[h].state == HOOK_ON)
			err = live_attach(live, live->choice.status[h].used);
	return err;
}

const struct bpf_object *live_walks(const struct source *src)
{
	const struct live *live = (const struct live *)src;

	/* without the probe at the end of calls, no event reports a replaced mapping */
	return src->plain || !live->opt.attribute || live->obj.build == OBJECT_HASH ||
			       !live_is_on(live, "calls")
		       ? NULL
		       : live->obj.obj;
}

const char *live_library(void)
{
	return libbpf_version_string() + 1; /* libbpf's version without the "v" */
}

const struct hook_status *live_hooks(const struct source *src)
{
	return ((const struct live *)src)->choice.status;
}
