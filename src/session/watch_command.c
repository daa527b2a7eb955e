// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/targets.h"

static int open_live(struct session *s)
{
	return targets_open_live(s, s->o->children);
}

int command_watch(const struct options *o)
{
	struct session s;

	session_measure(&s, o, open_live);
	return session_end(&s);
}

int command_replay(const struct options *given)
{
	struct options o = *given;

	o.replay = o.argv[0];
	return command_watch(&o);
}
