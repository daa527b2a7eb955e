// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the results of tools for agents: which lines they contain, in which order, and bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "mcp/json_library.h"
#include "mcp/mcp_result.h"
#include "tap.h"

static const struct mcp_tool tool = {.name = "diagnose", .types = "process growth"};

static void take(struct mcp_result *r, const char *line)
{
	mcp_result_take(r, line, strlen(line));
	mcp_result_take(r, "\n", 1);
}

/* Ends a result, and returns its text. */
static char *end(struct mcp_result *r, int status, const char *trouble)
{
	static const struct mcp_words words = {.word = {"", "diagnose", "-p", "1 2"}, .n = 4};
	struct buf b = {};
	struct json j;

	json_begin(&j, &b);
	mcp_result_end(r, &words, status, trouble, &j);
	buf_putc(&b, '}');
	mcp_result_free(r);
	return b.s;
}

static struct json_object *structured(const char *text, struct json_object **all)
{
	if (!json_read(text, strlen(text), all))
		return NULL;
	return json_member(json_member(*all, "result"), "structuredContent");
}

static bool comes_before(const char *text, const char *a, const char *b)
{
	const char *at = strstr(text, "structuredContent"), *x = strstr(at, a), *y = strstr(at, b);

	return x && y && x < y;
}

static void test_order(void)
{
	struct mcp_result r;
	char *text;

	mcp_result_begin(&r, &tool);
	take(&r, "{\"type\":\"growth\",\"pid\":7,\"stack\":\"g7\"}");
	take(&r, "{\"type\":\"process\",\"pid\":8,\"comm\":\"calm\"}");
	take(&r, "{\"type\":\"finding\",\"id\":\"M02\",\"pid\":7,\"severity\":\"warning\"}");
	take(&r, "{\"type\":\"finding\",\"id\":\"X\",\"pid\":9,\"severity\":\"info\"}");
	take(&r, "{\"type\":\"process\",\"pid\":7,\"comm\":\"sick\"}");
	take(&r, "{\"type\":\"finding\",\"id\":\"M01\",\"pid\":7,\"severity\":\"critical\"}");
	text = end(&r, EXIT_GATE, NULL);
	ok(comes_before(text, "M01", "M02") && comes_before(text, "M02", "\"X\""),
	   "the worst finding first");
	ok(comes_before(text, "\"X\"", "sick"), "findings before other lines");
	ok(comes_before(text, "sick", "calm"), "processes with findings before others");
	ok(comes_before(text, "calm", "g7"), "types in the order of the tool");
	free(text);
}

static void test_last_line_counts(void)
{
	struct mcp_result r;
	char *text;

	mcp_result_begin(&r, &tool);
	take(&r, "{\"type\":\"process\",\"pid\":7,\"value\":\"old\"}");
	take(&r, "{\"type\":\"process\",\"pid\":8,\"value\":\"other\"}");
	take(&r, "{\"type\":\"process\",\"pid\":7,\"value\":\"new\"}");
	take(&r, "{\"type\":\"tick\"}");
	take(&r, "{\"type\":\"tick\"}");
	take(&r, "no JSON");
	take(&r, "{\"no\":\"type\"}");
	text = end(&r, EXIT_DONE, NULL);
	ok(!strstr(text, "old") && comes_before(text, "other", "new"),
	   "the last line about a process, in the order of the last lines");
	ok(strstr(text, "\"left_out\":{\"tick\":2,\"unreadable\":2}"), "lines that are left out");
	free(text);
}

static void test_bounds(void)
{
	size_t most = LINE_BYTES + 1;
	char line[1024], *text, *huge = malloc(most + 1);
	struct json_object *all;
	struct mcp_result r;

	mcp_result_begin(&r, &tool);
	for (int pid = 0; pid < 5000; pid++) {
		snprintf(line, sizeof(line), "{\"type\":\"process\",\"pid\":%d,\"x\":\"%0500d\"}",
			 pid, 0);
		take(&r, line);
	}
	memset(huge, 'x', most);
	huge[most] = 0;
	take(&r, huge);
	take(&r, "{\"type\":\"finding\",\"id\":\"M01\",\"pid\":4999,\"severity\":\"critical\"}");
	mcp_result_say(&r, huge, most);
	text = end(&r, EXIT_GATE, NULL);
	ok(strlen(text) < 4 * MCP_RESULT_BYTES, "%zu bytes", strlen(text));
	ok(structured(text, &all) != NULL, "valid JSON");
	json_free(all);
	ok(strstr(text, "\"M01\""), "the finding has room");
	ok(strstr(text, "\"unreadable\":1"), "a line that is too long");
	free(text);
	free(huge);
}

static void test_status_and_gaps(void)
{
	static const struct {
		int status;
		const char *trouble, *flag;
	} cases[] = {
		{EXIT_DONE, NULL, "\"isError\":false"},
		{EXIT_GATE, NULL, "\"isError\":false"},
		{EXIT_INCOMPLETE, NULL, "\"isError\":false"},
		{EXIT_FAILED, NULL, "\"isError\":true"},
		{EXIT_NOT_PERMITTED, NULL, "\"isError\":true"},
		{EXIT_DONE, "it took too long", "\"isError\":true"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mcp_result r;
		char *text;

		mcp_result_begin(&r, &tool);
		/* two pieces, and no end of the line */
		mcp_result_take(&r, "{\"type\":\"end\",\"incompl", 22);
		mcp_result_take(&r, "ete\":[\"lost: 3\",\"not read: 1\"]}", 31);
		mcp_result_say(&r, "faultscope: \x1b[31m\xff", 18);
		text = end(&r, cases[i].status, cases[i].trouble);
		ok(strstr(text, cases[i].flag), "status %d: %s", cases[i].status, cases[i].flag);
		ok(strstr(text, "\"not_measured\":[\"lost: 3\",\"not read: 1\"]"), "gaps");
		ok(!strchr(text, 0x1b) && !strchr(text, 0xff), "messages are safe");
		ok(strstr(text, "faultscope diagnose -p '1 2'"), "the command");
		free(text);
	}
}

int main(void)
{
	if (json_library_load())
		return 1;
	test_order();
	test_last_line_counts();
	test_bounds();
	test_status_and_gaps();
	return tap_done();
}
