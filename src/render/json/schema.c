// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the JSON Schema from the rows that also write JSON: *_lines.def and counter tables. */
#include <string.h>

#include "model/pressure.h"
#include "render/json_out.h"
#include "render/render.h"
#include "rules/oom_page.h"

enum type {
	T_count,
	T_count_or_null,
	T_real,
	T_real_or_null,
	T_text,
	T_text_or_null,
	T_time,
	T_number_or_text,
	T_cause,
	T_cause_or_null,
	T_hex,
	T_hex_or_null,
	T_flag,
	T_flag_or_null,
	T_counts,
	T_texts,
	T_counts_by_name,
	T_texts_by_name,
	T_values_by_name,
	T_objects,
	T_object,
	T_object_or_null,
	T_included, /* row AND: adds the keys of another object */
	T_figures,  /* row FIGURES: many counts, with keys that a function returns */
	T_line,	    /* first row of a JSON line that has a time */
	T_alone,    /* first row of a JSON line that has no time */
};

struct key {
	const char *name;
	enum type type;
	bool optional;
	const char *help;
	const struct key *of; /* keys of the object; a key without a name ends the list */
	const char *(*name_at)(size_t i);
	size_t names;
};

/* clang-format off */
#define OBJECT(name, ...) static const struct key name##_keys[] = {
#define HEAD(name, type, help) static const struct key line_##name[] = {{#name, type, false, help},
#define LINE(type, help, ...) HEAD(type, T_line, help)
#define ALONE(type, help, ...) HEAD(type, T_alone, help)
#define END {}};
#define END_LINE END
#define KEY(key, type, help, ...) {#key, T_##type, false, help},
#define KEY_IF(key, type, help, ...) {#key, T_##type, true, help},
#define KEY_BY(key, type, help, ...) {#key, T_##type, false, help},
#define MAY_BY(key, type, help, ...) {#key, T_##type, true, help},
#define LIST(key, type, help, ...) {#key, T_##type##s, false, help},
#define LIST_BY(key, types, help, ...) {#key, T_##types, false, help},
#define EACH(key, object, help, ...) {#key, T_objects, false, help, object##_keys},
#define EACH_IF(key, object, help, ...) {#key, T_objects, true, help, object##_keys},
#define EACH_BY(key, object, help, ...) {#key, T_objects, false, help, object##_keys},
#define WITHIN(key, object, help, ...) {#key, T_object, false, help, object##_keys},
#define WITHIN_IF(key, object, help, ...) {#key, T_object, true, help, object##_keys},
#define WITHIN_OR_NULL(key, object, help, ...) \
	{#key, T_object_or_null, false, help, object##_keys},
#define AND(object, ...) {"", T_included, false, "", object##_keys},
#define AND_IF(object, ...) {"", T_included, true, "", object##_keys},
#define FIGURES(key_at, n, ...) {"", T_figures, .name_at = key_at, .names = n},
/* clang-format on */
#include "render/json/recorder_lines.def"
#include "render/json/triage_lines.def"
#include "render/json/live_lines.def"
#include "render/json/doctor_lines.def"
#include "render/json/explain_lines.def"
#include "render/json/pressure_lines.def"
#include "render/json/oom_lines.def"
#include "render/json/incident_lines.def"
#include "render/json/log_lines.def"
#include "render/json/settings_lines.def"

static const struct key *const lines[] = {
	line_triage,
	line_triage_bucket,
	line_start,
	line_probes,
	line_threshold,
	line_failed_call,
	line_signal,
	line_oom,
	line_slow_faults,
	line_kernel_fault,
	line_finding,
	line_holdings,
	line_growth,
	line_memory,
	line_end,
	line_doctor,
	line_candidates,
	line_diagnosis,
	line_settings,
	line_pressure,
	line_cgroup,
	line_file_system,
	line_host,
	line_oom_page,
	line_incident,
	line_log,
	line_blackbox,
	line_blackbox_finding,
	line_blackbox_end,
};

static void write_types(struct json *j, const char *one, bool nullable)
{
	if (!nullable) {
		json_text(j, "type", one);
		return;
	}
	json_array(j, "type");
	json_text(j, NULL, one);
	json_text(j, NULL, "null");
	json_end_array(j);
}

static void write_count(struct json *j, const char *key, const char *help, bool nullable)
{
	json_object(j, key);
	write_types(j, "integer", nullable);
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

/*
 * Adds the type of an array, or of an object with arbitrary keys. All values in it have one type.
 */
static void write_values(struct json *j, const char *container, const char *values,
			 const char *type)
{
	json_text(j, "type", container);
	json_object(j, values);
	json_text(j, "type", type);
	json_end(j);
}

/* Adds the type of a number ("integer" or "number"), a string or null. */
static void write_number_or_text(struct json *j, const char *number)
{
	json_array(j, "type");
	json_text(j, NULL, number);
	json_text(j, NULL, "string");
	json_text(j, NULL, "null");
	json_end_array(j);
}

/* Adds the type of an object with arbitrary keys. Its values are integers, strings or null. */
static void write_any_values(struct json *j)
{
	json_text(j, "type", "object");
	json_object(j, "additionalProperties");
	write_number_or_text(j, "integer");
	json_end(j);
}

static void write_causes(struct json *j, bool nullable)
{
	write_types(j, "string", nullable);
	json_array(j, "enum");
	for (size_t i = 0; cause_names[i]; i++)
		json_text(j, NULL, cause_names[i]);
	if (nullable)
		json_null(j, NULL);
	json_end_array(j);
}

static void end_object(struct json *j)
{
	json_flag(j, "additionalProperties", false);
	json_end(j);
}

static void write_keys(struct json *j, const struct key *keys);

static void write_required(struct json *j, const struct key *keys)
{
	for (const struct key *k = keys; k->name; k++) {
		if (k->optional)
			continue;
		for (size_t i = 0; i < k->names; i++)
			json_text(j, NULL, k->name_at(i));
		if (k->type == T_included)
			write_required(j, k->of);
		else if (*k->name)
			json_text(j, NULL, k->name);
	}
}

static void write_object(struct json *j, const struct key *keys, bool nullable)
{
	write_types(j, "object", nullable);
	json_object(j, "properties");
	write_keys(j, keys);
	json_end(j);
	json_array(j, "required");
	write_required(j, keys);
	json_end_array(j);
	json_flag(j, "additionalProperties", false);
}

static void write_type(struct json *j, const struct key *k)
{
	switch (k->type) {
	case T_count:
	case T_count_or_null:
		write_types(j, "integer", k->type == T_count_or_null);
		break;
	case T_real:
	case T_real_or_null:
		write_types(j, "number", k->type == T_real_or_null);
		break;
	case T_number_or_text:
		write_number_or_text(j, "number");
		break;
	case T_text:
	case T_hex:
		write_types(j, "string", false);
		break;
	case T_text_or_null:
	case T_hex_or_null:
		write_types(j, "string", true);
		break;
	case T_time:
		write_types(j, "string", true);
		json_text(j, "format", "date-time");
		break;
	case T_cause:
	case T_cause_or_null:
		write_causes(j, k->type == T_cause_or_null);
		break;
	case T_flag:
	case T_flag_or_null:
		write_types(j, "boolean", k->type == T_flag_or_null);
		break;
	case T_counts:
		write_values(j, "array", "items", "integer");
		break;
	case T_texts:
		write_values(j, "array", "items", "string");
		break;
	case T_counts_by_name:
		write_values(j, "object", "additionalProperties", "integer");
		break;
	case T_texts_by_name:
		write_values(j, "object", "additionalProperties", "string");
		break;
	case T_values_by_name:
		write_any_values(j);
		break;
	case T_objects:
		json_text(j, "type", "array");
		json_object(j, "items");
		write_object(j, k->of, false);
		json_end(j);
		break;
	case T_object:
	case T_object_or_null:
		write_object(j, k->of, k->type == T_object_or_null);
		break;
	default:
		break;
	}
}

static void write_key(struct json *j, const struct key *k)
{
	json_object(j, k->name);
	write_type(j, k);
	if (*k->help)
		json_text(j, "description", k->help);
	json_end(j);
}

static void write_keys(struct json *j, const struct key *keys)
{
	for (const struct key *k = keys; k->name; k++) {
		for (size_t i = 0; i < k->names; i++)
			write_count(j, k->name_at(i), "", true);
		if (k->type == T_included)
			write_keys(j, k->of);
		else if (*k->name)
			write_key(j, k);
	}
}

static bool has_key(const struct key *keys, const char *name)
{
	for (const struct key *k = keys; k->name; k++)
		if (!strcmp(k->name, name))
			return true;
	return false;
}

/* Keys of report --format jsonl, except those that the line has in every output. */
static void write_identity(struct json *j, const struct key *line)
{
	static const struct key keys[] = {
		{"time_ns", T_count_or_null, true, "wall clock in ns since 1970"},
		{"program_version", T_text, true, ""},
		{"host", T_text, true, "name of the host"},
		{"boot_id", T_text_or_null, true, "null: removed by --redact"},
		{"kernel", T_text, true, "kernel release"},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!has_key(line, keys[i].name))
			write_key(j, &keys[i]);
}

static void begin_line(struct json *j, const char *type, const char *help, bool timed,
		       const struct key *keys)
{
	json_object(j, NULL);
	json_text(j, "type", "object");
	json_text(j, "description", help);
	json_object(j, "properties");
	json_object(j, "type");
	json_text(j, "const", type);
	json_end(j);
	if (timed) {
		write_key(j, &(struct key){"t", T_real, false, "seconds since the start"});
		write_key(j, &(struct key){"time", T_time, false, "wall clock in UTC"});
		write_identity(j, keys);
	}
}

static void end_line(struct json *j, const struct key *keys, bool timed)
{
	json_end(j);
	json_array(j, "required");
	json_text(j, NULL, "type");
	if (timed) {
		json_text(j, NULL, "t");
		json_text(j, NULL, "time");
	}
	write_required(j, keys);
	json_end_array(j);
	end_object(j);
}

static void write_line(struct json *j, const struct key *line)
{
	bool timed = line->type == T_line;

	begin_line(j, line->name, line->help, timed, line + 1);
	write_keys(j, line + 1);
	end_line(j, line + 1, timed);
}

static void write_grid(struct json *j, const struct grid *g)
{
	begin_object(j, g->key, g->help);
	json_object(j, "properties");
	for (size_t row = 0; row < g->rows; row++) {
		if (!g->column) {
			write_count(j, g->row(row), "", false);
			continue;
		}
		begin_object(j, g->row(row), NULL);
		json_object(j, "properties");
		for (size_t k = 0; k < g->columns; k++)
			write_count(j, g->column[k], "", false);
		json_end(j);
		end_object(j);
	}
	json_end(j);
	end_object(j);
}

static void write_histogram(struct json *j, const struct histogram *h)
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
	write_types(j, "integer", true);
	json_end(j);
	json_count(j, "minItems", 2);
	json_count(j, "maxItems", 2);
	json_end(j);
	json_end(j);
	for (int i = 0; i < (h->max ? 4 : 1); i++)
		write_count(j, key[i], "", false);
	json_end(j);
	end_object(j);
}

static void write_group(struct json *j, const char *group)
{
	const char *within = NULL;

	begin_object(j, group, NULL);
	json_object(j, "properties");
	for (size_t i = 0; i < nr_fields; i++)
		if (!strcmp(fields[i].group, group))
			write_count(j, fields[i].key, fields[i].help, true);
	for (size_t i = 0; i < nr_grids; i++)
		if (!strcmp(grids[i].group, group))
			write_grid(j, &grids[i]);
	for (size_t i = 0; i < nr_histograms; i++) {
		const struct histogram *h = &histograms[i];

		if (strcmp(h->group, group))
			continue;
		if (h->within && (!within || strcmp(within, h->within))) {
			if (within) {
				json_end(j);
				end_object(j);
			}
			begin_object(j, h->within, NULL);
			json_object(j, "properties");
			within = h->within;
		}
		write_histogram(j, h);
	}
	if (within) {
		json_end(j);
		end_object(j);
	}
	json_end(j);
	json_array(j, "required");
	for (size_t i = 0; i < nr_fields; i++)
		if (!strcmp(fields[i].group, group))
			json_text(j, NULL, fields[i].key);
	json_end_array(j);
	end_object(j);
}

static void write_process(struct json *j)
{
	const char *group = "";

	begin_line(j, "process", "a process that changed in the interval; counts are totals", true,
		   process_keys);
	write_keys(j, process_keys);
	for (size_t i = 0; i < nr_fields; i++) {
		if (!*fields[i].group) {
			write_count(j, fields[i].key, fields[i].help, true);
		} else if (strcmp(fields[i].group, group)) {
			group = fields[i].group;
			write_group(j, group);
		}
	}
	end_line(j, process_keys, true);
}

void render_schema(struct buf *b)
{
	struct json j;

	json_begin(&j, b);
	json_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_text(&j, "title", "a line of faultscope --json");
	json_array(&j, "oneOf");
	write_process(&j);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		write_line(&j, lines[i]);
	json_end_array(&j);
	json_finish(&j);
}
