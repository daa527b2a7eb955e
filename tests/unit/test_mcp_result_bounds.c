// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests results of tools for agents at the bounds of lines, types, gaps and messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "count_text.h"
#include "mcp/json_library.h"
#include "mcp/mcp_result.h"
#include "tap.h"

#define LINES_MOST     4096 /* lines that a result keeps */
#define MESSAGES_BYTES 8192
#define GAPS_BYTES     4096

static const struct mcp_tool tool = {.name = "diagnose", .types = "process growth"};
static struct mcp_result r;
static struct buf result;
static struct json_object *all;

static void take(const char *line)
{
	mcp_result_take(&r, line, strlen(line));
	mcp_result_take(&r, "\n", 1);
}

static void take_process(int pid)
{
	char line[64];

	snprintf(line, sizeof(line), "{\"type\":\"process\",\"pid\":%d}", pid);
	take(line);
}

/* Ends a result, and reads it. */
static void end(int status)
{
	static const struct mcp_words words = {.word = {"", "diagnose"}, .n = 2};
	struct json j;

	json_begin(&j, &result);
	mcp_result_end(&r, &words, status, NULL, &j);
	buf_putc(&result, '}');
	mcp_result_free(&r);
	ok(json_read(result.s, result.len, &all), "valid JSON");
}

static struct json_object *member(const char *name)
{
	struct json_object *o = json_member(json_member(all, "result"), "structuredContent");

	return json_member(o, name);
}

/* Returns a member as it was written. */
static const char *text(const char *name)
{
	return json_text_for(member(name));
}

static void forget(void)
{
	json_free(all);
	all = NULL;
	buf_free(&result);
}

static int64_t left_out(const char *type)
{
	int64_t n;

	return json_integer_of(json_member(member("left_out"), type), &n) ? n : 0;
}

static void test_types(void)
{
	char line[64];

	mcp_result_begin(&r, &tool);
	take("{\"type\":\"process\",\"pid\":1}");
	take("{\"type\":\"growth\",\"pid\":1}");
	take("{\"type\":\"records\"}");
	take("{\"type\":\"proc\"}");
	take("{\"type\":\"processes\"}");
	end(EXIT_DONE);
	is_str(text("lines"), "[{\"type\":\"process\",\"pid\":1},{\"type\":\"growth\",\"pid\":1}]",
	       "lines of two types about one process are two");
	is_str(text("left_out"), "{\"records\":1,\"proc\":1,\"processes\":1}",
	       "types that are as long as one of the tool, or begin like it, are others");
	forget();

	mcp_result_begin(&r, &tool);
	for (int i = 0; i < MCP_TYPES_MAX + 2; i++) {
		snprintf(line, sizeof(line), "{\"type\":\"t%d\"}", i);
		take(line);
	}
	end(EXIT_DONE);
	is_u64(left_out("t0"), 1, "the first type that is left out");
	is_u64(left_out("t30"), 1, "and the one before the last that has a name");
	is_u64(left_out("t31"), 3, "types without room count as the last one");
	forget();
}

/* Lines are about the same thing only if each of its names is the same. */
static void test_about(void)
{
	mcp_result_begin(&r, &tool);
	take("{\"type\":\"process\",\"pid\":1,\"start_time_ns\":23}");
	take("{\"type\":\"process\",\"pid\":12,\"start_time_ns\":3}");
	take("{\"type\":\"process\",\"pid\":12,\"start_time_ns\":4}");
	end(EXIT_DONE);
	is_u64(count(text("lines"), "process"), 3, "a process is its pid and its start");
	forget();
}

static void test_ranks(void)
{
	mcp_result_begin(&r, &tool);
	take("{\"type\":\"process\",\"pid\":5}");
	take("{\"type\":\"process\",\"path\":\"none\"}");
	take("{\"type\":\"finding\",\"id\":\"F\"}");
	take("{\"type\":\"finding\",\"id\":\"I\",\"severity\":\"info\"}");
	take("{\"type\":\"finding\",\"id\":\"W\",\"severity\":\"warning\"}");
	take("{\"type\":\"finding\",\"id\":\"C\",\"severity\":\"critical\"}");
	end(EXIT_GATE);
	is_str(text("findings"),
	       "[{\"type\":\"finding\",\"id\":\"C\",\"severity\":\"critical\"},"
	       "{\"type\":\"finding\",\"id\":\"W\",\"severity\":\"warning\"},"
	       "{\"type\":\"finding\",\"id\":\"I\",\"severity\":\"info\"},"
	       "{\"type\":\"finding\",\"id\":\"F\"}]",
	       "the worst first, and one without a severity last");
	is_str(text("lines"),
	       "[{\"type\":\"process\",\"pid\":5},{\"type\":\"process\",\"path\":\"none\"}]",
	       "a line without a process is not about that of a finding without a process");
	forget();
}

/* A finding finds room in a full result, which the oldest line that is none makes. */
static void test_full(void)
{
	mcp_result_begin(&r, &tool);
	take("{\"type\":\"finding\",\"id\":\"first\",\"severity\":\"info\"}");
	for (int pid = 1; pid < LINES_MOST; pid++)
		take_process(pid);
	is_u64(r.n, LINES_MOST, "the result is full");
	take_process(LINES_MOST);
	is_u64(r.types, 1, "another line is left out");
	take("{\"type\":\"finding\",\"id\":\"second\",\"severity\":\"critical\"}");
	take("{\"type\":\"finding\",\"id\":\"second\",\"severity\":\"warning\"}");
	end(EXIT_GATE);
	is_str(text("findings"),
	       "[{\"type\":\"finding\",\"id\":\"second\",\"severity\":\"warning\"},"
	       "{\"type\":\"finding\",\"id\":\"first\",\"severity\":\"info\"}]",
	       "both findings, each once");
	ok(!strncmp(text("lines"), "[{\"type\":\"process\",\"pid\":2},", 28),
	   "one line has made room: the oldest");
	is_u64(count(text("lines"), "process") + left_out("process"), LINES_MOST,
	       "each line is shown or counted");
	forget();

	mcp_result_begin(&r, &tool);
	take_process(1);
	for (int i = 1; i < LINES_MOST; i++)
		take_process(i + 1);
	take("{\"type\":\"finding\",\"id\":\"M01\",\"severity\":\"info\"}");
	end(EXIT_GATE);
	ok(!strncmp(text("lines"), "[{\"type\":\"process\",\"pid\":2},", 28),
	   "also the very first line makes room");
	forget();

	mcp_result_begin(&r, &tool);
	for (int i = 0; i <= LINES_MOST; i++) {
		char line[64];

		snprintf(line, sizeof(line), "{\"type\":\"finding\",\"id\":\"%d\"}", i);
		take(line);
	}
	end(EXIT_GATE);
	is_u64(count(text("findings"), "finding") + left_out("finding"), LINES_MOST + 1,
	       "a finding that finds no room is counted");
	ok(!strncmp(text("findings"), "[{\"type\":\"finding\",\"id\":\"0\"},", 29),
	   "and the first ones stay");
	forget();
}

/* Takes a line of a process that is `len` bytes long. */
static void take_long(int pid, size_t len)
{
	char *line = malloc(len + 1);
	int n = snprintf(line, len + 1, "{\"type\":\"process\",\"pid\":%d,\"x\":\"", pid);

	memset(line + n, 'x', len - n);
	memcpy(line + len - 2, "\"}", 3);
	take(line);
	free(line);
}

static void test_room(void)
{
	static const struct {
		size_t first, second;
		size_t shown;
	} cases[] = {
		{MCP_RESULT_BYTES, 100, 1},	  {MCP_RESULT_BYTES + 1, 100, 1},
		{MCP_RESULT_BYTES - 100, 100, 2}, {MCP_RESULT_BYTES - 100, 101, 1},
		{MCP_RESULT_BYTES - 99, 100, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mcp_result_begin(&r, &tool);
		take_long(1, cases[i].first);
		take_long(2, cases[i].second);
		end(EXIT_DONE);
		ok(count(text("lines"), "process") == cases[i].shown &&
			   left_out("process") == 2 - (int)cases[i].shown,
		   "lines of %zu and %zu bytes: %zu shown", cases[i].first, cases[i].second,
		   cases[i].shown);
		forget();
	}
}

/* A line of standard output may be as long as LINE_BYTES. */
static void test_long_line(void)
{
	for (size_t len = LINE_BYTES - 1; len <= LINE_BYTES + 1; len++) {
		mcp_result_begin(&r, &tool);
		take_long(1, len);
		end(EXIT_DONE);
		is_u64(left_out("unreadable"), len > LINE_BYTES, "a line that is too long");
		is_u64(left_out("process"), len <= LINE_BYTES, "one that is not, but has no room");
		forget();
	}
}

static void test_gaps(void)
{
	/* a gap of n bytes takes n + 2 with its quotes */
	for (size_t len = GAPS_BYTES - 3; len <= GAPS_BYTES - 1; len++) {
		char *line = malloc(len + 64), *at = line;

		at += sprintf(line, "{\"type\":\"end\",\"incomplete\":[\"");
		memset(at, 'g', len);
		strcpy(at + len, "\",\"another\"]}");
		mcp_result_begin(&r, &tool);
		take(line);
		end(EXIT_INCOMPLETE);
		ok(!strstr(text("not_measured"), "another") == (len + 2 >= GAPS_BYTES),
		   "a gap after one of %zu bytes", len);
		forget();
		free(line);
	}
}

static void test_messages(void)
{
	static char said[MESSAGES_BYTES + 1];

	memset(said, 'm', sizeof(said));
	for (size_t len = MESSAGES_BYTES - 1; len <= sizeof(said); len++) {
		mcp_result_begin(&r, &tool);
		mcp_result_say(&r, said, len);
		mcp_result_say(&r, "e", 1);
		mcp_result_say(&r, "n", 1);
		end(EXIT_FAILED);
		is_u64(strlen(json_text_of(member("messages"))), MESSAGES_BYTES,
		       "messages end at their bound");
		is_u64(count(text("messages"), "e"), len < MESSAGES_BYTES, "with what came first");
		forget();
	}
}

static void test_meanings(void)
{
	static const struct {
		int status;
		const char *meaning;
		bool error;
	} cases[] = {
		{EXIT_DONE, "done", false},
		{EXIT_FAILED, "the command failed: see messages", true},
		{EXIT_USAGE, "the arguments are not valid: see messages", true},
		{EXIT_GATE, "the command found what it searches for: see findings and lines",
		 false},
		{EXIT_NO_TARGET, "there is no such process, or it has ended", true},
		{EXIT_NOT_PERMITTED, "faultscope lacks privileges: see messages", true},
		{EXIT_KERNEL_LACKS, "this kernel lacks what the command needs: see messages", true},
		{EXIT_INCOMPLETE, "the result is incomplete: see not_measured and messages", false},
		{-1, "the command failed: see messages", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t status = 99;

		mcp_result_begin(&r, &tool);
		end(cases[i].status);
		is_str(json_text_of(member("meaning")), cases[i].meaning, "what a status means");
		ok(json_integer_of(member("exit_status"), &status) && status == cases[i].status,
		   "status %d", cases[i].status);
		ok(strstr(result.s, cases[i].error ? "\"isError\":true" : "\"isError\":false"),
		   "is %s error", cases[i].error ? "an" : "no");
		is_str(text("lines"), "[]", "no line");
		is_str(text("messages"), "\"\"", "no message");
		forget();
	}
}

/* A result that was freed is as one that has begun. */
static void test_free(void)
{
	static const struct mcp_result none;

	mcp_result_begin(&r, &tool);
	take_process(1);
	take("{\"type\":\"tick\"}");
	mcp_result_free(&r);
	ok(!memcmp(&r, &none, sizeof(r)), "nothing is left of it");
	mcp_result_free(&r);
}

int main(void)
{
	if (json_library_load())
		return 1;
	test_types();
	test_about();
	test_ranks();
	test_full();
	test_room();
	test_long_line();
	test_gaps();
	test_messages();
	test_meanings();
	test_free();
	return tap_done();
}
