/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: a JSON writer that adds the commas. To write an array element instead of a key and a
 * value, pass NULL as `key`.
 */
#ifndef FS_RENDER_JSON_OUT_H
#define FS_RENDER_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *b;
	bool comma; /* the next value needs a comma before it */
};

void json_begin(struct json *j, struct buf *b); /* starts a JSON line: writes "{" */
void json_finish(struct json *j);		/* ends the JSON line: writes "}" and a newline */
void json_object(struct json *j, const char *key);
void json_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_end_array(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_count(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_real(struct json *j, const char *key, double value); /* NaN and infinity become null */
void json_flag(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t value); /* writes a string: "0x1f" */

/* Write `value`, or null if `value` is NULL or `known` is false. */
void json_text_or_null(struct json *j, const char *key, const char *value);
void json_count_or_null(struct json *j, const char *key, bool known, uint64_t value);
/* Writes `value`, or null if it is FIGURE_UNKNOWN (records/pressure_records.h). */
void json_figure(struct json *j, const char *key, uint64_t value);
void json_real_or_null(struct json *j, const char *key, bool known, double value);
void json_flag_or_null(struct json *j, const char *key, bool known, bool value);
void json_hex_or_null(struct json *j, const char *key, bool known, uint64_t value);
void json_figure(struct json *j, const char *key, uint64_t value); /* FIGURE_UNKNOWN: null */
void json_time(struct json *j, const char *key, uint64_t wall_ns); /* writes RFC 3339; 0: null */
const char *unless_empty(const char *text); /* returns the text, or NULL if it is empty */

#endif
