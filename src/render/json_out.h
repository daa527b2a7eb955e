/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: a JSON writer that places the commas. Key NULL: an array's element. */
#ifndef FS_RENDER_JSON_OUT_H
#define FS_RENDER_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *b;
	bool comma; /* one is due before the next value */
};

void json_begin(struct json *j, struct buf *b); /* opens the line's object */
void json_finish(struct json *j);		/* closes it, with the newline */
void json_object(struct json *j, const char *key);
void json_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_end_array(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_count(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_real(struct json *j, const char *key, double value); /* NaN, infinity: null */
void json_flag(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t value); /* "0x1f" */

/* A value, or null where it is not known. */
void json_text_or_null(struct json *j, const char *key, const char *value);
void json_count_or_null(struct json *j, const char *key, bool known, uint64_t value);
void json_real_or_null(struct json *j, const char *key, bool known, double value);
void json_flag_or_null(struct json *j, const char *key, bool known, bool value);
void json_hex_or_null(struct json *j, const char *key, bool known, uint64_t value);
void json_time(struct json *j, const char *key, uint64_t wall_ns); /* RFC 3339; 0: null */
const char *unless_empty(const char *text);			   /* NULL where it is */

#endif
