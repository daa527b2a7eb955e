// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reasons why the result of a session is incomplete, and their effect on the exit status. */
#include "session/session.h"

#include <errno.h>

#include "base/units.h"
#include "render/completeness.h"
#include "cli/messages.h"
#include "session/live_view.h"

int session_note_end(struct session *s, int err)
{
	const struct replay_facts *f = replay_facts(s->in.src);

	if (err == -EBADMSG) {
		viewing_end(s); /* restores the terminal before the error is printed */
		complain("%s", s->in.src->error);
		gap_add(&s->out.gaps,
			"recording truncated or damaged at offset %llu: %llu %s not read",
			f->damage_offset, f->lost_bytes, as_words(f->lost_bytes, "byte{|s}").s);
		return 1;
	}
	if (f->at_end && !f->ended)
		gap_add(&s->out.gaps, "recording cut off: it has no end record (faultscope was "
				      "killed, its disk was full, or it still runs)");
	return err;
}

void session_judge_gaps(struct session *s)
{
	struct buf gaps = {};

	gaps_of(&gaps, &s->out.view);
	s->status = status_of_gaps(s->status, &gaps);
	buf_free(&gaps);
}
