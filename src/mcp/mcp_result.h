/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcp: the result of a tool, made of the JSON lines that its command prints. It is bounded: a later
 * line replaces an earlier one about the same thing, findings come first, and what does not fit is
 * counted by type.
 */
#ifndef FS_MCP_MCP_RESULT_H
#define FS_MCP_MCP_RESULT_H

#include "base/buf.h"
#include "mcp/lines_of.h"
#include "mcp/mcp_tools.h"

#define MCP_RESULT_BYTES (32u << 10) /* maximum size of all findings and lines in a result */
#define MCP_TYPES_MAX	 32	     /* maximum number of types of lines that are left out */

/* The last line about one thing. */
struct mcp_line {
	char *text; /* the line as the command printed it; owned */
	uint64_t about; /* hash of what it is about */
	uint64_t number; /* position in the output */
	int64_t pid;	 /* -1: no process */
	unsigned int rank; /* lines of a lower rank come first */
};

struct mcp_left_out {
	char type[32];
	uint64_t lines;
};

struct mcp_result {
	const struct mcp_tool *tool;
	struct mcp_line *line; /* owned */
	size_t n, room;
	uint64_t taken; /* number of lines of the command */
	struct mcp_left_out left_out[MCP_TYPES_MAX];
	size_t types;
	struct buf gaps;     /* JSON texts of what was not measured, with commas */
	struct buf messages; /* what the command says on standard error */
	struct lines_of output;
};

void mcp_result_begin(struct mcp_result *r, const struct mcp_tool *tool);
void mcp_result_free(struct mcp_result *r);

/* Take bytes that the command writes to standard output and to standard error. */
void mcp_result_take(struct mcp_result *r, const char *s, size_t len);
void mcp_result_say(struct mcp_result *r, const char *s, size_t len);

/*
 * Appends the result of tools/call to a message, as its member "result". `status` is the exit
 * status of the command; `trouble` says why it was ended, or is NULL.
 */
void mcp_result_end(struct mcp_result *r, const struct mcp_words *w, int status,
		    const char *trouble, struct json *j);

#endif
