// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mcp/mcp_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS(option_, what)                                                                     \
	{.name = "seconds", .kind = MCP_COUNT, .option = (option_), .least = 1, .most = 120,       \
	 .standard = "10", .help = (what)}
#define FILE_OF(what)                                                                              \
	{.name = "file", .kind = MCP_TEXT, .required = true, .help = (what)}
#define MOMENTS                                                                                    \
	{.name = "from", .kind = MCP_TEXT, .option = "--from",                                     \
	 .help = "begin at this time: 14:03, 2026-11-29T14:03:00Z, or -90s before the end"},       \
	{                                                                                          \
		.name = "to", .kind = MCP_TEXT, .option = "--to",                                  \
		.help = "end at this time, in the same forms"                                      \
	}

/* clang-format off */
const struct mcp_tool mcp_tools[] = {
	{"diagnose", "Diagnose one process",
	 "Watches one process for some seconds: page faults, memory mappings, file descriptors, "
	 "failed system calls and memory. Returns findings with evidence and remedies: which limit "
	 "was hit or is near, its value, which code grew it, and what to do. Use it for \"Cannot "
	 "allocate memory\", \"Too many open files\", SIGBUS, a leak, or a slow process.",
	 "diagnose --json",
	 {{.name = "pid", .kind = MCP_COUNT, .required = true, .option = "-p", .least = 1,
	   .most = INT32_MAX, .help = "process id"},
	  SECONDS("-d", "how long to watch")},
	 "process growth failed_call signal holdings pressure"},
	{"host", "Is this host short of memory?",
	 "Watches the whole host for some seconds. Returns whether it is short of memory, of which "
	 "kind, which processes hold the memory, which one the OOM killer would kill next, and "
	 "tmpfs file systems that are full (/dev/shm).",
	 "host --json", {SECONDS("-d", "how long to watch")},
	 "host pressure cgroup file_system"},
	{"explain", "Explain a finding, an errno or an error message",
	 "Explains an id of a finding (M01), its slug, an errno (EMFILE), or an error message of a "
	 "program: what it means, how to confirm it, and what to do. Measures nothing.",
	 "explain --json",
	 {{.name = "what", .kind = MCP_TEXT, .required = true,
	   .help = "id, slug, errno or error message"}},
	 "explanation candidates"},
	{"doctor", "What can faultscope measure here?",
	 "Checks which probes work on this kernel with these privileges, what they cost, and what "
	 "is missing. Use it if another tool says that something was not measured.",
	 "doctor --json", {}, "doctor"},
	{"oom", "Pages about OOM kills",
	 "Returns the stored page of each OOM kill: which limit, which process allocated, which "
	 "processes held the memory, what was to blame, and what would have helped.",
	 "oom --json",
	 {{.name = "file", .kind = MCP_TEXT, .help = "recording to read instead of the store"}},
	 "oom"},
	{"incidents", "List stored incidents",
	 "Lists the incidents of this host: recordings of the minutes before something serious "
	 "happened. Read one with the tool incident.",
	 "incidents --json",
	 {{.name = "store", .kind = MCP_TEXT, .option = "--store",
	   .help = "directory of the incidents"}},
	 "incident"},
	{"incident", "Report of an incident",
	 "Returns the findings of a stored incident, and the last state of its processes.",
	 "incidents report --format jsonl",
	 {{.name = "store", .kind = MCP_TEXT, .option = "--store",
	   .help = "directory of the incidents"},
	  {.name = "number", .kind = MCP_COUNT, .required = true, .least = 1, .most = 10000,
	   .help = "number of the list; 1 is the newest incident"}},
	 "start incident growth failed_call signal oom pressure process end"},
	{"report", "Report of a recording",
	 "Returns the findings of a recording (a .fsr file), and the last state of its processes.",
	 "report --format jsonl", {MOMENTS, FILE_OF("path of the recording")},
	 "start incident growth failed_call signal oom pressure process end"},
	{"triage", "Triage of a kernel crash log",
	 "Reads the log of a kernel crash (dmesg, a console log, pstore, a memory dump) and names "
	 "mechanism, access, address and the suspect module, with the lines that prove it.",
	 "triage --json", {FILE_OF("path of the log or dump")}, "triage crash"},
};
/* clang-format on */
const size_t nr_mcp_tools = sizeof(mcp_tools) / sizeof(mcp_tools[0]);

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < nr_mcp_tools; i++)
		if (!strcmp(mcp_tools[i].name, name))
			return &mcp_tools[i];
	return NULL;
}

static void put_argument(struct json *j, const struct mcp_argument *a)
{
	json_object(j, a->name);
	json_text(j, "type", a->kind == MCP_COUNT ? "integer" : "string");
	json_text(j, "description", a->help);
	if (a->kind == MCP_COUNT) {
		json_signed(j, "minimum", a->least);
		json_signed(j, "maximum", a->most);
	} else {
		json_count(j, "maxLength", MCP_TEXT_BYTES);
	}
	if (a->standard)
		json_signed(j, "default", strtoll(a->standard, NULL, 10));
	json_end(j);
}

static void put_input_schema(struct json *j, const struct mcp_tool *t)
{
	json_object(j, "inputSchema");
	json_text(j, "type", "object");
	json_object(j, "properties");
	for (const struct mcp_argument *a = t->argument; a->name; a++)
		put_argument(j, a);
	json_end(j);
	json_array(j, "required");
	for (const struct mcp_argument *a = t->argument; a->name; a++)
		if (a->required)
			json_text(j, NULL, a->name);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

/* Writes the members of a result, which are the same for each tool: see mcp_result.c. */
static void put_output_schema(struct json *j)
{
	static const struct {
		const char *name, *type;
	} member[] = {
		{"notice", "string"},	{"command", "string"},	   {"exit_status", "integer"},
		{"meaning", "string"},	{"findings", "array"},	   {"lines", "array"},
		{"left_out", "object"}, {"not_measured", "array"}, {"messages", "string"},
	};
	const size_t n = sizeof(member) / sizeof(member[0]);

	json_object(j, "outputSchema");
	json_text(j, "type", "object");
	json_object(j, "properties");
	for (size_t i = 0; i < n; i++) {
		json_object(j, member[i].name);
		json_text(j, "type", member[i].type);
		json_end(j);
	}
	json_end(j);
	json_array(j, "required");
	for (size_t i = 0; i < n; i++)
		json_text(j, NULL, member[i].name);
	json_end_array(j);
	json_end(j);
}

static void put_annotations(struct json *j, const struct mcp_tool *t)
{
	json_object(j, "annotations");
	json_text(j, "title", t->title);
	json_flag(j, "readOnlyHint", true);
	json_flag(j, "destructiveHint", false);
	json_flag(j, "idempotentHint", true);
	json_flag(j, "openWorldHint", false);
	json_end(j);
}

void mcp_tools_list(struct json *j)
{
	json_array(j, "tools");
	for (size_t i = 0; i < nr_mcp_tools; i++) {
		const struct mcp_tool *t = &mcp_tools[i];

		json_object(j, NULL);
		json_text(j, "name", t->name);
		json_text(j, "title", t->title);
		json_text(j, "description", t->description);
		put_input_schema(j, t);
		put_output_schema(j);
		put_annotations(j, t);
		json_end(j);
	}
	json_end_array(j);
}

static void add(struct mcp_words *w, const char *word)
{
	if (w->n < MCP_WORDS_MAX - 1)
		w->word[w->n++] = word;
	w->word[w->n] = NULL;
}

/* Adds the words of the tool, which are separated by spaces. */
static void add_words(struct mcp_words *w, const char *words)
{
	char *at = w->text, *end;

	snprintf(w->text, sizeof(w->text), "%s", words);
	while ((end = strchr(at, ' '))) {
		*end = 0;
		add(w, at);
		at = end + 1;
	}
	add(w, at);
}

/* Returns an argument by name, or NULL. */
static const struct mcp_argument *argument_of(const struct mcp_tool *t, const char *name)
{
	for (const struct mcp_argument *a = t->argument; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

/* Returns the text of a value, NULL if it is not given, or "" with `error` set. */
static const char *text_of(const struct mcp_argument *a, struct json_object *value, char *number,
			   char *error, size_t size)
{
	const char *text;
	int64_t n = 0;

	if (!value) {
		if (a->required)
			snprintf(error, size, "argument %s is missing", a->name);
		return a->standard;
	}
	if (a->kind == MCP_COUNT) {
		if (!json_integer_of(value, &n) || n < a->least || n > a->most)
			snprintf(error, size, "argument %s must be an integer from %lld to %lld",
				 a->name, (long long)a->least, (long long)a->most);
		snprintf(number, MCP_NUMBER_SIZE, "%lld", (long long)n);
		return number;
	}
	text = json_text_of(value);
	if (!text || !*text || strlen(text) > MCP_TEXT_BYTES)
		snprintf(error, size, "argument %s must be a text of 1 to %d bytes", a->name,
			 MCP_TEXT_BYTES);
	return text;
}

static bool names_are_known(const struct mcp_tool *t, struct json_object *arguments, char *error,
			    size_t size)
{
	const char *name;

	for (size_t i = 0; (name = json_name_of(arguments, i)); i++)
		if (!argument_of(t, name)) {
			snprintf(error, size, "tool %s has no argument %.40s", t->name, name);
			return false;
		}
	return true;
}

bool mcp_tool_words(const struct mcp_tool *t, struct json_object *arguments, struct mcp_words *ret,
		    char *error, size_t size)
{
	const char *operand[MCP_ARGUMENTS];
	size_t operands = 0;

	memset(ret, 0, sizeof(*ret));
	*error = 0;
	if (arguments && !json_is_object(arguments)) {
		snprintf(error, size, "arguments must be an object");
		return false;
	}
	if (arguments && !names_are_known(t, arguments, error, size))
		return false;
	ret->n = 1; /* word[0] is the program */
	add_words(ret, t->words);
	for (size_t i = 0; t->argument[i].name; i++) {
		const struct mcp_argument *a = &t->argument[i];
		struct json_object *given = json_member(arguments, a->name);
		const char *text = text_of(a, given, ret->number[i], error, size);

		if (*error)
			return false;
		if (!text)
			continue;
		if (!strcmp(a->name, "seconds"))
			ret->seconds = strtoll(text, NULL, 10);
		if (!a->option) {
			operand[operands++] = text;
			continue;
		}
		add(ret, a->option);
		add(ret, text);
	}
	if (operands)
		add(ret, "--"); /* what begins with "-" is no option */
	for (size_t i = 0; i < operands; i++)
		add(ret, operand[i]);
	return true;
}
