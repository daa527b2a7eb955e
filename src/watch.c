// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "targets.h"

#define TIERS_TARGETS  0xfu /* all */
#define TIERS_EVERYONE 0xbu /* not the latency of each fault */

static int watch_live(struct session *s)
{
	bool targets = s->o->filter.pids > 0;
	struct live_options lo =
		session_live_options(s, !targets, targets ? TIERS_TARGETS : TIERS_EVERYONE);
	int err;

	strcpy(s->mode, targets ? "targets" : "all");
	targets_describe(s);
	err = session_open_live(s, &lo);
	if (!err && targets)
		err = targets_watch(s, s->o->children);
	return err;
}

int command_watch(const struct options *o)
{
	struct session s;

	session_measure(&s, o, watch_live);
	return session_end(&s);
}

int command_replay(const struct options *given)
{
	struct options o = *given;

	o.replay = o.argv[0];
	return command_watch(&o);
}
