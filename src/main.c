// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <stdio.h>

#include "blackbox_command.h"
#include "export.h"
#include "session.h"
#include "top.h"
#include "triage_command.h"

/* Prints what was made; a full disk or a closed pipe is a failure. */
static int print(struct buf *b)
{
	bool ok = !b->failed && fwrite(b->s, 1, b->len, stdout) == b->len && !fflush(stdout);

	buf_free(b);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct options o;
	struct buf b = {};
	char error[512];
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (options_parse(argc, argv, &o, error, sizeof(error))) {
		complain("%s", error);
		return EXIT_USAGE;
	}
	o.revision = REVISION;
	if (o.version) {
		buf_printf(&b, "faultscope %s (%s)\n", VERSION, o.revision);
		return print(&b);
	}
	if (o.help) {
		options_help(&b, o.command);
		return print(&b);
	}
	switch (o.command) {
	case CMD_RUN:
		status = command_run(&o);
		break;
	case CMD_DIAGNOSE:
		status = command_diagnose(&o);
		break;
	case CMD_HOST:
		status = command_host(&o);
		break;
	case CMD_DOCTOR:
		status = command_doctor(&o);
		break;
	case CMD_EXPLAIN:
		status = command_explain(&o, &b);
		if (status == EXIT_DONE)
			status = print(&b);
		break;
	case CMD_TRIAGE:
		status = command_triage(&o);
		break;
	case CMD_BLACKBOX:
		status = command_blackbox(&o);
		break;
	case CMD_EXPORT:
		status = command_export(&o);
		break;
	case CMD_TOP:
		status = command_top(&o);
		break;
	case CMD_RECORD:
		status = command_record(&o);
		break;
	case CMD_INFO:
		status = command_info(&o);
		break;
	case CMD_REPLAY:
		status = command_replay(&o);
		break;
	case CMD_REPORT:
		status = command_report(&o);
		break;
	case CMD_DIFF:
		status = command_diff(&o);
		break;
	case CMD_SCHEMA:
		render_schema(&b);
		status = print(&b);
		break;
	case CMD_MAN:
		options_man(&b);
		status = print(&b);
		break;
	case CMD_COMPLETION:
		if (options_completion(&b, o.argv[0])) {
			complain("completion %s: bash, zsh or fish", o.argv[0]);
			status = EXIT_USAGE;
		} else {
			status = print(&b);
		}
		break;
	default:
		status = command_watch(&o);
	}
	filter_free(&o.filter);
	return status;
}
