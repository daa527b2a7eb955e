// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "render/json_out.h"
#include "render/render.h"
#include "render/json/schema_parts.h"

static const struct key cost_keys[] = {
	{"per", T_TEXT, false, "what it is paid for: fault, process, descriptor_call, ..."},
	{"unit", T_TEXT, false, "ns"},
	{"low", T_REAL_NULL, false, "lower quartile"},
	{"median", T_REAL_NULL, false, "null: not measured, or lost in the noise"},
	{"high", T_REAL_NULL, false, "upper quartile"},
	{"why", T_TEXT_NULL, false, "why it is not measured"},
	{},
};

static const struct key hook_keys[] = {
	{"name", T_TEXT, false, ""},
	{"tier", T_COUNT, false, "of cost"},
	{"core", T_FLAG, false, "without it nothing works: exit status 6"},
	{"degraded", T_FLAG, false, "of the core, and on its last alternate: it measures less"},
	{"state", T_TEXT, false, "on, off or blind"},
	{"mechanism", T_TEXT_NULL, false, "in use"},
	{"tried", T_TEXT, false, "before it, with the kernel's answers"},
	{"alternates", T_TEXTS, false, "mechanisms, best first"},
	{"differs", T_TEXT_OBJECT, false, "how a mechanism differs from the best"},
	{"feeds", T_TEXT, false, "what it gives"},
	{"lost_without", T_TEXT, false, ""},
	{"note", T_TEXT_NULL, false, "how the mechanism in use differs"},
	{"remedy", T_TEXT_NULL, false, "a command that may help to a better mechanism"},
	{"costs", T_OBJECTS, false, "as measured here", cost_keys},
	{},
};

static const struct key advice_keys[] = {
	{"limit", T_TEXT, false, "key of limits"},
	{"why", T_TEXT, false, "it is tight"},
	{"command", T_TEXT, false, "to change it at once"},
	{"lasting", T_TEXT_NULL, false, "to change it for good"},
	{"cost", T_TEXT_NULL, false, "of a higher limit"},
	{},
};

static const struct key set_by_keys[] = {
	{"limit", T_TEXT, false, "key of limits"},
	{"from", T_TEXT, false,
	 "kernel, boot, file, systemd, container_runtime, process, hand, outside, nobody or "
	 "unknown"},
	{"text", T_TEXT, false, "what follows \"set by\""},
	{"file", T_TEXT_NULL, false, "that sets it, or tried to"},
	{"line", T_COUNT_NULL, false, "of the file, from 1"},
	{"says", T_TEXT_NULL, false, "that line"},
	{"pid", T_COUNT_NULL, false, "the oldest ancestor that has the same"},
	{"host_wide", T_FLAG, false, "every process and container of the host has it"},
	{},
};

static const struct key kept_keys[] = {
	{"capability", T_TEXT, false, ""},
	{"why", T_TEXT, false, "it is kept"},
	{},
};

static const struct key privilege_keys[] = {
	{"kept", T_OBJECTS, false, "capabilities", kept_keys},
	{"no_new_privs", T_FLAG, false, ""},
	{"landlock_abi", T_COUNT, false, "0: off"},
	{"landlock_off", T_TEXT_NULL, false, "why; null: it is on"},
	{"kernel_symbols", T_FLAG, false, "addresses of the kernel can be named"},
	{"not_given_up", T_TEXT_NULL, false, "what could not be, and why"},
	{},
};

static const struct key gate_keys[] = {
	{"gate", T_TEXT, false, "as asked for by --fail-on"},
	{"state", T_TEXT, false, "passed, tripped, or not measured (which fails too)"},
	{"value", T_REAL_NULL, false, "what was compared, in the gate's unit; null: not measured"},
	{"pid", T_COUNT, true, "of the process with the most of it"},
	{"comm", T_TEXT, true, ""},
	{},
};

static const struct key held_keys[] = {
	{"name", T_TEXT, false, "of all of them, or their pattern: numbers folded to #"},
	{"kind", T_TEXT, false, ""},
	{"count", T_COUNT, false, ""},
	{"bytes", T_COUNT, false, "of mappings"},
	{"pattern", T_FLAG, false, "their names differ"},
	{},
};

static const struct key made_keys[] = {
	{"name", T_TEXT, false, "a sort: numbers folded to #"},
	{"made", T_COUNT, false, ""},
	{"gone", T_COUNT, false,
	 "of descriptors those closed; of mappings at most so many: who unmaps tells not whose"},
	{"stack", T_TEXTS, false, "that made most of it, innermost first; empty: not known"},
	{"stack_may_be_short", T_FLAG, true, "it does not reach the thread's begin"},
	{},
};

static const struct key reason_keys[] = {
	{"points", T_REAL, false, ""},
	{"why", T_TEXT, false, ""},
	{},
};

static const struct key suspect_keys[] = {
	{"module", T_TEXT, false, "vmlinux: the kernel's own code; hardware: the machine"},
	{"function", T_TEXT_NULL, false, ""},
	{"points", T_REAL, false, "the sum of the reasons"},
	{"name_cut_off", T_FLAG, false, "the log has only the beginning of the name"},
	{"reasons", T_OBJECTS, false, "", reason_keys},
	{},
};

static const struct key log_line_keys[] = {
	{"file", T_TEXT_NULL, false, ""},
	{"line", T_COUNT, false, "in the file, from 1"},
	{"text", T_TEXT, false, "without its prefixes"},
	{},
};

static const struct key log_rule_keys[] = {
	{"id", T_TEXT, false, ""},
	{"text", T_TEXT, false, "what it saw"},
	{},
};

static const struct key frame_keys[] = {
	{"part", T_TEXT, false, "main, other, alloc, free or lock"},
	{"function", T_TEXT_NULL, false, ""},
	{"module", T_TEXT_NULL, false, "null: the kernel's own"},
	{"offset", T_COUNT, false, "in the function"},
	{"size", T_COUNT, false, "of the function; 0: not told"},
	{"reliable", T_FLAG, false, "the kernel did not doubt it"},
	{},
};

static const struct key precursor_keys[] = {
	{"kind", T_TEXT, false, "as of the log"},
	{"seconds_before", T_REAL_NULL, false, ""},
	{"file", T_TEXT_NULL, false, ""},
	{"line", T_COUNT, false, ""},
	{"text", T_TEXT, false, ""},
	{},
};

static const struct key log_loss_keys[] = {
	{"bytes", T_COUNT, false, "beyond the most that is read"},
	{"lines", T_COUNT, false, ""},
	{"reports", T_COUNT, false, "beyond the most that is judged"},
	{"dropped_by_kernel", T_COUNT, false, "times that the log itself tells of lost messages"},
	{"not_understood", T_COUNT, false, "lines that look like a crash and fit no rule"},
	{},
};

/* Of a log with a crash: all there, or none. */
static const struct key triage_keys[] = {
	{"kind", T_TEXT, true, "what the kernel reported: null_deref, gpf, kasan_uaf, hang, ..."},
	{"semantic", T_TEXT, true, "the class of the mechanism"},
	{"mechanism", T_TEXT, true, "what it means: err_ptr, freed_text, list_poison, ..."},
	{"says", T_TEXT, true, "that in words"},
	{"confidence", T_TEXT, true, "low, medium or high"},
	{"access", T_TEXT_NULL, true, "read, write or exec"},
	{"size", T_COUNT_NULL, true, "of the access, bytes"},
	{"address", T_TEXT_NULL, true, "hex"},
	{"region", T_TEXT_NULL, true, "what lies at the address"},
	{"base", T_TEXT_NULL, true, "the pointer that the address was computed from, hex"},
	{"function", T_TEXT_NULL, true, "the first of functions"},
	{"functions", T_TEXTS, true, "whose code it was, the best first"},
	{"module", T_TEXT_NULL, true, "of the instruction; vmlinux; null: it was no code"},
	{"culprit", T_TEXT_NULL, true, "null: nobody stands out"},
	{"culprits", T_TEXTS, true, "modules, the most suspect first"},
	{"hardware_likely", T_FLAG, true, "more than any code"},
	{"suspects", T_OBJECTS, true, "", suspect_keys},
	{"bucket", T_TEXT, true, "equal for equal crashes, whatever the container"},
	{"exact", T_TEXT, true, "hash of the bucket and the place"},
	{"stack", T_TEXT, true, "hash of the functions"},
	{"kernel", T_TEXT_NULL, true, "release"},
	{"arch", T_TEXT_NULL, true, ""},
	{"taint", T_TEXT_NULL, true, ""},
	{"comm", T_TEXT_NULL, true, ""},
	{"pid", T_COUNT_NULL, true, ""},
	{"cpu", T_COUNT_NULL, true, ""},
	{"hardware", T_TEXT_NULL, true, "as the firmware names it"},
	{"evidence", T_OBJECTS, true, "lines that decide", log_line_keys},
	{"rules", T_OBJECTS, true, "that fired", log_rule_keys},
	{"trace", T_OBJECTS, true, "", frame_keys},
	{"precursors", T_OBJECTS, true, "reports before it", precursor_keys},
	{"consequences", T_COUNT, true, "reports that follow from it"},
	{"remedy", T_TEXTS, true, "what to do next"},
	{"recorded", T_OBJECT, true, "what the flight recorder has of it"},
	{},
};

static const struct key recorder_keys[] = {
	{"name", T_TEXT, false, ""},
	{"feeds", T_TEXT, false, "what it gives"},
	{"lost_without", T_TEXT, false, ""},
	{"refused", T_TEXT_NULL, false, "the kernel's answer; null: it works"},
	{},
};

static const struct shape shapes[] = {
	{"triage",
	 "the verdict on a crash log",
	 {{"files", T_TEXTS, false, "that were read"},
	  {"crash", T_FLAG, false,
	   "false: none was found, and the keys that tell of it are left out"},
	  {"others", T_TEXTS, false, "buckets of crashes that are independent of it"},
	  {"incomplete", T_TEXTS, false,
	   "what was not read, was lost or is understood by no rule; empty: nothing, so that "
	   "\"crash\": false is an all-clear"},
	  {"lines", T_COUNT, false, "read"},
	  {"losses", T_KEYED, false, "what was not read or not judged", log_loss_keys}},
	 true,
	 triage_keys},
	{"triage_bucket",
	 "logs of one kind, of triage --group",
	 {{"bucket", T_TEXT, false, ""},
	  {"kind", T_TEXT, false, ""},
	  {"module", T_TEXT, false, "empty: not known"},
	  {"count", T_COUNT, false, "of logs"},
	  {"first_seen", T_TEXT_NULL, false, "the oldest file of it, RFC 3339"},
	  {"last_seen", T_TEXT_NULL, false, ""},
	  {"example", T_TEXT, false, "one of the files"},
	  {"kernels", T_TEXTS, false, "releases"},
	  {"new", T_FLAG, false, "only the newest of several kernels shows it"}},
	 true},
	{"start",
	 "the first line",
	 {{"schema", T_COUNT, false, "version of this schema"},
	  {"version", T_TEXT, false, "of faultscope"},
	  {"kernel", T_TEXT, false, "release"},
	  {"arch", T_TEXT, false, ""},
	  {"host", T_TEXT, false, ""},
	  {"boot_id", T_TEXT, false, ""},
	  {"time", T_TEXT, false, "RFC 3339"},
	  {"mode", T_TEXT, false, "all, targets or run"},
	  {"target", T_TEXT, false, "what was asked for"},
	  {"tiers", T_COUNTS, false, "of cost that are paid for"},
	  {"hooks", T_TEXT_OBJECT, false, "name to mechanism, or to why it is blind"},
	  {"limits", T_OBJECT, false, "of this machine"},
	  {"assumed", T_OBJECT, true, "limits of --assume: name to value"}}},
	{"crossing",
	 "a threshold of a limit crossed, seen in the kernel",
	 {{"pid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"what", T_TEXT, false, "maps or fds"},
	  {"value", T_COUNT, false, ""},
	  {"limit", T_COUNT, false, ""},
	  {"percent", T_COUNT, false, "the threshold"}}},
	{"refused",
	 "a mapping or descriptor call that the kernel refused; equal ones coalesced",
	 {{"pid", T_COUNT, false, ""},
	  {"tid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"call", T_TEXT, false, ""},
	  {"errno", T_TEXT_NULL, false, "null for brk, which gives none"},
	  {"cause", T_TEXT, false, "the limit that said no, or unknown"},
	  {"certain", T_FLAG, false, "one readable fact decides"},
	  {"count", T_COUNT, false, "equal ones so far, this one included"},
	  {"args", T_COUNTS, false, "of the call"},
	  {"evidence", T_EVIDENCE, false, ""},
	  {"would_fail_next", T_TEXTS, false, "causes behind this one"},
	  {"stack", T_TEXTS, false, "user frames, innermost first; empty: not known"},
	  {"stack_may_be_short", T_FLAG, true, "it does not reach the thread's begin"}}},
	{"signal",
	 "a fault signal was sent to a thread",
	 {{"pid", T_COUNT, false, ""},
	  {"tid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"signal", T_TEXT, false, ""},
	  {"code", T_COUNT, false, "si_code"},
	  {"class", T_TEXT, false, "what the access met, or unknown"},
	  {"certain", T_FLAG, false, "one readable fact decides"},
	  {"mapping", T_TEXT_NULL, false,
	   "kind of what is mapped there; null: nothing, or not known"},
	  {"file", T_TEXT_NULL, false, "its name, without the directory"},
	  {"evidence", T_EVIDENCE, false, ""},
	  {"address", T_TEXT, true, "with --addresses"}}},
	{"oom",
	 "a process was chosen by the OOM killer",
	 {{"pid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"constraint", T_TEXT_NULL, false,
	   "memcg, none (the machine), cpuset or memory_policy; null: not known"},
	  {"certain", T_FLAG, false, "the kernel's log said so"},
	  {"cgroup", T_TEXT_NULL, false, "of the process: path"},
	  {"limit_cgroup", T_TEXT_NULL, false,
	   "whose limit was used up: that one, or one above it; null: of no cgroup, or not known"},
	  {"rss_bytes", T_COUNT, false, "resident then"},
	  {"anon_bytes", T_COUNT, false, "of these"},
	  {"shmem_bytes", T_COUNT, false, "of these: tmpfs and shared memory"},
	  {"swap_bytes", T_COUNT, false, ""},
	  {"by_pid", T_COUNT, false, "who asked for memory then"},
	  {"by_comm", T_TEXT, false, ""},
	  {"evidence", T_EVIDENCE, false, ""}}},
	{"slow_faults",
	 "faults of 1 ms and more, of one class, file, holder of the lock and place in the code, "
	 "or "
	 "other waits for that lock: all so far",
	 {{"pid", T_COUNT, false, ""},
	  {"tid", T_COUNT, false, "of the last one"},
	  {"comm", T_TEXT, false, ""},
	  {"class", T_TEXT, false,
	   "as in faults.served; call: no fault, but a wait of 1 ms and more for the lock; holder: "
	   "a call that had it for 10 us and more while others waited"},
	  {"file", T_TEXT_NULL, false, "its name, without the directory"},
	  {"inode", T_COUNT, false, "0: no file"},
	  {"count", T_COUNT, false, ""},
	  {"total_ns", T_COUNT, false, ""},
	  {"max_ns", T_COUNT, false, ""},
	  {"read_bytes", T_COUNT, false, "asked of disks in them"},
	  {"reclaim_ns", T_COUNT, false, "of total_ns, taking memory from others"},
	  {"compaction_ns", T_COUNT, false, "of total_ns, moving pages"},
	  {"lock_ns", T_COUNT, false, "of total_ns, waiting for the lock of the address space"},
	  {"disk_ns", T_COUNT, false, "of total_ns, waiting for pages to be read"},
	  {"holder_pid", T_COUNT_NULL, false, "who had that lock; null: none was waited for"},
	  {"holder_comm", T_TEXT_NULL, false, ""},
	  {"holder_writes", T_FLAG_NULL, false, "it changed mappings, else it read them"},
	  {"stack", T_TEXTS, false, "user frames, innermost first; empty: not known"},
	  {"stack_may_be_short", T_FLAG, true, "it does not reach the thread's begin"}}},
	{"kernel_fault",
	 "a kernel-mode fault that is no ordinary user copy; equal ones coalesced",
	 {{"pid", T_COUNT, false, "of the thread it happened in"},
	  {"tid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"symbol", T_TEXT_NULL, false, ""},
	  {"module", T_TEXT_NULL, false, ""},
	  {"access", T_TEXT, false, "read, write or exec"},
	  {"address_class", T_TEXT, false, ""},
	  {"fixed_up", T_FLAG_NULL, false, "null: not known at its begin"},
	  {"count", T_COUNT, false, ""},
	  {"address", T_TEXT, true, "with --addresses"}}},
	{"finding",
	 "a rule fired, changed or cleared",
	 {{"id", T_TEXT, false, "stable"},
	  {"severity", T_TEXT, false, "critical, warning or info"},
	  {"state", T_TEXT, false, "open or cleared"},
	  {"pid", T_COUNT_NULL, false, "null: of the host"},
	  {"comm", T_TEXT_NULL, false, ""},
	  {"place", T_TEXT_NULL, false, "of a cgroup or a mount: its path; else null"},
	  {"title", T_TEXT, false, "one sentence"},
	  {"cause", T_TEXT_NULL, false, ""},
	  {"evidence", T_EVIDENCE, false, ""},
	  {"set_by", T_TEXT_NULL, false, "where the limit comes from; null: not looked up"},
	  {"remedy", T_TEXTS, false, ""},
	  {"forecast", T_FORECAST, false, "null: no growth, or too poor a fit"},
	  {"because", T_TEXTS, false, "ids of findings that led to it"}}},
	{"holdings",
	 "what a process held when diagnose began, the most frequent sorts first",
	 {{"pid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"what", T_TEXT, false, "maps or fds"},
	  {"all", T_FLAG, false, "false: there are more sorts than are told"},
	  {"sorts", T_OBJECTS, false, "", held_keys}}},
	{"growth",
	 "what the calls of a process made while it was watched, what is left most first",
	 {{"pid", T_COUNT, false, ""},
	  {"comm", T_TEXT, false, ""},
	  {"what", T_TEXT, false, "maps or fds"},
	  {"made", T_COUNT, false, "of all sorts"},
	  {"sorts", T_OBJECTS, false, "", made_keys}}},
	{"end",
	 "the last line",
	 {{"losses", T_OBJECT, false, "what fell out"},
	  {"own", T_OBJECT, false, "our own cost"},
	  {"findings", T_OBJECT, false, "opened, by severity"},
	  {"incomplete", T_TEXTS, false,
	   "each reason for which something may be missing; empty: none. Where there is one, the "
	   "exit status is not 0"},
	  {"ending", T_TEXT, true, "of the command of run"},
	  {"gates", T_OBJECTS, true, "with --fail-on", gate_keys}}},
	{"doctor",
	 "what faultscope doctor --json prints: one object",
	 {{"version", T_TEXT, false, "of faultscope"},
	  {"kernel", T_TEXT, false, "release"},
	  {"arch", T_TEXT, false, ""},
	  {"hooks", T_OBJECTS, false, "", hook_keys},
	  {"recorder", T_OBJECTS, false, "hooks of blackbox run; empty: none can be tried",
	   recorder_keys},
	  {"recorder_holds", T_FLAG, false, "a panic waits until the recorder has kept it"},
	  {"processes", T_COUNT, false, "that a look looks at"},
	  {"calibration", T_REALS_NULL, false, "null: costs were not measured"},
	  {"only_counted", T_TEXTS, false, "descriptors seen as a count, not by call"},
	  {"passed_over", T_TEXT_NULL, false, "which events this kernel may pass over; null: none"},
	  {"limits", T_ANY_OBJECT, false, "null: unlimited, or not told by this machine"},
	  {"privileges", T_KEYED, false, "what is kept of them once all is attached",
	   privilege_keys},
	  {"unlimited", T_TEXTS, false, "keys of limits without a limit"},
	  {"set_by", T_OBJECTS, false, "where limits come from", set_by_keys},
	  {"advice", T_OBJECTS, false, "limits that are tight", advice_keys}},
	 .alone = true},
	{"candidates",
	 "what faultscope explain --json TEXT prints: one object",
	 {{"similar", T_FLAG, false, "no known message stands in the text: words are shared"},
	  {"candidates", T_OBJECTS, false, "the most likely first", candidate_keys},
	  {"messages", T_OBJECTS, false, "that led to them, the best match first", message_keys}},
	 .alone = true},
	{"diagnosis",
	 "what faultscope explain --json prints: one object each",
	 {{"id", T_TEXT, false, "stable"},
	  {"severity", T_TEXT, false, "the worst that it comes to"},
	  {"title", T_TEXT, false, ""},
	  {"flagged", T_FLAG, false, "by this version: else it is to be looked for by hand"},
	  {"needs", T_TEXT_NULL, false, "hook without which it is not; null: none"},
	  {"means", T_TEXT, false, "paragraphs, a line each; \"$ \" begins a command"},
	  {"measured", T_TEXT, false, "how it is told"},
	  {"confirm", T_TEXT, false, "how to see it by hand"},
	  {"gain_time", T_TEXT, false, "what moves the limit, and what it costs"},
	  {"fix", T_TEXT, false, "what ends the cause"},
	  {"alike", T_TEXT, false, "what looks alike, but is not"},
	  {"sources", T_TEXTS, false, "public threads, owner/name#number"}},
	 .alone = true},
};

static void say_types(struct json *j, const char *one, const char *other)
{
	if (!other) {
		json_text(j, "type", one);
		return;
	}
	json_array(j, "type");
	json_text(j, NULL, one);
	json_text(j, NULL, other);
	json_end_array(j);
}

static void say_count(struct json *j, const char *key, const char *help, bool nullable)
{
	json_object(j, key);
	say_types(j, "integer", nullable ? "null" : NULL);
	json_count(j, "minimum", 0);
	if (*help)
		json_text(j, "description", help);
	json_end(j);
}

static void begin_object(struct json *j, const char *key, const char *help)
{
	json_object(j, key);
	json_text(j, "type", "object");
	if (help && *help)
		json_text(j, "description", help);
}

static void say_array(struct json *j, const char *items)
{
	json_text(j, "type", "array");
	json_object(j, "items");
	json_text(j, "type", items);
	json_end(j);
}

static void say_evidence(struct json *j)
{
	static const char *const key[] = {"field", "value", "limit"};

	json_text(j, "type", "array");
	json_object(j, "items");
	json_text(j, "type", "object");
	json_object(j, "properties");
	for (int i = 0; i < 3; i++) {
		json_object(j, key[i]);
		say_types(j, "string", i == 2 ? "null" : NULL);
		json_end(j);
	}
	json_end(j);
	json_array(j, "required");
	for (int i = 0; i < 3; i++)
		json_text(j, NULL, key[i]);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void say_forecast(struct json *j)
{
	static const char *const key[] = {"seconds", "low", "high", "per_second"};

	say_types(j, "object", "null");
	json_object(j, "properties");
	for (int i = 0; i < 4; i++) {
		json_object(j, key[i]);
		json_text(j, "type", "number");
		json_end(j);
	}
	json_end(j);
}

static void say_key(struct json *j, const struct key *k);

/* Any keys, each a number, a text or null. */
static void say_any(struct json *j)
{
	json_text(j, "type", "object");
	json_object(j, "additionalProperties");
	json_array(j, "type");
	json_text(j, NULL, "integer");
	json_text(j, NULL, "string");
	json_text(j, NULL, "null");
	json_end_array(j);
	json_end(j);
}

static void say_reals(struct json *j)
{
	say_types(j, "object", "null");
	json_object(j, "additionalProperties");
	json_text(j, "type", "number");
	json_end(j);
}

static void say_required(struct json *j, const struct key *keys)
{
	for (const struct key *k = keys; k->name; k++)
		if (!k->optional)
			json_text(j, NULL, k->name);
}

/* An object of just these keys. */
static void say_keyed(struct json *j, const struct key *keys)
{
	json_text(j, "type", "object");
	json_object(j, "properties");
	for (const struct key *k = keys; k->name; k++)
		say_key(j, k);
	json_end(j);
	json_array(j, "required");
	say_required(j, keys);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
}

static void say_objects(struct json *j, const struct key *keys)
{
	json_text(j, "type", "array");
	json_object(j, "items");
	say_keyed(j, keys);
	json_end(j);
}

static void say_key(struct json *j, const struct key *k)
{
	json_object(j, k->name);
	switch (k->type) {
	case T_COUNT:
	case T_COUNT_NULL:
		say_types(j, "integer", k->type == T_COUNT_NULL ? "null" : NULL);
		break;
	case T_REAL:
	case T_REAL_NULL:
		say_types(j, "number", k->type == T_REAL_NULL ? "null" : NULL);
		break;
	case T_TEXT:
	case T_TEXT_NULL:
		say_types(j, "string", k->type == T_TEXT_NULL ? "null" : NULL);
		break;
	case T_FLAG:
	case T_FLAG_NULL:
		say_types(j, "boolean", k->type == T_FLAG_NULL ? "null" : NULL);
		break;
	case T_COUNTS:
		say_array(j, "integer");
		break;
	case T_TEXTS:
		say_array(j, "string");
		break;
	case T_EVIDENCE:
		say_evidence(j);
		break;
	case T_FORECAST:
		say_forecast(j);
		break;
	case T_ANY_OBJECT:
		say_any(j);
		break;
	case T_KEYED:
		say_keyed(j, k->of);
		break;
	case T_REALS_NULL:
		say_reals(j);
		break;
	case T_OBJECTS:
		say_objects(j, k->of);
		break;
	case T_OBJECT:
	case T_TEXT_OBJECT:
		json_text(j, "type", "object");
		json_object(j, "additionalProperties");
		json_text(j, "type", k->type == T_OBJECT ? "integer" : "string");
		json_end(j);
		break;
	}
	if (*k->help)
		json_text(j, "description", k->help);
	if (!strcmp(k->name, "cause")) {
		json_array(j, "enum");
		for (size_t i = 0; cause_names[i]; i++)
			json_text(j, NULL, cause_names[i]);
		if (k->type == T_TEXT_NULL)
			json_null(j, NULL);
		json_end_array(j);
	}
	json_end(j);
}

static void begin_shape(struct json *j, const char *type, const char *help, bool alone)
{
	json_object(j, NULL);
	json_text(j, "type", "object");
	json_text(j, "description", help);
	json_object(j, "properties");
	json_object(j, "type");
	json_text(j, "const", type);
	json_end(j);
	if (!alone)
		say_key(j, &(struct key){"t", T_REAL, false, "seconds since the start"});
}

static void say_shape(struct json *j, const struct shape *s)
{
	begin_shape(j, s->type, s->help, s->alone);
	for (const struct key *k = s->key; k->name; k++)
		say_key(j, k);
	for (const struct key *k = s->more; k && k->name; k++)
		say_key(j, k);
	json_end(j);
	json_array(j, "required");
	json_text(j, NULL, "type");
	if (!s->alone)
		json_text(j, NULL, "t");
	say_required(j, s->key);
	if (s->more)
		say_required(j, s->more);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void say_grid(struct json *j, const struct grid *g)
{
	begin_object(j, g->key, g->help);
	json_object(j, "properties");
	for (size_t row = 0; row < g->rows; row++) {
		if (!g->column) {
			say_count(j, g->row(row), "", false);
			continue;
		}
		begin_object(j, g->row(row), NULL);
		json_object(j, "properties");
		for (size_t k = 0; k < g->columns; k++)
			say_count(j, g->column[k], "", false);
		json_end(j);
		json_flag(j, "additionalProperties", false);
		json_end(j);
	}
	json_end(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void say_histogram(struct json *j, const struct histogram *h)
{
	static const char *const key[] = {"total", "p50", "p99", "max"};

	begin_object(j, h->key, h->help);
	json_object(j, "properties");
	json_object(j, "buckets");
	json_text(j, "type", "array");
	json_text(j, "description",
		  "[upper bound, count] of each that is not empty; null: no bound");
	json_object(j, "items");
	json_text(j, "type", "array");
	json_object(j, "items");
	say_types(j, "integer", "null");
	json_end(j);
	json_count(j, "minItems", 2);
	json_count(j, "maxItems", 2);
	json_end(j);
	json_end(j);
	for (int i = 0; i < (h->max ? 4 : 1); i++)
		say_count(j, key[i], "", false);
	json_end(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void say_group(struct json *j, const char *group)
{
	const char *within = NULL;

	begin_object(j, group, NULL);
	json_object(j, "properties");
	for (size_t i = 0; i < nr_fields; i++)
		if (!strcmp(fields[i].group, group))
			say_count(j, fields[i].key, fields[i].help, true);
	for (size_t i = 0; i < nr_grids; i++)
		if (!strcmp(grids[i].group, group))
			say_grid(j, &grids[i]);
	for (size_t i = 0; i < nr_histograms; i++) {
		const struct histogram *h = &histograms[i];

		if (strcmp(h->group, group))
			continue;
		if (h->within && (!within || strcmp(within, h->within))) {
			if (within) {
				json_end(j);
				json_flag(j, "additionalProperties", false);
				json_end(j);
			}
			begin_object(j, h->within, NULL);
			json_object(j, "properties");
			within = h->within;
		}
		say_histogram(j, h);
	}
	if (within) {
		json_end(j);
		json_flag(j, "additionalProperties", false);
		json_end(j);
	}
	json_end(j);
	json_array(j, "required");
	for (size_t i = 0; i < nr_fields; i++)
		if (!strcmp(fields[i].group, group))
			json_text(j, NULL, fields[i].key);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void say_process(struct json *j)
{
	static const struct key keys[] = {
		{"pid", T_COUNT, false, ""},
		{"start_time_ns", T_COUNT, false,
		 "birth, CLOCK_BOOTTIME: with the pid, one process"},
		{"ppid", T_COUNT, false, ""},
		{"uid", T_COUNT, false, ""},
		{"comm", T_TEXT, false, ""},
		{"exe", T_TEXT_NULL, false, ""},
		{"cgroup", T_TEXT_NULL, false, ""},
		{"workload", T_TEXT, false, "unit or container, else comm"},
		{"shares_maps", T_FLAG, true, "a vfork child: the mappings are its parent's"},
		{"final", T_FLAG, true, "its last line"},
		{"assumed", T_OBJECT, true,
		 "limits below that are of --assume, not of this machine: name to value"},
	};
	const char *group = "";

	begin_shape(j, "process", "a process that changed in the interval; counts are totals",
		    false);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		say_key(j, &keys[i]);
	for (size_t i = 0; i < nr_fields; i++) {
		if (!*fields[i].group) {
			say_count(j, fields[i].key, fields[i].help, true);
		} else if (strcmp(fields[i].group, group)) {
			group = fields[i].group;
			say_group(j, group);
		}
	}
	json_end(j);
	json_array(j, "required");
	json_text(j, NULL, "type");
	json_text(j, NULL, "t");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!keys[i].optional)
			json_text(j, NULL, keys[i].name);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

void render_schema(struct buf *b)
{
	struct json j;

	json_begin(&j, b);
	json_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_text(&j, "title", "a line of faultscope --json");
	json_array(&j, "oneOf");
	say_process(&j);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		say_shape(&j, &shapes[i]);
	for (size_t i = 0; i < nr_pressure_shapes; i++)
		say_shape(&j, &pressure_shapes[i]);
	for (size_t i = 0; i < nr_blackbox_shapes; i++)
		say_shape(&j, &blackbox_shapes[i]);
	json_end_array(&j);
	json_finish(&j);
}
