// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Implements --fail-on: evaluates the conditions, reports the result, sets the exit status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "render/gate_results.h"
#include "session/session.h"

/*
 * Returns whether to write workflow commands of GitHub Actions. GitHub's runner sets
 * GITHUB_ACTIONS=true, and also reads workflow commands from standard error.
 */
static bool is_on_github(const struct options *o)
{
	const char *actions = getenv("GITHUB_ACTIONS");

	return o->github || (actions && !strcmp(actions, "true"));
}

int gating_begin(struct session *s)
{
	int err;

	s->out.gates = s->o->gates;
	if (s->out.gates.n || s->o->junit)
		s->out.view.gates = &s->out.gates;
	if (!s->o->junit)
		return 0;
	/* Open the JUnit file now, because the privileges to do so are dropped later. */
	err = output_file_open(&s->out.junit, s->o->junit, 0);
	if (!err)
		return 0;
	complain("cannot write %s: %s", s->o->junit, output_file_error(err));
	return EXIT_FAILED;
}

void gating_judge(struct session *s)
{
	gates_check(&s->out.gates, &s->in.m);
	gates_judge(&s->out.gates, &s->in.m, &s->in.findings);
	if (s->out.gates.failed && !s->status)
		s->status = EXIT_GATE;
}

static void write_junit(struct session *s)
{
	struct buf b = {};
	int err;

	gates_junit(&b, &s->out.view);
	err = output_file_end(&s->out.junit,
			      b.failed ? -ENOMEM : io_write(s->out.junit.fd, b.s, b.len));
	buf_free(&b);
	if (!err)
		return;
	complain("cannot write %s: %s", s->o->junit, output_file_error(err));
	s->status = EXIT_FAILED;
}

/* Returns whether the normal text output already contains the results of --fail-on. */
static bool is_in_text(const struct session *s)
{
	return s->out.renderer == &text_renderer && !s->o->quiet && s->out.file.fd < 0;
}

void gating_report(struct session *s)
{
	struct buf b = {};

	if (!is_in_text(s))
		gates_text(&b, &s->out.view, true);
	if (is_on_github(s->o))
		gates_github(&b, &s->out.view);
	if (!b.failed)
		io_write(STDERR_FILENO, b.s, b.len);
	buf_free(&b);
	if (s->out.junit.fd >= 0)
		write_junit(s);
}
