/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mcp: `faultscope mcp`, a server of the Model Context Protocol on standard input and output. */
#ifndef FS_MCP_MCP_COMMAND_H
#define FS_MCP_MCP_COMMAND_H

/* Serves until standard input ends or a signal ends it. Returns an exit status. */
int command_mcp(void);

#endif
