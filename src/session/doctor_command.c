// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/calibrate.h"
#include "collect/names/process_names.h"
#include "collect/limits/limit_source.h"
#include "session/drop_privileges.h"
#include "lines/libdw.h"
#include "probe/kernel_memory.h"
#include "probe/host_facts.h"
#include "probe/precursors.h"
#include "probe/settings.h"
#include "render/completeness.h"
#include "render/doctor_report.h"
#include "session/commands.h"
#include "session/session.h"

/* default columns, even on a wider terminal, because users keep and send reports */
#define WIDTH 80

/*
 * Ways to open or close fds without a system call that faultscope probes. Such fds are counted in
 * totals, but not in `by_call`.
 */
static const char *const only_counted[] = {
	"io_uring (openat, accept, socket)",
	"ioctl (KVM, DRM and dma-buf, loop, perf, userfaultfd)",
	"clone with CLONE_PIDFD",
	"seccomp listeners",
	"recvmmsg with SCM_RIGHTS",
	"inheritance over fork and exec; closing by exec and close_range",
#ifdef __x86_64__
	"32-bit calls: socketcall, ipc, and the mmap (90) that takes a structure",
#elif defined(__aarch64__)
	"calls of 32-bit processes",
#endif
	NULL,
};

/*
 * Since Linux 7.0 ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast"),
 * tracepoints run with preemption enabled, and the kernel may switch tasks within a BPF program.
 * Until the program ends, the per-CPU recursion guard skips events of the next task. This was seen
 * with Linux 7.2.
 */
static const char passed_over[] =
	"from Linux 7.0 on, the kernel may switch tasks while a BPF program runs, and skips events "
	"of the next task until the program ends: rare on idle CPUs, more frequent under load; "
	"`missed` in the losses of every output counts them";

struct first_scan {
	size_t processes;
	uint32_t map_count_high;
	uint64_t tables_bytes, state_bytes;
};

static int take_process(void *ctx, const struct record *h)
{
	struct first_scan *look = ctx;
	const struct process_record *p = (const struct process_record *)h;
	const struct tick_record *tick = (const struct tick_record *)h;

	if (h->kind == RECORD_TICK) {
		look->tables_bytes = tick->own_tables_bytes;
		look->state_bytes = tick->own_state_bytes;
	}
	if (h->kind != RECORD_PROCESS)
		return 0;
	look->processes++;
	if (p->g.map_count > look->map_count_high && !(p->g.flags & PROC_NO_COUNT))
		look->map_count_high = p->g.map_count;
	return 0;
}

static void fill_hook(struct report_hook *ret, const struct hook *h, const struct hook_status *st,
		      bool within)
{
	const struct hook_alternate *a = h->alternate;

	*ret = (struct report_hook){.name = h->name,
				    .tier = h->tier,
				    .state = st->state,
				    .core = h->core,
				    .feeds = h->feeds,
				    .lost = h->lost,
				    .tried = st->why,
				    .remedy = st->remedy};
	if (st->state == HOOK_ON) {
		ret->mechanism = st->used->mechanism;
		ret->note = st->used->differs;
		ret->degraded = hook_is_degraded(h, st->used);
	}
	if (within)
		ret->note = "in a pid namespace, " LOOKS_WITHIN;
	for (size_t i = 0; i + 1 < REPORT_ALTERNATES && a[i].mechanism; i++) {
		ret->alternate[i].mechanism = a[i].mechanism;
		ret->alternate[i].differs = a[i].differs;
	}
}

static void add_costs(struct report_hook *ret, const struct calibration *c)
{
	for (size_t i = 0; i < c->rows && ret->costs < REPORT_COSTS; i++)
		if (!strcmp(c->row[i].hook, ret->name))
			ret->cost[ret->costs++] = c->row[i].cost;
}

static struct setting *row_of(struct report *r, const char *key)
{
	return (struct setting *)setting_find(r->setting, r->settings, key);
}

/* Fills the limit and the usage of the most restrictive cgroup level. */
static void fill_cgroup(struct report *r, const struct origin *o, const char *max_key,
			const char *now_key)
{
	struct setting *max = row_of(r, max_key), *now = row_of(r, now_key);

	max->known = o->known;
	max->unlimited = o->value == LIMIT_NONE;
	if (!o->known || max->unlimited)
		return;
	max->value = o->value;
	now->known = true;
	now->value = o->used;
}

/* Finds where the limits of this process come from. Call this before privileges are dropped. */
static void find_origins(struct report *r)
{
	const struct origin_of self = {.pid = getpid()};
	struct names_record names = {};
	struct setting *cgroup = row_of(r, "cgroup");
	int root = origin_root();

	names_read(getpid(), &names);
	snprintf(cgroup->text, sizeof(cgroup->text), "%.190s", names.cgroup);
	cgroup->known = cgroup->text[0];
	for (size_t i = 0; i < r->settings; i++) {
		const struct limit *l = limit_find(r->setting[i].key);

		if (l && !origin_find(root, &self, l - limit_table, &r->origin[r->origins]))
			r->origins++;
	}
	for (size_t i = 0; i < r->origins; i++) {
		const struct origin *o = &r->origin[i];

		if (o->limit == &limit_table[LIMIT_CGROUP_MEMORY])
			fill_cgroup(r, o, "cgroup_memory_max_bytes", "cgroup_memory_bytes");
		else if (o->limit == &limit_table[LIMIT_CGROUP_PIDS])
			fill_cgroup(r, o, "cgroup_pids_max", "cgroup_pids");
	}
	if (root >= 0)
		close(root);
}

/* Adds the highest map count that the first scan found. */
static void add_highest(struct report *r, const struct first_scan *look)
{
	if (r->settings < SETTINGS_MAX)
		r->setting[r->settings++] = (struct setting){.key = "map_count_high",
							     .name = "at most now",
							     .of = "max_map_count",
							     .known = look->map_count_high > 0,
							     .value = look->map_count_high};
}

/* Returns how to enable a probe that the user disabled by an option, or NULL. */
static const char *undo(const struct options *o, size_t hook, enum hook_use state)
{
	if (state == HOOK_BLIND && o->forced[hook])
		return "remove the --probe option for it";
	return state == HOOK_OFF ? "remove the --overhead option, or add this level to it" : NULL;
}

static void fill_hooks(struct report *r, const struct options *o, const struct source *src)
{
	r->hooks = nr_hooks < REPORT_HOOKS ? nr_hooks : REPORT_HOOKS;
	for (size_t i = 0; i < r->hooks; i++) {
		fill_hook(&r->hook[i], &hooks[i], &live_hooks(src)[i],
			  hook_find("scan") == (int)i && live_scan_is_confined(src));
		if (!r->hook[i].remedy)
			r->hook[i].remedy = undo(o, i, r->hook[i].state);
	}
}

static void fill_report(struct report *r, const struct calibration *c,
			const struct first_scan *look)
{
	for (size_t i = 0; i < r->hooks; i++)
		add_costs(&r->hook[i], c);
	for (size_t i = 0; i < c->overheads && i < REPORT_OVERHEADS; i++)
		r->overhead[r->overheads++] =
			(struct report_overhead){.event = c->overhead[i].event,
						 .title = c->overhead[i].title,
						 .watched = c->overhead[i].watched,
						 .cost = c->overhead[i].cost};
	r->only_counted = only_counted;
	if (host_kernel_major() >= 7)
		r->passed_over = passed_over;
	r->processes = look->processes;
	r->tables_bytes = look->tables_bytes;
	r->state_bytes = look->state_bytes;
	r->idle_bytes = look->state_bytes ? kernel_memory_of_idle() : 0;
	r->calibrated = c->done;
	r->seconds = c->seconds;
	r->rounds = c->rounds;
	add_highest(r, look);
	r->advices = advise(r->setting, r->settings, r->origin, r->origins, r->advice);
}

static bool core_is_blind(const struct report *r)
{
	for (size_t i = 0; i < r->hooks; i++)
		if (r->hook[i].core && r->hook[i].state == HOOK_BLIND)
			return true;
	return false;
}

/*
 * Adds the unavailable probes to the gaps (reasons why the result is incomplete), unless the user
 * disabled them. Probes of the flight recorder do not count: `triage --live` and `blackbox` report
 * them.
 */
static void add_gaps(struct buf *gaps, const struct report *r)
{
	for (size_t i = 0; i < r->hooks; i++)
		if (r->hook[i].state == HOOK_BLIND && !hook_is_unwanted(r->hook[i].tried))
			gap_add(gaps, "not measured: %s (%s)", r->hook[i].name, r->hook[i].tried);
}

/*
 * Unblocks signals, which then end the process. doctor needs no handler, because the kernel
 * detaches its probes.
 */
static void take_no_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Tries to attach each probe of the flight recorder once. */
static void try_recorder(struct report *r, const char *btf)
{
	struct precursors *p;

	if (precursors_open(&p, btf, r->recorder_lacks, sizeof(r->recorder_lacks)))
		return;
	for (size_t h = 0; h < nr_precursor_hooks && h < REPORT_RECORDER; h++) {
		const char *refused = precursors_refused(p, h);

		r->recorder[r->recorders++] =
			(struct report_recorder){.name = precursor_hooks[h].name,
						 .feeds = precursor_hooks[h].feeds,
						 .lost = precursor_hooks[h].lost};
		if (refused)
			snprintf(r->recorder[h].refused, sizeof(r->recorder[h].refused), "%s",
				 refused);
	}
	r->recorder_holds = precursors_holds(p);
	precursors_close(p);
}

typedef void (*text_part)(struct buf *b, const struct view *v, const struct report *r);

/*
 * Prints a part of the text as soon as it is known. A file is written at once, at the end. Returns
 * 0 or an exit status.
 */
static int print_part(struct session *s, const struct report *r, text_part part)
{
	int err = 0;

	if (s->o->format == &json_renderer)
		return 0;
	part(&s->out.text, &s->out.view, r);
	if (!s->o->output) {
		err = say_all(s->o, &s->out.text);
		buf_clear(&s->out.text);
	}
	return err;
}

static int discard(void *ctx, const struct record *h)
{
	return 0;
}

/* Loads the probes that are not loaded yet. Returns 0 or an exit status. */
static int load_rest(struct session *s)
{
	const struct sink nobody = {.take = discard};
	char error[1024] = "";
	int err = live_load_deferred(s->in.src, &nobody, error, sizeof(error));

	if (err)
		complain("%s", *error ? error : strerror(-err));
	return err ? EXIT_FAILED : 0;
}

/*
 * Opens the probes, scans once and measures the overhead. Prints the parts of the text that are
 * known. Returns 0 or an exit status.
 */
static int examine(struct session *s, struct report *r)
{
	const struct options *o = s->o;
	struct live_options lo = session_live_options(s);
	struct first_scan look = {};
	struct sink sink = {.take = take_process, .ctx = &look};
	struct calibration c;
	struct libdw libdw;
	int err;

	lo.defers = false;
	err = session_open_live(s);
	if (err)
		return err;
	take_no_signals();
	err = print_part(s, r, report_text_title);
	r->no_source_lines = libdw_load(&libdw) ? NULL : libdw_lack();
	r->settings = settings_read(r->setting);
	find_origins(r);
	if (!err && choice_has_pending(live_hooks(s->in.src)))
		err = load_rest(s);
	if (err)
		return err;
	fill_hooks(r, o, s->in.src);
	err = print_part(s, r, report_text_summary);
	if (err)
		return err;
	err = s->in.src->ops->look(s->in.src, &sink);
	if (err) {
		complain("%s", s->in.src->error[0] ? s->in.src->error : strerror(-err));
		return EXIT_FAILED;
	}
	if (o->no_calibrate)
		calibrate_not(&c, s->in.src, "not measured: --no-calibrate");
	else
		calibrate(&c, &lo, s->in.src, look.processes);
	try_recorder(r, o->btf);
	privileges_drop(s);
	fill_report(r, &c, &look);
	privileges_report(s, &r->rights);
	return 0;
}

/* Prints the report. Returns 0 or an exit status. */
static int print(struct session *s, const struct report *r)
{
	struct buf *b = &s->out.text;

	if (s->o->format == &json_renderer)
		report_json(b, r);
	else
		report_text_rest(b, &s->out.view, r);
	return say_all(s->o, b);
}

int command_doctor(const struct options *o)
{
	struct host_record host;
	struct report r = {.host = &host, .version = VERSION};
	struct buf gaps = {};
	struct run_plan plan;
	struct session s;
	int err;

	plan_init(&plan, o);
	plan.tiers = TIER_ALL;
	plan.examines = plan.prompt = true;
	plan.attributes =
		/*
		 * load even the code for `run` and -p, because the verifier does not check disabled
		 * code
		 */
		true;
	err = session_begin(&s, &plan);
	if (!o->width && s.out.view.width > WIDTH)
		s.out.view.width = WIDTH;
	host_fill(&host);
	if (!err)
		err = examine(&s, &r);
	if (!err)
		err = print(&s, &r);
	if (!err && core_is_blind(&r))
		err = EXIT_KERNEL_LACKS;
	add_gaps(&gaps, &r);
	s.status = status_of_gaps(err, &gaps);
	buf_free(&gaps);
	return session_end(&s);
}
