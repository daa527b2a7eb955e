// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "session/limit_origins.h"
#include "session/session.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "session/drop_privileges.h"
#include "probe/host_facts.h"
#include "probe/proc_source.h"
#include "live/progress.h"
#include "render/text/silent.h"
#include "session/startup.h"
#include "live/terminal.h"
#include "session/live_view.h"

#define DEFAULT_INTERVAL 1.0
#define DEFAULT_WIDTH	 100
#define DEFAULT_TOP	 20
/* From here on a process is no ordinary one, and what makes it grow is kept. */
#define ATTRIBUTE_MAPS 1024
#define ATTRIBUTE_FDS  64
#define BLOCKS_MOST    3  /* processes; more are a table */
#define ENDS_EVERY     16 /* windows of all processes */

/* The exit status for an error of live_open(). */
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

static double interval_of(const struct options *o)
{
	return o->interval ? o->interval : DEFAULT_INTERVAL;
}

void session_measure_view(struct session *s)
{
	const char *columns = getenv("COLUMNS");
	int width = 0, height = 0;

	if (!terminal_size(s->fd, &width, &height) && columns)
		width = atoi(columns);
	if (s->o->width)
		width = s->o->width;
	s->view.width = width < 40 && !s->redraws ? DEFAULT_WIDTH : width;
	s->view.height = s->redraws ? height : 0;
	if (s->redraws && (!s->view.width || !height)) { /* a terminal that does not say */
		s->view.width = 80;
		s->view.height = 24;
	}
	s->view.top = s->o->top ? s->o->top : s->redraws ? 1000 : DEFAULT_TOP;
}

static void set_view(struct session *s)
{
	const struct options *o = s->o;
	const char *no_colour = getenv("NO_COLOR");
	bool utf8;

	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	s->redraws = s->renderer == &text_renderer && !o->output && terminal_can_redraw(s->fd) &&
		     (o->command == CMD_REPLAY || o->command == CMD_WATCH);
	s->view.m = &s->m;
	s->view.gaps = &s->gaps;
	s->view.findings = &s->findings;
	s->view.command = o->command == CMD_RUN || o->command == CMD_DIAGNOSE;
	s->findings.keep_cleared = s->view.command;
	s->view.unicode = utf8 && !o->no_unicode;
	s->view.addresses = o->addresses;
	s->view.min_severity = o->min_severity;
	s->view.sort = o->sort;
	s->view.summary = s->view.command || s->redraws;
	s->view.page = o->summary;
	s->view.host = o->command == CMD_HOST;
	s->view.verdict = o->command == CMD_DIAGNOSE;
	s->view.once = s->view.host && !o->interval;
	s->view.colour =
		o->colour == WHEN_ALWAYS || (o->colour == WHEN_AUTO && terminal_can_redraw(s->fd) &&
					     !(no_colour && *no_colour));
	session_measure_view(s);
}

int session_begin(struct session *s, const struct options *o)
{
	char error[512];
	int err;

	memset(s, 0, sizeof(*s));
	s->o = o;
	s->loop = (struct loop){LOOP_CLOSED};
	s->fd = -1;
	s->output = s->junit = OUTPUT_NONE;
	s->renderer = o->format ? o->format : &text_renderer;
	if (model_init(&s->m)) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	memcpy(s->m.assumed, o->assumed, sizeof(s->m.assumed));
	s->collector.m = &s->m;
	s->filter = o->filter;
	s->collector.filter = &s->filter;
	err = session_open_output(s);
	if (err)
		return err;
	set_view(s);
	err = gating_begin(s);
	if (err)
		return err;
	if (o->record) {
		err = o->command == CMD_RECORD
			      ? recorder_open_packed(o->record, o->force, o->max_bytes,
						     &s->collector.rec, error, sizeof(error))
			      : recorder_open(o->record, o->force, &s->collector.rec, error,
					      sizeof(error));
		if (err) {
			complain("%s", error);
			return EXIT_FAILED;
		}
		s->record_path = o->record;
	}
	return 0;
}

static bool has_ended(void *ctx, const struct fs_subject *of)
{
	const struct subject *s = model_find(ctx, of);

	return !s || s->final;
}

struct live_options session_live_options(struct session *s, bool watch_all, unsigned int tiers)
{
	struct live_options lo = {.watch_all = watch_all,
				  .tiers = tiers,
				  .btf_path = s->o->btf,
				  .attribute = !watch_all,
				  .attribute_maps = s->attributes_all ? 0 : ATTRIBUTE_MAPS,
				  .attribute_fds = s->attributes_all ? 0 : ATTRIBUTE_FDS,
				  .has_ended = has_ended,
				  .ended_ctx = &s->m};

	if (s->o->tiers_given)
		lo.tiers = s->o->tiers;
	memcpy(lo.forced, s->o->forced, sizeof(lo.forced));
	return lo;
}

/* Once, and with the reason: a user does not read what `doctor` says before each start. */
static void say_degraded(const struct session *s)
{
	const struct hook_status *status = live_hooks(s->src);

	for (size_t i = 0; i < nr_hooks; i++)
		if (!s->o->forced[i] && status[i].state == FS_HOOK_ON &&
		    hook_is_degraded(&hooks[i], status[i].used))
			complain("degraded: %s works by %s: %s (%s)", hooks[i].name,
				 status[i].used->mechanism, status[i].used->differs, status[i].why);
}

static int open_live(struct session *s, const struct live_options *lo)
{
	char error[1024] = "";
	int err;

	err = live_open(lo, &s->src, error, sizeof(error));
	if (s->o->command == CMD_HOST &&
	    (status_of(err) == EXIT_NOT_PERMITTED || status_of(err) == EXIT_KERNEL_LACKS)) {
		complain("without BPF (%.*s): from /proc alone; OOM kills are counted, not told",
			 (int)strcspn(error, "\n"), error);
		err = proc_open(&s->src);
	}
	if (err) {
		complain("%s", *error ? error : strerror(-err));
		return status_of(err);
	}
	s->collector.live = true;
	/* who has CAP_BPF and CAP_PERFMON without our file can read all of it by other programs */
	if (rights_are_of_file())
		withholding_begin(&s->collector.withholding, host_is_in_pid_namespace());
	s->pressure.targets = !lo->watch_all;
	pressure_open(&s->pressure);
	symbols_open(&s->collector.symbols);
	if (s->src->plain)
		return 0;
	if (!lo->examines)
		say_degraded(s);
	s->collector.names_stacks = lo->attribute && !user_symbols_open(&s->collector.user_symbols);
	s->collector.reads_levels = !lo->watch_all && !host_is_in_pid_namespace() &&
				    cgroup_levels_open(&s->collector.levels);
	s->collector.user_symbols.foreign = host_is_in_pid_namespace();
	live_sample(s->src, s->collector.rec != NULL);
	if (host_is_in_pid_namespace()) {
		s->collector.names.foreign = s->ends.foreign = true;
		/* -p names pids of our namespace: whom we made watched is whom it means */
		s->filter.children = true;
	}
	return 0;
}

int session_open_live(struct session *s, const struct live_options *lo)
{
	struct startup st;
	/* before anything that is watched may use up the files of all */
	int err = session_open_loop(s);

	if (err) {
		complain("%s", strerror(-err));
		return EXIT_FAILED;
	}
	startup_begin(&st, s);
	err = open_live(s, lo);
	startup_end(&st);
	return err;
}

int session_open_replay(struct session *s)
{
	char error[512] = "";
	int err = replay_open(s->o->replay, &s->src, error, sizeof(error));

	if (!err && s->redraws && s->loop.poll < 0)
		err = session_open_loop(s);
	if (err) {
		complain("%s", *error ? error : strerror(-err));
		return EXIT_FAILED;
	}
	return 0;
}

static struct sink sink_of(struct session *s)
{
	return (struct sink){.take = collector_take, .ctx = &s->collector};
}

/* Events and the findings they lead to, at once. */
static void tell_events(struct session *s)
{
	findings_judge_events(&s->findings, &s->m);
	for (; s->told < s->m.events; s->told++) {
		const union event *e = &s->m.event[s->told];
		/* refusals, crossings and signals of processes that are filtered out stay untold */
		struct subject *subject = model_find(&s->m, &e->crossing.subject);

		if (!subject || !subject->hidden || e->h.kind == FS_REC_KERNEL_FAULT)
			s->renderer->event(&s->out, &s->view, e);
	}
	for (size_t i = 0; i < s->findings.n; i++) {
		struct finding *f = &s->findings.f[i];

		/* each time its rule says it anew it says general commands */
		if (f->said)
			origins_attach(s, f);
		if (f->fresh && !f->told && s->o->command != CMD_DIAGNOSE)
			s->renderer->finding(&s->out, &s->view, f);
		f->told = true;
	}
}

static void render_frame(struct session *s)
{
	/* `run` has the terminal to share: its text is the summary alone */
	if (s->renderer == &text_renderer && s->o->command == CMD_RUN)
		return;
	if (s->viewing)
		viewing_look(s);
	else
		s->renderer->frame(&s->out, &s->view);
}

/* The figures of the machine, then its processes. Returns as source_ops.look. */
static int look(struct session *s, const struct sink *sink)
{
	int err = s->src->live ? pressure_look(&s->pressure, &s->m, sink) : 0;

	return err ? err : s->src->ops->look(s->src, sink);
}

/* Whether it is asked who is gone, now and then only where all processes are watched. */
static bool is_asked(struct session *s)
{
	if (s->ends.foreign)
		return ends_may_be_lost(&s->ends, &s->m);
	return strcmp(s->mode, "all") || !(s->m.window % ENDS_EVERY);
}

/* A whole look, and who is gone without a word since the last one. Returns as source_ops.look. */
static int take_look(struct session *s)
{
	struct sink sink = sink_of(s);
	int err, ended;

	if (s->src->live)
		ends_begin(&s->ends, &s->m, s->src);
	err = look(s, &sink);
	if (err || !s->src->live || !is_asked(s))
		return err;
	ended = ends_find(&s->ends, &s->collector, s->src);
	if (ended > 0 && model_hook_on(&s->m, "life"))
		live_count_missed(s->src, ended);
	return ended < 0 ? ended : 0;
}

/* A whole look, shown and over. Returns as source_ops.look. */
int session_take_window(struct session *s, bool show)
{
	int err = take_look(s);

	session_check_recording(s);
	if (err)
		return err;
	findings_judge(&s->findings, &s->m);
	tell_events(s);
	if (show) {
		render_frame(s);
		s->frames++;
	}
	if (s->at_look)
		s->at_look(s);
	session_flush(s);
	return 0;
}

void session_next_window(struct session *s)
{
	/* a recording may go back: what was looked at is not looked at again */
	if (s->m.last_ns > s->gated_ns) {
		gates_look(&s->gates, &s->m);
		s->gated_ns = s->m.last_ns;
	}
	model_next_window(&s->m);
	findings_next_window(&s->findings);
	s->told = 0;
}

/* What remains alive of what is watched. */
static size_t session_alive(const struct session *s)
{
	size_t n = 0;

	for (struct subject *one = model_each(&s->m, NULL); one; one = model_each(&s->m, one))
		n += !one->final;
	return n;
}

static int begin_host(struct session *s, const struct sink *sink)
{
	struct fs_host_record host;

	host_fill(&host);
	host.interval_ns = interval_of(s->o) * 1e9;
	for (size_t h = 0; h < nr_hooks && !s->src->plain; h++)
		if (live_hooks(s->src)[h].state == FS_HOOK_ON)
			host.tiers |= 1u << hooks[h].tier;
	snprintf(host.version, sizeof(host.version), "%s", VERSION);
	snprintf(host.mode, sizeof(host.mode), "%s", s->mode);
	snprintf(host.target, sizeof(host.target), "%s", s->target);
	return sink->take(sink->ctx, &host.h);
}

static void choose_layout(struct session *s)
{
	bool targets = !strcmp(s->m.host.mode, "targets") || s->o->filter.pids;

	s->view.layout = targets && session_alive(s) <= BLOCKS_MOST ? LAYOUT_BLOCKS : LAYOUT_TABLE;
}

static int fail(struct session *s, int err)
{
	viewing_end(s);
	s->redraws = false;
	complain("%s", s->src->error[0] ? s->src->error : strerror(-err));
	s->status = EXIT_FAILED;
	return EXIT_FAILED;
}

int session_first_look(struct session *s, const struct sink *sink)
{
	cap_t had = rights_raise(RIGHTS_FOR_BPF);
	int err = 0;

	if (s->src->live)
		err = begin_host(s, sink);
	if (!err)
		err = s->src->ops->start(s->src, sink);
	/* the first look gives what was there before us: bases, not growth */
	if (!err)
		err = look(s, sink);
	rights_lower(had);
	if (err == 1) {
		complain("%s: the recording is empty", s->o->replay);
		return s->status = EXIT_FAILED;
	}
	if (err)
		return fail(s, err);
	if (s->src->live)
		err = session_publish(s);
	if (err)
		return err;
	if (s->src->live && !s->src->plain) {
		privileges_name_namespace(s);
		privileges_drop(s);
	}
	return 0;
}

int session_start(struct session *s)
{
	struct sink sink = sink_of(s);
	int err = session_first_look(s, &sink);

	if (err)
		return err;
	/* what is read of /proc before the loop is part of it, and takes longer under load */
	if (s->src->live && s->o->duration)
		s->ends_ns = host_monotonic_ns() + s->o->duration * 1e9;
	if (s->after_first_look)
		s->after_first_look(s);
	if (s->status)
		return s->status;
	choose_layout(s);
	if (s->redraws && viewing_begin(s))
		return fail(s, -ENOMEM);
	findings_judge(&s->findings, &s->m);
	s->renderer->open(&s->out, &s->view);
	tell_events(s);
	if (s->redraws || s->renderer != &text_renderer)
		render_frame(s);
	if (s->at_look)
		s->at_look(s);
	session_flush(s);
	session_check_recording(s);
	if (s->src->live && !strcmp(s->mode, "targets") && !session_alive(s))
		s->loop.done = true;
	else
		session_next_window(s);
	return 0;
}

int session_on_keys(void *ctx)
{
	struct session *s = ctx;
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0)
		loop_forget(&s->loop, STDIN_FILENO);
	for (ssize_t i = 0; i < n; i++)
		if (keys[i] == 'q' || keys[i] == 'Q')
			s->loop.done = true;
	return 0;
}

static int on_urgent(void *ctx)
{
	struct session *s = ctx;
	struct sink sink = sink_of(s);
	int err = s->src->ops->drain(s->src, &sink);

	tell_events(s);
	session_flush(s);
	session_check_recording(s);
	return err;
}

static int on_tick(void *ctx)
{
	struct session *s = ctx;
	int err = session_take_window(s, true);

	if (err)
		return err;
	if (s->o->count && s->frames >= s->o->count)
		s->loop.done = true;
	if (!strcmp(s->mode, "targets") && !session_alive(s))
		s->loop.done = true;
	if (!s->loop.done)
		session_next_window(s);
	return 0;
}

static int begin_loop(struct session *s)
{
	int err;

	s->loop.on_timer = on_tick;
	err = loop_every(&s->loop, interval_of(s->o) * 1e9);
	if (!err)
		err = loop_watch(&s->loop, s->src->ops->fd(s->src), on_urgent);
	if (!err && s->redraws && isatty(STDIN_FILENO))
		err = loop_watch(&s->loop, STDIN_FILENO, viewing_on_keys);
	return err;
}

static int wait_time_ms(const struct session *s)
{
	uint64_t now = host_monotonic_ns();

	if (!s->ends_ns)
		return -1;
	return s->ends_ns > now ? (s->ends_ns - now) / 1000000 + 1 : 0;
}

/* Once the command is gone: whether its descendants are too. */
static bool run_is_over(struct session *s)
{
	if (!s->child_gone)
		return false;
	if (take_look(s))
		return true;
	return !session_alive(s);
}

/* Where nothing else is said on the terminal until it is over. */
static void begin_progress(const struct session *s, struct progress *p, const char *what)
{
	if (!s->o->quiet && !s->viewing && !s->child &&
	    (s->renderer == &diagnosis_renderer || s->renderer == &silent_renderer ||
	     !isatty(s->fd)))
		progress_begin(p, what);
}

static int live_loop(struct session *s)
{
	struct progress progress = {};
	int err = begin_loop(s), n;

	if (err)
		return err;
	/* recording has a line of its own */
	if (s->o->duration && s->o->command != CMD_RECORD)
		begin_progress(s, &progress, "watching");
	while (!s->loop.done && !err) {
		bool was_gone = s->child_gone;

		n = loop_wait(&s->loop, wait_time_ms(s));
		if (n < 0)
			return n;
		if (s->ends_ns && host_monotonic_ns() >= s->ends_ns)
			break;
		err = loop_dispatch(&s->loop);
		if (s->child_gone && (!was_gone || n > 0) && run_is_over(s))
			break;
		progress_at(&progress, (host_monotonic_ns() - progress.began_ns) / 1e9,
			    s->o->duration);
	}
	progress_end(&progress);
	return err;
}

/* Until the next look of a recording is due, where it is to be told at its pace. */
static void wait_for_look(const struct session *s)
{
	double seconds;

	if (s->o->command != CMD_REPLAY || s->o->speed <= 0)
		return;
	seconds = model_window_seconds(&s->m) / s->o->speed;
	nanosleep(&(struct timespec){seconds, fmod(seconds, 1) * 1e9}, NULL);
}

static int replay_loop(struct session *s)
{
	const struct replay_facts *facts = replay_facts(s->src);
	struct progress progress = {};
	int err = 0;

	if (s->o->command != CMD_REPLAY || s->o->speed <= 0)
		begin_progress(s, &progress, "reading");
	while (!s->loop.done) {
		err = session_take_window(s, true);
		if (err)
			break;
		progress_at(&progress, facts->read_bytes, facts->bytes);
		wait_for_look(s);
		if (s->o->count && s->frames >= s->o->count)
			break;
		session_next_window(s);
	}
	progress_end(&progress);
	return err;
}

int session_loop(struct session *s)
{
	int err;

	if (s->loop.done)
		return 0;
	if (s->src->live) {
		err = live_loop(s);
		/* what came since the last tick belongs to the summary */
		if (!err && !s->loop.done)
			err = session_take_window(s, s->renderer != &text_renderer);
		else if (!err && s->interrupts)
			err = session_take_window(s, s->renderer != &text_renderer);
	} else {
		err = s->viewing ? viewing_replay(s) : replay_loop(s);
		err = session_note_end(s, err);
	}
	if (err && err != 1)
		return fail(s, err);
	return s->status;
}

void session_measure(struct session *s, const struct options *o,
		     int (*open_live)(struct session *s))
{
	int err = session_begin(s, o);

	if (!err)
		err = o->replay ? session_open_replay(s) : open_live(s);
	if (!err)
		err = session_start(s);
	if (!err)
		session_loop(s);
	else
		s->status = err;
}

/* A verdict is given once, in the end, by all that was seen. */
static void tell_verdict(struct session *s)
{
	for (size_t i = 0; i < s->findings.n; i++) {
		/* of a recording, it may have come behind the last look */
		origins_attach(s, &s->findings.f[i]);
		if (s->o->command == CMD_DIAGNOSE)
			s->renderer->finding(&s->out, &s->view, &s->findings.f[i]);
	}
}

/* Not of `export`, which takes no such record into its series. */
static void tell_withheld(const struct session *s)
{
	__u64 n = s->collector.withholding.records;

	if (n && !s->o->quiet)
		complain("%llu records of processes that you may not trace: addresses in them are "
			 "shifted, names of files replaced, stacks left out",
			 (unsigned long long)n);
}

int session_end(struct session *s)
{
	viewing_end(s);
	if (s->redraws) {
		s->redraws = false;
		session_measure_view(s);
	}
	if (s->src && s->m.last_ns) {
		if (s->ending[0])
			s->view.ending = s->ending;
		if (findings_judge_rest(&s->findings, &s->m))
			tell_events(s);
		gating_judge(s);
		tell_verdict(s);
		if (s->renderer != &text_renderer || !s->o->quiet)
			s->renderer->close(&s->out, &s->view);
		session_flush(s);
		gating_tell(s);
		session_judge_gaps(s);
		tell_withheld(s);
	}
	session_end_recording(s);
	if (s->src && s->src->live)
		pressure_close(&s->pressure);
	if (s->src)
		s->src->ops->close(s->src);
	session_end_output(s);
	output_file_end(&s->junit, -ECANCELED);
	loop_close(&s->loop);
	collector_free(&s->collector);
	findings_free(&s->findings);
	model_free(&s->m);
	buf_free(&s->gaps);
	buf_free(&s->out);
	return s->status;
}
