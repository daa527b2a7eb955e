// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/triage_verdict.h"

#include <string.h>

#include "cli/messages.h"
#include "collect/symbols/demangle.h"
#include "crash/triage_gaps.h"
#include "live/terminal_view.h"
#include "render/completeness.h"
#include "render/crash/crash_view.h"

int triage_judge(const struct options *o, const struct view *v, const struct triage_files *f,
		 const struct bb_found *recorded, const struct buf *gaps)
{
	struct triage t = {};
	struct buf b = {}, of_log = {};
	struct triage_names names = {.decode = demangle};
	struct triage_view tv;
	int status, err = triage_run(&t, f->input, f->n);

	if (err) {
		complain("cannot judge the log: %s", strerror(-err));
		return EXIT_FAILED;
	}
	triage_join(&t, recorded);
	if (!gaps)
		triage_gaps_of(&of_log, f, &t, recorded->n);
	tv = (struct triage_view){.v = v,
				  .name = f->name,
				  .names = f->n,
				  .names_of = &names,
				  .explain = o->explain,
				  .gaps = gaps ?: &of_log,
				  .redact = o->markdown && !o->no_redact};
	if (o->html)
		triage_html(&b, &tv, &t);
	else if (o->markdown)
		triage_markdown(&b, &tv, &t);
	else if (o->format == &json_renderer)
		triage_json(&b, &tv, &t);
	else
		triage_text(&b, &tv, &t);
	status = say_all(o, &b);
	if (!status && (t.primary >= 0 || t.recorded.fatal))
		status = EXIT_GATE;
	if (!status && !gaps && !triage_has_text(f, &t, recorded->n))
		status = fail_of_gaps(tv.gaps);
	status = status_of_gaps(status, tv.gaps);
	triage_free(&t);
	buf_free(&of_log);
	buf_free(&b);
	return status;
}

int triage_text_of_log(const struct options *o, const struct buf *log,
		       const struct bb_found *recorded, const struct buf *gaps)
{
	struct triage_files f = {.input = {{"this kernel", log->s ?: "", log->len}},
				 .name = {"this kernel"},
				 .n = 1};
	struct view v = {};

	view_make(&v, o);
	return triage_judge(o, &v, &f, recorded, gaps);
}
