// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/privileges.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"

bool privileges_needed(const struct options *o)
{
	switch (o->command) {
	case CMD_WATCH:
	case CMD_RUN:
	case CMD_DIAGNOSE:
	case CMD_MEMORY:
	case CMD_HOST:
	case CMD_RECORD:
		return !o->replay;
	case CMD_DOCTOR:
	case CMD_MCP: /* its commands drop the privileges that they do not need */
		return true;
	case CMD_EXPORT: /* export drops privileges itself, because opening a port may need them */
		return true;
	case CMD_BLACKBOX:
		return !o->argc || (strcmp(o->argv[0], "read") && strcmp(o->argv[0], "status"));
	case CMD_OOM: /* these drop privileges themselves: a service's store has another owner */
	case CMD_INCIDENTS:
	case CMD_SNAPSHOT:
		return true;
	case CMD_TRIAGE:
		return o->blackbox.live;
	default:
		return false;
	}
}

/*
 * Explains why root cannot open a file: faultscope has dropped its capabilities, and without them
 * the mode of the file applies to root too.
 */
static void explain_denied(const char *path, int mode)
{
	if (path && access(path, mode) && errno == EACCES)
		complain("%s: this command drops root's capabilities, so it cannot open a file "
			 "of another user\n  try:  run it as that user, or pass the file on "
			 "standard input (-)",
			 path);
}

void privileges_explain_denied(const struct options *o)
{
	char dir[4096];

	if (geteuid())
		return;
	for (int i = 0; i < o->argc; i++)
		explain_denied(o->argv[i], R_OK);
	explain_denied(o->replay, R_OK);
	if (!o->output || strlen(o->output) >= sizeof(dir))
		return;
	strcpy(dir, o->output);
	explain_denied(dirname(dir), W_OK);
}
