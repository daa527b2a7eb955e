// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces the server in builds without libjson-c. */
#include "cli/messages.h"
#include "mcp/mcp_command.h"

int command_mcp(void)
{
	complain("mcp: this build reads no JSON: it was made without libjson-c");
	return EXIT_FAILED;
}
