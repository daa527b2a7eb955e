// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the tools for agents: their descriptions, and the commands that calls become. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/json_library.h"
#include "mcp/mcp_tools.h"
#include "tap.h"

/*
 * Makes the command of a call. Returns its words with spaces between them, or the error with
 * "error: " before it.
 */
static const char *command_of(const struct mcp_tool *tool, const char *arguments,
			      struct mcp_words *ret)
{
	static char text[MCP_TEXT_BYTES + 256];
	struct json_object *o = NULL;
	char error[256] = "none";
	size_t len = 0;

	if (arguments && !json_read(arguments, strlen(arguments), &o))
		return "no JSON";
	if (!mcp_tool_words(tool, o, ret, error, sizeof(error)))
		snprintf(text, sizeof(text), "error: %s", error);
	text[0] = *error ? text[0] : 0;
	for (size_t i = 1; !*error && i < ret->n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i > 1 ? " " : "",
				ret->word[i]);
	if (!*error)
		ok(!ret->word[0] && !ret->word[ret->n], "room for the program, and an end");
	json_free(o);
	return text;
}

static void test_commands(void)
{
	static const struct {
		const char *tool, *arguments, *command;
	} calls[] = {
		{"diagnose", "{\"pid\":1}", "diagnose --json -p 1 -d 10"},
		{"diagnose", "{\"pid\":2147483647,\"seconds\":1}",
		 "diagnose --json -p 2147483647 -d 1"},
		{"diagnose", "{\"seconds\":120,\"pid\":7}", "diagnose --json -p 7 -d 120"},
		{"diagnose", "{\"pid\":0}",
		 "error: argument pid must be an integer from 1 to 2147483647"},
		{"diagnose", "{\"pid\":2147483648}",
		 "error: argument pid must be an integer from 1 to 2147483647"},
		{"diagnose", "{\"pid\":\"7\"}",
		 "error: argument pid must be an integer from 1 to 2147483647"},
		{"diagnose", "{\"pid\":1,\"seconds\":0}",
		 "error: argument seconds must be an integer from 1 to 120"},
		{"diagnose", "{\"pid\":1,\"seconds\":121}",
		 "error: argument seconds must be an integer from 1 to 120"},
		{"diagnose", NULL, "error: argument pid is missing"},
		{"diagnose", "{}", "error: argument pid is missing"},
		{"diagnose", "[]", "error: arguments must be an object"},
		{"diagnose", "{\"pid\":1,\"verbose\":1}",
		 "error: tool diagnose has no argument verbose"},
		{"host", NULL, "host --json -d 10"},
		{"doctor", NULL, "doctor --json"},
		{"doctor", "{\"0123456789012345678901234567890123456789more\":1}",
		 "error: tool doctor has no argument 0123456789012345678901234567890123456789"},
		{"oom", "{}", "oom --json"},
		{"oom", "{\"file\":\"-p\"}", "oom --json -- -p"},
		{"oom", "{\"file\":\"\"}",
		 "error: argument file must be a text of 1 to 4096 bytes"},
		{"oom", "{\"file\":3}", "error: argument file must be a text of 1 to 4096 bytes"},
		{"incident", "{\"number\":10000}", "incidents report --format jsonl -- 10000"},
		{"incident", "{\"number\":10001}",
		 "error: argument number must be an integer from 1 to 10000"},
		{"incident", "{\"store\":\"/s\",\"number\":1}",
		 "incidents report --format jsonl --store /s -- 1"},
		{"report", "{\"from\":\"-90s\",\"to\":\"14:03\",\"file\":\"a b\"}",
		 "report --format jsonl --from -90s --to 14:03 -- a b"},
		{"triage", "{\"file\":\"log\"}", "triage --json -- log"},
		{"explain", "{\"what\":\"M01\"}", "explain --json -- M01"},
		{"incidents", "{\"store\":\"/s\"}", "incidents --json --store /s"},
	};
	struct mcp_words words;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		is_str(command_of(mcp_tool_find(calls[i].tool), calls[i].arguments, &words),
		       calls[i].command, calls[i].command);
}

/* The longest text is accepted. */
static void test_text_length(void)
{
	const struct mcp_tool *oom = mcp_tool_find("oom");
	struct mcp_words words;

	for (size_t len = MCP_TEXT_BYTES - 1; len <= MCP_TEXT_BYTES + 1; len++) {
		char arguments[MCP_TEXT_BYTES + 64], *at = arguments;
		const char *got;

		at += sprintf(arguments, "{\"file\":\"");
		memset(at, 'f', len);
		strcpy(at + len, "\"}");
		got = command_of(oom, arguments, &words);
		if (len > MCP_TEXT_BYTES)
			is_str(got, "error: argument file must be a text of 1 to 4096 bytes",
			       "a text that is too long");
		else
			is_u64(strlen(got), strlen("oom --json -- ") + len, "a long text");
	}
}

/* Only a tool that measures says how long. */
static void test_seconds(void)
{
	static const struct {
		const char *tool, *arguments;
		int64_t seconds;
	} calls[] = {
		{"diagnose", "{\"pid\":30}", 10},
		{"diagnose", "{\"pid\":30,\"seconds\":17}", 17},
		{"host", NULL, 10},
		{"doctor", NULL, 0},
		{"incident", "{\"number\":5}", 0},
	};
	struct mcp_words words;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		command_of(mcp_tool_find(calls[i].tool), calls[i].arguments, &words);
		is_u64(words.seconds, calls[i].seconds, calls[i].tool);
	}
}

/* A command has room for 22 words beside the program and the end: more are not there. */
static void test_words(void)
{
	static const struct {
		const char *words;
		size_t n;
	} cases[] = {
		{"a", 2},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", 22},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22", 23},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23", 23},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mcp_tool tool = {.name = "t", .words = cases[i].words};
		struct mcp_words words;

		command_of(&tool, NULL, &words);
		is_u64(words.n, cases[i].n, "number of words");
		is_str(words.word[words.n - 1],
		       cases[i].n == 22 ? "21"
		       : i		? "22"
					: "a",
		       "the last one");
	}
}

static bool is_text(struct json_object *o, const char *text)
{
	const char *is = json_text_of(o);

	return is && !strcmp(is, text);
}

/* Finds the description of a tool in a list, which has no accessor for its elements. */
static struct json_object *tool_in(const char *list, const char *name)
{
	char begin[64];
	const char *at, *end;
	struct json_object *o = NULL;

	snprintf(begin, sizeof(begin), "{\"name\":\"%s\"", name);
	at = strstr(list, begin);
	end = at ? strstr(at, "\"openWorldHint\":false}}") : NULL;
	ok(end && json_read(at, end + strlen("\"openWorldHint\":false}}") - at, &o),
	   "description of %s", name);
	return o;
}

static void test_list(void)
{
	struct json_object *tool, *schema, *pid, *member, *all = NULL;
	struct buf b = {};
	struct json j;
	int64_t n;

	json_begin(&j, &b);
	mcp_tools_list(&j);
	json_finish(&j);
	ok(json_read(b.s, b.len, &all) && json_member(all, "tools"), "the list is JSON");
	for (size_t i = 0; i < nr_mcp_tools; i++) {
		ok(mcp_tool_find(mcp_tools[i].name) == &mcp_tools[i], "%s", mcp_tools[i].name);
		tool = tool_in(b.s, mcp_tools[i].name);
		ok(is_text(json_member(tool, "title"), mcp_tools[i].title) &&
			   is_text(json_member(tool, "description"), mcp_tools[i].description),
		   "its title and description");
		member = json_member(tool, "annotations");
		is_str(json_text_for(json_member(member, "readOnlyHint")), "true", "only reads");
		is_str(json_text_for(json_member(member, "destructiveHint")), "false",
		       "destroys nothing");
		is_str(json_text_for(json_member(member, "idempotentHint")), "true",
		       "may be called again");
		ok(is_text(json_member(member, "title"), mcp_tools[i].title), "title for people");
		member = json_member(tool, "outputSchema");
		ok(is_text(json_member(member, "type"), "object") &&
			   is_text(json_member(json_member(json_member(member, "properties"),
							   "exit_status"),
					       "type"),
				   "integer"),
		   "what it returns");
		is_str(json_text_for(json_member(member, "required")),
		       "[\"notice\",\"command\",\"exit_status\",\"meaning\",\"findings\","
		       "\"lines\",\"left_out\",\"not_measured\",\"messages\"]",
		       "it returns each member");
		json_free(tool);
	}
	tool = tool_in(b.s, "diagnose");
	schema = json_member(tool, "inputSchema");
	ok(is_text(json_member(schema, "type"), "object"), "arguments are an object");
	is_str(json_text_for(json_member(schema, "required")), "[\"pid\"]", "the pid is required");
	is_str(json_text_for(json_member(schema, "additionalProperties")), "false", "no others");
	pid = json_member(json_member(schema, "properties"), "pid");
	is_str(json_text_for(pid),
	       "{\"type\":\"integer\",\"description\":\"process id\",\"minimum\":1,"
	       "\"maximum\":2147483647}",
	       "bounds of a number");
	member = json_member(json_member(schema, "properties"), "seconds");
	ok(json_integer_of(json_member(member, "default"), &n) && n == 10, "and what it is else");
	json_free(tool);
	tool = tool_in(b.s, "triage");
	schema = json_member(tool, "inputSchema");
	is_str(json_text_for(json_member(json_member(schema, "properties"), "file")),
	       "{\"type\":\"string\",\"description\":\"path of the log or dump\","
	       "\"maxLength\":4096}",
	       "the length of a text");
	json_free(tool);
	ok(!mcp_tool_find("diagnos") && !mcp_tool_find(""), "there is no other tool");
	json_free(all);
	buf_free(&b);
}

int main(void)
{
	if (json_library_load())
		return 1;
	test_commands();
	test_text_length();
	test_seconds();
	test_words();
	test_list();
	return tap_done();
}
