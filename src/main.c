// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <malloc.h>
#include <signal.h>
#include <string.h>

#include "base/io.h"
#include "crash/blackbox_command.h"
#include "export/export.h"
#include "cli/options_table.h"
#include "cli/privileges.h"
#include "cli/messages.h"
#include "mcp/mcp_command.h"
#include "session/commands.h"
#include "crash/triage_command.h"

/* Prints the buffer to standard output and frees the buffer. Returns 0 or an exit status. */
static int print(struct buf *b)
{
	static const struct options to_standard_output;
	int status = say_all(&to_standard_output, b);

	buf_free(b);
	return status;
}

static int print_completion(const struct options *o, struct buf *b)
{
	char error[256];

	if (!options_completion(b, o->argv[0]))
		return print(b);
	snprintf(error, sizeof(error), "completion %.64s: bash, zsh or fish", o->argv[0]);
	options_near_word(o->argv[0], "bash, zsh or fish", error, sizeof(error));
	complain("%s", error);
	return EXIT_USAGE;
}

static int dispatch(const struct options *o, struct buf *b)
{
	int status;

	switch (o->command) {
	case CMD_RUN:
		status = command_run(o);
		break;
	case CMD_DIAGNOSE:
		status = command_diagnose(o);
		break;
	case CMD_MEMORY:
		status = command_memory(o);
		break;
	case CMD_HOST:
		status = command_host(o);
		break;
	case CMD_DOCTOR:
		status = command_doctor(o);
		break;
	case CMD_EXPLAIN:
		status = command_explain(o, b);
		if (b->len || b->failed) {
			int printed = print(b);

			status = printed ? printed : status;
		}
		break;
	case CMD_TRIAGE:
		status = command_triage(o);
		break;
	case CMD_BLACKBOX:
		status = command_blackbox(o);
		break;
	case CMD_OOM:
		status = command_oom(o);
		break;
	case CMD_EXPORT:
		status = command_export(o);
		break;
	case CMD_RECORD:
		status = command_record(o);
		break;
	case CMD_INFO:
		status = command_info(o);
		break;
	case CMD_REPLAY:
		status = command_replay(o);
		break;
	case CMD_REPORT:
		status = command_report(o, command_export);
		break;
	case CMD_DIFF:
		status = command_diff(o);
		break;
	case CMD_INCIDENTS:
		status = command_incidents(o, command_export);
		break;
	case CMD_SNAPSHOT:
		status = command_snapshot(o);
		break;
	case CMD_SETTINGS:
		status = command_settings(o);
		break;
	case CMD_MCP:
		status = command_mcp();
		break;
	case CMD_SCHEMA:
		render_schema(b);
		status = print(b);
		break;
	case CMD_MAN:
		options_man(b, o->argc ? (enum command)options_command(o->argv[0]) : CMD_WATCH);
		status = print(b);
		break;
	case CMD_COMPLETION:
		status = print_completion(o, b);
		break;
	default:
		status = command_watch(o);
	}
	return status;
}

/*
 * Makes writes to a closed pipe or past RLIMIT_FSIZE return errors. The signals are blocked, not
 * ignored, because the command of `run` would inherit ignored signals over exec.
 */
static void fail_writes(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Large blocks stay apart from the heap. By default, glibc raises the limit as soon as the first
 * large block is freed. Later tables then lie in used memory, and calloc() touches all of it.
 */
static void keep_tables_sparse(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

int main(int argc, char **argv)
{
	struct rights rights = {};
	struct options o;
	struct buf b = {};
	char error[512];
	int status, err = io_hold_standard_files();

	if (err)
		return EXIT_FAILED; /* a message might be written into another file */
	err = rights_set_aside();
	if (err) {
		complain("cannot set the capabilities of its file aside: %s", strerror(-err));
		return EXIT_FAILED;
	}
	keep_tables_sparse();
	/* make write(2) fail with EPIPE or EFBIG, without a signal */
	fail_writes();
	if (options_parse(argc, argv, &o, error, sizeof(error))) {
		complain("%s", error);
		return EXIT_USAGE;
	}
	o.revision = REVISION;
	if (!privileges_needed(&o))
		rights_drop_to(NULL, 0, &rights);
	if (rights.failed[0])
		complain("not all privileges could be dropped: %s", rights.failed);
	if (o.version) {
		buf_printf(&b, "faultscope %s (%s)\n", VERSION, o.revision);
		return print(&b);
	}
	if (o.help) {
		options_help(&b, o.command);
		return print(&b);
	}
	status = dispatch(&o, &b);
	if (status == EXIT_FAILED && (!privileges_needed(&o) || o.blackbox.live))
		privileges_explain_denied(&o);
	filter_free(&o.filter);
	return status;
}
