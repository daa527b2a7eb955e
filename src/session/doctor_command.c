// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "collect/names/process_names.h"
#include "collect/limits/limit_source.h"
#include "session/drop_privileges.h"
#include "lines/libdw.h"
#include "probe/kernel_memory.h"
#include "probe/host_facts.h"
#include "probe/precursors.h"
#include "probe/settings.h"
#include "session/commands.h"
#include "session/doctor_facts.h"
#include "session/session.h"

/* default columns, even on a wider terminal, because users keep and send reports */
#define WIDTH 80

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
		complain("%s", *error ? error : as_error(err).s);
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
	struct doctor_scan look = {};
	struct sink sink = {.take = doctor_take_scan, .ctx = &look};
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
	doctor_fill_hooks(r, o, s->in.src);
	err = print_part(s, r, report_text_summary);
	if (err)
		return err;
	err = s->in.src->ops->look(s->in.src, &sink);
	if (err) {
		complain("%s", s->in.src->error[0] ? s->in.src->error : as_error(err).s);
		return EXIT_FAILED;
	}
	if (o->no_calibrate)
		calibrate_not(&c, s->in.src, "not measured: --no-calibrate");
	else
		calibrate(&c, &lo, s->in.src, look.processes);
	try_recorder(r, o->btf);
	privileges_drop(s);
	doctor_fill_measured(r, &c, &look);
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
	if (!err && doctor_lacks_core(&r))
		err = EXIT_KERNEL_LACKS;
	doctor_add_gaps(&gaps, &r);
	s.status = status_of_gaps(err, &gaps);
	buf_free(&gaps);
	return session_end(&s);
}
