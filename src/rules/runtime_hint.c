// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/runtime_hint.h"

#include <string.h>

/*
 * The runtimes, and their options with which stacks show function names. Code that a runtime
 * compiles while it runs is in no file. Its functions have names only if the runtime writes
 * /tmp/perf-PID.map. Their callers are known only if the runtime keeps frame pointers.
 */
static const struct {
	const char *program, *help;
	/* first and last word of a command that writes the names of a running process; NULL: none
	 */
	const char *tool, *action;
} hints[] = {
	{"beam.smp",
	 "to see Erlang's functions in stacks of page faults, set ERL_FLAGS=\"+JPperf true\" (OTP "
	 "25 and newer). Threads of the VM itself open files and sockets: their functions need "
	 "the debug symbols of the VM (erlang-base-dbgsym)"},
	{"java",
	 "to see Java's functions, start java with -XX:+PreserveFramePointer and, from JDK 17 on, "
	 "write their names once they are compiled",
	 "jcmd", "Compiler.perfmap"},
	{"node", "to see JavaScript's functions, start node with --perf-basic-prof "
		 "--interpreted-frames-native-stack"},
};

const char *program_name(const struct subject *s)
{
	const char *name = s->exe ? strrchr(s->exe, '/') : NULL;

	return name ? name + 1 : s->now.g.comm;
}

bool runs_python(const struct subject *s)
{
	return !strncmp(program_name(s), "python", 6);
}

void runtime_hint(struct finding *f, const struct subject *s)
{
	for (size_t i = 0; s && i < sizeof(hints) / sizeof(hints[0]); i++) {
		struct remedy *r;

		if (strcmp(program_name(s), hints[i].program))
			continue;
		r = finding_remedy(f, REMEDY_CHECK, "%s", hints[i].help);
		if (hints[i].tool)
			remedy_command(r, "%s %u %s", hints[i].tool, s->id.pid, hints[i].action);
	}
}
