/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mcp: a call of a tool, which runs a command of faultscope as a child process. */
#ifndef FS_MCP_MCP_CALL_H
#define FS_MCP_MCP_CALL_H

#include <sys/types.h>

#include "mcp/mcp_result.h"

struct mcp_call {
	struct json_object *id; /* id of the request; owned; NULL: this place is unused */
	struct mcp_words words;
	struct json_object *arguments; /* the texts of `words` are in these; owned */
	struct mcp_result result;
	pid_t pid;
	int out, err;	      /* pipes from the child; -1: ended */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC time after which the child is ended */
	bool late;	      /* the deadline is over: SIGTERM was sent */
	bool cancelled;	      /* the client does not want an answer */
};

/*
 * Starts the command of c->words and prepares c->result. Returns 0, or -errno; the call is then to
 * be freed as well.
 */
int mcp_call_start(struct mcp_call *c, const struct mcp_tool *tool);

/* Read what a pipe of the call has. Return false when the pipe has ended and was closed. */
bool mcp_call_read_out(struct mcp_call *c);
bool mcp_call_read_err(struct mcp_call *c);

/* Ends a child whose time is over: by SIGTERM, then by SIGKILL. */
void mcp_call_check_time(struct mcp_call *c, uint64_t now_ns);

/* Ends the child because nobody wants its result. */
void mcp_call_cancel(struct mcp_call *c);

/* Waits for the child, whose pipes have ended, and appends the result to a message. */
void mcp_call_result(struct mcp_call *c, struct json *j);

/* Ends the child if it still runs, and frees everything. */
void mcp_call_free(struct mcp_call *c);

#endif
