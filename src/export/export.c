// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/output_file.h"
#include "base/units.h"
#include "session/drop_privileges.h"
#include "session/session_lines.h"
#include "collect/names/runtime_state.h"
#include "probe/host_facts.h"
#include "render/completeness.h"
#include "cli/messages.h"

#define TIERS_EXPORT 0x3u
#define TIER_FAULTS  0x4u
#define TIER_CALLS   0x8u
#define NS_PER_S     1000000000ULL
/*
 * Maximum time between reads of records, in seconds. At a fork or exec record, the workload of the
 * process is read from /proc, which works only while the process lives.
 */
#define DRAIN_S 5
/* Workloads with series of their own, if --limit.workloads is not given */
#define WORKLOADS      50
#define WORKLOADS_NODE 150
/* With --export.resident, pages of a process can be chosen only after its fork or exec is read. */
#define DRAIN_RESIDENT_NS (NS_PER_S / 4)

static struct census_limits limits_of(const struct export *x)
{
	return (struct census_limits){
		.workloads =
			x->o->limit_workloads == OPTION_UNSET ? WORKLOADS : x->o->limit_workloads,
		.zeros = x->o->zeros,
		.series = x->o->limit_series,
		.min_age_ns = x->o->min_age * NS_PER_S,
		.retention_ns = x->o->retention * NS_PER_S,
	};
}

void export_on_pod(struct export *x)
{
	if (x->o->limit_workloads == OPTION_UNSET)
		x->census.limits.workloads = WORKLOADS_NODE;
}

static struct census_tasks read_tasks(void *ctx, uint32_t pid, const char *path)
{
	struct export *x = ctx;

	return cgroup_tasks_read(&x->tasks, x->s.in.ends.foreign ? 0 : pid, path);
}

static int open_identities(struct export *x)
{
	struct identity_options opt = {.collapse = x->o->collapse,
				       .pattern = x->o->collapse_pattern,
				       .foreign = host_is_in_pid_namespace()};
	char error[256] = "";
	int err;

	x->root = opt.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = x->root < 0 ? -errno : identities_open(&opt, &x->ids, error, sizeof(error));
	if (!err)
		return 0;
	complain("%s", *error ? error : as_error(err).s);
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static const char *answer(void *ctx, const char *accept, double timeout_s, struct buf *body)
{
	const struct exposition_format *format = exposition_negotiate(accept);
	struct export *x = ctx;

	export_collect(x, timeout_s);
	export_render(x, format, body);
	return format->content_type;
}

static bool is_ready(void *ctx)
{
	const struct export *x = ctx;

	return x->up;
}

static int open_endpoint(struct export *x)
{
	struct endpoint_options opt = {
		.address = x->o->web.address,
		.addresses = x->o->web.addresses,
		.path = x->o->web.path,
		.config_file = x->o->web.config_file,
		.metrics = answer,
		.ready = is_ready,
		.snapshot = export_snapshot,
		.profile = x->o->profiles ? export_profile : NULL,
		.ctx = x,
	};
	char error[512];

	if (!endpoint_open(&opt, &x->endpoint, error, sizeof(error)))
		return 0;
	complain("%s", error);
	return EXIT_FAILED;
}

/* Files and directories that stay accessible after privileges are dropped. */
struct reach {
	const char *readable[32];
	char writable[PATH_MAX];
};

static void plan_reach(struct export *x, struct reach *r)
{
	const char *dir;
	size_t n = 0;

	r->readable[n++] = "/var/log/pods";
	r->readable[n++] = "/var/log/containers";
	for (size_t i = 0; (dir = runtime_state_dir(i)); i++)
		r->readable[n++] = dir;
	for (size_t i = 0; x->endpoint && (dir = endpoint_reads(x->endpoint, i)); i++)
		r->readable[n++] = dir;
	r->readable[n] = NULL;
	x->s.in.scope = (struct rights_scope){.readable = r->readable, .filters = true};
	if (x->oom.dir[0])
		x->s.in.scope.writable[1] = x->oom.dir;
	if (x->s.incidents)
		x->s.in.scope.writable[2] = x->s.incidents->in.store.dir;
	if (x->o->textfile) {
		snprintf(r->writable, sizeof(r->writable), "%s", x->o->textfile);
		x->s.in.scope.writable[0] = dirname(r->writable);
	}
}

/*
 * In a pid namespace, reads the names of the cgroups that exist now. For cgroups that are created
 * later, BPF programs send the names.
 */
static void name_cgroups(struct export *x)
{
	const char *path = x->o->cgroupfs;
	struct statfs fs;
	uint64_t over;
	int dir;

	if (!path || !x->s.in.ends.foreign)
		return;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstatfs(dir, &fs)) {
		complain("--path.cgroupfs %s: %s", path, strerror(errno));
	} else if (fs.f_type != CGROUP2_SUPER_MAGIC) {
		complain("--path.cgroupfs %s: no cgroup version 2 hierarchy there; workloads are "
			 "named by their programs",
			 path);
	} else {
		over = identities_walk(x->ids, dir);
		dir = -1; /* identities_walk() has closed the descriptor */
		if (over)
			complain("--path.cgroupfs %s: %llu %s not read", path,
				 (unsigned long long)over,
				 as_words(over, "cgroup{|s} beyond the maximum {is|are}").s);
	}
	if (dir >= 0)
		close(dir);
}

static int open_live(struct export *x)
{
	struct sink sink = {.take = export_take, .ctx = x};
	struct reach reach;
	int err;

	err = open_identities(x);
	if (!err)
		err = export_incidents_open(x);
	if (!err)
		err = session_open_live(&x->s);
	if (err)
		return err;
	name_cgroups(x);
	cgroup_tasks_open(&x->tasks);
	x->census.read_tasks = read_tasks;
	x->census.tasks_ctx = x;
	export_oom_open(x);
	plan_reach(x, &reach);
	err = session_first_scan(&x->s, &sink);
	x->s.in.scope = (struct rights_scope){};
	x->up = !err;
	if (!err)
		export_resident_warn(x);
	if (!err)
		export_profiles_warn(x);
	return err;
}

static int open_replay(struct export *x)
{
	struct reach reach;
	int err = session_open_replay(&x->s);

	if (!err)
		err = export_replay_open(x);
	if (err)
		return err;
	plan_reach(x, &reach);
	privileges_drop(&x->s);
	x->s.in.scope = (struct rights_scope){};
	return 0;
}

/* Opens the live source or the recording. A replay needs signals and the loop, but no probes. */
static int open_source(struct export *x)
{
	int err = census_init(&x->census, &(struct census_limits){});

	if (!err)
		err = node_init(&x->node, &x->census);
	if (err) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	x->census.limits = limits_of(x);
	if (!x->o->replay)
		return open_live(x);
	err = session_open_loop(&x->s);
	if (err) {
		complain("%s", as_error(err).s);
		return EXIT_FAILED;
	}
	return open_replay(x);
}

static void plan_series(struct export *x)
{
	struct prom_view v = {.m = &x->s.in.m,
			      .c = &x->census,
			      .n = &x->node,
			      .resident = export_resident_places(x)};
	struct prom_series series;

	export_self(x, &v.self);
	export_incidents_count(x, &v.incidents);
	/*
	 * reserve series for the run time of BPF programs, because the kernel may start to measure
	 * it later
	 */
	export_programs(x, &v.self);
	series = prom_series_of(&x->s.in.m, x->o->zeros);
	x->census.limits.series_each = series.each;
	x->census.limits.series_of_other = series.of_other;
	x->census.limits.series_else = prom_series_else(&v);
}

static void reload(struct export *x)
{
	const struct notify *n = &x->notify;
	char error[512];

	if (!x->endpoint)
		return;
	notify_send(n, "RELOADING=1");
	if (endpoint_reload(x->endpoint, error, sizeof(error)))
		complain("reload failed: %s; the previous configuration stays active", error);
	notify_send(n, "READY=1");
}

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct export *x = ctx;

	if (si->ssi_signo == SIGHUP)
		reload(x);
	else if (si->ssi_signo == SIGUSR1)
		incident_watch_request(&x->s, INCIDENT_USR1, "SIGUSR1", (char[PATH_MAX + 64]){},
				       PATH_MAX + 64);
	else if (si->ssi_signo == SIGTERM || si->ssi_signo == SIGINT || si->ssi_signo == SIGQUIT)
		x->s.loop.done = true;
	return 0;
}

static int write_file(struct export *x)
{
	int err = export_write_file(x, x->o->textfile);

	if (err) {
		complain("cannot write %s: %s", x->o->textfile, output_file_error(err));
		x->s.status = EXIT_FAILED;
	}
	return err;
}

static int on_timer(void *ctx)
{
	struct export *x = ctx;

	notify_send(&x->notify, "WATCHDOG=1");
	if (x->o->textfile)
		write_file(x);
	else if (export_incidents_scan_is_due(x))
		export_collect(x, 0);
	else
		export_drain(x);
	return 0;
}

/* Does nothing, because loop() calls endpoint_run() after each round anyway. */
static int on_endpoint(void *ctx)
{
	return 0;
}

static int on_lines(void *ctx)
{
	struct export *x = ctx;

	return session_lines_work(&x->s);
}

static int begin_loop(struct export *x)
{
	struct loop *l = &x->s.loop;
	uint64_t every_ns = x->o->interval ? x->o->interval * NS_PER_S
			    : x->resident  ? DRAIN_RESIDENT_NS
					   : DRAIN_S * NS_PER_S;
	int err = loop_watch(l, x->s.in.src->ops->fd(x->s.in.src), export_drain);

	if (!err)
		err = loop_watch(l, session_lines_fd(&x->s), on_lines);
	if (!err && x->endpoint)
		err = loop_watch(l, endpoint_fd(x->endpoint), on_endpoint);
	if (!err)
		err = incident_watch_begin(&x->s);
	l->on_signal = on_signal;
	l->on_timer = on_timer;
	l->ctx = x;
	if (x->s.incidents)
		x->s.incidents->calm_ns = every_ns;
	return err ?: loop_every(l, every_ns);
}

/* Returns the milliseconds until a request times out or unwind tables can be made. */
static int wait_time_ms(struct export *x)
{
	int endpoint = x->endpoint ? endpoint_timeout_ms(x->endpoint) : -1;
	int tables = session_unwind(&x->s);

	session_lines_work(&x->s);
	return tables < 0 || (endpoint >= 0 && endpoint < tables) ? endpoint : tables;
}

static int loop(struct export *x)
{
	int err = begin_loop(x);

	while (!err && !x->s.loop.done) {
		err = loop_once(&x->s.loop, wait_time_ms(x));
		if (x->endpoint)
			endpoint_run(x->endpoint);
	}
	return err;
}

static void tell_ready(struct export *x)
{
	const char *url;

	for (size_t i = 0; x->endpoint && (url = endpoint_url(x->endpoint, i)); i++)
		complain("metrics at %s", url);
	notify_send(&x->notify, "READY=1\nSTATUS=serving metrics");
}

/*
 * Returns the exit status after --textfile was written once: EXIT_INCOMPLETE if data may be
 * missing. A service has no such status, because a signal ends it; it reports lost data as metrics
 * (faultscope_exporter_*).
 */
static int status_of_file(struct export *x)
{
	struct buf gaps = {};
	int status;

	if (!x->up)
		gap_add(&gaps, "not read: %s", x->partial ? "all processes, in time" : "processes");
	if (x->replay)
		export_replay_gaps(x, &gaps);
	else
		gaps_of_probes(&gaps, &x->s.out.view);
	status = status_of_gaps(x->s.status, &gaps);
	buf_free(&gaps);
	return status;
}

static int serve(struct export *x)
{
	int err;

	plan_series(x);
	if (x->o->textfile && (write_file(x) || !x->o->interval))
		return status_of_file(x);
	tell_ready(x);
	err = loop(x);
	notify_send(&x->notify, "STOPPING=1");
	if (err)
		complain("%s", as_error(err).s);
	return err ? EXIT_FAILED : x->s.status;
}

static void close_all(struct export *x)
{
	endpoint_close(x->endpoint);
	incident_watch_close(&x->s);
	event_log_close(&x->s);
	session_lines_end(&x->s);
	export_replay_close(x);
	export_resident_close(x);
	export_profiles_close(x);
	identities_close(x->ids);
	node_free(&x->node);
	census_free(&x->census);
	cgroup_tasks_close(&x->tasks);
	if (x->root >= 0)
		close(x->root);
}

static void fill_plan(struct run_plan *p, const struct options *o, struct export *x)
{
	plan_init(p, o);
	p->mode = "export";
	p->tiers = TIERS_EXPORT | (o->faults ? TIER_FAULTS : 0) | (o->calls ? TIER_CALLS : 0);
	/* stacks of page faults come with their ends; unwind tables follow changes of mappings */
	if (o->profiles)
		p->tiers |= TIER_FAULTS | TIER_CALLS;
	p->majors = true;
	p->calls_if_free = true;
	p->reloads = true;
	if (o->redact) {
		redaction_begin(&x->redaction);
		p->redaction = &x->redaction;
	}
	export_resident_plan(p);
	export_profiles_plan(p);
}

int command_export(const struct options *o)
{
	struct export *x = calloc(1, sizeof(*x));
	struct run_plan plan;
	int err, status;

	if (!x) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	x->o = o;
	x->root = -1;
	x->start_s = host_wall_ns() / 1e9;
	notify_open(&x->notify);
	fill_plan(&plan, o, x);
	err = session_begin(&x->s, &plan) ?: export_resident_open(x) ?: export_profiles_open(x);
	/* Opens ports before privileges are dropped; endpoint_open() may also fork. */
	if (!err && !o->textfile)
		err = open_endpoint(x);
	if (!err)
		err = open_source(x);
	if (!err)
		err = serve(x);
	x->s.status = err;
	close_all(x); /* may scan once more, for incidents that wait */
	/* a last scan at time 0 means that there was none, so no summary is printed */
	x->s.in.m.last_ns = 0;
	status = session_end(&x->s);
	notify_close(&x->notify);
	free(x);
	return status;
}
