/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcp: the tools of `faultscope mcp`. Each tool runs a command of faultscope that reads and prints,
 * and changes nothing.
 */
#ifndef FS_MCP_MCP_TOOLS_H
#define FS_MCP_MCP_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/json_reader.h"
#include "render/json_out.h"

#define MCP_ARGUMENTS	4
#define MCP_WORDS_MAX	24   /* words of a command, with the NULL at the end */
#define MCP_TEXT_BYTES	4096 /* maximum length of a text argument */
#define MCP_NUMBER_SIZE 24

enum mcp_argument_kind { MCP_COUNT, MCP_TEXT };

struct mcp_argument {
	const char *name; /* NULL: end of the array */
	enum mcp_argument_kind kind;
	bool required;
	const char *option; /* option that takes the value; NULL: the value is an operand */
	const char *help;
	int64_t least, most;	 /* MCP_COUNT: bounds */
	const char *standard;	 /* value if the argument is not given; NULL: none */
};

struct mcp_tool {
	const char *name, *title;
	const char *description; /* for the model that chooses a tool */
	const char *words;	 /* the command and its options, separated by spaces */
	struct mcp_argument argument[MCP_ARGUMENTS + 1];
	/*
	 * types of output lines to return beside findings, the most important first; separated by
	 * spaces
	 */
	const char *types;
};

extern const struct mcp_tool mcp_tools[];
extern const size_t nr_mcp_tools;

const struct mcp_tool *mcp_tool_find(const char *name); /* returns NULL if there is none */

/* Writes the descriptions of all tools: the member "tools" of the answer to tools/list. */
void mcp_tools_list(struct json *j);

/* The words of a command, and the texts of its numbers. */
struct mcp_words {
	const char *word[MCP_WORDS_MAX]; /* word[0] is left for the program; ends with NULL */
	size_t n;
	char text[512]; /* the words of the tool */
	char number[MCP_ARGUMENTS][MCP_NUMBER_SIZE];
	int64_t seconds; /* how long the command measures; 0: it only reads */
};

/*
 * Makes the command of a call. `arguments` is the object of the call, which must live as long as
 * `ret`; NULL: no arguments. Returns false with the reason in `error` if they are not valid.
 */
bool mcp_tool_words(const struct mcp_tool *tool, struct json_object *arguments,
		    struct mcp_words *ret, char *error, size_t size);

#endif
