// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reasons why the result of a session is incomplete, and their effect on the exit status. */
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/completeness.h"
#include "cli/messages.h"
#include "session/live_view.h"
#include "session/recording_parts.h"

int session_note_end(struct session *s, int err)
{
	if (err == -EBADMSG) {
		viewing_end(s); /* restores the terminal before the error is printed */
		complain("%s", s->in.src->error);
	}
	recording_gaps(replay_facts(s->in.src), &s->out.gaps);
	return err == -EBADMSG ? 1 : err;
}

void session_note_gap(struct session *s, const char *how, const char *what, int err)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s: %s", how, what, strerror(-err));
	if (!s->out.gaps.len || !strstr(s->out.gaps.s, text))
		gap_add(&s->out.gaps, "%s", text);
}

void session_judge_gaps(struct session *s)
{
	struct buf gaps = {};

	gaps_of(&gaps, &s->out.view);
	s->status = status_of_gaps(s->status, &gaps);
	buf_free(&gaps);
}
