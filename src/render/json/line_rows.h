/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: rows of JSON. The *_lines.def files have one row for each key of each JSON line: its
 * type, its meaning, and where its value comes from. schema.c makes the JSON Schema from the same
 * rows. A file that includes this header, and then a *_lines.def, gets a function for each object
 * and line:
 *
 * OBJECT(name, parameters...) … END
 *	put_NAME(j, parameters) writes the keys of an object
 * LINE(type, help, time, parameters...) … END_LINE
 *	put_line_TYPE(b, v, parameters) writes a line that begins with the keys type, t and time,
 *	and with those of line_identity() if the output is read together with that of other hosts
 * ALONE(type, help, parameters...) … END_LINE
 *	put_line_TYPE(b, parameters) writes a line without a time
 *
 * KEY(key, type, help, value...)
 *	calls json_TYPE(j, key, value)
 * KEY_IF(key, type, help, condition, value...)
 *	omits the key if the condition is false
 * KEY_BY(key, type, help, function, arguments...)
 *	calls a function that writes key and value
 * MAY_BY(key, type, help, function, arguments...)
 *	calls a function that writes key and value, or nothing
 * LIST(key, type, help, n, value), LIST_BY(key, types, help, n, function, arguments...)
 *	write an array; `i` is the index
 * EACH(key, object, help, n, arguments...), EACH_IF(key, object, help, condition, n, arguments...)
 *	write an array of objects; so does EACH_BY(key, object, help, function, arguments...)
 * WITHIN(key, object, help, arguments...), WITHIN_IF(key, object, help, condition, arguments...)
 *	write an object; WITHIN_OR_NULL() writes `null` if the condition is false
 * AND(object, arguments...), AND_IF(object, condition, arguments...)
 *	write the keys of another object here
 * FIGURES(function from an index to its key, n, values)
 *	writes counts; `null` for those that are FIGURE_UNKNOWN
 */
#ifndef FS_RENDER_JSON_LINE_ROWS_H
#define FS_RENDER_JSON_LINE_ROWS_H

#include <string.h>

#include "render/json_out.h"
#include "render/render.h"

/*
 * If the view identifies its lines, writes the time as a number, and the host; `is_start`: the line
 * has keys for the host anyway.
 */
void line_identity(struct json *j, const struct view *v, uint64_t wall_ns, bool is_start);

#define OBJECT(name, ...)                                                                          \
	static void put_##name(struct json *j, __VA_ARGS__)                                        \
	{
#define END }

#define LINE(type, help, time, ...)                                                                \
	static void put_line_##type(struct buf *b, const struct view *v, __VA_ARGS__)              \
	{                                                                                          \
		struct json *j = &(struct json){};                                                 \
                                                                                                   \
		json_begin(j, b);                                                                  \
		json_text(j, "type", #type);                                                       \
		json_real(j, "t", view_seconds(v, time));                                          \
		json_time(j, "time", view_wall_ns(v, time));                                       \
		line_identity(j, v, view_wall_ns(v, time), !strcmp(#type, "start"));
#define ALONE(type, help, ...)                                                                     \
	static void put_line_##type(struct buf *b, __VA_ARGS__)                                    \
	{                                                                                          \
		struct json *j = &(struct json){};                                                 \
                                                                                                   \
		json_begin(j, b);                                                                  \
		json_text(j, "type", #type);
#define END_LINE                                                                                   \
	json_finish(j);                                                                            \
	}

#define KEY(key, type, help, ...) json_##type(j, #key, __VA_ARGS__);
#define KEY_IF(key, type, help, condition, ...)                                                    \
	if (condition)                                                                             \
		json_##type(j, #key, __VA_ARGS__);
#define KEY_BY(key, type, help, function, ...) function(j, #key, __VA_ARGS__);
#define MAY_BY(key, type, help, function, ...) function(j, #key, __VA_ARGS__);

#define LIST(key, type, help, n, value)                                                            \
	json_array(j, #key);                                                                       \
	for (size_t i = 0; i < (size_t)(n); i++)                                                   \
		json_##type(j, NULL, value);                                                       \
	json_end_array(j);
#define LIST_BY(key, types, help, n, function, ...)                                                \
	json_array(j, #key);                                                                       \
	for (size_t i = 0; i < (size_t)(n); i++)                                                   \
		function(j, NULL, __VA_ARGS__);                                                    \
	json_end_array(j);

#define EACH(key, object, help, n, ...)                                                            \
	json_array(j, #key);                                                                       \
	for (size_t i = 0; i < (size_t)(n); i++) {                                                 \
		json_object(j, NULL);                                                              \
		put_##object(j, __VA_ARGS__);                                                      \
		json_end(j);                                                                       \
	}                                                                                          \
	json_end_array(j);
#define EACH_IF(key, object, help, condition, n, ...)                                              \
	if (condition) {                                                                           \
		EACH(key, object, help, n, __VA_ARGS__)                                            \
	}
#define EACH_BY(key, object, help, function, ...)                                                  \
	json_array(j, #key);                                                                       \
	function(j, __VA_ARGS__);                                                                  \
	json_end_array(j);

#define WITHIN(key, object, help, ...)                                                             \
	json_object(j, #key);                                                                      \
	put_##object(j, __VA_ARGS__);                                                              \
	json_end(j);
#define WITHIN_IF(key, object, help, condition, ...)                                               \
	if (condition) {                                                                           \
		WITHIN(key, object, help, __VA_ARGS__)                                             \
	}
#define WITHIN_OR_NULL(key, object, help, condition, ...)                                          \
	if (condition) {                                                                           \
		WITHIN(key, object, help, __VA_ARGS__)                                             \
	} else {                                                                                   \
		json_null(j, #key);                                                                \
	}
#define AND(object, ...) put_##object(j, __VA_ARGS__);
#define AND_IF(object, condition, ...)                                                             \
	if (condition)                                                                             \
		put_##object(j, __VA_ARGS__);
#define FIGURES(key_at, n, values)                                                                 \
	for (size_t i = 0; i < (size_t)(n); i++)                                                   \
		json_figure(j, key_at(i), (values)[i]);

/* Causes are written as text; only the JSON Schema describes them as an enumeration. */
#define json_cause	   json_text
#define json_cause_or_null json_text_or_null

#endif
